"""compare: what is said of two models follows from their verdicts and brackets."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

import likewise as lw

SPACE = lw.Space({"age": lw.Integer(18, 60), "sex": lw.Integer(0, 1)})
SIMILAR = lw.Similarity(free=["sex"])


def model(weight, kind=LogisticRegression):
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"age": random.integers(18, 61, 60), "sex": random.integers(0, 2, 60)})
    fitted = kind().fit(rows, rows["age"] > 40)
    fitted.coef_ = np.array([[0.1, weight]])
    fitted.intercept_ = np.array([-4.0])
    return fitted


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        (0.5, 0.0, "better"),
        (0.0, 0.5, "worse"),
        (0.5, 1.0, "worse"),
        (1.0, 0.5, "better"),
        (0.5, 0.5, "same"),
    ],
)
def test_the_change(old, new, change):
    found = lw.compare(model(old), model(new), SPACE, SIMILAR)
    assert found.change == change
    assert found.of == "probability"
    assert str(found).splitlines()[0].startswith("old")
    assert [entry["name"] for entry in found.to_dict()["models"]] == ["old", "new"]


def test_shares_are_compared_where_one_has_no_probabilities():
    found = lw.compare(model(0.5), model(0.75, LinearSVC), SPACE, SIMILAR)
    assert found.of == "score"
    assert found.shares is not None
    by_hand = [
        sum((score(age) > 0) != (score(age) + Fraction(weight) > 0) for age in range(18, 61)) / 43
        for weight in (0.5, 0.75)
    ]
    for share, expected in zip(found.shares, by_hand, strict=True):
        assert share.lower <= expected <= share.upper <= share.lower + 1e-12
    assert found.change == "worse"


def score(age):
    """Without the weight of sex."""
    return Fraction(0.1) * age - 4


def scaled(fitted, factor):
    fitted.coef_, fitted.intercept_ = fitted.coef_ * factor, fitted.intercept_ * factor
    return fitted


@pytest.mark.parametrize("rows", [None, pd.DataFrame({"age": [30, 37, 52], "sex": [0, 1, 0]})])
def test_the_unit_of_scores_says_nothing(rows):
    old, new = model(0.5, LinearSVC), scaled(model(0.5, LinearSVC), 4)
    found = lw.compare(old, new, SPACE, SIMILAR, X=rows)
    assert found.change == "same"
    assert found.disparities[1].lower > found.disparities[0].upper
    assert "no unit in common" in str(found)
    assert found.to_dict()["models"][1]["share"]["lower"] == found.shares[1].lower


def test_scores_are_compared_where_they_are_asked_for():
    old, new = model(0.5, LinearSVC), scaled(model(0.5, LinearSVC), 4)
    for asked in ({"of": "score"}, {"property": lw.ScoreGap(0.1)}):
        found = lw.compare(old, new, SPACE, SIMILAR, **asked)
        assert found.change == "worse"
        assert found.shares is None


def test_predictions_of_regressors_have_one_unit():
    from sklearn.linear_model import LinearRegression

    rows = pd.DataFrame({"age": [20, 30, 40, 50], "sex": [0, 1, 1, 0]})
    old, new = (LinearRegression().fit(rows, rows["age"] + w * rows["sex"]) for w in (1, 2))
    found = lw.compare(old, new, SPACE, SIMILAR, lw.ScoreGap(0.5))
    assert found.change == "worse"
    assert found.shares is None


def test_wide_brackets_decide_nothing():
    old, new = (lw.measure(model(w), SPACE, SIMILAR) for w in (0.5, 0.6))
    from likewise.analysis.compare import fairness_change

    results = tuple(lw.verify(model(w), SPACE, SIMILAR) for w in (0.5, 0.6))
    assert fairness_change(results, ((old.lower, 0.9), (0.1, new.upper)), 1e-3) == "undecided"


def test_what_left_a_comparison_open_is_told_and_nothing_else():
    """A verdict without a certificate is a verdict: that there was no time for one is no reason."""
    results = tuple(replace(lw.verify(model(w), SPACE, SIMILAR), reason="no time for it") for w in (0.5, 0.6))
    found = tuple(replace(lw.measure(model(w), SPACE, SIMILAR), reason="it ended") for w in (0.5, 0.6))
    text = str(lw.Comparison(names=("old", "new"), results=results, disparities=found, change="undecided"))
    assert "it ended" in text
    assert "no time for it" not in text


def test_an_upper_end_in_floating_point_is_said_to_be_one():
    kernel = SVC(gamma=0.001).fit([[age, sex] for age in range(18, 61, 3) for sex in (0, 1)], [0, 1, 1] * 10)
    found = lw.compare(model(0.5), kernel, SPACE, SIMILAR, of="score", budget=20)
    assert [disparity.proved for disparity in found.disparities] == [True, False]
    assert ["not proved" in line for line in str(found).splitlines()] == [False, True, False]
    assert ["not proved" in str(disparity) for disparity in found.disparities] == [False, True]
    assert found._repr_html_().count("not proved") == 1
