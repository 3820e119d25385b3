"""Documents per second without a database, on one core and on two: what more cores would bring.

    python -m scripts.bench.ceiling [--kind chinese|exam|html|news] [--file FILE.jsonl.gz]
        [--documents 200000] [--cores 1 2] [--turns 3]

Pages lie in memory as a server's reply holds them; rows for target and ledger are made and
counted, not sent. All else is what `dedup run` does, from the reading of fields to the report. Each
measurement is a process of its own, bound to so many cores, with as many preparing threads; its
start-up is left out.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import bson
import numpy as np
from numpy.typing import NDArray
from pymongo import MongoClient

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Decisions, Documents, NumberedTexts
from dedup_job.commands.opened import form_of
from dedup_job.decision import AbortConditions, GreedyDeduplicator, texts
from dedup_job.index import KeptIndex
from dedup_job.job import pipeline
from dedup_job.job.preparing import Preparation
from dedup_job.mongo.bson import edit
from dedup_job.mongo.reading import raw_page
from dedup_job.mongo.source import Source
from dedup_job.native.bytes_column import BytesColumn, bytes_of
from dedup_job.runs.counts import Counts
from dedup_job.runs.progress import QUIET
from dedup_job.runs.run import About, Checkpoint, Run, Scope
from dedup_job.settings import Settings
from scripts.bench.synthetic_corpus import KINDS, SyntheticCorpus

PAGE = 5000


class InMemory(Source):
    """A source whose replies are there already."""

    def __init__(self, settings: Settings, replies: list[NDArray[np.uint8]], count: int) -> None:
        """Take BSON arrays of documents."""
        super().__init__(MongoClient(connect=False).memory.source, settings.source)
        self._replies = replies
        self.undecided = count  # type: ignore[misc]

    def trust(self, index: object) -> None:
        """Look nothing up."""

    def mark(self, since: object) -> None:
        """Follow nothing."""

    bookmark = None

    def pages(self, limit: int | None = None) -> Iterator[Documents]:
        """Read the replies."""
        assert limit is None
        for reply in self._replies:
            yield self.documents_of(raw_page(reply, self._fields.one))


class Counting:
    """A target that makes its rows and counts their bytes."""

    def __init__(self, settings: Settings, models: Any) -> None:
        """Take how rows are made."""
        self.form, self.bytes = form_of(settings, models), 0

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Keep nobody away."""
        yield

    def begin(
        self, scope: Scope, record: Callable[[Checkpoint], Run]
    ) -> tuple[Checkpoint, list[Any]]:
        """Begin; know no other runs."""
        record(first := Checkpoint(1, scope, datetime.now(UTC), Counts()))
        return first, []

    def kept(self) -> Iterator[Any]:
        """Hold nothing yet."""
        return iter(())

    def named(self, keys: list[bytes]) -> list[tuple[Any, str, str]]:
        """Return no texts: only the largest clusters are described by them."""
        return [(edit.id_value(key), str(key), "") for key in keys]

    def texts_of(self, keys: BytesColumn) -> NumberedTexts:
        """Fail: all texts are held in memory."""
        raise LookupError(len(keys.lengths))

    def fits(self, documents: Documents) -> NDArray[np.bool_]:
        """Take all."""
        return np.ones(len(documents), dtype=np.bool_)

    def write(self, batch: Batch, decisions: Decisions, report: Run) -> None:
        """Make the rows."""
        for rows in (self.form.kept, self.form.ledger):
            made = rows.encode(batch.documents, decisions, report.checkpoint.run)
            self.bytes += len(made.data)

    def problem(self, index: KeptIndex, checkpoint: Checkpoint) -> str:
        """Find none."""
        del index, checkpoint
        return ""

    def bookmark(self) -> None:
        """Know none."""

    def finish(self, report: Run, *_: object, **__: object) -> None:
        """Do nothing."""

    def abort(self, report: Run) -> None:
        """Do nothing."""


class Unsaved:
    """No snapshots."""

    def promised(self) -> None:
        """Have nothing."""

    def load(self, index: KeptIndex) -> str:
        """Expect none."""
        del index
        return ""

    def relieve(self, index: KeptIndex) -> None:
        """Have memory for all."""

    def save(self, index: KeptIndex) -> None:
        """Keep none."""


def replies_of(corpus: SyntheticCorpus, documents: int) -> list[NDArray[np.uint8]]:
    """Return documents as a server sends them, a BSON array for each page."""
    replies = []
    for first in range(0, documents, PAGE):
        made = corpus.documents(first, min(PAGE, documents - first))
        fields = (b"\x03%d\0" % i + bson.encode(one) for i, one in enumerate(made))
        replies.append(bytes_of(edit.document(*fields)))
    return replies


def measure(replies: list[NDArray[np.uint8]], documents: int, threads: int) -> dict[str, float]:
    """Decide all documents; return seconds and processor seconds."""
    settings = Settings()
    texts._MOST_BYTES = 1 << 40
    models = settings.models()
    target, index = Counting(settings, models), KeptIndex(settings.index)
    job = pipeline.Job(
        about=About("memory", "memory", {}, {}, dry_run=False),
        scope=Scope(),
        source=InMemory(settings, replies, documents),
        target=target,
        preparing=Preparation(
            Cleaner(settings.cleaning),
            models.fingerprinter,
            target.fits,
            settings.source.max_chars,
        ),
        index=index,
        decider=GreedyDeduplicator(
            index, settings.decision, target.texts_of, models.judge, threads=threads
        ),
        abort_if=AbortConditions(settings.abort_if),
        snapshots=Unsaved(),
        threads=threads,
        max_rate=None,
        progress=QUIET,
        stop=lambda: False,
    )
    began, before = time.perf_counter(), time.process_time()
    report = pipeline.run(job)
    taken = {"seconds": time.perf_counter() - began, "cpu": time.process_time() - before}
    assert report.checkpoint.counts.scanned == documents
    return {**taken, "kept": report.checkpoint.counts.kept, "bytes": target.bytes}


def main() -> None:
    """Measure in processes bound to cores, in turn; print rates and what a second core brings."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kind", choices=KINDS, default="chinese")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--documents", type=lambda n: int(float(n)), default=200_000)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: given.child])
        corpus = SyntheticCorpus.of(given.kind, given.file)
        replies = replies_of(corpus, given.documents)
        print(json.dumps(measure(replies, given.documents, given.child)))
        return
    rates: dict[int, list[float]] = {cores: [] for cores in given.cores}
    for _ in range(given.turns):
        for cores, found in rates.items():
            command = [sys.executable, "-m", "scripts.bench.ceiling", *sys.argv[1:]]
            told = subprocess.run(
                [*command, "--child", str(cores)],
                env={**os.environ, "NUMPY_MADVISE_HUGEPAGE": "0"},  # as dedup_job/__main__.py
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
            row = json.loads(told.stdout.splitlines()[-1])
            found.append(given.documents / row["seconds"])
            per = row["cpu"] / given.documents * 1e6
            print(f"{cores} cores {found[-1]:9,.0f} docs/s {per:7.1f} us/doc processor", flush=True)
    medians = {cores: statistics.median(found) for cores, found in rates.items()}
    least = min(medians)
    for cores, rate in medians.items():
        print(f"{cores} cores: {rate:,.0f} docs/s, {rate / medians[least]:.2f} of {least}")


if __name__ == "__main__":
    main()
