"""The features a frame shows: kinds from its dtypes, bounds and levels from its values.

====================================  ==========================================================
column                                feature
====================================  ==========================================================
whole numbers (int dtypes)            `Integer`, smallest to largest value
other numbers (float dtypes)          `Continuous`, smallest to largest value
booleans                              `Categorical` with levels False, True
text, objects of one sort, category   `Categorical` with the levels seen, sorted
ordered category, enum                `Ordinal` with all declared levels, in the declared order
====================================  ==========================================================

Missing values are refused, or make features that may be missing (``missing="include"``), or are left aside
(``missing="exclude"``): then the individuals are those who miss nothing. As pandas has no whole numbers with gaps, a float column
with gaps and whole numbers only is `Integer`.

An ordered column keeps levels nobody has, as `within` counts the steps between them. `widen_features` starts
from a space instead and extends bounds and levels just enough to cover the frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from likewise.errors import DataError, SpecError, suggest_name
from likewise.spec.columns import Column, as_table, location_text, read_column
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Level, Ordinal
from likewise.spec.numbers import short_repr

if TYPE_CHECKING:
    from likewise.spec.space import Space


Missing = Literal["error", "include", "exclude"]
_MISSING_HINT = (
    'Space.from_data(X, missing="include") for features that may be missing, or missing="exclude" for '
    "individuals who miss nothing"
)


def infer_features(
    frame: Any, *, exclude: Iterable[str], constant: Literal["error", "keep"], missing: Missing = "error"
) -> dict[str, Feature]:
    """One feature per column of `frame`, except those in `exclude`."""
    if constant not in ("error", "keep"):
        raise SpecError(f'constant must be "error" or "keep", got {short_repr(constant)}')
    if missing not in ("error", "include", "exclude"):
        raise SpecError(f'missing must be "error", "include" or "exclude", got {short_repr(missing)}')
    table = as_table(frame)
    columns = list(table.columns)
    left_out = {exclude} if isinstance(exclude, str) else set(exclude)
    for name in sorted(left_out, key=str):
        if name not in columns:
            raise DataError(f"exclude: the frame has no column {name!r}{suggest_name(name, columns)}")
    kept = [name for name in columns if name not in left_out]
    if not kept:
        raise DataError("the frame has no columns" if not columns else "no columns are left after exclude")
    if len(table) == 0:
        raise DataError(
            "the frame has no rows", hint="bounds and levels are read off the rows; or write them by hand"
        )
    return {name: _infer_feature(read_column(table, name), constant, missing) for name in kept}


def _infer_feature(column: Column, constant: str, missing: Missing) -> Feature:
    if missing == "error":
        column.complete(hint=_MISSING_HINT)
    if column.absent.all():
        raise DataError(
            f"column {column.name!r} has no values: all are missing",
            hint=f"exclude=[{column.name!r}] leaves it out",
        )
    values = present_values(column) if missing == "exclude" else column.values()
    if constant == "error" and all(value == values[0] for value in values):
        raise DataError(
            f"column {column.name!r} is constant: every row has {short_repr(values[0])}",
            hint=f'constant="keep" keeps it with this one value, exclude=[{column.name!r}] leaves it out',
        )
    try:
        gaps = missing == "include" and bool(column.absent.any())
        if column.numbers is not None:
            return _infer_number(column, gaps)
        last = [None] if gaps else []
        if column.order is not None:
            return Ordinal([*column.order, *last])
        return Categorical([*_sorted_levels(column), *last])
    except SpecError as error:
        raise DataError(f"column {column.name!r}: {error.message}", hint=error.hint) from None


def present_values(column: Column) -> list[Level]:
    """The values that are not missing."""
    return [value for value in column.values() if value is not None]


def _infer_number(column: Column, gaps: bool) -> Feature:
    numbers = column.array()[~column.absent]
    lo, hi = numbers.min(), numbers.max()
    whole = numbers.dtype.kind != "f" or (column.absent.any() and (numbers % 1 == 0).all())
    return Integer(lo, hi, missing=gaps) if whole else Continuous(lo, hi, missing=gaps)


def _sorted_levels(column: Column) -> list[Level]:
    values = present_values(column)
    if all(isinstance(value, bool) for value in values):
        return [False, True]
    _check_one_sort(column)
    return sort_levels(values)


def sort_levels(levels: Iterable[Level]) -> list[Level]:
    """Levels of one sort, each once, sorted; None last."""
    return sorted(dict.fromkeys(levels), key=lambda level: (level is None, 0 if level is None else level))


def _check_one_sort(column: Column) -> None:
    values = column.values()
    start, first = next((row, value) for row, value in enumerate(values) if value is not None)
    for row, value in enumerate(values):
        if value is None:
            continue
        if isinstance(value, str) != isinstance(first, str) or isinstance(value, bool) != isinstance(
            first, bool
        ):
            raise DataError(
                f"column {column.name!r} mixes {_value_sort(first)} (row {start}: {short_repr(first)}) "
                f"and {_value_sort(value)} (row {row}: {short_repr(value)})",
                hint="turn the whole column into one sort, for instance frame.astype({...: str})",
            )


def _value_sort(value: Level) -> str:
    if isinstance(value, str):
        return "text"
    return "booleans" if isinstance(value, bool) else "numbers"


def widen_features(space: Space, frame: Any) -> dict[str, Feature]:
    """The features of `space`, extended to cover every row of `frame`; other columns are ignored."""
    table = as_table(frame)
    columns = list(table.columns)
    for name in space.names:
        if name not in columns:
            raise DataError(f"the frame has no column {name!r}{suggest_name(name, columns)}")
    return {
        name: _widen_feature(feature, read_column(table, name)) for name, feature in space.features.items()
    }


def _widen_feature(feature: Feature, column: Column) -> Feature:
    if isinstance(feature, Categorical | Ordinal):
        return _add_levels(feature, column)
    numbers = column.array()[~column.absent]
    missing = feature.missing or bool(column.absent.any())
    if len(numbers) == 0:
        return replace(feature, missing=missing)
    if isinstance(feature, Integer) and numbers.dtype.kind == "f":
        fractional = column.array() % 1 != 0
        if fractional.any():
            row = int(fractional.argmax())
            raise DataError(
                f"{location_text(column.name, row)}: {column.array()[row]} is not a whole number, but the feature is Integer",
                hint=f"space.replace({{{column.name!r}: Continuous(lo, hi)}}) first",
            )
    lo, hi = min(feature.lo, numbers.min().item()), max(feature.hi, numbers.max().item())
    try:
        return replace(feature, lo=lo, hi=hi, missing=missing)
    except SpecError as error:
        raise DataError(f"column {column.name!r}: {error.message}", hint=error.hint) from None


def _add_levels(feature: Categorical | Ordinal, column: Column) -> Feature:
    fresh = [value for value in dict.fromkeys(column.values()) if not feature.contains(value)]
    if not fresh:
        return feature
    text = isinstance(feature.levels[0], str)
    if odd := [value for value in fresh if value is not None and isinstance(value, str) != text]:
        raise DataError(
            f"column {column.name!r}: {short_repr(odd[0])} cannot join the levels of {feature.describe()}",
            hint="levels are all text or all numbers; turn the column into the same sort",
        )
    if isinstance(feature, Categorical):
        return Categorical([*feature.levels, *sort_levels(fresh)])
    # Numbers in ascending order say by themselves where a new one belongs, as does what is missing; nothing else does.
    if (not text and list(feature.levels) == sort_levels(feature.levels)) or fresh == [None]:
        return Ordinal([*feature.levels, None] if fresh == [None] else sort_levels([*feature.levels, *fresh]))
    raise DataError(
        f"column {column.name!r}: {short_repr(next(v for v in fresh if v is not None))} is not among the {feature.describe()}, and its place is unknown",
        hint=f"space.replace({{{column.name!r}: Ordinal([...])}}) with the level in its place",
    )
