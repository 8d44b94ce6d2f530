"""Rule `["polynomial", way, [e, ...]]` (section 8): S < 0 on a cell, or S <= 0 where a witness has S > 0, by a separable majorant.

S = sign a f(x) - sign b f(x') - T is positive at every witness of the cell (`excess`); its majorant (`decoupling`) is above it whatever the hints.
"""

from fractions import Fraction

from likewise_check.core.bound import conclude, read_way
from likewise_check.core.cells import NO_PAIR, Cell, Holds
from likewise_check.core.fields import Rejected, array_of, whole
from likewise_check.core.lemma import Lemma
from likewise_check.packs.cubes.decoupling import HINT_UNIT, upper_bound
from likewise_check.packs.cubes.monomials import Budget
from likewise_check.packs.polynomial.excess import Excess, Line

MOST_HINT = HINT_UNIT


class Polynomials:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        self._asked, self._excess = lemma.asked, Excess(lemma, "polynomial")

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell is a witness."""
        found = self.bound(leaf, cell)
        if found is None:
            return NO_PAIR
        line, bound = found
        way = read_way(leaf[1], self._asked)
        return conclude("polynomial", bound, 0, closed=line.closed, side=way.side)

    def bound(self, leaf: list[object], cell: Cell) -> tuple[Line, Fraction] | None:
        """The line of the leaf and a number >= S at every pair of the cell; None if it holds no pair."""
        if len(leaf) != 3:
            raise Rejected('a polynomial leaf is ["polynomial", way, [hint, ...]]')
        cube = self._excess.cubes.cube(cell)
        if cube is None:
            return None
        if type(leaf[1]) is not str:
            raise Rejected("polynomial: the way must be a number")
        hints: list[int] = array_of(whole(-MOST_HINT, MOST_HINT), cube.axes)(leaf[2], "the hints")
        line, budget = self._excess.read(leaf[1], cube.axes), Budget()
        excess, unit = self._excess.expanded(line, cube, budget)
        return line, upper_bound(excess, cube, hints, budget) / unit
