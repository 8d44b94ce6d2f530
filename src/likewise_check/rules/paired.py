"""Coordinates of a continuous or integer feature that may differ (section 7): u = (x + x')/2 and d = (x' - x)/2, so x = u - d and x' = u + d.

With lo <= x <= hi, lo' <= x' <= hi' and p <= x' - x <= q, where p >= lo' - hi and q <= hi' - lo, d is in [p/2, q/2], and from x = u - d and x' = u + d

    max((lo + lo')/2, lo + p/2, lo' - q/2)  <=  u  <=  min((hi + hi')/2, hi + q/2, hi' - p/2).

If p <= q some pair of codes has x' - x = p, so that neither interval is empty; if p > q there is no pair.
"""

from fractions import Fraction

from likewise_check.cells import Box, Interval


def coordinates(box: Box) -> tuple[Interval, Interval] | None:
    """The intervals of u and d, or None if the box holds no pair of codes."""
    (lo, hi), (low, high) = box.intervals
    p = max([low - hi, *(least for least, _ in box.difference)])
    q = min([high - lo, *(most for _, most in box.difference)])
    if p > q:
        return None
    first, last = max(lo + low, 2 * lo + p, 2 * low - q), min(hi + high, 2 * hi + q, 2 * high - p)
    return (Fraction(first, 2), Fraction(last, 2)), (Fraction(p, 2), Fraction(q, 2))
