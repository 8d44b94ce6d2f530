"""Operators that choose elements, give them another shape or type, and tell levels of inputs apart: nothing is computed by them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from likewise.families.network.dyadic import Dyadic
from likewise.importers.onnx.computed import MOST_ELEMENTS, Computed, join, negated
from likewise.importers.onnx.model_file import DTYPES, Node
from likewise.importers.onnx.operands import check_floats, repeated, without_rows
from likewise.importers.onnx.operators import attribute

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]
    Operand = Computed | Tensor

WHOLE = np.dtype(np.int64)
MOST_CASTS = 8  # of a column, one after the other
MOST_PARTS = 64  # of layers that are joined


# -- shapes and types -------------------------------------------------------------------------------------


def _cast(node: Node, x: Computed) -> Computed:
    kind = DTYPES.get(node.attributes.get("to", 0))
    if kind is None:
        node.refuse(
            "turns numbers into a type that is not read", hint="float, double, int32, int64 and bool are"
        )
    dtype = np.dtype(kind)
    if dtype == x.dtype:
        return x
    if not x.layers:
        if dtype.kind == "b" and x.dtype.kind != "b":
            node.refuse("turns numbers into truth values", hint="use Equal")
        if max(len(one.casts) for one in x.columns) >= MOST_CASTS:
            node.refuse(f"turns an input into another type more than {MOST_CASTS} times")
        columns = tuple(
            one if one.among is not None else replace(one, casts=(*one.casts, dtype.name))
            for one in x.columns
        )
        return replace(x, columns=columns, dtype=dtype)
    if dtype.kind != "f":
        node.refuse("turns what layers make into whole numbers: that is no layer")
    return replace(x, dtype=dtype)


def _flatten(node: Node, x: Computed) -> Computed:
    if attribute(node, "axis") != 1:
        node.refuse("looks across rows", hint="axis=1 is read")
    return replace(x, shape=(x.size,))


def _reshape(node: Node, x: Any, shape: Any) -> Computed:
    if (
        isinstance(shape, Computed)
        or not isinstance(x, Computed)
        or shape.ndim != 1
        or shape.dtype.kind != "i"
    ):
        node.refuse("has a shape that is no constant")
    first, *rest = shape.tolist() or [0]
    kept = [x.shape[i] if length == 0 else length for i, length in enumerate(rest)]
    if kept.count(-1) == 1 and first == 0:
        known = -math.prod(kept)
        kept = [x.size // known if length == -1 and known else length for length in kept]
    if (
        first not in (0, -1)
        or attribute(node, "allowzero")
        or min(kept, default=1) < 1
        or math.prod(kept) != x.size
    ):
        node.refuse(
            f"gives rows of the shape {x.shape} the shape {tuple(shape.tolist()[:8])}",
            hint="the number of rows must be left open: export the model with a dynamic batch size",
        )
    return replace(x, shape=tuple(kept))


def _concat(node: Node, *parts: Operand) -> Computed:
    found = [one for one in parts if isinstance(one, Computed)]
    if len(found) < len(parts) or len({one.dtype for one in found}) > 1:
        node.refuse("joins constants, or different types, to what depends on the inputs")
    if len(found) > MOST_PARTS and any(one.layers for one in found):
        node.refuse(f"joins {len(found):,} tensors; at most {MOST_PARTS} that are no inputs are")
    axis = _axis(node, node.attributes.get("axis", 0), len(found[0].shape))
    starts = np.cumsum([0, *(one.size for one in found)]).tolist()
    grids = [
        np.arange(one.size).reshape(one.shape) + start for one, start in zip(found, starts, strict=False)
    ]
    places = np.concatenate(grids, axis=axis)
    if not any(one.layers for one in found):
        columns = tuple(column for one in found for column in one.columns)
        whole = replace(found[0], columns=columns, shape=(len(columns),))
    else:
        whole = found[0]
        for other in found[1:]:
            whole = join(whole, other)
    return replace(whole, shape=(whole.size,)).taking(places, places.shape)


def _gather(node: Node, x: Any, places: Any) -> Computed:
    if not isinstance(x, Computed) or isinstance(places, Computed) or places.dtype.kind != "i":
        node.refuse("chooses by something that depends on the inputs, or by no whole numbers")
    axis = _axis(node, attribute(node, "axis"), len(x.shape))
    if x.size * max(places.size, 1) > 100 * MOST_ELEMENTS:
        node.refuse(f"chooses {places.size:,} times")
    chosen = np.take(np.arange(x.size).reshape(x.shape), places, axis=axis)
    return x.taking(chosen, chosen.shape)


def _axis(node: Node, axis: int, axes: int) -> int:
    """An axis of a row, counted without that of the rows."""
    place = axis - 1 if axis > 0 else axis + axes
    if axis == 0 or not 0 <= place < axes:
        node.refuse(f"looks across rows, or along an axis that is not there (axis {axis})")
    return place


def _identity(node: Node, x: Computed) -> Computed:  # noqa: ARG001
    return x


def _constant(node: Node) -> NoReturn:
    node.refuse("reads inputs")


# -- levels -----------------------------------------------------------------------------------------------


def _equal(node: Node, a: Operand, b: Operand) -> Computed:
    x, constants = (a, b) if isinstance(a, Computed) else (b, a)
    if not isinstance(x, Computed) or isinstance(constants, Computed):
        node.refuse("compares two tensors that both depend on the inputs")
    if x.dtype != constants.dtype or not np.isfinite(constants).all():
        node.refuse("compares numbers of different types, or with no number")
    own = without_rows(node, constants, x.shape)
    shape = np.broadcast_shapes(x.shape, own.shape)
    x = repeated(node, x, shape)
    numbers = [frozenset({Fraction(value)}) for value in np.broadcast_to(own, shape).ravel().tolist()]
    return _marked(node, x, numbers, shape, np.dtype(np.bool_))


def _one_hot(node: Node, x: Any, depth: Any, values: Any) -> Computed:
    if not isinstance(x, Computed) or isinstance(depth, Computed) or isinstance(values, Computed):
        node.refuse("has a depth or values that are no constants")
    count = int(depth.item())
    if (
        attribute(node, "axis") not in (-1, len(x.shape) + 1)
        or not 0 < count * x.size <= MOST_ELEMENTS
        or values.shape != (2,)
    ):
        node.refuse(f"has the depth {count}, or an axis that is not the last")
    shape = (*x.shape, count)
    if x.dtype.kind == "f":
        x = replace(
            x, columns=tuple(replace(one, casts=(*one.casts, WHOLE.name)) for one in x.columns), dtype=WHOLE
        )
    x = x.taking(np.repeat(np.arange(x.size), count), shape)
    steps = [frozenset({Fraction(j), Fraction(j - count)}) for j in range(count)] * (x.size // count)
    marks = _marked(node, x, steps, shape, values.dtype)
    off, on = values
    return marks if (off, on) == (0, 1) else _chosen(node, marks, on, off)


def _marked(
    node: Node,
    x: Computed,
    numbers: Sequence[frozenset[Fraction]],
    shape: tuple[int, ...],
    dtype: np.dtype[Any],
) -> Computed:
    """1 where a column is one of its numbers."""
    if x.layers or any(one.among is not None for one in x.columns):
        node.refuse("compares something that is no column of the inputs: that is no layer")
    pairs = zip(x.columns, numbers, strict=True)
    columns = tuple(replace(column, among=among) for column, among in pairs)
    return Computed(columns=columns, shape=shape, dtype=dtype)


def _where(node: Node, truth: Operand, a: Operand, b: Operand) -> Computed:
    if (
        not isinstance(truth, Computed)
        or truth.dtype.kind != "b"
        or truth.layers
        or isinstance(a, Computed)
        or isinstance(b, Computed)
    ):
        node.refuse("chooses otherwise than between constants, by what Equal says of inputs")
    a, b = (without_rows(node, one, truth.shape) for one in (a, b))
    shape = np.broadcast_shapes(truth.shape, a.shape, b.shape)
    return _chosen(node, repeated(node, truth, shape), np.broadcast_to(a, shape), np.broadcast_to(b, shape))


def _chosen(node: Node, truth: Computed, on: Any, off: Any) -> Computed:
    """The one constant where a mark is 1, the other where it is 0."""
    on, off = np.asarray(on), np.asarray(off)
    check_floats(node, on.dtype, on, off)
    each = [Dyadic.of(np.broadcast_to(one, truth.shape).ravel()) for one in (on, off)]
    return replace(truth, dtype=on.dtype).scaled(each[0].plus(negated(each[1])), each[1])


COLUMNS: dict[str, Callable[..., Computed]] = {
    "Constant": _constant,
    "Identity": _identity,
    "Cast": _cast,
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Concat": _concat,
    "Gather": _gather,
    "Equal": _equal,
    "Where": _where,
    "OneHot": _one_hot,
}
