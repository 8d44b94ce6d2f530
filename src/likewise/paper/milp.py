"""A second engine for affine scores: a mixed-integer linear program (HiGHS). It only proposes.

    score    max s(x) - s(x')                     over all similar pairs
    margin   max z  with  s(x) >= z, -s(x') >= z

Constraints and `within` are rows, so every property but the probability gap is one program. HiGHS cannot
decide a strict inequality, and misses flips narrower than its tolerances. What it returns is compared with
the exact engine in tests and benchmarks; no verdict rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.search.integer_program import IntegerProgram, Sum, code_sum, difference, separable_sum
from likewise.spec.features import Categorical, Ordinal
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from likewise.spec.pairs import PairSpace
    from likewise.spec.terms import Separable

OPTIMALITY_GAP = 1e-9  # relative, below HiGHS's feasibility tolerance


@dataclass(frozen=True, slots=True, kw_only=True)
class MilpProposal:
    """What HiGHS says: its value, the pair as codes, and whether it claims to be optimal. Proves nothing."""

    value: float
    x: tuple[float, ...]
    other: tuple[float, ...]
    optimal: bool


def propose_pair(
    score: Separable, pairs: PairSpace, of: Literal["score", "margin"], *, seconds: float = 60
) -> MilpProposal | None:
    """The largest value that HiGHS finds; None where it finds no pair."""
    if any(term.pieces is not None for term in score.terms):
        raise UnsupportedModel("no linear program is made of columns in pieces")
    program = _Program(pairs)
    first, second = program.total(score, pairs.first), program.total(score, pairs.second)
    bias = nearest_double(score.bias)
    if of == "score":
        return program.answer(difference(first, second), seconds)
    objective = program.add_column()
    program.add_row(difference(first, {objective: 1.0}), lo=-bias)
    program.add_row({**second, objective: 1.0}, hi=-bias)
    return program.answer({objective: 1.0}, seconds)


class _Program(IntegerProgram):
    """Columns and rows of the similar pairs."""

    def __init__(self, pairs: PairSpace) -> None:
        super().__init__()
        self.pairs = pairs
        features = [pairs.space[name] for name in pairs.space.names]
        self.features = [features[variable.feature] for variable in pairs.variables]
        self.picks = [
            self.add_feature(feature, float(v.lo), float(v.hi), whole=v.discrete)
            for feature, v in zip(self.features, pairs.variables, strict=True)
        ]
        for side in (pairs.first, pairs.second):
            for constraint in pairs.constraints:
                self.add_row(self.total(constraint, side), hi=-nearest_double(constraint.bias))
        for k, relation in enumerate(pairs.relations):
            i, j = pairs.first[k], pairs.second[k]
            if relation.kind == "within":
                reach = float(relation.tolerance or 0)
                codes = (code_sum(self.features[v], self.picks[v]) for v in (i, j))
                self.add_row(difference(*codes), -reach, reach)
            if relation.kind == "pairs":
                for here, there in ((i, j), (j, i)):
                    others = self.picks[there]
                    for level, pick in enumerate(self.picks[here]):
                        partners = {others[at]: 1.0 for at in relation.partners(level, len(others))}
                        self.add_row(difference({pick: 1.0}, partners), hi=0.0)

    def total(self, part: Separable, owner: tuple[int, ...]) -> Sum:
        """A separable function of one individual without its bias."""
        return separable_sum(part, [self.picks[v] for v in owner])

    def answer(self, objective: Sum, seconds: float) -> MilpProposal | None:
        """The solver's value and pair, whole numbers rounded to whole."""
        found = self.maximize(objective, time_limit=seconds, mip_rel_gap=OPTIMALITY_GAP)
        if found.x is None:
            return None
        point = [self._number(v, [float(found.x[i]) for i in picks]) for v, picks in enumerate(self.picks)]
        x, other = self.pairs.split(point)
        value = -float(found.fun)
        return MilpProposal(value=value, x=tuple(x), other=tuple(other), optimal=found.status == 0)

    def _number(self, v: int, values: list[float]) -> float:
        variable = self.pairs.variables[v]
        if isinstance(self.features[v], (Categorical, Ordinal)):
            return float(np.argmax(values))
        value = min(max(values[0], float(variable.lo)), float(variable.hi))
        return float(round(value)) if variable.discrete else value
