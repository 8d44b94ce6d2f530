"""Rows with some columns set to fixed values, in the kind of frame or array that they came in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def with_setting(
    rows: Any, features: Sequence[Any], setting: Sequence[Any], names: Sequence[str] | None
) -> Any:
    """The rows with `features` (names of columns, or places) set; `names` are those of an array's columns, if it has any."""
    if len(features) != len(setting):
        raise ValueError(f"a setting has {len(setting)} values for {len(features)} features")
    if not features:
        return rows
    if hasattr(rows, "columns"):
        return _set_frame_columns(rows, [_column_name(rows, feature) for feature in features], setting)
    if hasattr(rows, "tocsr"):
        raise TypeError("columns of sparse rows are not set: pass a frame or an array")
    return _set_array_columns(
        np.asarray(rows), [_column_place(feature, names) for feature in features], setting
    )


def _set_frame_columns(frame: Any, names: Sequence[Any], setting: Sequence[Any]) -> Any:
    if hasattr(frame, "iloc"):
        settled = frame.copy(deep=False)
        for name, value in zip(names, setting, strict=True):
            settled[name] = _constant_series(frame[name], value)
        return settled
    import narwhals.stable.v2 as nw

    columns = [nw.lit(value).alias(name) for name, value in zip(names, setting, strict=True)]
    return nw.to_native(nw.from_native(frame).with_columns(*columns))


def _constant_series(column: Any, value: Any) -> Any:
    """A pandas column of this value; one of categories keeps them, and has the value as one more if it is none of them."""
    kind = column.dtype
    categories = getattr(kind, "categories", None)
    if categories is None:
        return type(column)([value] * len(column), index=column.index)
    if value is not None and value not in categories:
        kind = type(kind)([*categories, value])
    return type(column)([value] * len(column), index=column.index, dtype=kind)


def _set_array_columns(array: Any, places: Sequence[int], setting: Sequence[Any]) -> Any:
    words = any(isinstance(value, str) for value in setting)
    if words and array.dtype.kind != "O":
        array = array.astype(object)
    elif array.dtype.kind in "biu":
        array = array.astype(np.float64)
    else:
        array = array.copy()
    for place, value in zip(places, setting, strict=True):
        array[:, place] = value
    return array


def _column_name(frame: Any, feature: Any) -> Any:
    return feature if isinstance(feature, str) else list(frame.columns)[int(feature)]


def _column_place(feature: Any, names: Sequence[str] | None) -> int:
    if not isinstance(feature, str):
        return int(feature)
    if names is None:
        raise ValueError(f"the column {feature!r} cannot be told in an array: the model knows no names")
    return list(names).index(feature)
