"""How many characters to insert, delete or replace; many pairs of texts in one native call."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.decision.white_space import blank_table, is_blank
from dedup_job.native.code_points import Packed
from dedup_job.native.jit import borrowing, inlined, inner, native

TOO_LONG = -1

_WORD = 64
_ONE, _ALL = np.uint64(1), ~np.uint64(0)
_UP = 1  # a carry: bit 0, one more than in the column before; bit 1, one less
_MOST_CELLS = 4_000_000_000


def distances(
    left: Packed, left_rows: NDArray[np.int64], right: Packed, right_rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each of c pairs the Levenshtein distance and the length of the longer text.

    Both int64 (c,); rows as in `similarities`. White space does not count. The distance is
    TOO_LONG where there are more than 4e9 pairs of characters, not counting the beginning and the
    end that both texts have.
    """
    lengths, others = np.diff(left.offsets)[left_rows], np.diff(right.offsets)[right_rows]
    longest = int(max(lengths.max(initial=0), others.max(initial=0)))
    a, b = np.empty(longest, dtype=np.uint32), np.empty(longest, dtype=np.uint32)
    last = max(int(texts.points.max(initial=0)) for texts in (left, right))
    masks = np.zeros(last + 1, dtype=np.uint64)
    carries = np.empty(longest, dtype=np.uint8)
    distances, longer = np.empty_like(left_rows), np.empty_like(left_rows)
    _measure_all(
        left, left_rows, right, right_rows, blank_table(), _MOST_CELLS,
        a, b, masks, carries, distances, longer,
    )  # fmt: skip
    return distances, longer


@borrowing
def _measure_all(
    left: Packed,
    left_rows: NDArray[np.int64],
    right: Packed,
    right_rows: NDArray[np.int64],
    blank: NDArray[np.bool_],
    most: int,
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    masks: NDArray[np.uint64],
    carries: NDArray[np.uint8],
    distances: NDArray[np.int64],
    longer: NDArray[np.int64],
) -> None:
    m = 0
    for i in range(left_rows.shape[0]):
        if i == 0 or left_rows[i] != left_rows[i - 1]:
            m = _strip(left, left_rows[i], blank, a)
        n = _strip(right, right_rows[i], blank, b)
        longer[i] = max(m, n)
        distances[i] = _distance(a[:m], b[:n], most, masks, carries)


@inner
def _strip(texts: Packed, row: int, blank: NDArray[np.bool_], stripped: NDArray[np.uint32]) -> int:
    """Copy the characters of a text that are no white space; return how many there are."""
    length = 0
    for i in range(texts.offsets[row], texts.offsets[row + 1]):
        if not is_blank(blank, texts.points[i]):
            stripped[length] = texts.points[i]
            length += 1
    return length


@native
def _distance(
    a: NDArray[np.uint32],
    b: NDArray[np.uint32],
    most: int,
    masks: NDArray[np.uint64],
    carries: NDArray[np.uint8],
) -> int:
    """Compute the Levenshtein distance; -1 where there are more than `most` pairs of characters.

    G. Myers, "A fast bit-vector algorithm for approximate string matching based on dynamic
    programming", JACM 46 (1999), section 4, with the formulas of H. Hyyrö, "A bit-vector
    algorithm for computing Levenshtein and Damerau edit distances", Nordic J. Computing 10
    (2003). Row by row of blocks: so only the 64 characters of one block need masks, and of the
    row before no more is kept than its horizontal differences, the carries.
    """
    begin, m, n = 0, a.shape[0], b.shape[0]
    while begin < m and begin < n and a[begin] == b[begin]:
        begin += 1
    while m > begin and n > begin and a[m - 1] == b[n - 1]:
        m -= 1
        n -= 1
    pattern, text = a[begin:m], b[begin:n]
    if pattern.shape[0] > text.shape[0]:
        pattern, text = text, pattern
    if pattern.shape[0] * text.shape[0] > most:
        return TOO_LONG
    carries[: text.shape[0]] = _UP
    for first in range(0, pattern.shape[0], _WORD):
        block = pattern[first : first + _WORD]
        for r in range(block.shape[0]):
            masks[block[r]] |= _ONE << np.uint64(r)
        _pass_block(text, masks, np.uint64(block.shape[0] - 1), carries)
        for r in range(block.shape[0]):
            masks[block[r]] = 0
    distance: int = pattern.shape[0]
    for j in range(text.shape[0]):
        distance += (carries[j] & 1) - (carries[j] >> 1)
    return distance


@inlined
def _pass_block(
    text: NDArray[np.uint32],
    masks: NDArray[np.uint64],
    last: np.uint64,
    carries: NDArray[np.uint8],
) -> None:
    """Replace the carries into a block of rows by those out of its row `last`.

    Names as in Hyyrö: V is a vertical, H a horizontal difference, P where it is +1, N where -1;
    D0 where the diagonal one is 0.
    """
    vp, vn = _ALL, np.uint64(0)
    for j in range(text.shape[0]):
        carry = np.uint64(carries[j])
        x = masks[text[j]] | (carry >> _ONE)
        d0 = (((x & vp) + vp) ^ vp) | x | vn
        hp, hn = vn | ~(d0 | vp), d0 & vp
        carries[j] = ((hp >> last) & _ONE) | (((hn >> last) & _ONE) << _ONE)
        hp, hn = (hp << _ONE) | (carry & _ONE), (hn << _ONE) | (carry >> _ONE)
        vp, vn = hn | ~(d0 | hp), hp & d0
