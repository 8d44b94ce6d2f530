"""audit: every row's verdict, gap and counterpart equal brute force, for every family and kind of similarity."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC
from tests.analysis.brute import (
    MODELS,
    PROPERTIES,
    SIMILAR,
    SPACE,
    Truth,
    constrained_sometimes,
    everybody,
    fitted,
)

import likewise as lw
from likewise.errors import DataError, SpecError


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("similar", SIMILAR)
@pytest.mark.parametrize("name", MODELS)
def test_every_row_equals_brute_force(name, similar):
    space = constrained_sometimes(name, similar)
    model, X = fitted(MODELS[name]), everybody(space)
    truth = Truth(model, space, SIMILAR[similar])
    for property in PROPERTIES.values():
        found = lw.audit(model, space, SIMILAR[similar], property, X=X)
        biased = truth.biased(property)
        rows = found.rows.sort_values("row")
        assert rows["biased"].tolist() == biased.tolist()
        assert np.allclose(rows["gap"], truth.gaps, atol=1e-9)
        assert found.biased == biased.sum()
        assert found.undecided == 0
        assert found.proved


def test_counterparts_are_similar_and_break_the_property():
    model, X = fitted(MODELS["rbf"]), everybody()
    found = lw.audit(model, SPACE, lw.Similarity(free=["c"], within={"a": 1}), X=X)
    biased = found.rows[found.rows["biased"]]
    assert len(biased) > 5
    own = X.iloc[biased["row"].to_numpy()].reset_index(drop=True)
    other = own.copy()
    for name in ("a", "c"):
        other[name] = biased[f"counterpart_{name}"].to_numpy()
    assert (np.abs(other["a"] - own["a"]) <= 1).all()
    assert (model.predict(own) == biased["decision"].to_numpy()).all()
    assert (model.predict(other) == biased["counterpart_decision"].to_numpy()).all()
    assert (biased["decision"].to_numpy() != biased["counterpart_decision"].to_numpy()).all()
    assert found.rows["biased"].is_monotonic_decreasing
    assert biased["gap"].is_monotonic_decreasing


def test_probability_gaps_are_of_probabilities():
    model, X = fitted(MODELS["linear"]), everybody()
    property, similar = lw.ProbabilityGap(0.15), lw.Similarity(free=["c"])
    found = lw.audit(model, SPACE, similar, property, X=X).rows.sort_values("row")
    assert found["biased"].tolist() == Truth(model, SPACE, similar).biased(property).tolist()
    p = [model.predict_proba(X.assign(c=level))[:, 1] for level in (0, 1, 2)]
    own = model.predict_proba(X)[:, 1]
    assert np.allclose(found["gap"], np.max([np.abs(other - own) for other in p], axis=0), atol=1e-12)


def test_continuous_windows_of_a_linear_model_are_exact():
    space = lw.Space({"x": lw.Continuous(0, 1), "y": lw.Continuous(0, 1), "z": lw.Continuous(0, 1)})
    random = np.random.default_rng(1)
    X = pd.DataFrame(random.uniform(size=(200, 3)), columns=["x", "y", "z"])
    model = LogisticRegression(C=50).fit(X, X.sum(axis=1) > 1.5)
    found = lw.audit(model, space, lw.Similarity(free=["y"], within={"x": 0.1}), X=X).rows.sort_values("row")
    slopes, scores = model.coef_[0], model.decision_function(X)
    ends = [X.assign(x=X["x"] - s * 0.1, y=(1 - s) / 2).clip(0, 1) for s in (1, -1)]
    low, high = (model.decision_function(end[["x", "y", "z"]]) for end in ends)
    assert (slopes[:2] > 0).all()
    expected = np.where(scores > 0, low <= 0, high > 0)
    clear = np.minimum(np.abs(low), np.abs(high)) > 1e-9
    assert found["biased"][clear].tolist() == expected[clear].tolist()
    assert np.allclose(found["gap"], np.maximum(scores - low, high - scores))


@pytest.mark.parametrize(
    ("kernel", "count"), [("rbf", 3), ("poly", 8), pytest.param("rbf", 8, marks=pytest.mark.slow)]
)
def test_continuous_windows_of_other_models_are_searched_row_by_row(kernel, count):
    space = lw.Space({"x": lw.Continuous(0, 1), "y": lw.Continuous(0, 1), "s": lw.Categorical([0, 1])})
    random = np.random.default_rng(2)
    X = pd.DataFrame(
        {"x": random.uniform(size=60), "y": random.uniform(size=60), "s": random.integers(0, 2, 60)}
    )
    model = SVC(kernel=kernel, gamma=1.0, coef0=1.0, degree=2).fit(X, X["x"] + 0.2 * X["s"] > X["y"])
    X = X.head(count)
    found = lw.audit(model, space, lw.Similarity(free=["s"], within={"x": 0.1}), X=X, budget=60)
    rows = found.rows.sort_values("row").reset_index(drop=True)
    assert not found.proved or rows["biased"].all()
    steps = np.linspace(-0.1, 0.1, 41)
    for i, row in rows.iterrows():
        around = pd.concat(
            [X.iloc[[i]].assign(x=np.clip(X["x"][i] + step, 0, 1), s=s) for step in steps for s in (0, 1)]
        )
        scores, own = model.decision_function(around), model.decision_function(X.iloc[[i]])[0]
        if row["biased"]:
            other = X.iloc[[i]].assign(x=row["counterpart_x"], s=row["counterpart_s"])
            assert model.predict(other)[0] != model.predict(X.iloc[[i]])[0]
        else:
            assert ((scores > 0) == (own > 0)).all()
        largest = np.abs(scores - own).max()
        assert row["gap"] >= largest - 2e-3 * (1 + largest)


def test_rows_of_a_regressor_have_gaps_and_no_decisions():
    X = everybody()
    model = LinearRegression().fit(X, X["a"] + 2 * X["c"])
    found = lw.audit(model, SPACE, lw.Similarity(free=["c"]), lw.ScoreGap(3.0), X=X)
    assert "decision" not in found.rows
    assert found.share == pytest.approx(2 / 3)
    assert found.rows["gap"].iloc[0] == pytest.approx(4.0)


def test_a_model_that_ignores_what_differs_biases_nobody():
    model, X = fitted(MODELS["linear"]), everybody()
    model.coef_[0, 2] = 0.0
    for property in (lw.SameDecision(), lw.ScoreGap(0.0)):
        found = lw.audit(model, SPACE, lw.Similarity(free=["c"]), property, X=X)
        assert found.share == 0
        assert found.rows["gap"].max() == 0
    kernel = SVC(gamma=0.3).fit(X.drop(columns="c").assign(c=0)[X.columns], X["a"] > 2)
    found = lw.audit(kernel, SPACE, lw.Similarity(free=["b"]), lw.ScoreGap(0.0), X=X)
    assert found.undecided == 0


def test_scores_of_exactly_zero_are_decided_exactly():
    X = everybody()
    model = LogisticRegression().fit(X, X["a"] > 2)
    model.coef_[0], model.intercept_[0] = [1.0, 0.0, -1.0, 0.0], -1.0
    found = lw.audit(model, SPACE, lw.Similarity(free=["c"]), X=X)
    assert found.rows.sort_values("row")["biased"].tolist() == ((X["a"] > 1) & (X["a"] <= 3)).tolist()
    assert found.stats["redone_exactly"] > 0


def test_a_budget_that_ends_leaves_rows_undecided():
    found = lw.audit(fitted(MODELS["rbf"]), SPACE, lw.Similarity(free=["c"]), X=everybody(), budget=1e-9)
    assert found.undecided == found.total
    assert found.rows["biased"].isna().all()
    assert "budget" in str(found)
    assert found.to_dict()["rows"][0]["gap"] is None


def test_groups_files_and_frames(tmp_path):
    model, X = fitted(MODELS["linear"]), everybody()
    found = lw.audit(model, SPACE, lw.Similarity(free=["c"]), X=pl.from_pandas(X))
    assert isinstance(found.rows, pl.DataFrame)
    groups = found.by("d")
    assert groups["rows"].sum() == len(X)
    assert groups["biased"].sum() == found.biased
    gaps = X.assign(group=np.where(X["a"] < 2, np.nan, X["a"]))
    groups = lw.audit(model, SPACE, lw.Similarity(free=["c"]), X=gaps).by("group")
    assert groups["group"].isna().sum() == 1  # who misses it is one group
    assert groups.loc[groups["group"].isna(), "rows"].item() == (X["a"] < 2).sum()
    for suffix, read in (("csv", pl.read_csv), ("parquet", pl.read_parquet)):
        found.save(tmp_path / f"rows.{suffix}")
        assert read(tmp_path / f"rows.{suffix}")["row"].to_list() == found.rows["row"].to_list()
    assert "<table>" in found._repr_html_()
    with pytest.raises(DataError, match="no column 'dd'"):
        found.by("dd")
    with pytest.raises(DataError, match=r"\.csv or \.parquet|can write"):
        found.save(tmp_path / "rows.txt")
    with pytest.raises(SpecError, match="needs rows"):
        lw.audit(model, SPACE, lw.Similarity(free=["c"]), X=None)


def test_rows_can_be_shared_among_processes():
    space = lw.Space({"x": lw.Continuous(0, 1), "y": lw.Continuous(0, 1)})
    X = pd.DataFrame(np.random.default_rng(0).uniform(size=(40, 2)), columns=["x", "y"])
    model = SVC(gamma=1.0).fit(X, X["x"] > X["y"])
    similar = lw.Similarity(within={"x": 0.05})
    alone = lw.audit(model, space, similar, X=X.head(5))
    with ThreadPoolExecutor(2) as pool:
        together = lw.audit(model, space, similar, X=X.head(5), executor=pool)
    assert alone.rows["biased"].tolist() == together.rows["biased"].tolist()
    assert np.allclose(alone.rows["gap"], together.rows["gap"], rtol=5e-3)


@pytest.mark.parametrize("falling", [False, True])
def test_decisions_of_calibrated_models_are_those_of_predict(falling):
    """The probability may fall with the score, and then decides by a border that is not zero."""
    X = everybody()
    inner = SVC(gamma=0.2).fit(X, X["a"] + X["c"] > 3)
    y = (X["a"] + X["c"] > 2) != falling
    model = CalibratedClassifierCV(FrozenEstimator(inner), method="sigmoid", ensemble=False).fit(X, y)
    similar, property = lw.Similarity(free=["c"]), lw.ProbabilityGap(0.3)
    rows = lw.audit(model, SPACE, similar, property, X=X).rows.sort_values("row")
    assert rows["decision"].tolist() == model.predict(X).tolist()
    p = np.array([model.predict_proba(X.assign(c=level))[:, 1] for level in (0, 1, 2)])
    gaps = np.abs(p - model.predict_proba(X)[:, 1]).max(axis=0)
    assert np.allclose(rows["gap"], gaps, atol=1e-12)
    assert rows["biased"].tolist() == (gaps > 0.3).tolist()
    others = X.assign(c=rows["counterpart_c"].to_numpy())
    assert rows["counterpart_decision"].tolist() == model.predict(others).tolist()
