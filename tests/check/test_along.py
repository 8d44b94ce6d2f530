"""Pairs whose features change along (section 22): relations that are well formed, the parts and their order, and what a proof and a witness must have."""

from fractions import Fraction

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    between,
    categorical,
    checked,
    continuous,
    integer,
    line,
    number,
    ordinal,
    pairs,
    proof,
    score,
    table,
    within,
    witness,
)

from likewise_check.core.space import read_similarity, read_space

FEATURES = [continuous("wage", 0, 10), categorical("sex", ["f", "m"]), integer("age", 0, 9)]
MODEL = affine(0, [line(0, 1), table(1, 1, [0, 2])])  # wage, and 2 for m
LEAF = ["separable", "1/2"]


def along(j, *bands, rest=0) -> dict:
    rows = [[*step, number(low), number(high)] for *step, low, high in bands]
    return {"kind": "along", "with": j, "bands": rows, "else": number(rest)}


SHIFT = along(1, (0, 1, 3, 3), (1, 0, -3, -3))  # a man earns 3 more


def relations(first=SHIFT, second=FREE, third=SAME) -> list:
    return [first, second, third]


def test_the_gap_of_each_part_is_shown_and_no_less():
    """Of a man and a woman with 3 less scores differ by 5; who are equal do not differ."""
    for delta, accepted in ((5, True), (Fraction(49, 10), False)):
        report = checked(proof(FEATURES, relations(), score(delta), MODEL, [LEAF] * 3))
        assert report.accepted is accepted
    assert report.refused == (2,)  # from m to f; the one from f to m has a gap of -5
    assert "'wage' changes along with 'sex', by 3 from 'f' to 'm', by -3 from 'm' to 'f'" in report.claim


def test_every_part_has_a_proof_and_none_has_two():
    for nodes in (1, 2, 4):
        report = checked(proof(FEATURES, relations(), score(5), MODEL, [LEAF] * nodes))
        assert not report.accepted
        assert ("missing" if nodes < 3 else "follows the complete proof") in report.reason


def test_nothing_is_said_of_everybody_and_the_pack_is_named():
    report = checked(proof(FEATURES, relations(), score(5), MODEL, [LEAF] * 3))
    assert report.accepted
    assert report.decided is None
    assert "along" in report.packs


@pytest.mark.parametrize(
    ("x", "other", "holds"),
    [((5, 1, 0), (2, 0, 0), True), ((5, 1, 0), (5, 0, 0), False), ((5, 1, 0), (3, 0, 0), False)],
)
def test_a_witness_obeys_the_bands(x, other, holds):
    scores = [x[0] + 2 * x[1], other[0] + 2 * other[1]]
    report = checked(witness(FEATURES, relations(), score(1), MODEL, x, other, scores))
    assert report.accepted is holds
    if not holds:
        assert "not similar" in report.reason


def test_parts_come_in_the_order_of_their_steps():
    features = [
        continuous("wage", 0, 10),
        categorical("race", ["a", "b", "c"]),
        integer("age", 0, 9),
        ordinal("job", list("uvw")),
    ]
    shown = [
        along(1, (0, 2, 1, 1), (2, 0, -1, -1), rest=2),
        pairs((0, 2), (1, 2)),
        within(1),
        along(2, (-1, -1, 0), (1, 0, 1)),
    ]
    space = read_space({"space": {"features": features, "constraints": []}})
    found = list(read_similarity({"similarity": shown}, space).limit.parts())
    told = [(part[1].fixed, part[2].limits, part[0].limits, part[3].limits) for part in found]
    races = [None, (0, 2), (1, 2), (2, 0), (2, 1)]
    wages = [(-2, 2), (1, 1), (-2, 2), (-1, -1), (-2, 2)]
    ages, jobs = [None, (-1, -1), (1, 1)], [None, (-1, 0), (0, 1)]
    assert told == [(races[i], ages[j], wages[i], jobs[j]) for i in range(5) for j in range(3)]
    assert [part[1].kind for part in found[:3]] == ["same"] * 3
    assert found[0][2].kind == found[0][3].kind == "same"


def changed(**fields) -> dict:
    return {**SHIFT, **fields}


@pytest.mark.parametrize(
    ("shown", "why"),
    [
        (relations(along(1, (0, 1, 3, 3))), "mirrored"),
        (relations(along(1, (0, 1, 3, 3), (1, 0, -3, -2))), "mirrored"),
        (relations(along(1, (0, 1, 4, 3), (1, 0, -3, -4))), "above high"),
        (relations(along(1, (1, 0, -3, -3), (0, 1, 3, 3))), "increasing"),
        (relations(along(1, (0, 0, 0, 0))), "none"),
        (relations(along(1, (0, 2, 3, 3), (2, 0, -3, -3))), "from 0 to 1"),
        (relations(along(1)), "goes along"),
        (relations(changed(**{"else": "-1"})), "below 0"),
        (relations(changed(**{"with": 0})), "along itself"),
        (relations(changed(**{"with": 7})), "from 0 to 2"),
        (relations(changed(more=1)), ""),
        (relations(second=SAME), "goes along"),
        (relations(third=between(0, 1)), "between"),
        (relations(along(2, (1, 3, 3), (-1, -3, -3)), third=within(1)), "increasing"),
        (relations(along(2, (-1, -3, -3), (1, 3, 3)), third=FREE), "goes along"),
        (relations(along(2, (-2, -3, -3), (2, 3, 3)), third=within(1)), "from -1 to 1"),
        (relations(third=along(1, (0, 1, "1/2", "1/2"), (1, 0, "-1/2", "-1/2"))), "whole"),
    ],
)
def test_relations_that_are_not_well_formed_are_rejected(shown, why):
    report = checked(proof(FEATURES, shown, score(5), MODEL, [LEAF] * 3))
    assert not report.accepted
    assert why in report.reason, report.reason


def test_a_distance_besides_is_rejected():
    values = proof(FEATURES, relations(), score(5), MODEL, [LEAF] * 3)
    values[2]["distance"] = {"power": 1, "terms": [{"feature": 0, "each": "1"}], "forms": [], "bound": "1"}
    assert not checked(values).accepted
