"""Tables in and out: files to frames, columns to frames of the user's own type.

Frames made here are of the library of a frame the user gave (`like`), else pandas, else polars. Columns with missing
values come as masked arrays. They become null where the library has it; in pandas NaN, with whole numbers as floats and
truth values as objects as ``pandas.read_csv`` has them, and in a column of objects whatever stands for missing in that of `like`: an encoder tells
None from NaN. The dtype of a column does not depend on which rows are asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from likewise.clock import check_clock
from likewise.errors import DataError, UnsupportedModel
from likewise.spec.disk import check_memory, open_file
from likewise.spec.reader_process import ask_process

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PARQUET_MARK = b"PAR1"  # the first and last four bytes of every such file
VALUE_BYTES = 24  # of a value in memory, in the file's columns and in a frame's
READ_A_SECOND = 1 << 30  # bytes, at most
TEXTS_AT_ONCE = 4096  # rows
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
    from likewise.spec.csv_file import CsvFile

    file = Path(path)
    if is_parquet(file):
        check_parquet(file)
        return _read_parquet(file)
    native_backend()  # say what is missing before reading a long file
    return frame_from_columns(CsvFile(file).columns())


def is_parquet(file: Path) -> bool:
    """Whether a file is to be read as Parquet, and not as CSV; refuses what is neither by its name."""
    suffixes = [suffix.lower() for suffix in file.suffixes]
    if suffixes[-1:] == [".parquet"]:
        return True
    if suffixes[-1:] != [".csv"] and suffixes[-2:] != [".csv", ".gz"]:
        raise DataError(
            f"{file}: not a table Likewise can read", hint="give a .csv, .csv.gz or .parquet file"
        )
    return False


@contextmanager
def _reading_parquet(file: Path) -> Iterator[None]:
    """Refuses a file that is none, and says what is wrong where it cannot be read."""
    try:
        with open_file(file) as stream:
            head = stream.read(4)
            stream.seek(-min(4, len(head)), 2)
            tail = stream.read(4)
        if head != _PARQUET_MARK or tail != _PARQUET_MARK:
            raise DataError(f"{file}: is not a whole Parquet file")
        yield
    except ImportError as error:
        raise DataError(f"{file}: {error}", hint="pip install pyarrow") from None
    except (OSError, ValueError, MemoryError) as error:
        raise DataError(f"{file}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _read_parquet(file: Path) -> Any:
    import narwhals.stable.v2 as nw

    with _reading_parquet(file):
        return nw.read_parquet(str(file), backend=native_backend()).to_native()


def check_parquet(file: Path, size: int | None = None) -> None:
    """Refuse a file that needs too much memory, whole or so many rows at a time. Texts may be many times as
    long as the file, so another process looks at them first."""
    with _reading_parquet(file):
        needed, texts = _polars_size(file, size) if native_backend() == "polars" else _arrow_size(file, size)
    what = f"{file}: reading it"
    check_memory(needed, what)
    check_clock(needed / READ_A_SECOND)
    if texts:
        request = json.dumps([str(file.absolute()), native_backend(), size]).encode()
        try:
            needed += int(ask_process(__name__, request, "Parquet file"))
        except UnsupportedModel as error:
            raise DataError(f"{file}: {error.message}", hint=error.hint) from None
        check_memory(needed, what)


def _arrow_size(file: Path, size: int | None) -> tuple[int, bool]:
    """Bytes of all values but texts, by what the file says of its columns, and whether there are texts."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(file) as table:
        found, whole, most = table.metadata, 0, 0
        kinds = [found.schema.column(k) for k in range(found.num_columns)]
        for n in range(found.num_row_groups):
            group = found.row_group(n)
            values = [group.column(k).num_values for k in range(found.num_columns)]
            share = 1.0 if size is None else min(1.0, size / max(group.num_rows, 1))
            # A row may hold any number of values of a column of lists.
            most = max(
                most,
                sum(
                    v if k.max_repetition_level else int(v * share)
                    for k, v in zip(kinds, values, strict=True)
                ),
            )
            whole += max(sum(values), group.num_rows)
    return VALUE_BYTES * (whole if size is None else most), any(
        "BYTE_ARRAY" in kind.physical_type for kind in kinds
    )


def _polars_size(file: Path, size: int | None) -> tuple[int, bool]:
    import polars as pl

    rows = _polars_rows(file)
    return VALUE_BYTES * len(pl.read_parquet_schema(file)) * (rows if size is None else min(rows, size)), True


def answer(request: bytes) -> bytes:
    """In a process of its own (`reader_process`): how many bytes the texts of a file have, of all rows or
    of the most in so many."""
    path, backend, size = json.loads(request)
    if backend == "polars":
        chunks = list(_polars_texts(Path(path), size))
    else:
        try:
            chunks = list(_arrow_texts(path, size or TEXTS_AT_ONCE, packed=True))
        except OSError:  # encodings that are not read into dictionaries
            chunks = list(_arrow_texts(path, size or TEXTS_AT_ONCE, packed=False))
    return str(sum(chunks) if size is None else max(chunks, default=0)).encode()


def _polars_texts(file: Path, size: int | None) -> Iterator[int]:
    import polars as pl

    texts = pl.scan_parquet(file).select(
        pl.col(pl.String, pl.Categorical).cast(pl.String).str.len_bytes().cast(pl.Int64)
    )
    count = max(_polars_rows(file), 1)
    for start in range(0, count, size or count):
        lengths = texts.slice(start, size or count).sum().collect()
        yield sum(lengths.row(0)) if lengths.width else 0


def _arrow_texts(path: str, size: int, *, packed: bool) -> Iterator[int]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as table:
        columns = [table.schema.column(k) for k in range(len(table.schema))]
        names = [column.path for column in columns if "BYTE_ARRAY" in column.physical_type]
    with pq.ParquetFile(path, read_dictionary=names if packed else None) as table:
        for batch in table.iter_batches(size, columns=names):
            yield sum(map(_decoded_size, batch.columns))


def _decoded_size(values: Any) -> int:
    """Bytes of an array once each of its values stands for itself."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_nested(values.type):
        parts = values.flatten()
        return sum(map(_decoded_size, parts)) if isinstance(parts, list) else _decoded_size(parts)
    if not pa.types.is_dictionary(values.type):
        return int(values.nbytes)
    lengths = pc.cast(pc.binary_length(values.dictionary), pa.int64())
    return pc.sum(pc.take(lengths, values.indices)).as_py() or 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePart:
    """Some rows of a file, from row `first` on; of a Parquet file `groups` of its own."""

    first: int
    rows: int
    groups: tuple[int, ...] = ()


def parquet_parts(file: Path, size: int) -> Iterator[FilePart]:
    """Parts of at least so many rows, but for the last, that can be read by themselves."""
    with _reading_parquet(file):
        if native_backend() == "polars":
            count = _polars_rows(file)
            yield from (
                FilePart(first=start, rows=min(size, count - start)) for start in range(0, count, size)
            )
            return
        import pyarrow.parquet as pq

        first = rows = 0
        groups: list[int] = []
        with pq.ParquetFile(file) as table:
            lengths = [table.metadata.row_group(n).num_rows for n in range(table.num_row_groups)]
        for group, length in enumerate(lengths):
            rows, groups = rows + length, [*groups, group]
            if rows >= size or (rows and group == len(lengths) - 1):
                yield FilePart(first=first, rows=rows, groups=tuple(groups))
                first, rows, groups = first + rows, 0, []


def parquet_chunks(file: Path, size: int, part: FilePart | None = None) -> Iterator[Any]:
    """The same table, or a part of it, as frames of so many rows."""
    with _reading_parquet(file):
        if native_backend() == "polars":
            import polars as pl

            lazy = pl.scan_parquet(file)
            first, end = (0, _polars_rows(file)) if part is None else (part.first, part.first + part.rows)
            yield from (
                lazy.slice(start, min(size, end - start)).collect() for start in range(first, end, size)
            )
            return
        import pyarrow as pa
        import pyarrow.parquet as pq

        with pq.ParquetFile(file) as table:
            for batch in table.iter_batches(size, row_groups=None if part is None else list(part.groups)):
                yield pa.Table.from_batches([batch]).to_pandas()


def _polars_rows(file: Path) -> int:
    import polars as pl

    return int(pl.scan_parquet(file).select(pl.len()).collect().item())
