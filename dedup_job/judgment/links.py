"""Links written as [words](target): the target is no text, as in HTML. Works on cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dedup_job.judgment.constants import codes
from dedup_job.judgment.scanning import is_blank, is_latin, point_at
from dedup_job.native.jit import inner

_SQUARE, _SQUARE_END, _ROUND, _ROUND_END, _BANG, _HASH, _SLASH = codes("[]()!#/")
_SCHEME = codes("http")


@inner
def opens_link(cells: NDArray[np.uint32], i: int, base: int, stop: int) -> bool:
    """Tell whether the [ at i opens the words of a link."""
    if i > base and point_at(cells, i - 1) == _BANG:  # an image
        return False
    k = i + 1
    while k < stop and point_at(cells, k) != _SQUARE and point_at(cells, k) != _SQUARE_END:
        k += 1
    return k < stop and point_at(cells, k) == _SQUARE_END and _target_end(cells, k, stop) > k


@inner
def link_end(cells: NDArray[np.uint32], i: int, base: int, stop: int) -> int:
    """Return where the link ends whose words the ] at i closes, i where it closes none."""
    end = _target_end(cells, i, stop)
    if end == i:
        return i
    k = i - 1
    while k >= base and point_at(cells, k) != _SQUARE and point_at(cells, k) != _SQUARE_END:
        k -= 1
    opened = k >= base and point_at(cells, k) == _SQUARE
    return end if opened and opens_link(cells, k, base, stop) else i


@inner
def _target_end(cells: NDArray[np.uint32], i: int, stop: int) -> int:
    """Return where the (target) behind i ends, i where there is none.

    A target is a URL, a path from / on or a place in the page: (x) stays a formula.
    """
    if i + 3 >= stop or point_at(cells, i + 1) != _ROUND or not _begins(cells, i + 2, stop):
        return i
    k = i + 2
    while k < stop and not is_blank(cells, k):
        if point_at(cells, k) == _ROUND:
            return i
        if point_at(cells, k) == _ROUND_END:
            return k + 1
        k += 1
    return i


@inner
def _begins(cells: NDArray[np.uint32], i: int, stop: int) -> bool:
    if point_at(cells, i) == _HASH:
        return True
    if point_at(cells, i) == _SLASH:
        return is_latin(cells, i + 1)
    if i + len(_SCHEME) >= stop:
        return False
    for k in range(len(_SCHEME)):  # noqa: SIM110  # numba compiles no generator here
        if point_at(cells, i + k) != _SCHEME[k]:
            return False
    return True
