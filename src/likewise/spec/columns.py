"""The user's frame, column by column, as plain numbers and scalars.

Every frame narwhals can wrap (pandas, polars, pyarrow, ...) is read here and nowhere else. A `Column`
holds either a numpy array of numbers or a list of Python scalars, complete and finite: missing values,
NaN and infinities are refused with the column and the first row that has one. Rows count from 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from likewise.errors import DataError
from likewise.spec.features import Level
from likewise.spec.numbers import python_scalar, shown

if TYPE_CHECKING:
    import narwhals.stable.v2 as nw
    import numpy as np
    from numpy.typing import NDArray

_MISSING_HINT = "fill or drop it first, or give missing values a level of their own; nothing is guessed here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column without missing values. Exactly one of `numbers` and `scalars` is set.

    `numbers`: whole numbers (any int dtype) or float64.  `scalars`: str, int, float or bool.
    `order`: the declared levels of an ordered category or an enum.
    """

    name: str
    numbers: NDArray[Any] | None = None
    scalars: list[Level] | None = None
    order: tuple[Any, ...] | None = None

    def values(self) -> list[Level]:
        """The values as Python scalars."""
        return self.scalars if self.scalars is not None else self.array().tolist()

    def array(self) -> NDArray[Any]:
        """The values as an array of numbers; object dtype where int64 is too narrow. Text is refused."""
        import numpy as np

        if self.numbers is not None:
            return self.numbers
        scalars = self.scalars or []
        for row, value in enumerate(scalars):
            if isinstance(value, str):
                raise DataError(
                    f"{at(self.name, row)}: text {shown(value)} in a numeric feature",
                    hint="turn the column into numbers, or make the feature Categorical",
                )
        if any(isinstance(value, float) for value in scalars):
            return np.array([float(value) for value in scalars], dtype=np.float64)
        try:
            return np.array(scalars, dtype=np.int64)
        except OverflowError:
            return np.array(scalars, dtype=object)


def at(name: str, row: int) -> str:
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
                f"column name {shown(name)} is not text",
                hint='name the columns: frame.columns = ["age", ...]',
            )
        if name in seen:
            raise DataError(f"column name {name!r} appears twice", hint="rename or drop one of the two")
        seen.add(name)


def read_column(table: nw.DataFrame[Any], name: str) -> Column:
    """Column `name`, checked to be complete and finite."""
    import narwhals.stable.v2 as nw

    series = table.get_column(name)
    dtype = series.dtype
    _check_complete(series, name)
    if dtype.is_integer() or dtype.is_float():
        if "128" not in str(dtype):  # numpy has no such integers; they are read one by one
            return Column(name=name, numbers=_finite(series.to_numpy(), name))
    elif not isinstance(dtype, nw.Boolean | nw.String | nw.Categorical | nw.Enum | nw.Object):
        raise DataError(
            f"column {name!r} has dtype {_dtype_text(series)}, which is no kind of feature",
            hint="turn it into numbers or text, or leave it out (exclude=)",
        )
    order = tuple(python_scalar(level) for level in dtype.categories) if isinstance(dtype, nw.Enum) else None
    return Column(name=name, scalars=_scalars(series.to_list(), name), order=order)


def _dtype_text(series: nw.Series[Any]) -> str:
    return str(series.to_native().dtype) if hasattr(series.to_native(), "dtype") else str(series.dtype)


def _check_complete(series: nw.Series[Any], name: str) -> None:
    null = series.is_null()
    if null.any():
        row = int(null.to_numpy().argmax())
        raise DataError(f"{at(name, row)}: missing value", hint=_MISSING_HINT)


def _finite(numbers: NDArray[Any], name: str) -> NDArray[Any]:
    import numpy as np

    if numbers.dtype.kind in "iu":
        return numbers
    doubles: NDArray[np.float64] = numbers.astype(np.float64)
    finite = np.isfinite(doubles)
    if not finite.all():
        row = int(np.argmin(finite))
        _refuse_not_finite(float(doubles[row]), name, row)
    return doubles


def _refuse_not_finite(value: float, name: str, row: int) -> None:
    if math.isnan(value):
        raise DataError(f"{at(name, row)}: missing value (NaN)", hint=_MISSING_HINT)
    raise DataError(
        f"{at(name, row)}: {value} is not finite", hint="replace it by a number inside the bounds"
    )


def _scalars(values: Iterable[object], name: str) -> list[Level]:
    scalars: list[Level] = []
    for row, given in enumerate(values):
        value = python_scalar(given)
        if not isinstance(value, str | int | float):
            if value is None or type(value).__name__ in ("NAType", "NaTType"):
                raise DataError(f"{at(name, row)}: missing value", hint=_MISSING_HINT)
            raise DataError(
                f"{at(name, row)}: {shown(given)} is neither text, number nor boolean",
                hint="turn the column into numbers or text, or leave it out (exclude=)",
            )
        if isinstance(value, float) and not math.isfinite(value):
            _refuse_not_finite(value, name, row)
        scalars.append(value)
    return scalars
