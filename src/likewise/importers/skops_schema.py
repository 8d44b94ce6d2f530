"""What a ``.skops`` file says, looked at in full before skops reads any of it: its members, the grammar of
its schema, and the arrays that the schema names.

A node of the schema is what one value is made of: the `Kind` of value that it is, the full name of its
class, and the nodes of its parts. skops itself takes what
is left out, given twice or cut short as it comes. Here each kind has the keys that skops writes for it, and
no others.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.spec.disk import JSON_GROWTH, check_memory, parse_array, read_member

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Node = Mapping[str, Any]

SAVE_AGAIN = "save the model again; a file that was changed by others may do harm when it is read"
COPIES = 6  # of what a file unpacks to that are in memory at once, at most
SPARSE_FORMS = ("csr", "csc")
_DESCRIBING = ("__class__", "__module__", "__loader__", "__id__")
_OF_THE_FILE = ("protocol", "_skops_version")
# Types of keys of dicts: each is called with the text of a key.
_KEYS = frozenset(
    (
        *("builtins.str", "builtins.int", "builtins.float", "builtins.bool"),
        *(f"numpy.{kind.__name__}" for kind in np.sctypeDict.values()),
    )
)
_TWISTER = "MT19937"
_TWISTER_WORDS = 624
_GENERATOR = "PCG64"
_MOST_POOLED = 1024
_LOSSES = ("sklearn._loss._loss", "sklearn.linear_model._sgd_fast")


def unsound_error(why: str) -> UnsupportedModel:
    """The file is not one that skops wrote."""
    return UnsupportedModel(f"is not sound, as skops would not write it: {why}", hint=SAVE_AGAIN)


def _require(holds: bool, why: str) -> None:
    if not holds:
        raise unsound_error(why)


# -- members and arrays ---------------------------------------------------------------------------------------


def repacked(archive: zipfile.ZipFile) -> bytes:
    """The same members, none of which unpacks to more than it says: each once, and together no larger than
    may be."""
    members = archive.infolist()
    _require(len({member.filename for member in members}) == len(members), "two members have one name")
    check_memory(COPIES * sum(member.file_size for member in members), "unpacking it")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as anew:
        for member in members:
            anew.writestr(member.filename, read_member(archive, member.filename))
    return made.getvalue()


def read_array(content: bytes) -> NDArray[Any]:
    """An array of numbers or texts in NumPy's format."""
    try:
        return parse_array(content)
    except ValueError as error:
        raise unsound_error(str(error)) from error


def stored_array(node: Node, archive: zipfile.ZipFile) -> NDArray[Any]:
    """The array of a node."""
    if node["__loader__"] != "NdArrayNode" or node["type"] != "numpy":
        raise UnsupportedModel("an array is not written as one")
    return read_array(archive.read(node["file"]))


def stored_value(node: Node) -> Any:
    """The number, text or nothing of a node."""
    if node["__loader__"] != "JsonNode":
        raise UnsupportedModel("a number or text is not written as one")
    return json.loads(node["content"])


def stored_state(node: Node) -> Mapping[str, Any]:
    """The nodes of the attributes of an object."""
    state = node["content"]
    if state["__loader__"] != "DictNode":
        raise UnsupportedModel("its state is not written as a dict")
    found: Mapping[str, Any] = state["content"]
    return found


def _check_sparse(content: bytes, form: str, kind: str) -> None:
    """A matrix by columns or by rows: every index is one of the matrix. scipy follows them through memory
    without a look."""
    with zipfile.ZipFile(io.BytesIO(content)) as packed:
        content = repacked(packed)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name.removesuffix(".npy"): read_array(archive.read(name)) for name in archive.namelist()}
    is_array = bool(members.pop("_is_array", np.array(False)))
    _require(members.keys() == {"format", "shape", "data", "indices", "indptr"}, "parts of a sparse matrix")
    _require(members["format"].item() == form.encode(), f"what is called {form} has another format")
    _require(is_array == (kind == "array"), "a sparse matrix has another kind")
    shape, data, indices, starts = (members[name] for name in ("shape", "data", "indices", "indptr"))
    _require(shape.shape == (2,) and shape.dtype.kind in "iu" and bool((shape >= 0).all()), "a sparse shape")
    major, minor = shape.tolist() if form == "csr" else shape.tolist()[::-1]
    _require(
        data.dtype.kind in "biuf" and all(part.ndim == 1 for part in (data, indices, starts)),
        "sparse entries",
    )
    _require(
        all(part.dtype.kind == "i" for part in (indices, starts)), "sparse indices are not whole numbers"
    )
    _require(
        len(starts) == major + 1
        and starts[0] == 0
        and starts[-1] == len(indices) == len(data)
        and bool((starts[1:] >= starts[:-1]).all())
        and bool(((indices >= 0) & (indices < minor)).all()),
        "an index of a sparse matrix is none of the matrix",
    )
    check_memory(math.prod(shape.tolist()) * data.itemsize, "filling in the zeros of a sparse matrix")


# -- the schema -----------------------------------------------------------------------------------------------


def read_schema(archive: zipfile.ZipFile) -> dict[str, Any]:
    """The schema of a file, each key once."""
    content = archive.read("schema.json")
    check_memory(JSON_GROWTH * len(content), "reading its schema")
    schema = json.loads(content, object_pairs_hook=_once)
    _require(isinstance(schema, dict), "its schema is none")
    found: dict[str, Any] = schema
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    _require(len(found) == len(pairs), "its schema says the same twice")
    return found


def check_schema(schema: dict[str, Any], archive: zipfile.ZipFile) -> list[tuple[str, str]]:
    """Refuse a schema that skops does not write; the kinds and full names of all that it would construct."""
    root = {key: value for key, value in schema.items() if key not in _OF_THE_FILE}
    _check_numbers(root, archive)
    return [(node["__loader__"], node_name(node)) for node in _walk_checked(root, archive)]


def node_name(node: Node) -> str:
    """The full name of the class of a node."""
    return f"{node['__module__']}.{node['__class__']}"


def _walk_checked(root: Node, archive: zipfile.ZipFile) -> Iterator[Node]:
    waiting: list[Any] = [root]
    unpacked = 0  # once for each value that is made of a member
    while waiting:
        node = waiting.pop()
        _require(isinstance(node, dict) and "__loader__" in node, "a value is missing")
        loader = node["__loader__"]
        _require(loader in _GRAMMAR, f"it needs {loader!r}, which is not read here")
        keys, optional, parts = _GRAMMAR[loader]
        own = node.keys() - set(_DESCRIBING)
        _require(own >= set(keys) and own <= {*keys, *optional}, f"what belongs to a {loader}")
        words = (*str(node["__module__"]).split("."), str(node["__class__"]))
        _require(all(word.isidentifier() for word in words), "the name of a class is none")
        number = node.get("__id__", 1)
        _require(type(number) is int and number > 0, "the number of a value is none")
        if "file" in node:
            unpacked += archive.getinfo(node["file"]).file_size
            check_memory(COPIES * unpacked, "unpacking it")
        yield node
        waiting.extend(parts(node, archive))


def _no_parts(_node: Node, _archive: zipfile.ZipFile) -> Sequence[Any]:
    return ()


def _of_list(node: Node, _archive: zipfile.ZipFile) -> Sequence[Any]:
    _require(isinstance(node["content"], list), "a list is none")
    found: Sequence[Any] = node["content"]
    return found


def _of_dict(node: Node, archive: zipfile.ZipFile) -> Sequence[Any]:
    kinds, content = node["key_types"], node["content"]
    _require(kinds["__loader__"] == "ListNode" and isinstance(content, dict), "a dict is none")
    listed = _of_list(kinds, archive)
    _require(len(listed) == len(content), "the keys of a dict and their types are not as many")
    types = {(kind["__loader__"], node_name(kind)) for kind in listed}
    _require(all(loader == "TypeNode" and name in _KEYS for loader, name in types), "the type of a key")
    return [kinds, *content.values()]


def _of_object(node: Node, _archive: zipfile.ZipFile) -> Sequence[Any]:
    if "content" not in node:
        return ()
    state = node["content"]
    if state["__loader__"] != "DictNode":
        _require(state["__loader__"] == "JsonNode" and state["content"] == "null", "the state of an object")
        return (state,)
    _require(node_name(state) == "builtins.dict", "the state of an object is no dict")
    names = [node_name(kind) for kind in state["key_types"]["content"]]
    _require(set(names) <= {"builtins.str"}, "an attribute has no name")
    return (state,)


def _of_value(node: Node, _archive: zipfile.ZipFile) -> Sequence[Any]:
    value = json.loads(node["content"])
    _require(value is None or isinstance(value, (str, int, float)), "a number or text is none")
    return ()


def _of_array(node: Node, archive: zipfile.ZipFile) -> Sequence[Any]:
    if node["type"] == "numpy":
        _require("file" in node and not {"content", "shape"} & node.keys(), "an array is not in a member")
        read_array(archive.read(node["file"]))
        return ()
    _require(node["type"] == "json" and "file" not in node, "an array is of no known type")
    _require(node["shape"]["__loader__"] == "TupleNode", "the shape of an array is none")
    shape = [stored_value(length) for length in _of_list(node["shape"], archive)]
    _require(_has_shape(node["content"], shape), "an array does not have its shape")
    return [node["shape"], *node["content"]]


def _has_shape(content: Any, shape: Sequence[Any]) -> bool:
    """Whether nested lists of nodes are as long as an array of that shape says."""
    if not shape or not isinstance(content, list) or len(content) != shape[0]:
        return False
    inner = shape[1:]
    return not inner or all(
        part["__loader__"] == "ListNode" and _has_shape(part["content"], inner) for part in content
    )


def _of_sparse(node: Node, archive: zipfile.ZipFile) -> Sequence[Any]:
    form, _, kind = node["__class__"].partition("_")
    _require(node["type"] == "scipy" and form in SPARSE_FORMS, "a sparse matrix of another form")
    _check_sparse(archive.read(node["file"]), form, kind)
    return ()


def _of_masked(node: Node, _archive: zipfile.ZipFile) -> Sequence[Any]:
    _require(node["content"].keys() == {"data", "mask"}, "an array with a mask")
    return list(node["content"].values())


def _of_default_dict(node: Node, _archive: zipfile.ZipFile) -> Sequence[Any]:
    parts = node["content"]
    _require(parts.keys() == {"main", "default_factory"}, "a dict with a default")
    _require(parts["default_factory"]["__loader__"] == "TypeNode", "the default of a dict is no type")
    return list(parts.values())


def _of_content(node: Node, _archive: zipfile.ZipFile) -> Sequence[Any]:
    return (node["content"],)


def _of_partial(node: Node, _archive: zipfile.ZipFile) -> Sequence[Any]:
    _require(node["content"].keys() == {"func", "args", "kwds", "namespace"}, "arguments of a function")
    return list(node["content"].values())


def _of_slice(node: Node, _archive: zipfile.ZipFile) -> Sequence[Any]:
    ends = node["content"]
    _require(ends.keys() == {"start", "stop", "step"}, "a slice")
    _require(all(end is None or type(end) in (int, str) for end in ends.values()), "the end of a slice")
    return ()


def _of_reduced(node: Node, _archive: zipfile.ZipFile) -> Sequence[Any]:
    _require(node["__reduce__"].keys() == {"args"}, "the arguments of a class")
    return [node["content"], node["__reduce__"]["args"]]


def _of_tree(node: Node, archive: zipfile.ZipFile) -> Sequence[Any]:
    _require(node_name(node) == "sklearn.tree._tree.Tree", "what is written as a tree is none")
    return _of_reduced(node, archive)


def _of_loss(node: Node, archive: zipfile.ZipFile) -> Sequence[Any]:
    """Made of numbers; what it would take in afterwards is nothing. skops before 0.14 imports its module to
    list types."""
    _require(node["__module__"] in _LOSSES, "a loss is none of scikit-learn")
    state, arguments = _of_reduced(node, archive)
    _require(state["__loader__"] in ("DictNode", "TupleNode") and not state["content"], "the state of a loss")
    return [state, *_numbers_only(arguments, archive)]


def _of_arguments(node: Node, archive: zipfile.ZipFile) -> Sequence[Any]:
    return _numbers_only(node["content"], archive)


def _numbers_only(arguments: Node, archive: zipfile.ZipFile) -> Sequence[Any]:
    _require(arguments["__loader__"] == "TupleNode", "the arguments of a class")
    _require(all(part["__loader__"] == "JsonNode" for part in _of_list(arguments, archive)), "an argument")
    return (arguments,)


def _of_random_state(node: Node, archive: zipfile.ZipFile) -> Sequence[Any]:
    """Random numbers are drawn from the place in its state that is given, wherever it is."""
    held = stored_state(node)
    inner = held["state"]["content"]
    key, place = stored_array(inner["key"], archive), stored_value(inner["pos"])
    _require(
        stored_value(held["bit_generator"]) == _TWISTER
        and key.shape == (_TWISTER_WORDS,)
        and key.dtype == np.uint32
        and type(place) is int
        and 0 <= place <= _TWISTER_WORDS,
        "the state of random numbers",
    )
    return (node["content"],)


def _of_generator(node: Node, _archive: zipfile.ZipFile) -> Sequence[Any]:
    """Of the kind that NumPy makes unasked, whose state is four numbers."""
    parts = node["content"]
    _require(parts.keys() == {"bit_generator", "seed_seq"}, "the state of random numbers")
    held, seed = (
        stored_state({"content": parts["bit_generator"]}),
        stored_state({"content": parts["seed_seq"]}),
    )
    _require(
        stored_value(held["bit_generator"]) == _GENERATOR
        and all(type(stored_value(held[name])) is int for name in ("has_uint32", "uinteger"))
        and stored_value(seed["pool_size"]) in range(_MOST_POOLED),
        "the state of random numbers",
    )
    return list(parts.values())


# By loader of skops: keys that are there, others that may be, and the nodes of its parts.
_GRAMMAR: Mapping[
    str, tuple[Sequence[str], Sequence[str], Callable[[Node, zipfile.ZipFile], Sequence[Any]]]
] = {
    "ObjectNode": ((), ("content",), _of_object),
    "JsonNode": (("content", "is_json"), (), _of_value),
    "DictNode": (("content", "key_types"), (), _of_dict),
    "DefaultDictNode": (("content",), (), _of_default_dict),
    **dict.fromkeys(("ListNode", "SetNode", "TupleNode"), (("content",), (), _of_list)),
    "NdArrayNode": (("type",), ("file", "content", "shape"), _of_array),
    "MaskedArrayNode": (("content",), (), _of_masked),
    "DTypeNode": (("content",), (), _of_content),
    "SparseMatrixNode": (("type", "file"), (), _of_sparse),
    "RandomGeneratorNode": (("content",), (), _of_generator),
    "RandomStateNode": (("content",), (), _of_random_state),
    **dict.fromkeys(("BytesNode", "BytearrayNode"), (("file",), (), _no_parts)),
    **dict.fromkeys(("TypeNode", "FunctionNode"), ((), (), _no_parts)),
    "PartialNode": (("content",), (), _of_partial),
    "SliceNode": (("content",), (), _of_slice),
    "TreeNode": (("content", "__reduce__"), (), _of_tree),
    "LossNode": (("content", "__reduce__"), (), _of_loss),
    "ConstructorFromReduceNode": (("content",), (), _of_arguments),
}


def _check_numbers(root: Any, archive: zipfile.ZipFile) -> None:
    """skops constructs what has one number once: whatever has it must be the same, so that what is looked at
    is what is constructed. A node under the name of a number, that of an attribute, say, is a value as
    well."""
    numbered: dict[int, bytes] = {}
    members: dict[str, bytes] = {}

    def digest(part: Any) -> bytes:
        if isinstance(part, dict):
            words = [
                digest(key)
                + (digest_member(value) if key == "file" and isinstance(value, str) else digest(value))
                for key, value in sorted(part.items())
                if key != "__id__" or isinstance(value, dict)
            ]
        elif isinstance(part, list):
            words = [digest(value) for value in part]
        else:
            return hashlib.sha256(json.dumps(part).encode()).digest()
        found = hashlib.sha256(b"".join([type(part).__name__.encode(), *words])).digest()
        number = part.get("__id__") if isinstance(part, dict) and "__loader__" in part else None
        if number is not None and numbered.setdefault(number, found) != found:
            raise UnsupportedModel("two different values in it have the same number", hint=SAVE_AGAIN)
        return found

    def digest_member(name: str) -> bytes:
        if name not in members:
            members[name] = hashlib.sha256(archive.read(name)).digest()
        return members[name]

    digest(root)
