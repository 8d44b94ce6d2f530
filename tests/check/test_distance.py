"""Pairs within a distance (section 19): read as the specification says, and rules that hold exactly where every pair of a small space says so."""

from fractions import Fraction
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
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
    proof,
    score,
    table,
    within,
    witness,
)
from tests.tiers import examples

from likewise_check.core.cells import make_box
from likewise_check.packs.distance import cost

AGE, JOB, RANK = integer("age", 0, 4), categorical("job", ["a", "b", "c"]), ordinal("rank", ["x", "y", "z"])
FEATURES = (AGE, JOB, RANK)
MODEL = affine(0, [line(0, 1), table(1, 1, [0, 2, 5]), table(2, 1, [0, 1, 3])])


def near(bound, terms=(), forms=(), power=1) -> dict:
    return {"power": power, "terms": list(terms), "forms": list(forms), "bound": number(bound)}


def each(k, cost) -> dict:
    return {"feature": k, "each": number(cost)}


def unequal(k, cost) -> dict:
    return {"feature": k, "unequal": number(cost)}


def priced(k, *rows) -> dict:
    return {"feature": k, "table": [[*map(number, row)] for row in rows]}


def form(weight, *entries) -> list:
    written = [[k, [*map(number, a)] if isinstance(a, (list, tuple)) else number(a)] for k, a in entries]
    return [number(weight), written]


def with_distance(lines: list, distance) -> list:
    found = list(lines)
    found[2] = {**found[2], "distance": distance}
    return found


def claim(
    distance, nodes, delta, *, relations=(FREE, FREE, FREE), clearance=0, model=MODEL, features=FEATURES
):
    return with_distance(
        proof(features, relations, score(delta), model, nodes, clearance=clearance), distance
    )


TERMS = [each(0, 1), priced(1, [2], [3, 1]), unequal(2, 2)]


def cost_of(term, u, v) -> Fraction:
    if u == v:
        return Fraction(0)
    if "each" in term:
        return Fraction(term["each"]) * abs(u - v)
    if "unequal" in term:
        return Fraction(term["unequal"])
    return Fraction(term["table"][max(u, v) - 1][min(u, v)])


def distance_of(distance, x, other) -> Fraction:
    total = sum(
        cost_of(t, x[t["feature"]], other[t["feature"]]) ** distance["power"] for t in distance["terms"]
    )
    for weight, entries in distance["forms"]:
        z = Fraction(0)
        for k, alpha in entries:
            at = (
                (lambda c, a=alpha: Fraction(a[c]))
                if isinstance(alpha, list)
                else (lambda c, a=alpha: Fraction(a) * c)
            )
            z += at(other[k]) - at(x[k])
        total += Fraction(weight) * z * z
    return total


def score_of(x) -> int:
    return x[0] + [0, 2, 5][x[1]] + [0, 1, 3][x[2]]


EVERYBODY = list(product(range(5), range(3), range(3)))


def largest_gap(distance) -> int:
    bound = Fraction(distance["bound"])
    return max(
        score_of(x) - score_of(other)
        for x, other in product(EVERYBODY, repeat=2)
        if distance_of(distance, x, other) <= bound
    )


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("bound", [0, 1, 2, 4, 7])
def test_enumerated_looks_at_those_who_are_near(power, bound):
    distance = near(bound, TERMS, power=power)
    gap = largest_gap(distance)
    assert checked(claim(distance, [["enumerated"]], gap)).accepted
    if gap:
        report = checked(claim(distance, [["enumerated"]], gap - 1))
        assert not report.accepted
        assert "holds a witness" in report.reason


def test_forms_count_as_well():
    distance = near(9, [unequal(1, 3)], [form("1/2", (0, 2), (2, [0, 1, -1])), form(1, (2, 1))])
    gap = largest_gap(distance)
    assert checked(claim(distance, [["enumerated"]], gap)).accepted
    assert not checked(claim(distance, [["enumerated"]], gap - 1)).accepted


def bound_by_hand(distance, weight, tangents) -> Fraction:
    """B of the root cell for the score with a = b = 1/2, over all points: the codes of this space are all whole."""
    bound = Fraction(distance["bound"])

    def less(x, other):
        parts = distance["terms"]
        total = sum(cost_of(t, x[t["feature"]], other[t["feature"]]) ** distance["power"] for t in parts)
        for (w, entries), y in zip(distance["forms"], tangents, strict=True):
            single = {**distance, "terms": [], "forms": [["1", entries]]}
            # z by its square alone has no sign: add it up anew
            z = Fraction(0)
            for k, alpha in entries:
                z += (
                    Fraction(alpha[other[k]]) - Fraction(alpha[x[k]])
                    if isinstance(alpha, list)
                    else Fraction(alpha) * (other[k] - x[k])
                )
            assert distance_of(single, x, other) == z * z
            total += Fraction(w) * (2 * y * z - y * y)
        return Fraction(score_of(x) - score_of(other), 2) - weight * (total - bound)

    return max(less(x, other) for x, other in product(EVERYBODY, repeat=2))


numbers = st.fractions(min_value=0, max_value=3, max_denominator=4)
signed = st.fractions(min_value=-3, max_value=3, max_denominator=4)


@given(weight=numbers, bound=numbers, costs=st.tuples(*[numbers] * 5), power=st.sampled_from([1]))
@examples(25)
def test_separable_is_the_maximum_less_the_distance(weight, bound, costs, power):
    a, b, c, d, e = costs
    distance = near(bound, [each(0, a), priced(1, [b], [c, d]), unequal(2, e)], power=power)
    border = 2 * bound_by_hand(distance, weight, [])
    _is_exactly(distance, [weight], border)


@given(weight=numbers, bound=numbers, y=st.tuples(signed, signed), alpha=st.tuples(*[signed] * 4))
@examples(12)
def test_separable_with_forms_is_the_maximum_less_their_tangents(weight, bound, y, alpha):
    a, b, c, d = alpha
    forms = [form(2, (0, a), (1, [b, c, 0])), form("1/3", (0, 1), (2, [d, 0, 1]))]
    distance = near(bound, [unequal(1, 1)], forms)
    border = 2 * bound_by_hand(distance, weight, list(y))
    _is_exactly(distance, [weight, *y], border)


def _is_exactly(distance, multipliers, border):
    leaf = ["separable", "1/2", [*map(number, multipliers)]]
    if border >= 0:
        assert checked(claim(distance, [leaf], border)).accepted
    if border > 0:
        refused = checked(claim(distance, [leaf], border - min(border, Fraction(1, 1000))))
        assert not refused.accepted
        assert "does not separate" in refused.reason


@given(
    u=signed,
    v=signed,
    weight=numbers,
    cost=numbers,
    bound=numbers,
    reach=st.sampled_from([None, 1, Fraction(3, 2)]),
)
@examples(60)
def test_squares_of_numbers_are_bounded_by_their_largest_value(u, v, weight, cost, bound, reach):
    """Two numbers, one a copy for each side by classes would do; here the score is u x and delta stands for v: B is compared with a fine grid, which it is never below, and near."""
    features = (continuous("a", 0, 2), continuous("b", 0, 1))
    relations = (FREE if reach is None else within(reach), FREE)
    model = affine(0, [line(0, u), line(1, v)])
    distance = near(bound, [each(0, cost), each(1, 1)], power=2)
    grid = [Fraction(i, 8) for i in range(17)]
    best = max(
        Fraction(u * (x - y), 2) - weight * (cost * (x - y)) ** 2
        for x, y in product(grid, repeat=2)
        if reach is None or abs(x - y) <= reach
    ) + max(Fraction(v * (x - y), 2) - weight * (x - y) ** 2 for x, y in product(grid[:9], repeat=2))
    border = 2 * (best + weight * bound)
    leaf = ["separable", "1/2", [number(weight)]]
    below = border - Fraction(1, 10**6)
    if below >= 0:
        assert not checked(
            claim(distance, [leaf], below, relations=relations, model=model, features=features)
        ).accepted
    slack = (weight * max(cost, 1) ** 2 + abs(u) + abs(v)) / 2 + Fraction(1, 100)
    assert checked(
        claim(distance, [leaf], max(border + slack, 0), relations=relations, model=model, features=features)
    ).accepted


def test_a_line_less_a_square_is_largest_where_it_is():
    """All places where it can be largest are on the grid."""
    grid = [Fraction(i, 4) for i in range(9)]
    for u, v, weight in product(range(-3, 4), range(-3, 4), (1, 2)):
        for reach in (2, Fraction(1, 4)):
            found = cost._largest_less_square(u, v, weight, make_box((0, 2), (0, 2)), (-reach, reach))
            pairs = [(x, y) for x, y in product(grid, repeat=2) if abs(y - x) <= reach]
            assert found == max(u * x + v * y - weight * (y - x) ** 2 for x, y in pairs)


def test_empty_holds_where_the_least_distance_is_too_large():
    distance = near(2, TERMS)
    model, delta = MODEL, largest_gap(distance)
    # x has age 0, x' has age 3 or more: at least 3 apart.
    nodes = [
        ["split", 0, "0"],
        ["split", 1, "2"],
        ["enumerated"],
        ["empty", ["1"]],
        ["enumerated"],
    ]
    assert checked(claim(distance, nodes, delta, model=model)).accepted
    nodes[1] = ["split", 1, "1"]  # 2 apart is near enough
    assert not checked(claim(distance, nodes, delta, model=model)).accepted


def test_a_difference_counts_for_the_least_distance():
    """Differences have variables where a number is within a tolerance."""
    features, relations = (continuous("age", 0, 9), JOB), (within(4), FREE)
    model = affine(0, [line(0, 1), table(1, 1, [0, 0, 0])])
    distance = near(3, [each(0, 1), unequal(1, 1)])
    apart = 4  # age, age', job, job', and the difference of ages
    nodes = [
        ["split", apart, "3"],
        ["split", apart, "-3"],
        ["empty", ["1"]],
        ["separable", "1/2"],
        ["empty", ["1"]],
    ]
    assert not checked(
        claim(distance, nodes, 3, features=features, relations=relations, model=model)
    ).accepted
    nodes = [
        ["split", apart, "7/2"],
        ["split", apart, "-7/2"],
        ["empty", ["1"]],
        ["separable", "1/2", ["1/2"]],
        ["empty", ["1"]],
    ]
    assert checked(claim(distance, nodes, 3, features=features, relations=relations, model=model)).accepted


@pytest.mark.parametrize(("delta", "holds"), [(2, False), (Fraction(7, 2), True)])
def test_the_same_line_has_another_maximum_where_differences_are_others(delta, holds):
    """Two cells with the same codes: age' - age is at most 1 in the first one, and up to 4 in the second one."""
    nodes = [["split", 2, "1"], ["separable", "1/2", ["1/4"]], ["separable", "1/2", ["1/4"]]]
    lines = claim(
        near(3, [each(0, 1)]),
        nodes,
        delta,
        features=(continuous("age", 0, 9),),
        relations=(within(4),),
        model=affine(0, [line(0, -1)]),
    )
    report = checked(lines)
    assert report.accepted == holds
    assert report.refused == (() if holds else (2,))


def test_witness_must_be_near():
    distance = near(2, TERMS)

    def pair(x, other, delta):
        lines = witness(FEATURES, (FREE,) * 3, score(delta), MODEL, x, other, [score_of(x), score_of(other)])
        return checked(with_distance(lines, distance))

    assert pair((2, 0, 0), (0, 0, 0), 1).accepted
    refused = pair((3, 0, 0), (0, 0, 0), 1)
    assert not refused.accepted
    assert "not similar" in refused.reason


def test_the_claim_in_words_has_the_distance():
    report = checked(claim(near(2, TERMS, [form(1, (0, 1))]), [["enumerated"]], 99))
    assert report.packs == ("core", "distance")
    said = "\n".join(report.details.lines(full=True))
    assert "1 times the difference in 'age'" in said
    assert "2 if 'rank' differs" in said
    assert "<= 2" in said
    assert "keep a distance" in report.claim


BROKEN = [
    near(-1, TERMS),
    near(1),
    near(1, TERMS, power=3),
    near(1, TERMS, power="1"),
    near(1, [each(0, -1)]),
    near(1, [each(1, 1)]),
    near(1, [unequal(0, 1)]),
    near(1, [priced(0, [1])]),
    near(1, [priced(1, [1])]),
    near(1, [priced(1, [1], [2, 3], [4, 5, 6])]),
    near(1, [priced(1, [1], [2])]),
    near(1, [each(3, 1)]),
    near(1, [each(0, 1), each(0, 1)]),
    near(1, [each(2, 1), each(0, 1)]),
    near(1, [{"feature": 0}]),
    near(1, [{"feature": 0, "each": "1", "unequal": "1"}]),
    near(1, forms=[form(0, (0, 1))]),
    near(1, forms=[form(1)]),
    near(1, forms=[form(1, (1, 1))]),
    near(1, forms=[form(1, (0, [1, 2]))]),
    near(1, forms=[form(1, (1, [1, 2]))]),
    near(1, forms=[form(1, (2, 1), (0, 1))]),
    {**near(1, TERMS), "more": 1},
    {"power": 1, "terms": TERMS, "bound": "1"},
    [],
    None,
]


@pytest.mark.parametrize("distance", BROKEN)
def test_what_is_no_distance_is_rejected(distance):
    assert not checked(claim(distance, [["enumerated"]], 99)).accepted


@pytest.mark.parametrize("multipliers", [["-1"], ["1", "1"], ["1", "0", "0"], [1], "1"])
def test_multipliers_are_as_many_as_there_may_be(multipliers):
    distance = near(100, TERMS)
    assert not checked(claim(distance, [["separable", "1/2", multipliers]], 99)).accepted
    assert not checked(claim(distance, [["empty", multipliers]], 99)).accepted


def test_a_feature_with_missing_values_is_at_no_distance():
    features = ({**AGE, "missing": True}, JOB, RANK)
    lines = claim(near(1, TERMS), [["enumerated"]], 99, features=features)
    assert "missing" in checked(lines).reason


def test_one_level_is_a_level_all_the_same():
    """A feature with a single level has a table of one entry, not a slope."""
    features, relations = (ordinal("only", ["x"]), AGE), (FREE, FREE)
    model = affine(0, [table(0, 1, [5]), line(1, 1)])
    distance = near(1, [each(0, 1), each(1, 1)])
    lines = claim(
        distance, [["separable", "1/2", ["1/2"]]], 1, features=features, relations=relations, model=model
    )
    assert checked(lines).accepted
    lines = claim(
        distance,
        [["separable", "1/2", ["1/2"]]],
        "99/100",
        features=features,
        relations=relations,
        model=model,
    )
    assert not checked(lines).accepted


@pytest.mark.parametrize("full", [False, True])
def test_a_table_of_a_single_level_has_no_rows(full):
    features = (ordinal("only", ["x"]), AGE)
    model = affine(0, [table(0, 1, [5]), line(1, 1)])
    distance = near(1, [priced(0), each(1, 1)])
    nodes = [["separable", "1/2", ["1/2"]]]
    report = checked(claim(distance, nodes, 1, features=features, relations=(FREE, FREE), model=model))
    assert report.accepted
    assert "'only'" in "\n".join(report.details.lines(full=full))


LEVELS = range(4)
steps = st.integers(min_value=-3, max_value=3)


@given(
    ends=st.tuples(steps, steps).map(sorted),
    sort=st.sampled_from(["each", "unequal", "table"]),
    costs=st.lists(numbers, min_size=6, max_size=6),
    heights=st.lists(signed, min_size=4, max_size=4),
    weight=numbers,
    bound=numbers,
    power=st.sampled_from([1, 2]),
)
@examples(100)
def test_levels_in_one_direction_are_bounded_over_allowed_pairs_only(
    ends, sort, costs, heights, weight, bound, power
):
    """Equal levels are no pair where the relation asks for a step: also where unequal ones cost the same."""
    low, high = ends
    term = {
        "each": each(0, costs[0]),
        "unequal": unequal(0, costs[0]),
        "table": priced(0, costs[:1], costs[1:3], costs[3:]),
    }[sort]
    distance = near(bound, [term], power=power)
    allowed = [(i, j) for i, j in product(LEVELS, repeat=2) if low <= j - i <= high]
    values = [
        Fraction(heights[i] - heights[j], 2) - weight * (cost_of(term, i, j) ** power - bound)
        for i, j in allowed
    ]
    asked = {
        "relations": (between(low, high),),
        "features": (ordinal("grade", [*"abcd"]),),
        "model": affine(0, [table(0, 1, heights)]),
    }
    border = 2 * max(values)
    leaf = ["separable", "1/2", [number(weight)]]
    similar = [pair for pair in allowed if cost_of(term, *pair) ** power <= bound]

    def stated(delta):
        """With a pair that shows that the claim is about some."""
        values = claim(distance, [leaf], delta, **asked)
        for name, level in zip(("somebody", "other"), similar[0] if similar else (), strict=False):
            values[-1]["end"][name] = [str(level)]
        return values

    if border >= 0:
        assert checked(stated(border)).accepted == bool(similar)
    if border > 0:
        below = border - min(border, Fraction(1, 1000))
        assert not checked(stated(below)).accepted
    if weight:
        least = min(cost_of(term, i, j) ** power for i, j in allowed)
        report = checked(claim(distance, [["empty", [number(weight)]]], 99, **asked))
        assert (least > bound) == ("do not show" not in (report.reason or ""))


def test_same_features_are_bounded_as_ever():
    relations = (SAME, FREE, FREE)
    distance = near(0, [each(0, 1), unequal(1, 1), unequal(2, 1)])
    assert checked(claim(distance, [["separable", "1/2", ["5"]]], 0, relations=relations)).accepted
