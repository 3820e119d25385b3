"""Documents per second without a database, by number of cores.

    python -m scripts.bench.ceiling [--kind chinese|exam|html|news] [--file FILE.jsonl.gz]
        [--documents 200000] [--cores 1 2] [--turns 3]

Pages are replies of a server in memory; rows of target and ledger are encoded, not sent. All other
work is that of `dedup run`. Each measurement is a process bound to n cores, with n preparing
threads; its start-up is not measured.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import bson
import numpy as np
from numpy.typing import NDArray
from pymongo import MongoClient

from dedup_job.columns import Batch, Decisions, Documents, NumberedTexts
from dedup_job.commands.session import form_of, preprocessor_of
from dedup_job.decision import decider as deciding
from dedup_job.decision.decider import Decider
from dedup_job.index import KeptIndex
from dedup_job.job import OrderedWriters, ordered_map, prefetch
from dedup_job.mongo import raw_bson
from dedup_job.mongo.reading import raw_page
from dedup_job.mongo.source import Source
from dedup_job.native.bytes_column import BytesColumn, bytes_of
from dedup_job.runs.decided import Counts
from dedup_job.runs.run_record import Stopwatch
from dedup_job.settings import Settings
from scripts.bench.command import count, parser_of
from scripts.bench.synthetic_corpus import KINDS, SyntheticCorpus

PAGE, AHEAD = 5000, 2


def replies_of(corpus: SyntheticCorpus, documents: int) -> list[NDArray[np.uint8]]:
    """Return documents as BSON arrays, one per page, as a server sends them."""
    replies = []
    for first in range(0, documents, PAGE):
        made = corpus.documents(first, min(PAGE, documents - first))
        fields = (b"\x03%d\0" % i + bson.encode(one) for i, one in enumerate(made))
        replies.append(bytes_of(raw_bson.join_fields(*fields)))
    return replies


def no_texts(keys: BytesColumn) -> NumberedTexts:
    """Raise LookupError; all texts are in memory, so none is looked up."""
    raise LookupError(len(keys.lengths))


def measure(replies: list[NDArray[np.uint8]], threads: int) -> dict[str, float]:
    """Decide all documents; return seconds, CPU seconds and counts by name."""
    settings = Settings()
    deciding.MEMORY = 1 << 40
    models = settings.models()
    form, index = form_of(settings, models), KeptIndex(settings.index)
    source = Source(MongoClient(connect=False).memory.source, settings.source)
    prepare = preprocessor_of(settings, models, form).prepare
    decider = Decider(index, settings.decision, no_texts, models.judge, threads=threads)
    counts = Counts()

    def pages() -> Iterator[Documents]:
        paths = [settings.source.field.split(".")]
        return (source.documents_of(raw_page(reply, paths)) for reply in replies)

    def write(decided: tuple[Batch, Decisions], _: int) -> None:
        for rows in (form.kept, form.ledger):
            rows.encode(decided[0].documents, decided[1], 1)

    def settle(written: Sequence[object], _: int) -> None:
        for _ in written:
            decider.on_settled()

    began, before = time.perf_counter(), time.process_time()
    with prefetch(pages(), AHEAD) as read, OrderedWriters(write, settle, AHEAD) as writer:
        for batch in ordered_map(partial(prepare, watch=Stopwatch()), read, threads):
            decisions = decider.decide(batch)
            counts += Counts.of(decisions, settings.decision.similarity)
            writer.put((batch, decisions))
    seconds, cpu = time.perf_counter() - began, time.process_time() - before
    decided = dict(zip(("decide", "parallel", "waiting"), decider.seconds, strict=True))
    found = {"seconds": seconds, "cpu": cpu, "documents": counts.scanned, "kept": counts.kept}
    return found | decided


def main() -> None:
    """Measure rates in processes bound to n cores, for each n; print them and their ratios."""
    parser = parser_of(__doc__)
    parser.add_argument("--kind", choices=KINDS, default="chinese")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--documents", type=count, default=200_000)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.child])
        replies = replies_of(SyntheticCorpus.of(options.kind, options.file), options.documents)
        print(json.dumps(measure(replies, options.child)))
        return
    rates: dict[int, list[float]] = {cores: [] for cores in options.cores}
    for _ in range(options.turns):
        for cores, found in rates.items():
            command = [sys.executable, "-m", "scripts.bench.ceiling", *sys.argv[1:]]
            ended = subprocess.run(
                [*command, "--child", str(cores)],
                env={**os.environ, "NUMPY_MADVISE_HUGEPAGE": "0"},  # as dedup_job/__main__.py
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
            row = json.loads(ended.stdout.splitlines()[-1])
            found.append(row["documents"] / row["seconds"])
            per = row["cpu"] / row["documents"] * 1e6
            print(f"{cores} cores {found[-1]:9,.0f} docs/s {per:7.1f} us/doc processor", flush=True)
    medians = {cores: statistics.median(found) for cores, found in rates.items()}
    least = min(medians)
    for cores, rate in medians.items():
        print(f"{cores} cores: {rate:,.0f} docs/s, {rate / medians[least]:.2f} of {least}")


if __name__ == "__main__":
    main()
