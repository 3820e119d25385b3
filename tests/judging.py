"""A judge of few rules, for tests of what is around the judge."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment import (
    CLASSES,
    MOST_LEFT_OUT,
    DifferenceClass,
    Found,
    Judge,
    Judged,
    ReadTexts,
    Verdicts,
)
from dedup_job.judgment.canonical import forms_of, main_of
from dedup_job.judgment.words import Words
from dedup_job.native.code_points import TextColumn, pack

_MOST = 6


def verdict(text: str, other: str) -> tuple[bool, int, DifferenceClass]:
    """Join texts with the same digits in the same order and nearly the same length."""
    digits, others = ([c for c in t if c.isdecimal()] for t in (text, other))
    longer = abs(len(text) - len(other))
    if digits != others:
        return False, longer, DifferenceClass.NUMBER
    if longer > _MOST:
        return False, longer, DifferenceClass.CONTENT
    return True, longer, DifferenceClass.LAYOUT


def is_richer(text: str, other: str) -> bool:
    """Tell whether a text that is joined to another has the rest that the other one lacks."""
    return verdict(text, other)[0] and len(text) - len(other) > _MOST // 2


class DigitJudge(Judge):
    """Judges by `verdict`; the gist is the canonical form."""

    def __init__(self) -> None:
        """Need no dictionary."""

    def read(self, texts: Judged) -> ReadTexts:
        """Return texts with their canonical forms."""
        if isinstance(texts, ReadTexts):
            return texts
        packed = pack(texts)
        forms = forms_of(packed, Words.load(None), MOST_LEFT_OUT)
        return ReadTexts(packed, forms, main_of(forms))

    def gist(self, texts: ReadTexts) -> TextColumn:
        """Return the canonical forms."""
        return texts.main

    def judge(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
    ) -> Verdicts:
        """Judge pair by pair."""
        pairs = self._pairs(left, left_rows, right, right_rows)
        said = [verdict(*pair) for pair in pairs]
        codes = np.array([CLASSES.index(kind) for _, _, kind in said], dtype=np.uint8)
        return Verdicts(
            np.array([joined for joined, _, _ in said], dtype=np.bool_),
            np.uint64(1) << codes.astype(np.uint64),
            np.array([n for _, n, _ in said], dtype=np.int32),
            codes,
            np.array([is_richer(*pair) << 5 for pair in pairs], dtype=np.uint8),
            np.zeros(len(pairs), dtype=np.uint8),
        )

    def each_differences(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
    ) -> Iterator[Sequence[Found]]:
        """Name one difference of each pair, of the whole texts."""
        for text, other in self._pairs(left, left_rows, right, right_rows):
            joined, _, kind = verdict(text, other)
            yield [Found(kind, text, other, joined)]

    def _pairs(
        self,
        left: Judged,
        left_rows: NDArray[np.int64],
        right: Judged,
        right_rows: NDArray[np.int64],
    ) -> list[tuple[str, str]]:
        one, other = (self.read(side).texts.texts() for side in (left, right))
        rows = zip(left_rows.tolist(), right_rows.tolist(), strict=True)
        return [(one[i], other[j]) for i, j in rows]
