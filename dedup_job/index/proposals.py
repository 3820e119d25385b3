"""Candidates of many texts, brought together from all channels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dedup_job.documents import Fingerprints
from dedup_job.fingerprint.sketch import equal_bits
from dedup_job.index.hamming import NUMBER_BITS

BY_SIMHASH = 1 << 31


@dataclass(frozen=True, slots=True)
class Found:
    """What one channel found: c pairs of a text and an earlier one.

    rows, numbers: int64 (c,), of the text and of the earlier one; columns: uint32 (c,), a bit for
    each column of keys that they share, or BY_SIMHASH.
    """

    rows: NDArray[np.int64]
    numbers: NDArray[np.int64]
    columns: NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Proposals:
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


def brought_together(
    found: Iterable[Found],
    texts: Fingerprints,
    values: NDArray[np.uint64],
    bits: NDArray[np.uint64] | None,
    least: NDArray[np.int64],
) -> Proposals:
    """Return every pair once, with the columns of all channels that found it.

    values: uint64, fingerprints of the earlier ones by number; bits: their sketches, None where
    there are none; least: int64 (n,), with fewer equal bits a candidate of text i is none.
    """
    parts = list(found)
    rows = np.concatenate([part.rows for part in parts] or [np.empty(0, np.int64)])
    numbers = np.concatenate([part.numbers for part in parts] or [np.empty(0, np.int64)])
    columns = np.concatenate([part.columns for part in parts] or [np.empty(0, np.uint32)])
    order = np.argsort(rows << NUMBER_BITS | numbers)
    rows, numbers, columns = rows[order], numbers[order], columns[order]
    new = np.ones(len(rows), dtype=np.bool_)
    new[1:] = (rows[1:] != rows[:-1]) | (numbers[1:] != numbers[:-1])
    if len(rows):
        columns = np.bitwise_or.reduceat(columns, np.flatnonzero(new))
    rows, numbers = rows[new], numbers[new]
    agreements = np.zeros(len(rows), dtype=np.uint8)
    if bits is not None and texts.sketches is not None:
        agreements = equal_bits(texts.sketches.bits[rows], bits[numbers]).astype(np.uint8)
    proposals = Proposals(
        np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(texts)))]),
        numbers,
        columns,
        np.bitwise_count(values[numbers] ^ texts.values[rows]),
        agreements,
    )
    return proposals if bits is None else proposals.chosen(agreements >= least[rows])
