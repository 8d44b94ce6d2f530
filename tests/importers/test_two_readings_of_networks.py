"""Files of networks that two programs can take in two ways: refused, whichever way the library takes. Every change here leaves a file that some program reads, and reads otherwise than another."""

import io
import json
import zipfile

import numpy as np
import pytest

from likewise.errors import UnsupportedModel
from likewise.importers.files import load_model
from likewise.importers.layer_files import hdf5_process
from likewise.spec.model_reading import ModelReading

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install onnx")
h5py = pytest.importorskip("h5py", reason="h5py is not installed: pip install h5py")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

RANDOM = np.random.default_rng(0)
FIRST, SHIFT, LAST = (RANDOM.normal(size=shape).astype(np.float32) for shape in ((4, 4), 4, (4, 2)))
READING = ModelReading(labels=("no", "yes"))


@pytest.fixture(autouse=True)
def opened_here(monkeypatch):
    """HDF5 files are opened in this process, which is quicker."""
    monkeypatch.setattr(hdf5_process, "ask_process", lambda _module, asked, _what: hdf5_process.answer(asked))


def refused(path, content):
    path.write_bytes(content)
    with pytest.raises(UnsupportedModel):
        load_model(path, reading=READING)


# -- ONNX -----------------------------------------------------------------------------------------------------


def network():
    nodes = [
        helper.make_node("Gemm", ["x", "W", "b"], ["a"]),
        helper.make_node("LeakyRelu", ["a"], ["r"], alpha=0.5),
        helper.make_node("MatMul", ["r", "V"], ["s"]),
        helper.make_node("Softmax", ["s"], ["y"], axis=1),
    ]
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 2])],
        [numpy_helper.from_array(value, name) for name, value in (("W", FIRST), ("b", SHIFT), ("V", LAST))],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)


def function(model):
    model.functions.append(
        helper.make_function(
            "", "LeakyRelu", ["i"], ["o"], [helper.make_node("Neg", ["i"], ["o"])], model.opset_import
        )
    )


def overload(model):
    model.graph.node[1].overload = "other"


def borrowed_attribute(model):
    model.graph.node[1].attribute[0].ref_attr_name = "slope"


def two_values(model):
    model.graph.node[1].attribute[0].floats.append(0.1)


def two_versions(model):
    model.opset_import.append(helper.make_opsetid("ai.onnx", 12))


def two_versions_of_others(model):
    model.opset_import.extend(helper.make_opsetid("ai.onnx.ml", version) for version in (1, 3))


def two_places(model):
    model.graph.initializer[1].float_data.extend([9.0] * 4)


def numbers_of_another_type(model):
    model.graph.initializer[1].int64_data.append(9)


def segment(model):
    model.graph.initializer[1].segment.end = 2


def training(model):
    model.training_info.add()


def quantized(model):
    model.graph.quantization_annotation.add().tensor_name = "W"


def letters_that_are_none(model):
    model.graph.node[3].attribute.append(helper.make_attribute("note", b"\xff"))


def add_output(model, name, kind, *nodes):
    model.graph.node.extend(nodes)
    model.graph.output.append(helper.make_tensor_value_info(name, kind, ["rows"]))


def labels_of_other_scores(model):
    other = helper.make_node("Neg", ["s"], ["n"])
    add_output(
        model, "l", TensorProto.INT64, other, helper.make_node("ArgMax", ["n"], ["l"], axis=1, keepdims=0)
    )


def the_last_of_equal_scores(model):
    label = helper.make_node("ArgMax", ["y"], ["l"], axis=1, keepdims=0, select_last_index=1)
    add_output(model, "l", TensorProto.INT64, label)


def labels_that_are_true_or_false(model):
    model.graph.initializer.append(numpy_helper.from_array(np.float32([0, 1]), "limit"))
    add_output(model, "l", TensorProto.BOOL, helper.make_node("Greater", ["y", "limit"], ["l"]))


def two_labels(model):
    for name, scores in (("l", "y"), ("m", "a")):
        label = helper.make_node("ArgMax", [scores], [name], axis=1, keepdims=0)
        add_output(model, name, TensorProto.INT64, label)


IN_ONNX = [
    *(function, overload, borrowed_attribute, two_values, two_versions, two_versions_of_others, two_places),
    *(numbers_of_another_type, segment, training, quantized, letters_that_are_none, labels_of_other_scores),
    *(the_last_of_equal_scores, labels_that_are_true_or_false, two_labels),
]


@pytest.mark.parametrize("change", IN_ONNX)
def test_two_readings_of_onnx_are_refused(tmp_path, change):
    model = network()
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    load_model(tmp_path / "net.onnx", reading=READING)
    change(model)
    refused(tmp_path / "net.onnx", model.SerializeToString())


def test_fields_that_come_twice_or_are_unknown_are_refused(tmp_path):
    model = network()
    content = model.SerializeToString()
    other = onnx.ModelProto(graph=onnx.GraphProto(initializer=[numpy_helper.from_array(SHIFT, "c")]))
    unknown = bytes([0xFA, 0x7F, 2, 1, 2])
    as_text = bytes([0x0A, 1, 10])  # ir_version, as bytes
    for more in (other.SerializeToString(), content, unknown, as_text, bytes([8, 10])):
        refused(tmp_path / "net.onnx", content + more)


def test_labels_of_the_largest_score_are_read(tmp_path):
    for scores in ("y", "s"):
        model = network()
        nodes = (
            helper.make_node("ArgMax", [scores], ["place"], axis=1),
            helper.make_node("ArrayFeatureExtractor", ["names", "place"], ["named"], domain="ai.onnx.ml"),
            helper.make_node("Cast", ["named"], ["l"], to=TensorProto.INT64),
        )
        model.graph.initializer.append(numpy_helper.from_array(np.array([3, 5]), "names"))
        model.opset_import.append(helper.make_opsetid("ai.onnx.ml", 3))
        add_output(model, "l", TensorProto.INT64, *nodes)
        (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
        load_model(tmp_path / "net.onnx", reading=READING)


def test_machines_without_the_settings_of_their_kernel_are_refused(tmp_path):
    """ONNX Runtime takes 0 for all of them, and others 1 or 3."""
    settings = {
        "classlabels_ints": [0, 1],
        "coefficients": [1.0, -1.0],
        "kernel_type": "POLY",
        "rho": [0.5],
        "support_vectors": [1.0, 2.0, 3.0, 4.0],
        "vectors_per_class": [1, 1],
    }
    for more, taken in (({"kernel_params": [1.0, 0.0, 2.0]}, True), ({}, False)):
        node = helper.make_node(
            "SVMClassifier", ["x"], ["l", "y"], domain="ai.onnx.ml", **{**settings, **more}
        )
        outputs = [
            helper.make_tensor_value_info("l", TensorProto.INT64, ["rows"]),
            helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", 2]),
        ]
        graph = helper.make_graph(
            [node], "m", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["rows", 2])], outputs
        )
        versions = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
        content = helper.make_model(graph, opset_imports=versions, ir_version=10).SerializeToString()
        if taken:
            (tmp_path / "m.onnx").write_bytes(content)
            load_model(tmp_path / "m.onnx")
        else:
            refused(tmp_path / "m.onnx", content)


@pytest.mark.parametrize(
    "entries", [{"offset": "0_0"}, {"offset": " 0"}, {"offset": "\u0660"}, {"length": "+16"}]
)
def test_places_in_other_files_are_in_ascii_digits(tmp_path, entries):
    model = network()
    tensor = model.graph.initializer[1]
    (tmp_path / "b").write_bytes(tensor.raw_data)
    for more in ({}, entries):
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        del tensor.external_data[:]
        for key, value in {"location": "b", **more}.items():
            tensor.external_data.add(key=key, value=value)
        (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
        reading = ModelReading(labels=("no", "yes"), external_data=True)
        if not more:
            load_model(tmp_path / "net.onnx", reading=reading)
            continue
        with pytest.raises(UnsupportedModel, match="at a place that is not there"):
            load_model(tmp_path / "net.onnx", reading=reading)


# -- Keras ----------------------------------------------------------------------------------------------------

LAYERS = {
    "a": ("Dense", {"units": 4, "activation": "linear", "use_bias": True}, (FIRST, SHIFT)),
    "bend": ("LeakyReLU", {"negative_slope": 0.5}, ()),
    "c": ("Dense", {"units": 4, "activation": "relu", "use_bias": True}, (FIRST.T.copy(), SHIFT)),
    "d": ("Dense", {"units": 2, "activation": "softmax", "use_bias": False}, (LAST,)),
}


def description():
    layers = [
        {
            "module": "keras.layers",
            "class_name": kind,
            "config": {"name": name, "trainable": True, "dtype": "float32", **settings},
            "registered_name": None,
        }
        for name, (kind, settings, _) in LAYERS.items()
    ]
    return {"module": "keras", "class_name": "Sequential", "config": {"name": "net", "layers": layers}}


def keras_file(suffix, *, described=None, weights=None, archive=None):
    """A file as Keras writes it, but for changes of the text that describes it, of its weights, and of the archive."""
    text = json.dumps(description()) if described is None else described
    stored = io.BytesIO()
    with h5py.File(stored, "w") as file:
        if suffix == ".h5":
            file.attrs["model_config"] = text
            file.create_group("model_weights").attrs["layer_names"] = [name.encode() for name in LAYERS]
        numbers = iter(("dense", "dense_1", "dense_2"))
        for name, (_, _, arrays) in LAYERS.items():
            if suffix == ".keras" and arrays:
                group = file.create_group(f"layers/{next(numbers)}/vars")
                names = [str(i) for i in range(len(arrays))]
            elif suffix == ".h5":
                group = file.create_group(f"model_weights/{name}")
                names = [f"{name}/{one}:0" for one in ("kernel", "bias")[: len(arrays)]]
                group.attrs["weight_names"] = [one.encode() for one in names]
            for one, values in zip(names if arrays else (), arrays, strict=True):
                group[one] = values
        if weights is not None:
            weights(file)
    if suffix == ".h5":
        return stored.getvalue()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as zipped:
        zipped.writestr("metadata.json", "{}")
        zipped.writestr("config.json", text)
        zipped.writestr("model.weights.h5", stored.getvalue())
        if archive is not None:
            archive(zipped)
    return made.getvalue()


def in_layer(number, **settings):
    def change(made):
        made["config"]["layers"][number]["config"].update(settings)

    return change


def in_entry(number, **entries):
    def change(made):
        made["config"]["layers"][number].update(entries)

    return change


DESCRIBED = {
    # Keras takes the older name of the slope before the newer one.
    "two slopes": in_layer(1, alpha=0.1),
    "a setting that Keras does not write": in_layer(0, weights=[1]),
    "more units than weights": in_layer(0, units=5),
    # Keras takes a layer that it has met for the one that is described here.
    "a shared layer": lambda made: [made["config"]["layers"][i].update(shared_object_id=1) for i in (0, 2)],
    "a policy of one's own": in_layer(0, dtype={"class_name": "Mine", "config": {"name": "float32"}}),
    "a policy that says more": in_layer(
        0, dtype={"class_name": "DTypePolicy", "config": {"name": "float32", "source_name": "float16"}}
    ),
    "a model of one's own": lambda made: made.update(registered_name="Own>Sequential"),
    "a layer with inputs of its own": in_entry(2, inbound_nodes=[["a", 0, 0]]),
    # The activation of the first layer and the second layer would be called the same.
    "names that stand for others": lambda made: (
        in_layer(0, activation="relu")(made),
        in_layer(1, name="a, activation")(made),
    ),
}


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
@pytest.mark.parametrize("name", DESCRIBED)
def test_two_readings_of_descriptions_are_refused(tmp_path, suffix, name):
    path = tmp_path / f"net{suffix}"
    path.write_bytes(keras_file(suffix))
    load_model(path)
    made = description()
    DESCRIBED[name](made)
    refused(path, keras_file(suffix, described=json.dumps(made)))


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_repeated_keys_of_descriptions_are_refused(tmp_path, suffix):
    text = json.dumps(description())
    for changed in (
        text.replace('"units": 4', '"units": 4, "units": 4', 1),
        text.replace("0.5", "NaN", 1),
    ):
        assert changed != text
        refused(tmp_path / f"net{suffix}", keras_file(suffix, described=changed))


def other_order(file):
    """Keras gives weights to layers by their order here, whatever they are called."""
    file["model_weights"].attrs["layer_names"] = [b"c", b"bend", b"a", b"d"]


def other_order_and_a_decoy(file):
    other_order(file)
    file["model_weights"].attrs["weight_names"] = [name.encode() for name in LAYERS]


def no_order(file):
    del file["model_weights"].attrs["layer_names"]


@pytest.mark.parametrize("change", [other_order, other_order_and_a_decoy, no_order])
def test_weights_in_another_order_are_refused(tmp_path, change):
    refused(tmp_path / "net.h5", keras_file(".h5", weights=change))


@pytest.mark.parametrize("suffix", [".keras", ".h5"])
def test_weights_that_keras_rounds_are_refused(tmp_path, suffix):
    """An attribute says that they are of less precision, which Keras turns them into."""
    place = {".keras": "layers/dense/vars/0", ".h5": "model_weights/a/a/kernel:0"}[suffix]

    def mark(file):
        file[place].attrs["dtype"] = "bfloat16"

    refused(tmp_path / f"net{suffix}", keras_file(suffix, weights=mark))


def test_double_weights_of_single_layers_are_refused(tmp_path):
    """Without a word about precision, Keras calculates in float32."""

    def double(file):
        for place in ("dense/vars/0", "dense/vars/1", "dense_1/vars/0", "dense_1/vars/1", "dense_2/vars/0"):
            values = file[f"layers/{place}"][()]
            del file[f"layers/{place}"]
            file[f"layers/{place}"] = values.astype(np.float64)

    made = description()
    for layer in made["config"]["layers"]:
        del layer["config"]["dtype"]
    refused(tmp_path / "net.keras", keras_file(".keras", described=json.dumps(made), weights=double))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["config.json", "model.weights.h5", "model.weights.npz", "assets/x"])
def test_members_that_are_there_twice_or_unknown_are_refused(tmp_path, name):
    content = keras_file(".keras", archive=lambda zipped: zipped.writestr(name, "{}"))
    if name == "config.json":
        first = zipfile.ZipFile(io.BytesIO(keras_file(".keras"))).read(name)
        content = keras_file(".keras", archive=lambda zipped: zipped.writestr(name, first))
    refused(tmp_path / "net.keras", content)


# -- NumPy ----------------------------------------------------------------------------------------------------

LINEAR = "Linear(in_features=4, out_features=4, bias=True)"
NORMAL = "BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)"
ARRAYS = {
    "0.weight": FIRST,
    "0.bias": SHIFT,
    **{f"1.{name}": np.abs(SHIFT) + 1 for name in ("weight", "bias", "running_mean", "running_var")},
}


def npz(layers, arrays=ARRAYS):
    made = io.BytesIO()
    np.savez(made, layers=layers, **arrays)
    return made.getvalue()


@pytest.mark.parametrize(
    ("place", "text"),
    [
        (2, "Hardtanh(-2, 2)"),  # what PyTorch does not print
        (2, "Flatten(0)"),
        (2, "ReLU(threshold=1.0)"),
        (2, "Softmax(dim=1, dtype=0)"),
        (0, "Linear(in_features=4, out_features=4, bias=False)"),
        (0, "Linear(in_features=4, out_features=3, bias=True)"),
        (0, "Linear(in_features=4, out_features=4, bias=True, transposed=True)"),
        (0, "Linear(4, 4)"),
        (1, NORMAL.replace("stats=True", "stats=False")),
        (1, NORMAL.replace("affine=True", "affine=False")),
        (1, NORMAL.replace("4,", "5,")),
        (1, NORMAL.replace("4,", "4, 0.5,")),
    ],
)
def test_two_readings_of_printed_layers_are_refused(tmp_path, place, text):
    layers = [LINEAR, NORMAL, "ReLU()"]
    (tmp_path / "net.npz").write_bytes(npz(layers))
    load_model(tmp_path / "net.npz", reading=ModelReading(labels=tuple("abcd")))
    layers[place] = text
    refused(tmp_path / "net.npz", npz(layers))


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("name", ["0.bias.npy", "0.bias", "note.txt"])
def test_arrays_that_are_there_twice_are_refused(tmp_path, name):
    content = io.BytesIO(npz([LINEAR, NORMAL]))
    other = io.BytesIO()
    np.save(other, SHIFT)
    with zipfile.ZipFile(content, "a") as archive:
        archive.writestr(name, other.getvalue())
    refused(tmp_path / "net.npz", content.getvalue())
