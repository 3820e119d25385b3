"""Stable 64-bit hashes of tokens and texts: the same on every machine and in every process."""

from __future__ import annotations

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup_job import _core


def text_hash(text: str) -> int:
    """xxh64 of the UTF-8 bytes (lone surrogates pass), seed 0."""
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))


def text_digests(points: NDArray[np.uint32], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return other hashes of n texts, xxh3 of their UTF-32-LE; uint64 (n,)."""
    return _core.digests(points, offsets)


def is_text_hash(fingerprint: int, text: str) -> bool:
    """Tell whether a stored fingerprint is that of a short text.

    A short text has one feature, itself, so its simhash is its hash. That a simhash over several
    tokens equals the hash of the whole text by chance has probability 2**-64.
    """
    return fingerprint == text_hash(text)
