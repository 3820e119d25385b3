"""The target of a dry run: it is read and not written, not even a lease."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from importlib import metadata
from operator import itemgetter

import numpy as np
import xxhash

from dedup_job.columns import Batch, Decisions, Documents, NumberedTexts
from dedup_job.documents import Decision, Document, Duplicate, Kept, Pair, Reason, Skipped
from dedup_job.job import protocols
from dedup_job.mongo.id_keys import are_own, place_of, shown
from dedup_job.mongo.target_reader import TargetReader
from dedup_job.native.bytes_column import BytesColumn
from dedup_job.runs.decided import DUPLICATE, KEPT, NO_PAIR, DecidedDocument
from dedup_job.runs.run import Checkpoint, Run, Scope
from dedup_job.runs.survey import BINS, BY_THRESHOLD, EXTREME, OTHERS, RANDOM, Drawn, Survey


class DryTarget(TargetReader, protocols.Target):
    """Reads the target; what would be there is read from the source."""

    collector: SurveyCollector | None = None

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Check the target; keep nobody away."""
        self.check()
        yield

    def begin(
        self, scope: Scope, record: Callable[[Checkpoint], Run]
    ) -> tuple[Checkpoint, Sequence[Run]]:
        """Begin at nothing."""
        return super().begin(scope, record)[0], self.run_lines()

    def texts_of(self, keys: BytesColumn) -> NumberedTexts:
        """Return texts as the target has them; of what would be there the source's, cleaned."""
        texts = super().texts_of(keys)
        missing = np.setdiff1d(np.flatnonzero(are_own(keys)), texts.numbers)
        if not len(missing):
            return texts
        row_of = dict(zip(keys.take(missing).list(), missing.tolist(), strict=True))
        found = self.cleaned(self.origin.documents([*row_of]))
        return texts.joined(NumberedTexts.of({row_of[key]: t for key, t in found.items()}))

    def ranks_of(self, keys: BytesColumn) -> list[bytes]:
        """Return ranks of kept documents; of what would be there from the source."""
        ranks, asked = super().ranks_of(keys), keys.list()
        missing = [key for key, rank in zip(asked, ranks, strict=True) if not rank]
        ranking = self.form.ranking
        if ranking is None or not missing:
            return ranks
        found = self.origin.documents(missing)
        texts = self.texts([*found])
        documents = Documents.of(found[key].with_content(text) for key, text in texts.items())
        more = dict(zip(documents.keys.list(), ranking.ranks(documents), strict=True))
        return [rank or more.get(key, b"") for key, rank in zip(asked, ranks, strict=True)]

    def write(self, batch: Batch, decisions: Decisions, *_: object) -> None:
        """Write nothing; let a collector see the decisions."""
        if self.collector is not None:
            self.collector.see(batch, decisions)

    def finish(self, report: Run, *_: object, **__: object) -> None:
        """Write nothing; let a collector end its work while texts can be read."""
        if self.collector is not None:
            self.collector.finish(report, self.texts)


_MAX_TEXT = 5000  # characters of a text that is held; a longer one is looked up in the end
_GONE = Skipped(Reason.MISSING)  # for the text of a document that is no longer at hand


class LowestPairs:
    """The pairs of lowest rank among many, without holding all."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._held: list[tuple[float, DecidedDocument]] = []

    def add(self, rank: float, make: Callable[[], DecidedDocument]) -> None:
        """Take a pair if it is among the lowest; it is made only then."""
        if len(self._held) < self._number or rank < self._held[-1][0]:
            insort(self._held, (rank, make()), key=itemgetter(0))
            del self._held[self._number :]

    def __iter__(self) -> Iterator[DecidedDocument]:
        return (pair for _, pair in self._held)


class Drawing:
    """Draws from pairs of one decision as they come; nearest: the sign of the measure's rank."""

    def __init__(self, nearest: int) -> None:
        self._nearest, self._bins = nearest, [0] * BINS
        self._extreme, self._random = LowestPairs(EXTREME), LowestPairs(RANDOM)

    def add(self, rank: float, pair: Pair, make: Callable[[], DecidedDocument]) -> None:
        """Take a pair; rank: its place in a random order."""
        if pair.measure is not None and (not pair.kind or pair.kind in BY_THRESHOLD):
            self._bins[min(int(pair.measure * BINS), BINS - 1)] += 1
            self._extreme.add(self._nearest * pair.measure, make)
        self._random.add(rank, make)

    def drawn(self) -> Drawn:
        """Return the pairs drawn so far."""
        return Drawn(self._bins, [*self._extreme], [*self._random])


class SurveyCollector:
    """Watches the decisions of a dry run; afterwards `survey` has what a page says."""

    def __init__(self) -> None:
        self._near, self._refused = Drawing(1), Drawing(-1)
        self._others: dict[Reason, LowestPairs] = {}
        self.survey: Survey | None = None

    def see(self, batch: Batch, decisions: Decisions) -> None:
        """Take the decisions on a batch."""
        for row in np.flatnonzero(~decisions.kept | decisions.refused).tolist():
            self._take(batch.documents[row], decisions[row])
        if decisions.superseded is not None:
            _, keys, dropped = decisions.superseded
            for key, decision in zip(keys.list(), dropped, strict=True):
                self._take(Document(None, key, b"", _GONE), decision)

    def finish(self, report: Run, texts: Callable[[Sequence[bytes]], dict[bytes, str]]) -> None:
        """Make the survey; texts: looks up the texts of kept documents."""
        near, refused = self._near.drawn(), self._refused.drawn()
        others = [pair for pairs in self._others.values() for pair in pairs]
        pairs = {one.key: one for one in (*refused.pairs, *near.pairs, *others)}
        named = {one.pair.of for one in pairs.values()}
        named |= {one.key for one in pairs.values() if one.text is None and one.pair.of}
        held = texts(sorted(named - {b""}))
        found = {
            key: replace(one, other=held.get(one.pair.of), text=one.text or held.get(key))
            for key, one in pairs.items()
        }
        counts, about = report.counts, report.about
        decision = about.settings.get("decision", {})
        judged = decision.get("judge") == "differences"
        self.survey = Survey(
            target=about.target,
            source=about.source,
            made=datetime.now(UTC),
            version=metadata.version("dedup-job"),
            counts=counts,
            threshold=decision.get("confidence" if judged else "similarity"),
            judged=judged,
            dry_run=True,
            near=near.changed(found),
            refused=refused.changed(found),
            others=[found[one.key] for one in others],
            runs=[report],
            settings=about.settings,
            versions=about.versions,
        )

    def _take(self, document: Document, decision: Decision) -> None:
        rank = xxhash.xxh3_64_intdigest(document.key)
        decided = partial(decided_document, document, decision)
        if isinstance(decision, Kept):
            if decision.nearest is not None:
                self._refused.add(rank, decision.nearest, decided)
        elif isinstance(decision, Duplicate) and decision.reason is Reason.NEAR:
            self._near.add(rank, decision.pair, decided)
        else:
            self._others.setdefault(decision.reason, LowestPairs(OTHERS)).add(rank, decided)


def decided_document(document: Document, decision: Decision) -> DecidedDocument:
    """Return a document with its decision."""
    if isinstance(decision, Kept):
        pair = decision.nearest or NO_PAIR
        name, reason = KEPT, pair.kind
    elif isinstance(decision, Duplicate):
        name, reason, pair = DUPLICATE, str(decision.reason), decision.pair
    else:
        name, reason, pair = type(decision).__name__.lower(), str(decision.reason), NO_PAIR
    content = document.content
    return DecidedDocument(
        document.key,
        name,
        reason,
        pair,
        id=shown(document.key),
        of=shown(pair.of) if pair.of else "",
        against=place_of(pair.of) if pair.of else "",
        text=content if isinstance(content, str) and len(content) <= _MAX_TEXT else None,
        detail=getattr(decision, "detail", ""),
    )
