"""From a graph to layers of weights, operator by operator. What is not known is refused by the name of its operator and node.

    Gemm, MatMul                      weights and biases of a layer
    Add, Sub, Mul, Div                by constants: of elements; Add and Sub also of two tensors that stand on the same layers
    BatchNormalization                elements less their mean, times scale / sqrt(variance + epsilon)
    Relu, LeakyRelu, Elu, HardSigmoid, Clip, Sigmoid, Tanh      activations
    Softmax                           at the end
    Flatten, Reshape, Identity, Cast, Concat, Gather            other shapes and types, and a choice of elements
    Equal, Where, OneHot              columns of inputs that tell levels apart

Stored numbers are taken as they are, exactly. Quotients (1 / constant, the factor of BatchNormalization) are no finite binary numbers: the layers have the nearest double, which counts as a rounding of a weight
(`families.network.error`). The axis of the rows is the first one, and no operator may look across rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.network.activation import IDENTITY, LOGISTIC, RELU, TANH, Activation
from likewise.families.network.dyadic import Dyadic
from likewise.importers.onnx.computed import (
    MOST_ELEMENTS,
    Computed,
    InputColumn,
    join,
    negated,
    ones,
    zeros,
)
from likewise.importers.onnx.model_file import DTYPES, Graph, Node
from likewise.importers.onnx.operators import attribute, check_node, fold_constants, softmax_axis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.network.body import Layer

    Tensor = NDArray[Any]
    Operand = Computed | Tensor

WHOLE = np.dtype(np.int64)
MOST_LAYERS = 200
MOST_WEIGHTS = 20_000_000  # of all layers together, zeros included
WRAPPING_VERSION = 11  # from which on OneHot counts negative places from the end
UNIT_INTERVAL = Activation("clip", (Fraction(0), Fraction(1)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReadNetwork:
    """All layers up to the scores, the last one without a bend, and what the graph makes of them; `scores` is the tensor that has them. `bits` is the precision of the program."""

    columns: tuple[InputColumn, ...]
    layers: tuple[Layer, ...]
    end: Literal["logistic", "softmax"] | None
    scores: str
    bits: int

    @property
    def n_scores(self) -> int:
        return self.layers[-1].weights.shape[0]


def read_network(graph: Graph) -> ReadNetwork:
    """The layers of a graph."""
    reading = _Reading(graph)
    found = reading.run()
    end: Literal["logistic", "softmax"] | None = None
    name = graph.output
    if isinstance(found, Computed) and found.softmax_of is not None:
        end, name, found = "softmax", found.softmax_of, replace(found, softmax_of=None)
    if not isinstance(found, Computed) or found.dtype.kind != "f":
        raise UnsupportedModel(
            f"its output {graph.output!r} is made of constants alone, or is of no floating-point numbers"
        )
    argument = _probability_of(found)
    if end is None and argument is not None:
        *before, last = found.layers[: argument + 1]
        end, name = "logistic", reading.sigmoids[id(last)]
        found = replace(found, layers=(*before, replace(last, activation=IDENTITY)), shape=(1,))
    if not found.layers or found.layers[-1].activation != IDENTITY:
        found = found.scaled(ones(found.size), zeros(found.size))
    if len(found.shape) > 1 and found.size != max(found.shape):
        raise UnsupportedModel(f"its output {graph.output!r} has more axes than rows and scores")
    return ReadNetwork(columns=found.columns, layers=found.layers, end=end, scores=name, bits=reading.bits)


def _probability_of(found: Computed) -> int | None:
    """The layer that is a probability p, if the elements are p, or 1 - p and p."""
    layers = found.layers
    if layers and layers[-1].activation == LOGISTIC and found.size == 1:
        return len(layers) - 1
    if len(layers) < 2 or layers[-1].activation != IDENTITY or layers[-2].activation != LOGISTIC:
        return None
    weights, biases = layers[-1].weights, layers[-1].biases
    both = Dyadic.of([[-1.0], [1.0]]), Dyadic.of([1.0, 0.0])
    return len(layers) - 2 if weights.equals(both[0]) and biases.equals(both[1]) else None


class _Reading:
    """Goes through the nodes in order; `sigmoids` has the tensor that each layer of logistic functions is of."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.sigmoids: dict[int, str] = {}
        self.counted: set[int] = set()
        self.weights = 0
        self.values: dict[str, Operand] = dict(graph.constants)
        place = 0
        for one in graph.inputs:
            columns = tuple(InputColumn(place=place + i) for i in range(one.width))
            self.values[one.name] = Computed(columns=columns, shape=one.shape, dtype=one.dtype)
            place += one.width
        floats = [value.dtype for value in self.values.values() if value.dtype.kind == "f"]
        self.bits = 24 if np.dtype(np.float32) in floats or not floats else 53

    def run(self) -> Operand:
        for node in self.graph.nodes:
            check_node(node)
            operands = [self.values[name] if name else None for name in node.inputs]
            try:
                self.values[node.output] = self._read(node, operands)
            except UnsupportedModel as error:
                raise (
                    error
                    if node.name in error.message
                    else error.located(f"{node.operator} (node {node.name!r})")
                ) from None
            except (ValueError, IndexError, TypeError, OverflowError, KeyError) as error:
                node.refuse(f"does not fit what it is given: {' '.join(str(error).split())[:120]}")
        return self.values[self.graph.output]

    def _read(self, node: Node, operands: Sequence[Operand | None]) -> Operand:
        constants = [one for one in operands if not isinstance(one, Computed)]
        if len(constants) == len(operands):
            return fold_constants(node, constants, self.graph.version)
        if (
            any(isinstance(one, Computed) and one.softmax_of for one in operands)
            and node.operator != "Identity"
        ):
            node.refuse("comes after a Softmax, which is read at the end only")
        if node.operator == "Softmax":
            return self._softmax(node, operands[0])
        if node.operator == "OneHot" and self.graph.version < WRAPPING_VERSION:
            node.refuse(
                "is of an old version",
                hint=f"export the model with opset_version={WRAPPING_VERSION} or newer",
            )
        found = READERS[node.operator](node, *operands)
        self._count(node, found)
        if found.size > MOST_ELEMENTS:
            node.refuse(f"makes {found.size:,} numbers a row")
        if found.dtype == np.float32:
            self.bits = 24
        if node.operator == "Sigmoid":
            self.sigmoids[id(found.layers[-1])] = node.inputs[0]
        return found

    def _count(self, node: Node, found: Computed) -> None:
        """Refuse what would take too much memory or time; all tensors, and so their layers, are kept."""
        for layer in reversed(found.layers):
            if id(layer) in self.counted:
                break
            self.counted.add(id(layer))
            self.weights += layer.weights.numerators.size
        if len(found.layers) > MOST_LAYERS or self.weights > MOST_WEIGHTS:
            node.refuse(
                f"is layer {len(found.layers)} of a network of {self.weights:,} weights; at most {MOST_LAYERS} layers of {MOST_WEIGHTS:,} weights are read"
            )

    def _softmax(self, node: Node, x: Any) -> Computed:
        axis = softmax_axis(node, self.graph.version)
        if len(x.shape) != 1 or axis not in (-1, 1) or x.dtype.kind != "f":
            node.refuse("is read over the scores of a row only")
        return replace(x, softmax_of=node.inputs[0])


# -- layers -----------------------------------------------------------------------------------------------


def _gemm(node: Node, a: Operand, b: Operand, c: Operand | None = None) -> Computed:
    if (
        not isinstance(a, Computed)
        or isinstance(b, Computed)
        or isinstance(c, Computed)
        or attribute(node, "transA")
    ):
        node.refuse("multiplies otherwise than rows by constant weights")
    weights = b if attribute(node, "transB") else b.T
    bias = np.zeros(len(weights), dtype=b.dtype) if c is None else np.broadcast_to(c, (1, len(weights)))[0]
    _check_floats(node, a.dtype, weights, bias)
    alpha, beta = (Dyadic.of([attribute(node, name)]) for name in ("alpha", "beta"))
    return _product(node, a, _times(Dyadic.of(weights), alpha), _times(Dyadic.of(bias), beta))


def _matmul(node: Node, a: Operand, b: Operand) -> Computed:
    if not isinstance(a, Computed) or isinstance(b, Computed) or b.ndim != 2:
        node.refuse("multiplies otherwise than rows by constant weights")
    _check_floats(node, a.dtype, b)
    return _product(node, a, Dyadic.of(b.T), zeros(b.shape[1]))


def _product(node: Node, a: Computed, weights: Dyadic, biases: Dyadic) -> Computed:
    if a.shape != weights.shape[1:] or not weights.shape[0] or not a.size:
        node.refuse(f"multiplies rows of the shape {a.shape} by weights of {weights.shape[1:]}")
    return a.weighed(weights, biases, (weights.shape[0],))


def _batch_normalization(
    node: Node, x: Operand, scale: Any, shift: Any, mean: Any, variance: Any
) -> Computed:
    if not isinstance(x, Computed) or any(
        isinstance(one, Computed) for one in (scale, shift, mean, variance)
    ):
        node.refuse("has parameters that are no constants")
    if attribute(node, "training_mode") or not x.shape:
        node.refuse("is in training mode, or has no channels", hint="export the model in evaluation mode")
    _check_floats(node, x.dtype, scale, shift, mean, variance)
    with np.errstate(all="ignore"):
        spread = np.sqrt(variance.astype(np.float64) + attribute(node, "epsilon"))
        factor = scale.astype(np.float64) / spread
    if not np.isfinite(factor).all():
        node.refuse("divides by a variance that is not above 0")
    inner = x.size // x.shape[0]
    each = [np.repeat(one, inner) for one in (factor, shift, mean)]
    if any(len(one) != x.size for one in each):
        node.refuse(f"has parameters of another length than {x.shape[0]}")
    factors, shifts, means = map(Dyadic.of, each)
    return x.shifted(negated(means)).scaled(factors, shifts)


def _add(node: Node, a: Operand, b: Operand) -> Computed:
    return _sum(node, a, b, 1)


def _sub(node: Node, a: Operand, b: Operand) -> Computed:
    return _sum(node, a, b, -1)


def _sum(node: Node, a: Operand, b: Operand, sign: int) -> Computed:
    """a + sign * b."""
    if isinstance(a, Computed) and isinstance(b, Computed):
        return _sum_of_tensors(node, a, b, sign)
    if isinstance(a, Computed):
        x, constants = _against(node, a, b)
        return x.shifted(constants if sign > 0 else negated(constants))
    x, constants = _against(node, b, a)
    return x.shifted(constants) if sign > 0 else x.scaled(negated(ones(x.size)), constants)


def _sum_of_tensors(node: Node, a: Computed, b: Computed, sign: int) -> Computed:
    if a.dtype != b.dtype or a.dtype.kind != "f" or a.shape != b.shape:
        node.refuse(f"adds tensors of the shapes {a.shape} and {b.shape}, or of different types")
    both, size = join(a, b), a.size
    weights = np.zeros((size, 2 * size), dtype=object)
    weights[np.arange(size), np.arange(size)] = 1
    weights[np.arange(size), np.arange(size) + size] = sign
    return both.weighed(Dyadic(numerators=weights, exponent=0), zeros(size), a.shape)


def _mul(node: Node, a: Operand, b: Operand) -> Computed:
    if isinstance(a, Computed) and isinstance(b, Computed):
        node.refuse("multiplies two tensors that both depend on the inputs: that is no layer")
    x, factors = _against(node, a, b) if isinstance(a, Computed) else _against(node, b, a)
    return x.scaled(factors, zeros(x.size))


def _div(node: Node, a: Operand, b: Operand) -> Computed:
    if not isinstance(a, Computed) or isinstance(b, Computed):
        node.refuse("divides by something that depends on the inputs: that is no layer")
    _check_floats(node, a.dtype, b)
    with np.errstate(all="ignore"):
        inverse = 1 / b.astype(np.float64)
    if not np.isfinite(inverse).all():
        node.refuse("divides by 0, or by almost 0")
    x, factors = _against(node, a, inverse, checked=True)
    return x.scaled(factors, zeros(x.size))


def _against(node: Node, x: Any, constants: Any, *, checked: bool = False) -> tuple[Computed, Dyadic]:
    """A tensor and constants, each repeated to the shape of both."""
    if not checked:
        _check_floats(node, x.dtype, constants)
    own = _without_rows(node, constants, x.shape)
    shape = np.broadcast_shapes(x.shape, own.shape)
    return _repeated(node, x, shape), Dyadic.of(np.broadcast_to(own, shape).ravel())


def _repeated(node: Node, x: Computed, shape: tuple[int, ...]) -> Computed:
    if math.prod(shape) > MOST_ELEMENTS:
        node.refuse(f"makes {math.prod(shape):,} numbers a row")
    places = np.arange(x.size).reshape(x.shape)
    return x.taking(np.broadcast_to(places, shape), shape)


def _without_rows(node: Node, constants: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Constants without the axis of the rows, over which they must be the same."""
    if constants.ndim <= len(shape):
        return constants
    if constants.ndim > len(shape) + 1 or constants.shape[0] != 1:
        node.refuse(f"has constants of the shape {constants.shape} for rows of {shape}")
    return constants[0]


def _times(numbers: Dyadic, factor: Dyadic) -> Dyadic:
    return Dyadic(
        numerators=numbers.numerators * factor.numerators[0], exponent=numbers.exponent + factor.exponent
    )


def _check_floats(node: Node, dtype: np.dtype[Any], *constants: Any) -> None:
    """Layers are of finite floating-point numbers of one type."""
    if dtype.kind != "f" or any(one.dtype != dtype for one in constants):
        node.refuse("is not of floating-point numbers of one type", hint="put a Cast before it")
    if not all(np.isfinite(one).all() for one in constants):
        node.refuse("has a constant that is not a finite number")


# -- activations ------------------------------------------------------------------------------------------


def _bend(activation: Activation) -> Callable[[Node, Computed], Computed]:
    def read(node: Node, x: Computed) -> Computed:
        _check_floats(node, x.dtype)
        return x.bent(activation)

    return read


def _leaky_relu(node: Node, x: Computed) -> Computed:
    slope = attribute(node, "alpha")
    if not 0 <= slope <= 1:
        node.refuse(f"has alpha={slope!r}; from 0 to 1 is read")
    return _bend(Activation("leaky_relu", (Fraction(slope),)))(node, x)


def _elu(node: Node, x: Computed) -> Computed:
    alpha = attribute(node, "alpha")
    if not 0 <= alpha < math.inf:
        node.refuse(f"has alpha={alpha!r}; numbers from 0 on are read")
    return _bend(Activation("elu", (Fraction(alpha),)))(node, x)


def _hard_sigmoid(node: Node, x: Computed) -> Computed:
    slope, offset = (Dyadic.of([attribute(node, name)] * x.size) for name in ("alpha", "beta"))
    _check_floats(node, x.dtype)
    return x.scaled(slope, offset).bent(UNIT_INTERVAL)


def _clip(node: Node, x: Computed, low: Any = None, high: Any = None) -> Computed:
    limits = []
    for given, name, none in ((low, "min", -math.inf), (high, "max", math.inf)):
        if isinstance(given, Computed) or (given is not None and given.size != 1):
            node.refuse("has limits that are no single constants")
        limits.append(
            float(none if given is None else given.item())
            if name not in node.attributes
            else node.attributes[name]
        )
    _check_floats(node, x.dtype)
    least, most = limits
    if least == 0 and most == math.inf:
        return x.bent(RELU)
    if not -math.inf < least < most < math.inf:
        node.refuse(f"has the limits {least!r} and {most!r}; two numbers, or 0 and none, are read")
    return x.bent(Activation("clip", (Fraction(least), Fraction(most))))


# -- shapes and types -------------------------------------------------------------------------------------


def _cast(node: Node, x: Computed) -> Computed:
    kind = DTYPES.get(node.attributes.get("to", 0))
    if kind is None:
        node.refuse(
            "turns numbers into a type that is not read", hint="float, double, int32, int64 and bool are"
        )
    dtype = np.dtype(kind)
    if not x.layers:
        if dtype.kind == "b" and x.dtype.kind != "b":
            node.refuse("turns numbers into truth values", hint="use Equal")
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
    axis = _axis(node, node.attributes.get("axis", 0), len(found[0].shape))
    starts = np.cumsum([0, *(one.size for one in found)]).tolist()
    grids = [
        np.arange(one.size).reshape(one.shape) + start for one, start in zip(found, starts, strict=False)
    ]
    places = np.concatenate(grids, axis=axis)
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


# -- levels -----------------------------------------------------------------------------------------------


def _equal(node: Node, a: Operand, b: Operand) -> Computed:
    x, constants = (a, b) if isinstance(a, Computed) else (b, a)
    if not isinstance(x, Computed) or isinstance(constants, Computed):
        node.refuse("compares two tensors that both depend on the inputs")
    if x.dtype != constants.dtype or not np.isfinite(constants).all():
        node.refuse("compares numbers of different types, or with no number")
    own = _without_rows(node, constants, x.shape)
    shape = np.broadcast_shapes(x.shape, own.shape)
    x = _repeated(node, x, shape)
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
    a, b = (_without_rows(node, one, truth.shape) for one in (a, b))
    shape = np.broadcast_shapes(truth.shape, a.shape, b.shape)
    return _chosen(node, _repeated(node, truth, shape), np.broadcast_to(a, shape), np.broadcast_to(b, shape))


def _chosen(node: Node, truth: Computed, on: Any, off: Any) -> Computed:
    """The one constant where a mark is 1, the other where it is 0."""
    on, off = np.asarray(on), np.asarray(off)
    _check_floats(node, on.dtype, on, off)
    each = [Dyadic.of(np.broadcast_to(one, truth.shape).ravel()) for one in (on, off)]
    return replace(truth, dtype=on.dtype).scaled(each[0].plus(negated(each[1])), each[1])


def _identity(node: Node, x: Computed) -> Computed:  # noqa: ARG001
    return x


def _constant(node: Node) -> NoReturn:
    node.refuse("reads inputs")


READERS: dict[str, Callable[..., Computed]] = {
    "Constant": _constant,
    "Identity": _identity,
    "Cast": _cast,
    "Add": _add,
    "Sub": _sub,
    "Mul": _mul,
    "Div": _div,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "BatchNormalization": _batch_normalization,
    "Relu": _bend(RELU),
    "LeakyRelu": _leaky_relu,
    "Elu": _elu,
    "HardSigmoid": _hard_sigmoid,
    "Clip": _clip,
    "Sigmoid": _bend(LOGISTIC),
    "Tanh": _bend(TANH),
    "Flatten": _flatten,
    "Reshape": _reshape,
    "Concat": _concat,
    "Gather": _gather,
    "Equal": _equal,
    "Where": _where,
    "OneHot": _one_hot,
}
