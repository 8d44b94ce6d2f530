"""Oracles of a model: for each case of a question the one that a frontier talks to, over bounders that are made once for all cases."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.affine.forms import Forms
from likewise.families.affine.odds import OddsOracle
from likewise.families.batched import Batched
from likewise.families.combined.score import NO_BOUNDS, CombinedScore
from likewise.families.oracle import Remembering
from likewise.families.polynomial.score import PolynomialScore
from likewise.families.registry import oracle_of
from likewise.families.remembered import Remembered
from likewise.families.scores import Scores
from likewise.families.trees.score import TreeScore
from likewise.families.views import View, Views
from likewise.model.cases import DecisionCase, GapCase, SoftmaxCase
from likewise.spec.terms import Separable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from likewise.families.family import Score
    from likewise.families.oracle import Bounder, Oracle
    from likewise.families.trees.ground import Ground
    from likewise.model.conditions import Alpha
    from likewise.model.question import Case, Question
    from likewise.spec.enclosure import Enclosure
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]


class Oracles:
    """What is known of n >= 1 scores over the cells of pairs. `bounder` is that of the only score; a family without bounds has none."""

    def __init__(self, score: Score | Scores, pairs: PairSpace, bounder: Bounder | None = None) -> None:
        self.score, self.pairs, self.bounder = score, pairs, bounder
        self.made: dict[tuple[Alpha, Alpha], Bounder] = {}
        self.shared: Forms | None = None
        self.ground: Ground | None = None  # of trees: what all forms have in common

    # -- what kind of model it is -------------------------------------------------------------------------------

    @property
    def several(self) -> bool:
        """Whether individuals have more than one score."""
        return isinstance(self.score, Scores)

    @property
    def parts(self) -> Sequence[Score]:
        """All scores."""
        return self.score.parts if isinstance(self.score, Scores) else (self.score,)

    @property
    def one(self) -> Bounder:
        """What bounds the only score."""
        if self.unbounded is not None:
            raise UnsupportedModel(
                f"how far such scores can be apart is not known: {self.unbounded}",
                hint="ask about the features that the model was repaired for, or about the model inside",
            )
        if self.bounder is None:
            raise InternalError("the bounds of one score were asked for, and there are several")
        return self.bounder

    @property
    def unbounded(self) -> str | None:
        """Why nothing is known of cells, where that is so."""
        return NO_BOUNDS if isinstance(self.parts[0], CombinedScore) else None

    @property
    def exact(self) -> bool:
        """Whether a closed cell of the only score is proved; where there are no bounds, what is looked through is."""
        return self.bounder is None or self.bounder.exact

    @property
    def remembers(self) -> bool:
        """Whether something is kept about each cell, so that pairs proposed by bounds are as good as they come."""
        return isinstance(self.parts[0], TreeScore)

    def unproved(self, question: Question) -> str | None:
        """Why no proof is tried, where that is so."""
        return question.unproved() if self.unbounded is None else f"no proof is known: {self.unbounded}"

    def finite(self, case: Case) -> bool:
        """Whether bounds are among finitely many numbers, so that the largest value can be told exactly."""
        return self.remembers and not isinstance(case, SoftmaxCase)

    def proposes(self, case: Case) -> bool:
        """Whether what bounds propose are pairs as good as they come: where a case has one view, and that is remembered."""
        return self.finite(case) and (not isinstance(case, DecisionCase) or len(case.combinations) == 1)

    # -- individuals --------------------------------------------------------------------------------------------

    def enclose(self, codes: Sequence[Fraction], bits: int) -> tuple[Enclosure, ...]:
        """All scores of one individual, to about so many bits."""
        if isinstance(self.score, Scores):
            return self.score.enclose(codes, bits)
        return (self.score.enclose(codes, bits),)

    def marked(self) -> dict[int, Floats]:
        """Codes that are worth trying, by feature."""
        if self.bounder is not None:
            return self.bounder.marked()
        if self.separable() is not None:
            return self.forms().marked()
        first = self.parts[0]
        return self._grounded(first).marked() if isinstance(first, TreeScore) else {}

    # -- cells --------------------------------------------------------------------------------------------------

    def warm_up(self) -> None:
        """What is done once before cells of the only score are bounded."""
        if self.bounder is not None:
            self.bounder.warm_up()

    def of(self, case: Case) -> Oracle:
        """What a frontier of this case talks to."""
        if self.bounder is not None:
            views = Views(
                case, [View(bounder=self.bounder)], self.pairs, scores=self.score.scores, whole=True
            )
        else:
            forms = None if self.separable() is None else self.forms()
            views = Views(case, self._views(case), self.pairs, scores=self.score.scores, forms=forms)
        kind = Remembered if isinstance(views.first, Remembering) else Batched
        return kind(views, self.enclose, self.score)

    def _views(self, case: Case) -> list[View]:
        if isinstance(case, DecisionCase):
            views = []
            for r, other in case.combinations:
                first, second = case.first[r].alpha, tuple(-a for a in case.second[other].alpha)
                bounder = self.of_forms(first, second)
                views.append(View(bounder=bounder, rivals=(r, other), natural=first == second))
            return views
        if isinstance(case, SoftmaxCase):
            return [View(bounder=self.of_log_odds(case.of))]
        if not isinstance(case, GapCase):
            raise InternalError(f"no way to bound {type(case).__name__} of several scores")
        unit: Alpha = tuple(Fraction(n == case.of) for n in range(len(self.parts)))
        form = self._form(unit)
        alone = not isinstance(form, TreeScore)
        return [View(bounder=self._bounder(form) if alone else self.of_forms(unit, unit))]

    def _form(self, alpha: Alpha) -> Score:
        if not isinstance(self.score, Scores):
            raise InternalError("one score has no forms")
        return self.score.form(alpha)

    def of_forms(self, first: Alpha, second: Alpha) -> Bounder:
        """What bounds a form at x beside one at x'; made once."""
        if (first, second) not in self.made:
            here, there = self._form(first), self._form(second)
            if isinstance(here, TreeScore) and isinstance(there, TreeScore):
                self.made[first, second] = self._of_trees(here, there)
                return self.made[first, second]
            # One score of a polynomial would be put to sums of squares, which know no conditions.
            one = first == second and not isinstance(here, PolynomialScore)
            self.made[first, second] = self._bounder(here, None if one else there)
        return self.made[first, second]

    def _bounder(self, score: Score, second: Score | None = None) -> Bounder:
        found = oracle_of(score, self.pairs, second)
        if found is None:
            raise InternalError(f"bounds were asked for: {self.unbounded}")
        return found

    def _of_trees(self, here: TreeScore, there: TreeScore) -> Bounder:
        from likewise.families.trees.oracle import TreeOracle  # brings in numba, which others need not load

        return TreeOracle(here, self.pairs, there, self._grounded(here))

    def of_log_odds(self, of: int) -> Bounder:
        """What bounds the probabilities of a class by softmax."""
        parts, first = self.separable(), self.parts[0]
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

    def forms(self) -> Forms:
        """All scores over cells, where they are separable."""
        if self.shared is None:
            self.shared = Forms(self.separable() or (), self.pairs)
        return self.shared

    def separable(self) -> list[Separable] | None:
        """All scores, where they are separable."""
        parts: list[Separable] = [part for part in self.parts if isinstance(part, Separable)]
        return parts if len(parts) == len(self.parts) else None
