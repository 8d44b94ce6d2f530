"""Networks behind operators of `ai.onnx.ml`: a graph is cut at the one tensor that all layers read, and what makes that is followed as the steps of a pipeline are (`column_tracing`).

Exporters write so what stands behind scalers and encoders: perceptrons, and linear models as products of matrices.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.onnx.answers import NetworkModel
from likewise.importers.onnx.column_tracing import FRONT_OPERATORS, GraphColumns
from likewise.importers.onnx.model_file import CLASSICAL, Graph, GraphInput
from likewise.importers.onnx.operators import evaluate
from likewise.importers.onnx.reading import read_network

if TYPE_CHECKING:
    from likewise.spec.model_reading import ModelReading


class FrontedNetwork(NetworkModel):
    """A network with the columns in front of it."""

    def __init__(self, graph: Graph, reading: ModelReading) -> None:
        front, rest = cut_graph(graph)
        super().__init__(graph, read_network(rest), reading)
        self.front = GraphColumns(front, self.columns, sum(one.width for one in rest.inputs))


def needs_front(graph: Graph) -> bool:
    """Whether operators are in a graph that are no layers."""
    return any(node.operator.startswith(f"{CLASSICAL}.") for node in graph.nodes)


def cut_graph(graph: Graph) -> tuple[Graph, Graph]:
    """What makes columns, and the layers that read them."""
    nodes = graph.nodes
    last = max(i for i, node in enumerate(nodes) if node.operator.startswith(f"{CLASSICAL}."))
    for k in range(last, len(nodes)):
        strange = [node for node in nodes[: k + 1] if node.operator not in FRONT_OPERATORS]
        if strange:
            strange[0].refuse("is not read in front of the columns of a network")
        tensor, later = nodes[k].output, nodes[k + 1 :]
        known = {"", tensor, *graph.constants, *(node.output for node in later)}
        if all(name in known for node in later for name in node.inputs):
            front = replace(graph, nodes=nodes[: k + 1], output=tensor)
            return front, replace(graph, nodes=later, inputs=(_shown_input(front),))
    raise UnsupportedModel(
        "reads some columns behind encoders and others beside them",
        hint="join all columns before the first layer",
    )


def _shown_input(front: Graph) -> GraphInput:
    """The tensor that a graph ends in, as an input of the rest."""
    empty = {one.name: np.empty((0, *one.shape), dtype=one.dtype) for one in front.inputs}
    (made,) = evaluate(front, empty)
    return GraphInput(name=front.output, dtype=made.dtype, shape=made.shape[1:])
