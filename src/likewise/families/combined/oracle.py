"""Oracle of combined scores: it knows where nothing that may differ matters, and looks through few pairs; it has no bounds.

So a claim about them is proved by independence or by enumeration, and left open otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NoReturn

from likewise.cells.enumerated import enumerated_clearance, independent
from likewise.cells.leaf import Clearance, Leaf, Relaxed, Rule
from likewise.errors import UnsupportedModel
from likewise.families.combined.score import CombinedScore
from likewise.families.oracle import Bounds
from likewise.spec.enclosure import Enclosure
from likewise.spec.pairs import PairSpace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.model.question import Question

    Floats = NDArray[np.float64]


class CombinedOracle:
    """Proves by `independent` and `enumerated`."""

    rule: Rule = "enumerated"
    exact = True

    def __init__(self, score: CombinedScore, pairs: PairSpace) -> None:
        self.score, self.pairs = score, pairs

    def prove(self, lo: Floats, hi: Floats, leaf: Leaf, question: Question) -> Clearance | None:
        if leaf.rule == "independent":
            return Fraction(0) if independent(self.pairs, self.score) else None
        if leaf.rule != "enumerated":
            return None
        return enumerated_clearance(self.pairs, self.score.enclose, lo.tolist(), hi.tolist(), question)

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        return self.score.enclose(codes, bits)

    def warm_up(self) -> None:
        """Nothing is kept."""

    def bound(self, lo: Floats, hi: Floats, lean: Floats, threshold: Floats) -> Bounds:  # noqa: ARG002
        _refuse()

    def candidates(self, lo: Floats, hi: Floats) -> Floats:  # noqa: ARG002
        _refuse()

    def starts(self, lo: Floats, hi: Floats) -> Floats:  # noqa: ARG002
        _refuse()

    def branch(
        self,
        lo: Floats,  # noqa: ARG002
        hi: Floats,  # noqa: ARG002
        loss: Floats | None = None,  # noqa: ARG002
        cuts: Floats | None = None,  # noqa: ARG002
    ) -> tuple[NDArray[np.intp], Floats]:
        _refuse()

    def after(self, variable: int, at: float) -> float | None:  # noqa: ARG002
        _refuse()

    def relax(self, lo: Floats, hi: Floats, question: Question) -> Relaxed | None:  # noqa: ARG002
        _refuse()


NO_BOUNDS = "a mean, largest or smallest score over settings is bounded only where nothing that may differ matters to it"


def _refuse() -> NoReturn:
    raise UnsupportedModel(
        f"how far such scores can be apart is not known: {NO_BOUNDS}",
        hint="ask about the features that the model was repaired for, or about the model inside",
    )
