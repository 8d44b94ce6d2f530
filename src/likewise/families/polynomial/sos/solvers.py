"""Solvers of semidefinite programs: clarabel (interior points), and SCS (first order) for large ones.

What they answer is only ever a proposal: an iterate of any status can be made into content, and the exact bound tells
what it is worth.
"""

from __future__ import annotations

import importlib.util
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.errors import InternalError
from likewise.families.polynomial.sos.moments import Programme

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

Solver = Literal["auto", "clarabel", "scs"]

# Relative tolerances that were measured to be worth their time: interior points gain digits cheaply, SCS does not.
CLARABEL_TOLERANCE = 1e-10
SCS_TOLERANCE = 1e-6
SCS_ITERATIONS = 1_000_000
UNLIMITED = 1e9  # seconds; neither solver takes None
SHORTEST_LIMIT = 1e-6  # seconds; 0 means no limit to SCS
# Interior points take about (rows of cones / 1,400)^3 seconds; beyond this many, SCS is faster.
MANY_ROWS = 2000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """The last iterate: `x` moments (and tau), `z` dual values of the rows; `value` the dual's bound of the maximum."""

    x: Floats
    z: Floats
    value: float
    status: str
    solved: bool
    seconds: float


def scs_installed() -> bool:
    """Whether the extra `scs` is there."""
    return importlib.util.find_spec("scs") is not None


def solve(
    posed: Programme,
    *,
    solver: Solver = "auto",
    time_limit: float | None = None,
    tolerance: float | None = None,
) -> Solution:
    """Solve within so many seconds of wall clock; whatever the status, the iterate comes back.

    "auto" takes SCS for large programs, if it is installed, and clarabel otherwise.
    """
    start = time.process_time()
    if solver == "auto":
        large = len(posed.right) - posed.linear > MANY_ROWS
        solver = "scs" if large and scs_installed() else "clarabel"
    limit = UNLIMITED if time_limit is None else max(time_limit, SHORTEST_LIMIT)
    if not len(posed.cost):  # a cube without axes: there is nothing to find
        x, z, status, solved = np.zeros(0), np.zeros(len(posed.right)), "Constant", True
    elif solver == "clarabel":
        x, z, status, solved = _solve_clarabel(posed, limit, tolerance or CLARABEL_TOLERANCE)
    elif solver == "scs":
        x, z, status, solved = _solve_scs(posed, limit, tolerance or SCS_TOLERANCE)
    else:
        raise InternalError(f"no solver {solver!r}")
    finite = bool(np.all(np.isfinite(z)))
    return Solution(
        x=np.nan_to_num(x, nan=0.0, posinf=0.0, neginf=0.0),
        z=z if finite else np.zeros_like(z),
        value=posed.constant + float(posed.right @ z) if finite else np.inf,
        status=status,
        solved=solved and finite,
        seconds=time.process_time() - start,
    )


def _solve_clarabel(posed: Programme, limit: float, tolerance: float) -> tuple[Floats, Floats, str, bool]:
    import clarabel
    from scipy.sparse import csc_matrix

    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.time_limit = limit
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    cones = [clarabel.NonnegativeConeT(posed.linear)] if posed.linear else []
    cones += [clarabel.PSDTriangleConeT(size) for size in posed.sizes]
    width = len(posed.cost)
    quadratic = csc_matrix((width, width))
    found = clarabel.DefaultSolver(quadratic, posed.cost, posed.matrix, posed.right, cones, settings).solve()
    return np.array(found.x), np.array(found.z), str(found.status), str(found.status) == "Solved"


def _solve_scs(posed: Programme, limit: float, tolerance: float) -> tuple[Floats, Floats, str, bool]:
    """SCS wants the lower triangle by columns: the same entries in another order."""
    import scs

    order = np.concatenate([np.arange(posed.linear), *_lower_triangles(posed)])
    answer = scs.solve(
        {"A": posed.matrix[order], "b": posed.right[order], "c": posed.cost},
        {"l": posed.linear, "s": list(posed.sizes)},
        eps_abs=tolerance,
        eps_rel=tolerance,
        max_iters=SCS_ITERATIONS,
        time_limit_secs=limit,
        verbose=False,
    )
    z = np.zeros(len(posed.right))
    z[order] = answer["y"]
    return np.array(answer["x"]), z, str(answer["info"]["status"]), answer["info"]["status"] == "solved"


def _lower_triangles(posed: Programme) -> list[Ints]:
    orders: list[Ints] = []
    start = posed.linear
    for size in posed.sizes:
        row, column = np.triu_indices(size)  # by rows of the upper triangle: by columns of the lower one
        orders.append(start + column * (column + 1) // 2 + row)
        start += size * (size + 1) // 2
    return orders
