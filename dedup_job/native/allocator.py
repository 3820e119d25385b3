"""Freed memory that the C allocator keeps."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Return freed memory to the system, where the allocator is glibc's; others do so themselves.

    glibc keeps the memory that a thread frees in an arena, for that thread's next allocations.
    """
    with suppress(AttributeError, OSError, TypeError):  # other systems; Windows takes no None
        ctypes.CDLL(None).malloc_trim(0)
