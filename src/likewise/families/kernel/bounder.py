"""Kernel bounder: sums of Gaussians over cells of pair space.

Where every feature that may differ is fixed in a cell, to v and v', both copies fold into one sum over the
shared features,

    a s(x) - b s(x') = (a - b) bias + sum_t c_t exp(-gamma Q_t(z)),   c_t = a_t (a e_t(v) - b e_t(v')),

e_t the kernel's factor of the fixed features, and `rbf` bounds it: the cubic majorant of the rule `kernel`
(spec/certificate-v1.md, section 7), whose hints are kept for the certificate. Where numbers that may differ are not
fixed, and levels that may differ are, both copies are expanded side by side (`rbf.copy_bounds`). In all cells the rule `chords` (section 25), which is weaker in small ones and quicker to check, comes first;
where levels that may differ are not fixed, there is no other (`open_cells`): what it leaves open is split until they are. Bounds are float64: the checker decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.leaf import Clearance, Leaf, Rule
from likewise.errors import InternalError
from likewise.families.kernel.bands import bands_of
from likewise.families.kernel.body import KernelScore
from likewise.families.kernel.distances import Distance, feature_distance
from likewise.families.kernel.open_cells import OpenCells
from likewise.families.kernel.rbf import NO_HINT, Boxes, bound_cells, bound_copies, shared_terms
from likewise.families.kernel.rbf.copies import EMPTY_TOLERANCE
from likewise.families.kernel.rbf.terms import ONE_HOT
from likewise.families.oracle import Bounder, Bounds
from likewise.spec.pairs import PairSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.kernel.bands import Band
    from likewise.families.kernel.rbf import CellBounds, Terms
    from likewise.families.kernel.rbf.terms import Axis
    from likewise.model.witness_set import WitnessSet

    Floats = NDArray[np.float64]

FIRST_RANK = 1e300  # rank of levels that may differ: nothing is gained before they are fixed
LAST_RANK = 1e-310  # rank of what helps only when nothing else is left


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchBounds:
    """What is known of a batch of cells so far; filled in sort by sort."""

    upper: Floats
    points: Floats
    closes: NDArray[np.bool_]
    rules: list[Rule]
    hints: list[tuple[int, ...]]
    loss: Floats
    cuts: Floats


class KernelBounder(Bounder):
    """Oracle of an RBF body on the pairs of a space."""

    rule: Rule = "kernel"
    more_rules: tuple[Rule, ...] = ("chords",)
    exact = False

    def __init__(self, score: KernelScore, pairs: PairSpace, second: KernelScore | None = None) -> None:
        self.score, self.pairs = score, pairs
        self.other = (
            score if second is None else second
        )  # of x': the same Gaussians, perhaps with other coefficients
        self.first = np.array(pairs.first, dtype=np.intp)
        self.second = np.array(pairs.second, dtype=np.intp)
        self.discrete = np.array([v.discrete for v in pairs.variables])
        self.distances = [feature_distance(score, pairs, k) for k in range(len(pairs.first))]
        axes = {
            k: self.distances[k].axis for k, relation in enumerate(pairs.relations) if relation.kind == "same"
        }
        # What the rule knows no axis for is fixed first, as if it might differ.
        self.axes = [axis for axis in axes.values() if axis is not None]
        self.shared = [k for k, axis in axes.items() if axis is not None]
        self.differing = [k for k in range(len(pairs.relations)) if k not in self.shared]
        self.moving = self._variables_of(self.differing)
        self.bands = bands_of(pairs)
        numbers = [band.feature for band in self.bands]
        self.levels = [k for k in self.differing if k not in numbers]  # and numbers that are like levels
        self.choices = self._variables_of(self.levels)
        self.following = [band for band in self.bands if band.difference is not None]
        paired = [axis for k in numbers if (axis := self.distances[k].axis) is not None]
        self.terms = self._terms(self.axes)
        self.twin_terms = self._terms([*self.axes, *paired]) if paired else None
        self.columns = self.first[self.shared]  # the variable of each axis
        self.open_cells = OpenCells(score, self.other, pairs, self.distances, self.bands)

    def _terms(self, axes: list[Axis]) -> Terms:
        body = self.score.body
        return shared_terms(gamma=body.gamma, axes=axes, terms=len(body.coefficients))

    def _variables_of(self, features: list[int]) -> NDArray[np.intp]:
        """Both variables of each of these features."""
        pairs = self.pairs
        return np.array([v for k in features for v in (pairs.first[k], pairs.second[k])], dtype=np.intp)

    def warm_up(self) -> None:
        """Have the bounds compiled: about half a minute once, then kept on disk."""
        lo = np.array([[float(v.lo) for v in self.pairs.variables]])
        hi = np.array([[float(v.hi) for v in self.pairs.variables]])
        hi[:, self.choices] = lo[:, self.choices]
        for end in (lo, hi):
            self.bound(lo, end, np.array([0.5]), np.zeros(1))

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        fixed = (lo[:, self.moving] == hi[:, self.moving]).all(axis=1)
        chosen = (lo[:, self.choices] == hi[:, self.choices]).all(axis=1) & (self.twin_terms is not None)
        points = self.candidates(lo, hi)
        found = BatchBounds(
            upper=np.full(len(lo), np.inf),
            points=points,
            closes=np.zeros(len(lo), dtype=bool),
            rules=[self.rule] * len(lo),
            hints=[()] * len(lo),
            loss=np.zeros_like(lo),
            cuts=points.copy(),
        )
        empty = self._empty(lo, hi) & (fixed | chosen)
        shift = lean * self.score.body.bias - (1 - lean) * self.other.body.bias
        for i in np.flatnonzero(~fixed & ~chosen).tolist():
            bound = self.open_cells.bound(lo[i], hi[i], float(lean[i]))
            found.upper[i] = bound.upper + shift[i]
            if found.upper[i] + bound.room <= threshold[i]:
                found.closes[i], found.rules[i], found.hints[i] = True, "chords", (bound.width,)
        for some, bounded in (
            (np.flatnonzero(fixed), self._bound_folded),
            (np.flatnonzero(chosen & ~fixed), self._bound_copies),
        ):
            if len(some):
                bounded(some, lo[some], hi[some], lean[some], (threshold - shift)[some], found)
                found.upper[some] += shift[some]
        found.upper[empty], found.closes[empty] = -np.inf, True
        return Bounds(
            upper=found.upper,
            first=self.score.scores(points[:, self.first]),
            second=self.other.scores(points[:, self.second]),
            points=points,
            noise=np.zeros(len(lo)),
            closes=found.closes,
            rules=found.rules,
            hints=found.hints,
            loss=found.loss,
            cuts=found.cuts,
        )

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        points = lo + np.where(self.discrete, np.floor((hi - lo) / 2), (hi - lo) / 2)
        for band in self.following:
            band.put_inside(points, lo, hi)
        return points

    def branch(
        self, lo: Floats, hi: Floats, loss: Floats | None = None, cuts: Floats | None = None
    ) -> tuple[NDArray[np.intp], Floats]:
        width = hi - lo
        middle = np.where(self.discrete, np.minimum(np.floor((lo + hi) / 2), hi - 1), lo + width / 2)
        can_split = np.where(self.discrete, width >= 1, (middle > lo) & (middle < hi))
        gain = np.zeros_like(lo) if loss is None else np.maximum(loss, 0)
        unknown = gain.sum(axis=1) == 0
        for k, distance in enumerate(self.distances):
            for v in {int(self.first[k]), int(self.second[k]), *self._difference(k)}:
                spread = distance.spread(lo[:, v], hi[:, v])
                gain[:, v] = np.where(unknown, spread, gain[:, v]) + 1e-12 * spread
        gain[:, self.choices] += FIRST_RANK
        rank = np.where(can_split, 1e-300 + gain, 0)
        for band in self.following:
            rank[:, band.second], middle[:, band.second] = self._follower_cut(band, lo, hi)
        variable = rank.argmax(axis=1)
        rows = np.arange(len(lo))
        at = middle[rows, variable]
        if cuts is not None:
            cut = cuts[rows, variable]
            fits = np.where(self.discrete[variable], np.floor(cut) == cut, True)
            fits &= (cut >= lo[rows, variable]) & (cut < hi[rows, variable])
            fits &= self.discrete[variable] | (cut > lo[rows, variable])
            kept = [*self.choices, *(band.second for band in self.following)]
            at = np.where(fits & ~np.isin(variable, kept), cut, at)
        return np.where(rank[rows, variable] > 0, variable, -1), at

    def _difference(self, k: int) -> tuple[int, ...]:
        place = self.pairs.difference[k] if self.pairs.difference else None
        return () if place is None else (place,)

    def _follower_cut(self, band: Band, lo: Floats, hi: Floats) -> tuple[Floats, Floats]:
        """Rank and cut of x' of a number within a tolerance: it follows x and the difference."""
        can, at = band.trim(lo, hi)
        return np.where(can, LAST_RANK, 0), at

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        """Proposed by the float64 bound."""
        if leaf.rule not in ("kernel", "chords") or leaf.lean is None or not question.admits(leaf.lean):
            return None
        lean = np.array([float(leaf.lean)])
        found = self.bound(lo[None], hi[None], lean, question.threshold(lean))
        if found.closes is None or found.rules is None or not found.closes[0]:
            return None
        # Whatever chords show the other rule is asked for as well; not the other way round.
        return Fraction(0) if leaf.rule == "kernel" or found.rules[0] == "chords" else None

    def _empty(self, lo: Floats, hi: Floats) -> NDArray[np.bool_]:
        """Cells without any pair, because the codes and differences that they allow do not go together; said of
        cells in which the levels that may differ are fixed."""
        empty = np.zeros(len(lo), dtype=bool)
        for band in self.bands:
            limits = band.limits(lo, hi)
            # Differences of doubles round: only cells that are empty by more than that are called so.
            size = np.abs(lo[:, [band.first, band.second]]) + np.abs(hi[:, [band.first, band.second]])
            empty |= limits.low > limits.high + EMPTY_TOLERANCE * size.sum(axis=1)
        for k in self.levels:
            i, j, relation = self.first[k], self.second[k], self.pairs.relations[k]
            if relation.tolerance is not None:
                low, high = relation.reach
                empty |= (lo[:, j] - hi[:, i] > high) | (hi[:, j] - lo[:, i] < low)
            if relation.kind == "pairs":
                empty |= [not relation.allows(*codes) for codes in zip(lo[:, i], lo[:, j], strict=True)]
        return empty

    def _bound_folded(
        self,
        some: NDArray[np.intp],
        lo: Floats,
        hi: Floats,
        lean: Floats,
        threshold: Floats,
        into: BatchBounds,
    ) -> None:
        """Bound cells in which all that may differ is fixed; rows of coefficients are shared where they can."""
        terms, row, here, there = self._rows(self.terms, lean, lo, self.differing)
        found = bound_cells(
            terms,
            here - there,
            lo=lo[:, self.columns],
            hi=hi[:, self.columns],
            threshold=threshold,
            row=row,
        )
        self._record(some, lo, hi, found, into)
        into.points[np.ix_(some, self.columns)] = found.point

    def _bound_copies(
        self,
        some: NDArray[np.intp],
        lo: Floats,
        hi: Floats,
        lean: Floats,
        threshold: Floats,
        into: BatchBounds,
    ) -> None:
        """Bound cells in which levels that may differ are fixed, and numbers that may differ are not."""
        terms, row, here, there = self._rows(self.twin_terms, lean, lo, self.levels)
        size = np.zeros(len(here))
        size[row] = lean * np.abs(self.score.body.coefficients).sum()
        size[row] += (1 - lean) * np.abs(self.other.body.coefficients).sum()
        found = bound_copies(
            terms, self._boxes(lo, hi), here=here, there=there, threshold=threshold, row=row, size=size
        )
        self._record(some, lo, hi, found, into)
        shared = len(self.columns)
        sides = [*self.columns, *(b.first for b in self.bands), *(b.second for b in self.bands)]
        points, loss, cuts = into.points[some], np.zeros_like(lo), into.cuts[some]
        points[:, sides] = found.point
        for n, band in enumerate(self.bands):
            band.put_inside(points, lo, hi)
            band.charge(found.loss[:, shared + 3 * n : shared + 3 * n + 3], lo, hi, loss, cuts)
        into.points[some], into.cuts[some] = points, cuts
        into.loss[some] += loss

    def _record(
        self, some: NDArray[np.intp], lo: Floats, hi: Floats, found: CellBounds, into: BatchBounds
    ) -> None:
        """What both sorts of bounds say in the same way."""
        into.upper[some], into.closes[some] = found.upper, found.excess <= 0
        into.loss[np.ix_(some, self.columns)] = found.loss[:, : len(self.columns)]
        into.cuts[np.ix_(some, self.columns)] = found.cut
        for n, i in enumerate(some):
            if found.width[n] != NO_HINT:
                into.rules[i], into.hints[i] = "chords", (int(found.width[n]),)
            else:
                into.hints[i] = self._hints(lo[n], hi[n], found, n)

    def _boxes(self, lo: Floats, hi: Floats) -> Boxes:
        firsts, seconds = [*self.columns, *(b.first for b in self.bands)], [b.second for b in self.bands]
        low, high = np.empty((len(lo), len(seconds))), np.empty((len(lo), len(seconds)))
        for n, band in enumerate(self.bands):
            limits = band.limits(lo, hi)
            low[:, n], high[:, n] = limits.low, limits.high
        return Boxes(
            lo=lo[:, firsts],
            hi=hi[:, firsts],
            second_lo=lo[:, seconds],
            second_hi=hi[:, seconds],
            low=low,
            high=high,
        )

    def _rows(
        self, terms: Terms | None, lean: Floats, lo: Floats, features: list[int]
    ) -> tuple[Terms, NDArray[np.intp], Floats, Floats]:
        """For each cell its row of c_t and c'_t, given the codes of features that are fixed in it."""
        if terms is None:
            raise InternalError(
                "cells of features that the kernel rule does not know were to be bounded by it"
            )
        keys = np.column_stack([lean, lo[:, self._variables_of(features)]])
        distinct, row = np.unique(keys, axis=0, return_inverse=True)
        rows = [self._coefficients(key[0], key[1:], features) for key in distinct]
        return terms, row.ravel(), np.stack([r[0] for r in rows]), np.stack([r[1] for r in rows])

    def _coefficients(self, lean: float, codes: Floats, features: list[int]) -> tuple[Floats, Floats]:
        """c_t and c'_t for one lean and one setting (v_1, v'_1, v_2, v'_2, ...) of features that may differ."""
        here, there = np.zeros(len(self.score.body.coefficients)), np.zeros(len(self.score.body.coefficients))
        for n, k in enumerate(features):
            here += self.distances[k].at(float(codes[2 * n]))
            there += self.distances[k].at(float(codes[2 * n + 1]))
        body = self.score.body
        return (
            lean * body.coefficients * np.exp(-body.gamma * here),
            (1 - lean) * self.other.body.coefficients * np.exp(-body.gamma * there),
        )

    def _hints(self, lo: Floats, hi: Floats, found: CellBounds, n: int) -> tuple[int, ...]:
        """e of every numeric shared axis that is not fixed, in feature order; of u, d, p of all bands; then r."""
        shared = len(self.columns)
        loose = lo[self.columns] < hi[self.columns]
        hints = [int(e) for e in found.e[n, :shared][(self.terms.kind != ONE_HOT) & loose]]
        for m, band in enumerate(self.bands):
            if lo[band.first] < hi[band.first] or lo[band.second] < hi[band.second]:
                hints += [int(e) for e in found.e[n, shared + 3 * m : shared + 3 * m + 3]]
        return (*hints, max(int(found.r[n]), 0))


__all__ = ["Distance", "KernelBounder"]
