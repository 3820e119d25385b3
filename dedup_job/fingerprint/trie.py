"""Words as a trie in flat arrays: the first character by a direct table, then open addressing.

Nodes are numbered from 0, all first characters before the others. An edge is one word of 64 bits:
parent + 1 (24 bits), code point (16), child (24); 0 is a free slot. Only characters of the basic
plane lead anywhere: jieba segments no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job.native.code_points import offsets_of, points_of
from dedup_job.native.jit import inlined, inner, jit_no_refcount, native

PLANE = 0x10000
ABSENT = -1
MOST_NODES = (1 << 24) - 2
_FIBONACCI = np.uint64(0x9E3779B97F4A7C15)  # Knuth, TAOCP 3, section 6.4
_CHILD_BITS = np.uint64(24)
_CHILD = np.uint64(0xFFFFFF)
_LOAD = 0.6
_LEAST_SLOTS = 1 << 10


class Trie(NamedTuple):
    """first: int32 (65536,), node of each first character or -1; edges: uint64 (slots,).

    filter: uint8 (slots / 2,), four bits a slot, set where an edge hashes to: most steps lead
    nowhere, and this half megabyte that says so stays in the processor's cache.
    """

    first: NDArray[np.int32]
    edges: NDArray[np.uint64]
    filter: NDArray[np.uint8]


def build_trie(words: Sequence[str]) -> tuple[Trie, NDArray[np.int32], int]:
    """Return the trie of non-empty words of the basic plane, each word's node, and node count.

    Raises ValueError where there are more than MOST_NODES nodes.
    """
    points, offsets = points_of("".join(words)), offsets_of(words)
    nodes = np.empty(len(words), dtype=np.int32)
    slots = _LEAST_SLOTS
    while slots * _LOAD <= 2 * MOST_NODES:
        first = np.full(PLANE, ABSENT, dtype=np.int32)
        edges = np.zeros(slots, dtype=np.uint64)
        count = _build(points, offsets, first, edges, nodes, min(int(slots * _LOAD), MOST_NODES))
        if count >= 0:
            return Trie(first, edges, _build_filter(edges)), nodes, count
        slots *= 2
    raise ValueError(f"the words need more than {MOST_NODES:,} trie nodes")


@jit_no_refcount
def _build(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    first: NDArray[np.int32],
    edges: NDArray[np.uint64],
    nodes: NDArray[np.int32],
    limit: int,
) -> int:
    """Insert all words; return the number of nodes, -1 where there would be more than limit."""
    shift = key_shift(edges)
    mask = np.uint64(edges.shape[0] - 1)
    count = 0
    for word in range(nodes.shape[0]):  # all first characters side by side: they are used most
        if first[points[offsets[word]]] < 0:
            first[points[offsets[word]]] = count
            count += 1
    for word in range(nodes.shape[0]):
        start = offsets[word]
        node = np.int64(first[points[start]])
        for i in range(start + 1, offsets[word + 1]):
            key = _key(node, points[i])
            place = (key * _FIBONACCI) >> shift
            while edges[place] != 0 and edges[place] >> _CHILD_BITS != key:
                place = (place + np.uint64(1)) & mask
            if edges[place] == 0:
                if count >= limit:
                    return -1
                edges[place] = (key << _CHILD_BITS) | np.uint64(count)
                count += 1
            node = np.int64(edges[place] & _CHILD)
        nodes[word] = node
    return count


@native
def _build_filter(edges: NDArray[np.uint64]) -> NDArray[np.uint8]:
    bits = np.zeros(edges.shape[0] // 2, dtype=np.uint8)
    shift = key_shift(edges)
    for row in range(edges.shape[0]):
        if edges[row] != 0:
            bit = ((edges[row] >> _CHILD_BITS) * _FIBONACCI) >> (shift - np.uint64(2))
            bits[bit >> np.uint64(3)] |= np.uint8(1) << np.uint8(bit & np.uint64(7))
    return bits


@inlined
def _key(node: np.int64, point: np.uint32) -> np.uint64:
    return (np.uint64(node + 1) << np.uint64(16)) | np.uint64(point)


@inner
def key_shift(edges: NDArray[np.uint64]) -> np.uint64:
    """Return by how much a hashed key is shifted to address the table."""
    bits = 0
    while (1 << bits) < edges.shape[0]:
        bits += 1
    return np.uint64(64 - bits)


@inlined
def place_of(
    edges: NDArray[np.uint64],
    filter_: NDArray[np.uint8],
    shift: np.uint64,
    node: np.int64,
    point: np.uint32,
) -> np.int64:
    """Return the row of the edge that `point` leads along from `node`, -1 if none."""
    key = _key(node, point)
    bit = (key * _FIBONACCI) >> (shift - np.uint64(2))  # two bits finer than a row
    if (filter_[bit >> np.uint64(3)] >> (bit & np.uint64(7))) & np.uint64(1) == 0:
        return np.int64(ABSENT)
    place = bit >> np.uint64(2)
    mask = np.uint64(edges.shape[0] - 1)
    edge = edges[place]
    while edge >> _CHILD_BITS != key:
        if edge == 0:
            return np.int64(ABSENT)
        place = (place + np.uint64(1)) & mask
        edge = edges[place]
    return np.int64(place)


@inlined
def child_at(edges: NDArray[np.uint64], place: np.int64) -> np.int64:
    """Return the node that the edge in a row leads to."""
    return np.int64(edges[place] & _CHILD)
