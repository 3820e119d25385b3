"""Texts of 16 MB through cleaning and fingerprint: time and memory have a bound.

More hostile markup: tests/cleaning/test_hostile.py.
"""

from __future__ import annotations

import random
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache

import pytest

from dedup_job.settings import load
from tests.running import starter

pytestmark = pytest.mark.faults
_GIANT = 16 * 1024 * 1024
_WARM = ["<p>这是一份普通的文件。&amp;</p>" * 20] * 9  # what is needed is loaded by these
_LONGEST_SECONDS = 60.0  # for one text of 16 MB; half of that where nothing else runs
_MOST_MEGABYTES = 1000.0  # the text included, at 4 bytes a character

GIANTS = {
    "nested <div>": "<div>" * 100_000 + "题" + "</div>" * 100_000,
    "nested tables": "<table><tr><td>" * 100_000 + "题",
    "an unclosed comment": "题<!--" + "题 a " * 2_000_000,
    "an unclosed script": "题<script>" + "x=1;" * 4_000_000,
    **{piece: piece for piece in ("<", "&", "题", "7", "a", "&lt;", "<p>", "</b", "<!--", "{")},
    **{piece: piece for piece in ("<script>", '<a href="', ".a{color:red}", "1,234.5 ", " \n")},
    "lone surrogates": "\ud800",
    "lines": "题目<br/>",
    "random bytes": random.Random(1).randbytes(90).decode("utf-8", "replace"),
}


@cache
def stages():
    """Return the cleaner and the fingerprinter, with native code loaded."""
    from dedup_job.cleaning import Cleaner

    settings = load({}).settings
    cleaner, fingerprinter = Cleaner(settings.cleaning), settings.models().fingerprinter
    fingerprinter.fingerprint([cleaner.clean(text) for text in _WARM])
    return cleaner, fingerprinter


def peak() -> float:
    """Return the most memory that this process ever took, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def giant(name: str) -> tuple[float, float]:
    """Take 16 MB through both stages; return seconds and the growth of memory."""
    cleaner, fingerprinter = stages()
    before, text = peak(), GIANTS[name]
    if len(text) < 100:  # a piece
        text *= _GIANT // len(text.encode("utf-8", "surrogatepass"))
    began = time.process_time()
    assert len(fingerprinter.fingerprint([cleaner.clean(text)])) == 1
    return time.process_time() - began, peak() - before


@pytest.mark.parametrize(
    "name",
    [pytest.param(g, marks=pytest.mark.short) if g == "nested <div>" else g for g in GIANTS],
)
def test_a_giant_of_16_mb_or_100_000_nested_elements_goes_through(name):
    with ProcessPoolExecutor(1, mp_context=starter()) as pool:
        seconds, growth = pool.submit(giant, name).result()
    assert seconds < _LONGEST_SECONDS
    assert growth < _MOST_MEGABYTES
