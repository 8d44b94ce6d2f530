"""Meeting: is there a pair in a cell at all, and if so which? Of cells in which scores do not change.

A linear program over the constraints and relations proposes (`cells.relaxation`): a pair, which the referee looks at, or multipliers of constraints that show
that there is none, which exact arithmetic looks at. Points of the program are rounded to codes. An equality between continuous features does not survive that, so
its codes are made short, and one of them is what the others ask for.
"""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.spec.terms import Separable, Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.leaf import RelaxationResult
    from likewise.cells.relaxation import LinearRelaxation
    from likewise.families.oracle import OracleContext
    from likewise.model.cases import Witness
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

END_MARGINS = (1 / 8, 1 / 1024)  # shares of a range to stay away from its ends
CODE_BITS = 30  # binary digits of codes that have to add up


@dataclass(slots=True)
class PairFinder:
    """Looks for pairs among some by linear programs."""

    pairs: PairSpace
    relaxation: LinearRelaxation | None = field(init=False, default=None)

    def solve_cell(self, lo: Floats, hi: Floats) -> RelaxationResult | None:
        """What the linear program says of a cell: a leaf that may close it, and a point."""
        if (lo > hi).any():
            return None
        pairs = self.pairs
        if self.relaxation is None:
            from likewise.cells.relaxation import LinearRelaxation

            nothing = Separable(bias=Fraction(0), terms=(Term(),) * len(pairs.relations))
            self.relaxation = LinearRelaxation(nothing, pairs)
        return self.relaxation.pair(lo, hi)

    def witness(self, lo: Floats, hi: Floats, asked: OracleContext) -> Witness | None:
        """The witness that a pair of a cell is."""
        for share in self._shares():
            inside = np.where([v.discrete for v in self.pairs.variables], 0.0, share * (hi - lo))
            found = self.solve_cell(lo + inside, hi - inside)
            if found is None:
                continue
            for point in (found.point, self._satisfy_equalities(found.point, lo, hi)):
                witness = asked.referee(*self.pairs.split(point.tolist()))
                if witness is not None:
                    return witness
        return None

    def _shares(self) -> tuple[float, ...]:
        """By how much of its ranges a cell is made smaller: under equalities codes at its very ends would have to stay as long as those are."""
        return (*END_MARGINS, 0.0) if self._equalities() else (0.0,)

    def _equalities(self) -> list[Separable]:
        constraints = self.pairs.constraints
        return [c for c in constraints if c.negated() in constraints]

    def _satisfy_equalities(self, point: Floats, lo: Floats, hi: Floats) -> Floats:
        """The point moved so that equalities hold, where that is possible by one continuous code of each."""
        pairs, moved = self.pairs, point.copy()
        movable = {v for v, variable in enumerate(pairs.variables) if not variable.discrete}
        for v in movable:
            unit = math.ldexp(1.0, math.frexp(max(abs(lo[v]), abs(hi[v])))[1] - CODE_BITS)
            short = round(point[v] / unit) * unit
            moved[v] = short if lo[v] <= short <= hi[v] else point[v]
        for owner in (pairs.first, pairs.second):
            for equality in self._equalities():
                movable.discard(_satisfy_equality(equality, owner, movable, moved, lo, hi))
        return moved


def _satisfy_equality(
    equality: Separable, owner: Sequence[int], movable: Container[int], point: Floats, lo: Floats, hi: Floats
) -> int:
    """Move one of the codes so that an equality holds; which one it was, -1 for none."""
    codes = [Fraction(float(point[w])) for w in owner]
    above = equality.exact(codes)
    for k, term in sorted(enumerate(equality.terms), key=lambda one: -abs(one[1].slope)):
        v = owner[k]
        if above == 0 or not term.slope or v not in movable:
            continue
        wanted = codes[k] - above / term.slope
        if lo[v] <= wanted <= hi[v]:
            point[v] = float(wanted)
            return v
    return -1
