"""Polynomial kernel models as in the paper: sums of squares of increasing order, in its product form.

    decision   min f(x) f(x')        a pair with different decisions has f(x) f(x') <= 0
    gap        min delta - (f(x) - f(x'))

over the similar pairs of a case, variables scaled to [-1, 1], 1 - y^2 >= 0 for each; integers that are not relaxed
by (y - y_1) ... (y - y_k) = 0 as long as k is at most twice the order. The objective is divided by its largest
coefficient, and what the solver reports is good to about 1e-6 of that.

For decisions the product has twice the degree and loses the signs: a pair with f(x) > 0 = f(x') is no violation, and
a minimum of -1e-12 times the largest coefficient, quite enough for a pair, is zero to the solver.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from likewise.paper.linear import round_relaxed
from likewise.paper.meta import CaseBound, referee_candidates
from likewise.paper.moments import Program, relax
from likewise.paper.polynomials import (
    Axes,
    Polynomial,
    add,
    affine_polynomial,
    degree_of,
    largest_coefficient,
    make_axes,
    multiply,
    scale,
    score_polynomial,
)
from likewise.paper.prepare import allowed_level, asks_for_decision

if TYPE_CHECKING:
    from likewise.paper.cases import Case
    from likewise.verifying.posed_problem import PosedProblem


class SumsOfSquares:
    """Bounds a polynomial score by moment relaxations of increasing order."""

    name = "meta-algorithm, sums of squares"
    tolerance = 1e-6  # what is left open of the objective, whose largest coefficient is 1

    def __init__(self, prepared: PosedProblem, *, most_order: int) -> None:
        self.prepared, self.most_order = prepared, most_order
        self.symmetric = asks_for_decision(prepared) and allowed_level(prepared) == 0

    def bound(self, case: Case, seconds: float) -> CaseBound:
        """Raise the order until the bound denies a pair, a pair is found, or the time is over."""
        axes = make_axes(case.pairs)
        objective = self.objective(axes)
        if not axes.live:
            return self._single(axes, objective)
        program = self.program(axes, objective, order=1)
        budget, bounded = self.prepared.task.budget, CaseBound(excess=float("inf"))
        until = budget.elapsed + seconds
        for order in range(program.least_order, max(self.most_order, program.least_order) + 1):
            relaxed = relax(self.program(axes, objective, order), order, max(until - budget.elapsed, 0.1))
            if relaxed.reason is not None or relaxed.point is None:
                return self._stop_early(bounded, relaxed.reason or "")
            bounded = CaseBound(excess=-relaxed.lower, candidates=[self._candidate(axes, relaxed.point)])
            if (
                bounded.excess <= self.tolerance
                or referee_candidates(self.prepared, bounded.candidates) is not None
            ):
                break
        return bounded

    def objective(self, axes: Axes) -> Polynomial:
        """What is minimised, its largest coefficient 1: negative at every pair that breaks the property."""
        first = score_polynomial(self.prepared, axes, axes.pairs.first)
        second = score_polynomial(self.prepared, axes, axes.pairs.second)
        allowed = allowed_level(self.prepared)
        if asks_for_decision(self.prepared):
            found = multiply(add(first, {(): -allowed}), add(second, {(): allowed}))
        else:
            found = add({(): allowed}, add(second, scale(first, -1.0)))
        size = largest_coefficient(found)
        return scale(found, 1 / size) if size else found

    def program(self, axes: Axes, objective: Polynomial, order: int) -> Program:
        """The objective with the pairs of the case as polynomial constraints."""
        pairs, n = axes.pairs, len(axes.live)
        inequalities: list[Polynomial] = [{(): 1.0, (i, i): -1.0} for i in range(n)]
        for owner in (pairs.first, pairs.second):
            inequalities += [scale(affine_polynomial(part, axes, owner), -1.0) for part in pairs.constraints]
        for k, relation in enumerate(pairs.relations):
            if relation.kind == "within" and relation.tolerance is not None:
                apart = add(
                    _axis_polynomial(axes, pairs.first[k]),
                    scale(_axis_polynomial(axes, pairs.second[k]), -1.0),
                )
                reach: Polynomial = {(): float(relation.tolerance)}
                inequalities += [add(reach, apart), add(reach, scale(apart, -1.0))]
        equalities = [
            _grid_polynomial(i, int(pairs.variables[v].hi - pairs.variables[v].lo))
            for i, v in enumerate(axes.live)
            if pairs.variables[v].discrete and pairs.variables[v].hi - pairs.variables[v].lo < 2 * order
        ]
        return Program(
            variables=n,
            objective=objective,
            inequalities=[_normalise(g) for g in inequalities if degree_of(g)],
            equalities=equalities,
        )

    def _candidate(self, axes: Axes, point: np.ndarray) -> tuple[list[float], list[float]]:
        x, other = axes.point(point)
        return round_relaxed(self.prepared, tuple(x)), round_relaxed(self.prepared, tuple(other))

    def _single(self, axes: Axes, objective: Polynomial) -> CaseBound:
        """A case with nothing left to choose."""
        return CaseBound(excess=-objective.get((), 0.0), candidates=[self._candidate(axes, np.zeros(0))])

    def _stop_early(self, bounded: CaseBound, reason: str) -> CaseBound:
        """The bound of the order before, if there was one."""
        if bounded.candidates:
            return replace(bounded, reason=reason)
        return CaseBound(excess=float("inf"), finished=False, reason=reason)


def _axis_polynomial(axes: Axes, v: int) -> Polynomial:
    middle, half, axis = axes.code(v)
    return {(): middle} if axis is None else {(): middle, (axis,): half}


def _grid_polynomial(axis: int, steps: int) -> Polynomial:
    """Zero exactly where y is one of steps + 1 values, evenly from -1 to 1."""
    found: Polynomial = {(): 1.0}
    for i in range(steps + 1):
        found = multiply(found, {(axis,): 1.0, (): 1.0 - 2.0 * i / steps})
    return found


def _normalise(polynomial: Polynomial) -> Polynomial:
    return scale(polynomial, 1 / largest_coefficient(polynomial))
