"""A second engine for affine scores: a mixed-integer linear program (HiGHS). It only proposes.

    score    max s(x) - s(x')                     over all similar pairs
    margin   max z  with  s(x) >= z, -s(x') >= z

Numbers are columns of their own, levels are one binary column each; constraints and `within` are rows. So
every property but the probability gap is one program. HiGHS works in float64 with tolerances (1e-6 and
thereabouts): it cannot decide a strict inequality, and misses flips narrower than that. What it returns is
compared with the exact engine in tests and benchmarks; no verdict rests on it.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

import highspy
import numpy as np

from likewise.errors import UnsupportedModel
from likewise.spec.features import Categorical, Ordinal
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from likewise.spec.pairs import PairSpace
    from likewise.spec.terms import Separable

OPTIMALITY_GAP = (
    1e-9  # relative gap at which HiGHS may stop: below its feasibility tolerance, so that does not add to it
)
SMALLEST_COEFFICIENT = Fraction(
    1, 10**9
)  # HiGHS refuses smaller coefficients, so the program is blind to them


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
    program = _Program(pairs, seconds)
    first, second = program.total(score, pairs.first), program.total(score, pairs.second)
    if of == "score":
        objective = first - second
    else:
        objective = program.solver.addVariable(lb=-highspy.kHighsInf)
        program.solver.addConstr(first - objective >= 0)
        program.solver.addConstr(second + objective <= 0)
    program.solver.maximize(objective)
    return program.answer()


class _Program:
    """Columns and rows of the similar pairs."""

    def __init__(self, pairs: PairSpace, seconds: float) -> None:
        self.pairs = pairs
        self.solver = highspy.Highs()  # type: ignore[no-untyped-call]
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("time_limit", float(seconds)),
            ("mip_rel_gap", OPTIMALITY_GAP),
            ("mip_abs_gap", OPTIMALITY_GAP),
        ):
            self.solver.setOptionValue(option, value)
        self.columns = [self._column(v) for v in range(len(pairs.variables))]
        for side in (pairs.first, pairs.second):
            for constraint in pairs.constraints:
                self.solver.addConstr(self.total(constraint, side) <= 0)
        for k, relation in enumerate(pairs.relations):
            if relation.kind == "within":
                difference = self._code(pairs.first[k]) - self._code(pairs.second[k])
                reach = float(relation.tolerance or 0)
                self.solver.addConstr(difference <= reach)
                self.solver.addConstr(difference >= -reach)
            if relation.kind == "pairs":
                for here, there in ((pairs.first[k], pairs.second[k]), (pairs.second[k], pairs.first[k])):
                    picks, others = self.columns[here], self.columns[there]
                    for level, pick in enumerate(picks):
                        beside = [others[partner] for partner in relation.partners(level, len(others))]
                        self.solver.addConstr(pick <= sum(beside))

    def _column(self, v: int) -> list[Any]:
        """One column for a number, one a level otherwise."""
        variable = self.pairs.variables[v]
        feature = self.pairs.space[self.pairs.space.names[variable.feature]]
        if isinstance(feature, (Categorical, Ordinal)):
            picks = [self._pick(allowed=variable.lo <= i <= variable.hi) for i in range(len(feature.levels))]
            self.solver.addConstr(sum(picks) == 1)
            return picks
        kind = highspy.HighsVarType.kInteger if variable.discrete else highspy.HighsVarType.kContinuous
        return [self.solver.addVariable(lb=float(variable.lo), ub=float(variable.hi), type=kind)]

    def _pick(self, *, allowed: bool) -> Any:
        """A binary column; one that stays zero for a level outside the variable's bounds."""
        kind = highspy.HighsVarType.kInteger
        return self.solver.addVariable(lb=0.0, ub=float(allowed), type=kind)

    def _code(self, v: int) -> Any:
        columns = self.columns[v]
        return columns[0] + 0.0 if self._is_number(v) else sum(i * pick for i, pick in enumerate(columns))

    def _is_number(self, v: int) -> bool:
        feature = self.pairs.space[self.pairs.space.names[self.pairs.variables[v].feature]]
        return not isinstance(feature, (Categorical, Ordinal))

    def total(self, part: Separable, owner: tuple[int, ...]) -> Any:
        """A separable function of one individual as a linear expression."""
        expression = highspy.highs_linear_expression(nearest_double(part.bias))
        for k, term in enumerate(part.terms):
            if term.pieces is not None:
                raise UnsupportedModel("no linear program is made of columns in pieces")
            weights: tuple[Fraction, ...] = (term.slope,) if term.table is None else term.table
            for weight, column in zip(weights, self.columns[owner[k]], strict=False):
                if abs(weight) > SMALLEST_COEFFICIENT:
                    expression += nearest_double(weight) * column
        return expression

    def answer(self) -> MilpProposal | None:
        """The solver's value and pair, whole numbers rounded to whole."""
        status = self.solver.getModelStatus()
        values = np.array(self.solver.getSolution().col_value)
        if status == highspy.HighsModelStatus.kInfeasible or not len(values):
            return None
        point = [
            self._number(v, [float(values[column.index]) for column in columns])
            for v, columns in enumerate(self.columns)
        ]
        x, other = self.pairs.split(point)
        value = float(self.solver.getInfo().objective_function_value)
        return MilpProposal(
            value=value,
            x=tuple(x),
            other=tuple(other),
            optimal=status == highspy.HighsModelStatus.kOptimal,
        )

    def _number(self, v: int, values: list[float]) -> float:
        variable = self.pairs.variables[v]
        if not self._is_number(v):
            return float(np.argmax(values))
        value = min(max(values[0], float(variable.lo)), float(variable.hi))
        return float(round(value)) if variable.discrete else value
