"""How alike two texts must be to agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dedup_job.decision.settings import Comparing, DecisionSettings
from dedup_job.decision.similarity import Measure, similarities
from dedup_job.fingerprint.characters import case_fold, case_fold_table
from dedup_job.fingerprint.sketch import BINS
from dedup_job.judgment.folding import fold_text, fold_texts
from dedup_job.native.code_points import Packed, pack

# A character that is dropped from inside a text takes three of its G 3-grams and adds two: of
# G + 2 in all G - 3 are common. Below _FULL that is less than 0.8, so less is asked for; with
# fewer than _LEAST 3-grams a character may be half of the meaning.
_FULL, _LEAST = 27, 12
_FLOOR = 0.625  # of the threshold, 0.5 of 0.8: less alike as they are, texts are not the same
_SAME = 0.95  # unless nothing but the width and case of their characters is unlike
_SPREADS = 3.5  # standard deviations of the estimate that a true duplicate may lie below


@dataclass(frozen=True, slots=True)
class Verdict:
    """How alike c pairs of texts are, float64 (c,), and which of them are alike enough."""

    similarities: NDArray[np.float64]
    agree: NDArray[np.bool_]


class Check:
    """Compares pairs of texts."""

    def __init__(self, settings: DecisionSettings) -> None:
        self._threshold = settings.similarity
        self._measure = (
            None if settings.compare is Comparing.NONE else Measure(settings.compare.value)
        )

    @property
    def compares(self) -> bool:
        """Tell whether texts are compared at all."""
        return self._measure is not None

    def compare(
        self,
        texts: Sequence[str],
        rows: NDArray[np.int64],
        others: Sequence[str],
        other_rows: NDArray[np.int64],
    ) -> Verdict:
        """Compare texts[rows[i]] with others[other_rows[i]] for c pairs; equal rows together.

        The similarity is that of the texts as they are or that of their folded forms, whichever
        is greater; but texts that differ in more than half as they are stay apart, unless it is
        for the width and case of their characters alone.
        """
        if self._measure is None or len(rows) == 0:
            return Verdict(np.ones(len(rows)), np.ones(len(rows), dtype=np.bool_))
        used, rows = np.unique(rows, return_inverse=True)
        left = pack([texts[row] for row in used.tolist()])
        used, other_rows = np.unique(other_rows, return_inverse=True)
        right = pack([others[row] for row in used.tolist()])
        folded_left, folded_right = fold_texts(left), fold_texts(right)
        alike = similarities(self._measure, left, rows, right, other_rows)
        longer = np.maximum(_lengths(folded_left)[rows], _lengths(folded_right)[other_rows])
        least = self._required(longer)
        rest = np.flatnonzero(alike < least)
        low = alike[rest] < self._threshold * _FLOOR
        low[low] = ~self._same_narrow(left, rows[rest[low]], right, other_rows[rest[low]])
        rest = rest[~low]
        folded = similarities(
            self._measure, folded_left, rows[rest], folded_right, other_rows[rest]
        )
        alike[rest] = np.maximum(alike[rest], folded)
        return Verdict(alike, alike >= least)

    def _same_narrow(
        self,
        left: Packed,
        rows: NDArray[np.int64],
        right: Packed,
        other_rows: NDArray[np.int64],
    ) -> NDArray[np.bool_]:
        """Tell which pairs are the same but for the width and case of their characters."""
        assert self._measure is not None
        if len(rows) == 0:
            return np.zeros(0, dtype=np.bool_)
        table = _narrow_table()
        left, right = (Packed(case_fold(t.points, table), t.offsets) for t in (left, right))
        return similarities(self._measure, left, rows, right, other_rows) >= _SAME

    def least_agreement(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Return how many bits of a sketch a candidate of each text has equal, at least.

        Two texts of Jaccard similarity J agree in (1 + J) / 2 of the bits, binomially (Li and
        König, WWW 2010); of the other measures the sketch says nothing.
        """
        if self._measure is not Measure.JACCARD:
            return np.zeros(len(texts), dtype=np.int64)
        lengths = np.fromiter(map(len, texts), np.int64, len(texts)) // 2  # less is left
        share = (1 + self._required(lengths)) / 2
        spread = np.sqrt(share * (1 - share) / BINS)
        return np.floor((share - _SPREADS * spread) * BINS).astype(np.int64)

    def required(self, text: str, other: str) -> float:
        """Return the least similarity at which two texts agree."""
        longer = max(len(fold_text(text)), len(fold_text(other)))
        return float(self._required(np.array([longer]))[0])

    def _required(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the least similarity for texts of so many characters, the longer of each two."""
        grams = np.clip(lengths - 2, _LEAST, _FULL)
        share = ((grams - 3) / (grams + 2)) / ((_FULL - 3) / (_FULL + 2))
        if self._measure is not Measure.JACCARD:
            share = np.ones(len(lengths))
        share[lengths - 2 < _LEAST] = 1.0
        return self._threshold * share


def _lengths(texts: Packed) -> NDArray[np.int64]:
    return np.diff(texts.offsets)


def _narrow_table() -> NDArray[np.uint16]:
    table = case_fold_table(case=True, width=True)
    assert table is not None  # something is folded
    return table
