"""A compiler for functions that native code alone calls: they are linked into their callers.

numba optimizes each function together with all that it calls, then makes machine code of it. Of
functions that nobody calls from Python both are lost work, which grows with the depth of calls:
here the code is only handed on, and is optimized once, as a part of the functions at the top.
Custom pipelines and passes: https://numba.readthedocs.io, "Customizing the Compiler".
"""

from __future__ import annotations

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering


class _LinkedLibrary(JITCodeLibrary):
    """The code of a function, neither optimized as a whole nor turned into machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _Linking(NativeLowering):
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


class LinkingCompiler(CompilerBase):
    """numba's own pipeline, with another last step."""

    def define_pipelines(self) -> list[PassManager]:
        """Return the one pipeline."""
        passes = PassManager("linking")
        standard = DefaultPassBuilder.define_nopython_pipeline(self.state).passes
        for step, what in standard:
            passes.add_pass(_Linking if step is NativeLowering else step, what)
        passes.finalize()
        return [passes]
