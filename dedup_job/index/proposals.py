"""Candidates of many texts, brought together from all channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.documents import Fingerprints
from dedup_job.native.jit import borrowing, popcount

BY_SIMHASH = 1 << 31


class Found(NamedTuple):
    """What one channel found for n texts: c earlier ones.

    offsets: int64 (n + 1,), text i has the places offsets[i] to offsets[i + 1]; numbers: int64
    (c,), of the earlier ones, ascending for each text; columns: uint32 (c,), a bit for each column
    of keys that they share, or BY_SIMHASH.
    """

    offsets: NDArray[np.int64]
    numbers: NDArray[np.int64]
    columns: NDArray[np.uint32]


class Proposals(NamedTuple):
    """Candidates of n texts, those of text i at the places offsets[i] to offsets[i + 1].

    offsets: int64 (n + 1,); numbers: int64 (c,), ascending for each text; columns: uint32 (c,), as
    in Found; distances: uint8 (c,), of the fingerprints, in bits; agreements: uint8 (c,), number
    of equal bits of the sketches, 0 where there are none.
    """

    offsets: NDArray[np.int64]
    numbers: NDArray[np.int64]
    columns: NDArray[np.uint32]
    distances: NDArray[np.uint8]
    agreements: NDArray[np.uint8]

    @property
    def rows(self) -> NDArray[np.int64]:
        """The text of each candidate, int64 (c,)."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))

    def chosen(self, mask: NDArray[np.bool_]) -> Proposals:
        """Return those that are chosen, bool (c,)."""
        counts = np.bincount(self.rows[mask], minlength=len(self.offsets) - 1)
        return Proposals(
            np.concatenate([[0], np.cumsum(counts)]),
            self.numbers[mask],
            self.columns[mask],
            self.distances[mask],
            self.agreements[mask],
        )


def merged(
    found: Sequence[Found],
    texts: Fingerprints,
    values: NDArray[np.uint64],
    bits: NDArray[np.uint64] | None,
    least: NDArray[np.int64],
) -> Proposals:
    """Return every pair of two channels at most once, with the columns of both.

    values: uint64, fingerprints of the earlier ones by number; bits: their sketches, None where
    there are none; least: int64 (n,), with fewer equal bits a candidate of text i is none.
    """
    n = len(texts)
    nothing = Found(
        np.zeros(n + 1, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.uint32)
    )
    one, other = [*found, nothing, nothing][:2]
    own_bits = np.empty((n, 0), dtype=np.uint64)
    if bits is None or texts.sketches is None:
        bits = np.empty((0, 0), dtype=np.uint64)
    else:
        own_bits = texts.sketches.bits
    most = len(one.numbers) + len(other.numbers)
    to = Proposals(
        np.zeros(n + 1, dtype=np.int64),
        np.empty(most, dtype=np.int64),
        np.empty(most, dtype=np.uint32),
        np.empty(most, dtype=np.uint8),
        np.empty(most, dtype=np.uint8),
    )
    count = _merge(one, other, texts.values, values, own_bits, bits, least, to)
    return Proposals(
        to.offsets,
        to.numbers[:count],
        to.columns[:count],
        to.distances[:count],
        to.agreements[:count],
    )


@borrowing
def _merge(
    one: Found,
    other: Found,
    own_values: NDArray[np.uint64],
    values: NDArray[np.uint64],
    own_bits: NDArray[np.uint64],
    bits: NDArray[np.uint64],
    least: NDArray[np.int64],
    to: Proposals,
) -> int:
    """Write the candidates of all texts and return how many there are."""
    count, width = 0, own_bits.shape[1]
    for i in range(own_values.shape[0]):
        x, stop = one.offsets[i], one.offsets[i + 1]
        y, other_stop = other.offsets[i], other.offsets[i + 1]
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
            for w in range(width):
                agreement += np.int64(popcount(~(own_bits[i, w] ^ bits[number, w])))
            if width > 0 and agreement < least[i]:
                continue
            to.numbers[count], to.columns[count] = number, columns
            to.distances[count] = popcount(own_values[i] ^ values[number])
            to.agreements[count] = agreement
            count += 1
        to.offsets[i + 1] = count
    return count
