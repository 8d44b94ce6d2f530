"""The part of a graph in front of a classical model: operators that make columns of columns, each of ONE feature, followed as the steps of a pipeline are (`transformers.traced_columns`).

What a column is, a line, a table or steps, follows from the operators; the numbers in tables are those that the graph's own operators compute (`column_programs`, `operators`). What looks at several features at
once is refused by the name of its operator and node.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.onnx.column_programs import CLASSICAL_ATTRIBUTES, categories, mapping, replaced_number
from likewise.importers.onnx.inputs import MappedColumn, feed
from likewise.importers.onnx.model_file import CLASSICAL, DTYPES, Graph, Node
from likewise.importers.onnx.operators import ATTRIBUTES, attribute, check_node, evaluate, fold_constants
from likewise.importers.transformers.encoders import ONE_HOT, ORDINAL, check_categories
from likewise.importers.transformers.traced_columns import (
    UNCHANGED,
    Action,
    Arithmetic,
    FillMissing,
    Operation,
    Step,
    TableFunction,
    TracedColumn,
    derive_column,
)
from likewise.importers.trees.library_forest import Forest
from likewise.spec.features import Categorical, Ordinal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]

SINGLE = np.dtype(np.float32)
MOST_COLUMNS = 100_000
FRONT = "the graph in front of the model"
FRONT_OPERATORS = {
    **{
        name: ATTRIBUTES[name]
        for name in ("Identity", "Cast", "Flatten", "Reshape", "Concat", "Gather", "Constant")
    },
    **{name: ATTRIBUTES[name] for name in ("Add", "Sub", "Mul", "Div", "Equal")},
    **CLASSICAL_ATTRIBUTES,
}
LEVEL = TableFunction(does="tells a level apart")
CUT = TableFunction(does="cuts numbers to whole ones")
REPLACED = TableFunction(does="puts a number in the place of another")
MIXING = {
    f"{CLASSICAL}.Normalizer": "divides a row by its own length, so that every column depends on all features",
    **dict.fromkeys(
        ("MatMul", "Gemm"), "adds columns up, so that what it gives depends on several features at once"
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ColumnTensor:
    """Columns in the shape of a row."""

    columns: tuple[TracedColumn, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    def choosing(self, places: NDArray[np.intp]) -> ColumnTensor:
        if places.size > MOST_COLUMNS:
            raise UnsupportedModel(f"makes {places.size:,} columns")
        return replace(
            self, columns=tuple(self.columns[i] for i in places.ravel().tolist()), shape=places.shape
        )

    @property
    def places(self) -> NDArray[np.intp]:
        return np.arange(len(self.columns), dtype=np.intp).reshape(self.shape)


class GraphColumns:
    """The columns that reach a model in a graph, with the verbs of a transformer."""

    def __init__(self, graph: Graph, mapped: Sequence[MappedColumn], width: int | None) -> None:
        self.graph, self.mapped, self.width = graph, tuple(mapped), width
        for node in graph.nodes:
            if node.operator in MIXING:
                node.refuse(f"{MIXING[node.operator]}, in front of a model that is read column by column")
            check_node(node, FRONT_OPERATORS)

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The matrix that reaches the model, in the precision of the file."""
        (made,) = evaluate(self.graph, feed(self.graph.inputs, self.mapped, X))
        return np.asarray(made.reshape(len(made), -1), dtype=np.float64)

    @property
    def output_type(self) -> np.dtype[Any]:
        """The type of the numbers that reach the model: that of what its operators make of no rows at all."""
        empty = {one.name: np.empty((0, *one.shape), dtype=one.dtype) for one in self.graph.inputs}
        (made,) = evaluate(self.graph, empty)
        return made.dtype

    def precise(self, X: Any) -> Tensor:
        """The same in its own type."""
        (made,) = evaluate(self.graph, feed(self.graph.inputs, self.mapped, X))
        return np.asarray(made.reshape(len(made), -1))

    def trace(self, columns: Sequence[TracedColumn], step: Step) -> tuple[TracedColumn, ...]:
        """What each of them is of the features."""
        by_name = {column.name: column for column in columns}
        values: dict[str, Any] = dict(self.graph.constants)
        start = 0
        for one in self.graph.inputs:
            mapped = self.mapped[start : start + one.width]
            start += one.width
            raw = [columns[m.feature] if isinstance(m.feature, int) else by_name[m.feature] for m in mapped]
            made = [_input_column(column, m, one.dtype, step) for column, m in zip(raw, mapped, strict=True)]
            values[one.name] = ColumnTensor(columns=tuple(made), shape=one.shape, dtype=one.dtype)
        for node in self.graph.nodes:
            values[node.output] = self._trace_node(
                node, [values[name] if name else None for name in node.inputs]
            )
        found = values[self.graph.output]
        if not isinstance(found, ColumnTensor):
            raise UnsupportedModel("the model in the graph reads constants alone")
        if self.width is not None and len(found.columns) != self.width:
            raise UnsupportedModel(
                f"the model in the graph takes {self.width} columns, and gets {len(found.columns)}"
            )
        return found.columns

    def _trace_node(self, node: Node, operands: Sequence[Any]) -> Any:
        if not any(isinstance(one, ColumnTensor) for one in operands):
            return fold_constants(node, operands, self.graph.version)
        step = Step(path=(node.name,), kind=node.operator)
        try:
            return TRACERS[node.operator](node, step, *operands)
        except (ValueError, IndexError, TypeError, KeyError, OverflowError) as error:
            node.refuse(f"does not fit what it is given: {' '.join(str(error).split())[:120]}")


def _input_column(
    column: TracedColumn, mapped: MappedColumn, dtype: np.dtype[Any], step: Step
) -> TracedColumn:
    if mapped.level is not None:
        return derive_column(column, LEVEL, step)
    levels = column.feature.levels if isinstance(column.feature, (Categorical, Ordinal)) else None
    text = dtype.kind == "O"
    strange = [one for one in levels or () if one is not None and isinstance(one, str) != text]
    if (text and levels is None) or strange:
        raise UnsupportedModel(
            f"the model takes {'text' if text else 'numbers'} for {column.name!r}, and the space has "
            f"{strange[0]!r} there"
            if strange
            else f"the model takes text for {column.name!r}, which is a number",
            hint=f"declare {column.name!r} as the model was fitted"
            if text
            else f"say in the claim file which columns tell its levels apart: {{ feature = {column.name!r}, levels = [...] }}",
        )
    if text and None in (levels or ()):
        raise UnsupportedModel(
            f"the model takes text for {column.name!r}, which may be missing",
            hint="leave missing values out of the space",
        )
    return column


# -- other shapes and types -------------------------------------------------------------------------------


def _identity(_: Node, __: Step, x: ColumnTensor) -> ColumnTensor:
    return x


def _cast(node: Node, step: Step, x: ColumnTensor) -> ColumnTensor:
    kind = DTYPES.get(node.attributes.get("to", 0))
    if kind is None or (x.dtype == object) or kind is np.bool_:
        node.refuse(
            "turns values into a type that is not read, or text into numbers",
            hint="float, double, int32 and int64 are",
        )
    dtype = np.dtype(kind)
    exact = dtype.kind == "f" or x.dtype.kind in "ib"
    return replace(_each(x, UNCHANGED if exact else CUT, step), dtype=dtype)


def _reshape(node: Node, _: Step, x: ColumnTensor, shape: Any) -> ColumnTensor:
    first, *rest = np.asarray(shape).tolist()
    size = len(x.columns)
    kept = [x.shape[i] if length == 0 else length for i, length in enumerate(rest)]
    if kept.count(-1) == 1 and first == 0:
        known = -math.prod(kept)
        kept = [size // known if length == -1 and known else length for length in kept]
    if (
        first not in (0, -1)
        or attribute(node, "allowzero")
        or min(kept, default=1) < 1
        or math.prod(kept) != size
    ):
        node.refuse(f"gives rows of the shape {x.shape} the shape {tuple(np.asarray(shape).tolist()[:8])}")
    return replace(x, shape=tuple(kept))


def _flatten(node: Node, _: Step, x: ColumnTensor) -> ColumnTensor:
    if attribute(node, "axis") != 1:
        node.refuse("looks across rows", hint="axis=1 is read")
    return replace(x, shape=(len(x.columns),))


def _concat(node: Node, _: Step, *parts: Any) -> ColumnTensor:
    if not all(isinstance(one, ColumnTensor) for one in parts) or len({one.dtype for one in parts}) > 1:
        node.refuse("joins constants, or different types, to columns")
    starts = np.cumsum([0, *(len(one.columns) for one in parts)]).tolist()
    grids = [one.places + start for one, start in zip(parts, starts, strict=False)]
    places = np.concatenate(grids, axis=_axis(node, node.attributes.get("axis", 0), len(parts[0].shape)))
    whole = replace(parts[0], columns=tuple(column for one in parts for column in one.columns))
    made: ColumnTensor = whole.choosing(places)
    return made


def _gather(node: Node, _: Step, x: ColumnTensor, places: Any) -> ColumnTensor:
    return x.choosing(
        np.take(x.places, _whole(node, places), axis=_axis(node, attribute(node, "axis"), len(x.shape)))
    )


def _extract(node: Node, _: Step, x: ColumnTensor, places: Any) -> ColumnTensor:
    return x.choosing(np.take(x.places, np.ravel(_whole(node, places)), axis=-1))


def _whole(node: Node, places: Any) -> Tensor:
    if isinstance(places, ColumnTensor) or places.dtype.kind != "i":
        node.refuse("chooses columns by something that depends on the inputs, or by no whole numbers")
    return np.asarray(places)


def _axis(node: Node, axis: int, axes: int) -> int:
    place = axis - 1 if axis > 0 else axis + axes
    if axis == 0 or not 0 <= place < axes:
        node.refuse(f"looks across rows, or along an axis that is not there (axis {axis})")
    return place


def _vectorize(node: Node, _: Step, *parts: Any) -> ColumnTensor:
    if not all(isinstance(one, ColumnTensor) for one in parts) or any(one.dtype == object for one in parts):
        node.refuse("joins constants, or text, to columns")
    columns = tuple(column for one in parts for column in one.columns)
    return ColumnTensor(columns=columns, shape=(len(columns),), dtype=SINGLE)


# -- arithmetic -------------------------------------------------------------------------------------------


def _arithmetic(node: Node, step: Step, a: Any, b: Any) -> ColumnTensor:
    x, constants = (a, b) if isinstance(a, ColumnTensor) else (b, a)
    if isinstance(constants, ColumnTensor):
        node.refuse(
            "calculates with two columns, so that what it gives depends on both",
            hint="columns of one feature each are read",
        )
    if x.dtype != constants.dtype or x.dtype.kind != "f" or not np.isfinite(constants).all():
        node.refuse("is not of finite floating-point numbers of one type")
    if node.operator == "Div" and (x is b or not constants.all()):
        node.refuse("divides by a column, or by zero")
    own = constants[0] if constants.ndim == len(x.shape) + 1 and len(constants) == 1 else constants
    if np.broadcast_shapes(own.shape, x.shape) != x.shape:
        node.refuse(f"has constants of the shape {constants.shape} for rows of {x.shape}")
    numbers = [Fraction(float(value)) for value in np.broadcast_to(own, x.shape).ravel().tolist()]
    actions = [_operations(node.operator, number, turned=x is b) for number in numbers]
    return _each_by(x, actions, step)


def _operations(operator: str, number: Fraction, *, turned: bool) -> Arithmetic:
    if operator == "Add":
        return Arithmetic((Operation("plus", number),))
    if operator == "Sub":
        minus = (Operation("times", Fraction(-1)), Operation("plus", number))
        return Arithmetic(minus if turned else (Operation("plus", -number),))
    return Arithmetic((Operation("times" if operator == "Mul" else "over", number),))


def _scale(node: Node, step: Step, x: ColumnTensor) -> ColumnTensor:
    offsets, scales = (
        _a_column(node, node.attributes.get(name, (default,)), x)
        for name, default in (("offset", 0.0), ("scale", 1.0))
    )
    actions = [
        Arithmetic((Operation("plus", -Fraction(m)), Operation("times", Fraction(s))))
        for m, s in zip(offsets, scales, strict=True)
    ]
    return replace(_each_by(_numbers(node, x), actions, step), dtype=SINGLE)


def _a_column(node: Node, given: Sequence[float], x: ColumnTensor) -> list[float]:
    """One number a column of the last axis, or one for all."""
    width = x.shape[-1] if x.shape else 1
    if len(given) not in (1, width) or not np.isfinite(given).all():
        node.refuse(f"has {len(given)} numbers for {width} columns, or one that is not finite")
    return [float(value) for value in np.broadcast_to(np.array(given), x.shape).ravel().tolist()]


def _numbers(node: Node, x: ColumnTensor) -> ColumnTensor:
    if x.dtype == object:
        node.refuse("takes numbers, and is given text")
    return x


# -- values one by one ------------------------------------------------------------------------------------


def _impute(node: Node, step: Step, x: ColumnTensor) -> ColumnTensor:
    replaced, values = replaced_number(_float_node(node, x))
    fills = _a_column(node, values, x)
    if np.isnan(replaced):
        return _each_by(x, [FillMissing(value) for value in fills], step)
    return _each(x, REPLACED, step)


def _float_node(node: Node, x: ColumnTensor) -> Node:
    if x.dtype.kind not in "fi" or (x.dtype.kind == "f") != ("imputed_value_floats" in node.attributes):
        node.refuse("puts numbers of another type in the place of those that it is given")
    return node


def _one_hot(node: Node, step: Step, x: ColumnTensor) -> ColumnTensor:
    known = categories(node)
    if not known or isinstance(known[0], str) != (x.dtype == object) or len(set(known)) < len(known):
        node.refuse("has categories of another type than the values that it is given, none, or one twice")
    _check_values(x, known, step, passes=bool(node.attributes.get("zeros", 1)))
    made = _each(x, ONE_HOT, step)
    repeated = np.repeat(x.places[..., None], len(known), axis=-1)
    return replace(made.choosing(repeated), dtype=SINGLE)


def _map_values(node: Node, step: Step, x: ColumnTensor) -> ColumnTensor:
    known, _, dtype = mapping(node)
    if any(isinstance(key, str) != (x.dtype == object) for key in known):
        node.refuse("knows values of another type than it is given")
    _check_values(x, tuple(known), step, passes=True)
    return replace(_each(x, ORDINAL, step), dtype=dtype)


def _check_values(x: ColumnTensor, known: Sequence[Any], step: Step, *, passes: bool) -> None:
    """Levels that an encoder passes over, or fails on, as those of pipelines."""
    fitted = np.array(known, dtype=object)
    described = SimpleNamespace(
        categories_=[fitted] * len(x.columns), handle_unknown="ignore" if passes else "error"
    )
    check_categories(described, x.columns, step)


def _binarize(node: Node, step: Step, x: ColumnTensor) -> ColumnTensor:
    """A double goes above a threshold in single precision where it is above the last one that does not."""
    threshold = np.array([np.float32(node.attributes.get("threshold", 0.0))], dtype=np.float64)
    tests = Forest(trees=(), bias=(), single=x.dtype == SINGLE, strict=False)
    first = float(np.nextafter(tests.limits(threshold)[0], np.inf))
    return _each(
        _numbers(node, x),
        TableFunction(does="tells numbers above a threshold apart", thresholds=(first,)),
        step,
    )


def _equal(node: Node, step: Step, a: Any, b: Any) -> ColumnTensor:
    x, constants = (a, b) if isinstance(a, ColumnTensor) else (b, a)
    if isinstance(constants, ColumnTensor) or x.dtype != constants.dtype:
        node.refuse("compares two columns, or values of different types")
    shape = np.broadcast_shapes(x.shape, constants.shape[-len(x.shape) :] if x.shape else ())
    made = _each(x, LEVEL, step).choosing(np.broadcast_to(x.places, shape))
    return replace(made, dtype=np.dtype(np.bool_))


def _each(x: ColumnTensor, action: Action, step: Step) -> ColumnTensor:
    return _each_by(x, [action] * len(x.columns), step)


def _each_by(x: ColumnTensor, actions: Sequence[Action], step: Step) -> ColumnTensor:
    pairs = zip(x.columns, actions, strict=True)
    return replace(x, columns=tuple(derive_column(column, action, step) for column, action in pairs))


CLASSICAL_TRACERS: dict[str, Callable[..., ColumnTensor]] = {
    "Scaler": _scale,
    "Imputer": _impute,
    "OneHotEncoder": _one_hot,
    "LabelEncoder": _map_values,
    "CategoryMapper": _map_values,
    "Binarizer": _binarize,
    "FeatureVectorizer": _vectorize,
    "ArrayFeatureExtractor": _extract,
}
TRACERS: dict[str, Callable[..., ColumnTensor]] = {
    "Identity": _identity,
    "Cast": _cast,
    "Reshape": _reshape,
    "Flatten": _flatten,
    "Concat": _concat,
    "Gather": _gather,
    **dict.fromkeys(("Add", "Sub", "Mul", "Div"), _arithmetic),
    "Equal": _equal,
    **{f"{CLASSICAL}.{name}": tracer for name, tracer in CLASSICAL_TRACERS.items()},
}
