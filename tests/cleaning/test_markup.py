"""Which `<` begins a tag and which `&` a reference, in markup as broken as it comes."""

from html.entities import html5

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dedup_job import _core
from dedup_job.cleaning import Cleaner
from tests.cleaning.oracle import clean
from tests.cleaning.oracle.names import KNOWN

NAMES = ["p", "b", "i", "u", "a", "span", "div", "br", "img", "td", "o:p", "st1:x", "x-y", "sub"]
NAMES += ["code", "pre", "title", "script", "xmp", "mn", "text", "P", "DIV", "ScRipt", "nobody"]
NAMES += ["o:p-x", "w:p", "x.y", "a-", "b:", "iframe", "style", "textarea", "my-note"]
ATTRIBUTES = ["", "", "", " ", "/", " /", "\t/ ", " a", " a=1", ' a="&amp;<b>"', " a='&lt'"]
ATTRIBUTES += [
    ' style="x:"y""',
    " 甲=1",
    " a甲=1",
    " a😀=1",
    " a = 'x",
    ' a="',
    " a=x/",
    " =",
    " a=`",
]
ATTRIBUTES += [" :a@b=1 #c *d", "//a=1//", "\u3000a\u2028=\x85'1'", " a=1=2", " a='1'b", ' a="1"=']
ATTRIBUTES += [" hidden", " style='display:none'", ' style="font-size:0"', " id=1 hidden=''"]
ATTRIBUTES += [' a=\\"b>c\\"', " a=\\'", ' a=b"', " 甲 a=1", " =1", " file=/u/1.png src=none.gif"]
TAGS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["<", "<", "<", "</", "</", "</", "< "]),
        st.sampled_from(NAMES) | st.sampled_from(sorted(_core.ELEMENTS)),
        st.sampled_from(ATTRIBUTES),
        st.sampled_from([">", ">", ">", ">", ">", ""]),
    ),
)
TEXT = ["若a<b且b>c", "{", "}", "{a:b}", "@", "\n", "x", "<", ">", "😀", "\ud800"]
TEXT += ["甲", "。", "\\n", "A.", "标签", "\\u003c"]
TEXT += ["\0", "\r\n", "\r", "\u200b", " ", "\x0b", "'", '"', "=", "/", "-->", "--!>", "]]>"]
REFERENCES = ["&", "&lt;", "&am", "p;", "&amp", "&nope;", "&#60;", "&lcub;", "&#x7b;", "&#", "&#x;"]
REFERENCES += ["&amp;nbsp;", "&amp;lt;", "&amp;amp;#39;", "&lt;p&gt;", "&lt;/p&gt;"]
REFERENCES += [
    "&&amp;",
    "&#0;",
    "&#13;",
    "&#128;",
    "&#x81;",
    "&#xD800;",
    "&#1114112;",
    "&#x110000;",
]
REFERENCES += ["&#9999999;", "&#00000060;", "&#xFFFFFF;", "&#x0000003c;", "&NotEqualTilde;", "&GT;"]
REFERENCES += ["&gt", "&CounterClockwiseContourIntegral;", "&Gt;", "&#8203;", "&#xFEFF;", "&#X3C;"]
RARE = [
    "<!--",
    "<!-->",
    "<!doctype html>",
    "<!DOCTYPE",
    "<!doctypex>",
    "<?xml ?>",
    "<?php >",
    "<!x>",
]
RARE += ["<![if x]>", "<![ endif]>", "<![ıf]>", "<?mſo>", "<![CDATA[", "<template>", "</template>"]
PARTS = (
    TAGS | TAGS | TAGS | st.sampled_from(TEXT) | st.sampled_from(REFERENCES) | st.sampled_from(RARE)
)


@settings(max_examples=200)
@given(st.lists(PARTS, max_size=14).map("".join))
@example("<p a='x><p a='x")
def test_broken_markup_is_read_as_by_the_oracle(text):
    assert Cleaner().clean(text) == clean(text)


@settings(max_examples=200)
@given(st.text(alphabet="<>/!-?&;#abpx01= \"'"))
def test_any_marks_are_read_as_by_the_oracle(text):
    assert Cleaner().clean(text) == clean(text)


@pytest.mark.parametrize("name", sorted({*_core.ELEMENTS} - {"svg"}))  # it hashes its markup
def test_each_element_is_read_as_by_the_oracle(name):
    forms = f"<{name}> </{name}> <{name}/> <{name} a=b> <{name.upper()}>".split(" ", 3)
    texts = [f"a{one}b{other}c&amp;{one}d" for one in forms for other in forms]
    assert Cleaner().clean_all(texts) == [clean(text) for text in texts]


def test_each_reference_means_what_html_says():
    """By name and by number, through all of Unicode and beyond."""
    names = [f"&{name}" for name in html5 if name.endswith(";")]
    numbers = [
        f"&#{i};" for i in (*range(0x3000), *range(0xD000, 0x11000), *range(0x10F000, 0x110100))
    ]
    text = "|".join(f"a{form}b" for form in (*names, *numbers))
    assert Cleaner().clean(text) == clean(text)


def test_the_oracle_knows_the_same_elements():
    assert {*_core.ELEMENTS} == KNOWN
