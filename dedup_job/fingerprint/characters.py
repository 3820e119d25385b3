"""Case and width of characters."""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from dedup_job.fingerprint.trie import PLANE
from dedup_job.native.code_points import points_of

_FULL_FIRST, _FULL_LAST, _FULL_OFFSET, _WIDE_SPACE = 0xFF01, 0xFF5E, 0xFEE0, 0x3000


@functools.cache
def case_fold_table() -> NDArray[np.uint16]:
    """Return what each character of the basic plane becomes, uint16 (65536,).

    The full-width forms of ASCII (Unicode block FF00) become narrow, and capitals small where that
    is one character.
    """
    table = np.arange(PLANE, dtype=np.uint32)
    table[_FULL_FIRST : _FULL_LAST + 1] -= _FULL_OFFSET
    table[_WIDE_SPACE] = ord(" ")
    letters = list(map(chr, table.tolist()))
    pairs = zip(letters, map(str.lower, letters), strict=True)
    table = points_of("".join(low if len(low) == 1 else letter for letter, low in pairs))
    folded = table.astype(np.uint16)
    folded.flags.writeable = False  # it is the same for all who ask
    return folded
