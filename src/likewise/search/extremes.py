"""Extremes: the lowest and highest score of those who are similar to each of many rows, one feature at a time.

For a sum of one-feature terms, and no constraint on what may differ, the similar individuals of x are a product of windows, and the
sum is lowest where every term is. A linear term is lowest at an end of its window; another one is looked up at all codes of its window.
The end of a continuous window, x_k - t, may be no double, and the end of a function's range nobody's value: the nearest one inside is taken, and what
it may miss counts as error; the real end is looked at again, in rationals, where that error matters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.separable import SeparableJudge
from likewise.search.certainty import ScoreEstimate
from likewise.spec.numbers import double_below
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace
    from likewise.spec.similarity import Relation

    Floats = NDArray[np.float64]

MOST_CODES = 2_048  # codes of a window that are looked up
ROUNDING_FACTOR = 1.01  # the rounding of a difference and of a product
END_ERROR = 2.0**-50  # of |x_k| + t: what the nearest double inside may miss


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Extremes:
    """Scores of rows, of their lowest and highest counterparts (NaN where there is none), and who those are.

    `others` has for one row the counterparts that are to be looked at exactly, `beyond` its score and the lowest and highest of counterparts that no double
    can name, exactly.
    """

    own: ScoreEstimate
    low: ScoreEstimate
    high: ScoreEstimate
    low_codes: Floats
    high_codes: Floats
    others: Callable[[int], Iterator[Floats]]
    beyond: Callable[[int], tuple[Fraction, Fraction, Fraction] | None] | None = None


def is_separable(pairs: PairSpace, judge: SeparableJudge, moving: Sequence[int]) -> bool:
    """Whether extremes can be had feature by feature."""
    if any(not c.terms[k].constant for c in pairs.constraints for k in moving):
        return False
    return all(is_linear(judge, k) or _has_few_codes(pairs, k) for k in moving)


def is_linear(judge: SeparableJudge, k: int) -> bool:
    """Whether the term of a feature is a line."""
    term = judge.score.terms[k]
    return term.table is None and term.pieces is None


def _has_few_codes(pairs: PairSpace, k: int) -> bool:
    variable = pairs.variables[pairs.first[k]]
    return variable.discrete and variable.hi - variable.lo < MOST_CODES


def find_extremes(
    pairs: PairSpace,
    judge: SeparableJudge,
    moving: Sequence[int],
    rows: Floats,
    settle: Callable[[int, Floats], Floats] | None = None,
) -> Extremes:
    """The extremes of all rows; `settle` has, for codes of a feature, ones nearby that somebody has."""
    low_codes, high_codes, missed = rows.copy(), rows.copy(), np.zeros(len(rows))
    nobody = np.zeros(len(rows), dtype=bool)
    for k in moving:
        lowest, highest, off = _term_ends(pairs, judge, k, rows[:, k])
        alone = np.isnan(lowest)
        low_codes[:, k], high_codes[:, k] = (np.where(alone, rows[:, k], end) for end in (lowest, highest))
        nobody |= alone
        missed += off
        if settle is not None and is_linear(judge, k):
            slope = abs(nearest_double(judge.score.terms[k].slope))
            for codes in (low_codes, high_codes):
                end = codes[:, k].copy()
                codes[:, k] = settle(k, end)
                missed += ROUNDING_FACTOR * slope * np.abs(codes[:, k] - end)
    own, low, high = (_score_codes(judge, codes, missed) for codes in (rows, low_codes, high_codes))
    low.value[nobody] = high.value[nobody] = np.nan
    return Extremes(
        own=own,
        low=low,
        high=high,
        low_codes=low_codes,
        high_codes=high_codes,
        others=lambda i: iter((low_codes[i], high_codes[i])),
        beyond=lambda i: _exact_ends(pairs, judge, moving, rows[i]),
    )


def _score_codes(judge: SeparableJudge, codes: Floats, missed: Floats) -> ScoreEstimate:
    found = judge.cross(codes, (), np.empty((1, 0)))
    return ScoreEstimate(value=found.values[:, 0], error=found.error[:, 0] + missed)


def _term_ends(
    pairs: PairSpace, judge: SeparableJudge, k: int, codes: Floats
) -> tuple[Floats, Floats, Floats]:
    """Where the term of a feature is lowest and highest, NaN where nobody is similar, and what rounding of the ends may miss."""
    if is_linear(judge, k):
        bottom, top = similar_windows(pairs, k, codes)
        nobody = bottom > top
        bottom, top = (np.where(nobody, np.nan, end) for end in (bottom, top))
        slope = nearest_double(judge.score.terms[k].slope)
        reach = float(pairs.relations[k].tolerance or 0)
        discrete = pairs.variables[pairs.first[k]].discrete
        missed = np.zeros_like(codes) if discrete else END_ERROR * abs(slope) * (np.abs(codes) + reach)
        return (bottom, top, missed) if slope >= 0 else (top, bottom, missed)
    variable, relation = pairs.variables[pairs.first[k]], pairs.relations[k]
    every = np.arange(int(variable.lo), int(variable.hi) + 1, dtype=np.float64)
    exact = [judge.score.terms[k].exact(Fraction(code)) for code in every.tolist()]
    order = {value: float(place) for place, value in enumerate(sorted(set(exact)))}
    values = np.array([order[value] for value in exact])  # rounding might lose what is the lowest
    similar = _similar_codes(relation, every)
    lowest = every[np.where(similar, values, np.inf).argmin(axis=1)]
    highest = every[np.where(similar, values, -np.inf).argmax(axis=1)]
    nobody = np.logical_not(np.logical_or.reduce(similar, axis=1))
    lowest, highest = (np.where(nobody, np.nan, end) for end in (lowest, highest))
    place = (codes - every[0]).astype(np.intp)
    return lowest[place], highest[place], np.zeros_like(codes)


def _similar_codes(relation: Relation, codes: Floats) -> NDArray[np.bool_]:
    """Which of the codes of a discrete feature may stand beside which."""
    if relation.kind == "pairs" or relation.fixed is not None:
        return np.array([[relation.allows(a, b) for b in codes.tolist()] for a in codes.tolist()])
    if relation.tolerance is None:
        return np.ones((len(codes), len(codes)), dtype=bool)
    gone, (low, high) = codes == relation.missing, relation.reach
    difference = codes - codes[:, None]
    near: NDArray[np.bool_] = (difference >= low) & (difference <= high)
    near &= gone[:, None] == gone
    return near


def similar_windows(pairs: PairSpace, k: int, codes: Floats) -> tuple[Floats, Floats]:
    """The smallest and the largest code that may stand beside each of these: doubles inside the true window, the first above the second where there are none."""
    variable, relation = pairs.variables[pairs.first[k]], pairs.relations[k]
    lo, hi = float(variable.lo), float(variable.hi)
    if relation.fixed is not None:
        own, other = relation.fixed
        return np.where(codes == own, other, np.inf), np.where(codes == own, other, -np.inf)
    if relation.tolerance is None:
        return np.full_like(codes, lo), np.full_like(codes, hi)
    if relation.limits is not None:
        down, up = double_below(-relation.limits[0]), double_below(relation.limits[1])
        return np.maximum(-_add_down(-codes, down), lo), np.minimum(_add_down(codes, up), hi)
    reach = double_below(relation.tolerance)
    if relation.missing is None:
        return np.maximum(-_add_down(-codes, reach), lo), np.minimum(_add_down(codes, reach), hi)
    last, gone = float(variable.last), codes == relation.missing
    low, high = np.maximum(-_add_down(-codes, reach), lo), np.minimum(_add_down(codes, reach), last)
    return np.where(gone, codes, low), np.where(gone, codes, high)


def _add_down(codes: Floats, reach: float) -> Floats:
    """The largest doubles not above codes + reach. What a sum of two doubles is rounded by is a double (two-sum)."""
    total = codes + reach
    back = total - codes
    rest = (codes - (total - back)) + (reach - back)  # codes + reach = total + rest, exactly
    return np.where(rest < 0, np.nextafter(total, -np.inf), total)


def _exact_ends(
    pairs: PairSpace, judge: SeparableJudge, moving: Sequence[int], row: Floats
) -> tuple[Fraction, Fraction, Fraction] | None:
    """The score of a row, and those at the real ends of the windows; None where nobody is similar. In rationals."""
    exact = [Fraction(c) for c in row.tolist()]
    own = judge.score.exact(exact)
    low = high = own
    for k in moving:
        values = [judge.score.terms[k].exact(code) for code in exact_codes(pairs, judge, k, exact[k])]
        if not values:
            return None
        here = judge.score.terms[k].exact(exact[k])
        low, high = low + min(values) - here, high + max(values) - here
    return own, low, high


def exact_codes(pairs: PairSpace, judge: SeparableJudge, k: int, code: Fraction) -> list[Fraction]:
    """The codes that may stand beside one; of a line only the ends."""
    variable, relation = pairs.variables[pairs.first[k]], pairs.relations[k]
    lo, hi = Fraction(variable.lo), Fraction(variable.hi)
    if relation.fixed is not None:
        return [Fraction(relation.fixed[1])] if code == relation.fixed[0] else []
    if not is_linear(judge, k):
        every = [lo + i for i in range(int(hi - lo) + 1)]
        return [other for other in every if relation.allows(code, other)]
    if relation.missing is not None and code == relation.missing:
        return [code]
    if relation.tolerance is not None:
        last = hi if relation.missing is None else Fraction(variable.last)
        lo, hi = max(lo, code + relation.apart[0]), min(last, code + relation.apart[1])
    return [lo, hi] if lo <= hi else []
