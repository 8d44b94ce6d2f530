"""Forms of several separable scores over cells, in float64: the maximum of

    sum_c alpha_c f_c(x) + sum_c beta_c f_c(x')

with an alpha and a beta for every cell, feature by feature as in `separable`. Features in pieces are looked at at the marks of all
scores and at the ends of the cell: exact where their pieces are linear, else perhaps a little too low. Only proposes; `exact` decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.feature_maxima import (
    Marks,
    best_band,
    best_levels,
    feature_marks,
    positions_inside,
    term_table,
)
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import Separable, nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Interval = tuple[Floats, Floats]


WIDTH_WEIGHT = 1e-12  # of the width of a variable: what decides where nothing moves
TOLERANCE_SLACK = 1e-12  # relative: two codes that are a tolerance apart may be a little more, once rounded


@dataclass(frozen=True, slots=True, kw_only=True)
class FormMaximum:
    """Of each cell the maximum, the pair that has it, and the sum of the sizes of what was added."""

    upper: Floats
    points: Floats
    size: Floats


class Forms:
    """Several scores over the cells of pairs."""

    def __init__(self, scores: Sequence[Separable], pairs: PairSpace) -> None:
        self.scores, self.pairs = scores, pairs
        self.bias = np.array([nearest_double(score.bias) for score in scores])
        terms = list(zip(*(score.terms for score in scores), strict=True))
        self.slopes = [np.array([nearest_double(term.slope) for term in of]) for of in terms]
        tables = [[term_table(pairs, k, term) for term in of] for k, of in enumerate(terms)]
        self.tables = [
            np.array([t for t in of if t is not None]) if of[0] is not None else None for of in tables
        ]
        marked = [
            [m for term in of if (m := feature_marks(pairs, k, term)) is not None]
            for k, of in enumerate(terms)
        ]
        self.curves = [PiecewiseScores(marks) if marks else None for marks in marked]

    def maximum(self, alpha: Floats, beta: Floats, lo: Floats, hi: Floats) -> FormMaximum:
        """Of alpha . f(x) + beta . f(x'), (cells, n) each."""
        upper = (alpha + beta) @ self.bias
        size, points = np.abs(upper), lo.copy()
        for k in range(len(self.slopes)):
            i, j = self.pairs.first[k], self.pairs.second[k]
            value, x, y = self._feature(k, alpha, beta, (lo[:, i], hi[:, i]), (lo[:, j], hi[:, j]))
            upper = upper + value
            size += np.where(np.isfinite(value), np.abs(value), 0)
            points[:, i], points[:, j] = x, y
        return FormMaximum(upper=upper, points=points, size=size)

    def at(self, codes: Floats) -> Floats:
        """All scores of individuals, (rows, n)."""
        total = np.broadcast_to(self.bias, (len(codes), len(self.bias))).copy()
        for k, slopes in enumerate(self.slopes):
            table, curves = self.tables[k], self.curves[k]
            if curves is not None:
                total += curves.at(codes[:, k]).T
            elif table is not None:
                total += table[:, codes[:, k].astype(np.intp)].T
            else:
                total += np.outer(codes[:, k], slopes)
        return total

    def spread(self, forms: Floats, lo: Floats, hi: Floats) -> Floats:
        """By cell and variable how much a form moves at most over the variable's interval; forms (q, n)."""
        spread = np.zeros_like(lo)
        for k in range(len(self.slopes)):
            for v in {self.pairs.first[k], self.pairs.second[k]}:
                spread[:, v] = self._spread(k, forms, lo[:, v], hi[:, v])
        return spread

    def cuts_inside(self, lo: Floats, hi: Floats) -> Floats:
        """For every cell and variable a cut of its feature that lies inside; nan where there is none."""
        found = np.full(lo.shape, np.nan)
        for k, curves in enumerate(self.curves):
            for v in {self.pairs.first[k], self.pairs.second[k]} if curves is not None else ():
                for marks in curves.marks if curves is not None else ():
                    cut = marks.cut_inside(lo[:, v], hi[:, v])
                    found[:, v] = np.where(np.isnan(found[:, v]), cut, found[:, v])
        return found

    def after(self, variable: int, at: float) -> float | None:
        """The double after a cut of the variable's feature; None for other codes."""
        curves = self.curves[self.pairs.variables[variable].feature]
        if curves is None or self.pairs.variables[variable].discrete:
            return None
        return next((after for marks in curves.marks if (after := marks.after(at)) is not None), None)

    def codes_to_try(self) -> dict[int, Floats]:
        """For each feature in pieces the codes that are worth trying."""
        return {k: curves.codes for k, curves in enumerate(self.curves) if curves is not None}

    def _feature(
        self, k: int, alpha: Floats, beta: Floats, here: Interval, there: Interval
    ) -> tuple[Floats, Floats, Floats]:
        relation, table = self.pairs.relations[k], self.tables[k]
        if table is not None:
            return best_levels(alpha @ table, beta @ table, relation, here, there)
        if (curves := self.curves[k]) is not None:
            if relation.kind == "same":
                value, x = curves.highest(alpha + beta, here)
                return value, x, x
            if relation.kind == "within":
                return curves.highest_within(alpha, beta, relation.reach, here, there)
            (first, x), (second, y) = curves.highest(alpha, here), curves.highest(beta, there)
            return first + second, x, y
        u, v = alpha @ self.slopes[k], beta @ self.slopes[k]
        if relation.kind == "same":
            x = np.where(u + v > 0, here[1], here[0])
            return (u + v) * x, x, x
        if relation.kind == "within":
            return best_band(u, v, relation.reach, here, there)
        x, y = np.where(u > 0, here[1], here[0]), np.where(v > 0, there[1], there[0])
        return u * x + v * y, x, y

    def _spread(self, k: int, forms: Floats, lo: Floats, hi: Floats) -> Floats:
        if (curves := self.curves[k]) is not None:
            return curves.spread(forms, lo, hi)
        table = self.tables[k]
        if table is None:
            return float(np.abs(forms @ self.slopes[k]).max(initial=0)) * (hi - lo)
        inside = positions_inside(table.shape[1], lo, hi)[:, None, :]
        values = (forms @ table)[None]
        most, least = (
            np.where(inside, values, -np.inf).max(axis=2),
            np.where(inside, values, np.inf).min(axis=2),
        )
        spread: Floats = (most - least).max(axis=1)
        return spread


class PiecewiseScores:
    """One feature in pieces, of several scores."""

    def __init__(self, marks: list[Marks]) -> None:
        self.marks = marks
        self.codes = np.unique(np.concatenate([m.codes for m in marks]))
        self.values = self.at(self.codes)

    def at(self, codes: Floats) -> Floats:
        """The functions of all scores, (n, ...)."""
        return np.stack([m.values_at(codes) for m in self.marks])

    def highest(self, weights: Floats, box: Interval) -> tuple[Floats, Floats]:
        """max of weights . functions over each interval, and where."""
        codes, allowed = self._tried(box)
        values = np.where(allowed, np.einsum("cn,ncm->cm", weights, self.at(codes)), -np.inf)
        best, rows = values.argmax(axis=1), np.arange(len(codes))
        return values[rows, best], codes[rows, best]

    def highest_within(
        self, alpha: Floats, beta: Floats, reach: tuple[float, float], here: Interval, there: Interval
    ) -> tuple[Floats, Floats, Floats]:
        """The same of two codes, x' - x being within `reach`: both at marks or ends, or one of them and the other at the limit."""
        least, most = reach
        (xs, allowed), (ys, allowed2) = self._tried(here), self._tried(there)
        codes, others, fits = [xs, xs, xs], [xs + least, xs + most, xs], [allowed, allowed, allowed]
        codes += [ys - least, ys - most, ys]
        others += [ys, ys, ys]
        fits += [allowed2, allowed2, allowed2]
        x, y, fit = (
            np.concatenate(codes, axis=1),
            np.concatenate(others, axis=1),
            np.concatenate(fits, axis=1),
        )
        x, y = (
            np.clip(x, here[0][:, None], here[1][:, None]),
            np.clip(y, there[0][:, None], there[1][:, None]),
        )
        every = np.repeat(xs, ys.shape[1], axis=1), np.tile(ys, (1, xs.shape[1]))
        x, y = np.concatenate([x, every[0]], axis=1), np.concatenate([y, every[1]], axis=1)
        both = np.repeat(allowed, ys.shape[1], axis=1) & np.tile(allowed2, (1, xs.shape[1]))
        slack = TOLERANCE_SLACK * (np.abs(x) + max(abs(least), abs(most)))
        fit = np.concatenate([fit, both], axis=1) & (y - x <= most + slack) & (y - x >= least - slack)
        values = np.einsum("cn,ncm->cm", alpha, self.at(x)) + np.einsum("cn,ncm->cm", beta, self.at(y))
        values = np.where(fit, values, -np.inf)
        best, rows = values.argmax(axis=1), np.arange(len(x))
        return values[rows, best], x[rows, best], y[rows, best]

    def spread(self, forms: Floats, lo: Floats, hi: Floats) -> Floats:
        codes, allowed = self._tried((lo, hi))
        values = np.einsum("qn,ncm->cqm", forms, self.at(codes))
        allowed = allowed[:, None, :]
        most, least = (
            np.where(allowed, values, -np.inf).max(axis=2),
            np.where(allowed, values, np.inf).min(axis=2),
        )
        spread: Floats = (most - least).max(axis=1)
        return spread

    def _tried(self, box: Interval) -> tuple[Floats, NDArray[np.bool_]]:
        """Marks and the ends of each interval; which of them lie inside."""
        marks = np.broadcast_to(self.codes, (len(box[0]), len(self.codes)))
        codes = np.concatenate([marks, box[0][:, None], box[1][:, None]], axis=1)
        return codes, (codes >= box[0][:, None]) & (codes <= box[1][:, None])


def widest_cut(
    forms: Forms, discrete: NDArray[np.bool_], spread: Floats, lo: Floats, hi: Floats
) -> tuple[NDArray[np.intp], Floats]:
    """For each cell the variable along which most is spread, and its middle, or a cut between pieces inside it."""
    width = hi - lo
    whole = np.minimum(np.floor((lo + hi) / 2), hi - 1)
    middle = np.where(discrete, whole, lo + width / 2)
    can_split = np.where(discrete, width >= 1, (middle > lo) & (middle < hi))
    cut = forms.cuts_inside(lo, hi)
    has_cut = np.isfinite(cut)
    middle, can_split = np.where(has_cut, cut, middle), can_split | has_cut
    gain = np.nan_to_num(spread, posinf=1e300) + WIDTH_WEIGHT * np.minimum(width, 1e300)
    rank = np.where(can_split, 1e-300 + gain, 0)
    variable, rows = rank.argmax(axis=1), np.arange(len(lo))
    return np.where(rank[rows, variable] > 0, variable, -1), middle[rows, variable]
