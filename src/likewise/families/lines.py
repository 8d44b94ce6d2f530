"""Lines: exact numbers and columns as certificates write them.

Whole numbers are written in decimal, dyadic rationals (every double is one) in hexadecimal, other rationals as fractions.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from likewise.model.embedding import Column


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


def column_line(column: Column) -> dict[str, Any]:
    """A column of an embedding."""
    if column.pieces is not None:
        return {
            "feature": column.feature,
            "cuts": format_numbers(column.pieces.cuts),
            "pieces": [format_numbers(p) or ["0"] for p in column.pieces.polynomials],
        }
    if column.table is None:
        return {
            "feature": column.feature,
            "slope": format_number(column.slope),
            "offset": format_number(column.offset),
        }
    return {"feature": column.feature, "table": format_numbers(column.table)}
