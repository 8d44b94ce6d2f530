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

An ordered column keeps levels nobody has, as `within` counts the steps between them. `widened` starts
from a space instead and extends bounds and levels just enough to cover the frame.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from likewise.errors import DataError, SpecError, closest
from likewise.spec.columns import Column, as_table, at, read_column
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Level, Ordinal
from likewise.spec.numbers import shown

if TYPE_CHECKING:
    from likewise.spec.space import Space


def observe(frame: Any, *, exclude: Iterable[str], constant: Literal["error", "keep"]) -> dict[str, Feature]:
    """One feature per column of `frame`, except those in `exclude`."""
    if constant not in ("error", "keep"):
        raise SpecError(f'constant must be "error" or "keep", got {shown(constant)}')
    table = as_table(frame)
    columns = list(table.columns)
    left_out = {exclude} if isinstance(exclude, str) else set(exclude)
    for name in sorted(left_out, key=str):
        if name not in columns:
            raise DataError(f"exclude: the frame has no column {name!r}{closest(name, columns)}")
    kept = [name for name in columns if name not in left_out]
    if not kept:
        raise DataError("the frame has no columns" if not columns else "no columns are left after exclude")
    if len(table) == 0:
        raise DataError(
            "the frame has no rows", hint="bounds and levels are read off the rows; or write them by hand"
        )
    return {name: _observed(read_column(table, name), constant) for name in kept}


def _observed(column: Column, constant: str) -> Feature:
    values = column.values()
    if constant == "error" and all(value == values[0] for value in values):
        raise DataError(
            f"column {column.name!r} is constant: every row has {shown(values[0])}",
            hint=f'constant="keep" keeps it with this one value, exclude=[{column.name!r}] leaves it out',
        )
    try:
        if column.numbers is not None:
            return _numeric(column)
        if column.order is not None:
            return Ordinal(column.order)
        return Categorical(_sorted_levels(column))
    except SpecError as error:
        raise DataError(f"column {column.name!r}: {error.message}", hint=error.hint) from None


def _numeric(column: Column) -> Feature:
    numbers = column.array()
    lo, hi = numbers.min(), numbers.max()
    return Continuous(lo, hi) if numbers.dtype.kind == "f" else Integer(lo, hi)


def _sorted_levels(column: Column) -> list[Level]:
    values = column.values()
    if all(isinstance(value, bool) for value in values):
        return [False, True]
    _check_one_sort(column)
    return sorted(dict.fromkeys(values))


def _check_one_sort(column: Column) -> None:
    values = column.values()
    first = values[0]
    for row, value in enumerate(values):
        if isinstance(value, str) != isinstance(first, str) or isinstance(value, bool) != isinstance(
            first, bool
        ):
            raise DataError(
                f"column {column.name!r} mixes {_sort(first)} (row 0: {shown(first)}) "
                f"and {_sort(value)} (row {row}: {shown(value)})",
                hint="turn the whole column into one sort, for instance frame.astype({...: str})",
            )


def _sort(value: Level) -> str:
    if isinstance(value, str):
        return "text"
    return "booleans" if isinstance(value, bool) else "numbers"


def widened(space: Space, frame: Any) -> dict[str, Feature]:
    """The features of `space`, extended to cover every row of `frame`; other columns are ignored."""
    table = as_table(frame)
    columns = list(table.columns)
    for name in space.names:
        if name not in columns:
            raise DataError(f"the frame has no column {name!r}{closest(name, columns)}")
    return {name: _widened(feature, read_column(table, name)) for name, feature in space.features.items()}


def _widened(feature: Feature, column: Column) -> Feature:
    if isinstance(feature, Categorical | Ordinal):
        return _more_levels(feature, column)
    numbers = column.array()
    if len(numbers) == 0:
        return feature
    if isinstance(feature, Integer) and numbers.dtype.kind == "f":
        fractional = numbers % 1 != 0
        if fractional.any():
            row = int(fractional.argmax())
            raise DataError(
                f"{at(column.name, row)}: {numbers[row]} is not a whole number, but the feature is Integer",
                hint=f"space.replace({{{column.name!r}: Continuous(lo, hi)}}) first",
            )
    lo, hi = min(feature.lo, numbers.min().item()), max(feature.hi, numbers.max().item())
    try:
        return Continuous(lo, hi) if isinstance(feature, Continuous) else Integer(lo, hi)
    except SpecError as error:
        raise DataError(f"column {column.name!r}: {error.message}", hint=error.hint) from None


def _more_levels(feature: Categorical | Ordinal, column: Column) -> Feature:
    fresh = [value for value in dict.fromkeys(column.values()) if not feature.contains(value)]
    if not fresh:
        return feature
    if any(isinstance(value, str) == feature.numeric for value in fresh):
        odd = next(value for value in fresh if isinstance(value, str) == feature.numeric)
        raise DataError(
            f"column {column.name!r}: {shown(odd)} cannot join the levels of {feature.describe()}",
            hint="levels are all text or all numbers; turn the column into the same sort",
        )
    if isinstance(feature, Categorical):
        return Categorical([*feature.levels, *sorted(fresh)])
    # Numbers in ascending order say by themselves where a new one belongs; nothing else does.
    if feature.numeric and list(feature.levels) == sorted(feature.levels):
        return Ordinal(sorted([*feature.levels, *fresh]))
    raise DataError(
        f"column {column.name!r}: {shown(fresh[0])} is not among the {feature.describe()}, and its place is unknown",
        hint=f"space.replace({{{column.name!r}: Ordinal([...])}}) with the level in its place",
    )
