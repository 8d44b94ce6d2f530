"""The exact bound that the content of an `sos` leaf gives: the rule of spec/certificate-v1.md, section 8, in rationals.

With S = a f(x) - b f(x') - T in terms of axes and V = S + sum of generator * (mu + sum of squares), S <= V at every pair
of the cell, whatever the content. V is bounded by a sum of functions of one group each. Every product of axes of
several groups, with coefficient c, goes to

    all powers even                 c/k y_i^2 for each of its k axes if c > 0, nothing if c < 0
    one odd power, of y_l           (c/2) y_l, and abs(c)/2 to the constant
    k >= 2 odd powers               abs(c)/k y_i^2 for each of these k axes

(y_f y_l, the majorant's first row, is the last one with k = 2: all hints are 0 here.) The functions of groups with places
are maximised over these; of others, y^4, y^6, ... become y^2 or 0, y^5, y^7, ... with coefficient c become (c/2) y and
abs(c)/2, and the maximum of the cubic that is left is rounded up.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from flint import fmpq, fmpz, fmpz_mat

from likewise.errors import InternalError
from likewise.families.polynomial.sos.cube import (
    Cube,
    Generator,
    Generators,
    Group,
    Monomial,
    Polynomial,
    graded_monomials,
    linear_combination,
    multiply,
    value_at,
)

SquareCoefficients = tuple[int, ...]
Way = Fraction | tuple[Fraction, ...]

# Maximisers of cubics are rounded to multiples of 2^-96; the loss is of the square of that.
PLACE_BITS = 96


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """generator * (mu 2^-(2 bits) + squares): squares in units of 2^-bits of the monomials in graded order."""

    generator: Generator
    mu: int
    squares: tuple[SquareCoefficients, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What an `sos` leaf says: the way, a number or (for a decision) one more than axes, and the blocks."""

    way: Way
    bits: int
    blocks: tuple[Block, ...]


def exact_bound(content: Content, excess: Polynomial, cube: Cube) -> fmpq:
    """An upper bound of S = `excess` over the pairs of the cell. True for any content with mu >= 0."""
    return bound_polynomial(add_squares(content, excess, cube), cube)


def excess_of(
    first: Polynomial, second: Polynomial, a: Polynomial, b: Polynomial, threshold: fmpq
) -> Polynomial:
    """S = a first - b second - threshold."""
    return linear_combination(
        [(fmpq(1), multiply(a, first)), (fmpq(-1), multiply(b, second)), (fmpq(-1), {(): threshold})]
    )


def add_squares(content: Content, excess: Polynomial, cube: Cube) -> Polynomial:
    """V = S + sum of generator * (mu + sum of squares)."""
    if any(block.mu < 0 for block in content.blocks):
        raise InternalError("a multiplier below zero proves nothing")
    total = dict(excess)
    unit = fmpq(1, 4**content.bits)
    generators = Generators(cube)
    basis: list[Monomial] = []
    for block in content.blocks:
        longest = max((len(square) for square in block.squares), default=0)
        if longest > len(basis):
            basis = _basis(cube.dimension, longest)
        inner = _sum_squares(block.squares, basis[:longest])
        inner[()] = inner.get((), fmpz(0)) + block.mu
        for one, factor in generators(block.generator).items():
            factor *= unit
            for two, value in inner.items():
                monomial = tuple(sorted(one + two)) if one else two
                total[monomial] = total.get(monomial, 0) + factor * value
    return total


def _basis(dimension: int, length: int) -> list[Monomial]:
    degree = 0
    while len(basis := graded_monomials(dimension, degree)) < length:
        degree += 1
    return basis


def _sum_squares(squares: tuple[SquareCoefficients, ...], basis: list[Monomial]) -> dict[Monomial, fmpz]:
    """The sum of squares, multiplied out: the entries of M^T M, M with one row a square."""
    zero = fmpz(0)
    total: dict[Monomial, fmpz] = {}
    if not squares:
        return total
    width = len(basis)
    rows = fmpz_mat([[*square, *(0,) * (width - len(square))] for square in squares])
    entries = (rows.transpose() * rows).entries()
    for i, one in enumerate(basis):
        start = i * width
        for j in range(i, width):
            monomial = tuple(sorted(one + basis[j]))
            entry = entries[start + j]
            total[monomial] = total.get(monomial, zero) + (entry if i == j else entry + entry)
    return total


def bound_polynomial(terms: Polynomial, cube: Cube) -> fmpq:
    """An upper bound of a polynomial over the cube (over its places): the maximum of its separable majorant."""
    constant, own = _separate_groups(terms, cube)
    return sum((_group_maximum(group, part) for group, part in zip(cube.groups, own, strict=True)), constant)


def _separate_groups(terms: Polynomial, cube: Cube) -> tuple[fmpq, list[Polynomial]]:
    """A constant and one function a group, whose sum is at least the polynomial."""
    group_of = {axis: k for k, group in enumerate(cube.groups) for axis in group.axes}
    constant = fmpq(0)
    own: list[Polynomial] = [{} for _ in cube.groups]

    def add(monomial: Monomial, value: fmpq) -> None:
        part = own[group_of[monomial[0]]]
        part[monomial] = part.get(monomial, 0) + value

    for monomial, value in terms.items():
        if not monomial:
            constant += value
        elif len({group_of[axis] for axis in monomial}) == 1:
            add(monomial, value)
        elif value != 0:
            odd = [axis for axis, power in Counter(monomial).items() if power % 2]
            if len(odd) == 1:
                add((odd[0],), value / 2)
                constant += abs(value) / 2
            elif odd or value > 0:
                axes = odd or sorted(set(monomial))
                for axis in axes:
                    add((axis, axis), abs(value) / len(axes))
    return constant, own


def _group_maximum(group: Group, part: Polynomial) -> fmpq:
    if not part:
        return fmpq(0)
    if group.places is not None:
        within = {
            tuple(group.axes.index(axis) for axis in monomial): value for monomial, value in part.items()
        }
        return max(value_at(within, place) for place in group.places)
    constant = fmpq(0)
    cubic = [fmpq(0)] * 4
    for monomial, value in part.items():
        power = len(monomial)
        if power <= 3:
            cubic[power] += value
        elif power % 2 == 0:
            cubic[2] += max(value, fmpq(0))
        else:
            cubic[1] += value / 2
            constant += abs(value) / 2
    return constant + cubic_maximum(*cubic[1:])


def cubic_maximum(n1: fmpq, n2: fmpq, n3: fmpq) -> fmpq:
    """An upper bound of max over abs(y) <= 1 of p = n1 y + n2 y^2 + n3 y^3, exact if n3 = 0.

    As y and -y may be exchanged, n3 < 0: p has at most one local maximum, to the right of its inflection, where it is
    concave and so below its tangent at any r: p <= p(r) + 2 abs(p'(r)). Elsewhere p is largest at an end.
    """
    ends = n2 + abs(n1 + n3)
    if n3 == 0:
        inside = n2 < 0 and abs(n1) < -2 * n2
        return -n1 * n1 / (4 * n2) if inside else ends
    if n3 > 0:
        n1, n3 = -n1, -n3
    top = _local_maximum(n1, n2, n3)
    if top is None:
        return ends
    height = top * (n1 + top * (n2 + top * n3))
    slope = n1 + top * (2 * n2 + 3 * top * n3)
    return max(ends, height + 2 * abs(slope))


def _local_maximum(n1: fmpq, n2: fmpq, n3: fmpq) -> fmpq | None:
    """Where p (n3 < 0) has its local maximum, nearly, and p'' <= 0; None if that is not inside of (-1, 1).

    p' = 0 > p'' at -(n2 + root)/(3 n3) = n1/(root - n2), root^2 = n2^2 - 3 n1 n3; the second form loses no digits
    if n2 <= 0, the first if n2 > 0.
    """
    squared = n2 * n2 - 3 * n1 * n3
    beyond = n1 + 2 * n2 + 3 * n3 >= 0 or n2 + 3 * n3 >= 0
    before = n1 - 2 * n2 + 3 * n3 <= 0 and n2 - 3 * n3 <= 0
    if squared <= 0 or beyond or before:
        return None
    root = _square_root(squared)
    nearly = -(n2 + root) / (3 * n3) if n2 > 0 else n1 / (root - n2)
    rounded = fmpq((nearly * 2**PLACE_BITS).floor(), 2**PLACE_BITS)
    inflection = -n2 / (3 * n3)
    return min(max(rounded, inflection, fmpq(-1)), fmpq(1))


def _square_root(value: fmpq) -> fmpq:
    """The square root, rounded to more than 128 significant bits."""
    whole = int(value.p) * int(value.q)
    shift = max(0, 128 + PLACE_BITS - whole.bit_length() // 2)
    return fmpq(isqrt(whole << (2 * shift)), int(value.q) << shift)
