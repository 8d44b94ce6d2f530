"""Counterparts: for many individuals at once, is there a similar one that is treated differently? Exact for each of them.

Every witness set is monotone in both scores, so only two similar individuals of x matter: the one with the lowest score and
the one with the highest. They are found

- feature by feature, where the score is a sum of one-feature terms and no constraint speaks of a feature that may differ: any number of
  such features, windows of any width, continuous ones too (a linear term is extreme at an end);
- by scoring all of them, where what may differ has few settings: rows that have the same settings around them are scored together.

Scores are float64 with a proved error (`families.judge`); rows that this leaves open are decided again by enclosures. What fits
neither way is left to a search of its own for each row (`search.singly`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, look_at_clock
from likewise.errors import InternalError
from likewise.families.separable import separable_judge
from likewise.search.certainty import Near, decided_pair, either_way, gaps
from likewise.search.confirming import Confirming
from likewise.search.extremes import Extremes, extremes_of, separately
from likewise.search.judgement import (
    BIASED,
    FAIR,
    NO_PRECISION,
    NOT_REPRESENTABLE,
    UNDECIDED,
    Judgement,
)
from likewise.search.neighbours import (
    MOST_SETTINGS,
    Neighbours,
    moving_features,
    paced_neighbourhoods,
    settings_around,
)
from likewise.search.pacing import Pace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.judge import Judge
    from likewise.model.gauge import Gauge
    from likewise.model.question import Case
    from likewise.search.budget import Budget
    from likewise.search.confirming import Confirm
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]

SCORES = 1_000_000  # at a time, at most
FIRST_ROWS = 1_024  # whose extremes are had feature by feature, before anything is known of the pace


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked about whom: `gauge` is the scale of the gaps, score or probability; `settle` has, for codes of a feature, ones nearby that
    somebody has, where there are others."""

    pairs: PairSpace
    judge: Judge
    question: Case
    gauge: Gauge
    settle: Callable[[int, Floats], Floats] | None = None

    @property
    def moving(self) -> tuple[int, ...]:
        """The features that may differ and matter to the score or to a constraint."""
        return moving_features(self.pairs, self.judge)


def judged(
    asked: Asked,
    rows: Floats,
    budget: Budget,
    told: Callable[[int], None] | None = None,
    confirm: Confirm | None = None,
) -> Judgement | None:
    """All rows, as far as the budget goes; None where counterparts can be had in neither way. Biased are those for whom `confirm` shows it as well."""
    found = Judgement.open(len(rows), rows.shape[1])
    if not asked.moving:
        found.verdict[:], found.gap[:], found.gap_error[:] = FAIR, 0.0, 0.0
        return found
    if separately(asked.pairs, asked.judge, asked.moving):
        work = _by_features(asked, rows, budget)
    elif settings_around(asked.pairs, asked.judge, asked.moving) <= MOST_SETTINGS:
        work = _by_settings(asked, rows, budget)
    else:
        return None
    confirming = None if confirm is None else Confirming(confirm, rows, found, budget)
    with suppress(OutOfTime), budget.watched():
        for some, extremes in work:
            _decide(asked, rows[some], some, extremes, found)
            if confirming is not None:
                confirming.add(some)
            if told is not None:
                told(int((found.verdict != UNDECIDED).sum()))
    if confirming is not None:
        confirming.finish()
    found.close(budget.reason)
    return found


def _by_features(asked: Asked, rows: Floats, budget: Budget) -> Iterator[tuple[NDArray[np.intp], Extremes]]:
    judge = separable_judge(asked.judge)
    if judge is None:
        raise InternalError("features one by one: for sums of one-feature terms only")
    pace = Pace(budget, first=FIRST_ROWS, most=SCORES // max(1, rows.shape[1]))
    start = 0
    while start < len(rows) and pace.fits(1):
        some = np.arange(start, min(start + pace.size, len(rows)))
        yield some, extremes_of(asked.pairs, judge, asked.moving, rows[some], asked.settle)
        pace.done(len(some))
        start += len(some)


def _by_settings(asked: Asked, rows: Floats, budget: Budget) -> Iterator[tuple[NDArray[np.intp], Extremes]]:
    for near in paced_neighbourhoods(asked.pairs, asked.judge, asked.moving, rows, budget, SCORES):
        yield near.some, _of_settings(asked, near)


def _of_settings(asked: Asked, near: Neighbours) -> Extremes:
    rows, settings = near.rows, near.settings
    scored = asked.judge.cross(rows[near.distinct], near.moving, settings)
    values, error = scored.values[near.back], scored.error[near.back, 0]
    everyone = np.arange(len(rows))
    own_value = values[everyone, near.own]
    others = np.where(near.counterparts, values, np.nan)
    low = np.where(np.isnan(others), np.inf, others).argmin(axis=1)
    high = np.where(np.isnan(others), -np.inf, others).argmax(axis=1)
    return Extremes(
        own=Near(value=own_value, error=error),
        low=Near(value=others[everyone, low], error=error),
        high=Near(value=others[everyone, high], error=error),
        low_codes=near.with_settings(low),
        high_codes=near.with_settings(high),
        others=lambda i: _open_settings(asked, rows[i], settings, own_value[i], others[i], float(error[i])),
    )


def _open_settings(
    asked: Asked, row: Floats, settings: Floats, own: float, values: Floats, error: float
) -> Iterator[Floats]:
    """The counterparts of one row that float64 cannot tell from witnesses, the largest gap first."""
    near = [Near(value=v, error=np.full_like(v, error)) for v in (np.full_like(values, own), values)]
    possible = either_way(asked.question, *near)[1]
    for v in np.flatnonzero(possible)[np.argsort(-np.abs(values[possible] - own))]:
        other = row.copy()
        other[list(asked.moving)] = settings[v]
        yield other


def _decide(
    asked: Asked,
    rows: Floats,
    some: NDArray[np.intp],
    extremes: Extremes,
    found: Judgement,
) -> None:
    """Put the extremes of some rows to the question, and to enclosures where float64 does not tell, as long as there is time."""
    sides = (extremes.low, extremes.high)
    (sure_low, may_low), (sure_high, may_high) = (either_way(asked.question, extremes.own, s) for s in sides)
    sure, may = sure_low | sure_high, may_low | may_high
    (gap_low, off_low), (gap_high, off_high) = (gaps(asked.gauge, extremes.own, s) for s in sides)
    gap_low, gap_high = (np.where(np.isnan(g), -np.inf, g) for g in (gap_low, gap_high))
    at_low = np.where(sure & (sure_low != sure_high), sure_low, gap_low >= gap_high)
    nobody = np.maximum(gap_low, gap_high) == -np.inf
    verdict = np.where(sure, BIASED, np.where(may, UNDECIDED, FAIR)).astype(np.int8)
    counterpart = np.where(at_low[:, None], extremes.low_codes, extremes.high_codes)
    counterpart[nobody] = np.nan
    chosen = np.where(at_low, extremes.low.value, extremes.high.value)
    told = np.where(at_low, extremes.low.error, extremes.high.error)
    with suppress(OutOfTime):
        for i in np.flatnonzero(verdict == UNDECIDED).tolist():
            verdict[i], witness, reason = _redo(asked, rows[i], extremes, i)
            found.redone += 1
            if witness is not None:
                counterpart[i] = witness
                told[i] = np.inf  # its score is to be looked at again
            if reason is not None:
                found.reasons[int(some[i])] = reason
    found.verdict[some], found.counterpart[some] = verdict, counterpart
    found.score.take(some, extremes.own)
    found.other.take(some, Near(value=chosen, error=told))
    found.gap[some] = np.where(nobody, 0.0, np.maximum(gap_low, gap_high))
    found.gap_error[some] = np.where(nobody, 0.0, np.fmax(off_low, off_high))


def _redo(asked: Asked, row: Floats, extremes: Extremes, i: int) -> tuple[int, Floats | None, str | None]:
    """One row by enclosures."""
    exact, unsure = tuple(Fraction(c) for c in row.tolist()), False
    enclose = cache(asked.judge.enclose)  # the row itself is beside everybody
    for other in extremes.others(i):
        look_at_clock()
        answer = decided_pair(asked.question, enclose, exact, tuple(Fraction(c) for c in other.tolist()))
        if answer:
            return BIASED, other, None
        unsure = unsure or answer is None
    if unsure:
        return UNDECIDED, None, NO_PRECISION
    if extremes.beyond is not None and extremes.beyond(asked.question, i):
        return UNDECIDED, None, NOT_REPRESENTABLE
    return FAIR, None, None
