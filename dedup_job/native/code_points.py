"""Texts as the native code takes them: code points, one text after the other."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Points: TypeAlias = NDArray[np.uint32]
"""Code points of a text, uint32 (p,)."""


class Packed(NamedTuple):
    """n texts: text i is points[offsets[i]:offsets[i + 1]].

    points: uint32 (p,), code points, lone surrogates among them; offsets: int64 (n + 1,).
    """

    points: Points
    offsets: NDArray[np.int64]


def pack(texts: Sequence[str]) -> Packed:
    """Return n texts packed."""
    return Packed(points_of("".join(texts)), offsets_of(texts))


def points_of(text: str) -> Points:
    """Return the code points of a text, uint32 (len(text),); lone surrogates pass."""
    # writable, as native code returns them: numba compiles a function for each kind
    return np.frombuffer(bytearray(text.encode("utf-32-le", "surrogatepass")), dtype=np.uint32)


def text_of(points: Points) -> str:
    """Return the text of code points; lone surrogates pass."""
    return str(points.data, "utf-32-le", "surrogatepass")


def offsets_of(texts: Sequence[Sized]) -> NDArray[np.int64]:
    """Return where each of n texts or lists begins in all of them joined, and the end; (n + 1,)."""
    offsets = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)), out=offsets[1:])
    return offsets
