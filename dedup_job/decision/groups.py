"""A better copy supersedes a kept document only if it is like all others of its group.

Else versions that differ a little, each from the one before, end as one, the first and the last of
which have nothing in common.
"""

from __future__ import annotations

import numpy as np

from dedup_job.decision.compared import PairTexts
from dedup_job.decision.ranks import KeptRanks
from dedup_job.decision.rounds import NEAR, REFUSED, Outcome
from dedup_job.index.look_up import LookUp
from dedup_job.native.code_points import pack
from dedup_job.native.distinct import distinct


class Groups:
    """The near duplicates of kept documents, while n texts are decided."""

    def __init__(self, found: LookUp, pairs: PairTexts, kept: KeptRanks, most: int) -> None:
        """most: others of a group that a text is compared with; of a larger one the kept stays."""
        self._found, self._pairs, self._kept, self._most = found, pairs, kept, most
        self._owners = found.candidates.rows
        self._texts: list[str] = []  # of former parts, others by `~place`
        self._former: dict[int, list[int]] = {}
        self._alike: dict[tuple[int, int], bool] = {}

    def first_unlike(self, outcome: Outcome) -> int:
        """Return the first pair by which a text supersedes one whose group it is unlike, or -1."""
        numbers, owners, held = self._found.candidates.numbers, self._owners, self._found.held
        groups, founders = dict[int, list[int]](), dict[int, int]()
        leads, asked = outcome.replaced >= 0, list[tuple[int, int, list[int]]]()
        for row in np.flatnonzero(leads | (outcome.state == NEAR)).tolist():
            pair = int(outcome.by[row] if leads[row] else outcome.chosen[row])
            if not leads[row] and owners[pair] != row:
                continue  # it was superseded
            number = int(outcome.replaced[row] if leads[row] else numbers[pair])
            founder = founders[held + row] = founders.get(number, number)
            others = groups.setdefault(founder, [])
            if leads[row] and pair >= 0:
                asked.append((row, founder, [*others]))
            if pair >= 0:
                others.append(number if leads[row] else held + row)
        self._fetch({founder for _, founder, _ in asked if founder < held} - self._former.keys())
        every = [(row, self._former.get(one, []) + others) for row, one, others in asked]
        few = ((row, others) for row, others in every if len(others) <= self._most)
        pairs = ((row, other) for row, others in few for other in others)
        self._compare([pair for pair in pairs if pair not in self._alike])
        for row, others in every:
            if len(others) > self._most or not all(self._alike[row, other] for other in others):
                return int(outcome.by[row])
        return -1

    def _fetch(self, numbers: set[int]) -> None:
        asked = np.array(sorted(numbers), dtype=np.int64)
        for number, texts in self._kept.near(asked, self._most).items():
            self._former[number] = [~(len(self._texts) + i) for i in range(len(texts))]
            self._texts += texts

    def _compare(self, asked: list[tuple[int, int]]) -> None:
        """Compare rows with others; one that is gone is like all."""
        rows, others = np.array(asked, dtype=np.int64).reshape(-1, 2).T
        said = self._pairs.verdicts(rows[others >= 0], others[others >= 0]).verdicts
        apart = np.zeros(len(asked), dtype=np.bool_)
        apart[others >= 0] = said == REFUSED
        former = distinct(~others[others < 0])
        texts = pack([self._texts[place] for place in former.tolist()])
        places = self._found.held + np.searchsorted(former, ~others[others < 0])
        said = self._pairs.verdicts(rows[others < 0], places, texts).verdicts
        apart[others < 0] = said == REFUSED
        self._alike |= zip(asked, (~apart).tolist(), strict=True)
