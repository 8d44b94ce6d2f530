"""Reading many rows: here, or by workers, each of which reads parts of the file itself and hands back their rows, packed.

Only where every row is an individual, or the file refused: else the places of rows would depend on what became of those before. Parts come in their order, and so do errors; a file
whose parts are few, or long, is read here from beginning to end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from likewise import clock
from likewise.analysis.row_pieces import is_worth_starting
from likewise.search.spreading import PieceWork, do_pieces
from likewise.search.workers import unpack
from likewise.spec.data_rows import AdmittedChunk, gather_parts, gather_rows, read_part, sample_stride
from likewise.spec.row_source import TableFile

if TYPE_CHECKING:
    from likewise.run import Run
    from likewise.spec.data_rows import DataRows, PartRows
    from likewise.spec.frames import FilePart
    from likewise.spec.row_source import RowSource
    from likewise.spec.space import Space

    Admit = Callable[[Any, int], AdmittedChunk]


def read_rows(
    space: Space, source: RowSource, admit: Admit, run: Run, told: Callable[[int], None], *, whole: bool
) -> DataRows:
    """The rows of a source that are individuals of the space: `admit` makes individuals of a chunk that begins at a row; `whole` where it leaves nobody out."""
    parts = source.parts() if whole and run.workers is not None and isinstance(source, TableFile) else ()
    if len(parts) < 2 or not isinstance(source, TableFile):
        return gather_rows(space, source, admit, told)
    reading = _Reading(
        space=space, source=source, admit=admit, stride=sample_stride(sum(part.rows for part in parts))
    )
    given = run.workers is not None and run.workers.given
    how: PieceWork[FilePart, PartRows] = PieceWork(
        value=lambda: reading,
        greet=_greet,
        work=_read_elsewhere,
        here=reading.read,
        elapsed=clock.now,
        worth=lambda pace, rows: pace is not None and is_worth_starting(pace * rows),
        patience=lambda: math.inf,
        told=lambda done, _: told(done),
    )
    # Those of a cluster may not see the file.
    found = do_pieces(how, None if given else run.workers, [(part.rows, _itself(part)) for part in parts])
    return gather_parts(space, source, found)


def _itself(part: FilePart) -> Callable[[], FilePart]:
    return lambda: part


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    """What whoever reads has to know."""

    space: Space
    source: TableFile
    admit: Admit
    stride: int

    def read(self, part: FilePart) -> PartRows:
        return read_part(self.space, self.source, part, self.admit, self.stride)


def _as_it_came(reading: _Reading) -> _Reading:
    return reading


def _greet(name: str, content: bytes) -> None:
    unpack(name, content, _as_it_came)


def _read_elsewhere(name: str, content: bytes | None, part: FilePart) -> PartRows | None:
    """A part, in a worker; None where it is not known there what to do."""
    reading = unpack(name, content, _as_it_came)
    return None if reading is None else reading.read(part)
