"""Ensembles and stacks: read as their own programs answer, and decided as brute force over a space of 48 individuals has it."""

import io
import itertools
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
    VotingRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from likewise.families.scored_model import Scores
from likewise.importers.imported_model import import_model

SPACE = lw.Space(
    {
        "a": lw.Integer(0, 3),
        "b": lw.Integer(0, 1),
        "job": lw.Categorical(["x", "y", "z"]),
        "sex": lw.Categorical(["f", "m"]),
    }
)
SIMILAR = lw.Similarity(free=["sex"], within={"a": 1})
EVERYBODY = pd.DataFrame(
    list(itertools.product(range(4), range(2), ["x", "y", "z"], ["f", "m"])), columns=["a", "b", "job", "sex"]
)
X = pd.concat([EVERYBODY] * 3, ignore_index=True)
RANDOM = np.random.default_rng(1)
TARGET = X.a + 2 * X.b + (X.job == "x") + 0.7 * (X.sex == "m") + RANDOM.normal(0, 0.8, len(X))
LABELS = np.where(TARGET > 3, "yes", "no")
THREE = np.array(["low", "middle", "high"])[np.digitize(TARGET, [2, 4])]


def prepared():
    return make_column_transformer((OneHotEncoder(), ["job", "sex"]), (StandardScaler(), ["a", "b"]))


def behind(model):
    return make_pipeline(prepared(), model)


def logistic():
    return LogisticRegression()


def network():
    return MLPClassifier((3,), solver="lbfgs", max_iter=60, random_state=0)


def forest(n=4):
    return RandomForestClassifier(n, max_depth=3, random_state=0)


CLASSIFIERS = {
    "soft votes": lambda: behind(
        VotingClassifier([("a", logistic()), ("b", forest())], voting="soft", weights=[2, 1])
    ),
    "soft votes of pipelines": lambda: VotingClassifier(
        [
            ("a", behind(logistic())),
            ("b", behind(GradientBoostingClassifier(n_estimators=4, max_depth=2))),
            ("c", make_pipeline(make_column_transformer((StandardScaler(), ["a", "b"])), logistic())),
        ],
        voting="soft",
    ),
    "soft votes of forests": lambda: behind(
        VotingClassifier([("a", ExtraTreesClassifier(3, max_depth=3)), ("b", forest())], voting="soft")
    ),
    "hard votes": lambda: behind(
        VotingClassifier([("a", logistic()), ("b", LinearSVC()), ("c", DecisionTreeClassifier(max_depth=3))])
    ),
    "bag": lambda: behind(BaggingClassifier(logistic(), 3, max_features=0.7, random_state=0)),
    "bag of boosters": lambda: behind(
        BaggingClassifier(HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=5), 2, random_state=0)
    ),
    "bag of votes": lambda: behind(BaggingClassifier(LinearSVC(), 3, random_state=0)),
    "boosted votes": lambda: behind(AdaBoostClassifier(logistic(), n_estimators=3)),
    "boosted forests": lambda: behind(AdaBoostClassifier(forest(2), n_estimators=2)),
    "stack": lambda: behind(StackingClassifier([("a", logistic()), ("b", forest())], cv=2)),
    "stack with columns": lambda: behind(
        StackingClassifier([("a", LinearSVC()), ("b", forest())], cv=2, passthrough=True)
    ),
    "calibrated folds": lambda: CalibratedClassifierCV(behind(logistic()), cv=2),
    "calibrated folds of forests": lambda: CalibratedClassifierCV(behind(forest()), cv=2),
    "isotonic folds": lambda: CalibratedClassifierCV(behind(LinearSVC()), cv=2, method="isotonic"),
    "one against one": lambda: behind(OneVsOneClassifier(logistic())),
    "one against one, forests": lambda: behind(OneVsOneClassifier(forest())),
    "one against the rest, forests": lambda: behind(OneVsRestClassifier(forest())),
    "one against the rest, boosters": lambda: behind(
        OneVsRestClassifier(GradientBoostingClassifier(n_estimators=3, max_depth=2))
    ),
    "codes": lambda: behind(OutputCodeClassifier(logistic(), code_size=2, random_state=1)),
    "codes of forests": lambda: behind(OutputCodeClassifier(forest(), code_size=2, random_state=1)),
    "votes with a network": lambda: behind(
        VotingClassifier([("a", network()), ("b", logistic()), ("c", forest())], voting="soft")
    ),
    "votes with products": lambda: VotingClassifier(
        [("a", make_pipeline(prepared(), PolynomialFeatures(2), logistic())), ("b", behind(forest()))],
        voting="soft",
    ),
}
THREE_CLASSES = {
    "one against the rest, forests": lambda: behind(OneVsRestClassifier(forest())),
    "one against the rest, boosters": lambda: behind(
        OneVsRestClassifier(GradientBoostingClassifier(n_estimators=3, max_depth=2))
    ),
    "codes": lambda: behind(OutputCodeClassifier(logistic(), code_size=1.5, random_state=1)),
    "codes of forests": lambda: behind(OutputCodeClassifier(forest(2), code_size=1.5, random_state=1)),
    "one against the rest, calibrated": lambda: behind(
        OneVsRestClassifier(CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=2))
    ),
}
REGRESSORS = {
    "mean of lines": lambda: behind(
        VotingRegressor([("a", Ridge()), ("b", LinearRegression())], weights=[1, 3])
    ),
    "mean": lambda: behind(VotingRegressor([("a", Ridge()), ("b", RandomForestRegressor(3, max_depth=3))])),
    "bag of lines": lambda: behind(BaggingRegressor(Ridge(), 3, max_features=0.7, random_state=0)),
    "stack": lambda: behind(
        StackingRegressor(
            [("a", Ridge()), ("b", RandomForestRegressor(3, max_depth=3))], cv=2, passthrough=True
        )
    ),
    # Columns that are rounded before they are tested: nothing is known for sure of what that does to trees.
    "mean behind splines": lambda: make_pipeline(
        make_column_transformer((OneHotEncoder(), ["job", "sex"]), (SplineTransformer(n_knots=3), ["a"])),
        VotingRegressor([("a", Ridge()), ("b", RandomForestRegressor(3, max_depth=3))]),
    ),
}


def fitted(model, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def similar_pairs():
    rows = list(EVERYBODY.itertuples(index=False))
    return [
        (i, j)
        for i, x in enumerate(rows)
        for j, o in enumerate(rows)
        if abs(x.a - o.a) <= 1 and (x.b, x.job) == (o.b, o.job)
    ]


PAIRS = similar_pairs()


def widest(values):
    return max(abs(values[i] - values[j]) for i, j in PAIRS)


def verdict(model, asked):
    result = lw.verify(model, SPACE, SIMILAR, asked, X=X, budget=60)
    assert "black_box" not in result.stats
    if result.verdict != "UNKNOWN":
        assert lw.check(io.BytesIO(result.certificate.content)).accepted
    return result.verdict


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("name", [*CLASSIFIERS, *REGRESSORS])
def test_scores_are_those_of_the_program(name):
    classifies = name in CLASSIFIERS
    model = fitted((CLASSIFIERS if classifies else REGRESSORS)[name](), LABELS if classifies else TARGET)
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    scores = Scores(imported.model, len(SPACE))
    codes = imported.recoding.coded(SPACE.encode(EVERYBODY))
    exact = [[one.middle for one in scores.enclose([Fraction(c) for c in row], 96)] for row in codes.tolist()]
    ours = np.array(exact, dtype=float)
    if not classifies:
        assert np.allclose(ours[:, 0], model.predict(EVERYBODY), rtol=1e-9, atol=1e-9)
        return
    head = imported.model.head
    assert [head.decide(row) for row in exact] == model.predict(EVERYBODY).tolist()
    if head.link == "identity":
        assert np.allclose(ours, model.predict_proba(EVERYBODY), rtol=1e-9, atol=1e-9)
    elif head.link == "logistic":
        assert np.allclose(1 / (1 + np.exp(-ours[:, 0])), model.predict_proba(EVERYBODY)[:, 1], atol=1e-9)


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_decisions_are_those_of_brute_force(name):
    model = fitted(CLASSIFIERS[name](), LABELS)
    labels = model.predict(EVERYBODY)
    differ = any(labels[i] != labels[j] for i, j in PAIRS)
    assert verdict(model, lw.SameDecision()) == ("BIASED" if differ else "FAIR")


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("name", THREE_CLASSES)
def test_decisions_between_three_classes_are_those_of_brute_force(name):
    model = fitted(THREE_CLASSES[name](), THREE)
    labels = model.predict(EVERYBODY)
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    scores = Scores(imported.model, len(SPACE))
    codes = imported.recoding.coded(SPACE.encode(EVERYBODY))
    exact = [[one.middle for one in scores.enclose([Fraction(c) for c in row], 96)] for row in codes.tolist()]
    decided = [imported.model.head.decide(row) for row in exact]
    ties = [len({float(v) for v in sorted(row)[-2:]}) == 1 for row in exact]
    assert all(
        ours == theirs or tie for ours, theirs, tie in zip(decided, labels.tolist(), ties, strict=True)
    )
    differ = any(labels[i] != labels[j] for i, j in PAIRS)
    assert verdict(model, lw.SameDecision()) == ("BIASED" if differ else "FAIR")
    fair = fitted(THREE_CLASSES[name](), THREE)
    blind = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["b"]))
    assert verdict(fitted(make_pipeline(blind, fair[-1]), THREE), lw.SameDecision()) == "FAIR"


def test_one_against_one_of_three_classes_is_decided_as_by_brute_force():
    model = fitted(behind(OneVsOneClassifier(logistic())), THREE)
    labels = model.predict(EVERYBODY)
    differ = any(labels[i] != labels[j] for i, j in PAIRS)
    assert verdict(model, lw.SameDecision()) == ("BIASED" if differ else "FAIR")


def test_codes_that_all_rows_share_are_constants():
    """A random code may say the same of both classes: its classifier then says that of everybody."""
    model = fitted(behind(OutputCodeClassifier(logistic(), code_size=2, random_state=0)), LABELS)
    assert any(type(one).__name__ == "_ConstantPredictor" for one in model[-1].estimators_)
    labels = model.predict(EVERYBODY)
    differ = any(labels[i] != labels[j] for i, j in PAIRS)
    assert verdict(model, lw.SameDecision()) == ("BIASED" if differ else "FAIR")


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    "name",
    [
        *("soft votes", "bag", "stack", "isotonic folds", "calibrated folds of forests"),
        pytest.param("votes with a network", marks=pytest.mark.slow),
        "votes with products",
    ],
)
def test_gaps_of_probabilities_are_those_of_brute_force(name):
    model = fitted(CLASSIFIERS[name](), LABELS)
    gap = widest(model.predict_proba(EVERYBODY)[:, 1])
    assert verdict(model, lw.ProbabilityGap(gap + 1e-3)) == "FAIR"
    assert verdict(model, lw.ProbabilityGap(gap - 1e-3)) == "BIASED"


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", REGRESSORS)
def test_gaps_of_predictions_are_those_of_brute_force(name):
    model = fitted(REGRESSORS[name](), TARGET)
    gap = widest(model.predict(EVERYBODY))
    assert verdict(model, lw.ScoreGap(gap + 1e-3)) == "FAIR"
    assert verdict(model, lw.ScoreGap(gap - 1e-3)) == "BIASED"


def test_what_may_round_past_a_test_has_no_bound_of_the_program():
    """Trees behind columns that are rounded: the sum of their leaves is known, and which leaves the program reaches is not."""
    for name, known in (("mean", True), ("mean behind splines", False)):
        found = lw.measure(fitted(REGRESSORS[name](), TARGET), SPACE, SIMILAR, of="score", X=X)
        assert (found.program_upper is not None) == known


def test_shares_of_sums_are_proved_box_by_box():
    model = fitted(REGRESSORS["mean"](), TARGET)
    values = pd.Series(model.predict(EVERYBODY))
    spread = values.groupby([EVERYBODY.b, EVERYBODY.job])
    furthest = np.maximum(spread.transform("max") - values, values - spread.transform("min"))
    level = 0.9 * float(furthest.max())
    found = lw.share(
        model, SPACE, lw.Similarity(free=["sex", "a"]), lw.ScoreGap(level), method="certified", X=X
    )
    assert found.lower <= (furthest > level).mean() <= found.upper
    assert found.upper - found.lower < 1e-3


def test_what_never_sees_the_sex_is_fair():
    """Of members that look elsewhere nothing has to be bounded."""
    elsewhere = make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["b"]))
    model = VotingClassifier(
        [("a", make_pipeline(elsewhere, logistic())), ("b", make_pipeline(elsewhere, forest()))]
    )
    model = fitted(model.set_params(voting="soft"), LABELS)
    assert verdict(model, lw.SameDecision()) == "FAIR"


PLANTED = (
    *("soft votes", "hard votes", "bag", "boosted votes", "stack with columns", "calibrated folds"),
    *("isotonic folds", "one against the rest, forests", "codes of forests"),
)


@pytest.mark.draw(1)
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_ensemble_gets_its_verdict(name, monkeypatch):
    """One that is taught to look at the sex, and one that never sees it."""
    similar, taught = lw.Similarity(free=["sex"]), np.where(X.a + 3 * (X.sex == "m") > 2.5, "yes", "no")
    seeing = lw.verify(fitted(CLASSIFIERS[name](), taught), SPACE, similar, X=X, budget=60)
    assert seeing.verdict == "BIASED"
    monkeypatch.setitem(
        globals(),
        "prepared",
        lambda: make_column_transformer((OneHotEncoder(), ["job"]), (StandardScaler(), ["a", "b"])),
    )
    blind = lw.verify(fitted(CLASSIFIERS[name](), LABELS), SPACE, similar, X=X, budget=60)
    assert blind.verdict == "FAIR"
    assert lw.check(io.BytesIO(blind.certificate.content)).accepted


def test_forests_of_three_classes_add_up():
    model = behind(
        VotingClassifier([("a", ExtraTreesClassifier(3, max_depth=3)), ("b", forest())], voting="soft")
    )
    fitted(model, THREE)
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    assert imported.model.bodies[0].family == "trees"
    exact = [imported.model.exact([Fraction(c) for c in row]) for row in SPACE.encode(EVERYBODY).tolist()]
    assert np.allclose(np.array(exact, dtype=float), model.predict_proba(EVERYBODY), atol=1e-12)
    labels = model.predict(EVERYBODY)
    differ = any(labels[i] != labels[j] for i, j in PAIRS)
    assert verdict(model, lw.SameDecision()) == ("BIASED" if differ else "FAIR")


def test_sums_of_one_kind_are_of_that_kind():
    lines = import_model(fitted(REGRESSORS["mean of lines"](), TARGET), SPACE, rows=SPACE.encode(X), like=X)
    assert lines.model.body.family == "affine"
    forests = import_model(
        fitted(CLASSIFIERS["soft votes of forests"](), LABELS), SPACE, rows=SPACE.encode(X), like=X
    )
    assert forests.model.bodies[0].family == "trees"


REFUSED = {
    "no functions of one score": (
        lambda: behind(VotingClassifier([("a", logistic()), ("b", forest())], voting="soft")),
        THREE,
    ),
    "counts votes for 3 classes": (
        lambda: behind(VotingClassifier([("a", logistic()), ("b", forest())])),
        THREE,
    ),
    "linear ones are supported": (
        lambda: behind(StackingClassifier([("a", logistic())], final_estimator=forest(), cv=2)),
        LABELS,
    ),
    "adds up several models": (
        lambda: behind(
            VotingClassifier(
                [
                    ("a", BaggingClassifier(logistic(), 2)),
                    ("b", StackingClassifier([("c", logistic()), ("d", forest())], cv=2)),
                ],
                voting="soft",
            )
        ),
        LABELS,
    ),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refused_by_name(why):
    make, y = REFUSED[why]
    with pytest.raises(lw.UnsupportedModel, match=why) as error:
        import_model(fitted(make(), y), SPACE, rows=np.empty((0, 4)), like=X)
    assert error.value.hint


def test_a_kernel_among_them_is_searched_and_proved():
    model = fitted(behind(VotingClassifier([("a", SVC()), ("b", logistic()), ("c", LinearSVC())])), LABELS)
    labels = model.predict(EVERYBODY)
    differ = any(labels[i] != labels[j] for i, j in PAIRS)
    assert verdict(model, lw.SameDecision()) == ("BIASED" if differ else "FAIR")


WRAPPED_BOOSTERS = {
    "threshold": lambda booster: FixedThresholdClassifier(booster, threshold=0.3),
    "sigmoid": lambda booster: CalibratedClassifierCV(booster, ensemble=False, cv=2),
    "isotonic": lambda booster: CalibratedClassifierCV(booster, ensemble=False, cv=2, method="isotonic"),
}


@pytest.mark.parametrize("name", WRAPPED_BOOSTERS)
def test_what_stands_around_a_booster_moves_its_decision(name):
    xgboost = pytest.importorskip("xgboost")
    booster = behind(xgboost.XGBClassifier(n_estimators=4, max_depth=2))
    model = fitted(WRAPPED_BOOSTERS[name](booster), (LABELS == "yes").astype(int))
    labels = model.predict(EVERYBODY)
    imported = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    exact = [imported.model.exact([Fraction(c) for c in row]) for row in SPACE.encode(EVERYBODY).tolist()]
    assert [imported.model.head.decide(row) for row in exact] == labels.tolist()
    differ = any(labels[i] != labels[j] for i, j in PAIRS)
    assert verdict(model, lw.SameDecision()) == ("BIASED" if differ else "FAIR")
