"""The gist of canonical forms: what candidates are found by.

Function words go; synonyms become one sign, and so do characters that OCR programs take for each
other: a question that is slightly reworded or misread has nearly the same gist. The judge does not
see it.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.lookups import LISTED, Tables, kind_of, signs, word_row
from dedup_job.native.code_points import Packed
from dedup_job.native.jit import borrowing, inner

_SIGN: Final = 0xE000  # of the private use area: the first group's


def gist_of(forms: Packed, tables: Tables) -> Packed:
    """Return the gist of n forms; where nothing would remain, the form itself."""
    points = np.empty(len(forms.points), dtype=np.uint32)
    offsets = np.zeros(len(forms.offsets), dtype=np.int64)
    _write_all(forms.points, forms.offsets, tables, signs(), points, offsets)
    return Packed(points[: offsets[-1]], offsets)


@borrowing
def _write_all(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    tables: Tables,
    same: NDArray[np.uint32],
    to: NDArray[np.uint32],
    to_offsets: NDArray[np.int64],
) -> None:
    at: int = to_offsets[0]
    for i in range(offsets.shape[0] - 1):
        start, stop, begin = offsets[i], offsets[i + 1], at
        p = start
        while p < stop:
            end, sign = _word(points, p, stop, tables)
            if end == p:
                to[at] = same[points[p]] if points[p] < same.shape[0] else points[p]
                at += 1
                end = p + 1
            elif sign:
                to[at] = _SIGN + sign
                at += 1
            p = end
        if at == begin:
            for q in range(start, stop):
                to[at] = points[q]
                at += 1
        to_offsets[i + 1] = at


@inner
def _word(points: NDArray[np.uint32], start: int, stop: int, tables: Tables) -> tuple[int, int]:
    """Return where the longest listed word at a place ends and its group, 0 for none."""
    end, sign = start, 0
    if not kind_of(tables, points[start]) & LISTED:
        return end, sign
    words = tables.words
    for to in range(start + 1, min(stop, start + max(words.longest[0], words.longest[1])) + 1):
        row = word_row(words, points, start, to)
        if row >= 0:
            end = to
            sign = 0
            if not words.function[row]:
                sign = words.groups[row, 0]
    return end, sign
