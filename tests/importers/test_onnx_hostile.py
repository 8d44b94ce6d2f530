"""ONNX files that are damaged, or made to do harm: each ends in a clear error of our own, soon and without much memory; weights in other files are read only beside the model, and only if that is asked for."""

import resource
import time

import numpy as np
import pytest
from tests.onnx_graphs import WIDTH, TensorProto, helper, model, onnx, weights

from likewise.errors import LikewiseError, UnsupportedModel
from likewise.importers.files import load_model
from likewise.importers.onnx import wire
from likewise.importers.onnx.model_file import read_onnx
from likewise.importers.onnx.reading import read_network

RANDOM = np.random.default_rng(5)
HIDDEN = [("Gemm", ["x", "W", "b"], "g", {}), ("Relu", ["g"], "h", {})]
SECONDS, MEGABYTES = 20, 350  # of a hostile file, on a busy machine


def sound():
    nodes = [*HIDDEN, ("Gemm", ["h", "V"], "y", {})]
    return model(nodes, {"W": weights(WIDTH, 3), "b": weights(3), "V": weights(3, 1)})


def test_every_truncation_ends_in_a_clear_error_or_another_sound_file():
    content = sound().SerializeToString()
    for end in range(len(content)):
        try:
            read_network(read_onnx(content[:end]))
        except UnsupportedModel:
            continue
        assert end > 0.5 * len(content)  # what is lost are outputs' types and versions


def test_flipped_bytes_end_in_a_clear_error_or_a_network():
    content = bytearray(sound().SerializeToString())
    for _ in range(400):
        damaged = bytearray(content)
        for place in RANDOM.integers(0, len(content), 3):
            damaged[place] = RANDOM.integers(0, 256)
        try:
            read_network(read_onnx(bytes(damaged)))
        except UnsupportedModel:
            continue


def test_cycles_are_refused():
    proto = model([("Add", ["x", "b"], "a", {}), ("Relu", ["a"], "b", {}), ("Relu", ["b"], "y", {})])
    with pytest.raises(UnsupportedModel, match="'b', which nothing before it makes"):
        read_onnx(proto.SerializeToString())


def test_two_makers_of_one_tensor_are_refused():
    with pytest.raises(UnsupportedModel, match="two nodes make 'y'"):
        read_onnx(model([("Relu", ["x"], "y", {}), ("Tanh", ["x"], "y", {})]).SerializeToString())


@pytest.mark.parametrize("dims", [(-1, 3), (1 << 40, 1 << 40), (1 << 62,), (3, 3), (2,) * 9])
def test_shapes_that_lie_are_refused(dims):
    proto = sound()
    del proto.graph.initializer[0].dims[:]
    proto.graph.initializer[0].dims.extend(dims)
    with pytest.raises(UnsupportedModel, match=r"tensor 'W'|weights; at most"):
        read_onnx(proto.SerializeToString())


@pytest.mark.parametrize("dims", [["rows", "columns"], ["rows", -3], ["rows", 1 << 40], []])
def test_inputs_of_unknown_width_are_refused(dims):
    proto = model(
        HIDDEN,
        {"W": weights(WIDTH, 3), "b": weights(3)},
        out="h",
        inputs=[helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
    )
    with pytest.raises(UnsupportedModel, match="input 'x' has"):
        read_onnx(proto.SerializeToString())


def test_inputs_of_text_and_old_operators_are_refused():
    text = model(
        HIDDEN,
        {"W": weights(WIDTH, 3), "b": weights(3)},
        out="h",
        inputs=[helper.make_tensor_value_info("x", TensorProto.STRING, ["r", 1])],
    )
    with pytest.raises(UnsupportedModel, match="input 'x' is of type STRING"):
        read_network(read_onnx(text.SerializeToString()))
    with pytest.raises(UnsupportedModel, match="version 7 of ONNX's operators"):
        read_onnx(
            model(HIDDEN, {"W": weights(WIDTH, 3), "b": weights(3)}, out="h", version=7).SerializeToString()
        )


def external(location, **entries):
    proto = sound()
    tensor = proto.graph.initializer[0]
    raw = tensor.raw_data
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **entries}.items():
        tensor.external_data.add(key=key, value=str(value))
    return proto.SerializeToString(), raw


def test_external_weights_are_read_beside_the_model_and_only_if_asked(tmp_path):
    content, raw = external("net.data", offset=4)
    (tmp_path / "net.data").write_bytes(b"skip" + raw)
    with pytest.raises(UnsupportedModel, match=r"in another file, 'net\.data'"):
        read_onnx(content)
    assert read_onnx(content, folder=tmp_path).constants["W"].tobytes() == raw


@pytest.mark.parametrize(
    "location", ["../secret", "/etc/hostname", "a/b", "..", "", "..\\secret", "c:secret"]
)
def test_external_weights_elsewhere_are_refused(tmp_path, location):
    folder = tmp_path / "models"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"0" * 1000)
    with pytest.raises(UnsupportedModel, match=r"not beside it|no file beside it"):
        read_onnx(external(location)[0], folder=folder)


@pytest.mark.parametrize("entries", [{"offset": -1}, {"offset": 10**9}, {"length": 3}, {"offset": "x"}])
def test_external_weights_that_are_not_there_are_refused(tmp_path, entries):
    content, raw = external("net.data", **entries)
    (tmp_path / "net.data").write_bytes(raw)
    with pytest.raises(UnsupportedModel, match="not there"):
        read_onnx(content, folder=tmp_path)


def test_links_are_not_followed(tmp_path):
    content, raw = external("net.data")
    (tmp_path / "elsewhere").write_bytes(raw)
    (tmp_path / "net.data").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsupportedModel, match="no file beside it"):
        read_onnx(content, folder=tmp_path)


# -- as graphs are damaged --------------------------------------------------------------------------------

ODD_NUMBERS = (0, 1, -1, 1 << 40, float("nan"), float("inf"), -3.5, [1, 2], "text")
ODD_FLOATS = (np.nan, np.inf, -np.inf, 1e38, -1e38, 1e-45, 0.0)
OPERATORS = (
    "Gemm",
    "MatMul",
    "Gather",
    "Concat",
    "Where",
    "Equal",
    "OneHot",
    "Reshape",
    "Cast",
    "Softmax",
    "Clip",
    "Div",
    "Elu",
    "Flatten",
    "Exp",
)
ATTRIBUTES = ("axis", "alpha", "to", "epsilon", "transA", "transB", "beta", "min")


def levels_told_apart():
    nodes = [
        ("Gather", ["x", "first"], "a", {"axis": 1}),
        ("Equal", ["a", "levels"], "b", {}),
        ("Cast", ["b"], "c", {"to": TensorProto.FLOAT}),
        ("Cast", ["a"], "d", {"to": TensorProto.INT64}),
        ("OneHot", ["d", "depth", "values"], "e", {}),
        ("Flatten", ["e"], "f", {}),
        ("Concat", ["c", "f"], "g", {"axis": 1}),
        ("Gemm", ["g", "W"], "h", {"alpha": 0.5}),
        ("Softmax", ["h"], "y", {}),
    ]
    constants = {
        "first": np.int64([0]),
        "levels": np.float32([1, 2, 3]),
        "depth": np.int64(3),
        "values": np.float32([-1, 2]),
        "W": weights(6, 2),
    }
    return model(nodes, constants)


def damaged(proto, random):
    """A sound model with one thing in it exchanged."""
    graph, node = proto.graph, proto.graph.node[random.integers(len(proto.graph.node))]
    names = [name for one in graph.node for name in (*one.input, *one.output)]
    tensor = graph.initializer[random.integers(len(graph.initializer))]
    what = random.integers(6)
    if what == 0:
        node.input[random.integers(len(node.input))] = random.choice(names)
    elif what == 1:
        node.output[0] = random.choice(names)
    elif what == 2:
        node.op_type = str(random.choice(OPERATORS))
    elif what == 3 and tensor.dims:
        tensor.dims[random.integers(len(tensor.dims))] = int(random.choice([-1, 0, 1 << 62, 7, 1]))
    elif what == 4:
        value = ODD_NUMBERS[random.integers(len(ODD_NUMBERS))]
        node.attribute.append(helper.make_attribute(str(random.choice(ATTRIBUTES)), value))
    elif tensor.data_type == TensorProto.FLOAT:
        values = np.frombuffer(tensor.raw_data, np.float32).copy()
        values[random.integers(values.size)] = random.choice(ODD_FLOATS)
        tensor.raw_data = values.tobytes()
    return proto


@pytest.mark.some_days
@pytest.mark.parametrize("made", [sound, levels_told_apart])
def test_damaged_graphs_end_in_a_clear_error_or_a_model(tmp_path, made):
    refused, sound_ones = 0, 0
    for seed in range(150):
        (tmp_path / "net.onnx").write_bytes(damaged(made(), np.random.default_rng(seed)).SerializeToString())
        try:
            load_model(tmp_path / "net.onnx")
            sound_ones += 1
        except LikewiseError as error:
            refused += "net.onnx: " in str(error)
    assert refused > 50
    assert refused + sound_ones == 150


# -- made to take time and memory -------------------------------------------------------------------------


def fields(number, content):
    """A field of protobuf that has a length."""
    return bytes([number << 3 | 2]) + varint(len(content)) + content


def varint(value):
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def empty_nodes():
    return fields(7, b"\x0a\x00" * 3_000_000)


def empty_names():
    return fields(7, fields(1, b"\x0a\x00" * 3_000_000))


def wide_casts():
    """Every input turned into other types over and over."""
    kinds = (TensorProto.DOUBLE, TensorProto.FLOAT)
    nodes = [("Cast", [f"t{i}" if i else "x"], f"t{i + 1}", {"to": kinds[i % 2]}) for i in range(5000)]
    return model(nodes, width=9_000, out="t5000").SerializeToString()


def wide_identities():
    nodes = [("Flatten", [f"t{i}" if i else "x"], f"t{i + 1}", {}) for i in range(9000)]
    return model([*nodes, ("Relu", ["t9000"], "y", {})], width=9_000).SerializeToString()


def many_parts():
    nodes = [("Relu", ["x"], "r", {}), ("Concat", ["r"] * 5000, "y", {"axis": 1})]
    return model(nodes).SerializeToString()


def wide_products():
    nodes = [("MatMul", [f"t{i}" if i else "x", "W"], f"t{i + 1}", {}) for i in range(150)]
    return model(nodes, {"W": np.ones((990, 990), np.float32)}, width=990, out="t150").SerializeToString()


def sizes_apart():
    """Doubles next to each other that no whole numbers over one power of two hold in a hundred bits."""
    spread = np.full((900, 900), 1e300)
    spread[::2] = 1e-300
    return model(
        [("MatMul", ["x", "W"], "y", {})], {"W": spread}, width=900, dtype=np.float64
    ).SerializeToString()


def one_hot_of_everything():
    nodes = [
        ("Cast", ["x"], "a", {"to": TensorProto.INT64}),
        ("OneHot", ["a", "depth", "values"], "y", {}),
    ]
    return model(nodes, {"depth": np.int64(1 << 40), "values": np.float32([0, 1])}).SerializeToString()


def repeated_constants():
    """Sums of a column and a row are tables."""
    nodes = [("Add", ["a", "b"], "c", {}), ("Add", ["c", "c"], "d", {}), ("MatMul", ["x", "d"], "y", {})]
    return model(
        nodes, {"a": np.zeros((5000, 1), np.float32), "b": np.zeros(5000, np.float32)}
    ).SerializeToString()


HARMFUL = {
    empty_nodes: "more than 300,000 entries",
    empty_names: "more than 300,000 entries",
    wide_casts: "another type more than 8 times",
    wide_identities: "more than 500,000 numbers a row",
    many_parts: "joins 5,000 tensors",
    wide_products: "at most 200 layers of 4,000,000 weights",
    sizes_apart: "sizes too different from each other",
    one_hot_of_everything: "has the depth 1099511627776",
    repeated_constants: "would make 25,000,000 constants",
}


@pytest.mark.draw(3)
@pytest.mark.parametrize("made", HARMFUL)
def test_files_that_would_fill_memory_or_time_are_refused_soon(tmp_path, made):
    (tmp_path / "net.onnx").write_bytes(made())
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.perf_counter()
    with pytest.raises(UnsupportedModel, match=rf"net\.onnx: .*{HARMFUL[made]}"):
        load_model(tmp_path / "net.onnx")
    assert time.perf_counter() - start < SECONDS
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < MEGABYTES


def test_fields_are_counted_without_a_parser(monkeypatch):
    content = sound().SerializeToString()
    wire.check_entries(content, onnx.ModelProto.DESCRIPTOR)
    monkeypatch.setattr(wire, "MOST_ENTRIES", 20)
    with pytest.raises(UnsupportedModel, match="more than 20 entries"):
        wire.check_entries(content, onnx.ModelProto.DESCRIPTOR)


def test_two_constants_or_attributes_of_one_name_are_refused():
    proto = sound()
    proto.graph.initializer.append(proto.graph.initializer[0])
    with pytest.raises(UnsupportedModel, match="two of its constants have one name"):
        read_onnx(proto.SerializeToString())
    proto = sound()
    proto.graph.node[0].attribute.extend(
        [helper.make_attribute("alpha", 1.0), helper.make_attribute("alpha", 2.0)]
    )
    with pytest.raises(UnsupportedModel, match="two attributes of one name"):
        read_onnx(proto.SerializeToString())
