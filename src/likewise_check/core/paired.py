"""Coordinates of a continuous or integer feature that may differ (section 7): u = (x + x')/2 and d = (x' - x)/2, so x = u - d and x' = u + d.

With lo <= x <= hi, lo' <= x' <= hi' and p <= x' - x <= q, where p >= lo' - hi and q <= hi' - lo, d is in [p/2, q/2], and from x = u - d and x' = u + d

    max((lo + lo')/2, lo + p/2, lo' - q/2)  <=  u  <=  min((hi + hi')/2, hi + q/2, hi' - p/2).

If p <= q some pair of codes has x' - x = p, so that neither interval is empty; if p > q there is no pair.
"""

from fractions import Fraction

from likewise_check.core.cells import Box, Interval
from likewise_check.core.numbers import Exact


def differences(box: Box) -> tuple[Exact, Exact]:
    """p and q: the smallest and the largest x' - x of the box; p > q if it holds no pair of codes."""
    (lo, hi), (low, high) = box.intervals
    return max([low - hi, *(p for p, _ in box.difference)]), min([high - lo, *(q for _, q in box.difference)])


def coordinates(box: Box) -> tuple[Interval, Interval]:
    """The intervals of u and d in a box that holds a pair of codes."""
    (lo, hi), (low, high) = box.intervals
    p, q = differences(box)
    first, last = max(lo + low, 2 * lo + p, 2 * low - q), min(hi + high, 2 * hi + q, 2 * high - p)
    return (Fraction(first, 2), Fraction(last, 2)), (Fraction(p, 2), Fraction(q, 2))
