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

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.network.activation import IDENTITY, LOGISTIC
from likewise.families.network.dyadic import Dyadic
from likewise.importers.onnx.column_operators import COLUMNS
from likewise.importers.onnx.computed import (
    MOST_ELEMENTS,
    Computed,
    InputColumn,
    ones,
    zeros,
)
from likewise.importers.onnx.layer_operators import LAYERS
from likewise.importers.onnx.model_file import Graph, Node, refuse_input
from likewise.importers.onnx.operators import check_node, fold_constants, softmax_axis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.network.body import Layer

    Tensor = NDArray[Any]
    Operand = Computed | Tensor

READERS = {**LAYERS, **COLUMNS}
MOST_LAYERS = 200
MOST_WEIGHTS = 4_000_000  # of all layers together, zeros included
MOST_BITS = 1 << 30  # of all weights together, as whole numbers over one power of two a layer
MOST_NUMBERS = 500_000  # a row, of all tensors together
WRAPPING_VERSION = 11  # from which on OneHot counts negative places from the end


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
        self.weights = self.bits_of_weights = self.numbers = 0
        self.values: dict[str, Operand] = dict(graph.constants)
        place = 0
        for one in graph.inputs:
            if one.dtype == object:
                refuse_input(one.name, "type STRING")
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
        self.numbers += found.size
        for layer in reversed(found.layers):
            if id(layer) in self.counted:
                break
            self.counted.add(id(layer))
            self.weights += layer.weights.numerators.size
            self.bits_of_weights += layer.weights.numerators.size * layer.weights.longest
        if len(found.layers) > MOST_LAYERS or self.weights > MOST_WEIGHTS:
            node.refuse(
                f"is layer {len(found.layers)} of a network of {self.weights:,} weights; at most {MOST_LAYERS} layers of {MOST_WEIGHTS:,} weights are read"
            )
        if self.bits_of_weights > MOST_BITS:
            node.refuse("has weights of sizes too different from each other to be taken exactly")
        if self.numbers > MOST_NUMBERS:
            node.refuse(f"makes more than {MOST_NUMBERS:,} numbers a row, together with those before it")

    def _softmax(self, node: Node, x: Operand | None) -> Computed:
        axis = softmax_axis(node, self.graph.version)
        if not isinstance(x, Computed) or len(x.shape) != 1 or axis not in (-1, 1) or x.dtype.kind != "f":
            node.refuse("is read over the scores of a row only")
        return replace(x, softmax_of=node.inputs[0])
