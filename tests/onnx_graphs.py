"""ONNX models made by hand; tests that import this are skipped where onnx is not installed."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx", reason="onnx is not installed: pip install onnx")
helper, numpy_helper, TensorProto = onnx.helper, onnx.numpy_helper, onnx.TensorProto

RANDOM = np.random.default_rng(5)
WIDTH = 4
KINDS = {np.float32: TensorProto.FLOAT, np.float64: TensorProto.DOUBLE}


def weights(*shape, dtype=np.float32):
    return RANDOM.normal(size=shape).astype(dtype)


def model(
    nodes, constants=(), *, dtype=np.float32, width=WIDTH, out="y", inputs=None, outputs=None, version=17
):
    """An ONNX model of nodes (operator, inputs, output, attributes) from x to y."""
    made = [
        helper.make_node(op, ins, [to], name=f"{op}_{i}", **more)
        for i, (op, ins, to, more) in enumerate(nodes)
    ]
    kind = KINDS[dtype]
    graph = helper.make_graph(
        made,
        "net",
        inputs or [helper.make_tensor_value_info("x", kind, ["rows", width])],
        outputs or [helper.make_tensor_value_info(out, kind, None)],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in dict(constants).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)
