"""The numbers of a certificate: texts that stand for rationals (section 1 of the specification).

Three forms, `-14`, `0x1.8p+1` and `5/1200`, all exact. Numbers of up to 10,000 characters with exponents of up to 20,000
are read, longer ones rejected. Arithmetic runs on `Exact` values: an int where the value is whole (fast), else a Fraction;
the two mix freely in Python and never round.
"""

import re
from collections.abc import Iterable
from decimal import Context, Decimal
from fractions import Fraction
from math import lcm
from typing import TypeAlias

from likewise_check.errors import Rejected

Exact: TypeAlias = int | Fraction

LONGEST_NUMBER = 10_000
LARGEST_EXPONENT = 20_000
# Python refuses to convert more decimal digits than a limit that users may set, but never below 640.
_DIGITS = 600
# A common denominator only saves time; beyond this size it no longer does.
_SCALE_BITS = 8192

_INTEGER = re.compile(r"(-?)(0|[1-9][0-9]*)")
_HEXADECIMAL = re.compile(r"(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?)([0-9]+)")
_FRACTION = re.compile(r"(-?)(0|[1-9][0-9]*)/([1-9][0-9]*)")


def parse(text: object, what: str) -> Fraction:
    """The rational that a number of the format stands for."""
    if type(text) is not str:
        raise Rejected(f'{what}: a number must be a text such as "-14", "0x1.8p+1" or "5/12"')
    if len(text) > LONGEST_NUMBER:
        raise Rejected(f"{what}: a number of {len(text)} characters; the limit is {LONGEST_NUMBER}")
    if found := _INTEGER.fullmatch(text):
        sign, digits = found.groups()
        return Fraction(_signed(sign, _from_decimal(digits)))
    if found := _HEXADECIMAL.fullmatch(text):
        sign, before, after, direction, power = found.groups()
        after = after or ""
        mantissa = _signed(sign, int(before + after, 16))
        exponent = _signed(direction, _exponent(power, what)) - 4 * len(after)
        return Fraction(mantissa << exponent) if exponent >= 0 else Fraction(mantissa, 1 << -exponent)
    if found := _FRACTION.fullmatch(text):
        sign, above, below = found.groups()
        return Fraction(_signed(sign, _from_decimal(above)), _from_decimal(below))
    raise Rejected(f"{what}: {text[:40]!r} is not a number of the format")


def write(value: Fraction) -> str:
    """The number as a text of the format: an integer or a fraction in lowest terms."""
    above = ("-" if value < 0 else "") + _to_decimal(abs(value.numerator))
    return above if value.denominator == 1 else f"{above}/{_to_decimal(value.denominator)}"


def shown(value: Fraction) -> str:
    """The number for people: exact where that is short, else six digits and the word `about`."""
    decimal = Context(prec=12).divide(Decimal(value.numerator), Decimal(value.denominator))
    if -6 <= decimal.adjusted() <= 11 and Fraction(decimal) == value:
        return f"{decimal:f}"
    if value.denominator < 1000 and abs(value.numerator) < 10**6:
        return f"{value.numerator}/{value.denominator}"
    return f"about {Context(prec=6).divide(Decimal(value.numerator), Decimal(value.denominator))}"


def exact(value: Fraction) -> Exact:
    """The same value, as an int if it is whole."""
    return value.numerator if value.denominator == 1 else value


def scaled(value: Exact, scale: int) -> Exact:
    """value * scale, as an int if that is whole."""
    product = value * scale
    return product if isinstance(product, int) else exact(product)


def common_scale(values: Iterable[Fraction]) -> int:
    """A positive int that makes the values whole, if it is not too large; any positive int is a right answer."""
    scale = 1
    for value in values:
        larger = lcm(scale, value.denominator)
        if larger.bit_length() <= _SCALE_BITS:
            scale = larger
    return scale


def _signed(sign: str, size: int) -> int:
    return -size if sign == "-" else size


def _exponent(digits: str, what: str) -> int:
    digits = digits.lstrip("0") or "0"
    if len(digits) > 5 or int(digits) > LARGEST_EXPONENT:
        raise Rejected(f"{what}: an exponent of more than {LARGEST_EXPONENT}")
    return int(digits)


def _from_decimal(digits: str) -> int:
    value = 0
    for start in range(0, len(digits), _DIGITS):
        piece = digits[start : start + _DIGITS]
        value = value * 10 ** len(piece) + int(piece)
    return value


def _to_decimal(size: int) -> str:
    pieces: list[str] = []
    while size >= 10**_DIGITS:
        size, piece = divmod(size, 10**_DIGITS)
        pieces.append(str(piece).zfill(_DIGITS))
    pieces.append(str(size))
    return "".join(reversed(pieces))
