"""Counterparts for models of several classes: for many individuals at once, is there a similar one that is treated differently?

All similar individuals of a row are scored, where what may differ has few settings: scores are float64 with a proved error, and tell which pairs certainly
break the property and which may. Rows that have none of the former and some of the latter are decided by enclosures.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, look_at_clock
from likewise.model.enclosure import FIRST_BITS, MOST_BITS
from likewise.search.certainty import SLACK
from likewise.search.confirming import Confirming
from likewise.search.counterparts import SCORES
from likewise.search.judgement import BIASED, FAIR, NO_PRECISION, UNDECIDED, Judgement
from likewise.search.neighbours import (
    MOST_SETTINGS,
    Neighbours,
    moving_features,
    paced_neighbourhoods,
    settings_around,
)
from likewise.search.pacing import scored_in_pieces
from likewise.search.treatments import NOBODY, OPEN, classes_of, compared, exact_class, told_apart

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.class_judge import ClassJudge
    from likewise.model.classquestion import ClassQuestion
    from likewise.search.budget import Budget
    from likewise.search.confirming import Confirm
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassAsked:
    """What is asked about whom, of a model of several classes."""

    pairs: PairSpace
    judge: ClassJudge
    question: ClassQuestion

    @property
    def moving(self) -> tuple[int, ...]:
        """The features that may differ and matter to a score or to a constraint."""
        return moving_features(self.pairs, self.judge)

    def classes(self, rows: Floats, budget: Budget) -> list[int | None]:
        """The class of each individual, margins left aside; None where no precision tells, or the budget is over."""
        head, level = self.question.head, Fraction(0)
        known: list[int | None] = [None] * len(rows)
        unsure = []
        for some, scores in scored_in_pieces(self.judge, rows, np.arange(len(rows)), budget):
            for i, place in zip(some.tolist(), classes_of(head, level, scores)[:, 0].tolist(), strict=True):
                if place in (OPEN, NOBODY):
                    unsure.append(i)
                else:
                    known[i] = place
        with suppress(OutOfTime), budget.watched():
            for i in unsure:
                look_at_clock()
                exact = [Fraction(c) for c in rows[i].tolist()]
                known[i] = exact_class(head, level, self.judge.enclose, exact)
        return known


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Around:
    """Of rows and all settings around them: gaps (-inf where there is no counterpart) with the error of each row's, and which
    pairs break the property certainly, and possibly."""

    gap: Floats
    error: Floats
    sure: Flags
    may: Flags


def judged_classes(
    asked: ClassAsked,
    rows: Floats,
    budget: Budget,
    told: Callable[[int], None] | None = None,
    confirm: Confirm | None = None,
) -> Judgement | None:
    """All rows, as far as the budget goes; None where what may differ has too many settings. Biased are those for whom `confirm` shows it as well."""
    found = Judgement.open(len(rows), rows.shape[1])
    moving = asked.moving
    if not moving:
        found.verdict[:], found.gap[:], found.gap_error[:] = FAIR, 0.0, 0.0
        return found
    if settings_around(asked.pairs, asked.judge, moving) > MOST_SETTINGS:
        return None
    confirming = None if confirm is None else Confirming(confirm, rows, found, budget)
    most = SCORES // asked.judge.n_scores
    with suppress(OutOfTime), budget.watched():
        for near in paced_neighbourhoods(asked.pairs, asked.judge, moving, rows, budget, most):
            _decide(asked, near, _around(asked, near), found)
            if confirming is not None:
                confirming.add(near.some)
            if told is not None:
                told(int((found.verdict != UNDECIDED).sum()))
    if confirming is not None:
        confirming.finish()
    found.close(budget.reason)
    return found


def _around(asked: ClassAsked, near: Neighbours) -> Around:
    """Score everybody once, and compare each row with all who are similar to it."""
    question, back = asked.question, near.back
    everyone = np.arange(len(near.rows))
    scores = asked.judge.cross(near.rows[near.distinct], near.moving, near.settings)
    numbers = compared(question, scores)
    there = numbers.values[back]
    here = there[everyone, near.own]
    apart = np.abs(there - here[:, None])
    error = 2 * numbers.error[back][:, None] + SLACK * (np.abs(there) + np.abs(here)[:, None])
    if question.kind == "decision":
        classes = classes_of(question.head, question.level, scores)[back]
        sure, may = told_apart(classes[everyone, near.own][:, None], classes, question.of)
    else:
        excess, room = apart - float(question.level), error + SLACK * float(question.level)
        sure, may = _somewhere(excess > room, 2), _somewhere(excess >= -room, 2)
    return Around(
        gap=np.where(near.counterparts, apart.max(axis=2), -np.inf),
        error=np.where(near.counterparts, error.max(axis=2), 0.0).max(axis=1),
        sure=sure & near.counterparts,
        may=may & near.counterparts,
    )


def _somewhere(flags: Flags, axis: int) -> Flags:
    found: Flags = np.logical_or.reduce(flags, axis=axis)
    return found


def _decide(asked: ClassAsked, near: Neighbours, around: Around, found: Judgement) -> None:
    some = near.some
    biased, open_ = _somewhere(around.sure, 1), _somewhere(around.may, 1)
    verdict = np.where(biased, BIASED, np.where(open_, UNDECIDED, FAIR)).astype(np.int8)
    chosen = np.where(biased[:, None], np.where(around.sure, around.gap, -np.inf), around.gap).argmax(axis=1)
    largest = around.gap.max(axis=1)
    nobody = largest == -np.inf
    with suppress(OutOfTime):
        for i in np.flatnonzero(verdict == UNDECIDED).tolist():
            verdict[i], witness, reason = _redo(asked, near, around, i)
            found.redone += 1
            if witness is not None:
                chosen[i] = witness
            if reason is not None:
                found.reasons[int(some[i])] = reason
    found.verdict[some] = verdict
    found.counterpart[some] = near.with_settings(chosen)
    found.counterpart[some[nobody]] = np.nan
    found.gap[some] = np.where(nobody, 0.0, largest)
    found.gap_error[some] = np.where(nobody, 0.0, around.error)


def _redo(asked: ClassAsked, near: Neighbours, around: Around, i: int) -> tuple[int, int | None, str | None]:
    """One row by enclosures, the largest gap first."""
    unsure, enclose = False, cache(asked.judge.enclose)
    own = tuple(Fraction(c) for c in near.rows[i].tolist())
    places = np.flatnonzero(around.may[i])
    for v in places[np.argsort(-around.gap[i, places])].tolist():
        look_at_clock()
        other = near.rows[i].copy()
        other[list(near.moving)] = near.settings[v]
        answer, bits = None, FIRST_BITS
        while answer is None and bits <= MOST_BITS:
            answer = asked.question.decided(
                enclose(own, bits), enclose(tuple(Fraction(c) for c in other.tolist()), bits)
            )
            bits *= 4
        if answer:
            return BIASED, v, None
        unsure = unsure or answer is None
    return (UNDECIDED, None, NO_PRECISION) if unsure else (FAIR, None, None)
