"""Candidates of some texts, looked up, weighed and decided all at once, as if it were in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dedup_job.decision import rounds
from dedup_job.decision.rounds import KEPT, NEAR, REPEATED, TWIN, Outcome, Said
from dedup_job.decision.texts import KeptTexts
from dedup_job.decision.weighing import Weighing
from dedup_job.documents import Channel, Fingerprints
from dedup_job.index import KeptIndex
from dedup_job.index.look_up import LookUp
from dedup_job.index.proposals import BY_SIMHASH
from dedup_job.judgment import names_of_richer


@dataclass(frozen=True, slots=True)
class Chosen:
    """Pairs of a text and a kept one.

    rows: int64 (c,), of the text; numbers: int64 (c,), of the kept one; texts: these; distances:
    int64 (c,), in bits; similarities: float64 (c,); channels: those that found each pair; kinds:
    what keeps each apart; richer: names of what each text has that the kept one lacks.
    """

    rows: NDArray[np.int64]
    numbers: NDArray[np.int64]
    texts: list[str]
    distances: NDArray[np.int64]
    similarities: NDArray[np.float64]
    channels: list[tuple[str, ...]]
    kinds: list[str]
    richer: list[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Choices:
    """The decisions on n texts.

    open: int64 (m,), ascending, the rows of which there is something to say: every other text is
    kept, without a candidate. kept: bool (n,); exact: rows of exact duplicates with the number of
    the kept one; near: the near duplicates; refused: of kept texts the nearest candidates that were
    compared; totals: int64 (n,), candidates there were; missing_originals: by row, numbers of kept
    documents that are gone; unindexed: how many kept texts their fingerprint does not find later.
    """

    open: NDArray[np.int64]
    kept: NDArray[np.bool_]
    exact: dict[int, int]
    near: Chosen
    refused: Chosen
    totals: NDArray[np.int64]
    missing_originals: dict[int, tuple[int, ...]]
    unindexed: int


def choose(
    kept: KeptIndex,
    weighing: Weighing,
    known: KeptTexts,
    most: int,
    texts: Sequence[str],
    fingerprints: Fingerprints,
) -> Choices:
    """Decide n texts in their order; `most` candidates of each are compared at most.

    What is kept is not added to the index.
    """
    return _Batch(kept, weighing, known, most, texts, fingerprints).choices()


class _Batch:
    """Texts, what was found for them, and the texts of what was found before."""

    def __init__(
        self,
        kept: KeptIndex,
        weighing: Weighing,
        known: KeptTexts,
        most: int,
        texts: Sequence[str],
        fingerprints: Fingerprints,
    ) -> None:
        self._kept, self._weighing, self._most, self._texts = kept, weighing, most, texts
        self._short = fingerprints.short
        self._channels = _columns_of(
            fingerprints.sketches.channels if fingerprints.sketches else ()
        )
        found_twins = kept.equal(fingerprints)
        self._found: LookUp = kept.look_up(fingerprints, weighing.least_agreement(texts))
        self._open = np.flatnonzero(~(self._found.alone & (found_twins < 0)))
        self._fetch(known, found_twins)

    def _fetch(self, known: KeptTexts, found_twins: NDArray[np.int64]) -> None:
        """Fetch the texts of what is found: of twins, and of candidates of texts without one."""
        before = self._found.before
        best = np.zeros(len(before.numbers), dtype=np.bool_)
        room = rounds.make_room(0, 0, 0, with_voids=False)
        rounds.best(before, self._most, room, best)
        rows = before.rows
        wanted = np.unique(
            np.concatenate(
                [found_twins[found_twins >= 0], before.numbers[best & (found_twins < 0)[rows]]]
            )
        )
        self._known = known.get(wanted.tolist())
        self._hashed = {int(row): int(found_twins[row]) for row in np.flatnonzero(found_twins >= 0)}
        self._twins = np.full(len(self._texts), -1, dtype=np.int64)
        without = []
        for row, number in self._hashed.items():
            if self._known.get(number) == self._texts[row]:
                self._twins[row] = number
            else:
                without.append(row)  # so these are compared after all
        if without:
            more = np.unique(before.numbers[best & np.isin(rows, without)]).tolist()
            wanted = np.union1d(wanted, more)
            self._known |= known.get([number for number in more if number not in self._known])
        self._gone = np.array([n for n in wanted.tolist() if n not in self._known], dtype=np.int64)

    def choices(self) -> Choices:
        """Decide in turn, until something is said of every pair that is needed."""
        before, within, n = self._found.before, self._found.within, len(self._texts)
        pairs = len(before.numbers) + len(within.numbers)
        said = Said(np.zeros(pairs, dtype=np.uint8), np.empty(pairs))
        kinds, richer = np.zeros((2, pairs), dtype=np.uint8)
        if len(self._gone):
            said.said[: len(before.numbers)][np.isin(before.numbers, self._gone)] = rounds.VOID
        room = rounds.make_room(n, pairs, self._most, with_voids=bool(len(self._gone)))
        outcome = Outcome(
            np.full(n, KEPT, dtype=np.uint8),
            np.full(n, -1, dtype=np.int64),
            np.full(n, -1, dtype=np.int64),
            np.zeros(n, dtype=np.int64),
        )
        alike = self._alike()
        while count := rounds.decide(
            self._open,
            self._twins,
            alike,
            before,
            within,
            self._found.turns,
            said,
            self._most,
            self._weighing.judge is None,
            room,
            outcome,
        ):
            asked = room.needed[:count]
            weighed = self._weighing.weigh(*self._pairs(asked))
            said.said[asked] = np.where(weighed.joined, rounds.JOINED, rounds.REFUSED)
            said.cost[asked] = weighed.cost
            kinds[asked], richer[asked] = weighed.kinds, weighed.richer
        return self._told(outcome, said, kinds, richer, room.voids)

    def _alike(self) -> NDArray[np.int64]:
        """Return for each open row the first one with the same text, int64 (n,)."""
        first: dict[str, int] = {}
        alike = np.arange(len(self._texts))
        for row in self._open.tolist():
            alike[row] = first.setdefault(self._texts[row], row)
        return alike

    def _rows_of(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the later text of each pair, int64 (c,)."""
        before, within = self._found.before, self._found.within
        size = len(before.numbers)
        rows = np.searchsorted(before.offsets, pairs, side="right") - 1
        rows_within = np.searchsorted(within.offsets, pairs - size, side="right") - 1
        return np.where(pairs < size, rows, rows_within)

    def _others_of(self, pairs: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Tell which pairs are with kept documents, and return numbers of these or else rows."""
        size = len(self._found.before.numbers)
        is_before = pairs < size
        others = np.empty(len(pairs), dtype=np.int64)
        others[is_before] = self._found.before.numbers[pairs[is_before]]
        others[~is_before] = self._found.within.numbers[pairs[~is_before] - size]
        return is_before, others

    def _pairs(
        self, pairs: NDArray[np.int64]
    ) -> tuple[list[str], NDArray[np.int64], list[str], NDArray[np.int64]]:
        """Return the texts of some pairs as they are weighed: those used, once each."""
        used, rows = np.unique(self._rows_of(pairs), return_inverse=True)
        is_before, others = self._others_of(pairs)
        numbers, places = np.unique(others[is_before], return_inverse=True)
        earlier, own_places = np.unique(others[~is_before], return_inverse=True)
        other_rows = np.empty(len(pairs), dtype=np.int64)
        other_rows[is_before], other_rows[~is_before] = places, len(numbers) + own_places
        texts = [self._texts[row] for row in used.tolist()]
        others_texts = [self._known[number] for number in numbers.tolist()]
        others_texts += [self._texts[row] for row in earlier.tolist()]
        return texts, rows.astype(np.int64), others_texts, other_rows

    def _told(
        self,
        outcome: Outcome,
        said: Said,
        kinds: NDArray[np.uint8],
        richer: NDArray[np.uint8],
        voids: NDArray[np.bool_],
    ) -> Choices:
        """Say what became of the texts, by the numbers that the kept ones get."""
        kept = outcome.state == KEPT
        numbers = len(self._kept) + np.cumsum(kept) - 1
        exact = {
            row: int(self._twins[row]) for row in np.flatnonzero(outcome.state == TWIN).tolist()
        }
        for row in np.flatnonzero(outcome.state == REPEATED).tolist():
            exact[row] = int(numbers[outcome.chosen[row]])
        for row in self._hashed.keys() & set(np.flatnonzero(kept).tolist()):
            self._kept.replace(self._hashed[row], int(numbers[row]))
        near = self._open[outcome.state[self._open] == NEAR]
        refused = self._open[kept[self._open] & (outcome.refused[self._open] >= 0)]
        return Choices(
            self._open,
            kept,
            exact,
            self._described(outcome.chosen[near], numbers, said.cost, kinds, richer),
            self._described(outcome.refused[refused], numbers, said.cost, kinds, richer),
            outcome.totals,
            self._missing_originals(outcome, voids),
            self._found.unindexed,
        )

    def _described(
        self,
        pairs: NDArray[np.int64],
        numbers: NDArray[np.int64],
        cost: NDArray[np.float64],
        kinds: NDArray[np.uint8],
        richer: NDArray[np.uint8],
    ) -> Chosen:
        """Say what there is to say of some pairs; numbers: of the texts that are kept."""
        before, within = self._found.before, self._found.within
        is_before, others = self._others_of(pairs)
        distances, columns = (
            np.concatenate(part)[pairs].astype(np.int64)
            for part in ((before.distances, within.distances), (before.columns, within.columns))
        )
        seen = self._found.visible[np.where(is_before, 0, others)] if len(pairs) else columns
        columns = np.where(is_before, columns, columns & seen)
        if self._weighing.judge is None:
            similarities = -cost[pairs]
        else:
            similarities = self._weighing.check.compare(*self._pairs(pairs)).similarities
        return Chosen(
            self._rows_of(pairs),
            np.where(is_before, others, numbers[np.where(is_before, 0, others)]),
            [
                self._known[other] if known else self._texts[other]
                for known, other in zip(is_before.tolist(), others.tolist(), strict=True)
            ],
            distances,
            similarities,
            [self._names(mask) for mask in columns.tolist()],
            [self._weighing.kind(code) for code in kinds[pairs].tolist()],
            [names_of_richer(bits) for bits in richer[pairs].tolist()],
        )

    def _names(self, columns: int) -> tuple[str, ...]:
        """Return the names of the channels by which a pair was found."""
        return tuple(name for name, own in self._channels if columns & own)

    def _missing_originals(
        self, outcome: Outcome, voids: NDArray[np.bool_]
    ) -> dict[int, tuple[int, ...]]:
        """Return by row the kept documents that were found and are gone, twins first."""
        if not len(self._gone):
            return {}
        gone = set(self._gone.tolist())
        found: dict[int, list[int]] = {
            row: [number] for row, number in self._hashed.items() if number in gone
        }
        pairs = np.flatnonzero(voids)
        rows = self._rows_of(pairs)
        numbers = self._found.before.numbers[pairs]
        for row, number in zip(rows.tolist(), numbers.tolist(), strict=True):
            found.setdefault(row, []).append(number)
        compared = outcome.state != REPEATED
        return {row: tuple(dict.fromkeys(each)) for row, each in found.items() if compared[row]}


def _columns_of(channels: Sequence[Channel]) -> list[tuple[str, int]]:
    """Return the channels by name, in their order, each with its columns as bits."""
    columns = dict.fromkeys(Channel, 0) | {Channel.SIMHASH: BY_SIMHASH}
    for i, channel in enumerate(channels):
        columns[channel] |= 1 << i
    return [(str(channel), bits) for channel, bits in columns.items()]
