"""Doubles (IEEE 754 binary64) as rationals, in integers: the finite ones are m 2^e with whole |m| < 2^53 and e >= -1074, below 2^1024 in size.

The smallest double above a double x >= 0 is x + 2^max(E - 52, -1074), 2^E <= x < 2^(E + 1) (x + 2^-1074 at 0): multiples of that unit, of 53
bits at most, are all doubles there are from 2^E (or 0) to 2^(E + 1), both included. Below 0 everything is mirrored.
"""

from fractions import Fraction

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


def _gap_above(value: Fraction) -> Fraction:
    """From a double >= 0 to the next."""
    exponent = value.numerator.bit_length() - value.denominator.bit_length() - 52 if value else -1074
    return Fraction(2) ** max(exponent, -1074)
