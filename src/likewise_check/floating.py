"""Whether a clearance covers the rounding of the deployed program (section 6).

    E = ((1 + 2^-53)^operations - 1) * (constant + sum_c sizes_c * max |column_c|) + operations * 2^-1074

The power has 53 * operations bits after the point, too many to write out for large counts, so it is enclosed between two
ints in units of 2^-bits, rounding down and up after each product; where bits >= 53 * operations nothing is rounded.
"""

from fractions import Fraction

from likewise_check.errors import Rejected
from likewise_check.logarithm import ceil_div
from likewise_check.model import Model

_PRECISIONS = (256, 4096, 1 << 17)


def covers(clearance: Fraction, model: Model) -> bool:
    """Whether clearance > E, exactly."""
    rounding = model.rounding
    sizes = zip(rounding.sizes, model.body.extents, strict=True)
    magnitude = rounding.constant + sum(size * extent for size, extent in sizes)
    tiny = Fraction(rounding.operations, 1 << 1074)
    for bits in _PRECISIONS:
        low, high = (growth * magnitude + tiny for growth in _growth(rounding.operations, bits))
        if clearance > high:
            return True
        if clearance <= low:
            return False
    raise Rejected("the clearance is closer to the rounding error than the checker can tell")


def _growth(operations: int, bits: int) -> tuple[Fraction, Fraction]:
    """(1 + 2^-53)^operations - 1, enclosed; bits >= 53."""
    unit = 1 << bits
    low = high = unit
    low_power = high_power = unit + (unit >> 53)
    while operations:
        if operations & 1:
            low, high = low * low_power >> bits, ceil_div(high * high_power, unit)
        low_power, high_power = low_power * low_power >> bits, ceil_div(high_power * high_power, unit)
        operations >>= 1
    return Fraction(low - unit, unit), Fraction(high - unit, unit)
