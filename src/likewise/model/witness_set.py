"""Witness set: the convex set W of pairs of numbers (s, s') that break a property, and the lines that separate others from it.

    decision      W = { s > margin, s' <= -margin }                     (margin 0: the decision differs)
    score gap     W = { s - s' > delta }
    probability   W = { sigma(s) - sigma(s') > delta },  sigma(s) = 1 / (1 + exp(-s))
    prediction    W = { exp(s) - exp(s') > delta }

Every W is convex, so no point of a set K of score pairs is a witness as soon as ONE line separates them:
directions a, b >= 0, not both zero, with

    max over K of  a s - b s'   <=   T(a, b) = infimum over W of  a s - b s'

(< where W may attain the infimum). The search bounds the left side cell by cell; T is all it needs to
know of the property. For the probability: with p = sigma(s') the boundary of W is s = h(s') =
logit(p + delta), and h' = p (1-p) / ((p+delta) (1-p-delta)) increases in p, because d/dp log h' =
[1/p - 1/(p+delta)] + [1/(1-p-delta) - 1/(1-p)] > 0. So h is convex, W lies above its tangent at every p,
and with q = p + delta the tangent at a rational p has rational directions

    a = q (1 - q),   b = p (1 - p),   T = a logit(q) - b logit(p).

`lean` in [0, 1] names a direction by one number: a : b = lean : 1 - lean.

A link with a slope > 0 and an offset has sigma(slope s + offset) for sigma(s): the same W in other coordinates, so the line (a, b, T) of
slope s + offset is (slope a, slope b, T - (a - b) offset) of s, and its lean is the same.

For the prediction the boundary of W is s = log(delta + exp(s')), which is convex in s'. Its tangent at p = exp(s') is (p + delta) s - p s' against
(p + delta) log(p + delta) - p log p; so at the lean w > 1/2, with p = delta (1 - w) / (2 w - 1),

    T = w log w - (1 - w) log(1 - w) + (2 w - 1) (log delta - log(2 w - 1)),

which falls to 0 at w = 1/2: witnesses have s > s'. Below 1/2 no line separates anything.

What the two numbers are made of, and that W is monotone in both (raising s or lowering s' keeps a pair inside), is used by `cases`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np
from flint import arb, ctx

from likewise.errors import InternalError
from likewise.model.head import ball, logistic, logit, lower_end, sigma

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

# Leans and tangent points are rounded to this grid: any value is sound, short ones keep proofs small.
LEAN_GRID = 2**24
EVEN_LEAN = Fraction(1, 2)
LARGEST_EXPONENT = 700.0  # whose exp is a double
BEYOND_SCORES = 1e4  # of a sum of two scores whose exp are doubles


@dataclass(frozen=True, slots=True, kw_only=True)
class Direction:
    """An exact separating line: a s - b s' against `threshold`, a lower bound of T(a, b).

    `attained` tells that a witness may lie on the line itself, so that closing needs a strict inequality.
    `tangent` is the p of a probability direction, from which a, b and T can be recomputed.
    """

    a: Fraction
    b: Fraction
    threshold: Fraction
    attained: bool
    tangent: Fraction | None = None

    def clearance(self, bound: Fraction) -> Fraction | None:
        """How far each score may still move before the line touches the bound; None if it does not separate."""
        missing = self.threshold - bound
        if missing < 0 or (missing == 0 and self.attained):
            return None
        total = self.a + self.b
        return missing / total if total else missing


# What the empty set of pairs is closed with: the constraints alone must bring the bound below zero.
EMPTY_DIRECTION = Direction(a=Fraction(0), b=Fraction(0), threshold=Fraction(0), attained=True)


class WitnessSet(Protocol):
    """What a line has to know of a set of pairs of numbers; one implementation a property."""

    def holds(self, first: Fraction, second: Fraction) -> bool:
        """Whether (s, s') is a witness. Exact."""

    def clearance(self, first: Fraction, second: Fraction) -> Fraction:
        """How far both scores of a non-witness may move without making it one; a lower bound."""

    def threshold(self, lean: Floats) -> Floats:
        """T(lean, 1 - lean) in float64."""

    def balance(self, lean: Floats) -> Floats:
        """s + s' where the line of this lean touches W: the slope of T, for improving the lean."""

    def direction(self, lean: Fraction) -> Direction:
        """The exact direction of this lean (the nearest one that can be written down, for a probability)."""

    def admits(self, lean: Fraction) -> bool:
        """Whether a line of this lean can separate anything from W."""

    def leans(self) -> tuple[float, ...]:
        """Leans whose lines together enclose W closely: the outer polygon used by linear programs."""

    def lean_at(self, second: float) -> float | None:
        """The lean of the line that touches W at this s'; None if W is a polygon that `leans` enclose."""

    def attained(self, lean: float) -> bool:
        """Whether a witness may lie on the line of this lean itself."""

    def margin(self, first: Floats, second: Floats) -> Floats:
        """How deep (s, s') lies in W, in float64: positive inside. For falsification."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionSet:
    """s > margin and s' <= -margin; with another `strict`, s >= margin, or s' < -margin."""

    level: Fraction
    strict: tuple[bool, bool] = (True, False)

    def holds(self, first: Fraction, second: Fraction) -> bool:
        above = first > self.level or (first == self.level and not self.strict[0])
        return above and (second < -self.level or (second == -self.level and not self.strict[1]))

    def clearance(self, first: Fraction, second: Fraction) -> Fraction:
        return max(self.level - first, second + self.level)

    def threshold(self, lean: Floats) -> Floats:
        return np.full_like(lean, float(self.level))

    def balance(self, lean: Floats) -> Floats:
        return np.zeros_like(lean)

    def direction(self, lean: Fraction) -> Direction:
        return Direction(a=lean, b=1 - lean, threshold=self.level, attained=self.attained(float(lean)))

    def attained(self, lean: float) -> bool:
        return not ((lean > 0 and self.strict[0]) or (lean < 1 and self.strict[1]))

    def admits(self, lean: Fraction) -> bool:
        return 0 <= lean <= 1

    def leans(self) -> tuple[float, ...]:
        return (1.0, 0.0)

    def lean_at(self, second: float) -> float | None:  # noqa: ARG002 (W is a polygon)
        return None

    def margin(self, first: Floats, second: Floats) -> Floats:
        return np.minimum(first, -second) - float(self.level)


@dataclass(frozen=True, slots=True, kw_only=True)
class OneSidedSet:
    """s > 0 (lean 1), or s' <= 0 (lean 0): of individuals beside themselves, those who get the upper decision, or the lower one."""

    lean: int

    def holds(self, first: Fraction, second: Fraction) -> bool:
        return first > 0 if self.lean else second <= 0

    def clearance(self, first: Fraction, second: Fraction) -> Fraction:
        return -first if self.lean else second

    def threshold(self, lean: Floats) -> Floats:
        return np.where(lean == self.lean, 0.0, -np.inf)

    def balance(self, lean: Floats) -> Floats:
        return np.zeros_like(lean)

    def direction(self, lean: Fraction) -> Direction:
        return Direction(a=lean, b=1 - lean, threshold=Fraction(0), attained=self.attained(float(lean)))

    def attained(self, lean: float) -> bool:
        return lean == 0

    def admits(self, lean: Fraction) -> bool:
        return lean == self.lean

    def leans(self) -> tuple[float, ...]:
        return (float(self.lean),)

    def lean_at(self, second: float) -> float | None:  # noqa: ARG002 (W is a half-plane)
        return None

    def margin(self, first: Floats, second: Floats) -> Floats:
        return first if self.lean else -second


@dataclass(frozen=True, slots=True, kw_only=True)
class GapSet:
    """s - s' > delta: a half-plane, so only the even lean can separate."""

    delta: Fraction

    def holds(self, first: Fraction, second: Fraction) -> bool:
        return first - second > self.delta

    def clearance(self, first: Fraction, second: Fraction) -> Fraction:
        return (self.delta - (first - second)) / 2

    def threshold(self, lean: Floats) -> Floats:
        return np.where(lean == 0.5, float(self.delta) / 2, -np.inf)

    def balance(self, lean: Floats) -> Floats:
        return np.zeros_like(lean)

    def direction(self, lean: Fraction) -> Direction:
        if lean != EVEN_LEAN:
            raise InternalError(f"a gap is separated at lean 1/2 only, not {lean}")
        return Direction(a=EVEN_LEAN, b=EVEN_LEAN, threshold=self.delta / 2, attained=False)

    def attained(self, lean: float) -> bool:
        return lean == 0

    def admits(self, lean: Fraction) -> bool:
        return lean == EVEN_LEAN

    def leans(self) -> tuple[float, ...]:
        return (0.5,)

    def lean_at(self, second: float) -> float | None:  # noqa: ARG002 (W is a polygon)
        return None

    def margin(self, first: Floats, second: Floats) -> Floats:
        return first - second - float(self.delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilitySet:
    """sigma(slope s + offset) - sigma(slope s' + offset) > delta, 0 < delta < 1, slope > 0."""

    delta: Fraction
    slope: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)

    def holds(self, first: Fraction, second: Fraction) -> bool:
        """By balls of growing precision. Ends: for rational scores the two sides are never equal unless
        s = s' (sigma of rationals are rational functions of one transcendental number)."""
        first, second = self._linked(first), self._linked(second)
        if first <= second:
            return False
        # sigma(0) = 1/2 and the other side is short of 0 or 1 by exp(-|s|): no precision would show that.
        if self.delta >= EVEN_LEAN and 0 in (first, second):
            return False
        bits = 64
        while True:
            with ctx.workprec(bits):
                side = sigma(first) - sigma(second) - ball(self.delta)
                if side > 0:
                    return True
                if side < 0:
                    return False
            bits *= 2

    def clearance(self, first: Fraction, second: Fraction) -> Fraction:
        """sigma has slope at most 1/4 on either side, so what it is taken of may move by twice what is missing."""
        with ctx.workprec(128):
            gap = sigma(self._linked(first)) - sigma(self._linked(second))
            missing = lower_end(ball(self.delta) - gap)
        return max(2 * missing / self.slope, Fraction(0))

    def threshold(self, lean: Floats) -> Floats:
        line = probability_threshold(lean, float(self.delta))
        value: Floats = (line - (2 * lean - 1) * float(self.offset)) / float(self.slope)
        return value

    def balance(self, lean: Floats) -> Floats:
        p = tangent_point(lean, float(self.delta))
        value: Floats = (logit(p) + logit(p + float(self.delta)) - 2 * float(self.offset)) / float(self.slope)
        return value

    def touching_lean(self, balance: Floats) -> Floats:
        """The lean at which `balance` has this value: logit p + logit q = u, q = p + delta, is a quadratic in p. It is solved for u <= 0, as
        p and 1 - q change places with the sign of u."""
        delta = float(self.delta)
        u = float(self.slope) * balance + 2 * float(self.offset)
        power = np.exp(-np.abs(u))
        linear = delta + power * (2 - delta)
        lower = (
            2 * power * (1 - delta) / (linear + np.sqrt(linear**2 + 4 * (1 - power) * power * (1 - delta)))
        )
        p = np.where(u > 0, 1 - delta - lower, lower)
        q = p + delta
        here, there = p * (1 - p), q * (1 - q)
        value: Floats = there / (here + there)
        return value

    def _linked(self, score: Fraction) -> Fraction:
        return self.slope * score + self.offset

    def direction(self, lean: Fraction) -> Direction:
        if not 0 < self.delta < 1:
            raise InternalError(f"no line separates probabilities at {self.delta}")
        if lean == EVEN_LEAN:  # exactly a = b, so that shared features cancel
            return self.tangent((1 - self.delta) / 2)
        p = Fraction(float(tangent_point(np.array([float(lean)]), float(self.delta))[0]))
        # The grid's step, finer where little is left of (0, 1 - delta). An extreme lean touches W closer to
        # the ends than that: take the last point inside.
        step = Fraction(1, LEAN_GRID)
        while step * 2**12 > 1 - self.delta:
            step /= 2
        return self.tangent(min(max(round(p / step) * step, step), 1 - self.delta - step))

    def attained(self, lean: float) -> bool:
        return lean == 0

    def admits(self, lean: Fraction) -> bool:
        return 0 <= lean <= 1

    def leans(self) -> tuple[float, ...]:
        return (0.02, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.98)

    def lean_at(self, second: float) -> float | None:
        """The tangent at the boundary point with the same s'."""
        linked = np.array([float(self.slope) * second + float(self.offset)])
        p = float(_clip_inside(logistic(linked), float(self.delta))[0])
        q = p + float(self.delta)
        return q * (1 - q) / (q * (1 - q) + p * (1 - p))

    def tangent(self, p: Fraction) -> Direction:
        """The tangent of W's boundary at p; its threshold is a proved lower bound of T."""
        q = p + self.delta
        a, b = q * (1 - q), p * (1 - p)
        with ctx.workprec(128):
            line = ball(a) * (ball(q) / ball(1 - q)).log() - ball(b) * (ball(p) / ball(1 - p)).log()
            threshold = lower_end(line) - (a - b) * self.offset
        return Direction(a=self.slope * a, b=self.slope * b, threshold=threshold, attained=False, tangent=p)

    def margin(self, first: Floats, second: Floats) -> Floats:
        here, there = (logistic(float(self.slope) * s + float(self.offset)) for s in (first, second))
        value: Floats = here - there - float(self.delta)
        return value


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictionSet:
    """exp(s) - exp(s') > delta, delta > 0."""

    delta: Fraction

    def holds(self, first: Fraction, second: Fraction) -> bool:
        """By balls of growing precision. Ends: exp(s) - exp(s') = delta > 0 has no rational solution, as exp of different rationals and 1 are linearly independent."""
        if first <= second:
            return False
        bits = 64
        while True:
            with ctx.workprec(bits):
                side = prediction_gap(first, second, self.delta)
                if side > 0:
                    return True
                if side < 0:
                    return False
            bits *= 2

    def clearance(self, first: Fraction, second: Fraction) -> Fraction:  # noqa: ARG002
        """Nothing is stated of how programs round exp."""
        return Fraction(0)

    def threshold(self, lean: Floats) -> Floats:
        value: Floats = prediction_offset(lean) + (2 * lean - 1) * _log(self.delta)
        return np.where(lean > 0.5, value, np.where(lean == 0.5, 0.0, -np.inf))

    def balance(self, lean: Floats) -> Floats:
        """log p + log q of the point that the line touches; beyond all scores for lines that touch nowhere."""
        with np.errstate(divide="ignore", invalid="ignore"):
            value = 2 * _log(self.delta) + np.log(lean) - 2 * np.log(2 * lean - 1)
            value += np.log1p(-np.minimum(lean, 1 - 2.0**-53))
        return np.where(lean > 0.5, value, BEYOND_SCORES)

    def direction(self, lean: Fraction) -> Direction:
        if not self.admits(lean):
            raise InternalError(f"no line of the lean {lean} separates predictions")
        threshold, rest = Fraction(0), 2 * lean - 1
        if rest:
            with ctx.workprec(128):
                line = ball(lean) * ball(lean).log() + ball(rest) * (ball(self.delta) / ball(rest)).log()
                line -= ball(1 - lean) * ball(1 - lean).log() if lean < 1 else 0
                threshold = lower_end(line)
        return Direction(a=lean, b=1 - lean, threshold=threshold, attained=False)

    def attained(self, lean: float) -> bool:  # noqa: ARG002 (W is open, and above its tangents)
        return False

    def admits(self, lean: Fraction) -> bool:
        return EVEN_LEAN <= lean <= 1

    def leans(self) -> tuple[float, ...]:
        return (0.5, 0.505, 0.52, 0.55, 0.6, 0.7, 0.85, 1.0)

    def lean_at(self, second: float) -> float | None:
        """The tangent at the boundary point with the same s'."""
        p, delta = math.exp(min(max(second, -LARGEST_EXPONENT), LARGEST_EXPONENT)), float(self.delta)
        return (p + delta) / (2 * p + delta)

    def margin(self, first: Floats, second: Floats) -> Floats:
        with np.errstate(over="ignore", invalid="ignore"):
            value: Floats = np.exp(first) - np.exp(second) - float(self.delta)
        return value


def prediction_gap(first: Fraction, second: Fraction, delta: Fraction) -> arb:
    """exp(s) - exp(s') - delta, s > s', at the current precision; divided by exp(s) where that is above 1, so that nothing overflows."""
    if first > 0:
        return 1 - ball(second - first).exp() - ball(delta) * ball(-first).exp()
    return ball(first).exp() - ball(second).exp() - ball(delta)


def prediction_offset(lean: Floats) -> Floats:
    """T of gaps of predictions less (2 lean - 1) log delta, at leans above 1/2."""
    with np.errstate(divide="ignore", invalid="ignore"):
        other = np.where(lean < 1, (1 - lean) * np.log1p(-np.minimum(lean, 1 - 2.0**-53)), 0.0)
        value: Floats = lean * np.log(lean) - other - (2 * lean - 1) * np.log(2 * lean - 1)
    return value


def _log(value: Fraction) -> float:
    """log of a number > 0, also of one that is no double."""
    return math.log(value.numerator) - math.log(value.denominator)


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferenceSet:
    """The same of probabilities whose difference is bounded as such, not by lines: delta is the threshold whatever the lean. `curved` is the set of
    the two numbers that they are sigma of, which tells witnesses from others."""

    delta: Fraction
    curved: WitnessSet

    def holds(self, first: Fraction, second: Fraction) -> bool:
        return self.curved.holds(first, second)

    def clearance(self, first: Fraction, second: Fraction) -> Fraction:
        return self.curved.clearance(first, second)

    def threshold(self, lean: Floats) -> Floats:
        return np.full_like(lean, float(self.delta))

    def balance(self, lean: Floats) -> Floats:
        return np.zeros_like(lean)

    def direction(self, lean: Fraction) -> Direction:
        return self.curved.direction(lean)

    def attained(self, lean: float) -> bool:
        return self.curved.attained(lean)

    def admits(self, lean: Fraction) -> bool:
        return self.curved.admits(lean)

    def leans(self) -> tuple[float, ...]:
        return (0.5,)

    def lean_at(self, second: float) -> float | None:  # noqa: ARG002 (no lines)
        return None

    def margin(self, first: Floats, second: Floats) -> Floats:
        return self.curved.margin(first, second)


def tangent_point(lean: Floats, delta: Floats | float) -> Floats:
    """p in (0, 1 - delta) where the tangent of W has this lean: p (1-p) / (q (1-q)) = rho, a quadratic."""
    lean = np.clip(lean, 1e-9, 1 - 1e-9)
    rho = (1 - lean) / lean
    square, linear, constant = rho - 1, 1 - rho * (1 - 2 * delta), -rho * delta * (1 - delta)
    root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0))
    # Both forms of the root that lies in (0, 1 - delta); each is stable for one sign of `linear`.
    with np.errstate(all="ignore"):
        p = np.where(linear >= 0, -2 * constant / (linear + root), (root - linear) / (2 * square))
    return _clip_inside(p, delta)


def probability_threshold(lean: Floats, delta: Floats | float) -> Floats:
    """T(lean, 1 - lean) of gaps of probabilities."""
    p = tangent_point(lean, delta)
    with np.errstate(divide="ignore"):  # p + delta may round to 1: the threshold is infinite then
        value: Floats = lean * logit(p + delta) - (1 - lean) * logit(p)
    return value


def _clip_inside(p: Floats, delta: Floats | float) -> Floats:
    """p clipped into the open interval (0, 1 - delta)."""
    edge = np.minimum(2.0**-40, (1 - delta) / 4)
    return np.clip(p, edge, 1 - delta - edge)


def snap_lean(lean: float) -> Fraction:
    """A nearby rational with few digits."""
    return Fraction(round(lean * LEAN_GRID), LEAN_GRID)
