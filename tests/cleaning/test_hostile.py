"""Texts made to hang a parser; the bound is far above what they take (about a second)."""

from __future__ import annotations

import time

import pytest

from dedup_job.cleaning import Cleaner

M = 1_000_000
HOSTILE = {
    "less-than signs": "<" * 16 * M,
    "ampersands": "&" * M,
    "references": "&lt;" * M,
    "open elements": "<div>" * M,
    "nested elements": "<div>" * (M // 2) + "</div>" * (M // 2),
    "open formatting": "<p><b x=1>" * 300_000 + "</p>",
    "open options": "<select><option>" * 100_000,
    "open cells": "<table><tr><td>" * 100_000,
    "open attributes": '<a href="' * (M // 9),
    "open attributes with both quotes": "<a href='\"" * (M // 10),
    "attributes": "<p " + "a='1' " * 200_000,
    "white space in tags": ("<p" + " " * 1000) * 1000,
    "open comments": "<!--" * 300_000,
    "open scripts": "<script>" * 300_000,
    "scripts": "<script>a</script>" * 100_000,
    "open templates": "<template>" * 300_000,
    "templates closed once": "<template>" * 300_000 + "</template>",
    "nested templates": "<template>" * 200_000 + "</template>" * 200_000,
    "templates": "<template>a</template>" * 100_000,
    "code": "{<code>a</code>" * 100_000,
    "open code": "{<code><pre>" * 100_000,
    "character data": "<![CDATA[" * 300_000,
    "doctypes": "<!doctype" * 300_000,
    "long name": "<" + "a-" * M,
    "braces": "<p>" + "{" * M,
    "rules": "<p>" + ".a{color:red}" * 100_000,
    "leading rules": ".a{color:red}" * 100_000,
    "long selector": "<p>" + "p " * M + "{color:red}",
    "open groups": "<p>" + "@media " * 300_000,
    "leading groups": "@media x{" * 200_000,
    "white space before a statement": "<p>x" + " " * M + "@import",
    "open comments in a body": "<p>p{" + "/*" * 500_000 + "*/}",
    "semicolons in a body": "<p>p{" + ";" * M + "}",
    "white space": " " * M + "\n" * M + "a\n" * M,
}


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in HOSTILE.items()])
def test_no_text_takes_more_than_linear_time(text):
    """One document must not hold up a run."""
    start = time.perf_counter()
    cleaner = Cleaner()
    clean = cleaner.clean(text)
    assert cleaner.clean_all([text]) == [clean]
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize("mark", ["<", "&", "<!--", "<script>", '<a href="', "{", "</b"])
def test_marks_that_start_nothing_are_kept(mark):
    """Repeated a thousand times, they are still text."""
    assert Cleaner().clean(mark * 1000) == mark * 1000
