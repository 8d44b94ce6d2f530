"""Fairness as a test: run by `pytest`, with the fixture `assert_fair` that Likewise brings along."""

import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import likewise as lw

data = lw.datasets.load_german(coded=True)
similar = lw.Similarity(free=data.protected)  # all other features: the same


@pytest.fixture(scope="module")
def model():
    """A model that does not look at what is protected; yours is loaded from where it was saved."""
    blind = make_column_transformer(("drop", list(data.protected)), remainder="passthrough")
    return make_pipeline(blind, LogisticRegression(solver="liblinear")).fit(data.X, data.y)


def test_sex_and_marital_status_decide_nothing(model, assert_fair):
    result = assert_fair(model, data.space, similar, budget=60)
    assert result.certificate is not None


def test_scores_do_not_move_either(model, assert_fair):
    assert_fair(model, data.space, similar, lw.ScoreGap(0.0), budget=60)
