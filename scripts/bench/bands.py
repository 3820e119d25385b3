"""How fast is a sketch, how fast and how large is the index of sketches: one table a section.

    python -m scripts.bench.bands [--sketch] [--index] [--templates] [--sizes 1e6,1e7]

All sections unless some are chosen; 5e7 documents take 10 GB. Times are microseconds a document on
one thread, in batches of 1,000. Of the queries one half is random, the other a stored row of which
each key is another with a probability of 0.4, as at a similarity of 0.9.

growth   extend since the last size; longest: seconds of 100,000 documents
query    search; p99 of the batches / 1,000; found: documents a query finds
job      turns_of, keep for each row, then extend
bytes    resident memory a document, and what the index says
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import psutil

from dedup_job.columns import Fingerprints, Sketches
from dedup_job.documents import Channel
from dedup_job.fingerprint.sketch import BANDS, KEY_BITS, sentence_keys, sketch
from dedup_job.index.bands import BandIndex
from dedup_job.index.candidates import Found
from dedup_job.index.look_up import Limits, keep, turns_of
from dedup_job.index.sharing import pairs_sharing
from dedup_job.native.code_points import pack
from scripts.bench.index import resident, seconds, table

BATCH, STEP, REPEATS, QUERIES, COLUMNS = 1000, 100_000, 7, 20_000, BANDS + 1
LENGTHS = {1: 20_000, 20: 10_000, 60: 10_000, 340: 5_000, 3_000: 1_000, 1_000_000: 3}
KEPT, TEMPLATES, TEMPLATE_SHARE = 200_000, 2_000, 0.2
RNG = np.random.default_rng(42)
Function, Array = Callable[..., Any], np.ndarray


def text(length: int) -> str:
    """Return random Han characters with a full stop in thirty."""
    characters = random.choices(range(0x4E00, 0x9FA6), k=length)
    return "".join("。" if i % 30 == 29 else chr(c) for i, c in enumerate(characters))


def sketches(_: argparse.Namespace) -> None:
    """Print what sketches of texts of several lengths cost."""
    row = table("characters:>10, texts:>7, sketch:>10.2f sentences:>10.2f")
    for length, count in LENGTHS.items():
        packed = pack([text(length) for _ in range(count)])
        times = []
        for function in (sketch, sentence_keys):
            function(packed)  # compiled
            times.append(min(seconds(partial(function, packed)) for _ in range(REPEATS)))
        row(length, count, *(time * 1e6 / count for time in times))


def drawn(n: int) -> Array:
    """Return n rows of random keys."""
    return RNG.integers(0, 2**KEY_BITS, (n, COLUMNS), dtype=np.uint32)


def templated(n: int) -> Array:
    """Return n rows of keys, a fifth of them one of few that are everywhere."""
    popular = RNG.zipf(1.3, (n, COLUMNS)) % TEMPLATES
    keys = (popular * 0x9E3779B1 % 2**KEY_BITS).astype(np.uint32)
    return np.where(RNG.random((n, COLUMNS)) < TEMPLATE_SHARE, keys, drawn(n))


def mixed(stored: Array, draw: Function, n: int) -> Array:
    """Return n queries, new and near ones by turns."""
    near, new = stored[RNG.integers(0, len(stored), n)], draw(n)
    near = np.where(RNG.random((n, COLUMNS)) < 0.4, draw(n), near)
    return np.where(np.arange(n)[:, np.newaxis] % 2, near, new)


def grown(sizes: list[int], draw: Function) -> None:
    """Grow an index, print what it costs at each size."""
    columns = "growth longest query p99 job".replace(" ", ":>8.2f ")
    row = table(f"size:>11, {columns}:>8.2f found:>7.2f bytes:>7.1f said:>7.1f dropped:>12,")
    before, index = resident(), BandIndex(COLUMNS)
    stored = draw(KEPT)

    def job(batch: Array) -> None:
        rows = len(batch)
        zeros, short = np.zeros(rows, dtype=np.uint64), np.ones(rows, dtype=np.bool_)
        sketches = Sketches(batch, np.empty((rows, 0), dtype=np.uint64), (Channel.MINHASH,))
        texts = Fingerprints(zeros, zeros, short, sketches)
        held = index.search(batch)
        found = Found(held, held, zeros.astype(np.int64))
        turns = turns_of(found, texts, Limits(COLUMNS, index.most_equal, 1))
        for i in range(rows):
            keep(turns, i)
        index.extend(batch, turns.stored)

    pairs_sharing(stored[:BATCH])
    job(stored[:BATCH])  # compiled
    for size in sizes:
        start, times = len(index), []
        while len(index) < size:
            batch = stored if len(index) < KEPT else draw(STEP)
            batch = batch[: min(STEP, size - len(index))]
            times.append(seconds(partial(index.extend, batch)))
        each = (resident() - before - stored.nbytes) / size
        said, found = index.nbytes / size, 0
        queries, jobs = [], []
        for _ in range(QUERIES // BATCH):
            batch = mixed(stored[: size // 2], draw, BATCH)
            queries.append(seconds(partial(index.search, batch)) * 1e6 / BATCH)
            found += len(index.search(batch).numbers)
        jobs = [
            seconds(partial(job, mixed(stored[: size // 2], draw, BATCH))) * 1e6 / BATCH
            for _ in range(QUERIES // BATCH)
        ]
        costs = [sum(times) * 1e6 / (size - start), max(times), np.mean(queries)]
        costs += [np.percentile(queries, 99), np.mean(jobs), found / QUERIES, each, said]
        row(size, *costs, index.dropped.sum())


def unlike(arguments: argparse.Namespace) -> None:
    """Print what an index of random keys costs."""
    grown(arguments.sizes, drawn)


def templates(arguments: argparse.Namespace) -> None:
    """Print what an index costs in which a fifth of all keys are everywhere."""
    grown(arguments.sizes, templated)


SECTIONS = {"sketch": sketches, "index": unlike, "templates": templates}


def main() -> None:
    """Run the sections chosen."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default="1e6,1e7", help="of --index and --templates")
    for name, section in SECTIONS.items():
        parser.add_argument(f"--{name}", action="store_true", help=section.__doc__)
    arguments = parser.parse_args()
    arguments.sizes = [int(float(size)) for size in arguments.sizes.split(",")]
    for name in [name for name in SECTIONS if getattr(arguments, name)] or SECTIONS:
        print(f"\n## {name} (load {psutil.getloadavg()[0]:.1f})", flush=True)
        SECTIONS[name](arguments)


if __name__ == "__main__":
    sys.exit(main())
