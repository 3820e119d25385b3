"""Candidates of many texts: what a channel finds, and what all channels find together."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.jit import inlined, jit_no_refcount, popcount

BY_SIMHASH = 1 << 31
_NOT_MEASURED = np.empty(0, dtype=np.uint8)


class Candidates(NamedTuple):
    """Earlier texts found for n texts, c in all.

    offsets: int64 (n + 1,), text i has the places offsets[i] to offsets[i + 1]; numbers: int64
    (c,), of the earlier ones, ascending for each text, each once; columns: uint32 (c,), a bit for
    each column of keys that they share, and BY_SIMHASH; distances: uint8 (c,), of the fingerprints,
    in bits; agreements: uint8 (c,), number of equal bits of the sketches, 0 where there are none.
    distances and agreements have no length where they are not measured.
    """

    offsets: NDArray[np.int64]
    numbers: NDArray[np.int64]
    columns: NDArray[np.uint32]
    distances: NDArray[np.uint8] = _NOT_MEASURED
    agreements: NDArray[np.uint8] = _NOT_MEASURED

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
    """Earlier texts as two channels find them, for n texts each, and what is known of them.

    one, other: what the channels find; values: uint64 (m,), fingerprints by number; bits: uint64
    (m, words), sketches by number, of no words where there are none; first: number from which they
    count in the result.
    """

    one: Candidates
    other: Candidates
    values: NDArray[np.uint64]
    bits: NDArray[np.uint64]
    first: int


def merged(before: Earlier, within: Earlier, least: NDArray[np.int64]) -> Candidates:
    """Return every pair of two channels once, with the columns of both.

    within: the n texts themselves, of which each has found some; for each text those before come
    first. least: int64 (n,), with fewer equal bits a candidate of text i is none.
    """
    most = sum(len(found.numbers) for part in (before, within) for found in part[:2])
    to = Candidates(
        np.zeros(len(within.values) + 1, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.uint32),
        np.empty(most, dtype=np.uint8),
        np.empty(most, dtype=np.uint8),
    )
    count = _merge_all(before, within, least, to)
    columns: list[NDArray[Any]] = [column[:count] for column in to[1:]]
    return Candidates(to.offsets, *columns)


@jit_no_refcount
def _merge_all(before: Earlier, within: Earlier, least: NDArray[np.int64], to: Candidates) -> int:
    """Write the candidates of all texts and return how many there are."""
    count = 0
    for row in range(least.shape[0]):
        value, bits = within.values[row], within.bits[row]
        count = _merge(before, row, value, bits, least[row], to, count)
        count = _merge(within, row, value, bits, least[row], to, count)
        to.offsets[row + 1] = count
    return count


@inlined
def _merge(
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
        to.distances[count] = popcount(value ^ earlier.values[number])
        to.agreements[count] = agreement
        count += 1
    return count
