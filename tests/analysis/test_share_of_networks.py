"""Shares of networks by linear forms: brackets hold what everybody comes to, and close."""

import numpy as np
import pandas as pd
import pytest
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.analysis.brute import PROPERTIES, SIMILAR, SPACE, Truth, everybody

import likewise as lw
from likewise.analysis import share_bracket

CONSTRAINED = SPACE.where("a <= b + c + 1", "a + d >= 2")


def model_of(layers):
    people = everybody(SPACE)
    treated = people["a"] + people["b"] + 0.6 * people["c"] + 0.4 * people["d"] * people["a"] > 7.1
    net = MLPClassifier(layers, max_iter=60, random_state=1)
    return make_pipeline(StandardScaler(), net).fit(people, treated)


def weights_of(people, X):
    return np.prod([people[n].map(X[n].value_counts() / len(X)).fillna(0) for n in people.columns], axis=0)


@pytest.mark.draw(4)
@pytest.mark.parametrize("layers", [(6,), (5, 4)])
@pytest.mark.parametrize("property", PROPERTIES)
@pytest.mark.parametrize("similar", SIMILAR)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_brackets_hold_what_everybody_comes_to(layers, similar, property, monkeypatch):
    space = CONSTRAINED if (len(similar) + len(property) + len(layers)) % 2 else SPACE
    # Nobody is looked at, but those who are alike in all that is shared, where constraints allow some of them only.
    monkeypatch.setattr(share_bracket, "FEW_INDIVIDUALS", 3 if space.constraints else 0)
    over = "marginals" if len(property) % 2 else "uniform"
    model, people = model_of(layers), everybody(space)
    X = people.sample(25, random_state=0)
    biased = Truth(model, space, SIMILAR[similar]).biased(PROPERTIES[property])
    weights = np.ones(len(people)) if over == "uniform" else weights_of(people, X)
    found = lw.share(
        model, space, SIMILAR[similar], PROPERTIES[property], method="certified", over=over, X=X, budget=60
    )
    truth = weights[biased].sum() / weights.sum()
    assert (found.method, found.proved) == ("certified", True)
    assert found.lower - 1e-12 <= truth <= found.upper + 1e-12
    if "within" not in similar:  # changes within a tolerance are not what makes a box biased
        assert found.upper - found.lower < 1e-3


@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_a_continuous_feature_that_may_differ_is_divided():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(20, 60, 300), "debt": rng.integers(0, 40, 300)})
    model = make_pipeline(StandardScaler(), MLPClassifier((5,), max_iter=80, random_state=0))
    model.fit(X, X["debt"] + 0.1 * X["age"] > 24)
    space = lw.Space({"age": lw.Continuous(20, 60), "debt": lw.Integer(0, 40)})
    claim = model, space, lw.Similarity(free=["age"])
    proved = lw.share(*claim, method="certified", budget=30)
    ages, biased = np.linspace(20, 60, 2001), 0
    for debt in range(41):
        decided = model.predict(pd.DataFrame({"age": ages, "debt": debt}))
        biased += decided.min() != decided.max()
    assert proved.lower <= biased / 41 <= proved.upper
    assert proved.upper - proved.lower < 0.06


@pytest.mark.some_days
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_what_is_known_of_open_boxes_narrows_a_sample(monkeypatch):
    monkeypatch.setattr(share_bracket, "FEW_INDIVIDUALS", 0)
    rng = np.random.default_rng(0)
    X = pd.DataFrame({name: rng.uniform(0, 1, 400) for name in "pqrs"} | {"sex": rng.integers(0, 2, 400)})
    model = MLPClassifier((8,), max_iter=120, random_state=0)
    model.fit(X, X["p"] + X["q"] * X["r"] + 0.2 * X["sex"] > 0.9)
    space = lw.Space({**{name: lw.Continuous(0, 1) for name in "pqrs"}, "sex": lw.Integer(0, 1)})
    claim = model, space, lw.Similarity(free=["sex"])
    proved = lw.share(*claim, method="certified", budget=2)
    sampled = lw.share(*claim, method="sampled", budget=2)
    assert 0 < proved.lower < proved.upper < 1
    assert sampled.stats["settled"] > 0
    assert sampled.upper - sampled.lower < proved.upper - proved.lower
    assert max(sampled.lower, proved.lower) <= min(sampled.upper, proved.upper)


@pytest.mark.draw(2)
@pytest.mark.parametrize("similar", ["free", "pairs and within"])
@pytest.mark.parametrize("limit", [0.02, 0.1, 0.3])
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_brackets_hold_shares_of_probability_gaps(similar, limit, monkeypatch):
    monkeypatch.setattr(share_bracket, "FEW_INDIVIDUALS", 0)
    claim = model_of((6,)), SPACE, SIMILAR[similar], lw.ProbabilityGap(limit)
    exact = lw.share(*claim, method="exact")
    proved = lw.share(*claim, method="certified", budget=60)
    assert proved.lower - 1e-12 <= exact.lower
    assert exact.upper <= proved.upper + 1e-12
    if similar == "free":
        assert proved.upper - proved.lower < 1e-3


@pytest.mark.some_days
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_networks_that_bend_everywhere_are_sampled_soon(monkeypatch):
    rng = np.random.default_rng(1)
    X = pd.DataFrame({f"x{k}": rng.uniform(-1, 1, 300) for k in range(12)} | {"sex": rng.integers(0, 2, 300)})
    model = MLPClassifier((80, 40), max_iter=5, random_state=0).fit(X, X["x0"] * X["x1"] + X["sex"] * 0.2 > 0)
    space = lw.Space({**{f"x{k}": lw.Continuous(-1, 1) for k in range(12)}, "sex": lw.Integer(0, 1)})
    runs, run = [], share_bracket.ShareBracket.run
    monkeypatch.setattr(
        share_bracket.ShareBracket, "run", lambda *a, **how: (runs.append(how["seconds"]), run(*a, **how))
    )
    found = lw.share(model, space, lw.Similarity(free=["sex"]), X=X, budget=2)
    assert found.method == "sampled"
    assert runs == [pytest.approx(0.04)]


MIXED = lw.Space(
    {
        "age": lw.Continuous(0, 10),
        "debt": lw.Integer(0, 8),
        "sex": lw.Integer(0, 1),
        "zone": lw.Categorical([0, 1, 2]),
    }
)
CLAIMS = [
    (lw.Similarity(free=["sex"]), None),
    (lw.Similarity(free=["sex"], pairs={"zone": [(0, 1)]}), lw.SameDecision(0.2)),
    (lw.Similarity(free=["sex"], within={"debt": 1}), None),
    (lw.Similarity(free=["sex", "zone"]), lw.ScoreGap(0.8)),
    (lw.Similarity(free=["sex"], within={"debt": 2}), lw.ProbabilityGap(0.1)),
]


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("case", range(len(CLAIMS)))
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_brackets_hold_what_audits_of_draws_come_to(case):
    rng, (similar, property) = np.random.default_rng(case), CLAIMS[case]
    people = pd.DataFrame(
        {
            "age": rng.uniform(0, 10, 3000),
            "debt": rng.integers(0, 9, 3000),
            "sex": rng.integers(0, 2, 3000),
            "zone": rng.integers(0, 3, 3000),
        }
    )
    good = people["age"] / 5 + 0.3 * people["debt"] + 0.06 * people["sex"] * people["age"] > 2.4
    model = MLPClassifier([(6,), (4, 4)][case % 2], max_iter=15, random_state=case).fit(people, good)
    audited = lw.audit(model, MIXED, similar, property, X=people, budget=60)
    seen = audited.biased / len(people)
    off = 5 * np.sqrt(max(seen * (1 - seen), 1 / len(people)) / len(people))
    proved = lw.share(model, MIXED, similar, property, method="certified", budget=2)
    assert audited.undecided == 0
    assert proved.lower - off <= seen <= proved.upper + off
    assert proved.upper - proved.lower < 0.9
