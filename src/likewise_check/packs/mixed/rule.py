"""Rule `["mixed", way, [e, ...], r]` (section 23): a g(x) - b g(x') - T < 0 on a cell, by a polynomial of degree 2 in its axes and that one's separable majorant."""

from collections.abc import Sequence
from fractions import Fraction

from likewise_check.core.bound import conclude, read_way
from likewise_check.core.cells import NO_PAIR, Cell, Holds
from likewise_check.core.deadline import look_at_clock
from likewise_check.core.fields import Rejected, array_of, whole
from likewise_check.core.lemma import Lemma
from likewise_check.packs.cubes.cube import Cube, Cubes
from likewise_check.packs.cubes.decoupling import HINT_UNIT, upper_bound
from likewise_check.packs.cubes.monomials import Budget, check_length
from likewise_check.packs.mixed.body import Mixed
from likewise_check.packs.mixed.bumps import GRID, Shapes, Sums, Total, take_term

MOST_WIDTH = 64
COMMON = ("squared", "gamma", "columns", "sums", "centres")  # to all scores of a model


class MixedKernel:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        first, second = lemma.first, lemma.second
        if not isinstance(first, Mixed) or not isinstance(second, Mixed):
            raise Rejected("mixed: the body is not a mixed one")
        if any(getattr(first, name) != getattr(second, name) for name in COMMON):
            raise Rejected("mixed: two bodies that differ in more than coefficients")
        self._lemma, self._bodies = lemma, (first, second)
        self._cubes = Cubes(lemma, first.columns)
        self._centres = [[_on_grid(s) for s in row] for row in first.centres]

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell is a witness."""
        bound = self.bound(leaf, cell)
        if bound is None:
            return NO_PAIR
        return conclude("mixed", bound, 0, closed=True, side=read_way(leaf[1], self._lemma.asked).side)

    def bound(self, leaf: list[object], cell: Cell) -> Fraction | None:
        """A number >= a g(x) - b g(x') - T at every pair of the cell; None if it holds no pair."""
        if len(leaf) != 4:
            raise Rejected('a mixed leaf is ["mixed", way, [hint, ...], width]')
        cube = self._cubes.cube(cell)
        if cube is None:
            return None
        hints: list[int] = array_of(whole(-HINT_UNIT, HINT_UNIT), cube.axes)(leaf[2], "the hints")
        width: int = whole(0, MOST_WIDTH)(leaf[3], "the width")
        way = read_way(leaf[1], self._lemma.asked)
        budget, body = Budget(), self._bodies[0]
        n, terms, sums = cube.axes, len(body.coefficients), len(body.sums)
        budget.spend(2 * (terms * (sums * n + n * n) + n * n * sums))
        total, constant = Total(body.gamma, n), -way.threshold
        for copy, factor in enumerate((way.a, -way.b)):
            own, weight = self._bodies[copy], self._lemma.slope * factor
            constant += factor * (self._lemma.slope * own.bias + self._lemma.offset)
            constant += self._moved(own, weight, n)
            if weight:
                self._add_copy(total, cube, copy, [weight * c for c in own.coefficients], width)
        return constant + upper_bound(total.polynomial(), cube, hints, budget) / total.unit

    def _moved(self, body: Mixed, weight: Fraction, axes: int) -> Fraction:
        """What rounding sums and centres to the grid may change, at most."""
        size = abs(weight) * sum(map(abs, body.coefficients))
        return size * (1 + body.gamma) * len(body.sums) * (axes + 2) / (1 << GRID)

    def _add_copy(
        self, total: Total, cube: Cube, copy: int, coefficients: Sequence[Fraction], width: int
    ) -> None:
        body = self._bodies[0]
        shapes = Shapes(_sums_of(body, cube, copy), body.gamma, squared=body.squared)
        common = 0
        for coefficient, centre in zip(coefficients, self._centres, strict=True):
            look_at_clock()
            if coefficient:
                common += take_term(total, shapes, shapes.bump(centre), coefficient, width)
        total.add_common(common, shapes.matrix)


def _sums_of(body: Mixed, cube: Cube, copy: int) -> Sums:
    """The sums of one copy as affine functions of the axes, on the grid."""
    middles: list[int] = []
    reaches: list[list[int]] = []
    check_length(cube.bits)
    for constant, pairs in body.sums:
        amounts = [constant, *[Fraction(0)] * cube.axes]
        for c, factor in pairs:
            for monomial, amount in cube.columns[copy][c].items():
                amounts[monomial[0] + 1 if monomial else 0] += factor * amount / cube.unit
        middles.append(_on_grid(amounts[0]))
        reaches.append([_on_grid(amount) for amount in amounts[1:]])
    return Sums(middles=middles, reaches=reaches)


def _on_grid(value: Fraction) -> int:
    """In units of 2^-GRID, rounded by less than one of them."""
    return (value.numerator << GRID) // value.denominator
