"""A line and its maximum over cells: the B of the rules `separable` and `empty`.

    a g(x) - b g(x') - sum_j m_j h_j(x) - sum_j m_(J+j) h_j(x')  =  constant + sum_k u_k(x_k) + v_k(x'_k)

The maximum over a cell is the sum of one maximum a feature, each kept, as neighbouring cells share most boxes. Values carry a
positive scale that makes them ints where denominators are small: it saves time and changes nothing else. The maxima of one
feature: `maxima`, and `curves` for columns in pieces.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import chain
from typing import TypeAlias

from likewise_check.cells import Box, Cell
from likewise_check.claim import Claim
from likewise_check.model import Affine, flat
from likewise_check.numbers import Exact, common_scale, exact
from likewise_check.rules.curves import Curves
from likewise_check.rules.maxima import linear_maximum, table_maximum

Weighed: TypeAlias = tuple[tuple[Exact, ...], list[tuple[int, Exact]]]
_CODE_ITSELF = (1,)  # of linear features: what their slope multiplies


class Terms:
    """g and the constraints' h of one claim, feature by feature, times one scale; shared by all lines."""

    def __init__(self, claim: Claim) -> None:
        features, body, constraints = claim.space.features, claim.model.body, claim.space.constraints
        if not isinstance(body, Affine):
            body = flat(claim.space)  # only constraints are looked at
        self.relations, self.linear = claim.similarity, body.linear
        # For each feature: values of its codes, shared by all that have the same, and who weighs them: constraint, weight.
        shared: list[dict[int, Weighed]] = [{} for _ in features]
        for j, constraint in enumerate(constraints):
            for term in constraint.terms:
                values = term.values or _CODE_ITSELF
                _, members = shared[term.feature].setdefault(id(values), (values, []))
                members.append((j, term.weight))
        weighed = [list(known.values()) for known in shared]
        products = (
            Fraction(1, weight.denominator * scale)
            for values, members in chain(*weighed)
            for scale in [common_scale(values)]
            for _, weight in members
        )
        slope, offset = claim.slope, claim.offset
        curves = [pieces.times(slope) if pieces else None for pieces in body.pieces]
        constant = slope * body.constant + offset
        tables = [[slope * entry for entry in table] for table in body.tables]
        polys = (poly for pieces in curves if pieces for poly in pieces.polys)
        numbers = chain([constant], *tables, *polys, products, (limit.bound for limit in constraints))
        self.scale = scale = common_scale(numbers)
        self.constant = exact(scale * constant)
        self.gauge = [[exact(scale * entry) for entry in table] for table in tables]
        self.pieces = [pieces.times(scale) if pieces else None for pieces in curves]
        self.bounds = [exact(scale * constraint.bound) for constraint in constraints]
        self.weights: list[list[Weighed]] = [
            [(values, [(j, exact(scale * weight)) for j, weight in members]) for values, members in known]
            for known in weighed
        ]


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
        self._largest: dict[int, Callable[[Box], Exact | None]] = {}
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
        if k not in self._largest:
            self._largest[k] = self._prepared(k)
        return self._largest[k](box)

    def _prepared(self, k: int) -> Callable[[Box], Exact | None]:
        """The maximum of u_k + v_k, as a function of a box."""
        relation, pieces = self._terms.relations[k], self._terms.pieces[k]
        u, v = self._side(k, *self._at_x), self._side(k, *self._at_other)
        self.kept += 2 * len(u)
        if pieces and (self._at_x[0] or self._at_other[0]):
            curves = Curves(pieces, (self._at_x[0], u[0]), (self._at_other[0], v[0]))
            self.kept += 2 * len(pieces.polys)
            return lambda box: curves.maximum(box, relation)
        if self._terms.linear[k]:
            return lambda box: linear_maximum(u[0], v[0], box, relation)
        return lambda box: table_maximum(u, v, box, relation)

    def _side(self, k: int, factor: Exact, multipliers: list[Exact]) -> list[Exact]:
        """u_k or v_k: the slope of a linear feature, or one value a level."""
        side = [factor * entry for entry in self._terms.gauge[k]]
        for values, members in self._terms.weights[k]:
            weight: Exact = sum(multipliers[j] * w for j, w in members)
            if weight:
                side = [exact(old - weight * value) for old, value in zip(side, values, strict=True)]
        return side
