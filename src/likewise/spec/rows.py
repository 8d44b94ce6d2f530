"""Rows of a frame to codes and back.

A code is a double: the value itself for `Continuous` and `Integer`, the position of the level, from 0,
for `Categorical` and `Ordinal`; a missing value has the feature's `missing_code`. `encode` first checks that every row is an individual of the space and
names the first cell that is not; nothing is rounded, clipped or guessed. `decode` is its inverse on the
codes of a space and returns the user's own values in a frame of the user's own type.

Constraints are decided exactly: a float64 evaluation with an error bound accepts the rows that are
clearly inside, all others are evaluated in rationals.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from likewise.errors import DataError, InternalError, suggest_name
from likewise.spec.columns import Column, as_table, location_text, read_column
from likewise.spec.constraints import Constraint
from likewise.spec.features import Categorical, Continuous, Feature, Integer, Level, Ordinal, level_text
from likewise.spec.frames import frame_from_columns
from likewise.spec.numbers import EXACT_INT_LIMIT, number_text, short_repr

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from likewise.spec.space import Space

# A sum of n products in float64 is off by at most about n * 2**-52 of the sum of their sizes; 2**-40 covers
# 4000 features. It only decides which rows are evaluated exactly, so a larger value is merely slower.
_SCREEN_MARGIN = 2.0**-40
# Products above this size cannot underflow unnoticed; coefficients below it are evaluated exactly throughout.
_TINY = 2.0**-500


def encode(space: Space, frame: Any, *, allow_extra: bool = False, first: int = 0) -> NDArray[np.float64]:
    """The checked rows of `frame` as codes (N, n), columns in the order of the space; messages count rows from `first`."""
    import numpy as np

    table = as_table(frame)
    check_columns(space, list(table.columns), allow_extra=allow_extra)
    codes = np.empty((len(table), len(space)), dtype=np.float64)
    for j, (name, feature) in enumerate(space.features.items()):
        codes[:, j] = column_codes(feature, read_column(table, name, first))
    for constraint in space.constraints:
        _check_constraint(space, constraint, codes, first)
    return codes


def check_columns(space: Space, columns: list[str], *, allow_extra: bool) -> None:
    """Refuse a frame that lacks a feature, or has columns that are none where that is not allowed."""
    missing = [name for name in space.names if name not in columns]
    if missing:
        left = [name for name in columns if name not in space]
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise DataError(
            f"the frame has no column {missing[0]!r}{more}{suggest_name(missing[0], left)}",
            hint=f"its columns are {', '.join(columns[:12])}{', ...' if len(columns) > 12 else ''}",
        )
    extra = [name for name in columns if name not in space]
    if extra and not allow_extra:
        more = f" (and {len(extra) - 1} more)" if len(extra) > 1 else ""
        raise DataError(
            f"column {extra[0]!r}{more} is no feature of the space",
            hint="drop it, or add it to the space; a label does not belong to either",
        )


def column_codes(feature: Feature, column: Column) -> NDArray[np.float64]:
    """The codes of one column; refuses the first cell that is none of the feature's."""
    if feature.missing_code is None:
        column.complete(hint=_missing_hint(feature))
    if isinstance(feature, Continuous | Integer):
        return _numeric_codes(feature, column)
    return _level_codes(feature, column)


def strange_cells(feature: Feature, column: Column) -> NDArray[np.bool_]:
    """Which cells are no values of the feature: all that `column_codes` would refuse, but for columns of the wrong kind."""
    import numpy as np

    strange: NDArray[np.bool_]
    absent = column.absent if feature.missing_code is None else np.zeros_like(column.absent)
    if not isinstance(feature, Continuous | Integer):
        known = set(feature.levels)
        strange = np.array([value not in known for value in column.values()], dtype=bool)
        return strange | absent
    numbers = column.array()
    strange = ((numbers < feature.lo) | (numbers > feature.hi)) & ~column.absent
    if isinstance(feature, Integer) and numbers.dtype.kind == "f":
        strange |= (numbers != np.floor(numbers)) & ~column.absent
    if numbers.dtype.kind != "f":
        for row in np.flatnonzero((numbers > EXACT_INT_LIMIT) | (numbers < -EXACT_INT_LIMIT)):
            strange[row] |= float(numbers[row]) != int(numbers[row])
    return strange | absent


def _missing_hint(feature: Feature) -> str:
    if isinstance(feature, Continuous | Integer):
        return f"{type(feature).__name__}({number_text(feature.lo)}, {number_text(feature.hi)}, missing=True)"
    return f"the level None among those of {type(feature).__name__}([...])"


def _numeric_codes(feature: Continuous | Integer, column: Column) -> NDArray[np.float64]:
    import numpy as np

    numbers = column.array()
    if isinstance(feature, Integer) and numbers.dtype.kind == "f":
        _refuse_first(numbers != np.floor(numbers), column, _explain_not_whole)
    outside = ((numbers < feature.lo) | (numbers > feature.hi)) & ~column.absent
    _refuse_first(outside, column, lambda value: _explain_outside(feature, column.name, value))
    if numbers.dtype.kind != "f":
        # Only here can a conversion round: whole numbers that no double tells apart.
        large = (numbers > EXACT_INT_LIMIT) | (numbers < -EXACT_INT_LIMIT)
        for row in np.flatnonzero(large):
            if float(numbers[row]) != int(numbers[row]):
                large[:row] = False
                _refuse_first(large, column, _explain_lossy)
    codes = np.array(numbers, dtype=np.float64)
    codes[column.absent] = feature.missing_code
    return codes


def _refuse_first(bad: NDArray[np.bool_], column: Column, explain: Any) -> None:
    if bad.any():
        row = int(bad.argmax())
        message, hint = explain(column.values()[row])
        raise DataError(f"{column.location(row)}: {message}", hint=hint)


def _explain_not_whole(value: Level) -> tuple[str, str]:
    return (
        f"{short_repr(value)} is not a whole number, but the feature is Integer",
        "make the feature Continuous",
    )


def _explain_lossy(value: Level) -> tuple[str, str]:
    return (
        f"{short_repr(value)} has more digits than a double holds",
        "round the column, or use smaller units",
    )


def _explain_outside(feature: Continuous | Integer, name: str, value: Level) -> tuple[str, str]:
    kind = type(feature).__name__
    number = float(_level_number(value))
    lo, hi = min(feature.lo, number), max(feature.hi, number)
    more = ", missing=True" if feature.missing else ""
    hint = f"space.widen(frame), or space.replace({{{name!r}: {kind}({number_text(lo)}, {number_text(hi)}{more})}})"
    return f"{short_repr(value)} is outside {number_text(feature.lo)}..{number_text(feature.hi)}", hint


def _level_codes(feature: Categorical | Ordinal, column: Column) -> NDArray[np.float64]:
    import numpy as np

    positions: dict[Level, int] = {level: place for place, level in enumerate(feature.levels)}
    values = column.values()
    codes = np.array(list(map(positions.get, values)), dtype=np.float64)  # NaN of what is no level
    if np.isnan(codes).any():
        row = int(np.isnan(codes).argmax())
        _refuse_level(feature, column, row, values[row])
    return codes


def _refuse_level(feature: Categorical | Ordinal, column: Column, row: int, value: Level) -> NoReturn:
    try:
        feature.position(value)
    except DataError as error:
        raise DataError(
            f"{column.location(row)}: {error.message}", hint=f"{error.hint}; or space.widen(frame)"
        ) from None
    raise InternalError(f"{column.location(row)}: {short_repr(value)} is a level that has no place")


def _check_constraint(space: Space, constraint: Constraint, codes: NDArray[np.float64], first: int) -> None:
    """Refuse the first row that breaks it."""
    broken = broken_rows(space, constraint, codes)
    if broken.any():
        row = int(broken.argmax())
        values = {name: _cell_text(space, name, codes[row], constraint) for name in constraint.names}
        _refuse_row(first + row, constraint, ", ".join(f"{name} = {text}" for name, text in values.items()))


def _cell_text(space: Space, name: str, row: NDArray[np.float64], constraint: Constraint) -> str:
    if not constraint.indicators:
        return number_text(_exact_value(space, name, row))
    place = space.names.index(name)
    return level_text(space.value(place, row[place]))


def broken_rows(space: Space, constraint: Constraint, codes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows break the constraint, exactly."""
    import numpy as np

    if constraint.indicators:
        return _forbidden_rows(space, constraint, codes)
    bound = _nearest_double(constraint.bound)
    total = np.zeros(len(codes))
    size = np.full(len(codes), abs(bound))
    with np.errstate(all="ignore"):  # what overflows to inf or NaN is not "clearly inside"
        for name, by in constraint.coefficients:
            values = _numeric_values(space, name, codes)
            total += _nearest_double(by) * values
            size += abs(_nearest_double(by)) * np.abs(values)
        clear = total - bound < -_SCREEN_MARGIN * size - _TINY
    if any(abs(_nearest_double(by)) < _TINY for _, by in constraint.coefficients):
        clear[:] = False
    broken = np.zeros(len(codes), dtype=bool)
    for row in np.flatnonzero(~clear):
        exact = {name: _exact_value(space, name, codes[row]) for name in constraint.names}
        broken[row] = not constraint.holds(exact)
    return broken


def _forbidden_rows(space: Space, constraint: Constraint, codes: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which rows satisfy all conditions of a forbidden conjunction."""
    import numpy as np

    broken = np.ones(len(codes), dtype=bool)
    for condition in constraint.indicators:
        j = space.names.index(condition.name)
        holds = [condition.holds(level) for level in getattr(space[condition.name], "levels", ())]
        broken &= np.array(holds)[codes[:, j].astype(np.int64)]
    return broken


def _refuse_row(row: int, constraint: Constraint, given: str) -> NoReturn:
    raise DataError(
        f"row {row} (counted from 0) breaks the constraint {constraint.text!r}: {given}",
        hint="space.admit(frame) leaves such rows out; or leave the constraint out of the space",
    )


def _nearest_double(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _numeric_values(space: Space, name: str, codes: NDArray[np.float64]) -> NDArray[np.float64]:
    import numpy as np

    feature = space[name]
    column = codes[:, space.names.index(name)]
    if isinstance(feature, Continuous | Integer):
        return column
    return np.array([float(_level_number(level)) for level in feature.levels])[column.astype(np.int64)]


def _exact_value(space: Space, name: str, row: NDArray[np.float64]) -> Fraction:
    j = space.names.index(name)
    return Fraction(_level_number(space.value(j, row[j])))


def _level_number(level: Level) -> float:
    """A value that stands in a linear constraint, where nothing is text or missing."""
    if level is None or isinstance(level, str):
        raise InternalError(f"a linear constraint on {level_text(level)}")
    return level


def decode(space: Space, codes: ArrayLike, *, like: Any = None) -> Any:
    """Codes (N, n) as a frame of the type of `like` with the user's own values."""
    import numpy as np

    array = np.asarray(codes, dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != len(space):
        raise DataError(f"codes must have shape (rows, {len(space)}), got {array.shape}")
    columns = {
        name: _decode_column(name, feature, array[:, j])
        for j, (name, feature) in enumerate(space.features.items())
    }
    return frame_from_columns(columns, like=like)


def _decode_column(name: str, feature: Feature, codes: NDArray[np.float64]) -> NDArray[Any]:
    import numpy as np

    if isinstance(feature, Continuous):
        return _mask_gaps(codes.copy(), codes == feature.missing_code) if feature.missing else codes.copy()
    top = np.inf if isinstance(feature, Integer) else feature.size - 1
    bottom = -np.inf if isinstance(feature, Integer) else 0
    with np.errstate(invalid="ignore"):
        bad = ~(np.isfinite(codes) & (codes == np.floor(codes)) & (codes >= bottom) & (codes <= top))
    if bad.any():
        row = int(bad.argmax())
        raise DataError(f"{location_text(name, row)}: {codes[row]} is no code of {feature.describe()}")
    whole = codes.astype(np.int64)
    if isinstance(feature, Integer):
        return _mask_gaps(whole, codes == feature.missing_code) if feature.missing else whole
    if not feature.missing:
        return level_array(feature.levels)[whole]
    gaps = codes == feature.missing_code
    return _mask_gaps(level_array(feature.levels[:-1])[np.where(gaps, 0, whole)], gaps)


def _mask_gaps(values: NDArray[Any], gaps: NDArray[np.bool_]) -> NDArray[Any]:
    import numpy as np

    return np.ma.MaskedArray(values, mask=gaps)


def level_array(levels: tuple[Level, ...]) -> NDArray[Any]:
    """The levels as an array of their natural dtype: bool, int64, float64, or object for text."""
    import numpy as np

    if all(isinstance(level, bool) for level in levels):
        return np.array(levels, dtype=np.bool_)
    if all(isinstance(level, int) for level in levels):
        return np.array(levels, dtype=np.int64)
    if all(isinstance(level, int | float) for level in levels):
        return np.array(levels, dtype=np.float64)
    return np.array(levels, dtype=object)
