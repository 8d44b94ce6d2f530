"""An ONNX file as nodes, constants and inputs: the protobuf is parsed by the package `onnx`, and everything in it is checked here before it is used. No code is run.

Only what leads to the chosen output is looked at, so that labels and the like, which exporters put beside it, need not be understood. A graph lists its nodes in the order in which they are run: a node that reads what no
earlier one has made is refused, and with it every cycle. Messages (`wire`) and numbers of tensors are counted before memory is taken for them. Weights in other files are read only where that is asked for, and
only from files beside the model.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from likewise.errors import UnsupportedModel, suggest_name
from likewise.importers.onnx.wire import check_entries
from likewise.importers.saved_boosters import read_whole
from likewise.spec.disk import open_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]

MOST_NODES = 10_000
MOST_BYTES = 1 << 26  # of a file
MOST_NUMBERS = 4_000_000  # of all constants together
MOST_COLUMNS = 10_000  # of all inputs together
MOST_AXES = 8
MOST_PLACE = 1 << 62  # in another file
OLDEST_VERSION = 9  # of the operators: before it, some broadcast otherwise
STANDARD = ("", "ai.onnx")
CLASSICAL = "ai.onnx.ml"  # the domain of linear models, kernel machines, trees and what stands around them
CLASSIFIERS = tuple(
    f"{CLASSICAL}.{name}" for name in ("LinearClassifier", "SVMClassifier", "TreeEnsembleClassifier")
)
TEXT = 8  # TensorProto.DataType
PASSING = ("Cast", "Identity", "Reshape", "Squeeze")  # operators that leave a label what it is
EXTERNAL = 1  # TensorProto.DataLocation
DTYPES: dict[int, type[np.generic]] = {
    1: np.float32,
    6: np.int32,
    7: np.int64,
    9: np.bool_,
    11: np.float64,
}  # TensorProto.DataType
BYTES = 2  # of attributes alone
STORED = {
    1: "float_data",
    BYTES: "int32_data",
    6: "int32_data",
    7: "int64_data",
    9: "int32_data",
    11: "double_data",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """An operator with the names of what it reads ("" for what is left out) and makes; `label` is where a classifier puts its decisions, beside its scores."""

    operator: str
    name: str
    inputs: tuple[str, ...]
    output: str
    attributes: Mapping[str, Any]
    label: str = ""

    def refuse(self, why: str, *, hint: str | None = None) -> NoReturn:
        raise UnsupportedModel(f"{self.operator} (node {self.name!r}) {why}", hint=hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphInput:
    """What a graph takes: the shape of a row, without the axis of the rows."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    @property
    def width(self) -> int:
        """How many columns it has."""
        return math.prod(self.shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """The nodes that lead to `output`, in the order in which they are run; `source` is what wrote them down. `versions` are those of further operators, by domain; `label` is the tensor that its
    decisions are made of, where it gives some."""

    inputs: tuple[GraphInput, ...]
    constants: Mapping[str, Tensor]
    nodes: tuple[Node, ...]
    output: str
    version: int
    source: str = "ONNX"
    versions: Mapping[str, int] = field(default_factory=dict)
    label: str | None = None


def read_onnx(content: bytes, *, folder: Path | None = None, output: str | None = None) -> Graph:
    """The graph in the bytes of a file; weights in other files are read from `folder`, if one is given."""
    model = parse_model(content)
    graph = model.graph
    versions = _operator_versions(model)
    if len(graph.node) > MOST_NODES:
        raise UnsupportedModel(f"has {len(graph.node):,} nodes; at most {MOST_NODES:,} are read")
    if graph.sparse_initializer:
        raise UnsupportedModel("has sparse weights, which are not read", hint="export it with dense ones")
    stored = {str(tensor.name): tensor for tensor in graph.initializer}
    if len(stored) < len(graph.initializer):
        raise UnsupportedModel("is not a valid graph: two of its constants have one name")
    chosen = _choose_output(graph, output)
    needed = _needed_nodes(graph, chosen)
    _check_nodes([node for _, node in needed if node.domain == CLASSICAL], versions, int(model.ir_version))
    read = {str(name) for _, node in needed for name in node.input} | {chosen}
    wanted = {name: stored[name] for name in stored if name in read}
    attributes = [one for _, node in needed for one in node.attribute]
    tensors = [one.t for one in attributes if one.type == one.TENSOR]
    _check_numbers([*wanted.values(), *tensors], attributes)
    constants = {name: _read_tensor(tensor, folder) for name, tensor in wanted.items()}
    nodes = tuple(_read_node(node, number, folder) for number, node in needed)
    inputs = _read_inputs(graph, stored)
    _check_order(nodes, {*constants, *(one.name for one in inputs)}, chosen)
    return Graph(
        inputs=inputs,
        constants=constants,
        nodes=nodes,
        output=chosen,
        version=versions.pop(""),
        versions=versions,
        label=_find_label(graph, chosen),
    )


def parse_model(content: bytes) -> Any:
    """The protobuf message in the bytes of a file."""
    try:
        import onnx
    except ImportError:
        raise UnsupportedModel(
            "reading .onnx files needs the package onnx, which is not installed",
            hint='pip install "likewise[onnx]"',
        ) from None
    if len(content) > MOST_BYTES:
        raise UnsupportedModel(f"is larger than {MOST_BYTES >> 20} MB, too large for a network to verify")
    check_entries(content, onnx.ModelProto.DESCRIPTOR)
    try:
        model = onnx.ModelProto.FromString(content)
    except Exception as error:  # whatever the parser says of bytes that are no message
        raise UnsupportedModel(
            f"is no ONNX model: {' '.join(str(error).split())[:200]}", hint="the file is cut off or damaged"
        ) from error
    if not model.HasField("graph") or not model.graph.output:
        raise UnsupportedModel("is no ONNX model: it has no graph with an output")
    return model


def _operator_versions(model: Any) -> dict[str, int]:
    """By domain, each once."""
    import onnx

    pairs = {
        ("" if one.domain in STANDARD else str(one.domain), int(one.version)) for one in model.opset_import
    }
    found = dict(pairs)
    newest = onnx.defs.onnx_opset_version()
    if len(found) < len(pairs):
        raise UnsupportedModel("is written in two versions of the same operators", hint="export it again")
    if not OLDEST_VERSION <= found.get("", 0) <= newest:
        raise UnsupportedModel(
            f"is written in version {found.get('', 'none')} of ONNX's operators; versions {OLDEST_VERSION} to {newest} are read",
            hint=f"export it with opset_version={min(17, newest)}",
        )
    return found


def _check_nodes(nodes: Sequence[Any], versions: Mapping[str, int], file_version: int) -> None:
    """Refuse classical operators with attributes or numbers of operands that ONNX does not describe; those
    of layers are looked at where they are read."""
    import onnx

    context = onnx.checker.C.CheckerContext()
    context.ir_version = file_version
    context.opset_imports = {**versions, **dict.fromkeys(STANDARD, versions[""])}
    for node in nodes:
        try:
            onnx.checker.check_node(node, context)
        except (onnx.checker.ValidationError, UnicodeDecodeError) as error:
            raise UnsupportedModel(
                f"is not a valid graph: {' '.join(str(error).split())[:200]}", hint="the file is damaged"
            ) from None


def _choose_output(graph: Any, wanted: str | None) -> str:
    """The output that scores are read from: the one that is named, or the only one of floating-point numbers."""
    names = [str(one.name) for one in graph.output]
    if wanted is not None:
        if wanted not in names:
            raise UnsupportedModel(f"has no output {wanted!r}{suggest_name(wanted, names)}")
        return wanted
    mapped = [node for node in graph.node if node.op_type == "ZipMap" and node.domain == CLASSICAL]
    if len(mapped) == 1 and len(mapped[0].input) == 1 and set(mapped[0].output) <= set(names):
        return str(mapped[0].input[0])  # numbers that it only writes labels beside
    if len(names) == 1:
        return names[0]
    floats = [
        one.name
        for one in graph.output
        if one.type.HasField("tensor_type") and one.type.tensor_type.elem_type in (1, 11)
    ]
    if len(floats) != 1:
        raise UnsupportedModel(
            f"has the outputs {', '.join(map(repr, names[:6]))}, and which of them has the scores is not clear",
            hint="export it with one output (skl2onnx: options={'zipmap': False})",
        )
    return str(floats[0])


def _find_label(graph: Any, chosen: str) -> str | None:
    """The tensor that the labels among the outputs are, or that they are the largest element of: what
    passes it on is left out."""
    makers = {name: node for node in graph.node for name in node.output}
    found = set()
    for one in graph.output:
        if (
            one.name != chosen
            and one.type.HasField("tensor_type")
            and one.type.tensor_type.elem_type not in (1, 11)
        ):
            found.add(_decided_by(makers, _passed_on(makers, str(one.name))))
    if len(found) > 1:
        raise UnsupportedModel("has several labels among its outputs", hint="export it with one of them")
    return found.pop() if found else None


def _passed_on(makers: Mapping[str, Any], name: str) -> str:
    for _ in range(len(makers)):
        if name not in makers or makers[name].op_type not in PASSING or not makers[name].input:
            break
        name = str(makers[name].input[0])
    return name


def _decided_by(makers: Mapping[str, Any], name: str) -> str:
    """The tensor whose largest element a label is the place of, or is named by; else the label itself."""
    place, node = name, makers.get(name)
    if node is not None and node.op_type == "ArrayFeatureExtractor" and len(node.input) == 2:
        place = _passed_on(makers, str(node.input[1]))
        node = makers.get(place)
    if node is None or node.op_type != "ArgMax" or len(node.input) != 1:
        return name
    given = {str(one.name): int(one.i) for one in node.attribute}
    row = given.get("axis", 0) in (1, -1) and not given.get("select_last_index")
    return str(node.input[0]) if row else name


def _needed_nodes(graph: Any, chosen: str) -> list[tuple[int, Any]]:
    """The nodes that lead to an output, numbered as in the file, in its order."""
    makers: dict[str, int] = {}
    for number, node in enumerate(graph.node):
        for name in node.output:
            if name and makers.setdefault(name, number) != number:
                raise UnsupportedModel(f"is not a valid graph: two nodes make {name!r}")
    needed: set[int] = set()
    waiting = [chosen]
    while waiting:
        maker = makers.get(waiting.pop())
        if maker is not None and maker not in needed:
            needed.add(maker)
            waiting += graph.node[maker].input
    return [(number, graph.node[number]) for number in sorted(needed)]


def _check_order(nodes: Sequence[Node], known: set[str], chosen: str) -> None:
    known = set(known)
    for node in nodes:
        for name in node.inputs:
            if name and name not in known:
                node.refuse(
                    f"reads {name!r}, which nothing before it makes",
                    hint="the graph is cyclic, unsorted or cut off",
                )
        for name in (node.output, *filter(None, (node.label,))):
            if name in known:
                node.refuse(f"makes {name!r} again, which already exists")
            known.add(name)
    if chosen not in known:
        raise UnsupportedModel(f"is not a valid graph: nothing makes its output {chosen!r}")


def _read_node(node: Any, number: int, folder: Path | None) -> Node:
    operator, name = str(node.op_type), str(node.name) or f"number {number}"
    if node.domain not in STANDARD:
        operator = f"{node.domain}.{operator}"
    outputs = list(map(str, node.output))
    label = outputs.pop(0) if operator in CLASSIFIERS and len(outputs) == 2 else ""
    read = Node(
        operator=operator,
        name=name,
        inputs=tuple(map(str, node.input)),
        output=outputs[0] if outputs else "",
        attributes={str(one.name): _read_attribute(one, folder) for one in node.attribute},
        label=label,
    )
    if not read.output or any(outputs[1:]):
        read.refuse("gives more than one output, or none")
    if len(read.attributes) < len(node.attribute):
        read.refuse("has two attributes of one name")
    return read


def _read_attribute(attribute: Any, folder: Path | None) -> Any:
    """A number, text, several of them or a tensor; None for anything else, which no operator that is read has."""
    kind = attribute.type
    given = {one.name for one, _ in attribute.ListFields()} - {"name", "type", "doc_string"}
    if len(given) > 1:
        raise UnsupportedModel(f"the attribute {attribute.name!r} has several values")
    if kind == attribute.FLOAT:
        return float(attribute.f)
    if kind == attribute.INT:
        return int(attribute.i)
    if kind == attribute.STRING:
        return _text(attribute.s)
    if kind == attribute.INTS:
        return tuple(map(int, attribute.ints))
    if kind == attribute.FLOATS:
        return tuple(map(float, attribute.floats))
    if kind == attribute.STRINGS:
        return tuple(map(_text, attribute.strings))
    return (
        _read_tensor(attribute.t, folder, {**DTYPES, BYTES: np.uint8}) if kind == attribute.TENSOR else None
    )


def _text(given: bytes) -> str:
    try:
        return given.decode("utf-8")
    except UnicodeDecodeError:
        raise UnsupportedModel("has a text that is not UTF-8", hint="the file is damaged") from None


def _read_inputs(graph: Any, stored: Mapping[str, Any]) -> tuple[GraphInput, ...]:
    found = tuple(_read_input(one) for one in graph.input if one.name not in stored)
    if len({one.name for one in found}) < len(found):
        raise UnsupportedModel("has two inputs of one name")
    if not found or sum(one.width for one in found) > MOST_COLUMNS:
        raise UnsupportedModel(
            f"has {sum(one.width for one in found):,} columns of inputs; one to {MOST_COLUMNS:,} are read"
        )
    return found


def _read_input(one: Any) -> GraphInput:
    name, tensor = str(one.name), one.type.tensor_type
    known: dict[int, type[np.generic]] = {**DTYPES, TEXT: np.object_}
    dtype = known.get(tensor.elem_type) if one.type.HasField("tensor_type") else None
    if dtype is None:
        refuse_input(name, _type_name(tensor.elem_type))
    if not tensor.HasField("shape") or not 1 <= len(tensor.shape.dim) <= MOST_AXES:
        raise UnsupportedModel(f"input {name!r} has no shape of rows and columns")
    shape = tuple(int(dim.dim_value) for dim in tensor.shape.dim[1:])
    if any(length < 1 or length > MOST_COLUMNS for length in shape):
        raise UnsupportedModel(
            f"input {name!r} has the shape {_shape_text(tensor.shape)}, and how many columns that are is not known",
            hint="only the number of rows, the first, may be left open",
        )
    return GraphInput(name=name, dtype=np.dtype(dtype), shape=shape)


def refuse_input(name: str, what: str) -> NoReturn:
    """Inputs of other types than numbers, or than text where an encoder reads it."""
    raise UnsupportedModel(
        f"input {name!r} is of {what}",
        hint="numbers are read: float, double, int32, int64 and bool; let the claim file turn levels into columns",
    )


def _shape_text(shape: Any) -> str:
    return "(" + ", ".join(dim.dim_param or str(dim.dim_value) for dim in shape.dim) + ")"


def _type_name(kind: int) -> str:
    import onnx

    names = {number: name for name, number in onnx.TensorProto.DataType.items()}
    return f"type {names.get(kind, kind)}"


# -- constants --------------------------------------------------------------------------------------------


def _check_numbers(tensors: Sequence[Any], attributes: Sequence[Any]) -> None:
    total = sum(math.prod(_read_shape(tensor)) for tensor in tensors)
    total += sum(len(one.floats) + len(one.ints) + len(one.strings) for one in attributes)
    if total > MOST_NUMBERS:
        raise UnsupportedModel(f"has {total:,} weights; at most {MOST_NUMBERS:,} are read")


def _read_shape(tensor: Any) -> tuple[int, ...]:
    shape = tuple(map(int, tensor.dims[: MOST_AXES + 1]))
    if len(shape) > MOST_AXES or any(not 0 <= length <= MOST_NUMBERS for length in shape):
        raise UnsupportedModel(
            f"the tensor {tensor.name!r} has the shape {shape[:MOST_AXES]}", hint="the file is damaged"
        )
    return shape


def _read_tensor(tensor: Any, folder: Path | None, types: Mapping[int, type[np.generic]] = DTYPES) -> Tensor:
    name, shape = str(tensor.name), _read_shape(tensor)
    size = math.prod(shape)
    dtype = types.get(tensor.data_type)
    if dtype is None:
        raise UnsupportedModel(
            f"the tensor {name!r} is of {_type_name(tensor.data_type)}",
            hint="float, double, int32, int64 and bool are read",
        )
    little = np.dtype(dtype).newbyteorder("<")
    raw = tensor.raw_data if tensor.HasField("raw_data") else None
    if tensor.data_location == EXTERNAL:
        raw = _read_external(name, tensor, folder, little.itemsize * size)
    listed = getattr(tensor, STORED[tensor.data_type])
    given = {one.name for one, _ in tensor.ListFields()} & {
        "raw_data",
        "external_data",
        "string_data",
        *STORED.values(),
    }
    if len(given) > 1:
        raise UnsupportedModel(f"the tensor {name!r} has its numbers in two places")
    if (len(listed) if raw is None else len(raw) / little.itemsize) != size:
        raise UnsupportedModel(
            f"the tensor {name!r} has not the numbers that its shape asks for",
            hint="the file is cut off or damaged",
        )
    if raw is None:
        values = np.array(listed, dtype=dtype)
    else:
        values = np.frombuffer(raw, dtype=np.uint8 if dtype is np.bool_ else little).astype(dtype)
    return values.reshape(shape)


def _read_external(name: str, tensor: Any, folder: Path | None, size: int) -> bytes:
    """The bytes of a tensor in a file beside the model, never anywhere else."""
    entries = {str(one.key): str(one.value) for one in tensor.external_data}
    location = entries.get("location", "")
    if len(entries) < len(tensor.external_data):
        raise UnsupportedModel(f"says twice where the weights {name!r} are")
    if folder is None:
        raise UnsupportedModel(
            f"keeps the weights {name!r} in another file, {location!r}",
            hint="save it in one file (onnx.save(model, path, save_as_external_data=False)), or say external_data = true below [model] in "
            "the claim file (likewise init --external-data)",
        )
    parts = location.replace("\\", "/").split("/")
    file = folder / location
    if not location or "\0" in location or len(parts) != 1 or parts[0] in (".", "..") or ":" in location:
        raise UnsupportedModel(
            f"keeps the weights {name!r} in {location!r}, which is not beside it",
            hint="external data is read from the folder of the model alone",
        )
    if file.is_symlink() or not file.is_file():
        raise UnsupportedModel(f"keeps the weights {name!r} in {location!r}, which is no file beside it")
    try:
        start = read_whole(entries.get("offset", "0"), hi=MOST_PLACE)
        length = read_whole(entries.get("length", str(size)), hi=MOST_PLACE)
    except ValueError:
        start, length = -1, -1
    if start < 0 or length != size or start + length > file.stat().st_size:
        raise UnsupportedModel(f"keeps the weights {name!r} in {location!r}, at a place that is not there")
    with open_file(file) as stream:
        stream.seek(start)
        return stream.read(length)
