"""The tables of an audit: all rows or some of them in the user's own kind of frame, counts of groups, and files that are written some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.decision_labels import UNCERTAIN_LABEL
from likewise.errors import DataError, suggest_name
from likewise.search.judgement import BIASED, UNDECIDED
from likewise.spec.columns import as_table
from likewise.spec.csv_file import disarm_cell
from likewise.spec.disk import replacing
from likewise.spec.features import Continuous, Feature, Integer
from likewise.spec.frames import frame_from_columns, native_backend
from likewise.spec.rows import level_array
from likewise.verifying.result import plain_label

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.judged_rows import JudgedRows

    Floats = NDArray[np.float64]
    Places = NDArray[np.intp]

WRITTEN_ROWS = 65_536  # at a time
COUNTERPART = "counterpart_"  # in front of the names of columns
SIDES = "row_is"  # the column that says where in an ordered pair a row stands
SIDE_NAMES = (None, "first", "second")
SHOWN_DIGITS = 6  # of gaps that are the same to a reader


def audit_columns(judged: JudgedRows, places: Places) -> dict[str, Any]:
    """One line a row: what is known of it, who it is, and what its counterpart has where that may differ."""
    records, codes, space = judged.take(places), judged.data.store.take(places), judged.space
    verdict, gap = records["verdict"], records["gap"]
    columns: dict[str, Any] = {
        "row": judged.data.store.numbers(places),
        "biased": _with_gaps(verdict == BIASED, verdict == UNDECIDED),
        "gap": _with_gaps(gap, np.isnan(gap)),
    }
    if judged.labels is not None:
        labels = level_array(tuple(map(plain_label, judged.labels)))
        for name, places_of in (("decision", "decision"), (f"{COUNTERPART}decision", "other_decision")):
            at = records[places_of]
            columns[name] = _with_gaps(labels[at], at == UNCERTAIN_LABEL)
    columns["proved"] = records["proved"]
    if judged.ordered:
        columns[SIDES] = np.array(SIDE_NAMES, dtype=object)[records["side"]]
    counterparts = judged.counterparts(records)
    for k, name in enumerate(feature_columns(judged)):
        columns[name] = _column_values(judged, k, codes[:, k])
        if k in counterparts:
            columns[f"{COUNTERPART}{space.names[k]}"] = _column_values(judged, k, counterparts[k])
    return columns


def feature_columns(judged: JudgedRows) -> list[str]:
    """The names of the columns with the features of the rows: their own, where the table has no other column of that name."""
    taken = {"row", "biased", "gap", "decision", f"{COUNTERPART}decision", "proved", SIDES}
    taken |= {f"{COUNTERPART}{judged.space.names[k]}" for k in judged.differing}
    return [f"{name}_" if name in taken else name for name in judged.space.names]


def audit_frame(judged: JudgedRows, *, like: Any) -> Any:
    """All rows, the worst-treated first."""
    return frame_from_columns(audit_columns(judged, judged.order), like=like)


def audit_records(judged: JudgedRows, places: Places) -> list[dict[str, Any]]:
    """Some rows as plain Python values."""
    return _records_of(audit_columns(judged, places))


def worst_rows(judged: JudgedRows, most: int) -> list[tuple[int, int]]:
    """Places of the worst-treated rows, no two alike, and of how many more rows each is like: with the same gap, the same decisions, and the same change from row to counterpart."""
    found: dict[tuple[Any, ...], tuple[int, int]] = {}
    for start in range(0, judged.biased, WRITTEN_ROWS):
        places = judged.worst_biased[start : start + WRITTEN_ROWS]
        records, codes = judged.take(places), judged.data.store.take(places)
        for at in range(len(places)):
            record = records[at]
            own = tuple(codes[at, list(judged.differing)].tolist())
            key = (float(f"{record['gap']:.{SHOWN_DIGITS}g}"), own, *record.tolist()[3:])
            if key in found:
                place, alike = found[key]
                found[key] = (place, alike + 1)
            elif len(found) < most:
                found[key] = (int(places[at]), 0)
            elif all(key[0] != known[0] for known in found):
                return list(found.values())
    return list(found.values())


def _column_values(judged: JudgedRows, k: int, codes: Floats) -> Any:
    """The values that codes stand for; None where there is nobody, or one is missing."""
    feature = judged.space[judged.space.names[k]]
    gone = np.isnan(codes) | (codes == feature.missing_code)
    if isinstance(feature, Continuous):
        return _with_gaps(codes, gone)
    whole = np.where(gone, feature.code_range[0], codes).astype(np.int64)
    if isinstance(feature, Integer):
        return _with_gaps(whole, gone)
    levels = tuple(level for level in feature.levels if level is not None)  # what is missing comes last
    return _with_gaps(level_array(levels)[whole], gone)


def _with_gaps(values: NDArray[Any], gone: NDArray[np.bool_]) -> NDArray[Any]:
    """The values, as objects with None among them where some are gone."""
    if not gone.any():
        return values
    column = values.astype(object)
    column[gone] = None
    return column


def _as_objects(values: list[Any]) -> Any:
    """The values, as an array of objects where some are missing."""
    if not any(value is None for value in values):
        return values
    column = np.empty(len(values), dtype=object)
    column[:] = values
    return column


# -- groups -----------------------------------------------------------------------------------------------------------


def group_counts(judged: JudgedRows, column: str, *, like: Any) -> Any:
    """Counts for each value of a column of the data, what is missing being one, the largest share first."""
    index: dict[Any, int] = {}
    sums, largest = np.zeros((3, 0), dtype=np.int64), np.empty(0)
    for start, values in _values_of(judged, column):
        at = np.array([index.setdefault(_none_if_missing(value), len(index)) for value in values], np.intp)
        records = judged.read(start, start + len(at))
        flags = (np.ones(len(at)), records["verdict"] == BIASED, records["verdict"] == UNDECIDED)
        more = len(index) - len(largest)
        sums, largest = np.pad(sums, ((0, 0), (0, more))), np.pad(largest, (0, more), constant_values=-np.inf)
        sums += np.array([np.bincount(at, flag, len(index)) for flag in flags], dtype=np.int64)
        known = ~np.isnan(records["gap"])
        np.maximum.at(largest, at[known], records["gap"][known])
    lines = [
        {
            "rows": rows,
            "biased": biased,
            "undecided": undecided,
            "share": biased / rows,
            "largest_gap": None if gap == -np.inf else gap,
        }
        for rows, biased, undecided, gap in zip(*sums.tolist(), largest.tolist(), strict=True)
    ]
    groups = sorted(zip(index, lines, strict=True), key=lambda group: (-group[1]["share"], str(group[0])))
    columns: dict[str, Any] = {column: _as_objects([value for value, _ in groups])}
    for name in ("rows", "biased", "undecided", "share", "largest_gap"):
        named = f"{name}_" if name == column else name
        columns[named] = _as_objects([counts[name] for _, counts in groups])
    return frame_from_columns(columns, like=like)


def _values_of(judged: JudgedRows, column: str) -> Iterator[tuple[int, list[Any]]]:
    """The values of a column of the data, from a place on, of all rows that were judged."""
    data, space = judged.data, judged.space
    if data.source.lasting:
        yield from data.column(column)
        return
    if column not in space:
        raise DataError(
            f"{column!r} is no feature, and the frames that had it are gone{suggest_name(column, space.names)}",
            hint="give the rows as one frame or as a file, to count by columns that are no features",
        )
    k = space.names.index(column)
    for start in range(0, len(judged), WRITTEN_ROWS):
        codes = data.store.codes(start, start + WRITTEN_ROWS)[:, k]
        yield start, [space.value(k, code) for code in codes.tolist()]


# -- plain values and files -------------------------------------------------------------------------------------------


def frame_records(frame: Any) -> list[dict[str, Any]]:
    """The lines of a frame as plain Python values; what is missing is None."""
    table = as_table(frame)
    return _records_of({name: table.get_column(name).to_list() for name in table.columns})


def _records_of(columns: dict[str, Any]) -> list[dict[str, Any]]:
    plain = {
        name: [
            _none_if_missing(value) for value in (values.tolist() if hasattr(values, "tolist") else values)
        ]
        for name, values in columns.items()
    }
    return [dict(zip(plain, line, strict=True)) for line in zip(*plain.values(), strict=True)]


def _none_if_missing(value: Any) -> Any:
    value = plain_label(value)
    return None if isinstance(value, float) and np.isnan(value) else value


def write_rows(judged: JudgedRows, path: str | Path, *, like: Any, formulas: bool = False) -> None:
    """All rows, the worst-treated first, as .csv or .parquet; some at a time. In .csv, text that spreadsheets
    take for formulas is disarmed, unless `formulas`."""
    file = Path(path)
    if file.suffix.lower() not in (".csv", ".parquet"):
        raise DataError(f"{file}: not a table Likewise can write", hint="give a .csv or .parquet file")
    blocks = (
        audit_columns(judged, judged.order[start : start + WRITTEN_ROWS])
        for start in range(0, len(judged), WRITTEN_ROWS)
    )
    try:
        if file.suffix.lower() == ".csv":
            kept = blocks if formulas else map(_disarmed, blocks)
            write: Callable[[Any], Any] = partial(_write_csv, kept, like)
        elif native_backend() == "polars":
            write = as_table(audit_frame(judged, like=like)).write_parquet
        else:
            write = partial(_write_parquet, blocks, judged)
        with replacing(file, private=True) as stream:
            write(stream)
    except OSError as error:
        raise DataError(f"{file}: cannot be written: {error.strerror or error}") from None
    except ImportError as error:
        raise DataError(f"{file}: {error}", hint="pip install pyarrow, or give a .csv file") from None


def _write_csv(blocks: Iterable[dict[str, Any]], like: Any, stream: IO[bytes]) -> None:
    for number, columns in enumerate(blocks):
        table = as_table(frame_from_columns(columns, like=like))
        heading = len(table.head(0).write_csv(None)) if number else 0
        stream.write(table.write_csv(None)[heading:].encode())


def _disarmed(columns: dict[str, Any]) -> dict[str, Any]:
    """The columns, and their names, without formulas."""
    return {
        disarm_cell(name): np.frompyfunc(disarm_cell, 1, 1)(values) if values.dtype.kind in "OU" else values
        for name, values in columns.items()
    }


def _write_parquet(blocks: Iterator[dict[str, Any]], judged: JudgedRows, stream: IO[bytes]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = _column_kinds(judged)
    schema = pa.schema([(name, getattr(pa, kind)()) for name, kind in kinds.items()])
    with pq.ParquetWriter(stream, schema) as writer:
        for columns in blocks:
            writer.write_table(pa.table({name: list(columns[name]) for name in kinds}, schema=schema))


def _column_kinds(judged: JudgedRows) -> dict[str, str]:
    """The types of all columns: they do not depend on the rows."""
    kinds = {"row": "int64", "biased": "bool_", "gap": "float64"}
    if judged.labels is not None:
        kind = _level_kind(tuple(map(plain_label, judged.labels)))
        kinds |= {"decision": kind, f"{COUNTERPART}decision": kind}
    kinds["proved"] = "bool_"
    if judged.ordered:
        kinds[SIDES] = "string"
    for k, name in enumerate(feature_columns(judged)):
        own = judged.space.names[k]
        kinds[name] = _feature_kind(judged.space[own])
        if k in judged.differing:
            kinds[f"{COUNTERPART}{own}"] = kinds[name]
    return kinds


def _feature_kind(feature: Feature) -> str:
    if isinstance(feature, Continuous):
        return "float64"
    return "int64" if isinstance(feature, Integer) else _level_kind(feature.levels)


def _level_kind(levels: tuple[Any, ...]) -> str:
    kinds = {type(level) for level in levels if level is not None}
    if kinds == {bool}:
        return "bool_"
    if kinds == {int}:
        return "int64"
    return "float64" if kinds <= {int, float} else "string"
