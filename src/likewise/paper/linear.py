"""Linear models as in the paper: one mixed-integer linear program a value pair, by HiGHS instead of CPLEX.

    gap        max f(x) - f(x')
    decision   max min(f(x), -f(x'))

The paper minimises the product f(x) f(x') for decisions and takes it for a convex quadratic program. It is
indefinite; the two signs say the same in linear constraints, which is what is solved here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from likewise.paper.meta import CaseBound
from likewise.paper.milp import propose_pair
from likewise.paper.prepare import allowed_level, asks_for_decision

if TYPE_CHECKING:
    from likewise.paper.cases import Case
    from likewise.spec.terms import Separable
    from likewise.verifying.posed_problem import PosedProblem


class MixedInteger:
    """Bounds an affine score by HiGHS."""

    name = "meta-algorithm, mixed-integer program"
    symmetric = False
    tolerance = 1e-6  # of HiGHS, for feasibility and integrality

    def __init__(self, prepared: PosedProblem, score: Separable) -> None:
        self.score = score
        self.prepared = prepared

    def bound(self, case: Case, seconds: float) -> CaseBound:
        of: Literal["margin", "score"] = "margin" if asks_for_decision(self.prepared) else "score"
        proposed = propose_pair(self.score, case.pairs, of, seconds=seconds)
        if proposed is None:
            return CaseBound(excess=float("-inf"))
        x, other = (round_relaxed(self.prepared, codes) for codes in (proposed.x, proposed.other))
        return CaseBound(
            excess=proposed.value - allowed_level(self.prepared),
            candidates=[(x, other)],
            finished=proposed.optimal,
            reason="the program was not solved to its end",
        )


def round_relaxed(prepared: PosedProblem, codes: tuple[float, ...]) -> list[float]:
    """Codes with relaxed integers made whole again: a pair of the original space, or a spurious one."""
    pairs = prepared.pairs
    return [
        float(round(code)) if pairs.variables[v].discrete else code
        for code, v in zip(codes, pairs.first, strict=True)
    ]
