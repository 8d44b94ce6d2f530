"""Tables: both copies of a polynomial score in the t's of the coordinates, and what the compiled bound runs on.

The change of variables is exact and done column by column; only its result is rounded to float64. Monomials
are tuples of coordinates in order, repeated for powers. The set of them is closed under leaving one out, so
that a polynomial is moved to the middle m of a cell in place, one coordinate after another: by Horner's rule,

    for k = 0, 1, ..., p - 1:   for j = p - 1, ..., k:   c_j += m c_(j+1)

turns the coefficients c_0, ..., c_p of t into those of t - m. `shifts` lists these steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from flint import fmpq

from likewise.families.coordinates import ColumnMap, Coordinates
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.polynomial.body import PolynomialSum

    Floats = NDArray[np.float64]
    Indices = NDArray[np.int64]

Monomial = tuple[int, ...]
Polynomial = dict[Monomial, fmpq]
CONSTANT, INSIDE, PAIR, EVEN, ONE_ODD, ODD = range(6)  # how the certificate's rule bounds a monomial


class Tables(NamedTuple):
    """Arrays of the compiled bound. Monomials come degree by degree, the constant first."""

    first: Floats  # coefficients of f(x) and of f(x')
    second: Floats
    parent: Indices  # a monomial is its parent times the coordinate `last`
    last: Indices
    shift_start: Indices  # steps of coordinate i: shift_start[i] to shift_start[i + 1]
    shift_to: Indices
    shift_from: Indices
    sort: Indices  # CONSTANT, ...
    axis_start: Indices  # the distinct coordinates of a monomial, and their powers
    axis: Indices
    power: Indices
    group_start: Indices  # the coordinates of group g
    inside_start: Indices  # the monomials inside group g
    inside: Indices
    level_start: Indices  # where the t's of a levels coordinate stand in `levels`; -1 for numbers
    levels: Floats


def make_tables(body: PolynomialSum, coordinates: Coordinates, second: PolynomialSum | None = None) -> Tables:
    """Both copies over one set of monomials; x' has the score `second`, if that is another one."""
    bodies = (body, body if second is None else second)
    copies = [substitute_columns(part, maps) for part, maps in zip(bodies, coordinates.maps, strict=True)]
    monomials = sorted(divisor_closure(chain(*copies)), key=lambda m: (len(m), m))
    place = {monomial: i for i, monomial in enumerate(monomials)}
    group_of = [coordinate.group for coordinate in coordinates.all]
    powers = [sorted(Counter(m).items()) for m in monomials]
    sort = [monomial_kind(m, group_of) for m in monomials]
    inside = [
        [n for n, m in enumerate(monomials) if sort[n] == INSIDE and group_of[m[0]] == g]
        for g in range(coordinates.groups)
    ]
    shifts = [_shifts(monomials, place, i) for i in range(len(group_of))]
    levels = [[_to_coordinate(value, c.middle, c.reach) for value in c.table] for c in coordinates.all]
    starts = _starts(levels)
    return Tables(
        first=_coefficients(copies[0], monomials),
        second=_coefficients(copies[1], monomials),
        parent=_indices(place[m[:-1]] for m in monomials),
        last=_indices(m[-1] if m else 0 for m in monomials),
        shift_start=_starts(shifts),
        shift_to=_indices(to for steps in shifts for to, _ in steps),
        shift_from=_indices(source for steps in shifts for _, source in steps),
        sort=_indices(sort),
        axis_start=_starts(powers),
        axis=_indices(i for parts in powers for i, _ in parts),
        power=_indices(p for parts in powers for _, p in parts),
        group_start=_indices(np.searchsorted(group_of, range(coordinates.groups + 1)).tolist()),
        inside_start=_starts(inside),
        inside=_indices(chain(*inside)),
        level_start=_indices(s if table else -1 for s, table in zip(starts, levels, strict=False)),
        levels=np.array([*chain(*levels)], dtype=np.float64),
    )


def substitute_columns(body: PolynomialSum, maps: tuple[ColumnMap, ...]) -> Polynomial:
    """The score of one copy as a polynomial in the t's: each column replaced by its affine function of them.

    While this goes on, keys hold columns c as c - len(maps) < 0, which sort before all coordinates."""
    count = len(maps)
    terms: Polynomial = {
        tuple(c - count for c in product): _rational(value)
        for value, product in zip(body.coefficients, body.products, strict=True)
    }
    for column, (constant, parts) in enumerate(maps):
        affine: Polynomial = {(): _rational(constant)} | {(i,): _rational(factor) for i, factor in parts}
        powers: list[Polynomial] = [{(): fmpq(1)}]
        done: Polynomial = {}
        for key, value in terms.items():
            power = key.count(column - count)
            while len(powers) <= power:
                powers.append(_multiply(powers[-1], affine))
            for factor, weight in powers[power].items():
                product = tuple(sorted(key[power:] + factor)) if power else key
                done[product] = done.get(product, 0) + weight * value
        terms = done
    return {key: value for key, value in terms.items() if value != 0}


def divisor_closure(monomials: Iterable[Monomial]) -> set[Monomial]:
    """These and all that come of leaving factors out."""
    found: set[Monomial] = {()}
    waiting = list(monomials)
    while waiting:
        monomial = waiting.pop()
        if monomial not in found:
            found.add(monomial)
            waiting += [monomial[:n] + monomial[n + 1 :] for n in range(len(monomial))]
    return found


def monomial_kind(monomial: Monomial, group_of: list[int]) -> int:
    """Which line of the certificate's table bounds a monomial."""
    groups = {group_of[i] for i in monomial}
    if len(groups) <= 1:
        return INSIDE if monomial else CONSTANT
    if len(monomial) == 2:
        return PAIR
    odd = sum(power % 2 for power in Counter(monomial).values())
    return (EVEN, ONE_ODD)[odd] if odd < 2 else ODD


def _multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    product: Polynomial = {}
    for a, x in left.items():
        for b, y in right.items():
            key = tuple(sorted(a + b))
            product[key] = product.get(key, 0) + x * y
    return product


def _shifts(monomials: list[Monomial], place: dict[Monomial, int], i: int) -> list[tuple[int, int]]:
    """Horner's steps (to, from) of coordinate i for all monomials at once."""
    steps = []
    for monomial in monomials:
        power = monomial.count(i)
        if not power or tuple(sorted((*monomial, i))) in place:
            continue  # a higher power of the same product does it
        rest = tuple(c for c in monomial if c != i)
        line = [place[tuple(sorted(rest + (i,) * p))] for p in range(power + 1)]
        steps += [(line[j], line[j + 1]) for k in range(power) for j in range(power - 1, k - 1, -1)]
    return steps


def _rational(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def _coefficients(polynomial: Polynomial, monomials: list[Monomial]) -> Floats:
    return np.array([_double(polynomial[m]) if m in polynomial else 0.0 for m in monomials])


def _double(value: fmpq) -> float:
    return nearest_double(Fraction(int(value.p), int(value.q)))


def _to_coordinate(value: Fraction, middle: Fraction, reach: Fraction) -> float:
    return nearest_double((value - middle) / reach)


def _indices(values: Iterable[int]) -> Indices:
    return np.array([*values], dtype=np.int64)


def _starts(parts: Sequence[Sequence[object]]) -> Indices:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])]).astype(np.int64)
