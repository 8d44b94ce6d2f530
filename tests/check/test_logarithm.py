"""The enclosures of log and sigma hold the true value, and are as tight as their docstring says."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise_check.core.logarithm import LOG_BITS, log_bounds, sigma_bounds

DIGITS = 120
NEAR = Fraction(1, 10**100)


def decimal(value: Fraction) -> Decimal:
    return Decimal(value.numerator) / Decimal(value.denominator)


def true_log(value: Fraction) -> Fraction:
    with localcontext(Context(prec=DIGITS)):
        return Fraction(Decimal(value.numerator).ln() - Decimal(value.denominator).ln())


def true_sigma(value: Fraction) -> Fraction:
    with localcontext(Context(prec=DIGITS)):
        return Fraction(1 / (1 + (-decimal(value)).exp()))


positive = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6).filter(bool),
    st.floats(min_value=1e-300, max_value=1e300).map(Fraction),
    st.builds(
        lambda k, n: Fraction(2) ** k * (1 + Fraction(1, n)), st.integers(-300, 300), st.integers(1, 10**40)
    ),
)


@given(positive)
def test_log_is_enclosed_tightly(value):
    low, high = log_bounds(value)
    assert low - NEAR <= true_log(value) <= high + NEAR
    assert high - low < Fraction(1, 2**160)


@pytest.mark.parametrize("k", [0, 1, -1, 5, 60000, -60000])
def test_log_of_powers_of_two(k):
    low, high = log_bounds(Fraction(2) ** k)
    assert low <= k * true_log(Fraction(2)) <= high
    assert high - low < Fraction(1, 2**163)


@given(positive, st.sampled_from([64, LOG_BITS, 300]))
def test_more_bits_stay_inside(value, bits):
    low, high = log_bounds(value, bits)
    finer_low, finer_high = log_bounds(value, bits + 50)
    assert low <= finer_high
    assert finer_low <= high


@given(
    st.one_of(st.fractions(min_value=-300, max_value=300), st.floats(-1e3, 1e3).map(Fraction)),
    st.sampled_from([64, 256]),
)
def test_sigma_is_enclosed_tightly(score, bits):
    low, high = sigma_bounds(score, bits)
    assert 0 <= low <= high <= 1
    assert low - NEAR <= true_sigma(score) <= high + NEAR
    assert high - low <= Fraction(1, 2 ** (bits - 4))


@settings(deadline=None)
@given(st.integers(1, 10**6), st.sampled_from([64, 1024]))
def test_sigma_of_large_and_small_scores(size, bits):
    for score in (Fraction(size), Fraction(2) ** 20000, Fraction(1, 2**20000)):
        low, high = sigma_bounds(score, bits)
        assert low <= high
        assert high - low <= Fraction(1, 2 ** (bits - 4))
        assert (1 - high, 1 - low) == sigma_bounds(-score, bits)


def test_sigma_of_zero():
    low, high = sigma_bounds(Fraction(0), 128)
    assert low <= Fraction(1, 2) <= high
