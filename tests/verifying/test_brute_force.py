"""verify against exhaustion in rationals on small discrete problems: every verdict must be the true one."""

import pytest
from hypothesis import HealthCheck, Phase, event, given, settings
from hypothesis import strategies as st
from tests.strategies import all_pairs, breaks, linear_cases, properties_of, rows_of
from tests.tiers import examples

import likewise as lw

relaxed = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (
        Phase.explicit,
        Phase.reuse,
        Phase.generate,
    ),  # shrinking takes minutes, the case is small anyway
}
BUDGET = 30


@st.composite
def questions(draw, **options):
    case = draw(linear_cases(**options))
    return case, draw(properties_of(case.kind))


def check_verdict(case, property):
    pairs = all_pairs(case)
    if not pairs:
        event("nobody satisfies the constraints")
        with pytest.raises(lw.SpecError, match="no individual"):
            lw.verify(case.model, case.space, case.similar, property, budget=BUDGET)
        return
    biased = any(breaks(case, property, first, second) for *_, first, second in pairs)
    result = lw.verify(case.model, case.space, case.similar, property, budget=BUDGET)
    event(f"{result.verdict} {type(property).__name__} {case.kind} {result.stats['engine']}")
    if result.verdict == "UNKNOWN":
        # Only where the model's own floating point hides what exact arithmetic shows, or is as large as the scores.
        assert result.reason.startswith("rounding")
        assert biased or result.stats["program_rounding"]["large"]
        return
    assert result.verdict == ("BIASED" if biased else "FAIR")
    if biased:
        check_pair(case, property, pairs, result)


def check_pair(case, property, pairs, result):
    x, other = rows_of(result.pair, case.space.names)
    scores = {(a, b): (first, second) for a, b, first, second in pairs}
    assert (x, other) in scores, "the pair is not one of the similar pairs"
    first, second = scores[x, other]
    assert breaks(case, property, first, second)
    assert result.scores == (float(first), float(second))


@given(question=questions())
@examples(120, **relaxed)
def test_the_verdict_is_the_one_of_exhaustion(question):
    check_verdict(*question)


@given(question=questions(constrained=True))
@examples(100, **relaxed)
def test_the_verdict_under_constraints_is_the_one_of_exhaustion(question):
    check_verdict(*question)


@pytest.mark.slow
@given(question=questions())
@settings(max_examples=1500, **relaxed)
def test_the_verdict_is_the_one_of_exhaustion_many_times(question):
    check_verdict(*question)


@given(question=questions())
@examples(60, **relaxed)
def test_rounding_is_a_rare_excuse(question):
    """Weights that are short dyadic numbers leave no room for rounding: UNKNOWN must not happen at all."""
    case, property = question
    if any((8 * w) % 1 for w in (*case.weights, case.bias)) or not all_pairs(case):
        return
    if any(feature.kind == "continuous" for feature in case.space.features.values()):
        return
    if isinstance(property, lw.ProbabilityGap) or property in (lw.ScoreGap(0.3), lw.SameDecision(0.1)):
        return
    result = lw.verify(case.model, case.space, case.similar, property, budget=BUDGET)
    assert result.verdict != "UNKNOWN"
