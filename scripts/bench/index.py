"""How fast is the Hamming index, how large, and beside others: one table a section.

    python -m scripts.bench.index [--data FOLDER] [--speed] [--memory] [--peers] [--distances]
                                  [--skewed] [--sizes 1e6,1e7,5e7,1e8]
                                  [--peers-size N] [--distances-size N] [--skewed-size N]

All sections unless some are chosen. Of the queries one half is random, the other near: a stored
fingerprint with 0 to 6 bits flipped. Times are microseconds a fingerprint on one thread:

query, p99       search, collapsed as in the job, in batches of 1,000; p99 of batches of 100 / 100
job, job p99     search, pairs_within and extend in batches of 1,000, sampled over the last 5 % of
                 the growth to that size; p99 of these batches / 1,000
growth, longest  other insertions since the last size, new layouts included; seconds of 100,000
distinct, found  what a query finds, collapsed and expanded; chain: chunks of the longest bucket
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from dedup_job.fingerprint import Fingerprinter, FingerprintSettings
from dedup_job.index import HammingIndex, Ids, pairs_within
from dedup_job.index.equal import OBJECT_ID
from dedup_job.native.bytes_column import strings_of
from scripts.bench.command import DATA, count, counts, parser_of, run_sections, seconds_of, texts_of

NEXT = 0  # word of a chunk
BATCH, SMALL_BATCH, QUERIES, FEW, REPEATS, SAMPLES = 1000, 100, 50_000, 300, 5, 200
STEP, EQUAL = 100_000, 1_000_000
FAISS = [(2, 20, 1), (2, 22, 1), (2, 24, 1), (2, 32, 1), (3, 21, 1), (4, 16, 0)]  # all exact
SIZES = {"peers": 5 * 10**6, "distances": 5 * 10**7, "skewed": 5 * 10**7}
RNG = np.random.default_rng(42)
Function, Array = Callable[..., Any], np.ndarray

drawn = partial(RNG.integers, 0, 2**64, dtype=np.uint64)  # n random fingerprints
resident = lambda: psutil.Process().memory_info().rss  # noqa: E731


def flipped(values: Array, bits_each: Array) -> Array:
    """Flip bits_each[i] different bits of values[i]."""
    bits = np.zeros_like(values)
    while (few := np.bitwise_count(bits) < bits_each).any():
        bits[few] |= np.uint64(1) << RNG.integers(0, 64, few.sum(), dtype=np.uint64)
    return values ^ bits


def near(stored: Array, n: int, most: int = 6) -> Array:
    """Return n of those stored, each with 0 to `most` bits flipped."""
    return flipped(stored[RNG.integers(0, len(stored), n)], RNG.integers(0, most + 1, n))


def mixed(stored: Array, n: int) -> Array:
    """Return n queries, random and near ones by turns."""
    return np.where(np.arange(n) % 2, near(stored, n), drawn(n))


def real(data: Path) -> Array:
    """Return the fingerprints of the field `text` of all data files."""
    texts = [text for file in sorted(data.glob("*.jsonl.gz")) for text in texts_of(file)]
    return Fingerprinter(FingerprintSettings()).fingerprint(texts).values


def table(columns: str) -> Function:
    """Print a heading of `name:format` columns; return what prints a row."""
    names, forms = zip(*(column.split(":") for column in columns.split()), strict=True)
    widths = [re.sub(r"[,.].*", "", form) for form in forms]
    print("  ".join(map(format, names, widths)).replace("_", " "))
    return lambda *cells: print("  ".join(map(format, cells, forms)), flush=True)


def brute(prints: Array, queries: Array, distance: int) -> Array:
    """Return row * n + number of every pair of query and fingerprint within the distance."""
    rows = (np.flatnonzero(np.bitwise_count(prints ^ query) <= distance) for query in queries)
    return np.concatenate([row * len(prints) + numbers for row, numbers in enumerate(rows)])


def pairs(offsets: Array, numbers: Array, n: int) -> Array:
    """Return what was found in the form of `brute`."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets.astype(np.int64))) * n + numbers


def asked(index: HammingIndex, make: Function) -> tuple[float, float]:
    """Return mean and p99 of queries, each the median of repetitions with new queries."""
    search = partial(index.search, most_equal=1)

    def times(n: int, size: int) -> list[float]:
        return [seconds_of(partial(search, b)) * 1e6 / size for b in make(n).reshape(-1, size)]

    slow = times(2 * BATCH, BATCH)[1]  # after what it finds has room
    n = BATCH * max(2, min(QUERIES // BATCH, int(3e6 / slow / BATCH)))  # or for 3 seconds
    means = [np.mean(times(n, BATCH)) for _ in range(REPEATS)]
    tails = [np.percentile(times(n, SMALL_BATCH), 99) for _ in range(REPEATS)]
    return np.median(means), np.median(tails)


def grown(k: int, sizes: list[int], draw: Function, ask: Function, blocks: int = 0) -> HammingIndex:
    """Grow an index, print what it costs at each size; return it."""
    index = HammingIndex(k, blocks=blocks)
    columns = "query p99 job job_p99 growth longest bytes".replace(" ", ":>7.2f ")
    row = table(f"k:<1 size:>11, layout:<38 {columns}:>7.1f distinct:>8.2f found:>8.2f chain:>7,")

    def extend(size: int) -> list[float]:
        steps = [min(STEP, size - start) for start in range(len(index), size, STEP)]
        return [seconds_of(partial(index.extend, draw(n))) for n in steps]

    def job(batch: Array) -> None:
        index.search(batch, most_equal=1)
        pairs_within(batch, np.ones(len(batch), dtype=np.bool_), index.distance)
        index.extend(batch)

    job(draw(BATCH))  # compiled
    before = resident()
    for size in sizes:
        start, jobs, times = len(index), [], extend(size - size // 20)
        for left in range(max(1, min(SAMPLES, size // 20 // BATCH)), 0, -1):
            times += extend(len(index) + (size - len(index)) // left - BATCH)
            jobs.append(seconds_of(partial(job, ask(index.fingerprints, BATCH))) * 1e6 / BATCH)
        each = (resident() - before) / size
        growth = sum(times) * 1e6 / (size - start - BATCH * len(jobs))
        costs = (*asked(index, lambda n: ask(index.fingerprints, n)), np.mean(jobs))
        costs += (np.percentile(jobs, 99), growth, max(times), each)
        at, chain = np.arange(1, index.layout.buckets), 0
        while len(at := at[at != 0]):
            at, chain = index.pool[at, NEXT], chain + 1
        every = ask(index.fingerprints, BATCH)
        found = [len(index.search(every, most_equal=int(c)).numbers) / BATCH for c in (True, False)]
        row(k, size, str(index.layout), *costs, *found, chain)
    return index


def speed(arguments: argparse.Namespace) -> None:
    """Print what a fingerprint costs as an index grows, and how two threads scale that query it."""
    index = grown(3, arguments.sizes, drawn, mixed)
    halves = [mixed(index.fingerprints, QUERIES).reshape(-1, BATCH) for _ in range(2)]
    work: dict[str, Function] = {"sha-256": lambda _: sha256(bytes(100_000_000))}
    work["search"] = lambda i: [index.search(batch, most_equal=1) for batch in halves[i]]
    times: dict[Any, list[float]] = {(name, n): [] for name in work for n in (1, 2)}
    for _ in range(REPEATS):  # taken in turns, so that a slow moment hits all
        for (name, n), taken in times.items():
            with ThreadPoolExecutor(n) as pool:
                taken.append(seconds_of(lambda p=pool, w=work[name]: list(p.map(w, (0, 1)))))
    print("\nthe last index, two threads beside one")
    row = table("work:<10 1_thread_s:>10.3f 2_threads_s:>11.3f scaling:>7.2f of_sha-256:>13.2f")
    plain = min(times["sha-256", 1]) / min(times["sha-256", 2])
    for name in work:
        one, two = min(times[name, 1]), min(times[name, 2])
        row(name, one, two, one / two, one / two / plain)


def distances(arguments: argparse.Namespace) -> None:
    """Print what a fingerprint costs at greater distances, with two blocks and with three."""
    for k in (5, 7):
        for blocks in (2, 3):
            grown(k, [arguments.distances_size], drawn, mixed, blocks)


def skewed(arguments: argparse.Namespace) -> None:
    """Print what near copies of real fingerprints cost; then a million equal ones."""
    prints, sizes = real(arguments.data), [arguments.skewed_size // 10, arguments.skewed_size]
    print(f"copies of {len(prints):,} real ones, 0 to 6 bits flipped; all queries are near ones")
    grown(3, sizes, partial(near, prints), lambda _, n: near(prints, n))
    others, equal, index = drawn(EQUAL), drawn(1), HammingIndex(3)
    index.extend(np.concatenate([others, np.repeat(equal, EQUAL)]))
    print(f"\n{EQUAL:,} equal among as many others; one query, us")
    row = table("that:<15 collapsed:>10,.1f expanded:>10,.1f")
    for name, query in (("hits them", equal), ("hits another", others[:1])):
        calls = [partial(index.search, query, most_equal=int(c)) for c in (True, False)]
        row(name, *(np.median([seconds_of(c) for _ in range(10 * REPEATS)]) * 1e6 for c in calls))


def memory(arguments: argparse.Namespace) -> None:
    """Print peak memory of processes that build an index, against the same with an empty one."""
    row = table("size:>11, layout:<34 peak_MB:>8,.0f bytes:>7.1f with_ids:>8.1f")
    peak(0, True)  # compiled
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        empty = pool.starmap(peak, [(0, False), (0, True)], chunksize=1)
        for size in arguments.sizes:
            full = pool.starmap(peak, [(size, False), (size, True)], chunksize=1)
            each = [(f[0] - e[0]) / size for f, e in zip(full, empty, strict=True)]
            row(size, full[0][1], full[0][0] / 1e6, *each)


def peak(size: int, with_ids: bool) -> tuple[int, str]:
    """Build an index; return the peak memory of this process, and the layout."""
    of_ours(drawn(BATCH))(drawn(BATCH))  # loaded
    index, ids = HammingIndex(3), Ids()
    for start in range(0, size, BATCH):
        prints, random = drawn(BATCH)[: size - start], RNG.bytes(12 * BATCH)
        index.extend(prints)
        if with_ids:
            keys = [OBJECT_ID + random[12 * i : 12 * i + 12] for i in range(len(prints))]
            ids.extend(strings_of(keys))
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) * 1024, str(index.layout)


def of_ours(prints: Array) -> Function:
    """Return a search by our index: queries -> pairs in the form of `brute`."""
    index = HammingIndex(3)
    index.extend(prints)
    return lambda queries: pairs((c := index.search(queries)).offsets, c.numbers, len(prints))


def of_faiss(hashes: int, bits: int, flips: int, prints: Array) -> Function:
    """Return the same by faiss, whose radius is exclusive."""
    import faiss  # is optional

    faiss.omp_set_num_threads(1)
    index, row = faiss.IndexBinaryMultiHash(64, hashes, bits), (-1, 8)
    index.nflip = flips
    index.add(prints.view(np.uint8).reshape(row))
    search = partial(index.range_search, thresh=3 + 1)
    return lambda queries: pairs(*search(queries.view(np.uint8).reshape(row))[::2], len(prints))


def of_dict(prints: Array) -> Function:
    """Return the same by a dict of lists over four blocks of 16 bits."""
    values, buckets = prints.tolist(), {}
    for i, value in enumerate(values):
        for block in (0, 16, 32, 48):
            buckets.setdefault((block, value >> block & 0xFFFF), []).append(i)

    def search(queries: Array) -> Array:
        found = set()
        for row, query in enumerate(queries.tolist()):
            for block in (0, 16, 32, 48):
                numbers = buckets.get((block, query >> block & 0xFFFF), ())
                found |= {(row, i) for i in numbers if (values[i] ^ query).bit_count() <= 3}
        return np.array([row * len(values) + i for row, i in found])

    return search


def peers(arguments: argparse.Namespace) -> int:
    """Print queries and memory of ours, faiss and a naive dict, in turns; return disagreements."""
    prints, bad = drawn(arguments.peers_size), 0
    makers = {"ours": of_ours, "dict of 4x16 bits": of_dict}
    for s in FAISS if find_spec("faiss") else ():
        makers["faiss {}x{}, nflip {}".format(*s)] = partial(of_faiss, *s)
    ways, held, times = {}, {}, {name: [] for name in makers}
    for name, make in makers.items():
        make(prints[:BATCH])(prints[:BATCH])  # loaded
        held[name] = -resident() / len(prints)
        ways[name] = make(prints)
        held[name] += resident() / len(prints)
    for _ in range(REPEATS):  # taken in turns, so that a slow moment hits all
        queries = mixed(prints, QUERIES)
        for name, way in ways.items():
            asking = queries[:FEW] if name.startswith("dict") else queries
            times[name].append(seconds_of(partial(way, asking)) * 1e6 / len(asking))
    true, median = brute(prints, queries[:FEW], 3), {n: np.median(t) for n, t in times.items()}
    print(f"{len(prints):,} fingerprints, k = 3; pairs found by {FEW} queries")
    print("faiss is not installed\n" * (find_spec("faiss") is None), end="")
    row = table("index:<19 query:>8.2f of_ours:>7.2f bytes:>7.1f of_ours:>7.2f pairs:>7, wrong:>6,")
    for name in sorted(ways, key=median.__getitem__):
        found = ways[name](queries[:FEW])
        wrong = len(np.setxor1d(true, found)) + len(found) - len(np.unique(found))
        figures = [f for x in (median, held) for f in (x[name], x[name] / x["ours"])]
        row(name, *figures, len(found), wrong)
        bad += wrong
    return bad


def main() -> int:
    """Run the sections chosen; return 1 where an answer is not that of brute force."""
    parser = parser_of(__doc__)
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument(
        "--sizes", type=counts, default="1e6,1e7,5e7,1e8", help="of --speed and --memory"
    )
    for name, size in SIZES.items():
        parser.add_argument(f"--{name}-size", type=count, default=size)
    return run_sections(parser, speed, memory, peers, distances, skewed)


if __name__ == "__main__":
    sys.exit(main())
