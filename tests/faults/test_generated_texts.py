"""Generated texts through cleaning and fingerprint: no crash, and time and memory have a bound.

More hostile markup: tests/cleaning/test_hostile.py.
"""

from __future__ import annotations

import random
import resource
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import islice, repeat

import pytest

from dedup_job.settings import load
from tests.cleaning.pages import page
from tests.running import starter
from tests.strings import generated

pytestmark = pytest.mark.faults
_TEXTS = 1_000_000
_SHARE = 25_000  # texts that one process is given at a time, and as many pages
_GIANT = 16 * 1024 * 1024
_BATCH = 500
_WARM = ["<p>这是一份普通的文件。&amp;</p>" * 20] * 9  # native code is compiled or loaded by these
_LONGEST_MILLISECONDS_PER_KB = 100.0  # of one short text, which counts as 1 KB at least
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


def through(texts: list[str]) -> float:
    """Clean and fingerprint a batch; return the slowest in ms per KB."""
    cleaner, fingerprinter = stages()
    slowest, clean = 0.0, []
    began = time.perf_counter()
    sizes = [max(len(text) / 1024, 1.0) for text in texts]
    for text, size in zip(texts, sizes, strict=True):
        before = time.perf_counter()
        clean.append(cleaner.clean(text))
        slowest = max(slowest, 1000 * (time.perf_counter() - before) / size)
    prints = fingerprinter.fingerprint(clean)
    assert len(prints) == len(texts)
    assert prints.sketches is not None
    return max(slowest, 1000 * (time.perf_counter() - began) / sum(sizes))


def share(seed: int, count: int) -> tuple[float, float]:
    """Take random texts through both stages; return the slowest and the growth of memory."""
    stages()
    rng, before, slowest = random.Random(seed), peak(), 0.0
    texts = generated(count, seed)
    while batch := list(islice(texts, _BATCH)):
        pages = [page(rng) for _ in batch]
        noise = [rng.randbytes(rng.randrange(120)).decode("utf-8", "surrogateescape")]
        slowest = max(slowest, through([*batch, *pages, *noise]))
    return slowest, peak() - before


def giant(name: str) -> tuple[float, float]:
    """Take 16 MB through both stages; return seconds and the growth of memory."""
    stages()
    before, text = peak(), GIANTS[name]
    if len(text) < 100:  # a piece
        text *= _GIANT // len(text.encode("utf-8", "surrogatepass"))
    began = time.perf_counter()
    through([text])
    return time.perf_counter() - began, peak() - before


def test_a_million_random_texts_and_pages_go_through(times):
    count = times(_TEXTS, 2000) // 2
    shares = -(-count // _SHARE)
    with ProcessPoolExecutor(2, mp_context=starter()) as pool:
        costs = list(pool.map(share, range(shares), repeat(min(_SHARE, count))))
    assert max(slowest for slowest, _ in costs) < _LONGEST_MILLISECONDS_PER_KB
    assert max(growth for _, growth in costs) < _MOST_MEGABYTES


@pytest.mark.parametrize(
    "name",
    [pytest.param(g, marks=pytest.mark.short) if g == "nested <div>" else g for g in GIANTS],
)
def test_a_giant_of_16_mb_or_100_000_nested_elements_goes_through(name):
    with ProcessPoolExecutor(1, mp_context=starter()) as pool:
        seconds, growth = pool.submit(giant, name).result()
    assert seconds < _LONGEST_SECONDS
    assert growth < _MOST_MEGABYTES
