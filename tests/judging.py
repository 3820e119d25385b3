"""A judge of few rules, for tests of what is around the judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.lexicon_cache import load_lexicon
from dedup_job.judgment import (
    APART,
    RICHER,
    UNLIKELY,
    DifferenceKind,
    Found,
    Judge,
    Judged,
    Verdicts,
)

_MOST = 6


def verdict(text: str, other: str) -> tuple[bool, float, str]:
    """Join texts with the same digits in the same order and nearly the same length.

    Return with it how likely they are the same, and what keeps them apart.
    """
    digits, others = ([c for c in t if c.isdecimal()] for t in (text, other))
    longer = abs(len(text) - len(other))
    likely = 1 / (1 + longer)
    if digits != others:
        return False, likely, "number"
    return longer <= _MOST, likely, UNLIKELY


def is_richer(text: str, other: str) -> bool:
    """Tell whether a text that is joined to another has a sentence that the other one lacks."""
    return verdict(text, other)[0] and len(text) - len(other) > _MOST // 2


class DigitJudge(Judge):
    """Judges by `verdict`."""

    def __init__(self) -> None:
        """Read texts as any judge does."""
        super().__init__(load_lexicon(lambda _: None), confidence=0.5)

    def judge(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
        threads: int = 1,
    ) -> Verdicts:
        """Judge pair by pair."""
        del threads
        pairs = self._texts(left, left_rows, right, right_rows)
        said = [verdict(*pair) for pair in pairs]
        sentence = 1 << RICHER.index("sentence")
        return Verdicts(
            np.array([joined for joined, _, _ in said], dtype=np.bool_),
            np.array([likely for _, likely, _ in said]),
            np.array([APART.index(apart) for _, _, apart in said], dtype=np.uint8),
            np.array([is_richer(*pair) * sentence for pair in pairs], dtype=np.uint8),
            np.zeros(len(pairs), dtype=np.uint8),
            np.full(len(pairs), np.nan),
        )

    def each_differences(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
        threads: int = 1,
    ) -> Iterator[Sequence[Found]]:
        """Name one difference of each pair, of the whole texts."""
        del threads
        for text, other in self._texts(left, left_rows, right, right_rows):
            yield [Found(DifferenceKind.REPLACED, "stem", text, other)]

    def _texts(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
    ) -> list[tuple[str, str]]:
        one, other = (self.read(side).texts.texts() for side in (left, right))
        rows = zip(left_rows.tolist(), right_rows.tolist(), strict=True)
        return [(one[i], other[j]) for i, j in rows]
