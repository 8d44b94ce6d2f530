"""Forests made of stored trees, which are written by hand: every row goes where the library's rules send it.

Also rows next to thresholds, with missing values, and between categories.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from likewise.families.trees.body import LEAF
from likewise.importers.lightgbm import model_file as lightgbm_file
from likewise.importers.lightgbm.answers import raw_scores
from likewise.importers.lightgbm.forest import import_lightgbm
from likewise.importers.xgboost import model_file as xgboost_file
from likewise.importers.xgboost.answers import margins
from likewise.importers.xgboost.forest import base_margins, import_xgboost

NEAR_ZERO = lightgbm_file.NEAR_ZERO


def exact_scores(forest, row):
    """The scores of a row, as the module of forests says it."""
    total = list(forest.bias)
    for tree in forest.trees:
        node, limits = 0, forest.limits(tree.threshold)
        while (column := int(tree.column[node])) != LEAF:
            value, missing_left = row[column], bool(tree.missing_left[node])
            if node in tree.categories:
                left = forest.category_goes_left(
                    column, value, tree.categories[node], missing_left=missing_left
                )
            else:
                left = missing_left if math.isnan(value) else value <= limits[node]
            node = node + 1 if left else int(tree.right[node])
        total = [
            score + tree.factor * Fraction(value)
            for score, value in zip(total, tree.values[node].tolist(), strict=True)
        ]
    return total


def around(*places):
    """These numbers and the doubles next to them, and some far away."""
    near = [np.nextafter(place, to) for place in places for to in (-np.inf, np.inf)]
    return [math.nan, -9.0, *places, *map(float, near), 9.0]


def rows_of(numbers, categories):
    return np.array(list(itertools.product(numbers, categories)))


def allowed_error(model):
    """What the stated operations let the program be off by."""
    largest = sum(abs(float(tree.factor)) * np.abs(tree.values).max() for tree in model.forest.trees)
    largest += max(abs(float(score)) for score in model.forest.bias)
    return ((1 + Fraction(1, 2**model.bits)) ** model.operations - 1) * Fraction(largest)


def assert_goes_the_same_way(model, rows, program):
    off = []
    for row, said in zip(rows.tolist(), program, strict=True):
        exact = exact_scores(model.forest, row)
        off += [abs(Fraction(float(s)) - e) for s, e in zip(said, exact, strict=True)]
    assert max(off) <= allowed_error(model)
    return max(off)


# -- XGBoost ----------------------------------------------------------------------------------------------

TENTH = float(np.float32(0.1))


def xgboost_model(objective, base, groups, weights=None):
    """Trees that test a number, and the chosen categories 1 and 3 of another column, which go right."""

    def tree(shift):
        return xgboost_file.StoredTree(
            left=np.array([1, 3, 5, -1, -1, -1, -1]),
            right=np.array([2, 4, 6, -1, -1, -1, -1]),
            column=np.array([0, 1, 0, 0, 0, 0, 0]),
            condition=np.array([TENTH, 0, 2.5, 0.3 + shift, -1.1, 2.7, 4.9], dtype=np.float32),
            default_left=np.array([shift > 0, shift == 0, False, False, False, False, False]),
            chosen={1: frozenset({1, 3})},
        )

    return xgboost_file.StoredXGBoost(
        version=(3, 1),
        objective=objective,
        base_score=tuple(map(np.float32, base)),
        n_columns=2,
        names=None,
        types=None,
        levels={},
        encodings=(),
        cut={},
        trees=tuple(tree(n / 7) for n in range(len(groups))),
        groups=tuple(groups),
        weights=weights,
        trees_a_round=len(base),
        n_scores=len(base),
        best_iteration=None,
        estimator=None,
    )


XGBOOST_ROWS = rows_of(
    [*around(TENTH, 2.5), 0.1, float(np.nextafter(np.float32(TENTH), np.float32(0)))],
    [math.nan, -1.0, -0.5, 0.0, 0.5, 1.0, 1.9, 3.0, 4.0, 2.0**24],
)


@pytest.mark.parametrize(
    ("objective", "base", "groups"),
    [
        ("binary:logistic", [0.3], [0, 0, 0]),
        ("reg:squarederror", [0.3], [0, 0]),
        ("multi:softprob", [0.5, 0.25, 0.125], [0, 1, 2, 0, 1, 2]),
    ],
)
def test_rows_go_where_xgboost_sends_them(objective, base, groups):
    stored = xgboost_model(objective, base, groups)
    model = import_xgboost(stored, family="XGBoost", kind=None)
    said = margins(stored, XGBOOST_ROWS)
    off = assert_goes_the_same_way(model, XGBOOST_ROWS, said)
    assert off > Fraction(1, 2**40)  # the program adds up in single precision


def test_where_xgboost_starts():
    (margin,) = base_margins(xgboost_model("binary:logistic", [0.3], [0]))
    assert margin == pytest.approx(math.log(0.3 / 0.7), rel=1e-6)
    (margin,) = base_margins(xgboost_model("count:poisson", [0.3], [0]))
    assert margin == pytest.approx(math.log(0.3), rel=1e-6)
    raw = xgboost_model("binary:logitraw", [0.25], [0])
    bias = [import_xgboost(raw, family="XGBoost", kind=kind).forest.bias for kind in (None, "classifier")]
    assert bias == [(Fraction(1, 4),), (Fraction(-1, 4),)]  # a classifier compares the margin with 1/2


# -- LightGBM ---------------------------------------------------------------------------------------------

NONE, ZERO, NAN = lightgbm_file.MISSING_NONE, lightgbm_file.MISSING_ZERO, lightgbm_file.MISSING_NAN


def lightgbm_model(threshold, missing, default_left, averaged=False, objective="multiclass", n_scores=2):
    """Two rounds of trees that test a number, and then the categories 0 and 2 of another column."""

    def tree(n):
        return lightgbm_file.StoredTree(
            left=np.array([1, -1]),
            right=np.array([-3, -2]),
            column=np.array([0, 1]),
            threshold=np.array([threshold, 0.0]),
            default_left=np.array([default_left, False]),
            missing=np.array([missing, NAN]),
            chosen={1: frozenset({0, 2})},
            leaves=np.array([1.5 + n, -0.3, 8.1 * n + 5]),
        )

    return lightgbm_file.StoredLightGBM(
        objective=objective,
        settings={},
        n_scores=n_scores,
        averaged=averaged,
        names=("number", "category"),
        levels={},
        infos=("none", "none"),
        rivals={},
        trees=tuple(map(tree, range(2 * n_scores))),
    )


CATEGORIES = [math.nan, -3.0, -1.0, -0.5, 0.0, 0.9, 1.0, 2.0, 2.5, 2.0**31]


@pytest.mark.parametrize(
    ("threshold", "missing", "default_left"),
    [
        (0.0, NONE, False),  # NaN is taken for 0, which goes left
        (-1e-36, NONE, False),
        (1e-36, NONE, False),
        (-0.5, NONE, True),
        (2.0, NAN, False),
        (2.0, NAN, True),
        (0.0, NAN, False),
        (0.0, ZERO, True),
        (0.0, ZERO, False),  # zero itself is missing and goes right, what is below it left
        (-1e-36, ZERO, True),
        (3.0, ZERO, True),
    ],
)
def test_rows_go_where_lightgbm_sends_them(threshold, missing, default_left):
    rows = rows_of(around(threshold, 0.0, NEAR_ZERO, -NEAR_ZERO), CATEGORIES)
    for averaged in (False, True):
        stored = lightgbm_model(threshold, missing, default_left, averaged)
        model = import_lightgbm(stored, family="LightGBM", kind=None)
        assert_goes_the_same_way(model, rows, raw_scores(stored, rows))
