"""Native code from Python source: numba, cached on disk where there is a place for it.

numba's own cache takes code for fresh while the file of a function is unchanged, although code
from other files is compiled into it, and it trusts what it reads. So here a cache entry is stamped
with all sources that are compiled, and carries a checksum; what does not fit is compiled anew.
"""

from __future__ import annotations

import functools
import pickle
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import xxhash
from numba import njit, types
from numba.core.caching import IndexDataCacheFile
from numba.extending import intrinsic

F = TypeVar("F", bound=Callable[..., Any])
_FOLDERS = ("fingerprint", "index", "decision")
_DIGEST_BYTES = 16


def native(function: F) -> F:
    """Compile a function at its first call, without the GIL; keep the code for later processes.

    Where neither the package's folder nor the user's cache can be written to, numba refuses to
    cache; the code is then compiled in every process.
    """
    try:
        dispatcher = cast("Any", njit(cache=True, nogil=True)(function))
    except RuntimeError:
        return cast("F", njit(nogil=True)(function))
    own, file = dispatcher._cache, dispatcher._cache._cache_file  # numba has no other way in
    base = Path(file._index_path).name.removesuffix(".nbi")
    own._cache_file = _CheckedFile(own._cache_path, base, sources_digest())
    return cast("F", dispatcher)


def inlined(function: F) -> F:
    """Compile a small function into each of its callers."""
    return cast("F", njit(nogil=True, inline="always")(function))


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


@functools.cache
def sources_digest() -> str:
    """Return a digest of all source files from which native code is made."""
    root = Path(__file__).parent
    digest = xxhash.xxh3_128()
    for file in sorted([Path(__file__), *(f for d in _FOLDERS for f in (root / d).glob("*.py"))]):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


class _CheckedFile(IndexDataCacheFile):
    """Index and code files, each behind a checksum; a damaged one counts as absent."""

    def _dump(self, content: Any) -> bytes:
        data = pickle.dumps(content, protocol=-1)
        return xxhash.xxh3_128_digest(data) + data

    def _read(self, path: str) -> Any:
        try:
            raw = Path(path).read_bytes()
        except OSError:
            return None
        digest, data = raw[:_DIGEST_BYTES], raw[_DIGEST_BYTES:]
        return pickle.loads(data) if xxhash.xxh3_128_digest(data) == digest else None

    def _load_index(self) -> dict[Any, str]:
        content = self._read(self._index_path)
        stamp = (self._version, self._source_stamp)
        return content[1] if content is not None and content[0] == stamp else {}

    def _save_index(self, overloads: Mapping[Any, str]) -> None:
        with self._open_for_write(self._index_path) as stream:
            stream.write(self._dump(((self._version, self._source_stamp), dict(overloads))))

    def _load_data(self, name: str) -> Any:
        content = self._read(self._data_path(name))
        if content is None:
            raise OSError("absent or damaged")  # numba takes it for absent
        return content
