"""Question: what is asked of pairs of individuals, as a tuple of cases, each a convex set W of pairs of numbers (s, s').

A model of n >= 1 scores answers a `Question`; a pair breaks it that breaks one of its cases. Of one score there is one case, which is the
question itself (`OfOneScore`): a number, a decision between two labels, a probability. Several classes have more (`cases`). Whatever the
case is about, a line separates two numbers, s at x and s' at x', from its `WitnessSet`:

    decision      W = { s > margin, s' <= -margin }                     (margin 0: the decision differs)
    score gap     W = { s - s' > delta }
    probability   W = { sigma(s) - sigma(s') > delta },  sigma(s) = 1 / (1 + exp(-s))

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
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np
from flint import arb, ctx, fmpq

from likewise.errors import InternalError
from likewise.spec.properties import ProbabilityGap, Property, SameDecision, ScoreGap

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.enclosure import Enclosure

    Floats = NDArray[np.float64]
    Enclosures = tuple[Enclosure, ...]

# Leans and tangent points are rounded to this grid: any value is sound, short ones keep proofs small.
GRID = 2**24
EVEN = Fraction(1, 2)


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
        return missing / (self.a + self.b) if self.a + self.b else missing


# What the empty set of pairs is closed with: the constraints alone must bring the bound below zero.
NOWHERE = Direction(a=Fraction(0), b=Fraction(0), threshold=Fraction(0), attained=True)


class WitnessSet(Protocol):
    """What a line has to know of a set of score pairs; one implementation a property."""

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


class Question(Protocol):
    """What is asked of the n >= 1 scores of two individuals; scores come as enclosures, n of them, or as floats, (rows,) of one score, else (rows, n)."""

    def cases(self) -> tuple[Case, ...]:
        """All cases, in the order of a certificate."""

    def signals(self, scores: Floats) -> list[tuple[WitnessSet, Floats, Floats]]:
        """For each case, those of votes by their classes, its set and what individuals count as x and as x' in it."""

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """Whether the pair breaks the property; None where the enclosures do not tell."""

    def broken(self, first: Enclosures, second: Enclosures) -> tuple[Case, bool] | None:
        """The case that the pair breaks most, and whether the other way round; None where it breaks none."""

    def unproved(self) -> str | None:
        """Why nobody tries to prove that no pair breaks it, where that is so."""

    def cleared(self, first: Enclosures, second: Enclosures) -> Fraction:
        """How far all scores of a pair that breaks nothing may move without doing so; a lower bound."""


class Case(WitnessSet, Question, Protocol):
    """One case, which is a question by itself: its set W is about two *signals*, one number of x and one of x', made of their scores."""

    def seen(self, rivals: tuple[int, int] | None) -> WitnessSet:
        """What a line is to separate from: W, or in a case of several conditions the set of one condition at x and one at x'."""

    def sides(self, scores: Floats) -> tuple[Floats, Floats]:
        """Signals of individuals as x, and as x', in float64."""

    def signal(self, scores: Enclosures) -> Enclosure:
        """The number of an individual that people are shown."""


class OfOneScore(Case):
    """A witness set of two scores as the question that it is."""

    def cases(self) -> tuple[Case, ...]:
        return (self,)

    def seen(self, rivals: tuple[int, int] | None) -> WitnessSet:  # noqa: ARG002 (both individuals have one score)
        return self

    def signals(self, scores: Floats) -> list[tuple[WitnessSet, Floats, Floats]]:
        return [(self, scores, scores)]

    def sides(self, scores: Floats) -> tuple[Floats, Floats]:
        return scores, scores

    def signal(self, scores: Enclosures) -> Enclosure:
        return scores[0]

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """Every W is monotone: raising s or lowering s' keeps (s, s') inside, so the ends of both enclosures tell."""
        (here,), (there,) = first, second
        if self.holds(here.lo, there.hi):
            return True
        return None if self.holds(here.hi, there.lo) else False

    def broken(self, first: Enclosures, second: Enclosures) -> tuple[Case, bool] | None:
        return (self, False) if self.decided(first, second) else None

    def unproved(self) -> str | None:
        return None

    def cleared(self, first: Enclosures, second: Enclosures) -> Fraction:
        return self.clearance(first[0].hi, second[0].lo)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionQuestion(OfOneScore):
    """s > margin and s' <= -margin."""

    level: Fraction

    def holds(self, first: Fraction, second: Fraction) -> bool:
        return first > self.level and second <= -self.level

    def clearance(self, first: Fraction, second: Fraction) -> Fraction:
        return max(self.level - first, second + self.level)

    def threshold(self, lean: Floats) -> Floats:
        return np.full_like(lean, float(self.level))

    def balance(self, lean: Floats) -> Floats:
        return np.zeros_like(lean)

    def direction(self, lean: Fraction) -> Direction:
        return Direction(a=lean, b=1 - lean, threshold=self.level, attained=self.attained(float(lean)))

    def attained(self, lean: float) -> bool:
        return lean == 0

    def admits(self, lean: Fraction) -> bool:
        return 0 <= lean <= 1

    def leans(self) -> tuple[float, ...]:
        return (1.0, 0.0)

    def lean_at(self, second: float) -> float | None:  # noqa: ARG002 (W is a polygon)
        return None

    def margin(self, first: Floats, second: Floats) -> Floats:
        return np.minimum(first, -second) - float(self.level)


@dataclass(frozen=True, slots=True, kw_only=True)
class SidedQuestion(OfOneScore):
    """s > 0 (lean 1), or s' <= 0 (lean 0): asked of individuals beside themselves, whether one of them gets the upper decision, or the lower one."""

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
class GapQuestion(OfOneScore):
    """s - s' > delta: a half-plane, so only the even lean can separate.

    `of_probabilities` marks the gap 0 of probabilities, which is the same set, for the replay.
    """

    delta: Fraction
    of_probabilities: bool = False

    def holds(self, first: Fraction, second: Fraction) -> bool:
        return first - second > self.delta

    def clearance(self, first: Fraction, second: Fraction) -> Fraction:
        return (self.delta - (first - second)) / 2

    def threshold(self, lean: Floats) -> Floats:
        return np.where(lean == 0.5, float(self.delta) / 2, -np.inf)

    def balance(self, lean: Floats) -> Floats:
        return np.zeros_like(lean)

    def direction(self, lean: Fraction) -> Direction:
        if lean != EVEN:
            raise InternalError(f"a gap is separated at lean 1/2 only, not {lean}")
        return Direction(a=EVEN, b=EVEN, threshold=self.delta / 2, attained=False)

    def attained(self, lean: float) -> bool:
        return lean == 0

    def admits(self, lean: Fraction) -> bool:
        return lean == EVEN

    def leans(self) -> tuple[float, ...]:
        return (0.5,)

    def lean_at(self, second: float) -> float | None:  # noqa: ARG002 (W is a polygon)
        return None

    def margin(self, first: Floats, second: Floats) -> Floats:
        return first - second - float(self.delta)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbabilityQuestion(OfOneScore):
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
        if self.delta >= EVEN and 0 in (first, second):
            return False
        bits = 64
        while True:
            with ctx.workprec(bits):
                side = sigma(first) - sigma(second) - _ball(self.delta)
                if side > 0:
                    return True
                if side < 0:
                    return False
            bits *= 2

    def clearance(self, first: Fraction, second: Fraction) -> Fraction:
        """sigma has slope at most 1/4 on either side, so what it is taken of may move by twice what is missing."""
        with ctx.workprec(128):
            gap = sigma(self._linked(first)) - sigma(self._linked(second))
            missing = lower_end(_ball(self.delta) - gap)
        return max(2 * missing / self.slope, Fraction(0))

    def threshold(self, lean: Floats) -> Floats:
        line = probability_threshold(lean, float(self.delta))
        value: Floats = (line - (2 * lean - 1) * float(self.offset)) / float(self.slope)
        return value

    def balance(self, lean: Floats) -> Floats:
        p = tangent_point(lean, float(self.delta))
        value: Floats = (_logit(p) + _logit(p + float(self.delta)) - 2 * float(self.offset)) / float(
            self.slope
        )
        return value

    def _linked(self, score: Fraction) -> Fraction:
        return self.slope * score + self.offset

    def direction(self, lean: Fraction) -> Direction:
        if not 0 < self.delta < 1:
            raise InternalError(f"no line separates probabilities at {self.delta}")
        if lean == EVEN:  # exactly a = b, so that shared features cancel
            return self.tangent((1 - self.delta) / 2)
        p = Fraction(float(tangent_point(np.array([float(lean)]), float(self.delta))[0]))
        # The grid's step, finer where little is left of (0, 1 - delta). An extreme lean touches W closer to
        # the ends than that: take the last point inside.
        step = Fraction(1, GRID)
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
        p = float(_inside(logistic(linked), float(self.delta))[0])
        q = p + float(self.delta)
        return q * (1 - q) / (q * (1 - q) + p * (1 - p))

    def tangent(self, p: Fraction) -> Direction:
        """The tangent of W's boundary at p; its threshold is a proved lower bound of T."""
        q = p + self.delta
        a, b = q * (1 - q), p * (1 - p)
        with ctx.workprec(128):
            line = _ball(a) * (_ball(q) / _ball(1 - q)).log() - _ball(b) * (_ball(p) / _ball(1 - p)).log()
            threshold = lower_end(line) - (a - b) * self.offset
        return Direction(a=self.slope * a, b=self.slope * b, threshold=threshold, attained=False, tangent=p)

    def margin(self, first: Floats, second: Floats) -> Floats:
        here, there = (logistic(float(self.slope) * s + float(self.offset)) for s in (first, second))
        value: Floats = here - there - float(self.delta)
        return value


def tangent_point(lean: Floats, delta: Floats | float) -> Floats:
    """p in (0, 1 - delta) where the tangent of W has this lean: p (1-p) / (q (1-q)) = rho, a quadratic."""
    lean = np.clip(lean, 1e-9, 1 - 1e-9)
    rho = (1 - lean) / lean
    square, linear, constant = rho - 1, 1 - rho * (1 - 2 * delta), -rho * delta * (1 - delta)
    root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0))
    # Both forms of the root that lies in (0, 1 - delta); each is stable for one sign of `linear`.
    with np.errstate(all="ignore"):
        p = np.where(linear >= 0, -2 * constant / (linear + root), (root - linear) / (2 * square))
    return _inside(p, delta)


def probability_threshold(lean: Floats, delta: Floats | float) -> Floats:
    """T(lean, 1 - lean) of the probability question."""
    p = tangent_point(lean, delta)
    with np.errstate(divide="ignore"):  # p + delta may round to 1: the threshold is infinite then
        value: Floats = lean * _logit(p + delta) - (1 - lean) * _logit(p)
    return value


def _inside(p: Floats, delta: Floats | float) -> Floats:
    """p clipped into the open interval (0, 1 - delta)."""
    edge = np.minimum(2.0**-40, (1 - delta) / 4)
    return np.clip(p, edge, 1 - delta - edge)


def snap(lean: float) -> Fraction:
    """A nearby rational with few digits."""
    return Fraction(round(lean * GRID), GRID)


def question_of(property: Property) -> Case:
    """The witness set of a property."""
    match property:
        case SameDecision(margin=margin):
            return DecisionQuestion(level=Fraction(margin))
        case ScoreGap(delta=delta):
            return GapQuestion(delta=Fraction(delta))
        case ProbabilityGap(delta=delta):
            # Probabilities differ exactly where scores do, so the gap 0 is a question about scores.
            if delta:
                return ProbabilityQuestion(delta=Fraction(delta))
            return GapQuestion(delta=Fraction(0), of_probabilities=True)


def logistic(score: Floats) -> Floats:
    """sigma in float64 without overflow."""
    value: Floats = 0.5 * (1 + np.tanh(0.5 * score))
    return value


def sigma(score: Fraction) -> arb:
    """sigma of an exact score as a ball at the current precision."""
    # exp of a negative number only: exp(1e300) overflows even a ball.
    small = (-_ball(abs(score))).exp()
    return 1 / (1 + small) if score >= 0 else small / (1 + small)


def lower_end(ball: arb) -> Fraction:
    """The lower end of a ball as an exact rational."""
    mantissa, exponent = ball.lower().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _logit(p: Floats) -> Floats:
    value: Floats = np.log(p) - np.log1p(-p)
    return value


def round_up(value: Fraction) -> float:
    """The smallest double that is not below a rational."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def round_down(value: Fraction) -> float:
    """The largest double that is not above a rational."""
    return 0.0 - round_up(-value)
