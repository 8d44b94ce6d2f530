"""The user's frame, column by column, as plain numbers and scalars.

Every frame narwhals can wrap (pandas, polars, pyarrow, ...) is read here and nowhere else. A `Column`
holds either a numpy array of numbers or a list of Python scalars, all finite: infinities are refused with the column
and the first row that has one. Missing values (NaN, None, null, pandas' NA) are all one thing and marked as `absent`;
who has no use for them refuses them with `Column.complete`. Rows count from 0, or from where the frame begins in the data that it is a part of (`first`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from likewise.clock import check_clock
from likewise.errors import DataError
from likewise.spec.features import Level, is_missing
from likewise.spec.numbers import python_scalar, short_repr

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import numpy as np
    from numpy.typing import NDArray

_MISSING_HINT = "fill or drop it first, or let the feature have missing values: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column. Exactly one of `numbers` and `scalars` is set.

    `numbers`: whole numbers (any int dtype) or float64, 0 where `absent`.  `scalars`: str, int, float or bool, None where
    absent.  `absent`: which rows miss a value.  `order`: the declared levels of an ordered category or an enum.  `first`: the number of the first row.
    """

    name: str
    absent: NDArray[np.bool_]
    numbers: NDArray[Any] | None = None
    scalars: list[Level] | None = None
    order: tuple[Any, ...] | None = None
    first: int = 0

    def location(self, row: int) -> str:
        """How messages name a cell."""
        return location_text(self.name, self.first + row)

    def values(self) -> list[Level]:
        """The values as Python scalars, None where one is missing."""
        if self.scalars is not None:
            return self.scalars
        values: list[Level] = self.array().tolist()
        for row in self.absent.nonzero()[0]:
            values[row] = None
        return values

    def complete(self, *, hint: str) -> None:
        """Refuse the first missing value; `hint` says how the feature could have some."""
        if self.absent.any():
            row = int(self.absent.argmax())
            raise DataError(f"{self.location(row)}: missing value", hint=_MISSING_HINT + hint)

    def array(self) -> NDArray[Any]:
        """The values as numbers, 0 where one is missing; object dtype where int64 is too narrow. Text is refused."""
        import numpy as np

        if self.numbers is not None:
            return self.numbers
        scalars = [0 if value is None else value for value in self.scalars or []]
        for row, value in enumerate(scalars):
            if isinstance(value, str):
                raise DataError(
                    f"{self.location(row)}: text {short_repr(value)} in a numeric feature",
                    hint="turn the column into numbers, or make the feature Categorical",
                )
        if any(isinstance(value, float) for value in scalars):
            return np.array([float(value) for value in scalars], dtype=np.float64)
        try:
            return np.array(scalars, dtype=np.int64)
        except OverflowError:
            return np.array(scalars, dtype=object)


def location_text(name: str, row: int) -> str:
    """How messages name a cell."""
    return f"column {name!r}, row {row} (counted from 0)"


def as_table(frame: Any) -> nw.DataFrame[Any]:
    """`frame` wrapped by narwhals, with unique text names; anything else is refused with a way out."""
    import narwhals.stable.v2 as nw

    if not hasattr(frame, "collect"):  # the columns of a lazy frame may be expensive to ask for
        _check_names(frame)
    try:
        table: nw.DataFrame[Any] = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise DataError(
            f"expected a pandas or polars frame, got {type(frame).__name__}", hint=_frame_hint(frame)
        ) from None
    except nw.exceptions.DuplicateError as error:
        raise DataError(
            f"a column name appears twice: {error}", hint="rename or drop one of the two"
        ) from None
    return table


def _frame_hint(frame: Any) -> str:
    if hasattr(frame, "collect"):
        return "call .collect() on it first"
    if hasattr(frame, "to_frame"):
        return "call .to_frame() on it first"
    return "name the columns, for instance pandas.DataFrame(X, columns=[...])"


def _check_names(frame: Any) -> None:
    try:
        names = list(getattr(frame, "columns", ()))
    except TypeError:
        return
    if not all(isinstance(name, str | int | float | tuple) for name in names):
        return  # not names at all: a pyarrow table's `columns` are its data
    seen: set[Any] = set()
    for name in names:
        if not isinstance(name, str):
            raise DataError(
                f"column name {short_repr(name)} is not text",
                hint='name the columns: frame.columns = ["age", ...]',
            )
        if name in seen:
            raise DataError(f"column name {name!r} appears twice", hint="rename or drop one of the two")
        seen.add(name)


def read_column(table: nw.DataFrame[Any], name: str, first: int = 0) -> Column:
    """Column `name`, checked to be finite; its rows count from `first`."""
    import narwhals.stable.v2 as nw
    import numpy as np

    check_clock()
    series = table.get_column(name)
    dtype = series.dtype
    absent = series.is_null().to_numpy().astype(bool)
    if absent.all() and len(absent):  # whatever its dtype, it has no values
        return Column(name=name, absent=absent, scalars=[None] * len(absent), first=first)
    if dtype.is_integer() or dtype.is_float():
        if "128" not in str(dtype):  # numpy has no such integers; they are read one by one
            numbers = (series.fill_null(0) if absent.any() else series).to_numpy()
            return _numeric_column(name, numbers, absent, first)
    elif not isinstance(dtype, nw.Boolean | nw.String | nw.Categorical | nw.Enum | nw.Object):
        raise DataError(
            f"column {name!r} has dtype {_dtype_text(series)}, which is no kind of feature",
            hint="turn it into numbers or text, or leave it out (exclude=)",
        )
    order = tuple(python_scalar(level) for level in dtype.categories) if isinstance(dtype, nw.Enum) else None
    scalars = _read_scalars(series.to_list(), name, first)
    absent = np.array([v is None for v in scalars], bool)
    return Column(name=name, absent=absent, scalars=scalars, order=order, first=first)


def _dtype_text(series: nw.Series[Any]) -> str:
    return str(series.to_native().dtype) if hasattr(series.to_native(), "dtype") else str(series.dtype)


def _numeric_column(name: str, numbers: NDArray[Any], absent: NDArray[np.bool_], first: int) -> Column:
    import numpy as np

    if numbers.dtype.kind in "iu":
        return Column(name=name, absent=absent, numbers=numbers, first=first)
    doubles: NDArray[np.float64] = numbers.astype(np.float64)
    absent = absent | np.isnan(doubles)  # polars tells null from NaN
    doubles = np.where(absent, 0.0, doubles)
    if not np.isfinite(doubles).all():
        row = int(np.argmin(np.isfinite(doubles)))
        _refuse_infinite(float(doubles[row]), name, first + row)
    return Column(name=name, absent=absent, numbers=doubles, first=first)


def _refuse_infinite(value: float, name: str, row: int) -> None:
    raise DataError(
        f"{location_text(name, row)}: {value} is not finite", hint="replace it by a number inside the bounds"
    )


def _read_scalars(values: list[Any], name: str, first: int) -> list[Level]:
    if set(map(type, values)) <= {str, type(None)}:
        return values
    scalars: list[Level] = []
    for row, given in enumerate(values, start=first):
        value = python_scalar(given)
        if is_missing(value):
            scalars.append(None)
            continue
        if not isinstance(value, str | int | float):
            raise DataError(
                f"{location_text(name, row)}: {short_repr(given)} is neither text, number nor boolean",
                hint="turn the column into numbers or text, or leave it out (exclude=)",
            )
        if isinstance(value, float) and not math.isfinite(value):
            _refuse_infinite(value, name, row)
        scalars.append(value)
    return scalars
