"""Repaired models: equal to brute force over the settings, FAIR with accepted certificates, and what the report says."""

import gzip
import io
import json
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier
from tests.check.builder import checked

import likewise as lw
from likewise.analysis.repair import largest_kept_share
from likewise.analysis.repair_settings import observed_settings, reference_setting
from likewise.families.combined.body import Combined
from likewise.importers.imported_model import import_model
from likewise.model.head import NUMBER_HEAD
from likewise_check import check

SPACE = lw.Space(
    {
        "sex": lw.Categorical(["f", "m"]),
        "race": lw.Categorical(["a", "b", "c"]),
        "age": lw.Integer(18, 20),
        "income": lw.Continuous(0, 3),
    }
)
SIMILAR = lw.Similarity(free=["sex"], within={"age": 1})
SETTINGS = list(product(["f", "m"], range(18, 21)))
FEATURES = ["sex", "age"]


def people(count=40):
    random = np.random.default_rng(3)
    X = pd.DataFrame(
        {
            "sex": random.choice(["f", "m"], count, p=[0.3, 0.7]),
            "race": random.choice(["a", "b", "c"], count),
            "age": random.integers(18, 21, count),
            "income": random.uniform(0, 3, count).round(2),
        }
    )
    worth = X.income + (X.sex == "m") + 0.1 * (X.age - 20) + random.normal(0, 0.4, count)
    return X, worth.to_numpy()


X, WORTH = people()
Y = np.where(WORTH > 2, "yes", "no")
Y3 = np.array(["high", "low", "middle"])[np.digitize(WORTH, [1.5, 2.5])]


def columns():
    return make_column_transformer((OneHotEncoder(), ["sex", "race"]), (StandardScaler(), ["age", "income"]))


def linear():
    return make_pipeline(columns(), LogisticRegression()).fit(X, Y)


BINARY = {
    "affine": linear,
    "rbf": lambda: make_pipeline(columns(), SVC(gamma=0.5)).fit(X, Y),
    "polynomial": lambda: make_pipeline(columns(), SVC(kernel="poly", degree=2)).fit(X, Y),
    "products": lambda: make_pipeline(columns(), PolynomialFeatures(2), LogisticRegression()).fit(X, Y),
}


def at_every_setting(model, method="decision_function"):
    """What the model says of every row at every setting."""
    return np.array([getattr(model, method)(X.assign(sex=s, age=a)) for s, a in SETTINGS], dtype=float)


def proved(repaired) -> bool:
    assert repaired.result.verdict == "FAIR", repaired.result.reason
    report = check(io.BytesIO(repaired.result.certificate.content))
    return report.accepted and report.kind == "proof"


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("method", ["average", "max", "min"])
@pytest.mark.parametrize("family", BINARY)
def test_scores_are_those_of_brute_force_and_proved(family, method):
    model = BINARY[family]()
    repaired = lw.repair(model, SPACE, SIMILAR, method=method, X=X, y=Y)
    combine = {"average": np.mean, "max": np.max, "min": np.min}[method]
    expected = combine(at_every_setting(model), axis=0)
    assert np.allclose(repaired.model.decision_function(X), expected, rtol=1e-12, atol=1e-12)
    assert proved(repaired)
    assert repaired.features == ("sex", "age")
    assert repaired.settings == len(SETTINGS)
    before, after = model.predict(X), np.where(expected > 0, "yes", "no")
    assert repaired.changed == (before != after).sum()
    assert repaired.before == (before == Y).mean()
    assert repaired.after == (after == Y).mean()


@pytest.mark.some_days
def test_means_of_affine_and_polynomial_models_stay_what_they_are():
    similar = lw.Similarity(free=["sex"])
    for family, model in BINARY.items():
        new = lw.repair(model(), SPACE, similar, X=X).model
        imported = import_model(new, SPACE, rows=SPACE.encode(X)).model
        assert isinstance(imported.body, Combined) == (family == "rbf")


def test_a_certificate_of_another_model_is_refused():
    """One entry of one body, and the model looks at sex again."""
    similar = lw.Similarity(free=["sex"])
    model = make_pipeline(columns(), OneVsRestClassifier(SVC(gamma=0.5))).fit(X, Y3)
    for repaired in (
        lw.repair(BINARY["rbf"](), SPACE, similar, X=X),
        lw.repair(linear(), SPACE, similar, method="max", X=X),
        lw.repair(model, SPACE, similar, X=X),
    ):
        content = gzip.decompress(repaired.result.certificate.content)
        lines = [json.loads(raw) for raw in content.splitlines()]
        assert checked(lines).accepted
        body = lines[4]["model"]["body"]
        assert body["kind"] == "combined"
        column = next(one for one in body["of"][-1]["columns"] if one["feature"] == 0)
        column["table"][0] = "17/4"
        assert "depends" in checked(lines).reason


@pytest.mark.draw(2)
@pytest.mark.parametrize("family", BINARY)
def test_a_reference_is_one_setting(family):
    model = BINARY[family]()
    repaired = lw.repair(model, SPACE, SIMILAR, method="reference", reference={"age": 19}, X=X)
    assert proved(repaired)
    at = X.assign(sex="m", age=19)  # most people are men
    assert np.array_equal(repaired.model.decision_function(X), model.decision_function(at))


def test_who_misses_a_number_is_no_setting_of_it():
    """Codes of missing numbers lie above all others: they are not the largest value."""
    space = lw.Space({"a": lw.Integer(0, 2, missing=True), "g": lw.Categorical(["x", None])})
    rows = space.encode(pd.DataFrame({"a": [None, None, 1, 1, 0], "g": ["x", "x", "x", None, "x"]}))
    found = observed_settings(space, ["a", "g"], 9, rows)
    assert dict(zip(found.settings, found.counts, strict=True)) == {(1, "x"): 1, (1, None): 1, (0, "x"): 1}
    assert observed_settings(space, ["g"], 9, rows).counts == (4, 1)
    assert reference_setting(space, ["a"], 9, rows, None).settings == ((1,),)
    with pytest.raises(lw.SpecError, match="miss no number"):
        observed_settings(space, ["a"], 9, rows[:2])


def test_observed_weights_are_frequencies():
    model = BINARY["rbf"]()
    repaired = lw.repair(model, SPACE, SIMILAR, weights="observed", X=X)
    counts = X.groupby(FEATURES).size()
    expected = sum(
        count * model.decision_function(X.assign(**dict(zip(FEATURES, setting, strict=True))))
        for setting, count in counts.items()
    )
    assert repaired.settings == len(counts)
    assert np.allclose(repaired.model.decision_function(X), expected / len(X), rtol=1e-12)
    assert proved(repaired)
    body = import_model(repaired.model, SPACE, rows=SPACE.encode(X)).model.body
    assert sum(body.weights) == 1
    assert max(body.weights) == Fraction(int(counts.max()), len(X))


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("inside", [LogisticRegression(), OneVsRestClassifier(SVC(gamma=0.5))])
@pytest.mark.parametrize("method", ["average", "reference"])
def test_several_classes_by_means(inside, method):
    model = make_pipeline(columns(), inside).fit(X, Y3)
    repaired = lw.repair(model, SPACE, SIMILAR, method=method, X=X, y=Y3)
    assert proved(repaired)
    if method == "average":
        expected = at_every_setting(model).mean(axis=0)
        assert np.allclose(repaired.model.decision_function(X), expected, rtol=1e-12, atol=1e-12)
        assert np.array_equal(repaired.model.predict(X), model.classes_[expected.argmax(axis=1)])
    with pytest.raises(lw.UnsupportedModel, match="for two classes"):
        lw.repair(model, SPACE, SIMILAR, method="max")


def test_probabilities_of_a_repaired_model_are_proved_too():
    model = linear()
    repaired = lw.repair(model, SPACE, SIMILAR, property=lw.ProbabilityGap(0), X=X)
    assert proved(repaired)
    expected = 1 / (1 + np.exp(-at_every_setting(model).mean(axis=0)))
    assert np.allclose(repaired.model.predict_proba(X)[:, 1], expected)
    assert not hasattr(lw.repair(BINARY["rbf"](), SPACE, SIMILAR).model, "predict_proba")


@pytest.mark.some_days
@pytest.mark.parametrize("inside", [LinearRegression(), SVR(gamma=0.5)])
def test_regressors(inside):
    model = TransformedTargetRegressor(
        make_pipeline(columns(), inside),
        transformer=StandardScaler() if inside.__class__ is LinearRegression else None,
    ).fit(X, WORTH)
    repaired = lw.repair(model, SPACE, SIMILAR, property=lw.ScoreGap(0), X=X, y=WORTH)
    assert proved(repaired)
    expected = at_every_setting(model, "predict").mean(axis=0)
    assert np.allclose(repaired.model.predict(X), expected, rtol=1e-12)
    assert repaired.measure == "R^2"
    assert repaired.after == pytest.approx(repaired.model.score(X, WORTH))


# -- what is left of a model ------------------------------------------------------------------------------


@pytest.mark.parametrize("how", ["max", "min", "mean"])
def test_combined_scores_of_few_pairs_are_looked_through(how):
    """Settled in one feature, asked about another: the verdict is that of all pairs."""
    space = lw.Space({"a": lw.Integer(0, 2), "b": lw.Integer(0, 2), "c": lw.Integer(0, 1)})
    rows = pd.DataFrame(product(range(3), range(3), range(2)), columns=["a", "b", "c"])
    y = (rows.a * rows.b + rows.c) % 3 > 0
    model = SVC(gamma=0.7).fit(rows, y)
    method = "average" if how == "mean" else how
    new = lw.repair(model, space, lw.Similarity(free=["c"]), method=method).model
    scores = dict(zip(map(tuple, rows.to_numpy().tolist()), new.decision_function(rows), strict=True))
    similar = lw.Similarity(within={"a": 1})
    gap = max(
        abs(s - t)
        for x, s in scores.items()
        for z, t in scores.items()
        if x[1:] == z[1:] and abs(x[0] - z[0]) <= 1
    )
    assert gap > 0.1
    assert lw.verify(new, space, similar, lw.ScoreGap(gap + 1e-9)).verdict == "FAIR"
    biased = lw.verify(new, space, similar, lw.ScoreGap(gap - 1e-9))
    assert biased.verdict == "BIASED"
    assert check(io.BytesIO(biased.certificate.content)).accepted


def test_combined_scores_of_many_pairs_are_unknown():
    new = lw.repair(BINARY["rbf"](), SPACE, lw.Similarity(free=["sex"])).model
    result = lw.verify(new, SPACE, lw.Similarity(free=["race"]), lw.ScoreGap(100), budget=5)
    assert result.verdict == "UNKNOWN"
    assert "bounded only where" in result.reason
    with pytest.raises(lw.UnsupportedModel, match="bounded only where"):
        lw.measure(new, SPACE, lw.Similarity(free=["race"]), budget=5)
    assert lw.measure(new, SPACE, lw.Similarity(free=["sex"])).upper == 0


def test_a_threshold_around_a_repaired_model():
    similar = lw.Similarity(free=["sex"])
    new = lw.repair(linear(), SPACE, similar, X=X).model
    moved = FixedThresholdClassifier(
        FrozenEstimator(new), threshold=0.25, response_method="decision_function"
    )
    assert lw.verify(moved, SPACE, similar, X=X).verdict == "FAIR"
    largest = lw.repair(linear(), SPACE, similar, method="max").model
    moved = FixedThresholdClassifier(
        FrozenEstimator(largest), threshold=0.25, response_method="decision_function", pos_label="no"
    )
    assert lw.verify(moved, SPACE, similar, X=X).verdict == "FAIR"


def test_levels_in_pairs_are_settled_like_free_ones():
    similar = lw.Similarity(pairs={"race": [("a", "b")]})
    repaired = lw.repair(linear(), SPACE, similar, method="min", X=X)
    assert repaired.model.settings == [["a"], ["b"], ["c"]]
    assert proved(repaired)


def test_only_what_matters_is_settled():
    model = LogisticRegression().fit(X[["age", "income"]].assign(sex=0), Y)
    space = lw.Space({"age": lw.Integer(18, 20), "income": lw.Continuous(0, 3), "sex": lw.Integer(0, 1)})
    repaired = lw.repair(model, space, lw.Similarity(free=["sex"], within={"age": 1}))
    assert repaired.features == ("age",)
    assert proved(repaired)


def test_continuous_features_on_a_grid():
    repaired = lw.repair(linear(), SPACE, lw.Similarity(within={"income": "10%"}), grid=3, X=X)
    assert repaired.model.settings == [[0.0], [1.5], [3.0]]
    assert proved(repaired)


# -- shrinking and thresholds -----------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["affine", pytest.param("products", marks=pytest.mark.slow)])
def test_shrinking_keeps_what_is_allowed(family):
    model, similar = BINARY[family](), lw.Similarity(free=["sex"])
    gap = lw.measure(model, SPACE, similar).upper
    repaired = lw.repair(model, SPACE, similar, method="shrink", property=lw.ScoreGap(gap / 4), X=X)
    assert proved(repaired)
    assert repaired.kept == pytest.approx(0.25, abs=1e-5)
    both = np.array([model.decision_function(X.assign(sex=sex)) for sex in "fm"]).mean(axis=0)
    expected = repaired.kept * model.decision_function(X) + (1 - repaired.kept) * both
    assert np.allclose(repaired.model.decision_function(X), expected, rtol=1e-12, atol=1e-12)


def test_shrinking_probabilities():
    repaired = lw.repair(
        linear(), SPACE, lw.Similarity(free=["sex"]), method="shrink", property=lw.ProbabilityGap(0.05), X=X
    )
    assert proved(repaired)
    assert 0 < repaired.kept < 1
    apart = [repaired.model.predict_proba(X.assign(sex=sex))[:, 1] for sex in "fm"]
    assert 0.03 < np.abs(apart[0] - apart[1]).max() <= 0.05


def test_the_share_is_rounded_down():
    for delta, gap in ((1.0, 3.0), (0.1, 0.7), (1e-9, 1e3)):
        share = largest_kept_share(lw.ScoreGap(delta), gap, NUMBER_HEAD)
        assert Fraction(share) * Fraction(gap) <= Fraction(delta)
    assert largest_kept_share(lw.ScoreGap(2), 1.0, NUMBER_HEAD) == 1


def test_the_nearest_fair_threshold():
    """Men have one more point in a score of whole points from 0 to 4, or from 10 on."""
    rows = pd.DataFrame(product(range(3), [0, 8], range(2)), columns=["points", "bonus", "sex"])
    model = LogisticRegression().fit(rows, rows.points > 0)
    model.coef_, model.intercept_ = np.array([[1.0, 1.0, 1.0]]), np.array([-0.5])
    space = lw.Space(
        {"points": lw.Integer(0, 2), "bonus": lw.Categorical([0, 8]), "sex": lw.Categorical([0, 1])}
    )
    similar = lw.Similarity(free=["sex"])
    assert lw.verify(model, space, similar).verdict == "BIASED"
    repaired = lw.repair(model, space, similar, method="threshold", X=rows, y=rows.points > 0)
    assert proved(repaired)
    assert repaired.threshold == 5.0  # between 3 - 1/2 and 8 - 1/2
    assert repaired.changed == (model.predict(rows) != repaired.model.predict(rows)).sum() > 0
    none = lw.repair(model, space, lw.Similarity(free=["sex", "bonus"]), method="threshold", X=rows)
    assert none.model is None
    assert none.result.verdict == "BIASED"


def test_what_shows_no_score_has_no_threshold():
    """Votes by show of hands, of a model that goes by the sex."""
    rows = pd.DataFrame(product(range(3), range(2)), columns=["points", "sex"])
    model = VotingClassifier([("tree", DecisionTreeClassifier(max_depth=1))]).fit(rows, rows.sex)
    space = lw.Space({"points": lw.Integer(0, 2), "sex": lw.Categorical([0, 1])})
    with pytest.raises(lw.SpecError, match="shows no score"):
        lw.repair(model, space, lw.Similarity(free=["sex"]), method="threshold", X=rows)


def test_a_table_for_notebooks():
    repaired = lw.repair(linear(), SPACE, lw.Similarity(free=["sex"]), X=X, y=Y)
    shown = repaired._repr_html_()
    assert shown.startswith("<table><caption>repaired: the mean score over all settings of sex (2)</caption>")
    for words in ("FAIR", f"of {len(X)} decisions", "before", "accuracy", f"{repaired.after:.6g}"):
        assert words in shown
    prices = make_pipeline(columns(), LinearRegression()).fit(X, WORTH)
    moved = lw.repair(prices, SPACE, SIMILAR, property=lw.ScoreGap(0), X=X)
    assert f"{len(X)} of {len(X)} predictions (100%)" in str(moved)


# -- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.some_days
@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"method": "mean"}, lw.SpecError, "method must be"),
        ({"property": "fair"}, lw.SpecError, "property must be"),
        ({"method": "shrink"}, lw.SpecError, "decisions may differ"),
        ({"method": "reference"}, lw.SpecError, "no reference is given"),
        ({"method": "reference", "reference": {"income": 1}}, lw.SpecError, "does not differ"),
        ({"method": "reference", "reference": {"sex": "x"}}, lw.DataError, "not a value"),
        ({"method": "threshold"}, lw.SpecError, "pass X|scores of rows"),
        ({"weights": "observed"}, lw.SpecError, "need rows"),
        ({"y": Y}, lw.SpecError, "without X"),
        ({"X": X, "y": Y[:3]}, lw.DataError, "3 labels"),
    ],
)
def test_what_cannot_be_asked_for(options, error, words):
    with pytest.raises(error, match=words):
        lw.repair(linear(), SPACE, SIMILAR, **options)


def test_models_that_are_not_taken():
    moved = FixedThresholdClassifier(
        FrozenEstimator(linear()), threshold=0.3, response_method="decision_function"
    )
    with pytest.raises(lw.UnsupportedModel, match="repairing is about scores"):
        lw.repair(moved, SPACE, SIMILAR, X=X)
    with pytest.raises(lw.UnsupportedModel, match="repaired already"):
        lw.repair(lw.repair(linear(), SPACE, SIMILAR).model, SPACE, SIMILAR)
    with pytest.raises(lw.UnsupportedModel, match="no bounds"):
        lw.repair(BINARY["rbf"](), SPACE, SIMILAR, method="shrink", property=lw.ScoreGap(1))
    wide = SPACE.replace({"age": lw.Integer(0, 100)})
    with pytest.raises(lw.SpecError, match="5,454 settings"):
        lw.repair(linear(), wide, lw.Similarity(free=["sex", "race", "age", "income"]))
