"""The operators that are read, as NumPy computes them in the precision of the file: who answers where ONNX Runtime is not installed, and who folds constants.

It shares nothing with the layers that are read off the same graph (`reading`), which are compared with it. Constants are folded with operators of one rounding an element, or none, alone:
of those every program makes the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.importers.onnx.column_programs import COLUMN_PROGRAMS
from likewise.importers.onnx.model_file import DTYPES, MOST_NUMBERS, Graph, Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]
    Operands = Sequence[Tensor | None]

ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "Constant": ("value", "value_float", "value_floats", "value_int", "value_ints"),
    "Identity": (),
    "Cast": ("to", "saturate", "round_mode"),
    "Add": (),
    "Sub": (),
    "Mul": (),
    "Div": (),
    "MatMul": (),
    "Gemm": ("alpha", "beta", "transA", "transB"),
    "BatchNormalization": ("epsilon", "momentum", "training_mode"),
    "Relu": (),
    "LeakyRelu": ("alpha",),
    "Elu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "Clip": ("min", "max"),
    "Sigmoid": (),
    "Tanh": (),
    "Softmax": ("axis",),
    "Flatten": ("axis",),
    "Reshape": ("allowzero",),
    "Concat": ("axis",),
    "Gather": ("axis",),
    "Equal": (),
    "Where": (),
    "OneHot": ("axis",),
}
FLOATS = ("alpha", "beta", "epsilon", "momentum", "min", "max", "value_float")
WHOLES = ("axis", "to", "saturate", "transA", "transB", "training_mode", "allowzero", "value_int")
OPERANDS: dict[str, tuple[int, int]] = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "MatMul", "Reshape", "Gather", "Equal"), (2, 2)),
    "Constant": (0, 0),
    "Gemm": (2, 3),
    "BatchNormalization": (5, 5),
    "Clip": (1, 3),
    "Where": (3, 3),
    "OneHot": (3, 3),
    "Concat": (1, 10_000),
    "ai.onnx.ml.FeatureVectorizer": (1, 10_000),
    "ai.onnx.ml.ArrayFeatureExtractor": (2, 2),
}  # how many, at least and at most; of all others one
OPTIONAL = ("Gemm", "Clip")  # operators whose later operands may be left out
FOLDED = ("Identity", "Cast", "Add", "Sub", "Mul", "Div", "Flatten", "Reshape", "Concat", "Gather")
DEFAULTS: dict[str, dict[str, Any]] = {
    "Gemm": {"alpha": 1.0, "beta": 1.0, "transA": 0, "transB": 0},
    "BatchNormalization": {"epsilon": float(np.float32(1e-5)), "training_mode": 0},
    "LeakyRelu": {"alpha": float(np.float32(0.01))},
    "Elu": {"alpha": 1.0},
    "HardSigmoid": {"alpha": float(np.float32(0.2)), "beta": 0.5},
    "Flatten": {"axis": 1},
    "Reshape": {"allowzero": 0},
    "Gather": {"axis": 0},
    "OneHot": {"axis": -1},
}


def check_node(node: Node, known: Mapping[str, tuple[str, ...]] = ATTRIBUTES) -> None:
    """Refuse an operator that is not read, by these with their attributes, or is asked for something that is not known."""
    if node.operator not in known:
        node.refuse("is not read", hint=f"operators that are: {', '.join(sorted(known))}")
    strange = [name for name in node.attributes if name not in known[node.operator]]
    if strange or None in node.attributes.values():
        node.refuse(f"has an attribute that is not read{f', {strange[0]!r}' if strange else ''}")
    for name, value in node.attributes.items():
        if (name in FLOATS and not (isinstance(value, float) and math.isfinite(value))) or (
            name in WHOLES and not isinstance(value, int)
        ):
            node.refuse(f"has {name}={value!r}, which is no such number")
    fewest, most = OPERANDS.get(node.operator, (1, 1))
    given = [name for name in node.inputs if name]
    if not fewest <= len(node.inputs) <= most or (
        len(given) < len(node.inputs) and (node.operator not in OPTIONAL or "" in node.inputs[:fewest])
    ):
        node.refuse(f"has {len(given)} inputs")


def attribute(node: Node, name: str) -> Any:
    """An attribute of a node, or what it is if nothing is said."""
    return node.attributes.get(name, DEFAULTS.get(node.operator, {}).get(name))


def softmax_axis(node: Node, version: int) -> int:
    """The axis of a softmax; it was the second one, and is the last."""
    return int(node.attributes.get("axis", -1 if version >= 13 else 1))


def evaluate(graph: Graph, inputs: Mapping[str, Tensor], also: Sequence[str] = ()) -> list[Tensor]:
    """The output of many rows, and other tensors that lead to it, in the precision of the file."""
    values: dict[str, Tensor] = {**graph.constants, **inputs}
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        for node in graph.nodes:
            operands = [values[name] if name else None for name in node.inputs]
            try:
                values[node.output] = run_node(node, operands, graph.version)
            except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
                node.refuse(f"does not fit what it is given: {' '.join(str(error).split())[:120]}")
    return [values[name] for name in (graph.output, *also)]


def fold_constants(node: Node, operands: Operands, version: int) -> Tensor:
    """A node of constants alone; refused where programs may round in different ways, or where it would be too large."""
    if node.operator == "Constant":
        return _constant(node)
    if node.operator not in FOLDED:
        node.refuse("is of constants alone", hint="let the exporter fold constants")
    given = [one for one in operands if one is not None]
    size = sum(one.size for one in given)
    if node.operator in ("Add", "Sub", "Mul", "Div"):
        if len({one.dtype for one in given}) > 1 or given[0].dtype.kind == "b":
            node.refuse("is of constants of different types")
        size = math.prod(np.broadcast_shapes(*(one.shape for one in given)))
    elif node.operator == "Gather":
        size = given[0].size * max(given[1].size, 1)
    if size > MOST_NUMBERS:
        node.refuse(f"would make {size:,} constants")
    with np.errstate(over="ignore", under="ignore", invalid="ignore", divide="ignore"):
        return run_node(node, operands, version)


def run_node(node: Node, operands: Operands, version: int) -> Tensor:
    """What an operator makes of its operands."""
    if node.operator == "Constant":
        return _constant(node)
    if node.operator == "Softmax":
        return _softmax(operands[0], softmax_axis(node, version))
    program = RUN.get(node.operator) or COLUMN_PROGRAMS[node.operator]
    found: Tensor = program(node, *operands)
    return found


def _constant(node: Node) -> Tensor:
    if len(node.attributes) != 1:
        node.refuse("has not one value")
    ((name, value),) = node.attributes.items()
    if name == "value":
        return np.asarray(value)
    return np.asarray(value, dtype=np.float32 if "float" in name else np.int64)


def _softmax(x: Any, axis: int) -> Tensor:
    powers = np.exp(x - x.max(axis=axis, keepdims=True))
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


def _gemm(node: Node, a: Any, b: Any, c: Any = None) -> Any:
    a = a.T if attribute(node, "transA") else a
    b = b.T if attribute(node, "transB") else b
    product = a @ b * a.dtype.type(attribute(node, "alpha"))
    return product if c is None else product + c * a.dtype.type(attribute(node, "beta"))


def _batch_normalization(node: Node, x: Any, scale: Any, shift: Any, mean: Any, variance: Any) -> Any:
    along = (-1, *(1,) * (x.ndim - 2))
    spread = np.sqrt(variance + variance.dtype.type(attribute(node, "epsilon")))
    return (x - mean.reshape(along)) / spread.reshape(along) * scale.reshape(along) + shift.reshape(along)


def _clip(node: Node, x: Any, low: Any = None, high: Any = None) -> Any:
    low = node.attributes.get("min", low)
    high = node.attributes.get("max", high)
    x = x if low is None else np.maximum(x, x.dtype.type(low))
    return x if high is None else np.minimum(x, x.dtype.type(high))


def _elu(node: Node, x: Any) -> Any:
    return np.where(x > 0, x, x.dtype.type(attribute(node, "alpha")) * np.expm1(np.minimum(x, 0)))


def _hard_sigmoid(node: Node, x: Any) -> Any:
    slope, offset = (x.dtype.type(attribute(node, name)) for name in ("alpha", "beta"))
    return np.clip(slope * x + offset, x.dtype.type(0), x.dtype.type(1))


def _flatten(node: Node, x: Any) -> Any:
    axis = attribute(node, "axis")
    return x.reshape(math.prod(x.shape[:axis]), -1)


def _reshape(node: Node, x: Any, shape: Any) -> Any:
    wanted = shape.tolist()
    if not attribute(node, "allowzero"):
        wanted = [x.shape[i] if length == 0 else length for i, length in enumerate(wanted)]
    return x.reshape(wanted)


def _one_hot(_: Node, places: Any, depth: Any, values: Any) -> Any:
    count = int(np.ravel(depth)[0])
    whole = places.astype(np.int64)[..., None]
    steps = np.arange(count)
    return np.where((whole == steps) | (whole == steps - count), values[1], values[0])


def _cast(node: Node, x: Any) -> Any:
    kind = DTYPES.get(node.attributes["to"])
    if kind is None:
        node.refuse(
            "turns values into a type that is not supported", hint="float, double, int32, int64 and bool are"
        )
    return x.astype(kind)


def _div(node: Node, a: Any, b: Any) -> Any:
    """Whole numbers are cut towards zero, as in C."""
    if a.dtype.kind == "f":
        return a / b
    if not np.all(b):
        node.refuse("divides a whole number by zero")
    return a // b + ((a % b != 0) & ((a < 0) != (b < 0)))


RUN: dict[str, Callable[..., Any]] = {
    "Identity": lambda _, x: x,
    "Cast": _cast,
    "Add": lambda _, a, b: a + b,
    "Sub": lambda _, a, b: a - b,
    "Mul": lambda _, a, b: a * b,
    "Div": _div,
    "MatMul": lambda _, a, b: a @ b,
    "Gemm": _gemm,
    "BatchNormalization": _batch_normalization,
    "Relu": lambda _, x: np.maximum(x, x.dtype.type(0)),
    "LeakyRelu": lambda node, x: np.where(x > 0, x, x.dtype.type(attribute(node, "alpha")) * x),
    "Elu": _elu,
    "HardSigmoid": _hard_sigmoid,
    "Clip": _clip,
    "Sigmoid": lambda _, x: x.dtype.type(0.5) * (np.tanh(x.dtype.type(0.5) * x) + x.dtype.type(1)),
    "Tanh": lambda _, x: np.tanh(x),
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Concat": lambda node, *parts: np.concatenate(parts, axis=node.attributes["axis"]),
    "Gather": lambda node, x, places: np.take(x, places, axis=attribute(node, "axis")),
    "Equal": lambda _, a, b: a == b,
    "Where": lambda _, c, a, b: np.where(c, a, b),
    "OneHot": _one_hot,
}
