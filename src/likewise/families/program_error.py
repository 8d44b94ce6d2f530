"""Program error: how far the scores that the original program computes can be from those of the model as mathematics.

A proof is about the stored parameters in real arithmetic, the program rounds. `error_bound` gives a number E with

    |program's score - real score| <= E       for every individual of the space,

from the description of the program that came with the model (`scored`), for rows handed over in double precision and any order of summation; None
where a step is not described. With u = 2^-53, g_n = (1 + u)^n - 1, columns |x_c| <= m_c, which the program has with an error of at most
d_c = g_k (m_c + slack_c) (`tracing`), and M_c = m_c + slack_c:

    sums of columns     section 6 of spec/certificate-v1.md, leaves of trees section 9
    Gaussians           sum_t |a_t| e_t + g_(T+room) (2 sum_t |a_t| + sizes), where e_t bounds the error of one exp(-gamma d^2) <= 1:
                        sqrt(2 gamma / e) sum_c d_c for the columns; from differences, d^2 is off by a factor, and z exp(-z) <= 1/e;
                        `expanded`, d^2 is off by D = g_(w+room) (|M| + |s_t|)^2, and neither value leaves [0, 1]: min(1, exp(gamma D) - 1)
    powers              g_n (sum_t |a_t| B_t^D + sizes),  B_t = |coef0| + sum_c |gamma s_tc| M_c,  n = D (w + k + room) + T + room
    products            g_n (sum_f |w_f| product_f M + sizes)
    combined            the largest error of a part, and the rounding of a mean of their scores

exp and pow are taken to be right within `room` roundings, as the C library and NumPy promise. All sums are of nonnegative numbers in float64, so that `OUTWARD`
covers their own rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.kernel.body import RbfSum
from likewise.families.scored import (
    CombinedRounding,
    KernelRounding,
    Model,
    PolynomialRounding,
    ProductRounding,
    Rounding,
    SeparateRounding,
    TreeRounding,
    extents,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

ROOM = 32  # roundings: of exp, pow or sigma (a few units in the last place), of maps around a model, of additions not counted
OUTWARD = 1 + 1e-6  # what float64 sums of up to 10^9 nonnegative numbers lose, with room
TINY = 2.0**-960  # more than all results that are denormal lose together
MOST_ROUNDINGS = 2**40  # for which g_n <= 1.001 n u
MOST = 2.0**1000  # an error beyond it is as good as unknown


@dataclass(frozen=True, slots=True)
class Bound:
    """What the program's score is off by at most, and what bounds its size."""

    error: float
    size: float


def error_bound(model: Model, space: Space) -> Fraction | None:
    """The largest difference between the program's score and the real one over the whole space; None where it is not known. Of several
    scores, that of each of them."""
    with np.errstate(over="ignore", invalid="ignore"):
        found = _bound(model, space)
    return None if found is None or not found.error <= MOST else Fraction(found.error)


def _bound(model: Model, space: Space) -> Bound | None:
    rounding = model.rounding
    if isinstance(rounding, CombinedRounding):
        return _of_combined(rounding, space)
    if isinstance(rounding, TreeRounding):
        return _of_trees(rounding)
    if isinstance(rounding, Rounding):
        return _of_sums(rounding, extents(model.embedding, space)) if rounding.bounded else None
    if isinstance(rounding, SeparateRounding) or rounding is None or not rounding.described:
        return None
    largest = np.array([_up(value) for value in extents(model.embedding, space)])
    if isinstance(rounding, KernelRounding) and isinstance(model.body, RbfSum):
        return _of_gaussians(rounding, model.body, largest)
    if isinstance(rounding, PolynomialRounding):
        return _of_powers(rounding, largest)
    return _of_products(rounding, largest) if isinstance(rounding, ProductRounding) else None


def _of_trees(rounding: TreeRounding) -> Bound:
    return Bound(_up(rounding.error()), _up(rounding.constant))


def _of_sums(rounding: Rounding, largest: Sequence[Fraction]) -> Bound:
    sizes = zip(rounding.sizes, largest, strict=True)
    size = rounding.constant + sum((size * extent for size, extent in sizes), Fraction(0))
    return Bound(_up(rounding.error(largest)), _up(size))


def _of_gaussians(rounding: KernelRounding, body: RbfSum, largest: Floats) -> Bound:
    roundings, reach = _columns(rounding.columns, largest)
    width, terms = len(largest), len(body.coefficients)
    sizes = np.abs(body.coefficients)
    moved = math.sqrt(2 * body.gamma / math.e) * growth(roundings) * float(reach.sum())
    off = np.full(terms, moved + 2 * growth(width + ROOM) + TINY * body.gamma)
    if rounding.expanded and terms:
        lengths = float(np.sqrt((reach**2).sum())) + np.sqrt((body.centres**2).sum(axis=1))
        off = off + np.minimum(1.0, np.expm1(body.gamma * growth(width + ROOM) * lengths**2 * OUTWARD))
    size = 2 * float(sizes.sum()) + abs(body.bias) + 2 * rounding.more  # |slope bias| <= |new bias| + more
    return _outward(float(sizes @ off) + growth(terms + ROOM) * size, size)


def _of_powers(rounding: PolynomialRounding, largest: Floats) -> Bound:
    roundings, reach = _columns(rounding.columns, largest)
    inner = np.abs(rounding.slopes) @ reach + abs(rounding.coef0)
    size = float(np.abs(rounding.coefficients) @ inner**rounding.degree) + abs(rounding.bias)
    count = rounding.degree * (len(largest) + roundings + ROOM) + len(rounding.coefficients) + ROOM
    return _outward(growth(count) * size, size)


def _of_products(rounding: ProductRounding, largest: Floats) -> Bound:
    roundings, reach = _columns(rounding.columns, largest)
    size = abs(rounding.bias)
    for weight, product in zip(np.abs(rounding.coefficients).tolist(), rounding.products, strict=True):
        size += weight * math.prod(reach[c] for c in product)
    degree = max(map(len, rounding.products), default=0)
    count = degree * (roundings + ROOM) + rounding.after + 2 * len(rounding.products) + ROOM
    return _outward(growth(count) * size, size)


def _of_combined(rounding: CombinedRounding, space: Space) -> Bound | None:
    parts = [_bound(part, space) for part in rounding.parts]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    size = max(part.size for part in known)
    return _outward(max(part.error for part in known) + growth(len(parts) + ROOM) * size, size)


def _columns(described: Sequence[tuple[int, float]], largest: Floats) -> tuple[int, Floats]:
    """The most roundings of a column, and its largest absolute value with its slack."""
    if not described:  # the numbers of the rows themselves
        return 0, largest
    return max(k for k, _ in described), largest + np.array([slack for _, slack in described])


def growth(roundings: int, bits: int = 53) -> float:
    """At least (1 + 2^-bits)^roundings - 1."""
    if roundings > MOST_ROUNDINGS:
        return math.inf
    return math.expm1(roundings * 2.0**-bits) * OUTWARD


def _outward(error: float, size: float) -> Bound:
    return Bound(OUTWARD * (error + TINY * (1 + size)), OUTWARD * size)


def _up(value: Fraction) -> float:
    """A double that is not below a number >= 0."""
    try:
        return float(np.nextafter(float(value), np.inf)) if value else 0.0
    except OverflowError:
        return math.inf
