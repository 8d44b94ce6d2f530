"""The rule `network` and the node `neuron` (section 15), on proofs that can be followed by hand: what holds, what does not by a hair, what is malformed."""

import json
from fractions import Fraction
from itertools import product

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    SECTIONS,
    categorical,
    checked,
    continuous,
    decision,
    integer,
    number,
    proof,
    score,
    sealed,
    within,
)
from tests.check.kernels import lemma_of, sloped, tabled
from tests.check.test_mutation import mutants
from tests.check.test_network import network
from tests.check.test_schema import LINE

from likewise_check.packs.network.neuron import GRID, Polygon

# f = relu(age + sex): two who differ in sex are at most 1 apart.
FEATURES = [continuous("age", -2, 2), categorical("sex", ["f", "m"])]
RELATIONS = [SAME, FREE]
COLUMNS = [sloped(0), tabled(1, [0, 1])]
RELU = network([(["relu"], [0], [[1, 1]])], [1], columns=COLUMNS, labels=None, link=None)


def leaf(alpha=(0,), gamma=(0,), *, way="1/2", bits=0):
    return ["network", way, bits, list(alpha), list(gamma)]


def gap(delta, *nodes, model=RELU, features=FEATURES, relations=RELATIONS):
    return proof(features, relations, score(delta), model, nodes)


def test_the_gap_of_one_relu():
    report = checked(gap(1, leaf()))
    assert report.accepted
    assert "network" in report.packs
    report = checked(gap(Fraction(999, 1000), leaf()))
    assert not report.accepted
    assert "its bound is not below" in report.reason


def test_the_difference_alone_does_it():
    """Multipliers that make the two copies strangers lose the difference."""
    assert not checked(gap(1, leaf((1,), (0,)))).accepted
    assert checked(gap(1, leaf((1,), (-1,), bits=2))).accepted


def test_cells_by_the_sign_of_a_neuron():
    """Left of 0 the score is 0 at x and at least 0 at x'; right of it, the gap is at most 1."""
    assert checked(gap(1, ["neuron", 0, 0, 0, "0"], leaf(), leaf())).accepted
    assert not checked(gap(0, ["neuron", 0, 0, 0, "0"], leaf(), leaf())).accepted
    # x' - x <= 0 leaves the gap, x' - x >= 0 closes it.
    report = checked(gap(0, ["neuron", 0, 0, 2, "0"], leaf(), leaf()))
    assert report.line == 7


def test_limits_end_with_their_node():
    """What a cell knows of a neuron is forgotten once the node is left: the last leaf would need it."""
    nodes = [["split", 0, "0"], ["neuron", 0, 0, 2, "0"], leaf(), leaf(), leaf()]
    assert checked(gap(1, *nodes)).accepted
    assert checked(gap(0, *nodes)).line == 8


@pytest.mark.parametrize("at", ["5", "-7/2", "1/3"])
def test_any_place_may_be_cut(at):
    assert checked(gap(1, ["neuron", 0, 0, 1, at], leaf(), leaf())).accepted


# z = relu(age) - relu(age), which limits know to be within 2, multipliers within 1.
TWICE = network(
    [(["relu"], [0, 0], [[1, 0], [1, 0]]), (["relu"], [0], [[1, -1]])],
    [1],
    columns=COLUMNS,
    labels=None,
    link=None,
)


def excluded(at, alpha, *, sign=1):
    """The side of a cut of z that no pair is in."""
    cut = ["neuron", 1, 0, 0, number(at)]
    zero = leaf((0, 0, 0), (0, 0, 0))
    nobody = leaf(alpha, (0, 0, 0), way=None, bits=1)
    return gap(10, cut, zero, nobody, model=TWICE) if sign > 0 else gap(10, cut, nobody, zero, model=TWICE)


def test_multipliers_show_that_nobody_is_there():
    assert checked(excluded(Fraction(3, 2), (1, -1, 2))).accepted
    assert checked(excluded(Fraction(1001, 1000), (1, -1, 2))).accepted
    assert not checked(excluded(1, (1, -1, 2))).accepted  # the bound is 0, not below
    assert not checked(excluded(Fraction(3, 2), (0, 0, 0))).accepted
    assert checked(excluded(Fraction(-3, 2), (-1, 1, -2), sign=-1)).accepted
    assert not checked(excluded(Fraction(-3, 2), (1, -1, 2), sign=-1)).accepted


def test_a_proof_about_nobody_is_refused():
    report = checked(gap(1, ["neuron", 0, 0, 0, "9"], ["neuron", 0, 0, 0, "-9"], leaf(), leaf(), leaf()))
    assert report.accepted
    lonely = [continuous("age", -2, 2), integer("debts", 0, 0), categorical("sex", ["f", "m"])]
    assert checked(
        proof(lonely, [SAME, SAME, FREE], score(1), network([(["relu"], [0], [[1, 1]])], [1], columns=[sloped(0), tabled(2, [0, 1])], labels=None, link=None), [leaf()])
    ).accepted  # fmt: skip


def test_numbers_within_a_tolerance():
    """f = relu(2 age), age within 1/2: at most 1 apart, by the difference of codes."""
    features, relations = [continuous("age", -2, 2)], [within("1/2")]
    model = network([(["relu"], [0], [[2]])], [1], columns=[sloped(0)], labels=None, link=None)
    assert checked(gap(1, leaf(), model=model, features=features, relations=relations)).accepted
    assert not checked(gap("9/10", leaf(), model=model, features=features, relations=relations)).accepted
    cut = ["split", 2, "1/4"]
    assert checked(gap(1, cut, leaf(), leaf(), model=model, features=features, relations=relations)).accepted


@pytest.mark.parametrize(("zero", "weight"), [("lower", -1), ("upper", 1)])
def test_decisions_by_one_side(zero, weight):
    """The score is never above 0, or with the other zero never below it: nobody gets the other label."""
    model = network([(["relu"], [0], [[1, 1]])], [weight], columns=COLUMNS)
    model["head"]["zero"] = zero
    assert checked(proof(FEATURES, RELATIONS, decision(), model, [leaf(way="1")])).accepted
    model["body"]["weights"] = [number(-weight)]
    assert not checked(proof(FEATURES, RELATIONS, decision(), model, [leaf(way="1")])).accepted


def test_a_link_with_a_negative_slope():
    """g = -2 f + 1: the probability falls with the score, and multipliers are those of -f."""
    prop = {"kind": "probability", "delta": "1/2"}
    model = network([(["relu"], [0], [[1, 1]])], ["1/4"], columns=COLUMNS, link=["logistic", "-2", "1"])
    assert checked(proof(FEATURES, RELATIONS, prop, model, [leaf(way="1/4")])).accepted
    model["head"]["link"] = ["logistic", "-40", "1"]
    assert not checked(proof(FEATURES, RELATIONS, prop, model, [leaf(way="1/4")])).accepted


MALFORMED = [
    ["network", "1/2", 0, [0]],
    ["network", "1/2", 0, [0], [0], [0]],
    ["network", "1/2", -1, [0], [0]],
    ["network", "1/2", 1001, [0], [0]],
    ["network", "1/2", True, [0], [0]],
    ["network", "1/2", 0, [0, 0], [0]],
    ["network", "1/2", 0, [], [0]],
    ["network", "1/2", 0, ["0"], [0]],
    ["network", "1/2", 0, [0], [2**256]],
    ["network", "1/3", 0, [0], [0]],
    ["network", 0, 0, [0], [0]],
]


@pytest.mark.parametrize("wrong", MALFORMED, ids=repr)
def test_malformed_leaves(wrong):
    report = checked(gap(1, wrong))
    assert not report.accepted
    assert report.line == 6


@pytest.mark.parametrize(
    "wrong",
    [
        ["neuron", 0, 0, 0],
        ["neuron", 0, 0, 3, "0"],
        ["neuron", 0, 1, 0, "0"],
        ["neuron", 1, 0, 0, "0"],
        ["neuron", -1, 0, 0, "0"],
        ["neuron", 0, 0, 0, 0],
        ["neuron", 0, 0, 0, "x"],
    ],
    ids=repr,
)
def test_malformed_nodes(wrong):
    report = checked(gap(1, wrong, leaf(), leaf()))
    assert not report.accepted
    assert report.line == 6


def test_a_child_may_not_be_missing():
    assert not checked(gap(1, ["neuron", 0, 0, 0, "0"], leaf())).accepted
    assert not checked(gap(1, leaf(), leaf())).accepted


def test_only_networks_have_neurons_and_the_rule():
    from tests.check.builder import affine, line

    affine_model = affine(0, [line(0, 1)], labels=None, link=None)
    nodes = [["neuron", 0, 0, 0, "0"], ["independent"], ["independent"]]
    assert "needs a network" in checked(proof(FEATURES, RELATIONS, score(1), affine_model, nodes)).reason
    assert "no network" in checked(proof(FEATURES, RELATIONS, score(1), affine_model, [leaf()])).reason


def individuals(space):
    """Some codes of every feature, in all combinations."""
    ends = [
        range(feature.levels) if feature.levels else {feature.lo, feature.hi, (feature.lo + feature.hi) / 2}
        for feature in space.features
    ]
    return [list(map(Fraction, codes)) for codes in product(*ends)]


def test_every_mutation_that_is_accepted_is_true():
    """Single changes of a proof that has no room: whatever is still accepted claims nothing that a pair breaks."""
    whole = gap(1, ["neuron", 0, 0, 0, "0"], leaf((1,), (-1,), bits=2), leaf((1,), (-1,), bits=2))
    assert checked(whole).accepted
    accepted = 0
    for path, changed in mutants(whole):
        if not checked(changed).accepted:
            continue
        accepted += 1
        space, similarity, prop, model = (
            line[name] for line, name in zip(changed[1:5], SECTIONS, strict=True)
        )
        lemma = lemma_of(space["features"], similarity, prop, model, space["constraints"])
        for x, other in product(individuals(lemma.space), repeat=2):
            codes = zip(lemma.similarity, x, other, strict=True)
            if all(relation.allows(one, two) for relation, one, two in codes):
                assert not lemma.broken_by(x, other), path
    assert accepted


def test_lines_fit_the_schema():
    nodes = [["neuron", 0, 0, 2, "-1/2"], leaf(), leaf((3,), (-2,), bits=7, way=None)]
    for raw in sealed(gap(1, *nodes)):
        LINE.validate(json.loads(raw))
    for wrong in (["neuron", 0, 0, 3, "0"], ["network", "1/2", 0, [0]], ["network", 1, 0, [0], [0]]):
        assert not LINE.is_valid(wrong)


def test_limits_of_a_sum_are_rounded_outwards():
    wide = Polygon(-9 << GRID, 9 << GRID, -9 << GRID, 9 << GRID, -(18 << GRID), 18 << GRID)
    third = (1 << GRID) // 3
    for side in (0, 1):
        limits = [None, None, None]
        limits[side] = (Fraction(1, 3), Fraction(2, 3))
        assert wide.met(tuple(limits))[2 * side : 2 * side + 2] == (third, 2 * third + 1)
    assert wide.met((None, None, (Fraction(-1, 3), None)))[4] == -third - 1


def test_limits_sharpen_each_other_to_what_pairs_of_sums_leave():
    for ends in product((-1, 0), (1, 2), (-2, 1), (1, 3), (-1, 1), (1, 2)):
        lo, hi, other_lo, other_hi, p, q = ends
        pairs = [(y, z) for y in range(lo, hi + 1) for z in range(other_lo, other_hi + 1) if p <= z - y <= q]
        least = [min(y for y, _ in pairs), min(z for _, z in pairs), min(z - y for y, z in pairs)]
        most = [max(y for y, _ in pairs), max(z for _, z in pairs), max(z - y for y, z in pairs)]
        found = Polygon(*ends).closed()
        assert (list(found[::2]), list(found[1::2])) == (least, most)
