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
from dedup_job.cluster.workbench import Asked
from dedup_job.cluster.workforce import NumberedBatch, Workforce
from dedup_job.columns import Batch, NumberedTexts
from dedup_job.decision.compared import Rows
from dedup_job.decision.rounds import PairVerdicts
from dedup_job.documents import Difference


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
        self.fetched = 0

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

    def asked(self, numbers: Rows, judged: NDArray[np.bool_]) -> Asked:
        """Return where the texts of numbers are."""
        wanted = np.unique(numbers)
        parts = [(first, rows, one.number) for one in self._under_way for first, rows in one.kept]
        starts = [first for first, *_ in parts]
        stored = wanted[wanted < starts[0]] if starts else wanted
        elsewhere: list[NumberedTexts] = []
        others = wanted[len(stored) :]
        of = np.array([bisect_right(starts, number) - 1 for number in others.tolist()], dtype=int)
        for place in np.unique(of).tolist():
            first, rows, number = parts[place]
            own = others[of == place]
            elsewhere.append(NumberedTexts(own, self._texts(number, rows[own - first])))
        self.fetched += len(stored)
        return Asked(numbers, judged, stored, self._index.packed_keys(stored), elsewhere)

    def _texts(self, number: int, rows: Rows) -> Any:
        while True:
            try:
                return self.home(number).ask("texts", number, rows)
            except Lost:
                continue


class RemotePairs:
    """Compares texts of a batch in the worker that holds it; again in another if that is lost."""

    def __init__(self, texts: RemoteTexts, number: int, part: slice, held: int) -> None:
        self.held = held
        self._texts, self._number = texts, number
        self._told: list[tuple[str, tuple[Any, ...]]] = [("compare", (part, held))]
        self._tell_again()

    def fetch(self, rows: Rows, numbers: Rows, *, judged: NDArray[np.bool_]) -> Rows:
        """Let the texts of kept documents be fetched."""
        del rows
        asked = self._texts.asked(numbers, judged)
        gone: Rows = self._ask("fetch", asked)
        self._told.append(("fetch", (asked,)))
        return gone

    def equal(self, rows: Rows, numbers: Rows) -> NDArray[np.bool_]:
        """Tell which pairs are the same text."""
        if not len(rows):
            return np.zeros(0, dtype=np.bool_)
        return cast("NDArray[np.bool_]", self._ask("say", "equal", rows, numbers))

    def verdicts(self, rows: Rows, numbers: Rows) -> PairVerdicts:
        """Judge pairs."""
        return cast(PairVerdicts, self._ask("say", "verdicts", rows, numbers))

    def similarities(
        self, rows: Rows, numbers: Rows, cost: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return how alike judged pairs are."""
        if not len(rows):
            return np.zeros(0)
        return cast("NDArray[np.float64]", self._ask("say", "similarities", rows, numbers, cost))

    def differences(self, rows: Rows, numbers: Rows) -> list[tuple[Difference, ...]]:
        """Name the differences of duplicates from the kept texts."""
        if not len(rows):
            return []
        return cast("list[tuple[Difference, ...]]", self._ask("say", "differences", rows, numbers))

    def _ask(self, method: str, *arguments: Any) -> Any:
        while True:
            try:
                return self._worker.ask(method, self._number, *arguments)
            except Lost:
                self._tell_again()

    def _tell_again(self) -> None:
        """Tell the worker that holds the batch all that the lost one was told.

        Nowhere else is the worker replaced: another thread may notice the loss first.
        """
        while True:
            self._worker = self._texts.home(self._number)
            try:
                for method, arguments in self._told:
                    self._worker.ask(method, self._number, *arguments)
            except Lost:
                continue
            return
