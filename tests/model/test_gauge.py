"""Gauges: the value of a pair, ladders of questions, and caps that invert thresholds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.questions import gauged
from tests.strategies import value as true_value

from likewise.model.gauge import scale_of
from likewise.spec import ProbabilityGap, SameDecision, ScoreGap
from likewise.spec.enclosure import Enclosure

SCALES = ("score", "margin", "probability")
scores = st.fractions(-10, 10, max_denominator=1000)


def value_in(gauge, first, second):
    """The value of a pair as it stands, on the gauge's scale."""
    (case,) = gauge.asked.cases()
    return case.value((Enclosure.of(first),), (Enclosure.of(second),))


def line_at(gauge, level):
    """The witness set of the question at a level."""
    (case,) = gauge.question(level).cases()
    return case.line


@pytest.mark.parametrize("of", SCALES)
@given(first=scores, second=scores)
def test_the_value_is_that_of_the_pair(of, first, second):
    value, truth = value_in(gauged(of), first, second), true_value(of, first, second)
    if of != "probability":
        assert value == truth
    else:  # a proved lower bound; decimal's own error is far below it
        assert truth - Fraction(1, 2**100) <= value <= truth + Fraction(1, 10**75)


@pytest.mark.parametrize("of", SCALES)
@given(score=scores)
def test_nobody_differs_from_themselves(of, score):
    assert value_in(gauged(of), score, score) == (-abs(score) if of == "margin" else 0)


@pytest.mark.parametrize("of", SCALES)
@given(first=scores, second=scores, steps=st.integers(1, 1000))
def test_a_pair_answers_every_question_below_its_value(of, first, second, steps):
    gauge = gauged(of)
    value, step = value_in(gauge, first, second), Fraction(steps, 10**6)
    assume(of == "margin" or value > step)
    assert line_at(gauge, value - step).holds(first, second)
    if of != "probability" or value + step < 1:
        assert not line_at(gauge, value + step).holds(first, second)


@pytest.mark.parametrize("of", SCALES)
@given(level=st.floats(0.001, 0.97), lean=st.floats(0.02, 0.98))
def test_a_cap_inverts_the_threshold(of, level, lean):
    gauge = gauged(of)
    leans = np.array([0.5 if of == "score" else lean])
    bound = line_at(gauge, Fraction(level)).threshold(leans)
    assert gauge.cap(leans, bound)[0] == pytest.approx(level, rel=1e-6, abs=1e-9)


def test_a_gap_cannot_be_capped_in_another_direction():
    assert gauged("score").cap(np.array([0.25]), np.array([1.0]))[0] == np.inf


def test_each_property_has_its_gauge():
    assert scale_of(SameDecision()) == "margin"
    assert scale_of(ScoreGap(1)) == "score"
    assert scale_of(ProbabilityGap(0.5)) == "probability"
