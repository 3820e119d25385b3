"""Numbers that native functions are given.

No plain integers: numba would compile a function once for each that it is given.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import cast

import numpy as np


def constants(values: Iterable[int]) -> tuple[int, ...]:
    """Return numbers as numba takes them for variables."""
    return cast("tuple[int, ...]", tuple(np.int64(value) for value in values))


def codes(text: str) -> tuple[int, ...]:
    """Return the code points of characters, for comparison with cells."""
    return constants(map(ord, text))


(NOUGHT,) = constants([0])
YES, NO = (cast("bool", np.bool_(value)) for value in (True, False))
