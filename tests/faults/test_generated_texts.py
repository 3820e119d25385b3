"""Generated texts through cleaning and fingerprint: no crash, and time and memory have a bound.

More hostile markup: tests/cleaning/test_hostile.py.
"""

from __future__ import annotations

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import islice, repeat

import pytest

from dedup_job.settings import load
from tests.faults.texts import GIANTS, bulk, seeds
from tests.running import starter

pytestmark = pytest.mark.faults
_TEXTS, _SEEDS = 1_000_000, 20_000
_SHARE = 25_000  # texts that one process is given at a time
_BATCH = 500
_WARM = ["<p>这是一份普通的文件。&amp;</p>" * 20] * 9  # native code is compiled or loaded by these
_LONGEST_MILLISECONDS_PER_KB = 100.0  # of one short text, which counts as 1 KB at least
_LONGEST_SECONDS = 60.0  # for one text of 16 MB; half of that where nothing else runs
_MOST_MEGABYTES = 1000.0  # the text included, at 4 bytes a character


@cache
def stages():
    """Return the cleaner and the fingerprinter, with native code loaded."""
    from dedup_job.cleaning import Cleaner

    settings = load({}).settings
    cleaner, fingerprinter = Cleaner(settings.cleaning), settings.equipment().fingerprinter
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


def share(seed: int, count: int, some: list[str]) -> tuple[float, float]:
    """Take generated texts through both stages; return the slowest and the growth of memory."""
    stages()
    before, made = peak(), bulk(seed, count, some)
    slowest = max(map(through, iter(lambda: list(islice(made, _BATCH)), [])))
    return slowest, peak() - before


def giant(name: str) -> tuple[float, float]:
    """Take one giant through both stages; return seconds and the growth of memory."""
    stages()
    before, text = peak(), GIANTS[name]()
    began = time.perf_counter()
    through([text])
    return time.perf_counter() - began, peak() - before


@pytest.mark.short
def test_a_million_generated_texts_go_through(times):
    some = seeds(times(_SEEDS, 50))
    shares = -(-times(_TEXTS, 4000) // _SHARE)
    count = min(_SHARE, times(_TEXTS, 4000))
    with ProcessPoolExecutor(2, mp_context=starter()) as pool:
        costs = list(pool.map(share, range(shares), repeat(count), repeat(some)))
    assert max(slowest for slowest, _ in costs) < _LONGEST_MILLISECONDS_PER_KB
    assert max(growth for _, growth in costs) < _MOST_MEGABYTES


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(g, marks=pytest.mark.short) if g == "100,000 nested <div>" else g
        for g in GIANTS
    ],
)
def test_a_giant_of_16_mb_or_100_000_nested_elements_goes_through(name):
    with ProcessPoolExecutor(1, mp_context=starter()) as pool:
        seconds, growth = pool.submit(giant, name).result()
    assert seconds < _LONGEST_SECONDS
    assert growth < _MOST_MEGABYTES
