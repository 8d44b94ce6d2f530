"""Neighbourhoods: who is within a distance of a row, decided exactly, and the boxes around rows that hold them."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import likewise as lw
from likewise.errors import DataError, SpecError

SPACE = lw.Space(
    {
        "a": lw.Integer(0, 10),
        "b": lw.Ordinal(["low", "mid", "high"]),
        "c": lw.Categorical(["x", "y"]),
    }
)
EVERYBODY = pd.DataFrame(
    list(itertools.product(range(11), ["low", "mid", "high"], ["x", "y"])), columns=["a", "b", "c"]
)
ROWS = pd.DataFrame({"a": [2, 9], "b": ["low", "high"], "c": ["x", "y"]})


def apart(one, other):
    """Written anew: nothing of the package."""
    order = ["low", "mid", "high"]
    return max(
        Fraction(abs(int(one["a"]) - int(other["a"])), 10),
        Fraction(abs(order.index(one["b"]) - order.index(other["b"])), 2),
        Fraction(one["c"] != other["c"]),
    )


@pytest.mark.parametrize("distance", [0, 0.1, 0.2, 0.3, 0.5, 0.999, 1])
def test_who_is_within_a_distance(distance):
    near = SPACE.near(ROWS, distance)
    people, rows = EVERYBODY.to_dict("records"), ROWS.to_dict("records")
    expected = [min(apart(one, row) for row in rows) <= Fraction(distance) for one in people]
    assert near.contains(EVERYBODY) == expected
    boxes = [near.hull([place]) for place in range(len(near.rows))]
    codes = SPACE.encode(EVERYBODY)
    assert [any(box.holds(tuple(one)) for box in boxes) for one in codes.tolist()] == expected
    both = near.hull()
    assert all(both.holds(tuple(one)) for one, inside in zip(codes.tolist(), expected, strict=True) if inside)


def test_the_nearest_row_is_told_exactly():
    near = SPACE.near(ROWS, 0)
    for one, codes in zip(EVERYBODY.to_dict("records"), SPACE.encode(EVERYBODY), strict=True):
        assert near.nearest(codes)[1] == min(apart(one, row) for row in ROWS.to_dict("records"))


def test_a_box_around_a_row_ends_at_the_last_double_within_the_distance():
    space = lw.Space({"x": lw.Continuous(0.1, 0.7), "y": lw.Continuous(-3, 5)})
    rows = pd.DataFrame(np.random.default_rng(2).uniform([0.1, -3], [0.7, 5], (20, 2)), columns=["x", "y"])
    for distance in (0.1, 1 / 3, 1e-9):
        near = space.near(rows, distance)
        for row in near.rows:
            place, own = near.nearest(row)
            assert (near.rows[place] == row).all()
            assert own == 0
            for k, (lo, hi) in enumerate(((0.1, 0.7), (-3, 5))):
                reach = Fraction(distance) * (Fraction(hi) - Fraction(lo))
                for end, beyond in zip(near.hull([place]).parts[k], (-np.inf, np.inf), strict=True):
                    assert abs(Fraction(end) - Fraction(float(row[k]))) <= reach
                    following = float(np.nextafter(end, beyond))
                    assert (
                        not lo <= following <= hi
                        or abs(Fraction(following) - Fraction(float(row[k]))) > reach
                    )


def test_features_that_do_not_count():
    near = SPACE.near(ROWS, 0).leaving_out([2])
    assert near.contains(pd.DataFrame({"a": [2], "b": ["low"], "c": ["y"]})) == [True]
    assert near.hull([0]).parts[2] == (0, 1)


def test_bad_input():
    for wrong in (-0.1, 1.5, True, "0.1", float("nan")):
        with pytest.raises(SpecError, match="from 0 to 1"):
            SPACE.near(ROWS, wrong)
    with pytest.raises(DataError, match="no rows"):
        SPACE.near(ROWS[:0], 0.1)
    with pytest.raises(SpecError, match="missing"):
        lw.Space({"a": lw.Integer(0, 3, missing=True)}).near(pd.DataFrame({"a": [1]}), 0.1)
