"""Numbers as people read them: short, true, and never the same where they differ."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.figures import (
    bound_text,
    bracket_texts,
    count_text,
    distinct_texts,
    number_text,
    percent_bracket_texts,
    percent_text,
    rough_bound_text,
    signed_text,
)

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1868814423190213, "0.186881"),
        (52345.67, "52345.7"),
        (1234567.89, "1234568"),
        (0.30000000000000004, "0.3"),
        (-2.0, "-2"),
        (0.0, "0"),
        (6.123e-17, "6.123e-17"),
        (0.00012345, "0.00012345"),
        (1e300, "1e300"),
        (math.inf, "infinity"),
        (None, "?"),
    ],
)
def test_a_number_has_six_digits_and_its_whole_part(value, text):
    assert number_text(value) == text


@given(NUMBERS)
def test_bounds_are_rounded_to_their_safe_side(value):
    """Or are the text that names the double itself, as JSON has it."""
    low, high = bound_text(value, up=False), bound_text(value, up=True)
    assert Fraction(low) <= Fraction(value) or float(low) == value
    assert Fraction(high) >= Fraction(value) or float(high) == value
    assert Fraction(high) - Fraction(low) <= Fraction(2, 10**5) * abs(Fraction(value))


@given(st.floats(0, 1), st.floats(0, 1))
def test_shares_are_rounded_to_their_safe_sides(one, other):
    lower, upper = sorted((one, other))
    low, high = (
        (
            Fraction(text.removeprefix("below ").removesuffix("%")) / 100
            for text in percent_bracket_texts(lower, upper)
            if not text.startswith("above")
        )
        if upper < 1 - 1e-13
        else (0, 1)
    )
    if lower < upper:
        assert low <= Fraction(repr(lower))
        assert high >= Fraction(repr(upper))


@given(NUMBERS, NUMBERS)
def test_two_numbers_that_differ_never_look_the_same(first, second):
    texts = distinct_texts(first, second)
    assert (texts[0] == texts[1]) == (first == second)


@given(NUMBERS, st.integers(1, 3))
def test_neighbouring_doubles_never_look_the_same(first, steps):
    second = first
    for _ in range(steps):
        second = math.nextafter(second, math.inf)
    low, high = distinct_texts(first, second)
    assert low != high
    assert len(low) <= 20


def test_texts_that_tell_two_numbers_apart():
    assert distinct_texts(0.551225, 0.5512251) == ("0.551225", "0.5512251")
    assert distinct_texts(0.3, 0.30000000000000004) == ("0.3", "just above 0.3")
    assert distinct_texts(0.30000000000000004, 0.3) == ("0.3", "just below 0.3")
    assert distinct_texts(1, 1.0) == ("1", "1")
    assert bracket_texts(0.186881, 0.186881 + 6e-17) == ("0.186881", "0.186881")
    assert bracket_texts(0.1868811, 0.1868812) == ("0.186881", "0.186882")
    assert bracket_texts(0.3, 0.3) == ("0.3", "0.3")
    assert bracket_texts(None, 4.0000001) == ("?", "4.00001")


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0, "0%"),
        (1, "100%"),
        (Fraction(1, 3), "33.33%"),
        (0.22391, "22.39%"),
        (0.1011, "10.11%"),
        (0.5, "50.00%"),
        (1e-6, "0.0001%"),
        (1 - 1e-6, "99.9999%"),
        (1e-30, "below 0.01%"),
        (1 - 1e-16, "above 99.99%"),
    ],
)
def test_a_share_is_in_per_cent_with_two_decimals_and_never_nothing_or_all(share, text):
    assert percent_text(share) == text


@pytest.mark.parametrize(
    ("ends", "texts"),
    [
        ((0.33999999999999997, 1.0000000000000007), ("0.34", "1")),
        ((0.34, 0.5), ("0.34", "0.5")),
        ((0.3399999, 1.000001), ("0.339999", "1.00001")),
        ((0.34 - 1e-10, 0.52 + 1e-10), ("0.339999", "0.520001")),
        ((None, math.inf), ("?", "infinity")),
    ],
)
def test_ends_of_a_bracket_next_to_a_short_number_are_that_number(ends, texts):
    assert bracket_texts(*ends) == texts


def test_counts_of_very_many_are_words():
    assert count_text(999_999) == "999,999"
    assert count_text(28_400_000) == "about 28 million"
    assert count_text(41 * 10**13) == "about 410 trillion"
    assert count_text(10**450) == "about 10^450"


def test_differences_have_a_sign_and_bounds_of_rounding_one_digit():
    assert [signed_text(value) for value in (0.25, -0.25, 0.0)] == ["+0.25", "−0.25", "0"]
    assert rough_bound_text(6.12e-17) == "7e-17"
