"""Native code from Python source: numba, cached on disk where there is a place for it.

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
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import xxhash
from llvmlite.binding import Linkage, parse_bitcode
from numba import njit, types
from numba.core import config
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    _CacheLocator,
)
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import Signature
from numba.extending import intrinsic
from platformdirs import user_cache_path

from dedup_job.files import is_private, open_regular, private_folder
from dedup_job.native.unlocked import Unlocked

F = TypeVar("F", bound=Callable[..., Any])
_NATIVE = (
    "native/*.py",
    "cleaning/*.py",
    "fingerprint/*.py",
    "index/*.py",
    "decision/*.py",
    "judgment/*.py",
    "mongo/bson/scan.py",
)
_DIGEST_BYTES = 16


class _LinkedLibrary(JITCodeLibrary):
    """The code of a function, neither optimized as a whole nor turned into machine code.

    numba optimizes each function together with all that it calls, then makes machine code of it.
    Of functions that nobody calls from Python both are lost work, which grows with the depth of
    calls: here the code is only handed on, and is optimized once, in the functions at the top.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _FromStart(Lower):
    """Lowering of indexes that count from an array's first item, but for written ones as [-1].

    numba adds the length to each index below 0, so every access tests for it. None here is below:
    without the test a text is read in 5 to 15 % less time.
    """

    def lower_getitem(self, resty: Any, expr: Any, value: Any, index: Any, signature: Any) -> Any:
        """Lower array[index]."""
        signature = _from_start(signature, self.typeof(index.name))
        return super().lower_getitem(resty, expr, value, index, signature)

    def lower_setitem(self, target_var: Any, index_var: Any, value_var: Any, signature: Any) -> Any:
        """Lower array[index] = value."""
        signature = _from_start(signature, self.typeof(index_var.name))
        return super().lower_setitem(target_var, index_var, value_var, signature)


def _from_start(signature: Any, index: Any) -> Any:
    """Return a signature of which the index is unsigned, where it is of whole numbers."""
    array, wanted, *rest = signature.args
    written = (getattr(part, "literal_value", None) for part in getattr(index, "types", [index]))
    if not isinstance(array, types.Array) or any(isinstance(n, int) and n < 0 for n in written):
        return signature
    parts = [_unsigned(part) for part in getattr(wanted, "types", [wanted])]
    many = isinstance(wanted, types.BaseTuple)
    unsigned = types.BaseTuple.from_types(parts) if many else parts[0]
    return Signature(signature.return_type, (array, unsigned, *rest), signature.recvr)


def _unsigned(of: Any) -> Any:
    return types.uint64 if types.unliteral(of) in types.signed_domain else of


class _WholeLibrary(JITCodeLibrary):
    """The code of a function that is called from Python, with its own copy of all that it calls.

    numba leaves these copies open to other libraries. Nobody else calls them: so LLVM may pass them
    fewer arguments, and drop what it has put into their callers. They get names of their own, since
    LLVM's linker at run time takes a local function for any other one of its name.
    """

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            own = function.name.startswith("_ZN")  # others are numba's, which it knows by name
            if own and not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
                function.name = f"dedup.{function.name}"
        super()._optimize_final_module()


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


@register_pass(mutates_CFG=True, analysis_only=False)
class _Lowering(NativeLowering):
    """numba's own, with those indexes, into such a library."""

    _name = "dedup_lowering"

    @property
    def lowering_class(self) -> type[Lower]:
        """Return what lowers a function."""
        return _FromStart

    def run_pass(self, state: Any) -> bool:
        if state.library is None:
            state.library = _WholeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
        return bool(super().run_pass(state))


@register_pass(mutates_CFG=True, analysis_only=False)
class _Linking(_Lowering):
    """Lower a function to LLVM's language; enter it for callers that link it."""

    _name = "dedup_linking"

    def run_pass(self, state: Any) -> bool:
        context = state.targetctx
        state.library = _LinkedLibrary(context.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        no_entry: dict[Any, Any] = {}  # numba demands a builtin: this one raises in Python
        state["cr"] = result = state["cr"]._replace(cfunc=no_entry.__getitem__)
        state.library.finalize()
        context.insert_user_function(result.cfunc, result.fndesc, [state.library])
        state.reload_init.extend(state.library._reload_init)
        return True


class _Compiler(CompilerBase):
    """numba's own pipeline, with another step in place of its lowering.

    Custom pipelines and passes: https://numba.readthedocs.io, "Customizing the Compiler".
    """

    _lowering: type[NativeLowering] = _Lowering

    def define_pipelines(self) -> list[PassManager]:
        """Return the one pipeline."""
        passes = PassManager("dedup")
        standard = DefaultPassBuilder.define_nopython_pipeline(self.state).passes
        for step, what in standard:
            passes.add_pass(self._lowering if step is NativeLowering else step, what)
        passes.finalize()
        return [passes]


class _LinkingCompiler(_Compiler):
    _lowering = _Linking


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
    compiled = njit(nogil=True, pipeline_class=_LinkingCompiler, **options)(function)
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
    dispatcher = _widening(njit(nogil=True, pipeline_class=_Compiler, **options)(function))
    folders = _folders_of(Path(function.__code__.co_filename))
    if any(folders):
        dispatcher._cache = _Cache(function, *folders)  # numba has no other way in
    return cast("F", Unlocked(dispatcher))


@functools.cache
def _folders_of(source: Path) -> tuple[Path | None, tuple[Path, ...]]:
    """Return where code of a source file is kept, and where there may be some that was made before.

    The first is None where there is no place of one's own; the others can only be read.
    """
    near = [source.parent / "__pycache__"]
    if chosen := cast("Any", config).CACHE_DIR:
        near.insert(0, Path(chosen, _CacheLocator.get_suitable_cache_subpath(source)))
    ready: list[Path] = []
    for folder in near:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
        if is_private(folder):
            if os.access(folder, os.W_OK):
                return folder, tuple(ready)
            ready.append(folder)
    name = xxhash.xxh3_64_hexdigest(str(source.resolve().parent).encode())
    return private_folder(user_cache_path("dedup") / "native" / name), tuple(ready)


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
    root = Path(__file__).parent.parent
    digest = xxhash.xxh3_128()
    for file in sorted(file for files in _NATIVE for file in root.glob(files)):
        digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


class _CheckedFile(IndexDataCacheFile):
    """A file for each signature, behind a checksum, with the sources it was made from.

    numba's own index of files is written before they are: another process would meanwhile load
    the code of former sources, or of another signature.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep what was compiled for a signature, where there is room for it."""
        content = self._stamp() + pickle.dumps((key, data), protocol=-1)
        with suppress(OSError), self._open_for_write(str(self._file(key))) as stream:
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
        """Return no folder: `_Cache` knows it."""
        return ""

    def get_source_stamp(self) -> str:
        """Return what changes with the sources."""
        return sources_digest()

    def get_disambiguator(self) -> str:
        """Return what tells functions of one name apart."""
        return str(self._line)


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


class _Cache(FunctionCache):
    """The cache of a function: code made before, and a folder of the user's own."""

    _impl_class = _Implementation

    def __init__(self, function: Any, own: Path | None, ready: tuple[Path, ...]) -> None:
        super().__init__(function)
        files = [
            _CheckedFile(str(folder), self._impl.filename_base, sources_digest())
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
