"""HDF5 files, opened in a process of their own: the library that reads them is written in C, and a damaged
file can make it crash, or never end.

The process gets the bytes of a file, and gives back what it found below some groups: arrays of floats, two
attributes, and of everything else why it is not read. It follows plain links only, so that
nothing is fetched from other files, counts before it reads, and has limits of time and memory.

    from here to there      the groups to look through, a line of JSON; then the bytes of the file
    and back                a line of JSON: attributes, arrays (path, type, shape) and refusals; then the
    bytes of the arrays
"""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.spec.reader_process import ask_process

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Tensor = NDArray[Any]

MOST_NUMBERS = 4_000_000
MOST_ENTRIES = 10_000
MOST_TEXT = 1 << 24
DEEPEST = 12
CONFIG, LAYERS, NAMES = "model_config", "layer_names", "weight_names"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """What is in a file: `arrays` by path, `config` and `names` as its attributes say (of the file, of
    groups), `refused` why something is not read; `members` how many things a group has."""

    config: str | None
    names: dict[str, list[str]]
    arrays: dict[str, Tensor]
    refused: dict[str, str]
    members: dict[str, int]

    def array(self, path: str) -> Tensor:
        """The numbers at a path; refuses those that are not read, or are not there."""
        why = next((why for place, why in self.refused.items() if f"{path}/".startswith(f"{place}/")), None)
        if why is not None or path not in self.arrays:
            raise UnsupportedModel(f"{path} {why or 'is not there'}")
        return self.arrays[path]


def open_hdf5(content: bytes, groups: Sequence[str]) -> StoredFile:
    """What is in the bytes of a file, below these groups."""
    head, _, rest = ask_process(
        __name__, json.dumps(list(groups)).encode() + b"\n" + content, "HDF5 file"
    ).partition(b"\n")
    told, start = json.loads(head), 0
    arrays = {}
    for path, kind, shape in told.pop("arrays"):
        values = np.frombuffer(rest, dtype=kind, count=int(np.prod(shape)), offset=start)
        arrays[path] = values.reshape(shape)
        start += values.nbytes
    return StoredFile(arrays=arrays, **told)


# -- in the process ---------------------------------------------------------------------------------------


def answer(request: bytes) -> bytes:
    """What is found in a file."""
    import h5py

    groups, _, content = request.partition(b"\n")
    with h5py.File(io.BytesIO(content), "r") as file:
        found = _Looking(h5py)
        for group in json.loads(groups):
            if isinstance(file.get(group, getlink=True), h5py.HardLink):
                found.look(file[group], group, 0)
        config = _text(file.attrs[CONFIG]) if CONFIG in file.attrs else None
    told = {
        "config": config,
        "names": found.names,
        "refused": found.refused,
        "members": found.members,
        "arrays": [(path, values.dtype.str, values.shape) for path, values in found.arrays.items()],
    }
    return b"\n".join((json.dumps(told).encode(), b"".join(map(np.ndarray.tobytes, found.arrays.values()))))


class _Looking:
    """Goes through groups, counting."""

    def __init__(self, h5py: Any) -> None:
        self.h5py = h5py
        self.names: dict[str, list[str]] = {}
        self.arrays: dict[str, Tensor] = {}
        self.refused: dict[str, str] = {}
        self.members: dict[str, int] = {}
        self._numbers = self._entries = 0

    def look(self, entry: Any, path: str, depth: int) -> None:
        """At an array, or at all that is in a group."""
        self._entries += 1
        if self._entries > MOST_ENTRIES or depth > DEEPEST:
            raise ValueError("too many groups, or groups in groups")
        if isinstance(entry, self.h5py.Dataset):
            self._read(entry, path)
        elif isinstance(entry, self.h5py.Group):
            names = NAMES if depth else LAYERS
            if names in entry.attrs:
                self.names[path] = [_text(name) for name in entry.attrs[names][:MOST_ENTRIES]]
            self.members[path] = len(entry)
            for name in entry:
                below = f"{path}/{name}"
                if isinstance(entry.get(name, getlink=True), self.h5py.HardLink):
                    self.look(entry[name], below, depth + 1)
                else:
                    self.refused[below] = "is a link to something else, which is not followed"

    def _read(self, entry: Any, path: str) -> None:
        if entry.dtype not in (np.float32, np.float64):
            self.refused[path] = "is no array of float32 or float64"
        elif len(entry.attrs):  # such as `dtype`, to which Keras rounds what it reads
            self.refused[path] = "has attributes, which are not read"
        elif entry.external or entry.is_virtual:
            self.refused[path] = "is in another file, which is not read"
        elif self._numbers + entry.size > MOST_NUMBERS:
            self.refused[path] = f"has {entry.size:,} numbers; at most {MOST_NUMBERS:,} are read"
        else:
            self._numbers += entry.size
            self.arrays[path] = np.ascontiguousarray(entry[()])


def _text(value: Any) -> str:
    found = value.decode("utf-8") if isinstance(value, bytes) else str(value)
    if len(found) > MOST_TEXT:
        raise ValueError("a text is too long")
    return found
