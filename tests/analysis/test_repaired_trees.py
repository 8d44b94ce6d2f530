"""Repaired ensembles of trees: alike for all similar individuals by brute force, FAIR with accepted certificates, scores as their definition says."""

import gzip
import io
import json
import pickle
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from catboost import CatBoostClassifier
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.tree import DecisionTreeClassifier
from tests.check.builder import checked
from xgboost import XGBClassifier, XGBRegressor

import likewise as lw
from likewise.families.combined.body import Combined
from likewise.families.scored_model import rounding_error
from likewise.families.trees.body import TreeForm
from likewise.importers.imported_model import import_model
from likewise_check import check

SPACE = lw.Space(
    {
        "sex": lw.Categorical([0, 1]),
        "race": lw.Categorical([0, 1, 2]),
        "age": lw.Integer(18, 20),
        "income": lw.Integer(0, 5),
    }
)
SIMILAR = lw.Similarity(free=["sex"], within={"age": 1})
SETTINGS = list(product([0, 1], range(18, 21)))
EVERYBODY = pd.DataFrame(product([0, 1], [0, 1, 2], range(18, 21), range(6)), columns=SPACE.names)


def people(count=150):
    random = np.random.default_rng(5)
    X = EVERYBODY.iloc[random.integers(len(EVERYBODY), size=count)].reset_index(drop=True)
    worth = X.income / 2 + X.sex + 0.3 * (X.age - 19) * (X.race - 1) + random.normal(0, 0.4, count)
    return X, worth.to_numpy()


X, WORTH = people()
Y = (WORTH > 1.6).astype(int)
Y3 = np.digitize(WORTH, [1.2, 2.2])
CLASSIFIERS = {
    "gb": GradientBoostingClassifier(n_estimators=6, random_state=0),
    "hist": HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=5),
    "xgb": XGBClassifier(n_jobs=1, n_estimators=6, max_depth=3),
    "lgbm": LGBMClassifier(n_jobs=1, n_estimators=6, num_leaves=8, min_child_samples=5, verbose=-1),
    "cat": CatBoostClassifier(
        thread_count=1, iterations=6, depth=3, verbose=False, allow_writing_files=False
    ),
    "forest": RandomForestClassifier(7, max_depth=5, random_state=0),
    "tree": DecisionTreeClassifier(max_depth=5, random_state=0),
}
METHODS = {"average": np.mean, "max": np.max, "min": np.min}


def own_score(model, rows, method):
    """The score of the model inside, as the page on repairing defines it."""
    if isinstance(model, XGBClassifier):
        return model.predict(rows, output_margin=True).astype(float)
    if isinstance(model, LGBMClassifier):
        return model.predict(rows, raw_score=True)
    if isinstance(model, CatBoostClassifier):
        return model.predict(rows, prediction_type="RawFormulaVal")
    if hasattr(model, "decision_function"):
        return model.decision_function(rows)
    shares = model.predict_proba(rows)
    return shares if method == "average" else shares[:, 1] - 0.5


def proved(repaired) -> bool:
    assert repaired.result.verdict == "FAIR", repaired.result.reason
    report = check(io.BytesIO(repaired.result.certificate.content))
    return report.accepted and report.kind == "proof"


def alike(answers) -> bool:
    """Whether all who share race and income, everybody in order, get the same answers."""
    groups = answers.reshape(2, 3, 3, 6, -1)
    return bool((groups == groups[:1, :, :1]).all())


@pytest.mark.some_days
@pytest.mark.draw(6)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("family", CLASSIFIERS)
def test_everybody_is_treated_alike_and_it_is_proved(family, method):
    model = clone(CLASSIFIERS[family]).fit(X, Y)
    assert not alike(model.predict(EVERYBODY))
    repaired = lw.repair(model, SPACE, SIMILAR, method=method, X=X, y=Y)
    assert proved(repaired)
    assert alike(repaired.model.predict(EVERYBODY))
    assert alike(repaired.model.predict_proba(EVERYBODY))
    at = [own_score(model, EVERYBODY.assign(sex=s, age=a), method) for s, a in SETTINGS]
    expected = METHODS[method](at, axis=0)
    shares = expected.ndim == 2
    new = (repaired.model.predict_proba if shares else repaired.model.decision_function)(EVERYBODY)
    assert np.allclose(new, expected, rtol=1e-12, atol=1e-12)
    decided = pd.Series(
        expected.argmax(axis=1) if shares else (expected > 0).astype(int), pd.MultiIndex.from_frame(EVERYBODY)
    )
    before, after = model.predict(X), decided.loc[list(map(tuple, X.to_numpy()))].to_numpy()
    assert (repaired.changed, repaired.rows) == ((before != after).sum(), len(X))
    assert (repaired.before, repaired.after) == ((before == Y).mean(), (after == Y).mean())


def test_thresholds_of_its_own_are_refused_and_not_suggested():
    model = clone(CLASSIFIERS["cat"]).fit(X, Y)
    model.set_probability_threshold(0.3)
    with pytest.raises(lw.UnsupportedModel, match="threshold of its own"):
        lw.repair(model, SPACE, SIMILAR, X=X)
    assert not lw.verify(model, SPACE, SIMILAR, X=X).stats["repairable"]


@pytest.mark.draw(1)
@pytest.mark.parametrize("family", ["xgb", "lgbm", "forest"])
def test_clones_pickles_and_pipelines_say_the_same(family):
    repaired = lw.repair(clone(CLASSIFIERS[family]).fit(X, Y), SPACE, SIMILAR, X=X).model
    whole = Pipeline([("nothing", "passthrough"), ("model", repaired)])
    for copy in (clone(repaired), pickle.loads(pickle.dumps(repaired)), whole):
        assert np.array_equal(copy.predict_proba(EVERYBODY), repaired.predict_proba(EVERYBODY))
    assert lw.verify(whole, SPACE, SIMILAR, X=X).verdict == "FAIR"


@pytest.mark.draw(1)
@pytest.mark.parametrize(("family", "how"), [("gb", "max"), ("xgb", "average"), ("forest", "average")])
def test_the_repaired_model_asked_about_another_feature(family, how):
    """Means of trees are trees, with all bounds; the verdict on both is that of all pairs."""
    new = lw.repair(clone(CLASSIFIERS[family]).fit(X, Y), SPACE, SIMILAR, method=how).model
    model = import_model(new, SPACE, rows=SPACE.encode(X)).model
    assert isinstance(model.bodies[0], Combined if how == "max" else TreeForm)
    groups = new.predict(EVERYBODY).reshape(2, 3, 3, 6)
    for similar, axis in ((lw.Similarity(free=["race"]), 1), (lw.Similarity(free=["income"]), 3)):
        expected = "FAIR" if (groups == groups.take([0], axis)).all() else "BIASED"
        assert lw.verify(new, SPACE, similar).verdict == expected


def test_a_certificate_of_trees_that_look_again_is_refused():
    model = clone(CLASSIFIERS["gb"]).fit(X, Y)
    for method in ("average", "max"):
        repaired = lw.repair(model, SPACE, SIMILAR, method=method)
        lines = [
            json.loads(line) for line in gzip.decompress(repaired.result.certificate.content).splitlines()
        ]
        assert checked(lines).accepted
        body = lines[4]["model"]["body"]
        trees = body["of"][-1] if method == "max" else body
        node = next(
            node for tree in trees["trees"] for node in tree if isinstance(node, list) and node[0] == 3
        )
        node[0] = 2
        assert "depends" in checked(lines).reason


def test_another_answer_at_one_number_alone_is_noticed():
    """At a threshold itself, where no data row is."""
    space = SPACE.replace({"income": lw.Continuous(0, 5)})
    model = clone(CLASSIFIERS["gb"]).fit(X, Y)
    new = lw.repair(model, space, lw.Similarity(free=["sex"]), X=X).model
    tree = model.estimators_[0, 0].tree_
    limit = float(tree.threshold[tree.feature == 3][0])
    assert lw.verify(new, space, lw.Similarity(free=["sex"]), X=X).verdict == "FAIR"
    honest = new.decision_function
    new.decision_function = lambda rows: honest(rows) + (np.asarray(rows["income"]) == limit)
    with pytest.raises(lw.UnsupportedModel, match="disagrees with the original"):
        lw.verify(new, space, lw.Similarity(free=["sex"]), X=X)


@pytest.mark.parametrize(
    "inside", [XGBClassifier(n_jobs=1, n_estimators=4), RandomForestClassifier(5, random_state=0)]
)
def test_several_classes_by_means(inside):
    model = inside.fit(X, Y3)
    repaired = lw.repair(model, SPACE, SIMILAR, X=X, y=Y3)
    assert proved(repaired)
    assert alike(repaired.model.predict_proba(EVERYBODY))
    with pytest.raises(lw.UnsupportedModel, match="for two classes"):
        lw.repair(model, SPACE, SIMILAR, method="max")
    with pytest.raises(lw.SpecError, match="two classes"):
        lw.repair(model, SPACE, SIMILAR, method="threshold", X=X)


@pytest.mark.some_days
@pytest.mark.parametrize(
    "inside",
    [
        RandomForestRegressor(5, max_depth=4, random_state=0),
        XGBRegressor(n_jobs=1, n_estimators=4),
        LGBMRegressor(n_jobs=1, n_estimators=4, min_child_samples=5, verbose=-1),
    ],
)
def test_regressors(inside):
    model = inside.fit(X, WORTH)
    repaired = lw.repair(model, SPACE, SIMILAR, property=lw.ScoreGap(0), X=X, y=WORTH)
    assert proved(repaired)
    at = [model.predict(X.assign(sex=s, age=a)).astype(float) for s, a in SETTINGS]
    assert np.allclose(repaired.model.predict(X), np.mean(at, axis=0), rtol=1e-12)
    assert repaired.after == pytest.approx(repaired.model.score(X, WORTH))
    smallest = lw.repair(model, SPACE, SIMILAR, property=lw.ScoreGap(0), method="min")
    assert proved(smallest)
    assert np.array_equal(smallest.model.predict(X), np.min(at, axis=0))


def test_boosters_of_categories_behind_a_search():
    frame = X.assign(sex=X.sex.map({0: "f", 1: "m"}).astype("category"))
    space = SPACE.replace({"sex": lw.Categorical(["f", "m"])})
    search = GridSearchCV(
        XGBClassifier(n_jobs=1, n_estimators=4, enable_categorical=True), {"max_depth": [3]}, cv=2
    )
    repaired = lw.repair(search.fit(frame, Y), space, SIMILAR, X=frame, y=Y)
    assert proved(repaired)
    women = frame[frame.sex == "f"]
    fewer = women.assign(sex=women.sex.cat.remove_unused_categories())
    told = repaired.model.decision_function(frame)[(frame.sex == "f").to_numpy()]
    assert np.array_equal(repaired.model.decision_function(fewer), told)


def test_lightgbm_writes_underscores_for_blanks():
    names = {"sex": "the sex", "age": "age", "race": "race", "income": "the income"}
    space = lw.Space({names[name]: feature for name, feature in SPACE.features.items()})
    model = clone(CLASSIFIERS["lgbm"]).fit(X.rename(columns=names), Y)
    assert proved(lw.repair(model, space, lw.Similarity(free=["the sex"]), X=X.rename(columns=names)))


def test_missing_numbers():
    numbers = np.random.default_rng(2)
    rows = X.astype(float).mask(numbers.random(X.shape) < 0.1)
    space = SPACE.replace(
        {
            "sex": lw.Integer(0, 1, missing=True),
            "race": lw.Integer(0, 2, missing=True),
            "age": lw.Integer(18, 20, missing=True),
            "income": lw.Integer(0, 5, missing=True),
        }
    )
    model = clone(CLASSIFIERS["xgb"]).fit(rows, Y)
    for method in ("average", "max"):
        repaired = lw.repair(model, space, lw.Similarity(free=["sex"]), method=method, X=rows)
        assert proved(repaired)
        answers = [repaired.model.decision_function(rows.assign(sex=sex)) for sex in (0, 1, np.nan)]
        assert np.array_equal(answers[0], answers[1])
        assert np.array_equal(answers[0], answers[2])


@pytest.mark.draw(1)
@pytest.mark.parametrize("family", ["gb", "xgb", "forest"])
def test_the_stated_rounding_covers_the_mean(family):
    """What the estimator computes is no further from the exact mean than its certificate says."""
    new = lw.repair(clone(CLASSIFIERS[family]).fit(X, Y), SPACE, SIMILAR, weights="observed", X=X).model
    model = import_model(new, SPACE, rows=SPACE.encode(X)).model
    error = rounding_error(model, SPACE)
    told = new.predict_proba(EVERYBODY) if family == "forest" else new.decision_function(EVERYBODY)[:, None]
    for codes, scores in zip(SPACE.encode(EVERYBODY).tolist(), told.tolist(), strict=True):
        exact = model.exact([Fraction(code) for code in codes])
        assert all(abs(Fraction(s) - e) <= error for s, e in zip(scores, exact, strict=True))
    assert 0 < error < 1e-3


# -- shrinking and thresholds -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "inside",
    [
        AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0),
        LGBMClassifier(n_jobs=1, n_estimators=4, sigmoid=0.5, min_child_samples=5, verbose=-1),
        RandomForestClassifier(4, max_depth=3, random_state=0),
    ],
)
def test_shrinking_keeps_what_is_allowed(inside):
    model, similar = inside.fit(X, Y), lw.Similarity(free=["sex"])
    repaired = lw.repair(model, SPACE, similar, method="shrink", property=lw.ProbabilityGap(0.1), X=X)
    assert proved(repaired)
    assert 0 < repaired.kept < 1
    shares = repaired.model.predict_proba(EVERYBODY).reshape(2, -1, 2)
    gap = np.abs(shares[0] - shares[1]).max()
    assert 0.06 < gap <= 0.1 + 1e-12


@pytest.mark.parametrize("family", ["tree", "xgb", "gb"])
def test_the_nearest_fair_threshold(family):
    """Of the poorest, 45 in 100 women and 55 in 100 men are accepted, of all others 95 in 100: sex decides at one half, and nowhere above 55 %."""
    space = lw.Space({"sex": lw.Categorical([0, 1]), "income": lw.Integer(0, 3)})
    cells = [(s, i, 55 if i == 0 and s else 45 if i == 0 else 95) for s in (0, 1) for i in range(4)]
    rows = pd.DataFrame([(s, i) for s, i, _ in cells for _ in range(100)], columns=["sex", "income"])
    labels = np.array([int(n < yes) for _, _, yes in cells for n in range(100)])
    rate = {} if family == "tree" else {"learning_rate": 0.9}
    model = clone(CLASSIFIERS[family]).set_params(**rate).fit(rows, labels)
    similar = lw.Similarity(free=["sex"])
    assert lw.verify(model, space, similar).verdict == "BIASED"
    repaired = lw.repair(model, space, similar, method="threshold", X=rows, y=labels)
    assert proved(repaired)
    assert repaired.threshold > 0
    decided = repaired.model.predict(rows)
    assert np.array_equal(decided, (rows.income > 0).astype(int))
    assert repaired.changed == (model.predict(rows) != decided).sum() == 100


# -- refusals ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("inside", "options", "words"),
    [
        (XGBClassifier(n_jobs=1, n_estimators=2, objective="binary:logitraw"), {}, "logitraw"),
        (
            LGBMClassifier(
                n_jobs=1, n_estimators=2, boosting_type="rf", subsample_freq=1, subsample=0.5, verbose=-1
            ),
            {},
            "sum over its rounds",
        ),
        (
            XGBRegressor(n_jobs=1, n_estimators=2, objective="reg:logistic"),
            {"property": lw.ProbabilityGap(0)},
            "no score",
        ),
        (
            DecisionTreeClassifier(),
            {"method": "max", "property": lw.ProbabilityGap(0.1)},
            r"ScoreGap\(0.1\)",
        ),
    ],
)
def test_what_is_not_taken(inside, options, words):
    with pytest.raises(lw.LikewiseError, match=words) as refused:
        lw.repair(inside.fit(X, Y), SPACE, SIMILAR, X=X, **options)
    assert refused.value.hint


def test_more_trees_than_a_certificate_holds(monkeypatch):
    model = clone(CLASSIFIERS["forest"]).fit(X, Y)
    monkeypatch.setattr("likewise.importers.settled_estimators.MOST_NODES", 200)
    for method in ("average", "max"):
        with pytest.raises(lw.UnsupportedModel, match="nodes over 6 settings"):
            lw.repair(model, SPACE, SIMILAR, method=method)


def test_a_booster_is_no_estimator():
    booster = clone(CLASSIFIERS["xgb"]).fit(X, Y).get_booster()
    with pytest.raises(lw.UnsupportedModel, match="no scikit-learn estimator"):
        lw.repair(booster, SPACE, SIMILAR, X=X)
