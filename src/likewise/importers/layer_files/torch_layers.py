"""PyTorch's `nn.Sequential`: its layers as they print themselves, and its state by name. That is all there is in an ``.npz`` file,

    np.savez("net.npz", layers=[repr(layer) for layer in net], **{k: v.numpy() for k, v in net.state_dict().items()})

which is read without PyTorch: `0.weight` and `0.bias` are those of the first layer, `Linear(in_features=4, out_features=16, bias=True)`. Of a module in memory the same is read, and the module itself is asked what it answers
(`torch_modules`). The text of a layer is parsed, never evaluated; what is not known is refused by its name.
"""

from __future__ import annotations

import ast
import io
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.layer_files.layer_graph import LARGEST, LayerGraph, refuse
from likewise.importers.onnx.model_file import MOST_BYTES, Graph
from likewise.spec.disk import parse_array, read_member

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]

LAYERS = "layers"
LONGEST_TEXT = 300
MOST_ARRAYS = 10_000
UNUSED = ("num_batches_tracked",)
NOTHING = ("Dropout", "AlphaDropout", "FeatureAlphaDropout", "Identity")  # when a network answers
SAVING = 'np.savez("net.npz", layers=[repr(layer) for layer in net], **{k: v.numpy() for k, v in net.state_dict().items()})'


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLayer:
    """A layer by its place in the list, its class and its settings."""

    place: str
    kind: str
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        return f"{self.place} ({self.kind})"

    def number(self, setting: str, usual: float | None = None) -> float:
        """A setting that is a number."""
        value = self.settings.get(setting, usual)
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < LARGEST:
            refuse(self.name, f"has {setting}={value!r}, which is no number")
        return float(value)


def read_npz(content: bytes) -> Graph:
    """The network in the bytes of an ``.npz`` file."""
    arrays = _read_arrays(content)
    texts = arrays.pop(LAYERS, None)
    if texts is None or texts.dtype.kind != "U" or texts.ndim != 1:
        raise UnsupportedModel(
            f"has no list of layers as text, {LAYERS!r}", hint=f"save a network of PyTorch so: {SAVING}"
        )
    return read_layers(texts.tolist(), arrays)


def read_layers(texts: Sequence[str], state: Mapping[str, Tensor]) -> Graph:
    """The network of layers that print themselves so, with this state."""
    left = {name: values for name, values in state.items() if name.rpartition(".")[2] not in UNUSED}
    made = LayerGraph("PyTorch", dict(left))
    for place, text in enumerate(texts):
        layer = printed_layer(str(place), text)
        own = {name: left.pop(f"{place}.{name}") for name in PARAMETERS if f"{place}.{name}" in left}
        reader = READERS.get(layer.kind)
        if reader is None:
            refuse(layer.name, "is not read", hint=f"layers that are: {', '.join(sorted(READERS))}")
        _check_settings(layer)
        reader(made, layer, own)
        if own:
            refuse(layer.name, f"has a parameter that is not read, {next(iter(own))!r}")
    if left:
        raise UnsupportedModel(
            f"has an array {next(iter(left))!r}, which is of none of its {len(texts)} layers"
        )
    return made.graph()


def _read_arrays(content: bytes) -> dict[str, Tensor]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.infolist()
            names = [one.filename for one in members]
            if len(set(names)) < len(names) or not all(name.endswith(".npy") for name in names):
                raise UnsupportedModel("has two arrays of one name, or other things in it than arrays")
            if len(members) > MOST_ARRAYS or sum(one.file_size for one in members) > MOST_BYTES:
                raise UnsupportedModel(f"has more than {MOST_BYTES >> 20} MB of arrays, or too many of them")
            return {name.removesuffix(".npy"): parse_array(read_member(archive, name)) for name in names}
    except UnsupportedModel:
        raise
    except Exception as error:  # whatever a damaged archive makes its readers raise
        raise UnsupportedModel(
            f"is no .npz file of arrays: {' '.join(str(error).split())[:120]}",
            hint="the file is cut off or damaged, or holds Python objects, which are not opened",
        ) from error


def printed_layer(place: str, text: str) -> PrintedLayer:
    """The layer whose text is ``Name(5, setting=value)``."""
    try:
        call = ast.parse(text.strip(), mode="eval").body if len(text) <= LONGEST_TEXT else None
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
            raise TypeError
        given = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
        if call.args:
            (given[WIDTH],) = map(ast.literal_eval, call.args)
        return PrintedLayer(place=place, kind=call.func.id, settings=given)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        refuse(
            place,
            f"is {text[:60]!r}, which is no layer as PyTorch prints it",
            hint="'Linear(in_features=4, out_features=16, bias=True)' is; layers in layers are to be written one after the other",
        )


def _check_settings(layer: PrintedLayer) -> None:
    """What PyTorch prints of a layer, and no more."""
    strange = [name for name in layer.settings if name not in SETTINGS[layer.kind]]
    if strange:
        refuse(layer.name, f"has a setting that is not read, {strange[0]!r}")


# -- layers -----------------------------------------------------------------------------------------------

Parameters = dict[str, Any]
WIDTH = "number of columns"
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "Linear": ("in_features", "out_features", "bias"),
    "BatchNorm1d": (WIDTH, "eps", "momentum", "affine", "track_running_stats"),
    **dict.fromkeys(("ReLU", "ReLU6"), ("inplace",)),
    "LeakyReLU": ("negative_slope", "inplace"),
    "ELU": ("alpha", "inplace"),
    "Hardtanh": ("min_val", "max_val", "inplace"),
    **dict.fromkeys(("Tanh", "Sigmoid", "Identity"), ()),
    "Softmax": ("dim",),
    "Flatten": ("start_dim", "end_dim"),
    **dict.fromkeys(("Dropout", "AlphaDropout", "FeatureAlphaDropout"), ("p", "inplace")),
}
PARAMETERS = ("weight", "bias", "running_mean", "running_var")


def _linear(made: LayerGraph, layer: PrintedLayer, own: Parameters) -> None:
    if "weight" not in own:
        refuse(layer.name, f"has no array '{layer.place}.weight'")
    weights, biases = own.pop("weight"), own.pop("bias", None)
    if biases is None and layer.settings.get("bias", True):
        refuse(layer.name, f"has no array '{layer.place}.bias'")
    if biases is not None and not layer.settings.get("bias", True):
        refuse(layer.name, f"has an array '{layer.place}.bias', and bias=False")
    if [layer.settings.get(name) for name in ("out_features", "in_features")] != list(weights.shape):
        refuse(layer.name, f"has weights of the shape {weights.shape}")
    made.dense(layer.name, weights.T, biases)


def _batch_norm(made: LayerGraph, layer: PrintedLayer, own: Parameters) -> None:
    if not {"running_mean", "running_var"} <= set(own):
        refuse(layer.name, "keeps no running mean and variance: it looks across rows")
    for name, parts in (("track_running_stats", ("running_mean",)), ("affine", ("weight", "bias"))):
        if any((part in own) != layer.settings.get(name, True) for part in parts):
            refuse(layer.name, f"has not the arrays that {name}={layer.settings.get(name, True)} asks for")
    mean, variance = own.pop("running_mean"), own.pop("running_var")
    if layer.settings.get(WIDTH) not in (None, len(mean)):
        refuse(layer.name, f"has arrays for {len(mean)} columns")
    scale, shift = own.pop("weight", np.ones_like(mean)), own.pop("bias", np.zeros_like(mean))
    made.normalization(layer.name, scale, shift, mean, variance, layer.number("eps"))


def _bend(operator: str, **settings: str) -> Callable[[LayerGraph, PrintedLayer, Parameters], None]:
    def read(made: LayerGraph, layer: PrintedLayer, own: Parameters) -> None:  # noqa: ARG001
        made.bend(layer.name, operator, **{ours: layer.number(theirs) for ours, theirs in settings.items()})

    return read


def _relu6(made: LayerGraph, layer: PrintedLayer, own: Parameters) -> None:  # noqa: ARG001
    made.clip(layer.name, 0.0, 6.0)


def _hard_tanh(made: LayerGraph, layer: PrintedLayer, own: Parameters) -> None:  # noqa: ARG001
    made.clip(layer.name, layer.number("min_val", -1.0), layer.number("max_val", 1.0))


def _softmax(made: LayerGraph, layer: PrintedLayer, own: Parameters) -> None:  # noqa: ARG001
    if layer.settings.get("dim") not in (1, -1):
        refuse(
            layer.name, f"has dim={layer.settings.get('dim')!r}", hint="dim=1, the scores of a row, is read"
        )
    made.bend(layer.name, "Softmax")


def _flatten(made: LayerGraph, layer: PrintedLayer, own: Parameters) -> None:  # noqa: ARG001
    if (layer.settings.get("start_dim", 1), layer.settings.get("end_dim", -1)) != (1, -1):
        refuse(layer.name, "looks across rows")
    made.nothing(layer.name)


def _nothing(made: LayerGraph, layer: PrintedLayer, own: Parameters) -> None:  # noqa: ARG001
    made.nothing(layer.name)


READERS: dict[str, Callable[[LayerGraph, PrintedLayer, Parameters], None]] = {
    "Linear": _linear,
    "BatchNorm1d": _batch_norm,
    "ReLU": _bend("Relu"),
    "ReLU6": _relu6,
    "LeakyReLU": _bend("LeakyRelu", alpha="negative_slope"),
    "ELU": _bend("Elu", alpha="alpha"),
    "Hardtanh": _hard_tanh,
    "Tanh": _bend("Tanh"),
    "Sigmoid": _bend("Sigmoid"),
    "Softmax": _softmax,
    "Flatten": _flatten,
    **dict.fromkeys(NOTHING, _nothing),
}
