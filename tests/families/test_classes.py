"""Bounds of forms of several scores: never below what sampled pairs have, and exact where they say so."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from likewise.cells.forms import Forms
from likewise.cells.leaf import Leaf
from likewise.cells.separable import exact_bound
from likewise.families.affine.bounder import RivalBounder
from likewise.families.affine.odds import OddsBounder, find_individuals_near
from likewise.families.affine.polytope import Polytope, choose_directions, gap_at, largest_gap
from likewise.families.kernel.body import KernelScore, RbfSum
from likewise.families.kernel.bounder import KernelBounder
from likewise.families.polynomial.body import PolynomialScore, PolynomialSum
from likewise.families.polynomial.bounder import PolynomialBounder
from likewise.model.embedding import Column
from likewise.model.head import Head, log_odds
from likewise.model.question import Question
from likewise.model.witness_set import DecisionSet, Direction
from likewise.search.proof import root_cell
from likewise.spec.features import Categorical, Continuous, Integer
from likewise.spec.pairs import add_differences, make_pair_space
from likewise.spec.pieces import PiecewisePolynomial
from likewise.spec.similarity import Similarity
from likewise.spec.space import Space
from likewise.spec.terms import Separable, Term

SPACE = Space(
    {"u": Continuous(-1, 2), "n": Integer(0, 9), "s": Categorical(["a", "b", "c"]), "v": Continuous(0, 3)}
)
SIMILAR = Similarity(free=["s"], within={"v": 0.75})
PAIRS = make_pair_space(SPACE, SIMILAR.resolve(SPACE))
FAIR_WAY = Direction(a=Fraction(1, 3), b=Fraction(2, 3), threshold=Fraction(0), attained=False)


def score_of(random, *, curved):
    number = lambda: Fraction(int(random.integers(-8, 9)), 4)  # noqa: E731
    bent = PiecewisePolynomial(cuts=(Fraction(1),), polynomials=((number(), number()), (number(), number())))
    terms = (
        Term(slope=number()),
        Term(slope=number() / 4),
        Term(table=(number(), number(), number())),
        Term(pieces=bent) if curved else Term(slope=number()),
    )
    return Separable(bias=number(), terms=terms)


def cell_of(random, pairs=PAIRS):
    """A random cell, and pairs in it."""
    lo, hi = root_cell(pairs)
    whole = np.array([v.discrete for v in pairs.variables])
    ends = np.sort(random.uniform(lo, hi, (2, len(lo))), axis=0)
    return np.where(whole, np.round(ends[0]), ends[0]), np.where(whole, np.round(ends[1]), ends[1]), whole


def pairs_in(random, lo, hi, whole, pairs=PAIRS, count=400):
    points = random.uniform(lo, hi, (count, len(lo)))
    points = np.where(whole, np.round(points), points)
    first, second = points[:, list(pairs.first)], points[:, list(pairs.second)]
    allowed = np.abs(first[:, 3] - second[:, 3]) <= 0.75
    return first[allowed], second[allowed]


@pytest.mark.parametrize("curved", [False, True])
def test_two_scores_are_bounded_exactly(curved):
    random = np.random.default_rng(1)
    for _ in range(30):
        scores = score_of(random, curved=curved), score_of(random, curved=curved)
        lo, hi, whole = cell_of(random)
        lean = float(FAIR_WAY.a)
        oracle = RivalBounder(*scores, PAIRS)
        upper = float(oracle.bound(lo[None], hi[None], np.array([lean]), np.zeros(1)).upper[0])
        exact = exact_bound(scores[0], PAIRS, FAIR_WAY, (), scores[1]).bound(lo.tolist(), hi.tolist())
        first, second = pairs_in(random, lo, hi, whole)
        if exact is None:
            assert not len(first)
            continue
        assert upper == pytest.approx(float(exact), abs=1e-9)
        if len(first):
            values = lean * scores[0].scores(first) - (1 - lean) * scores[1].scores(second)
            assert values.max() <= float(exact) + 1e-9


def test_rivals_may_touch_the_margin_where_one_condition_is_strict():
    for strict, attained in (((True, False), False), ((False, True), True), ((False, False), True)):
        assert DecisionSet(level=Fraction(0), strict=strict).direction(Fraction(1)).attained is attained
    assert DecisionSet(level=Fraction(0), strict=(False, True)).direction(Fraction(0)).attained is False


def test_scores_of_forms_are_those_of_their_parts():
    random = np.random.default_rng(2)
    scores = [score_of(random, curved=True) for _ in range(3)]
    codes = np.stack(
        [
            random.uniform(-1, 2, 50),
            random.integers(0, 10, 50),
            random.integers(0, 3, 50),
            random.uniform(0, 3, 50),
        ],
        1,
    )
    assert np.allclose(Forms(scores, PAIRS).at(codes), np.stack([s.scores(codes) for s in scores], axis=1))


def softmax_set(classes, delta):
    head = Head(labels=tuple(range(classes)), rule="argmax", link="softmax")
    (case,) = Question(kind="probability", level=Fraction(delta), of=1, head=head).cases()
    return case.line


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("classes", [2, 3, 5])
@pytest.mark.parametrize("curved", [False, True])
def test_odds_are_bounded_and_what_is_proved_is_true(classes, curved):
    random = np.random.default_rng(classes)
    proved = 0
    for _ in range(15):
        scores = [score_of(random, curved=curved) for _ in range(classes)]
        oracle = OddsBounder(scores, 1, PAIRS)
        lo, hi, whole = cell_of(random)
        hi = np.where(whole, hi, lo + (hi - lo) * random.uniform(0, 1))
        first, second = pairs_in(random, lo, hi, whole)
        if not len(first):
            continue
        z = [log_odds(np.stack([s.scores(x) for s in scores], axis=1), 1) for x in (first, second)]
        gap = (1 / (1 + np.exp(-z[0])) - 1 / (1 + np.exp(-z[1]))).max()
        leaf = Leaf(rule="odds", lean=Fraction(1, 2), directions=oracle.directions)
        for level in (max(gap, 0) + 0.001, 0.5, 0.99):
            found = oracle.bound(lo[None], hi[None], np.array([0.5]), np.array([level]))
            assert gap <= found.upper[0] + 1e-6
            holds = oracle.prove(lo, hi, leaf, softmax_set(classes, level)) is not None
            if found.closes[0] and not curved:
                assert holds
            proved += holds
            assert not holds or gap <= level
        if gap > 1e-3:
            assert oracle.prove(lo, hi, leaf, softmax_set(classes, gap - 1e-6)) is None
    assert proved


def test_odds_of_one_pair_are_exact():
    random = np.random.default_rng(5)
    for _ in range(10):
        scores = [score_of(random, curved=False) for _ in range(4)]
        oracle = OddsBounder(scores, 1, PAIRS)
        lo, hi, whole = cell_of(random)
        first, second = pairs_in(random, lo, hi, whole)
        if not len(first):
            continue
        point = lo.copy()
        point[list(PAIRS.first)], point[list(PAIRS.second)] = first[0], second[0]
        z = [log_odds(np.stack([s.scores(x[:1]) for s in scores], axis=1), 1)[0] for x in (first, second)]
        gap = 1 / (1 + np.exp(-z[0])) - 1 / (1 + np.exp(-z[1]))
        leaf = Leaf(rule="odds", lean=Fraction(1, 2), directions=oracle.directions)
        if gap > 1e-3:
            assert oracle.prove(point, point, leaf, softmax_set(4, gap - 1e-6)) is None
        assert oracle.prove(point, point, leaf, softmax_set(4, max(gap, 0) + 1e-6)) is not None


@pytest.mark.parametrize("m", [1, 2, 3])
def test_the_largest_gap_of_a_polytope(m):
    random = np.random.default_rng(m)
    for _ in range(12):
        moves, centre = random.uniform(-2, 2, m), random.uniform(-3, 3, m)
        rows = random.integers(-4, 5, (4, m)).astype(float)
        region = Polytope(
            lo=centre - random.uniform(0, 3, m),
            hi=centre + random.uniform(0, 3, m),
            directions=rows,
            limits=rows @ centre + random.uniform(0, 3, 4),
        )
        d = random.uniform(region.lo, region.hi, (4000, m))
        d = np.concatenate([d[(d @ rows.T <= region.limits).all(axis=1)], centre[None]])
        largest = gap_at(d, moves).max()
        found = largest_gap(moves, region, 0.0)
        assert largest <= found.upper + 1e-12
        assert found.upper <= max(largest, 0) + (0.02 if m < 3 else 0.06)
        assert largest_gap(moves, region, found.upper + 1e-3).upper <= found.upper + 1e-3
        raised = region.raised(0.1)
        assert (raised.limits > region.limits).all()
        assert largest_gap(moves, raised, 0.0).upper >= largest - 1e-12


@pytest.mark.parametrize("count", [1, 2, 3, 4, 11])
def test_directions_see_how_thin_a_set_of_scores_is(count):
    """Scores that are nearly multiples of one: some direction has an extent that is as small as they differ from that."""
    random = np.random.default_rng(count)
    base = [Fraction(int(n)) for n in random.integers(1, 9, 4)]
    scores = []
    for n in range(count):
        slopes = [(n + 1) * b + Fraction(int(random.integers(-9, 10)), 1000) for b in base]
        terms = (*(Term(slope=s) for s in slopes[:2]), Term(table=tuple(slopes[2] * i for i in range(3))))
        scores.append(Separable(bias=Fraction(n), terms=(*terms, Term(slope=slopes[3]))))
    forms = Forms(scores, PAIRS)
    lo, hi = root_cell(PAIRS)
    rows = np.array(choose_directions(forms, lo[list(PAIRS.first)], hi[list(PAIRS.first)]), dtype=float)
    if count == 1:
        assert not len(rows)
        return
    assert len({tuple(row) for row in rows.tolist()}) == len(rows) >= 2 * count
    assert (np.abs(rows).max(axis=1) > 0).all()
    both = np.concatenate([rows, -rows])
    many = (np.repeat(end[None], len(both), axis=0) for end in (lo, hi))
    reach = forms.maximum(both, np.zeros_like(both), *many).upper
    width = (reach[: len(rows)] + reach[len(rows) :]) / np.linalg.norm(rows, axis=1)
    assert width.min() < 0.1
    assert width.max() > 10


def test_individuals_near_a_point():
    """Of linear numbers alone any d between those of some corners is attained; levels are taken as the corners have them."""
    random = np.random.default_rng(6)
    scores = [score_of(random, curved=False) for _ in range(2)]
    forms = Forms(scores, PAIRS)
    lo, hi = (
        np.array([float(getattr(PAIRS.variables[v], end)) for v in PAIRS.first]) for end in ("lo", "hi")
    )
    corners = np.where(random.uniform(size=(12, len(lo))) < 0.5, lo, hi)
    wanted = forms.at(corners[:3]).mean(axis=0)
    found = find_individuals_near(forms, wanted, corners, lo, hi)
    assert ((found >= lo) & (found <= hi)).all()
    assert np.abs(forms.at(found) - wanted).max(axis=1).min() < 1e-3


EMBEDDING = tuple(Column(feature=k) for k in (0, 1, 3)) + tuple(
    Column(feature=2, table=tuple(Fraction(i == j) for i in range(3))) for j in range(3)
)
WITH_DIFFERENCES = add_differences(PAIRS)


def two_sums(random, kind):
    if kind == "rbf":
        centres = np.column_stack(
            [
                random.uniform(-1, 2, 12),
                random.uniform(0, 9, 12),
                random.uniform(0, 3, 12),
                np.eye(3)[random.integers(0, 3, 12)],
            ]
        )
        bodies = [
            RbfSum(
                gamma=0.3, bias=float(random.normal()), coefficients=random.normal(size=12), centres=centres
            )
            for _ in range(2)
        ]
        scores = [KernelScore(body=body, embedding=EMBEDDING) for body in bodies]
        return scores, KernelBounder(scores[0], WITH_DIFFERENCES, scores[1])
    products = ((), (0,), (1,), (2,), (0, 1), (1, 2), (2, 2), (0, 3), (2, 4), (5,))
    bodies = [
        PolynomialSum(
            coefficients=tuple(Fraction(int(c), 8) for c in random.integers(-9, 9, len(products))),
            products=products,
        )
        for _ in range(2)
    ]
    scores = [PolynomialScore(body=body, embedding=EMBEDDING) for body in bodies]
    return scores, PolynomialBounder(scores[0], WITH_DIFFERENCES, scores[1])


@pytest.mark.parametrize("kind", ["rbf", "polynomial"])
@pytest.mark.parametrize("fixed", [False, True])
def test_two_sums_are_bounded_from_above(kind, fixed):
    random = np.random.default_rng(7)
    scores, oracle = two_sums(random, kind)
    for _ in range(20):
        lo, hi, whole = cell_of(random, WITH_DIFFERENCES)
        last = [v for v, variable in enumerate(WITH_DIFFERENCES.variables) if variable.side == "difference"]
        lo[last], hi[last] = -0.75, 0.75
        for v in (WITH_DIFFERENCES.first[2], WITH_DIFFERENCES.second[2]):
            hi[v] = lo[v]
        if fixed:
            for v in (WITH_DIFFERENCES.first[3], WITH_DIFFERENCES.second[3]):
                lo[v] = hi[v] = 1.5
        lean = random.uniform(0, 1, 1)
        first, second = pairs_in(random, lo, hi, whole, WITH_DIFFERENCES)
        if not len(first):
            continue
        values = lean * scores[0].scores(first) - (1 - lean) * scores[1].scores(second)
        for threshold in (values.max() - 0.1, values.max() + 0.2, values.max() + 3):
            found = oracle.bound(lo[None], hi[None], lean, np.array([threshold]))
            assert values.max() <= found.upper[0] + 1e-9
            assert not (found.closes[0] and values.max() > threshold)
