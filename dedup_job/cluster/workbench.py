"""What a worker does, with a source, a target and a judge of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from bson import Timestamp

from dedup_job.cleaning import Cleaner
from dedup_job.columns import Batch, Decisions, Fingerprints, NumberedTexts
from dedup_job.commands.opened import form_of
from dedup_job.commands.run import package_versions
from dedup_job.decision.compared import LocalPairs, ReadLately, Rows
from dedup_job.decision.weighing import PairScorer
from dedup_job.job.preparing import Preparation
from dedup_job.mongo.connection import Namespace, connect, retry_policy
from dedup_job.mongo.errors import translated
from dedup_job.mongo.maintenance.rollback import finish_undo
from dedup_job.mongo.reading import PageSize
from dedup_job.mongo.source import Source
from dedup_job.mongo.target import Target
from dedup_job.native.bytes_column import BytesColumn
from dedup_job.native.code_points import TextColumn
from dedup_job.runs.progress import QUIET
from dedup_job.runs.run import Checkpoint
from dedup_job.runs.stages import Stage, Stopwatch, Work
from dedup_job.settings import Settings


class Worker(NamedTuple):
    """What a worker says of itself: versions by package, the session in which it writes."""

    versions: dict[str, str]
    session: Any


@dataclass(frozen=True, slots=True)
class NumberedBatch(Batch):
    """A batch that a worker holds; to the driver, without documents and texts."""

    number: int = -1


class TextPlaces(NamedTuple):
    """Where texts of kept documents are.

    stored, keys: numbers of documents in the target, with their keys; elsewhere: by the numbers,
    texts that another worker holds.
    """

    stored: Rows
    keys: BytesColumn
    elsewhere: Sequence[NumberedTexts]


class Workbench:
    """Does the work; the batches that it prepared stay here until they are forgotten."""

    def __init__(self, settings: Settings, source: Namespace, target: Namespace) -> None:
        client, _ = connect(settings.connection)
        retry = retry_policy(client, settings.run.retry_for, QUIET)
        models = settings.models()
        form = form_of(settings, models)
        self._target = Target(client, target, form, source, finish_undo, retry)
        page = PageSize(settings.run.page_documents)
        decided = self._target.decided
        self._source = Source(self._target.source, settings.source, retry, decided, page)
        self._scorer = PairScorer(settings.decision, models.judge)
        self._preparation = Preparation(
            Cleaner(settings.cleaning),
            models.fingerprinter,
            self._target.fits,
            settings.source.max_chars,
            form.ranks,
        )
        self._batches: dict[int, Batch] = {}
        self._pairs: dict[int, LocalPairs] = {}
        self._places: TextPlaces | None = None

    def begin(self) -> Worker:
        """Look at the target, and at the files that settings name; say who writes here."""
        with translated():
            self._target.check()
        return Worker(package_versions(), dict(self._target.state.session_id))

    def prepare(
        self, numbers: Sequence[int], keys: Sequence[bytes], time: Timestamp | None
    ) -> list[tuple[NumberedBatch, dict[Stage, Work]]]:
        """Read documents by their ids, clean and fingerprint them.

        numbers: those of the batches to make; time: the least time of the state that is read.
        Returns the batches, each with the work that it took.
        """
        if time is not None:
            self._source.read_after(time)
        watch, made = Stopwatch(), list[tuple[NumberedBatch, dict[Stage, Work]]]()
        for page in watch.timed(Stage.READ, self._source.read_by_id(keys)):
            for batch in self._preparation.prepare(page, watch):
                number = numbers[len(made)]
                self._batches[number] = batch
                made.append((_hollow(batch, number), dict(watch.work)))
                watch.work.update(dict.fromkeys(Stage, Work()))
        return made

    def forget(self, numbers: Sequence[int]) -> None:
        """Forget batches that are written."""
        for number in numbers:
            self._batches.pop(number, None)
            self._pairs.pop(number, None)

    def texts(self, number: int, rows: Rows) -> TextColumn:
        """Return some texts of a batch."""
        return self._batches[number].documents.texts.take(rows)

    def compare(self, number: int, part: slice, held: int) -> None:
        """Begin to compare some texts of a batch, after so many kept documents."""
        batch = self._batches[number]
        kept = ReadLately(lambda _: self._fetched(), self._scorer.read)
        self._pairs[number] = LocalPairs(self._scorer, kept, batch, part, held)

    def say(self, number: int, places: TextPlaces | None, method: str, *arguments: Any) -> Any:
        """Say what is asked of pairs; method: of PairTexts; places: of texts that are not here."""
        self._places = places
        return getattr(self._pairs[number], method)(*arguments)

    def _fetched(self) -> NumberedTexts:
        """Fetch the texts that are not here, from where they are."""
        texts = NumberedTexts.of({})
        if self._places is None:
            return texts
        stored, keys, elsewhere = self._places
        if len(stored):
            found = self._target.texts_of(keys)
            texts = found._replace(numbers=stored[found.numbers])
        for other in elsewhere:
            texts = texts.joined(other)
        return texts

    def write(
        self, number: int, decisions: Decisions, checkpoint: Checkpoint, token: int, before: int
    ) -> None:
        """Commit a batch under the driver's lease, unless an earlier attempt did.

        before: the generation of the state.
        """
        self._target.state.adopt(token)
        self._target.commits.generation = before
        self._target.commit(self._batches[number], decisions, checkpoint)


def _hollow(batch: Batch, number: int) -> NumberedBatch:
    """Return a batch with the sizes of its documents and texts in place of these."""
    documents, prints = batch.documents, batch.fingerprints
    nothing = np.empty(0, dtype=np.uint8)
    raw = BytesColumn(nothing, np.zeros_like(documents.raw.lengths), documents.raw.lengths)
    texts = TextColumn(nothing.view(np.uint32), documents.texts.offsets)
    bare: Fingerprints = prints[np.arange(len(prints))]
    return NumberedBatch(
        replace(documents, raw=raw, texts=texts, marked=None), bare, batch.ranks, number
    )
