"""Reach: no pair within the distance gains more than the bound, and whoever is proposed is within it and gains nearly as much."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import CategoricalNB

import likewise as lw
from likewise.analysis import row_search
from likewise.analysis.row_claim import prepare_row_claim
from likewise.problem import make_claim, prepare
from likewise.run import open_run
from likewise.search import counterparts
from likewise.search.reach import SumReach

SIZES = {"a": 9, "b": 7, "c": 5, "job": 3, "free": 2}
EVERYBODY = pd.DataFrame(list(itertools.product(*map(range, SIZES.values()))), columns=list(SIZES))
SPACE = lw.Space(
    {
        "a": lw.Integer(0, 8),
        "b": lw.Integer(0, 6),
        "c": lw.Ordinal(list(range(5))),
        "job": lw.Categorical([0, 1, 2]),
        "free": lw.Categorical([0, 1]),
    }
)
COSTS = {"any two": 2, "some pairs": {(0, 1): 1, (1, 2): "3/2"}}
MODELS = {"line": LogisticRegression, "tables": lambda: CategoricalNB(min_categories=9)}


def similarity(kind: str, costs: str, radius) -> lw.Similarity:
    metric = lw.Metric(kind, weights={"a": 1, "b": "1/2", "c": "4/3"}, costs={"job": COSTS[costs]})
    return lw.Similarity(free=["free"], metric=metric, radius=radius)


def fitted(name: str, seed: int = 0):
    random = np.random.default_rng(seed)
    worth = EVERYBODY.a - EVERYBODY.b + 2 * (EVERYBODY.job == 1) - EVERYBODY.c + 0.5 * EVERYBODY.free
    return MODELS[name]().fit(EVERYBODY, worth + random.normal(0, 2, len(EVERYBODY)) > 0)


def posed(model, similar):
    with open_run(budget=60) as run:
        return prepare_row_claim(
            prepare(make_claim(model, SPACE, similar, lw.SameDecision(), EVERYBODY), run), run
        )


@pytest.mark.draw(1)
@pytest.mark.parametrize("costs", COSTS)
@pytest.mark.parametrize("kind", ["l1", "l2"])
@pytest.mark.parametrize("name", MODELS)
def test_the_reach_is_that_of_looking_at_everybody(name, kind, costs):
    judging = posed(fitted(name), similarity(kind, costs, 2.5))
    inquiry = judging.inquiry
    reach, score = SumReach.of(inquiry), inquiry.judge.separable.score
    people = [tuple(map(Fraction, row)) for row in judging.rows.tolist()]
    scores = {person: score.exact(person) for person in people}
    loose = []
    for person in people[::311]:
        similar = [other for other in people if inquiry.pairs.valid(person, other)]
        for sign in (1, -1):
            found = reach.reached(list(person), sign)
            best = max(sign * (scores[other] - scores[person]) for other in similar)
            assert best <= found.most
            other = tuple(map(Fraction, found.codes))
            assert other in similar
            assert sign * (scores[other] - scores[person]) <= best
            loose.append(float(found.most - best))
    assert np.median(loose) < 0.2 * np.ptp([float(s) for s in scores.values()])


@pytest.mark.parametrize("kind", ["l1", "l2"])
def test_whole_numbers_use_up_all_of_the_distance(kind):
    """A step that costs just what is left is taken, whatever a fifth is in float64."""
    rows = pd.DataFrame({"a": np.arange(100), "b": np.random.default_rng(0).integers(0, 100, 100)})
    model = LogisticRegression().fit(rows, rows.a > 50)
    space = lw.Space({"a": lw.Integer(0, 99), "b": lw.Integer(0, 99)})
    for weight, radius, steps in (("1/20", 1, 20), ("1/3", "7/3", 7), ("3/10", "9/10", 3)):
        metric = lw.Metric(kind, weights={"a": weight, "b": radius})
        similar = lw.Similarity(metric=metric, radius=radius)
        with open_run(budget=60) as run:
            claim = make_claim(model, space, similar, lw.SameDecision(), rows)
            judging = prepare_row_claim(prepare(claim, run), run)
        reach = SumReach.of(judging.inquiry)
        for sign in (1, -1):
            found = reach.reached([Fraction(50), Fraction(49)], sign)
            assert abs(found.codes[0] - 50) == steps
            assert judging.pairs.valid([Fraction(50), Fraction(49)], list(map(Fraction, found.codes)))


@pytest.mark.parametrize("kind", ["l1", "l2"])
def test_the_reach_of_numbers_is_exact(kind):
    """Of numbers that are not whole the largest gain is a small linear program, or a length."""
    rows = pd.DataFrame(np.random.default_rng(0).uniform(0, 10, (300, 3)), columns=list("abc"))
    model = LogisticRegression().fit(rows, rows.a - 2 * rows.b + 0.5 * rows.c > 0)
    space = lw.Space({name: lw.Continuous(-1000, 1000) for name in "abc"})
    weights = {"a": 1, "b": 3, "c": "1/4"}
    similar = lw.Similarity(metric=lw.Metric(kind, weights=weights), radius=1)
    with open_run(budget=60) as run:
        judging = prepare_row_claim(
            prepare(make_claim(model, space, similar, lw.SameDecision(), rows), run), run
        )
    reach, slopes = SumReach.of(judging.inquiry), np.abs(model.coef_[0]) / [1, 3, 0.25]
    best = slopes.max() if kind == "l1" else np.linalg.norm(slopes)
    for row in rows[:20].to_numpy():
        codes = [Fraction(c) for c in row.tolist()]
        found = reach.reached(codes, 1)
        assert float(found.most) == pytest.approx(best)
        other = [Fraction(c) for c in found.codes]
        assert judging.inquiry.pairs.valid(codes, other)
        gained = judging.inquiry.judge.separable.score
        assert float(gained.exact(other) - gained.exact(codes)) == pytest.approx(best)


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("asked", [lw.SameDecision(), lw.SameDecision(0.3), lw.ScoreGap, lw.ProbabilityGap])
@pytest.mark.parametrize("kind", ["l1", "l2"])
def test_rows_are_those_of_looking_at_everybody(kind, asked, monkeypatch):
    monkeypatch.setattr(counterparts, "FEW_SETTINGS", 0)
    model, similar = fitted("line"), similarity(kind, "some pairs", 1.5)
    people, rows = EVERYBODY.to_numpy(float), EVERYBODY[::101]
    if isinstance(asked, type):  # between the least gap and the largest
        wide = lw.audit(model, SPACE, similar, asked(0.999), X=rows, budget=60)
        asked = asked((wide.rows.gap.min() + wide.rows.gap.max()) / 2)
    found = lw.audit(model, SPACE, similar, asked, X=rows, budget=60)
    numbers = model.decision_function(EVERYBODY)
    if asked.kind == "probability":
        numbers = 1 / (1 + np.exp(-numbers))
    table = np.array([[0, 1, 9], [1, 0, 1.5], [9, 1.5, 0]])
    for row in found.rows.to_dict("records"):
        at = rows.index[row["row"]]
        x, power = people[at], 1 if kind == "l1" else 2
        apart = (np.abs(people[:, :3] - x[:3]) * [1, 1 / 2, 4 / 3]) ** power
        cost = apart.sum(axis=1) + table[people[:, 3].astype(int), int(x[3])] ** power
        near = numbers[cost <= 1.5**power + 1e-9]
        mine, gap = numbers[at], np.abs(near - numbers[at]).max()
        broken = gap > (asked.delta if asked.kind != "decision" else np.inf)
        if asked.kind == "decision":
            level = asked.margin
            broken = ((mine > level) & (near <= -level)).any() or ((near > level) & (mine <= -level)).any()
        assert row["biased"] == broken
        assert row["gap"] <= gap + 1e-9
        assert gap <= row["gap"] + found.stats["gap_error"] + 1e-9
    assert found.undecided == 0
    assert found.biased > 0
    assert asked.kind != "decision" or found.biased < found.total


def test_nearly_no_row_is_left_to_a_search(monkeypatch):
    model, similar = fitted("line"), similarity("l1", "any two", 2.5)
    monkeypatch.setattr(counterparts, "FEW_SETTINGS", 0)
    searched = []
    judge = row_search.RowSearch.judge
    monkeypatch.setattr(row_search.RowSearch, "judge", lambda *given: (searched.append(1), judge(*given)))
    found = lw.audit(model, SPACE, similar, X=EVERYBODY[::31], budget=60)
    assert found.undecided == 0
    assert len(searched) < 0.2 * found.total
