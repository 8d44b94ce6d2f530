"""Claims that scores change no faster than a metric, beside looking at every pair in exact arithmetic."""

import io
import warnings
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import VotingRegressor
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

import likewise as lw
from likewise import check
from likewise.problem import make_claim, prepare
from likewise.run import Run
from likewise.search.budget import Budget
from likewise.spec.allowance import Allowance
from likewise.spec.numbers import double_above, double_below
from likewise.verifying.posed_problem import pose

LEVELS = ["x", "y", "z"]
SPACE = lw.Space({"a": lw.Integer(0, 3), "b": lw.Categorical(LEVELS), "c": lw.Integer(0, 2)})
RANDOM = np.random.default_rng(3)
X = pd.DataFrame(
    {"a": RANDOM.integers(0, 4, 120), "b": RANDOM.choice(LEVELS, 120), "c": RANDOM.integers(0, 3, 120)}
)
Y = np.sin(2 * X.a) + 0.7 * (X.b == "y") * X.c - 0.4 * X.a * (X.b == "z")
COSTS = {("x", "y"): "1/2", ("x", "z"): 2, ("y", "z"): 1}
METRICS = {
    "l1": lw.Metric("l1", weights={"a": "1/3"}, costs={"b": COSTS}),
    "l2": lw.Metric("l2", weights={"a": 1}, costs={"b": 1}),
    "linf": lw.Metric("linf", weights={"a": "1/2"}, costs={"b": COSTS}),
    "matrix": lw.Mahalanobis([[2, 0.5, 0], [0.5, 1, 0], [0, 0, 1]], ["a", ("b", "y"), ("b", "z")]),
}


def behind_columns(estimator):
    encoder = make_column_transformer((OneHotEncoder(), ["b"]), remainder="passthrough")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return make_pipeline(encoder, estimator).fit(X, Y)


FAMILIES = {
    "linear": LinearRegression(),
    "polynomial": SVR(kernel="poly", degree=2, coef0=1, gamma=0.4),
    "rbf": SVR(gamma=0.4),
    "trees": DecisionTreeRegressor(max_depth=4, random_state=0),
    "network": MLPRegressor(hidden_layer_sizes=(4,), max_iter=60, random_state=0),
    "sum": VotingRegressor(
        [("tree", DecisionTreeRegressor(max_depth=3, random_state=0)), ("line", LinearRegression())]
    ),
}


def everybody(claimed):
    """All pairs of the claim with the least constant that each of them leaves, enclosed: (ends, x, other)."""
    run = Run(budget=Budget(60))
    problem = prepare(claimed, run)
    posed = pose(problem, run)
    people = [tuple(map(Fraction, codes)) for codes in product(range(4), range(3), range(3))]
    scores = {codes: posed.task.oracles.enclose(codes, 128)[0] for codes in people}
    unit = Allowance(
        constant=Fraction(1),
        norm=problem.allowance.norm,
        costs=problem.allowance.costs,
        forms=problem.allowance.forms,
    )
    slack = Fraction(claimed.property.slack)
    for x, other in product(people, people):
        if x != other and posed.pairs.valid(x, other):
            near, far = unit.ends(x, other)
            gap = scores[x].lo - scores[other].hi - slack, scores[x].hi - scores[other].lo - slack
            yield gap, (near, far), x, other


def least_constant(claimed):
    """The least constant of all pairs, between two numbers; None where some pair is at no distance and breaks it."""
    lower = upper = Fraction(0)
    for (low, high), (near, far), _, _ in everybody(claimed):
        if near == 0:
            if low > 0:
                return None
            continue
        lower, upper = max(lower, low / far), max(upper, high / near)
    return lower, upper


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("family", FAMILIES)
def test_the_verdict_is_that_of_looking_at_everybody(family, metric):
    model = behind_columns(FAMILIES[family])
    claim = lw.Lipschitz(1, METRICS[metric], slack=0.01 if metric == "matrix" else 0)
    found = least_constant(make_claim(model, SPACE, claim))
    if found is None:
        assert lw.verify(model, SPACE, lw.Lipschitz(1e6, METRICS[metric]), X=X).verdict == "BIASED"
        return
    lower, upper = found
    above, below = double_above(upper * Fraction(1001, 1000)), double_below(lower * Fraction(999, 1000))
    fair = lw.verify(model, SPACE, lw.Lipschitz(above, claim.metric, slack=claim.slack), X=X)
    assert (fair.verdict, fair.reason) == ("FAIR", None)
    report = check(io.BytesIO(fair.certificate.content))
    assert report.accepted
    biased = lw.verify(model, SPACE, lw.Lipschitz(below, claim.metric, slack=claim.slack), X=X)
    assert biased.verdict == "BIASED"
    assert below < biased.bounds[0] <= double_above(upper)
