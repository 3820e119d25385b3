"""The canonical form of texts: what is the same for all notations of one content."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_CHOICES: Final = 8  # A to H
ANSWER, EMPHASIS = MOST_CHOICES + 1, MOST_CHOICES + 2
QUESTION, CUT_LEFT, CUT_RIGHT, SPELLING, SEQUENCE, EXPLAINED = (1 << i for i in range(6))
"""Flags: the text asks something; begins, ends with an ellipsis; asks for spelling; speaks of an
order, so the order of its clauses counts; has an explanation behind its answer key."""

SEPARATOR: Final = "\x1f"
IMAGE: Final = "\ufffc"


class Forms(NamedTuple):
    """The canonical forms of n texts; text i has points[offsets[i]:offsets[i + 1]].

    points: uint32 (p,), of each text its stem, its choices in the order of their labels, the
    answer and the emphasised words, the last two with SEPARATOR between several; offsets: int64
    (n + 1,). cuts: int32 (n, EMPHASIS + 1), relative to offsets[i]: where the stem ends, choice k
    at column k (columns beyond the last choice repeat it), the answer at ANSWER, the emphasised
    words at EMPHASIS. counts: uint8 (n,), number of choices. flags: uint8 (n,). clauses: int32
    (c,), where the clauses of the stem end, relative to offsets[i], ascending, the end of the stem
    included; those of text i are clauses[clause_offsets[i]:clause_offsets[i + 1]], int64 (n + 1,).
    """

    points: NDArray[np.uint32]
    offsets: NDArray[np.int64]
    cuts: NDArray[np.int32]
    counts: NDArray[np.uint8]
    flags: NDArray[np.uint8]
    clauses: NDArray[np.int32]
    clause_offsets: NDArray[np.int64]
