"""Polynomials of one number, c_0 + c_1 x + c_2 x^2 + ..., and a rigorous bound of their maximum over an interval (section 4).

A polynomial of degree 1 is largest at an end. One of degree n >= 2 is brought to z from 0 to 1, x = lo + (hi - lo) z, and its coefficients are rounded up to
ints p_i in units of size / 2^BITS, size being the smaller one of sum |c_i| m^i, m = max(|lo|, |hi|), and of the sum of the absolute coefficients in z: as z >= 0, that only raises it. From there on all is exact, on the grid of the z = j / 2^GRID.

*Where it turns.* `sign_changes` returns intervals between neighbouring places of the grid such that p' keeps its sign between them. p'' keeps its sign outside its own such intervals, so
p' is monotone from one of them to the next: it changes sign there at most once, between two neighbours that halving finds. Inside the intervals of p'' nothing is known, so
they are kept. (For p' of degree 1 there are none, and the one change is found by division.)

*The bound.* p is monotone outside its turns, so it is largest at a place where one of them ends, at 0 or at 1, or inside of one; there it is at most its value at the nearer end plus
half a step of the grid times sum i |p_i| >= |p'|. That sum is at most n times the second size; as hi - lo <= 2 m, |p_i| <= 2^i C(n, i) times the first one, so that it is at most 2 n 3^(n-1) < 2^10 of that for n <= 5: the bound exceeds
the maximum by less than 2^(9 - GRID) size for that, and by n + 3 units for all rounding.
"""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TypeAlias

from likewise_check.core.numbers import Exact, int_if_whole

BITS = 80
GRID = 72

Poly: TypeAlias = tuple[Exact, ...]  # c_0, c_1, ...: the last one is not 0
Turn: TypeAlias = tuple[int, int]  # from one place of the grid to the same or the next


def evaluate_polynomial(poly: Poly, x: Exact) -> Exact:
    """c_0 + c_1 x + c_2 x^2 + ..."""
    total: Exact = 0
    for c in reversed(poly):
        total = total * x + c
    return total


def magnitude_on(poly: Poly, lo: Exact, hi: Exact) -> Exact:
    """|c_0| + |c_1| m + |c_2| m^2 + ..., m the larger one of |lo| and |hi|."""
    return evaluate_polynomial(tuple(max(c, -c) for c in poly), max(hi, -lo))


def trim_zeros(poly: Iterable[Exact]) -> Poly:
    """The same polynomial without coefficients that are 0 at its end."""
    coefficients = list(poly)
    while coefficients and coefficients[-1] == 0:
        coefficients.pop()
    return tuple(coefficients)


def poly_maximum(poly: Poly, lo: Exact, hi: Exact) -> Exact:
    """A number >= the polynomial on [lo, hi]: its maximum if it is linear, or more by less than 2^-60 of its size."""
    if len(poly) <= 2 or lo == hi:
        return max(evaluate_polynomial(poly, lo), evaluate_polynomial(poly, hi))
    changed = _change_variable(poly, lo, hi - lo)
    size = min(magnitude_on(poly, lo, hi), sum(max(c, -c) for c in changed))
    unit = Fraction(size) / (1 << BITS)
    p = [int(-(-c // unit)) for c in changed]
    slope = [i * c for i, c in enumerate(p)][1:]
    top = max(p[0], sum(p))  # at the ends
    room = (sum(map(abs, slope)) >> GRID + 1) + 1  # half a step at the largest slope
    for start, end in sign_changes(slope):
        at_turn = max(_scaled_at(p, start), _scaled_at(p, end))
        top = max(top, -(-at_turn >> (len(p) - 1) * GRID) + (room if start < end else 0))
    return int_if_whole(top * unit)


def _change_variable(poly: Poly, lo: Exact, width: Exact) -> list[Exact]:
    """The coefficients of the polynomial in z, x = lo + width z, by dividing by x - lo again and again."""
    rest, found = list(poly), list[Exact]()
    power: Exact = 1
    while rest:
        for i in reversed(range(len(rest) - 1)):
            rest[i] += lo * rest[i + 1]
        found.append(rest.pop(0) * power)
        power *= width
    return found


def _scaled_at(p: Sequence[int], place: int) -> int:
    """p(place / 2^GRID) times 2^(GRID * degree)."""
    total = shift = 0
    for c in reversed(p):
        total = total * place + (c << shift)
        shift += GRID
    return total


def sign_changes(p: Sequence[int]) -> list[Turn]:
    """Intervals of the grid, in order and without common inner places, outside of which p does not change its sign on [0, 1]."""
    if len(p) <= 1:
        return []
    if len(p) == 2:
        place, rest = divmod(-p[0] << GRID, p[1]) if p[1] else (-1, 0)
        return [(place, place + (rest != 0))] if 0 <= place < 1 << GRID else []
    inner = sign_changes([i * c for i, c in enumerate(p)][1:])
    found: list[Turn] = []
    for (_, start), (end, _) in pairwise([(0, 0), *inner, (1 << GRID, 1 << GRID)]):
        found += _find_sign_change(p, start, end)
    return sorted([*found, *inner])


def _find_sign_change(p: Sequence[int], start: int, end: int) -> list[Turn]:
    """Between which neighbours p, monotone from start to end, changes its sign, if it does."""
    rising = _scaled_at(p, start) < 0
    if start >= end or rising == (_scaled_at(p, end) < 0):
        return []
    while end - start > 1:
        middle = (start + end) // 2
        if (_scaled_at(p, middle) < 0) == rising:
            start = middle
        else:
            end = middle
    return [(start, end)]
