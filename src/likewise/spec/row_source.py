"""Rows where they are: a frame, a file, or frames that come one after another; handed out as frames of so many rows, so that all of them need not be in memory at once.

Whatever a chunk holds is what a reading of everything at once would have there: columns of a CSV file are what all of their cells are (`csv_file`). Frames of an iterable are
gone through once, and what they are is each frame's own affair; they may be of any length, none included.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from likewise.errors import DataError
from likewise.spec.columns import as_table
from likewise.spec.csv_file import CsvFile
from likewise.spec.frames import (
    check_parquet,
    frame_from_columns,
    is_parquet,
    native_backend,
    parquet_chunks,
    parquet_parts,
)

if TYPE_CHECKING:
    from likewise.spec.csv_file import ColumnSurvey
    from likewise.spec.frames import FilePart

CHUNK_ROWS = 65_536  # read at a time
PART_ROWS = 4 * CHUNK_ROWS  # of a part of a file, at least
MOST_PART_ROWS = 64 * CHUNK_ROWS  # at most: what was found in it is in memory at once


class RowSource(Protocol):
    """Rows in the order of the data."""

    @property
    def lasting(self) -> bool:
        """Whether they can be gone through again."""

    def chunks(self, size: int = CHUNK_ROWS) -> Iterator[Any]:
        """Frames of at most so many rows."""


class TableFile:
    """A ``.csv``, ``.csv.gz`` or ``.parquet`` file."""

    lasting = True

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.file = Path(path)
        native_backend()  # say what is missing before reading a long file
        self._csv = None if is_parquet(self.file) else CsvFile(self.file)
        if self._csv is None:
            check_parquet(self.file, CHUNK_ROWS)

    @property
    def surveys(self) -> dict[str, ColumnSurvey]:
        """What the columns of a CSV file are; nothing of others."""
        return {} if self._csv is None else self._csv.surveys

    def parts(self) -> tuple[FilePart, ...]:
        """Parts that can be read one by one; none of a CSV file, whose rows are found by going through it, and of one whose parts are long."""
        found = tuple(parquet_parts(self.file, PART_ROWS)) if self._csv is None else ()
        return found if all(part.rows <= MOST_PART_ROWS for part in found) else ()

    def chunks(self, size: int = CHUNK_ROWS, part: FilePart | None = None) -> Iterator[Any]:
        """Frames of the library that `read_table` uses; those of a part of the file."""
        if self._csv is None:
            return parquet_chunks(self.file, size, part)
        return map(frame_from_columns, self._csv.chunks(size))


class FrameSource:
    """One frame that is there."""

    lasting = True

    def __init__(self, frame: Any) -> None:
        self.frame = frame

    def chunks(self, size: int = CHUNK_ROWS) -> Iterator[Any]:
        """Parts of it; the whole, if it is no longer than that."""
        table = as_table(self.frame)
        if len(table) <= size:
            yield self.frame
            return
        for start in range(0, len(table), size):
            yield table[start : start + size].to_native()


class FrameSeries:
    """Frames that come one after another, once."""

    lasting = False

    def __init__(self, frames: Iterable[Any]) -> None:
        self.frames = iter(frames)

    def chunks(self, size: int = CHUNK_ROWS) -> Iterator[Any]:
        """Each of them in parts, those without rows left out."""
        for frame in self.frames:
            if len(as_table(frame)):
                yield from FrameSource(frame).chunks(size)


def open_source(given: Any) -> RowSource | None:
    """The source that is a path or an iterable of frames; None for what is one frame, or no source at all."""
    if isinstance(given, str | os.PathLike):
        return TableFile(given)
    if hasattr(given, "columns") or hasattr(given, "collect") or not isinstance(given, Iterable):
        return None
    if hasattr(given, "shape") or hasattr(given, "__dataframe__"):
        return None  # an array, which has no names: `as_table` says what would help
    return FrameSeries(given)


def join_frames(frames: list[Any]) -> Any:
    """Frames of the same columns, one below the other, in the type of the first."""
    import narwhals.stable.v2 as nw

    tables = [as_table(frame) for frame in frames]
    if len(tables) == 1:
        return frames[0]
    columns = list(tables[0].columns)
    for table in tables:
        if sorted(table.columns) != sorted(columns):
            raise DataError(
                "the frames have different columns",
                hint=f"all need those of the first: {', '.join(columns[:12])}{', ...' if len(columns) > 12 else ''}",
            )
    if tables[0].implementation.is_pandas_like():
        tables = _share_categories([table.select(columns) for table in tables])
    return nw.concat([table.select(columns) for table in tables], how="vertical").to_native()


def _share_categories(tables: list[Any]) -> list[Any]:
    """The same with the categories of all in each; without that pandas makes objects of them."""
    import narwhals.stable.v2 as nw

    frames = [table.to_native() for table in tables]
    for name in frames[0].columns:
        dtypes = [frame[name].dtype for frame in frames]
        if any(str(dtype) != "category" for dtype in dtypes) or all(dtype == dtypes[0] for dtype in dtypes):
            continue
        known = list(dict.fromkeys(level for dtype in dtypes for level in dtype.categories))
        frames = [frame.assign(**{name: frame[name].cat.set_categories(known)}) for frame in frames]
    return [nw.from_native(frame, eager_only=True) for frame in frames]
