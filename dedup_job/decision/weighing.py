"""Whether two texts are duplicates: by their differences, or by their similarity."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.columns import Names
from dedup_job.decision.rounds import JOINED, REFUSED, PairVerdicts
from dedup_job.decision.settings import DecisionSettings, OnMoreContent
from dedup_job.documents import Difference
from dedup_job.fingerprint.characters import case_fold, case_fold_table
from dedup_job.fingerprint.sketch import BINS
from dedup_job.judgment import CLASSES, Judge, Judged, ReadTexts
from dedup_job.judgment import RICHER as RICHER_NAMES
from dedup_job.judgment.folding import fold_text, fold_texts
from dedup_job.judgment.similarity import jaccard
from dedup_job.native.code_points import Packed, Texts, pack

# A character that is dropped from inside a text takes three of its G 3-grams and adds two: of
# G + 2 in all G - 3 are common. Below _FULL that is less than 0.8, so less is asked for; with
# fewer than _LEAST 3-grams a character may be half of the meaning.
_FULL, _LEAST = 27, 12
_FLOOR = 0.625  # of the threshold, 0.5 of 0.8: less alike as they are, texts are not the same
_SAME = 0.95  # unless nothing but the width and case of their characters is unlike
_SPREADS = 3.5  # standard deviations of the estimate that a true duplicate may lie below

# The canonical forms of one question in two notations, with slightly reworded choices in another
# order, share three grams in five; less alike ones are rarely joined.
_LEAST_ALIKE, _JUDGED_SPREADS = 0.6, 2.0
_MAX_NAMED, _MAX_LENGTH = 8, 40  # differences of a pair, characters of each side
SIMILARITY = "similarity"
"""What keeps texts apart that are not alike enough; of others it is the class of a difference."""
RICHER = "richer"
"""What keeps texts apart because the second has more content, where both are wanted."""
_RICHER_CODE = len(CLASSES)


TextPairs = tuple[Judged, NDArray[np.int64], Judged, NDArray[np.int64]]
"""c pairs of texts: texts, a row for each pair, other texts, and a row for each pair there."""


class Similarities(NamedTuple):
    """How alike c pairs of texts are, float64 (c,), and which of them are alike enough."""

    values: NDArray[np.float64]
    suffice: NDArray[np.bool_]


class SimilarityThreshold:
    """Compares pairs of texts, and tells which of them are as alike as the settings ask for."""

    def __init__(self, settings: DecisionSettings) -> None:
        self._threshold = settings.similarity
        self._compares, self._judged = settings.compares, settings.judges

    def compare(
        self,
        texts: Texts,
        rows: NDArray[np.int64],
        others: Texts,
        other_rows: NDArray[np.int64],
    ) -> Similarities:
        """Compare texts[rows[i]] with others[other_rows[i]] for c pairs; equal rows together.

        The similarity is that of the texts as they are or that of their folded forms, whichever
        is greater; but texts that differ in more than half as they are stay apart, unless it is
        for the width and case of their characters alone.
        """
        if not self._compares or len(rows) == 0:
            return Similarities(np.ones(len(rows)), np.ones(len(rows), dtype=np.bool_))
        left, rows = used_texts(texts, rows)
        right, other_rows = used_texts(others, other_rows)
        folded_left, folded_right = fold_texts(left), fold_texts(right)
        values = jaccard(left, rows, right, other_rows)
        lengths, other_lengths = folded_left.lengths, folded_right.lengths
        least = self._required(np.maximum(lengths[rows], other_lengths[other_rows]))
        rest = np.flatnonzero(values < least)
        low = values[rest] < self._threshold * _FLOOR
        low[low] = ~_are_same_narrow(left, rows[rest[low]], right, other_rows[rest[low]])
        rest = rest[~low]
        folded = jaccard(folded_left, rows[rest], folded_right, other_rows[rest])
        values[rest] = np.maximum(values[rest], folded)
        return Similarities(values, values >= least)

    def least_agreement(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many bits of a sketch a candidate of each text has equal, at least.

        lengths: int64 (n,), characters of each.

        Two texts of Jaccard similarity J agree in (1 + J) / 2 of the bits, binomially (Li and
        König, WWW 2010).
        """
        if self._judged:
            return _least_bits(np.full(len(lengths), _LEAST_ALIKE), _JUDGED_SPREADS)
        if not self._compares:
            return np.zeros(len(lengths), dtype=np.int64)
        return _least_bits(self._required(lengths // 2), _SPREADS)  # less is left

    def required(self, text: str, other: str) -> float:
        """Return the least similarity at which two texts agree."""
        longer = max(len(fold_text(text)), len(fold_text(other)))
        return float(self._required(np.array([longer]))[0])

    def _required(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the least similarity for texts of so many characters, the longer of each two."""
        grams = np.clip(lengths - 2, _LEAST, _FULL)
        share = ((grams - 3) / (grams + 2)) / ((_FULL - 3) / (_FULL + 2))
        share[(lengths - 2 < _LEAST) | (not self._compares)] = 1.0
        return self._threshold * share


def used_texts(texts: Texts, rows: NDArray[np.int64]) -> tuple[Packed, NDArray[np.int64]]:
    """Return the texts that some rows name, once each, and the rows by their places there."""
    used, places = np.unique(rows, return_inverse=True)
    return pack(texts).take(used), places


def _are_same_narrow(
    left: Packed, rows: NDArray[np.int64], right: Packed, other_rows: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Tell which pairs are the same but for the width and case of their characters."""
    if len(rows) == 0:
        return np.zeros(0, dtype=np.bool_)
    table = case_fold_table(case=True, width=True)
    assert table is not None  # something is folded
    (left, rows), (right, other_rows) = used_texts(left, rows), used_texts(right, other_rows)
    left, right = (Packed(case_fold(texts.points, table), texts.offsets) for texts in (left, right))
    return jaccard(left, rows, right, other_rows) >= _SAME


def _least_bits(similarity: NDArray[np.float64], spreads: float) -> NDArray[np.int64]:
    """Return how many bits of two sketches are equal at least, some standard deviations below."""
    share = (1 + similarity) / 2
    spread = np.sqrt(share * (1 - share) / BINS)
    return np.floor((share - spreads * spread) * BINS).astype(np.int64)


def names_of(*, judged: bool) -> Names:
    """Return what keeps a pair apart by its code, and what a text has more by its bit."""
    kinds = (*map(str, CLASSES), RICHER) if judged else (SIMILARITY,)
    return Names(kinds, RICHER_NAMES if judged else ())


class PairScorer:
    """Judges pairs of cleaned texts; with a judge by differences, else by similarity."""

    def __init__(self, settings: DecisionSettings, judge: Judge | None) -> None:
        self.threshold = SimilarityThreshold(settings)
        self.judge = judge
        self._keeps_richer = settings.on_more_content is OnMoreContent.KEEP

    def verdicts(
        self,
        texts: Judged,
        rows: NDArray[np.int64],
        others: Judged,
        other_rows: NDArray[np.int64],
    ) -> PairVerdicts:
        """Judge texts[rows[i]] and others[other_rows[i]] for c pairs; equal rows together."""
        if self.judge is None:
            pairs = _plain(texts), rows, _plain(others), other_rows
            values, suffice = self.threshold.compare(*pairs)
            none = np.zeros(len(rows), dtype=np.uint8)
            return PairVerdicts(np.where(suffice, JOINED, REFUSED), -values, none, none, none)
        said = self.judge.judge(texts, rows, others, other_rows)
        joined, kinds = said.joined, said.refused
        if self._keeps_richer:
            apart = joined & (said.richer > 0)
            joined, kinds = joined & ~apart, np.where(apart, np.uint8(_RICHER_CODE), kinds)
        cost = said.differences.astype(np.float64)
        verdicts = np.where(joined, JOINED, REFUSED)
        return PairVerdicts(verdicts, cost, kinds, said.richer, said.left_out)

    def similarities(self, cost: NDArray[np.float64], pairs: TextPairs) -> NDArray[np.float64]:
        """Return how alike c judged pairs are, (c,); without a judge their cost says it."""
        if self.judge is None:
            return -cost
        texts, rows, others, other_rows = pairs
        return self.threshold.compare(_plain(texts), rows, _plain(others), other_rows).values

    def kind(self, code: int) -> str:
        """Name what keeps a pair apart by its code."""
        return names_of(judged=self.judge is not None).kinds[code]

    def differences(self, pairs: TextPairs) -> list[tuple[Difference, ...]]:
        """Name the first differences of each duplicate and its kept text; none without a judge."""
        if self.judge is None or not len(pairs[1]):
            return [()] * len(pairs[1])
        return [
            tuple(
                Difference(str(one.kind), one.other[:_MAX_LENGTH], one.text[:_MAX_LENGTH])
                for one in found[:_MAX_NAMED]
            )
            for found in self.judge.each_differences(*pairs)
        ]


def _plain(texts: Judged) -> Texts:
    return texts.texts if isinstance(texts, ReadTexts) else texts
