"""Columns kept or left out: feature selectors, and imputers, which leave alone what is there.

SimpleImputer fills its columns, less those that it never saw a value of; where a feature cannot be missing it passes them on, and
the columns of `add_indicator` and of MissingIndicator are zero. An imputer that is told to take some other value for missing
(`missing_values=-1`) puts another in its place: a table.

KNNImputer and IterativeImputer fill a gap from the other columns. Where nothing can be missing they leave columns as they are; else they are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from likewise.importers.transformers.traced_columns import (
    UNCHANGED,
    Action,
    Constant,
    DerivedColumn,
    FillMissing,
    Step,
    TableFunction,
    TracedColumn,
)
from likewise.spec.features import Continuous, Integer, is_missing
from likewise.spec.numbers import python_scalar

ZERO = Constant(Fraction(0))
REPLACE_MARKER = TableFunction(does="puts another value in place of the one that stands for missing")
MARK_MISSING = TableFunction(does="marks missing values", marks=True)
SELECTORS = (
    "SelectKBest",
    "SelectPercentile",
    "SelectFpr",
    "SelectFdr",
    "SelectFwe",
    "GenericUnivariateSelect",
    "VarianceThreshold",
    "SelectFromModel",
    "RFE",
    "RFECV",
    "SequentialFeatureSelector",
)


def select_columns(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """The columns that a fitted selector keeps."""
    kept = np.asarray(transformer.get_support(), dtype=bool)
    if len(kept) != len(columns):
        step.refuse(f"selects from {len(kept)} columns, but gets {len(columns)}", hint="fit it again")
    return [DerivedColumn(int(i)) for i in np.flatnonzero(kept)]


def impute_columns(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:  # noqa: ARG001
    """The columns themselves, then the indicators."""
    kept = list(range(len(columns)))
    if not transformer.keep_empty_features:
        kept = [i for i in kept if not is_missing(python_scalar(transformer.statistics_[i]))]
    given = [DerivedColumn(i, _fill_action(transformer, i, columns[i])) for i in kept]
    if not transformer.add_indicator:
        return given
    return given + mark_missing(transformer.indicator_, columns)


def _fill_action(transformer: Any, place: int, column: TracedColumn) -> Action:
    if _stands_for_missing(transformer, column):
        return REPLACE_MARKER
    if not column.feature.missing:
        return UNCHANGED
    value = python_scalar(transformer.statistics_[place])
    return FillMissing(value) if isinstance(value, str | int | float) else REPLACE_MARKER


def pass_complete_columns(
    transformer: Any, columns: Sequence[TracedColumn], step: Step
) -> list[DerivedColumn]:
    """The columns of an imputer that looks at several of them, where nothing can be missing."""
    for column in columns:
        if _stands_for_missing(transformer, column) or (column.feature.missing and column.fill is None):
            step.refuse(
                f"fills a gap from the other columns, and {column.name!r} may be missing",
                hint="use SimpleImputer, which fills each column with one number of its own",
            )
    if step.kind == "KNNImputer":
        seen = np.asarray(transformer._valid_mask, dtype=bool)
    else:
        seen = np.array([not is_missing(one) for one in transformer.initial_imputer_.statistics_.tolist()])
    if transformer.keep_empty_features and not seen.all():
        step.refuse(
            f"never saw a value of {columns[int(np.argmin(seen))].name!r}", hint="leave that column out"
        )
    given = [DerivedColumn(int(i)) for i in np.flatnonzero(seen)]
    return given + mark_missing(transformer.indicator_, columns) if transformer.add_indicator else given


def indicate_missing(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:  # noqa: ARG001
    """A column for each one in which values were missing, or for each."""
    return mark_missing(transformer, columns)


def mark_missing(indicator: Any, columns: Sequence[TracedColumn]) -> list[DerivedColumn]:
    """What a fitted MissingIndicator gives; once a column is filled, nothing is missing from it."""
    made = []
    for i in map(int, indicator.features_):
        column = columns[i]
        absent = column.feature.missing and column.fill is None
        made.append(
            DerivedColumn(i, MARK_MISSING if absent or _stands_for_missing(indicator, column) else ZERO)
        )
    return made


def _stands_for_missing(transformer: Any, column: TracedColumn) -> bool:
    """Whether the value taken for missing may be one that the column has."""
    value = transformer.missing_values
    if is_missing(python_scalar(value)):
        return False
    if column.values is not None:
        return value in column.values
    if column.untouched and isinstance(column.feature, (Continuous, Integer)):
        return isinstance(value, (int, float)) and bool(column.feature.lo <= value <= column.feature.hi)
    return True


HANDLERS = {
    **dict.fromkeys(SELECTORS, select_columns),
    "SimpleImputer": impute_columns,
    **dict.fromkeys(("KNNImputer", "IterativeImputer"), pass_complete_columns),
    "MissingIndicator": indicate_missing,
}
