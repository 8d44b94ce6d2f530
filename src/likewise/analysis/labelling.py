"""Labelling: the decisions of many individuals and of their counterparts, by their scores; exactly where float64 does not tell, as far as there is time."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.clock import OutOfTime, look_at_clock
from likewise.model.enclosure import FIRST_BITS, MOST_BITS
from likewise.search.certainty import Near
from likewise.search.class_counterparts import ClassAsked
from likewise.search.pacing import scored_in_pieces, settling_part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.budget import Budget
    from likewise.search.counterparts import Asked
    from likewise.search.judgement import Judgement
    from likewise.verifying.posing import PosedProblem

    Floats = NDArray[np.float64]


def labels_of(
    posed: PosedProblem, asked: Asked | ClassAsked, rows: Floats, found: Judgement, budget: Budget
) -> tuple[list[Any], list[Any]] | None:
    """Of all rows and of their counterparts; None of somebody whom no precision tells, where there is nobody or no time, and None of all for a regressor."""
    if posed.imported.model.head.labels is None:
        return None
    at_last = settling_part(budget)
    if isinstance(asked, ClassAsked):
        somebody = ~np.isnan(found.counterpart).any(axis=1)
        own, others = _by_all_scores(asked, rows, at_last), [None] * len(rows)
        known = _by_all_scores(asked, found.counterpart[somebody], at_last)
        for i, label in zip(np.flatnonzero(somebody), known, strict=True):
            others[i] = label
        return own, others
    of_one = _OneScore(posed, asked)
    return of_one.labels(rows, found.score, at_last), of_one.labels(found.counterpart, found.other, at_last)


def _by_all_scores(asked: ClassAsked, rows: Floats, budget: Budget) -> list[Any]:
    labels = asked.question.head.classes
    return [None if place is None else labels[place] for place in asked.classes(rows, budget)]


class _OneScore:
    """Decisions by the sign of a score."""

    def __init__(self, posed: PosedProblem, asked: Asked) -> None:
        self.asked, self.head, self.mirrored = asked, posed.imported.model.head, posed.mirrored

    def labels(self, codes: Floats, score: Near, budget: Budget) -> list[Any]:
        """The decision of each individual, by the sign of its score: by enclosures where float64 does not tell. None where there is nobody, no
        precision tells, or the time is over."""
        unknown = np.flatnonzero(~np.isfinite(score.error) & ~np.isnan(codes).any(axis=1))
        for some, scored in scored_in_pieces(self.asked.judge, codes, unknown, budget):
            score.take(some, Near(value=scored.values[:, 0], error=scored.error[:, 0]))
        labels = self.head.classes
        known = self._sides(score)
        found = [labels[place] if place >= 0 else None for place in known.tolist()]
        with suppress(OutOfTime), budget.watched():
            for i in np.flatnonzero((known < 0) & ~np.isnan(score.value)).tolist():
                look_at_clock()
                found[i] = self._exact_label(codes[i])
        return found

    def _sides(self, score: Near) -> NDArray[np.int64]:
        """1 where the upper label is certain, 0 where the lower one is, else -1."""
        head, mirrored = self.head, self.mirrored
        at = Fraction(0) if head.undecided is None else -head.offset / head.slope
        rising = (head.undecided is None or head.slope > 0) != mirrored
        border = float(at) * (-1 if mirrored else 1)
        room = score.error + abs(border) * 2.0**-50 + np.abs(score.value) * 2.0**-50
        above, below = score.value - border > room, score.value - border < -room
        upper, lower = (above, below) if rising else (below, above)
        return np.where(upper, 1, np.where(lower, 0, -1))

    def _exact_label(self, codes: Floats) -> Any:
        """None where no precision tells."""
        head, bits = self.head, FIRST_BITS
        exact = [Fraction(c) for c in codes.tolist()]
        while bits <= MOST_BITS:
            score = self.asked.judge.enclose(exact, bits)
            score = -score if self.mirrored else score
            labels = head.decide([score.lo]), head.decide([score.hi])
            if labels[0] == labels[1]:
                return labels[0]
            bits *= 4
        return None
