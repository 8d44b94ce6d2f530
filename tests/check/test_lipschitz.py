"""Scores that change no faster than a distance (section 21): what is true is accepted, and what is not is refused."""

from fractions import Fraction
from itertools import product

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    checked,
    continuous,
    integer,
    line,
    number,
    proof,
    score,
    table,
    within,
    witness,
)
from tests.check.test_distance import each, form, priced

A, B, JOB = continuous("a", 0, 2), continuous("b", 0, 2), categorical("job", ["x", "y", "z"])
MODEL = affine(0, [line(0, 3), line(1, -4), table(2, 1, [0, 1, 4])])
FEATURES = (A, B, JOB)
BOTH = (within(2), within(2), SAME)


def steep(constant, norm=1, delta=0, terms=(), forms=()) -> dict:
    distance = {"norm": norm, "terms": list(terms), "forms": list(forms)}
    return {"kind": "lipschitz", "constant": number(constant), "delta": number(delta), "distance": distance}


UNIT = [each(0, 1), each(1, 1)]
# f = 3 a - 4 b: the least constants are 4, 5 and 7.
LEAST = {1: 4, 2: 5, "max": 7}


def shares(norm, constant):
    return [number(Fraction(rate, constant)) for rate in (3, 4)]


@pytest.mark.parametrize("norm", LEAST)
def test_a_line_less_costs_is_accepted_from_the_least_constant_on(norm):
    least = LEAST[norm]
    for constant in (least, least + 1):
        leaf = ["separable", "1/2", [], shares(norm, constant)]
        report = checked(proof(FEATURES, BOTH, steep(constant, norm, terms=UNIT), MODEL, [leaf]))
        assert report.accepted, report.reason
        assert {"distance", "lipschitz"} <= set(report.packs)
    smaller = Fraction(least) - Fraction(1, 100)
    for numbers in (shares(norm, smaller), shares(norm, least), ["1", "1"], ["0", "0"]):
        leaf = ["separable", "1/2", [], numbers]
        assert not checked(proof(FEATURES, BOTH, steep(smaller, norm, terms=UNIT), MODEL, [leaf])).accepted


@pytest.mark.parametrize("norm", LEAST)
def test_slopes_are_accepted_from_the_least_constant_on(norm):
    least = LEAST[norm]
    for constant, holds in ((least, True), (Fraction(least) - Fraction(1, 10**6), False)):
        for nodes in ([0], [[0, "1"], 0, 0], [[0, "1"], [2, "1"], 0, 0, 0]):
            claim = proof(FEATURES, BOTH, steep(constant, norm, terms=UNIT), MODEL, [["slope", nodes]])
            assert checked(claim).accepted == holds
    for nodes in ([], [0, 0], [[0, "1"], 0], [[0, "2"], 0, 0], [[2, "1/2"], 0, 0], [[9, "1"], 0, 0], [1]):
        claim = proof(FEATURES, BOTH, steep(least, norm, terms=UNIT), MODEL, [["slope", nodes]])
        assert not checked(claim).accepted, nodes


def test_slopes_say_nothing_of_levels_that_differ_nor_of_what_costs_nothing():
    some = steep(9, 1, terms=[*UNIT, priced(2, [9], [9, 9])])
    assert not checked(proof(FEATURES, (within(2), within(2), FREE), some, MODEL, [["slope", [0]]])).accepted
    for terms in ([each(0, 1)], [each(0, 1), each(1, 0)]):
        claim = proof(FEATURES, BOTH, steep(9, 1, terms=terms), MODEL, [["slope", [0]]])
        assert not checked(claim).accepted


def test_forms_are_a_norm_too():
    forms = [form(1, (0, 1)), form(1, (1, 1))]
    for constant, holds in ((5, True), (Fraction(49, 10), False)):
        numbers = [number(Fraction(-3, 1) / constant), number(Fraction(4, 1) / constant)]
        leaf = ["separable", "1/2", [], numbers]
        claim = proof(FEATURES, BOTH, steep(constant, 2, forms=forms), MODEL, [leaf])
        assert checked(claim).accepted == holds
    assert not checked(proof(FEATURES, BOTH, steep(5, 1, forms=forms), MODEL, [["slope", [0]]])).accepted


AGE, KIND = integer("age", 0, 3), categorical("kind", ["x", "y", "z"])
STEPS = affine(0, [line(0, 1), table(1, 1, [0, 1, 4])])
COSTS = [each(0, 1), priced(1, [1], [3, 1])]


def gap(x, other):
    return x[0] + [0, 1, 4][x[1]] - other[0] - [0, 1, 4][other[1]]


def apart(norm, x, other):
    costs = [abs(x[0] - other[0]), [[0, 1, 3], [1, 0, 1], [3, 1, 0]][x[1]][other[1]]]
    return {1: sum(costs), "max": max(costs), 2: sum(c * c for c in costs)}[norm]


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("norm", LEAST)
@pytest.mark.parametrize("delta", [0, Fraction(1, 2)])
def test_looking_at_everybody_agrees_with_looking_at_everybody(norm, delta):
    people = list(product(range(4), range(3)))
    for constant in (Fraction(1), Fraction(2), Fraction(5, 2), Fraction(3), Fraction(19, 6), Fraction(4)):
        steepest = []
        for x, other in product(people, people):
            excess, far = gap(x, other) - delta, apart(norm, x, other)
            broken = excess > 0 and excess**2 > constant**2 * (far if norm == 2 else far**2)
            steepest += [(x, other)] if broken else []
        prop = steep(constant, norm, delta, terms=COSTS)
        report = checked(proof((AGE, KIND), (FREE, FREE), prop, STEPS, [["enumerated"]]))
        assert report.accepted == (not steepest)
        for x, other in product(people[:6], people):
            scores = [number(one[0] + [0, 1, 4][one[1]]) for one in (x, other)]
            codes = [[number(code) for code in one] for one in (x, other)]
            claim = witness((AGE, KIND), (FREE, FREE), prop, STEPS, *codes, scores)
            assert checked(claim).accepted == ((x, other) in steepest)


def test_a_line_is_eased_by_the_least_distance_of_its_cell():
    """f = 3 x over whole numbers from 0 to 3: cut at x' = 1, pairs of 2 and 3 beside 0 and 1 are 1 apart at least, and 9 in score at most."""
    model = affine(0, [line(0, 3)])
    features, relations = (integer("age", 0, 3),), (FREE,)
    cut = [["split", 1, "1"], ["split", 0, "1"]]
    for constant in (3, 6, 8, 9, 10):
        leaves = [["separable", "1/2"]] * 3
        report = checked(
            proof(features, relations, steep(constant, terms=[each(0, 1)]), model, [*cut, *leaves])
        )
        assert not report.accepted  # where both are from 0 to 1 nothing eases
        leaves = [["enumerated"], ["separable", "1/2"], ["enumerated"]]
        report = checked(
            proof(features, relations, steep(constant, terms=[each(0, 1)]), model, [*cut, *leaves])
        )
        assert report.accepted == (constant >= 9)


def test_identical_is_of_cells_of_one_code_and_of_this_property():
    model, features = affine(0, [line(0, 3)]), (integer("age", 0, 1),)
    prop = steep(3, terms=[each(0, 1)])
    cut = [["split", 0, "0"], ["split", 1, "0"]]
    nodes = [*cut, ["identical"], ["enumerated"], ["split", 1, "0"], ["enumerated"], ["identical"]]
    assert checked(proof(features, (FREE,), prop, model, nodes)).accepted
    for wrong in (2, 3, 5):
        changed = list(nodes)
        changed[wrong] = ["identical"] if nodes[wrong] == ["enumerated"] else ["separable", "1/2"]
        assert checked(proof(features, (FREE,), prop, model, changed)).accepted == (wrong == 2)
    assert not checked(proof(features, (FREE,), prop, model, [["identical"]])).accepted
    for leaf in (["identical"], ["slope", [0]]):
        changed = [*cut, leaf, ["enumerated"], ["enumerated"]]
        assert not checked(proof(features, (FREE,), score(9), model, changed)).accepted


@pytest.mark.parametrize(
    "change",
    [
        {"constant": "-1"},
        {"delta": "-1"},
        {"distance": {"norm": 3, "terms": UNIT, "forms": []}},
        {"distance": {"norm": True, "terms": UNIT, "forms": []}},
        {"distance": {"norm": 1, "terms": [], "forms": []}},
        {"distance": {"norm": 1, "terms": UNIT, "forms": [form(1, (0, 1))]}},
        {"distance": {"norm": 1, "terms": UNIT[::-1], "forms": []}},
        {"distance": {"norm": 1, "terms": [each(0, -1)], "forms": []}},
        {"distance": {"norm": 1, "terms": UNIT}},
        {"margin": "0"},
        {"class": 0},
    ],
)
def test_properties_that_are_none_are_refused(change):
    leaf = ["separable", "1/2", [], ["3/4", "1"]]
    prop = steep(4, terms=UNIT)
    assert checked(proof(FEATURES, BOTH, prop, MODEL, [leaf])).accepted
    assert not checked(proof(FEATURES, BOTH, {**prop, **change}, MODEL, [leaf])).accepted
