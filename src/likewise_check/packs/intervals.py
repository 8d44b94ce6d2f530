"""Intervals of reals, as pairs of ints in units of 2^-BITS that are rounded outwards (section 21), and derivatives of scores over boxes of individuals made of them."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, floor
from typing import TypeAlias

BITS = 80
UNIT = 1 << BITS

Interval: TypeAlias = tuple[int, int]
Ends: TypeAlias = tuple[Fraction, Fraction]
IndividualBox: TypeAlias = tuple[Ends, ...]  # of numbers, or of positions of levels
Derivatives: TypeAlias = Callable[[IndividualBox], list[Interval]]  # one interval a feature that counts


def enclose(low: Fraction, high: Fraction | None = None) -> Interval:
    """From one number to another, or one alone."""
    return floor(low * UNIT), ceil((low if high is None else high) * UNIT)


def times(one: Interval, other: Interval) -> Interval:
    """All products."""
    found = [a * b for a in one for b in other]
    return min(found) >> BITS, -(-max(found) >> BITS)


def power(interval: Interval, n: int) -> Interval:
    """The range of v^n."""
    low, high = interval
    if n % 2 == 0 and low < 0:
        low, high = max(0, -high), max(-low, high)
    shift = BITS * (n - 1)
    return (UNIT, UNIT) if n == 0 else (low**n >> shift, -(-(high**n) >> shift))


def plus(one: Interval, other: Interval) -> Interval:
    """All sums."""
    return one[0] + other[0], one[1] + other[1]
