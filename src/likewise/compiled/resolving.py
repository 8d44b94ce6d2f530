"""Which function is meant by what types of arguments: found out once for all parts of an entry.

numba asks every candidate anew, for each operator of each statement, while types are inferred and again when code is made. The answer depends on the types and on the options of the function that asks, so one
compilation keeps it; nothing outlives that.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import ConfigStack


@contextmanager
def resolving_once() -> Iterator[None]:
    """Answers are kept in here; nobody else compiles meanwhile."""
    with global_compiler_lock:
        asked = types.Function.get_call_type
        if "get_call_type" in vars(types.Function):  # something within is compiled while this is
            yield
            return
        found: dict[Any, tuple[Any, Any]] = {}
        numbers: dict[
            int, tuple[int, Any]
        ] = {}  # of options, which are the same object while one function is compiled
        options: list[Any] = []

        def number_of(flags: Any) -> int:
            if id(flags) not in numbers:
                values = None if flags is None else flags.values()
                if values not in options:
                    options.append(values)
                numbers[id(flags)] = options.index(values), flags
            return numbers[id(flags)][0]

        def get_call_type(self: Any, context: Any, args: Any, kws: Any) -> Any:
            if kws:
                return asked(self, context, args, kws)
            key = id(self), id(context), tuple(args), number_of(ConfigStack.top_or_none())
            if key not in found:
                found[key] = asked(self, context, args, kws), self
            return found[key][0]

        setattr(types.Function, "get_call_type", get_call_type)  # noqa: B010 - no class of ours
        try:
            yield
        finally:
            delattr(types.Function, "get_call_type")
