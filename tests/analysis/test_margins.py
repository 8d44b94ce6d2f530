"""The curve of the largest gap over the tolerances: against everybody, and what brackets say of each other."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.analysis.margins import Margin, _tighten_brackets, margins

SPACE = lw.Space({"age": lw.Integer(0, 9), "wage": lw.Integer(0, 3), "sex": lw.Categorical([0, 1])})


def model(weights, intercept):
    X = pd.DataFrame({"age": [1, 2, 3, 4], "wage": [0, 1, 2, 3], "sex": [0, 1, 0, 1]})
    made = LogisticRegression().fit(X, [0, 0, 1, 1])
    made.coef_, made.intercept_ = np.array([weights]), np.array([intercept])
    return made


def everybody(made, of, factor, free):
    """The largest gap, or margin of different decisions, over all pairs of a similarity with age within 2 and wage within 1."""
    rows = list(itertools.product(range(10), range(4), (0, 1)))
    scores = made.decision_function(pd.DataFrame(rows, columns=["age", "wage", "sex"]))
    best = -np.inf
    for (a, first), (b, second) in itertools.product(zip(rows, scores, strict=True), repeat=2):
        if (
            abs(a[0] - b[0]) > int(2 * factor)
            or abs(a[1] - b[1]) > int(factor)
            or (a[2] != b[2] and not free)
        ):
            continue
        best = max(best, first - second if of == "score" else min(first, -second))
    return best


@pytest.mark.parametrize("of", ["score", "margin"])
@pytest.mark.parametrize("free", [True, False])
def test_every_bracket_holds(of, free):
    made = model([0.5, -0.75, 0.25], -1.3)
    similar = lw.Similarity(free=["sex"] if free else [], within={"age": 2, "wage": 1})
    found = margins(made, SPACE, similar, of=of, budget=30)
    assert [point.factor for point in found.points] == (
        [0, 0.5, 1, 2, 4] if free or of == "score" else [0.5, 1, 2, 4]
    )
    for point in found.points:
        true = everybody(made, of, point.factor, free)
        assert point.lower - 1e-9 <= true <= point.upper + 1e-9
        assert point.upper - point.lower <= 1e-5


def test_factors_that_tell_nothing_new_are_left_out():
    """Half of a whole step is none, and beyond the whole domain nothing changes."""
    found = margins(model([0.5, -0.75, 0.25], -1.3), SPACE, lw.Similarity(within={"wage": 1}), budget=10)
    assert [point.factor for point in found.points] == [0, 1, 2, 3]


def test_brackets_speak_of_each_other_and_proofs_stay():
    given = [
        Margin(factor=0, lower=0.2, upper=9.0, proved=True),
        Margin(factor=1, lower=0.1, upper=5.0, proved=False),
        Margin(factor=2, lower=0.4, upper=7.0, proved=True),
    ]
    assert [(one.lower, one.upper, one.proved) for one in _tighten_brackets(given)] == [
        (0.2, 7.0, True),
        (0.2, 5.0, False),
        (0.4, 7.0, True),
    ]
