"""Doubles as rationals, against the machine's own; splits between them, and witnesses made of them."""

import math
import struct
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    checked,
    continuous,
    decision,
    integer,
    line,
    pieces,
    proof,
    score,
    within,
    witness,
)
from tests.tiers import examples

from likewise_check.core.numbers import LARGEST, consecutive, double_down, double_up, is_double

SMALLEST = 5e-324
LAST = struct.unpack("<d", struct.pack("<Q", 0x7FEFFFFFFFFFFFFF))[0]
bits = st.integers(0, (1 << 64) - 1).map(lambda n: struct.unpack("<d", struct.pack("<Q", n))[0])
finite = st.one_of(bits, st.floats()).filter(math.isfinite)


def text(x: float) -> str:
    return str(Fraction(x))


@examples(300)
@given(finite)
@example(0.0)
@example(-0.0)
@example(SMALLEST)
@example(-SMALLEST)
@example(LAST)
@example(-LAST)
@example(2.0**-1022)
@example(math.nextafter(2.0**-1022, 0))
@example(-1.0)
@example(1.0)
def test_neighbours(x):
    value, above = Fraction(x), math.nextafter(x, math.inf)
    assert is_double(value)
    if above != math.inf:
        up = Fraction(above)
        assert consecutive(value, up)
        assert not consecutive(up, value)
        assert not consecutive(value, value)
        middle = (value + up) / 2
        assert not is_double(middle)
        assert not consecutive(value, middle)
        assert not consecutive(middle, up)
        further = math.nextafter(above, math.inf)
        if further != math.inf:
            assert not consecutive(value, Fraction(further))


def test_the_ends():
    assert Fraction(LAST) == LARGEST
    beyond = Fraction(2) ** 1024
    assert not is_double(beyond)
    assert not is_double(-beyond)
    assert not consecutive(LARGEST, beyond)
    assert not consecutive(-beyond, -LARGEST)
    assert not is_double(Fraction(1, 2**1075))
    assert not is_double(Fraction(1, 3))
    assert not is_double(Fraction((1 << 53) + 1))
    assert is_double(Fraction((1 << 53) + 2))
    assert not consecutive(Fraction(-SMALLEST), Fraction(SMALLEST))


@pytest.mark.parametrize("x", [0.0, SMALLEST, 2.0**-1022, 0.1, 1.0, math.nextafter(1.0, 0), 1e300])
def test_the_doubles_around_a_number(x):
    value, above = Fraction(x), Fraction(math.nextafter(x, math.inf))
    between = (2 * value + above) / 3
    assert (double_down(value), double_up(value)) == (value, value)
    assert (double_down(between), double_up(between)) == (value, above)
    assert (double_down(-between), double_up(-between)) == (-above, -value)


# --- splits ----------------------------------------------------------------------------------------


def stepped(cut, at, after, relation, *, lo=-2, hi=2, leaf=("separable", "1/2")):
    """A step at the cut, split there: with both codes on one side, the score is the same."""
    nodes = [["split", 0, at, after]]
    if relation != SAME:
        nodes = [*nodes, ["split", 1, at, after], list(leaf), list(leaf), ["split", 1, at, after]]
    model = affine(0, [pieces(0, 1, [cut], [[0], [1]])])
    nodes += [list(leaf)] * 2
    return checked(proof([continuous("c", lo, hi)], [relation], score(1), model, nodes))


@pytest.mark.parametrize("relation", [SAME, FREE, within(1)])
@pytest.mark.parametrize("x", [0.0, -SMALLEST, 0.1, -0.1, 1.0, -1.0, math.nextafter(2.0, 0), -2.0])
def test_splits_between_doubles(x, relation):
    above = math.nextafter(x, math.inf)
    assert stepped(text(x), text(x), text(above), relation).accepted
    for at, after in [
        (x, x),
        (above, x),
        (x, math.nextafter(above, math.inf)),
        (math.nextafter(x, -math.inf), above),
    ]:
        report = stepped(text(x), text(at), text(after), relation)
        assert "no double between" in report.reason
        assert report.line == 6
    middle = str((Fraction(x) + Fraction(above)) / 2)
    assert not stepped(text(x), text(x), middle, relation).accepted


def test_a_split_between_doubles_stays_in_the_cell():
    below, above = text(math.nextafter(1, 0)), text(math.nextafter(1, 2))
    assert stepped("1", "1", above, SAME, hi=above).accepted
    assert "no double between" in stepped("1", "1", above, SAME, hi=1).reason
    assert "no double between" in stepped("1", below, "1", SAME, lo=1).reason
    assert stepped("1", below, "1", SAME, lo=below).accepted


def test_what_is_not_split_between_doubles():
    model = affine(0, [line(0, 1)])
    leaf = ["separable", "1/2"]
    for feature, variable in ((integer("n", 0, 2), 0), (integer("n", 0, 2), 2), (continuous("c", 0, 2), 2)):
        after = "2" if feature["kind"] == "integer" else text(math.nextafter(1, 2))
        nodes = [["split", variable, "1", after], leaf, leaf]
        report = checked(proof([feature], [within(2)], score(2), model, nodes))
        assert "only a continuous feature's codes" in report.reason
    for node in (["split"], ["split", 0], ["split", 0, "1", "2", "3"], ["split", 0, "1", None]):
        report = checked(proof([continuous("c", 0, 2)], [SAME], score(2), model, [node, leaf, leaf]))
        assert not report.accepted
        assert report.line == 6


@pytest.mark.parametrize(("place", "holds"), [(["1"], False), (["1", text(math.nextafter(1, 2))], True)])
def test_a_step_that_only_a_split_between_doubles_can_cut_out(place, holds):
    """Scores -2 up to 1 and 7 above: a cell that begins at 1 sees both."""
    model = affine(-2, [pieces(0, 1, ["1"], [[0], [9]])])
    nodes = [["split", 0, *place], ["separable", "1"], ["separable", "0"]]
    values = proof([continuous("c", 0, 2)], [SAME], decision(-1), model, nodes)
    assert checked(values).accepted == holds


# --- witnesses -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "holds"), [("0x1.5555555555555p-2", True), ("1/3", False), ("0x1p-1074", True)]
)
def test_witnesses_are_doubles(x, holds):
    scores = [1, str(1 - Fraction(float.fromhex(x) if "x" in x else Fraction(x)))]
    model = affine(1, [line(0, -1)])
    values = witness([continuous("c", 0, 1)], [FREE], score(0), model, [0], [x], scores)
    report = checked(values)
    assert report.accepted == holds
    if not holds:
        assert "valid individual" in report.reason
