"""Expansion: a sum of powers of affine functions, multiplied out exactly into products of columns.

    sum_t a_t (gamma <s_t, x> + r)^D + b
        = b + sum over products alpha of degree k <= D of  C(D, k) k!/alpha! gamma^k r^(D-k) m_alpha x^alpha,

with the moments m_alpha = sum_t a_t s_t^alpha. All numbers are doubles, so after scaling each column by a
power of two the moments are sums of whole numbers: entries of L^T R, where the columns of L and R are the
products of the first half and of the second half of alpha (python-flint's integer matrices).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

from flint import fmpz_mat

from likewise.clock import check_clock
from likewise.errors import UnsupportedModel
from likewise.families.polynomial.body import PolynomialSum

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Product = tuple[int, ...]
MOST_PRODUCTS = 200_000  # beyond this neither a proof nor its check would end in reasonable time
HIGHEST_DEGREE = 16  # of a product in a certificate


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PowerSum:
    """b + sum_t a_t (gamma <s_t, x> + coef0)^degree; the doubles are the parameters, exactly."""

    coefficients: Floats
    centres: Floats
    gamma: float
    coef0: float
    degree: int
    bias: float


def expand_powers(powers: PowerSum, family: str) -> PolynomialSum:
    """The same as a sum of products; columns that are 0 in every centre occur in none of them."""
    degrees = range(powers.degree + 1) if powers.coef0 else range(powers.degree, powers.degree + 1)
    used = [c for c in range(powers.centres.shape[1]) if powers.centres[:, c].any()]
    _check_size(powers.degree, degrees, len(used), family)
    terms: dict[Product, Fraction] = {(): Fraction(powers.bias)}
    for degree in degrees:
        inner = Fraction(powers.gamma) ** degree * Fraction(powers.coef0) ** (powers.degree - degree)
        inner *= math.comb(powers.degree, degree)
        for product, moment in _moments(powers, used, degree):
            value = inner * _count_orders(product) * moment
            if value or not product:
                terms[product] = terms.get(product, Fraction(0)) + value
    return PolynomialSum(coefficients=tuple(terms.values()), products=tuple(terms))


def _check_size(highest: int, degrees: range, columns: int, family: str) -> None:
    if highest > HIGHEST_DEGREE:
        raise UnsupportedModel(
            f"{family} has a polynomial kernel of degree {highest}; the highest supported one is {HIGHEST_DEGREE}",
            hint="fit it with a smaller degree",
        )
    count = sum(math.comb(max(columns + d - 1, 0), d) for d in degrees)
    if count > MOST_PRODUCTS:
        raise UnsupportedModel(
            f"{family} of degree {highest} on {columns} columns has {count:,} products of columns; "
            f"at most {MOST_PRODUCTS:,} are supported",
            hint="fit it with a smaller degree, or on fewer columns",
        )


def _moments(powers: PowerSum, used: list[int], degree: int) -> Iterator[tuple[Product, Fraction]]:
    """Every product of this degree with its moment."""
    if degree and not used:
        return
    weights, shift = scaled_integers(powers.coefficients)
    scaled = {c: scaled_integers(powers.centres[:, c]) for c in used}
    half = (degree + 1) // 2
    left, right = _products(scaled, half, weights), _products(scaled, degree - half, [1] * len(weights))
    rows = {product: i for i, product in enumerate(left)}
    columns = {product: j for j, product in enumerate(right)}
    moments = _integer_matrix(left) * _integer_matrix(right).transpose()
    for product in combinations_with_replacement(used, degree):
        check_clock()
        exponent = shift + sum(scaled[c][1] for c in product)
        total = int(moments[rows[product[:half]], columns[product[half:]]])
        yield product, Fraction(total, 1 << exponent)


def scaled_integers(values: Floats) -> tuple[list[int], int]:
    """Whole numbers n and one exponent e with values = n / 2^e."""
    ratios = [value.as_integer_ratio() for value in values.tolist()]
    exponent = max(denominator for _, denominator in ratios).bit_length() - 1
    return [n << (exponent - denominator.bit_length() + 1) for n, denominator in ratios], exponent


def _products(
    scaled: dict[int, tuple[list[int], int]], degree: int, start: list[int]
) -> dict[Product, list[int]]:
    """All products of so many columns times `start`, one number a centre."""
    found: dict[Product, list[int]] = {(): start}
    for _ in range(degree):
        longer: dict[Product, list[int]] = {}
        for product, values in found.items():
            check_clock()
            for c in scaled:
                if not product or c >= product[-1]:
                    longer[*product, c] = [a * b for a, b in zip(values, scaled[c][0], strict=True)]
        found = longer
    return found


def _integer_matrix(rows: dict[Product, list[int]]) -> fmpz_mat:
    flat = [value for row in rows.values() for value in row]
    return fmpz_mat(len(rows), len(flat) // len(rows), flat)


def _count_orders(product: Product) -> int:
    """In how many orders the columns of a product can be written: k! / alpha!."""
    return math.factorial(len(product)) // math.prod(map(math.factorial, Counter(product).values()))
