"""Generated texts through cleaning and fingerprint: no crash, and time and memory have a bound."""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import cache

from dedup_job.cleaning import Cleaner
from dedup_job.fingerprint import Fingerprinter
from dedup_job.settings import load
from tests.faults.table import Row, times
from tests.faults.texts import GIANTS, bulk, seeds
from tests.running import starter

_TEXTS, _SEEDS = 1_000_000, 20_000
_SHARE = 25_000  # texts that one process is given at a time
_BATCH = 500
_WARM = ["<p>这是一份普通的文件。&amp;</p>" * 20] * 9  # native code is compiled or loaded by these
_PROCESSES = 2
LONGEST_MILLISECONDS_PER_KB = 100.0  # of one short text, which counts as 1 KB at least
LONGEST_SECONDS = 60.0  # for one text of 16 MB; half of that where nothing else runs
MOST_MEGABYTES = 1000.0  # the text included, at 4 bytes a character


@dataclass(frozen=True, slots=True)
class Cost:
    """What some texts took: the slowest in ms per KB, seconds in all, and growth of memory."""

    texts: int
    slowest: float
    seconds: float
    megabytes: float


def run(scale: float) -> Iterator[Row]:
    """Yield what became of the bulk, and of the giants."""
    yield _bulk(times(_TEXTS, scale), times(_SEEDS, scale))
    yield from _giants()


@cache
def _stages() -> tuple[Cleaner, Fingerprinter]:
    settings = load({}).settings
    return Cleaner(settings.cleaning), settings.equipment().fingerprinter


def _peak() -> float:
    """Return the most memory that this process ever took, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _through(texts: list[str]) -> float:
    """Clean and fingerprint a batch; return the slowest cleaning in ms per KB."""
    cleaner, fingerprinter = _stages()
    slowest = 0.0
    clean = []
    for text in texts:
        began = time.perf_counter()
        clean.append(cleaner.clean(text))
        milliseconds = 1000 * (time.perf_counter() - began)
        slowest = max(slowest, milliseconds / max(len(text) / 1024, 1.0))
    prints = fingerprinter.fingerprint(clean)
    if len(prints) != len(texts) or prints.sketches is None:
        raise RuntimeError("a fingerprint is missing")
    return slowest


def share(seed: int, count: int, some: list[str]) -> Cost:
    """Take so many generated texts through both stages, in batches."""
    _through(_WARM)
    before, began = _peak(), time.perf_counter()
    slowest = 0.0
    made = bulk(seed, count, some)
    while batch := [text for _, text in zip(range(_BATCH), made, strict=False)]:
        at = time.perf_counter()
        slowest = max(slowest, _through(batch))
        size = sum(max(len(text) / 1024, 1.0) for text in batch)
        slowest = max(slowest, 1000 * (time.perf_counter() - at) / size)
    return Cost(count, slowest, time.perf_counter() - began, _peak() - before)


def giant(name: str) -> Cost:
    """Take one giant through both stages."""
    _through(_WARM)
    before = _peak()
    text = GIANTS[name]()
    began = time.perf_counter()
    slowest = _through([text])
    return Cost(1, slowest, time.perf_counter() - began, _peak() - before)


def _pool(per_process: int | None = None) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(_PROCESSES, mp_context=starter(), max_tasks_per_child=per_process)


def _bulk(texts: int, drawn: int) -> Row:
    some = seeds(drawn)
    costs: list[Cost] = []
    broken = 0
    began = time.perf_counter()
    with _pool() as pool:
        work: list[Future[Cost]] = [pool.submit(straight, some)] if some else []
        for seed, start in enumerate(range(0, texts, _SHARE)):
            work.append(pool.submit(share, seed, min(_SHARE, texts - start), some))
        for future in work:
            try:
                costs.append(future.result())
            except (BrokenProcessPool, Exception) as e:  # noqa: BLE001  # it is what is looked for
                broken += 1
                print(f"a share of the generated texts failed: {type(e).__name__}: {e}")
    there = sum(cost.texts for cost in costs)
    slowest = max((cost.slowest for cost in costs), default=0.0)
    growth = max((cost.megabytes for cost in costs), default=0.0)
    good = slowest < LONGEST_MILLISECONDS_PER_KB and growth < MOST_MEGABYTES and not broken
    return Row(
        "generated texts through cleaning and fingerprint",
        texts + len(some),
        there if good else 0,
        f"{len(some):,} of hypothesis and nasty ones; slowest {slowest:.1f} ms per KB, peak of "
        f"memory grew by {growth:.0f} MB, {there / (time.perf_counter() - began):,.0f} texts/s",
    )


def straight(some: list[str]) -> Cost:
    """Take the seeds themselves through both stages."""
    _through(_WARM)
    before, began = _peak(), time.perf_counter()
    slowest = max(_through(some[at : at + _BATCH]) for at in range(0, len(some), _BATCH))
    return Cost(len(some), slowest, time.perf_counter() - began, _peak() - before)


def _giants(names: tuple[str, ...] = tuple(GIANTS)) -> Iterator[Row]:
    costs: dict[str, Cost] = {}
    with _pool(1) as pool:
        work = {name: pool.submit(giant, name) for name in names}
        for name, future in work.items():
            try:
                costs[name] = future.result()
            except (BrokenProcessPool, Exception) as e:  # noqa: BLE001  # it is what is looked for
                print(f"{name} failed: {type(e).__name__}: {e}")
    good = [
        cost
        for cost in costs.values()
        if cost.seconds < LONGEST_SECONDS and cost.megabytes < MOST_MEGABYTES
    ]
    slow = sorted(costs, key=lambda name: -costs[name].seconds)[:3]
    large = sorted(costs, key=lambda name: -costs[name].megabytes)[:3]
    yield Row(
        "hostile giants, 16 MB or 100,000 nested elements",
        len(names),
        len(good),
        f"limits {LONGEST_SECONDS:.0f} s and {MOST_MEGABYTES:,.0f} MB; slowest "
        + ", ".join(f"{name} {costs[name].seconds:.1f} s" for name in slow)
        + "; largest "
        + ", ".join(f"{name} {costs[name].megabytes:,.0f} MB" for name in large),
    )
