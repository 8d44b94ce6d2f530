"""Keras' Sequential models: their description, and the weights of each layer in order, from either file (`keras_files`). No code is run: layers and activations are known here by name, or refused by name.

Dense                               kernel, bias; then its activation
BatchNormalization                  gamma, beta, moving_mean, moving_variance
ReLU, LeakyReLU, ELU, Softmax, Activation
InputLayer, Flatten, Dropout, GaussianNoise, ...       nothing, when a network answers
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.layer_files.layer_graph import LARGEST, LayerGraph, refuse

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.onnx.model_file import Graph

    Tensor = NDArray[Any]
    Config = Mapping[str, Any]
    Weights = list[Tensor]

INPUT_SHAPES = ("batch_shape", "batch_input_shape")
SEQUENTIAL = "Sequential"
OTHER_MODELS = "export it as ONNX (model.export('net.onnx', format='onnx'), or tf2onnx), which is read too"
_NOISE = ("rate", "seed", "noise_shape")
NOTHING: Mapping[str, tuple[str, ...]] = {
    "InputLayer": ("sparse", "ragged", "optional"),
    **dict.fromkeys(("Dropout", "AlphaDropout", "GaussianDropout"), _NOISE),
    "GaussianNoise": ("stddev", "seed"),
    "ActivityRegularization": ("l1", "l2"),
}
_FITTED = ("initializer", "regularizer", "constraint")
# What Keras writes of a layer: others it may take for something, as LeakyReLU takes `alpha` before `negative_slope`.
SETTINGS: Mapping[str, tuple[str, ...]] = {
    "Dense": (
        *("units", "activation", "use_bias", "lora_rank", "lora_alpha", "quantization_config"),
        *(f"{name}_{part}" for name in ("kernel", "bias") for part in _FITTED),
    ),
    "BatchNormalization": (
        *("axis", "momentum", "epsilon", "center", "scale", "synchronized"),
        *(f"{name}_{part}" for name in ("beta", "gamma") for part in _FITTED),
        *("moving_mean_initializer", "moving_variance_initializer"),
    ),
    "Activation": ("activation",),
    "ReLU": ("max_value", "negative_slope", "threshold"),
    "LeakyReLU": ("negative_slope", "alpha"),
    "ELU": ("alpha",),
    "Softmax": ("axis",),
    "Flatten": ("data_format",),
    **NOTHING,
}
OF_ALL = ("name", "trainable", "dtype", "activity_regularizer", "batch_shape", "batch_input_shape")
OF_AN_ENTRY = ("module", "class_name", "config", "registered_name", "build_config", "compile_config")
POLICIES = ("DTypePolicy", "Policy")
OWN_MODULES = ("keras", "tensorflow", "tf_keras")
PLAIN_BENDS = {"relu": "Relu", "tanh": "Tanh", "sigmoid": "Sigmoid", "softmax": "Softmax"}
USUAL_PRECISION = "float32"
USUAL_SLOPE = 0.2  # of the activation leaky_relu; the layer has a setting


def described_layers(description: Any) -> list[tuple[str, str, Config]]:
    """(name, class, settings) of the layers of a Sequential model, by its description."""
    kind = _entry(description, "class_name")
    if kind != SEQUENTIAL:
        raise UnsupportedModel(f"is a {kind} model of Keras; {SEQUENTIAL} ones are read", hint=OTHER_MODELS)
    _check_own("the model", SEQUENTIAL, description)
    config = _entry(description, "config")
    layers = config.get("layers") if isinstance(config, dict) else config
    if not isinstance(layers, list):
        raise UnsupportedModel("is no model of Keras: it has no list of layers", hint="the file is damaged")
    found: list[tuple[str, str, Config]] = []
    for number, layer in enumerate(layers):
        kind, settings = _entry(layer, "class_name"), _entry(layer, "config")
        name = str(settings.get("name", number)) if isinstance(settings, dict) else str(number)
        if not isinstance(kind, str) or not isinstance(settings, dict):
            refuse(name, "is not described as Keras does", hint="the file is damaged")
        _check_own(name, kind, layer)
        if kind not in READERS:
            refuse(
                f"{name} ({kind})",
                "is not read",
                hint=f"layers that are: {', '.join(sorted(READERS))}; or {OTHER_MODELS}",
            )
        strange = [one for one in settings if one not in (*OF_ALL, *SETTINGS[kind])]
        if strange or {"negative_slope", "alpha"} <= set(settings):
            refuse(f"{name} ({kind})", f"has a setting that is not read, {(*strange, 'alpha')[0]!r}")
        found.append((name, kind, settings))
    if len({name for name, _, _ in found}) < len(found):
        raise UnsupportedModel("has two layers of one name", hint="the file is damaged")
    return found


def layers_graph(layers: Sequence[tuple[str, str, Config]], weights: Mapping[str, Weights]) -> Graph:
    """The network of these layers, each with its weights in Keras' order."""
    arrays = {f"{name}: {i}": one for name, own in weights.items() for i, one in enumerate(own)}
    made = LayerGraph("Keras", arrays)
    for name, kind, settings in layers:
        _check_precision(name, settings, made.dtype)
        READERS[kind](made, name, settings, list(weights.get(name, [])))
    found = made.graph()
    for name, _, settings in layers:
        _check_rows(name, settings, found.inputs[0].width)
    return found


def _check_rows(name: str, settings: Config, width: int) -> None:
    """A model takes rows of as many columns as its first weights are for, not tables: layers would be repeated over their rows."""
    shape = next((settings[key] for key in INPUT_SHAPES if settings.get(key) is not None), None)
    if shape is not None and (
        not isinstance(shape, list) or len(shape) != 2 or shape[1] not in (None, width)
    ):
        refuse(
            name,
            f"takes inputs of the shape {shape!r}",
            hint=f"rows of {width} columns, [null, {width}], are read",
        )


def weight_names(kind: str, settings: Config) -> tuple[str, ...]:
    """What a layer has weights for, in Keras' order."""
    if kind == "Dense":
        return ("kernel", "bias") if settings.get("use_bias", True) else ("kernel",)
    if kind != "BatchNormalization":
        return ()
    own = [name for name, flag in (("gamma", "scale"), ("beta", "center")) if settings.get(flag, True)]
    return (*own, "moving_mean", "moving_variance")


def _entry(value: Any, key: str) -> Any:
    if not isinstance(value, dict) or key not in value:
        raise UnsupportedModel(f"is no model of Keras: {key!r} is missing", hint="the file is damaged")
    return value[key]


def _check_own(name: str, kind: str, layer: Config) -> None:
    """A class that somebody registered may do anything, whatever it is called; a shared object is another
    one than is described."""
    strange = [one for one in layer if one not in OF_AN_ENTRY]
    if strange:
        refuse(f"{name} ({kind})", f"is described with {strange[0]!r}, which is not read")
    module, registered = layer.get("module"), layer.get("registered_name")
    if (module is not None and str(module).partition(".")[0] not in OWN_MODULES) or registered not in (
        None,
        "",
        kind,
    ):
        refuse(f"{name} ({kind})", "is a class of one's own, whose code is not in the file")


def _check_precision(name: str, settings: Config, dtype: np.dtype[Any]) -> None:
    """Layers calculate in the type of their weights."""
    policy = settings.get("dtype") or USUAL_PRECISION
    if isinstance(policy, dict):
        inner = policy.get("config")
        named = policy.get("class_name") in POLICIES and isinstance(inner, dict)
        policy = inner.get("name") if named and inner and set(inner) == {"name"} else None
    if policy != dtype.name or settings.get("quantization_config"):
        refuse(
            name,
            f"calculates in {policy}, and weights are {dtype.name}",
            hint="all in float32, or in float64, are read",
        )


# -- layers -----------------------------------------------------------------------------------------------


def _dense(made: LayerGraph, name: str, settings: Config, own: Weights) -> None:
    if len(own) != len(weight_names("Dense", settings)) or settings.get("lora_rank") is not None:
        refuse(name, f"has {len(own)} weights")
    if own[0].shape[1:] != (settings.get("units"),):
        refuse(name, f"has weights of the shape {own[0].shape} for {settings.get('units')} units")
    made.dense(name, own[0], own[1] if len(own) > 1 else None)
    if settings.get("activation") not in (None, "linear"):
        _bend(made, f"{name}, activation", settings["activation"])


def _normalization(made: LayerGraph, name: str, settings: Config, own: Weights) -> None:
    axis, names = settings.get("axis", -1), weight_names("BatchNormalization", settings)
    if axis not in (-1, 1, [-1], [1]) or len(own) != len(names):
        refuse(name, f"has axis={axis!r} and {len(own)} weights")
    given = dict(zip(names, own, strict=True))
    mean = given["moving_mean"]
    made.normalization(
        name,
        given.get("gamma", np.ones_like(mean)),
        given.get("beta", np.zeros_like(mean)),
        mean,
        given["moving_variance"],
        _number(name, settings, "epsilon"),
    )


def _activation(made: LayerGraph, name: str, settings: Config, own: Weights) -> None:  # noqa: ARG001
    _bend(made, name, settings.get("activation"))


def _bend(made: LayerGraph, name: str, activation: Any) -> None:
    if activation == "linear":
        made.nothing(name)
    elif activation == "relu6":
        made.clip(name, 0.0, 6.0)
    elif activation == "elu":
        made.bend(name, "Elu", alpha=1.0)
    elif activation == "leaky_relu":
        made.bend(name, "LeakyRelu", alpha=USUAL_SLOPE)
    elif isinstance(activation, str) and activation in PLAIN_BENDS:
        made.bend(name, PLAIN_BENDS[activation])
    else:
        known = ("linear", "relu6", "elu", "leaky_relu", *PLAIN_BENDS)
        told = activation.get("class_name") if isinstance(activation, dict) else activation
        refuse(
            name,
            f"has the activation {told!r}, which is not read",
            hint=f"activations that are: {', '.join(known)}",
        )


def _relu(made: LayerGraph, name: str, settings: Config, own: Weights) -> None:  # noqa: ARG001
    slope, most = _number(name, settings, "negative_slope", 0.0), settings.get("max_value")
    if _number(name, settings, "threshold", 0.0) != 0 or (most is not None and slope != 0):
        refuse(name, "has a threshold, or both a slope below 0 and a largest value")
    if most is not None:
        made.clip(name, 0.0, _number(name, settings, "max_value"))
    elif slope:
        made.bend(name, "LeakyRelu", alpha=slope)
    else:
        made.bend(name, "Relu")


def _leaky_relu(made: LayerGraph, name: str, settings: Config, own: Weights) -> None:  # noqa: ARG001
    setting = "negative_slope" if "negative_slope" in settings else "alpha"
    made.bend(name, "LeakyRelu", alpha=_number(name, settings, setting))


def _elu(made: LayerGraph, name: str, settings: Config, own: Weights) -> None:  # noqa: ARG001
    made.bend(name, "Elu", alpha=_number(name, settings, "alpha", 1.0))


def _softmax(made: LayerGraph, name: str, settings: Config, own: Weights) -> None:  # noqa: ARG001
    if settings.get("axis", -1) not in (-1, 1):
        refuse(name, f"has axis={settings['axis']!r}", hint="the last one, the scores of a row, is read")
    made.bend(name, "Softmax")


def _nothing(made: LayerGraph, name: str, settings: Config, own: Weights) -> None:  # noqa: ARG001
    made.nothing(name)


def _number(name: str, settings: Config, setting: str, usual: float | None = None) -> float:
    value = settings.get(setting, usual)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < LARGEST:
        refuse(name, f"has {setting}={value!r}, which is no number")
    return float(value)


READERS: dict[str, Callable[[LayerGraph, str, Config, Weights], None]] = {
    "Dense": _dense,
    "BatchNormalization": _normalization,
    "Activation": _activation,
    "ReLU": _relu,
    "LeakyReLU": _leaky_relu,
    "ELU": _elu,
    "Softmax": _softmax,
    "Flatten": _nothing,
    **dict.fromkeys(NOTHING, _nothing),
}
