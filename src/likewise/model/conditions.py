"""Conditions: what makes an individual one of a class, as forms of its scores that must be > level, or >= where not strict.

    argmax   f_i - f_k for every other class k; of two that are level the smaller one is the class
    votes    the scores of a cube with their signs (`vote_cubes`)

Scores come as enclosures (exact ones have equal ends), so answers are True, False, or None where the enclosures do not tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.model.cubes import MOST_CLASSES, Cube, vote_cubes
from likewise.model.head import Head, count_votes
from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Enclosures = tuple[Enclosure, ...]
Alpha = tuple[Fraction, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """alpha . f > level, or >= level where not strict."""

    alpha: Alpha
    strict: bool

    def decided(self, scores: Enclosures, level: Fraction) -> bool | None:
        """Whether the condition holds; None where the enclosures do not tell."""
        value = enclose_form(self.alpha, scores)
        if value.lo > level or (not self.strict and value.lo == level):
            return True
        return False if value.hi < level or (self.strict and value.hi == level) else None


def leading_conditions(i: int, count: int) -> tuple[Condition, ...]:
    """f_i - f_k > m for k < i, >= m for k > i: of two that are level the smaller one is the class."""
    return tuple(
        Condition(alpha=tuple(Fraction((n == i) - (n == k)) for n in range(count)), strict=k < i)
        for k in range(count)
        if k != i
    )


def vote_conditions(cube: Cube, n_scores: int) -> tuple[Condition, ...]:
    """The scores that a cube names, > 0 or not."""
    return tuple(
        Condition(alpha=tuple(Fraction((n == s) * (1 if up else -1)) for n in range(n_scores)), strict=up)
        for s, up in cube
    )


def has_class(head: Head, scores: Enclosures, i: int, level: Fraction) -> bool | None:
    """Whether an individual is of class i, by the margin; None where the enclosures leave it open."""
    if head.rule == "argmax":
        return all_hold(
            *(condition.decided(scores, level) for condition in leading_conditions(i, len(scores)))
        )
    settled = {head.place(way) for way in _possible_scores(scores)}
    return None if i in settled and len(settled) > 1 else settled == {i}


def class_lead(head: Head, scores: Enclosures) -> Enclosure:
    """By how much the class of an individual is ahead of every other one; of votes, how many it has."""
    middle = [score.middle for score in scores]
    i = head.place(middle)
    if head.rule == "votes":
        return Enclosure.of(Fraction(count_votes(len(head.classes), middle)[i]))
    rivals = [enclose_form(condition.alpha, scores) for condition in leading_conditions(i, len(scores))]
    return Enclosure(min(r.lo for r in rivals), min(r.hi for r in rivals))


def class_leads(head: Head, scores: Floats) -> Floats:
    """By how much each class is ahead of every other one, negative where it is not the class; (rows, classes), in float64. Of
    votes: by how much the least of the scores that make it win does, if they do."""
    count = len(head.classes)
    if head.rule == "argmax":
        others = [np.delete(scores, i, axis=1).max(axis=1) for i in range(count)]
        ahead: Floats = scores - np.stack(others, axis=1)
        return ahead
    if count > MOST_CLASSES:
        least = np.abs(scores).min(axis=1)
        won = np.array([head.place([Fraction(s) for s in row]) for row in scores.tolist()])
        voted: Floats = np.where(won[:, None] == np.arange(count), least[:, None], -least[:, None])
        return voted
    known = vote_cubes(count)
    columns = [
        np.max([least_form(vote_conditions(cube, head.n_scores), scores) for cube in known[i]], axis=0)
        for i in range(count)
    ]
    found: Floats = np.stack(columns, axis=1)
    return found


def _possible_scores(scores: Enclosures) -> list[list[Fraction]]:
    """All ways of giving the votes that enclosures leave open."""
    ways: list[list[Fraction]] = [[]]
    for score in scores:
        ends = [score.lo, score.hi] if score.lo <= 0 < score.hi else [score.lo]
        ways = [[*way, end] for way in ways for end in ends]
    return ways


def enclose_form(alpha: Alpha, scores: Enclosures) -> Enclosure:
    """alpha . f by interval arithmetic; exact where the scores are."""
    lo = hi = Fraction(0)
    for a, score in zip(alpha, scores, strict=True):
        lo += a * (score.lo if a > 0 else score.hi)
        hi += a * (score.hi if a > 0 else score.lo)
    return Enclosure(lo, hi)


def all_hold(*answers: bool | None) -> bool | None:
    """Whether all hold: False as soon as one does not."""
    if False in answers:
        return False
    return None if None in answers else True


def any_holds(*answers: bool | None) -> bool | None:
    """Whether one holds."""
    if True in answers:
        return True
    return None if None in answers else False


def least_form(conditions: Sequence[Condition], scores: Floats) -> Floats:
    """The smallest of these forms, for many rows in float64."""
    matrix = np.array([[float(a) for a in c.alpha] for c in conditions])
    least: Floats = (scores @ matrix.T).min(axis=1)
    return least
