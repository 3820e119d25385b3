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

from dedup_job import _core
from dedup_job.native.code_points import offsets_of, points_of

PLANE = 0x10000
ABSENT = -1
MOST_NODES = (1 << 24) - 2
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
        trie = Trie(first, np.zeros(slots, dtype=np.uint64), np.zeros(slots // 2, dtype=np.uint8))
        most = min(int(slots * _LOAD), MOST_NODES)
        count = _core.build_trie(points, offsets, *trie, nodes, most)
        if count >= 0:
            return trie, nodes, count
        slots *= 2
    raise ValueError(f"the words need more than {MOST_NODES:,} trie nodes")
