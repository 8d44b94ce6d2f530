"""Stretches of quantiles: what a fitted QuantileTransformer does between two of its quantiles, exactly.

With quantiles q_0 <= ... <= q_n of the fitted rows and references r_i, the share of people below a number is on straight lines between the (q_i, r_i). Quantiles
that are equal, from the a-th to the b-th, are a jump from r_a to r_b, with the mean of both at the number itself. At q_0 it is 0 and at q_n it is 1, also where they are repeated. The normal
quantile of a share, where that is asked for, is cut off at those of `LOWEST` and `HIGHEST`; numbers within 10^-7 of q_0 and q_n, as the program adds and compares, have these.

So there is one formula from each of some doubles on up to the next one. Where the number is scaled first, the raw doubles from which on a formula holds are those at which the program's own line gets there (`breaks`):
no rounding takes anybody to the other side of a jump. Quantiles that differ in their last digits only have few doubles between them, and nobody is next to them: each is a constant of its own, of the number that the program makes of it, so that it does not matter how steep the line is.

References are i / n in doubles, so that quantiles which are equally far apart are on one line but for some 2^-53. Such lines are one stretch: shares on a line that is at most `ON_A_LINE` away from them are what the line gives of a number that is moved by `off` at most.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import groupby, pairwise

from likewise.importers.transformers.breaks import double_at, double_rank, raw_starts
from likewise.importers.transformers.fitted_curves import (
    BOUNDS_THRESHOLD,
    NORMAL_SLACK,
    UNIFORM_SLACK,
    FittedQuantiles,
)
from likewise.importers.transformers.traced_columns import Line
from likewise.spec.numbers import double_below

LOWEST_SHARE = BOUNDS_THRESHOLD - math.ulp(1.0)  # as scikit-learn has it
LOWEST, HIGHEST = Fraction(LOWEST_SHARE), Fraction(1 - LOWEST_SHARE)
ON_A_LINE = Fraction(1, 2**50)  # some roundings of references
FLAT = Fraction(
    1, 2**10
)  # normal quantiles of shares from here to 1 - this one have slopes below 2^9, and lines are put together
FEW_DOUBLES = 16
WIDEST = (
    2.0**900
)  # quantiles further apart, or nearer to each other than its inverse: slopes of interpolation leave the normal doubles
ZERO, ONE = Fraction(0), Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileStretch:
    """The share offset + slope * y, or the normal quantile of that. `off` is how far what it is taken of is moved at most."""

    offset: Fraction
    slope: Fraction = ZERO
    normal: bool
    off: Fraction = ZERO

    def rises(self, lo: float, hi: float) -> bool:  # noqa: ARG002
        """Or stays what it is."""
        return True

    def slack(self, lo: float, hi: float) -> float:  # noqa: ARG002
        """As of the whole function."""
        return NORMAL_SLACK if self.normal else UNIFORM_SLACK


Start = tuple[float, QuantileStretch]  # the double at which a stretch begins


def stretches_between(
    quantiles: FittedQuantiles, line: Line, lo: float, hi: float
) -> list[tuple[float, float, QuantileStretch]] | None:
    """The stretches that a line of the raw numbers from lo to hi meets, each from its first to its last double; None where quantiles are too near to each other, or too far apart, for doubles."""
    gaps = [b - a for a, b in pairwise(quantiles.quantiles) if a < b]
    if any(not 1 / WIDEST < gap < WIDEST for gap in gaps):
        return None
    starts = _all_stretches(quantiles)
    begins = [at for at, _ in starts]
    raw = [lo, *raw_starts(line, begins[1:], lo, hi)]
    ends = [*(math.nextafter(at, -math.inf) for at in raw[1:]), hi]
    return [
        part
        for first, last in zip(raw, ends, strict=True)
        for part in _single(starts[bisect_right(begins, line.computed(first)) - 1][1], line, first, last)
    ]


def _single(
    stretch: QuantileStretch, line: Line, first: float, last: float
) -> list[tuple[float, float, QuantileStretch]]:
    """A stretch, double by double where it is bent or rounded and has few of them."""
    start, end = double_rank(first), double_rank(last)
    exact = not stretch.slope or (not stretch.normal and not line.roundings)
    if exact or stretch.off or end - start >= FEW_DOUBLES:
        return [(first, last, stretch)]
    found = []
    for x in map(double_at, range(start, end + 1)):
        share = stretch.offset + stretch.slope * Fraction(line.computed(x))
        found.append((x, x, QuantileStretch(offset=share, normal=stretch.normal)))
    return found


@dataclass(frozen=True, slots=True)
class _Knot:
    """One of the different quantiles: the share next to it on both sides, and at it."""

    at: float
    left: Fraction
    value: Fraction
    right: Fraction

    @property
    def jumps(self) -> bool:
        return not self.left == self.value == self.right


def _knots(quantiles: FittedQuantiles) -> list[_Knot]:
    found, place = [], 0
    for at, group in groupby(quantiles.quantiles):
        last = place + len(list(group)) - 1
        left, right = (Fraction(quantiles.references[i]) for i in (place, last))
        found.append(_Knot(at, left, (left + right) / 2, right))
        place = last + 1
    if not quantiles.normal:
        found[-1] = replace(found[-1], value=ONE)
        found[0] = replace(found[0], value=ZERO)
    return found


def _all_stretches(quantiles: FittedQuantiles) -> list[Start]:
    """From left to right, the first one from minus infinity on."""
    knots, normal = _knots(quantiles), quantiles.normal
    found: list[Start] = [(-math.inf, QuantileStretch(offset=knots[0].left, normal=normal))]
    found += _point(knots[0], normal)
    for chain in _chains(knots, normal):
        found.append((_next(chain[0].at), _line_through(chain, normal)))
        found += _point(chain[-1], normal)
    found.append((_next(knots[-1].at), QuantileStretch(offset=knots[-1].right, normal=normal)))
    return _cut_off(found, knots) if normal else found


def _next(number: float) -> float:
    return math.nextafter(number, math.inf)


def _point(knot: _Knot, normal: bool) -> list[Start]:
    """A quantile by itself, where its share is not that of both sides."""
    return [(knot.at, QuantileStretch(offset=knot.value, normal=normal))] if knot.jumps else []


def _chains(knots: Sequence[_Knot], normal: bool) -> Iterator[list[_Knot]]:
    """Knots that are on one line, as many as there are from the left: without jumps between the first and the last one."""
    start = 0
    while start + 1 < len(knots):
        chain = list(knots[start : start + 2])
        least, most = _slopes_to(chain[0], chain[1])
        for later in knots[start + 2 :]:
            inner = chain[-1]
            slope = (later.left - chain[0].right) / (Fraction(later.at) - Fraction(chain[0].at))
            if inner.jumps or not least <= slope <= most or (normal and not _is_flat(chain[0], later)):
                break
            below, above = _slopes_to(chain[0], later)
            least, most = max(least, below), min(most, above)
            chain.append(later)
        yield chain
        start += len(chain) - 1


def _slopes_to(first: _Knot, other: _Knot) -> tuple[Fraction, Fraction]:
    """The slopes of lines from a knot that pass another one within `ON_A_LINE`."""
    width, height = Fraction(other.at) - Fraction(first.at), other.left - first.right
    return (height - ON_A_LINE) / width, (height + ON_A_LINE) / width


def _is_flat(first: _Knot, last: _Knot) -> bool:
    return first.right >= FLAT and last.left <= 1 - FLAT


def _line_through(chain: Sequence[_Knot], normal: bool) -> QuantileStretch:
    first, *inner, last = chain
    start = Fraction(first.at)
    slope = (last.left - first.right) / (Fraction(last.at) - start)
    away = max(
        (abs(one.value - first.right - slope * (Fraction(one.at) - start)) for one in inner), default=ZERO
    )
    return QuantileStretch(
        offset=first.right - slope * start, slope=slope, normal=normal, off=away / slope if away else ZERO
    )


# -- normal quantiles -------------------------------------------------------------------------------------


def _cut_off(found: Sequence[Start], knots: Sequence[_Knot]) -> list[Start]:
    """Constant below the first double that is not within 10^-7 of the smallest quantile, from the first one within that of the largest, and where shares are beyond the limits."""
    begin = _first_double(lambda y: y - BOUNDS_THRESHOLD >= knots[0].at)
    end = max(begin, _first_double(lambda y: y + BOUNDS_THRESHOLD > knots[-1].at))
    bottom, top = (QuantileStretch(offset=share, normal=True) for share in (LOWEST, HIGHEST))
    made: list[Start] = [(-math.inf, bottom)]
    for (start, stretch), stop in zip(found, [*(at for at, _ in found[1:]), math.inf], strict=True):
        for at, part in _within_limits(start, stretch):
            if at < stop and at < end:
                made.append((max(at, begin), part))
    made.append((end, top))
    # Of those that begin at one double the last one counts, and one that begins where the next one does is none.
    return [one for one, after in pairwise([*made, (math.inf, top)]) if one[0] < after[0]]


def _within_limits(start: float, stretch: QuantileStretch) -> list[Start]:
    """A stretch with its shares cut off at both limits."""
    if not stretch.slope:
        share = min(max(stretch.offset, LOWEST), HIGHEST)
        return [(start, replace(stretch, offset=share))]
    places = [_next(double_below((share - stretch.offset) / stretch.slope)) for share in (LOWEST, HIGHEST)]
    parts = [
        (-math.inf, QuantileStretch(offset=LOWEST, normal=True)),
        (places[0], stretch),
        (places[1], QuantileStretch(offset=HIGHEST, normal=True)),
    ]
    first = max(i for i, (at, _) in enumerate(parts) if at <= start)
    return [(start, parts[first][1]), *parts[first + 1 :]]


def _first_double(holds: Callable[[float], bool]) -> float:
    """The smallest double at which a comparison holds that does at all larger ones."""
    left, right = double_rank(-math.inf), double_rank(math.inf)
    while right - left > 1:
        middle = (left + right) // 2
        left, right = (left, middle) if holds(double_at(middle)) else (middle, right)
    return double_at(right)
