"""Shapes with nothing in them: no support vector, no tree, no split, no column, one level, one individual. Every command must answer, and
as brute force over the model's own `predict` does; what makes no sense is refused in words."""

import gzip
import io
import itertools
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.feature_selection import VarianceThreshold
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR, NuSVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import likewise as lw

SPACE = lw.Space({"a": lw.Integer(0, 3), "b": lw.Categorical([0, 1]), "c": lw.Integer(0, 2)})
EVERYBODY = pd.DataFrame(itertools.product(range(4), range(2), range(3)), columns=["a", "b", "c"])
NUMBERS = (EVERYBODY["a"] * 0.5 + EVERYBODY["b"] - EVERYBODY["c"] * 0.25).to_numpy(dtype=float)
TWO = (NUMBERS > 0.9).astype(int)
THREE = ((EVERYBODY["a"] + EVERYBODY["b"] + EVERYBODY["c"]) % 3).to_numpy()
CONSTANT = np.full(len(EVERYBODY), 0.7)
ALIKE = lw.Similarity(free=["b"], within={"a": 1})

REGRESSORS = {
    "rbf, no support vector": (lambda: SVR(epsilon=100), NUMBERS),
    "polynomial, no support vector": (lambda: SVR(kernel="poly", coef0=1, epsilon=100), NUMBERS),
    "linear, no support vector": (lambda: SVR(kernel="linear", epsilon=100), NUMBERS),
    "nu, no support vector": (NuSVR, CONSTANT),
    "no support vector behind a pipeline": (
        lambda: make_pipeline(
            make_column_transformer((OneHotEncoder(), ["b"]), remainder=StandardScaler()), SVR(epsilon=100)
        ),
        NUMBERS,
    ),
    "coefficients zero": (lambda: KernelRidge(kernel="rbf"), 0 * NUMBERS),
    "polynomial coefficients zero": (lambda: KernelRidge(kernel="poly"), 0 * NUMBERS),
    "polynomial of degree 0": (lambda: SVR(kernel="poly", degree=0), NUMBERS),
    "polynomial of degree 1": (lambda: SVR(kernel="poly", degree=1), NUMBERS),
    "weights zero": (lambda: Lasso(alpha=1e6), NUMBERS),
    "a leaf": (DecisionTreeRegressor, CONSTANT),
    "boosted leaves": (lambda: GradientBoostingRegressor(n_estimators=2), CONSTANT),
}


def similar(one, two):
    """As `ALIKE` says."""
    return one["c"] == two["c"] and abs(one["a"] - two["a"]) <= 1


def pairs_of(values):
    """The values of all similar pairs, both ways round."""
    rows = EVERYBODY.to_dict("records")
    return [
        (i, values[i], values[j])
        for (i, one), (j, two) in itertools.product(enumerate(rows), repeat=2)
        if similar(one, two)
    ]


def _accepted(result):
    return lw.check(io.BytesIO(result.certificate.content)).accepted


@pytest.mark.some_days
@pytest.mark.draw(5)
@pytest.mark.parametrize("name", REGRESSORS)
def test_every_command_agrees_with_brute_force_on_a_regressor(name):
    make, y = REGRESSORS[name]
    model = make().fit(EVERYBODY, y)
    pairs = pairs_of(model.predict(EVERYBODY))
    largest = max(one - two for _, one, two in pairs)
    claim = lw.ScoreGap(largest / 2 + 0.01)
    flagged = {i for i, one, two in pairs if abs(one - two) > claim.delta}
    share = len(flagged) / len(EVERYBODY)

    result = lw.verify(model, SPACE, ALIKE, claim, X=EVERYBODY)
    assert (result.verdict == "BIASED") == bool(flagged)
    assert result.verdict == "BIASED" or _accepted(result)
    disparity = lw.measure(model, SPACE, ALIKE, certify=True)
    assert disparity.lower - 1e-6 <= largest <= disparity.upper + 1e-6
    assert lw.audit(model, SPACE, ALIKE, claim, X=EVERYBODY).biased == len(flagged)
    for method in ("auto", "exact", "certified", "sampled"):
        found = lw.share(model, SPACE, ALIKE, claim, method=method, budget=0.5 if method == "sampled" else 60)
        assert found.lower - 1e-12 <= share <= found.upper + 1e-12
    fair = lw.regions(model, SPACE, ALIKE, claim).share("fair")
    assert fair <= 1 - share if flagged else fair == 1
    radius = lw.radius(model, SPACE, ALIKE, claim)
    assert (radius.proved is not None and radius.proved >= 1) == (not flagged)
    assert lw.repair(model, SPACE, ALIKE, property=claim, X=EVERYBODY).result.verdict == "FAIR"
    assert lw.compare(model, model, SPACE, ALIKE, claim).change == "same"


def _cut(estimator, y):
    """Fitted, then with all coefficients set to zero."""
    model = estimator.fit(EVERYBODY, y)
    for name in {"coef_", "_dual_coef_", "dual_coef_"} & set(vars(model)):
        getattr(model, name)[:] = 0
    return model


CLASSIFIERS = {
    "weights zero": lambda: _cut(LogisticRegression(), TWO),
    "weights zero, three classes": lambda: _cut(LogisticRegression(), THREE),
    "coefficients zero": lambda: _cut(SVC(), TWO),
    "a leaf": lambda: DecisionTreeClassifier(min_samples_leaf=len(TWO)).fit(EVERYBODY, TWO),
    "leaves, three classes": lambda: RandomForestClassifier(3, min_samples_leaf=len(TWO)).fit(
        EVERYBODY, THREE
    ),
    "stumps": lambda: RandomForestClassifier(3, max_depth=1, random_state=0).fit(EVERYBODY, TWO),
    "nothing that may differ is left": lambda: make_pipeline(
        make_column_transformer((StandardScaler(), ["c"])), SVC(gamma=1.0)
    ).fit(EVERYBODY, TWO),
    "the only column may differ": lambda: make_pipeline(
        make_column_transformer((OneHotEncoder(drop="first"), ["b"])), LogisticRegression()
    ).fit(EVERYBODY, TWO),
    "constant columns dropped": lambda: make_pipeline(VarianceThreshold(), LogisticRegression()).fit(
        EVERYBODY.assign(b=0), TWO
    ),
    "constant columns scaled": lambda: make_pipeline(StandardScaler(), SVC(gamma=1.0)).fit(
        EVERYBODY.assign(b=0), TWO
    ),
    "Gaussians one against the rest": lambda: OneVsRestClassifier(SVC(gamma=0.3)).fit(
        EVERYBODY.assign(b=0), THREE
    ),
}


@pytest.mark.some_days
@pytest.mark.draw(5)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_command_agrees_with_brute_force_on_a_classifier(name):
    model = CLASSIFIERS[name]()
    pairs = pairs_of(model.predict(EVERYBODY))
    flagged = {i for i, one, two in pairs if one != two}
    share = len(flagged) / len(EVERYBODY)

    result = lw.verify(model, SPACE, ALIKE, X=EVERYBODY)
    assert result.verdict == ("BIASED" if flagged else "FAIR")
    assert flagged or _accepted(result)
    assert lw.audit(model, SPACE, ALIKE, X=EVERYBODY).biased == len(flagged)
    found = lw.share(model, SPACE, ALIKE)
    assert found.lower - 1e-12 <= share <= found.upper + 1e-12
    lw.measure(model, SPACE, ALIKE, of="score")
    assert lw.compare(model, model, SPACE, ALIKE).change == "same"


def test_margins_of_gaussians_one_against_the_rest_are_those_of_decision_function():
    model = OneVsRestClassifier(SVC(gamma=0.3)).fit(EVERYBODY, THREE)
    ordered = np.sort(model.decision_function(EVERYBODY), axis=1)
    leads, labels = ordered[:, -1] - ordered[:, -2], model.predict(EVERYBODY)
    rows = EVERYBODY.to_dict("records")
    flips = [
        min(leads[i], leads[j])
        for i, j in itertools.product(range(len(rows)), repeat=2)
        if similar(rows[i], rows[j]) and labels[i] != labels[j]
    ]
    found = lw.measure(model, SPACE, ALIKE, of="margin", X=EVERYBODY)
    assert found.lower - 1e-6 <= max(flips) <= found.upper + 1e-6
    above = lw.verify(model, SPACE, ALIKE, lw.SameDecision(max(flips) + 0.01))
    assert above.verdict == "FAIR"
    assert _accepted(above)
    assert lw.verify(model, SPACE, ALIKE, lw.SameDecision(max(flips) - 0.01)).verdict == "BIASED"


ONE = {
    "one individual": lw.Space({"a": lw.Integer(1, 1), "b": lw.Categorical([1]), "c": lw.Integer(2, 2)}),
    "one individual by a constraint": lw.Space(
        {"a": lw.Integer(0, 3), "b": lw.Integer(0, 1), "c": lw.Integer(0, 2)}
    ).where("a + b + c <= 0"),
    "one point": lw.Space({"a": lw.Continuous(1, 1), "b": lw.Categorical([1]), "c": lw.Continuous(2, 2)}),
}
FITTED = {
    "linear": lambda: LogisticRegression().fit(EVERYBODY, TWO),
    "three classes": lambda: LogisticRegression().fit(EVERYBODY, THREE),
    "kernel": lambda: SVC(gamma=0.3).fit(EVERYBODY, TWO),
    "tree": lambda: DecisionTreeClassifier(random_state=0).fit(EVERYBODY, TWO),
}


@pytest.mark.parametrize("space", ONE)
@pytest.mark.parametrize("name", FITTED)
def test_one_individual_is_treated_as_itself_or_the_claim_is_refused(space, name):
    model, space = FITTED[name](), ONE[space]
    row = {"a": 0, "b": 0, "c": 0} if space.constraints else {"a": 1, "b": 1, "c": 2}
    frame, gap = pd.DataFrame([row]), lw.ProbabilityGap(0.1) if name != "kernel" else lw.ScoreGap(0.1)
    if name == "tree":
        gap = lw.SameDecision()
    alone = lw.Similarity(free=["b"])
    commands = [
        lambda: lw.verify(model, space, alone, gap, X=frame).verdict == "FAIR",
        lambda: lw.measure(model, space, alone).upper <= 1e-6,
        lambda: lw.audit(model, space, alone, gap, X=frame).biased == 0,
        lambda: lw.share(model, space, alone, gap).upper == 0,
        lambda: lw.share(model, space, alone, gap, over=frame).upper == 0,
    ]
    for command in commands:
        try:
            assert command()
        except lw.SpecError as refusal:
            assert "nothing may differ" in str(refusal)  # noqa: PT017


@pytest.mark.parametrize("make", [LogisticRegression, lambda: DecisionTreeClassifier(max_depth=2)])
@pytest.mark.parametrize("claim", [lw.ScoreGap(50), lw.SameDecision(50)])
def test_proofs_of_several_classes_are_read_for_people(make, claim):
    result = lw.verify(make().fit(EVERYBODY, THREE), SPACE, ALIKE, claim)
    assert result.verdict == "FAIR"
    lines = gzip.decompress(result.certificate.content).decode().splitlines()
    outline = result.certificate.outline()
    assert outline.nodes == json.loads(lines[-1])["end"]["nodes"]
    splits = sum(json.loads(line)[0] == "split" for line in lines[5:-1])
    assert (outline.depth >= 1) == (outline.nodes > 1)
    assert outline.depth <= 1 + splits
    assert str(result.claimed.in_words()) in result.model_card()


def _xgboost(rounds):
    xgboost = pytest.importorskip("xgboost")
    data = xgboost.DMatrix(EVERYBODY.astype(float), label=TWO)
    return xgboost.train({"objective": "binary:logistic", "min_child_weight": 1e9}, data, rounds)


def _lightgbm(rounds):
    lightgbm = pytest.importorskip("lightgbm")
    settings = {"objective": "binary", "verbose": -1, "min_data_in_leaf": 1000, "min_data_in_bin": 1}
    booster = lightgbm.Booster(settings, lightgbm.Dataset(EVERYBODY, label=TWO))
    for _ in range(rounds):
        booster.update()
    return booster


def test_a_repair_of_a_constant_says_that_there_is_nothing_to_do():
    model = SVR(epsilon=100).fit(EVERYBODY, NUMBERS)
    repaired = lw.repair(model, SPACE, ALIKE, property=lw.ScoreGap(0), X=EVERYBODY)
    assert repaired.result.verdict == "FAIR"
    assert repaired.changed == 0
    assert "nothing to do" in str(repaired)


@pytest.mark.parametrize("trained", [_xgboost, _lightgbm])
def test_a_booster_without_trees_is_refused_and_one_of_leaves_alone_is_fair(trained):
    with pytest.raises(lw.UnsupportedModel, match="no trees, as it was trained for 0 rounds"):
        lw.verify(trained(0), SPACE, ALIKE, X=EVERYBODY)
    result = lw.verify(trained(2), SPACE, ALIKE, X=EVERYBODY)
    assert result.verdict == "FAIR"
    assert _accepted(result)
