"""Bounds of cells: no pair of a cell exceeds them, they are attained where they should be, exact and float agree."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from tests.questions import case_of
from tests.strategies import linear_cases
from tests.tiers import examples

import likewise as lw
from likewise.cells.enumerated import decide_pairs, enumerated_clearance, pair_count
from likewise.cells.leaf import Leaf
from likewise.cells.separable import band_corners, exact_bound
from likewise.families.affine.bounder import SeparableBounder
from likewise.families.case_oracle import prove_leaf
from likewise.model.witness_set import DecisionSet, Direction, GapSet, ProbabilitySet
from likewise.search.proof import root_cell
from likewise.spec.pairs import pair_space
from likewise.spec.terms import Separable, Term

relaxed = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),
}
shares = st.fractions(0, 1, max_denominator=16)
ends = st.fractions(-4, 4, max_denominator=4)


def score_of(space, weights, bias):
    """weights . values + bias as terms over codes."""
    terms = [
        Term(slope=Fraction(w))
        if feature.kind in ("integer", "continuous")
        else Term(table=tuple(Fraction(w) * Fraction(level) for level in feature.levels))
        for feature, w in zip(space.features.values(), weights, strict=True)
    ]
    return Separable(bias=Fraction(bias), terms=tuple(terms))


@st.composite
def cells(draw, **options):
    """An oracle and a random cell of its pair space."""
    case = draw(linear_cases(kinds=("logistic",), **options))
    pairs = pair_space(case.space, case.similar)
    oracle = SeparableBounder(score_of(case.space, case.weights, case.bias), pairs)
    lo, hi = root_cell(pairs)
    for v, variable in enumerate(pairs.variables):
        if variable.discrete and draw(st.booleans()):
            lo[v] = draw(st.integers(int(lo[v]), int(hi[v])))
            hi[v] = draw(st.integers(int(lo[v]), int(hi[v])))
    return oracle, lo, hi


def points(oracle, lo, hi):
    """(s, s', x, x') of all similar pairs of a cell; constraints left aside."""
    similar = []
    anything = case_of(GapSet(delta=Fraction(0)))
    for x, other, _, first, second in decide_pairs(
        oracle.pairs, oracle.score.enclose, lo.tolist(), hi.tolist(), anything
    ):
        near = (
            r.kind == "free" or abs(a - b) <= (r.tolerance or 0) or tuple(sorted((a, b))) in r.allowed
            for r, a, b in zip(oracle.pairs.relations, x, other, strict=True)
        )
        if all(near):
            similar.append((first.lo, second.lo, x, other))
    return similar


def line(a, b):
    return Direction(a=a, b=b, threshold=Fraction(0), attained=False)


@given(cell=cells(), a=shares, b=shares)
@examples(120, **relaxed)
def test_the_exact_bound_is_the_maximum(cell, a, b):
    oracle, lo, hi = cell
    bound = exact_bound(oracle.score, oracle.pairs, line(a, b)).bound(lo.tolist(), hi.tolist())
    values = [a * first - b * second for first, second, *_ in points(oracle, lo, hi)]
    assert bound == max(values, default=None)


@given(cell=cells(constrained=True), a=shares, b=shares, data=st.data())
@examples(80, **relaxed)
def test_any_multipliers_give_a_bound(cell, a, b, data):
    oracle, lo, hi = cell
    count = 2 * len(oracle.pairs.constraints)
    multipliers = tuple(data.draw(st.fractions(0, 8, max_denominator=8)) for _ in range(count))
    bound = exact_bound(oracle.score, oracle.pairs, line(a, b), multipliers).bound(lo.tolist(), hi.tolist())
    for first, second, x, other in points(oracle, lo, hi):
        if oracle.pairs.valid(x, other):
            assert a * first - b * second <= bound


@given(cell=cells(), lean=st.floats(0, 1))
@examples(100, **relaxed)
def test_the_float_bound_is_the_exact_one_up_to_its_noise(cell, lean):
    oracle, lo, hi = cell
    found = oracle.bound(lo[None], hi[None], np.array([lean]), np.zeros(1))
    exact = exact_bound(oracle.score, oracle.pairs, line(Fraction(lean), 1 - Fraction(lean))).bound(
        lo.tolist(), hi.tolist()
    )
    if exact is None:
        assert found.upper[0] == -np.inf
        return
    assert abs(Fraction(float(found.upper[0])) - exact) <= Fraction(float(found.noise[0])) + Fraction(
        1, 10**300
    )
    point = found.points[0]
    assert (lo <= point).all()
    assert (point <= hi).all()
    x, other = oracle.pairs.split(point.tolist())
    for codes, given_score in ((x, found.first[0]), (other, found.second[0])):
        assert float(oracle.score.exact([Fraction(c) for c in codes])) == pytest.approx(
            float(given_score), abs=1e-9
        )


@given(
    here=st.tuples(ends, ends),
    there=st.tuples(ends, ends),
    t=st.fractions(0, 3, max_denominator=4),
    u=ends,
    v=ends,
)
def test_the_corners_of_a_band_hold_its_maximum(here, there, t, u, v):
    here, there = tuple(sorted(here)), tuple(sorted(there))
    corners = band_corners(here, there, (-t, t))
    for x, y in corners:
        assert here[0] <= x <= here[1]
        assert there[0] <= y <= there[1]
        assert abs(x - y) <= t
    steps = [here[0] + (here[1] - here[0]) * Fraction(i, 12) for i in range(13)]
    inside = [
        (x, y)
        for x in steps
        for y in (*(there[0] + (there[1] - there[0]) * Fraction(i, 12) for i in range(13)), x - t, x + t)
        if there[0] <= y <= there[1] and abs(x - y) <= t
    ]
    if inside:
        assert max(u * x + v * y for x, y in corners) >= max(u * x + v * y for x, y in inside)
    if not corners:
        assert here[0] - t > there[1] or there[0] - t > here[1]


questions = st.sampled_from(
    [
        DecisionSet(level=Fraction(0)),
        DecisionSet(level=Fraction(1, 4)),
        GapSet(delta=Fraction(1)),
        ProbabilitySet(delta=Fraction(1, 10)),
    ]
)


@given(cell=cells(), question=questions, lean=shares, data=st.data())
@examples(120, **relaxed)
def test_a_proved_leaf_holds_no_witness_and_its_clearance_is_true(cell, question, lean, data):
    oracle, lo, hi = cell
    count = 2 * len(oracle.pairs.constraints)
    multipliers = tuple(data.draw(st.fractions(-1, 4, max_denominator=4)) for _ in range(count))
    leaf = data.draw(
        st.sampled_from(
            [
                Leaf(rule="enumerated"),
                Leaf(rule="separable", lean=Fraction(1, 2) if isinstance(question, GapSet) else lean),
                Leaf(
                    rule="separable",
                    lean=Fraction(1, 2) if isinstance(question, GapSet) else lean,
                    multipliers=multipliers,
                ),
                Leaf(rule="empty", multipliers=multipliers),
                Leaf(rule="independent"),
            ]
        )
    )
    clearance = proved(oracle, lo, hi, leaf, question)
    pairs = [p for p in points(oracle, lo, hi) if oracle.pairs.valid(*p[2:])]
    if leaf.rule == "enumerated":
        assert (clearance is None) == any(question.holds(*p[:2]) for p in pairs)
    if clearance is None:
        return
    if clearance == math.inf:
        assert not pairs
        return
    less = clearance * Fraction(99_999, 100_000)
    for first, second, *_ in pairs:
        assert not question.holds(first + less, second - less)


def proved(oracle, lo, hi, leaf, question):
    """What a leaf of any rule leaves clear."""
    score = oracle.score
    return prove_leaf(oracle.pairs, score, score.enclose, (oracle, question), lo, hi, leaf, case_of(question))


def bounder_of(space, similar, weights, bias):
    return SeparableBounder(score_of(space, weights, bias), pair_space(space, similar))


def test_negative_weights_prove_nothing():
    space = lw.Space({"a": lw.Integer(0, 4), "b": lw.Integer(0, 1)}).where("a <= 2")
    oracle = bounder_of(space, lw.Similarity(free=["b"]), [1.0, 1.0], -1.5)
    lo, hi = root_cell(oracle.pairs)
    question = DecisionSet(level=Fraction(0))
    for multipliers in ((Fraction(-9), Fraction(0)), (Fraction(0), Fraction(-9))):
        assert proved(oracle, lo, hi, Leaf(rule="empty", multipliers=multipliers), question) is None
        leaf = Leaf(rule="separable", lean=Fraction(1, 2), multipliers=multipliers)
        assert oracle.prove(lo, hi, leaf, question) is None
    for lean in (Fraction(-1), Fraction(2)):
        assert oracle.prove(lo, hi, Leaf(rule="separable", lean=lean), question) is None


# -- the relaxation -----------------------------------------------------------------------------------


def relaxed_leaf(space, similar, weights, bias, question):
    oracle = bounder_of(space, similar, weights, bias)
    lo, hi = root_cell(oracle.pairs)
    found = oracle.relax(lo, hi, question)
    return proved(oracle, lo, hi, found.leaf, question)


BASE = lw.Space({"x": lw.Continuous(-2, 2), "y": lw.Continuous(-2, 2), "b": lw.Integer(0, 1)})
FREE = lw.Similarity(free=["b"])


@pytest.mark.parametrize("by", [Fraction(1, 100), Fraction(0)], ids=["apart", "tie"])
def test_the_relaxation_closes_what_the_constraints_separate(by):
    """x + y >= 1 keeps both scores at or above zero; touching it is a tie that only exact duals decide."""
    bias = float(-1 + by)
    space = BASE.where("x + y >= 1")
    assert relaxed_leaf(space, FREE, [1.0, 1.0, 0.25], bias + 1e-3, DecisionSet(level=Fraction(0)))
    # s' = x + y + bias >= by; gap at most 1/4, reached exactly.
    assert relaxed_leaf(space, FREE, [1.0, 1.0, 0.25], bias, GapSet(delta=Fraction(1, 4) + by)) is not None


def test_the_relaxation_closes_probabilities_under_constraints():
    """The multipliers must have the scale of the tangent's direction."""
    space = BASE.where("x + y >= 3")
    question = ProbabilitySet(delta=Fraction(15, 1000))
    top = 1 / (1 + math.exp(-3.25)) - 1 / (1 + math.exp(-3))
    assert top < question.delta
    assert relaxed_leaf(space, FREE, [1.0, 1.0, 0.25], 0.0, question) is not None
    assert (
        relaxed_leaf(space, FREE, [1.0, 1.0, 0.25], 0.0, ProbabilitySet(delta=Fraction(top) * 99 / 100))
        is None
    )


def test_the_relaxation_closes_an_empty_cell():
    space = BASE.where("x + y >= 3.5")
    oracle = bounder_of(space, FREE, [1.0, 1.0, 0.25], 0.0)
    lo, hi = root_cell(oracle.pairs)
    hi[0] = hi[1] = 1.0
    question = DecisionSet(level=Fraction(-100))
    found = oracle.relax(lo, hi, question)
    assert proved(oracle, lo, hi, found.leaf, question) == math.inf


def test_cells_are_counted():
    oracle = bounder_of(BASE, FREE, [1.0, 1.0, 0.25], 0.0)
    lo, hi = root_cell(oracle.pairs)
    assert pair_count(oracle.pairs, lo.tolist(), hi.tolist()) == math.inf
    lo[:2] = hi[:2] = 1.0
    assert pair_count(oracle.pairs, lo.tolist(), hi.tolist()) == 4
    hi[2] = -1.0
    assert pair_count(oracle.pairs, lo.tolist(), hi.tolist()) == 0
    question = case_of(GapSet(delta=Fraction(0)))
    assert (
        enumerated_clearance(oracle.pairs, oracle.score.enclose, lo.tolist(), hi.tolist(), question)
        == math.inf
    )
