"""An array that grows keeps what is in it, is zero beyond that, and begins at a page."""

from __future__ import annotations

import errno
import mmap

import numpy as np
import pytest

from dedup_job.native.growable_array import GrowableArray, zeros_on_large_pages

PAGE = 4096
KINDS = pytest.mark.parametrize(
    ("width", "dtype"), [(0, np.uint64), (16, np.uint32), (0, np.bool_), (3, np.uint16)]
)
ROWS = [1, 1000, 9000, 9001, 100_000, 1_000_000]


class Stiff(mmap.mmap):
    """Memory of a system that cannot resize it."""

    def resize(self, newsize):
        """Refuse, as Python does where there is no mremap."""
        raise SystemError(f"mmap: resizing to {newsize} not available")


class Unwilling(mmap.mmap):
    """Memory that the system will not give more of at this place."""

    def resize(self, newsize):
        """Refuse, as the system does."""
        raise OSError(12, f"cannot allocate {newsize}")


@pytest.fixture(params=[mmap.mmap, Stiff, Unwilling])
def memory(request, monkeypatch):
    monkeypatch.setattr("dedup_job.native.growable_array.mmap.mmap", request.param)
    return request.param


@KINDS
@pytest.mark.usefixtures("memory")
def test_it_keeps_its_contents_begins_at_a_page_and_is_zero_beyond_them(width, dtype):
    rng = np.random.default_rng(width)
    growing = GrowableArray(0, width, dtype)
    held = np.zeros((0, width) if width else 0, dtype)
    for rows in ROWS:
        growing.grow(rows)
        assert growing.array.dtype == dtype
        assert growing.array.shape[1:] == held.shape[1:]
        assert len(growing.array) >= rows
        assert growing.array.ctypes.data % PAGE == 0
        assert np.array_equal(growing.array[: len(held)], held)
        assert not growing.array[len(held) :].any()
        held = rng.integers(0, 2, (rows, width) if width else rows).astype(dtype)
        growing.array[:rows] = held


def test_it_grows_although_someone_has_a_view_which_stays_as_it_is():
    growing = GrowableArray(10, 0, np.uint64)
    growing.array[:3] = [1, 2, 3]
    view = growing.array[:3]
    growing.grow(1_000_000)
    growing.array[:3] = [4, 5, 6]
    assert view.tolist() == [1, 2, 3]
    assert growing.array[:5].tolist() == [4, 5, 6, 0, 0]
    assert len(growing.array) >= 1_000_000


class WithoutLargePages(mmap.mmap):
    """Memory of a kernel that is built without large pages."""

    def madvise(self, *_: object) -> None:
        """Refuse."""
        raise OSError(errno.EINVAL, "Invalid argument")


def test_a_kernel_without_large_pages_is_good_enough(monkeypatch):
    monkeypatch.setattr(mmap, "mmap", WithoutLargePages)
    assert not zeros_on_large_pages(1000, np.uint64).any()
    growing = GrowableArray(10_000_000, 0, np.uint64)
    assert not growing.array[:1000].any()
