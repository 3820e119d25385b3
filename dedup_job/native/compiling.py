"""numba's compiler, with other libraries and another lowering of indexes."""

from __future__ import annotations

from typing import Any

from llvmlite.binding import Linkage
from numba import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering
from numba.core.typing.templates import Signature


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


class _WholeLibrary(JITCodeLibrary):
    """The code of a function that is called from Python, with its own copy of all that it calls.

    numba leaves these copies open to other libraries. Nobody else calls them: so LLVM may pass them
    fewer arguments, and drop what it has put into their callers. They get names that no function of
    other libraries has, since LLVM's linker at run time takes a local function for any open one of
    its name. Functions that call one another in a circle are found by name and cannot be linked so.
    """

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            own = function.name.startswith("_ZN")  # others are numba's, which it knows by name
            if own and not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
                function.name = f"dedup.{function.name}"
        super()._optimize_final_module()


class _FromStart(Lower):
    """Lowering of indexes that count from an array's first item, but for written ones as [-1].

    numba adds the length to each index below 0, so every access tests for it. None here is below:
    without the test a text is read in 5 to 15 % less time. Bounds of slices count from either end.
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


class Compiler(CompilerBase):
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


class LinkingCompiler(Compiler):
    """The pipeline for functions that native code alone calls."""

    _lowering = _Linking
