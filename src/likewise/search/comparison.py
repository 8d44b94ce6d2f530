"""Comparison: rows beside those who are similar to them, by float64 scores with a proved error.

Of one score only two similar individuals matter, the one with the lowest and the one with the highest score (`Inquiry.by_extremes`). Several scores have no
such two: a row is compared with everybody who is similar to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.search.certainty import (
    COMPARISON_SLACK,
    ScoreEstimate,
    certain_and_possible,
)
from likewise.search.extremes import Extremes
from likewise.search.treatments import classify_rows, compare_classes, compared_values

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.search.inquiry import Inquiry
    from likewise.search.neighbours import Neighbours

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowComparison:
    """Which of some rows certainly have a counterpart that is treated differently, and which possibly do; for each the counterpart to be
    shown, NaN where there is nobody, and the largest gap to anybody similar.

    `open_counterparts` has for one row those that float64 cannot tell from counterparts, `beyond` whether there are some that no double can name.
    `scores` are those of the rows and of their counterparts, where there is one.
    """

    some: NDArray[np.intp]  # places of the rows among all
    rows: Floats
    sure: Flags
    may: Flags
    counterpart: Floats
    gap: Floats
    gap_error: Floats
    open_counterparts: Callable[[int], Iterator[Floats]]
    beyond: Callable[[int], bool]
    scores: tuple[ScoreEstimate, ScoreEstimate] | None = None


def compare_extremes(
    inquiry: Inquiry, some: NDArray[np.intp], rows: Floats, extremes: Extremes
) -> RowComparison:
    """Rows beside their lowest and highest counterparts, by one score."""
    sides = (extremes.low, extremes.high)
    (sure_low, may_low), (sure_high, may_high) = (inquiry.answers(extremes.own, s) for s in sides)
    sure = sure_low | sure_high
    (gap_low, off_low), (gap_high, off_high) = (inquiry.gaps(extremes.own, s) for s in sides)
    gap_low, gap_high = (np.where(np.isnan(g), -np.inf, g) for g in (gap_low, gap_high))
    at_low = np.where(sure & (sure_low != sure_high), sure_low, gap_low >= gap_high)
    largest = np.maximum(gap_low, gap_high)
    nobody = largest == -np.inf
    counterpart = np.where(at_low[:, None], extremes.low_codes, extremes.high_codes)
    counterpart[nobody] = np.nan
    other = ScoreEstimate(
        value=np.where(at_low, extremes.low.value, extremes.high.value),
        error=np.where(at_low, extremes.low.error, extremes.high.error),
    )

    def breaks_beyond(i: int) -> bool:
        ends = None if extremes.beyond is None else extremes.beyond(i)
        return ends is not None and inquiry.breaks(*ends)

    return RowComparison(
        some=some,
        rows=rows,
        sure=sure,
        may=may_low | may_high,
        counterpart=counterpart,
        gap=np.where(nobody, 0.0, largest),
        gap_error=np.where(nobody, 0.0, np.fmax(off_low, off_high)),
        open_counterparts=extremes.others,
        beyond=breaks_beyond,
        scores=(extremes.own, other),
    )


def extremes_among(inquiry: Inquiry, near: Neighbours) -> Extremes:
    """The lowest and the highest of all who are similar, by one score of everybody."""
    scored = inquiry.judge.cross(near.rows[near.distinct], near.moving, near.settings)
    values, error = scored.values[..., 0][near.back], scored.error[near.back, 0]
    everyone = np.arange(len(near.rows))
    own = values[everyone, near.own]
    others = np.where(near.counterparts, values, np.nan)
    low = np.where(np.isnan(others), np.inf, others).argmin(axis=1)
    high = np.where(np.isnan(others), -np.inf, others).argmax(axis=1)

    def open_counterparts(i: int) -> Iterator[Floats]:
        beside = [
            ScoreEstimate(value=v, error=np.full_like(v, error[i]))
            for v in (np.full_like(others[i], own[i]), others[i])
        ]
        return largest_gap_first(near, i, inquiry.answers(*beside)[1], np.abs(others[i] - own[i]))

    return Extremes(
        own=ScoreEstimate(value=own, error=error),
        low=ScoreEstimate(value=others[everyone, low], error=error),
        high=ScoreEstimate(value=others[everyone, high], error=error),
        low_codes=near.with_settings(low),
        high_codes=near.with_settings(high),
        others=open_counterparts,
    )


def compare_everybody(inquiry: Inquiry, near: Neighbours) -> RowComparison:
    """Rows beside everybody who is similar to them, by all scores."""
    question, back, everyone = inquiry.question, near.back, np.arange(len(near.rows))
    scores = inquiry.judge.cross(near.rows[near.distinct], near.moving, near.settings)
    numbers = compared_values(question, scores)
    there = numbers.values[back]
    here = there[everyone, near.own]
    apart = np.subtract(*inquiry.in_order(here[:, None], there))
    apart = np.abs(apart) if inquiry.side == "either" else apart
    error = 2 * numbers.error[back][:, None] + COMPARISON_SLACK * (np.abs(there) + np.abs(here)[:, None])
    if question.kind == "decision":
        classes = classify_rows(question.head, question.level, scores)[back]
        own = classes[everyone, near.own][:, None]
        sure, may = compare_classes(
            *inquiry.in_order(own, classes), question.of, one_way=inquiry.side != "either"
        )
    else:
        excess, room = apart - float(question.level), error + COMPARISON_SLACK * float(question.level)
        sure, may = (any_along(flags, 2) for flags in certain_and_possible(excess, room))
    sure, may = sure & near.counterparts, may & near.counterparts
    gap = np.where(near.counterparts, inquiry.sizes(apart.max(axis=2)), -np.inf)
    biased, largest = any_along(sure, 1), gap.max(axis=1)
    nobody = largest == -np.inf
    chosen = np.where(biased[:, None], np.where(sure, gap, -np.inf), gap).argmax(axis=1)
    counterpart = near.with_settings(chosen)
    counterpart[nobody] = np.nan
    off = np.where(near.counterparts, error.max(axis=2), 0.0).max(axis=1)
    return RowComparison(
        some=near.some,
        rows=near.rows,
        sure=biased,
        may=any_along(may, 1),
        counterpart=counterpart,
        gap=np.where(nobody, 0.0, largest),
        gap_error=np.where(nobody, 0.0, off),
        open_counterparts=lambda i: largest_gap_first(near, i, may[i], gap[i]),
        beyond=lambda _: False,
    )


def largest_gap_first(near: Neighbours, i: int, open_: Flags, gap: Floats) -> Iterator[Floats]:
    """The settings of one row that are open, the largest gap first."""
    places = np.flatnonzero(open_)
    for v in places[np.argsort(-gap[places])].tolist():
        other = near.rows[i].copy()
        other[list(near.moving)] = near.settings[v]
        yield other


def any_along(flags: Flags, axis: int) -> Flags:
    """Whether any is true along an axis."""
    found: Flags = np.logical_or.reduce(flags, axis=axis)
    return found
