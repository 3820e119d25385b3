"""Whether two texts are duplicates: as the judge says, or by their similarity."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.decision.settings import DecisionSettings
from dedup_job.documents import Difference
from dedup_job.fingerprint.sketch import BINS
from dedup_job.judgment import JOINED, Judge, Judged, TextPairs, Verdicts, unknown_verdicts

_SPREADS = 3.5  # standard deviations of the estimate that a true duplicate may lie below

# The canonical forms of one question in two notations, with slightly reworded choices in another
# order, share three grams in five; less alike ones are rarely joined.
_LEAST_ALIKE, _JUDGED_SPREADS = 0.6, 2.0
_MAX_NAMED, _MAX_LENGTH = 8, 40  # differences of a pair, characters of each side


class SimilarityThreshold:
    """How alike the settings ask pairs of texts and their sketches to be."""

    def __init__(self, settings: DecisionSettings) -> None:
        self._threshold = settings.similarity
        self._compares, self._judged = settings.compares, settings.judges

    def required(self, lengths: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the least similarity of texts that are the same, float64 (n,).

        lengths: int64 (n,), characters of the canonical form, of the longer one of each two.
        """
        return _core.required_similarity(self._threshold, lengths)

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
        if self._judge is not None:
            return self._judge.judge(pairs, self._threads)
        known = unknown_verdicts(len(pairs[1]))
        known["state"], known["similarity"] = JOINED, 1.0
        return known

    def details(self, pairs: TextPairs) -> Verdicts:
        """Return all that is known of c pairs, with their similarities."""
        known = self.judge(pairs)
        known["similarity"] = self.similarities(pairs)
        return known

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
            for found in self._judge.each_differences(pairs, self._threads)
        ]

    def similarities(self, pairs: TextPairs) -> NDArray[np.float64]:
        """Return how alike c pairs are, float64 (c,); 1 where texts are not compared."""
        if self._judge is None:
            return np.ones(len(pairs[1]))
        return self._judge.similarities(pairs, self._threads)
