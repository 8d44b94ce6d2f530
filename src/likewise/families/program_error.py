"""Program error: how far the scores that the original program computes can be from those of the model as mathematics.

A proof is about the stored parameters in real arithmetic, the program rounds. `error_bound` gives a number E with

    |program's score - real score| <= E       for every individual of the space,

from the description of the program that came with the model (`Rounding`, in each family's own room), for rows handed over in double precision and any order of summation; None
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

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import ComputedColumn
    from likewise.families.scored import Model
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
    if model.rounding is None:
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        found = model.rounding.bound(model, space)
    return None if found is None or not found.error <= MOST else Fraction(found.error)


def reach_of(described: Sequence[tuple[int, float]], largest: Floats) -> tuple[int, Floats]:
    """The most roundings of a column, and its largest absolute value with its slack."""
    if not described:  # the numbers of the rows themselves
        return 0, largest
    return max(k for k, _ in described), largest + np.array([slack for _, slack in described])


def slacks_of(columns: Sequence[ComputedColumn]) -> tuple[tuple[int, float], ...]:
    """(k, slack) of columns that the program computes: each is off by about k u (|column| + slack)."""
    return tuple((one.roundings + 2, float(one.slack + 2 * abs(one.offset))) for one in columns)


def growth(roundings: int, bits: int = 53) -> float:
    """At least (1 + 2^-bits)^roundings - 1."""
    if roundings > MOST_ROUNDINGS:
        return math.inf
    return math.expm1(roundings * 2.0**-bits) * OUTWARD


def outward(error: float, size: float) -> Bound:
    """The bound that covers how it was itself computed."""
    return Bound(OUTWARD * (error + TINY * (1 + size)), OUTWARD * size)


def double_above(value: Fraction) -> float:
    """A double that is not below a number >= 0."""
    try:
        return float(np.nextafter(float(value), np.inf)) if value else 0.0
    except OverflowError:
        return math.inf
