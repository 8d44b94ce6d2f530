"""Bounds of sums: no pair of a cell is above them, and the gap of a vote is never bounded by more than the mean of its members' gaps."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from sklearn.ensemble import GradientBoostingClassifier, VotingClassifier, VotingRegressor
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVR

import likewise as lw
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.registry import bounder_of
from likewise.families.scored_model import Scores
from likewise.families.sums.links import IDENTITY, Link
from likewise.families.sums.part_lines import PartBounder
from likewise.importers.imported_model import import_model
from likewise.model.embedding import Column
from likewise.spec.pairs import pair_space
from likewise_check.packs.sums.chains import read_link

SPACE = lw.Space(
    {"a": lw.Continuous(0, 50), "b": lw.Integer(0, 20), "c": lw.Integer(0, 20), "sex": lw.Categorical([0, 1])}
)
SIMILAR = lw.Similarity(free=["sex"])
LINKS = [
    Link(kind="logistic", slope=Fraction(3, 2), offset=Fraction(-1, 3)),
    Link(
        kind="table",
        knots=tuple((Fraction(t), Fraction(t, 9), Fraction(t, 9), Fraction(t, 8)) for t in range(9)),
    ),
]
NUMBERS = st.integers(-1280, 1280).map(lambda n: n / 64)
POSITIVE = st.floats(2**-10, 4)


def voters(seed=0):
    """Members that see what both share by far more than the sex."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame({"a": random.uniform(0, 50, 300), "b": random.integers(0, 21, 300)})
    X["c"], X["sex"] = random.integers(0, 21, 300), random.integers(0, 2, 300)
    y = X.a / 5 + X.b - X.c + 2 * X.sex + random.normal(0, 2, 300) > 6
    members = [
        ("line", LogisticRegression(max_iter=2000)),
        ("trees", GradientBoostingClassifier(n_estimators=8)),
    ]
    return VotingClassifier(members, voting="soft").fit(X, y), X


def bounder(model, X):
    found = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    return bounder_of(Scores(found.model, len(SPACE.names)).parts[1], pair_space(SPACE, SIMILAR))


def cells(made, count, seed=0):
    """The whole space, and boxes in it."""
    random = np.random.default_rng(seed)
    root = np.array(
        [[float(v.lo) for v in made.pairs.variables], [float(v.hi) for v in made.pairs.variables]]
    )
    corners = root[0] + random.uniform(0, 1, (2, count, root.shape[1])) * (root[1] - root[0])
    corners = np.where(made.discrete, np.round(corners), corners)
    lo, hi = np.concatenate([root[:1], corners.min(axis=0)]), np.concatenate([root[1:], corners.max(axis=0)])
    return lo, hi


def test_no_pair_is_above_the_bound_of_its_cell():
    made = bounder(*voters())
    lo, hi = cells(made, 60)
    random = np.random.default_rng(1)
    for lean in (0.5, 0.25, 0.875):
        found = made.bound(lo, hi, np.full(len(lo), lean), np.full(len(lo), np.inf))
        for i in range(len(lo)):
            pairs = lo[i] + random.uniform(0, 1, (200, lo.shape[1])) * (hi[i] - lo[i])
            pairs = np.where(made.discrete, np.round(pairs), pairs)
            x, other = made.score.scores(pairs[:, made.first]), made.score.scores(pairs[:, made.second])
            assert (lean * x - (1 - lean) * other).max() <= found.upper[i] + 1e-12


def test_the_gap_of_a_vote_is_at_most_the_mean_of_its_members_gaps_at_once():
    """Which takes no cut: what a member's score has in common cancels before it goes through its link."""
    model, X = voters()
    gaps = [
        lw.measure(one, SPACE, SIMILAR, of="probability", X=X, budget=60).upper for one in model.estimators_
    ]
    lo, hi = cells(made := bounder(model, X), 0)
    upper = 2 * made.bound(lo, hi, np.array([0.5]), np.array([np.inf])).upper[0]
    assert upper <= sum(gaps) / 2 + 1e-3
    found = lw.measure(model, SPACE, SIMILAR, of="probability", X=X, budget=60, certify=True)
    assert found.upper - found.lower < 1e-5
    assert found.lower <= sum(gaps) / 2


def test_a_cell_without_pairs_is_closed_where_every_part_can_say_something_of_it():
    """The line sees that two levels may not differ, and the kernel, whose chords take levels that are not fixed, has a line as well: a leaf has one of both."""
    space = lw.Space({"job": lw.Categorical(["x", "y", "z"]), "sex": lw.Categorical(["f", "m"])})
    X = pd.DataFrame({"job": ["x", "y", "z"] * 10, "sex": ["f", "m"] * 15})
    members = [("line", Ridge()), ("kernel", SVR(gamma=0.25))]
    model = make_pipeline(OneHotEncoder(drop="first"), VotingRegressor(members))
    model.fit(X, np.arange(30) % 7)
    found = import_model(model, space, rows=space.encode(X), like=X)
    pairs = pair_space(space, lw.Similarity(free=["sex"], pairs={"job": [("x", "y")]}))
    made = bounder_of(Scores(found.model, 2).parts[0], pairs)
    lo, hi = (np.array([[float(getattr(v, end)) for v in pairs.variables]]) for end in ("lo", "hi"))
    for feature, codes in ((0, (1, 2)), (1, (0, 1))):  # y beside z; then f beside m as well
        for variables, code in zip((pairs.first, pairs.second), codes, strict=True):
            lo[:, variables[feature]] = hi[:, variables[feature]] = code
        bounds = made.bound(lo, hi, np.array([0.5]), np.array([0.0]))
        assert bounds.closes[0]
        assert np.isneginf(bounds.upper[0])


@pytest.mark.parametrize("link", LINKS, ids=lambda link: link.kind)
@given(
    over=POSITIVE,
    under=POSITIVE,
    distance=NUMBERS,
    ends=st.tuples(NUMBERS, NUMBERS),
    open_ends=st.tuples(*[st.booleans()] * 2),
)
@example(over=1.0, under=1.0, distance=6.65625, ends=(-834 / 64, -834 / 64), open_ends=(False, False))
def test_what_a_link_rises_by_is_what_the_checker_says(link, over, under, distance, ends, open_ends):
    low, high = -np.inf if open_ends[0] else min(ends), np.inf if open_ends[1] else max(ends)
    given_numbers = [np.array([one]) for one in (over, under, distance, low, high)]
    place = link.rise_places(*given_numbers)
    proposed = float(link.rise(*given_numbers, place)[0])
    limits = [Fraction(end) if np.isfinite(end) else None for end in (low, high)]
    checked = read_link(link.line(), "it").rise(
        (Fraction(over), Fraction(under)), Fraction(distance), *limits, Fraction(float(place[0]))
    )
    assert proposed == pytest.approx(float(checked), abs=1e-12)
    t = np.clip(np.linspace(-40, 40, 801), low, high)
    most = (over * link.values(t + distance) - under * link.values(t)).max()
    assert most <= proposed + 1e-12
    if link.kind == "logistic":  # which is as good as can be
        assert proposed <= most + 0.02 * (over + under)


def test_a_part_whose_scores_are_all_0_at_the_edge_of_a_cell_has_a_line():
    """The least square is 0: a bound of 0 needs room above it as well."""
    body = PolynomialSum(coefficients=(Fraction(1),), products=((0, 0),))
    score = body.score((Column(feature=0, slope=Fraction(1, 2), offset=Fraction(0)),), 2)
    space = lw.Space({"age": lw.Integer(0, 3), "sex": lw.Integer(0, 1)})
    pairs = pair_space(space, lw.Similarity(free=["sex"]))
    lo, hi = (np.array([ends]) for ends in pairs.ends)
    for lean in (0.0, 0.5, 1.0):
        for sign in (1, -1):
            line = PartBounder(score, IDENTITY, pairs).line(sign, lo, hi, np.array([lean]))
            most = max(0.0, sign * (2 * lean - 1)) * 9 / 4
            assert most <= line.upper[0] <= most + 1e-3
