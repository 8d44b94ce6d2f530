"""One-sided cubics of exp on [-h, h] (spec/certificate-v1.md, section 7).

    upper   1 + L + (cosh h - 1)/h^2 L^2 + (sinh h - h)/h^3 L^3  >=  exp L       contacts -h, h, and 0 twice
    lower   (cosh a - a sinh a / 2) + (3 sinh a - a cosh a)/(2a) L
            + sinh a/(2a) L^2 + (a cosh a - sinh a)/(2 a^3) L^3  <=  exp L       a = h/2; contacts -a, a, twice each

By Hermite interpolation exp L - upper = exp(xi)/24 (L^2 - h^2) L^2 <= 0 and
exp L - lower = exp(xi)/24 (L - a)^2 (L + a)^2 >= 0. Below `SERIES_LIMIT` the differences of nearly equal numbers are
replaced by their power series.

For differences of two exponentials, with the modified Bessel functions I_k at h,

    difference   P(L) = (I_0 - 2 I_2) L + (I_1 / h) L^2 + (4 I_2 / (3 h^2)) L^3
                 abs(exp L - P'(L)) <= eps = 2 (I_3 + I_4 + ...), so exp L - exp L' <= P(L) - P(L') + eps abs(L - L').

`cubic_table` holds all three at the multiples of 1/1024, to which a checker rounds h up.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from likewise.compiled import compiled

# Below it eight terms of the series are exact to double precision; above it the difference sinh h - h has lost at
# most three bits.
SERIES_LIMIT = 1.0
SERIES_TERMS = 8
SERIES_ERROR = 2.0**-56  # what a series may leave out, relatively
REACH_GRID = 1024  # h is rounded up to a multiple of 1/1024


@compiled
def sinh_part(h: float) -> float:
    """(sinh h - h) / h^3 = sum over j >= 0 of h^(2j) / (2j + 3)!."""
    if h > SERIES_LIMIT:
        return (math.sinh(h) - h) / (h * h * h)
    total, term = 0.0, 1.0 / 6.0
    for j in range(SERIES_TERMS):
        total += term
        term *= h * h / ((2 * j + 4) * (2 * j + 5))
    return total


@compiled
def cosh_part(a: float) -> float:
    """(a cosh a - sinh a) / (2 a^3) = sum over j >= 1 of j a^(2j - 2) / (2j + 1)!."""
    if a > SERIES_LIMIT:
        return (a * math.cosh(a) - math.sinh(a)) / (2.0 * a * a * a)
    total, term = 0.0, 1.0 / 6.0
    for j in range(1, SERIES_TERMS + 1):
        total += j * term
        term *= a * a / ((2 * j + 2) * (2 * j + 3))
    return total


@compiled
def upper_cubic(h: float) -> tuple[float, float, float, float]:
    """Coefficients of a cubic that is at least exp on [-h, h]."""
    half = math.sinh(0.5 * h)
    square = 2.0 * half * half / (h * h) if h * h > 0.0 else 0.5  # a tiny h has no square
    return 1.0, 1.0, square, sinh_part(h)


@compiled
def lower_cubic(h: float) -> tuple[float, float, float, float]:
    """Coefficients of a cubic that is at most exp on [-h, h] (indeed everywhere)."""
    a = 0.5 * h
    if a == 0.0:
        return 1.0, 1.0, 0.5, 1.0 / 6.0
    sinh, cosh = math.sinh(a), math.cosh(a)
    ratio = sinh / a
    return cosh - 0.5 * a * sinh, 1.5 * ratio - 0.5 * cosh, 0.5 * ratio, cosh_part(a)


@compiled
def bessel(k: int, h: float) -> float:
    """The modified Bessel function I_k(h) = sum over m of (h/2)^(2m + k) / (m! (m + k)!)."""
    half, term = 0.5 * h, 1.0
    for j in range(1, k + 1):
        term *= half / j
    total, m = 0.0, 0
    while term > SERIES_ERROR * total:
        total += term
        m += 1
        term *= half * half / (m * (m + k))
    return total


@compiled
def difference_cubic(h: float) -> tuple[float, float, float, float]:
    """Coefficients of L, L^2, L^3 in P, and eps."""
    if h == 0.0:
        return 1.0, 0.5, 1.0 / 6.0, 0.0
    second = bessel(2, h)
    eps, part, k = 0.0, 1.0, 3
    while part > SERIES_ERROR * eps:
        part = 2.0 * bessel(k, h)
        eps += part
        k += 1
    return bessel(0, h) - 2.0 * second, bessel(1, h) / h, 4.0 * second / (3.0 * h * h), eps


@compiled
def cubic_table(farthest: float) -> NDArray[np.float64]:
    """Row [1024 h]: upper (4 numbers), lower (4), difference (3) and eps, for h up to `farthest`."""
    rows = math.ceil(farthest * REACH_GRID) + 1
    table = np.empty((rows, 12))
    for n in range(rows):
        table[n, 0:4] = upper_cubic(n / REACH_GRID)
        table[n, 4:8] = lower_cubic(n / REACH_GRID)
        table[n, 8:12] = difference_cubic(n / REACH_GRID)
    return table
