"""The numbers of a certificate: texts that stand for rationals (section 1 of the specification).

Three forms, `-14`, `0x1.8p+1` and `5/1200`, all exact. Numbers of up to 10,000 characters with exponents of up to 20,000 are
read, longer ones rejected. Arithmetic runs on `Exact` values: an int where the value is whole (fast), else a Fraction; the two
mix freely in Python and never round.

Doubles (IEEE 754 binary64) as rationals, in integers: the finite ones are m 2^e with whole |m| < 2^53 and e >= -1074, below 2^1024 in size.

The smallest double above a double x >= 0 is x + 2^max(E - 52, -1074), 2^E <= x < 2^(E + 1) (x + 2^-1074 at 0): multiples of that unit, of 53
bits at most, are all doubles there are from 2^E (or 0) to 2^(E + 1), both included. Below 0 everything is mirrored.
"""

import re
from collections.abc import Callable, Iterable
from decimal import Context, Decimal
from fractions import Fraction
from math import isqrt, lcm
from typing import TypeAlias

from likewise_check.core.fields import Rejected

Exact: TypeAlias = int | Fraction

LONGEST_NUMBER = 10_000
LARGEST_EXPONENT = 20_000
# Python refuses to convert more decimal digits than a limit that users may set, but never below 640.
_DIGITS = 600
# A common denominator only saves time; beyond this size it no longer does.
_SCALE_BITS = 8192

_HEXADECIMAL = re.compile(r"(-?)0x([0-9a-f]+)(?:\.([0-9a-f]+))?p([+-]?)0*([0-9]+)")
_FRACTION = re.compile(r"(-?)(0|[1-9][0-9]*)(?:/([1-9][0-9]*))?")


def number(value: object, what: str) -> Fraction:
    """Reads a number: the rational that its text stands for."""
    if type(value) is not str or len(value) > LONGEST_NUMBER:
        raise Rejected(f"{what} must be a number: a text of at most {LONGEST_NUMBER} characters")
    if found := _FRACTION.fullmatch(value):
        sign, above, below = found.groups()
        return Fraction(_signed(sign, from_decimal(above)), from_decimal(below or "1"))
    found = _HEXADECIMAL.fullmatch(value)
    if not found:
        raise Rejected(f'{what}: {value[:40]!r} is not a number such as "-14", "0x1.8p+1" or "5/12"')
    sign, before, after, direction, power = found.groups(default="")
    if len(power) > 5 or int(power) > LARGEST_EXPONENT:
        raise Rejected(f"{what}: an exponent of more than {LARGEST_EXPONENT}")
    mantissa = _signed(sign, int(before + after, 16))
    exponent = _signed(direction, int(power)) - 4 * len(after)
    return Fraction(mantissa << max(exponent, 0), 1 << max(-exponent, 0))


def number_text(value: Fraction) -> str:
    """The number as a text of the format: an integer or a fraction in lowest terms."""
    above = ("-" if value < 0 else "") + _to_decimal(abs(value.numerator))
    return above if value.denominator == 1 else f"{above}/{_to_decimal(value.denominator)}"


def readable_number(value: Fraction) -> str:
    """The number for people: exact where that is short, else six digits and the word `about`."""
    above, below = Decimal(value.numerator), Decimal(value.denominator)
    decimal = Context(prec=12).divide(above, below)
    if -6 <= decimal.adjusted() <= 11 and Fraction(decimal) == value:
        return f"{decimal:f}"
    return f"about {Context(prec=6).divide(above, below)}"


def int_if_whole(value: Exact) -> Exact:
    """The same value, as an int if it is whole."""
    return value.numerator if value.denominator == 1 else value


def common_scale(values: Iterable[Exact]) -> int:
    """A positive int that makes the values whole, if it is not too large; any positive int is a right answer."""
    scale = 1
    for value in values:
        larger = lcm(scale, value.denominator)
        if larger.bit_length() <= _SCALE_BITS:
            scale = larger
    return scale


def lower_root(square: Fraction) -> Fraction:
    """The root, or a number below it by less than 2^-160 of 1 + the root where it is irrational."""
    top, bottom = isqrt(square.numerator), isqrt(square.denominator)
    if top * top == square.numerator and bottom * bottom == square.denominator:
        return Fraction(top, bottom)
    return Fraction(isqrt((square.numerator << 320) // square.denominator), 1 << 160)


def _signed(sign: str, size: int) -> int:
    return -size if sign == "-" else size


def from_decimal(digits: str) -> int:
    """The int that decimal digits stand for, however many."""
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
    return "".join([str(size), *reversed(pieces)])


LARGEST = Fraction((1 << 1024) - (1 << 971))


def is_double(value: Fraction) -> bool:
    """Whether the value is a finite double."""
    size, below = abs(value.numerator), value.denominator
    odd = size // (size & -size) if size else 0
    return odd < 1 << 53 and below & (below - 1) == 0 and below <= 1 << 1074 and abs(value) <= LARGEST


def consecutive(at: Fraction, after: Fraction) -> bool:
    """Whether both are doubles, at < after, and no double lies between them."""
    if not is_double(at) or not is_double(after):
        return False
    low, high = (at, after) if at >= 0 else (-after, -at)
    return low >= 0 and high - low == _gap_above(low)


def double_above(value: Fraction) -> Fraction:
    """The smallest double above a double, which must not be the largest."""
    if value >= 0:
        return value + _gap_above(value)
    # Mirrored: the largest double below -value is by the gap at -value below it, or by half of that if -value is where the gap changes.
    near = value + _gap_above(-value) / 2
    return near if is_double(near) else value + _gap_above(-value)


def has_double(lo: Fraction, hi: Fraction) -> bool:
    """Whether a double is from lo to hi."""
    return lo <= LARGEST and double_up(lo) <= hi


def double_up(value: Fraction) -> Fraction:
    """The smallest double that is not below the value, which must not be above the largest one."""
    if value < 0:
        return -double_down(-value)
    return _on_grid(value, lambda unit: -(-value // unit) * unit)


def double_down(value: Fraction) -> Fraction:
    """The largest double that is not above the value, which must not be below the smallest one."""
    if value < 0:
        return -double_up(-value)
    return min(LARGEST, _on_grid(value, lambda unit: value // unit * unit))


def _on_grid(value: Fraction, rounded: Callable[[Fraction], Fraction]) -> Fraction:
    """A value >= 0, rounded to the doubles around it, which are multiples of one unit; above the largest double as if there were larger ones."""
    # 2^(exponent - 1) < value < 2^(exponent + 1): the unit is 2^(exponent - 53), or twice that if what comes out is too long.
    exponent = value.numerator.bit_length() - value.denominator.bit_length()
    unit = Fraction(2) ** max(exponent - 53, -1074)
    found = rounded(unit)
    return found if is_double(found) else rounded(2 * unit)


def _gap_above(value: Fraction) -> Fraction:
    """From a double >= 0 to the next."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - 52 if value else -1074
    return Fraction(2) ** max(exponent, -1074)
