"""Markers: None and NaN both stand for missing, and an encoder tells one from the other.

Which of them rows come with is seen from the user's own. Where these do not say (no rows, none that is missing, both
sorts), the fitted preprocessing is asked with either, and must give the same. Where they do, an encoder that was fitted on
the other one refuses them (`encoders`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import LikewiseError, UnsupportedModel
from likewise.importers.transformers.encoders import marker_name
from likewise.importers.transformers.traced_columns import CAST, Step, TracedColumn, derive_column, raw_column
from likewise.spec.features import Categorical, Ordinal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.inputs import Inputs

MARKERS = (None, np.nan)
ROWS = Step(path=("the rows",), kind="single precision")


def raw_columns(inputs: Inputs) -> tuple[TracedColumn, ...]:
    """The features as they stand in the user's frame, in the estimator's order, with what stands for missing ones."""
    space = inputs.space
    made = (
        raw_column(space.names.index(name), name, space[name], marker=_marker(inputs, name))
        for name in inputs.columns
    )
    return tuple(derive_column(one, CAST, ROWS) if one.name in inputs.single else one for one in made)


def _marker(inputs: Inputs, name: str) -> str | None:
    """What stands for a missing level in rows like the user's own; None where those do not tell, and for pandas' NA, which comes
    in columns of its own dtypes and which programs turn into NaN. A null among polars' numbers comes to programs as NaN, too."""
    space, given = inputs.space, inputs.recoding.given
    feature = space[name]
    if not isinstance(feature, (Categorical, Ordinal)) or not feature.missing or given[name] != feature:
        return None
    if not _is_marker_known(inputs.like, name):
        return None
    row = np.array([[float(given[other].code_range[0]) for other in given.names]])
    row[0, given.names.index(name)] = feature.missing_code
    made = inputs.of_raw(row)
    value = made[0, inputs.columns.index(name)] if isinstance(made, np.ndarray) else np.asarray(made[name])[0]
    return None if value is not None and not isinstance(value, float) else marker_name(value)


def check_markers(
    inputs: Inputs, codes: NDArray[np.float64], transformed: Callable[[Any], NDArray[np.float64]]
) -> None:
    """Refuse where it makes a difference how a missing level is written, and the rows do not tell which way it is."""
    for k, name in enumerate(inputs.space.names):
        feature = inputs.space[name]
        if (
            not isinstance(feature, (Categorical, Ordinal))
            or not feature.missing
            or _is_marker_known(inputs.like, name)
        ):
            continue
        rows = codes[:1].copy()
        rows[0, k] = feature.missing_code
        if name not in inputs.columns or not _markers_differ(inputs, rows, name, transformed):
            continue
        raise UnsupportedModel(
            f"the preprocessing tells None from NaN in {name!r}, and no row says which of them stands for missing",
            hint=f"pass rows as X in which {name!r} is missing, in the way that it is when the model is used",
        )


def _is_marker_known(like: Any, name: str) -> bool:
    """Whether the user's rows have missing values of one sort in this column."""
    if like is None or name not in getattr(like, "columns", ()) or not hasattr(like[name], "isna"):
        return like is not None and not hasattr(
            like, "isna"
        )  # other libraries than pandas have one sort only
    absent = list(like[name][like[name].isna()])
    return len({type(value) for value in absent}) == 1


def _markers_differ(
    inputs: Inputs,
    rows: NDArray[np.float64],
    name: str,
    transformed: Callable[[Any], NDArray[np.float64]],
) -> bool:
    """Whether the two markers give different columns, or one of them fails."""
    made: list[list[float | None] | None] = []
    for marker in MARKERS:
        given = inputs.of(rows)
        place = inputs.columns.index(name)
        if isinstance(given, np.ndarray):
            if given.dtype != object:
                return False
            given[:, place] = marker
        elif hasattr(given, "isna") and given[name].dtype.kind != "f":
            given = given.assign(**{name: type(given[name])([marker], index=given.index, dtype=object)})
        else:
            return False
        try:
            made.append([None if np.isnan(value) else value for value in transformed(given)[0].tolist()])
        except LikewiseError:
            made.append(None)
    return made[0] != made[1]
