"""Maxima of functions in pieces: nothing sampled exceeds them, and they are as tight as they say."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tiers import examples

from likewise.cells.curves import curve_maximum, polynomial_maximum
from likewise.spec.pieces import compose_affine, evaluate_polynomial, magnitude_on, make_piecewise, sum_pieces
from likewise.spec.similarity import Relation

numbers = st.fractions(-4, 4, max_denominator=8)
polynomials = st.lists(numbers, min_size=1, max_size=6).map(tuple)
intervals = st.tuples(numbers, numbers).map(lambda pair: tuple(sorted(pair)))


def grid(lo, hi, count=33):
    return [lo + (hi - lo) * Fraction(i, count - 1) for i in range(count)]


@examples(40, deadline=None)
@given(polynomial=polynomials, interval=intervals)
def test_a_polynomial_is_nowhere_above_its_maximum(polynomial, interval):
    top = polynomial_maximum(polynomial, *interval)
    sampled = max(evaluate_polynomial(polynomial, x) for x in grid(*interval))
    assert sampled <= top
    steepest = sum(i * abs(c) * 4 ** (i - 1) for i, c in enumerate(polynomial) if i)
    room = magnitude_on(polynomial, *interval) / 2**59
    assert top <= sampled + steepest * (interval[1] - interval[0]) / 64 + room


functions = st.lists(numbers, max_size=3, unique=True).flatmap(
    lambda cuts: st.lists(polynomials, min_size=len(cuts) + 1, max_size=len(cuts) + 1).map(
        lambda found: make_piecewise(sorted(cuts), found)
    )
)


@pytest.mark.parametrize("kind", ["same", "free", "within"])
@examples(40, deadline=None)
@given(function=functions, here=intervals, there=intervals, data=st.data())
def test_no_pair_is_above_the_maximum_of_a_box(kind, function, here, there, data):
    tolerance = data.draw(st.fractions(Fraction(1, 4), 3, max_denominator=4)) if kind == "within" else None
    there = here if kind == "same" else there
    a, b = data.draw(st.fractions(0, 1, max_denominator=4)), data.draw(st.fractions(0, 1, max_denominator=4))
    u, v = function.moved(a, Fraction(1)), function.moved(-b, Fraction(0))
    top = curve_maximum(u, v, Relation(kind=kind, tolerance=tolerance), here, there, whole=False)
    for x in grid(*here, 9):
        for y in [x] if kind == "same" else grid(*there, 9):
            if tolerance is None or abs(x - y) <= tolerance:
                assert u.exact(x) + v.exact(y) <= top


@examples(40, deadline=None)
@given(first=functions, second=functions, slope=numbers, x=numbers)
def test_sums_are_exact(first, second, slope, x):
    total = sum_pieces([(Fraction(2), first), (Fraction(-3), second)], slope)
    assert total.exact(x) == 2 * first.exact(x) - 3 * second.exact(x) + slope * x


@examples(40, deadline=None)
@given(polynomial=polynomials, offset=numbers, slope=numbers, x=numbers)
def test_composition_is_exact(polynomial, offset, slope, x):
    assert evaluate_polynomial(compose_affine(polynomial, offset, slope), x) == evaluate_polynomial(
        polynomial, offset + slope * x
    )
