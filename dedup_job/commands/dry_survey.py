"""What a page says of a dry run, collected while it decides, in bounded memory."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib import metadata

import numpy as np
import xxhash

from dedup_job.columns import Batch, Decisions
from dedup_job.documents import Decision, Document, Duplicate, Kept, Reason
from dedup_job.mongo.bson.extended_json import shown
from dedup_job.report.run import Report
from dedup_job.report.samples import Difference, Sample
from dedup_job.report.survey import (
    BINS,
    Group,
    RunLine,
    Similarities,
    Survey,
    layered,
)

_EXTREME, _RANDOM, _OTHERS = 12, 300, 4
_MAX_TEXT = 5000  # characters of a text that are held

Item = tuple[Sample, bytes | None]
"""A sample, and the key of the kept document that it was compared with."""


class LowestItems:
    """The items of lowest rank among many, without holding all."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._heap: list[tuple[float, int, Item]] = []
        self._added = 0

    def add(self, rank: float, make: Callable[[], Item]) -> None:
        """Take an item if it is among the lowest; it is made only then."""
        self._added += 1
        if len(self._heap) < self._number:
            heapq.heappush(self._heap, (-rank, -self._added, make()))
        elif -rank > self._heap[0][0]:
            heapq.heapreplace(self._heap, (-rank, -self._added, make()))

    def __iter__(self) -> Iterator[Item]:
        """Yield them, the lowest first."""
        return (item for *_, item in sorted(self._heap, reverse=True, key=lambda entry: entry[:2]))


class SurveyCollector:
    """Watches the decisions of a dry run; afterwards `survey` has what a page says."""

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed
        self._left_out = LowestItems(_EXTREME)
        self._least, self._most = LowestItems(_EXTREME), LowestItems(_EXTREME)
        self._near, self._refused = LowestItems(_RANDOM), LowestItems(_RANDOM)
        self._exact = LowestItems(_OTHERS)
        self._without: dict[Reason, LowestItems] = {}
        self._bins = [0] * BINS, [0] * BINS
        self.survey: Survey | None = None

    def see(self, batch: Batch, decisions: Decisions) -> None:
        """Take the decisions on a batch."""
        for row in np.flatnonzero(~decisions.kept | decisions.refused).tolist():
            self._take(batch.documents[row], decisions[row])

    def finish(self, report: Report, texts: Callable[[Sequence[bytes]], dict[bytes, str]]) -> None:
        """Make the survey; texts: looks up the texts of kept documents."""
        without = [item for items in self._without.values() for item in items]
        parts: list[Iterable[Item]] = [
            self._left_out,
            self._least,
            self._near,
            self._most,
            self._refused,
            [*self._exact, *without],
        ]
        of = {key for part in parts for _, key in part if key is not None}
        others = texts(sorted(of))
        checkpoint, about = report.checkpoint, report.about
        counts = checkpoint.counts
        line = RunLine(
            0,
            str(report.status),
            checkpoint.started,
            report.finished,
            counts,
            report.known,
            checkpoint.seconds,
        )
        decision = about.settings.get("decision", {})
        judged = decision.get("judge") == "differences" and decision.get("compare") != "none"
        self.survey = Survey(
            target=about.target,
            source=about.source,
            made=datetime.now(UTC),
            version=metadata.version("dedup-job"),
            counts=counts,
            kept=counts.kept,
            ledger=counts.scanned - counts.kept,
            threshold=None if judged else decision.get("similarity"),
            seed=self._seed,
            dry_run=True,
            similarities=Similarities(*self._bins),
            layers=layered(*(_with_texts(part, others) for part in parts)),
            groups=[Group(c.shown, c.sample, c.duplicates, ()) for c in report.clusters],
            runs=[line],
            settings=about.settings,
            versions=about.versions,
        )

    def _take(self, document: Document, decision: Decision) -> None:
        rank = xxhash.xxh3_64_intdigest(document.key, seed=self._seed)

        def item() -> Item:
            return _item(document, decision)

        if isinstance(decision, Kept):
            if decision.nearest is not None:
                self._count(1, decision.nearest.similarity)
                self._most.add(-(decision.nearest.similarity or 0.0), item)
                self._refused.add(rank, item)
        elif isinstance(decision, Duplicate):
            if decision.reason is Reason.EXACT:
                self._exact.add(rank, item)
            else:
                self._count(0, decision.pair.similarity)
                self._least.add(decision.pair.similarity or 0.0, item)
                self._near.add(rank, item)
                if decision.pair.left_out:
                    self._left_out.add(-decision.pair.left_out, item)
        else:
            self._without.setdefault(decision.reason, LowestItems(_OTHERS)).add(rank, item)

    def _count(self, which: int, similarity: float | None) -> None:
        if similarity is not None:
            self._bins[which][min(int(similarity * BINS), BINS - 1)] += 1


def _item(document: Document, decision: Decision) -> Item:
    text = document.content[:_MAX_TEXT] if isinstance(document.content, str) else None
    id_ = shown(document.key)
    if isinstance(decision, Kept):
        pair = decision.nearest
        assert pair is not None  # only such ones are taken
        return Sample(id_, "kept", pair.kind, shown(pair.of), pair.similarity, text=text), pair.of
    if isinstance(decision, Duplicate):
        pair = decision.pair
        found = Sample(
            decision="duplicate",
            reason=str(decision.reason),
            id=id_,
            of=shown(pair.of),
            similarity=pair.similarity,
            text=text,
            differences=[Difference(d.kind, d.of, d.text) for d in pair.differences],
            richer=pair.richer,
            left_out=pair.left_out,
        )
        return found, pair.of
    name, detail = type(decision).__name__.lower(), getattr(decision, "detail", "")
    return Sample(id_, name, str(decision.reason), text=text, detail=detail), None


def _with_texts(items: Iterable[Item], others: dict[bytes, str]) -> list[Sample]:
    """Return samples with the texts of the kept documents."""
    return [
        one if of is None else replace(one, other=others.get(of, "")[:_MAX_TEXT] or None)
        for one, of in items
    ]
