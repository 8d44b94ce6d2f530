"""Keras' two files, opened without Keras: with h5py (in a process of its own, `hdf5_process`), zip and JSON.

    .keras      a zip archive: config.json, and model.weights.h5, in which weights are numbered by the class of their layer: layers/dense/vars/0, layers/dense_1/vars/0, ...
    .h5         the older one: the description in an attribute, weights below model_weights by the names of the layers

Everything is counted before it is read. What HDF5 could fetch from other files (links, external and virtual data) is refused.
"""

from __future__ import annotations

import importlib.util
import io
import re
import sys
import zipfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from likewise.errors import UnsupportedModel
from likewise.importers.layer_files.hdf5_process import MOST_TEXT, StoredFile, open_hdf5
from likewise.importers.layer_files.keras_layers import described_layers, layers_graph, weight_names
from likewise.importers.onnx.model_file import MOST_BYTES
from likewise.importers.saved_boosters import read_json
from likewise.spec.disk import read_member

if TYPE_CHECKING:
    from likewise.importers.layer_files.keras_layers import Config
    from likewise.importers.onnx.model_file import Graph

    Layers = Sequence[tuple[str, str, Config]]

CONFIG, WEIGHTS, METADATA = "config.json", "model.weights.h5", "metadata.json"
CONTAINERS = ("layers", "_layer_checkpoint_dependencies")  # the second one until 2.13


def read_keras(content: bytes) -> Graph:
    """The network in the bytes of a ``.keras`` file."""
    return _guarded(_read_archive, content)


def read_h5(content: bytes) -> Graph:
    """The network in the bytes of an ``.h5`` file."""
    return _guarded(_read_legacy, content)


def _guarded(read: Callable[[bytes], Graph], content: bytes) -> Graph:
    if not _has_h5py():
        raise UnsupportedModel(
            "reading files of Keras needs the package h5py, which is not installed",
            hint='pip install "likewise[keras]", or export the model as ONNX',
        )
    try:
        return read(content)
    except UnsupportedModel:
        raise
    except Exception as error:  # whatever a damaged file makes its readers raise
        raise UnsupportedModel(
            f"is no file of Keras: {' '.join(str(error).split())[:120]}",
            hint="the file is cut off or damaged",
        ) from error


def _has_h5py() -> bool:
    if "h5py" in sys.modules:
        return sys.modules["h5py"] is not None
    return importlib.util.find_spec("h5py") is not None


def _read_archive(content: bytes) -> Graph:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        strange = sorted(set(names) - {CONFIG, WEIGHTS, METADATA})
        if strange or len(set(names)) < len(names):
            raise UnsupportedModel(
                f"has {(*strange, names[-1])[0]!r} in it, which is not read, or is there twice"
            )
        for name in (CONFIG, WEIGHTS):
            if archive.getinfo(name).file_size > MOST_BYTES:
                raise UnsupportedModel(f"{name} in it is larger than {MOST_BYTES >> 20} MB")
        description, stored = read_member(archive, CONFIG), read_member(archive, WEIGHTS)
    layers = described_layers(_parsed(description))
    file = open_hdf5(stored, CONTAINERS)
    container = next((name for name in CONTAINERS if name in file.members), None)
    if container is None:
        raise UnsupportedModel(f"has no weights of layers in {WEIGHTS}")
    weights, seen = {}, dict.fromkeys((kind for _, kind, _ in layers), 0)
    for name, kind, settings in layers:
        place = _snake_case(kind) + (f"_{seen[kind]}" if seen[kind] else "")
        seen[kind] += 1
        group, count = f"{container}/{place}/vars", len(weight_names(kind, settings))
        weights[name] = [file.array(f"{group}/{i}") for i in range(count)]
        if file.members.get(group, 0) != count:
            raise UnsupportedModel(f"layer {name!r} has other weights than {count}")
    _check_rest(file, layers)
    return layers_graph(layers, weights)


def _read_legacy(content: bytes) -> Graph:
    file = open_hdf5(content, ("model_weights",))
    if file.config is None:
        raise UnsupportedModel(
            "has weights, and not what they are the weights of",
            hint="save the whole model: model.save('net.keras')",
        )
    layers = described_layers(_parsed(file.config))
    # Keras gives weights to layers by their order in this list, whatever the layers are called.
    order = [name for name in file.names.get("model_weights", ()) if file.names.get(f"model_weights/{name}")]
    if order != [name for name, kind, settings in layers if weight_names(kind, settings)]:
        raise UnsupportedModel(f"has weights of the layers {', '.join(order[:6]) or 'none'}, in this order")
    weights = {}
    for name, kind, settings in layers:
        expected, group = weight_names(kind, settings), f"model_weights/{name}"
        if not expected:
            continue
        paths = file.names.get(group, [])
        if tuple(path.rpartition("/")[2].partition(":")[0] for path in paths) != expected:
            raise UnsupportedModel(
                f"layer {name!r} has the weights {', '.join(paths[:6]) or 'none'}, not {', '.join(expected)}"
            )
        weights[name] = [file.array(f"{group}/{path}") for path in paths]
    return layers_graph(layers, weights)


def _check_rest(file: StoredFile, layers: Layers) -> None:
    """No more groups with weights than layers that have some."""
    expected = sum(1 for _, kind, settings in layers if weight_names(kind, settings))
    found = sum(1 for group, count in file.members.items() if group.endswith("/vars") and count)
    if found != expected or file.refused:
        raise UnsupportedModel(f"has weights of {found} layers, and {expected} layers that have some")


def _parsed(text: Any) -> Any:
    if len(text) > MOST_TEXT:
        _refuse_text("it is too long")
    try:
        return read_json(text)
    except (ValueError, RecursionError) as error:
        _refuse_text(str(error))


def _refuse_text(why: str) -> NoReturn:
    raise UnsupportedModel(f"has a description that is no JSON: {why[:80]}", hint="the file is damaged")


def _snake_case(kind: str) -> str:
    """The name of a class as Keras writes it in a path: BatchNormalization is batch_normalization."""
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", kind)).lower()
