"""A list of layers as a graph of operators, which is then read as those of ONNX files are (`importers.onnx.reading`).

Every layer has the name that refusals call it by, and its last tensor is called `after` that name. Numbers are all of one type, in which the library would calculate, and settings such as the slope of a
leaky relu are rounded to it, as the library does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.onnx.model_file import MOST_COLUMNS, MOST_NUMBERS, Graph, GraphInput, Node

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]

INPUT = "x"
VERSION = 17  # of ONNX's operators, which the nodes are to be understood by
MOST_LAYERS = 1000
LARGEST = 1e300  # of settings
FLOATS = (np.dtype(np.float32), np.dtype(np.float64))


def after(layer: str) -> str:
    """The tensor that a layer makes."""
    return f"after {layer}"


class LayerGraph:
    """Layers one after the other, `source` being the library whose they are."""

    def __init__(self, source: str, arrays: dict[str, Tensor]) -> None:
        self.source = source
        self.dtype = _check_arrays(arrays)
        self._width: int | None = None
        self._makes = 0
        self._constants: dict[str, Tensor] = {}
        self._nodes: list[Node] = []
        self._last, self._count = INPUT, 0

    def dense(self, layer: str, weights: Tensor, biases: Tensor | None) -> None:
        """Rows times weights, (inputs, outputs), plus biases."""
        if weights.ndim != 2 or 0 in weights.shape:
            refuse(layer, f"has weights of the shape {weights.shape}")
        if biases is not None and biases.shape != weights.shape[1:]:
            refuse(layer, f"has weights of the shape {weights.shape} and biases of {biases.shape}")
        self._takes(layer, weights.shape[0], weights.shape[1])
        self._add(layer, "Gemm", [weights, *([] if biases is None else [biases])])

    def normalization(
        self, layer: str, scale: Tensor, shift: Tensor, mean: Tensor, variance: Tensor, epsilon: float
    ) -> None:
        """Columns less their mean, over the root of their variance, times a scale, plus a shift."""
        if len({one.shape for one in (scale, shift, mean, variance)}) > 1 or mean.ndim != 1:
            refuse(layer, "has parameters of different shapes")
        self._takes(layer, len(mean), len(mean))
        self._add(layer, "BatchNormalization", [scale, shift, mean, variance], epsilon=self.rounded(epsilon))

    def bend(self, layer: str, operator: str, **settings: float) -> None:
        """An activation of every element."""
        self._add(layer, operator, [], **{name: self.rounded(value) for name, value in settings.items()})

    def clip(self, layer: str, low: float, high: float) -> None:
        """Every element, kept between two numbers."""
        self._add(layer, "Clip", [np.array(value, dtype=self.dtype) for value in (low, high)])

    def nothing(self, layer: str) -> None:
        """A layer that changes nothing when it answers."""
        self._add(layer, "Identity", [])

    def graph(self) -> Graph:
        """All of them."""
        if self._width is None:
            raise UnsupportedModel("has no layer with weights")
        if self._width > MOST_COLUMNS:
            raise UnsupportedModel(
                f"has {self._width:,} columns of inputs; at most {MOST_COLUMNS:,} are read"
            )
        entry = GraphInput(name=INPUT, dtype=self.dtype, shape=(self._width,))
        return Graph(
            inputs=(entry,),
            constants=self._constants,
            nodes=tuple(self._nodes),
            output=self._last,
            version=VERSION,
            source=self.source,
        )

    def rounded(self, value: float) -> float:
        """A setting as the library has it when it calculates."""
        return float(self.dtype.type(value))

    def _takes(self, layer: str, width: int, made: int) -> None:
        if self._width is None:
            self._width = width
        elif width != self._makes:
            refuse(layer, f"takes {width} columns, and the layers before it make {self._makes}")
        self._makes = made

    def _add(self, layer: str, operator: str, constants: list[Tensor], **attributes: Any) -> None:
        if len(self._nodes) >= MOST_LAYERS:
            refuse(layer, f"is one of more than {MOST_LAYERS} layers")
        names = [f"{layer}: {i}" for i in range(len(constants))]
        known = {INPUT, *self._constants, *(node.output for node in self._nodes)}
        if not known.isdisjoint((*names, after(layer))):
            refuse(layer, "has a name that stands for another part of the network")
        self._constants.update(zip(names, constants, strict=True))
        node = Node(
            operator=operator,
            name=layer,
            inputs=(self._last, *names),
            output=after(layer),
            attributes=attributes,
        )
        self._nodes.append(node)
        self._last = node.output


def refuse(layer: str, why: str, *, hint: str | None = None) -> NoReturn:
    """Refuse a layer by its name."""
    raise UnsupportedModel(f"layer {layer!r} {why}", hint=hint)


def _check_arrays(arrays: dict[str, Tensor]) -> np.dtype[Any]:
    """The one type of all numbers, which must be finite and not too many."""
    kinds = {one.dtype.newbyteorder("=") for one in arrays.values()}
    if len(kinds) != 1 or not kinds <= set(FLOATS):
        raise UnsupportedModel(
            f"has weights of the types {', '.join(sorted(map(str, kinds))) or 'none'}",
            hint="all of them in float32, or in float64, are read",
        )
    if sum(one.size for one in arrays.values()) > MOST_NUMBERS:
        raise UnsupportedModel(f"has more than {MOST_NUMBERS:,} weights")
    for name, values in arrays.items():
        if not np.isfinite(values).all():
            raise UnsupportedModel(
                f"{name!r} has a number that is not finite", hint="the network's training diverged"
            )
    return kinds.pop()
