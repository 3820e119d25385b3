"""Candidates of some texts, looked up and compared all at once, ready to be decided in turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.decision.check import Check, Verdict
from dedup_job.decision.texts import KeptTexts
from dedup_job.documents import Channel, Fingerprints
from dedup_job.index import KeptIndex, Proposals
from dedup_job.index.proposals import BY_SIMHASH


class Candidate(NamedTuple):
    """A kept document: how far its fingerprint is, how it was found, and how alike its text is.

    agreement: equal bits of the sketches; columns: as in index.Proposals; agrees: whether the
    texts are alike enough.
    """

    number: int
    distance: int
    agreement: int
    columns: int
    similarity: float = 1.0
    agrees: bool = True

    @property
    def rank(self) -> tuple[int, int, int]:
        """Order in which candidates are compared, where there are too many."""
        return -self.agreement, self.distance, self.number


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found for one text: the candidates compared, how many there were, which are void."""

    compared: tuple[Candidate, ...] = ()
    total: int = 0
    void: tuple[int, ...] = ()


_NOTHING = Looked()
_FEW = 4  # pairs a text within a batch


class Candidates:
    """Candidates of n texts, among the kept documents and among the earlier texts themselves."""

    def __init__(
        self,
        kept: KeptIndex,
        check: Check,
        known: KeptTexts,
        most: int,
        texts: Sequence[str],
        fingerprints: Fingerprints,
    ) -> None:
        """Look all up, fetch the texts of what is found, and compare.

        most: so many candidates of a text are compared. What becomes of is told for the rows in
        `open`, ascending: every other text is kept, and is no candidate of these.
        """
        self._kept, self._check, self._most, self._texts = kept, check, most, texts
        self._numbers: dict[int, int] = {}  # of the rows that are kept
        self._kept_texts: dict[str, int] = {}
        self._columns = _columns_of(fingerprints.sketches.channels if fingerprints.sketches else ())
        twins = kept.equal(fingerprints)
        had_twin = np.flatnonzero(twins >= 0)
        least = check.least_agreement(texts)
        self._found = kept.look_up(fingerprints, least)
        alone = self._found.alone & (twins < 0)
        self.open: list[int] = np.flatnonzero(~alone).tolist()
        every = self._found.before
        best = _best(every, most)
        before = every.chosen(best & (twins < 0)[every.rows])
        wanted = np.unique(np.concatenate([twins[twins >= 0], before.numbers]))
        self._known = known.get(wanted.tolist())
        self._twins: list[int] = twins.tolist()
        if gone := [row for row in had_twin.tolist() if self.twin(row) < 0]:
            twins[gone] = -1  # so these are compared after all
            before = every.chosen(best & (twins < 0)[every.rows])
            self._known |= known.get(sorted({*before.numbers.tolist()} - self._known.keys()))
        self._totals: list[int] = np.diff(every.offsets).tolist()
        self._before = _by_row(before, self._compared(before))
        within = self._found.within
        self._within: dict[int, list[Candidate]] | None = None  # else in turn, the best ones
        if len(within.numbers) <= _FEW * len(texts):
            verdict = check.compare(texts, within.rows, texts, within.numbers)
            self._within = _by_row(within, verdict)

    def keep(self, row: int, number: int) -> None:
        """Take note that a text of an open row is kept, and a candidate of the later ones."""
        text = self._texts[row]
        self._found.keep(row)
        self._numbers[row] = self._kept_texts[text] = number
        self._known[number] = text
        if (gone := self._twins[row]) >= 0:
            self._kept.replace(gone, number)

    @property
    def hidden(self) -> int:
        """How many of the texts that are kept their fingerprint does not find later."""
        return self._found.hidden

    def text(self, number: int) -> str:
        """Return the text of a candidate."""
        return self._known[number]

    def twin(self, row: int) -> int:
        """Return the number of the kept document with the same text, -1 if there is none."""
        number, text = self._twins[row], self._texts[row]
        if number >= 0 and self._known.get(number) == text:
            return number
        return self._kept_texts.get(text, -1)

    def of(self, row: int) -> Looked:
        """Return what was found for a text that has no twin."""
        found, twin = self._before.get(row, []), self._twins[row]
        here, count = self._here(row)
        if not found and not here and twin < 0:
            return _NOTHING
        total = self._totals[row] + count
        if len(found) + len(here) > self._most:
            ranked = sorted([*found, *here], key=lambda candidate: candidate.rank)[: self._most]
            chosen = {candidate.number for candidate in ranked}
            found = [candidate for candidate in found if candidate.number in chosen]
            here = [candidate for candidate in here if candidate.number in chosen]
        there = [candidate for candidate in found if candidate.number in self._known]
        void: tuple[int, ...] = ()
        if twin >= 0 or len(there) < len(found):
            numbers = dict.fromkeys((twin, *(candidate.number for candidate in found)))
            void = tuple(n for n in numbers if n >= 0 and n not in self._known)
        here = self._compared_here(row, here) if self._within is None else here
        return Looked((*there, *here), total, void)

    def channels(self, candidate: Candidate) -> tuple[str, ...]:
        """Return the names of the channels that found a candidate."""
        return tuple(name for name, columns in self._columns if candidate.columns & columns)

    def _compared(self, before: Proposals) -> Verdict:
        """Compare the texts with those of kept documents; what is void is not alike."""
        numbers = list(self._known)
        places = {number: place for place, number in enumerate(numbers)}
        others = np.array([places.get(n, -1) for n in before.numbers.tolist()], dtype=np.int64)
        there = others >= 0
        alike, agree = np.zeros(len(others)), np.zeros(len(others), dtype=np.bool_)
        texts = list(self._known.values())
        verdict = self._check.compare(self._texts, before.rows[there], texts, others[there])
        alike[there], agree[there] = verdict.similarities, verdict.agree
        return Verdict(alike, agree)

    def _here(self, row: int) -> tuple[list[Candidate], int]:
        """Return the candidates among the earlier texts of the batch, and how many there are.

        Where they were not compared at once, the first by rank are returned.
        """
        if self._within is not None:
            here = [
                candidate._replace(number=self._numbers[candidate.number], columns=columns)
                for candidate in self._within.get(row, ())
                if (columns := candidate.columns & int(self._found.visible[candidate.number]))
            ]
            return here, len(here)
        within, (start, stop) = self._found.within, self._found.within.offsets[row : row + 2]
        rows = within.numbers[start:stop]
        by = within.columns[start:stop] & self._found.visible[rows]
        kept = np.flatnonzero(by)
        distances, agreements = within.distances[start:stop], within.agreements[start:stop]
        ranked = kept[_ranked(rows[kept], distances[kept], agreements[kept])[: self._most]]
        return [
            Candidate(
                self._numbers[int(rows[i])], int(distances[i]), int(agreements[i]), int(by[i])
            )
            for i in np.sort(ranked).tolist()
        ], len(kept)

    def _compared_here(self, row: int, here: Sequence[Candidate]) -> list[Candidate]:
        """Compare a text with earlier ones of its own batch."""
        if not here:
            return []
        others = [self._known[candidate.number] for candidate in here]
        zeros = np.zeros(len(here), dtype=np.int64)
        verdict = self._check.compare([self._texts[row]], zeros, others, np.arange(len(here)))
        return [
            candidate._replace(similarity=alike, agrees=agrees)
            for candidate, alike, agrees in zip(
                here, verdict.similarities.tolist(), verdict.agree.tolist(), strict=True
            )
        ]


def _columns_of(channels: Sequence[Channel]) -> list[tuple[str, int]]:
    """Return the channels by name, in their order, each with its columns as bits."""
    columns = dict.fromkeys(Channel, 0) | {Channel.SIMHASH: BY_SIMHASH}
    for i, channel in enumerate(channels):
        columns[channel] |= 1 << i
    return [(str(channel), bits) for channel, bits in columns.items()]


def _best(proposals: Proposals, most: int) -> NDArray[np.bool_]:
    """Choose of each text's candidates those that rank first, bool (c,)."""
    chosen = np.ones(len(proposals.numbers), dtype=np.bool_)
    for row in np.flatnonzero(np.diff(proposals.offsets) > most).tolist():
        places = slice(proposals.offsets[row], proposals.offsets[row + 1])
        order = _ranked(
            proposals.numbers[places], proposals.distances[places], proposals.agreements[places]
        )
        chosen[places][order[most:]] = False
    return chosen


def _ranked(
    numbers: NDArray[np.int64], distances: NDArray[np.uint8], agreements: NDArray[np.uint8]
) -> NDArray[np.int64]:
    """Return the order in which candidates are compared, as `Candidate.rank`."""
    return np.lexsort((numbers, distances, -agreements.astype(np.int64)))


def _by_row(proposals: Proposals, verdict: Verdict) -> dict[int, list[Candidate]]:
    """Return the candidates of each text that has some."""
    rows: dict[int, list[Candidate]] = {}
    columns: list[NDArray[Any]] = [
        proposals.rows,
        proposals.numbers,
        proposals.distances,
        proposals.agreements,
        proposals.columns,
        verdict.similarities,
        verdict.agree,
    ]
    for row, *values in zip(*(column.tolist() for column in columns), strict=True):
        rows.setdefault(row, []).append(Candidate(*values))
    return rows
