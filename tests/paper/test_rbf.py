"""Find-Bias-Rbf: its programs solved right, what it finds, and what it misses."""

import itertools

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC, SVR

import likewise as lw
from likewise import paper
from likewise.errors import UnsupportedModel
from likewise.paper import Answer
from likewise.paper.cases import make_cases
from likewise.paper.prepare import oriented_score, prepare_problem
from likewise.paper.rbf import Surrogate
from likewise.paper.training import SPLIT, matrices

SPACE = lw.Space({"a": lw.Integer(0, 9), "b": lw.Continuous(0, 1), "sex": lw.Integer(0, 2)})


def rows(seed, count=60):
    random = np.random.default_rng(seed)
    return np.stack(
        [random.integers(0, 10, count), random.uniform(0, 1, count), random.integers(0, 3, count)], axis=1
    ).astype(float)


def fitted(seed, effect, gamma=0.5):
    X = rows(seed)
    y = (X[:, 0] + 3 * X[:, 1] + effect * X[:, 2] > 6).astype(int)
    return SVC(C=10, gamma=gamma).fit(X, y)


def objective(surrogate, k, x, other):
    high, low = surrogate.high, surrogate.low
    return high.total * (x - high.mean[k]) ** 2 + low.total * (other - low.mean[k]) ** 2


@pytest.mark.draw(5)
@pytest.mark.parametrize("reach", [0.0, 0.3, 1.0, np.inf])
@pytest.mark.parametrize("seed", range(5))
def test_no_point_of_a_grid_beats_the_closed_form(seed, reach):
    prepared = prepare_problem(fitted(seed, 4), SPACE, lw.Similarity(free=["sex"]), None)
    surrogate = Surrogate(prepared, oriented_score(prepared))
    random = np.random.default_rng(seed)
    lo, lo2 = random.uniform(0, 6, (2, 20))
    if reach == 0:
        lo2 = lo
    hi, hi2 = lo + random.uniform(0, 3, 20), lo2 + random.uniform(0, 3, 20)
    if reach == 0:
        hi2 = hi
    x, other = surrogate._feature(0, reach, lo, hi, lo2, hi2)
    for i in range(20):
        grid = [
            (u, v)
            for u, v in itertools.product(np.linspace(lo[i], hi[i], 25), np.linspace(lo2[i], hi2[i], 25))
            if abs(u - v) <= reach + 1e-12
        ]
        if not grid:
            continue
        assert lo[i] - 1e-9 <= x[i] <= hi[i] + 1e-9
        assert lo2[i] - 1e-9 <= other[i] <= hi2[i] + 1e-9
        assert abs(x[i] - other[i]) <= reach + 1e-9
        best = min(objective(surrogate, 0, u, v) for u, v in grid)
        assert objective(surrogate, 0, x[i], other[i]) <= best + 1e-9


def test_every_program_is_counted_and_candidates_are_individuals():
    prepared = prepare_problem(fitted(0, 4), SPACE, lw.Similarity(free=["sex"]), None)
    surrogate = Surrogate(prepared, oriented_score(prepared))
    cases = make_cases(prepared.pairs, None, ())
    solved = 0
    for case in cases:
        for count, x, other in surrogate.minimisers(case):
            solved += count
            for side in (x, other):
                assert np.array_equal(side[:, [0, 2]], np.round(side[:, [0, 2]]))
                assert ((side >= [0, 0, 0]) & (side <= [9, 1, 2])).all()
            assert np.array_equal(x[:, :2], other[:, :2])
    assert solved == len(cases) * surrogate.count


@pytest.mark.draw(2)
@pytest.mark.parametrize("seed", range(4))
def test_planted_bias_is_found_and_replayed(seed):
    model = fitted(seed, 4, gamma=0.05)
    finding = paper.find_bias_rbf(model, SPACE, lw.Similarity(free=["sex"]))
    assert finding.answer == Answer.BIASED
    first, second = model.predict(finding.pair[list(SPACE.names)].to_numpy())
    assert first != second
    assert (first, second) == finding.decisions


def test_a_fair_model_is_not_found_and_that_is_no_verdict():
    """One class far away: every decision is the same."""
    space = SPACE.replace(a=lw.Integer(0, 1))
    model = fitted(0, 0)
    assert set(model.predict(rows(1) * [0.1, 0.5, 1])) == {0}
    finding = paper.find_bias_rbf(model, space, lw.Similarity(free=["sex"]))
    assert finding.answer == Answer.NOT_FOUND
    assert "says nothing" in finding.meaning


def test_a_biased_masked_model_is_missed():
    """CR_Rbf2 of the paper, which calls it fair."""
    data = lw.datasets.load_credit(coded=True)
    X, y = matrices(data, masked=True)
    train, _, labels, _ = train_test_split(X, y, stratify=y, **SPLIT)
    model = SVC(C=1.0, gamma=0.5).fit(train, labels)
    similar = lw.Similarity(free=data.protected)
    for intercept in (True, False):
        missed = paper.find_bias_rbf(model, data.space, similar, X=data.X, intercept=intercept)
        assert missed.answer == Answer.NOT_FOUND
    assert lw.verify(model, data.space, similar, X=data.X).verdict == "BIASED"


def test_the_meta_algorithm_hands_kernels_over():
    model = fitted(0, 4, gamma=0.05)
    finding = paper.verify_individual_bias(model, SPACE, lw.Similarity(free=["sex"]))
    assert (finding.algorithm, finding.answer) == ("Find-Bias-Rbf", Answer.BIASED)


def test_a_regression_is_searched_for_a_gap():
    X = rows(0)
    model = SVR(C=10, gamma=0.1).fit(X, X[:, 0] + 4 * X[:, 2])
    similar = lw.Similarity(free=["sex"], within={"a": 1})
    finding = paper.find_bias_rbf(model, SPACE, similar, lw.ScoreGap(2))
    assert finding.answer == Answer.BIASED
    assert finding.scores[0] - finding.scores[1] > 2


def test_other_models_are_refused():
    X = rows(0)
    model = LogisticRegression().fit(X, X[:, 0] > 4)
    with pytest.raises(UnsupportedModel, match="RBF kernels"):
        paper.find_bias_rbf(model, SPACE, lw.Similarity(free=["sex"]))


def test_the_budget_ends_it():
    finding = paper.find_bias_rbf(fitted(0, 0), SPACE, lw.Similarity(free=["sex"]), budget=1e-9)
    assert finding.answer in (Answer.NO_ANSWER, Answer.BIASED)
