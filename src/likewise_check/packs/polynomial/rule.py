"""Rule `["polynomial", way, [e, ...]]` (section 8): S < 0 on a cell, or S <= 0 where a witness has S > 0, by a separable majorant.

S = sign a f(x) - sign b f(x') - T is positive at every witness of the cell (`excess`); its majorant (`decoupling`) is above it whatever the hints.
"""

from fractions import Fraction

from likewise_check.core.cells import Cell, Holds, LeafRefused
from likewise_check.core.claim import Claim
from likewise_check.core.fields import Rejected, array_of, whole
from likewise_check.core.numbers import shown
from likewise_check.packs.polynomial.decoupling import HINT_UNIT, upper_bound
from likewise_check.packs.polynomial.excess import Excess, Line
from likewise_check.packs.polynomial.monomials import Budget

MOST_HINT = HINT_UNIT
_NO_PAIR = Holds(clearance=None)


class Polynomials:
    """The rule, prepared for one claim."""

    def __init__(self, claim: Claim) -> None:
        self._excess = Excess(claim, "polynomial")

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the bound shows that no pair of the cell is a witness."""
        return judged(self.bound(leaf, cell), "polynomial")

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


def judged(found: tuple[Line, Fraction] | None, rule: str) -> Holds:
    """What a bound of S says: below 0 there is no witness, nor at 0 unless a witness may have S = 0."""
    if found is None:
        return _NO_PAIR
    line, bound = found
    if bound > 0 or (bound == 0 and line.closed):
        raise LeafRefused(f"{rule}: the bound of S is not below 0, but {shown(bound)}")
    return Holds(clearance=Fraction(0))
