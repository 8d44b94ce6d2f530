"""Kernels and polynomials under constraints between features: the best pairs lie on a constraint, where they have to be found."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC, SVR

import likewise as lw

SPACE = lw.Space({"a": lw.Continuous(0, 10), "b": lw.Integer(0, 3), "c": lw.Categorical([0, 1, 2])})
HALF_PLANES = SPACE.where("a + 2*b <= 8").where("a >= b + c")
MODELS = {
    "rbf": lambda: SVC(gamma=0.1),
    "polynomial": lambda: SVC(kernel="poly", degree=2, gamma=0.1, coef0=1, C=0.5),
}


def fitted(name, seed=0):
    random = np.random.default_rng(seed)
    rows = pd.DataFrame(
        {
            "a": random.uniform(0, 10, 24).round(1),
            "b": random.integers(0, 4, 24),
            "c": random.integers(0, 3, 24),
        }
    )
    score = 0.3 * rows.a - 0.5 * rows.b + 0.6 * rows.c * (rows.b > 1) + random.normal(0, 0.7, 24)
    return MODELS[name]().fit(rows, score > np.median(score))


def gap_on_a_grid(model):
    """The largest gap of scores along `a`, for every valid b and c, by the model's own scores."""
    best = 0.0
    for b, c in itertools.product(range(4), range(3)):
        a = np.linspace(b + c, 8 - 2 * b, 801) if b + c <= 8 - 2 * b else np.empty(0)
        if len(a):
            scores = model.decision_function(pd.DataFrame({"a": a, "b": b, "c": c}))
            best = max(best, np.ptp(scores))
    return best


@pytest.mark.parametrize("name", MODELS)
def test_the_largest_gap_along_constraints_is_found_in_few_cells(name):
    model = fitted(name)
    gap = gap_on_a_grid(model)
    found = lw.measure(model, HALF_PLANES, lw.Similarity(free=["a"]), tolerance=0.01, budget=20)
    assert found.upper - found.lower <= 0.01 + 1e-9
    assert found.lower - 1e-3 <= gap <= found.upper + 1e-9
    assert found.stats["cells"] <= 1000
    for share, verdict in ((0.99, "BIASED"), (1.01, "FAIR")):
        claim = lw.ScoreGap(float(gap * share))
        result = lw.verify(model, HALF_PLANES, lw.Similarity(free=["a"]), claim, budget=20)
        assert result.verdict == verdict
        assert result.stats["cells"] <= 1000


@pytest.mark.parametrize("name", MODELS)
def test_cells_are_cut_where_an_equality_excludes_their_highest_points(name):
    model, a, best = fitted(name, 1), np.arange(0, 9.0001, 0.01), 0.0
    for b, c in ((0, 2), (1, 1), (2, 0)):
        low, high = (model.decision_function(pd.DataFrame({"a": a + d, "b": b, "c": c})) for d in (0, 1))
        best = max(best, np.abs(high - low).max())
    space = SPACE.where("b + c == 2")
    found = lw.measure(model, space, lw.Similarity(within={"a": 1}), tolerance=0.01, budget=20)
    assert found.upper - found.lower <= 0.01 + 1e-9
    assert best <= found.upper + 1e-9
    assert found.stats["cells"] <= 200


def test_an_equality_that_leaves_nothing_to_differ():
    """Its polynomial is 0 on the cell that is left, which sums of squares have to take."""
    space = lw.Space({"a": lw.Integer(0, 7), "b": lw.Integer(10, 17)})
    rows = pd.DataFrame(itertools.product(range(8), range(10, 18)), columns=["a", "b"])
    model = SVR(kernel="poly", gamma=1, coef0=0).fit(rows / 8, rows.a * rows.b / 8 - rows.b)
    similar = lw.Similarity(free=["b"])
    result = lw.verify(model, space.where("b == 13"), similar, lw.ScoreGap(0.0), budget=20)
    assert result.verdict == "FAIR"
