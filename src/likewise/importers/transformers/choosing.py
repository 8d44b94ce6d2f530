"""Columns kept or left out: feature selectors, and imputers, which leave alone what is there.

Individuals of a space have no missing values, so SimpleImputer passes its columns on, less those that it
never saw a value of; the columns of `add_indicator` are zero. An imputer that is told to take some other
value for missing (`missing_values=-1`) puts another in its place: a table.
"""

from __future__ import annotations

import math
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
from likewise.spec.features import Continuous, Integer

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


def imputed(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:  # noqa: ARG001
    """The columns themselves, then the indicators."""
    kept = list(range(len(columns)))
    if not transformer.keep_empty_features:
        kept = [i for i in kept if not _is_missing(transformer.statistics_[i])]
    given = [
        Derived(i, REPLACED if _stands_for_missing(transformer, columns[i]) else UNCHANGED) for i in kept
    ]
    if not transformer.add_indicator:
        return given
    return given + [
        Derived(int(i), REPLACED if _stands_for_missing(transformer, columns[i]) else ZERO)
        for i in transformer.indicator_.features_
    ]


def _stands_for_missing(transformer: Any, column: Traced) -> bool:
    """Whether the value taken for missing may be one that the column has."""
    value = transformer.missing_values
    if _is_missing(value):
        return False
    if column.values is not None:
        return value in column.values
    if column.untouched and isinstance(column.feature, (Continuous, Integer)):
        return isinstance(value, (int, float)) and bool(column.feature.lo <= value <= column.feature.hi)
    return True


def _is_missing(value: Any) -> bool:
    return (
        value is None or type(value).__name__ == "NAType" or (isinstance(value, float) and math.isnan(value))
    )


HANDLERS = {**dict.fromkeys(SELECTORS, selected), "SimpleImputer": imputed}
