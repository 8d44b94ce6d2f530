"""Where lines go: inside of the drawing, in the order of the numbers."""

from hypothesis import given
from hypothesis import strategies as st
from tests.tiers import examples

from likewise.answers.texts import json_value
from likewise.report.pictures import (
    BAR_WIDTH,
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    Axis,
    bracket_history,
    contribution_bars,
    share_bar,
)  # fmt: skip

numbers = st.floats(-1e9, 1e9)
drawn = examples(100)


@drawn
@given(st.lists(st.tuples(st.floats(0, 1e4), numbers, st.none() | st.floats(0, 1e9)), min_size=1, max_size=6))
def test_a_bracket_stays_inside_and_lower_below_upper(points):
    history = sorted(
        ([t, low, None if wide is None else low + wide] for t, low, wide in points), key=lambda p: p[0]
    )
    chart = bracket_history({"history": history})
    for line in (chart["lower"], chart["upper"]):
        for point in line.split():
            x, y = map(float, point.split(","))
            assert LEFT <= x <= WIDTH - RIGHT
            assert TOP <= y <= HEIGHT - BOTTOM
    if history[-1][2] is not None:
        upper, lower = chart["ends"]
        assert upper[1] <= lower[1]  # up is small


def test_nothing_known_is_not_drawn():
    assert bracket_history({"history": [[0.0, None, None]]}) is None


@drawn
@given(numbers, st.floats(1e-3, 1e9))
def test_ticks_are_inside_and_few(lo, span):
    axis = Axis(lo, lo + span, 10, 400)
    ticks = axis.ticks()
    assert len(ticks) <= 7
    assert all(9.9 <= place <= 400.1 for place, _ in ticks)


@drawn
@given(st.lists(numbers, max_size=8))
def test_bars_are_as_long_as_their_numbers(values):
    bars = contribution_bars(values)
    for value, bar in zip(values, bars, strict=True):
        assert bar["x"] >= 0
        assert bar["x"] + bar["size"] <= BAR_WIDTH + 0.02
        assert (value < 0) == (bar["x"] < bar["zero"]) or bar["size"] == 0
    sizes = [
        bar["size"] for _, bar in sorted(zip(map(abs, values), bars, strict=True), key=lambda both: both[0])
    ]
    assert sizes == sorted(sizes)


@drawn
@given(st.floats(0, 1), st.floats(0, 1))
def test_a_share_fills_the_bar(one, other):
    chart = share_bar({"lower": min(one, other), "upper": max(one, other)})
    assert abs(chart["biased"] + chart["open"] + chart["fair"] - (chart["right"] - chart["left"])) <= 3.1
    assert (chart["biased"] > 0) == (min(one, other) > 0)


def test_numbers_that_json_has_not_are_null():
    assert json_value({"a": (float("nan"), float("inf"), 1)}) == {"a": [None, None, 1]}
