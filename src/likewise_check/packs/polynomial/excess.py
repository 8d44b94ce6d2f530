"""S(y) = a g(x) - b g(x') - T as a polynomial in the axes of a cell (section 8): positive at every witness.

g = slope f + offset is the sum of a part in columns of features that are the same, where g(x) = g(x'), and the rest:

    S  =  (a - b) common + a rest(x) - b rest(x') - T.

In lemmas about two bodies nothing is common: S = a F(x) - b G(x') - T.

Each is expanded along the tree of its products, g = c_0 + sum over columns c of column_c * g_c, g_c the same for terms that go on from c. With column
forms in units of 1/Q and coefficients times k Q^(D - d), as in the body, all numbers are ints in units of 1 / (k Q^D).
"""

from dataclasses import dataclass, field
from fractions import Fraction

from likewise_check.core.bound import read_way
from likewise_check.core.fields import Rejected, array_of
from likewise_check.core.lemma import Lemma
from likewise_check.core.numbers import number
from likewise_check.packs.cubes.cube import Cube, Cubes
from likewise_check.packs.cubes.monomials import (
    Budget,
    Poly,
    add_product,
    check_length,
    common_denominator,
)
from likewise_check.packs.polynomial.body import Polynomial, Product


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """a, b as polynomials of degree at most 1 with the same monomials, in units of 1 / unit, and T; closed if a witness may have S = 0."""

    a: Poly
    b: Poly
    unit: int
    threshold: Fraction
    closed: bool


@dataclass(slots=True)
class _Branch:
    """Terms that begin alike: the coefficient of the one that ends here, and those that go on, by their next column."""

    weight: int = 0
    onward: dict[int, "_Branch"] = field(default_factory=dict)


class Excess:
    """S, prepared for one lemma."""

    def __init__(self, lemma: Lemma, rule: str) -> None:
        body, other = lemma.first, lemma.second
        if not isinstance(body, Polynomial) or not isinstance(other, Polynomial):
            raise Rejected(f"{rule}: the body is not a polynomial one")
        self._lemma, self._alike = lemma, other is body
        self.cubes = Cubes(lemma, body.columns)
        same = [lemma.similarity[k].kind == "same" for k, _ in body.columns]
        gauges = [_gauge_weights(lemma, own) for own in ([body] if self._alike else [body, other])]
        self._unit = common_denominator(weight for weights in gauges for weight in weights.values())
        self._common, self._first, self._second = _Branch(), _Branch(), _Branch()
        self._degree, self._bits = 0, self._unit.bit_length()
        for weights, rest in zip(gauges, (self._first, self._second), strict=False):
            for product, weight in weights.items():
                branch = self._common if self._alike and all(same[c] for c in product) else rest
                for c in product:
                    branch = branch.onward.setdefault(c, _Branch())
                branch.weight = int(weight * self._unit)
                self._degree = max(self._degree, len(product))
                self._bits = max(self._bits, branch.weight.bit_length())
        if self._alike:
            self._second = self._first

    def read(self, way: object, axes: int) -> Line:
        """The line of a way: a number, or for a decision an array that makes a an affine function of the axes."""
        asked = self._lemma.asked
        if type(way) is list and asked.kind == "decision":
            p: list[Fraction] = array_of(number, axes + 1)(way, "the way")
            unit = common_denominator(p)
            a: Poly = {(i - 1,) if i else (): int(value * unit) for i, value in enumerate(p)}
            if sum(2 * abs(amount) if m else abs(2 * amount - unit) for m, amount in a.items()) > unit:
                raise Rejected("the way must give numbers from 0 to 1 on the whole cell")
            b: Poly = {m: -amount if m else unit - amount for m, amount in a.items()}
            return Line(a=a, b=b, unit=unit, threshold=asked.bound, closed=True)
        first, second, threshold = read_way(way, asked)
        unit = common_denominator([first, second])
        a, b = {(): int(first * unit)}, {(): int(second * unit)}
        closed = self._lemma.closed(first, second)
        return Line(a=a, b=b, unit=unit, threshold=threshold, closed=closed)

    def expanded(self, line: Line, cube: Cube, budget: Budget) -> tuple[Poly, int]:
        """S as ints, and the unit: they are in units of 1 / unit."""
        check_length(self._degree * cube.bits + self._bits)
        powers = [cube.unit**d for d in range(self._degree, -1, -1)]
        total: Poly = {}
        gap = {m: amount - line.b[m] for m, amount in line.a.items()}
        minus = {m: -amount for m, amount in line.b.items()}
        parts = [(gap, self._common, 0), (line.a, self._first, 0), (minus, self._second, 1)]
        for factor, branch, copy in parts:
            if any(factor.values()):
                add_product(
                    total, factor, _expand_branch(branch, cube.columns[copy], powers, 0, budget), budget
                )
        unit = self._unit * powers[0] * line.unit
        finer = common_denominator([line.threshold * unit])
        total = {m: amount * finer for m, amount in total.items()}
        total[()] = total.get((), 0) - int(line.threshold * unit * finer)
        return total, unit * finer


def _gauge_weights(lemma: Lemma, body: Polynomial) -> dict[Product, Fraction]:
    """The coefficients of g."""
    weights = {product: lemma.slope * weight for weight, product in body.terms}
    weights[()] = weights.get((), Fraction(0)) + lemma.offset
    return weights


def _expand_branch(
    branch: _Branch, forms: dict[int, Poly], powers: list[int], depth: int, budget: Budget
) -> Poly:
    total: Poly = {(): branch.weight * powers[depth]}
    for c, onward in branch.onward.items():
        add_product(total, _expand_branch(onward, forms, powers, depth + 1, budget), forms[c], budget)
    return total
