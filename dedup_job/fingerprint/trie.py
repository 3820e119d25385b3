"""Words as a trie in flat arrays: the first character by a table, then children side by side.

Only characters of the basic plane lead anywhere, as jieba segments no others, and not the last one,
U+FFFF, which is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dedup_job import _core
from dedup_job.native.code_points import pack

PLANE = 0x10000
LAST = "\ufffe"


class Trie(NamedTuple):
    """The arrays of src/fingerprint/trie.hpp.

    first: int32 (65536,), slot of each first character or -1; characters: uint16 (slots + 8,),
    what leads to each slot; entries: uint64 (2 * slots,), of each slot the log probability, the
    number of the node and where its children are.
    """

    first: NDArray[np.int32]
    characters: NDArray[np.uint16]
    entries: NDArray[np.uint64]


def build_trie(
    words: Sequence[str], probabilities: NDArray[np.float64]
) -> tuple[Trie, NDArray[np.int32], int]:
    """Return the trie of n words, each word's node, and node count.

    The words are not empty, of characters up to LAST; probabilities: (n,), logarithms. Raises
    ValueError where there are too many, more than 5 million.
    """
    packed = pack(words)
    made = _core.build_trie(packed.points, packed.offsets, probabilities)
    return Trie(*made[:3]), *made[3:]
