"""Goals: what a pair is to be good at, in float64, for a search that climbs. From the scores f(x) and f(x') of the two, with

    u = the least of first . f(x) + offset,    v = the least of second . f(x') + offset,    over the rows of first and second,

a decision wants min(u, v) to be large, a gap u + v, a gap of probabilities sigma(u) - sigma(-v).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.question import Question

    Floats = NDArray[np.float64]

Worth = Literal["decision", "gap", "probability"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Goal:
    """Rows of factors of the scores at x and at x', and what is made of the two leads."""

    worth: Worth
    first: Floats
    second: Floats
    offset: float = 0.0


def goals_of(question: Question) -> list[Goal]:
    """The goals of a question, whose pairs are the same in either order; none where votes decide."""
    if not question.several:
        return [_of_one_score(question)]
    unit = np.eye(question.head.n_scores)
    if question.kind == "decision":
        pairs = question.class_pairs if question.head.rule == "argmax" else []
        return [Goal(worth="decision", first=_ahead(unit, i), second=_ahead(unit, j)) for i, j in pairs]
    return [Goal(worth="gap", first=unit[c : c + 1], second=-unit[c : c + 1]) for c in question.places]


def _of_one_score(question: Question) -> Goal:
    one = np.ones((1, 1))
    if question.kind == "probability" and question.level > 0:
        slope, offset = float(abs(question.head.slope)), float(question.head.offset)
        return Goal(worth="probability", first=slope * one, second=-slope * one, offset=offset)
    worth: Worth = "decision" if question.kind == "decision" else "gap"
    return Goal(worth=worth, first=one, second=-one)


def _ahead(unit: Floats, of: int) -> Floats:
    """The leads of a class over all others."""
    leads: Floats = unit[of] - np.delete(unit, of, axis=0)
    return leads
