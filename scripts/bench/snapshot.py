"""The snapshot of a large index: seconds to save and load, bytes, kills while saving, bad bytes.

    python -m scripts.bench.snapshot [--size 5e7] [--kills 20] [--flips 20] [--folder F]
                                     [--sketches]

All that a run remembers is saved: fingerprints, equal texts, ids, and sketches if asked for. Each
kill is SIGKILL at a random moment of a process that saves the next snapshot over a former one; then
the file has to be whole and the former or the new. Each flip changes one bit of one byte, at a
random place.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

from dedup_job.columns import Fingerprints, Sketches
from dedup_job.documents import Channel
from dedup_job.fingerprint.sketch import BANDS, BINS, KEY_BITS
from dedup_job.index import IndexSettings, KeptIndex, snapshot
from dedup_job.index.equal import OBJECT_ID
from dedup_job.index.snapshot import SnapshotError

STEP = 100_000
QUERIES = 10_000


def remembered(size: int, sketched: bool, rng: np.random.Generator) -> KeptIndex:
    """Return an index of so many documents with random fingerprints, and sketches if asked for."""
    index = KeptIndex(IndexSettings())
    for start in range(0, size, STEP):
        n = min(STEP, size - start)
        values, digests = rng.integers(0, 2**64, (2, n), dtype=np.uint64)
        keys = [OBJECT_ID + i.to_bytes(12, "big") for i in range(start, start + n)]
        sketches = None
        if sketched:
            bands = rng.integers(0, 1 << KEY_BITS, (n, BANDS), dtype=np.uint32)
            bits = rng.integers(0, 2**64, (n, BINS // 64), dtype=np.uint64)
            sketches = Sketches(bands, bits, (Channel.MINHASH,) * BANDS)
        index.add(keys, Fingerprints(values, digests, np.zeros(n, dtype=np.bool_), sketches))
    return index


def save(index: KeptIndex, file: Path, turn: int) -> float:
    """Save it; return the seconds."""
    began = time.perf_counter()
    facts, arrays = index.sealed()  # facts are complete when the arrays are written
    snapshot.write(file, {"turn": turn, "index": facts}, arrays)
    return time.perf_counter() - began


def load(file: Path) -> tuple[KeptIndex, float, float]:
    """Check, map and load it; return the index and the seconds of checking and of loading."""
    began = time.perf_counter()
    saved = snapshot.read(file)
    checked = time.perf_counter()
    index = KeptIndex(IndexSettings())
    index.load(saved.facts["index"], saved.parts)
    return index, checked - began, time.perf_counter() - checked


def killed(index: KeptIndex, file: Path, turn: int, after: float) -> tuple[bool, bool]:
    """Kill a child `after` seconds into its saving; return if it was done, if the file is whole."""
    former = snapshot.read(file).facts["turn"]
    child = os.fork()
    if child == 0:
        save(index, file, turn)
        os._exit(0)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    done = os.waitpid(child, 0)[1] == 0
    try:
        found = snapshot.read(file).facts["turn"]
    except SnapshotError:
        return done, False
    snapshot.remove_partial(file)
    return done, found in (former, turn)


def flipped(file: Path, place: int, bit: int) -> bool:
    """Tell whether one changed bit is noticed; put it back."""
    with file.open("r+b") as stream:
        stream.seek(place)
        byte = stream.read(1)
        stream.seek(place)
        stream.write(bytes([byte[0] ^ 1 << bit]))
        stream.flush()
        try:
            snapshot.read(file)
        except SnapshotError:
            return True
        finally:
            stream.seek(place)
            stream.write(byte)
    return False


def main() -> int:
    """Print a line for each figure; return 1 where a file was not whole or a flip not noticed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--size", type=lambda text: int(float(text)), default=50_000_000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--flips", type=int, default=20)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--sketches", action="store_true", help="with the sketches of MinHash")
    arguments = parser.parse_args()
    rng, choice = np.random.default_rng(1), random.Random(1)
    index = remembered(arguments.size, arguments.sketches, rng)
    print(f"{arguments.size:,} documents, load {psutil.getloadavg()[0]:.1f}", flush=True)
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        file = Path(folder) / "one.index"
        seconds = save(index, file, 0)
        size = file.stat().st_size
        print(f"saved in {seconds:.2f} s: {size:,} bytes, {size / arguments.size:.1f} a document")
        loaded, checking, loading = load(file)
        print(f"loaded in {checking + loading:.2f} s, of it checked in {checking:.2f}")
        queries = index._near.fingerprints[:QUERIES].copy()
        began = time.perf_counter()
        found = loaded._near.search(queries)
        print(f"first {QUERIES:,} queries in {time.perf_counter() - began:.2f} s", flush=True)
        same = index._near.search(queries)
        bad = int(not np.array_equal(found.numbers, same.numbers))
        del loaded, found, same
        whole = 0
        moments = [choice.random() * seconds for _ in range(arguments.kills)]
        for turn, moment in enumerate(moments, 1):
            whole += killed(index, file, turn, moment)[1]
        print(f"killed while saving {len(moments)} times: {whole} times a whole file", flush=True)
        places = [choice.randrange(size) for _ in range(arguments.flips)]
        noticed = sum(flipped(file, place, choice.randrange(8)) for place in places)
        print(f"one bit changed {len(places)} times: {noticed} times noticed")
        return int(bad or whole < len(moments) or noticed < len(places))


if __name__ == "__main__":
    sys.exit(main())
