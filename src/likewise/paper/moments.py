"""Lasserre's moment relaxation of a polynomial program, and its solution by clarabel in a process of its own.

    min p(y)   s.t.  g_i(y) >= 0,  h_j(y) = 0

Order d replaces every monomial y^a of degree <= 2 d by a number m_a (m_0 = 1) and asks for

    M_d(m) = (m_{a+b})  positive semidefinite                       |a|, |b| <= d
    M_{d-e}(g m)        positive semidefinite, e = ceil(deg g / 2)   for every inequality
    L_m(h y^a) = 0                                                   |a| <= 2 d - deg h, for every equality

The minimum is a lower bound of p, up to what the solver leaves open, and does not decrease in d. The solver is
run in another process: it looks at its clock only between iterations, and one of a large program takes hours.
"""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import ceil, comb, sqrt
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from likewise.paper.polynomials import Monomial, Polynomial, degree_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_MEMORY = 2e9  # bytes that the solver may take
SOLVER = Path(__file__).with_name("solving.py")  # run as a file: it needs nothing of Likewise


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A polynomial program in `variables` variables."""

    variables: int
    objective: Polynomial
    inequalities: Sequence[Polynomial]
    equalities: Sequence[Polynomial] = ()

    @property
    def least_order(self) -> int:
        """The first order at which the relaxation can be written down."""
        return max(
            1, ceil(degree_of(self.objective) / 2), *(ceil(degree_of(g) / 2) for g in self.inequalities)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Relaxation:
    """The solver's answer: its lower bound and the first moments; or why there is none."""

    lower: float = float("-inf")
    point: Floats | None = None
    reason: str | None = None


def memory_of(variables: int, order: int) -> float:
    """About the bytes that clarabel takes: the block of its linear system that belongs to the moment
    matrix is dense, and there is its factor, both with an index a number."""
    side = comb(variables + order, order)
    return 16.0 * (side * (side + 1) / 2) ** 2


def relax(program: Program, order: int, seconds: float) -> Relaxation:
    """The lower bound of one order, within so many seconds."""
    needed = memory_of(program.variables, order)
    if needed > MOST_MEMORY:
        side = comb(program.variables + order, order)
        return Relaxation(
            reason=f"order {order} was not started: a {side} x {side} moment matrix takes clarabel {needed / 1e9:.1f} GB"
        )
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, seconds=np.array(seconds), **_conic_program(program, order))
    command = [sys.executable, "-P", str(SOLVER)]
    try:
        done = subprocess.run(
            command, input=packed.getvalue(), capture_output=True, timeout=seconds, check=False
        )
    except subprocess.TimeoutExpired:
        return Relaxation(reason=f"order {order} was stopped after {seconds:.0f} s")
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().splitlines()[-1:] or ["no message"]
        return Relaxation(reason=f"order {order}: the solver failed: {last[0]}")
    answer = np.load(io.BytesIO(done.stdout), allow_pickle=False)
    if not bool(answer["solved"]):
        return Relaxation(reason=f"order {order}: the solver ended with {answer['status'].item()}")
    constant = program.objective.get((), 0.0)
    return Relaxation(
        lower=float(answer["dual"]) + constant, point=np.asarray(answer["x"][: program.variables])
    )


def monomials(variables: int, degree: int) -> list[Monomial]:
    """All monomials up to a degree: 1, y_0, y_1, ..., y_0^2, ..."""
    return [
        monomial for d in range(degree + 1) for monomial in combinations_with_replacement(range(variables), d)
    ]


def _conic_program(program: Program, order: int) -> dict[str, Floats]:
    """min q'm s.t. b - A m in the cones: zeros first, then one triangle a matrix."""
    index = {monomial: i - 1 for i, monomial in enumerate(monomials(program.variables, 2 * order))}
    rows = _Rows(index)
    for equality in program.equalities:
        for shift in monomials(program.variables, 2 * order - degree_of(equality)):
            rows.add(equality, shift, 1.0)
    zeros = rows.count
    sides = []
    positive: Polynomial = {(): 1.0}  # its matrix is that of the moments themselves
    for inequality in (positive, *program.inequalities):
        basis = monomials(program.variables, order - ceil(degree_of(inequality) / 2))
        sides.append(len(basis))
        for j, right in enumerate(basis):
            for i, left in enumerate(basis[: j + 1]):
                rows.add(inequality, left + right, 1.0 if i == j else sqrt(2))
    objective = np.zeros(len(index) - 1)
    for monomial, value in program.objective.items():
        if monomial:
            objective[index[monomial]] += value
    return {
        "objective": objective,
        "row": np.array(rows.row),
        "column": np.array(rows.column),
        "value": np.array(rows.value),
        "right": np.array(rows.right),
        "zeros": np.array(zeros),
        "sides": np.array(sides),
    }


class _Rows:
    """Rows of L_m(g y^a), as slack b - A m."""

    def __init__(self, index: dict[Monomial, int]) -> None:
        self.index = index
        self.row: list[int] = []
        self.column: list[int] = []
        self.value: list[float] = []
        self.right: list[float] = []

    @property
    def count(self) -> int:
        return len(self.right)

    def add(self, polynomial: Polynomial, shift: Monomial, factor: float) -> None:
        constant = 0.0
        for monomial, coefficient in polynomial.items():
            moment = tuple(sorted(monomial + shift))
            if not moment:
                constant += factor * coefficient
            else:
                self.row.append(self.count)
                self.column.append(self.index[moment])
                self.value.append(-factor * coefficient)
        self.right.append(constant)
