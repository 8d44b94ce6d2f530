"""Network files: what reads which, and the model or the draft of a claim file that is made of it. All become graphs of operators (`onnx.model_file`), read as layers of weights without running anything.

.onnx               ONNX, also of classical models                extra onnx
.npz                PyTorch's nn.Sequential, layers and state     nothing
.keras, .h5         Keras' Sequential                             extra keras
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import UnsupportedModel
from likewise.importers.onnx.answers import NetworkModel
from likewise.importers.onnx.classical_models import (
    ClassicalModel,
    find_scoring,
    is_classical,
    load_classical,
)
from likewise.importers.onnx.draft import draft_graph
from likewise.importers.onnx.fronted_networks import FrontedNetwork, cut_graph, needs_front
from likewise.importers.onnx.model_file import Graph, read_onnx
from likewise.importers.onnx.reading import read_network

if TYPE_CHECKING:
    from likewise.spec.model_reading import ModelReading
    from likewise.spec.space import Space


def load_network(file: Path, content: bytes, reading: ModelReading) -> NetworkModel | ClassicalModel:
    """The network in a file, or another model that was exported as a graph, read as the claim file says."""
    graph = _read_graph(file, content, external_data=reading.external_data)
    if is_classical(graph):
        return load_classical(graph, reading)
    if needs_front(graph):
        return FrontedNetwork(graph, reading)
    return NetworkModel(graph, read_network(graph), reading)


def draft_network(
    file: Path, content: bytes, space: Space, labels: Sequence[Any], *, external_data: bool
) -> tuple[ModelReading, list[str]]:
    """What a claim file could say about how the file is to be read, and what about it is in doubt."""
    graph = _read_graph(file, content, external_data=external_data)
    return draft_graph(graph, space, labels, classes=_unnamed_classes(graph), external_data=external_data)


def _unnamed_classes(graph: Graph) -> int:
    """How many classes have no names in a file: classical models know their labels."""
    if is_classical(graph):
        find_scoring(graph, None)
        return 0
    network = read_network(cut_graph(graph)[1] if needs_front(graph) else graph)
    return max(network.n_scores, 2) if network.end or network.n_scores > 1 else 0


def _read_graph(file: Path, content: bytes, *, external_data: bool) -> Graph:
    suffix = file.suffix.lower()
    if suffix == ".onnx":
        return read_onnx(content, folder=file.parent if external_data else None)
    if external_data:
        raise UnsupportedModel("keeps all weights in itself; other files are read beside .onnx files alone")
    if suffix == ".npz":
        from likewise.importers.layer_files.torch_layers import read_npz

        return read_npz(content)
    from likewise.importers.layer_files.keras_files import read_h5, read_keras

    return read_keras(content) if suffix == ".keras" else read_h5(content)
