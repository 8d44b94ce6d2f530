"""Certified shares of kernel and polynomial models: every settled mass has certificates that the checker accepted, and the bracket holds the share."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from tests.analysis.brute import PROPERTIES, SIMILAR, SPACE, Truth, everybody

import likewise as lw
from likewise.analysis import cells
from likewise.analysis.cell_certificates import CellCertificates
from likewise.analysis.judging import judging_of
from likewise.progress import silent
from likewise.verifying.certifying import Checking, CheckReport

MODELS = {"rbf": SVC(gamma=0.05, C=10), "polynomial": SVC(kernel="poly", degree=2, coef0=1)}
CONSTRAINED = SPACE.where("a <= b + c + 1", "a + d >= 2")


@pytest.fixture
def hardly_looked_through(monkeypatch):
    """Cells of more than a few individuals must be settled by certificates."""
    monkeypatch.setattr(cells, "FEW", 6)


def model_of(name):
    people = everybody(SPACE)
    treated = people["a"] + people["b"] + 0.6 * people["c"] + 0.4 * people["d"] > 7.1
    return MODELS[name].fit(people, treated)


def weights_of(people, X):
    return np.prod([people[n].map(X[n].value_counts() / len(X)).fillna(0) for n in people.columns], axis=0)


@pytest.mark.parametrize(
    ("name", "similar", "space"),
    [
        ("rbf", "free", SPACE),
        ("rbf", "free and within", CONSTRAINED),
        ("rbf", "pairs and within", SPACE),
        ("polynomial", "free", CONSTRAINED),
        ("polynomial", "free and within", SPACE),
        ("polynomial", "pairs and within", CONSTRAINED),
    ],
)
@pytest.mark.usefixtures("hardly_looked_through")
def test_certified_brackets_hold_the_share(name, similar, space):
    model, people, accepted = model_of(name), everybody(space), 0
    truth, X = Truth(model, space, SIMILAR[similar]), people.sample(25, random_state=0)
    for property in PROPERTIES.values():
        biased = truth.biased(property)
        for over, weights in (("uniform", np.ones(len(people))), ("marginals", weights_of(people, X))):
            found = lw.share(
                model, space, SIMILAR[similar], property, method="certified", over=over, X=X, budget=30
            )
            assert (found.method, found.proved) == ("certified", True)
            assert found.lower - 1e-12 <= weights[biased].sum() / weights.sum() <= found.upper + 1e-12
            assert found.upper - found.lower < 1e-3
            accepted += found.stats["certificates"]
    assert accepted > 0


@pytest.mark.usefixtures("hardly_looked_through")
def test_what_the_checker_refuses_is_not_counted(monkeypatch):
    """Float64 bounds alone settle nothing: only who was looked at is."""
    monkeypatch.setattr(cells, "FEW", 0)
    refusing = CheckReport(accepted=False, reason="refused by a test", finished=False)
    monkeypatch.setattr(Checking, "check", lambda *_, **__: refusing)
    for name in MODELS:
        found = lw.share(model_of(name), SPACE, SIMILAR["free"], method="certified", budget=5)
        assert (found.lower, found.upper) == (0.0, 1.0)
        assert found.stats["certificates"] == 0


@pytest.mark.parametrize("name", MODELS)
def test_cells_are_as_they_are_certified(name):
    """Boxes of codes at random, against everybody in them."""
    model, similar, random = model_of(name), SIMILAR["free"], np.random.default_rng(0)
    judging = judging_of(
        model, SPACE, similar, lw.SameDecision(), X=None, budget=60, random_state=0, listener=silent
    )
    certificates = CellCertificates.of(judging, Checking())
    codes = SPACE.encode(everybody(SPACE))
    biased, kinds = Truth(model, SPACE, similar).biased(lw.SameDecision()), {"fair": 0, "biased": 0}
    whole = np.array([[0, 1, 0, 0], [5, 4, 2, 2]], dtype=float)
    for _ in range(25):
        lo = random.integers(whole[0].astype(int), whole[1].astype(int) + 1).astype(float)
        hi = np.minimum(lo + random.integers(0, 2, 4), whole[1])
        lo[2], hi[2] = whole[:, 2]
        there = biased[((lo <= codes) & (codes <= hi)).all(axis=1)]
        if certificates.fair(lo, hi):
            kinds["fair"] += 1
            assert not there.any()
        ways = (np.array([2.0]), np.array([0.0])), (np.array([0.0]), np.array([2.0]))
        if any(certificates.biased(lo, hi, [2], *way) for way in ways):
            kinds["biased"] += 1
            assert there.all()
    assert min(kinds.values()) > 0


def test_certified_shares_of_continuous_and_missing_values():
    """Codes are not the user's values here: levels of integers, a missing level, and numbers that the model sees imputed."""
    space = lw.Space(
        {
            "x": lw.Continuous(0, 1),
            "n": lw.Integer(3, 6),
            "job": lw.Categorical(["none", "some", None]),
            "sex": lw.Categorical(["f", "m"]),
        }
    )
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": random.uniform(0, 1, 120),
            "n": random.integers(3, 7, 120),
            "job": random.choice(np.array(["none", "some", None], dtype=object), 120),
            "sex": random.choice(["f", "m"], 120),
        }
    )
    columns = lw_columns()
    model = make_pipeline(columns, SVC(gamma=0.3)).fit(
        X, X["x"] + 0.2 * (X["n"] > 4) + 0.2 * (X["sex"] == "m") + 0.1 * X["job"].isna() > 0.75
    )
    found = lw.share(model, space, lw.Similarity(free=["sex"]), method="certified", X=X, budget=6)
    people = pd.DataFrame(
        {
            "x": random.uniform(0, 1, 20_000),
            "n": random.integers(3, 7, 20_000),
            "job": random.choice(np.array(["none", "some", None], dtype=object), 20_000),
        }
    )
    treated = [model.predict(people.assign(sex=sex)) for sex in ("f", "m")]
    assert found.proved
    assert found.stats["certificates"] > 0
    assert 0 < found.lower <= (treated[0] != treated[1]).mean() + 0.01
    assert (treated[0] != treated[1]).mean() - 0.01 <= found.upper < 1


def lw_columns():
    from sklearn.compose import make_column_transformer

    return make_column_transformer((OneHotEncoder(), ["n", "job", "sex"]), remainder="passthrough")
