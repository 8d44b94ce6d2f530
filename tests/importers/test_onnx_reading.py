"""ONNX graphs as layers: what is read computes what NumPy and, where it is installed, ONNX Runtime compute; everything else is refused by operator and node."""

import importlib.util
from fractions import Fraction

import numpy as np
import pytest
from tests.onnx_graphs import WIDTH, TensorProto, helper, model, numpy_helper, weights

from likewise.errors import UnsupportedModel
from likewise.families.network.body import folded
from likewise.importers.onnx.model_file import read_onnx
from likewise.importers.onnx.operators import evaluate
from likewise.importers.onnx.reading import read_network

RANDOM = np.random.default_rng(5)
RUNTIME = importlib.util.find_spec("onnxruntime") is not None


def layered(network, rows):
    """What the layers that were read make of rows, exactly, and then as doubles."""
    columns = [
        [
            Fraction(float(row[c.place]))
            if c.among is None
            else Fraction(Fraction(float(row[c.place])) in c.among)
            for c in network.columns
        ]
        for row in rows
    ]
    values = np.array([[float(v) for v in row] for row in columns])
    for layer in folded(network.layers):
        values = layer.activation.proposed(values @ layer.weights.floats.T + layer.biases.floats)
    return values


def ended(network, scores):
    if network.end == "softmax":
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)
    return 1 / (1 + np.exp(-scores)) if network.end == "logistic" else scores


def compared(proto, *, dtype=np.float32, width=WIDTH, rows=None):
    """Layers, our own evaluation and ONNX Runtime agree; returns what was read."""
    content = proto.SerializeToString()
    graph = read_onnx(content)
    network = read_network(graph)
    x = (RANDOM.normal(size=(40, width)) * 3 if rows is None else np.asarray(rows)).astype(dtype)
    ours = ended(network, layered(network, x))
    output, scores = evaluate(graph, {"x": x}, [network.scores])
    room = (1e-4 if network.bits == 24 else 1e-11) * max(1, np.abs(scores).max())
    both = output.reshape(len(x), -1)
    theirs = both[:, -1:] if network.end == "logistic" else both
    assert np.abs(ours.reshape(theirs.shape) - theirs).max() <= room
    read = layered(network, x).reshape(len(x), -1)
    assert np.abs(read - scores.reshape(len(x), -1)).max() <= room
    if RUNTIME:
        import onnxruntime

        try:
            session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            return network  # it has not every operator in double precision
        (asked,) = session.run([graph.output], {"x": x})
        assert np.abs(asked - output).max() <= room
    return network


HIDDEN = [("Gemm", ["x", "W", "b"], "g", {}), ("Relu", ["g"], "h", {})]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "bend",
    [
        ("Relu", {}),
        ("LeakyRelu", {"alpha": 0.1}),
        ("LeakyRelu", {}),
        ("Elu", {"alpha": 0.7}),
        ("HardSigmoid", {}),
        ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}),
        ("Sigmoid", {}),
        ("Tanh", {}),
        ("Identity", {}),
    ],
)
def test_activations_between_layers(bend, dtype):
    operator, more = bend
    nodes = [
        ("Gemm", ["x", "W", "b"], "g", {"transB": 1}),
        (operator, ["g"], "h", more),
        ("MatMul", ["h", "V"], "m", {}),
        ("Add", ["m", "c"], "y", {}),
    ]
    constants = {
        "W": weights(5, WIDTH, dtype=dtype),
        "b": weights(5, dtype=dtype),
        "V": weights(5, 1, dtype=dtype),
        "c": weights(1, dtype=dtype),
    }
    network = compared(model(nodes, constants, dtype=dtype), dtype=dtype)
    assert network.bits == (24 if dtype is np.float32 else 53)
    assert network.end is None


@pytest.mark.parametrize("ends", [{"low": -1.0, "high": 1.5}, {"low": 0.0, "high": 6.0}, {"low": 0.0}])
def test_clips(ends):
    nodes = [
        ("MatMul", ["x", "W"], "g", {}),
        ("Clip", ["g", *ends], "h", {}),
        ("MatMul", ["h", "V"], "y", {}),
    ]
    constants = {"W": weights(WIDTH, 3), "V": weights(3, 1), **{k: np.float32(v) for k, v in ends.items()}}
    compared(model(nodes, constants))


def test_arithmetic_by_constants_is_a_layer():
    nodes = [
        ("Sub", ["x", "mean"], "a", {}),
        ("Div", ["a", "spread"], "b", {}),
        ("Mul", ["two", "b"], "c", {}),
        ("Sub", ["one", "c"], "d", {}),
        ("MatMul", ["d", "W"], "e", {}),
        ("Relu", ["e"], "f", {}),
        ("Add", ["row", "f"], "g", {}),
        ("Gemm", ["g", "V"], "y", {"alpha": 0.5}),
    ]
    constants = {
        "mean": weights(WIDTH),
        "spread": np.array([1, 2, 3, 0.7], np.float32),
        "two": np.float32(2),
        "one": np.float32([1]),
        "W": weights(WIDTH, 3),
        "row": weights(1, 3),
        "V": weights(3, 2),
    }
    assert compared(model(nodes, constants)).n_scores == 2


def test_constants_are_folded_as_floats_are():
    nodes = [
        ("Constant", [], "k", {"value": numpy_helper.from_array(np.float32([3]))}),
        ("Div", ["one", "k"], "third", {}),
        ("Mul", ["x", "third"], "y", {}),
    ]
    network = compared(model(nodes, {"one": np.float32([1])}))
    (factor,) = set(network.layers[-1].weights.floats.diagonal().tolist())
    assert factor == float(np.float32(1) / np.float32(3))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batch_normalization(dtype):
    nodes = [
        ("MatMul", ["x", "W"], "g", {}),
        ("BatchNormalization", ["g", "s", "b", "m", "v"], "n", {"epsilon": 1e-3}),
        ("Relu", ["n"], "h", {}),
        ("MatMul", ["h", "V"], "y", {}),
    ]
    constants = {
        "W": weights(WIDTH, 3, dtype=dtype),
        "s": weights(3, dtype=dtype),
        "b": weights(3, dtype=dtype),
        "m": weights(3, dtype=dtype),
        "v": np.abs(weights(3, dtype=dtype)),
        "V": weights(3, 1, dtype=dtype),
    }
    compared(model(nodes, constants, dtype=dtype), dtype=dtype)


def test_shapes_and_choices():
    nodes = [
        ("Reshape", ["x", "cube"], "a", {}),
        ("Gather", ["a", "order"], "b", {"axis": 2}),
        ("Flatten", ["b"], "c", {}),
        ("Gather", ["x", "some"], "d", {"axis": -1}),
        ("Concat", ["c", "d"], "e", {"axis": -1}),
        ("Identity", ["e"], "f", {}),
        ("Cast", ["f"], "g", {"to": TensorProto.DOUBLE}),
        ("MatMul", ["g", "W"], "h", {}),
        ("Relu", ["h"], "i", {}),
        ("Reshape", ["i", "flat"], "y", {}),
    ]
    constants = {
        "cube": np.int64([0, 2, -1]),
        "order": np.int64([1, 0]),
        "some": np.int64([-1, 2]),
        "W": weights(6, 3, dtype=np.float64),
        "flat": np.int64([-1, 3]),
    }
    out = [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)]
    assert compared(model(nodes, constants, outputs=out)).bits == 24


def test_branches_that_bend_alike_stand_side_by_side():
    nodes = [
        ("Gather", ["x", "left"], "a", {"axis": 1}),
        ("Gather", ["x", "right"], "b", {"axis": 1}),
        ("MatMul", ["a", "W"], "c", {}),
        ("MatMul", ["b", "V"], "d", {}),
        ("Relu", ["c"], "e", {}),
        ("Relu", ["d"], "f", {}),
        ("Concat", ["e", "f"], "g", {"axis": 1}),
        ("MatMul", ["g", "U"], "h", {}),
        ("Add", ["h", "h"], "i", {}),
        ("MatMul", ["e", "T"], "j", {}),
        ("Sub", ["i", "j"], "y", {}),
    ]
    constants = {
        "left": np.int64([0, 1]),
        "right": np.int64([1, 2, 3]),
        "W": weights(2, 3),
        "V": weights(3, 2),
        "U": weights(5, 2),
        "T": weights(3, 2),
    }
    assert compared(model(nodes, constants)).n_scores == 2


def test_levels_by_equal_where_and_one_hot():
    nodes = [
        ("Gather", ["x", "first"], "a", {"axis": 1}),
        ("Equal", ["a", "levels"], "b", {}),
        ("Cast", ["b"], "c", {"to": TensorProto.FLOAT}),
        ("Equal", ["a", "two"], "d", {}),
        ("Where", ["d", "yes", "no"], "e", {}),
        ("Gather", ["x", "second"], "f", {"axis": 1}),
        ("Cast", ["f"], "g", {"to": TensorProto.INT64}),
        ("OneHot", ["g", "depth", "values"], "h", {}),
        ("Flatten", ["h"], "i", {}),
        ("Concat", ["c", "e", "i"], "j", {"axis": 1}),
        ("MatMul", ["j", "W"], "y", {}),
    ]
    constants = {
        "first": np.int64([0]),
        "second": np.int64([1]),
        "levels": np.float32([1, 2, 3]),
        "two": np.float32([2]),
        "yes": np.float32([0.5]),
        "no": np.float32([-1]),
        "depth": np.int64(3),
        "values": np.float32([-1, 2]),
        "W": weights(7, 1),
    }
    rows = [[a, b] for a in (1, 2, 3, 4) for b in (0, 1, 2, 3, -1)]
    network = compared(model(nodes, constants, width=2), width=2, rows=rows)
    assert {column.place for column in network.columns} == {0, 1}


@pytest.mark.parametrize("end", ["Softmax", "Sigmoid"])
def test_ends(end):
    nodes = [*HIDDEN, ("Gemm", ["h", "V"], "s", {}), (end, ["s"], "y", {})]
    constants = {"W": weights(WIDTH, 3), "b": weights(3), "V": weights(3, 3 if end == "Softmax" else 1)}
    network = compared(model(nodes, constants))
    assert (network.end, network.scores) == ("softmax" if end == "Softmax" else "logistic", "s")


def test_both_probabilities_of_two_classes_are_those_of_one_score():
    nodes = [
        *HIDDEN,
        ("Gemm", ["h", "V"], "s", {}),
        ("Sigmoid", ["s"], "p", {}),
        ("Sub", ["one", "p"], "q", {}),
        ("Concat", ["q", "p"], "y", {"axis": 1}),
        ("ArgMax", ["y"], "label", {"axis": 1}),
    ]
    constants = {"W": weights(WIDTH, 3), "b": weights(3), "V": weights(3, 1), "one": np.float32([1])}
    outputs = [
        helper.make_tensor_value_info("label", TensorProto.INT64, None),
        helper.make_tensor_value_info("y", TensorProto.FLOAT, None),
    ]
    network = compared(model(nodes, constants, outputs=outputs))
    assert (network.end, network.n_scores, network.scores) == ("logistic", 1, "s")


BENDS = (
    ("Relu", {}),
    ("LeakyRelu", {"alpha": 0.25}),
    ("HardSigmoid", {}),
    ("Tanh", {}),
    ("Sigmoid", {}),
    ("Elu", {}),
)


def random_graph(seed):
    """Nodes in a chain with branches that meet again, and their constants."""
    random = np.random.default_rng(seed)
    nodes, constants, width, at = [], {}, WIDTH, "x"

    def constant(*shape):
        constants[f"c{len(constants)}"] = random.normal(size=shape).round(3) + 0.0005
        return f"c{len(constants) - 1}"

    def add(operator, inputs, **more):
        nodes.append((operator, inputs, f"t{len(nodes)}", more))
        return nodes[-1][2]

    for _ in range(random.integers(3, 12)):
        step = random.integers(0, 8)
        if step == 0:
            more = int(random.integers(1, 6))
            at, width = add("Gemm", [at, constant(width, more), constant(more)], alpha=0.5, beta=2.0), more
        elif step == 1:
            more = int(random.integers(1, 6))
            at, width = add("MatMul", [at, constant(width, more)]), more
        elif step == 2:
            operator = str(random.choice(["Add", "Sub", "Mul", "Div"]))
            at = add(operator, [at, constant(*([width] if random.random() < 0.5 else [1, width]))])
        elif step == 3:
            at = add("Sub", [constant(1), at])
        elif step == 4:
            bend, more = BENDS[random.integers(0, len(BENDS))]
            at = add(bend, [at], **more)
        elif step == 5:
            name = f"c{len(constants)}"
            constants[name] = random.integers(-width, width, size=3)
            at, width = add("Gather", [at, name], axis=1), 3
        elif step == 6:
            at, width = add("Concat", [at, add("Mul", [at, constant(width)])], axis=-1), 2 * width
        else:
            left, right = (add("MatMul", [at, constant(width, 2)]) for _ in range(2))
            at, width = add(str(random.choice(["Add", "Sub"])), [left, right]), 2
    return [*nodes, ("Identity", [at], "y", {})], constants


@pytest.mark.draw(50)
@pytest.mark.parametrize("seed", range(200))
def test_random_graphs_are_read_as_they_are_run(seed):
    nodes, constants = random_graph(seed)
    rows = np.random.default_rng(seed).normal(size=(20, WIDTH))
    compared(model(nodes, constants, dtype=np.float64), dtype=np.float64, rows=rows)


# -- refusals ---------------------------------------------------------------------------------------------

REFUSED = {
    "Exp": ([("Exp", ["x"], "y", {})], {}, r"Exp \(node 'Exp_0'\) is not read"),
    "a product of tensors": ([("Mul", ["x", "x"], "y", {})], {}, r"Mul \(node 'Mul_0'\).*both depend"),
    "a quotient of tensors": ([("Div", ["c", "x"], "y", {})], {"c": weights(WIDTH)}, "divides by something"),
    "division by 0": ([("Div", ["x", "c"], "y", {})], {"c": np.zeros(WIDTH, np.float32)}, "divides by 0"),
    "weights in front": (
        [("MatMul", ["W", "x"], "y", {})],
        {"W": weights(WIDTH, WIDTH)},
        "otherwise than rows",
    ),
    "weights that do not fit": (
        [("MatMul", ["x", "W"], "y", {})],
        {"W": weights(3, 2)},
        "multiplies rows of the shape",
    ),
    "no finite weights": (
        [("MatMul", ["x", "W"], "y", {})],
        {"W": np.full((WIDTH, 1), np.nan, np.float32)},
        "not a finite number",
    ),
    "a skip connection": (
        [("Relu", ["x"], "h", {}), ("Add", ["x", "h"], "y", {})],
        {},
        "bend in different places",
    ),
    "softmax inside": ([("Softmax", ["x"], "s", {}), ("Relu", ["s"], "y", {})], {}, "comes after a Softmax"),
    "half a clip": ([("Clip", ["x", "low"], "y", {})], {"low": np.float32(1)}, "limits 1.0 and inf"),
    "a steep leaky relu": ([("LeakyRelu", ["x"], "y", {"alpha": 2.0})], {}, "alpha=2.0"),
    "across rows": ([("Gather", ["x", "i"], "y", {"axis": 0})], {"i": np.int64([0])}, "across rows"),
    "a fixed number of rows": (
        [("Reshape", ["x", "s"], "y", {})],
        {"s": np.int64([1, WIDTH])},
        "dynamic batch",
    ),
    "constants by row": ([("Add", ["x", "c"], "y", {})], {"c": weights(3, WIDTH)}, "constants of the shape"),
    "an unknown attribute": ([("Relu", ["x"], "y", {"what": 1})], {}, "attribute that is not read, 'what'"),
    "equality of layers": (
        [("Relu", ["x"], "h", {}), ("Equal", ["h", "c"], "t", {}), ("Where", ["t", "c", "c"], "y", {})],
        {"c": np.float32([1])},
        "no column of the inputs",
    ),
    "different types": (
        [("MatMul", ["x", "W"], "y", {})],
        {"W": weights(WIDTH, 1, dtype=np.float64)},
        "of one type",
    ),
    "a gather beyond the end": (
        [("Gather", ["x", "i"], "y", {"axis": 1})],
        {"i": np.int64([99])},
        "does not fit",
    ),
    "training": (
        [("BatchNormalization", ["x", "a", "a", "a", "a"], "y", {"training_mode": 1})],
        {"a": np.ones(WIDTH, np.float32)},
        "training",
    ),
    "constants alone": ([("Identity", ["c"], "y", {})], {"c": weights(3)}, "constants alone"),
    "half precision": (
        [("Cast", ["x"], "h", {"to": TensorProto.FLOAT16}), ("Cast", ["h"], "y", {"to": TensorProto.FLOAT})],
        {},
        "type that is not read",
    ),
    "a huge product": (
        [("MatMul", ["x", "W"], "h", {}), ("Relu", ["h"], "i", {}), ("Mul", ["i", "c"], "y", {})],
        {"W": np.ones((WIDTH, 3000), np.float32), "c": np.float32([2])},
        "weights; at most",
    ),
    "repeated beyond measure": (
        [("Add", ["x", "c"], "y", {})],
        {"c": np.zeros((200_000, 1), np.float32)},
        "constants of the shape|numbers a row",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_operator_and_node(case):
    nodes, constants, message = REFUSED[case]
    with pytest.raises(UnsupportedModel, match=message):
        read_network(read_onnx(model(nodes, constants).SerializeToString()))


def test_endless_chains_are_refused():
    nodes = [("Mul", ["x" if i == 0 else f"t{i}", "c"], f"t{i + 1}", {}) for i in range(300)]
    with pytest.raises(UnsupportedModel, match="at most 200 layers"):
        read_network(read_onnx(model(nodes, {"c": np.float32([2])}, out="t300").SerializeToString()))
