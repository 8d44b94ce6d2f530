"""Numbers as people give them, taken exactly.

Users hand over Python numbers, numpy scalars and decimal text. Everything behind the spec layer works
on plain Python values and exact rationals, so the conversion happens here, once, and refuses whatever
it would have to round: a double is a rational, ``"0.1"`` in a constraint is one tenth.

Certificates write whole numbers in decimal, dyadic rationals (every double is one) in hexadecimal, other rationals as fractions.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from likewise.errors import SpecError

EXACT_INT_LIMIT = 2**53
"""Up to here every whole number is a double, so integers survive the trip through float64."""

DECIMAL_PATTERN = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
# An exact 1e999999999 would fill the memory. No double reaches beyond 1e-324..1e309, so these are typing slips.
_LONGEST_DECIMAL = 400
_LARGEST_EXPONENT = 400


def python_scalar(value: object) -> object:
    """`value` with numpy scalars and subclasses of str, int, float turned into Python's own types. Refuses
    whole
    numbers beyond all doubles, as Python neither converts them nor writes them out."""
    if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
        value = value.item()  # type: ignore[attr-defined]
    if isinstance(value, int):
        try:
            float(value)
        except OverflowError:
            digits = int(value.bit_length() * math.log10(2)) + 1
            raise SpecError(
                f"a whole number of about {digits:,} digits is too large", hint="write one below 1e308"
            ) from None
    for plain in (bool, int, float, str):
        if isinstance(value, plain):
            return value if type(value) is plain else plain(value)
    return value


def _named_scalar(value: object, what: str) -> object:
    try:
        return python_scalar(value)
    except SpecError as error:
        raise SpecError(f"{what} must be finite: {error.message}", hint=error.hint) from None


def as_double(value: object, what: str) -> float:
    """`value` as a finite double, exactly; `what` names it in the error."""
    number = _named_scalar(value, what)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise SpecError(f"{what} must be a number, got {short_repr(value)}")
    double = float(number)
    if not math.isfinite(double):
        raise SpecError(f"{what} must be finite, got {number!r}")
    if double != number:
        raise SpecError(f"{what} = {number} is not a double-precision number", hint=f"write {double!r}")
    return double + 0.0  # -0.0 and 0.0 are one number; keep one spelling


def as_whole(value: object, what: str) -> int:
    """`value` as a Python int of at most 2**53 in size; whole floats are accepted."""
    number = _named_scalar(value, what)
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise SpecError(f"{what} must be a whole number, got {short_repr(value)}")
    if isinstance(number, float):
        if not math.isfinite(number):
            raise SpecError(f"{what} must be finite, got {number!r}")
        if not number.is_integer():
            raise SpecError(f"{what} must be a whole number, got {number!r}", hint="or make it Continuous")
    whole = int(number)
    if abs(whole) > EXACT_INT_LIMIT:
        raise SpecError(
            f"{what} = {whole} is beyond 2**53, where doubles no longer tell whole numbers apart",
            hint="an identifier? leave the column out of the space",
        )
    return whole


def exact_decimal(text: str) -> Fraction:
    """An unsigned decimal such as ``12``, ``0.5`` or ``1e5`` as the rational it spells."""
    if not re.fullmatch(DECIMAL_PATTERN, text):
        raise SpecError(f"{short_repr(text)} is not a number")
    exponent = re.split("[eE]", text)[1:]
    if len(text) > _LONGEST_DECIMAL or (exponent and abs(int(exponent[0])) > _LARGEST_EXPONENT):
        raise SpecError(f"the number {text[:20]}{'...' if len(text) > 20 else ''} is too long or too large")
    return Fraction(text)


def number_text(value: float | Fraction) -> str:
    """A number for people: ``100000`` for ``100000.0``, ``1/3`` for a rational that is no short decimal."""
    if isinstance(value, Fraction):
        if value.denominator == 1:
            return str(value.numerator)
        try:
            double = float(value)
        except OverflowError:
            return str(value)
        return (
            _double_text(double)
            if Fraction(repr(double)) == value or Fraction(double) == value
            else str(value)
        )
    return _double_text(value) if isinstance(value, float) else str(value)


def _double_text(double: float) -> str:
    text = repr(double)
    return text[:-2] if text.endswith(".0") else text


def short_repr(value: object) -> str:
    """`value` in a message: its repr, cut to a readable length."""
    text = repr(python_scalar(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


def double_above(value: Fraction) -> float:
    """The smallest double that is not below a rational."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def double_below(value: Fraction) -> float:
    """The largest double that is not above a rational."""
    return 0.0 - double_above(-value)


# -- as certificates write them ---------------------------------------------------------------------------------


def format_number(value: Fraction | float) -> str:
    """An exact number in the shortest of the three forms that fits."""
    exact = Fraction(value)
    if exact.denominator == 1:
        return str(exact.numerator)
    power = exact.denominator.bit_length() - 1
    if exact.denominator == 1 << power:
        sign = "-" if exact < 0 else ""
        return f"{sign}0x{abs(exact.numerator):x}p-{power}"
    return f"{exact.numerator}/{exact.denominator}"


def parse_number(text: str) -> Fraction:
    """The inverse of `format_number`, for numbers that it wrote."""
    mantissa, found, exponent = text.partition("p")
    return int(mantissa, 16) * Fraction(2) ** int(exponent) if found else Fraction(text)


def format_numbers(values: Iterable[Fraction | float]) -> list[str]:
    """Several numbers."""
    return [format_number(value) for value in values]


def one_or_array(values: list[Any]) -> Any:
    """What stands in the place of a number: the number of one score, the array of those of several."""
    written = format_numbers(values)
    return written[0] if len(written) == 1 else written
