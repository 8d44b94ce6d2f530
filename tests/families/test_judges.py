"""Judges: float64 scores are as close to the exact ones as their error says, whatever the scale of the numbers."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from flint import arb, ctx
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.svm import SVC

import likewise as lw
from likewise.families.combined.body import CombinedScore
from likewise.families.combined.judge import CombinedJudge
from likewise.families.exponential import ABSOLUTE_ERROR, RELATIVE_ERROR, exp_minus
from likewise.families.judge import Judge, softmax_scores
from likewise.families.registry import score_judge_of
from likewise.families.score_judge import cross_settings
from likewise.families.scored_model import Scores, only_score
from likewise.families.trees.body import LEAF, Tree, TreeScore, TreeSum
from likewise.importers.imported_model import import_model
from likewise.model.head import softmax_ball
from likewise.repaired.estimators import SettledClassifier

SPACE = lw.Space(
    {
        "a": lw.Integer(0, 9),
        "b": lw.Continuous(-3, 1000),
        "c": lw.Categorical([0, 1, 2]),
        "d": lw.Continuous(0, 1),
    }
)


def rows(count, seed=0):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "a": random.integers(0, 10, count),
            "b": random.uniform(-3, 1000, count),
            "c": random.integers(0, 3, count),
            "d": random.uniform(0, 1, count),
        }
    )


MODELS = {
    "linear": lambda: LogisticRegression(max_iter=2000),
    "scaled linear": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "bins": lambda: make_pipeline(
        KBinsDiscretizer(4, encode="onehot-dense", strategy="uniform"), LogisticRegression()
    ),
    "splines": lambda: make_pipeline(
        SplineTransformer(n_knots=4, extrapolation="constant"), LogisticRegression()
    ),
    "rbf": lambda: make_pipeline(StandardScaler(), SVC(gamma=0.3)),
    "rbf, raw": lambda: SVC(gamma=1e-4),
    "polynomial": lambda: make_pipeline(StandardScaler(), SVC(kernel="poly", degree=3, coef0=1)),
    "polynomial, raw": lambda: SVC(kernel="poly", degree=2, gamma=1e-3),
    "products": lambda: make_pipeline(StandardScaler(), PolynomialFeatures(2), LogisticRegression()),
}


@pytest.mark.parametrize("name", MODELS)
def test_scores_are_within_their_error(name):
    X = rows(120)
    model = MODELS[name]().fit(X, (X["a"] + X["c"] * X["d"] * 5 + X["b"] / 200) > 8)
    codes = SPACE.encode(X)
    score = only_score(import_model(model, SPACE, rows=codes, like=X).model, len(SPACE))
    judge = score_judge_of(score)
    settings = np.array([[0.0, 0.25], [1.0, 0.5], [2.0, 0.75]])
    found = judge.cross(codes[:40], (2, 3), settings)
    values, error = (part.ravel() for part in np.broadcast_arrays(found.values, found.error))
    assert error.max() < 1e-7 * (1 + np.abs(values).max())
    for row, value, off in zip(cross_settings(codes[:40], (2, 3), settings), values, error, strict=True):
        exact = judge.enclose([Fraction(c) for c in row.tolist()], 256)
        assert abs(Fraction(value) - exact.lo) <= Fraction(off)
        assert abs(Fraction(value) - exact.hi) <= Fraction(off)


COMBINED = [("linear", "max"), ("rbf", "mean"), ("rbf", "min"), ("polynomial, raw", "max")]


@pytest.mark.parametrize(("name", "how"), COMBINED)
def test_combined_scores_are_within_their_error(name, how):
    X = rows(120)
    inside = MODELS[name]().fit(X, (X["a"] + X["c"] * X["d"] * 5 + X["b"] / 200) > 8)
    model = SettledClassifier(
        inside, ["c"], [(0,), (1,), (2,)], [1, 2, 4], how=how, keep=0.3 if how == "mean" else 0.0
    )
    codes = SPACE.encode(X)[:12]
    score = only_score(import_model(model, SPACE, rows=codes, like=X).model, len(SPACE))
    found = (
        CombinedJudge(score).cross(codes, (3,), np.array([[0.25], [0.5]]))
        if isinstance(score, CombinedScore)
        else None
    )
    assert found is not None
    placed = cross_settings(codes, (3,), np.array([[0.25], [0.5]]))
    error = np.repeat(found.error, 2, axis=1).ravel()
    assert error.max() < 1e-7 * (1 + np.abs(found.values).max())
    for row, value, off in zip(placed, found.values.ravel(), error, strict=True):
        exact = score.enclose([Fraction(c) for c in row.tolist()], 256)
        assert max(abs(Fraction(value) - exact.lo), abs(Fraction(value) - exact.hi)) <= Fraction(off)


@pytest.mark.parametrize("scale", [1, 200])
@pytest.mark.parametrize(
    "make",
    [
        lambda: make_pipeline(StandardScaler(), LogisticRegression()),
        lambda: GradientBoostingClassifier(n_estimators=5),
    ],
)
def test_scores_and_probabilities_of_classes_are_within_their_error(make, scale):
    X = rows(150)
    model = make().fit(X, np.digitize(X["a"] + X["b"] / 200, [5, 9]))
    if not isinstance(model, GradientBoostingClassifier):
        model[-1].coef_ *= scale
    codes = SPACE.encode(X)
    score = Scores(import_model(model, SPACE, rows=codes, like=X).model, len(SPACE))
    settings = np.array([[0.0], [2.0]])
    scores = Judge(score.parts).cross(codes[:15], (2,), settings)
    chances = softmax_scores(scores)
    assert chances.error.max() < 1e-6
    for n, row in enumerate(cross_settings(codes[:15], (2,), settings)):
        exact = score.enclose([Fraction(c) for c in row.tolist()], 128)
        for c in range(3):
            value, off = scores.values[n // 2, n % 2, c], scores.error[n // 2, c]
            assert abs(Fraction(value) - exact[c].lo) <= Fraction(off)
            with ctx.workprec(300):
                gap = abs(arb(float(chances.values[n // 2, n % 2, c])) - softmax_ball(exact, c))
                assert gap <= arb(float(chances.error[n // 2, c]))


def test_the_exponential_is_as_close_as_proved():
    random = np.random.default_rng(0)
    z = np.concatenate([random.uniform(0, 708, 500), 10 ** random.uniform(-20, 2.5, 500), [0.0, 708.0, 1e9]])
    with ctx.workprec(300):
        for at, value in zip(z.tolist(), exp_minus(z).tolist(), strict=True):
            true = (-arb(at)).exp()
            assert abs(arb(value) - true) <= RELATIVE_ERROR * true + ABSOLUTE_ERROR


def test_parameters_beyond_all_doubles_have_no_finite_error():
    from likewise.families.separable import SeparableJudge
    from likewise.spec.terms import Separable, Term

    judge = SeparableJudge(Separable(bias=Fraction(0), terms=(Term(slope=Fraction(10) ** 400),)))
    assert np.isinf(judge.cross(np.array([[1e-300]]), (), np.empty((1, 0))).error).all()


def ensemble(seed, count=30):
    """A form of random trees of two scores."""
    random = np.random.default_rng(seed)
    trees = tuple(stump(random) for _ in range(count))
    body = TreeSum(bias=(Fraction(0.3), Fraction(-0.1)), trees=trees, missing={})
    return TreeScore(body=body, alpha=(Fraction(1), Fraction(-1, 3)))


def stump(random):
    return Tree(
        feature=np.array([random.integers(4), LEAF, LEAF], dtype=np.int32),
        threshold=np.array([random.uniform(0, 1), 0.0, 0.0]),
        levels={},
        missing_left=np.zeros(3, dtype=bool),
        right=np.array([2, 0, 0], dtype=np.int32),
        values=np.concatenate(
            [np.zeros((1, 2)), random.normal(size=(2, 2)) * 10.0 ** random.integers(-3, 4)]
        ),
        factor=Fraction(1, 7),
    )


def test_sums_of_leaves_are_within_their_error():
    score = ensemble(0)
    judge = score_judge_of(score)
    codes = np.random.default_rng(1).uniform(0, 1, (30, 4))
    settings = np.array([[0.2], [0.9]])
    found = judge.cross(codes, (1,), settings)
    for row, value, off in zip(
        cross_settings(codes, (1,), settings),
        found.values.ravel(),
        np.repeat(found.error, 2, axis=1).ravel(),
        strict=True,
    ):
        exact = score.enclose([Fraction(c) for c in row.tolist()], 64).lo
        assert abs(Fraction(value) - exact) <= Fraction(off)
        assert off < 1e-9
    assert not judge.depends(9)
