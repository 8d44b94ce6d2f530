"""A line and its maximum over cells: the B of the rules `separable` and `empty`.

    a g(x) - b g(x') - sum_j m_j h_j(x) - sum_j m_(J+j) h_j(x')  =  constant + sum_k u_k(x_k) + v_k(x'_k)

The maximum over a cell is the sum of one maximum a feature (`maxima`), each kept, as neighbouring cells share most boxes.
Values carry a positive scale that makes them ints where denominators are small: it saves time and changes nothing else.
"""

from fractions import Fraction
from itertools import chain

from likewise_check import fields, numbers
from likewise_check.affine import Linear
from likewise_check.cells import Box, Cell
from likewise_check.claim import Claim
from likewise_check.errors import Rejected
from likewise_check.numbers import Exact, common_scale, exact, scaled
from likewise_check.rules.maxima import linear_maximum, table_maximum

# How much is kept between leaves, in entries; beyond it everything kept is dropped, which changes nothing but time.
KEPT = 100_000


def read_multipliers(items: object, claim: Claim) -> list[Fraction]:
    """The multipliers of a leaf: one a constraint at x, then one a constraint at x', none negative."""
    wanted = 2 * len(claim.space.constraints)
    found = [numbers.parse(item, "a multiplier") for item in fields.array(items, "the multipliers", wanted)]
    if min(found, default=0) < 0:
        raise Rejected("a multiplier is negative")
    return found


class Terms:
    """g and the constraints' h of one claim, feature by feature, times one scale; shared by all lines."""

    def __init__(self, claim: Claim) -> None:
        features, body = claim.space.features, claim.model.body
        weights: list[list[tuple[int, Fraction]]] = [[] for _ in features]
        for j, constraint in enumerate(claim.space.constraints):
            for k, weight in constraint.terms:
                weights[k].append((j, weight))
        tables = [
            [shape.slope] if isinstance(shape, Linear) else list(shape.entries) for shape in body.shapes
        ]
        worths = [list(feature.values or [Fraction(1)]) for feature in features]
        products = (w * worth for k, pairs in enumerate(weights) for _, w in pairs for worth in worths[k])
        bounds = [constraint.bound for constraint in claim.space.constraints]
        self.scale = common_scale(chain([body.constant], chain.from_iterable(tables), products, bounds))
        self.relations = claim.similarity
        self.linear = [isinstance(shape, Linear) for shape in body.shapes]
        self.constant = scaled(body.constant, claim.sign * self.scale)
        self.gauge = [[scaled(entry, claim.sign * self.scale) for entry in table] for table in tables]
        self.bounds = [scaled(bound, self.scale) for bound in bounds]
        self.weights = [[(j, scaled(weight, self.scale)) for j, weight in pairs] for pairs in weights]
        self.worths = [[exact(worth) for worth in values] for values in worths]
        self.size = sum(map(len, tables))


class Line:
    """One choice of a, b and multipliers; `maximum` over a cell is in units of 1 / scale."""

    def __init__(self, terms: Terms, a: Fraction, b: Fraction, multipliers: list[Fraction]) -> None:
        self._terms = terms
        factor = common_scale([a, b, *multipliers])
        self.scale = terms.scale * factor
        self._a, self._b = scaled(a, factor), scaled(b, factor)
        half = len(multipliers) // 2
        factors = [scaled(m, factor) for m in multipliers]
        self._at_x, self._at_other = factors[:half], factors[half:]
        self._constant: Exact = (self._a - self._b) * terms.constant
        for m, bound in zip(factors, terms.bounds * 2, strict=True):
            self._constant += m * bound
        features = len(terms.gauge)
        self._sides: list[tuple[list[Exact], list[Exact]] | None] = [None] * features
        self._maxima: list[dict[tuple[int, ...], Exact | None]] = [{} for _ in range(features)]
        self.kept = features + len(factors)

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
        terms = self._terms
        sides = self._sides[k]
        if sides is None:
            u = self._side(k, self._a, self._at_x)
            v = self._side(k, -self._b, self._at_other)
            sides = self._sides[k] = u, v
            self.kept += 2 * len(u)
        if terms.linear[k]:
            return linear_maximum(sides[0][0], sides[1][0], box, terms.relations[k])
        return table_maximum(*sides, box, terms.relations[k])

    def _side(self, k: int, factor: Exact, multipliers: list[Exact]) -> list[Exact]:
        """u_k or v_k: the slope of a linear feature, or one value a level."""
        terms = self._terms
        weight: Exact = sum(multipliers[j] * coefficient for j, coefficient in terms.weights[k])
        if weight == 0:
            return [factor * entry for entry in terms.gauge[k]]
        worths = zip(terms.gauge[k], terms.worths[k], strict=True)
        return [_plain(factor * entry - weight * worth) for entry, worth in worths]


def _plain(value: Exact) -> Exact:
    return value if isinstance(value, int) else exact(value)
