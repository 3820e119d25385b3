"""An index in segments: bytes a document by part, seconds to seal and load, look-ups, answers.

    python -m scripts.bench.segments [--size 2e7] [--segments 1,4,16] [--folder F]

Documents have random fingerprints, digests, sketches and ObjectIds. Of the texts looked up one half
is random; the other has a kept document's fingerprint but for two bits, and its keys, each another
one with a probability of 0.4. First comes an index that grew by all documents, then the same ones
sealed in so many segments of equal size, in files that are mapped. Times are microseconds a text or
document on one thread. 5e7 documents take 20 GB of memory and 9 GB of disk.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np

from dedup_job.columns import Fingerprints, Sketches
from dedup_job.documents import Channel
from dedup_job.fingerprint.sketch import BANDS, BINS, KEY_BITS
from dedup_job.index import IndexSettings, KeptIndex, snapshot
from dedup_job.index.candidates import Candidates
from dedup_job.index.equal import OBJECT_ID
from dedup_job.index.segment import Segment
from dedup_job.native.bytes_column import BytesColumn
from scripts.bench.command import count, counts, parser_of

STEP, BATCH, BATCHES, COLUMNS = 100_000, 1000, 40, BANDS + 1
CHANNELS = (*(Channel.MINHASH,) * BANDS, Channel.FORM)
LEAST = 100  # bits of the sketches that agree, of 128


def drawn(n: int, seed: int) -> Fingerprints:
    """Return n random texts."""
    rng = np.random.default_rng(seed)
    values, digests = rng.integers(0, 2**64, (2, n), dtype=np.uint64)
    keys = rng.integers(0, 1 << KEY_BITS, (n, COLUMNS), dtype=np.uint32)
    bits = rng.integers(0, 2**64, (n, BINS // 64), dtype=np.uint64)
    sketches = Sketches(keys, bits, CHANNELS)
    return Fingerprints(values, digests, np.zeros(n, dtype=np.bool_), sketches)


def object_ids(first: int, n: int) -> BytesColumn:
    """Return n ObjectIds as keys, by number."""
    width = len(OBJECT_ID) + 12
    rows = np.zeros((n, width), dtype=np.uint8)
    rows[:, : len(OBJECT_ID)] = np.frombuffer(OBJECT_ID, np.uint8)
    rows[:, -8:] = np.arange(first, first + n, dtype=">u8").view(np.uint8).reshape(n, 8)
    return BytesColumn(rows.reshape(-1), np.arange(n) * width, np.full(n, width))


def filled(first: int, stop: int) -> tuple[KeptIndex, float]:
    """Return an index that grew by these documents, and the microseconds a document."""
    index, spent = KeptIndex(IndexSettings()), 0.0
    for step in range(first // STEP * STEP, stop, STEP):
        start, end = max(first, step), min(stop, step + STEP)
        texts, keys = drawn(STEP, step)[start - step : end - step], object_ids(start, end - start)
        began = time.perf_counter()
        index.add(keys, texts)
        spent += time.perf_counter() - began
    return index, spent * 1e6 / max(stop - first, 1)


def queries(size: int) -> Iterator[Fingerprints]:
    """Yield batches of texts, new and near ones by turns."""
    rng, is_new = np.random.default_rng(1), np.arange(BATCH) % 2 == 0
    for batch in range(BATCHES):
        start = int(rng.integers(-(-size // STEP))) * STEP
        held, new = drawn(STEP, start)[: size - start], drawn(BATCH, -batch - 1 & 0xFFFF_FFFF)
        assert held.sketches is not None
        assert new.sketches is not None
        rows = rng.integers(0, len(held), BATCH)
        change = is_new[:, np.newaxis] | (rng.random((BATCH, COLUMNS)) < 0.4)
        keys = np.where(change, new.sketches.keys, held.sketches.keys[rows])
        values = np.where(is_new, new.values, held.values[rows] ^ np.uint64(5))
        sketches = Sketches(keys, held.sketches.bits[rows], CHANNELS)
        yield Fingerprints(values, new.digests, new.short, sketches)


def asked(index: KeptIndex, texts: list[Fingerprints]) -> tuple[float, list[Candidates]]:
    """Look all texts up; return the median of the batches, microseconds a text, and what is found.

    A batch is looked up for the first time: none of what it needs lies in the processor's caches.
    """
    times, found = list[float](), list[Candidates]()
    least = np.full(BATCH, LEAST)
    for batch in texts:
        began = time.perf_counter()
        index.equal(batch)
        found.append(index.look_up(batch, least).candidates)
        times.append((time.perf_counter() - began) * 1e6 / BATCH)
    return float(np.median(times)), found


def parts_of(segment: Segment) -> str:
    """Return the bytes of a segment's parts, a document."""
    n = max(len(segment), 1)
    named = {"keys": segment.bands, "near": segment.near, "equal": segment.equal}
    sizes = {name: part.nbytes / n for name, part in named.items() if part is not None}
    sizes |= {"ids": segment.ids.nbytes / n, "bits": segment.bits.nbytes / n}
    return ", ".join(f"{name} {size:.1f}" for name, size in sizes.items())


def resident() -> float:
    """Return this process's own memory in MB, and without files that are mapped."""
    told = Path("/proc/self/status").read_text(encoding="ascii")
    return int(told.split("RssAnon:")[1].split()[0]) / 1000


def sealed(size: int, count: int, folder: Path) -> KeptIndex:
    """Return an index of so many sealed segments; print what sealing and loading took."""
    index, on_disk, packing, loading = KeptIndex(IndexSettings()), 0, 0.0, 0.0
    bounds = np.linspace(0, size, count + 1).astype(int).tolist()
    for number, (first, stop) in enumerate(pairwise(bounds)):
        growing, _ = filled(first, stop)
        began, file = time.perf_counter(), folder / f"{count}.{number}"
        snapshot.write(file, *growing.sealed())
        packed = time.perf_counter()
        del growing
        opened = time.perf_counter()
        saved = snapshot.read(file)
        index.load(saved.facts, saved.parts)
        loading += time.perf_counter() - opened
        packing += packed - began
        on_disk += file.stat().st_size
        file.unlink()  # the map keeps it
    print(f"  written in {packing:.1f} s, {packing * 1e6 / size:.2f} us a document")
    print(f"  loaded in {loading:.1f} s; on disk {on_disk / size:.1f} bytes a document")
    return index


def main() -> int:
    """Print the tables; return 1 where segments answer otherwise than the growing index."""
    parser = parser_of(__doc__)
    parser.add_argument("--size", type=count, default="2e7")
    parser.add_argument("--segments", type=counts, default="1,4,16")
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    size, wrong = given.size, 0
    texts = list(queries(size))
    print(f"{size:,} documents\ngrowing", flush=True)
    index, inserting = filled(0, size)
    asked(index, texts[:2])  # compiled
    spent, expected = asked(index, texts[2:])
    print(f"  inserted at {inserting:.2f} us a document; {resident():,.0f} MB of the process")
    print(f"  {index.nbytes / size:.1f} bytes a document: {parts_of(index.segments[0])}")
    print(f"  look-up {spent:.2f} us a text", flush=True)
    del index
    for many in given.segments:
        print(f"{many} sealed", flush=True)
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            index = sealed(size, many, Path(folder))
            asked(index, texts[:2])
            spent, found = asked(index, texts[2:])
        same = all(
            np.array_equal(a, b)
            for one, other in zip(expected, found, strict=True)
            for a, b in zip(one, other, strict=True)
        )
        wrong += not same
        print(f"  {index.nbytes / size:.1f} bytes a document: {parts_of(index.segments[0])}")
        print(f"  look-up {spent:.2f} us a text; {resident():,.0f} MB of the process")
        candidates = sum(len(one.numbers) for one in found)
        print(f"  {candidates:,} candidates, {'same' if same else 'NOT THE SAME'}")
        sys.stdout.flush()
        del index
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
