"""A run on documents with known right answers, on a server of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from dedup_job.cleaning import Cleaner
from dedup_job.commands.run import Request, Watch, run_job
from dedup_job.demo import Deviation, Score, deviations, make_corpus, score
from dedup_job.judgment.differences import DifferenceKind
from dedup_job.messages import Message
from dedup_job.mongo.demo import DATABASE, SOURCE, TARGET, fill, outcome
from dedup_job.mongo.embedded import embedded_server
from dedup_job.printing import command_line
from dedup_job.runs.run import Run
from dedup_job.settings import Settings, load

_OF_WORDS = (DifferenceKind.REPLACED, DifferenceKind.INSERTED, DifferenceKind.DELETED)


class Demonstration(NamedTuple):
    """The run, how its result compares with the labels, and the documents that are not as due."""

    report: Run
    score: Score
    deviations: list[Deviation]


def run_demo(
    documents: int, seed: int, folder: Path | None, watch: Watch, tell: Callable[[str], None]
) -> Demonstration:
    """Make documents, run on them, and score the outcome; tell: takes what is done next.

    folder: where the server's data stays; None: it is thrown away.
    """
    tell(Message("starting a MongoDB server ..."))
    with embedded_server(folder) as uri:
        corpus = make_corpus(documents, seed)
        tell(
            Message(
                "filling {source} with {number:,} labelled documents ...",
                source=f"{DATABASE}.{SOURCE}",
                number=len(corpus),
            )
        )
        fill(uri, corpus)
        run = command_line("run", "--db", DATABASE, "--source", SOURCE, "--target", TARGET)
        tell(f"{run}\n")
        request = Request(f"{DATABASE}.{SOURCE}", f"{DATABASE}.{TARGET}")
        settings = load().settings.at(uri)
        report = run_job(settings, request, watch)
        ends = outcome(uri)
    found = with_words(deviations(corpus, *ends), corpus, settings)
    return Demonstration(report, score(corpus, ends.kept, ends.dropped), found)


def with_words(
    found: Sequence[Deviation], corpus: Sequence[Mapping[str, Any]], settings: Settings
) -> list[Deviation]:
    """Return deviations with the words that differ first from what they were compared with."""
    texts = {one["_id"]: one["text"] for one in corpus if isinstance(one.get("text"), str)}
    pairs = [one for one in found if one.number in texts and one.of in texts]
    if not pairs:  # the dictionary need not be loaded
        return [*found]
    clean, rows = Cleaner(settings.cleaning).clean_all, np.arange(len(pairs), dtype=np.int64)
    own = clean([texts[one.number] for one in pairs])
    others = clean([texts[one.of] for one in pairs])
    differences = settings.models().any_judge.each_differences(own, rows, others, rows)
    first = {
        one.number: next((d for d in each if d.kind in _OF_WORDS), None)
        for one, each in zip(pairs, differences, strict=True)
    }
    return [
        replace(one, words=d.text, other=d.other) if (d := first.get(one.number)) else one
        for one in found
    ]
