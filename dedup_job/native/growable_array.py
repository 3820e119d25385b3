"""Arrays that begin at a page and grow without a second copy."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import DTypeLike, NDArray

T = TypeVar("T", bound=np.generic)
_GROWTH = 32  # by a 32nd at least
_LEAST_BYTES = 1 << 16
_HUGE = 1 << 25
_LARGE_PAGE = 1 << 21


class GrowableArray(Generic[T]):
    """An array of rows of zeros that grows at its end.

    numpy would put it sixteen bytes behind a page, so that a row of 64 bytes is two cache lines,
    and would copy it to grow. Here the system moves its pages; those never touched take no memory.
    """

    def __init__(self, rows: int, width: int, dtype: DTypeLike) -> None:
        """Make an array of shape (rows,), or (rows, width) where width is not 0."""
        self._dtype, self._width = np.dtype(dtype), width
        self._row_bytes = self._dtype.itemsize * max(width, 1)
        self._map = _anonymous(max(rows * self._row_bytes, _LEAST_BYTES))
        self._view()

    @classmethod
    def fixed(cls, array: NDArray[T]) -> GrowableArray[T]:
        """Hold an array that never grows, such as one of a file."""
        made = cls.__new__(cls)
        made._array = array
        return made

    @property
    def array(self) -> NDArray[T]:
        """The rows; a former array that is still in use stays as it was, and costs a copy."""
        return self._array

    @property
    def nbytes(self) -> int:
        """The size in bytes, touched or not."""
        return self._array.nbytes

    def grow(self, rows: int) -> None:
        """Make room for so many rows in all."""
        size = rows * self._row_bytes
        if size <= len(self._map):
            return
        size = max(size, len(self._map) + len(self._map) // _GROWTH, _LEAST_BYTES)
        del self._array  # a map with a view into it cannot move
        try:
            self._map.resize(-(-size // mmap.PAGESIZE) * mmap.PAGESIZE)
        except (SystemError, OSError, TypeError, BufferError):
            # not every system can, nor a map into which someone has a view
            former, self._map = self._map, _anonymous(size)
            with memoryview(former) as old, memoryview(self._map) as new:
                new[: len(old)] = old
            with suppress(BufferError):  # it goes with the last view into it
                former.close()
        finally:
            self._view()

    def _view(self) -> None:
        if len(self._map) >= _HUGE:
            _advise(self._map)
        rows = len(self._map) // self._row_bytes
        flat: NDArray[T] = np.frombuffer(
            self._map, dtype=self._dtype, count=rows * max(self._width, 1)
        )
        self._array = flat.reshape(rows, self._width) if self._width else flat


def zeros_on_large_pages(size: int, dtype: DTypeLike) -> NDArray[Any]:
    """Return a flat array of zeros, on large pages where the system has them.

    Those never touched take no memory.
    """
    room = max(size * np.dtype(dtype).itemsize, 1)
    if room >= _LARGE_PAGE // 2:  # of a whole number, the system begins at one
        room = -(-room // _LARGE_PAGE) * _LARGE_PAGE
    pages = _anonymous(room)
    _advise(pages)
    return np.frombuffer(pages, dtype=dtype, count=size)


def _anonymous(size: int) -> mmap.mmap:
    size = -(-size // mmap.PAGESIZE) * mmap.PAGESIZE
    return mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def _advise(pages: mmap.mmap) -> None:
    """Ask for large pages: random access then needs far fewer entries in the page table's cache."""
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel that is built without them
            pages.madvise(mmap.MADV_HUGEPAGE)
