"""Tokens -> distinct features of one text: words with frequency and IDF, or character n-grams."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint import lexicon as words
from dedup_job.fingerprint.lexicon import STOP_WORD, Lexicon, find_word
from dedup_job.fingerprint.segmentation import OUTSIDE, Segments
from dedup_job.fingerprint.trie import ABSENT, key_shift
from dedup_job.native.jit import inlined, inner, native

_ZERO, _NINE, _DOT, _PERCENT = 48, 57, 46, 37
_MIX = np.uint64(0x9E3779B97F4A7C15)
_FNV_BASIS, _FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)
_HASHED = np.uint64(1) << np.uint64(63)


class Options(NamedTuple):
    """Settings as the native code takes them."""

    top_k: int
    min_features: int
    weighting: int
    hash_kind: int
    digits: bool
    ngram: int


class Features(NamedTuple):
    """Buffers for the distinct features of one text, in order of first appearance.

    start, stop: where the feature first stands in the points; node: in the trie or -1; frequency,
    idf: of it; place: in the hash table; weight: of the chosen ones; order: the
    chosen ones, heaviest first. key, slot: a hash table, key 0 where it is free, left free.
    """

    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    node: NDArray[np.int32]
    frequency: NDArray[np.float64]
    idf: NDArray[np.float64]
    place: NDArray[np.uint64]
    weight: NDArray[np.float64]
    order: NDArray[np.int64]
    key: NDArray[np.uint64]
    slot: NDArray[np.int32]
    bytes: NDArray[np.uint8]


@native
def make_features(n: int) -> Features:
    """Return buffers for texts of up to n characters."""
    slots = 16
    while slots < 2 * n:
        slots *= 2
    return Features(
        np.empty(n + 1, dtype=np.int64),
        np.empty(n + 1, dtype=np.int64),
        np.empty(n + 1, dtype=np.int32),
        np.empty(n + 1, dtype=np.float64),
        np.empty(n + 1, dtype=np.float64),
        np.empty(n + 1, dtype=np.uint64),
        np.empty(n + 1, dtype=np.float64),
        np.empty(n + 1, dtype=np.int64),
        np.zeros(slots, dtype=np.uint64),
        np.empty(slots, dtype=np.int32),
        np.empty(4 * n + 8, dtype=np.uint8),
    )


@inlined
def count_words(
    lexicon: Lexicon,
    points: NDArray[np.uint32],
    tokens: int,
    segments: Segments,
    options: Options,
    features: Features,
) -> int:
    """Count the distinct tokens of a segmented text; return how many there are."""
    nodes, median, shift = lexicon.nodes, lexicon.constants[1], key_shift(lexicon.edges)
    mask = _mask(tokens, features.slot.shape[0])
    found = 0
    for t in range(tokens):
        start, stop, node = segments.starts[t], segments.starts[t + 1], segments.nodes[t]
        if stop - start == 1 or node == OUTSIDE:
            continue
        key = np.uint64(node + 1) if node >= 0 else _key(points, start, stop)
        if _is_counted(features, mask, key, found):
            continue
        weight = nodes[node].idf if node >= 0 else median
        if _has_upper(points, start, stop):
            # stop words are looked up in lower case, weights as written
            lower = find_word(lexicon, shift, points, start, stop, True)
            if lower >= 0 and nodes[lower].idf == STOP_WORD:
                weight = STOP_WORD
        if not options.digits and _is_number(points, start, stop):
            weight = STOP_WORD
        found = _add(features, found, start, stop, node, weight)
    _finish(features, found)
    return found


@inner
def count_ngrams(
    points: NDArray[np.uint32],
    start: int,
    stop: int,
    n: int,
    packed: NDArray[np.uint32],
    features: Features,
) -> int:
    """Count distinct n-grams of the characters other than white space; return how many.

    Writes the characters to `packed`, to which the features' places then refer.
    """
    length = 0
    for i in range(start, stop):
        if not is_white_space(points[i]):
            packed[length] = points[i]
            length += 1
    mask = _mask(length, features.slot.shape[0])
    found = 0
    for i in range(length - n + 1):
        if not _is_counted(features, mask, _key(packed, i, i + n), found):
            found = _add(features, found, i, i + n, ABSENT, 1.0)
    _finish(features, found)
    return found


@inlined
def _is_counted(features: Features, mask: np.uint64, key: np.uint64, found: int) -> bool:
    """Count a feature once more; one that is new takes its place in the table instead."""
    place = _find_place(features.key, mask, key)
    if features.key[place] == key:
        features.frequency[features.slot[place]] += 1.0
        return True
    features.key[place], features.slot[place], features.place[found] = key, found, place
    return False


@inlined
def _add(features: Features, found: int, start: int, stop: int, node: int, idf: float) -> int:
    """Append a feature; return the new count."""
    features.start[found], features.stop[found], features.node[found] = start, stop, node
    features.frequency[found], features.idf[found] = 1.0, idf
    return found + 1


@inlined
def _finish(features: Features, found: int) -> None:
    """Leave the table free."""
    for f in range(found):
        features.key[features.place[f]] = 0


@inlined
def _find_place(keys: NDArray[np.uint64], mask: np.uint64, key: np.uint64) -> np.uint64:
    """Return where the table holds the key, or the free place for it."""
    place = (key * _MIX >> np.uint64(20)) & mask
    while keys[place] != 0 and keys[place] != key:
        place = (place + np.uint64(1)) & mask
    return place


@inlined
def _key(points: NDArray[np.uint32], start: int, stop: int) -> np.uint64:
    """Return what tells tokens apart that the trie does not hold; above all nodes.

    FNV-1a over code points, 63 bits (Fowler, Noll, Vo): only the chosen get the slower hash.
    """
    key = _FNV_BASIS
    for i in range(start, stop):
        key = (key ^ np.uint64(points[i])) * _FNV_PRIME
    return (key ^ (key >> np.uint64(32))) | _HASHED


@inlined
def _mask(length: int, slots: int) -> np.uint64:
    """Return the mask of a table large enough for a text: a short one stays in the cache."""
    size = 16
    while size < 2 * length and size < slots:
        size *= 2
    return np.uint64(size - 1)


@inlined
def is_white_space(point: int) -> bool:
    """Tell whether a code point is white space, as str.isspace says."""
    return (
        point == 0x20
        or 0x09 <= point <= 0x0D
        or 0x1C <= point <= 0x1F
        or point == 0x85
        or point == 0xA0
        or point == 0x1680
        or 0x2000 <= point <= 0x200A
        or point == 0x2028
        or point == 0x2029
        or point == 0x202F
        or point == 0x205F
        or point == 0x3000
    )


@inlined
def _has_upper(points: NDArray[np.uint32], start: int, stop: int) -> bool:
    for i in range(start, stop):  # noqa: SIM110  # numba compiles no generator here
        if words.UPPER_A <= points[i] <= words.UPPER_Z:
            return True
    return False


@inlined
def _is_number(points: NDArray[np.uint32], start: int, stop: int) -> bool:
    for i in range(start, stop):
        p = points[i]
        if not (_ZERO <= p <= _NINE or p in (_DOT, _PERCENT)):
            return False
    return True
