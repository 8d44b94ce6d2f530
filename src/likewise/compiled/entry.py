"""Entries and parts: a compiled function as Python calls it, and as other compiled functions do.

An *entry* is called from Python; it is optimised, made machine code and kept on disk. A *part* is called from compiled code: the entry that needs it takes it in as it is, and it
is optimised there. numba by itself makes an entry of every function, at every level of calls, of everything that it calls, and throws most of that away: that takes several times as long.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from numba.core import codegen, compiler
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering
from numba.core.untyped_passes import InlineClosureLikes

from likewise.compiled.beside import compile_beside
from likewise.compiled.kept import Kept
from likewise.compiled.lowering import LeanLowering
from likewise.compiled.resolving import resolving_once
from likewise.compiled.shortcuts import NO_WRAPPERS, LeanInlining, taking_shortcuts

P = ParamSpec("P")
R = TypeVar("R")
WRAPPER = "wrapper"  # numba's name of the module that takes Python's objects apart
LEAN_PASSES = {NativeLowering: LeanLowering, InlineClosureLikes: LeanInlining}


@overload
def compiled(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def compiled(**options: Any) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def compiled(function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
    """Compile a function when it is first called; `options` are numba's. It runs without Python's lock, which threads need that hand work to other processes and take it back."""

    def decorate(function: Callable[..., Any]) -> Entry:
        return Entry(function, {}, {"nopython": True, "nogil": True, **options})

    return decorate if function is None else decorate(function)


class Entry(CPUDispatcher):
    """A function as Python calls it. Compiled code that names it gets its `part`."""

    def __init__(self, function: Callable[..., Any], locals: Any, targetoptions: dict[str, Any]) -> None:
        super().__init__(function, locals, {"no_cfunc_wrapper": True, **targetoptions}, _EntryCompiler)
        self.part = CPUDispatcher(function, locals, {**targetoptions, **NO_WRAPPERS}, _PartCompiler)
        self._cache = self.kept = Kept(self)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        return self.part.get_call_template(args, kws)

    def get_overload(self, sig: Any) -> Any:
        return self.part.get_overload(sig)

    def compile(self, sig: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():
            return self._compile(sig)
        return compile_beside(lambda: self._compile(sig), self.kept.expected_seconds)

    def _compile(self, sig: Any) -> Any:
        with resolving_once(), taking_shortcuts(_PartCompiler):
            return super().compile(sig)


class _EntryLibrary(codegen.JITCodeLibrary):
    """Code that Python calls. What takes Python's objects apart for it runs once a call: it is optimised with all the rest only, not by itself before that."""

    def _optimize_functions(self, module: Any) -> None:
        if module.name == WRAPPER:
            module.data_layout = self._codegen._data_layout
        else:
            super()._optimize_functions(module)


class _EntryCompiler(compiler.Compiler):
    """numba's compiler, with a few passes of its own."""

    library: type[codegen.JITCodeLibrary] = _EntryLibrary

    def define_pipelines(self) -> Any:
        if self.state.library is None:
            library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
            library.enable_object_caching()
            self.state.library = library
        managers = super().define_pipelines()
        for manager in managers:
            manager.passes = [(LEAN_PASSES.get(each, each), words) for each, words in manager.passes]
        return managers


class _PartLibrary(codegen.JITCodeLibrary):
    """Code that is only ever taken in by other code: neither optimised by itself nor made machine code."""

    @property
    def codegen(self) -> Any:
        return _PartGenerator(self._codegen)

    def _optimize_functions(self, module: Any) -> None:
        """Those that are in the module: numba also goes through all that are named in it."""
        module.data_layout = self._codegen._data_layout
        for function in module.functions:
            if not function.is_declaration:
                manager, builder = self._codegen._function_pass_manager()
                manager.run(function, builder)

    def _optimize_final_module(self) -> None:
        """Done where it is taken in."""

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True


class _PartCompiler(_EntryCompiler):
    """The same, into the library of a part."""

    library = _PartLibrary


class _PartGenerator:
    """The code generator of a part, whose environment is set where it is taken in (`Kept`)."""

    def __init__(self, generator: Any) -> None:
        self._generator = generator

    def __getattr__(self, name: str) -> Any:
        return getattr(self._generator, name)

    def set_env(self, name: str, environment: Any) -> None:
        """There is no machine code to tell."""
