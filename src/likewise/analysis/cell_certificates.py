"""Cell certificates: what float64 bounds propose about a cell of individuals, proved by certificates that the checker accepts.

Bounds of kernel and polynomial scores are float64 and only propose. A cell is a box of codes of the space that the model is over, and what is said of it is what
`regions` says of a box (`settling`): a fair one has a certificate of the claim on everybody similar to somebody in it, a biased one two, for
two settings of the free features after which the checker says that everybody gets one decision, and another one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.analysis.counterparts import Change, Counterpart
from likewise.analysis.ground import Unasked, narrowed
from likewise.analysis.settling import Settler, slice_of
from likewise.errors import InternalError
from likewise.importers.recoding import same_space
from likewise.importers.restricting import restricted
from likewise.model.question import DecisionQuestion
from likewise.progress import silent
from likewise.search.remembering import search_of
from likewise.search.sided import LOWER, UPPER
from likewise.spec.boxes import Box, closed
from likewise.spec.features import Categorical, Continuous, Ordinal
from likewise.spec.properties import SameDecision

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from likewise.analysis.judging_scores import ScoreJudging
    from likewise.search.problem import Problem
    from likewise.spec.boxes import Part
    from likewise.spec.features import Feature
    from likewise.spec.properties import Property
    from likewise.spec.space import Space
    from likewise.verifying.certifying import Checking

    Floats = NDArray[np.float64]

FAIR_CELLS = 64  # of pairs, spent on a cell of individuals before it is cut
OF_THE_TIME = 0.05  # that is left, which the proof of one cell may take


@dataclass(slots=True, kw_only=True)
class CellCertificates:
    """Proves cells of one judging; `accepted` counts the certificates."""

    settler: Settler
    problem: Problem  # over the whole space
    accepted: int = 0

    @classmethod
    def of(cls, judging: ScoreJudging, checking: Checking) -> CellCertificates:
        """About codes: the space that the model is over takes the place of the user's own, and parts of it are never imported again."""
        over, imported = _with_names(judging.pairs.space), judging.prepared.imported
        whole = replace(imported, recoding=same_space(over))
        if restricted(whole, over) is None or any(map(_misses_numbers, over.features.values())):
            raise InternalError(f"cells of {imported.model.family} have no certificates")
        settler = Settler(
            model=None,
            whole=whole,
            space=over,
            asked=_asked(judging),
            relations=judging.pairs.relations,
            budget=judging.budget,
            checking=checking,
            of_the_time=OF_THE_TIME,
        )
        problem = replace(judging.prepared.problem, replay=Unasked(), listener=silent)
        return cls(settler=settler, problem=problem)

    def looks_fair(self, lo: Floats, hi: Floats) -> bool:
        """Whether a short search closes all pairs of everybody similar to somebody in the cell, in float64."""
        box, budget = self._box(lo, hi), self.settler.budget
        if box is None or budget.over:
            return False
        ends = [(part[0], part[-1]) for part in closed(box, self.settler.relations).parts]
        low, high = (np.array(side, dtype=float) for side in zip(*ends, strict=True))
        problem = replace(
            self.problem,
            pairs=narrowed(self.problem.pairs, low, high),
            budget=slice_of(budget, OF_THE_TIME * (budget.seconds - budget.elapsed)),
            unreplayed=[],
        )
        return search_of(problem).run(most=FAIR_CELLS) == "closed"

    def fair(self, lo: Floats, hi: Floats) -> bool:
        """Whether it is proved that nobody in the cell is in a pair that breaks the property."""
        box = self._box(lo, hi)
        if self.settler.budget.over or box is None or self.settler.fair(box) is None:
            return False
        self.accepted += 1
        return True

    def biased(self, lo: Floats, hi: Floats, free: Sequence[int], upper: Floats, lower: Floats) -> bool:
        """Whether it is proved that everybody in the cell gets the upper decision at one setting of the free features, the lower one at another."""
        counterparts = tuple(
            Counterpart(
                change=Change.of({k: ("set", code) for k, code in zip(free, setting.tolist(), strict=True)}),
                lean=lean,
            )
            for setting, lean in ((upper, UPPER), (lower, LOWER))
        )
        box = self._box(lo, hi)
        if self.settler.budget.over or box is None or not self.settler.biased(box, counterparts):
            return False
        self.accepted += len(counterparts)
        return True

    def _box(self, lo: Floats, hi: Floats) -> Box | None:
        """None where a level is missing to everybody: no space is made of that."""
        space = self.settler.space
        features = [space[name] for name in space.names]
        if any(feature.missing_code == low for feature, low in zip(features, lo.tolist(), strict=True)):
            return None
        return Box(space, tuple(map(_part, features, lo.tolist(), hi.tolist())))


def _asked(judging: ScoreJudging) -> Property:
    """The property of the score that is judged: decisions between two classes are about half a lead, with half the margin."""
    question = judging.question
    if not isinstance(question, DecisionQuestion):
        asked: Property = judging.source.claim.property
        return asked
    margin = float(question.level)
    if Fraction(margin) != question.level:
        raise InternalError("a margin that is no double")
    return SameDecision(margin)


def _with_names(space: Space) -> Space:
    """The space with numbers for levels of which one is missing, so that it may be the only one of a cell; the same where constraints
    speak of levels by their names."""
    if space.constraints:
        return space
    return space.replace(
        {
            name: type(feature)(range(feature.size))
            for name, feature in space.features.items()
            if isinstance(feature, (Categorical, Ordinal)) and feature.missing
        }
    )


def _misses_numbers(feature: Feature) -> bool:
    return not isinstance(feature, (Categorical, Ordinal)) and feature.missing


def _part(feature: Feature, low: float, high: float) -> Part:
    if isinstance(feature, (Categorical, Ordinal)):
        return tuple(range(int(low), int(high) + 1))
    return (low, high) if isinstance(feature, Continuous) else (int(low), int(high))
