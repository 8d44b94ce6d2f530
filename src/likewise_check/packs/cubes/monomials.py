"""Polynomials in the axes of a cell, with int coefficients: the arithmetic of the rules `polynomial` and `sos`.

A monomial is the tuple of its axes, non-decreasing, repeated for powers; a polynomial maps monomials to ints, in a unit that its user knows.
Work and numbers are limited, so that a hostile file can cost time, but not without end: MOST_PRODUCTS products of two coefficients a leaf, LONGEST bits a number.
"""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from itertools import combinations_with_replacement
from math import lcm
from typing import TypeAlias

from likewise_check.core.cells import LeafRefused

MOST_PRODUCTS = 1 << 24
LONGEST_INT = 1 << 16

Monomial: TypeAlias = tuple[int, ...]
Poly: TypeAlias = dict[Monomial, int]


class Budget:
    """The products that a leaf has left."""

    def __init__(self) -> None:
        self._left = MOST_PRODUCTS

    def spend(self, products: int) -> None:
        """Takes so many, before they are done."""
        self._left -= products
        if self._left < 0:
            raise LeafRefused(f"the leaf takes more than {MOST_PRODUCTS} products of coefficients")


def add_product(total: Poly, p: Poly, q: Poly, budget: Budget) -> None:
    """total += p * q."""
    budget.spend(len(p) * len(q))
    for m, c in p.items():
        for n, d in q.items():
            key = tuple(sorted(m + n)) if m and n and n[0] < m[-1] else m + n
            total[key] = total.get(key, 0) + c * d


def multiply(p: Poly, q: Poly, budget: Budget) -> Poly:
    """p * q."""
    total: Poly = {}
    add_product(total, p, q, budget)
    return total


def common_denominator(values: Iterable[Fraction]) -> int:
    """The least positive int that makes all values whole."""
    return common_multiple(value.denominator for value in values)


def common_multiple(values: Iterable[int]) -> int:
    """The least common multiple of positive ints, refused if it is too long."""
    found = 1
    for value in values:
        if found % value:
            found = lcm(found, value)
            check_length(found.bit_length())
    return found


def check_length(bits: int) -> None:
    """Refuses numbers that are too long."""
    if bits > LONGEST_INT:
        raise LeafRefused(f"exact arithmetic takes numbers of more than {LONGEST_INT} bits")


def graded_monomials(axes: int, degree: int) -> Iterator[Monomial]:
    """All monomials up to this degree, in graded order."""
    for d in range(degree + 1):
        yield from combinations_with_replacement(range(axes), d)
