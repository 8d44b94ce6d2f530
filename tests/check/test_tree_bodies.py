"""Bodies of trees (section 9): boundaries by hand, other rules, witnesses, rounding, several scores; what is malformed is rejected."""

import copy
from fractions import Fraction
from math import inf, nextafter

import pytest
from tests.check import samples
from tests.check.builder import (
    FREE,
    SAME,
    categorical,
    checked,
    constraint,
    continuous,
    decision,
    integer,
    ordinal,
    pairs,
    probability,
    proof,
    score,
    within,
    witness,
)
from tests.check.ensembles import missing, rounding, trees
from tests.check.strategies import number_text

from likewise_check.core.numbers import consecutive, double_above
from likewise_check.core.space import read_space
from likewise_check.packs.trees import body as bodies
from likewise_check.packs.trees import forest, leaf_pairs, rule
from likewise_check.packs.trees.body import read_trees

ABOVE = nextafter(1.0, inf).hex()
BELOW = nextafter(1.0, 0).hex()
ONE = continuous("c", 0, 2)
STEP = [[[0, "1", 2], "0", "1"]]  # 1 above 1, else 0
GONE = [[[0, "1", 2, "left"], "0", "1"]]


def gap(features, relations, found, nodes, delta, **more):
    """Whether these nodes show that scores differ by at most delta."""
    return checked(proof(features, relations, score(delta), trees(0, found), nodes, **more)).accepted


LEAF = ["trees", "1/2"]
SMALL = "1/1000"  # scores that differ at all differ by more


# --- boundaries ------------------------------------------------------------------------------------


@pytest.mark.parametrize("split", [[], [["split", 0, "1"], LEAF], [["split", 0, "1", ABOVE], LEAF]])
def test_the_same_code_comes_to_one_leaf(split):
    assert gap([ONE], [SAME], STEP, [*split, LEAF], 0)


@pytest.mark.parametrize(
    ("first", "second", "holds"),
    [
        # x at most 1 is no more than anyone; x above 1, and x' at most 1, is; x and x' above 1 agree.
        (["split", 0, "1", ABOVE], ["split", 1, "1", ABOVE], [True, True, False, True]),
        # A closed end at the test: the right child has the code 1 as well.
        (["split", 0, "1"], ["split", 1, "1"], [True, True, False, False]),
        (["split", 0, BELOW, "1"], ["split", 1, "1", ABOVE], [True, True, False, True]),
        (["split", 0, "1", ABOVE], ["split", 1, BELOW, "1"], [True, True, False, False]),
    ],
)
def test_cells_at_a_threshold(first, second, holds):
    """The leaves of a free feature, one by one: both at most 1, or both above, or not."""
    nodes = [first, second, LEAF, LEAF, second, LEAF, LEAF]
    report = checked(proof([ONE], [FREE], score(SMALL), trees(0, STEP), nodes), refusals=9)
    assert report.refused == tuple(i for i, ok in zip((2, 3, 5, 6), holds, strict=True) if not ok)


@pytest.mark.parametrize(
    ("tolerance", "splits", "holds"),
    [
        ("1/2", [["split", 0, "1/2"], ["split", 1, "1/2"]], [True, True, False, False]),
        ("1/2", [["split", 0, "1/4"], ["split", 1, "3/2"]], [True, True, False, True]),
        ("1/2", [["split", 0, nextafter(1.5, 2).hex()], ["split", 1, "1"]], [False, False, True, True]),
        ("1/2", [["split", 0, "3/2"], ["split", 1, "1"]], [False] * 4),
    ],
)
def test_within_a_tolerance(tolerance, splits, holds):
    first, second = splits
    nodes = [first, second, LEAF, LEAF, second, LEAF, LEAF]
    values = proof([ONE], [within(tolerance)], score(SMALL), trees(0, STEP), nodes)
    expected = tuple(i for i, ok in zip((2, 3, 5, 6), holds, strict=True) if not ok)
    assert checked(values, refusals=9).refused == expected


def test_whole_numbers():
    """With tests between whole numbers, within counts them: 1 and 3 are 2 apart, with nothing between 1 and 2."""
    steps = [[[0, "3/2", 2], "0", [0, "2", 4], "1", "3"]]  # 0 up to 1, 1 at 2, 3 from 3 on
    age = integer("n", 0, 4)
    assert gap([age], [within(1)], steps, [LEAF], 2)
    assert not gap([age], [within(1)], steps, [LEAF], "15/8")
    assert not gap([age], [within(2)], steps, [LEAF], 2)
    assert gap([age], [within(2)], steps, [LEAF], 3)
    nothing = [[[0, "3/2", 4], [0, "5/4", 3], "0", "9", "1"]]  # no whole number between 5/4 and 3/2
    assert gap([age], [FREE], nothing, [LEAF], 1)
    assert not gap([continuous("c", 0, 4)], [FREE], nothing, [LEAF], 8)


def test_steps_of_ordinals_and_sets_of_levels():
    rank = ordinal("rank", "abcd")
    found = [[[0, [0, 3], 2], "0", [0, [1], 4], "1", "5"]]  # 0 1 5 0
    assert gap([rank], [within(1)], found, [LEAF], 5)
    assert not gap([rank], [within(1)], found, [LEAF], "9/2")
    nodes = [["split", 0, "1"], ["split", 1, "1"], LEAF, LEAF, ["split", 1, "1"], LEAF, LEAF]
    assert checked(proof([rank], [within(1)], score(1), trees(0, found), nodes), refusals=9).refused == (5, 6)
    assert gap([rank], [pairs([0, 1], [0, 3])], found, [LEAF], 1)
    assert not gap([rank], [pairs([0, 3], [1, 2])], found, [LEAF], 1)
    assert gap([rank], [pairs()], found, [LEAF], 0)
    assert gap([categorical("c", "abcd")], [FREE], [[[0, [], 2], "9", "1"]], [LEAF], 0)
    far = ordinal("far", [f"l{i}" for i in range(40)])
    ends = [[[0, [0], 2], "0", [0, [39], 4], "7", "1"]]
    assert not gap([far], [within(39)], ends, [LEAF], 6)
    assert not gap([far], [within(10**30)], ends, [LEAF], 6)
    assert gap([far], [within(38)], ends, [LEAF], 6)


def test_the_same_level_in_both_sets():
    """{0, 3} and {2, 3} share 3 only: in the cell up to 2 both have levels, but no common one."""
    feature = categorical("c", "abcd")
    nodes = [["split", 0, "2"], LEAF, LEAF]
    first = [[0, [0, 3], 2], "1", "0"]
    assert gap([feature], [SAME], [first], nodes, 0)


def test_missing_numbers():
    """Similar to themselves only, unless free; where they go is told by the node, whatever the test."""
    for feature, top in ((missing(integer("n", 0, 1)), "2"), (missing(ONE), nextafter(2.0, 3).hex())):
        assert gap([feature], [SAME], GONE, [LEAF], 0)
        only = [[[0, "99", 2, "right"], "0", "1"]]  # 1 where missing: all numbers go left
        assert gap([feature], [within(1)], only, [LEAF], 0)
        assert not gap([feature], [FREE], only, [LEAF], SMALL)
        none = [[[0, "-1", 2, "left"], "0", "1"]]
        assert gap([feature], [within(1)], none, [LEAF], 0)
        last = "1" if top == "2" else "2"
        after = [] if top == "2" else [top]
        nodes = [["split", 0, last, *after], ["split", 1, last, *after], LEAF, LEAF]
        nodes += nodes[1:]
        assert checked(proof([feature], [FREE], score(0), trees(0, only), nodes), refusals=9).refused == (5,)
        report = checked(proof([feature], [within(1)], score(0), trees(0, only), nodes))
        assert report.accepted
        x, other = (Fraction(2), Fraction(1)) if top == "2" else (double_above(Fraction(2)), Fraction(2))
        for relation, accepted in ((FREE, True), (within(1), False)):
            values = witness(
                [feature], [relation], score("1/2"), trees(0, only), [number_text(x)], [other], [1, 0]
            )
            assert checked(values).accepted == accepted
            assert accepted or "not similar" in checked(values).reason


def test_a_cell_between_the_last_number_and_what_is_missing():
    """Splits need not be at doubles: what is above the last number is missing."""
    beyond = (Fraction(2) + double_above(Fraction(2))) / 2
    found = [[[0, "2", 2, "left"], "0", "7"]]
    nodes = [["split", 0, number_text(beyond)], LEAF, LEAF]
    assert gap([missing(ONE)], [SAME], found, nodes, 0)
    assert gap([missing(ONE)], [FREE], found, [LEAF], 0)  # nothing is above 2, and what is missing goes left


@pytest.mark.parametrize(
    "x", [0.0, 1.0, -1.0, -2.0, 3.5, -3.5, 5e-324, -5e-324, 2.0**-1022, -(2.0**-1022), 1e300, -0.1]
)
def test_the_next_double(x):
    after = double_above(Fraction(x))
    assert after == Fraction(nextafter(x, inf))
    assert consecutive(Fraction(x), after)


def test_a_cell_without_pairs_is_infinite():
    feature = integer("n", 0, 9)
    model = trees(0, [["5"]])
    nodes = [["split", 0, "3"], ["split", 1, "6"], LEAF, LEAF, LEAF]  # x <= 3, x' >= 7: none within 2
    values = proof([feature], [within(2)], score(1), model, nodes, clearance="1/2")
    assert checked(values).accepted
    void = proof([feature], [pairs()], score(1), model, [LEAF])
    assert "only levels kinds" in checked(void).reason


def test_ways_of_decisions():
    """B = T holds unless the way is 0."""
    found = [[[0, "1", 2], "0", "1"]]
    left = ["split", 0, "1", ABOVE]
    for way, holds in (("0", False), ("1/2", True), ("1", True)):
        nodes = [left, ["trees", way], ["trees", "1/2"]]
        report = checked(proof([ONE], [SAME], decision("1/4"), trees(0, found), nodes), refusals=9)
        assert 1 not in report.refused  # -f <= 0 < 1/4
        report = checked(proof([ONE], [SAME], decision(0), trees(0, found), nodes), refusals=9)
        assert (1 not in report.refused) == holds  # B = T = 0
    for bad in ("2", "-1/9", 1, None):
        report = checked(proof([ONE], [SAME], decision(0), trees(0, found), [["trees", bad]]))
        assert "way" in report.reason
        assert not report.refused


# --- other rules -----------------------------------------------------------------------------------


def test_other_rules():
    model = trees(0, STEP)
    enumerated = proof(
        [integer("n", 0, 3), samples.SEX], [within(1), FREE], score(2), model, [["enumerated"]]
    )
    enumerated[-1]["end"]["clearance"] = "1/2"
    assert checked(enumerated).accepted
    enumerated[-1]["end"]["clearance"] = "501/1000"
    assert "clearance" in checked(enumerated).reason
    enumerated[3]["property"]["delta"] = "1/2"
    assert "holds a witness" in checked(enumerated).reason
    assert "not down to one value" in checked(proof([ONE], [SAME], score(2), model, [["enumerated"]])).reason
    assert checked(proof([ONE, samples.SEX], [SAME, FREE], score(0), model, [["independent"]])).accepted
    assert not checked(proof([ONE, samples.SEX], [FREE, SAME], score(9), model, [["independent"]])).accepted
    assert "not affine" in checked(proof([ONE], [SAME], score(0), model, [["separable", "1/2"]])).reason
    assert "no trees" in checked([*samples.gap()[:5], ["trees", "1"], samples.gap()[-1]]).reason
    for rest in ([], ["1/2", "1/2"], [[]]):
        assert "a trees leaf" in checked(proof([ONE], [SAME], score(0), model, [["trees", *rest]])).reason


def test_enumerated_points_that_are_missing():
    """Both missing or neither, for within; constraints on others."""
    feature = missing(integer("n", 0, 2))
    only = trees(0, [[[0, "99", 2, "right"], "0", "1"], [[1, [0], 2], "1", "0"]])
    features = [feature, samples.SEX]
    assert checked(proof(features, [within(3), SAME], score(0), only, [["enumerated"]])).accepted
    assert not checked(proof(features, [FREE, SAME], score(0), only, [["enumerated"]])).accepted
    limits = [constraint([(1, [1, 0])], 0)]
    values = proof(features, [SAME, FREE], score(0), only, [["enumerated"]])
    assert not checked(values).accepted
    values[1]["space"]["constraints"] = limits
    assert checked(values).accepted
    assert checked(proof(features, [SAME, FREE], probability("1/4"), only, [["enumerated"]])).accepted


# --- rounding --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("bits", "least"), [(24, 100), (53, 700)])
def test_the_rounding_error(bits, least):
    found = [[[0, "1", 2], "-3", "2"], ["1/2"]]
    features, relations = [ONE], [SAME]
    error = ((1 + Fraction(1, 2**bits)) ** 2 - 1) * 4 + 2 * Fraction(1, 2**least)
    for clearance, covers in ((error, False), (error + Fraction(1, 2**1200), True)):
        for stated in (True, False):
            model = trees("1/2", found, rounding=rounding(4, 2, bits))
            values = proof(
                features,
                relations,
                score(4 * error),
                model,
                [LEAF],
                clearance=number_text(clearance),
                covers=stated,
            )
            assert checked(values).accepted == (stated == covers)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (rounding("7/2", 2), "at least |bias|"),
        (rounding(4, 1), "at least |bias|"),
        (rounding(4, 10**7 + 1), "whole number"),
        (rounding(4, 2, 32), "24 or 53"),
        (rounding(4, 2, 64), "from 24 to 53"),
        ({"constant": "4", "operations": 2}, "exactly the keys"),
        ({"sizes": [], "constant": "4", "operations": 2}, "exactly the keys"),
    ],
)
def test_roundings_that_are_refused(given, reason):
    model = trees("-1/2", [[[0, "1", 2], "-3", "2"], ["1/2"]], rounding=given)
    assert reason in checked(proof([ONE], [SAME], score(0), model, [LEAF])).reason


def test_probabilities_are_never_covered():
    model = trees(0, STEP, rounding=rounding(1, 1))
    values = proof([ONE], [SAME], probability("1/2"), model, [["trees", "1/4"]], clearance="1/2")
    assert checked(values).accepted
    values[-1]["end"]["covers_floating_point"] = True
    assert not checked(values).accepted


# --- malformed bodies ------------------------------------------------------------------------------

FEATURES = [ONE, samples.SEX, missing(samples.AGE)]
GOOD = [[0, "1", 4], [1, [0], 3], "1", "2", [2, "1", 6, "left"], "3", "4"]


@pytest.mark.parametrize(
    ("place", "new", "reason"),
    [
        (0, [0, "1", 3], "tree 0, node 4 is not the next child"),
        (0, [0, "1", 5], "tree 0, node 4 is not the next child"),
        (0, [0, "1", 0], "must come after its left one"),
        (0, [0, "1", 1], "must come after its left one"),
        (0, [0, "1", 7], "and be in the tree"),
        (0, [0, "1", -1], "whole number"),
        (0, [0, "1", "4"], "whole number"),
        (0, [0, "1", True], "whole number"),
        (0, [0, "1"], "must have 3 entries"),
        (0, [0, "1", 4, "left"], "must have 3 entries"),
        (0, [0, [0], 4], "a number"),
        (0, [0, 1, 4], "a number"),
        (0, [3, "1", 4], "from 0 to 2"),
        (0, [-1, "1", 4], "from 0 to 2"),
        (0, [True, "1", 4], "a number"),
        (0, [], "a number"),
        (0, None, "a number"),
        (0, "7", "tree 0, node 1 is not the next child"),
        (1, [1, "1", 3], "an array"),
        (1, [1, [2], 3], "from 0 to 1"),
        (1, [1, [False], 3], "from 0 to 1"),
        (1, [1, [1, 0], 3], "strictly increasing"),
        (1, [1, [0, 0], 3], "strictly increasing"),
        (1, [1, [0], 4], "tree 0, node 3 is not the next child"),
        (2, 1, "a number"),
        (2, ["1", "2"], "a number"),
        (4, [2, "1", 6], "must have 4 entries"),
        (4, [2, "1", 6, "up"], "one of"),
        (4, [2, "1", 6, None], "one of"),
        (4, "5", "tree 0, node 5 is not the next child"),
        (6, [0, "1", 8], "and be in the tree"),
    ],
)
@pytest.mark.parametrize(
    "before", [[], [GOOD]], ids=["alone", "after the same tree, whose numbers are known"]
)
def test_malformed_trees(before, place, new, reason):
    found = copy.deepcopy([*before, GOOD])
    relations = [SAME] * 3
    assert checked(proof(FEATURES, relations, score(0), trees(0, found), [LEAF])).accepted
    values = proof(FEATURES, relations, score(0), trees(0, found), [LEAF])
    values[4]["model"]["body"]["trees"][-1][place] = new
    report = checked(values)
    assert reason.replace("tree 0", f"tree {len(before)}") in (report.reason or ""), report.reason
    assert report.line == 5


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"trees": []}, "1 to 100000 trees"),
        ({"trees": [[]]}, "ends before its last leaf"),
        ({"trees": [[[0, "1", 2], "1"]]}, "and be in the tree"),
        ({"trees": [["1", "2"]]}, "node 1 is not the next child"),
        ({"trees": ["1"]}, "array"),
        ({"trees": {}}, "array"),
        ({"bias": None}, "number"),
        ({"bias": 0}, "number"),
        ({"bias": ["1"]}, "an array of 2 to 1000"),
        ({"bias": ["1"] * 1001}, "an array of 2 to 1000"),
        ({"bias": ["1", "2"]}, "array"),
        ({"bias": ["1", "2"], "trees": [[["1", "2", "3"]]]}, "2 entries"),
        ({"bias": ["1", "2"], "trees": [[["1", "2"]]]}, "several scores"),
        ({"columns": []}, "exactly the keys"),
    ],
)
def test_malformed_bodies(change, reason):
    values = proof([ONE], [SAME], score(0), trees(0, STEP), [LEAF])
    values[4]["model"]["body"].update(change)
    assert reason in checked(values).reason


# --- several scores --------------------------------------------------------------------------------


def test_forms_of_several_scores():
    space = read_space({"space": {"features": [ONE, missing(integer("n"))], "constraints": []}})
    item = {
        "kind": "trees",
        "bias": ["1", "-1/3"],
        "trees": [[[0, "1", 2], ["1", "2"], ["3", "1/7"]], [[1, "1", 2, "right"], ["0", "1"], ["5", "-1"]]],
    }
    body = read_trees(item, space)
    assert body.several
    assert body.size == 1 + 3 + 5
    points = {(1, 1): (2, Fraction(8, 3)), (2, 4): (9, Fraction(1, 7) - Fraction(4, 3))}
    for codes, scores in points.items():
        x = list(map(Fraction, codes))
        assert tuple(body.scores(x)) == scores
        weights = [Fraction(2, 5), Fraction(-3)]
        form = body.weigh(weights, Fraction(1, 11))
        assert not form.several
        assert form.scores(x)[0] == Fraction(2, 5) * scores[0] - 3 * scores[1] + Fraction(1, 11)
        assert form.trees is body.trees


# --- limits ----------------------------------------------------------------------------------------


def chain(depth: int, feature=0, side=()) -> list:
    """A tree that is one path to the right: x <= 1/(depth), x <= 2/depth, ..."""
    nodes: list = []
    for i in range(depth):
        nodes += [[feature, f"{i}/{depth}", len(nodes) + 2, *side], str(i % 7)]
    return [*nodes, "3"]


def test_deep_trees():
    values = proof([ONE], [SAME], score(0), trees(0, [chain(10_000)]), [LEAF])
    assert checked(values).accepted
    values[4]["model"]["body"]["trees"] = [chain(10_001)]
    assert "deeper than 10000" in checked(values).reason
    left = [[0, f"-{i}", 2 * 9_999 - i] for i in range(9_999)] + ["1"] * 10_000
    assert checked(proof([ONE], [SAME], score(0), trees(0, [left]), [LEAF])).accepted


def test_trees_and_nodes_are_limited(monkeypatch):
    monkeypatch.setattr(bodies, "MOST_TREES", 2)
    monkeypatch.setattr(bodies, "MOST_NODES", 7)

    def report(found):
        return checked(proof([ONE], [SAME], score(0), trees(0, found), [LEAF]))

    assert report([*STEP, *STEP]).accepted
    assert "1 to 2 trees" in report([*STEP, *STEP, ["1"]]).reason
    assert report([chain(3)]).accepted
    assert "at most 7 nodes" in report([chain(4)]).reason


def test_too_many_pairs_are_searched_for(monkeypatch):
    """201 leaves: up to 40,401 pairs."""
    monkeypatch.setattr(forest, "MOST_LISTED", 1 << 20)
    steep = [[[0, f"{i}/100", 2 * i + 2], str(i)][j] for i in range(200) for j in (0, 1)] + ["200"]
    for delta, holds in ((200, True), ("399/2", False)):
        assert gap([ONE], [FREE], [steep], [LEAF], delta) == holds
    for delta, holds in ((51, True), ("101/2", False)):  # 1/2 is 50 steps, and ends count
        assert gap([ONE], [within("1/2")], [steep], [LEAF], delta) == holds
    assert gap([ONE], [FREE], [steep], [["split", 0, "1"], LEAF, ["split", 1, "1"], LEAF, LEAF], 200)
    away = [["split", 0, "1/2"], ["split", 1, "3/2"], LEAF, LEAF, LEAF]
    assert gap([ONE], [within("1/2")], [steep], away, 51)  # the second leaf: none is that near


def test_what_is_kept_does_not_matter(monkeypatch):
    values = samples.branched()
    monkeypatch.setattr(forest, "MOST_KEPT", 0)
    monkeypatch.setattr(forest, "MOST_KEPT_SCORES", 0)
    monkeypatch.setattr(leaf_pairs, "MOST_KEPT", 0)
    monkeypatch.setattr(rule, "MOST_WAYS", 0)
    assert checked(values).accepted
    assert checked(samples.grown()).accepted
    monkeypatch.setattr(forest, "MOST_LISTED_IN_ALL", 3)
    assert checked(values).accepted
