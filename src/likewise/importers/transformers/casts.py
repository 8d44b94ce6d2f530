"""Casts: functions that change nothing but the type of numbers, as FunctionTransformer calls them.

    numpy.float32, numpy.float64                       the type itself
    numpy.asarray, numpy.array and the like            with dtype= among kw_args
    numpy.ndarray.astype, pandas.DataFrame.astype      the same
    functools.partial of these

In real numbers a cast is the identity. That to single precision is a rounding (`traced_columns`), of levels and small whole numbers it is exact. One to double precision leaves what was rounded as it is. Casts to fewer
digits, or to whole numbers, are not taken. A function that someone wrote may do anything, so that it is not read, whatever it does.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from likewise.importers.transformers.traced_columns import CAST, UNCHANGED, Arithmetic, Line, Step

ARRAY_MAKERS = (
    np.asarray,
    np.array,
    np.asanyarray,
    np.ascontiguousarray,
    np.asfortranarray,
    np.ndarray.astype,
)
HARMLESS_ARGUMENTS = frozenset(("dtype", "copy", "order"))
ACTIONS: dict[np.dtype[Any], Arithmetic] = {np.dtype(np.float32): CAST, np.dtype(np.float64): UNCHANGED}


def find_cast(transformer: Any, step: Step) -> Arithmetic | None:
    """What a FunctionTransformer does that casts; None where it does something else."""
    func: Any = transformer.func
    arguments = dict(transformer.kw_args or {})
    while isinstance(func, functools.partial) and not func.args:
        func, arguments = func.func, {**func.keywords, **arguments}
    if isinstance(func, type) and issubclass(func, np.generic) and not arguments:
        return _action_of(func, step)
    if not _makes_arrays(func) or not arguments.keys() <= HARMLESS_ARGUMENTS:
        return None
    return UNCHANGED if arguments.get("dtype") is None else _action_of(arguments["dtype"], step)


def _makes_arrays(func: Any) -> bool:
    frames = getattr(sys.modules.get("pandas"), "DataFrame", None)
    return any(func is known for known in ARRAY_MAKERS) or (frames is not None and func is frames.astype)


def _action_of(dtype: Any, step: Step) -> Arithmetic:
    try:
        action = None if isinstance(dtype, Mapping) else ACTIONS.get(np.dtype(dtype))
    except TypeError:
        action = None
    if action is None:
        step.refuse(
            f"casts numbers to {getattr(dtype, '__name__', dtype)}",
            hint="casts to float32 and float64 are taken",
        )
    return action


def single_line(line: Line) -> Line:
    """How a line is rounded by a program that takes the number in single precision: the number itself first, and then each operation."""
    return CAST.on(Arithmetic(line.operations).on(Line().cast()))
