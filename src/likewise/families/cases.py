"""Case oracle: one case of several classes over cells of pair space (`model.cases`).

A decision case has several *views*: one for each condition F at x with each condition G' at x', bounded by the family's oracle of two
scores, F and G = -G'. A cell needs one view that closes it. Other cases have one view.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.enumerated import enumerated_clearance, independent
from likewise.cells.exclusion import empty_leaf, excludes
from likewise.cells.leaf import Clearance, Leaf, Relaxed
from likewise.errors import UnsupportedModel
from likewise.families.affine.forms import Forms
from likewise.families.affine.odds import OddsOracle
from likewise.families.affine.rivals import widest
from likewise.families.oracle import Bounds, Oracle
from likewise.families.polynomial.score import PolynomialScore
from likewise.families.registry import oracle_of
from likewise.families.scores import Scores
from likewise.families.trees.score import TreeScore
from likewise.model.cases import Case, DecisionCase, SoftmaxCase
from likewise.model.conditions import Alpha, Enclosures
from likewise.model.question import Question
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import Separable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.trees.ground import Ground
    from likewise.model.classquestion import ClassQuestion

    Floats = NDArray[np.float64]

ALL_VIEWS = 9  # exact bounds of so many views are cheap enough to try them all
MORE_VIEWS = {
    True: 3,
    False: 1,
}  # views tried of more than that, besides those of one form: of exact bounds, of others


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One line's worth of a case: an oracle of two scores, and the question about them."""

    oracle: Oracle
    question: Question
    rivals: tuple[int, int] | None = None
    natural: bool = True  # whether both scores are one and the same, so that what the two share cancels


class Oracles:
    """The oracles of two forms, each made once for all cases."""

    def __init__(self, score: Scores, pairs: PairSpace) -> None:
        self.score, self.pairs = score, pairs
        self.made: dict[tuple[Alpha, Alpha], Oracle] = {}
        self.shared: Forms | None = None
        self.ground: Ground | None = None  # of trees: what all forms have in common

    def of(self, first: Alpha, second: Alpha) -> Oracle:
        if (first, second) not in self.made:
            here, there = self.score.form(first), self.score.form(second)
            if isinstance(here, TreeScore) and isinstance(there, TreeScore):
                self.made[first, second] = self._of_trees(here, there)
                return self.made[first, second]
            # One score of a polynomial would be put to sums of squares, which know no conditions.
            one = first == second and not isinstance(here, PolynomialScore)
            self.made[first, second] = oracle_of(here, self.pairs, None if one else there)
        return self.made[first, second]

    def _of_trees(self, here: TreeScore, there: TreeScore) -> Oracle:
        from likewise.families.trees.oracle import TreeOracle  # brings in numba, which others need not load

        return TreeOracle(here, self.pairs, there, self._grounded(here))

    def of_log_odds(self, of: int) -> Oracle:
        """The oracle of the probabilities of a class by softmax."""
        parts, first = self.separable(), self.score.parts[0]
        if parts is not None:
            return OddsOracle(parts, of, self.pairs)
        if not isinstance(first, TreeScore):
            raise UnsupportedModel(
                "softmax probabilities are verified for linear models and trees only",
                hint="ask for SameDecision or ScoreGap",
            )
        from likewise.families.trees.softmax import TreeSoftmaxOracle  # brings in numba

        return TreeSoftmaxOracle(first, of, self.pairs, self._grounded(first))

    def _grounded(self, score: TreeScore) -> Ground:
        from likewise.families.trees.ground import Ground  # numba as well

        if self.ground is None:
            self.ground = Ground(score, self.pairs)
        return self.ground

    def propose(self, question: ClassQuestion) -> bool:
        """Whether what the oracles propose are pairs as good as they come: where each case has one view, and that is remembered."""
        cases = question.cases()
        lone = not isinstance(cases[0], DecisionCase) or len(cases[0].combinations) == 1
        return lone and self.finite(cases[0])

    def remember(self) -> bool:
        """Whether oracles keep something about each cell."""
        return isinstance(self.score.parts[0], TreeScore)

    def finite(self, case: Case) -> bool:
        """Whether bounds are among finitely many numbers, so that the largest value can be told exactly."""
        return isinstance(self.score.parts[0], TreeScore) and not isinstance(case, SoftmaxCase)

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosures:
        """All scores of one individual."""
        return self.score.enclose(codes, bits)

    def forms(self) -> Forms:
        """All scores over cells, where they are separable."""
        if self.shared is None:
            self.shared = Forms(self.separable() or (), self.pairs)
        return self.shared

    def marked(self) -> dict[int, Floats]:
        """Codes that are worth trying, by feature."""
        if self.separable() is not None:
            return self.forms().marked()
        first = self.score.parts[0]
        return self._grounded(first).marked() if isinstance(first, TreeScore) else {}

    def separable(self) -> list[Separable] | None:
        """All scores, where they are separable."""
        parts = [part for part in self.score.parts if isinstance(part, Separable)]
        return parts if len(parts) == len(self.score.parts) else None


class CaseOracle:
    """Oracle of a case; `view` is the one that bounds are taken of."""

    def __init__(self, case: Case, oracles: Oracles) -> None:
        self.case, self.score, self.pairs = case, oracles.score, oracles.pairs
        self.views = _views(case, oracles)
        self.places = {view.rivals: n for n, view in enumerate(self.views)}
        self.view = 0
        self.rule, self.exact = self.views[0].oracle.rule, self.views[0].oracle.exact
        self.discrete = np.array([v.discrete for v in self.pairs.variables])
        self.forms: Forms | None = None
        if isinstance(case, DecisionCase):
            conditions = [*case.first, *case.second]
            self.alphas = np.array([[float(a) for a in c.alpha] for c in conditions])
            self.forms = None if oracles.separable() is None else oracles.forms()

    @property
    def proves(self) -> bool:
        """Whether a case that closes is a proof by itself: boxes of odds are halved in float64, which only the checker makes one."""
        return self.exact and self.rule != "odds"

    def ask(self, case: Case) -> None:
        """Take the same case at another level."""
        self.case = case
        for n, view in enumerate(self.views):
            question = case.asked if view.rivals is None else case.rivals(*view.rivals)  # type: ignore[attr-defined]
            self.views[n] = replace(view, question=question)

    def warm_up(self) -> None:
        self.views[0].oracle.warm_up()

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        return self.views[self.view].oracle.bound(lo, hi, lean, threshold)

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        return self.views[0].oracle.candidates(lo, hi)

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        return self.views[0].oracle.starts(lo, hi)

    def branch(
        self, lo: Floats, hi: Floats, loss: Floats | None = None, cuts: Floats | None = None
    ) -> tuple[NDArray[np.intp], Floats]:
        if self.forms is None:
            return self.views[0].oracle.branch(lo, hi, loss, cuts)
        return widest(self.forms, self.discrete, self.forms.spread(self.alphas, lo, hi), lo, hi)

    def after(self, variable: int, at: float) -> float | None:
        return (
            self.views[0].oracle.after(variable, at) if self.forms is None else self.forms.after(variable, at)
        )

    def relax(self, lo: Floats, hi: Floats, question: Question) -> Relaxed | None:  # noqa: ARG002
        """What excludes the whole cell, else what the linear program of the view says."""
        leaf = empty_leaf(self.pairs, lo.tolist(), hi.tolist())
        if leaf is not None:
            return Relaxed(leaf=leaf, point=lo, fractional=None)
        view = self.views[self.view]
        return view.oracle.relax(lo, hi, view.question)

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: Question) -> Clearance | None:
        """As the view that the leaf is about; what no view is about is looked at here."""
        if leaf.rule == "independent":
            return Fraction(0) if independent(self.pairs, self.score) else None
        if leaf.rule == "enumerated":
            return enumerated_clearance(self.pairs, self.score.enclose, lo.tolist(), hi.tolist(), question)
        if leaf.rule == "empty":
            return math.inf if excludes(self.pairs, lo.tolist(), hi.tolist(), leaf) else None
        view = self.views[self.place(leaf)]
        return view.oracle.prove(lo, hi, leaf, view.question)

    def place(self, leaf: Leaf) -> int:
        """The view that a leaf is about."""
        return self.place_of(leaf.rivals)

    def place_of(self, rivals: tuple[int, int] | None) -> int:
        """The view of two conditions."""
        return self.places.get(rivals, 0)

    @property
    def directions(self) -> tuple[tuple[int, ...], ...]:
        """What leaves of the rule `odds` are written with."""
        oracle = self.views[0].oracle
        return oracle.directions if isinstance(oracle, OddsOracle) else ()

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosures:
        return self.score.enclose(codes, bits)

    def plans(self, lo: Floats, hi: Floats, known: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which views to try of which cells, (views, cells): all, or those that look best at one pair of the cell, those of one
        form, and the one that was `known` to be best of the cell that this one is part of."""
        if len(self.views) == 1 or (self.exact and len(self.views) <= ALL_VIEWS):
            return np.ones((len(self.views), len(lo)), dtype=bool)
        value = self._values(self.candidates(lo, hi))
        few = MORE_VIEWS[self.exact]
        chosen = np.zeros((len(self.views), len(lo)), dtype=bool)
        np.put_along_axis(chosen, np.argpartition(value, few, axis=0)[:few], True, axis=0)
        chosen[[n for n, view in enumerate(self.views) if view.natural]] = True
        chosen[known, np.arange(len(lo))] = True
        return chosen

    def leans(self, lo: Floats, hi: Floats, view: int) -> Floats:
        """Where to start a view that is new to a cell: even where the two share their score, else the side that is lower."""
        if self.views[view].natural:
            return np.full(len(lo), 0.5)
        first, second = self._sides(self.candidates(lo, hi))
        r, other = self.views[view].rivals or (0, 0)
        return np.where(first[:, r] < second[:, other], 1.0, 0.0)

    def _sides(self, points: Floats) -> tuple[Floats, Floats]:
        """The values of all conditions, at x and at x'."""
        count = len(self.case.first) if isinstance(self.case, DecisionCase) else 0
        first = self.score.scores(points[:, list(self.pairs.first)]) @ self.alphas[:count].T
        return first, self.score.scores(points[:, list(self.pairs.second)]) @ self.alphas[count:].T

    def _values(self, points: Floats) -> Floats:
        """How low each view's line is at a pair, for the best of three leans; (views, pairs)."""
        first, second = self._sides(points)
        rows = []
        for view in self.views:
            here, there = first[:, (view.rivals or (0, 0))[0]], second[:, (view.rivals or (0, 0))[1]]
            rows.append(np.minimum(np.minimum(here, there), (here + there) / 2))
        return np.stack(rows)


def _views(case: Case, oracles: Oracles) -> list[View]:
    if isinstance(case, DecisionCase):
        views = []
        for r, other in case.combinations:
            first, second = case.first[r].alpha, tuple(-a for a in case.second[other].alpha)
            views.append(
                View(
                    oracle=oracles.of(first, second),
                    question=case.rivals(r, other),
                    rivals=(r, other),
                    natural=first == second,
                )
            )
        return views
    if isinstance(case, SoftmaxCase):
        return [View(oracle=oracles.of_log_odds(case.of), question=case.asked)]
    unit: Alpha = tuple(Fraction(n == getattr(case, "of", 0)) for n in range(len(oracles.score.parts)))
    form = oracles.score.form(unit)
    oracle = oracles.of(unit, unit) if isinstance(form, TreeScore) else oracle_of(form, oracles.pairs)
    return [View(oracle=oracle, question=case.line)]
