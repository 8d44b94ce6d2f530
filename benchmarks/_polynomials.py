"""Exact expansion of polynomial kernel machines: f(x) = bias + sum_t a_t (gamma <s_t, x> + coef0)^degree in axes.

A column of x is an affine function of axes, middle + half * y_axis, or a fixed number. All stored doubles are binary
fractions, so the sums over support vectors are products of integer matrices.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Any

import numpy as np
from flint import fmpq, fmpz_mat
from scipy.optimize import minimize

Monomial = tuple[int, ...]
Polynomial = dict[Monomial, fmpq]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """middle + half * y_axis, or the number `middle` where axis is None."""

    middle: Fraction
    half: Fraction = Fraction(0)
    axis: int | None = None


def columns_of(lo: Sequence[float], hi: Sequence[float], fixed: dict[int, float]) -> list[Column]:
    """Columns over [lo, hi], some of them fixed; axes are numbered in order."""
    columns: list[Column] = []
    axes = 0
    for k, (low, high) in enumerate(zip(lo, hi, strict=True)):
        if k in fixed:
            columns.append(Column(middle=Fraction(fixed[k])))
            continue
        start, end = Fraction(low), Fraction(high)
        columns.append(Column(middle=(start + end) / 2, half=(end - start) / 2, axis=axes))
        axes += 1
    return columns


def expanded(model: Any, columns: Sequence[Column]) -> Polynomial:
    """The decision function of a binary `SVC(kernel="poly")` as a polynomial in axes, exact."""
    gamma, coef0 = Fraction(float(model._gamma)), Fraction(float(model.coef0))
    width = 1 + sum(column.axis is not None for column in columns)
    change = [
        [Fraction(0)] * width for _ in range(len(columns) + 1)
    ]  # rows of (s, 1) to coefficients of (1, y)
    for row, column in zip(change, columns, strict=False):
        row[0] = gamma * column.middle
        if column.axis is not None:
            row[1 + column.axis] = gamma * column.half
    change[-1][0] = coef0
    support, support_bits = _whole(
        [[*map(Fraction, row), Fraction(1)] for row in model.support_vectors_.tolist()]
    )
    change_whole, change_bits = _whole(change)
    weights, weight_bits = _whole([[Fraction(value)] for value in model.dual_coef_[0].tolist()])
    inner = (support * change_whole).tolist()
    degree = int(model.degree)
    unit = fmpq(1, 2 ** (weight_bits + degree * (support_bits + change_bits)))
    sums = _moments(inner, [row[0] for row in weights.tolist()], width, degree)
    terms = {
        tuple(i - 1 for i in chosen if i): value * _orders(chosen) * unit for chosen, value in sums.items()
    }
    terms[()] = terms[()] + _rational(Fraction(float(model.intercept_[0])))
    return {monomial: value for monomial, value in terms.items() if value}


def _moments(inner: list[Any], weights: list[Any], width: int, degree: int) -> dict[Monomial, Any]:
    """sum_t a_t product of inner_t over the chosen columns, for every choice with repetition."""
    heads = list(combinations_with_replacement(range(width), degree - 1))
    rows = [
        [prod((row[i] for i in head), start=a) for row, a in zip(inner, weights, strict=True)]
        for head in heads
    ]
    table = fmpz_mat(rows) * fmpz_mat(inner)
    return {
        (*head, i): table[k, i] for k, head in enumerate(heads) for i in range(head[-1] if head else 0, width)
    }


def _orders(chosen: Monomial) -> int:
    return factorial(len(chosen)) // prod(factorial(count) for count in Counter(chosen).values())


def _whole(rows: list[list[Fraction]]) -> tuple[fmpz_mat, int]:
    """Binary fractions as integers over one power of 2."""
    bits = max(value.denominator.bit_length() - 1 for row in rows for value in row)
    return fmpz_mat([[int(value * 2**bits) for value in row] for row in rows]), bits


def _rational(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


class Evaluated:
    """A polynomial in float64, with its gradient."""

    def __init__(self, terms: Polynomial, dimension: int) -> None:
        self.values = np.array([float(value) for value in terms.values()])
        degree = max(map(len, terms))
        self.index = np.full((len(terms), degree), dimension)
        for row, monomial in zip(self.index, terms, strict=True):
            row[: len(monomial)] = monomial

    def __call__(self, y: Any) -> float:
        """The value at a point."""
        return float(self.values @ np.append(y, 1.0)[self.index].prod(axis=1))

    def gradient(self, y: Any) -> Any:
        """The gradient at a point."""
        factors = np.append(y, 1.0)[self.index]
        total = np.zeros(len(y) + 1)
        for k in range(self.index.shape[1]):
            np.add.at(total, self.index[:, k], self.values * np.delete(factors, k, 1).prod(axis=1))
        return total[:-1]


def best_margin(first: Polynomial, second: Polynomial, starts: Sequence[Any]) -> tuple[float, Any]:
    """The largest min(f, -f') that local search (SLSQP) finds from the starts, and where: a lower value."""
    dimension = len(starts[0])
    f, g = Evaluated(first, dimension), Evaluated(second, dimension)
    scale = max(np.abs(f.values).max(), np.abs(g.values).max())
    best, where = -np.inf, starts[0]
    for start in starts:
        margin = min(f(start), -g(start))
        answer = minimize(
            lambda z: -z[-1],
            np.append(start, margin / scale),
            jac=lambda _: np.append(np.zeros(dimension), -1.0),
            bounds=[(-1, 1)] * dimension + [(None, None)],
            constraints=[
                {
                    "type": "ineq",
                    "fun": lambda z, p=p, s=s: s * p(z[:-1]) / scale - z[-1],
                    "jac": lambda z, p=p, s=s: np.append(s * p.gradient(z[:-1]) / scale, -1.0),
                }
                for p, s in ((f, 1.0), (g, -1.0))
            ],
            method="SLSQP",
            options={"maxiter": 200, "ftol": 1e-14},
        )
        for point in (np.asarray(start), np.clip(answer.x[:-1], -1, 1)):
            margin = min(f(point), -g(point))
            if margin > best:
                best, where = margin, point
    return best, where
