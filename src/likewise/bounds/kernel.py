"""Kernel oracle: sums of Gaussians over cells of pair space.

Where every feature that may differ is fixed in a cell, to v and v', both copies fold into one sum over the
shared features,

    a s(x) - b s(x') = (a - b) bias + sum_t c_t exp(-gamma Q_t(z)),   c_t = a_t (a e_t(v) - b e_t(v')),

e_t the kernel's factor of the fixed features, and `rbf` bounds it: the cubic majorant of the rule `kernel`
(spec/certificate-v1.md, section 7), whose hints are kept for the certificate. In all other cells each term
is bounded by itself, from its smallest and largest squared distance; those cells are split until their
features that may differ are fixed. Bounds are float64: the checker decides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.bounds.distances import Distance, distance_of
from likewise.bounds.enumerated import enumerated_clearance, independent
from likewise.bounds.oracle import Bounds, Clearance, Leaf, Relaxed, Rule
from likewise.bounds.rbf import bound_cells, shared_terms
from likewise.bounds.rbf.terms import ONE_HOT
from likewise.errors import InternalError
from likewise.model.kernel import KernelScore
from likewise.spec.enclosure import Enclosure
from likewise.spec.pairs import PairSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.bounds.rbf.oracle import CellBounds
    from likewise.model.question import Question

    Floats = NDArray[np.float64]

FIRST = 1e300  # rank of variables of features that may differ: nothing is gained before they are fixed


class KernelOracle:
    """Oracle of an RBF body on the pairs of a space."""

    rule: Rule = "kernel"
    exact = False

    def __init__(self, score: KernelScore, pairs: PairSpace) -> None:
        self.score, self.pairs = score, pairs
        self.first = np.array(pairs.first, dtype=np.intp)
        self.second = np.array(pairs.second, dtype=np.intp)
        self.discrete = np.array([v.discrete for v in pairs.variables])
        self.distances = [distance_of(score, pairs, k) for k in range(len(pairs.first))]
        self.shared = [k for k, relation in enumerate(pairs.relations) if relation.kind == "same"]
        self.differing = [k for k, relation in enumerate(pairs.relations) if relation.kind != "same"]
        self.moving = np.array(
            [v for k in self.differing for v in (pairs.first[k], pairs.second[k])], dtype=np.intp
        )
        axes = [self.distances[k].axis for k in self.shared]
        self.axes = [axis for axis in axes if axis is not None]
        self.folds = len(self.axes) == len(axes)  # every shared feature is of a sort that the rule knows
        terms = len(score.body.coefficients)
        self.terms = shared_terms(gamma=score.body.gamma, axes=self.axes, terms=terms) if self.folds else None
        self.columns = self.first[self.shared]  # the variable of each axis

    def warm_up(self) -> None:
        """Have the bounds compiled: about half a minute once, then kept on disk."""
        corner = np.array([[float(v.lo) for v in self.pairs.variables]])
        self.bound(corner, corner, np.array([0.5]), np.zeros(1))

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        fixed = (lo[:, self.moving] == hi[:, self.moving]).all(axis=1) & self.folds
        points = self.candidates(lo, hi)
        upper, closes = np.full(len(lo), np.inf), np.zeros(len(lo), dtype=bool)
        loss, cuts = np.zeros_like(lo), points.copy()
        hints: list[tuple[int, ...]] = [()] * len(lo)
        for i in np.flatnonzero(~fixed):
            upper[i] = self._termwise(lo[i], hi[i], float(lean[i]))
        some = np.flatnonzero(fixed)
        if len(some):
            shift = (2 * lean[some] - 1) * self.score.body.bias
            found = self._folded(lo[some], hi[some], lean[some], threshold[some] - shift)
            upper[some], closes[some] = found.upper + shift, found.excess <= 0
            points[np.ix_(some, self.columns)] = found.point
            loss[np.ix_(some, self.columns)], cuts[np.ix_(some, self.columns)] = found.loss, found.cut
            for n, i in enumerate(some):
                hints[i] = self._hints(lo[i], hi[i], found, n)
        first = self.score.scores(points[:, self.first])
        second = self.score.scores(points[:, self.second])
        return Bounds(
            upper=upper,
            first=first,
            second=second,
            points=points,
            noise=np.zeros(len(lo)),
            closes=closes,
            hints=hints,
            loss=loss,
            cuts=cuts,
        )

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        return lo + np.where(self.discrete, np.floor((hi - lo) / 2), (hi - lo) / 2)

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        return self.candidates(lo[None], hi[None])

    def branch(
        self, lo: Floats, hi: Floats, loss: Floats | None = None, cuts: Floats | None = None
    ) -> tuple[NDArray[np.intp], Floats]:
        width = hi - lo
        middle = np.where(self.discrete, np.minimum(np.floor((lo + hi) / 2), hi - 1), lo + width / 2)
        can_split = np.where(self.discrete, width >= 1, (middle > lo) & (middle < hi))
        gain = np.zeros_like(lo) if loss is None else np.maximum(loss, 0)
        unknown = gain.sum(axis=1) == 0
        for k, distance in enumerate(self.distances):
            for v in {int(self.first[k]), int(self.second[k])}:
                spread = distance.spread(lo[:, v], hi[:, v])
                gain[:, v] = np.where(unknown, spread, gain[:, v]) + 1e-12 * spread
        gain[:, self.moving] += FIRST
        rank = np.where(can_split, 1e-300 + gain, 0)
        variable = rank.argmax(axis=1)
        rows = np.arange(len(lo))
        at = middle[rows, variable]
        if cuts is not None:
            cut = cuts[rows, variable]
            fits = np.where(self.discrete[variable], np.floor(cut) == cut, True)
            fits &= (cut >= lo[rows, variable]) & (cut < hi[rows, variable])
            fits &= self.discrete[variable] | (cut > lo[rows, variable])
            at = np.where(fits & ~np.isin(variable, self.moving), cut, at)
        return np.where(rank[rows, variable] > 0, variable, -1), at

    def relax(self, lo: Floats, hi: Floats, question: Question) -> Relaxed | None:  # noqa: ARG002
        """Only whether one constraint excludes the cell by itself."""
        count = len(self.pairs.constraints)
        for side, owner in enumerate((self.pairs.first, self.pairs.second)):
            for j, constraint in enumerate(self.pairs.constraints):
                if constraint.least([lo[v] for v in owner], [hi[v] for v in owner]) > 0:
                    weights = [Fraction(0)] * (2 * count)
                    weights[side * count + j] = Fraction(1)
                    leaf = Leaf(rule="empty", multipliers=tuple(weights))
                    return Relaxed(leaf=leaf, point=lo, fractional=None)
        return None

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: Question) -> Clearance | None:
        """Exact for all rules but `kernel`, which is only proposed here, by the float64 bound."""
        if leaf.rule == "independent":
            return Fraction(0) if independent(self.pairs, self.score) else None
        if leaf.rule == "enumerated":
            found = enumerated_clearance(self.pairs, self.score.enclose, lo.tolist(), hi.tolist(), question)
            return found if found is None or isinstance(found, float) else Fraction(0)
        if leaf.rule == "empty":
            relaxed = self.relax(lo, hi, question)
            return math.inf if relaxed is not None and relaxed.leaf == leaf else None
        if leaf.rule != "kernel" or leaf.lean is None or not question.admits(leaf.lean):
            return None
        lean = np.array([float(leaf.lean)])
        closes = self.bound(lo[None], hi[None], lean, question.threshold(lean)).closes
        return Fraction(0) if closes is not None and closes[0] else None

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        return self.score.enclose(codes, bits)

    def _folded(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> CellBounds:
        """Bound cells in which all that may differ is fixed; rows of coefficients are shared where they can."""
        if self.terms is None:
            raise InternalError("cells of features that the kernel rule does not know were to be folded")
        keys = np.column_stack([lean, lo[:, self.moving]])
        distinct, row = np.unique(keys, axis=0, return_inverse=True)
        coefficients = np.stack([self._coefficients(key[0], key[1:]) for key in distinct])
        return bound_cells(
            self.terms,
            coefficients,
            lo=lo[:, self.columns],
            hi=hi[:, self.columns],
            threshold=threshold,
            row=row.ravel(),
        )

    def _coefficients(self, lean: float, codes: Floats) -> Floats:
        """c_t for one lean and one setting (v_1, v'_1, v_2, v'_2, ...) of the features that may differ."""
        here, there = np.zeros(len(self.score.body.coefficients)), np.zeros(len(self.score.body.coefficients))
        for n, k in enumerate(self.differing):
            here += self.distances[k].at(float(codes[2 * n]))
            there += self.distances[k].at(float(codes[2 * n + 1]))
        gamma = self.score.body.gamma
        folded: Floats = self.score.body.coefficients * (
            lean * np.exp(-gamma * here) - (1 - lean) * np.exp(-gamma * there)
        )
        return folded

    def _hints(self, lo: Floats, hi: Floats, found: CellBounds, n: int) -> tuple[int, ...]:
        """e of every numeric axis that is not fixed, in feature order, then r."""
        if self.terms is None:
            return ()
        numeric = self.terms.kind != ONE_HOT
        loose = lo[self.columns] < hi[self.columns]
        return (*(int(e) for e in found.e[n][numeric & loose]), max(int(found.r[n]), 0))

    def _termwise(self, lo: Floats, hi: Floats, lean: float) -> float:
        """Each term by itself: its largest or smallest value on either side."""
        body = self.score.body
        near, far = self._extremes(lo, hi, self.first)
        near2, far2 = self._extremes(lo, hi, self.second)
        a, b = lean * body.coefficients, (1 - lean) * body.coefficients
        here = np.where(a > 0, a * np.exp(-body.gamma * near), a * np.exp(-body.gamma * far))
        there = np.where(b > 0, b * np.exp(-body.gamma * far2), b * np.exp(-body.gamma * near2))
        return float((2 * lean - 1) * body.bias + here.sum() - there.sum())

    def _extremes(self, lo: Floats, hi: Floats, owner: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Smallest and largest squared distance of one side to every centre."""
        near = np.zeros(len(self.score.body.coefficients))
        far = np.zeros_like(near)
        for distance, v in zip(self.distances, owner, strict=True):
            least, most = distance.extremes(float(lo[v]), float(hi[v]))
            near += least
            far += most
        return near, far


__all__ = ["Distance", "KernelOracle"]
