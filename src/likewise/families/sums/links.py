"""Links: increasing functions that a part of a sum goes through on its way into it.

    identity   lambda(t) = t
    logistic   lambda(t) = sigma(slope t + offset), slope > 0
    table      linear between knots t_1 < t_2 < ..., constant before the first and after the last; at a knot it has three values, from below,
               at the knot itself and from above, so that it may jump. An isotonic calibration has no jumps; a vote is one jump from 0 to 1 at 0.
    chain      one of the last two after a logistic one (`chains`)

A line above a link on [low, high] is t -> alpha t + beta with alpha >= 0; `beta_above` has the smallest beta that the certificate's rule `sum` shows for an
alpha, in float64. The logistic function bends once, at 0: left of it sigma - alpha t is convex, and largest at the ends; right of it sigma is below every tangent. A line below is one
above the link turned round: 1 - sigma(-t), and for tables the knots with their signs changed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from flint import ctx

from likewise.errors import InternalError
from likewise.families.exponential import ABSOLUTE_ERROR, RELATIVE_ERROR, exp_minus
from likewise.families.score_judge import UNIT_ROUNDOFF
from likewise.model.head import logistic, lower_end, sigma
from likewise.spec.enclosure import Enclosure
from likewise.spec.numbers import format_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LinkKind = Literal["identity", "logistic", "table", "chain"]
Knot = tuple[Fraction, Fraction, Fraction, Fraction]  # place, value from below, at it, from above
GUARD_BITS = 32
TANGENT_HALVINGS = 24  # to find where a tangent through the lower end touches
EVALUATION = 16 * UNIT_ROUNDOFF  # roundings of a link itself, of values up to 1
FARTHEST = 40.0  # from 0 that a tangent is taken, as the rule has it
FARTHEST_RISE = 600.0  # that places are computed for, where exp does not overflow
SLOPE_GRID = (
    2.0**24
)  # slopes and tangents of lines are rounded to it: any are sound, short ones keep proofs small


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An increasing function of one score."""

    kind: LinkKind = "identity"
    slope: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    knots: tuple[Knot, ...] = ()
    columns: tuple[Floats, ...] = field(init=False, repr=False, compare=False)  # of a table, in float64
    jumps: bool = field(init=False, repr=False, compare=False)  # whether a table does

    def __post_init__(self) -> None:
        if self.slope <= 0:
            raise InternalError("links are increasing: turn the score round instead")
        columns = tuple(np.array([float(one) for one in column]) for column in zip(*self.knots, strict=True))
        object.__setattr__(self, "columns", columns)
        object.__setattr__(self, "jumps", any(below != above for _, below, _, above in self.knots))

    @property
    def rational(self) -> bool:
        """Whether rational scores have rational values."""
        return self.kind != "logistic"

    @property
    def whole(self) -> Fraction:
        """What the link and what is turned round add up to."""
        return Fraction(int(self.kind == "logistic"))

    # -- values ---------------------------------------------------------------------------------------------------

    def values(self, scores: Floats) -> Floats:
        """Of many scores in float64."""
        if self.kind == "identity":
            return scores
        if self.kind == "logistic":
            return logistic(float(self.slope) * scores + float(self.offset))
        return self._table(scores, 1)

    def _table(self, scores: Floats, which: int) -> Floats:
        """Of a table: by the value below a knot (0), at it (1), or above it (2)."""
        places, below, at, above = self.columns
        if not self.jumps:
            return np.interp(scores, places, at)
        n = np.searchsorted(places, scores, side="right") - 1  # the last knot at or before
        left, right = np.clip(n, 0, None), np.clip(n + 1, None, len(places) - 1)
        width = np.where(right > left, places[right] - places[left], 1.0)
        share = np.clip((scores - places[left]) / width, 0.0, 1.0)
        found = above[left] + np.where(right > left, below[right] - above[left], 0.0) * share
        found = np.where(n < 0, below[0], found)
        chosen: Floats = np.where((n >= 0) & (scores == places[left]), (below, at, above)[which][left], found)
        return chosen

    def from_below(self, scores: Floats) -> Floats:
        """The same, at knots from below."""
        return self._table(scores, 0) if self.kind == "table" else self.values(scores)

    def from_above(self, scores: Floats) -> Floats:
        """The same, at knots from above."""
        return self._table(scores, 2) if self.kind == "table" else self.values(scores)

    def exact(self, score: Fraction) -> Fraction:
        """Of a rational score, where that is rational."""
        if self.kind == "identity":
            return score
        if self.kind == "logistic":
            raise InternalError("the logistic function of a rational number is irrational")
        return self._exact_table(score)

    def _exact_table(self, score: Fraction) -> Fraction:
        before = [knot for knot in self.knots if knot[0] <= score]
        after = [knot for knot in self.knots if knot[0] > score]
        if not before:
            return self.knots[0][1]
        place, _, at, above = before[-1]
        if place == score:
            return at
        if not after:
            return above
        return above + (after[0][1] - above) * (score - place) / (after[0][0] - place)

    def enclose(self, score: Enclosure, bits: int) -> Enclosure:
        """From an enclosure of the score, by its ends."""
        if self.kind == "identity":
            return score
        if self.kind == "table":
            return Enclosure(self._exact_table(score.lo), self._exact_table(score.hi))
        with ctx.workprec(bits + GUARD_BITS):
            low, high = (sigma(self.slope * end + self.offset) for end in (score.lo, score.hi))
            return Enclosure(lower_end(low), -lower_end(-high))

    # -- errors ---------------------------------------------------------------------------------------------------

    def judged(self, scores: Floats, error: Floats, rounding: float = 0.0) -> tuple[Floats, Floats]:  # noqa: ARG002
        """Values of scores that are off by at most so much, and by how much these are off then; proved. Of chains a `rounding` counts on the way."""
        if self.kind == "identity":
            return scores, error
        if self.kind == "table":
            values = self._table(scores, 1)
            size = max(abs(float(value)) for knot in self.knots for value in knot[1:])
            spread = self._table(scores + error, 2) - self._table(scores - error, 0)
            return values, 1.01 * spread + 4 * EVALUATION * size
        slope, offset = float(self.slope), float(self.offset)
        argument = slope * scores + offset
        small = exp_minus(np.abs(argument))
        values = np.where(argument >= 0, 1 / (1 + small), small / (1 + small))
        moved = slope * error + 4 * UNIT_ROUNDOFF * (np.abs(slope * scores) + abs(offset))
        return values, 1.01 * (moved / 4 + RELATIVE_ERROR + ABSOLUTE_ERROR + EVALUATION)

    def steepest(self) -> Fraction | None:
        """By how much a value moves at most where the score moves by 1; None where it jumps."""
        if self.kind == "identity":
            return Fraction(1)
        if self.kind == "logistic":
            return self.slope / 4
        if self.jumps:
            return None
        steps = zip(self.knots, self.knots[1:], strict=False)
        return max((abs(b[1] - a[3]) / (b[0] - a[0]) for a, b in steps), default=Fraction(0))

    def carried(self, error: float, growth: float) -> float | None:
        """What a program's value is off by at most, whose score is off by an error and that rounds by a share of 1; None where the link jumps."""
        steepest = self.steepest()
        if steepest is None:
            return None
        return self.extent(float(steepest) * error) + growth

    def extent(self, moved: float) -> float:
        """A change of values by so much at most, or by as much as they change at all."""
        return min(moved, float(self.knots[-1][3] - self.knots[0][1])) if self.kind == "table" else moved

    def slopes_between(self, low: Floats, high: Floats, least: Floats, most: Floats) -> tuple[Floats, Floats]:
        """The smallest and the largest slope from low to high, where values lie between least and most; infinite where it jumps."""
        if self.kind == "logistic":
            ends = bell(least, most)
            return float(self.slope) * ends[0], float(self.slope) * ends[1]
        places, below, _, above = self.columns
        with np.errstate(over="ignore"):
            steps = (below[1:] - above[:-1]) / (places[1:] - places[:-1])
        slopes = np.concatenate([[0.0], steps, [0.0, 0.0]])  # the last one only ends the last range
        jumps = np.concatenate([[0], np.cumsum(below != above)])
        first, last = np.searchsorted(places, low, side="left"), np.searchsorted(places, high, side="right")
        ranges = np.stack([first, last + 1], axis=1).ravel()
        found = [which.reduceat(slopes, ranges)[::2] for which in (np.minimum, np.maximum)]
        jumped = jumps[last] > jumps[first]
        return found[0], np.where(jumped, np.inf, found[1])

    def largest(self) -> float | None:
        """What no value exceeds in size; None where they are not bounded."""
        if self.kind == "identity":
            return None
        return 1.0 if self.kind == "logistic" else max(abs(float(v)) for knot in self.knots for v in knot[1:])

    # -- lines ----------------------------------------------------------------------------------------------------

    def turned(self) -> Link:
        """t -> -lambda(-t), up to a constant: what is above it is below the link."""
        if self.kind != "table":
            return Link(kind=self.kind, slope=self.slope, offset=-self.offset)
        knots = tuple((-t, -above, -at, -below) for t, below, at, above in reversed(self.knots))
        return Link(kind="table", knots=knots)

    def mirrored(self) -> Link:
        """p -> -lambda(1 - p), up to a constant."""
        turned = self.turned()
        if self.kind != "table":
            return Link(kind=self.kind, slope=self.slope, offset=turned.offset - self.slope)
        return Link(kind="table", knots=tuple((1 + t, low, at, high) for t, low, at, high in turned.knots))

    def steep(self, alpha: Floats) -> Floats:
        """The slopes of lines of these slopes: of chains those are two each."""
        return alpha

    def line_above(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """The slope of a line above the link on intervals of scores, and the place where its tangent is taken (of logistic links, on the scale of slope t + offset)."""
        if self.kind == "table":
            rise = self._table(high, 2) - self._table(low, 0)
            chord = np.where(high > low, rise / np.where(high > low, high - low, 1.0), 0.0)
            return _on_grid(np.where(np.isfinite(chord), chord, 0.0)), np.zeros_like(low)
        left, right = (float(self.slope) * end + float(self.offset) for end in (low, high))
        left, right = np.clip(left, -700, 700), np.clip(right, -700, 700)
        # From the lower end to where a line through it touches sigma right of 0, or to the upper end if that comes first.
        near, far = np.maximum(left, 0.0), np.maximum(right, 0.0)
        foot = logistic(left)
        a, b = near.copy(), far.copy()
        for _ in range(TANGENT_HALVINGS):
            middle = (a + b) / 2
            top = logistic(middle)
            touches = top * (1 - top) * (middle - left) <= top - foot
            a, b = np.where(touches, a, middle), np.where(touches, middle, b)
        tangent = np.where(left >= 0, (left + right) / 2, b)
        top = logistic(tangent)
        steep = top * (1 - top)
        width = np.where(right > left, right - left, 1.0)
        chord = np.where(right > left, (logistic(right) - foot) / width, steep)
        slope = np.where(left >= 0, steep, np.where((right <= 0) | (b >= far), chord, steep))
        return _on_grid(slope), np.floor(np.maximum(tangent, 0.0) * SLOPE_GRID) / SLOPE_GRID

    def beta_above(self, alpha: Floats, tangent: Floats, low: Floats, high: Floats) -> Floats:
        """The beta of the line, as the rule has it; on the scale of slope t + offset for logistic links."""
        if self.kind == "table":
            return self._table_beta(alpha, low, high)
        left, right = (float(self.slope) * end + float(self.offset) for end in (low, high))
        with np.errstate(invalid="ignore"):
            split = np.minimum(right, 0.0)
            convex = np.maximum(logistic(left) - _times(alpha, left), logistic(split) - alpha * split)
            top = logistic(tangent)
            steep, start = top * (1 - top), np.maximum(left, 0.0)
            ends = [top + steep * (t - tangent) - alpha * t for t in (start, right)]
        concave = np.where(np.isinf(right), np.where(steep <= alpha, ends[0], np.inf), np.maximum(*ends))
        found = np.maximum(np.where(left <= 0, convex, -np.inf), np.where(right > 0, concave, -np.inf))
        flat = np.where(np.isinf(right), 1.0, logistic(right))
        best: Floats = np.where(alpha == 0, flat, found)
        return best

    def _table_beta(self, alpha: Floats, low: Floats, high: Floats) -> Floats:
        best = self._table(high, 2) - _times(alpha, high)
        best = np.maximum(best, self._table(low, 2) - _times(alpha, low))
        places, *_, above = self.columns
        inside = (places >= low[:, None]) & (places <= high[:, None])
        at_knots = np.where(inside, above - alpha[:, None] * places, -np.inf)
        found: Floats = np.maximum(best, at_knots.max(axis=1))
        return found

    # -- differences ----------------------------------------------------------------------------------------------

    def rise_places(self, over: Floats, under: Floats, distance: Floats, low: Floats, high: Floats) -> Floats:
        """Where over * lambda(t + distance) - under * lambda(t) is largest between the limits, of logistic links on the scale of slope t + offset; 0 where its ends tell."""
        if self.kind == "table":
            return np.zeros_like(distance)
        e = np.clip(float(self.slope) * distance, 0.0, FARTHEST_RISE)
        left, right = (float(self.slope) * end + float(self.offset) for end in (low, high))
        # In y = sigma(r) the slope of what is added is over / under at y with exp(r) = (k h - 1) / (h (h - k)), k = sqrt(over / under), h = exp(e / 2).
        half, root = np.exp(e / 2), np.sqrt(over / under)
        with np.errstate(divide="ignore", invalid="ignore"):
            best = np.log((root * half - 1) / (half * (half - root)))
        best = np.where(root * half <= 1, -FARTHEST, np.where(root >= half, FARTHEST, best))
        place = np.clip(np.clip(best, left, right), -FARTHEST, FARTHEST)
        rounded: Floats = np.round(place * SLOPE_GRID) / SLOPE_GRID
        return np.where(e > 0, rounded, 0.0)

    def rise(
        self, over: Floats, under: Floats, distance: Floats, low: Floats, high: Floats, place: Floats
    ) -> Floats:
        """The most that over * lambda(t + distance) - under * lambda(t) comes to between the limits, as the rule has it."""
        if self.kind == "table":
            return self._table_rise(over, under, distance, low, high)
        slope, offset = float(self.slope), float(self.offset)
        e, left, right = slope * distance, slope * low + offset, slope * high + offset
        ends = [
            over * logistic(end + np.where(np.isinf(end), 0.0, e)) - under * logistic(end)
            for end in (left, right)
        ]
        start, top = logistic(place), logistic(place + e)
        steep = over * np.exp(_log_steepness(place + e) - _log_steepness(place)) - under
        steps = [steep * (logistic(end) - start) for end in (left, right)]
        curved = over * top - under * start + np.maximum(*steps)
        found: Floats = np.where(e > 0, curved, np.maximum(*ends))
        return found

    def _table_rise(self, over: Floats, under: Floats, distance: Floats, low: Floats, high: Floats) -> Floats:
        knots = [float(knot[0]) for knot in self.knots]
        best = np.full(len(distance), -np.inf)
        for t in (low, high, *(np.full_like(low, k) for k in knots), *(k - distance for k in knots)):
            inside = (t >= low) & (t <= high)
            value = over * self._table(t + distance, 2) - under * self._table(t, 0)
            best = np.where(inside, np.maximum(best, value), best)
        return best

    def line(self) -> Any:
        """As a certificate has it."""
        if self.kind == "identity":
            return None
        if self.kind == "logistic":
            return ["logistic", format_number(self.slope), format_number(self.offset)]
        return ["table", [[format_number(one) for one in knot] for knot in self.knots]]


IDENTITY = Link()
SHARE = Link(kind="logistic")


def vote_link(*, zero_counts: bool) -> Link:
    """1 where the score is above 0 (or 0, if that counts), else 0."""
    return Link(kind="table", knots=((Fraction(0), Fraction(0), Fraction(int(zero_counts)), Fraction(1)),))


def bell(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The smallest and the largest y (1 - y) for y from low to high, both of which may be a little out of [0, 1]."""
    ends = np.maximum(low * (1 - low), 0.0), np.maximum(high * (1 - high), 0.0)
    least, most = np.minimum(*ends), np.maximum(*ends)
    return least, np.where((low <= 0.5) & (high >= 0.5), 0.25, most)


def _log_steepness(r: Floats) -> Floats:
    """log(sigma'(r)), up to a constant."""
    size = np.abs(r)
    found: Floats = -size - 2 * np.log1p(np.exp(-size))
    return found


def _times(alpha: Floats, end: Floats) -> Floats:
    """alpha * end, 0 for alpha = 0 also where the end is infinite."""
    product: Floats = np.where(alpha == 0, 0.0, alpha * np.where(alpha == 0, 0.0, end))
    return product


def _on_grid(slope: Floats) -> Floats:
    rounded: Floats = np.round(np.maximum(slope, 0.0) * SLOPE_GRID) / SLOPE_GRID
    return rounded
