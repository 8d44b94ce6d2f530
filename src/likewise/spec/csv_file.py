"""A CSV file, read with a typing of our own, so that what the file says is what the space sees.

A column whose every cell is a whole number is int64, every cell a number float64, anything else text. ``NA``, ``None``
and ``nan`` are text like any other, never silently missing; ``007`` is text too, as 7 would be another
value. An empty cell is a missing value, among numbers and truth values a blank one too, and nothing else is: `` `` among
words is a word, as ``pandas.read_csv`` has it.

What a column is, all of its cells decide. So a file that is read in chunks is gone through twice: once for what its columns are (`survey`), then for their values. Cells that are
written alike are looked at once a chunk.
"""

from __future__ import annotations

import csv
import io
import math
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from likewise.clock import check_clock
from likewise.errors import DataError
from likewise.spec.disk import check_memory, open_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

_INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BOOLEANS = dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_LONGEST_INTEGER = 20  # characters: longer ones are beyond int64
SURVEYED_ROWS = 65_536  # at a time
# Where a spreadsheet takes a cell for a formula: at its start, or after what some countries separate cells by, with blanks, quotes and characters
# that are not seen before the sign.
_UNSEEN = r"[\s\"'`\u00b4\u2018-\u201f\x00-\x20\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
_FORMULA = re.compile(rf"^(?=[\t\n])|(^|[;\t\n])(?={_UNSEEN}*[=+\-@\uff1d\uff0b\uff0d\uff20\u2212])")
LOOKED_AT = 1 << 24  # bytes of cells, between two looks at the clock
LONGEST_LINE = 1 << 24  # characters
CELL_BYTES = 80  # of a short cell, in memory

CellKind = Literal["blank", "truth", "whole", "number", "text"]


@dataclass(slots=True)
class ColumnSurvey:
    """What cells of a column have in common; `word` is the first that is no number at all, with its row."""

    present: bool = False  # some cell is not blank
    blank: bool = False
    empty: bool = False
    truths: bool = True
    whole: bool = True
    narrow: bool = True  # whole numbers fit into int64
    numbers: bool = True
    word: tuple[int, str] | None = None

    @property
    def kind(self) -> CellKind:
        """What the column is, if these are all of its cells."""
        if not self.present:
            return "blank"
        if self.truths:
            return "truth"
        if self.whole:
            return "whole" if self.narrow else "text"  # a float would merge neighbours, text does not
        return "number" if self.numbers else "text"

    @property
    def gaps(self) -> bool:
        """Whether a cell stands for a missing value."""
        return self.empty if self.kind == "text" else self.blank

    def add(self, cells: Sequence[str], start: int) -> None:
        """Look at more cells, from row `start` on."""
        distinct = set(cells)
        for cell in distinct:
            self._look(cell)
        if self.word is None and not self.numbers:
            words = {cell for cell in distinct if cell.strip() and not is_number(cell)}
            if words:
                row = next(row for row, cell in enumerate(cells) if cell in words)
                self.word = (start + row, cells[row])

    def _look(self, cell: str) -> None:
        stripped = cell.strip()
        if not stripped:
            self.blank, self.empty = True, self.empty or not cell
            return
        self.present = True
        self.truths = self.truths and cell in _BOOLEANS
        self.whole = self.whole and _INTEGER.fullmatch(stripped) is not None
        self.narrow = self.narrow and (not self.whole or _fits(stripped))
        self.numbers = (
            self.numbers and _NUMBER.fullmatch(stripped) is not None and math.isfinite(float(stripped))
        )


def _fits(whole: str) -> bool:
    return len(whole) <= _LONGEST_INTEGER and -(2**63) <= int(whole) < 2**63


def disarm_cell(cell: Any) -> Any:
    """A cell in which no spreadsheet sees a formula: text that begins like one gets an apostrophe in front.
    Numbers stay as they are. Lines end with a line feed: writers leave a lone return without quotes, and a
    row
    would end there."""
    if not isinstance(cell, str) or _NUMBER.fullmatch(cell):
        return cell
    return _FORMULA.sub(r"\1'", cell.replace("\r\n", "\n").replace("\r", "\n"))


def is_number(text: str) -> bool:
    """Whether a program could take it for a finite number."""
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def parse_cells(cells: Sequence[str], kind: CellKind, *, gaps: bool) -> Sequence[Any] | NDArray[Any]:
    """The cells as what their column is, with a mask where the column has gaps."""
    import numpy as np

    if kind == "text":
        if not gaps:
            return list(cells)
        return np.ma.MaskedArray(np.array(cells, dtype=object), mask=[not cell for cell in cells])
    if kind == "blank":
        return np.ma.MaskedArray(np.zeros(len(cells)), mask=np.ones(len(cells), dtype=bool))
    parse, dtype, nothing = _PARSERS[kind]
    values = {cell: parse(cell) if cell.strip() else nothing for cell in set(cells)}
    array = np.array([values[cell] for cell in cells], dtype=dtype)
    if not gaps:
        return array
    return np.ma.MaskedArray(array, mask=[not cell.strip() for cell in cells])


_PARSERS: dict[str, tuple[Any, str, Any]] = {
    "truth": (_BOOLEANS.__getitem__, "bool", False),
    "whole": (int, "int64", 0),
    "number": (float, "float64", 0.0),
}


class CsvFile:
    """The table in a ``.csv`` or ``.csv.gz`` file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def columns(self) -> dict[str, Any]:
        """All of it."""
        header, columns = next(self._chunks(None))
        found = {}
        for name, cells in zip(header, columns, strict=True):
            survey = ColumnSurvey()
            for start in range(0, len(cells), SURVEYED_ROWS):
                survey.add(cells[start : start + SURVEYED_ROWS], start)
                check_clock()
            found[name] = parse_cells(cells, survey.kind, gaps=survey.gaps)
        return found

    @cached_property
    def surveys(self) -> dict[str, ColumnSurvey]:
        """What each column is, by all of its cells."""
        surveys: dict[str, ColumnSurvey] = {}
        start = 0
        for header, columns in self._chunks(SURVEYED_ROWS):
            surveys = surveys or {name: ColumnSurvey() for name in header}
            for survey, cells in zip(surveys.values(), columns, strict=True):
                survey.add(cells, start)
                check_clock()
            start += len(columns[0])
        return surveys

    def chunks(self, size: int) -> Iterator[dict[str, Any]]:
        """The same as `columns`, so many rows at a time."""
        surveys = self.surveys
        for header, columns in self._chunks(size):
            yield {
                name: parse_cells(cells, surveys[name].kind, gaps=surveys[name].gaps)
                for name, cells in zip(header, columns, strict=True)
            }

    def _chunks(self, size: int | None) -> Iterator[tuple[list[str], list[tuple[str, ...]]]]:
        """The header, and the cells by column, of so many rows at a time; all at once for None."""
        with _reading(self.file), _open_text(self.file) as stream:
            text = _Lines(stream, self.file)
            lines = _read_rows(text, self.file)
            _, header = next(lines, (0, []))
            _check_header(header, self.file)
            rows: list[list[str]] = []
            blank, none, text.row_bytes = 0, True, CELL_BYTES * len(header)
            for line, cells in lines:
                if not cells:  # blank lines may end a file, nothing may follow them
                    blank = blank or line
                    continue
                if blank:
                    raise DataError(f"{self.file}, line {blank}: blank line between rows")
                if len(cells) != len(header):
                    raise DataError(
                        f"{self.file}, line {line}: {len(cells)} cells, but the header has {len(header)} columns"
                    )
                rows.append(cells)
                if len(rows) == size:
                    yield header, list(zip(*rows, strict=True))
                    rows, none = [], False
                    text.release()
            if rows:
                yield header, list(zip(*rows, strict=True))
            elif none:
                raise DataError(f"{self.file}: has a header but no rows")


@contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Says what is wrong with a file that cannot be read."""
    try:
        yield
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise DataError(f"{file}: the compressed file is cut off or damaged") from None
    except UnicodeDecodeError:
        raise DataError(f"{file}: is not UTF-8 text", hint="save it with the encoding UTF-8") from None


@contextmanager
def _open_text(file: Path) -> Iterator[IO[str]]:
    import gzip

    with open_file(file) as packed, ExitStack() as stack:
        is_packed = file.suffix.lower() == ".gz"
        content: Any = stack.enter_context(gzip.GzipFile(fileobj=packed)) if is_packed else packed
        yield stack.enter_context(io.TextIOWrapper(content, encoding="utf-8-sig", newline=""))


class _Lines:
    """The lines of a file, with a look at the clock and at the memory of their cells now and then."""

    def __init__(self, stream: IO[str], file: Path) -> None:
        self.stream, self.file = stream, file
        self.row_bytes = 0
        self.release()

    def release(self) -> None:
        """What was read is kept no longer."""
        self._held, self._looked = 0, 0

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self.stream.readline(LONGEST_LINE)
        if len(line) == LONGEST_LINE:
            raise DataError(f"{self.file}: a line has {LONGEST_LINE:,} characters or more")
        if not line:
            raise StopIteration
        self._held += self.row_bytes + len(line) * (1 if line.isascii() else 4)
        if self._held - self._looked > LOOKED_AT:
            check_clock()
            check_memory(self._held, f"{self.file}: reading it")
            self._looked = self._held
        return line


def _read_rows(lines: Iterable[str], file: Path) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(lines, strict=True)
    while True:
        line = reader.line_num + 1  # of the first line of the row: quoted cells may span several
        try:
            cells = next(reader, None)
        except csv.Error as error:
            raise DataError(f"{file}, line {line}: {error}") from None
        if cells is None:
            return
        yield line, cells


def _check_header(header: list[str], file: Path) -> None:
    if not header:
        raise DataError(f"{file}: is empty", hint="the first line must name the columns")
    seen: set[str] = set()
    for number, name in enumerate(header, start=1):
        if not name.strip():
            raise DataError(
                f"{file}, line 1: column {number} has no name", hint="the first line must name the columns"
            )
        if name in seen:
            raise DataError(f"{file}, line 1: column name {name!r} appears twice")
        seen.add(name)
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        raise DataError(
            f"{file}, line 1: only one column", hint="separate columns by commas, not by ; or tabs"
        )
