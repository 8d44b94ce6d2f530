"""The rows of the data as individuals: all of them by their codes, wherever they come from, and some as they are.

Rows are read a chunk at a time (`row_source`), made individuals or refused, and kept as codes (`code_store`). A sample, evenly spread over all rows, is kept as frames too: it stands for the data
wherever the user's own columns and dtypes matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.clock import check_clock
from likewise.errors import DataError, suggest_name
from likewise.spec.code_store import CodeStore, pack_codes
from likewise.spec.columns import as_table
from likewise.spec.outside import Outside, admit_rows
from likewise.spec.row_source import CHUNK_ROWS, FrameSource, join_frames
from likewise.spec.rows import broken_rows, encode

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.constraints import Constraint
    from likewise.spec.frames import FilePart
    from likewise.spec.row_source import RowSource, TableFile
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

SAMPLED_ROWS = 256  # at least, and less than twice as many, of longer data


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AdmittedChunk:
    """Rows of one chunk that are individuals: the frame, its codes, and their numbers in the data."""

    frame: Any
    codes: Floats
    numbers: Places
    ignored: int = 0
    clipped: int = 0


def admit_chunk(
    space: Space, frame: Any, first: int, *, outside: Outside = "error", rules: Sequence[Constraint] = ()
) -> AdmittedChunk:
    """The rows of a chunk, whose first one is number `first`, that are individuals of the space; those that break one of the `rules` are left out."""
    numbers = np.arange(first, first + len(as_table(frame)))
    ignored = clipped = 0
    if outside != "error":
        admitted = admit_rows(space, frame, outside, first=first)
        frame, numbers = admitted.frame, numbers[admitted.kept]
        ignored, clipped = admitted.ignored, admitted.clipped
    codes = encode(space, frame, allow_extra=True, first=first)
    broken = np.zeros(len(codes), dtype=bool)
    for rule in rules:
        broken |= broken_rows(space, rule, codes)
    if broken.any():
        frame = as_table(frame).filter((~broken).tolist()).to_native()
        codes, numbers = codes[~broken], numbers[~broken]
    return AdmittedChunk(frame=frame, codes=codes, numbers=numbers, ignored=ignored, clipped=clipped)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DataRows:
    """All rows that are individuals. `sample` has some of them as they are, `sample_codes` and `sample_numbers` what those are; `outside` is what became of others."""

    source: RowSource
    store: CodeStore
    sample: Any
    sample_codes: Floats
    sample_numbers: Places
    outside: Mapping[str, int] | None = None

    def __len__(self) -> int:
        return len(self.store)

    def column(self, name: str) -> Iterator[tuple[int, list[Any]]]:
        """The values of a column of the data, a feature or not, from a place of the individuals on; the source is gone through again."""
        start = first = 0
        for frame in self.source.chunks(CHUNK_ROWS):
            table = as_table(frame)
            if name not in table.columns:
                names = list(table.columns)
                raise DataError(
                    f"the data have no column {name!r}{suggest_name(name, names)}",
                    hint=f"its columns are {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}",
                )
            values, end = table.get_column(name).to_list(), first + len(table)
            numbers = self.store.numbers(np.arange(start, min(start + len(table), len(self))))
            numbers = numbers[: np.searchsorted(numbers, end)]
            yield start, [values[number - first] for number in numbers.tolist()]
            start, first = start + len(numbers), end

    def slices(self, size: int) -> Iterator[tuple[int, int]]:
        """Where so many of them begin and end."""
        yield from ((start, min(start + size, len(self))) for start in range(0, len(self), size))


def rows_of_frame(space: Space, frame: Any, codes: Floats) -> DataRows:
    """Those of one frame, all of them individuals, which stands for itself."""
    store, numbers = CodeStore(space), np.arange(len(codes))
    store.add(codes, numbers)
    return DataRows(
        source=FrameSource(frame), store=store, sample=frame, sample_codes=codes, sample_numbers=numbers
    )


def gather_rows(
    space: Space,
    source: RowSource,
    admit: Callable[[Any, int], AdmittedChunk],
    told: Callable[[int], None] | None = None,
) -> DataRows:
    """Go through the source once; `admit` makes individuals of a chunk that begins at a row, `told` hears how many rows were read."""
    store, sample = CodeStore(space), _Sample()
    seen = ignored = clipped = 0
    for frame in source.chunks(CHUNK_ROWS):
        chunk = admit(frame, seen)
        sample.add(chunk, len(store))
        store.add(chunk.codes, chunk.numbers)
        seen, ignored, clipped = seen + len(frame), ignored + chunk.ignored, clipped + chunk.clipped
        if told is not None:
            told(seen)
        check_clock()
    if not sample.chunks:
        raise DataError("the data have no rows")
    outside = {"rows": seen, "ignored": ignored, "clipped": clipped} if ignored or clipped else None
    return DataRows(
        source=source,
        store=store,
        sample=join_frames([chunk.frame for chunk in sample.chunks]),
        sample_codes=np.concatenate([chunk.codes for chunk in sample.chunks]),
        sample_numbers=np.concatenate([chunk.numbers for chunk in sample.chunks]),
        outside=outside,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PartRows:
    """The rows of a part of a file, all of them individuals: packed, and some as they are."""

    records: NDArray[Any]
    sample: tuple[AdmittedChunk, ...]


def sample_stride(count: int) -> int:
    """Which rows the sample of so many has: one of so many."""
    stride = 1
    while -(-count // stride) >= 2 * SAMPLED_ROWS:
        stride *= 2
    return stride


def read_part(
    space: Space,
    source: TableFile,
    part: FilePart,
    admit: Callable[[Any, int], AdmittedChunk],
    stride: int,
) -> PartRows:
    """The rows of a part of a file, where `admit` leaves none out."""
    records, sample, first = [], [], part.first
    for frame in source.chunks(CHUNK_ROWS, part):
        chunk = admit(frame, first)
        records.append(pack_codes(space, chunk.codes))
        kept = chunk.numbers % stride == 0
        if kept.any():
            sample.append(_thinned(chunk, kept))
        first += len(frame)
    found = np.concatenate(records)
    if len(found) != part.rows or first != part.first + part.rows:
        raise DataError(f"{source.file}: has changed while it was read")
    return PartRows(records=found, sample=tuple(sample))


def gather_parts(space: Space, source: TableFile, parts: Iterable[PartRows]) -> DataRows:
    """All rows of a file, of which no part is left out."""
    store = CodeStore(space)
    sample: list[AdmittedChunk] = []
    for part in parts:
        check_clock()
        store.add_packed(part.records)
        sample += part.sample
    return DataRows(
        source=source,
        store=store,
        sample=join_frames([chunk.frame for chunk in sample]),
        sample_codes=np.concatenate([chunk.codes for chunk in sample]),
        sample_numbers=np.concatenate([chunk.numbers for chunk in sample]),
    )


def _thinned(chunk: AdmittedChunk, kept: NDArray[np.bool_]) -> AdmittedChunk:
    frame = as_table(chunk.frame)[np.flatnonzero(kept).tolist()].to_native()
    return AdmittedChunk(frame=frame, codes=chunk.codes[kept], numbers=chunk.numbers[kept])


class _Sample:
    """Every so-many-th row, fewer of them the more rows there are."""

    def __init__(self) -> None:
        self.stride = 1
        self.chunks: list[AdmittedChunk] = []
        self._places: list[Places] = []

    def add(self, chunk: AdmittedChunk, start: int) -> None:
        """Take some of more rows, of which the first is the `start`-th."""
        self.chunks.append(chunk)
        self._places.append(np.arange(start, start + len(chunk.codes)))
        self._thin()
        while sum(map(len, self._places)) >= 2 * SAMPLED_ROWS:
            self.stride *= 2
            self._thin()

    def _thin(self) -> None:
        for at, places in enumerate(self._places):
            kept, chunk = places % self.stride == 0, self.chunks[at]
            if kept.all() and len(places) == len(chunk.codes):
                continue
            self._places[at], self.chunks[at] = places[kept], _thinned(chunk, kept)
        some = [at for at, places in enumerate(self._places) if len(places)] or [0]
        self.chunks, self._places = [self.chunks[at] for at in some], [self._places[at] for at in some]
