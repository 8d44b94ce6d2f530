"""A pair program by HiGHS (pip install highspy): one binary for every relu whose sign is open, h <= y - low (1 - z), h <= high z, low and high the limits of y."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import highspy
import numpy as np

if TYPE_CHECKING:
    from benchmarks._pair_program import Expression, PairProgram

SMALLEST = 1e-9  # coefficients that HiGHS leaves out
CLOSED = 1e-6  # relative: where it stops


@dataclass(frozen=True, slots=True, kw_only=True)
class Bracket:
    """What was known when a time was over, or when there was nothing left to do."""

    lower: float
    upper: float
    seconds: float


def by_highs(program: PairProgram, marks: tuple[float, ...]) -> list[Bracket]:
    """Its bracket after each of these CPU seconds, and no longer than the last of them."""
    solver, started = _solver(program, marks[-1]), time.process_time()
    best, known, seen = Bracket(lower=-math.inf, upper=math.inf, seconds=0.0), [], list(marks)

    def look(event: Any) -> None:
        nonlocal best
        seconds, out = time.process_time() - started, event.data_out
        while seen and seconds >= seen[0]:
            known.append(best)
            seen.pop(0)
        bound = program.constant + float(out.mip_dual_bound)
        found = program.constant + float(out.mip_primal_bound)
        best = Bracket(
            lower=found if abs(found) < highspy.kHighsInf else -math.inf,
            upper=bound if abs(bound) < highspy.kHighsInf else math.inf,
            seconds=seconds,
        )
        if not seen:
            event.interrupt()

    solver.cbMipInterrupt += look
    solver.run()
    if seen:
        info = solver.getInfo()
        feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        last = Bracket(
            lower=program.constant + info.objective_function_value if feasible else -math.inf,
            upper=program.constant + info.mip_dual_bound,
            seconds=time.process_time() - started,
        )
        known += [last] * len(seen)
    return known


def _solver(program: PairProgram, seconds: float) -> Any:
    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    options: dict[str, Any] = {
        "output_flag": False,
        "threads": 1,
        "mip_rel_gap": CLOSED,
        "time_limit": 10 * seconds,
    }
    for option, value in options.items():
        solver.setOptionValue(option, value)
    rows = list(program.rows)
    lower, upper, whole = list(program.lower), list(program.upper), list(program.whole)
    for y, h in program.relus:
        z, low, high = len(lower), program.lower[y], program.upper[y]
        lower, upper, whole = [*lower, 0.0], [*upper, 1.0], [*whole, True]
        rows.append((0.0, math.inf, {h: 1.0, y: -1.0}))
        rows.append((-math.inf, -low, {h: 1.0, y: -1.0, z: -low}))
        rows.append((-math.inf, 0.0, {h: 1.0, z: -high}))
    solver.addVars(len(lower), np.array(lower), np.array(upper))
    integers = [v for v, discrete in enumerate(whole) if discrete]
    kinds = [highspy.HighsVarType.kInteger] * len(integers)
    solver.changeColsIntegrality(len(integers), np.array(integers, dtype=np.int32), np.array(kinds))
    for low, high, terms in rows:
        columns, weights = _row(terms)
        solver.addRow(low, high, len(columns), columns, weights)
    columns, weights = _row(program.objective)
    solver.changeColsCost(len(columns), columns, weights)
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    return solver


def _row(terms: Expression) -> tuple[np.ndarray, np.ndarray]:
    kept = {column: weight for column, weight in terms.items() if abs(weight) > SMALLEST}
    return np.array(list(kept), dtype=np.int32), np.array(list(kept.values()), dtype=np.float64)
