"""Regions and certified shares of models of several classes, against everybody: who is in a fair box has no similar one of another class."""

import io
from fractions import Fraction

import numpy as np
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from tests.analysis.test_partitioning import SPACE, everybody, similar_pairs

import likewise as lw
from likewise.analysis import share_bracket
from likewise.spec.boxes import parse_box

KINDS = {
    "linear": LogisticRegression(C=10),
    "forest": RandomForestClassifier(5, max_depth=4, random_state=0),
    "rbf": SVC(gamma=0.2, C=5.0, decision_function_shape="ovr"),
}
SIMILAR = {
    "free": lw.Similarity(free=["sex"]),
    "free and within": lw.Similarity(free=["sex"], within={"age": 1}),
    "pairs": lw.Similarity(pairs={"job": [("none", "skilled"), ("skilled", "manager")]}),
}


def fitted(kind):
    """Three classes, by all features."""
    rows = everybody(SPACE)
    points = rows["age"] + 2.0 * (rows["job"] == "manager") + 1.5 * (rows["sex"] == "m")
    points += (rows["grade"] == "high") + np.random.default_rng(0).normal(0, 0.4, len(rows))
    classes = np.array(["low", "middle", "top"])[np.digitize(points, [1.5, 4.0])]
    columns = make_column_transformer(
        (OneHotEncoder(), ["job", "sex", "grade"]), remainder="passthrough", sparse_threshold=0
    )
    return make_pipeline(columns, KINDS[kind]).fit(rows, classes)


def differently_treated(model, space, similar):
    rows = everybody(space)
    decided = model.predict(rows)
    return rows, (similar_pairs(space, similar, rows) & (decided[:, None] != decided[None])).any(axis=1)


@pytest.mark.draw(1)
@pytest.mark.parametrize("similar", SIMILAR)
@pytest.mark.parametrize("kind", ["linear", "forest", pytest.param("rbf", marks=pytest.mark.slow)])
def test_nobody_in_a_fair_box_is_treated_differently(kind, similar):
    model = fitted(kind)
    rows, differently = differently_treated(model, SPACE, SIMILAR[similar])
    assert differently.any()
    assert not differently.all()
    found = lw.regions(model, SPACE, SIMILAR[similar], X=rows, budget=120)
    assert not found.biased
    assert sum((region.measure for region in found), Fraction(0)) == 1
    seen = np.zeros(len(rows), dtype=int)
    fair = np.zeros(len(rows), dtype=bool)
    for region in found:
        inside = np.array([parse_box(region.rule, SPACE).holds(row) for row in SPACE.encode(rows).tolist()])
        seen += inside
        if region.kind == "fair":
            fair |= inside
            (certificate,) = region.certificates
            assert lw.check(io.BytesIO(certificate.content)).accepted
            assert not differently[inside].any()
    assert (seen == 1).all()
    assert found.people("fair") == Fraction(int(fair.sum()), len(rows))
    # Reach makes a box fair only together with those around it; by themselves nearly all who are fair are found.
    if similar == "free":
        assert fair.sum() == (~differently).sum()


@pytest.mark.draw(2)
@pytest.mark.parametrize("similar", ["free", "free and within"])
@pytest.mark.parametrize("over", ["uniform", "marginals"])
@pytest.mark.parametrize("kind", ["linear", "forest", pytest.param("rbf", marks=pytest.mark.slow)])
def test_certified_brackets_hold_the_share(kind, similar, over, monkeypatch):
    monkeypatch.setattr(share_bracket, "FEW_INDIVIDUALS", 6)
    model = fitted(kind)
    rows, differently = differently_treated(model, SPACE, SIMILAR[similar])
    X = rows.sample(40, random_state=0)
    weights = np.ones(len(rows))
    if over == "marginals":
        columns = [rows[n].map(X[n].value_counts() / len(X)).fillna(0) for n in SPACE.names]
        weights = np.prod(columns, axis=0)
    found = lw.share(model, SPACE, SIMILAR[similar], method="certified", over=over, X=X, budget=120)
    truth = weights[differently].sum() / weights.sum()
    assert (found.method, found.proved) == ("certified", True)
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-3


def test_gaps_of_classes_have_fair_regions():
    model = fitted("linear")
    found = lw.regions(model, SPACE, SIMILAR["free"], lw.ScoreGap(1.5, class_of_interest="middle"), budget=60)
    rows = everybody(SPACE)
    scores = [model.decision_function(rows.assign(sex=sex))[:, 1] for sex in ("f", "m")]
    gap = np.abs(scores[0] - scores[1])
    for region in found.fair:
        inside = np.array([parse_box(region.rule, SPACE).holds(row) for row in SPACE.encode(rows).tolist()])
        assert (gap[inside] <= 1.5 + 1e-9).all()
    assert sum((region.measure for region in found), Fraction(0)) == 1
