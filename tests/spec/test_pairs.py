"""Variables of pair space: their order, and the differences that kernel models add."""

from fractions import Fraction

import likewise as lw
from likewise.cells.enumerated import pair_count
from likewise.spec.pairs import add_differences, pair_space

SPACE = lw.Space(
    {
        "age": lw.Integer(18, 70),
        "sex": lw.Categorical(["f", "m"]),
        "grade": lw.Ordinal(["low", "mid", "high"]),
        "income": lw.Continuous(0.0, 3.0),
    }
)
SIMILAR = lw.Similarity(free=["sex"], within={"age": 2, "grade": 1, "income": "10%"})


def test_differences_come_last_and_belong_to_numbers_within_a_tolerance():
    plain = pair_space(SPACE, SIMILAR)
    pairs = add_differences(plain)
    assert pairs.variables[:8] == plain.variables
    assert pairs.difference == (8, None, None, 9)
    assert [(v.feature, v.side, v.discrete) for v in pairs.variables[8:]] == [
        (0, "difference", True),
        (3, "difference", False),
    ]
    assert (pairs.variables[8].lo, pairs.variables[8].hi) == (-2, 2)


def test_their_ranges_lose_nothing():
    """3/10 is no double: the range reaches the next one above it."""
    pairs = add_differences(pair_space(SPACE, SIMILAR))
    reach = pairs.variables[9]
    assert Fraction(reach.hi) >= Fraction(3, 10) > Fraction(reach.hi) - Fraction(1, 2**50)
    assert reach.lo == -reach.hi


def test_points_of_a_cell_are_counted_without_differences():
    pairs = add_differences(pair_space(SPACE, SIMILAR))
    lo = [20.0, 20.0, 0.0, 0.0, 1.0, 1.0, 1.5, 1.5, -2.0, -0.1]
    hi = [21.0, 22.0, 0.0, 1.0, 1.0, 2.0, 1.5, 1.5, 2.0, 0.1]
    assert pair_count(pairs, lo, hi) == 2 * 3 * 2 * 2
