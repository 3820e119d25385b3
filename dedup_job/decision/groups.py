"""A better copy supersedes a kept document only if it is like all others of its group.

Else versions that differ a little, each from the one before, end as one, whose first and last have
nothing in common.
"""

from __future__ import annotations

import numpy as np

from dedup_job.decision.compared import PairTexts
from dedup_job.decision.ranks import KeptRanks
from dedup_job.decision.rounds import NEAR, Outcome
from dedup_job.index.look_up import LookUp
from dedup_job.judgment import REFUSED
from dedup_job.native.code_points import pack
from dedup_job.native.distinct import distinct


class Groups:
    """The near duplicates of kept documents, while n texts are decided.

    They are numbers, or `~place` in `_texts` where an earlier part of the run decided them.
    """

    def __init__(self, found: LookUp, pairs: PairTexts, kept: KeptRanks, most: int) -> None:
        """most: near duplicates that a text is compared with; with more the kept document stays."""
        self._found, self._pairs, self._kept, self._most = found, pairs, kept, most
        self._owners, self._numbers = found.candidates.rows, found.candidates.numbers
        self._texts = list[str]()
        self._earlier, self._alike = dict[int, list[int]](), dict[tuple[int, int], bool]()

    def first_unlike(self, outcome: Outcome) -> int:
        """Return the first pair by which a text supersedes one whose group it is unlike, or -1."""
        held, near, founders = self._found.held, dict[int, list[int]](), dict[int, int]()
        leads, asked = outcome.replaced >= 0, list[tuple[int, int, list[int]]]()
        for row in np.flatnonzero(leads | (outcome.state == NEAR)).tolist():
            pair = int((outcome.by if leads[row] else outcome.chosen)[row])
            if not leads[row] and self._owners[pair] != row:
                continue  # it was kept until it was superseded
            number = int(outcome.replaced[row] if leads[row] else self._numbers[pair])
            founder = founders[held + row] = founders.get(number, number)
            group = near.setdefault(founder, [])
            if leads[row] and pair >= 0:
                asked.append((row, founder, [*group]))
            if pair >= 0:  # else the texts are equal
                group.append(number if leads[row] else held + row)
        self._fetch({founder for _, founder, _ in asked if founder < held} - self._earlier.keys())
        every = [(row, self._earlier.get(one, []) + group) for row, one, group in asked]
        few = [(row, group) for row, group in every if len(group) <= self._most]
        pairs = ((row, other) for row, group in few for other in group)
        self._compare([pair for pair in pairs if pair not in self._alike])
        for row, group in every:
            if len(group) > self._most or not all(self._alike[row, other] for other in group):
                return int(outcome.by[row])
        return -1

    def _fetch(self, numbers: set[int]) -> None:
        found = self._kept.near(np.array(sorted(numbers), dtype=np.int64), self._most)
        for number, texts in found.items():
            first = len(self._texts)
            self._texts += texts
            self._earlier[number] = [~place for place in range(first, len(self._texts))]

    def _compare(self, asked: list[tuple[int, int]]) -> None:
        rows, others = np.array(asked, dtype=np.int64).reshape(-1, 2).T
        apart, here = np.zeros(len(asked), dtype=np.bool_), others >= 0
        apart[here] = self._pairs.verdicts(rows[here], others[here])[0] == REFUSED
        places = distinct(~others[~here])
        texts = pack([self._texts[place] for place in places.tolist()])
        numbers = self._found.held + np.searchsorted(places, ~others[~here])
        apart[~here] = self._pairs.verdicts(rows[~here], numbers, texts)[0] == REFUSED
        self._alike |= zip(asked, (~apart).tolist(), strict=True)
