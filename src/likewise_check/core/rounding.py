"""How the deployed program rounds (section 6), and whether a clearance covers that.

A clearance covers the rounding if it exceeds

    E = ((1 + 2^-bits)^operations - 1) * magnitude + operations * 2^-1074,      bits = 53,

magnitude = constant + sum_c sizes_c * max |column_c| (trees: without columns; for programs of 24 bits with 2^-149). The power has bits * operations
bits after the point, too many to write out for large counts, so it is enclosed between two ints in units of 2^-precision, rounding down and up after
each product; where precision >= bits * operations nothing is rounded.
"""

from dataclasses import dataclass
from fractions import Fraction

from likewise_check.core.fields import Rejected
from likewise_check.core.logarithm import ceil_div

MOST_OPERATIONS = 10**7
SMALLEST_POSITIVE = {
    24: Fraction(1, 1 << 149),
    53: Fraction(1, 1 << 1074),
}  # numbers above 0 of that many bits
_PRECISIONS = (256, 4096, 1 << 17)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """At most `operations` roundings, to numbers of so many bits, of terms that add up to at most the magnitude."""

    magnitude: Fraction
    operations: int
    bits: int = 53


def covers(clearance: Fraction, rounding: Rounding | None) -> bool:
    """Whether clearance > E, exactly."""
    if rounding is None:
        return False
    least = rounding.operations * SMALLEST_POSITIVE[rounding.bits]
    for precision in _PRECISIONS:
        growths = _growth(rounding.operations, rounding.bits, precision)
        low, high = (growth * rounding.magnitude + least for growth in growths)
        if clearance > high or clearance <= low:
            return clearance > high
    raise Rejected("the clearance is closer to the rounding error than the checker can tell")


def _growth(operations: int, bits: int, precision: int) -> tuple[Fraction, Fraction]:
    """(1 + 2^-bits)^operations - 1, enclosed; precision >= bits."""
    unit = 1 << precision
    low = high = unit
    low_power = high_power = unit + (unit >> bits)
    while operations:
        if operations & 1:
            low, high = low * low_power >> precision, ceil_div(high * high_power, unit)
        low_power, high_power = low_power * low_power >> precision, ceil_div(high_power * high_power, unit)
        operations >>= 1
    return Fraction(low - unit, unit), Fraction(high - unit, unit)
