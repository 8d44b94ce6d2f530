"""Maxima of one feature in pieces, exactly: u(x) + v(x') over a box, u and v polynomials on each piece.

    same      u + v on each piece met
    free      u and v by themselves
    within t  over the pairs of pieces at most t apart: at the corners of the polygon where both are linear, else
              the maximum of u plus that of v, each on its part cut off at distance t from the other

(rule `separable` of a certificate). A polynomial of degree n >= 2 lies below its largest Bernstein coefficient,
meets the first and the last one at the ends, and halving the interval brings them together. Coefficients are whole
numbers in units of size / 2^BITS, rounded up. A checker may bound such a maximum otherwise, by up to 2^-60 of its
size, which is the specification's: as much is added, so that it finds no more than is found here.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from math import comb, lcm

from likewise.clock import check_clock
from likewise.spec.pieces import (
    PieceRange,
    PiecewisePolynomial,
    Polynomial,
    add_polynomials,
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
    check_clock()
    tops = [polynomial_maximum(u.polynomials[i], lo, hi) for i, lo, hi in first]
    others = [polynomial_maximum(v.polynomials[i], lo, hi) for i, lo, hi in second]
    if relation.kind == "free":
        return max(tops) + max(others)
    best, apart = None, relation.apart
    for m, near in _highest_first(tops, others, near_parts(first, second, apart)):
        if best is not None and tops[m] + others[near[0]] <= best:
            break
        check_clock()
        for n in near:
            if best is not None and tops[m] + others[n] <= best:
                break
            found = _maximum_of_parts(u, v, first[m], second[n], apart)
            best = found if best is None else max(best, found)
    return best


def near_parts(first: list[PieceRange], second: list[PieceRange], apart: Interval) -> list[range]:
    """Of each part the others for which x' - x may be in an interval; parts come from left to right."""
    starts, ends = [lo for _, lo, _ in second], [hi for _, _, hi in second]
    return [
        range(bisect_left(ends, lo + apart[0]), bisect_right(starts, hi + apart[1])) for _, lo, hi in first
    ]


def _highest_first(
    tops: list[Fraction], others: list[Fraction], near: list[range]
) -> Iterator[tuple[int, list[int]]]:
    """Parts with those that they are paired with, from the largest sum down: few of them are looked at. Fractions are compared once, and their ranks from then on."""
    order = sorted(range(len(others)), key=others.__getitem__)
    ranks = [0] * len(others)
    for rank, n in enumerate(order):
        ranks[n] = rank
    paired = [(tops[m] + others[order[max(ranks[ns.start : ns.stop])]], m) for m, ns in enumerate(near) if ns]
    for _, m in sorted(paired, reverse=True):
        yield m, sorted(near[m], key=ranks.__getitem__, reverse=True)


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
    moved, over = _changed_variable(polynomial, lo, hi)
    size = min(magnitude_on(polynomial, lo, hi), Fraction(sum(map(abs, moved)), over))
    unit = size / 2**COEFFICIENT_BITS
    top: Fraction = _bernstein_bound(_bernstein(moved, over, unit)) * unit + CHECKER_ROOM * size
    return top


def _changed_variable(polynomial: Polynomial, lo: Fraction, hi: Fraction) -> tuple[list[int], int]:
    """The coefficients of the polynomial in y, x = lo + (hi - lo) y, all over one denominator, so that nothing is ever cancelled."""
    n = len(polynomial) - 1
    by, over = lcm(lo.denominator, hi.denominator), lcm(*(c.denominator for c in polynomial))
    start, width = int(lo * by), int((hi - lo) * by)
    whole = [c.numerator * (over // c.denominator) * by ** (n - i) for i, c in enumerate(polynomial)]
    moved = [
        width**j * sum(whole[i] * comb(i, j) * start ** (i - j) for i in range(j, n + 1))
        for j in range(n + 1)
    ]
    return moved, over * by**n


def _bernstein(moved: list[int], over: int, unit: Fraction) -> list[int]:
    """The coefficients in C(n, j) y^j (1 - y)^(n-j) of a polynomial in y, for 0 <= y <= 1, in units, rounded up."""
    n = len(moved) - 1
    shares = lcm(*(comb(n, i) for i in range(n + 1)))
    below = shares * over * unit.numerator
    sums = (sum(moved[i] * comb(j, i) * (shares // comb(n, i)) for i in range(j + 1)) for j in range(n + 1))
    return [-(-one * unit.denominator // below) for one in sums]


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
