"""Softmax oracle: probabilities P_c = sigma(z), z = -log sum over k != c of exp(d_k), d_k = f_k - f_c separable scores.

At x, by Gibbs' inequality, z <= -w . d - H(w) for any weights w: equality where w is the softmax of d, so the error is of second order
in the size of a cell. At x', -z is a sum of exponentials taken step by step, l_(r+1) = l_r + softplus(d_(r+1) - l_r), each softplus below
a line over the range of its argument. What is left is a form at x and a form at x' (spec/certificate-v1.md, section 10). `bound` does
that in float64, with the weights of the cell's middle and of the pair that is worst for these; `prove` does it in rationals and balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import arb, ctx, fmpq

from likewise.bounds.exact import exact_bound
from likewise.bounds.forms import Forms
from likewise.bounds.oracle import Bounds, Clearance, Leaf, Relaxed, Rule, SoftLines
from likewise.bounds.rivals import widest
from likewise.bounds.separable import ROUNDING
from likewise.errors import InternalError
from likewise.model.cases import log_odds
from likewise.model.question import Direction, lower_end
from likewise.spec.enclosure import Enclosure
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import Separable, combined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.question import Question

    Floats = NDArray[np.float64]

GRID = 2**24  # weights and slopes are rounded to this grid: any are sound, short ones keep proofs small
BITS = 160
ROOM = Fraction(1, 2**80)  # relative, left for the checker's own rounding: it may use 2^-90
ROUNDS = 2  # of weights at x
LEAST = 0.05  # weight of a score in choosing where to cut, however small its probability in the middle of a cell


class Upper(NamedTuple):
    """Of -z at x', by cell: the form of d and the number that bound it, with the slopes and weights of every step."""

    form: Floats  # (cells, m)
    constant: Floats
    slopes: Floats  # (cells, m - 1)
    weights: list[Floats]  # (cells, r) each
    empty: NDArray[np.bool_]


class SoftmaxOracle:
    """Oracle of the log odds of class c of several separable scores."""

    rule: Rule = "softmax"
    exact = True

    def __init__(self, scores: Sequence[Separable], of: int, pairs: PairSpace) -> None:
        self.scores, self.of, self.pairs = scores, of, pairs
        self.first, self.second = np.array(pairs.first, dtype=np.intp), np.array(pairs.second, dtype=np.intp)
        self.discrete = np.array([v.discrete for v in pairs.variables])
        minus = [Fraction(-(n == of)) for n in range(len(scores))]
        rivals = [k for k in range(len(scores)) if k != of]
        alphas = [[m + (n == k) for n, m in enumerate(minus)] for k in rivals]
        self.differences = [combined(scores, alpha) for alpha in alphas]  # d_1, ..., d_m
        self.forms = Forms(self.differences, pairs)
        self.count = len(rivals)
        self.zero = combined(self.differences, [Fraction(0)] * self.count)

    def warm_up(self) -> None:
        """Nothing to compile."""

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:  # noqa: ARG002
        middle = self.candidates(lo, hi)
        here = self.forms.at(middle[:, self.first])
        upper = self._above(self.forms.at(middle[:, self.second]), lo, hi)
        beta = (1 - lean)[:, None] * upper.form
        weights, best, points = _softmax(here), np.full(len(lo), np.inf), middle
        kept, size = weights, np.zeros(len(lo))
        for _ in range(ROUNDS):
            found = self.forms.maximum(-lean[:, None] * weights, beta, lo, hi)
            value = found.upper - lean * _entropy(weights) + (1 - lean) * upper.constant
            better = value < best
            best, points = np.where(better, value, best), np.where(better[:, None], found.points, points)
            kept, size = np.where(better[:, None], weights, kept), np.where(better, found.size, size)
            weights = _softmax((here + self.forms.at(found.points[:, self.first])) / 2)
        best = np.where(upper.empty, -np.inf, best)
        terms = len(self.pairs.relations) + 4 * self.count
        return Bounds(
            upper=best,
            first=self._log_odds(points[:, self.first]),
            second=self._log_odds(points[:, self.second]),
            points=points,
            noise=ROUNDING * terms * (size + np.abs(best, where=np.isfinite(best), out=np.zeros_like(best))),
            loss=self._losses(here, lo, hi),
            soft=[_lines(kept[i], upper, i) for i in range(len(lo))],
        )

    def _above(self, there: Floats, lo: Floats, hi: Floats) -> Upper:
        """The lines of every step, by the ranges of their arguments over each cell."""
        cells, m = len(lo), self.count
        form, constant = np.zeros((cells, m)), np.zeros(cells)
        form[:, 0] = 1.0
        slopes, all_weights, empty = np.zeros((cells, max(m - 1, 0))), [], np.zeros(cells, dtype=bool)
        nothing = np.zeros((cells, m))
        for r in range(1, m):
            weights = _softmax(there[:, :r])
            above, below = np.zeros((cells, m)), -form
            above[:, r], above[:, :r] = 1.0, -weights
            below[:, r] += 1.0
            high = self.forms.maximum(nothing, above, lo, hi).upper - _entropy(weights)
            low = -self.forms.maximum(nothing, -below, lo, hi).upper - constant
            empty |= ~np.isfinite(high)
            high, low = np.where(np.isfinite(high), high, 0), np.where(np.isfinite(low), low, 0)
            slope = np.clip(np.round(_chord(low, high) * GRID) / GRID, 0, 1)
            lift = np.maximum(_softplus(low) - slope * low, _softplus(high) - slope * high)
            form = (1 - slope)[:, None] * form
            form[:, r] += slope
            constant = (1 - slope) * constant + lift
            slopes[:, r - 1] = slope
            all_weights.append(weights)
        return Upper(form, constant, slopes, all_weights, empty)

    def _log_odds(self, codes: Floats) -> Floats:
        return log_odds(np.concatenate([np.zeros((len(codes), 1)), self.forms.at(codes)], axis=1), 0)

    def _losses(self, here: Floats, lo: Floats, hi: Floats) -> Floats:
        """How much cutting a variable may gain: how far it moves each d, weighted by how the probability moves with that."""
        every = np.concatenate([np.zeros((len(here), 1)), here], axis=1)
        probabilities = _softmax(every)
        weights = np.maximum(probabilities[:, 1:] * probabilities[:, :1], LEAST)
        loss = np.zeros_like(lo)
        for r, unit in enumerate(np.eye(self.count)):
            loss += weights[:, r : r + 1] * self.forms.spread(unit[None], lo, hi)
        return loss

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        middle = lo + np.where(self.discrete, np.floor((hi - lo) / 2), (hi - lo) / 2)
        for k, relation in enumerate(self.pairs.relations):
            i, j = self.first[k], self.second[k]
            if relation.tolerance is not None:
                reach = float(relation.tolerance)
                middle[:, j] = np.clip(middle[:, j], middle[:, i] - reach, middle[:, i] + reach)
        return middle

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        return self.candidates(lo[None], hi[None])

    def branch(
        self,
        lo: Floats,
        hi: Floats,
        loss: Floats | None = None,
        cuts: Floats | None = None,  # noqa: ARG002
    ) -> tuple[NDArray[np.intp], Floats]:
        spread = self.forms.spread(np.eye(self.count), lo, hi)
        if loss is not None:
            spread = np.where(loss.max(axis=1, keepdims=True) > 0, loss, spread)
        return widest(self.forms, self.discrete, spread, lo, hi)

    def after(self, variable: int, at: float) -> float | None:
        return self.forms.after(variable, at)

    def relax(self, lo: Floats, hi: Floats, question: Question) -> Relaxed | None:  # noqa: ARG002
        """Whether the constraints exclude the cell is seen by the case (`cases`)."""
        return None

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: Question) -> Clearance | None:
        if leaf.rule != "softmax" or leaf.soft is None or leaf.lean is None or not question.admits(leaf.lean):
            return None
        if not _sound(leaf.soft, self.count):
            return None
        with ctx.workprec(BITS):
            return self._proved(lo.tolist(), hi.tolist(), leaf, leaf.soft, question.direction(leaf.lean))

    def _proved(
        self, lo: list[float], hi: list[float], leaf: Leaf, soft: SoftLines, way: Direction
    ) -> Clearance | None:
        form, constant = [Fraction(n == 0) for n in range(self.count)], Fraction(0)
        for r, (slope, weights) in enumerate(soft.steps, start=1):
            above = [-v for v in weights] + [Fraction(1)] + [Fraction(0)] * (self.count - r - 1)
            below = [Fraction(n == r) - f for n, f in enumerate(form)]
            high = self._largest(lo, hi, None, above)
            low = self._largest(lo, hi, None, [-b for b in below])
            if high is None or low is None:
                return float("inf")
            high, low = high - entropy_below(weights), -low - constant
            lift = max(softplus_above(end) - slope * end for end in (low, high))
            form = [(1 - slope) * f + slope * (n == r) for n, f in enumerate(form)]
            constant = (1 - slope) * constant + lift
        largest = self._largest(
            lo, hi, [-way.a * w for w in soft.weights], [way.b * f for f in form], leaf.multipliers
        )
        if largest is None:
            return float("inf")
        parts = (largest, -way.a * entropy_below(soft.weights), way.b * constant)
        room = ROOM * (1 + sum((abs(part) for part in parts), abs(way.threshold)))
        return Fraction(0) if sum(parts, room) <= way.threshold else None

    def _largest(
        self,
        lo: list[float],
        hi: list[float],
        here: list[Fraction] | None,
        there: list[Fraction],
        multipliers: tuple[Fraction, ...] = (),
    ) -> Fraction | None:
        """max over the cell of the form `here` of d at x plus the form `there` at x'."""
        first = self.zero if here is None else combined(self.differences, here)
        second = combined(self.differences, [-t for t in there])
        return exact_bound(first, self.pairs, ONE, multipliers, second).bound(lo, hi)

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        raise InternalError("log odds are decided by their case")


ONE = Direction(a=Fraction(1), b=Fraction(1), threshold=Fraction(0), attained=False)


def _sound(soft: SoftLines, count: int) -> bool:
    """Whether there are as many weights and slopes as there must be, and all are such."""
    rows = [soft.weights, *(weights for _, weights in soft.steps)]
    lengths = [count, *range(1, count)]
    return (
        [len(row) for row in rows] == lengths
        and all(sum(row) == 1 and min(row) >= 0 for row in rows)
        and all(0 <= slope <= 1 for slope, _ in soft.steps)
    )


def entropy_below(weights: Sequence[Fraction]) -> Fraction:
    """A lower bound of H(w) = -sum w log w."""
    total = arb(0)
    for weight in weights:
        if weight:
            total -= _ball(weight) * _ball(weight).log()
    return lower_end(total)


def softplus_above(t: Fraction) -> Fraction:
    """An upper bound of log(1 + exp t); exp is taken of negative numbers only."""
    ball = _ball(t)
    value = (-abs(ball)).exp().log1p() if t <= 0 else ball + (-ball).exp().log1p()
    return -lower_end(-value)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _softmax(values: Floats) -> Floats:
    """Weights on the grid, adding up to 1 exactly."""
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    whole = np.round(powers / powers.sum(axis=1, keepdims=True) * GRID)
    rows, largest = np.arange(len(whole)), whole.argmax(axis=1)
    whole[rows, largest] += GRID - whole.sum(axis=1)
    weights: Floats = whole / GRID
    return weights


def _entropy(weights: Floats) -> Floats:
    logs = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    entropy: Floats = -(weights * logs).sum(axis=1)
    return entropy


def _softplus(t: Floats) -> Floats:
    value: Floats = np.logaddexp(0, t)
    return value


def _chord(low: Floats, high: Floats) -> Floats:
    """The slope of softplus between two arguments."""
    width = high - low
    slope: Floats = np.where(
        width > 1e-9,
        (_softplus(high) - _softplus(low)) / np.where(width > 1e-9, width, 1),
        0.5 * (1 + np.tanh(0.25 * (high + low))),
    )
    return slope


def _lines(weights: Floats, upper: Upper, i: int) -> SoftLines:
    steps = (
        (Fraction(float(slope)), _fractions(v[i])) for slope, v in zip(upper.slopes[i], upper.weights, strict=True)
    )
    return SoftLines(weights=_fractions(weights), steps=tuple(steps))


def _fractions(row: Floats) -> tuple[Fraction, ...]:
    return tuple(Fraction(float(value)) for value in row)
