"""Probability intervals: for which m do two scores m + high and m + low have probabilities further apart than a limit?

With the link sigma(slope s + offset), D = slope (high - low) and t = slope m + offset + slope (high + low) / 2, the gap is

    sigma(t + D / 2) - sigma(t - D / 2)  =  sinh(D / 2) / (cosh t + cosh(D / 2)),

which falls on both sides of t = 0: it exceeds the limit between two ends, cosh t = sinh(D / 2) / limit - cosh(D / 2), or nowhere. Ends are proposed in float64, moved a little, and
proved: where the gap exceeds the limit at two places, it does so between them; where it does not at one place on each side of t = 0, it does not beyond them.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb, ctx, fmpq

if TYPE_CHECKING:
    from likewise.model.witness_set import ProbabilitySet

Interval = tuple[float, float]
NOWHERE: Interval = (0.0, 0.0)
EVERYWHERE: Interval = (-math.inf, math.inf)
BITS = 192
MOVED = 2.0**-30  # of how far the ends are from the middle, and of a unit
FAR = 300.0  # beyond that sinh and cosh are taken for an exponential


def sure_interval(high: float, low: float, line: ProbabilitySet) -> Interval:
    """An interval in which the gap exceeds the limit, nearly as long as can be."""
    reach, middle = _proposed(high, low, line)
    if reach is None:
        return NOWHERE
    slack = MOVED * (1.0 + reach)
    ends = middle - reach + slack, middle + reach - slack
    if not ends[0] < ends[1] or not all(_sign(end, high, low, line) > 0 for end in ends):
        return NOWHERE
    return ends


def possible_interval(high: float, low: float, line: ProbabilitySet) -> Interval:
    """An interval outside of which the gap does not exceed the limit, nearly as short as can be."""
    if not (math.isfinite(high) and math.isfinite(low)):
        return EVERYWHERE
    if high <= low:
        return NOWHERE
    reach, middle = _proposed(high, low, line)
    if reach is None:
        peak = -(Fraction(high) + Fraction(low)) / 2 - line.offset / line.slope
        return NOWHERE if _sign(peak, high, low, line) < 0 else EVERYWHERE
    slack = MOVED * (1.0 + reach)
    ends = middle - reach - slack, middle + reach + slack
    peak = -(Fraction(high) + Fraction(low)) / 2 - line.offset / line.slope
    around = all(map(math.isfinite, ends)) and Fraction(ends[0]) <= peak <= Fraction(ends[1])
    if not around or not all(_sign(end, high, low, line) < 0 for end in ends):
        return EVERYWHERE
    return ends


def _proposed(high: float, low: float, line: ProbabilitySet) -> tuple[float | None, float]:
    """How far from its middle the interval reaches, in float64, and the middle; None where it is empty."""
    slope, offset, limit = float(line.slope), float(line.offset), float(line.delta)
    middle, half = -(high + low) / 2 - offset / slope, slope * (high - low) / 2
    if not (math.isfinite(middle) and half > 0):
        return None, 0.0
    if half > FAR:
        return (half + math.log((1 - limit) / limit)) / slope, middle
    size = math.sinh(half) / limit - math.cosh(half)
    return (math.acosh(size) / slope, middle) if size > 1 else (None, middle)


def _sign(m: float | Fraction, high: float, low: float, line: ProbabilitySet) -> int:
    """Whether the gap at m exceeds the limit (1) or not (-1); 0 where that is not told."""
    with ctx.workprec(BITS):
        here, there = (
            _probability(line.slope * (Fraction(m) + Fraction(end)) + line.offset) for end in (high, low)
        )
        side = here - there - arb(fmpq(line.delta.numerator, line.delta.denominator))
        return 1 if side > 0 else -1 if side < 0 else 0


def _probability(score: Fraction) -> arb:
    return 1 / (1 + (-arb(fmpq(score.numerator, score.denominator))).exp())
