"""The cache of native code on disk.

numba's own cache takes code for fresh while the file of a function is unchanged, although code
from other files is compiled into it, and it trusts what it reads. So here a cache entry is stamped
with all sources that are compiled, and carries a checksum; what does not fit is compiled anew.
An entry is a pickle, which runs as code where it is read: so a folder to which others can write
is not used.
"""

from __future__ import annotations

import functools
import os
import pickle
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import xxhash
from llvmlite.binding import parse_bitcode
from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
)
from numba.core.codegen import JITCodeLibrary
from platformdirs import user_cache_path

from dedup_job.files import is_private, make_private, open_regular, private_folder, replacing

_NATIVE = (
    "native/*.py",
    "judgment/*.py",
)
_DIGEST_BYTES = 16


@functools.cache
def folders_of(source: Path) -> tuple[Path | None, tuple[Path, ...]]:
    """Return where code of a source file is kept, and where there may be some that was made before.

    The first is None where there is no place of one's own; the others can only be read.
    """
    near = [source.parent / "__pycache__"]
    if chosen := cast("Any", config).CACHE_DIR:
        near.insert(0, Path(chosen, _CacheLocator.get_suitable_cache_subpath(source)))
    ready: list[Path] = []
    for folder in near:
        with suppress(OSError):
            make_private(folder)
        if is_private(folder):
            if os.access(folder, os.W_OK):
                return folder, tuple(ready)
            ready.append(folder)
    name = xxhash.xxh3_64_hexdigest(str(source.resolve().parent).encode())
    return private_folder(user_cache_path("dedup") / "native" / name), tuple(ready)


@functools.cache
def sources_digest() -> str:
    """Return a digest of all source files from which native code is made."""
    root = Path(__file__).parent.parent
    digest = xxhash.xxh3_128()
    for file in sorted(file for files in _NATIVE for file in root.glob(files)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def is_compiled() -> bool:
    """Tell whether this native code was compiled here before, as far as we know."""
    with suppress(OSError):  # a home that may not even be looked at
        return _compiled_mark().exists()
    return False


def mark_compiled() -> None:
    """Remember that the native code is compiled."""
    mark = _compiled_mark()
    with suppress(OSError):  # all it costs is a line on the screen
        if not mark.exists():
            make_private(mark.parent)
            with replacing(mark):
                pass


def _compiled_mark() -> Path:
    return user_cache_path("dedup") / f"compiled-{sources_digest()}"


class CheckedFile(IndexDataCacheFile):
    """A file for each signature, behind a checksum, with the sources it was made from.

    numba's own index of files is written before they are: another process would meanwhile load
    the code of former sources, or of another signature.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled for a signature, where there is room for it."""
        content = self._stamp() + pickle.dumps((key, data), protocol=-1)
        with suppress(OSError), replacing(self._file(key)) as stream:
            stream.write(xxhash.xxh3_128_digest(content) + content)

    def load(self, key: Any) -> Any:
        """Return what was compiled for a signature; None where it is absent, stale or damaged."""
        try:
            with open_regular(self._file(key)) as stream:
                raw = stream.read()
        except OSError:
            return None
        digest, content, stamp = raw[:_DIGEST_BYTES], raw[_DIGEST_BYTES:], self._stamp()
        if xxhash.xxh3_128_digest(content) != digest or not content.startswith(stamp):
            return None  # not even looked into: it may name modules that are no more
        of, data = pickle.loads(content[len(stamp) :])
        return data if of == key else None

    def flush(self) -> None:
        """Forget nothing: what is stale is overwritten."""

    def _stamp(self) -> bytes:
        return xxhash.xxh3_128_digest(f"{self._version}\0{self._source_stamp}".encode())

    def _file(self, key: Any) -> Path:
        base = self._index_name.removesuffix(".nbi")
        return Path(self._cache_path) / f"{base}.{xxhash.xxh3_64_hexdigest(repr(key).encode())}.nbc"


class _Locator(_CacheLocator):
    """What numba asks of a place; its own locators take none that can only be read."""

    def __init__(self, line: int) -> None:
        self._line = line

    @classmethod
    def from_function(cls, py_func: Any, _: str) -> _Locator:
        """Return the locator of a function."""
        return cls(py_func.__code__.co_firstlineno)

    def ensure_cache_path(self) -> None:
        """Do nothing: what cannot be written is not kept."""

    def get_cache_path(self) -> str:
        """Return no folder: `CodeCache` knows it."""
        return ""

    def get_source_stamp(self) -> str:
        """Return what changes with the sources."""
        return sources_digest()

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name apart."""
        return str(self._line)


class _StoredLibrary(JITCodeLibrary):
    """The machine code of a function, read from disk.

    LLVM's own form of it is stored as well, for others that link it. It is parsed when one does,
    which is where others are compiled: parsed it takes more time and memory than all else.
    """

    def __init__(self, codegen: Any, state: Any) -> None:
        """Take what numba's `serialize_using_object_code` stored."""
        name, _, (machine_code, self._bitcode) = state
        super().__init__(codegen, name)
        self.enable_object_caching()
        self._set_compiled_object(machine_code)
        self._finalize_final_module()

    def _get_module_for_linking(self) -> Any:
        if self._shared_module is None:
            self._shared_module = parse_bitcode(self._bitcode)
        return self._shared_module

    def get_pointer_to_function(self, name: str) -> int:
        """Return where a function begins."""
        return int(self._codegen._engine.get_function_address(name))


class _Implementation(CompileResultCacheImpl):
    _locator_classes: Any = [_Locator]  # noqa: RUF012  # numba has a list there

    def rebuild(self, target_context: Any, payload: Any) -> Any:
        """Return a function that was stored; the compiler's lock is held."""
        codegen = target_context.codegen()
        codegen.unserialize_library = functools.partial(_StoredLibrary, codegen)
        try:
            return super().rebuild(target_context, payload)
        finally:
            del codegen.unserialize_library


class CodeCache(FunctionCache):
    """The cache of a function: code made before, and a folder of the user's own."""

    _impl_class = _Implementation

    def __init__(self, function: Any, own: Path | None, ready: tuple[Path, ...]) -> None:
        super().__init__(function)
        files = [
            CheckedFile(str(folder), self._impl.filename_base, sources_digest())
            for folder in (*ready, *filter(None, [own]))
        ]
        self._cache_file = files[-1]
        self._ready, self._own = files, files[-1] if own else None

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        key = self._index_key(sig, target_context.codegen())
        found = (file.load(key) for file in self._ready)
        data = next((data for data in found if data is not None), None)
        return None if data is None else self._impl.rebuild(target_context, data)

    def _save_overload(self, sig: Any, data: Any) -> None:
        if self._own is not None and self._impl.check_cachable(data):
            self._own.save(self._index_key(sig, data.codegen), self._impl.reduce(data))
