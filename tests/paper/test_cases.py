"""V_p: every value pair that the similarity allows, once; nothing else."""

import itertools

import pytest

import likewise as lw
from likewise.errors import SpecError
from likewise.paper.cases import make_cases
from likewise.spec.pairs import pair_space

SPACE = lw.Space(
    {"sex": lw.Integer(0, 2), "age": lw.Integer(20, 24), "flag": lw.Integer(0, 1), "pay": lw.Continuous(0, 1)}
)


def cases(similar, fixed=None, relaxed=()):
    return make_cases(pair_space(SPACE, similar), fixed, relaxed)


def test_by_default_the_free_discrete_features_are_fixed_and_equal_values_left_out():
    found = cases(lw.Similarity(free=["sex"]))
    values = [case.values[0] for case in found]
    assert sorted(values) == [(a, b) for a, b in itertools.product(range(3), repeat=2) if a != b]
    assert len(found) == len(values) == 6


def test_equal_values_stay_where_something_else_may_differ():
    found = cases(lw.Similarity(free=["sex", "pay"]))
    assert len(found) == len(list(found)) == 9


def test_within_allows_the_values_in_reach():
    found = cases(lw.Similarity(within={"age": 1}), fixed=["age"])
    assert {case.values[0] for case in found} == {
        (a, b) for a, b in itertools.product(range(20, 25), repeat=2) if abs(a - b) == 1
    }


def test_a_shared_feature_takes_the_same_value_twice():
    found = list(cases(lw.Similarity(free=["sex"]), fixed=["sex", "flag"]))
    assert {case.values[1] for case in found} == {(0, 0), (1, 1)}
    assert len(found) == 12


def test_a_case_fixes_its_values_and_relaxes_what_is_named():
    case = next(iter(cases(lw.Similarity(free=["sex"]), relaxed=["age"])))
    pairs = case.pairs
    first, second = (pairs.variables[owner[0]] for owner in (pairs.first, pairs.second))
    assert (first.lo, first.hi) == (case.values[0][0],) * 2
    assert (second.lo, second.hi) == (case.values[0][1],) * 2
    assert not pairs.variables[pairs.first[1]].discrete
    assert pairs.variables[pairs.first[2]].discrete


@pytest.mark.parametrize(
    ("fixed", "relaxed", "message"),
    [
        (["sexx"], (), "no feature 'sexx'.*did you mean"),
        (["pay"], (), "continuous"),
        (["sex"], ["sex"], "both fixed and relaxed"),
        (["sex"], ["pay"], "no whole numbers"),
    ],
)
def test_what_cannot_be_fixed_or_relaxed_is_named(fixed, relaxed, message):
    with pytest.raises(SpecError, match=message):
        cases(lw.Similarity(free=["sex"]), fixed, relaxed)


def test_too_many_values_are_refused():
    space = lw.Space({"sex": lw.Integer(0, 1000)})
    with pytest.raises(SpecError, match="1001 values"):
        make_cases(pair_space(space, lw.Similarity(free=["sex"])), None, ())
