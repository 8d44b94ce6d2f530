"""Rule `["sos", way, bits, [[generator, mu, [square, ...]], ...]]` (section 8): S plus what is nonnegative at every pair of the cell.

    S  <=  V = S + sum of generator * (mu + sum of squares)  <=  its separable majorant, with all hints 0

A generator is a product of factors, each nonnegative at every pair: 1 + y_i, 1 - y_i, (y_i - c)(y_i - c') with no place between c and c', -h_j at x or x'.
So V >= S whatever the leaf says; that V has a bound below 0 is what its maker has to care for.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import islice
from math import comb
from operator import mul

from likewise_check.core.bound import conclude
from likewise_check.core.cells import NO_PAIR, Cell, Holds
from likewise_check.core.fields import Rejected, anything, array_of, whole
from likewise_check.core.lemma import Lemma
from likewise_check.core.space import Constraint
from likewise_check.packs.cubes.cube import Cube, Form
from likewise_check.packs.cubes.decoupling import upper_bound
from likewise_check.packs.cubes.monomials import (
    Budget,
    Poly,
    check_length,
    common_denominator,
    common_multiple,
    graded_monomials,
    multiply,
)
from likewise_check.packs.polynomial.excess import Excess, Line

MOST_BITS = 200
MOST_FACTORS = 8
MOST_DEGREE = 8  # of the polynomials that are squared


class Squares:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        self._excess = Excess(lemma, "sos")
        self._constraints = lemma.space.constraints

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell is a witness."""
        found = self.bound(leaf, cell)
        if found is None:
            return NO_PAIR
        line, bound = found
        return conclude("sos", bound, 0, closed=line.closed)

    def bound(self, leaf: list[object], cell: Cell) -> tuple[Line, Fraction] | None:
        """The line of the leaf and a number >= S at every pair of the cell; None if it holds no pair."""
        if len(leaf) != 4:
            raise Rejected('a sos leaf is ["sos", way, bits, [[generator, mu, [square, ...]], ...]]')
        cube = self._excess.cubes.cube(cell)
        if cube is None:
            return None
        bits: int = whole(0, MOST_BITS)(leaf[2], "bits")
        line, budget = self._excess.read(leaf[1], cube.axes), Budget()
        added = [
            self._nonnegative_term(item, cube, budget)
            for item in array_of(array_of(anything, 3))(leaf[3], "the sum")
        ]
        excess, unit = self._excess.expanded(line, cube, budget)
        added = [(poly, own << 2 * bits) for poly, own in added]
        common = common_multiple([unit, *(own for _, own in added)])
        total: Poly = {}
        for poly, own in [(excess, unit), *added]:
            factor = common // own
            for m, amount in poly.items():
                total[m] = total.get(m, 0) + amount * factor
        return line, upper_bound(total, cube, [0] * cube.axes, budget) / common

    def _nonnegative_term(self, item: Sequence[object], cube: Cube, budget: Budget) -> tuple[Poly, int]:
        """generator * (mu + sum of squares), in units of 1 / (the second * 4^bits)."""
        factors = array_of(anything)(item[0], "a generator")
        if len(factors) > MOST_FACTORS:
            raise Rejected(f"a generator has at most {MOST_FACTORS} factors")
        total, unit = sum_of_squares(item[1], item[2], cube.axes, budget), 1
        for factor in factors:
            budget.spend(cube.axes)
            poly, own = self._factor(factor, cube, budget)
            total, unit = multiply(total, poly, budget), unit * own
            check_length(unit.bit_length())
        return total, unit

    def _factor(self, item: object, cube: Cube, budget: Budget) -> tuple[Poly, int]:
        """A polynomial that is nonnegative at every pair of the cube, in units of 1 / the second."""
        if type(item) is not list:
            place = whole(-cube.axes, cube.axes)(item, "a factor")
            if place == 0:
                raise Rejected("a factor is i + 1 or -(i + 1), not 0")
            return {(): 1, (abs(place) - 1,): 1 if place > 0 else -1}, 1
        i, j = array_of(anything, 2)(item, "a factor")
        if type(i) is int and i == -1:
            return self._constraint(j, cube)
        return _gap_polynomial(whole(0, cube.axes - 1)(i, "the axis of a factor"), j, cube, budget)

    def _constraint(self, index: object, cube: Cube) -> tuple[Poly, int]:
        many = len(self._constraints)
        copy, j = divmod(whole(0, 2 * many - 1)(index, "the constraint of a factor"), many)
        return _negated_constraint(self._constraints[j], copy, cube)


def _gap_polynomial(i: int, index: object, cube: Cube, budget: Budget) -> tuple[Poly, int]:
    """(y_i - c_j)(y_i - c_(j+1))."""
    group = next(group for group in cube.groups if i < group.start + group.axes)
    if group.places is None:
        raise Rejected("a factor [i, j] needs an axis with places")
    budget.spend(len(group.places))
    heights = sorted({place[i - group.start] for place in group.places})
    j = whole(0, len(heights) - 2)(index, "the gap of a factor")
    low, high = heights[j], heights[j + 1]
    return {(): low * high, (i,): -(low + high) * group.unit, (i, i): group.unit**2}, group.unit**2


def _negated_constraint(constraint: Constraint, copy: int, cube: Cube) -> tuple[Poly, int]:
    """-h of one copy."""
    total: Form = {(): constraint.bound}
    for term in constraint.terms:
        code = cube.values[term.feature][copy]
        if code is None:
            raise Rejected("a constraint as a factor: a feature in it has levels and is not down to one")
        if term.values is not None:
            total[()] -= term.at(code[()])
            continue
        for m, amount in code.items():
            total[m] = total.get(m, Fraction(0)) - term.weight * amount
    unit = common_denominator(total.values())
    return {m: int(amount * unit) for m, amount in total.items()}, unit


def sum_of_squares(mu: object, items: object, axes: int, budget: Budget) -> Poly:
    """mu + the sum of the squares, as ints: each a list of coefficients in graded order."""
    if type(mu) is not int or mu < 0:
        raise Rejected("mu must be a whole number, at least 0")
    rows: list[list[int]] = array_of(array_of(anything))(items, "the squares")
    longest = max(map(len, rows), default=0)
    if longest > comb(axes + MOST_DEGREE, MOST_DEGREE):
        raise Rejected(f"a square has more coefficients than monomials up to degree {MOST_DEGREE}")
    if not all(type(c) is int for row in rows for c in row):
        raise Rejected("the coefficients of a square must be whole numbers")
    budget.spend(longest * len(rows) + 1)
    columns = []
    for n, monomial in enumerate(islice(graded_monomials(axes, MOST_DEGREE), longest)):
        column = [row[n] if n < len(row) else 0 for row in rows]
        if any(column):
            columns.append((monomial, column))
    budget.spend(len(columns) ** 2 * len(rows))
    total: Poly = {(): mu}
    for n, (first, column) in enumerate(columns):
        _add(total, first + first, sum(map(mul, column, column)))
        for second, other in columns[n + 1 :]:
            _add(total, first + second, 2 * sum(map(mul, column, other)))
    return total


def _add(total: Poly, axes: tuple[int, ...], amount: int) -> None:
    """Adds an amount of the product of these axes."""
    key = tuple(sorted(axes))
    total[key] = total.get(key, 0) + amount
