"""The number grammar, exact at any size."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise_check.core.fields import Rejected
from likewise_check.core.numbers import common_scale, int_if_whole, number, number_text, readable_number


def str_start(value) -> str:
    """A test id: short, and no attempt to write huge numbers in decimal."""
    return ascii(value)[:20] if isinstance(value, str) else type(value).__name__


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0),
        ("-0", 0),
        ("-14", -14),
        ("5/1200", Fraction(1, 240)),
        ("-3/9", Fraction(-1, 3)),
        ("0/7", 0),
        ("0x1.8p+1", 3),
        ("-0x1.8p1", -3),
        ("0x0p-0", 0),
        ("0x10p-4", 1),
        ("0x00ff.00p+0000000000000000000000000000003", 255 * 8),
        ("0x1p-1074", Fraction(1, 2**1074)),
        ("0x1p+20000", Fraction(2**20000)),
        ("0x1p-20000", Fraction(1, 2**20000)),
        ("1" * 10000, Fraction(10**10000 - 1, 9)),
        ("1/" + "1" * 9998, Fraction(9, 10**9998 - 1)),
    ],
    ids=str_start,
)
def test_numbers_stand_for_rationals(text, value):
    assert number(text, "it") == value


BAD = [
    "",
    "+1",
    "01",
    "-01",
    "1.5",
    "1e3",
    " 1",
    "1 ",
    "1\n",
    "--1",
    "0x",
    "0x.8p1",
    "0x1.p1",
    "0x1",
    "0x1p",
    "0x1p1.0",
    "0X1p1",
    "0x1P1",
    "0xAp1",
    "1/0",
    "1/-2",
    "1/02",
    "01/2",
    "-/2",
    "1/",
    "/2",
    "1//2",
    "nan\n",
    "inf",
    "Infinity",
    "1_000",
    "0x1_0p1",
    "٣",
    "１",
    "0x1p٣",
    "0b1",
    "1/2/3",
    "0x1p20001",
    "0x1p-20001",
    "0x1p+99999999999999999999",
    "0x1p100000",
]


@pytest.mark.parametrize(
    "text", [*BAD, "1" * 10001, 1, None, True, 1.5, ["1"], {"number": "1"}], ids=str_start
)
def test_everything_else_is_rejected(text):
    with pytest.raises(Rejected, match="it"):
        number(text, "it")


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_hexadecimal_floats_are_exact(value):
    assert number(value.hex(), "it") == Fraction(value)


@given(st.fractions())
def test_what_is_written_is_read(value):
    assert number(number_text(value), "it") == value


def test_large_numbers_are_written_in_spite_of_pythons_limit():
    value = Fraction(-(10**9000) - 7, 3)
    assert number_text(value) == "-1" + "0" * 8999 + "7/3"
    assert number_text(Fraction(10**1200)) == "1" + "0" * 1200


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Fraction(0), "0"),
        (Fraction(-3, 8), "-0.375"),
        (Fraction(12), "12"),
        (Fraction(1, 3), "about 0.333333"),
        (Fraction(0.1), "about 0.100000"),
        (Fraction(10**9999), "about 1.00000E+9999"),
        (Fraction(1, 2**20000), "about 2.51239E-6021"),
    ],
    ids=str_start,
)
def test_numbers_for_people(value, text):
    assert readable_number(value) == text


def test_whole_values_become_ints():
    assert type(int_if_whole(Fraction(4, 2))) is int
    assert int_if_whole(Fraction(1, 2)) == Fraction(1, 2)


def test_a_scale_that_would_be_too_large_is_left_out():
    assert common_scale([Fraction(1, 6), Fraction(1, 4)]) == 12
    assert common_scale([Fraction(1, 6), Fraction(1, 2**9000), Fraction(1, 5)]) == 30
