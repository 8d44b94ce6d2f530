"""Two separable scores: lean F(x) - (1 - lean) G(x') over cells, for conditions of two classes (`model.cases`).

The bound of one direction is exact, as for one score (`separable`). But a case of classes has several conditions, and one line sees
only two of them: so cells are cut along continuous features as readily as along others, until for each of them two are enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.forms import Forms, widest
from likewise.families.affine.oracle import ROUNDING, SeparableOracle
from likewise.families.oracle import Bounder, Bounds
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import Separable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.cells.relaxation import LinearRelaxation

    Floats = NDArray[np.float64]


class RivalOracle(SeparableOracle):
    """Oracle of F at x and G at x'."""

    def __init__(self, score: Separable, second: Separable, pairs: PairSpace) -> None:
        super().__init__(score, pairs)
        self.other = second
        self.forms = Forms((score, second), pairs)
        self.relaxation: LinearRelaxation | None = None
        if pairs.constraints:
            from likewise.cells.relaxation import LinearRelaxation

            self.relaxation = LinearRelaxation(score, pairs, second)

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:  # noqa: ARG002
        nothing = np.zeros_like(lean)
        found = self.forms.maximum(
            np.stack([lean, nothing], axis=1), np.stack([nothing, lean - 1], axis=1), lo, hi
        )
        first = self.forms.at(found.points[:, self.first])[:, 0]
        second = self.forms.at(found.points[:, self.second])[:, 1]
        terms = len(self.score.terms) + 2
        noise = ROUNDING * terms * (found.size + np.abs(first) + np.abs(second))
        return Bounds(upper=found.upper, first=first, second=second, points=found.points, noise=noise)

    def candidates(self, lo: Floats, hi: Floats) -> Floats:
        return self.bound(lo, hi, np.full(len(lo), 0.5), np.zeros(len(lo))).points

    def starts(self, lo: Floats, hi: Floats) -> Floats:
        return Bounder.starts(self, lo, hi)

    def branch(
        self,
        lo: Floats,
        hi: Floats,
        loss: Floats | None = None,
        cuts: Floats | None = None,  # noqa: ARG002
    ) -> tuple[NDArray[np.intp], Floats]:
        spread = self.forms.spread(np.eye(2), lo, hi) if loss is None else loss
        return widest(self.forms, self.discrete, spread, lo, hi)

    def after(self, variable: int, at: float) -> float | None:
        return self.forms.after(variable, at)
