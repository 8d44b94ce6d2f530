"""Calibrated folds around classifiers that show a probability, which is the logistic function of a score, and no score: read as scikit-learn answers, on and beside every threshold, and decided as brute force over a small space has it."""

import io
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.preprocessing import StandardScaler
from tests.conformance.test_ensembles import (
    EVERYBODY,
    PAIRS,
    SPACE,
    X,
    behind,
    fitted,
    network,
    verdict,
    widest,
)

import likewise as lw
from likewise.families.scored_model import Scores
from likewise.families.sums.chains import Chain
from likewise.importers.imported_model import import_model

Y = (
    X.a + 2 * X.b + (X.job == "x") + 0.7 * (X.sex == "m") + np.random.default_rng(1).normal(0, 0.8, len(X))
    > 3
).astype(int)
SINGLE = 2e-6  # what a program in single precision may be off by, times what steep tables make of it


def xgboost():
    return pytest.importorskip("xgboost").XGBClassifier(n_estimators=4, max_depth=2, n_jobs=1)


def catboost():
    return pytest.importorskip("catboost").CatBoostClassifier(
        iterations=4, depth=2, verbose=0, random_seed=0, thread_count=1, allow_writing_files=False
    )


def folds(inside, method="sigmoid", **more):
    return CalibratedClassifierCV(behind(inside), cv=2, method=method, **more)


MODELS = {
    "xgboost": lambda: folds(xgboost()),
    "isotonic xgboost": lambda: folds(xgboost(), "isotonic"),
    "catboost": lambda: folds(catboost()),
    "bayes": lambda: folds(GaussianNB(var_smoothing=0.1)),
    "isotonic bayes": lambda: folds(GaussianNB(var_smoothing=0.1), "isotonic"),
    "bernoulli": lambda: folds(BernoulliNB(binarize=0.5)),
    "network": lambda: folds(network()),
    "isotonic network": lambda: folds(network().set_params(alpha=1.0), "isotonic"),
    "a vote of it": lambda: VotingClassifier(
        [("a", folds(xgboost())), ("b", behind(LogisticRegression()))], voting="soft", weights=[2, 1]
    ),
    "a bag of it": lambda: behind(
        BaggingClassifier(CalibratedClassifierCV(GaussianNB(var_smoothing=0.1), cv=2), 2, random_state=0)
    ),
    "a stack of it": lambda: StackingClassifier(
        [("a", folds(GaussianNB(var_smoothing=0.1), "isotonic"))], cv=2
    ),
    "a threshold around it": lambda: FixedThresholdClassifier(folds(xgboost()), threshold=0.4),
}


LONG = ("network", "a bag of it")  # to prove
IN_SINGLE = ("xgboost", "isotonic xgboost", "a vote of it")


def read(model, space=SPACE, rows=X):
    return import_model(model, space, rows=space.encode(rows), like=rows)


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", MODELS)
def test_probabilities_and_decisions_are_those_of_the_program(name):
    model = fitted(MODELS[name](), Y)
    imported = read(model)
    assert any(isinstance(part.link, Chain) for part in imported.model.bodies[0].parts)
    scores = Scores(imported.model, len(SPACE))
    codes = imported.recoding.coded(SPACE.encode(EVERYBODY))
    exact = [[one.middle for one in scores.enclose([Fraction(c) for c in row], 96)] for row in codes.tolist()]
    assert [imported.model.head.decide(row) for row in exact] == model.predict(EVERYBODY).tolist()
    if imported.model.head.n_scores == 2:
        ours = np.array(exact, dtype=float)
        assert np.abs(ours - model.predict_proba(EVERYBODY)).max() < (SINGLE if name in IN_SINGLE else 1e-9)


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in MODELS]
)
def test_verdicts_and_gaps_are_those_of_brute_force(name):
    model = fitted(MODELS[name](), Y)
    labels = model.predict(EVERYBODY)
    differ = any(labels[i] != labels[j] for i, j in PAIRS)
    assert verdict(model, lw.SameDecision()) == ("BIASED" if differ else "FAIR")
    if name in ("a threshold around it", "a stack of it"):
        return
    gap = widest(model.predict_proba(EVERYBODY)[:, 1])
    assert verdict(model, lw.ProbabilityGap(gap + 1e-3)) == "FAIR"
    assert verdict(model, lw.ProbabilityGap(gap - 1e-3)) == "BIASED"


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["xgboost", "isotonic bayes"])
def test_what_is_measured_is_the_widest_gap(name):
    model = fitted(MODELS[name](), Y)
    found = lw.measure(
        model, SPACE, lw.Similarity(free=["sex"], within={"a": 1}), of="probability", X=X, budget=60
    )
    gap = widest(model.predict_proba(EVERYBODY)[:, 1])
    assert found.lower - 1e-5 <= gap <= found.upper + 1e-5
    assert found.upper - found.lower < 1e-4


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ["xgboost", "isotonic xgboost", "bayes"])
def test_a_planted_bias_is_found_and_what_never_sees_the_sex_is_fair(name, monkeypatch):
    similar, taught = lw.Similarity(free=["sex"]), (X.a + 3 * (X.sex == "m") > 2.5).astype(int)
    seeing = lw.verify(fitted(MODELS[name](), taught), SPACE, similar, X=X, budget=60)
    assert seeing.verdict == "BIASED"
    first, second = fitted(MODELS[name](), taught).predict(seeing.pair)
    assert first != second
    blind = make_column_transformer((StandardScaler(), ["a", "b"]))
    monkeypatch.setattr("tests.conformance.test_ensembles.prepared", lambda: blind)
    unseeing = lw.verify(fitted(MODELS[name](), Y), SPACE, similar, lw.ProbabilityGap(0), X=X, budget=60)
    assert unseeing.verdict == "FAIR"
    assert lw.check(io.BytesIO(unseeing.certificate.content)).accepted


# -- on and beside thresholds -------------------------------------------------------------------------------------------

WIDE = lw.Space({"u": lw.Continuous(-2, 2), "v": lw.Continuous(-2, 2)})
RANDOM = np.random.default_rng(3)
ROWS = pd.DataFrame(RANDOM.uniform(-2, 2, (160, 2)), columns=["u", "v"])
SIDE = (ROWS.u + ROWS.v + RANDOM.normal(0, 0.7, len(ROWS)) > 0).astype(int)


def beside(places):
    """The places, in double and single precision, and one step to either side of each."""
    places = np.concatenate([places, places.astype(np.float32).astype(float)])
    found = np.concatenate([places, np.nextafter(places, -np.inf), np.nextafter(places, np.inf)])
    return np.unique(found[(found >= -2) & (found <= 2)])


@pytest.mark.draw(1)
@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
@pytest.mark.parametrize("make", [xgboost, catboost, GaussianNB])
def test_rows_on_and_beside_thresholds(make, method):
    model = CalibratedClassifierCV(make(), cv=3, method=method).fit(ROWS, SIDE)
    imported = read(model, WIDE, ROWS)
    tests = [np.zeros(1)]
    for part in imported.model.bodies[0].parts:
        if part.body.family == "trees":
            tests += [tree.threshold[tree.feature >= 0] for tree in part.body.ensemble.trees]
    places = beside(np.unique(np.concatenate(tests)))
    rows = np.stack([RANDOM.permutation(places), RANDOM.permutation(places)], axis=1)
    frame = pd.DataFrame(rows, columns=["u", "v"])
    scores = Scores(imported.model, 2)
    exact = [[one.middle for one in scores.enclose([Fraction(c) for c in row], 96)] for row in rows.tolist()]
    theirs = model.predict_proba(frame)
    off = np.abs(np.array(exact, dtype=float) - theirs)
    allowed = np.array(
        [[float(e) for e in part.rounding.errors(part, rows)] for part in imported.model.rounding.parts]
    ).T
    assert (off <= allowed).all()
    assert np.median(off) < 1e-6
    sure = np.abs(theirs[:, 1] - 0.5) > 1e-6
    decided = np.array([imported.model.head.decide(row) for row in exact])
    assert (decided == model.predict(frame))[sure].all()
    assert sure.mean() > 0.9
    if (bound := imported.program.error) is not None:
        assert off.max() <= float(bound)


# -- the other way round ------------------------------------------------------------------------------------------------


@pytest.mark.some_days
def test_a_calibration_that_falls_is_turned_round():
    model = fitted(folds(GaussianNB(var_smoothing=0.1)), Y)
    for found in model.calibrated_classifiers_:
        found.calibrators[0].a_ = -found.calibrators[0].a_
    imported = read(model)
    codes = SPACE.encode(EVERYBODY)
    exact = [
        Scores(imported.model, len(SPACE)).enclose([Fraction(c) for c in row], 96)[1]
        for row in codes.tolist()
    ]
    assert np.allclose([float(one.middle) for one in exact], model.predict_proba(EVERYBODY)[:, 1], atol=1e-12)
    gap = widest(model.predict_proba(EVERYBODY)[:, 1])
    assert verdict(model, lw.ProbabilityGap(gap + 1e-3)) == "FAIR"
    assert verdict(model, lw.ProbabilityGap(gap - 1e-3)) == "BIASED"


def test_three_classes_and_what_is_calibrated_twice_are_refused():
    three = np.digitize(X.a + X.b, [1, 3])
    with pytest.raises(lw.UnsupportedModel, match="of 3 classes"):
        read(fitted(folds(GaussianNB()), three))
    twice = CalibratedClassifierCV(folds(xgboost()), cv=2)
    with pytest.raises(lw.UnsupportedModel, match="added up again") as error:
        read(fitted(twice, Y))
    assert error.value.hint


# -- one classifier -----------------------------------------------------------------------------------------------------

ONE = {
    "xgboost": lambda: folds(xgboost(), ensemble=False),
    "isotonic xgboost": lambda: folds(xgboost(), "isotonic", ensemble=False),
    "isotonic line": lambda: folds(LogisticRegression(), "isotonic", ensemble=False),
    "network": lambda: folds(network().set_params(alpha=1.0), ensemble=False),
    "vote": lambda: VotingClassifier(
        [("a", folds(GaussianNB(var_smoothing=0.1), ensemble=False)), ("b", behind(LogisticRegression()))],
        voting="soft",
    ),
}


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", ONE)
def test_gaps_of_one_calibration_are_those_of_brute_force(name):
    model = fitted(ONE[name](), Y)
    gap = widest(model.predict_proba(EVERYBODY)[:, 1])
    assert verdict(model, lw.ProbabilityGap(gap + 1e-3)) == "FAIR"
    assert verdict(model, lw.ProbabilityGap(gap - 1e-3)) == "BIASED"
    labels = model.predict(EVERYBODY)
    differ = any(labels[i] != labels[j] for i, j in PAIRS)
    assert verdict(model, lw.SameDecision()) == ("BIASED" if differ else "FAIR")


def test_one_calibration_is_measured():
    model = fitted(ONE["isotonic line"](), Y)
    similar = lw.Similarity(free=["sex"], within={"a": 1})
    found = lw.measure(model, SPACE, similar, of="probability", X=X, budget=60)
    assert found.lower - 1e-9 <= widest(model.predict_proba(EVERYBODY)[:, 1]) <= found.upper + 1e-9
    assert found.upper - found.lower < 1e-4


def test_decisions_of_one_calibration_stay_those_of_the_score_inside():
    """Which are read as trees, exactly; hard votes count them."""
    model = fitted(ONE["xgboost"](), Y)
    assert read(model).model.body.family == "trees"
    assert (
        import_model(model, SPACE, rows=SPACE.encode(X), like=X, probable=True).model.bodies[0].family
        == "sums"
    )
    votes = VotingClassifier([("a", folds(xgboost(), ensemble=False)), ("b", behind(LogisticRegression()))])
    labels = fitted(votes, Y).predict(EVERYBODY)
    differ = any(labels[i] != labels[j] for i, j in PAIRS)
    assert verdict(votes, lw.SameDecision()) == ("BIASED" if differ else "FAIR")


def test_a_threshold_around_one_calibration_compares_its_probability():
    model = fitted(FixedThresholdClassifier(ONE["isotonic xgboost"](), threshold=0.3), Y)
    labels = model.predict(EVERYBODY)
    differ = any(labels[i] != labels[j] for i, j in PAIRS)
    assert verdict(model, lw.SameDecision()) == ("BIASED" if differ else "FAIR")
