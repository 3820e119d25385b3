"""Tags that leave the same wherever they stand are replaced at once as the guard replaces them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dedup_job.cleaning import markup
from dedup_job.cleaning.elements import REPLACEMENT

NAMES = ["p", "b", "i", "u", "a", "span", "div", "br", "img", "td", "o:p", "st1:x", "x-y", "sub"]
NAMES += ["code", "pre", "title", "script", "template", "mn", "text", "P", "DIV", "nobody"]
TAGS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["<", "<", "<", "</", "</", "< "]),
        st.sampled_from(NAMES) | st.sampled_from(sorted(REPLACEMENT)),
        st.sampled_from(
            [
                "",
                "",
                "",
                " ",
                "/",
                " /",
                " a",
                " a=1",
                ' a="&amp;<b>"',
                " a='&lt'",
                ' style="x:"y""',
            ]
        ),
        st.sampled_from([">", ">", ">", ">", ""]),
    ),
)
OTHERS = st.sampled_from(
    [
        "若a<b且b>c",
        "&",
        "&lt;",
        "&am",
        "p;",
        "&amp",
        "&nope;",
        "&#60;",
        "{",
        "&lcub;",
        "\n",
        "x",
        "<",
    ]
)
RARE = st.sampled_from(["<!--", "-->", "<![CDATA[", "]]>", "<!doctype html>", "<?xml ?>"])


def by_the_guard(text):
    """Prepare a text tag by tag."""
    if "<" in text and markup._TOKEN.search(text):
        prepared = markup._Guard(text).run()
        if prepared.tags:
            return prepared
    if "&" in text and markup.holds_reference(text):
        return markup.Prepared(html=markup.escape(text), tags=False, code=False)
    return None


@settings(deadline=None, max_examples=500)
@given(st.lists(TAGS | TAGS | OTHERS | RARE, max_size=14).map("".join))
def test_a_text_is_prepared_as_by_the_guard(text):
    assert markup.prepare(text) == by_the_guard(text)


@pytest.mark.parametrize(
    "text",
    [
        "<p>一</p><p>二</p>",
        "<div class='a'>x&nbsp;y</div><br/><P style='a:b'>z</P>",
        "<b>x</b>a<b且b>c</p>&amp;",
        "<code>x</code>",
    ],
)
def test_common_markup_needs_no_closer_look(text, monkeypatch):
    """Else the quick way would be of no use."""
    expected = by_the_guard(text)
    monkeypatch.setattr(markup, "_Guard", None)
    assert markup.prepare(text) == expected
