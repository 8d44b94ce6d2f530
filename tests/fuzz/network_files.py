"""Files of networks for `files`: graphs that ONNX Runtime runs, and lists of layers, which NumPy runs here as Keras and PyTorch say that they read them. Nothing here is shared with the package."""

from __future__ import annotations

import contextlib
import io
import json
import random
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.mutations import (
    NUMBER,
    WORDS,
    Format,
    mutate_bytes,
    mutate_json,
    mutate_members,
    mutate_text,
    zip_files,
    zipped,
)

WIDTH = 4
RANDOM = np.random.default_rng(5)


def numbers() -> Any:
    """Rows of numbers, with what is seldom seen among them."""
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(200, WIDTH)).astype(np.float32)
    rows[::7, 0], rows[1::7, 1] = 0, draw.choice([-40, 40, 3, 1e-30], len(rows[1::7]))
    return rows


# -- ONNX -----------------------------------------------------------------------------------------------------


def graphs() -> list[bytes]:
    """Networks, and classical models as scikit-learn's converter writes them."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from skl2onnx import to_onnx
    from sklearn.ensemble import GradientBoostingClassifier, RandomForestRegressor
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    def network(version: int, *last: Any) -> Any:
        weights = {
            "W": (WIDTH, 3), "b": (3,), "scale": (3,), "shift": (3,), "mean": (3,), "V": (3, 2), "c": (2,)
        }  # fmt: skip
        held = [
            numpy_helper.from_array(RANDOM.normal(size=shape).astype(np.float32), name)
            for name, shape in weights.items()
        ]
        held.append(numpy_helper.from_array(np.float32([1, 2, 3]), "spread"))
        nodes = [
            helper.make_node("Gemm", ["x", "W", "b"], ["g"], alpha=0.5),
            helper.make_node("BatchNormalization", ["g", "scale", "shift", "mean", "spread"], ["n"]),
            helper.make_node("LeakyRelu", ["n"], ["r"], alpha=0.25),
            helper.make_node("MatMul", ["r", "V"], ["m"]),
            helper.make_node("Add", ["m", "c"], ["s"]),
            helper.make_node("Softmax", ["s"], ["y"], **({} if version > 12 else {"axis": 1})),
            *last,
        ]
        shapes = {"x": ["rows", WIDTH], "y": ["rows", 2], "l": ["rows"]}
        made = [name for node in last for name in node.output]
        values = [
            helper.make_tensor_value_info(
                name, TensorProto.INT64 if name == "l" else TensorProto.FLOAT, shape
            )
            for name, shape in shapes.items()
            if name in ("x", "y", *made)
        ]
        graph = helper.make_graph(nodes, "net", values[:1], values[:0:-1], held)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=8)

    label = helper.make_node("ArgMax", ["y"], ["l"], axis=1, keepdims=0)
    found = [network(12), network(17), network(17, label)]
    X = np.random.default_rng(0).normal(size=(80, WIDTH)).astype(np.float32)
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 1)
    models = (
        MLPClassifier((3,), max_iter=5, random_state=0).fit(X, y),
        LogisticRegression().fit(X, y),
        make_pipeline(
            StandardScaler(), GradientBoostingClassifier(n_estimators=2, max_depth=2).fit(X, y)
        ).fit(X, y),
        SVC().fit(X[:20], y[:20] > 0),
    )
    for model in models:
        options = {id(model): {"zipmap": False}}
        found.append(to_onnx(model, X[:1], options=options, target_opset={"": 15, "ai.onnx.ml": 1}))
    found.append(to_onnx(RandomForestRegressor(2, max_depth=2, random_state=0).fit(X, X[:, 1]), X[:1]))
    assert all(isinstance(one, onnx.ModelProto) for one in found)
    return [one.SerializeToString() for one in found]


def mutate_onnx(draw: random.Random, content: bytes) -> bytes:
    """Bytes, or a field of some message that is other, gone, there twice, or that of another message of its kind."""
    import onnx

    if draw.random() < 0.3:
        return mutate_bytes(draw, content)
    model = onnx.ModelProto.FromString(content)
    for _ in range(draw.choice((1, 1, 2))):
        waiting, messages = [model], []
        while waiting:
            one = waiting.pop()
            messages.append(one)
            for field, value in one.ListFields():
                if field.message_type is not None:
                    waiting += list(value) if field.is_repeated else [value]
        one = draw.choice([message for message in messages if message.ListFields()])
        field, value = draw.choice(one.ListFields())
        alike = (
            [m for m in messages if m.DESCRIPTOR is one.DESCRIPTOR and m.HasField(field.name)]
            if not field.is_repeated
            else []
        )
        match draw.randrange(5):
            case 0:
                one.ClearField(field.name)
            case 1 if alike and field.message_type is None:
                setattr(one, field.name, getattr(draw.choice(alike), field.name))
            case 2 if field.is_repeated and len(value):
                kept = list(value)
                draw.choice(
                    (
                        draw.shuffle,
                        lambda k: k.append(draw.choice(k)),
                        lambda k: k.pop(),
                        lambda k: k.insert(0, k[-1]),
                    )
                )(kept)
                one.ClearField(field.name)
                getattr(one, field.name).extend(kept)
            case 3:
                other = draw.choice(one.DESCRIPTOR.fields)
                _set(draw, one, other, messages)
            case _:
                _set(draw, one, field, messages)
    return bytes(model.SerializeToString())


def _set(draw: random.Random, message: Any, field: Any, messages: list[Any]) -> None:
    """Another value of a field."""
    value: Any
    if field.message_type is not None:
        alike = [one for one in messages if one.DESCRIPTOR.full_name == field.message_type.full_name]
        copied = [one.SerializeToString() for one in alike]  # messages are not copied into themselves
        if field.is_repeated:
            added = getattr(message, field.name).add()
            if copied:
                added.MergeFromString(draw.choice(copied))
        elif copied:
            getattr(message, field.name).MergeFromString(draw.choice(copied))
        return
    if field.type in (9, 12):
        words = [
            one.name
            for one in messages
            if one.DESCRIPTOR.name in ("NodeProto", "TensorProto", "AttributeProto")
        ]
        words += [one.op_type for one in messages if one.DESCRIPTOR.name == "NodeProto"]
        value = draw.choice(
            (
                *words,
                "",
                "x",
                "ai.onnx",
                "ai.onnx.ml",
                "BRANCH_LT",
                "BRANCH_EQ",
                "LEAF",
                "SOFTMAX",
                "Neg",
                "Elu",
                "HardSigmoid",
            )
        )
        value = value if field.type == 9 else draw.choice((value.encode(), draw.randbytes(8)))
    elif field.type in (1, 2):
        value = draw.choice((0.0, 1.0, -1.0, 0.5, 1e-40, 3e38, float("nan"), float("inf"), draw.gauss(0, 1)))
    else:
        value = draw.choice((0, 1, -1, 2, 3, 6, 7, 9, 10, 11, 12, 13, 17, 25, 2**31 - 1, 2**40))
    try:
        if field.is_repeated:
            held = getattr(message, field.name)
            if held and draw.random() < 0.7:
                held[draw.randrange(len(held))] = value
            else:
                held.append(value)
        else:
            setattr(message, field.name, value)
    except ValueError:  # out of the range of the field
        return


def _answers(model: Any, rows: Any) -> list[Any]:
    """What a graph shows, and the places of the labels that it gives."""
    found = model._run(rows)
    if isinstance(found, dict):
        shown = found[model.graph.output] if model.graph.output in found else model.shares(rows)
        label = model.scoring.node.label
        return [np.ravel(found[label]) if label in found else 0, shown]
    return [0, found[0]]


def import_rows(model: Any, rows: Any) -> None:
    """Have a model read and compared over features that are numbers, as every command does."""
    import likewise as lw
    from likewise.importers.imported_model import import_model

    space = lw.Space({f"x{i}": lw.Continuous(-40, 40) for i in range(WIDTH)})
    import_model(model, space, rows=rows.astype(np.float64))


def our_onnx(model: Any, rows: Any) -> list[Any]:
    from likewise.errors import UnsupportedModel

    import_rows(model, rows)
    if model.stand_in is not None:
        raise UnsupportedModel("ONNX Runtime does not run what was read")
    label, shown = _answers(model, rows)
    return [label, np.asarray(shown, dtype=np.float64).reshape(len(rows), -1)]


def their_onnx(path: str, rows: Any) -> list[Any]:
    import onnx
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads, options.log_severity_level = 1, 1, 4
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    (taken,) = session.get_inputs()
    kinds = {
        "tensor(float)": np.float32,
        "tensor(double)": np.float64,
        "tensor(int64)": np.int64,
        "tensor(int32)": np.int32,
    }
    made = {
        one.name: value
        for one, value in zip(
            session.get_outputs(),
            session.run(None, {taken.name: rows.astype(kinds[taken.type])}),
            strict=True,
        )
    }
    (shown,) = (value for value in made.values() if isinstance(value, np.ndarray) and value.dtype.kind == "f")
    classical = any(node.op_type.endswith("Classifier") for node in onnx.load(path).graph.node)
    labels = [np.ravel(value) for value in made.values() if classical and value.dtype.kind in "iu"]
    return [labels[0] if labels else 0, np.asarray(shown, dtype=np.float64).reshape(len(rows), -1)]


# -- layers ---------------------------------------------------------------------------------------------------

BENDS: dict[str, Callable[..., Any]] = {
    "linear": lambda x: x,
    "relu": lambda x: np.maximum(x, 0),
    "relu6": lambda x: np.clip(x, 0, 6),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "elu": lambda x, alpha=1.0: np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0))),
    "leaky_relu": lambda x, slope=0.2: np.where(x > 0, x, slope * x),
    "softmax": lambda x: (
        (powers := np.exp(x - x.max(axis=1, keepdims=True))) / powers.sum(axis=1, keepdims=True)
    ),
}


def answered(model: Any, rows: Any) -> list[Any]:
    """The output of a list of layers."""
    import_rows(model, rows)
    return [0, model._run(rows)[0]]


def _shown(x: Any) -> list[Any]:
    return [0, np.asarray(x, dtype=np.float64).reshape(len(x), -1)]


def normalized(x: Any, scale: Any, shift: Any, mean: Any, variance: Any, epsilon: float) -> Any:
    assert len({np.shape(one) for one in (scale, shift, mean, variance)}) == 1
    return (x - mean) / np.sqrt(variance + epsilon) * scale + shift


# -- Keras ----------------------------------------------------------------------------------------------------

KERAS_LAYERS: tuple[tuple[str, str, dict[str, Any], tuple[tuple[str, tuple[int, ...]], ...]], ...] = (
    ("a", "Dense", {"units": 4, "activation": "linear", "use_bias": True}, (("kernel", (WIDTH, 4)), ("bias", (4,)))),
    ("norm", "BatchNormalization", {"axis": -1, "momentum": 0.99, "epsilon": 0.001, "center": True, "scale": True},
     tuple((name, (4,)) for name in ("gamma", "beta", "moving_mean", "moving_variance"))),
    ("bend", "LeakyReLU", {"negative_slope": 0.5}, ()),
    ("c", "Dense", {"units": 4, "activation": "elu", "use_bias": False}, (("kernel", (4, 4)),)),
    ("r", "ReLU", {"max_value": 2.0, "negative_slope": 0.0, "threshold": 0.0}, ()),
    ("drop", "Dropout", {"rate": 0.5, "seed": None, "noise_shape": None}, ()),
    ("d", "Dense", {"units": 2, "activation": "softmax", "use_bias": True}, (("kernel", (4, 2)), ("bias", (2,)))),
)  # fmt: skip
WEIGHTS = {
    (name, part): np.abs(RANDOM.normal(size=shape)).astype(np.float32) + (part == "moving_variance")
    for name, _, _, parts in KERAS_LAYERS
    for part, shape in parts
}


def keras_description() -> dict[str, Any]:
    entry = {
        "module": "keras.layers",
        "class_name": "InputLayer",
        "config": {"batch_shape": [None, WIDTH], "dtype": "float32", "sparse": False, "name": "input_layer"},
        "registered_name": None,
    }
    policy = {
        "module": "keras",
        "class_name": "DTypePolicy",
        "config": {"name": "float32"},
        "registered_name": None,
    }
    layers = [
        {
            "module": "keras.layers",
            "class_name": kind,
            "config": {"name": name, "trainable": True, "dtype": policy, **settings},
            "registered_name": None,
        }
        for name, kind, settings, _ in KERAS_LAYERS
    ]
    return {
        "module": "keras",
        "class_name": "Sequential",
        "config": {"name": "net", "trainable": True, "layers": [entry, *layers]},
        "registered_name": None,
    }


def snake(kind: str) -> str:
    return re.sub("([a-z])([A-Z])", r"\1_\2", re.sub("(.)([A-Z][a-z]+)", r"\1_\2", kind)).lower()


def keras_weights(suffix: str, change: Callable[[Any], None] | None = None) -> bytes:
    import h5py

    made, seen = io.BytesIO(), dict[str, int]()
    with h5py.File(made, "w") as file:
        if suffix == ".h5":
            file.attrs["model_config"] = json.dumps(keras_description())
            file.create_group("model_weights").attrs["layer_names"] = [
                one[0].encode() for one in KERAS_LAYERS
            ]
        for name, kind, _, parts in KERAS_LAYERS:
            seen[kind] = seen.get(kind, -1) + 1
            place = snake(kind) + (f"_{seen[kind]}" if seen[kind] else "")
            group = file.create_group(
                f"layers/{place}/vars" if suffix == ".keras" else f"model_weights/{name}"
            )
            if suffix == ".h5":
                group.attrs["weight_names"] = [f"{name}/{part}:0".encode() for part, _ in parts]
            for number, (part, _) in enumerate(parts):
                group[str(number) if suffix == ".keras" else f"{name}/{part}:0"] = WEIGHTS[name, part]
        if change is not None:
            change(file)
    return made.getvalue()


def keras_file() -> list[bytes]:
    described = json.dumps(keras_description()).encode()
    return [
        zipped(
            {"metadata.json": b"{}", "config.json": described, "model.weights.h5": keras_weights(".keras")}
        )
    ]


def mutate_hdf5(draw: random.Random, content: bytes) -> bytes:
    """Bytes, or an attribute, an array or a group that is other, gone, or that of another place."""
    import h5py

    if draw.random() < 0.3:
        return mutate_bytes(draw, content)
    made = io.BytesIO(content)
    with contextlib.suppress(OSError), h5py.File(made, "r+") as file:  # no entries below an array
        places: list[str] = []
        file.visit(places.append)
        place, other = draw.choice(places), draw.choice(places)
        attributes = [(one, name) for one in ("/", *places) for name in file[one].attrs]
        match draw.randrange(7):
            case 0:
                del file[place]
            case 1 if not other.startswith(place) and not place.startswith(other):
                del file[place]
                file[place] = file[other]
            case 2 if attributes:
                where, name = draw.choice(attributes)
                value = file[where].attrs[name]
                if isinstance(value, np.ndarray):
                    file[where].attrs[name] = draw.sample(value.tolist(), len(value))
                else:
                    file[where].attrs[name] = mutate_json(draw, str(value).encode())
            case 3 if attributes:
                where, name = draw.choice(attributes)
                del file[where].attrs[name]
            case 4:
                file[place].attrs["dtype"] = draw.choice(("bfloat16", "float32"))
            case 5:
                file[place + draw.choice(("x", "/0", "_1"))] = np.zeros(draw.choice((0, 1, 4)), np.float32)
            case _:
                arrays = [one for one in places if isinstance(file[one], h5py.Dataset)]
                one = draw.choice(arrays)
                values = file[one][()]
                del file[one]
                file[one] = draw.choice(
                    (
                        values.astype(np.float64),
                        values.T,
                        values[:-1],
                        values * np.nan,
                        values.astype(np.float16),
                        values[::-1],
                        -values,
                    )
                )
    return made.getvalue()


def mutate_keras(draw: random.Random, content: bytes) -> bytes:
    """Its description, its weights, or the archive of both."""
    if draw.random() < 0.1:
        return mutate_bytes(draw, content)
    files = zip_files(content)
    match draw.randrange(5):
        case 0 | 1:
            files["config.json"] = mutate_json(draw, files["config.json"])
        case 2 | 3:
            files["model.weights.h5"] = mutate_hdf5(draw, files["model.weights.h5"])
        case _:
            return mutate_members(draw, files)
    return zipped(files)


def mutate_h5(draw: random.Random, content: bytes) -> bytes:
    """Its description half of the time, else the rest."""
    import h5py

    if draw.random() < 0.5:
        return mutate_hdf5(draw, content)
    made = io.BytesIO(content)
    with h5py.File(made, "r+") as file:
        file.attrs["model_config"] = mutate_json(draw, str(file.attrs["model_config"]).encode())
    return made.getvalue()


def as_keras_runs(layers: list[tuple[str, dict[str, Any]]], weights: list[list[Any]], rows: Any) -> Any:
    """Layers with their weights, in Keras' order, in NumPy."""
    x = np.asarray(rows, dtype=np.float32)
    for (kind, given), held in zip(layers, weights, strict=True):
        own = [np.asarray(one).astype(np.float32) for one in held]
        assert all(np.asarray(one).dtype.kind in "iufb" for one in held)
        if kind == "Dense":
            assert own[0].shape == (x.shape[-1], given["units"])
            assert all(one.shape == (given["units"],) for one in own[1:])
            x = BENDS[given.get("activation") or "linear"](
                x @ own[0] + (own[1] if given.get("use_bias", True) else 0)
            )
        elif kind == "BatchNormalization":
            assert all(one.shape == x.shape[-1:] for one in own)
            scale = own.pop(0) if given.get("scale", True) else np.ones_like(own[-1])
            shift = own.pop(0) if given.get("center", True) else np.zeros_like(own[-1])
            x = normalized(x, scale, shift, *own, given.get("epsilon", 0.001))
        elif kind == "LeakyReLU":
            x = BENDS["leaky_relu"](
                x, given["alpha"] if "alpha" in given else given.get("negative_slope", 0.3)
            )
        elif kind == "ReLU":
            most = given.get("max_value")
            limit, slope = given.get("threshold", 0), given.get("negative_slope", 0)
            high = x if most is None else np.minimum(x, most)
            x = np.where(x >= limit, high, slope * (x - limit))
        else:
            assert kind == "Dropout"
    return x


def _count(kind: str, given: dict[str, Any]) -> int:
    if kind == "Dense":
        return 2 if given.get("use_bias", True) else 1
    return (
        2 + bool(given.get("scale", True)) + bool(given.get("center", True))
        if kind == "BatchNormalization"
        else 0
    )


KNOWN = {kind: {"name", "trainable", "dtype", *given} for _, kind, given, _ in KERAS_LAYERS}


def described(text: Any) -> tuple[list[tuple[str, dict[str, Any]]], list[int]]:
    """The layers of a description as Keras makes them, and which of them are the same object."""
    made = json.loads(text)
    assert made["class_name"] == "Sequential"
    layers, shared = [], list[int]()
    for place, one in enumerate(made["config"]["layers"]):
        kind, given = one["class_name"], one["config"]
        if kind == "InputLayer":
            continue
        assert set(given) <= KNOWN[kind] | ({"alpha"} if kind == "LeakyReLU" else set())
        policy = given.get("dtype") or "float32"
        assert (policy if isinstance(policy, str) else policy["config"]["name"]) == "float32"
        layers.append((kind, given))
        shared.append(one.get("shared_object_id", -place))
    return layers, shared


def their_keras(path: str, rows: Any) -> list[Any]:
    import h5py
    import ml_dtypes

    files = zip_files(Path(path).read_bytes())
    layers, shared = described(files["config.json"])
    seen, weights = dict[str, int](), []
    with h5py.File(io.BytesIO(files["model.weights.h5"]), "r") as file:
        container = "layers" if "layers" in file else "_layer_checkpoint_dependencies"
        for number, (kind, given) in enumerate(layers):
            if shared[number] in shared[:number]:
                layers[number] = layers[shared.index(shared[number])]
                weights.append(weights[shared.index(shared[number])])
                continue
            seen[kind] = seen.get(kind, -1) + 1
            place = f"{container}/{snake(kind)}" + (f"_{seen[kind]}" if seen[kind] else "")
            held = file[f"{place}/vars"] if _count(kind, given) else ()
            assert len(held) == _count(kind, given)
            own = [held[str(i)] for i in range(len(held))]
            weights.append(
                [
                    one[()].astype(ml_dtypes.bfloat16).astype(np.float32)
                    if one.attrs.get("dtype") == "bfloat16"
                    else one[()]
                    for one in own
                ]
            )
    return _shown(as_keras_runs(layers, weights, rows))


def their_h5(path: str, rows: Any) -> list[Any]:
    """Weights go to the layers that have some in the order that the file says, whatever they are called."""
    import h5py

    with h5py.File(path, "r") as file:
        layers, _ = described(file.attrs["model_config"])
        root = file["model_weights"]
        named = [
            [name if isinstance(name, str) else name.decode() for name in root[one].attrs["weight_names"]]
            for one in root.attrs["layer_names"]
        ]
        groups = [root[one] for one in root.attrs["layer_names"]]
        held = iter(
            [[group[name][()] for name in names] for group, names in zip(groups, named, strict=True) if names]
        )
        weights = [next(held) if _count(kind, given) else [] for kind, given in layers]
        assert next(held, None) is None
    assert [len(own) for own in weights] == [_count(*one) for one in layers]
    return _shown(as_keras_runs(layers, weights, rows))


# -- NumPy ----------------------------------------------------------------------------------------------------

PRINTED = (
    "Linear(in_features=4, out_features=3, bias=True)",
    "BatchNorm1d(3, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)",
    "LeakyReLU(negative_slope=0.5)",
    "Linear(in_features=3, out_features=3, bias=False)",
    "Hardtanh(min_val=-1.0, max_val=1.0)",
    "Dropout(p=0.5, inplace=False)",
    "ELU(alpha=0.5)",
    "Linear(in_features=3, out_features=2, bias=True)",
    "Softmax(dim=1)",
)


def npz_files() -> list[bytes]:
    arrays: dict[str, Any] = {"layers": np.array(PRINTED)}
    for place, (inputs, outputs) in {0: (4, 3), 3: (3, 3), 7: (3, 2)}.items():
        arrays[f"{place}.weight"] = RANDOM.normal(size=(outputs, inputs)).astype(np.float32)
        if place != 3:
            arrays[f"{place}.bias"] = RANDOM.normal(size=outputs).astype(np.float32)
    for name in ("weight", "bias", "running_mean", "running_var"):
        arrays[f"1.{name}"] = np.float32([1, 2, 3])
    made = io.BytesIO()
    np.savez(made, **arrays, **{"1.num_batches_tracked": np.array(7)})
    return [made.getvalue()]


def mutate_npz(draw: random.Random, content: bytes) -> bytes:
    """The texts of layers, an array, or the archive of them."""
    if draw.random() < 0.1:
        return mutate_bytes(draw, content)
    files = zip_files(content)
    if draw.random() < 0.3:
        return mutate_members(draw, files)
    name = "layers.npy" if draw.random() < 0.6 else draw.choice(list(files))
    array = np.load(io.BytesIO(files[name]))
    if array.dtype.kind == "U":
        texts, at = array.tolist(), draw.randrange(len(array))
        match draw.randrange(5):
            case 0:
                texts[at] = mutate_text(draw, texts[at].encode()).decode()
            case 1:
                texts[at] = NUMBER.sub(lambda found: draw.choice((found[0], *WORDS)), texts[at])
            case 2:
                texts[at] = texts[draw.randrange(len(texts))]
            case 3:
                texts[at] = draw.choice(
                    (
                        re.sub(r"\w+=", "", texts[at]),
                        texts[at].replace("True", "False"),
                        texts[at].replace(")", ", extra=1)"),
                    )
                )
            case _:
                draw.shuffle(texts)
        array = np.array(texts)
    else:
        array = draw.choice(
            (
                array.T,
                -array,
                array[:-1] if array.ndim else array,
                array.astype(np.float64),
                array.astype(">f4"),
                array[::-1] if array.ndim else array,
                np.asfortranarray(array),
            )
        )
    made = io.BytesIO()
    np.save(made, array)
    return zipped({**files, name: made.getvalue()})


SIGNATURES = {
    "Linear": ("in_features", "out_features", "bias"),
    "BatchNorm1d": ("num_features", "eps", "momentum", "affine", "track_running_stats"),
    "LeakyReLU": ("negative_slope", "inplace"),
    "Hardtanh": ("min_val", "max_val", "inplace"),
    "Dropout": ("p", "inplace"),
    "ELU": ("alpha", "inplace"),
    "Softmax": ("dim",),
}


def their_npz(path: str, rows: Any) -> list[Any]:
    """Each text called as PyTorch's class of that name, with the arrays of its place as its state."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        stored = dict(np.load(path))
    x = np.asarray(rows, dtype=np.float32)
    for place, text in enumerate(stored.pop("layers").tolist()):
        own = {
            name.partition(".")[2]: stored.pop(name) for name in list(stored) if name.startswith(f"{place}.")
        }
        own.pop("num_batches_tracked", None)

        def taken(kind: str, text: str = text) -> Any:
            names = SIGNATURES[kind]
            return lambda *values, **named: (kind, dict(zip(names, values, strict=False)) | named)

        kind, given = eval(text, {"__builtins__": {}}, {one: taken(one) for one in SIGNATURES})  # noqa: S307 - texts made here
        assert set(given) <= set(SIGNATURES[kind])
        if kind == "Linear":
            assert set(own) == {"weight", "bias"} if given.get("bias", True) else set(own) == {"weight"}
            assert own["weight"].shape == (given["out_features"], given["in_features"])
            x = x @ own["weight"].T.astype(np.float32) + own.get("bias", np.float32(0))
        elif kind == "BatchNorm1d":
            assert given.get("affine", True)
            assert given.get("track_running_stats", True)
            assert all(one.shape == (given["num_features"],) for one in own.values())
            x = normalized(
                x, own["weight"], own["bias"], own["running_mean"], own["running_var"], given.get("eps", 1e-5)
            )
        else:
            assert not own
        if kind == "LeakyReLU":
            x = BENDS["leaky_relu"](x, given.get("negative_slope", 0.01))
        elif kind == "Hardtanh":
            x = np.clip(x, given.get("min_val", -1.0), given.get("max_val", 1.0))
        elif kind == "ELU":
            x = BENDS["elu"](x, given.get("alpha", 1.0))
        elif kind == "Softmax":
            assert given["dim"] in (1, -1)
            x = BENDS["softmax"](x)
    assert not stored
    return _shown(x)


NETWORKS = {
    "onnx": Format(".onnx", graphs, mutate_onnx, our_onnx, their_onnx, numbers),
    "npz": Format(".npz", npz_files, mutate_npz, answered, their_npz, numbers),
    "keras": Format(".keras", keras_file, mutate_keras, answered, their_keras, numbers),
    "keras-h5": Format(".h5", lambda: [keras_weights(".h5")], mutate_h5, answered, their_h5, numbers),
}
