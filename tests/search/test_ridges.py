"""Climbing to the very top: of a vote whose members are widest apart where both of their scores are balanced, which a formula knows."""

import math

import numpy as np
import pytest
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from tests.posing import posed

import likewise as lw
from likewise.analysis import disparity_problem
from likewise.analysis.disparity_search import RIDGE_SHARE
from likewise.search.falsification import climb_ridges, find_deepest

SIMILAR = lw.Similarity(free=["sex"])
NUMBERS = {"age": lw.Continuous(-1e3, 1e3), "income": lw.Continuous(-1e3, 1e3)}
WHOLE = {"age": lw.Integer(-60, 60), "income": lw.Integer(-60, 60)}


def member(weights, bias):
    model = LogisticRegression()
    model.classes_, model.n_features_in_ = np.array([0, 1]), 3
    model.coef_, model.intercept_ = np.array([weights]), np.array([bias])
    return model


def vote(first, second):
    """Two members."""
    chosen = VotingClassifier([("one", first), ("two", second)], voting="soft")
    rows = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    chosen.fit(rows, [0, 1])
    chosen.estimators_ = [first, second]
    return chosen


def sigma(t):
    return 1 / (1 + math.exp(-t))


def gap_at(model, row):
    return sum(
        sigma(one.coef_[0] @ [*row, 1.0] + one.intercept_[0])
        - sigma(one.coef_[0] @ [*row, 0.0] + one.intercept_[0])
        for one in model.estimators_
    ) / len(model.estimators_)


def test_fine_steps_lead_to_where_all_members_are_widest_apart():
    """Within some units of a range of two thousand, one each of age and of income."""
    model = vote(member([0.2, 0.0, 2.0], 31.7), member([0.0, 0.3, 1.0], -0.71))
    highest = sum(2 * sigma(one.coef_[0][2] / 2) - 1 for one in model.estimators_) / 2
    space = lw.Space({**NUMBERS, "sex": lw.Integer(0, 1)})
    task = posed(model, space, SIMILAR, lw.ProbabilityGap(0.1)).task
    witness = find_deepest(task)
    assert witness is not None
    assert highest - 1e-9 < gap_at(model, witness.x[:2]) <= highest + 1e-12
    found = lw.measure(model, space, SIMILAR, of="probability", budget=60)
    assert found.lower <= highest <= found.upper
    assert found.upper - found.lower < 2e-6


def test_two_features_at_a_time_find_the_best_of_all_whole_numbers():
    model = vote(member([0.31, 0.37, 2.0], 0.117), member([0.29, -0.43, 1.5], -0.071))
    space = lw.Space({**WHOLE, "sex": lw.Integer(0, 1)})
    best = max(gap_at(model, (age, income)) for age in range(-60, 61) for income in range(-60, 61))
    witness = climb_ridges(posed(model, space, SIMILAR, lw.ProbabilityGap(0.1)).task, 60)
    assert witness is not None
    assert gap_at(model, witness.x[:2]) == pytest.approx(best, abs=1e-12)


def test_looks_for_better_pairs_take_a_share_of_the_time(monkeypatch):
    given = []
    monkeypatch.setattr(
        disparity_problem, "climb_ridges", lambda task, seconds: given.append((task.budget.elapsed, seconds))
    )
    random = np.random.default_rng(0)
    rows = random.uniform(-2, 2, (80, 3))
    model = SVC(gamma=1.0).fit(rows, np.sin(3 * rows).sum(axis=1) > 0)
    space = lw.Space(dict.fromkeys(["a", "b", "c"], lw.Continuous(-2, 2)))
    lw.measure(model, space, lw.Similarity(free=["a"]), tolerance=0.01, budget=60)
    assert len(given) > 1
    assert all(seconds < RIDGE_SHARE * elapsed for elapsed, seconds in given)
