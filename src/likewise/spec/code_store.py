"""Many individuals by their codes, each in as few bytes as its features need, in memory or, where that would be too much, in a file that nobody else sees.

A code is a double: for a whole number or a level it is kept as the smallest integer type that holds the feature's codes. What is added comes back as it was, to the last bit.
"""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError
from likewise.spec.features import Continuous, Feature

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

MOST_IN_MEMORY = 64 * 2**20  # bytes, from which on a file holds them


class RecordStore:
    """Records of one dtype that are added at the end and read by their places."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype, self.count = dtype, 0
        self._blocks = [np.empty(0, dtype=dtype)]  # while they are in memory
        self._file: IO[bytes] | None = None

    def __len__(self) -> int:
        return self.count

    def __getstate__(self) -> NDArray[Any]:
        return self.read(0, self.count)

    def __setstate__(self, records: NDArray[Any]) -> None:
        RecordStore.__init__(self, records.dtype)
        self.add(records)

    def add(self, records: NDArray[Any]) -> None:
        """At the end."""
        self.count += len(records)
        if self._file is None and self.count * self.dtype.itemsize <= MOST_IN_MEMORY:
            self._blocks.append(np.asarray(records, dtype=self.dtype))
            return
        if self._file is None:
            self._file = TemporaryFile()  # noqa: SIM115 - closed with the store
            weakref.finalize(self, self._file.close)
            for block in self._blocks:
                self._file.write(block.tobytes())
            self._blocks.clear()
        self._file.seek(0, os.SEEK_END)
        self._file.write(np.ascontiguousarray(records, dtype=self.dtype).tobytes())

    def read(self, start: int, stop: int) -> NDArray[Any]:
        """Those between two places."""
        if self._file is None:
            return self._in_memory()[start:stop]
        size = self.dtype.itemsize
        self._file.seek(start * size)
        return np.frombuffer(self._file.read((min(stop, self.count) - start) * size), dtype=self.dtype)

    def take(self, places: NDArray[np.intp]) -> NDArray[Any]:
        """Those at these places, in this order."""
        if self._file is None:
            return self._in_memory()[places]
        self._file.flush()
        mapped = np.memmap(self._file, dtype=self.dtype, mode="r", shape=(self.count,))
        order = np.argsort(places, kind="stable")
        found = np.empty(len(places), dtype=self.dtype)
        found[order] = mapped[places[order]]
        return found

    def _in_memory(self) -> NDArray[Any]:
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        return self._blocks[0]


def code_dtype(feature: Feature, *, nobody: bool = False) -> np.dtype[Any]:
    """The smallest type that holds the codes of a feature, and that of nobody, one above them."""
    if isinstance(feature, Continuous):
        return np.dtype(np.float64)
    lo, hi = feature.code_range
    hi += nobody
    kinds = (np.int8, np.int16, np.int32, np.int64)
    return np.dtype(
        next((kind for kind in kinds if np.iinfo(kind).min <= lo and hi <= np.iinfo(kind).max), np.float64)
    )


class CodeStore:
    """Individuals of a space; with `rows`, each with the number of the row that it is."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self._records = RecordStore(_packed_dtype(space))
        self._numbers: RecordStore | None = None  # where rows were left out

    def __len__(self) -> int:
        return len(self._records)

    def add(self, codes: Floats, numbers: NDArray[np.int64]) -> None:
        """More of them, which are these rows of the data."""
        start = len(self)
        if self._numbers is None and len(numbers) and not _follow(numbers, start):
            self._numbers = RecordStore(np.dtype(np.int64))
            self._numbers.add(np.arange(start))
        if self._numbers is not None:
            self._numbers.add(numbers)
        self._records.add(pack_codes(self.space, codes))

    def add_packed(self, records: NDArray[Any]) -> None:
        """More of them, packed, which are the rows that come next in the data."""
        if self._numbers is not None:
            raise InternalError("rows were left out before")
        self._records.add(records)

    def codes(self, start: int, stop: int) -> Floats:
        """Those between two places."""
        return unpack_codes(self.packed(start, stop))

    def packed(self, start: int, stop: int) -> NDArray[Any]:
        """The same as they are kept, to be sent."""
        return self._records.read(start, stop)

    def take(self, places: NDArray[np.intp]) -> Floats:
        """Those at these places."""
        return unpack_codes(self._records.take(places))

    def numbers(self, places: NDArray[np.intp]) -> NDArray[np.int64]:
        """The rows of the data that those at these places are."""
        if self._numbers is None:
            return places.astype(np.int64)
        return self._numbers.take(places)


def _follow(numbers: NDArray[np.int64], start: int) -> bool:
    return bool((numbers == np.arange(start, start + len(numbers))).all())


def _packed_dtype(space: Space) -> np.dtype[Any]:
    return np.dtype([(f"code_{k}", code_dtype(feature)) for k, feature in enumerate(space.features.values())])


def pack_codes(space: Space, codes: Floats) -> NDArray[Any]:
    """Individuals in as few bytes as their features need."""
    records = np.empty(len(codes), dtype=_packed_dtype(space))
    for k, name in enumerate(records.dtype.names or ()):
        records[name] = codes[:, k]
        if not (records[name] == codes[:, k]).all():
            raise InternalError(f"a code of {space.names[k]!r} is beyond its feature")
    return records


def unpack_codes(records: NDArray[Any]) -> Floats:
    """Their codes."""
    names: Sequence[str] = records.dtype.names or ()
    codes = np.empty((len(records), len(names)))
    for k, name in enumerate(names):
        codes[:, k] = records[name]
    return codes
