"""Tables in and out: files to frames, columns to frames of the user's own type.

CSV is read with a typing of our own, so that what the file says is what the space sees: a column whose
every cell is a whole number is int64, every cell a number float64, anything else text. ``NA``, ``None``
and ``nan`` are text like any other, never silently missing; ``007`` is text too, as 7 would be another
value. An empty cell is a missing value, among numbers and truth values a blank one too, and nothing else is: `` `` among
words is a word, as ``pandas.read_csv`` has it.

Frames made here are of the library of a frame the user gave (`like`), else pandas, else polars. Columns with missing
values come as masked arrays. They become null where the library has it; in pandas NaN, with whole numbers as floats and
truth values as objects as ``pandas.read_csv`` has them, and in a column of objects whatever stands for missing in that of `like`: an encoder tells
None from NaN. The dtype of a column does not depend on which rows are asked for.
"""

from __future__ import annotations

import csv
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Literal

from likewise.errors import DataError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_BOOLEANS = dict.fromkeys(("true", "True", "TRUE"), True) | dict.fromkeys(("false", "False", "FALSE"), False)
_PARQUET_MARK = b"PAR1"  # the first and last four bytes of every such file
_INSTALL_HINT = 'pip install "likewise[pandas]" (or "likewise[polars]")'


def native_backend() -> Literal["pandas", "polars"]:
    """The frame library to use when the user gave no frame: pandas if installed, else polars."""
    from importlib.util import find_spec

    if find_spec("pandas") is not None:
        return "pandas"
    if find_spec("polars") is not None:
        return "polars"
    raise DataError("no frame library is installed", hint=_INSTALL_HINT)


def frame_from_columns(columns: Mapping[str, Sequence[Any] | NDArray[Any]], like: Any = None) -> Any:
    """A frame with these columns, of the library of `like`; see `native_backend` if there is none."""
    import narwhals.stable.v2 as nw
    import numpy as np

    from likewise.spec.columns import as_table

    backend = native_backend() if like is None else as_table(like).implementation
    data: dict[str, Any] = {}
    text: list[str] = []
    gapped: dict[str, np.ma.MaskedArray[Any, Any]] = {}
    for name, values in columns.items():
        if isinstance(values, np.ma.MaskedArray):
            gapped[name] = values
            data[name] = values.tolist()
            continue
        array = np.asarray(values)
        if array.dtype.kind == "U" or (
            array.dtype.kind == "O" and all(issubclass(kind, str) for kind in set(map(type, array)))
        ):
            text.append(name)
            data[name] = list(map(str, array.tolist()))
        else:
            data[name] = array.tolist() if array.dtype.kind == "O" else array
    frame = nw.from_dict(data, backend=backend)
    if len(frame) == 0 and text:
        frame = frame.with_columns(nw.col(*text).cast(nw.String()))  # no value is there to tell it is text
    if gapped and frame.implementation.is_pandas_like():
        return _fill_pandas_gaps(frame.to_native(), gapped, like)
    typed = [nw.col(name).cast(_column_dtype(values)) for name, values in gapped.items()]
    return (frame.with_columns(*typed) if typed else frame).to_native()


def copy_categories(frame: Any, like: Any) -> Any:
    """The frame with pandas' categories wherever the user's own has them, so that it can be handed to the model as it is."""
    import narwhals.stable.v2 as nw

    given: Any = nw.to_native(like, pass_through=True)
    if given is None or not nw.from_native(frame).implementation.is_pandas_like():
        return frame
    for name in frame.columns:
        dtype: Any = given[name].dtype if name in given.columns else None
        if str(dtype) == "category" and frame[name].dropna().isin(dtype.categories).all():
            frame[name] = frame[name].astype(dtype)
    return frame


def _column_dtype(values: np.ma.MaskedArray[Any, Any]) -> Any:
    import narwhals.stable.v2 as nw

    kinds = {"b": nw.Boolean(), "i": nw.Int64(), "f": nw.Float64()}
    return kinds.get(values.dtype.kind, nw.String())


def _fill_pandas_gaps(frame: Any, gapped: Mapping[str, np.ma.MaskedArray[Any, Any]], like: Any) -> Any:
    import narwhals.stable.v2 as nw
    import numpy as np

    series, given = type(frame[frame.columns[0]]), nw.to_native(like, pass_through=True)
    for name, values in gapped.items():
        if values.dtype.kind in "if":
            frame[name] = np.ma.filled(values.astype(np.float64), np.nan)
            continue
        known = given[name] if given is not None and name in given.columns else None
        dtype, marker = _dtype_like(known, series, text=values.dtype.kind == "O")
        marked = [marker if value is None else value for value in values.tolist()]
        frame[name] = series(marked, index=frame.index, dtype=dtype)
    return frame


def _dtype_like(known: Any, series: Any, *, text: bool) -> tuple[Any, Any]:
    """The dtype of levels some of which are missing, and what stands for those: as the user's own column has it. Categories are
    their levels and NaN to whoever reads them; where there is no column, it is what ``pandas.read_csv`` would give."""
    import numpy as np

    if known is not None and known.dtype == object:
        absent = known[known.isna()]
        return object, absent.iloc[0] if len(absent) else np.nan
    kind = "" if known is None else str(known.dtype)
    if kind.startswith("str" if text else "bool"):
        return known.dtype, None
    return series(["text"]).dtype if text else object, np.nan


def read_table(path: str | Path) -> Any:
    """The table in a ``.csv``, ``.csv.gz`` or ``.parquet`` file as a pandas (else polars) frame."""
    file = Path(path)
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes[-1:] == [".parquet"]:
        return _read_parquet(file)
    if suffixes[-1:] != [".csv"] and suffixes[-2:] != [".csv", ".gz"]:
        raise DataError(
            f"{file}: not a table Likewise can read", hint="give a .csv, .csv.gz or .parquet file"
        )
    native_backend()  # say what is missing before reading a long file
    try:
        header, columns = _read_csv(file)
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror or error}") from None
    except (EOFError, zlib.error):
        raise DataError(f"{file}: the compressed file is cut off or damaged") from None
    except UnicodeDecodeError:
        raise DataError(f"{file}: is not UTF-8 text", hint="save it with the encoding UTF-8") from None
    return frame_from_columns(
        {name: _parse_cells(cells) for name, cells in zip(header, columns, strict=True)}
    )


def _read_parquet(file: Path) -> Any:
    import narwhals.stable.v2 as nw

    try:
        with file.open("rb") as stream:
            head = stream.read(4)
            stream.seek(-min(4, len(head)), 2)
            tail = stream.read(4)
        if head != _PARQUET_MARK or tail != _PARQUET_MARK:
            raise DataError(f"{file}: is not a whole Parquet file")
        return nw.read_parquet(str(file), backend=native_backend()).to_native()
    except ImportError as error:
        raise DataError(f"{file}: {error}", hint="pip install pyarrow") from None
    except (OSError, ValueError) as error:
        raise DataError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _open_text(file: Path) -> IO[str]:
    if file.suffix.lower() == ".gz":
        import gzip

        return gzip.open(file, "rt", encoding="utf-8-sig", newline="")
    return file.open(encoding="utf-8-sig", newline="")


def _read_csv(file: Path) -> tuple[list[str], list[list[str]]]:
    with _open_text(file) as stream:
        lines = _read_rows(stream, file)
        _, header = next(lines, (0, []))
        _check_header(header, file)
        columns: list[list[str]] = [[] for _ in header]
        blank = 0
        for line, cells in lines:
            if not cells:  # blank lines may end a file, nothing may follow them
                blank = blank or line
                continue
            if blank:
                raise DataError(f"{file}, line {blank}: blank line between rows")
            if len(cells) != len(header):
                raise DataError(
                    f"{file}, line {line}: {len(cells)} cells, but the header has {len(header)} columns"
                )
            for column, cell in zip(columns, cells, strict=True):
                column.append(cell)
    if not columns[0]:
        raise DataError(f"{file}: has a header but no rows")
    return header, columns


def _read_rows(stream: IO[str], file: Path) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(stream, strict=True)
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
    for number, name in enumerate(header, start=1):
        if not name.strip():
            raise DataError(
                f"{file}, line 1: column {number} has no name", hint="the first line must name the columns"
            )
        if header.index(name) < number - 1:
            raise DataError(f"{file}, line 1: column name {name!r} appears twice")
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        raise DataError(
            f"{file}, line 1: only one column", hint="separate columns by commas, not by ; or tabs"
        )


def _parse_cells(cells: list[str]) -> Sequence[Any] | NDArray[Any]:
    """The cells as numbers or truth values where all of them are, with a mask where some are empty, or blank among such."""
    import numpy as np

    blank = np.array([not cell.strip() for cell in cells])
    if not blank.any():
        return _parse_full_cells(cells)
    if blank.all():
        return np.ma.MaskedArray(np.zeros(len(cells)), mask=blank)
    present = _parse_full_cells([cell for cell, gap in zip(cells, blank, strict=True) if not gap])
    if isinstance(present, list):
        words, empty = np.array(cells, dtype=object), np.array([not cell for cell in cells])
        return np.ma.MaskedArray(words, mask=empty) if empty.any() else cells
    array = np.asarray(present)
    values = np.full(len(cells), array[0], dtype=array.dtype)
    values[~blank] = array
    return np.ma.MaskedArray(values, mask=blank)


def _parse_full_cells(cells: list[str]) -> Sequence[Any] | NDArray[Any]:
    import numpy as np

    stripped = [cell.strip() for cell in cells]
    if all(cell in _BOOLEANS for cell in cells):
        return np.array([_BOOLEANS[cell] for cell in cells])
    if all(_INTEGER.fullmatch(cell) for cell in stripped):
        try:
            return np.array([int(cell) for cell in stripped], dtype=np.int64)
        except (OverflowError, ValueError):
            return cells  # longer than 64 bits: a float would merge neighbours, text does not
    if all(_NUMBER.fullmatch(cell) for cell in stripped):
        doubles = np.array([float(cell) for cell in stripped])
        if np.isfinite(doubles).all():
            return doubles
    return cells
