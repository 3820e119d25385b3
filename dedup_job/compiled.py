"""Native code from Python source: numba, cached on disk where there is a place for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])


def native(function: F) -> F:
    """Compile a function at its first call, without the GIL; keep the code for later processes.

    Where neither the package's folder nor the user's cache can be written to, numba refuses to
    cache; the code is then compiled in every process.
    """
    try:
        return cast("F", njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast("F", njit(nogil=True)(function))


def inlined(function: F) -> F:
    """Compile a small function into each of its callers."""
    return cast("F", njit(nogil=True, inline="always")(function))
