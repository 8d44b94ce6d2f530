"""Sums: a proved bracket of the share of a linear model, in as many features as there are.

The score is S + T(v): S the terms of the shared features, T those of the features that may differ, at the individual's own setting v. Of those who
are similar to v the lowest and highest T are a(v) and b(v), whatever S is. So an individual has a counterpart with another decision (margin m) where

    m - T(v) < S <= -m - a(v)      or      m - b(v) < S <= -m - T(v),

and one with a gap above delta where T(v) - a(v) > delta or b(v) - T(v) > delta. (Of ordered pairs a(v) is the lowest of those who may come after v, b(v) the highest of those who may come before.) Under a product measure S is a sum of independent numbers, also
independent of v: the share is a sum over v of P(v) times what the distribution function F of S rises by over those intervals.

F is bracketed on a grid of step h. Each term, from its least value on, is put into the cell [i h, (i + 1) h] of the grid that holds it, and the
distributions of the cell numbers are convolved. A sum J of n cell numbers stands for values between h J and h (J + n); `CELL_SLACK` of a cell covers the
rounding of i. Uniform numbers are cut into equal parts no longer than h, which lie in at most two cells. Masses are sums and products of
non-negative doubles: what they are off by, relatively, is a rounding an operation, and is taken off and put on at the ends.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import OutOfTime, check_clock
from likewise.families.score_judge import rounding_growth
from likewise.families.separable import SeparableJudge
from likewise.search.neighbours import count_settings, partner_codes
from likewise.search.pace import Pace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.measures import FeatureMeasure, Measure
    from likewise.analysis.row_claim import RowClaim
    from likewise.spec.terms import Term

    Floats = NDArray[np.float64]

OwnSetting = tuple[
    Fraction, Fraction, Fraction, Fraction
]  # a setting's mass, its value, the lowest and highest similar one
CELL_SLACK = 1e-6  # of a cell a term: quotients below 2^23 are off by far less
MOST_SETTINGS = 20_000
FIRST_CELLS, CELL_GROWTH, MOST_CELLS = 2**12, 4, 2**22  # the first ones take next to no time
MOST_PRODUCTS = 4e9  # products of a convolution


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SumTerm:
    """One shared term from its least value on: atoms with masses; or uniform pieces, each with its two ends and a mass; or uniform up to `width` where there are neither."""

    width: Fraction
    atoms: tuple[Fraction, ...] = ()
    pieces: tuple[tuple[Fraction, Fraction], ...] = ()
    masses: tuple[float, ...] = ()

    @property
    def cells(self) -> int:
        """In how many cells of the grid a value may lie, the grid's rounding left aside."""
        return 1 if self.atoms else 2

    def on_grid(self, step: Fraction) -> tuple[NDArray[np.intp], Floats]:
        """Cell numbers, each once, and their masses."""
        if self.atoms:
            at = np.array([math.floor(float(atom / step)) for atom in self.atoms], dtype=np.intp)
            masses = np.array(self.masses)
        elif self.pieces:
            parts = [_cells_of_piece(left, right, step) for left, right in self.pieces]
            at = np.concatenate(parts)
            masses = np.concatenate(
                [np.full(len(part), mass / len(part)) for part, mass in zip(parts, self.masses, strict=True)]
            )
        else:
            at = _cells_of_piece(Fraction(0), self.width, step)
            masses = np.full(len(at), 1 / len(at))
        weights: Floats = np.bincount(at, weights=masses).astype(np.float64)
        places = np.flatnonzero(weights)
        return places, weights[places]


def _cells_of_piece(left: Fraction, right: Fraction, step: Fraction) -> NDArray[np.intp]:
    """Where equal parts of an interval, no longer than a cell, begin."""
    count = max(1, math.ceil((right - left) / step))
    begin, each = float(left / step), float((right - left) / count / step)
    cells: NDArray[np.intp] = np.floor(begin + np.arange(count) * each).astype(np.intp)
    return cells


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Distribution:
    """F of the shared sum: cumulated masses of cell numbers, off by `error` relatively."""

    least: Fraction
    step: Fraction
    cumulated: Floats
    cells: int  # in which a sum may lie
    terms: int
    error: float

    def below(self, value: Fraction) -> tuple[float, float]:
        """Bounds of the probability that the sum is at most this."""
        at = float((value - self.least) / self.step)
        slack = CELL_SLACK * (self.terms + 1)
        low, high = math.floor(at - slack) - self.cells, math.floor(at + slack)
        return self._cumulated_up_to(low) * (1 - self.error), min(
            1.0, self._cumulated_up_to(high) * (1 + self.error)
        )

    def _cumulated_up_to(self, number: int) -> float:
        if number < 0:
            return 0.0
        return float(self.cumulated[min(number, len(self.cumulated) - 1)])


def bracket_share_of_sum(
    judging: RowClaim, measure: Measure, close: float
) -> tuple[Fraction, Fraction] | None:
    """lower <= share <= upper, as narrow as `close` if the grid can be made fine enough; None where it is no such sum."""
    asked = judging.inquiry
    judge = asked.judge.separable
    if judge is None or asked.pairs.constraints:
        return None
    question = asked.question
    if question.kind in ("probability", "prediction"):
        return None
    shared = [k for k in range(len(asked.pairs.relations)) if k not in asked.moving and judge.depends(k)]
    parts = [_make_term(judge.score.terms[k], measure.spreads[k]) for k in shared]
    own = _own_settings(judging, measure, judge)
    if own is None or any(part is None for part in parts):
        return None
    known = [part for part in parts if part is not None]
    if question.kind == "score":
        delta = question.level
        biased = sum((p for p, t, a, b in own if t - a > delta or b - t > delta), Fraction(0))
        return biased, biased
    least = judge.score.bias + sum(
        (_least_value(judge.score.terms[k], measure.spreads[k]) for k in shared), Fraction(0)
    )
    return _refine_grid(
        judging, known, least, close, lambda shared: _bracket_share(shared, own, question.level)
    )


def bracket_mass_above(
    judging: RowClaim, measure: Measure, border: Fraction, close: float
) -> tuple[Fraction, Fraction] | None:
    """Bounds of the mass of individuals whose score is above a border, and of those whose score is at least that; None where the score is no such sum."""
    asked = judging.inquiry
    judge = asked.judge.separable
    if judge is None or asked.pairs.constraints:
        return None
    seen = [k for k in range(len(asked.pairs.relations)) if judge.depends(k)]
    parts = [_make_term(judge.score.terms[k], measure.spreads[k]) for k in seen]
    if any(part is None for part in parts):
        return None
    least = judge.score.bias + sum(
        (_least_value(judge.score.terms[k], measure.spreads[k]) for k in seen), Fraction(0)
    )
    known = [part for part in parts if part is not None]

    def above(total: Distribution) -> tuple[Fraction, Fraction]:
        low, high = total.below(border)
        return 1 - Fraction(high), 1 - Fraction(low)

    return _refine_grid(judging, known, least, close, above)


def _refine_grid(
    judging: RowClaim,
    parts: list[SumTerm],
    least: Fraction,
    close: float,
    bracket: Callable[[Distribution], tuple[Fraction, Fraction]],
) -> tuple[Fraction, Fraction]:
    """A bracket of something that is told from the distribution of a sum: on finer and finer grids, until it is as narrow as `close`."""
    cells, found = FIRST_CELLS, (Fraction(0), Fraction(1))
    pace = Pace(judging.budget, first=1, most=1)
    while pace.fits(int(_convolution_cost(parts, cells))):
        try:
            with judging.budget.watched():
                now = bracket(convolve(parts, least, cells))
        except OutOfTime:
            break
        pace.done(int(_convolution_cost(parts, cells)))
        found = max(found[0], now[0]), min(found[1], now[1])
        judging.tell("adding up terms", lower=float(found[0]), upper=float(found[1]))
        cells *= CELL_GROWTH
        if (
            found[1] - found[0] <= close
            or cells > MOST_CELLS
            or _convolution_cost(parts, cells) > MOST_PRODUCTS
        ):
            break
    return found


def convolve(parts: list[SumTerm], least: Fraction, cells: int) -> Distribution:
    """The sum of independent parts, on a grid of so many cells over its range."""
    width = sum((part.width for part in parts), Fraction(0))
    step = Fraction(float(width / cells)) or Fraction(1)
    gridded = sorted((part.on_grid(step) for part in parts), key=lambda grid: -len(grid[0]))
    masses: Floats = np.ones(1)
    operations = 4
    for places, weights in gridded:
        longer = np.zeros(len(masses) + int(places[-1]))
        for place, weight in zip(places.tolist(), weights.tolist(), strict=True):
            check_clock()
            longer[place : place + len(masses)] += weight * masses
        masses = longer
        operations += len(places) + 4 + len(weights)
    # Masses of a part were added up from as many atoms as it has, and the cumulated ones from all.
    operations += sum(max(len(part.atoms), len(masses) if part.pieces else 0) + 2 for part in parts) + len(
        masses
    )
    return Distribution(
        least=least,
        step=step,
        cumulated=np.cumsum(masses),
        cells=sum(part.cells for part in parts),
        terms=len(parts),
        error=rounding_growth(operations),
    )


def _convolution_cost(parts: list[SumTerm], cells: int) -> float:
    """About how many products the convolutions take; the part with the most cells comes first, and is free."""
    width = float(sum((part.width for part in parts), Fraction(0))) or 1.0
    most = [cells * float(part.width) / width + 1 for part in parts]
    counts = sorted(min(m, len(p.atoms)) if p.atoms else m for p, m in zip(parts, most, strict=True))
    return cells * sum(counts[:-1])


def _bracket_share(
    distribution: Distribution, own: list[OwnSetting], margin: Fraction
) -> tuple[Fraction, Fraction]:
    lower = upper = Fraction(0)
    for mass, value, low, high in own:
        check_clock()
        for above, up_to in ((margin - value, -margin - low), (margin - high, -margin - value)):
            if up_to <= above:
                continue
            (left_low, left_high), (right_low, right_high) = map(distribution.below, (above, up_to))
            lower += mass * max(Fraction(0), Fraction(right_low) - Fraction(left_high))
            upper += mass * (Fraction(right_high) - Fraction(left_low))
    return lower, min(upper, Fraction(1))


def _make_term(term: Term, spread: FeatureMeasure) -> SumTerm | None:
    """A shared term under its distribution; None for pieces of a number that is uniform."""
    if not spread.atoms:
        if term.pieces is not None or term.table is not None:
            return None
        if spread.edges:
            return _make_histogram_term(term.slope, spread)
        return SumTerm(width=abs(term.slope) * (Fraction(spread.hi) - Fraction(spread.lo)))
    values = [term.exact(Fraction(atom)) for atom in spread.atoms]
    least = min(values)
    return SumTerm(
        width=max(values) - least,
        atoms=tuple(value - least for value in values),
        masses=tuple(count / spread.sums[-1] for count in spread.counts),
    )


def _make_histogram_term(slope: Fraction, spread: FeatureMeasure) -> SumTerm:
    values = [slope * Fraction(edge) for edge in spread.edges]
    least = min(values)
    ends = [sorted((one - least, other - least)) for one, other in pairwise(values)]
    return SumTerm(
        width=max(values) - least,
        pieces=tuple((left, right) for left, right in ends),
        masses=tuple(count / spread.sums[-1] for count in spread.counts),
    )


def _least_value(term: Term, spread: FeatureMeasure) -> Fraction:
    ends = spread.atoms or (spread.edges and (spread.edges[0], spread.edges[-1])) or (spread.lo, spread.hi)
    return min(term.exact(Fraction(code)) for code in ends)


def _own_settings(judging: RowClaim, measure: Measure, judge: SeparableJudge) -> list[OwnSetting] | None:
    """Own settings of what may differ: mass, value, and the lowest and highest value among those who are similar."""
    pairs, moving = judging.inquiry.pairs, judging.inquiry.moving
    turned = pairs.turned()
    if not math.isfinite(count_settings(pairs, judging.inquiry.judge, moving)):
        return None
    features = []
    for k in moving:
        spread, term = measure.spreads[k], judge.score.terms[k]
        exact = {code: term.exact(Fraction(code)) for code in feature_codes(judging, k)}
        lines = []
        for atom, count in zip(spread.atoms, spread.counts, strict=True):
            own = exact[atom]
            low = min((exact[code] for code in partner_codes(pairs, k, atom)), default=own)
            high = max((exact[code] for code in partner_codes(turned, k, atom)), default=own)
            lines.append((Fraction(count, spread.sums[-1]), own, low, high))
        features.append(lines)
    if math.prod(map(len, features)) > MOST_SETTINGS:
        return None
    return [_combine_settings(lines) for lines in product(*features)]


def _combine_settings(lines: tuple[OwnSetting, ...]) -> OwnSetting:
    """Settings of several features: masses multiply, values add up."""
    value, low, high = (sum((line[i] for line in lines), Fraction(0)) for i in (1, 2, 3))
    return math.prod((line[0] for line in lines), start=Fraction(1)), value, low, high


def feature_codes(judging: RowClaim, k: int) -> list[float]:
    """All codes of a discrete feature."""
    variable = judging.inquiry.pairs.variables[judging.inquiry.pairs.first[k]]
    return [float(code) for code in range(int(variable.lo), int(variable.hi) + 1)]
