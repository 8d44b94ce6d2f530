"""Columns kept or left out: feature selectors, and imputers, which leave alone what is there.

SimpleImputer passes on what is there, less the columns that it never saw a value of; the columns of `add_indicator` and those
of MissingIndicator are zero for it. What it puts in place of a missing number is left to who takes missing numbers: that is one value
more, computed by the imputer itself. Levels of which one is missing become a table, and so does a column of an imputer that is told to
take some other value for missing (`missing_values=-1`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from likewise.importers.transformers.tracing import (
    UNCHANGED,
    Constant,
    Derived,
    Step,
    Tabulated,
    Traced,
)
from likewise.spec.features import Continuous, Integer, is_missing

ZERO = Constant(Fraction(0))
REPLACED = Tabulated(does="puts another value in place of the one that stands for missing")
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


def selected(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:
    """The columns that a fitted selector keeps."""
    kept = np.asarray(transformer.get_support(), dtype=bool)
    if len(kept) != len(columns):
        step.refuse(f"selects from {len(kept)} columns, but gets {len(columns)}", hint="fit it again")
    return [Derived(int(i)) for i in np.flatnonzero(kept)]


def imputed(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:
    """The columns themselves, then the indicators."""
    kept = list(range(len(columns)))
    if not transformer.keep_empty_features:
        kept = [i for i in kept if not is_missing(transformer.statistics_[i])]
    given = [Derived(i, REPLACED if _replaces(transformer, columns[i]) else UNCHANGED) for i in kept]
    return given + (indicated(transformer.indicator_, columns, step) if transformer.add_indicator else [])


def indicated(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:  # noqa: ARG001
    """Which values are missing: no number that is there."""
    return [
        Derived(int(i), REPLACED if _replaces(transformer, columns[i]) else ZERO)
        for i in transformer.features_
    ]


def _replaces(transformer: Any, column: Traced) -> bool:
    """Whether a value that a table must have is taken for missing: a level that is, or a number that stands for it."""
    levels = not isinstance(column.feature, (Continuous, Integer))
    return (levels and column.feature.missing) or _stands_for_missing(transformer, column)


def _stands_for_missing(transformer: Any, column: Traced) -> bool:
    """Whether the value taken for missing may be one that the column has."""
    value = transformer.missing_values
    if is_missing(value):
        return False
    if column.values is not None:
        return value in column.values
    if column.untouched and isinstance(column.feature, (Continuous, Integer)):
        return isinstance(value, (int, float)) and bool(column.feature.lo <= value <= column.feature.hi)
    return True


HANDLERS = {**dict.fromkeys(SELECTORS, selected), "SimpleImputer": imputed, "MissingIndicator": indicated}
