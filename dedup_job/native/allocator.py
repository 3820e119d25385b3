"""The memory that C's allocator keeps of what was freed."""

from __future__ import annotations

import ctypes
from contextlib import suppress


def give_back() -> None:
    """Return freed memory to the system, where the allocator is glibc's; others do so themselves.

    glibc keeps what threads freed between things still in use, for the same threads.
    """
    with suppress(AttributeError, OSError, TypeError):  # other systems; Windows takes no None
        ctypes.CDLL(None).malloc_trim(0)
