"""The oracle of each model family."""

from __future__ import annotations

from likewise.bounds.combined import CombinedOracle
from likewise.bounds.oracle import Oracle
from likewise.bounds.rivals import RivalOracle
from likewise.bounds.separable import SeparableOracle
from likewise.model.combined import CombinedScore
from likewise.model.kernel import KernelScore
from likewise.model.polynomial import PolynomialScore
from likewise.model.scored import Score
from likewise.model.treescore import TreeScore
from likewise.spec.pairs import PairSpace
from likewise.spec.terms import Separable


def oracle_of(score: Score, pairs: PairSpace, second: Score | None = None) -> Oracle:
    """What bounds this score over cells of these pairs; of x' the score `second`, if that is another one."""
    if isinstance(score, CombinedScore):
        return CombinedOracle(score, pairs)
    if isinstance(score, KernelScore):
        from likewise.bounds.kernel import KernelOracle  # brings in numba, which others need not load

        return KernelOracle(score, pairs, second if isinstance(second, KernelScore) else None)
    if isinstance(score, PolynomialScore):
        from likewise.bounds.polynomial import PolynomialOracle  # numba as well

        return PolynomialOracle(score, pairs, second if isinstance(second, PolynomialScore) else None)
    if isinstance(score, TreeScore):
        from likewise.bounds.trees import TreeOracle  # numba as well

        return TreeOracle(score, pairs, second if isinstance(second, TreeScore) else None)
    if isinstance(second, Separable):
        return RivalOracle(score, second, pairs)
    return SeparableOracle(score, pairs)
