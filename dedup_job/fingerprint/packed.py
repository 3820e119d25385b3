"""Texts as the native code takes them: code points, one text after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import offsets_of, points_of


class Packed(NamedTuple):
    """n texts: text i is points[offsets[i]:offsets[i + 1]].

    points: uint32 (p,), code points, lone surrogates among them; offsets: int64 (n + 1,).
    """

    points: NDArray[np.uint32]
    offsets: NDArray[np.int64]


def pack(texts: Sequence[str]) -> Packed:
    """Return n texts packed."""
    return Packed(points_of("".join(texts)), offsets_of(texts))
