"""Rules of leaves about scores that change no faster than L times a distance e (section 21).

A cell has a least distance, so scores of its pairs may be delta + L e(C) apart: a rule that shows that a line is below any T shows that. `separable` may take multiples of single costs off
its line instead, and `identical` holds where both individuals are one and the same.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol

from likewise_check.core.affine import Affine
from likewise_check.core.bound import LINE, conclude, line_text
from likewise_check.core.cells import NO_PAIR, Box, Cell, Holds, LeafRefused
from likewise_check.core.fields import Rejected, array_of
from likewise_check.core.lemma import Lemma
from likewise_check.core.line import Line, Terms
from likewise_check.core.numbers import Exact, int_if_whole, number
from likewise_check.core.separable import read_multipliers
from likewise_check.core.space import Relation

HALF = Fraction(1, 2)
AS_EVER = ("enumerated", "independent", "empty", "identical", "slope")
EASED = ("separable", "kernel", "chords", "polynomial", "sos", "trees", "network", "sum", "nested")


class CellDistance(Protocol):
    """What these rules ask of a distance."""

    costs: Any
    forms: Any

    def least(self, cell: Cell, similarity: Sequence[Relation]) -> Fraction | None: ...
    def dual(self, y: Sequence[Fraction]) -> bool: ...
    def penalty(self, y: Sequence[Fraction], scale: Exact) -> Any: ...


def prepare_eased(distance: Any, name: str, rule: Callable[[Lemma], Any], lemma: Lemma) -> Any:
    """A rule by its name, for leaves of a claim with this distance."""
    if name in AS_EVER:
        return rule(lemma)
    if name not in EASED:
        raise Rejected(f"{name}: not a rule for scores that are compared with a distance")
    return Eased(distance, rule, lemma)


class Eased:
    """A rule that bounds a line, with the T of each cell."""

    def __init__(self, distance: CellDistance, rule: Callable[[Lemma], Any], lemma: Lemma) -> None:
        self._distance, self._lemma = distance, lemma
        self._rule = rule(replace(lemma, asked=LINE, strict=(True, True)))
        self._terms: Terms | None = None

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the line of the leaf separates its cell from W."""
        if len(leaf) == 4 and leaf[0] == "separable":
            return self._less_costs(leaf, cell)
        if leaf[0] == "network" and leaf[1:2] == [None]:
            holds: Holds = self._rule(leaf, cell)
            return holds
        if len(leaf) < 2 or number(leaf[1], "the way") != HALF:
            raise Rejected("the way must be 1/2")
        least = self._distance.least(cell, self._lemma.similarity)
        if least is None:
            return NO_PAIR
        way = line_text(HALF, (self._lemma.asked.bound + least) / 2)
        found: Holds = self._rule([leaf[0], way, *leaf[2:]], cell)
        return found

    def _less_costs(self, leaf: list[object], cell: Cell) -> Holds:
        """`separable` with numbers y: the line less L/2 times the sum of y and costs, which is at most L/2 e."""
        lemma = self._lemma
        if not isinstance(lemma.first, Affine):
            raise Rejected("separable: the body is not affine")
        if number(leaf[1], "the way") != HALF:
            raise Rejected("the way must be 1/2")
        if self._terms is None:
            self._terms = Terms(lemma)
        given = ["0"] * (2 * len(lemma.space.constraints)) if leaf[2] == [] else leaf[2]
        factors = read_multipliers(given, lemma.space, self._terms.limit)
        y = array_of(number, len(self._distance.costs) + len(self._distance.forms))(leaf[3], "the numbers y")
        if not self._distance.dual(y):
            raise LeafRefused("separable: the numbers y are not in the dual unit ball")
        line = Line(self._terms, HALF, HALF, factors, lambda scale: self._distance.penalty(y, scale))
        limit = int_if_whole(lemma.asked.bound / 2 * line.scale)
        spread = lemma.spread(HALF, HALF)
        return conclude("separable", line.maximum(cell), limit, closed=False, unit=line.scale, spread=spread)


class Identical:
    """x = x' at every pair of the cell."""

    def __init__(self, lemma: Lemma) -> None:
        self._lemma = lemma
        if lemma.asked.allowance is None:
            raise Rejected("identical: not a rule of this property")

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether no feature differs."""
        if len(leaf) != 1:
            raise Rejected('an identical leaf is ["identical"]')
        for box, relation in zip(cell, self._lemma.similarity, strict=True):
            if relation.kind != "same" and not _are_equal(box):
                raise LeafRefused("identical: the two individuals may differ")
        return Holds(clearance=self._lemma.asked.bound / 2 if self._lemma.first.clears else Fraction(0))


def _are_equal(box: Box) -> bool:
    (lo, hi), (low, high) = box.intervals
    return lo == hi == low == high or box.difference == ((0, 0),)
