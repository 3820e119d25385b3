"""What a night costs: a first run, then one with changes, then another collection beside it.

python -m scripts.bench.night: makes short texts, a tenth of them copies; changes 1 % and deletes
1 %; runs without and with `--on-change refresh --on-delete remove`; runs a small collection with
`--against` the large one, for the first time, with as much again, and with nothing new.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from pymongo import MongoClient, UpdateOne
from pymongo.database import Database

from dedup_job.mongo.embedded import embedded_server

_WRITTEN, _WORDS, _SMALL = 50_000, 20, 20_000
Data = Database[dict[str, Any]]


def main() -> None:
    """Print the seconds of each run, and what it decided."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=1_000_000)
    count = parser.parse_args().documents
    rng = np.random.default_rng(3)
    with (
        tempfile.TemporaryDirectory() as folder,
        embedded_server() as uri,
        MongoClient[dict[str, Any]](uri) as client,
    ):
        data, index = client.bench, {"DEDUP_INDEX__FOLDER": folder}
        _fill(data, count, rng)
        run = _Runs(uri, index, Path(folder) / "report.json")
        run("large", "kept")
        run("large", "kept")
        _change(data, count, rng)
        run("large", "kept")
        run("large", "kept", "--on-change", "refresh", "--on-delete", "remove")
        for start in (0, _SMALL):
            own = [{"_id": start + i, "text": text} for i, text in enumerate(_texts(_SMALL, rng))]
            for one, copied in zip(own[::2], data.large.find().limit(len(own) // 2), strict=False):
                one["text"] = copied["text"]
            data.small.insert_many(own)
            run("small", "others", "--against", "bench.large")
        run("small", "others", "--against", "bench.large")


class _Runs:
    """Runs the command and tells of each run."""

    def __init__(self, uri: str, more: dict[str, str], report: Path) -> None:
        self._environment = {**os.environ, **more, "DEDUP_URI": uri}
        self._report = report

    def __call__(self, source: str, target: str, *more: str) -> None:
        names = ("--db", "bench", "--source", source, "--target", target, "--yes")
        command = [sys.executable, "-m", "dedup_job", "run", *names, *more]
        begun = time.perf_counter()
        subprocess.run(
            [*command, "--report", str(self._report)],
            env=self._environment,
            check=True,
            capture_output=True,
        )
        took, said = time.perf_counter() - begun, json.loads(self._report.read_text())
        counts = {name: said["counts"].get(name) for name in ("scanned", "kept", "against")}
        found = {name: said.get(name) for name in ("changed", "refreshed")}
        peak = max((point[2] for point in said["series"]), default=0) / 1e6
        print(f"{source} {' '.join(more)}: {took:.1f} s, {peak:,.0f} MB, {counts}, {found}")


def _texts(count: int, rng: np.random.Generator) -> list[str]:
    """Return texts of two-character words drawn at random."""
    characters = rng.integers(0x4E00, 0x4E00 + 3000, (count, 2 * _WORDS)).astype(np.uint32)
    return [row.tobytes().decode("utf-32-le") for row in characters]


def _fill(data: Data, count: int, rng: np.random.Generator) -> None:
    first = list[str]()
    for start in range(0, count, _WRITTEN):
        texts = _texts(min(_WRITTEN, count - start), rng)
        first = first or texts[1::10]
        texts[::10] = (first * 2)[: len(texts[::10])]
        data.large.insert_many({"_id": start + i, "text": text} for i, text in enumerate(texts))


def _change(data: Data, count: int, rng: np.random.Generator) -> None:
    changed, deleted = np.split(rng.permutation(count)[: count // 50], 2)
    texts = zip(changed.tolist(), _texts(len(changed), rng), strict=True)
    data.large.bulk_write(
        [UpdateOne({"_id": number}, {"$set": {"text": text}}) for number, text in texts]
    )
    data.large.delete_many({"_id": {"$in": deleted.tolist()}})


if __name__ == "__main__":
    main()
