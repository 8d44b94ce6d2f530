"""The tables of an audit, in the user's own kind of frame."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DataError, suggest_name
from likewise.search.judgement import BIASED, UNDECIDED
from likewise.spec.columns import as_table
from likewise.spec.features import Continuous, Integer
from likewise.spec.frames import frame_from_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.judgement import Judgement
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

_ORDER = {BIASED: 0, UNDECIDED: 1}


def audit_frame(
    space: Space,
    counterparts: dict[int, Floats],
    found: Judgement,
    decided: tuple[list[Any], ...] | None,
    *,
    like: Any,
) -> Any:
    """One line a row, the worst-treated first: biased by their gaps, undecided, then the others by their gaps."""
    rank = np.array([_ORDER.get(int(v), 2) for v in found.verdict])
    order = np.lexsort((np.where(np.isnan(found.gap), np.inf, -found.gap), rank))
    columns: dict[str, Any] = {
        "row": order,
        "biased": _nullable_array(
            [None if v == UNDECIDED else bool(v == BIASED) for v in found.verdict[order]]
        ),
        "gap": _nullable_array([None if np.isnan(gap) else float(gap) for gap in found.gap[order]]),
    }
    if decided is not None:
        for name, labels in zip(("decision", "counterpart_decision"), decided, strict=True):
            columns[name] = _nullable_array([_python_label(labels[i]) for i in order])
    columns["proved"] = np.where(found.verdict[order] == UNDECIDED, False, found.proved[order])
    for k, codes in counterparts.items():
        columns[f"counterpart_{space.names[k]}"] = _column_values(space, k, codes[order])
    return frame_from_columns(columns, like=like)


def _column_values(space: Space, k: int, codes: Floats) -> Any:
    feature, known = space[space.names[k]], ~np.isnan(codes)
    if isinstance(feature, Continuous) and known.all() and not feature.missing:
        return codes
    if isinstance(feature, Integer) and known.all() and not feature.missing:
        return codes.astype(np.int64)
    return _nullable_array(
        [space.value(k, code) if there else None for code, there in zip(codes, known, strict=True)]
    )


def _nullable_array(values: list[Any]) -> Any:
    """An array of the values' own kind, or of objects where some are missing."""
    if any(value is None for value in values):
        column = np.empty(len(values), dtype=object)
        column[:] = values
        return column
    return values


def _python_label(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def group_counts(rows: Any, data: Any, column: str) -> Any:
    """Counts for each value of a column of the data, what is missing being one, the largest share first."""
    table = as_table(data)
    names = list(table.columns)
    if column not in names:
        raise DataError(
            f"the data have no column {column!r}{suggest_name(column, names)}",
            hint=f"its columns are {', '.join(names[:12])}{', ...' if len(names) > 12 else ''}",
        )
    values = table.get_column(column).to_list()
    groups: dict[Any, list[dict[str, Any]]] = {}
    for record in frame_records(rows):
        groups.setdefault(_none_if_missing(values[record["row"]]), []).append(record)
    lines = [(value, _count_members(members)) for value, members in groups.items()]
    lines.sort(key=lambda line: (-line[1]["share"], str(line[0])))
    columns: dict[str, Any] = {column: _nullable_array([value for value, _ in lines])}
    for name in ("rows", "biased", "undecided", "share", "largest_gap"):
        columns[f"{name}_" if name == column else name] = _nullable_array(
            [counts[name] for _, counts in lines]
        )
    return frame_from_columns(columns, like=data)


def _count_members(members: list[dict[str, Any]]) -> dict[str, Any]:
    biased = sum(member["biased"] is True for member in members)
    return {
        "rows": len(members),
        "biased": biased,
        "undecided": sum(member["biased"] is None for member in members),
        "share": biased / len(members),
        "largest_gap": max((m["gap"] for m in members if m["gap"] is not None), default=None),
    }


def frame_records(frame: Any, most: int | None = None) -> list[dict[str, Any]]:
    """The lines of a frame as plain Python values; what is missing is None."""
    table = as_table(frame)
    table = table if most is None else table.head(most)
    columns = {
        name: [_none_if_missing(value) for value in table.get_column(name).to_list()]
        for name in table.columns
    }
    return [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]


def _none_if_missing(value: Any) -> Any:
    value = _python_label(value)
    return None if isinstance(value, float) and np.isnan(value) else value


def write_frame(frame: Any, path: str | Path) -> None:
    """A frame as .csv or .parquet."""
    file, table = Path(path), as_table(frame)
    if file.suffix.lower() not in (".csv", ".parquet"):
        raise DataError(f"{file}: not a table Likewise can write", hint="give a .csv or .parquet file")
    try:
        if file.suffix.lower() == ".csv":
            table.write_csv(str(file))
        else:
            table.write_parquet(str(file))
    except OSError as error:
        raise DataError(f"{file}: cannot be written: {error.strerror or error}") from None
