"""Polynomials in float64 as the paper's method needs them: a kernel model expanded over one case.

A monomial is the sorted tuple of its variables, repeated for powers: () is 1, (0, 0, 2) is y_0^2 y_2. A
polynomial maps monomials to coefficients. The variables are those of a case that are not fixed, each scaled
to [-1, 1]: code = middle + half * y.

    f(x) = b + sum_t a_t (gamma s_t . x + r)^d,   every column of x affine in one variable
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.scored_model import only_score
from likewise.spec.terms import Separable, nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pairs import PairSpace
    from likewise.verifying.posed_problem import PosedProblem

    Floats = NDArray[np.float64]

Monomial = tuple[int, ...]
Polynomial = dict[Monomial, float]

MACHINES = {"SVC", "NuSVC", "SVR", "NuSVR"}


def is_polynomial(estimator: Any) -> bool:
    """Whether this is a support vector machine with a polynomial kernel."""
    return type(estimator).__name__ in MACHINES and getattr(estimator, "kernel", None) == "poly"


@dataclass(frozen=True, slots=True, kw_only=True)
class Axes:
    """The live variables of a case: their numbers in pair space, middles and half widths."""

    pairs: PairSpace
    live: tuple[int, ...]

    def code(self, v: int) -> tuple[float, float, int | None]:
        """A variable as middle + half * y; y is None where it is fixed."""
        variable = self.pairs.variables[v]
        if v not in self.live:
            return float(variable.lo), 0.0, None
        lo, hi = float(variable.lo), float(variable.hi)
        return lo / 2 + hi / 2, hi / 2 - lo / 2, self.live.index(v)

    def point(self, y: Floats) -> tuple[list[float], list[float]]:
        """The pair at scaled coordinates, as codes."""
        codes = []
        for v, variable in enumerate(self.pairs.variables):
            middle, half, axis = self.code(v)
            value = middle if axis is None else middle + half * float(y[axis])
            codes.append(min(max(value, float(variable.lo)), float(variable.hi)))
        return self.pairs.split(codes)


def make_axes(pairs: PairSpace) -> Axes:
    """The variables of either individual that are not fixed."""
    owned = sorted({*pairs.first, *pairs.second})
    live = tuple(v for v in owned if pairs.variables[v].lo < pairs.variables[v].hi)
    return Axes(pairs=pairs, live=live)


def score_polynomial(prepared: PosedProblem, axes: Axes, owner: tuple[int, ...]) -> Polynomial:
    """The score of one side (`owner` = pairs.first or pairs.second) over a case's axes."""
    estimator = prepared.imported.replay.estimator
    if is_polynomial(estimator):
        found = _expand_kernel(prepared, estimator, axes, owner)
    else:
        score = only_score(prepared.imported.model, len(axes.pairs.space))
        if not isinstance(score, Separable):
            raise UnsupportedModel(f"{prepared.imported.model.family} is no polynomial")
        found = affine_polynomial(score, axes, owner)
    return scale(found, -1.0) if prepared.mirrored else found


def affine_polynomial(part: Separable, axes: Axes, owner: tuple[int, ...]) -> Polynomial:
    """A separable function as a polynomial; levels only where they are fixed."""
    found: Polynomial = {(): nearest_double(part.bias)}
    for k, term in enumerate(part.terms):
        if term.pieces is not None:
            raise UnsupportedModel("no polynomial program is made of columns in pieces")
        middle, half, axis = axes.code(owner[k])
        if term.table is not None:
            if axis is not None and not term.constant:
                name = axes.pairs.space.names[k]
                raise UnsupportedModel(
                    f"levels are no numbers: {name!r}", hint=f"fix it: fixed=[{name!r}, ...]"
                )
            found[()] += nearest_double(term.table[int(middle)])
            continue
        found[()] += nearest_double(term.slope) * middle
        if axis is not None:
            found[(axis,)] = found.get((axis,), 0.0) + nearest_double(term.slope) * half
    return found


def _expand_kernel(prepared: PosedProblem, estimator: Any, axes: Axes, owner: tuple[int, ...]) -> Polynomial:
    """The kernel sum multiplied out, term by term over all support vectors at once."""
    gamma, degree = float(estimator._gamma), int(estimator.degree)
    weights = np.ravel(estimator.dual_coef_)
    inner = np.zeros((len(weights), len(axes.live) + 1))  # the last column is the constant
    inner[:, -1] = float(estimator.coef0)
    for c, column in enumerate(prepared.imported.model.embedding):
        middle, half, axis = axes.code(owner[column.feature])
        slope, offset = float(column.slope), float(column.offset)
        support = gamma * np.asarray(estimator.support_vectors_)[:, c]
        inner[:, -1] += support * (offset + slope * middle)
        if axis is not None:
            inner[:, axis] += support * slope * half
    found: Polynomial = {(): float(np.ravel(estimator.intercept_)[0])}
    for picked in combinations_with_replacement(range(inner.shape[1]), degree):
        orders = factorial(degree) / prod(factorial(picked.count(i)) for i in set(picked))
        monomial = tuple(i for i in picked if i < len(axes.live))
        value = orders * float(weights @ inner[:, picked].prod(axis=1))
        found[monomial] = found.get(monomial, 0.0) + value
    return found


def scale(polynomial: Polynomial, factor: float) -> Polynomial:
    """The polynomial times a number."""
    return {monomial: factor * value for monomial, value in polynomial.items()}


def add(first: Polynomial, second: Polynomial) -> Polynomial:
    """The sum."""
    total = dict(first)
    for monomial, value in second.items():
        total[monomial] = total.get(monomial, 0.0) + value
    return total


def multiply(first: Polynomial, second: Polynomial) -> Polynomial:
    """The product."""
    total: Polynomial = {}
    for left, a in first.items():
        for right, b in second.items():
            monomial = tuple(sorted(left + right))
            total[monomial] = total.get(monomial, 0.0) + a * b
    return total


def degree_of(polynomial: Polynomial) -> int:
    """The largest degree of a monomial with a coefficient."""
    return max((len(monomial) for monomial, value in polynomial.items() if value), default=0)


def largest_coefficient(polynomial: Polynomial) -> float:
    """The largest absolute coefficient."""
    return max((abs(value) for value in polynomial.values()), default=0.0)


def evaluate(polynomial: Polynomial, y: Floats) -> float:
    """The value at a point."""
    return float(sum(c * np.prod([y[i] for i in monomial]) for monomial, c in polynomial.items()))
