"""Certified shares of kernel and polynomial models: every settled mass has certificates that the checker accepted, and the bracket holds the share."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC
from tests.analysis.brute import PROPERTIES, SIMILAR, SPACE, Truth, everybody
from tests.posing import judged

import likewise as lw
from likewise.analysis import share_bracket
from likewise.analysis.measures import uniform_measure
from likewise.analysis.partition.changes import Change
from likewise.analysis.partition.proofs import CodeProver
from likewise.verifying.certification import CheckReport, CheckRunner

MODELS = {"rbf": SVC(gamma=0.05, C=10), "polynomial": SVC(kernel="poly", degree=2, coef0=1)}
CONSTRAINED = SPACE.where("a <= b + c + 1", "a + d >= 2")


@pytest.fixture
def hardly_looked_through(monkeypatch):
    """Cells of more than a few individuals must be settled by certificates."""
    monkeypatch.setattr(share_bracket, "FEW_INDIVIDUALS", 12)


def model_of(name):
    people = everybody(SPACE)
    treated = people["a"] + people["b"] + 0.6 * people["c"] + 0.4 * people["d"] > 7.1
    return MODELS[name].fit(people, treated)


def weights_of(people, X):
    return np.prod([people[n].map(X[n].value_counts() / len(X)).fillna(0) for n in people.columns], axis=0)


def held(name, similar, space, property, over):
    """A certified share that holds what everybody comes to; the certificates that it took."""
    model, people = model_of(name), everybody(space)
    biased, X = (
        Truth(model, space, SIMILAR[similar]).biased(PROPERTIES[property]),
        people.sample(25, random_state=0),
    )
    weights = np.ones(len(people)) if over == "uniform" else weights_of(people, X)
    found = lw.share(
        model,
        space,
        SIMILAR[similar],
        PROPERTIES[property],
        method="certified",
        over=over,
        X=X,
        budget=600,
    )
    assert (found.method, found.proved) == ("certified", True)
    assert found.lower - 1e-12 <= weights[biased].sum() / weights.sum() <= found.upper + 1e-12
    assert found.upper - found.lower < 1e-3
    return found.stats["certificates"]


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize(
    ("name", "similar", "space", "property", "over"),
    [
        ("rbf", "free", SPACE, "decision", "uniform"),
        ("rbf", "free and within", CONSTRAINED, "decision", "marginals"),
        ("rbf", "pairs and within", SPACE, "score", "marginals"),
        ("polynomial", "free", CONSTRAINED, "decision", "uniform"),
        ("polynomial", "free and within", SPACE, "margin", "marginals"),
        ("polynomial", "pairs and within", CONSTRAINED, "decision", "uniform"),
    ],
)
@pytest.mark.usefixtures("hardly_looked_through")
def test_certified_brackets_hold_the_share(name, similar, space, property, over):
    held(name, similar, space, property, over)


@pytest.mark.slow
@pytest.mark.parametrize("similar", SIMILAR)
@pytest.mark.parametrize("name", MODELS)
def test_certified_brackets_hold_all_shares(name, similar, monkeypatch):
    monkeypatch.setattr(share_bracket, "FEW_INDIVIDUALS", 6)
    spaces, ways = (SPACE, CONSTRAINED), ("uniform", "marginals")
    accepted = [
        held(name, similar, space, property, over)
        for space in spaces
        for property in PROPERTIES
        for over in ways
    ]
    assert sum(accepted) > 0


def test_what_the_checker_refuses_is_not_counted(monkeypatch):
    """Float64 bounds alone settle nothing."""
    monkeypatch.setattr(share_bracket, "FEW_INDIVIDUALS", 0)
    asked = []

    def refuse(_, certificate, __):
        asked.append(certificate)
        return CheckReport(accepted=False, reason="refused by a test", finished=False)

    monkeypatch.setattr(CheckRunner, "check", refuse)
    space = SPACE.replace(b=lw.Integer(1, 2), d=lw.Ordinal([0, 1]))
    found = lw.share(model_of("polynomial"), space, SIMILAR["free"], method="certified", budget=600)
    assert asked
    assert (found.lower, found.upper) == (0.0, 1.0)
    assert found.stats["certificates"] == 0


@pytest.mark.some_days
@pytest.mark.parametrize("name", MODELS)
def test_cells_are_as_they_are_certified(name):
    """Boxes of codes at random, against everybody in them."""
    model, similar, random = model_of(name), SIMILAR["free"], np.random.default_rng(0)
    judging = judged(model, SPACE, similar)
    certificates = CodeProver.of(judging, CheckRunner())
    codes = SPACE.encode(everybody(SPACE))
    biased, kinds = Truth(model, SPACE, similar).biased(lw.SameDecision()), {"fair": 0, "biased": 0}
    whole = np.array([[0, 1, 0, 0], [5, 4, 2, 2]], dtype=float)
    for _ in range(20):
        lo = random.integers(whole[0].astype(int), whole[1].astype(int) + 1).astype(float)
        hi = np.minimum(lo + random.integers(0, 2, 4), whole[1])
        lo[2], hi[2] = whole[:, 2]
        there = biased[((lo <= codes) & (codes <= hi)).all(axis=1)]
        if certificates.fair(lo, hi):
            kinds["fair"] += 1
            assert not there.any()
        up, down = (Change.of({2: ("set", code)}) for code in (2.0, 0.0))
        if any(certificates.biased(lo, hi, way) for way in ((up, down), (down, up))):
            kinds["biased"] += 1
            assert there.all()
    assert min(kinds.values()) > 0


def test_cells_of_codes_hold_the_share_of_values():
    """Codes are not the user's values here: levels of integers, and a level that is missing."""
    space = lw.Space(
        {
            "x": lw.Continuous(0, 1),
            "n": lw.Integer(3, 5),
            "job": lw.Categorical(["none", None]),
            "sex": lw.Categorical(["f", "m"]),
        }
    )
    X, people = drawn(120), drawn(20_000)
    columns = make_column_transformer((OneHotEncoder(), ["n", "job", "sex"]), remainder="passthrough")
    points = X["x"] + 0.2 * (X["n"] > 4) + 0.1 * (X["sex"] == "m") + 0.1 * X["job"].isna()
    model = make_pipeline(columns, SVC(gamma=0.3, C=10)).fit(X, points > 0.75)
    judging = judged(model, space, lw.Similarity(free=["sex"]), X=X, budget=600)
    found = share_bracket.ShareBracket(
        judging=judging, measure=uniform_measure(judging.pairs, judging.recoding)
    )
    found.run(width=0.25, seconds=600)
    treated = [model.predict(people.assign(sex=sex)) for sex in ("f", "m")]
    assert found.upper - found.lower <= 0.25
    assert found.prover.accepted > 0
    assert found.lower - 0.01 <= (treated[0] != treated[1]).mean() <= found.upper + 0.01


def drawn(count):
    random = np.random.default_rng(count)
    return pd.DataFrame(
        {
            "x": random.uniform(0, 1, count),
            "n": random.integers(3, 6, count),
            "job": random.choice(np.array(["none", None], dtype=object), count),
            "sex": random.choice(["f", "m"], count),
        }
    )
