"""What numba does besides while an entry is compiled, left out: none of it goes into the machine code.

- Its own functions (`np.zeros`, `max`, ...) are written in Python too, and made machine code of each by itself: they are parts, as ours are.
- Registries of functions are gone through before every function: that is done where something was registered since.
- Which variables live where a block begins is found out after every pass, for generators and Python objects: ours are neither.
- Nested functions are looked for: where there are none, the variables need not be brought into order for that.
- Nobody hears of locks.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from types import FunctionType
from typing import Any

from numba.core import event, imputils, ir, postproc, transforms
from numba.core.base import BaseContext
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.targetconfig import ConfigStack
from numba.core.typing import templates
from numba.core.typing.context import BaseContext as TypingContext
from numba.core.typing.templates import _OverloadFunctionTemplate
from numba.core.untyped_passes import InlineClosureLikes

LOCKS = ("numba:compiler_lock", "numba:llvm_lock")
NO_WRAPPERS = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # Python never calls a part

_PARTS: dict[Any, tuple[Any, Any]] = {}  # of functions of numba's, by their templates, types and options
_OPTIONS: list[dict[str, Any]] = []


@contextmanager
def taking_shortcuts(compiler: Any) -> Iterator[None]:
    """Meanwhile numba's own functions are compiled by the compiler of parts. To be used by whoever has the compiler's lock."""
    if postproc.PostProcessor.run is _run_briefly:  # something within is compiled while this is
        yield
        return
    with ExitStack() as stack:
        for owner, name, value in (
            (postproc.PostProcessor, "run", _run_briefly),
            (BaseContext, "refresh", _refreshing(BaseContext.refresh)),
            (TypingContext, "refresh", _refreshing(TypingContext.refresh)),
            (_OverloadFunctionTemplate, "_get_impl", _making_parts(compiler)),
            (event, "start_event", _unless_of_locks(event.start_event)),
            (event, "end_event", _unless_of_locks(event.end_event)),
        ):
            stack.callback(setattr, owner, name, getattr(owner, name))
            setattr(owner, name, value)
        yield


def _unless_of_locks(tell: Callable[..., None]) -> Callable[..., None]:
    def briefly(kind: str, *details: Any, **more: Any) -> None:
        if kind not in LOCKS:
            tell(kind, *details, **more)

    return briefly


def _refreshing(refresh: Callable[[Any], None]) -> Callable[[Any], None]:
    known: dict[int, tuple[int, ...]] = {}  # by context

    def refresh_if_registered(self: Any) -> None:
        if known.get(id(self)) != _registered():
            refresh(self)
            known[id(self)] = _registered()

    return refresh_if_registered


def _registered() -> tuple[int, ...]:
    """How many modules there are, which register functions as they are imported, and functions that others may have registered."""
    typed, lowered = templates.builtin_registry, imputils.builtin_registry
    found = (typed.functions, typed.attributes, typed.globals, lowered.functions, lowered.getattrs)
    return len(sys.modules), *map(len, found)


def _run_briefly(self: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
    """`PostProcessor.run` of functions that are no generators, in which nothing is a Python object."""
    function = self.func_ir
    if function.is_generator:
        _RUN(self, emit_dels, extend_lifetimes)
        return
    function.blocks = transforms.canonicalize_cfg(function.blocks)
    function.variable_lifetime = postproc.VariableLifetime(function.blocks)
    function.generator_info = None
    if emit_dels:
        self._insert_var_dels(extend_lifetimes=extend_lifetimes)


_RUN = postproc.PostProcessor.run


def _making_parts(compiler: Any) -> Callable[..., Any]:
    usual = _OverloadFunctionTemplate._get_impl

    def get_impl(self: Any, args: Any, kws: Any) -> tuple[Any, Any]:
        if not self._inline.is_never_inline:
            found: tuple[Any, Any] = usual(self, args, kws)
            return found
        key = (type(self), self.context, tuple(args), tuple(kws.items()), _options())
        if key not in _PARTS:
            self._get_jit_decorator = lambda: _deciding(type(self)._get_jit_decorator(self), compiler)
            try:
                _PARTS[key] = self._build_impl(None, args, kws)
            finally:
                del self._get_jit_decorator
        return _PARTS[key]

    return get_impl


def _deciding(jitter: Any, compiler: Any) -> Callable[..., Callable[[FunctionType], Any]]:
    """numba's decorator, which makes a part."""

    def decorator(**options: Any) -> Callable[[FunctionType], Any]:
        def decorate(function: FunctionType) -> Any:
            made = jitter(**options)(function)
            if type(made) is not CPUDispatcher:
                return made
            return CPUDispatcher(function, made.locals, {**made.targetoptions, **NO_WRAPPERS}, compiler)

        return decorate

    return decorator


def _options() -> int:
    """A number for those of the function that asks, but for whether Python calls it."""
    flags = ConfigStack.top_or_none()
    values = {} if flags is None else flags.values()
    values = {name: value for name, value in values.items() if name not in NO_WRAPPERS}
    if values not in _OPTIONS:
        _OPTIONS.append(values)
    return _OPTIONS.index(values)


@register_pass(mutates_CFG=True, analysis_only=False)
class LeanInlining(InlineClosureLikes):
    """numba's pass, where there is anything to be inlined."""

    _name = "likewise_lean_inlining"

    def run_pass(self, state: Any) -> bool:
        if state.func_id.modname.startswith("likewise.") and not _has_closures(state.func_ir):
            return False
        return bool(super().run_pass(state))


def _has_closures(function: Any) -> bool:
    return any(
        isinstance(inst.value, ir.Expr) and inst.value.op in ("make_function", "build_list")
        for block in function.blocks.values()
        for inst in block.find_insts(ir.Assign)
    )
