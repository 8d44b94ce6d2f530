"""Verdicts and brackets of models of several classes against looking at every pair, and planted ones."""

from __future__ import annotations

import io
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, SplineTransformer, StandardScaler
from sklearn.svm import SVC

from likewise import (
    Categorical,
    Continuous,
    Integer,
    ProbabilityGap,
    SameDecision,
    ScoreGap,
    Similarity,
    Space,
    SpecError,
    measure,
    verify,
)
from likewise.datasets import load_credit
from likewise_check import check

SPACE = Space({"a": Integer(0, 5), "b": Integer(-2, 2), "s": Categorical([0, 1, 2])})
GRID = pd.DataFrame(list(product(range(6), range(-2, 3), range(3))), columns=["a", "b", "s"])
SIMILAR = Similarity(free=["s"])
PAIRS = [(i, j) for rows in GRID.groupby(["a", "b"]).indices.values() for i in rows for j in rows if i != j]
FIRST, SECOND = np.array(PAIRS).T


def trained(family, seed, classes=3, touched=True):
    """A model of the grid, its labels touched by s or not."""
    random = np.random.default_rng(seed)
    weights = random.normal(size=(classes, 3)) * [0.8, 0.8, 0.3 * touched]
    rows = GRID.sample(120, random_state=seed, replace=True)
    noise = random.gumbel(size=(len(rows), classes)) * 0.3 * touched
    labels = np.array(list("pqrt"))[
        (rows.to_numpy() @ weights.T + random.normal(size=classes) + noise).argmax(axis=1)
    ]
    models = {
        "affine": LogisticRegression(),
        "polynomial": make_pipeline(
            PolynomialFeatures(2, include_bias=False), StandardScaler(), LogisticRegression(max_iter=2000)
        ),
        "rbf": SVC(gamma=0.1),
    }
    return models[family].fit(rows, labels)


def flips(model, of=None):
    decided = model.predict(GRID)
    return (
        decided[FIRST] != decided[SECOND] if of is None else (decided[FIRST] == of) != (decided[SECOND] == of)
    )


def accepted(result):
    return check(io.BytesIO(result.certificate.content)).accepted


def expect(model, property, *, biased):
    result = verify(model, SPACE, SIMILAR, property, budget=60)
    assert result.verdict == ("BIASED" if biased else "FAIR")
    assert accepted(result)
    return result


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize(
    ("family", "seed", "classes", "touched"),
    [
        ("affine", 8, 3, False),
        ("affine", 13, 3, True),
        ("affine", 14, 4, False),
        ("polynomial", 8, 3, False),
        ("polynomial", 13, 3, True),
        ("polynomial", 14, 4, False),
        ("rbf", 8, 3, False),
        ("rbf", 13, 3, True),
        ("rbf", 14, 4, False),
    ],
)
def test_decisions_are_those_of_every_pair(family, seed, classes, touched):
    model = trained(family, seed, classes, touched)
    assert len(set(model.predict(GRID))) == classes
    for of in (None, *map(str, model.classes_)):
        result = expect(model, SameDecision(class_of_interest=of), biased=bool(flips(model, of).any()))
        if result.pair is not None:
            assert len(set(result.decisions)) == 2
            assert of is None or of in result.decisions
            assert list(model.predict(result.pair)) == list(result.decisions)


@pytest.mark.draw(1)
@pytest.mark.parametrize("family", ["affine", "polynomial"])
def test_gaps_and_margins_are_those_of_every_pair(family):
    model = trained(family, 13)
    scores, decided = model.decision_function(GRID), model.predict(GRID)
    gaps = np.abs(scores[FIRST] - scores[SECOND])
    for of, largest in ((None, gaps.max()), (str(model.classes_[1]), gaps[:, 1].max())):
        expect(model, ScoreGap(0.99 * largest, class_of_interest=of), biased=True)
        expect(model, ScoreGap(1.01 * largest, class_of_interest=of), biased=False)
        bracket = measure(model, SPACE, SIMILAR, of="score", class_of_interest=of, certify=True)
        assert bracket.lower - 1e-9 <= largest <= bracket.upper + 1e-9
        assert bracket.upper - bracket.lower <= 2e-6
        assert bracket.scores[0] - bracket.scores[1] == pytest.approx(bracket.lower)
        assert accepted(bracket)
    ordered = np.sort(scores, axis=1)
    leads = ordered[:, -1] - ordered[:, -2]
    margins = np.minimum(leads[FIRST], leads[SECOND])[decided[FIRST] != decided[SECOND]]
    expect(model, SameDecision(0.99 * margins.max()), biased=True)
    expect(model, SameDecision(1.01 * margins.max()), biased=False)
    bracket = measure(model, SPACE, SIMILAR, of="margin", tolerance=1e-3, certify=True)
    assert bracket.lower - 1e-9 <= margins.max() <= bracket.upper + 1e-9
    assert bracket.upper - bracket.lower <= 2e-3
    assert accepted(bracket)


@pytest.mark.parametrize(("seed", "classes"), [(13, 3), (14, 4)])
def test_softmax_gaps_are_those_of_every_pair(seed, classes):
    model = trained("affine", seed, classes)
    probabilities = model.predict_proba(GRID)
    largest = np.abs(probabilities[FIRST] - probabilities[SECOND]).max()
    result = expect(model, ProbabilityGap(0.99 * largest), biased=True)
    assert abs(result.probabilities[0] - result.probabilities[1]) > 0.99 * largest
    expect(model, ProbabilityGap(1.01 * largest), biased=False)
    bracket = measure(model, SPACE, SIMILAR, of="probability", tolerance=0.005, certify=True)
    assert bracket.lower - 1e-9 <= largest <= bracket.upper + 1e-9
    assert bracket.upper - bracket.lower <= 0.0051
    assert bracket.proved
    assert accepted(bracket)


@pytest.mark.some_days
def test_softmax_gaps_of_credit():
    data = load_credit(classes=3)
    numbers = data.X.select_dtypes("number").columns
    columns = make_column_transformer((StandardScaler(), numbers), remainder=OneHotEncoder())
    model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(data.X, data.y)
    free = Similarity(free=["ethnicity"])
    bracket = measure(
        model, data.space, free, of="probability", tolerance=0.01, X=data.X, certify=True, budget=60
    )
    assert bracket.proved
    assert accepted(bracket)
    assert bracket.upper - bracket.lower <= 0.0101
    gap = np.diff(model.predict_proba(bracket.pair)[:, list(model.classes_).index(bracket.upper_label)])
    assert abs(gap[0]) == pytest.approx(bracket.lower, abs=1e-9)
    for delta, verdict in ((0.9 * bracket.lower, "BIASED"), (1.1 * bracket.upper, "FAIR")):
        for of in (None, bracket.upper_label):
            property = ProbabilityGap(delta, class_of_interest=of)
            result = verify(model, data.space, free, property, X=data.X, budget=60)
            assert result.verdict == verdict
            assert accepted(result)


def planted(effect, *, curved=False):
    """Three classes by a and b, on continuous features, s adding `effect` to the score of the second one."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame(
        {"a": random.uniform(0, 4, 300), "b": random.uniform(-2, 2, 300), "s": random.integers(0, 2, 300)}
    )
    labels = np.where(rows.a + rows.b > 3, 2, np.where(rows.a > 1.5, 1, 0))
    model = LogisticRegression(C=10)
    bent = SplineTransformer(n_knots=3, degree=1, include_bias=False).set_output(transform="pandas")
    if curved:
        pipeline = make_pipeline(make_column_transformer((bent, ["a", "b"]), remainder="passthrough"), model)
        pipeline.fit(rows, labels)
    else:
        pipeline = model.fit(rows, labels)
    model.coef_[:, -1] = [0.0, effect, 0.0]
    return pipeline


SMOOTH = Space({"a": Continuous(0, 4), "b": Continuous(-2, 2), "s": Categorical([0, 1])})


@pytest.mark.draw(1)
@pytest.mark.parametrize("curved", [False, True])
def test_planted_effects_are_found_and_their_absence_is_proved(curved):
    fair = verify(planted(0.0, curved=curved), SMOOTH, SIMILAR)
    assert (fair.verdict, fair.stats["engine"]) == ("FAIR", "independence")
    assert accepted(fair)
    biased = verify(planted(0.05, curved=curved), SMOOTH, SIMILAR)
    assert biased.verdict == "BIASED"
    assert accepted(biased)
    within = verify(planted(0.05, curved=curved), SMOOTH, SIMILAR, ScoreGap(0.0501))
    assert within.verdict == "FAIR"
    margin = verify(planted(0.05, curved=curved), SMOOTH, SIMILAR, SameDecision(0.06), budget=60)
    assert margin.verdict == "FAIR"
    assert margin.stats["cases"] == 3
    assert accepted(margin)


def test_tolerances_of_several_classes():
    model, similar = planted(0.0), Similarity(within={"b": 0.01})
    result = verify(model, SMOOTH, similar, SameDecision(0.5), budget=60)
    assert result.verdict == "FAIR"
    assert accepted(result)
    assert verify(model, SMOOTH, similar, budget=60).verdict == "BIASED"


def test_constraints_of_several_classes():
    model, similar = planted(0.05), SIMILAR
    features = {name: SMOOTH[name] for name in SMOOTH.names}
    apart = Space(features, constraints=["a + b >= 4.5", "a >= 3"])
    assert set(model.predict(pd.DataFrame({"a": [4, 3.0], "b": [0.5, 1.5], "s": [0, 1]}))) == {2}
    result = verify(model, apart, similar, budget=60)
    assert result.verdict == "FAIR"
    assert accepted(result)
    probable = verify(model, apart, similar, ProbabilityGap(0.02), budget=60)
    assert probable.verdict == "FAIR"
    assert accepted(probable)


def test_a_margin_below_zero_where_no_decisions_differ():
    model = trained("affine", 8, touched=False)
    assert not flips(model).any()
    bracket = measure(model, SPACE, SIMILAR, of="margin", tolerance=1e-3, certify=True)
    assert bracket.lower <= bracket.upper < 0
    assert accepted(bracket)  # of the margin 0: no decisions differ


def test_votes_of_many_classes_are_refuted_and_never_proved():
    rows = GRID.sample(200, random_state=0, replace=True)
    labels = rows.a.to_numpy()
    model = SVC(gamma=0.1, C=10).fit(rows, labels)
    assert len(model.classes_) == 6
    assert not flips(model).any()
    assert "votes of 6 classes" in verify(model, SPACE, SIMILAR).reason
    touched = SVC(gamma=0.1, C=10).fit(rows, np.where(rows.b > 0, labels, (labels + rows.s) % 6))
    result = verify(touched, SPACE, SIMILAR)
    assert result.verdict == "BIASED"
    assert accepted(result)


def test_what_votes_cannot_answer_is_refused():
    model = trained("rbf", 13)
    for property in (ScoreGap(1.0), SameDecision(0.5), ProbabilityGap(0.1)):
        with pytest.raises(SpecError):
            verify(model, SPACE, SIMILAR, property)
    with pytest.raises(SpecError):
        measure(model, SPACE, SIMILAR, of="margin")


def test_a_result_of_several_classes_in_words():
    model = trained("affine", 13)
    largest = np.abs(np.diff([model.decision_function(GRID)[i] for i in (FIRST, SECOND)], axis=0)).max()
    text = str(verify(model, SPACE, SIMILAR, ScoreGap(0.9 * largest)))
    assert "score of" in text
    assert max(map(len, text.splitlines())) <= 80
    unknown = verify(model, SPACE, SIMILAR, ScoreGap(1.1 * largest), certify=False)
    assert unknown.verdict == "UNKNOWN"
    assert "certify=False" in unknown.reason
    assert unknown.to_dict()["certified"] is False
