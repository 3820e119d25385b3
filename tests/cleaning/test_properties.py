"""Properties of every cleaned text."""

import re

from hypothesis import example, given
from hypothesis import strategies as st

from dedup_job.cleaning import Cleaner
from tests.cleaning.reference import folded

CLEANER = Cleaner()
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


@given(st.text(alphabet=st.characters(blacklist_characters="<&{")))
def test_text_without_markup_is_only_folded(text):
    assert CLEANER.clean(text) == folded(text)


@given(st.lists(FRAGMENTS | st.text(alphabet="ab<>&;/!-= ", max_size=4), max_size=30))
def test_words_outside_of_dropped_elements_are_kept(parts):
    """Marker words between any broken markup come out in their order, each once."""
    parts = [part for part in parts if not DROPPING.search(part)]
    raw = "".join(f"{part}【{number}】" for number, part in enumerate(parts))
    found = re.findall("【([0-9]+)】", CLEANER.clean(raw))
    assert found == [str(number) for number in range(len(parts))]


@given(st.lists(FRAGMENTS, max_size=30).map("".join))
@example("<code> \0<p><p><b></code>")
def test_the_result_has_no_superfluous_white_space(text):
    """The remains of markup are folded, too; fenced code keeps its white space."""
    outside = CODE.sub("code", CLEANER.clean(text))
    assert outside == folded(outside)
