"""Cuts of sums: of what is proposed the one whose two parts have the lowest bounds, so that members which disagree about whom they treat differently are told apart at once."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from tests.tiers import some

import likewise as lw
from likewise.families.registry import bounder_of
from likewise.families.scored_model import Scores
from likewise.families.sums.cuts import Cuts, choose_cuts, halve, inside
from likewise.importers.imported_model import import_model
from likewise.spec.pairs import pair_space

RACES = ["a", "b", "c", "d", "e"]
SHARED = "pqrstu"
SPACE = lw.Space({"race": lw.Categorical(RACES), **{name: lw.Integer(0, 4) for name in SHARED}})
SIMILAR = lw.Similarity(free=["race"])


def vote(seed=0):
    """A line that treats a and b apart, and a forest that treats d and e apart more than those."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame({name: random.integers(0, 5, 600) for name in SHARED})
    X.insert(0, "race", random.choice(RACES, 600))
    codes = X.race.map({"a": 1.5, "b": -1.5, "c": 0.0, "d": 0.2, "e": 0.1}).to_numpy()
    apart = np.where((X.race == "d") & (X.p > 2), 9.0, 0.0)
    y = (
        X.p - X.q + 0.8 * X.r - 0.7 * X.s + 0.6 * X.t - 0.5 * X.u + codes + apart + random.normal(0, 2, 600)
        > 0
    )
    coded = OneHotEncoder(categories=[RACES], sparse_output=False)
    members = [
        ("line", LogisticRegression(max_iter=2000)),
        ("forest", RandomForestClassifier(6, max_depth=4, random_state=seed)),
    ]
    columns = make_column_transformer((coded, ["race"]), remainder="passthrough")
    return make_pipeline(columns, VotingClassifier(members, voting="soft")).fit(X, y), X


def bounder(model, X):
    found = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    return bounder_of(Scores(found.model, len(SPACE.names)).parts[1], pair_space(SPACE, SIMILAR))


def random_cells(made, count, seed):
    random = np.random.default_rng(seed)
    root = np.array([[float(getattr(v, end)) for v in made.pairs.variables] for end in ("lo", "hi")])
    corners = np.round(root[0] + random.uniform(0, 1, (2, count, root.shape[1])) * (root[1] - root[0]))
    return np.concatenate([root[:1], corners.min(axis=0)]), np.concatenate([root[1:], corners.max(axis=0)])


def largest_gap(model):
    """Everybody beside everybody who differs in nothing but the race, one by one."""
    everybody = pd.DataFrame(itertools.product(RACES, *[range(5)] * len(SHARED)), columns=["race", *SHARED])
    chances = model.predict_proba(everybody)[:, 1].reshape(len(RACES), -1)
    return float((chances.max(axis=0) - chances.min(axis=0)).max())


@pytest.mark.some_days
def test_members_that_disagree_about_levels_are_told_apart_in_few_cells():
    """Middles of what may differ are among the cuts: cuts of what both share would lower neither bound."""
    for seed in some(range(3), 1):
        model, X = vote(seed)
        found = lw.measure(model, SPACE, SIMILAR, of="probability", X=X.head(2), budget=60)
        true = largest_gap(model)
        assert found.lower <= true + 1e-12
        assert found.upper >= true - 1e-12
        assert found.upper - found.lower < 1e-5
        assert found.stats["cells"] < 300


@pytest.mark.some_days
def test_no_proposal_has_lower_bounds_on_both_sides_than_the_cut_that_is_advised():
    made = bounder(*vote())
    lo, hi = random_cells(made, 40, 3)
    lean, threshold = np.full(len(lo), 0.5), np.full(len(lo), -0.01)
    found = made.bound(lo, hi, lean, threshold)
    looked_at = 0
    for i in np.flatnonzero(~found.closes):
        excess = found.upper[i] - threshold[i]
        if (lo[i] == hi[i]).all():
            continue
        (chosen,) = np.flatnonzero(found.loss[i])
        at = found.cuts[i, chosen]
        assert at in np.arange(lo[i, chosen], hi[i, chosen])
        advised = _worth(made, lo[i], hi[i], chosen, at, found.upper[i], excess)
        for v in made.differing:
            if hi[i, v] > lo[i, v]:
                middle = np.floor((lo[i, v] + hi[i, v]) / 2)
                worth = _worth(made, lo[i], hi[i], v, middle, found.upper[i], excess)
                assert advised >= worth * (1 - 1e-9)
        looked_at += 1
    assert looked_at > 10


def _worth(made, lo, hi, v, at, upper, excess):
    left, right = hi.copy(), lo.copy()
    left[v], right[v] = at, at + 1
    parts = [
        made.bound(a[None], b[None], np.array([0.5]), np.array([-1e300])).upper[0]
        for a, b in ((lo, left), (right, hi))
    ]
    lost = [min(max(upper - part, 1e-7 * excess), excess) for part in parts]
    return lost[0] * lost[1]


def test_the_first_proposal_is_taken_where_bounds_do_not_tell_and_none_where_there_is_none():
    lo, hi = np.zeros((3, 2)), np.full((3, 2), 4.0)
    proposals = Cuts(
        variable=np.array([[0, -1, -1], [1, 1, -1]]), at=np.array([[1.0, 0.0, 0.0], [2.0, 3.0, 0.0]])
    )
    asked = []

    def bound(low, high, cell):
        asked.append((low, high, cell))
        return np.ones(len(low))

    chosen = choose_cuts(proposals, lo, hi, np.ones(3), np.ones(3), bound, lambda _, at: at + 1)
    assert chosen.variable.tolist() == [0, 1, -1]
    assert chosen.at[:2].tolist() == [1.0, 3.0]
    ((low, high, cell),) = asked
    assert cell.tolist() == [0, 0, 1] * 2
    assert high[:3].tolist() == [[1, 4], [4, 2], [4, 3]]
    assert low[3:].tolist() == [[2, 0], [0, 3], [0, 4]]


def test_what_loses_on_both_sides_goes_before_what_loses_more_on_one():
    lo, hi = np.zeros((1, 2)), np.full((1, 2), 4.0)
    proposals = Cuts(variable=np.array([[0], [1]]), at=np.array([[1.0], [2.0]]))

    def bound(low, high, _):
        left = high[:, 0] == 1.0
        return np.where(left, 0.0, np.where((low[:, 1] > 0) | (high[:, 1] < 4), 0.7, 1.0))

    chosen = choose_cuts(proposals, lo, hi, np.ones(1), np.ones(1), bound, lambda _, at: at + 1)
    assert chosen.variable.tolist() == [1]
    closing = choose_cuts(proposals, lo, hi, np.ones(1), np.full(1, 0.2), bound, lambda _, at: at + 1)
    assert closing.variable.tolist() == [1]


def test_cuts_that_leave_one_part_are_none():
    lo, hi = np.array([[0.0, 2.0]] * 4), np.array([[3.0, 2.0]] * 4)
    discrete = np.array([True, False])
    given = Cuts(variable=np.array([0, 0, 1, 7]), at=np.array([3.0, 1.5, 2.0, 0.0]))
    assert inside(given, lo, hi, discrete).variable.tolist() == [-1] * 4
    assert inside(Cuts(variable=np.array([0]), at=np.array([2.0])), lo[:1], hi[:1], discrete).variable == [0]
    assert halve(lo, hi, 0, whole=True).at.tolist() == [1.0] * 4
    assert halve(lo, hi, 1, whole=False).variable.tolist() == [-1] * 4
