"""audit and share of forests and of models of several classes: what the models' own predictions say of everybody in a small space."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.analysis.brute import SIMILAR, SPACE, everybody, similar_pairs

import likewise as lw
from likewise.errors import SpecError

X = everybody()
SCALED = ((X - X.mean()) / X.std()).to_numpy()
TWO = {
    "tree": lambda: DecisionTreeClassifier(max_depth=3),
    "forest": lambda: RandomForestClassifier(7, max_depth=4, random_state=0),
    "extra trees": lambda: ExtraTreesClassifier(5, max_depth=5, random_state=0),
    "bagging": lambda: BaggingClassifier(DecisionTreeClassifier(max_depth=3), 5, random_state=0),
}
THREE = {
    "multinomial": lambda: LogisticRegression(C=10),
    "argmax": LinearSVC,
    "one vs rest": lambda: OneVsRestClassifier(make_pipeline(StandardScaler(), LogisticRegression())),
    "votes": lambda: SVC(gamma=0.3, break_ties=False),
    "forest": lambda: RandomForestClassifier(6, max_depth=4, random_state=1),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=4, random_state=0),
    "adaboost": lambda: AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0
    ),
}


def fitted(make, classes, people=X):
    random = np.random.default_rng(len(people) + classes)
    score = SCALED @ random.normal(size=4) + random.normal(size=len(people))
    labels = np.array(["a", "b", "c"])[:classes]
    return make().fit(
        people, labels[np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)]
    )


def made(name, classes):
    return fitted((TWO if classes == 2 else THREE)[name], classes)


def probabilities_or_scores(model, people):
    if hasattr(model, "predict_proba"):
        return model.predict_proba(people)
    return model.decision_function(people)


def audited(found):
    return found.rows.sort_values("row").reset_index(drop=True)


@pytest.mark.draw(8)
@pytest.mark.parametrize("similar", SIMILAR)
@pytest.mark.parametrize(("name", "classes"), [*((name, 2) for name in TWO), *((name, 3) for name in THREE)])
def test_decisions_are_those_of_the_model_itself(name, classes, similar):
    space = SPACE.where("a <= b + c + 1") if len(name) % 2 else SPACE
    model, people = made(name, classes), everybody(space)
    found = lw.audit(model, space, SIMILAR[similar], X=people)
    rows, near, decided = audited(found), similar_pairs(space, SIMILAR[similar]), model.predict(people)
    assert rows["biased"].tolist() == (near & (decided[:, None] != decided)).any(axis=1).tolist()
    assert rows["decision"].tolist() == decided.tolist()
    assert found.undecided == 0
    assert found.proved
    biased = rows[rows["biased"]]
    other = people.iloc[biased["row"].to_numpy()].reset_index(drop=True)
    for column in [c for c in biased if c.startswith("counterpart_") and c != "counterpart_decision"]:
        other[column.removeprefix("counterpart_")] = biased[column].to_numpy()
    if len(biased):
        assert (model.predict(other) == biased["counterpart_decision"].to_numpy()).all()


@pytest.mark.draw(3)
@pytest.mark.parametrize(
    ("name", "classes"), [("forest", 2), ("forest", 3), ("multinomial", 3), ("boosting", 3)]
)
@pytest.mark.parametrize("label", [None, "b"])
def test_gaps_of_probabilities_are_those_of_the_model_itself(name, classes, label):
    model, similar = made(name, classes), SIMILAR["free and within"]
    p, near = model.predict_proba(X), similar_pairs(SPACE, similar)
    apart = np.abs(p[:, None] - p)
    apart = apart.max(axis=2) if label is None else apart[:, :, 1]
    gaps = np.where(near, apart, 0).max(axis=1)
    delta = float(np.median(gaps)) + 1e-6
    found = lw.audit(model, SPACE, similar, lw.ProbabilityGap(delta, class_of_interest=label), X=X)
    rows = audited(found)
    assert rows["biased"].tolist() == (gaps > delta).tolist()
    assert 0 < found.biased < found.total
    assert np.allclose(rows["gap"], gaps, atol=1e-12)


def test_margins_and_classes_of_interest():
    model, similar = made("forest", 3), SIMILAR["pairs and within"]
    p, near = model.predict_proba(X), similar_pairs(SPACE, similar)
    first, second = np.sort(p, axis=1)[:, -1], np.sort(p, axis=1)[:, -2]
    clear, decided = first - second > 0.1, model.predict(X)
    both = near & clear[:, None] & clear & (decided[:, None] != decided)
    for label, wanted in ((None, both), ("c", both & ((decided == "c")[:, None] | (decided == "c")))):
        rows = audited(lw.audit(model, SPACE, similar, lw.SameDecision(0.1, class_of_interest=label), X=X))
        assert rows["biased"].tolist() == wanted.any(axis=1).tolist()
    two = made("forest", 2)
    p = two.predict_proba(X)
    clear = np.abs(p[:, 1] - p[:, 0]) > 0.1
    wanted = (near & clear[:, None] & clear & (two.predict(X)[:, None] != two.predict(X))).any(axis=1)
    assert (
        audited(lw.audit(two, SPACE, similar, lw.SameDecision(0.1), X=X))["biased"].tolist()
        == wanted.tolist()
    )
    with pytest.raises(SpecError, match="has no class"):
        lw.audit(two, SPACE, similar, lw.SameDecision(class_of_interest="d"), X=X)


def test_a_tie_of_two_classes_is_the_first_one():
    people = pd.DataFrame({"a": [0, 0, 1, 1], "s": [0, 1, 0, 1]})
    space = lw.Space({"a": lw.Integer(0, 1), "s": lw.Categorical([0, 1])})
    labels = ["x", "y", "y", "y"]
    model = RandomForestClassifier(2, bootstrap=False, max_features=1, random_state=0).fit(people, labels)
    for tree, value in zip(model.estimators_, (0.75, 0.25), strict=True):
        tree.tree_.value[tree.tree_.children_left < 0] = [[value, 1 - value]]
    lone = lw.audit(model, space, lw.Similarity(free=["s"]), X=people)
    assert lone.biased == 0
    assert set(lone.rows["decision"]) == {"x"} == set(model.predict(people))
    share = lw.share(model, space, lw.Similarity(free=["s", "a"]))
    assert (share.lower, share.upper) == (0.0, 0.0)


@pytest.mark.some_days
@pytest.mark.usefixtures("clock_of_looks")
@pytest.mark.parametrize(
    ("name", "classes"), [("forest", 2), ("multinomial", 3), ("votes", 3), ("forest", 3)]
)
def test_shares_of_everybody_are_counted(name, classes):
    model, similar = made(name, classes), SIMILAR["free and within"]
    space = SPACE.where("a <= b + c + 1")
    people = everybody(space)
    decided = model.predict(people)
    biased = (similar_pairs(space, similar) & (decided[:, None] != decided)).any(axis=1)
    exact = lw.share(model, space, similar)
    assert exact.method == "exact"
    assert exact.lower <= biased.mean() <= exact.upper
    assert exact.exact
    sampled = lw.share(model, space, similar, method="sampled", budget=1)
    assert sampled.method == "sampled"
    assert sampled.lower <= biased.mean() <= sampled.upper
    data = people.sample(500, replace=True, random_state=1)
    weighted = lw.share(model, lw.Space(SPACE.features), similar, over="marginals", X=data, method="exact")
    everyone = everybody()
    weights = np.prod(
        [data[c].value_counts(normalize=True).reindex(everyone[c]).fillna(0) for c in data], axis=0
    )
    decided = model.predict(everyone)
    biased = (similar_pairs(SPACE, similar) & (decided[:, None] != decided)).any(axis=1)
    assert weighted.lower <= weights @ biased + 1e-12
    assert weighted.upper >= weights @ biased - 1e-12
    assert weighted.upper - weighted.lower < 1e-9


@pytest.mark.parametrize("classes", [2, 3])
def test_certified_shares_of_forests_hold_the_truth(classes):
    model, similar = made("forest", classes), lw.Similarity(free=["c"])
    decided = model.predict(X)
    truth = (similar_pairs(SPACE, similar) & (decided[:, None] != decided)).any(axis=1).mean()
    found = lw.share(model, SPACE, similar, method="certified", budget=10)
    assert found.method == "certified"
    assert found.lower <= truth <= found.upper
    assert found.upper - found.lower < 0.01


@pytest.mark.parametrize(
    ("name", "classes"), [("forest", 2), ("multinomial", 3), ("forest", 3), ("votes", 3)]
)
def test_continuous_windows_are_searched_row_by_row(name, classes, monkeypatch):
    monkeypatch.setattr("likewise.search.counterparts.MOST_SETTINGS", 0)  # nothing is listed
    random = np.random.default_rng(4)
    people = pd.DataFrame(
        {"x": random.uniform(size=90), "y": random.uniform(size=90), "s": random.integers(0, 2, 90)}
    )
    space = lw.Space({"x": lw.Continuous(0, 1), "y": lw.Continuous(0, 1), "s": lw.Categorical([0, 1])})
    labels = np.array(["a", "b", "c"])[
        np.minimum((2 * people["x"] + people["s"] + people["y"]).astype(int), classes - 1)
    ]
    model = (TWO if classes == 2 else THREE)[name]().fit(people, labels)
    people = people.head(6)
    found = lw.audit(model, space, lw.Similarity(free=["s"], within={"x": 0.05}), X=people, budget=60)
    rows, steps = audited(found), np.linspace(-0.05, 0.05, 201)
    assert rows["biased"].notna().all()
    assert 0 < found.biased < 6
    for i, row in rows.iterrows():
        own = people.iloc[[i]]
        around = own.iloc[[0] * (2 * len(steps))].reset_index(drop=True)
        around["x"] = np.clip(own["x"].iloc[0] + np.tile(steps, 2), 0, 1)
        around["s"] = np.repeat([0, 1], len(steps))
        if row["biased"]:
            other = own.assign(x=row["counterpart_x"], s=row["counterpart_s"])
            assert abs(row["counterpart_x"] - own["x"].iloc[0]) <= 0.05 + 1e-12
            assert model.predict(other)[0] != model.predict(own)[0]
        else:
            assert (model.predict(around) == model.predict(own)[0]).all()


def test_one_code_between_two_thresholds_stands_for_all():
    random = np.random.default_rng(6)
    people = pd.DataFrame({"x": random.uniform(0, 10, 200), "y": random.integers(0, 9, 200)})
    people.loc[::9, "x"] = np.nan
    space = lw.Space({"x": lw.Continuous(0, 10, missing=True), "y": lw.Integer(0, 8)})
    labels = np.digitize(people["x"].fillna(7) + people["y"], [5, 9])
    for count, similar in (
        (2, lw.Similarity(within={"x": 0.75})),
        (3, lw.Similarity(free=["x"], within={"y": 1})),
    ):
        model = RandomForestClassifier(5, max_depth=4, random_state=0).fit(
            people, np.minimum(labels, count - 1)
        )
        rows, decided = audited(lw.audit(model, space, similar, X=people)), model.predict(people)
        assert rows["biased"].any()
        cuts = np.unique(np.concatenate([t.tree_.threshold[t.tree_.feature == 0] for t in model.estimators_]))
        cuts = cuts[np.abs(cuts) < 10]  # a test of what is missing is at infinity
        codes = np.unique(
            np.concatenate([[0.0, 10.0], cuts, np.nextafter(cuts.astype(np.float32), np.float32(np.inf))])
        )
        for i in range(0, 200, 5):
            x, y = people["x"][i], people["y"][i]
            xs, ys = np.append(codes, np.nan), [v for v in (y - 1, y, y + 1) if 0 <= v <= 8]
            if count == 2:
                near = [c for c in (*codes, x - 0.75, x, x + 0.75) if abs(c - x) <= 0.75 and 0 <= c <= 10]
                xs, ys = np.array([np.nan] if np.isnan(x) else near), [y]
            around = pd.DataFrame([(a, b) for a in xs for b in ys], columns=["x", "y"])
            assert rows["biased"][i] == (model.predict(around) != decided[i]).any()


def test_rows_that_nobody_is_similar_to_are_not_biased_and_have_no_counterpart():
    """All rows have a level that is in no pair: nobody's counterpart is there to be labelled."""
    model, alone = made("multinomial", 3), X[X["c"] == 2]
    found = lw.audit(model, SPACE, lw.Similarity(pairs={"c": [(0, 1)]}), X=alone)
    assert found.biased == found.undecided == 0
    assert (found.rows["gap"] == 0).all()
    assert found.rows["counterpart_decision"].isna().all()
    assert audited(found)["decision"].tolist() == model.predict(alone).tolist()
