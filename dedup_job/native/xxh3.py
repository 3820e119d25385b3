"""XXH3 of many byte strings: 64 bits, seed 0, the default secret.

xxHash specification, "XXH3 algorithm overview", Yann Collet; the package xxhash has no call for
many strings, and holds the interpreter's lock for each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.jit import inlined, inner, native

Bytes = NDArray[np.uint8]
_SECRET = np.frombuffer(
    bytes.fromhex(
        "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
        "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
        "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
        "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
        "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
        "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
    ),
    dtype=np.uint8,
)
_P32_1, _P32_2, _P32_3 = np.uint64(0x9E3779B1), np.uint64(0x85EBCA77), np.uint64(0xC2B2AE3D)
_P1, _P2 = np.uint64(0x9E3779B185EBCA87), np.uint64(0xC2B2AE3D27D4EB4F)
_P3, _P4 = np.uint64(0x165667B19E3779F9), np.uint64(0x85EBCA77C2B2AE63)
_P5 = np.uint64(0x27D4EB2F165667C5)
_AVALANCHE = np.uint64(0x165667919E3779F9)
_RRMXMX = np.uint64(0x9FB21C651E98DF25)
_LOW = np.uint64(0xFFFFFFFF)
_BLOCK, _STRIPE, _LANES = 1024, 64, 8  # bytes, bytes, words of a stripe
_STRIPES = _BLOCK // _STRIPE


@native
def xxh3_of_each(
    data: Bytes, starts: NDArray[np.int64], lengths: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return the hash of each of n strings, data[starts[i]:starts[i] + lengths[i]]; uint64 (n,)."""
    n = starts.shape[0]
    hashes, lanes = np.empty(n, dtype=np.uint64), np.empty(_LANES, dtype=np.uint64)
    for i in range(n):
        hashes[i] = _xxh3(data, starts[i], lengths[i], lanes)
    return hashes


@inner
def _xxh3(data: Bytes, at: int, length: int, lanes: NDArray[np.uint64]) -> np.uint64:
    if length <= 16:
        return _up_to_16(data, at, length)
    if length <= 128:
        return _up_to_128(data, at, length)
    if length <= 240:
        return _up_to_240(data, at, length)
    return _long(data, at, length, lanes)


@inner
def _up_to_16(data: Bytes, at: int, length: int) -> np.uint64:
    if length > 8:
        low = _word(data, at) ^ _word(_SECRET, 24) ^ _word(_SECRET, 32)
        high = _word(data, at + length - 8) ^ _word(_SECRET, 40) ^ _word(_SECRET, 48)
        return _avalanche(np.uint64(length) + _reversed(low) + high + _folded(low, high))
    if length >= 4:
        first, last = _half(data, at), _half(data, at + length - 4)
        h = (last + (first << np.uint64(32))) ^ _word(_SECRET, 8) ^ _word(_SECRET, 16)
        h ^= _rotated(h, 49) ^ _rotated(h, 24)
        h *= _RRMXMX
        h ^= (h >> np.uint64(35)) + np.uint64(length)
        h *= _RRMXMX
        return h ^ (h >> np.uint64(28))
    if length > 0:
        first, last = np.uint64(data[at]), np.uint64(data[at + length - 1])
        middle = np.uint64(data[at + (length >> 1)])
        h = (first << np.uint64(16)) | (middle << np.uint64(24)) | last
        h |= np.uint64(length << 8)
        return _final(h ^ _half(_SECRET, 0) ^ _half(_SECRET, 4))
    return _final(_word(_SECRET, 56) ^ _word(_SECRET, 64))


@inner
def _up_to_128(data: Bytes, at: int, length: int) -> np.uint64:
    total, end = np.uint64(length) * _P1, at + length
    for step in range((length - 1) // 32, -1, -1):
        total += _mixed(data, at + 16 * step, 32 * step)
        total += _mixed(data, end - 16 * (step + 1), 32 * step + 16)
    return _avalanche(total)


@inner
def _up_to_240(data: Bytes, at: int, length: int) -> np.uint64:
    total = np.uint64(length) * _P1
    for step in range(8):
        total += _mixed(data, at + 16 * step, 16 * step)
    total = _avalanche(total)
    for step in range(8, length // 16):
        total += _mixed(data, at + 16 * step, 16 * (step - 8) + 3)
    return _avalanche(total + _mixed(data, at + length - 16, 136 - 17))


@inner
def _long(data: Bytes, at: int, length: int, lanes: NDArray[np.uint64]) -> np.uint64:
    lanes[0], lanes[1], lanes[2], lanes[3] = _P32_3, _P1, _P2, _P3
    lanes[4], lanes[5], lanes[6], lanes[7] = _P4, _P32_2, _P5, _P32_1
    stripes = (length - 1) // _STRIPE
    for stripe in range(stripes):
        place = stripe % _STRIPES
        _accumulate(lanes, data, at + _STRIPE * stripe, 8 * place)
        if place == _STRIPES - 1:
            for i in range(_LANES):
                lane = lanes[i] ^ (lanes[i] >> np.uint64(47)) ^ _word(_SECRET, 128 + 8 * i)
                lanes[i] = lane * _P32_1
    _accumulate(lanes, data, at + length - _STRIPE, 128 - 7)
    total = np.uint64(length) * _P1
    for i in range(4):
        one = lanes[2 * i] ^ _word(_SECRET, 11 + 16 * i)
        total += _folded(one, lanes[2 * i + 1] ^ _word(_SECRET, 11 + 16 * i + 8))
    return _avalanche(total)


@inlined
def _accumulate(lanes: NDArray[np.uint64], data: Bytes, at: int, secret: int) -> None:
    """Take one stripe in."""
    for i in range(_LANES):
        word = _word(data, at + 8 * i)
        key = word ^ _word(_SECRET, secret + 8 * i)
        lanes[i ^ 1] += word
        lanes[i] += (key & _LOW) * (key >> np.uint64(32))


@inlined
def _mixed(data: Bytes, at: int, secret: int) -> np.uint64:
    """Mix 16 bytes."""
    low = _word(data, at) ^ _word(_SECRET, secret)
    return _folded(low, _word(data, at + 8) ^ _word(_SECRET, secret + 8))


@inlined
def _folded(a: np.uint64, b: np.uint64) -> np.uint64:
    """Return the product of 128 bits, its halves combined."""
    shift = np.uint64(32)
    a_low, a_high, b_low, b_high = a & _LOW, a >> shift, b & _LOW, b >> shift
    low, one, other = a_low * b_low, a_high * b_low, a_low * b_high
    cross = (low >> shift) + (one & _LOW) + other
    high = a_high * b_high + (one >> shift) + (cross >> shift)
    return high ^ ((cross << shift) | (low & _LOW))


@inlined
def _avalanche(h: np.uint64) -> np.uint64:
    h = (h ^ (h >> np.uint64(37))) * _AVALANCHE
    return h ^ (h >> np.uint64(32))


@inlined
def _final(h: np.uint64) -> np.uint64:
    """Mix as XXH64 does at its end."""
    h = (h ^ (h >> np.uint64(33))) * _P2
    h = (h ^ (h >> np.uint64(29))) * _P3
    return h ^ (h >> np.uint64(32))


@inlined
def _rotated(x: np.uint64, bits: int) -> np.uint64:
    return (x << np.uint64(bits)) | (x >> np.uint64(64 - bits))


@inlined
def _reversed(x: np.uint64) -> np.uint64:
    """Return the bytes in reverse order."""
    y = np.uint64(0)
    for i in range(8):
        y |= ((x >> np.uint64(8 * i)) & np.uint64(0xFF)) << np.uint64(56 - 8 * i)
    return y


@inlined
def _half(data: Bytes, at: int) -> np.uint64:
    """Return four bytes as a number."""
    x = np.uint64(0)
    for i in range(4):
        x |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return x


@inlined
def _word(data: Bytes, at: int) -> np.uint64:
    """Return eight bytes as a number."""
    x = np.uint64(0)
    for i in range(8):
        x |= np.uint64(data[at + i]) << np.uint64(8 * i)
    return x
