"""Native code from Python source: numba, cached on disk where there is a place for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, types
from numba.extending import intrinsic

from dedup_job.native.code_cache import CodeCache, folders_of
from dedup_job.native.compiling import Compiler, LinkingCompiler
from dedup_job.native.unlocked import Unlocked

F = TypeVar("F", bound=Callable[..., Any])


def native(function: F) -> F:
    """Compile a function at its first call, without the GIL; keep the code for later processes.

    Code that was made before is used from NUMBA_CACHE_DIR and the package's folder also where they
    can only be read. More is kept in one of them or in the user's cache, the first to which this
    user can write and others cannot; where there is none, it is compiled in every process.
    """
    return _cached(function, {"_nrt": True})  # numba lets it inherit its first caller's


def jit_no_refcount(function: F) -> F:
    """Compile like `native`, but count no references to arrays: the function only borrows them.

    Counting is an atomic operation for each array of each call, which where a function is called
    at every character or tag costs more than its work. It must make no array and return none.
    """
    return _cached(function, {"_nrt": False})


def inner(function: F) -> F:
    """Compile like `jit_no_refcount`, but for calls from native code alone: it is linked in there.

    Without a way in from Python, without machine code and a place on disk of its own, a function
    is compiled in a third of the time.
    """
    return _linked(function, inline=False)


def inlined(function: F) -> F:
    """Compile a function that is small, or called from one place, into each of its callers."""
    return _linked(function, inline=True)


def _linked(function: F, *, inline: bool) -> F:
    options: Any = {
        "_nrt": False,
        "forceinline": inline,  # numba lets it inherit its first caller's
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
    }
    compiled = njit(nogil=True, pipeline_class=LinkingCompiler, **options)(function)
    return cast("F", _widening(compiled))


def _widening(dispatcher: Any) -> Any:
    # numba compiles a function anew for each constant that it is called with, and for each width
    # of an integer. One code for all of them takes half of the time.
    template = dispatcher.get_call_template

    def widened(args: Any, kws: Any) -> Any:
        return template(tuple(map(_wide, args)), {name: _wide(of) for name, of in kws.items()})

    dispatcher.get_call_template = widened
    return dispatcher


def _wide(of: Any) -> Any:
    plain: Any = types.unliteral(of)
    return types.int64 if plain in types.signed_domain else plain


def _cached(function: F, options: Any) -> F:
    dispatcher = _widening(njit(nogil=True, pipeline_class=Compiler, **options)(function))
    folders = folders_of(Path(function.__code__.co_filename))
    if any(folders):
        dispatcher._cache = CodeCache(function, *folders)  # numba has no other way in
    return cast("F", Unlocked(dispatcher))


def _count_bits(_typing: Any, _x: Any) -> tuple[Any, Any]:
    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


_popcount: Any = intrinsic(_count_bits)


@inlined
def popcount(x: np.uint64) -> np.uint64:
    """Count the bits that are set, by the processor's own instruction where it has one."""
    count: np.uint64 = _popcount(x)
    return count
