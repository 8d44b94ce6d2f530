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
LEAST = 0.01  # weight of how far scores move in choosing where to cut


class Upper(NamedTuple):
    """Of -z at x', by cell: the form of d and the number that bound it, with the slopes and weights of every step."""

    form: Floats  # (cells, m)
    constant: Floats
    slopes: Floats  # (cells, m - 1)
    weights: list[Floats]  # (cells, r) each
    bends: Floats  # (cells, m - 1): the largest second derivative of each softplus over its range
    empty: NDArray[np.bool_]


class Proposed(NamedTuple):
    """What `SoftLines` says, of a cell that may not need it, in float64 (on the grid, so exactly)."""

    weights: Floats
    slopes: Floats
    steps: tuple[Floats, ...]

    def exact(self) -> SoftLines:
        steps = zip(self.slopes.tolist(), self.steps, strict=True)
        return SoftLines(
            weights=_fractions(self.weights),
            steps=tuple((Fraction(slope), _fractions(v)) for slope, v in steps),
        )


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
        self.last: tuple[Floats, Floats, tuple[Floats, Floats, Upper, Floats]] | None = None
        self.zero = combined(self.differences, [Fraction(0)] * self.count)

    def warm_up(self) -> None:
        """Nothing to compile."""

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:  # noqa: ARG002
        middle, here, upper, loss = self._seen(lo, hi)
        beta = (1 - lean)[:, None] * upper.form
        # Weights like the form at x' let what both individuals share cancel; those of the middle are best in small cells.
        best, points = np.full(len(lo), np.inf), middle
        kept, size = upper.form, np.zeros(len(lo))
        for weights in (on_grid(upper.form), _softmax(here)):
            found = self.forms.maximum(-lean[:, None] * weights, beta, lo, hi)
            value = found.upper - lean * _entropy(weights) + (1 - lean) * upper.constant
            better = value < best
            best, points = np.where(better, value, best), np.where(better[:, None], found.points, points)
            kept, size = np.where(better[:, None], weights, kept), np.where(better, found.size, size)
        best = np.where(upper.empty, -np.inf, best)
        terms = len(self.pairs.relations) + 4 * self.count
        return Bounds(
            upper=best,
            first=self._log_odds(points[:, self.first]),
            second=self._log_odds(points[:, self.second]),
            points=points,
            noise=ROUNDING * terms * (size + np.abs(best, where=np.isfinite(best), out=np.zeros_like(best))),
            loss=loss,
            soft=[
                Proposed(kept[i], upper.slopes[i], tuple(v[i] for v in upper.weights)) for i in range(len(lo))
            ],
        )

    def _seen(self, lo: Floats, hi: Floats) -> tuple[Floats, Floats, Upper, Floats]:
        """What does not depend on the lean, so that a batch at several leans has it once: the middles, d there, the lines at x' and
        what cutting may gain."""
        if self.last is None or not (np.array_equal(self.last[0], lo) and np.array_equal(self.last[1], hi)):
            middle = self.candidates(lo, hi)
            upper = self._above(self.forms.at(middle[:, self.second]), lo, hi)
            here = self.forms.at(middle[:, self.first])
            self.last = lo, hi, (middle, here, upper, self._losses(upper, lo, hi))
        return self.last[2]

    def _above(self, there: Floats, lo: Floats, hi: Floats) -> Upper:
        """The lines of every step, by the ranges of their arguments over each cell."""
        cells, m = len(lo), self.count
        form, constant = np.zeros((cells, m)), np.zeros(cells)
        form[:, 0] = 1.0
        slopes, all_weights, empty = np.zeros((cells, max(m - 1, 0))), [], np.zeros(cells, dtype=bool)
        nothing, bends = np.zeros((cells, m)), np.zeros((cells, max(m - 1, 0)))
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
            nearest = np.clip(0.0, low, np.maximum(low, high))
            bends[:, r - 1] = 0.25 / np.cosh(np.clip(nearest / 2, -300, 300)) ** 2
            all_weights.append(weights)
        return Upper(form, constant, slopes, all_weights, bends, empty)

    def _log_odds(self, codes: Floats) -> Floats:
        return log_odds(np.concatenate([np.zeros((len(codes), 1)), self.forms.at(codes)], axis=1), 0)

    def _losses(self, upper: Upper, lo: Floats, hi: Floats) -> Floats:
        """How much cutting a variable may gain: how far it moves the argument of each softplus, as much as that is bent over the cell;
        and a little how far it moves each d."""
        loss = LEAST * self.forms.spread(np.eye(self.count), lo, hi)
        for r in range(1, self.count):
            form = np.eye(self.count)[r] - np.eye(self.count)[:r].mean(axis=0)
            loss += upper.bends[:, r - 1 : r] * self.forms.spread(form[None], lo, hi)
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

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:  # noqa: ARG002
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
    return on_grid(powers / powers.sum(axis=1, keepdims=True))


def on_grid(weights: Floats) -> Floats:
    """Weights rounded to the grid, still adding up to 1 exactly."""
    whole = np.round(weights * GRID)
    rows, largest = np.arange(len(whole)), whole.argmax(axis=1)
    whole[rows, largest] += GRID - whole.sum(axis=1)
    rounded: Floats = whole / GRID
    return rounded


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


def _fractions(row: Floats) -> tuple[Fraction, ...]:
    return tuple(Fraction(value) for value in row.tolist())
