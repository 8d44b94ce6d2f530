"""Witness sets: convex, supported by their lines, decided exactly; clearances never promise too much."""

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.strategies import probability_gap

from likewise.errors import InternalError
from likewise.model.head import Head, sigma
from likewise.model.question import question_of
from likewise.model.witness_set import (
    EMPTY_DIRECTION,
    EVEN_LEAN,
    DecisionSet,
    Direction,
    GapSet,
    OneSidedSet,
    PredictionSet,
    ProbabilitySet,
    snap_lean,
)
from likewise.spec import ProbabilityGap, SameDecision, ScoreGap
from likewise.spec.enclosure import Enclosure
from likewise.spec.numbers import double_above, double_below

scores = st.one_of(
    st.fractions(-12, 12, max_denominator=64),
    st.floats(-12, 12).map(Fraction),
    st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(-1, 2), Fraction(1, 10**13)]),
)
levels = st.sampled_from([Fraction(0), Fraction(1, 2), Fraction(1, 10), Fraction(2)])
deltas = st.one_of(
    st.sampled_from([Fraction(1, 10), Fraction(1, 2), Fraction(1, 10**6), Fraction(999, 1000)]),
    st.fractions(Fraction(1, 1000), Fraction(999, 1000)),
)
questions = st.one_of(
    st.builds(DecisionSet, level=st.one_of(levels, levels.map(lambda v: -v))),
    st.builds(GapSet, delta=levels),
    st.builds(ProbabilitySet, delta=deltas),
)
shares = st.fractions(0, 1, max_denominator=32)


def true_answer(question, first, second):
    if isinstance(question, DecisionSet):
        return first > question.level and second <= -question.level
    if isinstance(question, GapSet):
        return first - second > question.delta
    return first > second and probability_gap(first, second) > question.delta


@given(question=questions, first=scores, second=scores)
def test_holds_is_the_definition(question, first, second):
    assert question.holds(first, second) == true_answer(question, first, second)


def test_decision_ties():
    question = DecisionSet(level=Fraction(1, 2))
    assert question.holds(Fraction(51, 100), Fraction(-1, 2))
    assert not question.holds(Fraction(1, 2), Fraction(-1, 2))
    assert not question.holds(Fraction(51, 100), Fraction(-49, 100))


@pytest.mark.parametrize("huge", [10**9, 10**300, Fraction(10) ** 400])
@pytest.mark.parametrize("delta", [Fraction(1, 2), Fraction(3, 4), Fraction(1, 4)])
def test_saturated_probabilities_are_decided_at_once(huge, delta):
    """sigma(huge) is below 1 by exp(-huge): no precision would show it, and none is needed."""
    question = ProbabilitySet(delta=delta)
    huge = Fraction(huge)
    assert question.holds(huge, Fraction(0)) == (delta < Fraction(1, 2))
    assert question.holds(Fraction(0), -huge) == (delta < Fraction(1, 2))
    assert question.holds(huge, -huge)
    assert not question.holds(-huge, huge)
    assert not question.holds(2 * huge, huge)


depths = st.one_of(st.just(Fraction(1, 10**9)), st.fractions(Fraction(1, 10**6), 3))


def witness_of(question, data):
    """Scores that are a witness, often barely."""
    depth = data.draw(depths)
    if isinstance(question, DecisionSet):
        return question.level + depth, -question.level - data.draw(st.sampled_from([0, depth]))
    if isinstance(question, GapSet):
        second = data.draw(scores)
        return second + question.delta + depth, second
    p = data.draw(st.fractions(Fraction(1, 1000), Fraction(999, 1000))) * (1 - question.delta)
    q = p + question.delta
    first, second = Fraction(math.log(q / (1 - q))) + depth, Fraction(math.log(p / (1 - p)))
    assert question.holds(first, second)
    return first, second


@given(question=questions, data=st.data())
def test_witness_sets_are_convex(question, data):
    (first, second), (first2, second2) = witness_of(question, data), witness_of(question, data)
    share = data.draw(shares)
    assert question.holds(share * first + (1 - share) * first2, share * second + (1 - share) * second2)


def line_of(question, data):
    if isinstance(question, GapSet):
        return question.direction(Fraction(1, 2))
    if isinstance(question, ProbabilitySet) and data.draw(st.booleans()):
        share = data.draw(st.fractions(Fraction(1, 1000), Fraction(999, 1000)))
        return question.tangent(share * (1 - question.delta))
    return question.direction(data.draw(shares))


@given(question=questions, data=st.data())
def test_no_witness_lies_below_a_line(question, data):
    first, second = witness_of(question, data)
    line = line_of(question, data)
    side = line.a * first - line.b * second
    assert line.a >= 0
    assert line.b >= 0
    assert line.a + line.b > 0
    assert side >= line.threshold if line.attained else side > line.threshold


@given(delta=deltas, share=st.fractions(Fraction(1, 100), Fraction(99, 100)))
def test_a_tangent_touches_its_witness_set(delta, share):
    """The line is not only below W but as high as it can be: W comes close to it at p."""
    question = ProbabilitySet(delta=delta)
    p = share * (1 - delta)
    line = question.tangent(p)
    q = p + delta
    second = Fraction(math.log(p / (1 - p)))
    first = Fraction(math.log(q / (1 - q)))
    assert abs(line.a * first - line.b * second - line.threshold) < Fraction(1, 10**12)


@given(question=questions, lean=st.floats(0, 1))
def test_float_thresholds_are_those_of_the_exact_lines(question, lean):
    if isinstance(question, GapSet):
        assert question.threshold(np.array([0.5]))[0] == float(question.delta / 2)
        assert question.threshold(np.array([0.25]))[0] == -np.inf
        return
    exact = question.direction(snap_lean(lean))
    given_lean = float(exact.a / (exact.a + exact.b))  # a probability's lines lie on a grid of their own
    expected = float(exact.threshold / (exact.a + exact.b))
    assert question.threshold(np.array([given_lean]))[0] == pytest.approx(expected, abs=1e-4, rel=1e-4)


@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(5, 6), 1 - Fraction(1, 2**40)])
@pytest.mark.parametrize("lean", [Fraction(0), Fraction(1, 2**24), 1 - Fraction(1, 2**24), Fraction(1)])
def test_extreme_leans_keep_their_side(delta, lean):
    """Rounding the touching point must not turn the line around: cells far from W would never close."""
    line = ProbabilitySet(delta=delta).direction(lean)
    assert (line.a > line.b) == (lean > Fraction(1, 2))


def test_a_gap_has_one_direction_only():
    with pytest.raises(InternalError):
        GapSet(delta=Fraction(1)).direction(Fraction(1, 3))


@given(question=questions, first=scores, second=scores, data=st.data())
def test_moving_scores_by_less_than_the_clearance_makes_no_witness(question, first, second, data):
    assume(not question.holds(first, second))
    clearance = question.clearance(first, second)
    assert clearance >= 0
    up, down = data.draw(st.fractions(-1, 1)), data.draw(st.fractions(-1, 1))
    less = clearance * Fraction(999_999, 1_000_000)
    assert not question.holds(first + up * less, second + down * less)
    assert not question.holds(first + less, second - less)


@given(first=scores, second=scores, level=levels, gap=st.booleans())
def test_clearances_of_polygons_are_tight(first, second, level, gap):
    question = GapSet(delta=level) if gap else DecisionSet(level=level)
    assume(not question.holds(first, second))
    more = question.clearance(first, second) + Fraction(1, 10**9)
    assert question.holds(first + more, second - more)


@given(
    line=st.builds(
        Direction,
        a=shares,
        b=shares,
        threshold=scores,
        attained=st.booleans(),
    ),
    bound=scores,
    moves=st.tuples(st.fractions(-1, 1), st.fractions(-1, 1)),
)
def test_the_clearance_of_a_line_bounds_how_far_scores_may_move(line, bound, moves):
    clearance = line.clearance(bound)
    closes = bound < line.threshold or (bound == line.threshold and not line.attained)
    assert (clearance is not None) == closes
    if closes and line.a + line.b:
        reach = line.a * moves[0] * clearance - line.b * moves[1] * clearance
        assert bound + reach <= line.threshold


def test_the_empty_set_needs_a_strict_inequality():
    assert EMPTY_DIRECTION.clearance(Fraction(0)) is None
    assert EMPTY_DIRECTION.clearance(Fraction(-1, 10**30)) is not None


@given(score=st.floats(-700, 700))
def test_sigma_encloses_the_truth(score):
    ball = sigma(Fraction(score))
    middle = Fraction(*float(ball.mid()).as_integer_ratio())
    reference = Fraction(1 / (1 + Decimal(-score).exp()))
    assert abs(middle - reference) <= Fraction(float(ball.rad())) + Fraction(1, 2**50) * reference


@given(numerator=st.integers(-(10**40), 10**40), denominator=st.integers(1, 10**40))
def test_outward_rounding(numerator, denominator):
    value = Fraction(numerator, denominator)
    low, high = double_below(value), double_above(value)
    assert Fraction(low) <= value <= Fraction(high)
    assert low == high or math.nextafter(low, math.inf) == high


def test_rounding_zero_keeps_its_sign():
    assert math.copysign(1, double_below(Fraction(0))) == 1


def test_each_property_has_its_question():
    head = Head(labels=(0, 1), link="logistic")
    lines = {
        SameDecision(0.5): DecisionSet(level=Fraction(1, 2)),
        ScoreGap(0.1): GapSet(delta=Fraction(0.1)),
        ProbabilityGap(0.1): ProbabilitySet(delta=Fraction(0.1)),
        ProbabilityGap(0.0): GapSet(
            delta=Fraction(0)
        ),  # equal probabilities and equal scores are the same thing
    }
    for property, line in lines.items():
        question = question_of(property, head, "model")
        assert question.kind == property.kind
        assert [case.line for case in question.cases()] == [line]


def test_one_score_is_asked_whichever_way_round_and_its_case_as_it_stands():
    question = question_of(ScoreGap(1.0), Head(labels=None, rule="number"), "model")
    low, high, between = ((Enclosure.of(Fraction(s)),) for s in (0, 2, 1))
    (case,) = question.cases()
    assert question.decided(low, high)
    assert question.broken(low, high) == (case, True)
    assert question.broken(high, low) == (case, False)
    assert question.decided(low, between) is False
    (alone,) = question.divided()
    assert alone.cases() == (case,)
    assert alone.decided(high, low)
    assert alone.decided(low, high) is False
    assert alone.broken(low, high) is None
    assert alone.at(Fraction(3)) == question.at(Fraction(3))


@pytest.mark.parametrize("zero_is_upper", [False, True])
@pytest.mark.parametrize("slope", [2, -2])
def test_what_falls_with_the_score_is_asked_of_its_negative(zero_is_upper, slope):
    head = Head(labels=(0, 1), link="logistic", zero_is_upper=zero_is_upper, slope=Fraction(slope))
    assert question_of(SameDecision(), head, "model").mirrored is zero_is_upper
    assert question_of(ProbabilityGap(0.1), head, "model").mirrored is (slope < 0)
    assert not question_of(ScoreGap(0.1), head, "model").mirrored


@pytest.mark.parametrize("delta", [0.25, 0.2837, 0.29, 0.2937, 0.5, 1 - 2.0**-30])
@pytest.mark.parametrize("lean", [Fraction(0), Fraction(1, 2**24), 1 - Fraction(1, 2**24), Fraction(1)])
def test_a_tangent_next_to_an_end_stays_next_to_it(delta, lean):
    """Rounded onto an end, p must not jump to the middle: cells of high scores could never be closed."""
    question = ProbabilitySet(delta=Fraction(delta))
    p, room = question.direction(lean).tangent, 1 - Fraction(delta)
    assert 0 < p < room
    assert abs(p - (room if lean < EVEN_LEAN else 0)) <= max(room / 2, Fraction(1, 2**20))
    if room > Fraction(1, 2**10):
        assert abs(p - room / 2) > room / 4


@given(deltas, st.floats(0.02, 0.98), st.floats(0.2, 3), st.floats(-2, 2))
def test_the_lean_that_touches_at_a_balance_is_the_one_that_has_it(delta, lean, slope, offset):
    question = ProbabilitySet(delta=delta, slope=Fraction(slope), offset=Fraction(offset))
    found = question.touching_lean(question.balance(np.array([lean])))
    assert found[0] == pytest.approx(lean, abs=1e-7)


def test_leans_touch_at_the_ends_where_the_balance_is_beyond_all_scores():
    ends = ProbabilitySet(delta=Fraction(1, 5)).touching_lean(np.array([np.inf, 800.0, 0.0, -800.0, -np.inf]))
    assert ends.tolist() == [0, 0, 0.5, 1, 1]


# -- one by one, at their borders ------------------------------------------------------------------------------


def test_which_conditions_of_a_decision_are_strict():
    half, more = Fraction(1, 2), Fraction(51, 100)
    usual, other, both = (
        DecisionSet(level=half, strict=s) for s in ((True, False), (False, True), (True, True))
    )
    pairs = [(half, -half), (more, -half), (half, -more), (more, -more)]
    assert [usual.holds(*pair) for pair in pairs] == [False, True, False, True]
    assert [other.holds(*pair) for pair in pairs] == [False, False, True, True]
    assert [both.holds(*pair) for pair in pairs] == [False, False, False, True]
    assert [[one.attained(lean) for lean in (0.0, 0.5, 1.0)] for one in (usual, other, both)] == [
        [True, False, False],
        [False, False, True],
        [False, False, False],
    ]
    assert usual.clearance(Fraction(-3), Fraction(2)) == Fraction(7, 2)  # the further one of the two
    assert usual.clearance(Fraction(0), Fraction(4)) == Fraction(9, 2)


def test_a_gap_moves_by_both_scores():
    gap = GapSet(delta=Fraction(3))
    assert gap.clearance(Fraction(1), Fraction(1)) == Fraction(3, 2)
    assert gap.threshold(np.array([0.5, 0.25])).tolist() == [1.5, -np.inf]
    assert gap.direction(EVEN_LEAN).threshold == Fraction(3, 2)


def test_zero_is_the_lower_decision_of_one_side():
    upper, lower = OneSidedSet(lean=1), OneSidedSet(lean=0)
    scores = [Fraction(n) for n in (-1, 0, 1)]
    assert [upper.holds(s, s) for s in scores] == [False, False, True]
    assert [lower.holds(s, s) for s in scores] == [True, True, False]
    assert (upper.attained(1.0), lower.attained(0.0)) == (False, True)


def test_a_link_moves_what_is_said_of_probabilities():
    plain = ProbabilitySet(delta=Fraction(1, 4))
    linked = ProbabilitySet(delta=Fraction(1, 4), slope=Fraction(2), offset=Fraction(-1))
    for first, second in ((1, 0), (0, 1), (1, 1), (2, 1), (Fraction(3, 4), Fraction(1, 2)), (3, 2)):
        there = 2 * Fraction(first) - 1, 2 * Fraction(second) - 1
        assert linked.holds(Fraction(first), Fraction(second)) == plain.holds(*there)
        assert linked.clearance(Fraction(first), Fraction(second)) == plain.clearance(*there) / 2
    assert linked.holds(Fraction(1), Fraction(0))  # of 1 and -1, not of 1 and 0
    assert plain.clearance(Fraction(0), Fraction(0)) > 0
    line, moved = plain.tangent(Fraction(1, 3)), linked.tangent(Fraction(1, 3))
    assert line.a != line.b
    assert (moved.a, moved.b) == (2 * line.a, 2 * line.b)
    assert moved.threshold == line.threshold + (line.a - line.b)
    leans = np.array([0.3, 0.5, 0.9])
    assert linked.balance(leans) == pytest.approx((plain.balance(leans) + 2) / 2)
    assert linked.threshold(leans) == pytest.approx((plain.threshold(leans) + 2 * leans - 1) / 2)
    assert linked.touching_lean(linked.balance(leans)) == pytest.approx(leans, abs=1e-9)


def precisely(fraction):
    return Decimal(fraction.numerator) / Decimal(fraction.denominator)


def test_thresholds_are_below_the_true_ones_by_next_to_nothing():
    """Also where a double would be rounded up."""
    with localcontext(Context(prec=60)):
        for n in range(1, 30):
            question, p = ProbabilitySet(delta=Fraction(1, 7)), Fraction(n, 36)
            line, q = question.tangent(p), p + Fraction(1, 7)
            true = precisely(line.a) * precisely(q / (1 - q)).ln()
            true -= precisely(line.b) * precisely(p / (1 - p)).ln()
            assert 0 <= true - precisely(line.threshold) < Decimal("1e-30")
            lean = EVEN_LEAN + Fraction(n, 60)
            line, rest = PredictionSet(delta=Fraction(3)).direction(lean), 2 * lean - 1
            true = precisely(lean) * precisely(lean).ln() - precisely(1 - lean) * precisely(1 - lean).ln()
            true += precisely(rest) * precisely(3 / rest).ln()
            assert 0 <= true - precisely(line.threshold) < Decimal("1e-30")


def test_predictions_differ_by_their_exponentials():
    question = PredictionSet(delta=Fraction(10))
    assert question.holds(Fraction(3), Fraction(2))  # 20.1 and 7.4
    assert not question.holds(Fraction(3), Fraction(5, 2))  # 20.1 and 12.2
    assert not question.holds(Fraction(2), Fraction(3))
    assert not question.holds(Fraction(-1), Fraction(-9))
    for second in (-2.0, 0.0, 1.5):  # the line that touches at the border
        line = question.direction(snap_lean(question.lean_at(second)))
        first = math.log(10 + math.exp(second))
        assert float(line.a) * first - float(line.b) * second == pytest.approx(
            float(line.threshold), abs=1e-9
        )
