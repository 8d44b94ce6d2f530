"""Feasible: does anybody satisfy the constraints at all? A claim about nobody would be FAIR and worthless.

HiGHS proposes an individual (a small mixed-integer program over the space); exact arithmetic confirms it.
Where none is found the space is refused, so that a vacuous FAIR cannot happen.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import SpecError
from likewise.spec.features import Categorical, Ordinal
from likewise.spec.pairs import constraint_terms
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from likewise.spec.space import Space
    from likewise.spec.terms import Separable

SMALLEST_COEFFICIENT = Fraction(1, 10**9)  # HiGHS refuses smaller coefficients beside 1


def find_individual(space: Space) -> list[Fraction]:
    """Codes of one individual that satisfies every constraint exactly."""
    constraints = [constraint_terms(space, c) for c in space.constraints]
    for strictness in (1.0, 0.0):  # first well inside, so that rounding does no harm; then as it comes
        codes = _propose_individual(space, constraints, strictness)
        if codes is not None and all(c.exact(codes) <= 0 for c in constraints):
            return codes
    rules = "; ".join(dict.fromkeys(c.text for c in space.constraints))
    raise SpecError(
        f"no individual of the space was found that satisfies its constraints: {rules}",
        hint="relax a constraint or widen the features: a claim about nobody proves nothing",
    )


def _propose_individual(
    space: Space, constraints: list[Separable], strictness: float
) -> list[Fraction] | None:
    import highspy

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("mip_feasibility_tolerance", 1e-9)
    columns: list[list[highspy.highs_var]] = []
    for name in space.names:
        feature = space[name]
        if isinstance(feature, (Categorical, Ordinal)):
            picks = [solver.addBinary() for _ in feature.levels]
            solver.addConstr(sum(picks) == 1)
            columns.append(picks)
        else:
            kind = (
                highspy.HighsVarType.kInteger
                if feature.kind == "integer"
                else highspy.HighsVarType.kContinuous
            )
            columns.append([solver.addVariable(lb=float(feature.lo), ub=float(feature.hi), type=kind)])
    inside = solver.addVariable(lb=0.0, ub=strictness)
    for constraint in constraints:
        weights = [[term.slope] if term.table is None else list(term.table) for term in constraint.terms]
        scale = max((abs(w) for part in weights for w in part), default=Fraction(1)) or Fraction(1)
        terms = [
            float(w / scale) * v
            for part, picks in zip(weights, columns, strict=True)
            for w, v in zip(part, picks, strict=False)
            if abs(w / scale) > SMALLEST_COEFFICIENT
        ]
        solver.addConstr(sum(terms) + inside <= -nearest_double(constraint.bias / scale))
    solver.maximize(inside)
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    values = np.array(solver.getSolution().col_value)
    return [
        _code_of(space, name, [values[v.index] for v in columns[k]]) for k, name in enumerate(space.names)
    ]


def _code_of(space: Space, name: str, values: list[float]) -> Fraction:
    feature = space[name]
    if isinstance(feature, (Categorical, Ordinal)):
        return Fraction(int(np.argmax(values)))
    if feature.kind == "integer":
        return Fraction(round(values[0]))
    return Fraction(float(np.clip(values[0], feature.lo, feature.hi)))
