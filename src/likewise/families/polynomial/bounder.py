"""Polynomial bounder: a rational score over cells of pair space, both copies at once.

No feature needs to be fixed before a cell can be bounded: what may differ only adds coordinates. Bounds are
float64 and a closed cell is a proposal, as for kernels: the checker does the same in exact arithmetic anyway,
and doing it twice would cost more than the search itself.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.leaf import Clearance, Leaf, RelaxationResult, Rule
from likewise.families.cube_bounder import CubeBounder
from likewise.families.oracle import Bounds
from likewise.families.polynomial.body import PolynomialScore
from likewise.families.polynomial.majorant import bound_cells
from likewise.families.polynomial.sos_leaves import SosProver
from likewise.families.polynomial.tables import make_tables
from likewise.model.witness_set import LEAN_GRID
from likewise.spec.pairs import PairSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.witness_set import WitnessSet

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]


class PolynomialBounder(CubeBounder):
    """Oracle of a polynomial body on the pairs of a space."""

    rule: Rule = "polynomial"
    exact = False

    def __init__(
        self, score: PolynomialScore, pairs: PairSpace, second: PolynomialScore | None = None
    ) -> None:
        super().__init__(score, pairs)
        self.score = score
        self.other = score if second is None else second  # of x', over the same columns
        self.tables = make_tables(score.body, self.coordinates, self.other.body)
        self.squares = SosProver(score, pairs, self.coordinates) if second is None else None

    def warm_up(self) -> None:
        """Have the bounds compiled: some seconds once, then kept on disk."""
        corner = np.array([[float(v.lo) for v in self.pairs.variables]])
        self.bound(corner, corner, np.array([0.5]), np.zeros(1))

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:
        # As the leaf will have it: for decisions and gaps the threshold is the same for all leans.
        lean = np.round(lean * LEAN_GRID) / LEAN_GRID
        boxes = self.boxes(lo, hi)
        upper, room, y, at, e, masses = bound_cells(
            self.tables, boxes.middle, boxes.half, boxes.place_from, boxes.place_count, lean, threshold
        )
        nobody = np.array(
            [bool(e) and self._is_contradictory(*cell) for e, *cell in zip(boxes.empty, lo, hi, strict=True)]
        )
        closes = nobody | ((upper + room < 0) & ~boxes.empty)
        nearly = nobody | ((upper <= room) & ~boxes.empty)
        points = self._points(lo, hi, boxes.middle + boxes.half * y, at)
        return Bounds(
            upper=np.where(boxes.empty, -np.inf, upper + threshold),
            first=self.score.scores(points[:, self.first]),
            second=self.other.scores(points[:, self.second]),
            points=points,
            noise=np.zeros(len(lo)),
            closes=closes,
            nearly=nearly,
            hints=[self._hints(lo[i], hi[i], e[i]) if nearly[i] else () for i in range(len(lo))],
            loss=self._losses(lo, hi, masses),
        )

    def relax(self, lo: Floats, hi: Floats, question: WitnessSet) -> RelaxationResult | None:
        """Sums of squares, once levels that may differ are fixed."""
        if np.any(lo[self.ahead] < hi[self.ahead]) or self.boxes(lo[None], hi[None]).empty[0]:
            return None
        if self.squares is None:  # only one score has sums of squares
            return None
        found = self.squares.propose(lo, hi, question)
        if found is None:
            return None
        point = self._points(lo[None], hi[None], found.t[None], self._nearest(lo, hi, found.t)[None])[0]
        return RelaxationResult(leaf=Leaf(rule="sos", squares=found.content), point=point, fractional=None)

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: WitnessSet) -> Clearance | None:
        """Exact for sums of squares; the rule `polynomial` is only proposed here, by the float64 bound."""
        if leaf.rule == "sos" and leaf.squares is not None and self.squares is not None:
            return Fraction(0) if self.squares.proves(lo, hi, leaf.squares, question) else None
        if leaf.rule != "polynomial" or leaf.lean is None or not question.admits(leaf.lean):
            return None
        lean = np.array([float(leaf.lean)])
        closes = self.bound(lo[None], hi[None], lean, question.threshold(lean)).closes
        return Fraction(0) if closes is not None and closes[0] else None
