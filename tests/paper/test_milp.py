"""The MILP engine as a cross-check of the exact one, and what it cannot see."""

import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from tests.posing import posed
from tests.strategies import all_pairs, linear_cases, logistic_model
from tests.tiers import examples

import likewise as lw
from likewise.families.scored_model import only_score
from likewise.paper.milp import propose_pair
from likewise.spec.properties import make_property

relaxed = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),
}
TOLERANCE = 1e-5  # of HiGHS, on scores of this size


def prepared_of(model, space, similar, of):
    return posed(model, space, similar, make_property("decision" if of == "margin" else of, 0.0), budget=10)


def proposed(case, of):
    prepared = prepared_of(case.model, case.space, case.similar, of)
    score = only_score(prepared.imported.model, len(case.space))
    return propose_pair(score, prepared.pairs, of)


@pytest.mark.parametrize("of", ["score", "margin"])
def test_both_engines_agree(of):
    @given(case=linear_cases(kinds=("logistic",)))
    @examples(50, **relaxed)
    def check(case):
        if not all_pairs(case):
            return
        found = lw.measure(case.model, case.space, case.similar, of=of)
        theirs = proposed(case, of)
        assert theirs.optimal
        assert theirs.value == pytest.approx((found.lower + found.upper) / 2, abs=TOLERANCE)

    check()


@pytest.mark.some_days
@given(lo=st.integers(-3, 0), reach=st.sampled_from([0.25, 0.5, 1.0]), bias=st.floats(-2, 2))
@examples(20, **relaxed)
def test_both_engines_agree_on_continuous_features_under_constraints(lo, reach, bias):
    space = lw.Space({"a": lw.Continuous(lo, 3), "b": lw.Continuous(-2, 2), "c": lw.Integer(0, 2)})
    space = space.where("a + b <= 2.5").where("a >= b - c")
    similar = lw.Similarity(free=["c"], within={"a": reach})
    model = logistic_model([0.7, -1.3, 0.4], bias, space.names)
    for of in ("score", "margin"):
        found = lw.measure(model, space, similar, of=of)
        prepared = prepared_of(model, space, similar, of)
        theirs = propose_pair(only_score(prepared.imported.model, 3), prepared.pairs, of)
        assert found.lower - TOLERANCE <= theirs.value <= found.upper + TOLERANCE


def test_nobody_to_propose():
    space = lw.Space({"a": lw.Integer(0, 3), "b": lw.Integer(0, 3)})
    similar = lw.Similarity(free=["b"])
    model = logistic_model([1.0, 1.0], 0.0, space.names)
    prepared = prepared_of(model, space, similar, "score")
    from likewise.spec.pairs import pair_space

    nobody = pair_space(space.where("a + b >= 7"), similar)
    assert propose_pair(only_score(prepared.imported.model, 2), nobody, "score") is None
