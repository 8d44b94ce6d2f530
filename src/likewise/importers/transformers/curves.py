"""Curves: smooth functions of one number that are no lines. Their tables hold what the program computes.

FunctionTransformer    numpy's functions of one number, given as such; numpy.negative and no function at all are
                       arithmetic, and numpy.float32 and the like casts (`casts`). Anything else is code that cannot be read. Monotone ones are taken of continuous numbers as
                       well (`monotone`).
PowerTransformer, QuantileTransformer     one column for each; monotone, so that they are taken of continuous numbers too (`fitted_curves`)
SplineTransformer      as many columns for each as it has splines; of continuous numbers in pieces (`apply_splines`)
PolynomialFeatures     of degree 1: the columns themselves, and a constant one (others: `importers.mixing`)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from likewise.importers.transformers.casts import find_cast
from likewise.importers.transformers.fitted_curves import fitted_power, fitted_quantiles
from likewise.importers.transformers.splines import spline_basis
from likewise.importers.transformers.traced_columns import (
    UNCHANGED,
    Action,
    Arithmetic,
    Constant,
    DerivedColumn,
    Operation,
    Step,
    TableFunction,
    TracedColumn,
    exact_parameter,
    listable_values,
    require_number,
)
from likewise.spec.features import Continuous
from likewise.spec.pieces import MOST_COEFFICIENTS

# What IEEE 754 rounds correctly, and what is as good as the machine's library.
REPRODUCIBLE_FUNCTIONS = (
    "sqrt",
    "square",
    "absolute",
    "fabs",
    "sign",
    "floor",
    "ceil",
    "rint",
    "trunc",
    "reciprocal",
)
LIBRARY_FUNCTIONS = (
    *("log", "log1p", "log2", "log10", "exp", "expm1", "exp2", "cbrt", "sin", "cos", "tan"),
    *("arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh"),
)
KNOWN_FUNCTIONS: dict[np.ufunc, Action] = {
    **{
        getattr(np, name): TableFunction(
            does=f"takes numpy.{name} of numbers",
            settled=name in REPRODUCIBLE_FUNCTIONS,
            function=getattr(np, name),
        )
        for name in (*REPRODUCIBLE_FUNCTIONS, *LIBRARY_FUNCTIONS)
    },
    np.negative: Arithmetic((Operation("times", Fraction(-1)),)),
    np.positive: UNCHANGED,
}
ONE = Constant(Fraction(1))
POWER_CURVE = TableFunction(does="bends numbers towards a bell curve", settled=False)
QUANTILE_CURVE = TableFunction(does="puts quantiles in place of numbers", settled=False)
SPLINE_CURVE = TableFunction(does="puts splines in place of numbers", settled=False)
HIGHEST_DEGREE = MOST_COEFFICIENTS - 1


def apply_function(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """A known function of every column."""
    func = transformer.func
    if func is None:
        return [DerivedColumn(i) for i in range(len(columns))]
    cast = find_cast(transformer, step)
    if cast is not None:
        for column in columns:
            require_number(column, step)
        return [DerivedColumn(i, cast) for i in range(len(columns))]
    if not isinstance(func, np.ufunc) or func not in KNOWN_FUNCTIONS:
        name = getattr(func, "__name__", type(func).__name__)
        shown = "a lambda" if name == "<lambda>" else f"the function {name!r}"
        step.refuse(
            f"calls {shown}, which may do anything to any column",
            hint="to cast numbers, use FunctionTransformer(numpy.float32) or (numpy.float64); functions that are known, as in "
            f"FunctionTransformer(numpy.log1p): {', '.join(_function_names())}",
        )
    if transformer.kw_args:
        step.refuse(
            f"calls numpy.{func.__name__} with further arguments", hint="fit it again without kw_args"
        )
    for column in columns:
        require_number(column, step)
        _check_whole_numbers(func, column, step)
    return [DerivedColumn(i, KNOWN_FUNCTIONS[func]) for i in range(len(columns))]


def _function_names() -> list[str]:
    return sorted(func.__name__ for func in KNOWN_FUNCTIONS)


def _check_whole_numbers(func: np.ufunc, column: TracedColumn, step: Step) -> None:
    """numpy calculates otherwise with whole numbers (1 // x, overflow): then the frame's dtype would decide."""
    values = [value for value in column.values or () if value is not None]
    if not values or not all(isinstance(value, int) for value in values):
        return
    whole = np.array(list(values), dtype=np.int64)
    with np.errstate(all="ignore"):
        counted, floating = np.asarray(func(whole), dtype=np.float64), func(whole.astype(np.float64))
    same = (counted == floating) | (np.isnan(counted) & np.isnan(floating))
    if not same.all():
        step.refuse(
            f"gives {column.name!r} other results as whole numbers than as floats, at {whole[~same][0]} for one",
            hint=f"declare {column.name!r} with floats, Ordinal([1.0, 2.0, ...]), if the model is asked with floats",
        )


def apply_fitted_curve(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """One column for each."""
    for column in columns:
        require_number(column, step)
    if step.kind == "PowerTransformer":
        found = [
            replace(POWER_CURVE, function=fitted_power(transformer, i, step)) for i in range(len(columns))
        ]
    else:
        found = [
            replace(QUANTILE_CURVE, function=fitted_quantiles(transformer, i, step))
            for i in range(len(columns))
        ]
    return [DerivedColumn(i, action) for i, action in enumerate(found)]


def apply_splines(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """Equally many columns for each."""
    for column in columns:
        require_number(column, step)
    count = transformer.n_features_out_ // max(len(columns), 1)
    return [
        DerivedColumn(i, action)
        for i, column in enumerate(columns)
        for action in (
            _exact_splines(transformer, i, column, step)[:count]
            if _needs_splines(column)
            else [SPLINE_CURVE] * count
        )
    ]


def _needs_splines(column: TracedColumn) -> bool:
    """Whether the splines of a column are needed as functions: nothing else has to know more than that they are some."""
    return column.line is not None and column.curve is None and listable_values(column.feature) is None


def _exact_splines(transformer: Any, place: int, column: TracedColumn, step: Step) -> list[TableFunction]:
    """The splines of a continuous column, exactly."""
    degree, extrapolation = int(transformer.degree), transformer.extrapolation
    knots = [float(exact_parameter(knot, step)) for knot in transformer.bsplines_[place].t]
    count = len(knots) - degree - 1
    if degree > HIGHEST_DEGREE:
        step.refuse(
            f"has splines of degree {degree}, and {column.name!r} is continuous",
            hint=f"the highest degree that is taken there is {HIGHEST_DEGREE}",
        )
    if extrapolation == "periodic":
        step.refuse(
            f"repeats its splines periodically, and {column.name!r} is continuous",
            hint='fit it with extrapolation="constant", "linear" or "continue"',
        )
    if extrapolation == "linear" and degree <= 1 and place > 0:
        step.refuse(  # scikit-learn counts the degree up from one column to the next, and takes other knots for the ends
            f"extrapolates {column.name!r}, its column {place}, otherwise than the first one",
            hint='fit it with degree=2 or 3 or extrapolation="constant", or with one SplineTransformer a column',
        )
    if any(late <= early for early, late in pairwise(knots)):
        step.refuse(
            f"has two equal knots for {column.name!r}", hint="fit it with fewer knots, or knots='uniform'"
        )
    if extrapolation == "error":
        _check_inside(column, knots[degree], knots[count], step)
        extrapolation = "continue"
    if degree == 0:
        places = [one for knot in knots for one in (knot, float(np.nextafter(knot, np.inf)))]
        return [replace(SPLINE_CURVE, settled=True, thresholds=tuple(places))] * count
    return [replace(SPLINE_CURVE, spline=one) for one in spline_basis(knots, degree, extrapolation)]


def _check_inside(column: TracedColumn, lo: float, hi: float, step: Step) -> None:
    feature, line = column.feature, column.line
    if not isinstance(feature, Continuous) or line is None:
        return
    reached = [line.computed(float(end)) for end in (feature.lo, feature.hi)]
    if min(reached) < lo or max(reached) > hi:
        step.refuse(
            f"fails beyond its knots, and the space has values of {column.name!r} there",
            hint=f'narrow the bounds of {column.name!r}, or fit it with extrapolation="constant"',
        )


def pass_degree_one(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """The columns themselves, where the degree is 1."""
    given = np.asarray(transformer.powers_)
    if given.sum(axis=1).max(initial=0) > 1:
        step.refuse(
            "multiplies columns with each other or with themselves",
            hint="use degree=1; higher degrees are taken in front of linear models",
        )
    for column in columns:
        require_number(column, step)
    return [DerivedColumn(int(row.argmax()), UNCHANGED if row.any() else ONE) for row in given]


HANDLERS = {
    "FunctionTransformer": apply_function,
    "PowerTransformer": apply_fitted_curve,
    "QuantileTransformer": apply_fitted_curve,
    "SplineTransformer": apply_splines,
    "PolynomialFeatures": pass_degree_one,
}
