"""Softmax oracle: probabilities P_c = sigma(z), z = -log sum over k != c of exp(d_k), d_k = f_k - f_c separable scores.

At x, by Gibbs' inequality, z <= -w . d - H(w) for any weights w: equality where w is the softmax of d, so the error is of second order
in the size of a cell. At x', -z is a sum of exponentials taken step by step, l_(r+1) = l_r + softplus(d_(r+1) - l_r), each softplus below
a line over the range of its argument. What is left is a form at x and a form at x' (spec/certificate-v1.md, section 10). `bound` does
that in float64, with the weights of the cell's middle and of the pair that is worst for these; `prove` does it in rationals and balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.bounds.exact import exact_bound
from likewise.bounds.forms import Forms
from likewise.bounds.oracle import Bounds, Clearance, Leaf, Relaxed, Rule
from likewise.bounds.rivals import widest
from likewise.bounds.separable import ROUNDING
from likewise.bounds.softlines import (
    Proposed,
    Row,
    Upper,
    closed_by,
    entropy,
    lines_above,
    on_grid,
    softmax_on_grid,
)
from likewise.errors import InternalError
from likewise.model.cases import log_odds
from likewise.model.question import Direction
from likewise.spec.enclosure import Enclosure
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import Separable, combined

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.question import Question

    Floats = NDArray[np.float64]

LEAST = 0.01  # weight of how far scores move in choosing where to cut


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
        for weights in (on_grid(upper.form), softmax_on_grid(here)):
            found = self.forms.maximum(-lean[:, None] * weights, beta, lo, hi)
            value = found.upper - lean * entropy(weights) + (1 - lean) * upper.constant
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
        nothing = np.zeros((len(lo), self.count))
        return lines_above(there, lambda beta: self.forms.maximum(nothing, beta, lo, hi).upper)

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
        low, high = lo.tolist(), hi.tolist()

        def largest(here: Row | None, there: Row) -> Fraction | None:
            """Only the last maximum, the one about both, has a form at x, and multipliers."""
            multipliers = () if here is None else leaf.multipliers
            return self._largest(low, high, here, there, multipliers)

        return closed_by(leaf.soft, self.count, question.direction(leaf.lean), largest)

    def _largest(
        self,
        lo: list[float],
        hi: list[float],
        here: Row | None,
        there: Row,
        multipliers: tuple[Fraction, ...] = (),
    ) -> Fraction | None:
        """max over the cell of the form `here` of d at x plus the form `there` at x'."""
        first = self.zero if here is None else combined(self.differences, here)
        second = combined(self.differences, [-t for t in there])
        return exact_bound(first, self.pairs, ONE, multipliers, second).bound(lo, hi)

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:  # noqa: ARG002
        raise InternalError("log odds are decided by their case")


ONE = Direction(a=Fraction(1), b=Fraction(1), threshold=Fraction(0), attained=False)
