"""Smooth parts: where a chain of functions has one formula, from double to double.

    on both sides of zero     functions with a kink there, such as |x|
    between quantiles         of a QuantileTransformer, which jumps at repeated ones (`quantile_stretches`)

No double of the range is left out, and none is in two parts. Only the first function of a chain may be of several formulas: where a later one changes its own, it is for the rounding of those before it to say.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from likewise.importers.transformers.fitted_curves import FittedQuantiles
from likewise.importers.transformers.function_series import Chain, Link, has_kink, series_of
from likewise.importers.transformers.quantile_stretches import stretches_between
from likewise.spec.numbers import double_below


@dataclass(frozen=True, slots=True, kw_only=True)
class SmoothPart:
    """From the first double to the last one; `off` is how far what the first function is taken of may be moved."""

    lo: Fraction
    hi: Fraction
    chain: Chain
    off: Fraction = Fraction(0)


def smooth_parts(chain: Chain, lo: float, hi: float) -> list[SmoothPart] | None:
    """The parts from left to right; None where a function is not known, or a later one has several formulas."""
    first, *others = chain
    if any(series_of(link.function) is None or has_kink(link.function) for link in others):
        return None
    if isinstance(first.function, FittedQuantiles):
        stretches = stretches_between(first.function, first.line, lo, hi)
        if stretches is None:
            return None
        return [
            SmoothPart(
                lo=Fraction(start),
                hi=Fraction(end),
                chain=(Link(line=first.line, function=one), *others),
                off=one.off,
            )
            for start, end, one in stretches
        ]
    if series_of(first.function) is None:
        return None
    return [
        SmoothPart(lo=Fraction(start), hi=Fraction(end), chain=chain)
        for start, end in _around_kink(first, lo, hi)
    ]


def _around_kink(first: Link, lo: float, hi: float) -> list[tuple[float, float]]:
    """On both sides of zero, if the function has a kink there."""
    if not has_kink(first.function) or not first.line.slope:
        return [(lo, hi)]
    below = double_below(-first.line.offset / first.line.slope)
    above = math.nextafter(below, math.inf)
    if not lo < below or not above < hi:
        return [(lo, hi)]
    return [(lo, below), (above, hi)]
