"""Modules of PyTorch in memory, taken as they are handed over: the columns of a row are the features in their order.

Of `nn.Sequential` layers and state are read (`torch_layers`); any other module is exported as ONNX by PyTorch itself, which runs it once, and read from there. Either way it is the module that is asked in the comparison and in replays.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.layer_files.layer_graph import after
from likewise.importers.layer_files.torch_layers import PrintedLayer, printed_layer, read_layers
from likewise.importers.onnx.answers import NetworkModel
from likewise.importers.onnx.inputs import feed
from likewise.importers.onnx.model_file import read_onnx
from likewise.importers.onnx.reading import read_network

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.onnx.model_file import Graph

    Floats = NDArray[np.float64]

EXPORTED = 17  # version of the operators


def as_network(module: Any, width: int) -> NetworkModel:
    """A module with scikit-learn's verbs, over so many columns."""
    if module.training:
        raise UnsupportedModel(
            f"{type(module).__name__} is in training mode, in which it may answer at random",
            hint="call eval() on it first",
        )
    if type(module).__name__ != "Sequential":
        graph = _exported(module, width)
        return NetworkModel(graph, read_network(graph))
    state = {name: values.detach().cpu().numpy() for name, values in module.state_dict().items()}
    texts = [repr(layer) for layer in module.children()]
    graph = read_layers(texts, state)
    return SequentialModel(graph, module, [printed_layer(str(i), text) for i, text in enumerate(texts)])


class SequentialModel(NetworkModel):
    """A network whose module answers, layer by layer, so that the scores before its last function are seen."""

    def __init__(self, graph: Graph, module: Any, layers: list[PrintedLayer]) -> None:
        self._module, self._layers = module, layers
        super().__init__(graph, read_network(graph))
        self.stand_in = None

    def _run(self, X: Any) -> tuple[Floats, Floats]:
        import torch

        (value,) = (torch.from_numpy(given) for given in feed(self.graph.inputs, self.columns, X).values())
        made = {self.graph.inputs[0].name: value}
        with torch.no_grad():
            for layer, own in zip(self._layers, self._module.children(), strict=True):
                value = own(value)
                made[after(layer.name)] = value
        found = [made[name].numpy().astype(np.float64) for name in (self.graph.output, self.network.scores)]
        return found[0].reshape(len(found[0]), -1), found[1].reshape(len(found[1]), -1)


def _exported(module: Any, width: int) -> Graph:
    import torch

    kinds = {values.dtype for values in module.state_dict().values() if values.dtype.is_floating_point}
    buffer = io.BytesIO()
    try:
        torch.onnx.export(
            module,
            (torch.zeros((1, width), dtype=kinds.pop() if len(kinds) == 1 else torch.float32),),
            buffer,
            input_names=["x"],
            output_names=["y"],
            dynamic_axes={"x": {0: "rows"}, "y": {0: "rows"}},
            opset_version=EXPORTED,
            dynamo=False,
        )
    except Exception as error:  # whatever a module, or its exporter, raises
        raise UnsupportedModel(
            f"{type(module).__name__} cannot be exported as ONNX: {' '.join(str(error).split())[:200]}",
            hint="nn.Sequential of Linear, ReLU and the like is read as it is; or export it and hand over the .onnx file",
        ) from error
    return read_onnx(buffer.getvalue())
