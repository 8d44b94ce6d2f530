"""A line and its maximum over cells: the B of the rules `separable` and `empty`.

    a g(x) - b g(x') - sum_j m_j h_j(x) - sum_j m_(J+j) h_j(x')  =  constant + sum_k u_k(x_k) + v_k(x'_k)

The maximum over a cell is the sum of one maximum a feature, each kept, as neighbouring cells share most boxes. Values carry a
positive scale that makes them ints where denominators are small: it saves time and changes nothing else.

One feature, linear (u x + v x'): at a corner of the polygon. For `within` t the polygon is lo <= x <= hi, lo' <= x' <= hi',
|x - x'| <= t. Each of its corners lies on one of the sides x = lo, x = hi, x' = lo', x' = hi', because the two remaining lines
x - x' = t and x - x' = -t are parallel (t > 0); on such a side the polygon is an interval whose two ends are looked at. Where
the ends and t are whole, so are these points. Tables: over positions; for `within` by a window that slides with x.
"""

from collections import deque
from collections.abc import Sequence
from fractions import Fraction
from itertools import chain

from likewise_check.cells import Box, Cell, Interval
from likewise_check.claim import Claim
from likewise_check.model import Affine, flat
from likewise_check.numbers import Exact, common_scale, exact
from likewise_check.space import Relation


class Terms:
    """g and the constraints' h of one claim, feature by feature, times one scale; shared by all lines."""

    def __init__(self, claim: Claim) -> None:
        features, body, constraints = claim.space.features, claim.model.body, claim.space.constraints
        if not isinstance(body, Affine):
            body = flat(claim.space)  # only constraints are looked at
        self.relations, self.linear = claim.similarity, body.linear
        values = [feature.values or (Fraction(1),) for feature in features]
        weights = [
            (j, k, weight) for j, constraint in enumerate(constraints) for k, weight in constraint.terms
        ]
        scales = [common_scale(known) for known in values]
        products = (Fraction(1, weight.denominator * scales[k]) for _, k, weight in weights)
        numbers = chain(
            [body.constant], *body.tables, products, (constraint.bound for constraint in constraints)
        )
        self.scale = common_scale(numbers)
        scale = claim.sign * self.scale
        self.constant = exact(scale * body.constant)
        self.gauge = [[exact(scale * entry) for entry in table] for table in body.tables]
        self.bounds = [exact(self.scale * constraint.bound) for constraint in constraints]
        self.values = [[exact(value) for value in known] for known in values]
        self.weights: list[list[tuple[int, Exact]]] = [
            [] for _ in features
        ]  # for each feature: constraint, weight
        for j, k, weight in weights:
            self.weights[k].append((j, exact(self.scale * weight)))


class Line:
    """One choice of a, b and multipliers; `maximum` over a cell is in units of 1 / scale."""

    def __init__(self, terms: Terms, a: Fraction, b: Fraction, multipliers: list[Fraction]) -> None:
        factor = common_scale([a, b, *multipliers])
        factors = [exact(factor * m) for m in multipliers]
        half = len(factors) // 2
        self._terms = terms
        self._at_x = exact(factor * a), factors[:half]
        self._at_other = exact(-factor * b), factors[half:]
        self._constant = (self._at_x[0] + self._at_other[0]) * terms.constant
        self._constant += sum(m * bound for m, bound in zip(factors, terms.bounds * 2, strict=True))
        self._sides: dict[int, tuple[list[Exact], list[Exact]]] = {}
        self._maxima: list[dict[tuple[int, ...], Exact | None]] = [{} for _ in terms.gauge]
        self.scale = terms.scale * factor
        self.kept = len(self._maxima) + len(factors)  # how much is remembered, in entries

    def maximum(self, cell: Cell) -> Exact | None:
        """B * scale over the cell; None for minus infinity: no points satisfy the relations."""
        total = self._constant
        for k, (box, known) in enumerate(zip(cell, self._maxima, strict=True)):
            try:
                part = known[box.key]
            except KeyError:
                part = known[box.key] = self._feature_maximum(k, box)
                self.kept += 1
            if part is None:
                return None
            total += part
        return total

    def _feature_maximum(self, k: int, box: Box) -> Exact | None:
        if k not in self._sides:
            self._sides[k] = self._side(k, *self._at_x), self._side(k, *self._at_other)
            self.kept += 2 * len(self._sides[k][0])
        u, v = self._sides[k]
        relation = self._terms.relations[k]
        return (
            linear_maximum(u[0], v[0], box, relation)
            if self._terms.linear[k]
            else table_maximum(u, v, box, relation)
        )

    def _side(self, k: int, factor: Exact, multipliers: list[Exact]) -> list[Exact]:
        """u_k or v_k: the slope of a linear feature, or one value a level."""
        gauge, values = self._terms.gauge[k], self._terms.values[k]
        weight: Exact = sum(multipliers[j] * w for j, w in self._terms.weights[k])
        if weight == 0:
            return [factor * entry for entry in gauge]
        return [exact(factor * entry - weight * value) for entry, value in zip(gauge, values, strict=True)]


def linear_maximum(u: Exact, v: Exact, box: Box, relation: Relation) -> Exact | None:
    """max of u x + v x'; None if no codes satisfy the relation."""
    if relation.kind == "same":
        ((lo, hi),) = box.intervals
        return (u + v) * (hi if u + v > 0 else lo)
    first, second = box.intervals
    if relation.tolerance is None:
        return u * (first[1] if u > 0 else first[0]) + v * (second[1] if v > 0 else second[0])
    tolerance = exact(relation.tolerance)
    corners = [(x, other) for x in first for other in _reach(x, second, tolerance)]
    corners += [(x, other) for other in second for x in _reach(other, first, tolerance)]
    return max((u * x + v * other for x, other in corners), default=None)


def _reach(code: Exact, interval: Interval, tolerance: Exact) -> tuple[Exact, ...]:
    """The ends of the part of the interval within the tolerance of the code; nothing if that part is empty."""
    lo, hi = max(interval[0], code - tolerance), min(interval[1], code + tolerance)
    return (lo, hi) if lo <= hi else ()


def table_maximum(u: Sequence[Exact], v: Sequence[Exact], box: Box, relation: Relation) -> Exact | None:
    """max of u[i] + v[j]; None if no positions satisfy the relation."""
    ranges = [range(int(lo), int(hi) + 1) for lo, hi in box.intervals]
    if relation.kind == "same":
        return max(u[i] + v[i] for i in ranges[0])
    first, second = ranges
    if relation.tolerance is None:
        return max(u[i] for i in first) + max(v[j] for j in second)
    reach = int(relation.tolerance)
    sums: list[Exact] = []
    window: deque[int] = deque()  # positions j of falling v[j]: the first is the largest in reach of i
    ahead = second.start
    for i in first:
        while ahead < second.stop and ahead <= i + reach:
            while window and v[window[-1]] <= v[ahead]:
                window.pop()
            window.append(ahead)
            ahead += 1
        while window and window[0] < i - reach:
            window.popleft()
        if window:
            sums.append(u[i] + v[window[0]])
    return max(sums, default=None)
