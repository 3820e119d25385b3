"""Whether two texts are duplicates: by their differences, or by their similarity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dedup_job.decision.settings import DecisionSettings, Richer
from dedup_job.decision.threshold import Check
from dedup_job.documents import Differing
from dedup_job.fingerprint.sketch import BINS
from dedup_job.judgment import CLASSES, Judge
from dedup_job.native.code_points import pack

# The canonical forms of one question in two notations, with slightly reworded choices in another
# order, share three grams in five; less alike ones are hardly ever joined.
_LEAST_ALIKE = 0.6
_SPREADS = 2.0  # standard deviations of the estimate that a true duplicate may lie below
_MOST_NAMED, _LONGEST = 8, 40  # differences of a pair, characters of each side
SIMILARITY = "similarity"
"""What keeps texts apart that are not alike enough; of others it is the class of a difference."""
RICHER = "richer"
"""What keeps texts apart of which the second is the better copy, where both are wanted."""
_RICHER_CODE = len(CLASSES)


@dataclass(frozen=True, slots=True)
class Weighed:
    """What is said of c pairs of texts.

    joined: bool (c,), whether they are duplicates; cost: float64 (c,), of several joined ones the
    least is chosen; kinds: uint8 (c,), code of the class that keeps a pair apart; richer: uint8
    (c,), what the text of a joined pair has that the other one lacks, as bits.
    """

    joined: NDArray[np.bool_]
    cost: NDArray[np.float64]
    kinds: NDArray[np.uint8]
    richer: NDArray[np.uint8]


class Weighing:
    """Weighs pairs of cleaned texts; with a judge by differences, else by similarity."""

    def __init__(self, settings: DecisionSettings, judge: Judge | None) -> None:
        self.check = Check(settings)
        self.judge = judge
        self._keeps_richer = settings.richer is Richer.KEEP

    def weigh(
        self,
        texts: Sequence[str],
        rows: NDArray[np.int64],
        others: Sequence[str],
        other_rows: NDArray[np.int64],
    ) -> Weighed:
        """Weigh texts[rows[i]] and others[other_rows[i]] for c pairs; equal rows together."""
        if self.judge is None:
            verdict = self.check.compare(texts, rows, others, other_rows)
            none = np.zeros(len(rows), dtype=np.uint8)
            return Weighed(verdict.agree, -verdict.similarities, none, none)
        said = self.judge.judge(pack(texts), rows, pack(others), other_rows)
        joined, kinds = said.joined, said.refused
        if self._keeps_richer:
            apart = joined & (said.richer > 0)
            joined, kinds = joined & ~apart, np.where(apart, np.uint8(_RICHER_CODE), kinds)
        return Weighed(joined, said.differences.astype(np.float64), kinds, said.richer)

    def kind(self, code: int) -> str:
        """Name what keeps a pair apart by its code."""
        if code == _RICHER_CODE:
            return RICHER
        return SIMILARITY if self.judge is None else str(CLASSES[code])

    def differences(self, texts: Sequence[str], kept: Sequence[str]) -> list[tuple[Differing, ...]]:
        """Name the first differences of each duplicate and its kept text; none without a judge."""
        if self.judge is None or not texts:
            return [()] * len(texts)
        return [
            tuple(
                Differing(str(one.kind), one.other[:_LONGEST], one.text[:_LONGEST])
                for one in found[:_MOST_NAMED]
            )
            for found in self.judge.each_differences(texts, kept)
        ]

    def least_agreement(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Return how many bits of a sketch a candidate of each text has equal, at least."""
        return least_agreement(self.check, texts, judged=self.judge is not None)


def least_agreement(check: Check, texts: Sequence[str], *, judged: bool) -> NDArray[np.int64]:
    """Return how many bits of a sketch a candidate of each text has equal, at least; int64 (n,)."""
    if not judged:
        return check.least_agreement(texts)
    share = (1 + _LEAST_ALIKE) / 2
    spread = np.sqrt(share * (1 - share) / BINS)
    return np.full(len(texts), int((share - _SPREADS * spread) * BINS), dtype=np.int64)
