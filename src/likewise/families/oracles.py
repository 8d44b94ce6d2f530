"""Oracles of a model: for each case of a question the one that a frontier talks to, over bounders that are made once for all cases."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import TYPE_CHECKING, Any

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.batch_oracle import BatchOracle
from likewise.families.oracle import MemoryBounder
from likewise.families.registry import bounder_of, family_of
from likewise.families.scored_model import Scores
from likewise.families.views import View, Views
from likewise.model.cases import SoftmaxCase

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from likewise.families.family import Score
    from likewise.families.forms import FormBounder
    from likewise.families.oracle import Bounder, Oracle
    from likewise.model.cases import Case
    from likewise.model.conditions import Alpha
    from likewise.model.question import Question
    from likewise.spec.enclosure import Enclosure
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]


NO_SOFTMAX = "softmax probabilities are proved for linear models and trees only"


class Oracles:
    """What is known of n >= 1 scores over the cells of pairs. `bounder` is that of the only score; a family without bounds has none."""

    def __init__(self, score: Score | Scores, pairs: PairSpace, bounder: Bounder | None = None) -> None:
        self.score, self.pairs, self.bounder = score, pairs, bounder
        self.made: dict[tuple[Alpha, Alpha], Bounder] = {}
        self.family = family_of(self.parts[0])
        self._shared: Any = None

    @classmethod
    def of_scores(cls, score: Score | Scores, pairs: PairSpace) -> Oracles:
        """Those of the only score, with its bounder, or of all scores of several."""
        return cls(score, pairs, None if isinstance(score, Scores) else bounder_of(score, pairs))

    # -- what kind of model it is -------------------------------------------------------------------------------

    @property
    def several(self) -> bool:
        """Whether individuals have more than one score."""
        return isinstance(self.score, Scores)

    @property
    def all_scores(self) -> Scores:
        """All scores of several."""
        if not isinstance(self.score, Scores):
            raise InternalError("one score was taken for several")
        return self.score

    @property
    def parts(self) -> Sequence[Score]:
        """All scores."""
        return self.score.parts if isinstance(self.score, Scores) else (self.score,)

    @property
    def one(self) -> Bounder:
        """What bounds the only score."""
        self._refuse_unbounded()
        if self.bounder is None:
            raise InternalError("the bounds of one score were asked for, and there are several")
        return self.bounder

    def _refuse_unbounded(self) -> None:
        if self.unbounded is not None:
            raise UnsupportedModel(
                f"how far such scores can be apart is not known: {self.unbounded}",
                hint="verify and audit look for pairs all the same; of a repaired model, ask about the features that it was "
                "repaired for, or about the model inside",
            )

    @property
    def unbounded(self) -> str | None:
        """Why nothing is known of cells, where that is so."""
        return self.family.why_unbounded(self.parts)

    @property
    def silent(self) -> bool:
        """Whether a model that can only be asked answers no more."""
        return self.family.silent(self.parts)

    @property
    def exact(self) -> bool:
        """Whether a closed cell of the only score is proved; where there are no bounds, what is looked through is."""
        return self.bounder is None or self.bounder.exact

    @property
    def remembers(self) -> bool:
        """Whether something is kept about each cell, so that pairs proposed by bounds are as good as they come."""
        return self.family.remembers

    def unproved(self, question: Question) -> str | None:
        """Why no proof is tried, where that is so."""
        if self.unbounded is not None:
            return f"no proof is known: {self.unbounded}"
        if self.searched_only(question):
            return NO_SOFTMAX
        return question.unproved()

    def searched_only(self, question: Question) -> bool:
        """Whether nothing bounds what is asked: the model is a black box, or has a softmax that no bound is
        known of."""
        return self.family.opaque or (question.softmax and self.family.softmax is None)

    def variation_of_sum(self) -> Fraction | None:
        """How far the sum of all scores varies from one individual to another at most, exactly; None where that is not known."""
        total = self._form(tuple(Fraction(1) for _ in self.parts))
        return self.family.variation(total, len(self.pairs.first))

    def finite(self, case: Case) -> bool:
        """Whether bounds are among finitely many numbers, so that the largest value can be told exactly."""
        return self.remembers and not isinstance(case, SoftmaxCase)

    def proposes(self, case: Case) -> bool:
        """Whether what bounds propose are pairs as good as they come: where a case has one view, and that is remembered."""
        return self.finite(case) and all(len(conditions) <= 1 for conditions in case.conditions)

    # -- individuals --------------------------------------------------------------------------------------------

    def enclose(self, codes: Sequence[Fraction], bits: int) -> tuple[Enclosure, ...]:
        """All scores of one individual, to about so many bits."""
        if isinstance(self.score, Scores):
            return self.score.enclose(codes, bits)
        return (self.score.enclose(codes, bits),)

    def codes_to_try(self) -> dict[int, Floats]:
        """Codes that are worth trying, by feature."""
        if self.bounder is not None:
            return self.bounder.codes_to_try()
        return self.family.codes_to_try(self.shared())

    def forms(self, moving: Sequence[int]) -> FormBounder | None:
        """What has linear forms of the only score over boxes of individuals; None where nothing does."""
        return None if self.several else self.family.forms(self.score, self.pairs, moving)

    # -- cells --------------------------------------------------------------------------------------------------

    def warm_up(self) -> None:
        """What is done once before cells of the only score are bounded."""
        if self.bounder is not None:
            self.bounder.warm_up()

    def of(self, case: Case) -> Oracle:
        """What a frontier of this case talks to."""
        if not self.several:
            whole = self.pairs.allowance is None
            views = Views(case, [View(bounder=self.one)], self.pairs, scores=self.score.scores, whole=whole)
        else:
            forms = self.shared() if self.family.additive else None
            views = Views(case, self._views(case), self.pairs, scores=self.score.scores, forms=forms)
        if not isinstance(views.first, MemoryBounder):
            return BatchOracle(views, self.enclose, self.score)
        from likewise.families.memory_oracle import MemoryOracle

        return MemoryOracle(views, self.enclose, self.score)

    def _views(self, case: Case) -> list[View]:
        here, there = case.conditions
        if here and there:
            views = []
            for (r, one), (other, two) in product(enumerate(here), enumerate(there)):
                first, second = one.alpha, tuple(-a for a in two.alpha)
                bounder = self.of_forms(first, second)
                views.append(View(bounder=bounder, rivals=(r, other), natural=first == second))
            return views
        if isinstance(case, SoftmaxCase):
            return [View(bounder=self.of_log_odds(case.of))]
        unit: Alpha = tuple(Fraction(n == case.of) for n in range(len(self.parts)))
        if self.family.remembers:
            return [View(bounder=self.of_forms(unit, unit))]
        return [View(bounder=self._known(bounder_of(self._form(unit), self.pairs)))]

    def _form(self, alpha: Alpha) -> Score:
        return self.all_scores.form(alpha)

    def of_forms(self, first: Alpha, second: Alpha) -> Bounder:
        """What bounds a form at x beside one at x'; made once."""
        if (first, second) not in self.made:
            here, there = self._form(first), self._form(second)
            bounder = self.family.bounder_of_forms(here, there, self.pairs, self.shared())
            self.made[first, second] = self._known(bounder)
        return self.made[first, second]

    def of_log_odds(self, of: int) -> Bounder:
        """What bounds the probabilities of a class by softmax."""
        bounder: Bounder | None = self.family.bounder_of_log_odds(self.parts, of, self.pairs, self.shared())
        if bounder is None:
            raise UnsupportedModel(
                NO_SOFTMAX,
                hint="ask for SameDecision or ScoreGap",
            )
        return bounder

    def _known(self, bounder: Bounder | None) -> Bounder:
        self._refuse_unbounded()
        if bounder is None:
            raise InternalError(f"the family {self.family.name} has no bounder of two forms")
        return bounder

    def shared(self) -> Any:
        """What the bounders of all forms have in common, of a family that has something; made once."""
        if self._shared is None:
            self._shared = self.family.shared(self.parts, self.pairs)
        return self._shared
