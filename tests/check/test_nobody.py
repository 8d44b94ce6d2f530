"""Claims about nobody: what the end shows, and contradictions that narrowing finds (section 6). Both are refused."""

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
    constraint,
    continuous,
    decision,
    integer,
    ordinal,
    packed,
    proof,
    score,
    sealed,
    worth,
)

from likewise_check.__main__ import main
from likewise_check.core import nobody
from likewise_check.core.fields import Rejected
from likewise_check.core.nobody import find_codes
from likewise_check.core.space import read_similarity, read_space

X = integer("x", 0, 9)
SEX = categorical("sex", ["f", "m"])
REAL = continuous("r", 0, "1/3")


def about(features, relations, constraints=(), distance=None, **end) -> list:
    """A claim that is true of everybody, whoever that is: the score is 1."""
    values = proof(features, relations, score(1), affine(1, []), [["independent"]], constraints=constraints)
    if distance is not None:
        values[2]["distance"] = distance
    values[-1]["end"].update(end)
    return values


CONTRADICTIONS = {
    "one by itself": ([X, SEX], [constraint([(0, 1)], -1)]),
    "without terms": ([X, SEX], [constraint([], -1)]),
    "from below and from above": ([X, SEX], [constraint([(0, 1)], 3), constraint([(0, -1)], -5)]),
    "no whole number between": ([X, SEX], [constraint([(0, 3)], 5), constraint([(0, -3)], -4)]),
    "no double between": (
        [REAL, SEX],
        [constraint([(0, 10)], 1), constraint([(0, -10)], -1)],
    ),
    "levels": ([X, SEX], [constraint([(1, [1, 0])], 0), constraint([(1, [0, 1])], 0)]),
    "levels by what they are worth": (
        [ordinal("n", [worth(2), worth("5/2"), worth(7)])],
        [constraint([(0, 2)], 12), constraint([(0, -2)], -6)],
    ),
    "implied by others": (
        [X, SEX],
        [
            constraint([(0, -1), (1, [5, 0])], 0),  # a woman has at least 5
            constraint([(1, [0, 1])], 0),  # nobody is a man
            constraint([(0, 1)], 3),
        ],
    ),
    "after two passes": (
        [integer(name, 0, 9) for name in "abcd"],
        [
            constraint([(0, 1), (1, -1)], -1),  # a < b < c < d, and a > 6
            constraint([(1, 1), (2, -1)], -1),
            constraint([(2, 1), (3, -1)], -1),
            constraint([(0, -1)], -7),
        ],
    ),
    "sums": (
        [X, integer("y", 0, 9)],
        [constraint([(0, 1), (1, 1)], 3), constraint([(0, -1), (1, -1)], -5)],
    ),
}
FAR = 10**4
NOT_FOUND = {
    "sums of wide ranges": (
        [continuous("x", -FAR, FAR), continuous("y", -FAR, FAR)],
        [constraint([(0, 1), (1, 1)], 3), constraint([(0, -1), (1, -1)], -5)],
    ),
    "odd and even": (
        [integer("x", -FAR, FAR), integer("y", -FAR, FAR)],
        [constraint([(0, 2), (1, -2)], 1), constraint([(0, -2), (1, 2)], -1)],
    ),
}


@pytest.mark.parametrize("name", CONTRADICTIONS)
def test_contradictions_are_refused(name):
    features, constraints = CONTRADICTIONS[name]
    report = checked(about(features, [FREE] * len(features), constraints))
    assert not report.accepted
    assert report.reason == "no individual satisfies the constraints: a claim about nobody"
    for n in range(len(constraints)):  # each of them is needed
        rest = constraints[:n] + constraints[n + 1 :]
        assert checked(about(features, [FREE] * len(features), rest)).accepted


VACUOUS = "no individual is shown who satisfies the constraints: the claim may be vacuous"


@pytest.mark.parametrize("name", NOT_FOUND)
def test_what_narrowing_does_not_find_is_refused_too(name, tmp_path):
    features, constraints = NOT_FOUND[name]
    values = about(features, [FREE] * len(features), constraints)
    assert checked(values).reason == VACUOUS
    path = tmp_path / "nobody.likewise"
    path.write_bytes(packed(sealed(values)))
    assert main([str(path), "--quiet"]) == main([str(path), "--quiet", "--expect", "fair"]) == 4


def test_greatest_codes_one_after_the_other_show_somebody(monkeypatch):
    """x + y = 5: the greatest x, 9, is narrowed to 5, and y to 0 then. Other individuals are not looked for."""
    features = [integer("x", 0, 9), integer("y", 0, 9), SEX]
    both = [constraint([(0, 1), (1, 1)], 5), constraint([(0, -1), (1, -1)], -5)]
    assert checked(about(features, [FREE] * 3, both)).accepted
    thrice = [integer(name, 0, 2) for name in "xyz"]
    six = [
        constraint([(0, s * 2), (1, s * 3), (2, s * 3)], s * 6) for s in (1, -1)
    ]  # (0, 1, 1), but x = 2 is tried
    assert checked(about(thrice, [FREE] * 3, six)).reason == VACUOUS
    assert checked(about(thrice, [FREE] * 3, six, somebody=["0", "1", "1"])).accepted
    monkeypatch.setattr(nobody, "MOST_ENTRIES", 2 * 4 - 1)  # features named times terms
    assert checked(about(features, [FREE] * 3, both)).reason == VACUOUS


def test_a_proof_that_all_cells_are_empty_is_about_nobody():
    """Narrowing does not see it, and the multipliers do: x + y is at most 3, and at least 5."""
    features, constraints = NOT_FOUND["sums of wide ranges"]
    values = about(features, [FREE, FREE], constraints)
    values[5] = ["empty", ["1", "1", "0", "0"]]
    assert checked(values).reason == "no pair exists at all: a claim about nobody"
    values[5] = ["empty", ["1", "0", "0", "0"]]
    assert "do not show that the cell holds no pair" in checked(values).reason


def test_no_more_is_looked_at_than_is_said(monkeypatch):
    features, constraints = CONTRADICTIONS["levels"]
    values = about(features, [FREE] * 2, constraints)
    for entries, found in ((4, True), (3, False)):
        monkeypatch.setattr(nobody, "MOST_ENTRIES", entries)
        assert (checked(values).reason != VACUOUS) == found
    monkeypatch.setattr(nobody, "MOST_ENTRIES", 1 << 18)
    features, constraints = CONTRADICTIONS["after two passes"]
    for passes, found in ((2, True), (1, False)):
        monkeypatch.setattr(nobody, "MOST_PASSES", passes)
        assert (checked(about(features, [FREE] * 4, constraints)).reason != VACUOUS) == found


# -- pairs of two who must differ -----------------------------------------------------------------------------


def test_nobody_is_so_far_from_anybody(tmp_path):
    for low, high, accepted in ((9, 12, True), (10, 12, False), (-12, -9, True), (-12, -10, False)):
        report = checked(about([X, SEX], [between(low, high), SAME]))
        assert report.accepted == accepted
        assert report.accepted or report.reason.startswith("no two individuals are so far apart")
    steps = ordinal("o", ["low", "mid", "high"])
    assert checked(about([steps], [between(2, 2)])).accepted
    assert not checked(about([steps], [between(3, 3)])).accepted


def test_constraints_leave_nobody_so_far_from_anybody():
    young = [constraint([(0, 1)], 3)]
    assert not checked(about([X, SEX], [between(4, 9), SAME], young)).accepted
    assert not checked(about([X, SEX], [between(4, 9), SAME], young, somebody=["3", "0"])).accepted
    shown = {"somebody": ["0", "0"], "other": ["3", "0"]}
    assert checked(about([X, SEX], [between(3, 9), SAME], young, **shown)).accepted


NO_PAIR = "no pair is shown that satisfies the constraints: the claim may be vacuous"


def test_a_pair_is_shown_where_nobody_is_similar_to_themselves():
    young = [constraint([(0, 1)], 3)]
    relations = [between(2, 9), FREE]
    for alone in ({}, {"somebody": ["1", "0"]}):
        report = checked(about([X, SEX], relations, young, **alone))
        assert report.reason == NO_PAIR
    assert checked(about([X, SEX], relations, young, somebody=["1", "0"], other=["3", "1"])).accepted
    for x, other in (
        (["1", "0"], ["2", "0"]),  # too near
        (["3", "0"], ["1", "0"]),  # the other way round
        (["1", "0"], ["4", "0"]),  # not valid
        (["4", "0"], ["3", "0"]),
        (["1", "0"], ["3"]),
        (["1", "0"], ["3", "2"]),
        (["1", "0"], None),
    ):
        assert not checked(about([X, SEX], relations, young, somebody=x, other=other)).accepted
    assert not checked(about([X, SEX], relations, young, other=["3", "0"])).accepted


def test_a_pair_may_be_shown_of_any_claim():
    assert checked(about([X, SEX], [SAME, FREE], somebody=["1", "0"], other=["1", "1"])).accepted
    assert not checked(about([X, SEX], [SAME, FREE], somebody=["1", "0"], other=["2", "1"])).accepted


def test_numbers_that_move_and_distances_need_a_pair():
    """1/3 is no difference of two doubles: whether there are any is not asked of continuous features."""
    relations = [between("1/3", "1/3"), FREE]
    assert checked(about([continuous("r", 0, 1), SEX], relations)).reason == NO_PAIR
    near = {"power": 1, "terms": [{"feature": 0, "each": "1"}], "forms": [], "bound": "1"}
    assert checked(about([X, SEX], [between(1, 9), FREE], distance=near)).reason == NO_PAIR
    ends = {"somebody": ["1", "0"], "other": ["2", "0"]}
    assert checked(about([X, SEX], [between(1, 9), FREE], distance=near, **ends)).accepted
    ends["other"] = ["3", "0"]
    assert not checked(about([X, SEX], [between(1, 9), FREE], distance=near, **ends)).accepted


def test_who_may_stay_is_a_pair_alone():
    young = [constraint([(0, 1)], 3)]
    for relation in (between(0, 3), between(-3, 0), between(0, 0), FREE, SAME):
        assert checked(about([X, SEX], [relation, FREE], young, somebody=["1", "0"])).accepted


# -- narrowing drops nobody who is somebody -------------------------------------------------------------------

COEFFICIENTS = st.fractions(min_value=-3, max_value=3, max_denominator=3)


@st.composite
def small_spaces(draw):
    """Features of few codes, constraints on some of them, and relations."""
    features, relations, codes = [], [], []
    for k in range(draw(st.integers(1, 3))):
        count = draw(st.integers(1, 3))
        kind = draw(st.sampled_from(["integer", "ordinal", "categorical"]))
        lo = draw(st.integers(-2, 2)) if kind == "integer" else 0
        levels = [worth(draw(st.integers(-9, 9)) * 10 + i) for i in range(count)]
        features.append(
            integer(f"f{k}", lo, lo + count - 1)
            if kind == "integer"
            else {"name": f"f{k}", "kind": kind, "levels": levels}
        )
        codes.append(range(lo, lo + count))
        low = draw(st.integers(-2, 2))
        moved = between(low, draw(st.integers(low, 2)))
        relations.append(FREE if kind == "categorical" else draw(st.sampled_from([SAME, FREE, moved])))
    constraints = []
    for _ in range(draw(st.integers(0, 4))):
        terms = []
        for k, feature in enumerate(features):
            arrays = st.lists(COEFFICIENTS, min_size=len(codes[k]), max_size=len(codes[k]))
            one = st.one_of(st.none(), COEFFICIENTS, arrays if "levels" in feature else st.nothing())
            if (coefficient := draw(one)) is not None:
                terms.append((k, coefficient))
        constraints.append(constraint(terms, draw(COEFFICIENTS)))
    return features, relations, constraints, codes


def satisfies(x, features, constraints) -> bool:
    for one in constraints:
        total = Fraction(0)
        for k, coefficient in one["terms"]:
            if isinstance(coefficient, list):
                total += Fraction(coefficient[x[k]])
            elif "levels" in features[k]:
                total += Fraction(coefficient) * Fraction(features[k]["levels"][x[k]]["number"])
            else:
                total += Fraction(coefficient) * x[k]
        if total > Fraction(one["bound"]):
            return False
    return True


def similar(x, other, relations) -> bool:
    for a, b, relation in zip(x, other, relations, strict=True):
        if relation["kind"] == "same" and a != b:
            return False
        if relation["kind"] == "between" and not int(relation["low"]) <= b - a <= int(relation["high"]):
            return False
    return True


@given(small_spaces())
def test_where_a_contradiction_is_found_there_is_no_pair(found):
    features, relations, constraints, codes = found
    space = read_space({"space": {"features": features, "constraints": constraints}})
    similarity = read_similarity({"similarity": relations}, space)
    try:
        find_codes(space, similarity)
    except Rejected:
        valid = [x for x in product(*codes) if satisfies(x, features, constraints)]
        assert not any(similar(x, other, relations) for x, other in product(valid, repeat=2))


@given(small_spaces())
def test_what_is_shown_without_constraints_is_there(found):
    features, relations, _, codes = found
    report = checked(about(features, relations))
    there = any(similar(x, other, relations) for x, other in product(product(*codes), repeat=2))
    assert report.accepted == there


@given(st.fractions(min_value=0, max_value=1), st.fractions(min_value=0, max_value=1))
def test_of_continuous_features_doubles_are_kept(low, high):
    """low <= x <= high: a contradiction is found exactly if no double is there."""
    bounds = [constraint([(0, 1)], high), constraint([(0, -1)], -low)]
    report = checked(about([continuous("x", 0, 1)], [FREE], bounds))
    first = Fraction(float(low))
    while first < low:
        first = Fraction(_next(float(first)))
    assert report.accepted == (first <= high)


def _next(value: float) -> float:
    import math

    return math.nextafter(value, math.inf)


@given(small_spaces())
def test_what_is_accepted_is_about_somebody(found):
    features, relations, constraints, codes = found
    if checked(about(features, relations, constraints)).accepted:
        valid = [x for x in product(*codes) if satisfies(x, features, constraints)]
        assert any(similar(x, other, relations) for x, other in product(valid, repeat=2))


def test_an_older_file_of_a_decision_shows_somebody_itself():
    values = about([X, SEX], [SAME, FREE], [constraint([(0, 1)], 3)])
    values[3]["property"] = decision()
    assert checked(values).accepted
