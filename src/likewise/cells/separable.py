"""Exact bound of a separable score over a cell of pair space: the last word of the affine engine.

For a direction (a, b) and multipliers mu, nu >= 0 of the constraints g_j <= 0, every pair of the cell has

    a s(x) - b s(x')  <=  max over the cell of  a s(x) - b s(x') - sum_j mu_j g_j(x) - sum_j nu_j g_j(x'),

whatever the multipliers. The right side is a constant plus one term a feature, u_k(x_k) + v_k(x'_k) with
u_k and v_k linear, tables, or in pieces (`curves`), so its maximum is a sum of one-feature maxima:

    same      max of u + v over the interval                      (ends, or the allowed levels)
    free      max of u over the first interval + max of v over the second
    within t  max over the polygon { l <= x <= h, l' <= x' <= h', |x - x'| <= t }: its corners
    pairs     max over equal levels and over the allowed pairs, both ways round, that lie in the intervals

For whole numbers the corners are whole when t is, so integers need no relaxation. All in rationals. Where pairs are within a distance, a multiple of that is taken off as well (`penalty`).
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from likewise.cells.curves import band_corners, curve_maximum
from likewise.cells.penalty import (
    DistancePenalty,
    difference_limits,
    level_maximum,
    number_maximum,
    penalty_of,
)
from likewise.model.witness_set import Direction
from likewise.spec.distance import Cost
from likewise.spec.features import Categorical, Ordinal
from likewise.spec.pairs import PairSpace
from likewise.spec.similarity import Relation
from likewise.spec.terms import Separable, Term

Interval = tuple[float, float]
Multipliers = tuple[Fraction, ...]  # one a constraint and side: first all mu, then all nu


@dataclass(slots=True, kw_only=True)
class ExactBound:
    """Evaluates one direction on many cells; one-feature maxima are remembered, most cells share them."""

    pairs: PairSpace
    constant: Fraction
    first: tuple[Term, ...]
    second: tuple[Term, ...]
    penalty: DistancePenalty | None = None
    seen: dict[tuple[Any, ...], Fraction | None] = field(default_factory=dict)

    def bound(self, lo: Sequence[float], hi: Sequence[float]) -> Fraction | None:
        """The upper bound over the cell, or None where no pair of the cell is similar."""
        total = self.constant
        for k, (i, j) in enumerate(zip(self.pairs.first, self.pairs.second, strict=True)):
            here, there = (lo[i], hi[i]), (lo[j], hi[j])
            apart = None
            if self.penalty is not None and self.pairs.difference:
                d = self.pairs.difference[k]
                apart = None if d is None else (lo[d], hi[d])
            key = (k, here, there, apart)
            if key not in self.seen:
                self.seen[key] = self._feature(k, here, there, apart)
            value = self.seen[key]
            if value is None:
                return None
            total += value
        return total

    def _feature(self, k: int, here: Interval, there: Interval, apart: Interval | None) -> Fraction | None:
        cost = None if self.penalty is None else self.penalty.cost(k)
        if cost is None or self.pairs.relations[k].kind == "same":
            return self._plain_feature(k, here, there)
        return self._costly_feature(k, cost, here, there, apart)

    def _costly_feature(
        self, k: int, cost: Cost, here: Interval, there: Interval, apart: Interval | None
    ) -> Fraction | None:
        """The maximum less what differences cost; of a feature in pieces, less what they cost at least."""
        u, v, relation, penalty = self.first[k], self.second[k], self.pairs.relations[k], self.penalty
        if penalty is None:
            return None
        power, weight = penalty.distance.power, penalty.weight
        feature = self.pairs.space[self.pairs.space.names[k]]
        if isinstance(feature, (Categorical, Ordinal)):
            xs, ys = (range(int(lo), int(hi) + 1) for lo, hi in (here, there))
            if cost.unequal is not None:
                either = self._plain_feature(k, here, there)
                alike = [_value_at(u, i) + _value_at(v, i) for i in xs if i in ys]
                less = [] if either is None else [either - weight * cost.unequal**power]
                return max([*alike, *less], default=None)
            every = range(len(feature.levels))
            values = [_value_at(u, i) for i in every], [_value_at(v, j) for j in every]
            return level_maximum(*values, weight, cost, power, relation, xs, ys)
        first, second = _rationals(here), _rationals(there)
        limits = difference_limits(relation, first, second, None if apart is None else _rationals(apart))
        price = weight * (cost.each or Fraction(0)) ** power
        if u.pieces is None and v.pieces is None:
            return number_maximum(u.slope, v.slope, price, power, first, second, limits)
        highest = self._plain_feature(k, here, there)
        least = number_maximum(Fraction(0), Fraction(0), price, power, first, second, limits)
        return None if highest is None or least is None else highest + least

    def _plain_feature(self, k: int, here: Interval, there: Interval) -> Fraction | None:
        u, v = self.first[k], self.second[k]
        relation = self.pairs.relations[k]
        if u.pieces is not None and v.pieces is not None:
            boxes = _rationals(here), _rationals(there)
            whole = self.pairs.variables[self.pairs.first[k]].discrete
            return curve_maximum(u.pieces, v.pieces, relation, *boxes, whole=whole)
        if u.table is not None or v.table is not None or relation.kind == "pairs":
            return _levels_maximum(u, v, relation, here, there)
        if relation.kind == "same":
            slope = u.slope + v.slope
            return max(slope * Fraction(end) for end in here)
        if relation.kind == "free":
            return max(u.slope * Fraction(end) for end in here) + max(
                v.slope * Fraction(end) for end in there
            )
        corners = band_corners(_rationals(here), _rationals(there), relation.apart)
        return max((u.slope * x + v.slope * y for x, y in corners), default=None)


def exact_bound(
    score: Separable,
    pairs: PairSpace,
    way: Direction,
    multipliers: Multipliers = (),
    second: Separable | None = None,
) -> ExactBound:
    """Combine both copies and the constraints' multipliers BEFORE maximising; x' has the score `second`, if that is another one."""
    other = score if second is None else second
    count, penalty = len(pairs.constraints), penalty_of(pairs, multipliers)
    mu, nu = multipliers[:count], multipliers[count : 2 * count]
    constant = way.a * score.bias - way.b * other.bias
    for multiplier, constraint in zip(mu + nu, pairs.constraints * 2 if multipliers else (), strict=True):
        constant -= multiplier * constraint.bias
    curved = bool(way.a or way.b)
    here, there = (
        _combine(score, way.a, pairs, mu, curved=curved),
        _combine(other, -way.b, pairs, nu, curved=curved),
    )
    if second is not None:
        here, there = _with_common_cuts(here, there), _with_common_cuts(there, here)
    if penalty is not None:
        here, there, constant = penalty.moved(here, 1), penalty.moved(there, -1), constant + penalty.constant
    return ExactBound(pairs=pairs, constant=constant, first=here, second=there, penalty=penalty)


def _with_common_cuts(terms: tuple[Term, ...], others: tuple[Term, ...]) -> tuple[Term, ...]:
    """The terms with the cuts of the others as well: sums of the same columns may change at different ones."""
    return tuple(
        term
        if term.pieces is None or other.pieces is None
        else Term(pieces=term.pieces.cut_at(other.pieces.cuts))
        for term, other in zip(terms, others, strict=True)
    )


def _combine(
    score: Separable, scale: Fraction, pairs: PairSpace, multipliers: Multipliers, *, curved: bool
) -> tuple[Term, ...]:
    """scale * phi_k - sum_j multiplier_j * gamma_jk for every feature k, in pieces (`curved`) if there are any."""
    parts = [(scale, score)]
    parts += [(-m, c) for m, c in zip(multipliers, pairs.constraints, strict=False) if m]
    terms = []
    for k in range(len(score.terms)):
        tables = [(f, part.terms[k].table) for f, part in parts if part.terms[k].table is not None]
        if tables:
            length = len(tables[0][1] or ())
            total = [Fraction(0)] * length
            for factor, table in tables:
                total = [t + factor * value for t, value in zip(total, table or (), strict=True)]
            terms.append(Term(table=tuple(total)))
            continue
        slope, pieces = (
            sum((f * part.terms[k].slope for f, part in parts), Fraction(0)),
            score.terms[k].pieces,
        )
        if pieces is None or not curved:
            terms.append(Term(slope=slope))
        else:
            terms.append(Term(pieces=pieces.moved(scale, slope)))
    return tuple(terms)


def _rationals(interval: Interval) -> tuple[Fraction, Fraction]:
    return Fraction(interval[0]), Fraction(interval[1])


def _levels_maximum(u: Term, v: Term, relation: Relation, here: Interval, there: Interval) -> Fraction | None:
    """The same over positions of levels, by looking at all that are allowed."""
    xs = range(int(here[0]), int(here[1]) + 1)
    ys = range(int(there[0]), int(there[1]) + 1)
    if relation.kind == "same":
        return max(_value_at(u, i) + _value_at(v, i) for i in xs)
    if relation.kind == "free":
        return max(_value_at(u, i) for i in xs) + max(_value_at(v, j) for j in ys)
    if relation.kind == "pairs":
        return _paired_maximum(u, v, relation, xs, ys)
    low, high = relation.apart
    return _window_maximum(u, v, (math.ceil(low), math.floor(high)), xs, ys)


def _paired_maximum(u: Term, v: Term, relation: Relation, xs: range, ys: range) -> Fraction | None:
    """max of u[i] + v[j] over i = j and over the allowed pairs; None where the intervals have neither."""
    equal = [_value_at(u, i) + _value_at(v, i) for i in xs if i in ys]
    both_ways = [pair for i, j in relation.allowed for pair in ((i, j), (j, i))]
    return max(
        equal + [_value_at(u, i) + _value_at(v, j) for i, j in both_ways if i in xs and j in ys], default=None
    )


def _window_maximum(u: Term, v: Term, steps: tuple[int, int], xs: range, ys: range) -> Fraction | None:
    """max of u[i] + v[j] over j - i from the first to the last of the steps, looking at each position once."""
    best, ahead = None, ys.start
    window: deque[int] = deque()  # positions j of falling v[j]; the first has the largest in reach of i
    for i in xs:
        while ahead < ys.stop and ahead <= i + steps[1]:
            while window and _value_at(v, window[-1]) <= _value_at(v, ahead):
                window.pop()
            window.append(ahead)
            ahead += 1
        while window and window[0] < i + steps[0]:
            window.popleft()
        if window:
            total = _value_at(u, i) + _value_at(v, window[0])
            best = total if best is None or total > best else best
    return best


def _value_at(term: Term, position: int) -> Fraction:
    return term.slope * position if term.table is None else term.table[position]
