"""The same maximum by SCIP: a spatial branch and bound, formulated as well as we know how.

For a fixed pair (v, v') of protected values the score is a sum over support vectors of c_t w_t, w_t = exp(-Q_t). One
variable q_k = z_k^2 a numeric feature makes every Q_t LINEAR in (z, q, binaries of the levels), so that each support vector
costs one univariate exp. For a gap, c_t > 0 needs only w_t <= exp(-Q_t) and c_t < 0 only w_t >= exp(-Q_t), which is
convex; a margin needs both. SCIP is asked about ONE pair of protected values only, the one at which the largest
value was found before: all others would have to be solved as well.

Needs PySCIPOpt, which Likewise does not: pip install pyscipopt
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks._standardised import Case, prepared
from likewise.families.kernel.bounder import KernelBounder
from likewise.families.kernel.distances import Distance, NumberDistance
from likewise.model.gauge import Scale

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """What SCIP says, and how long it took."""

    lower: float
    upper: float
    seconds: float


def available() -> bool:
    """Whether PySCIPOpt is installed."""
    try:
        import pyscipopt  # noqa: F401
    except ImportError:
        return False
    return True


def by_scip(case: Case, pair: Floats, *, of: Scale, tolerance: float, seconds: float) -> Bracket:
    """The bracket after at most so many CPU seconds; `pair` are the codes of two individuals, higher score first."""
    from pyscipopt import Model

    oracle = prepared(case, of="score", budget=60).task.bounder
    if not isinstance(oracle, KernelBounder):
        raise TypeError("SCIP is asked about kernel models only")
    started = time.process_time()
    model = Model()
    model.hideOutput()
    model.setParam("timing/clocktype", 1)  # CPU
    model.setParam("limits/time", seconds)
    model.setParam("limits/absgap", tolerance)
    here, there = (_factor(oracle, codes) for codes in pair)
    if of == "score":
        _largest_gap(model, oracle, here, there)
    else:
        _largest_margin(model, oracle, here, there)
    model.optimize()
    upper = model.getDualbound()
    return Bracket(
        lower=model.getObjVal() if model.getNSols() else -math.inf,
        upper=math.inf if model.isInfinity(upper) else upper,
        seconds=time.process_time() - started,
    )


def _factor(oracle: KernelBounder, codes: Floats) -> Floats:
    """The kernel's factor of the protected features of an individual, by support vector."""
    parts = [oracle.distances[k].at(float(codes[k])) for k in oracle.differing]
    factor: Floats = np.exp(-oracle.score.body.gamma * np.sum(parts, axis=0))
    return factor


def _largest_gap(model: Any, oracle: KernelBounder, here: Floats, there: Floats) -> None:
    from pyscipopt import quicksum

    weights = oracle.score.body.coefficients * (here - there)
    values = _kernels(model, _exponents(model, oracle), weights > 0, weights < 0)
    model.setObjective(quicksum(c * w for c, w in zip(weights, values, strict=True)), "maximize")


def _largest_margin(model: Any, oracle: KernelBounder, here: Floats, there: Floats) -> None:
    from pyscipopt import quicksum

    body, both = oracle.score.body, np.ones(len(here), dtype=bool)
    values = _kernels(model, _exponents(model, oracle), both, both)
    most = float(np.abs(body.coefficients).sum()) + abs(body.bias)
    margin = model.addVar(lb=-most, ub=most)
    for factor, sign in ((here, 1.0), (there, -1.0)):
        weights = sign * body.coefficients * factor
        model.addCons(
            margin <= sign * body.bias + quicksum(c * w for c, w in zip(weights, values, strict=True))
        )
    model.setObjective(margin, "maximize")


def _exponents(model: Any, oracle: KernelBounder) -> list[tuple[Any, float, float]]:
    """Q_t of each support vector: a linear expression, and its ends."""
    terms, gamma = len(oracle.score.body.coefficients), oracle.score.body.gamma
    parts = [_part(model, oracle, k) for k in oracle.shared]
    exponents = []
    for t in range(terms):
        expression = gamma * sum(part.of(t) for part in parts)
        ends = [gamma * sum(float(part.ends[side][t]) for part in parts) for side in (0, 1)]
        exponents.append((expression, ends[0], ends[1]))
    return exponents


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One feature's share of the squared distances, linear in its variables."""

    constants: Floats
    variables: list[Any]
    slopes: Floats  # (variables, terms)
    ends: tuple[Floats, Floats]

    def of(self, t: int) -> Any:
        return float(self.constants[t]) + sum(
            float(slope) * variable
            for slope, variable in zip(self.slopes[:, t], self.variables, strict=True)
            if slope
        )


def _part(model: Any, oracle: KernelBounder, k: int) -> _Part:
    from pyscipopt import quicksum

    distance: Distance = oracle.distances[k]
    variable = oracle.pairs.variables[oracle.pairs.first[k]]
    ends = distance.extremes(float(variable.lo), float(variable.hi))
    if not isinstance(distance, NumberDistance):
        levels = [model.addVar(vtype="B") for _ in range(distance.by_level.shape[1])]
        model.addCons(quicksum(levels) == 1)
        return _Part(
            constants=np.zeros(len(ends[0])), variables=levels, slopes=distance.by_level.T, ends=ends
        )
    slope, offset, centres = float(distance.slopes[0]), float(distance.offsets[0]), distance.centres[:, 0]
    code = model.addVar(vtype="I" if distance.whole else "C", lb=float(variable.lo), ub=float(variable.hi))
    low, high = sorted(offset + slope * float(end) for end in (variable.lo, variable.hi))
    z, square = model.addVar(lb=low, ub=high), model.addVar(lb=0, ub=max(low * low, high * high))
    model.addCons(z == offset + slope * code)
    model.addCons(square == z * z)
    slopes = np.stack([np.ones_like(centres), -2 * centres])
    return _Part(constants=centres**2, variables=[square, z], slopes=slopes, ends=ends)


def _kernels(
    model: Any, exponents: list[tuple[Any, float, float]], below: NDArray[np.bool_], above: NDArray[np.bool_]
) -> list[Any]:
    """w_t, at most (`below`) and at least (`above`) exp(-Q_t)."""
    from pyscipopt import exp

    kernels = []
    for (expression, least, most), under, over in zip(exponents, below, above, strict=True):
        w, q = model.addVar(lb=math.exp(-most), ub=math.exp(-least)), model.addVar(lb=least, ub=most)
        model.addCons(q == expression)
        if under:
            model.addCons(w - exp(-q) <= 0)
        if over:
            model.addCons(w - exp(-q) >= 0)
        kernels.append(w)
    return kernels
