"""Whether two texts are duplicates: as the judge says, or by their similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.decision.settings import DecisionSettings
from dedup_job.documents import Difference
from dedup_job.fingerprint.sketch import BINS
from dedup_job.judgment import Judge, Judged, ReadTexts, Verdicts
from dedup_job.judgment.judge import NAMES, SIMILARITY
from dedup_job.judgment.similarity import jaccard
from dedup_job.native.code_points import TextColumn

# A character that is dropped from inside a text takes three of its G 3-grams and adds two: of
# G + 2 in all G - 3 are common. Below _FULL that is less than 0.8, so less is asked for; with
# fewer than _LEAST 3-grams a character may be half of the meaning.
_FULL, _LEAST = 27, 12
_SPREADS = 3.5  # standard deviations of the estimate that a true duplicate may lie below

# The canonical forms of one question in two notations, with slightly reworded choices in another
# order, share three grams in five; less alike ones are rarely joined.
_LEAST_ALIKE, _JUDGED_SPREADS = 0.6, 2.0
_MAX_NAMED, _MAX_LENGTH = 8, 40  # differences of a pair, characters of each side
_SIMILARITY_CODE = NAMES.kinds.index(SIMILARITY)

TextPairs = tuple[Judged, NDArray[np.int64], Judged, NDArray[np.int64]]
"""c pairs of texts: texts, a row for each pair, other texts, and a row for each pair there."""


class SimilarityThreshold:
    """How alike the settings ask pairs of texts and their sketches to be."""

    def __init__(self, settings: DecisionSettings) -> None:
        self._threshold = settings.similarity
        self._compares, self._judged = settings.compares, settings.judges

    def required(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the least similarity of texts that are the same, float64 (n,).

        lengths: int64 (n,), characters of the canonical form, of the longer one of each two.
        """
        grams = np.clip(lengths - 2, _LEAST, _FULL)
        share = ((grams - 3) / (grams + 2)) / ((_FULL - 3) / (_FULL + 2))
        share[lengths - 2 < _LEAST] = 1.0
        return self._threshold * share

    def least_agreement(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many bits of a sketch a candidate of each text has equal, at least.

        lengths: int64 (n,), characters of each text as it is.

        Two texts of Jaccard similarity J agree in (1 + J) / 2 of the bits, binomially (Li and
        König, WWW 2010).
        """
        if self._judged:
            return _least_bits(np.full(len(lengths), _LEAST_ALIKE), _JUDGED_SPREADS)
        if not self._compares:
            return np.zeros(len(lengths), dtype=np.int64)
        return _least_bits(self.required(lengths // 2), _SPREADS)  # the form may be so short


def _least_bits(similarity: NDArray[np.float64], spreads: float) -> NDArray[np.int64]:
    share = (1 + similarity) / 2
    spread = np.sqrt(share * (1 - share) / BINS)
    return np.floor((share - spreads * spread) * BINS).astype(np.int64)


class PairScorer:
    """Judges pairs of cleaned texts by their differences or by their similarity."""

    def __init__(self, settings: DecisionSettings, judge: Judge | None, threads: int = 1) -> None:
        """Take who reads the texts, None where they are not compared, and how many threads do."""
        if settings.compares and judge is None:
            raise ValueError(f"decision.judge is {settings.judge}, without a judge")
        self.threshold = SimilarityThreshold(settings)
        self._judge = judge if settings.compares else None
        self._decides = settings.judges
        self._threads = threads

    def read(self, texts: Judged) -> Judged:
        """Return n texts as they are compared, so that none has to be read twice."""
        return texts if self._judge is None else self._judge.read(texts)

    def judge(self, pairs: TextPairs) -> Verdicts:
        """Judge c pairs; their similarities are known if these decide."""
        if self._judge is not None and self._decides:
            return self._judge.judge(*pairs, self._threads)
        values, least = self.alike(pairs)
        known = Verdicts.unknown(len(values))
        known.refused[:] = _SIMILARITY_CODE
        return known._replace(joined=values >= least, similarities=values)

    def details(self, pairs: TextPairs) -> Verdicts:
        """Return all that is known of c pairs, with their similarities."""
        return self.judge(pairs)._replace(similarities=self.alike(pairs)[0])

    def differences(self, pairs: TextPairs) -> list[tuple[Difference, ...]]:
        """Name the first differences of each duplicate and its kept text; none by similarity."""
        if self._judge is None or not self._decides or not len(pairs[1]):
            return [()] * len(pairs[1])
        return [
            tuple(
                Difference(
                    str(one.kind), one.place, one.other[:_MAX_LENGTH], one.text[:_MAX_LENGTH]
                )
                for one in found[:_MAX_NAMED]
            )
            for found in self._judge.each_differences(*pairs, self._threads)
        ]

    def alike(self, pairs: TextPairs) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return how alike c pairs are, and how alike they have to be.

        It is the Jaccard similarity of their canonical forms; 1 where texts are not compared.
        """
        texts, rows, others, other_rows = pairs
        if self._judge is None:
            return np.ones(len(rows)), np.zeros(len(rows))
        one, own = self._mains(self._judge, texts, rows)
        other, theirs = self._mains(self._judge, others, other_rows)
        longer = np.maximum(one.lengths[own], other.lengths[theirs])
        return jaccard(one, own, other, theirs), self.threshold.required(longer)

    @staticmethod
    def _mains(
        judge: Judge, texts: Judged, rows: NDArray[np.int64]
    ) -> tuple[TextColumn, NDArray[np.int64]]:
        if isinstance(texts, ReadTexts) and texts.main is not None:
            return texts.main, rows
        wanted, places = np.unique(rows, return_inverse=True)
        return judge.mains(texts, wanted), places
