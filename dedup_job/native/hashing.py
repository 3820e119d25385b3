"""Stable 64-bit hashes of tokens and texts: the same on every machine and in every process."""

from __future__ import annotations

import numpy as np
import xxhash
from numpy.typing import NDArray

from dedup_job.native.jit import inlined, inner, native
from dedup_job.native.utf8 import encode
from dedup_job.native.xxh3 import xxh3_of_each

XXH64, POLYNOMIAL = 0, 1

_P1 = np.uint64(0x9E3779B185EBCA87)
_P2 = np.uint64(0xC2B2AE3D27D4EB4F)
_P3 = np.uint64(0x165667B19E3779F9)
_P4 = np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
_POLYNOMIAL_PRIME = np.uint64(1000003)


def text_hash(text: str) -> int:
    """xxh64 of the UTF-8 bytes (lone surrogates pass), seed 0."""
    return xxhash.xxh64_intdigest(text.encode("utf-8", "surrogatepass"))


def text_digest(text: str) -> int:
    """Hash a text with another function, xxh3 of its UTF-32-LE, independent of `text_hash`."""
    return xxhash.xxh3_64_intdigest(text.encode("utf-32-le", "surrogatepass"))


def text_digests(points: NDArray[np.uint32], offsets: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the digests of n texts, points[offsets[i]:offsets[i + 1]] each; uint64 (n,)."""
    return xxh3_of_each(points.view(np.uint8), 4 * offsets[:-1], 4 * np.diff(offsets))


def is_text_hash(fingerprint: int, text: str) -> bool:
    """Tell whether a stored fingerprint is that of a short text.

    A short text has one feature, itself, so its simhash is its hash. That a simhash over several
    tokens equals the hash of the whole text by chance has probability 2**-64.
    """
    return fingerprint == text_hash(text)


@inner
def hash_points(
    points: NDArray[np.uint32], start: int, stop: int, kind: int, buffer: NDArray[np.uint8]
) -> np.uint64:
    """Hash points[start:stop], code points, by xxh64 of their UTF-8 or by the polynomial.

    buffer: uint8 of at least 4 * (stop - start), overwritten.
    """
    if kind == POLYNOMIAL:
        return _polynomial(points, start, stop)
    return _xxh64(buffer, encode(points, start, stop, buffer, 0))


@native
def hash_all(
    points: NDArray[np.uint32], offsets: NDArray[np.int64], kind: int
) -> NDArray[np.uint64]:
    """Hash n non-empty words, points[offsets[i]:offsets[i + 1]] each; uint64 (n,)."""
    n = offsets.shape[0] - 1
    hashes = np.empty(n, dtype=np.uint64)
    for i in range(n):
        buffer = np.empty(4 * (offsets[i + 1] - offsets[i]), dtype=np.uint8)
        hashes[i] = hash_points(points, offsets[i], offsets[i + 1], kind, buffer)
    return hashes


@inlined
def _polynomial(points: NDArray[np.uint32], start: int, stop: int) -> np.uint64:
    """Compute x * 1000003 ^ c, as CPython 2 hashed strings and many simhash packages still do.

    They compute it over 128 bits and cut to 64; the lower bits never depend on the higher ones.
    """
    x = np.uint64(points[start]) << np.uint64(7)
    for i in range(start, stop):
        x = (x * _POLYNOMIAL_PRIME) ^ np.uint64(points[i])
    return x ^ np.uint64(stop - start)


@inlined
def _rotated(x: np.uint64, bits: int) -> np.uint64:
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@inlined
def _read(buffer: NDArray[np.uint8], at: int, count: int) -> np.uint64:
    x = np.uint64(0)
    for i in range(count):
        x |= np.uint64(buffer[at + i]) << np.uint64(8 * i)
    return x


@inlined
def _round(accumulator: np.uint64, lane: np.uint64) -> np.uint64:
    return _rotated(accumulator + lane * _P2, 31) * _P1


@inner
def _xxh64(buffer: NDArray[np.uint8], length: int) -> np.uint64:
    """XXH64 with seed 0: xxHash specification 0.1.1, Yann Collet, section "XXH64"."""
    at = 0
    if length >= 32:
        v1, v2, v3, v4 = _P1 + _P2, _P2, np.uint64(0), np.uint64(0) - _P1
        while at + 32 <= length:
            v1 = _round(v1, _read(buffer, at, 8))
            v2 = _round(v2, _read(buffer, at + 8, 8))
            v3 = _round(v3, _read(buffer, at + 16, 8))
            v4 = _round(v4, _read(buffer, at + 24, 8))
            at += 32
        h = _rotated(v1, 1) + _rotated(v2, 7) + _rotated(v3, 12) + _rotated(v4, 18)
        h = (h ^ _round(np.uint64(0), v1)) * _P1 + _P4
        h = (h ^ _round(np.uint64(0), v2)) * _P1 + _P4
        h = (h ^ _round(np.uint64(0), v3)) * _P1 + _P4
        h = (h ^ _round(np.uint64(0), v4)) * _P1 + _P4
    else:
        h = _P5
    h += np.uint64(length)
    while at + 8 <= length:
        h = _rotated(h ^ _round(np.uint64(0), _read(buffer, at, 8)), 27) * _P1 + _P4
        at += 8
    if at + 4 <= length:
        h = _rotated(h ^ (_read(buffer, at, 4) * _P1), 23) * _P2 + _P3
        at += 4
    while at < length:
        h = _rotated(h ^ (np.uint64(buffer[at]) * _P5), 11) * _P1
        at += 1
    h = (h ^ (h >> np.uint64(33))) * _P2
    h = (h ^ (h >> np.uint64(29))) * _P3
    return h ^ (h >> np.uint64(32))
