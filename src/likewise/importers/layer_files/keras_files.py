"""Keras' two files, opened without Keras: with h5py, zip and JSON.

    .keras      a zip archive: config.json, and model.weights.h5, in which weights are numbered by the class of their layer: layers/dense/vars/0, layers/dense_1/vars/0, ...
    .h5         the older one: the description in an attribute, weights below model_weights by the names of the layers

Everything is counted before it is read. What HDF5 could fetch from other files (links, external and virtual data) is refused.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.layer_files.keras_layers import described_layers, layers_graph, weight_names
from likewise.importers.onnx.model_file import MOST_BYTES, MOST_NUMBERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.layer_files.keras_layers import Config
    from likewise.importers.onnx.model_file import Graph

    Tensor = NDArray[Any]
    Layers = Sequence[tuple[str, str, Config]]

CONFIG, WEIGHTS = "config.json", "model.weights.h5"
CONTAINERS = ("layers", "_layer_checkpoint_dependencies")  # the second one until 2.13
MOST_TEXT = 1 << 24


def read_keras(content: bytes) -> Graph:
    """The network in the bytes of a ``.keras`` file."""
    return _guarded(_read_archive, content)


def read_h5(content: bytes) -> Graph:
    """The network in the bytes of an ``.h5`` file."""
    return _guarded(_read_legacy, content)


def _guarded(read: Callable[[Any, bytes], Graph], content: bytes) -> Graph:
    try:
        import h5py
    except ImportError:
        raise UnsupportedModel(
            "reading files of Keras needs the package h5py, which is not installed",
            hint='pip install "likewise[keras]", or export the model as ONNX',
        ) from None
    try:
        return read(h5py, content)
    except UnsupportedModel:
        raise
    except Exception as error:  # whatever a damaged file makes its readers raise
        raise UnsupportedModel(
            f"is no file of Keras: {' '.join(str(error).split())[:120]}",
            hint="the file is cut off or damaged",
        ) from error


def _read_archive(h5py: Any, content: bytes) -> Graph:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for name in (CONFIG, WEIGHTS):
            if archive.getinfo(name).file_size > MOST_BYTES:
                raise UnsupportedModel(f"{name} in it is larger than {MOST_BYTES >> 20} MB")
        description, stored = archive.read(CONFIG), archive.read(WEIGHTS)
    layers = described_layers(_parsed(description))
    with h5py.File(io.BytesIO(stored), "r") as file:
        container = next((name for name in CONTAINERS if name in file), None)
        if container is None:
            raise UnsupportedModel(f"has no weights of layers in {WEIGHTS}")
        weights, seen = {}, dict.fromkeys((kind for _, kind, _ in layers), 0)
        for name, kind, settings in layers:
            place = _snake_case(kind) + (f"_{seen[kind]}" if seen[kind] else "")
            seen[kind] += 1
            count = len(weight_names(kind, settings))
            weights[name] = [_dataset(h5py, file, f"{container}/{place}/vars/{i}") for i in range(count)]
            if count and _member_count(h5py, file, f"{container}/{place}/vars") != count:
                raise UnsupportedModel(f"layer {name!r} has other weights than {count}")
        _check_rest(h5py, file[container], layers)
        return layers_graph(layers, weights)


def _read_legacy(h5py: Any, content: bytes) -> Graph:
    with h5py.File(io.BytesIO(content), "r") as file:
        if "model_config" not in file.attrs:
            raise UnsupportedModel(
                "has weights, and not what they are the weights of",
                hint="save the whole model: model.save('net.keras')",
            )
        layers = described_layers(_parsed(file.attrs["model_config"]))
        weights = {}
        for name, kind, settings in layers:
            expected = weight_names(kind, settings)
            if not expected:
                continue
            group = _followed(h5py, file, f"model_weights/{name}")
            paths = [_text(one) for one in group.attrs["weight_names"]]
            if tuple(path.rpartition("/")[2].partition(":")[0] for path in paths) != expected:
                raise UnsupportedModel(
                    f"layer {name!r} has the weights {', '.join(paths[:6])}, not {', '.join(expected)}"
                )
            weights[name] = [_dataset(h5py, group, path) for path in paths]
        return layers_graph(layers, weights)


def _check_rest(h5py: Any, container: Any, layers: Layers) -> None:
    """No more groups with weights than layers that have some."""
    expected = sum(1 for _, kind, settings in layers if weight_names(kind, settings))
    stored = [name for name in container if isinstance(container.get(name, getlink=True), h5py.HardLink)]
    found = sum(1 for name in stored if _member_count(h5py, container, f"{name}/vars"))
    if len(stored) < len(container) or found != expected:
        raise UnsupportedModel(f"has weights of {found} layers, and {expected} layers that have some")


def _member_count(h5py: Any, group: Any, path: str) -> int:
    try:
        return len(_followed(h5py, group, path))
    except KeyError:
        return 0


def _followed(h5py: Any, group: Any, path: str) -> Any:
    """What is at a path, by plain links alone."""
    for part in path.split("/"):
        link = group.get(part, getlink=True)
        if link is None:
            raise KeyError(f"{path} is not there")
        if not isinstance(link, h5py.HardLink):
            raise UnsupportedModel(f"{path} is a link to something else, which is not followed")
        group = group[part]
    return group


def _dataset(h5py: Any, group: Any, path: str) -> Tensor:
    """The numbers at a path, counted before they are read."""
    found = _followed(h5py, group, path)
    if not isinstance(found, h5py.Dataset) or found.dtype not in (np.float32, np.float64):
        raise UnsupportedModel(f"{path} is no array of float32 or float64")
    if found.external or found.is_virtual:
        raise UnsupportedModel(f"{path} is in another file, which is not read")
    if found.size > MOST_NUMBERS:
        raise UnsupportedModel(f"{path} has {found.size:,} numbers; at most {MOST_NUMBERS:,} are read")
    return np.asarray(found[()])


def _parsed(text: Any) -> Any:
    if len(text) > MOST_TEXT:
        _refuse_text("it is too long")
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        _refuse_text(str(error))


def _refuse_text(why: str) -> NoReturn:
    raise UnsupportedModel(f"has a description that is no JSON: {why[:80]}", hint="the file is damaged")


def _text(value: Any) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else str(value)


def _snake_case(kind: str) -> str:
    """The name of a class as Keras writes it in a path: BatchNormalization is batch_normalization."""
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", re.sub(r"(.)([A-Z][a-z0-9]+)", r"\1_\2", kind)).lower()
