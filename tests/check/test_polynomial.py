"""Polynomial bodies: reading, exact scores, witnesses, differences, and the rules that are not their own."""

import random
from fractions import Fraction

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    categorical,
    checked,
    constraint,
    continuous,
    decision,
    integer,
    probability,
    proof,
    score,
    within,
    witness,
)
from tests.check.kernels import claim_of, lemma_of, sloped, tabled
from tests.check.polynomials import pairs, polynomial, random_cell, random_curve

from likewise_check.core.cells import make_box
from likewise_check.packs.polynomial.squares import Squares

HALF = Fraction(1, 2)
FEATURES = [integer("age", 0, 3), categorical("group", ["a", "b"])]
RELATIONS = [SAME, FREE]
COLUMNS = [sloped(0, HALF, 1), tabled(1, [0, 1])]
TERMS = [(-1, []), (HALF, [0, 1]), (Fraction(1, 3), [0, 0, 0])]
MODEL = polynomial(COLUMNS, TERMS)


def built(prop=None, model=MODEL, nodes=(["enumerated"],), relations=RELATIONS, **options):
    return proof(FEATURES, relations, prop or score(2), model, list(nodes), **options)


def test_scores_are_exact() -> None:
    for seed in range(40):
        rng = random.Random(seed)
        curve = random_curve(rng, [("c", "s"), ("i", "w"), ("t", "f"), ("h", "s")], 4)
        claim = claim_of(curve.features, curve.relations, score(1), curve.model())
        for x, _ in pairs(rng, curve, random_cell(rng, curve), 5):
            assert claim.model.body.score(x) == curve.score(x)


def test_numbers_with_long_denominators_have_exact_scores() -> None:
    slope = Fraction(1, 3**400)
    columns = [sloped(0, slope, 1), tabled(1, [slope, 1])]
    claim = claim_of(FEATURES, RELATIONS, score(1), polynomial(columns, [(3, [0] * 16), (1, [1])]))
    assert claim.model.body.score([Fraction(2), Fraction(0)]) == 3 * (1 + 2 * slope) ** 16 + slope


def test_a_proof_by_enumeration() -> None:
    report = checked(built(score(Fraction(5, 4))))  # at age 3 the group moves the score by 5/4
    assert report.accepted, report.reason
    assert report.clearance == 0
    assert not report.covers_floating_point
    assert checked(built(score(Fraction(124, 100)))).reason == "enumerated: the cell holds a witness"
    assert checked(built(probability(Fraction(9, 10)))).accepted
    only = constraint([(0, 1)], 2)
    assert checked(built(score(1), constraints=[only])).accepted
    assert "nobody" in checked(built(constraints=[constraint([(0, 1)], -1)])).reason


def test_zero_upper_turns_the_gauge_round() -> None:
    # f = 0 at group a, -1 at group b.
    terms = [(-1, [1])]
    assert checked(built(decision(), polynomial(COLUMNS, terms))).accepted
    assert not checked(built(decision(), polynomial(COLUMNS, terms, zero="upper"))).accepted
    for zero, nodes in (("lower", ["polynomial", "1", [0] * 3]), ("upper", ["polynomial", "1/2", [0] * 3])):
        report = checked(built(decision(), polynomial(COLUMNS, terms, zero=zero), [nodes]))
        assert report.accepted == (zero == "lower")


def test_independent() -> None:
    leaf = [["independent"]]
    assert checked(built(score(0), polynomial(COLUMNS, [(1, [0, 0])]), leaf)).accepted
    assert checked(built(score(0), polynomial(COLUMNS, [(1, [0]), (0, [0, 1])]), leaf)).accepted
    assert not checked(built(score(0), MODEL, leaf)).accepted
    flat = polynomial([*COLUMNS[:1], tabled(1, [2, 2])], [(1, [0, 1])])
    assert checked(built(score(0), flat, leaf)).accepted
    assert not checked(built(score(0), flat, leaf, relations=[within(1), FREE])).accepted
    still = polynomial([sloped(0, 0, 3), tabled(1, [2, 2])], [(1, [0, 1])])
    assert checked(built(score(0), still, leaf, relations=[within(1), FREE])).accepted


def test_rules_of_other_bodies_do_not_apply() -> None:
    assert checked(built(nodes=[["separable", "1/2"]])).reason == "separable: the body is not affine"
    assert checked(built(nodes=[["kernel", "1/2", [], 0]])).reason == "kernel: the body is not a kernel one"
    nodes = [["split", 0, "1"], ["empty", ["1", "0"]], ["enumerated"]]
    assert checked(built(constraints=[constraint([(0, -1)], -2)], nodes=nodes)).accepted


def test_the_end_states_nothing_but_zero() -> None:
    assert not checked(built(clearance=HALF)).accepted
    assert not checked(built(clearance=-HALF)).accepted
    assert not checked(built(covers=True)).accepted


def _with(**body) -> dict:
    return {**MODEL, "body": {**MODEL["body"], **body}}


@pytest.mark.parametrize(
    "model",
    [
        {**MODEL, "rounding": {"sizes": [], "constant": "0", "operations": 0}},
        _with(terms=[]),
        _with(terms={}),
        _with(terms=[["1"]]),
        _with(terms=[["1", [], 0]]),
        _with(terms=[["x", []]]),
        _with(terms=[[1, []]]),
        _with(terms=[["1", 0]]),
        _with(terms=[["1", [2]]]),
        _with(terms=[["1", [-1]]]),
        _with(terms=[["1", [True]]]),
        _with(terms=[["1", ["0"]]]),
        _with(terms=[["1", [1, 0]]]),
        _with(terms=[["1", [0] * 17]]),
        _with(terms=[["1", [0]], ["2", [0]]]),
        _with(terms=[["0", []], ["0", []]]),
        _with(columns=[COLUMNS[0], {"feature": 1, "table": ["0"]}]),
        _with(columns=[COLUMNS[0], {"feature": 2, "table": ["0", "1"]}]),
        _with(columns=[{**COLUMNS[0], "weight": "1"}, COLUMNS[1]]),
        _with(columns=[COLUMNS[0]]),
        _with(columns=[COLUMNS[0]] * 10_001),
        _with(columns=[COLUMNS[0], 7]),
        _with(kind="poly"),
        _with(bias="0"),
    ],
)
def test_malformed_bodies_are_rejected(model) -> None:
    assert checked(built()).accepted
    report = checked(built(model=model))
    assert report.readable
    assert not report.accepted


@pytest.mark.parametrize(
    "model",
    [
        _with(terms=[["1", [0] * 16]]),
        _with(terms=[["0", []]]),
        _with(terms=[["1", []]], columns=[]),
        _with(terms=[["1", [9_999]]], columns=[COLUMNS[0]] * 10_000),
    ],
)
def test_what_is_just_allowed(model) -> None:
    assert checked(built(score(10**9), model)).accepted


def test_witnesses() -> None:
    def found(scores, x=(3, 1), other=(3, 0), prop=None):
        value = witness(FEATURES, RELATIONS, prop or score(1), MODEL, x, other, scores)
        return checked(value).accepted

    lower = Fraction(5, 2) ** 3 / 3 - 1
    right = [lower + Fraction(5, 4), lower]
    assert found(right)
    assert not found([right[0], right[1] + Fraction(1, 10**30)])
    assert not found(right[::-1])
    assert not found(right, prop=score(Fraction(5, 4)))
    assert not found(right, prop=decision())
    assert not found(right, other=(2, 0))
    pair = witness(FEATURES, RELATIONS, score(1), MODEL, (3, 1), (3, 0), right)
    pair[5]["witness"]["scores"] = [["0", "9"], ["0", "9"]]
    assert not checked(pair).accepted


NEAR = [continuous("x", 0, 4), integer("n", 0, 4)]
BOTH = [within(HALF), within(2)]


def near(nodes, delta):
    model = polynomial([sloped(0), sloped(1)], [(1, [0, 0]), (1, [1])])
    return checked(proof(NEAR, BOTH, score(delta), model, nodes))


def test_differences_are_variables() -> None:
    """x^2 + n with |x' - x| <= 1/2, |n' - n| <= 2: half the scores' difference is at most 2 |u| / 2 + 1 with u <= 4."""
    leaf = ["polynomial", "1/2", [0] * 4]
    for nodes in ([leaf], [["split", 4, "0"], leaf, leaf], [["split", 5, "-1"], leaf, leaf]):
        assert near(nodes, 6).accepted
        assert not near(nodes, Fraction(11, 2)).accepted
    for nodes in (
        [["split", 4, "1/2"], leaf, leaf],
        [["split", 5, "2"], leaf, leaf],
        [["split", 6, "0"], leaf, leaf],
    ):
        assert not near(nodes, 6).accepted


def test_a_difference_that_is_split_narrows_the_cell() -> None:
    """x^2 grows with x: where x' >= x, the score does not fall."""
    lemma = lemma_of(NEAR[:1], BOTH[:1], score(0), polynomial([sloped(0)], [(1, [0, 0])]))
    leaf = ["sos", "1/2", 1, [[[1, 2], 2, []]]]
    # -2 u d with u = 2 + 2 y, d = (1 + z)/8: -(1 + y)(1 + z)/2.
    rising = [make_box((0, 4), (0, 4), difference=((0, HALF),))]
    assert Squares(lemma).bound(leaf, rising)[1] == 0
    assert Squares(lemma)(leaf, rising).clearance == 0
    assert Squares(lemma).bound(leaf, [make_box((0, 4), (0, 4), difference=((-HALF, HALF),))])[1] > 0


def test_a_cell_without_pairs_holds_whatever_its_leaf_says() -> None:
    leaf, nothing = ["polynomial", "1/2", [0] * 4], ["sos", None, None, None]
    # x <= 1, x' >= 3: no difference of at most 1/2.
    nodes = [["split", 0, "1"], ["split", 1, "3"], leaf, nothing, leaf]
    assert near(nodes, 12).accepted
    assert near([["split", 0, "1"], leaf, nothing], 12).reason.startswith("bits must be")


def test_several_processes_agree() -> None:
    nodes = [["split", 0, "1"], ["polynomial", "1/2", [3, 4, 5]], ["sos", "1/2", 3, [[[1, -1], 2, [[1]]]]]]
    for delta in (1, 40):
        one, two = (checked(built(score(delta), nodes=nodes), jobs=jobs) for jobs in (1, 2))
        assert one.accepted == two.accepted == (delta == 40)
        assert one.reason == two.reason
