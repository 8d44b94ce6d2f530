"""Kernel bodies: reading, enclosures of scores, witnesses, and the rules that are not their own."""

import random
from fractions import Fraction

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    checked,
    constraint,
    continuous,
    decision,
    integer,
    number,
    probability,
    proof,
    score,
    within,
    witness,
)
from tests.check.kernels import claim_of, random_kernel, rbf, sloped, tabled

from likewise_check.packs.kernel import body as module

HALF = Fraction(1, 2)
FEATURES = [integer("age", 0, 3), categorical("group", ["a", "b"])]
RELATIONS = [SAME, FREE]
COLUMNS = [sloped(0, HALF), tabled(1, [0, 1])]
TERMS = [(2, [0, 0]), (-1, [1, 1])]
MODEL = rbf(HALF, Fraction(-1, 4), COLUMNS, TERMS)


def built(prop=None, model=MODEL, nodes=(["enumerated"],), relations=RELATIONS, **options):
    return proof(FEATURES, relations, prop or score(3), model, list(nodes), **options)


def test_enclosures_hold_the_score_and_are_as_narrow_as_asked() -> None:
    for seed in range(20):
        rng = random.Random(seed)
        kernel = random_kernel(rng, "citlH", 6, thirds=seed % 2 == 0)
        claim = claim_of(kernel.features, kernel.relations, score(1), kernel.model())
        codes = [Fraction(rng.randint(0, 1)) for _ in range(5)]
        true, near = Fraction(kernel.score(codes)), Fraction(1, 10**60)
        for bits in (20, 64, 150, 300):
            low, high = claim.model.body.score(codes, bits)
            assert low <= high
            assert high - low <= Fraction(1, 2**bits)
            assert low - near <= true <= high + near


def test_a_proof_by_enumeration() -> None:
    report = checked(built())
    assert report.accepted, report.reason
    assert report.clearance == 0
    assert not report.covers_floating_point
    assert report.rules == {"enumerated": 1}


def test_enumeration_finds_the_witness() -> None:
    # f at (0, a) is 2 - 1/e^(1/2 (1 + 1)) - 1/4, at (0, b) 2/e^(1/2) - 1/e^(1/2) - 1/4: 1.025 apart.
    assert not checked(built(score(1))).accepted
    assert checked(built(score(Fraction(11, 10)))).accepted
    assert checked(built(decision(1))).accepted
    assert (
        checked(built(decision(), relations=[within(3), SAME])).reason
        == "enumerated: the cell holds a witness"
    )
    assert checked(built(probability(Fraction(9, 10)))).accepted


def test_equal_points_are_no_witness_even_where_nothing_is_allowed() -> None:
    features = [continuous("x", 1, 1), integer("n", 0, 1)]
    model = rbf(1, 0, [sloped(0)], [(1, [0])])
    assert checked(proof(features, [SAME, SAME], score(0), model, [["enumerated"]])).accepted
    # A margin below 0 is broken by one person alone.
    assert not checked(proof(features, [SAME, SAME], decision(-1), model, [["enumerated"]])).accepted


def test_ties_are_given_up() -> None:
    # f(x) = f(x') for all x, x', but the enclosures cannot tell.
    model = rbf(1, 0, [tabled(1, [1, -1])], [(1, [0])])
    report = checked(built(score(0), model))
    assert not report.accepted
    assert "as far as 1024 bits can tell" in report.reason


def test_a_score_that_is_rational_is_known_exactly() -> None:
    model = rbf(1, -1, [tabled(1, [0, 0])], [(1, [0])])
    assert checked(built(decision(), model)).accepted  # f = 0 everywhere
    lemma = claim_of(FEATURES, RELATIONS, decision(), model).lemma()
    assert not lemma.broken_by([Fraction(0)] * 2, [Fraction(0), Fraction(1)])


def test_constraints_and_relations_decide_who_is_a_pair() -> None:
    never = constraint([(0, 1)], -1)
    assert "nobody" in checked(built(constraints=[never])).reason
    only = constraint([(0, -1)], -3)  # age >= 3
    assert not checked(built(score(Fraction(7, 10)))).accepted
    assert checked(built(score(Fraction(7, 10)), constraints=[only])).accepted


def test_empty_does_not_look_at_the_body() -> None:
    nodes = [["split", 0, "1"], ["empty", ["1", "0"]], ["enumerated"]]
    assert checked(built(constraints=[constraint([(0, -1)], -2)], nodes=nodes)).accepted
    only = [["empty", ["1", "0"]]]
    assert "nobody" in checked(built(constraints=[constraint([(0, -1)], -4)], nodes=only)).reason


def test_independent() -> None:
    flat = rbf(1, 0, [sloped(0), tabled(1, [2, 2]), sloped(0, 0, 1)], [(1, [0, 1, 5])])
    assert checked(built(score(0), flat, [["independent"]])).accepted
    assert not checked(built(score(0), flat, [["independent"]], relations=[within(1), SAME])).accepted
    assert not checked(built(score(0), MODEL, [["independent"]])).accepted
    steady = rbf(1, 0, [sloped(0, 0, 1)], [(1, [0])])
    assert checked(built(score(0), steady, [["independent"]], relations=[within(1), SAME])).accepted


def test_rules_of_other_bodies_do_not_apply() -> None:
    assert checked(built(nodes=[["separable", "1/2"]])).reason == "separable: the body is not affine"
    other = affine(0, [])
    assert (
        checked(built(model=other, nodes=[["kernel", "1/2", [], 0]])).reason
        == "kernel: the body is not a kernel one"
    )


def test_the_end_states_nothing_but_zero() -> None:
    assert not checked(built(clearance=Fraction(-1, 2))).accepted
    assert not checked(built(clearance=Fraction(1, 2))).accepted
    assert not checked(built(covers=True)).accepted


def _with(**body) -> dict:
    return {**MODEL, "body": {**MODEL["body"], **body}}


@pytest.mark.parametrize(
    "model",
    [
        {**MODEL, "rounding": {"sizes": [], "constant": "0", "operations": 0}},
        _with(gamma="0"),
        _with(gamma="-1"),
        _with(terms=[]),
        _with(terms=[["1", ["0"]]]),
        _with(terms=[["1", ["0", "0"], "0"]]),
        _with(terms=[["x", ["0", "0"]]]),
        _with(columns=[COLUMNS[0], {"feature": 1, "table": ["0"]}]),
        _with(columns=[COLUMNS[0], {"feature": 2, "table": ["0", "1"]}]),
        _with(columns=[COLUMNS[0], {"feature": True, "table": ["0", "1"]}]),
        _with(columns=[COLUMNS[0], {"feature": 1, "slope": "1", "offset": "0"}]),
        _with(columns=[{"feature": 0, "slope": "1", "offset": "0", "weight": "1"}, COLUMNS[1]]),
        _with(columns=[COLUMNS[0], 7]),
        _with(kind="poly"),
        _with(extra="1"),
    ],
)
def test_malformed_bodies_are_rejected(model) -> None:
    assert checked(built()).accepted
    report = checked(built(model=model))
    assert report.readable
    assert not report.accepted


def found(scores, x=(0, 0), other=(0, 1), prop=None, model=MODEL):
    value = witness(FEATURES, RELATIONS, prop or score(1), model, x, other, [0, 0])
    value[5]["witness"]["scores"] = scores
    return checked(value)


def test_witnesses() -> None:
    kernel = random_kernel(random.Random(0), "c", 1)
    kernel.columns, kernel.terms, kernel.gamma, kernel.bias = COLUMNS, TERMS, HALF, Fraction(-1, 4)
    exact = [Fraction(kernel.score(codes)) for codes in ((0, 0), (0, 1))]
    near = Fraction(1, 10**30)
    right = [[number(s - near), number(s + near)] for s in exact]
    assert found(right).accepted
    assert found([["1", "2"], ["0", "1"]]).accepted
    assert not found(right, prop=score(Fraction(11, 10))).accepted
    assert not found(right, prop=decision()).accepted
    assert found(right, prop=probability(Fraction(1, 5))).accepted
    assert not found(right[::-1]).accepted
    assert not found([right[0], [number(exact[1] + near), number(exact[1] + 2 * near)]]).accepted
    assert not found([[right[0][1], right[0][0]], right[1]]).accepted  # nothing lies within
    assert not found([right[0]]).accepted
    assert not found([right[0], right[1][0]]).accepted
    assert not found(right, x=(0, 0), other=(1, 1)).accepted
    # Enclosures that are too wide to be told apart from the checker's own still have to meet them.
    tiny = Fraction(1, 2**140)
    assert found([[number(exact[0]), number(exact[0] + tiny)], right[1]]).accepted


def test_zero_upper_turns_the_gauge_round() -> None:
    # f = 1 - 1 = 0 at group a, negative at b: with zero upper, a is upper and b lower; with zero lower both are lower.
    model = rbf(1, -1, [tabled(1, [0, 1])], [(1, [0])], zero="upper")
    scores = [["-1", "0"], ["0", "0"]]
    assert found(scores, x=(0, 1), other=(0, 0), prop=decision(), model=model).accepted
    model = rbf(1, -1, [tabled(1, [0, 1])], [(1, [0])])
    assert not found(scores[::-1], x=(0, 0), other=(0, 1), prop=decision(), model=model).accepted


def test_what_is_kept_between_points_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(module, "_MOST_KEPT", 3)
    assert checked(built()).accepted
