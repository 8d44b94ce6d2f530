"""Counterparts: for many individuals at once, is there a similar one that is treated differently? Exact for each of them.

Those who matter (`comparison`) are found

- feature by feature, where the score is a sum of one-feature terms and no constraint speaks of a feature that may differ: any number of
  such features, windows of any width, continuous ones too (a linear term is extreme at an end);
- by scoring all of them, where what may differ has few settings: rows that have the same settings around them are scored together.

Scores are float64 with a proved error (`families.judge`); rows that this leaves open are decided again by enclosures. What fits
neither way is left to a search of its own for each row (`analysis.row_search`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.search.comparison import RowComparison, compare_everybody, compare_extremes, extremes_among
from likewise.search.extremes import find_extremes, is_separable
from likewise.search.judgement import (
    BIASED,
    FAIR,
    NO_PRECISION,
    NOT_REPRESENTABLE,
    UNDECIDED,
    Judgement,
)
from likewise.search.neighbours import MOST_SETTINGS, count_settings, lists_distances, paced_neighbourhoods
from likewise.search.pace import Pace
from likewise.search.replay_queue import ReplayQueue
from likewise.search.steep_rows import SteepSums, compare_steepness, lists_costs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.separable import SeparableJudge
    from likewise.search.budget import Budget
    from likewise.search.inquiry import Inquiry
    from likewise.search.replay_queue import Confirm

    Floats = NDArray[np.float64]

SCORES_AT_A_TIME = 1_000_000  # at a time, at most
FEW_SETTINGS = 2_000  # within a distance, around one row
FIRST_ROWS = 1_024  # whose extremes are had feature by feature, before anything is known of the pace


def judge_rows(
    inquiry: Inquiry,
    rows: Floats,
    budget: Budget,
    told: Callable[[int], None] | None = None,
    confirm: Confirm | None = None,
) -> Judgement | None:
    """All rows, as far as the budget goes; None where counterparts can be had in neither way (`judged_together`). Biased are those for whom `confirm` shows it as well."""
    found = Judgement.open(len(rows), rows.shape[1])
    if not inquiry.moving:
        found.verdict[:], found.gap[:], found.gap_error[:] = FAIR, 0.0, 0.0
        return found
    pieces = compare_rows(inquiry, rows, budget)
    if pieces is None:
        return None
    confirming = None if confirm is None else ReplayQueue(confirm, rows, found, budget)
    with suppress(OutOfTime), budget.watched():
        for piece in pieces:
            _record_piece(inquiry, piece, found)
            if confirming is not None:
                confirming.add(piece.some)
            if told is not None:
                told(int((found.verdict != UNDECIDED).sum()))
    if confirming is not None:
        confirming.finish()
    found.close(budget.reason)
    return found


def judged_together(inquiry: Inquiry) -> bool:
    """Whether counterparts of many rows can be had at once, in every part of the pairs."""
    if inquiry.pairs.branches:
        return all(map(judged_together, inquiry.parts()))
    return not inquiry.moving or _by_features(inquiry) is not None or _by_settings(inquiry)


def _by_features(inquiry: Inquiry) -> SeparableJudge | None:
    """The sum that extremes are had of feature by feature; None where there is none, or who is similar is no product of what single features may do."""
    sums = inquiry.judge.separable
    separable = sums is not None and is_separable(inquiry.pairs, sums, inquiry.moving)
    alone = inquiry.pairs.distance is None and inquiry.pairs.allowance is None
    return sums if separable and alone else None


def _by_settings(inquiry: Inquiry) -> bool:
    """Whether all settings of what may differ are few, and those within a distance are known; of sums, whose reach is known (`search.reach`), only very few."""
    pairs, moving = inquiry.pairs, inquiry.moving
    if not lists_costs(pairs, moving) or SteepSums.of(inquiry) is not None:
        return False
    most = MOST_SETTINGS if pairs.distance is None or inquiry.judge.separable is None else FEW_SETTINGS
    return count_settings(pairs, inquiry.judge, moving) <= most and lists_distances(pairs, moving)


def compare_rows(inquiry: Inquiry, rows: Floats, budget: Budget) -> Iterator[RowComparison] | None:
    """The rows, some at a time, beside those who matter; None where these cannot be had."""
    sums = _by_features(inquiry)
    if sums is not None:
        return _compare_by_features(inquiry, sums, rows, budget)
    return _compare_by_settings(inquiry, rows, budget) if _by_settings(inquiry) else None


def _compare_by_features(
    inquiry: Inquiry, sums: SeparableJudge, rows: Floats, budget: Budget
) -> Iterator[RowComparison]:
    pace = Pace(budget, first=FIRST_ROWS, most=SCORES_AT_A_TIME // max(1, rows.shape[1]))
    start = 0
    while start < len(rows) and pace.fits(1):
        some = np.arange(start, min(start + pace.size, len(rows)))
        part = rows[start : start + len(some)]
        extremes = find_extremes(inquiry.pairs, sums, inquiry.moving, part, inquiry.snap_codes)
        yield compare_extremes(inquiry, some, part, extremes)
        pace.done(len(some))
        start += len(some)


def _compare_by_settings(inquiry: Inquiry, rows: Floats, budget: Budget) -> Iterator[RowComparison]:
    most = SCORES_AT_A_TIME // inquiry.judge.n_scores
    for near in paced_neighbourhoods(inquiry.pairs, inquiry.judge, inquiry.moving, rows, budget, most):
        if inquiry.pairs.allowance is not None:
            yield compare_steepness(inquiry, near)
        elif inquiry.by_extremes:
            yield compare_extremes(inquiry, near.some, near.rows, extremes_among(inquiry, near))
        else:
            yield compare_everybody(inquiry, near)


def _record_piece(inquiry: Inquiry, piece: RowComparison, found: Judgement) -> None:
    """Write down what float64 says of some rows, and enclosures where it does not tell, as long as there is time."""
    some, counterpart = piece.some, piece.counterpart
    verdict = np.where(piece.sure, BIASED, np.where(piece.may, UNDECIDED, FAIR)).astype(np.int8)
    if piece.scores is not None:
        own, other = piece.scores
        found.score.take(some, own)
        found.other.take(some, other)
    with suppress(OutOfTime):
        for i in np.flatnonzero(verdict == UNDECIDED).tolist():
            verdict[i], witness, reason = _decide_by_enclosures(inquiry, piece, i)
            found.enclosed[some[i]] = True
            if witness is not None:
                counterpart[i] = witness
                found.other.error[some[i]] = np.inf  # its score is to be looked at again
            if reason is not None:
                found.reasons[int(some[i])] = reason
    found.verdict[some], found.counterpart[some] = verdict, counterpart
    found.gap[some], found.gap_error[some] = piece.gap, piece.gap_error


def _decide_by_enclosures(
    inquiry: Inquiry, piece: RowComparison, i: int
) -> tuple[int, Floats | None, str | None]:
    """One row by enclosures."""
    exact, unsure = tuple(Fraction(c) for c in piece.rows[i].tolist()), False
    enclose = cache(inquiry.judge.enclose)  # the row itself is beside everybody
    for other in piece.open_counterparts(i):
        check_clock()
        answer = inquiry.decided(enclose, exact, tuple(Fraction(c) for c in other.tolist()))
        if answer:
            return BIASED, other, None
        unsure = unsure or answer is None
    if unsure:
        return UNDECIDED, None, NO_PRECISION
    if piece.beyond(i):
        return UNDECIDED, None, NOT_REPRESENTABLE
    return FAIR, None, None
