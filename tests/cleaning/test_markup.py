"""Which `<` begins a tag and which `&` a reference, in markup as broken as it comes."""

import re
from html.entities import html5

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dedup_job.cleaning import Cleaner
from tests.cleaning.reference import clean, folded

NAMES = """
    p b i a span div br h1 strong o:p st1:x x-y title script style xmp iframe text data path q P DIV
    ScRipt nobody o:p-x w:p x.y a- b: my-note
"""
ATTRIBUTES = [
    *[""] * 3,
    *(" ", "/", " /", "\t/ ", " a", " a=1", ' a="&amp;<b>"', " a='&lt'", " a=1=2", " ="),
    *(" 甲=1", " a甲=1", " a😀=1", " a = 'x", ' a="', " a=x/", " a=`", " :a@b=1 #c *d", "//a=1//"),
    *("\u3000a\u2028=\x85'1'", " a='1'b", ' a="1"=', ' a=\\"b>c\\"', " a=\\'", ' a=b"', " 甲 a=1"),
    *(" =1", ' style="x:"y""', " file=/u/1.png src=none.gif"),
]
TAGS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["<", "<", "<", "</", "</", "</", "< "]),
        st.sampled_from(NAMES.split()),
        st.sampled_from(ATTRIBUTES),
        st.sampled_from([">", ">", ">", ">", ">", ""]),
    ),
)
TEXT = [
    *("若a<b且b>c", "{", "}", "{a:b}", "@", "\n", "x", "<", ">", "😀", "\ud800", "甲", "。", "A."),
    *(
        "标签",
        "\\n",
        "\\u003c",
        "\0",
        "\r\n",
        "\r",
        "\u200b",
        " ",
        "\x0b",
        "'",
        '"',
        "=",
        "/",
        "-->",
    ),
    *("--!>", "]]>"),
]
REFERENCES = """
    & &lt; &am p; &amp &nope; &#60; &lcub; &#x7b; &# &#x; &amp;nbsp; &amp;lt; &amp;amp;#39; &&amp;
    &lt;p&gt; &lt;/p&gt; &#0; &#13; &#128; &#x81; &#xD800; &#1114112; &#x110000; &#9999999;
    &#00000060; &#xFFFFFF; &#x0000003c; &#X3C; &#8203; &#xFEFF; &NotEqualTilde; &GT; &gt &Gt;
    &CounterClockwiseContourIntegral;
"""
RARE = [
    *("<!--", "<!-->", "<!doctype html>", "<!DOCTYPE", "<!doctypex>", "<?xml ?>", "<?php >"),
    *("<!x>", "<![if x]>", "<![ endif]>", "<![ıf]>", "<?mſo>", "<![CDATA["),
]
OTHERS = map(st.sampled_from, (TEXT, REFERENCES.split(), RARE))
PARTS = st.one_of(TAGS, TAGS, TAGS, *OTHERS)


@settings(max_examples=400)
@given(st.lists(PARTS, max_size=14).map("".join))
@example("<p a='x><p a='x")
def test_broken_markup_is_read_as_by_the_reference(text):
    assert Cleaner().clean(text) == clean(text)


@settings(max_examples=200)
@given(st.text(alphabet="<>/!-?&;#abpx01= \"'"))
def test_any_marks_are_read_as_by_the_reference(text):
    assert Cleaner().clean(text) == clean(text)


def test_each_reference_means_the_characters_of_the_standard():
    """By name and by number, through all of Unicode and beyond."""
    names = [f"&{name}" for name in html5 if name.endswith(";")]
    numbers = (*range(0x3000), *range(0xD000, 0x11000), *range(0x10F000, 0x110100))
    text = "|".join(f"a{form}b" for form in (*names, *(f"&#{number};" for number in numbers)))
    assert Cleaner().clean(text) == clean(text)


@pytest.mark.parametrize("mark", ["<", "&", "<!--", "<script>", '<a href="', "{", "</b"])
def test_marks_that_begin_nothing_are_kept(mark):
    assert Cleaner().clean(mark * 1000) == mark * 1000


MARKS = """
    <p> </p> <b> </b> <br/> <!-- --> <script> </script> <template> </template> <pre> <code> </code>
    <title> </title> <textarea> <xmp> </xmp> <frameset> <select> <plaintext> <o:p> <![CDATA[ ]]>
    <u> </u> <sup> </sup> <ol> <li> </ol> <table> <tr> <td> </td> </tr> </table> <ruby> <rt> </rt>
    <mfrac> <img> <input> <?xml <!doctype &lt; &#0; & < > " ' = a= { } .a{color:red} /* */ 若 x
"""
FRAGMENTS = st.sampled_from(
    [*MARKS.split(), "<div class='a'>", "@media x{", " ", "\n", "\0", "\ud800"]
)
DROPPING = re.compile("<!--|<script>|<template>|[<][?!][a-z]|[{\"']")
CODE = re.compile(r"^(`{3,})\n.*?\n\1$", re.MULTILINE | re.DOTALL)


@given(st.lists(FRAGMENTS | st.text(alphabet="ab<>&;/!-= ", max_size=4), max_size=30))
def test_words_outside_of_dropped_elements_are_kept(parts):
    """Marker words between any broken markup come out in their order, each once."""
    parts = [part for part in parts if not DROPPING.search(part)]
    raw = "".join(f"{part}【{number}】" for number, part in enumerate(parts))
    found = re.findall("【([0-9]+)】", Cleaner().clean(raw))
    assert found == [str(number) for number in range(len(parts))]


@given(st.lists(FRAGMENTS, max_size=30).map("".join))
@example("<code> \0<p><p><b></code>")
def test_the_result_has_no_superfluous_white_space(text):
    """The remains of markup are folded, too; fenced code keeps its white space."""
    outside = CODE.sub("code", Cleaner().clean(text))
    assert outside == folded(outside)
