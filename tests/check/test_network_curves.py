"""The rule `network` with smooth activations (section 15): values, slopes and maxima between ints, beside float64 and beside sampled pairs; proofs that can be followed by hand."""

import math
import random
from fractions import Fraction

import pytest
from tests.check.builder import checked, number
from tests.check.test_network import network
from tests.check.test_network_rule import COLUMNS, gap, leaf

from likewise_check.packs.network.activation import Activation
from likewise_check.packs.network.curve import GRID, UNIT, Curve
from likewise_check.packs.network.neuron import Polygon

KINDS = {
    "tanh": (Activation("tanh", ()), math.tanh, lambda y: 1 - math.tanh(y) ** 2),
    "logistic": (
        Activation("logistic", ()),
        lambda y: 0.5 + 0.5 * math.tanh(y / 2),
        lambda y: 0.25 - 0.25 * math.tanh(y / 2) ** 2,
    ),
    **{
        f"elu {alpha}": (
            Activation("elu", (Fraction(alpha),)),
            lambda y, a=float(Fraction(alpha)): y if y > 0 else a * math.expm1(y),
            lambda y, a=float(Fraction(alpha)): 1.0 if y > 0 else a * math.exp(y),
        )
        for alpha in ("1", "3/2", "-1/3", "1/2", "0")
    },
}
NEAR = 1e-12


def drawn(rng, scale=4.0):
    return int(rng.choice((0.0, rng.gauss(0, scale), rng.uniform(-0.1, 0.1))) * UNIT)


@pytest.mark.parametrize("kind", KINDS)
def test_values_and_slopes_are_enclosed_closely(kind):
    activation, act, slope = KINDS[kind]
    curve, rng = Curve(activation), random.Random(0)
    for y in (0, 1, -1, 50 * UNIT, -50 * UNIT, *(drawn(rng) for _ in range(300))):
        for found, truth in ((curve.at(y), act(y / UNIT)), (curve.slope(y), slope(y / UNIT))):
            low, high = (end / UNIT for end in found)
            assert low - NEAR * (1 + abs(truth)) <= truth <= high + NEAR * (1 + abs(truth))
            assert high - low <= NEAR * (1 + abs(truth))


@pytest.mark.parametrize("kind", KINDS)
def test_slopes_between_two_limits(kind):
    activation, _, slope = KINDS[kind]
    curve, rng = Curve(activation), random.Random(1)
    for _ in range(200):
        lo, hi = sorted((drawn(rng), drawn(rng)))
        low, high = (end / UNIT for end in curve.steepness(lo, hi))
        for _ in range(20):
            at = slope(rng.uniform(lo, hi) / UNIT)
            assert low - NEAR <= at <= high + NEAR


@pytest.mark.parametrize("kind", KINDS)
def test_the_largest_of_one_variable(kind):
    """Never below a point; above the best of many by next to nothing."""
    activation, act, _ = KINDS[kind]
    curve, rng = Curve(activation), random.Random(2)
    for _ in range(300):
        lo, hi = sorted((drawn(rng), drawn(rng)))
        A, a = rng.choice((0, rng.gauss(0, 2))), rng.choice((0, rng.gauss(0, 1)))
        whole = [int(n * 2**20) for n in (A, a)]
        found = curve.largest(*whole, lo, hi) / UNIT / 2**20
        A, a = (n / 2**20 for n in whole)
        places = [min(max(0, lo), hi) / UNIT, *((lo + (hi - lo) * i / 400) / UNIT for i in range(401))]
        best = max(A * act(y) - a * y for y in places)
        step = (hi - lo) / UNIT / 400
        assert found >= best - 1e-11 * (1 + abs(best))
        assert found <= best + 2 * abs(A) * step * step + 1e-9 * (1 + abs(best))


def random_polygon(rng):
    """Closed limits around a pair."""
    y, other = drawn(rng), drawn(rng)
    reach = rng.choice((1e-3, 0.3, 2.0, 6.0))
    spread = [int(rng.uniform(0, reach) * UNIT) for _ in range(6)]
    apart = other - y
    ends = (
        y - spread[0],
        y + spread[1],
        other - spread[2],
        other + spread[3],
        apart - spread[4],
        apart + spread[5],
    )
    return Polygon(*ends).closed(), (y, other)


@pytest.mark.parametrize("kind", KINDS)
def test_no_pair_of_a_polygon_is_above_its_maximum(kind):
    activation, act, _ = KINDS[kind]
    curve, rng = Curve(activation), random.Random(3)
    for _ in range(400):
        polygon, known = random_polygon(rng)
        A, a = rng.gauss(0, 2), rng.gauss(0, 1)
        C, c = rng.choice(
            ((-A, -a), (rng.gauss(0, 2), rng.gauss(0, 1)), (-A / 2, rng.gauss(0, 1)), (0.0, 0.0))
        )
        whole = [int(n * 2**20) for n in (A, C, a, c)]
        found = curve.maximum(*whole, polygon) / UNIT / 2**20
        A, C, a, c = (n / 2**20 for n in whole)
        lo, hi, low, high, p, q = (end / UNIT for end in polygon)
        pairs = [(known[0] / UNIT, known[1] / UNIT)]
        for _ in range(60):
            y = rng.choice((lo, hi, rng.uniform(lo, hi)))
            left, right = max(low, y + p), min(high, y + q)
            pairs.append((y, rng.choice((left, right, rng.uniform(left, right)))))
        for y, other in pairs:
            assert found >= A * act(y) + C * act(other) - a * y - c * other - 1e-10


def test_the_difference_of_the_copies_counts():
    """Copies that count against each other: a narrow difference leaves little, however wide the sums are."""
    curve = Curve(KINDS["tanh"][0])
    narrow = Polygon(-9 * UNIT, 9 * UNIT, -9 * UNIT, 9 * UNIT, 0, UNIT // 8)
    assert curve.maximum(-1, 1, 0, 0, narrow) <= UNIT // 8
    assert curve.maximum(1, -1, 0, 0, narrow) == 0


SMOOTH = network([(["tanh"], [0], [[1, 1]])], [1], columns=COLUMNS, labels=None, link=None)


def test_the_gap_of_one_tanh():
    """f = tanh(age + sex), age from -2 to 2: the gap is largest at age = -1/2, 2 tanh(1/2) = 0.924; slopes know it to be at most 1."""
    assert checked(gap(1, leaf(), model=SMOOTH)).accepted
    assert not checked(gap("924/1000", leaf(), model=SMOOTH)).accepted
    cuts = gap("95/100", *tree(-2, 2, 8), model=SMOOTH)
    report = checked(cuts)
    assert report.accepted
    assert "network" in report.packs
    assert not checked(gap("924/1000", *tree(-2, 2, 8), model=SMOOTH)).accepted


def tree(lo, hi, depth):
    """Cuts of age in the middle."""
    if depth == 0:
        return [leaf()]
    at = Fraction(lo + hi) / 2
    return [["split", 0, number(at)], *tree(lo, at, depth - 1), *tree(at, hi, depth - 1)]


def test_the_grid_is_that_of_limits():
    assert UNIT == 1 << GRID
