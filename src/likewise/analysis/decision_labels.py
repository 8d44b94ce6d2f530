"""Labelling: the decisions of many individuals and of their counterparts, by their scores; exactly where float64 does not tell, as far as there is time."""

from __future__ import annotations

from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.families.score_judge import ScoreTable
from likewise.search.pace import closing_budget, score_in_pieces
from likewise.search.treatments import classify_rows, decide_class
from likewise.spec.enclosure import FIRST_BITS, MOST_BITS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.budget import Budget
    from likewise.search.certainty import ScoreEstimate
    from likewise.search.inquiry import Inquiry
    from likewise.search.judgement import Judgement
    from likewise.verifying.posed_problem import PosedProblem

    Floats = NDArray[np.float64]
    Places = NDArray[np.int64]

UNCERTAIN_LABEL = -1  # the place of a class that float64 does not tell


def label_rows(
    posed: PosedProblem, inquiry: Inquiry, rows: Floats, found: Judgement, budget: Budget
) -> tuple[Places, Places] | None:
    """The places of the classes of all rows and of their counterparts; UNCERTAIN_LABEL of somebody whom no precision tells, where there is nobody or no time, and None of all
    for a regressor."""
    if posed.imported.model.head.labels is None:
        return None
    at_last, labelling = closing_budget(budget), Labeller(posed, inquiry)
    return (
        labelling.labels(rows, found.score, at_last),
        labelling.labels(found.counterpart, found.other, at_last),
    )


class Labeller:
    """Decisions by the head of a model, margins left aside."""

    def __init__(self, posed: PosedProblem, inquiry: Inquiry) -> None:
        self.judge, self.head, self.mirrored = inquiry.judge, posed.imported.model.head, posed.mirrored

    def labels(self, codes: Floats, known: ScoreEstimate, budget: Budget) -> Places:
        """The decision of each individual, by the score that is known of it or by all of its scores. UNCERTAIN_LABEL where there is nobody, no
        precision tells, or the time is over."""
        places: Places = np.full(len(codes), UNCERTAIN_LABEL, dtype=np.int64)
        scored = np.isfinite(known.error) & ~np.isnan(known.value)
        if scored.any():
            value, error = known.value[scored], known.error[scored]
            places[scored] = self._places(ScoreTable(values=value[:, None, None], error=error[:, None]))
        unknown = np.flatnonzero(~np.isfinite(known.error) & ~np.isnan(codes).any(axis=1))
        for some, table in score_in_pieces(self.judge, codes, unknown, budget):
            places[some], scored[some] = self._places(table), True
        with suppress(OutOfTime), budget.watched():
            for i in np.flatnonzero((places == UNCERTAIN_LABEL) & scored).tolist():
                check_clock()
                place = self._exact_place([Fraction(c) for c in codes[i].tolist()])
                places[i] = UNCERTAIN_LABEL if place is None else place
        return places

    def _places(self, table: ScoreTable) -> Places:
        """The class of each row by float64."""
        if self.head.rule == "sign":
            return self._sides(table.values[:, 0, 0], table.error[:, 0])
        return np.maximum(classify_rows(self.head, Fraction(0), table)[:, 0], UNCERTAIN_LABEL)

    @property
    def border(self) -> tuple[Fraction, bool]:
        """The score, as the judge has it, at which a decision by sign changes, and whether it is the upper one above that."""
        head, mirrored = self.head, self.mirrored
        at = Fraction(0) if head.undecided is None else -head.offset / head.slope
        rising = (head.undecided is None or head.slope > 0) != mirrored
        return -at if mirrored else at, rising

    def _sides(self, value: Floats, error: Floats) -> Places:
        """1 where the upper label is certain, 0 where the lower one is."""
        at, rising = self.border
        border = float(at)
        room = error + abs(border) * 2.0**-50 + np.abs(value) * 2.0**-50
        above, below = value - border > room, value - border < -room
        upper, lower = (above, below) if rising else (below, above)
        return np.where(upper, 1, np.where(lower, 0, UNCERTAIN_LABEL))

    def _exact_place(self, codes: list[Fraction]) -> int | None:
        """None where no precision tells."""
        head, bits = self.head, FIRST_BITS
        if head.rule != "sign":
            return decide_class(head, Fraction(0), self.judge.enclose, codes)
        while bits <= MOST_BITS:
            (score,) = self.judge.enclose(codes, bits)
            score = -score if self.mirrored else score
            places = head.place([score.lo]), head.place([score.hi])
            if places[0] == places[1]:
                return places[0]
            bits *= 4
        return None
