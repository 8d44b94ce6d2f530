"""Maxima of one feature in pieces, exactly: u(x) + v(x') over a box, u and v polynomials on each piece.

    same      u + v on each piece met
    free      u and v by themselves
    within t  over the pairs of pieces at most t apart: at the corners of the polygon where both are linear, else
              the maximum of u plus that of v, each on its part cut off at distance t from the other

(rule `separable` of a certificate). A polynomial of degree n >= 2 lies below its largest Bernstein coefficient,
meets the first and the last one at the ends, and halving the interval brings them together. Coefficients are whole
numbers in units of size / 2^BITS, rounded up. A checker may bound such a maximum otherwise, by up to 2^-60 of its
size: as much is added, so that it finds no more than is found here.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import ceil, comb

from likewise.spec.pieces import (
    PieceRange,
    PiecewisePolynomial,
    Polynomial,
    add_polynomials,
    compose_affine,
    evaluate_polynomial,
    magnitude_on,
)
from likewise.spec.similarity import Relation

Interval = tuple[Fraction, Fraction]
COEFFICIENT_BITS = 80
BOUND_TOLERANCE = 1 << (
    COEFFICIENT_BITS - 64
)  # of the size: how close bound and value come before halving ends
CHECKER_ROOM = Fraction(1, 2**60)


def curve_maximum(
    u: PiecewisePolynomial,
    v: PiecewisePolynomial,
    relation: Relation,
    here: Interval,
    there: Interval,
    *,
    whole: bool,
) -> Fraction | None:
    """A number >= u(x) + v(x') over the box, exact where pieces are linear; None where no codes are similar. Both have the same cuts."""
    first = u.parts(*here, whole=whole)
    if relation.kind == "same":
        sums = ((add_polynomials(u.polynomials[i], v.polynomials[i]), lo, hi) for i, lo, hi in first)
        return max(polynomial_maximum(*part) for part in sums)
    second = v.parts(*there, whole=whole)
    tops = [polynomial_maximum(u.polynomials[i], lo, hi) for i, lo, hi in first]
    others = [polynomial_maximum(v.polynomials[i], lo, hi) for i, lo, hi in second]
    if relation.kind == "free":
        return max(tops) + max(others)
    best, apart = None, relation.apart
    for m, n in near_parts(first, second, apart):
        if best is None or tops[m] + others[n] > best:
            found = _maximum_of_parts(u, v, first[m], second[n], apart)
            best = found if best is None else max(best, found)
    return best


def near_parts(
    first: list[PieceRange], second: list[PieceRange], apart: Interval
) -> Iterator[tuple[int, int]]:
    """Which pairs of parts may have x' - x in an interval; parts come from left to right."""
    start = 0
    for m, (_, lo, hi) in enumerate(first):
        while start < len(second) and second[start][2] < lo + apart[0]:
            start += 1
        for n in range(start, len(second)):
            if second[n][1] > hi + apart[1]:
                break
            yield m, n


def _maximum_of_parts(
    u: PiecewisePolynomial, v: PiecewisePolynomial, first: PieceRange, second: PieceRange, apart: Interval
) -> Fraction:
    """The maximum over two parts, x' - x being in an interval that it can be in."""
    (i, lo, hi), (j, low, high) = first, second
    here, there = u.polynomials[i], v.polynomials[j]
    if len(here) <= 2 and len(there) <= 2:
        corners = band_corners((lo, hi), (low, high), apart)
        return max(evaluate_polynomial(here, x) + evaluate_polynomial(there, y) for x, y in corners)
    at_u = polynomial_maximum(here, max(lo, low - apart[1]), min(hi, high - apart[0]))
    return at_u + polynomial_maximum(there, max(low, lo + apart[0]), min(high, hi + apart[1]))


def band_corners(here: Interval, there: Interval, apart: Interval) -> list[tuple[Fraction, Fraction]]:
    """Points of { x in here, x' in there, x' - x in apart } that include all its corners."""
    least, most = apart
    low, high = max(here[0], there[0] - most), min(here[1], there[1] - least)
    low2, high2 = max(there[0], low + least), min(there[1], high + most)
    if low > high or low2 > high2:
        return []
    corners = []
    for x in (low, high):
        corners += [(x, min(high2, x + most)), (x, max(low2, x + least))]
    for y in (low2, high2):
        corners += [(min(high, y - least), y), (max(low, y - most), y)]
    return corners


def polynomial_maximum(polynomial: Polynomial, lo: Fraction, hi: Fraction) -> Fraction:
    """The maximum over [lo, hi] of a linear function; of others a number above it, see the module."""
    if len(polynomial) <= 2 or lo == hi:
        return max(evaluate_polynomial(polynomial, lo), evaluate_polynomial(polynomial, hi))
    size = magnitude_on(polynomial, lo, hi)
    unit = size / 2**COEFFICIENT_BITS
    whole = [ceil(c / unit) for c in _bernstein(compose_affine(polynomial, lo, hi - lo), len(polynomial) - 1)]
    top: Fraction = _bernstein_bound(whole) * unit + CHECKER_ROOM * size
    return top


def _bernstein(polynomial: Polynomial, degree: int) -> list[Fraction]:
    """The coefficients in C(n, j) y^j (1 - y)^(n-j) of a polynomial in y, for 0 <= y <= 1."""
    return [
        sum(
            (c * Fraction(comb(j, i), comb(degree, i)) for i, c in enumerate(polynomial[: j + 1])),
            Fraction(0),
        )
        for j in range(degree + 1)
    ]


def _bernstein_bound(coefficients: list[int]) -> int:
    """A bound of the polynomial with these Bernstein coefficients, CLOSE to its maximum."""
    best = top = max(coefficients[0], coefficients[-1])
    waiting = [coefficients]
    while waiting:
        coefficients = waiting.pop()
        best = max(best, coefficients[0], coefficients[-1])
        if max(coefficients) <= best + BOUND_TOLERANCE:
            top = max(top, *coefficients)
        else:
            waiting += _halve(coefficients)
    return top


def _halve(coefficients: list[int]) -> list[list[int]]:
    """Both halves of the interval, by means of neighbours rounded up."""
    left, right = [coefficients[0]], [coefficients[-1]]
    while len(coefficients) > 1:
        coefficients = [(a + b + 1) // 2 for a, b in pairwise(coefficients)]
        left.append(coefficients[0])
        right.append(coefficients[-1])
    return [left, right[::-1]]
