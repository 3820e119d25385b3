"""Candidates of many texts: what a channel finds, and what all channels find together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.jit import inlined, jit_no_refcount, popcount

BY_SIMHASH = 1 << 31
_COLUMNS = 32
_NOT_MEASURED = np.empty(0, dtype=np.uint8)
_NO_VALUES = np.empty(0, dtype=np.uint64)


class Candidates(NamedTuple):
    """Earlier texts found for n texts, c in all.

    offsets: int64 (n + 1,), text i has the places offsets[i] to offsets[i + 1]; numbers: int64
    (c,), of the earlier ones, ascending for each text, each once; columns: uint32 (c,), a bit for
    each column of keys that they share, and BY_SIMHASH; distances: uint8 (c,), of the fingerprints,
    in bits; agreements: uint8 (c,), number of equal bits of the sketches, 0 where there are none;
    values: uint64 (c,), fingerprints of the earlier ones. The last three have no length where they
    are not measured.
    """

    offsets: NDArray[np.int64]
    numbers: NDArray[np.int64]
    columns: NDArray[np.uint32]
    distances: NDArray[np.uint8] = _NOT_MEASURED
    agreements: NDArray[np.uint8] = _NOT_MEASURED
    values: NDArray[np.uint64] = _NO_VALUES

    @property
    def rows(self) -> NDArray[np.int64]:
        """The text of each candidate, int64 (c,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def chosen(self, mask: NDArray[np.bool_]) -> Candidates:
        """Return those that are chosen, bool (c,)."""
        counts = np.bincount(self.rows[mask], minlength=len(self.offsets) - 1)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        columns: list[NDArray[Any]] = [
            column[mask] if len(column) else column for column in self[1:]
        ]
        return Candidates(offsets, *columns)


def no_candidates(n: int) -> Candidates:
    """Return the candidates of n texts that have none."""
    empty = np.empty(0, dtype=np.int64)
    return Candidates(np.zeros(n + 1, dtype=np.int64), empty, empty.astype(np.uint32))


class Earlier(NamedTuple):
    """Earlier texts as two channels find them, for n texts, and what is known of them.

    one, other: what the channels find; values: uint64 (m,), fingerprints by number; bits: uint64
    (m, words), sketches by number, of no words where there are none; first: number from which they
    count in the result.
    """

    one: Candidates
    other: Candidates
    values: NDArray[np.uint64]
    bits: NDArray[np.uint64]
    first: int


def united(
    found: Earlier,
    values: NDArray[np.uint64],
    bits: NDArray[np.uint64],
    least: NDArray[np.int64],
) -> Candidates:
    """Return every pair of two channels once, with the columns of both, measured.

    values: uint64 (n,), bits: uint64 (n, words), of the texts that found them; least: int64 (n,),
    with fewer equal bits a candidate of text i is none.
    """
    most = len(found.one.numbers) + len(found.other.numbers)
    to = Candidates(
        np.zeros(len(values) + 1, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.uint32),
        np.empty(most, dtype=np.uint8),
        np.empty(most, dtype=np.uint8),
        np.empty(most, dtype=np.uint64),
    )
    count = _unite_all(found, values, bits, least, to)
    columns: list[NDArray[Any]] = [column[:count] for column in to[1:]]
    return Candidates(to.offsets, *columns)


def behind(before: Candidates, after: Candidates) -> Candidates:
    """Return what n texts find in one place, and behind it what each finds in another."""
    if not len(before.numbers) or not len(after.numbers):
        return before if len(before.numbers) else after
    counts, more = np.diff(before.offsets), np.diff(after.offsets)
    offsets = before.offsets + after.offsets
    first = np.arange(len(before.numbers)) + np.repeat(after.offsets[:-1], counts)
    second = np.arange(len(after.numbers)) + np.repeat(before.offsets[1:], more)
    columns: list[NDArray[Any]] = []
    pairs: Any = zip(before[1:], after[1:], strict=True)
    for one, other in pairs:
        both = np.empty(len(first) + len(second), dtype=one.dtype)
        both[first], both[second] = one, other
        columns.append(both)
    return Candidates(offsets, *columns)


class Found(NamedTuple):
    """What n texts find in an index.

    candidates: in all channels, measured, of which enough bits are equal; held: whatever has a key
    in common with them; twins: int64 (n,), how many have the same fingerprint.
    """

    candidates: Candidates
    held: Candidates
    twins: NDArray[np.int64]


def found_together(
    parts: Sequence[Candidates], least: NDArray[np.int64], most_equal: int, most_same: int
) -> Found:
    """Return what one index would find, of what several find that hold a part of the texts each.

    parts: in all channels, whatever bits are equal. Each holds the first documents under a key and
    finds the first with a fingerprint: of all, the first `most_equal` of a key and the first
    `most_same` with a fingerprint count. least: int64 (n,), as many bits have to be equal.
    """
    found = _sorted(reduce(behind, parts))
    near = np.flatnonzero(found.columns & np.uint32(BY_SIMHASH))
    keys = found.columns & ~np.uint32(BY_SIMHASH)
    _limit_keys(found.offsets, keys, most_equal, np.zeros(_COLUMNS, dtype=np.int64))
    rows = found.rows
    near = near[_first_of_each(rows[near], found.values[near], most_same)]
    columns = keys.copy()
    columns[near] |= np.uint32(BY_SIMHASH)
    twins = np.bincount(rows[near[found.distances[near] == 0]], minlength=len(least))
    enough = (columns != 0) & (found.agreements >= least[rows])
    return Found(
        found._replace(columns=columns).chosen(enough),
        found._replace(columns=keys).chosen(keys != 0),
        twins,
    )


def _sorted(found: Candidates) -> Candidates:
    """Return candidates in the order of their numbers, for each text."""
    rows = found.rows
    if np.all((np.diff(found.numbers) > 0) | (np.diff(rows) > 0)):
        return found
    order = np.lexsort((found.numbers, rows))
    columns: list[NDArray[Any]] = [column[order] for column in found[1:]]
    return Candidates(found.offsets, *columns)


@jit_no_refcount
def _limit_keys(
    offsets: NDArray[np.int64], columns: NDArray[np.uint32], most: int, counts: NDArray[np.int64]
) -> None:
    """Clear the columns of those candidates that are not among the first `most` of a key."""
    for row in range(offsets.shape[0] - 1):
        counts[:] = 0
        for place in range(offsets[row], offsets[row + 1]):
            mask, kept = np.uint64(columns[place]), np.uint64(0)
            for column in range(counts.shape[0]):
                bit = np.uint64(1) << np.uint64(column)
                if mask & bit != 0 and counts[column] < most:
                    counts[column] += 1
                    kept |= bit
            columns[place] = kept


def _first_of_each(
    rows: NDArray[np.int64], values: NDArray[np.uint64], most: int
) -> NDArray[np.bool_]:
    """Tell which of c finds are among the first `most` of their text with a value, bool (c,).

    rows: int64 (c,), the texts; values: uint64 (c,), what they found, in order for each text.
    """
    order = np.lexsort((values, rows))  # stable: the order of each text stays
    is_first = np.ones(len(rows), dtype=np.bool_)
    is_first[1:] = (np.diff(rows[order]) != 0) | (np.diff(values[order]) != 0)
    begins = np.maximum.accumulate(np.where(is_first, np.arange(len(rows)), 0))
    chosen = np.empty(len(rows), dtype=np.bool_)
    chosen[order] = np.arange(len(rows)) - begins < most
    return chosen


@jit_no_refcount
def _unite_all(
    part: Earlier,
    values: NDArray[np.uint64],
    bits: NDArray[np.uint64],
    least: NDArray[np.int64],
    to: Candidates,
) -> int:
    """Write the candidates of all texts and return how many there are."""
    count = 0
    for row in range(least.shape[0]):
        count = _unite(part, row, values[row], bits[row], least[row], to, count)
        to.offsets[row + 1] = count
    return count


@inlined
def _unite(
    earlier: Earlier,
    row: int,
    value: np.uint64,
    own_bits: NDArray[np.uint64],
    least: int,
    to: Candidates,
    count: int,
) -> int:
    """Append the candidates of a text among the earlier ones; return the new count."""
    one, other, bits = earlier.one, earlier.other, earlier.bits
    x, stop = one.offsets[row], one.offsets[row + 1]
    y, other_stop = other.offsets[row], other.offsets[row + 1]
    while x < stop or y < other_stop:
        take = y >= other_stop or (x < stop and one.numbers[x] <= other.numbers[y])
        take_other = x >= stop or (y < other_stop and other.numbers[y] <= one.numbers[x])
        number, columns = np.int64(0), np.uint32(0)
        if take:
            number, columns = one.numbers[x], one.columns[x]
            x += 1
        if take_other:
            number, columns = other.numbers[y], columns | other.columns[y]
            y += 1
        agreement = np.int64(0)
        for word in range(own_bits.shape[0]):
            agreement += np.int64(popcount(~(own_bits[word] ^ bits[number, word])))
        if own_bits.shape[0] > 0 and agreement < least:
            continue
        to.numbers[count], to.columns[count] = earlier.first + number, columns
        to.values[count] = earlier.values[number]
        to.distances[count] = popcount(value ^ earlier.values[number])
        to.agreements[count] = agreement
        count += 1
    return count
