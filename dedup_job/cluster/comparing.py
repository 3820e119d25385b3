"""Texts compared by the worker that holds their batch."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import deque
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dedup_job.cluster.processes import Lost, Process
from dedup_job.cluster.shards import ShardedIndex
from dedup_job.cluster.workbench import NumberedBatch, TextPlaces
from dedup_job.cluster.workforce import Workforce
from dedup_job.columns import Batch, NumberedTexts
from dedup_job.decision.compared import Rows
from dedup_job.decision.rounds import PairVerdicts
from dedup_job.decision.weighing import PairDetails
from dedup_job.documents import Difference
from dedup_job.native.code_points import TextColumn


@dataclass(slots=True)
class _UnderWay:
    """A batch that may not be in the target yet: which of its rows are kept, from which number."""

    number: int
    kept: list[tuple[int, Rows]] = field(default_factory=list)


class RemoteTexts:
    """The texts of batches, in the workers that prepared them."""

    def __init__(self, force: Workforce, index: ShardedIndex) -> None:
        self._force, self._index = force, index
        self._under_way: deque[_UnderWay] = deque()
        self._lock, self._arrived = threading.Lock(), 0

    def begin_batch(self, batch: Batch) -> None:
        """Begin the next batch; forget those that have arrived."""
        with self._lock:
            arrived, self._arrived = self._arrived, 0
        self._force.forget([self._under_way.popleft().number for _ in range(arrived)])
        kept = next((one.kept[0][0] for one in self._under_way if one.kept), len(self._index))
        self._index.settled(kept)
        self._under_way.append(_UnderWay(cast(NumberedBatch, batch).number))

    def pairs(self, part: slice, held: int) -> RemotePairs:
        """Return what compares some texts of the batch."""
        return RemotePairs(self, self._under_way[-1].number, part, held)

    def add(self, first: int, part: slice, kept: NDArray[np.bool_]) -> None:
        """Remember which texts of a part were kept."""
        rows = np.flatnonzero(kept)
        if len(rows):
            self._under_way[-1].kept.append((first, part.start + rows))

    def arrived(self) -> None:
        """Count the earliest batch under way as stored in the target."""
        with self._lock:
            self._arrived += 1

    def end(self) -> None:
        """Leave the texts to the workers, which end with the run."""

    def home(self, number: int) -> Process:
        """Return who holds a batch."""
        return self._force.home(number)

    def places(self, numbers: Rows) -> TextPlaces:
        """Return where the texts of kept documents are, ascending numbers."""
        parts = [(first, rows, one.number) for one in self._under_way for first, rows in one.kept]
        starts = [first for first, *_ in parts]
        stored = numbers[numbers < starts[0]] if starts else numbers
        elsewhere: list[NumberedTexts] = []
        others = numbers[len(stored) :]
        of = np.array([bisect_right(starts, number) - 1 for number in others.tolist()], dtype=int)
        for place in np.unique(of).tolist():
            first, rows, number = parts[place]
            own = others[of == place]
            elsewhere.append(NumberedTexts(own, self._texts(number, rows[own - first])))
        return TextPlaces(stored, self._index.packed_keys(stored), elsewhere)

    def _texts(self, number: int, rows: Rows) -> Any:
        while True:
            try:
                return self.home(number).ask("texts", number, rows)
            except Lost:
                continue


class RemotePairs:
    """Compares texts of a batch in the worker that holds it; again in another if that is lost.

    A question names the places of those texts of kept documents that the worker lacks.
    """

    def __init__(self, texts: RemoteTexts, number: int, part: slice, held: int) -> None:
        self.held = held
        self._texts, self._number, self._part = texts, number, part
        self._worker: Process | None = None
        self._has: Rows = np.empty(0, dtype=np.int64)  # numbers of kept documents

    def equal(self, rows: Rows, numbers: Rows) -> NDArray[np.uint8]:
        """Tell which pairs are the same text."""
        said: NDArray[np.uint8] = self._ask("equal", rows, numbers)
        return said

    def verdicts(self, rows: Rows, numbers: Rows, others: TextColumn | None = None) -> PairVerdicts:
        """Judge pairs."""
        verdicts: PairVerdicts = self._ask("verdicts", rows, numbers, others)
        return verdicts

    def details(self, rows: Rows, numbers: Rows) -> PairDetails:
        """Return all that is known of pairs."""
        details: PairDetails = self._ask("details", rows, numbers)
        return details

    def differences(self, rows: Rows, numbers: Rows) -> list[tuple[Difference, ...]]:
        """Name the differences of duplicates from the kept texts."""
        named: list[tuple[Difference, ...]] = self._ask("differences", rows, numbers)
        return named

    def _ask(self, method: str, rows: Rows, numbers: Rows, *more: Any) -> Any:
        """Ask the worker that holds the batch.

        Nowhere else is the worker replaced: another thread may notice the loss first.
        """
        kept = np.unique(numbers[numbers < self.held])
        while True:
            try:
                if self._worker is None:
                    self._has = self._has[:0]
                    self._worker = self._texts.home(self._number)
                    self._worker.ask("compare", self._number, self._part, self.held)
                wanted = np.setdiff1d(kept, self._has) if method != "equal" else kept
                places = self._texts.places(wanted) if len(wanted) else None
                said = self._worker.ask("say", self._number, places, method, rows, numbers, *more)
            except Lost:
                self._worker = None
                continue
            if method != "equal":  # which leaves no text there
                self._has = np.union1d(self._has, kept)
            return said
