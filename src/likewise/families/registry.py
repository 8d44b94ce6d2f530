"""The bounder of each model family."""

from __future__ import annotations

from likewise.families.affine.oracle import SeparableOracle
from likewise.families.affine.rivals import RivalOracle
from likewise.families.combined.score import CombinedScore
from likewise.families.kernel.score import KernelScore
from likewise.families.oracle import Bounder
from likewise.families.polynomial.score import PolynomialScore
from likewise.families.scored import Score
from likewise.families.trees.score import TreeScore
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import Separable


def oracle_of(score: Score, pairs: PairSpace, second: Score | None = None) -> Bounder | None:
    """What bounds this score over cells of these pairs; of x' the score `second`, if that is another one. None: nothing does."""
    if isinstance(score, CombinedScore):
        return None
    if isinstance(score, KernelScore):
        from likewise.families.kernel.oracle import (
            KernelOracle,  # brings in numba, which others need not load
        )

        return KernelOracle(score, pairs, second if isinstance(second, KernelScore) else None)
    if isinstance(score, PolynomialScore):
        from likewise.families.polynomial.oracle import PolynomialOracle  # numba as well

        return PolynomialOracle(score, pairs, second if isinstance(second, PolynomialScore) else None)
    if isinstance(score, TreeScore):
        from likewise.families.trees.oracle import TreeOracle  # numba as well

        return TreeOracle(score, pairs, second if isinstance(second, TreeScore) else None)
    if isinstance(second, Separable):
        return RivalOracle(score, second, pairs)
    return SeparableOracle(score, pairs)
