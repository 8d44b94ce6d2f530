"""Network files: what reads which, and the model or the draft of a claim file that is made of it. All become graphs of operators (`onnx.model_file`), read as layers of weights without running anything.

.onnx               ONNX                                          extra onnx
.npz                PyTorch's nn.Sequential, layers and state     nothing
.keras, .h5         Keras' Sequential                             extra keras
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import UnsupportedModel
from likewise.importers.onnx.answers import NetworkModel
from likewise.importers.onnx.draft import draft_graph
from likewise.importers.onnx.model_file import Graph, read_onnx
from likewise.importers.onnx.reading import read_network

if TYPE_CHECKING:
    from likewise.spec.model_reading import ModelReading
    from likewise.spec.space import Space


def load_network(file: Path, content: bytes, reading: ModelReading) -> NetworkModel:
    """The network in a file, read as the claim file says."""
    graph = _read_graph(file, content, external_data=reading.external_data)
    return NetworkModel(graph, read_network(graph), reading)


def draft_network(
    file: Path, content: bytes, space: Space, labels: Sequence[Any], *, external_data: bool
) -> tuple[ModelReading, list[str]]:
    """What a claim file could say about how the file is to be read, and what about it is in doubt."""
    graph = _read_graph(file, content, external_data=external_data)
    return draft_graph(graph, space, labels, external_data=external_data)


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
