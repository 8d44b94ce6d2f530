"""Ends of balls: exact, but for what is closer to 0 than any double, which is rounded down and takes no time."""

from fractions import Fraction

import pytest
from flint import arb

from likewise.model.head import SMALLEST_EXPONENT, lower_end


@pytest.mark.parametrize("value", [Fraction(3, 4), Fraction(-5, 8), Fraction(0), Fraction(1, 2**4000)])
def test_what_is_not_tiny_is_exact(value):
    assert lower_end(arb(value.numerator) / arb(value.denominator)) == value


def test_what_is_tiny_is_rounded_down():
    tiny = arb(-(10**12)).exp()
    assert lower_end(tiny) == 0
    assert -Fraction(1, 2**1074) < lower_end(-tiny) == -Fraction(1, 2**SMALLEST_EXPONENT) < 0
