"""audit and share of repaired models, whose scores are combined: what their own predictions say of everybody in a small space."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from tests.analysis.brute import MODELS, SIMILAR, SPACE, everybody, fitted, similar_pairs

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.families.combined.body import NO_BOUNDS
from likewise.repaired.estimators import SettledClassifier

X = everybody()


def settled(name, how, keep=0.0):
    inside = fitted(MODELS[name])
    return SettledClassifier(inside, ["c"], [(0,), (1,), (2,)], [1, 2, 1], how=how, keep=keep)


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("similar", SIMILAR)
@pytest.mark.parametrize(
    ("name", "how", "keep"),
    [
        ("linear", "max", 0.0),
        ("linear", "mean", 0.5),
        ("rbf", "mean", 0.0),
        ("rbf", "mean", 0.5),
        ("rbf", "min", 0.0),
        ("polynomial", "max", 0.0),
    ],
)
def test_rows_equal_brute_force(name, how, keep, similar):
    model, near = settled(name, how, keep), similar_pairs(SPACE, SIMILAR[similar])
    decided, scores = model.predict(X), model.decision_function(X)
    rows = lw.audit(model, SPACE, SIMILAR[similar], X=X).rows.sort_values("row")
    biased = (near & (decided[:, None] != decided)).any(axis=1)
    gaps = np.where(near, np.abs(scores[:, None] - scores), 0).max(axis=1)
    assert rows["biased"].tolist() == biased.tolist()
    assert np.allclose(rows["gap"], gaps, atol=1e-9)
    delta = float(np.quantile(gaps, 0.6)) + 1e-6
    rows = lw.audit(model, SPACE, SIMILAR[similar], lw.ScoreGap(delta), X=X).rows.sort_values("row")
    assert rows["biased"].tolist() == (gaps > delta).tolist()
    exact = lw.share(model, SPACE, SIMILAR[similar], method="exact")
    assert exact.lower <= biased.mean() <= exact.upper
    if (name, how, similar) == ("rbf", "min", "free"):
        sampled = lw.share(model, SPACE, SIMILAR[similar], method="sampled", budget=1)
        assert sampled.lower <= biased.mean() <= sampled.upper


def test_several_classes():
    labels = np.digitize(X["a"] + X["b"] - X["c"], [3, 6])
    inside = LogisticRegression().fit(X, labels)
    model = SettledClassifier(inside, ["c"], [(0,), (2,)], how="mean", keep=0.25)
    for similar in SIMILAR.values():
        decided = model.predict(X)
        rows = lw.audit(model, SPACE, similar, X=X).rows.sort_values("row")
        expected = (similar_pairs(SPACE, similar) & (decided[:, None] != decided)).any(axis=1)
        assert rows["biased"].tolist() == expected.tolist()


def test_what_is_settled_treats_everybody_alike():
    found = lw.share(settled("rbf", "mean"), SPACE, lw.Similarity(free=["c"]))
    assert (found.lower, found.upper, found.method, found.proved) == (0.0, 0.0, "certified", True)


def test_without_bounds_nothing_is_claimed():
    space = lw.Space({**SPACE.features, "a": lw.Continuous(0, 5)})
    model = settled("rbf", "mean")
    some = X.sample(20, random_state=0).reset_index(drop=True)
    found = lw.audit(model, space, lw.Similarity(within={"a": 1.5}), X=some, budget=20)
    rows = found.rows
    assert set(rows["biased"].dropna()) <= {True}
    assert found.undecided
    assert list(found.reasons) == [NO_BOUNDS]
    biased = rows[rows["biased"].astype("boolean").fillna(False)]
    assert len(biased)
    own = some.iloc[biased["row"].to_numpy()].reset_index(drop=True)
    other = own.assign(a=biased["counterpart_a"].to_numpy(dtype=float))
    assert (model.predict(own) != model.predict(other)).all()
    with pytest.raises(UnsupportedModel, match="is not known"):
        lw.share(model, space, lw.Similarity(within={"a": 1.5}), method="certified")


def test_kernel_models_of_decisions_by_votes_are_no_combined_scores():
    labels = np.digitize(X["a"] + X["b"] - X["c"], [3, 6])
    model = SettledClassifier(SVC().fit(X, labels), ["c"], [(0,), (2,)])
    with pytest.raises(UnsupportedModel, match="decides by votes"):
        lw.audit(model, SPACE, SIMILAR["free"], X=X)
