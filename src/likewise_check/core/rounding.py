"""How the deployed program rounds (section 6), and whether a clearance covers that.

A clearance covers the rounding if the description fits the body, no number on the way can be too large for the program, and it exceeds

    E = ((1 + 2^-bits)^operations - 1) * magnitude + operations * factor * lost,

magnitude = constant + sum_c sizes_c * max |column_c|, factor = 1 + sum_c sizes_c (trees: without columns). What is lost where a result is too small for its bits, below 2^-1074
(24 bits: 2^-149), may be multiplied later: by a size, and by scales, for which `lost` has room. The power has bits * operations
bits after the point, too many to write out for large counts, so it is enclosed between two ints in units of 2^-precision, rounding down and up after
each product; where precision >= bits * operations nothing is rounded.
"""

from dataclasses import dataclass
from fractions import Fraction

from likewise_check.core.fields import Rejected
from likewise_check.core.logarithm import ceil_div

MOST_OPERATIONS = 10**7
LOST = {24: Fraction(1, 1 << 100), 53: Fraction(1, 1 << 700)}  # by one operation, by bits
LARGEST = {24: 1 << 120, 53: 1 << 1000}  # that a number on the way may be, with room
_PRECISIONS = (256, 4096, 1 << 17)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounding:
    """At most `operations` roundings, to numbers of so many bits, of terms that add up to at most the magnitude; whether that can be true of the body."""

    magnitude: Fraction
    operations: int
    bits: int = 53
    factor: Fraction = Fraction(1)
    fits: bool = True


def covers(clearance: Fraction, rounding: Rounding | None) -> bool:
    """Whether clearance > E, exactly."""
    if rounding is None or not rounding.fits:
        return False
    if 2 * (rounding.operations + 1) * rounding.magnitude >= LARGEST[rounding.bits]:
        return False
    least = rounding.operations * rounding.factor * LOST[rounding.bits]
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
