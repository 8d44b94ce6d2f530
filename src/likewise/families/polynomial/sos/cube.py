"""The cube of a cell: its axes y_i in [-1, 1], which of them depend on one code, and what is nonnegative there.

A polynomial is a dict from monomials to exact rationals; a monomial is the sorted tuple of its axes, repeated for
powers: {(): 1, (0, 0): -1} is 1 - y_0^2. A *group* is a set of axes that depend on one code; where that code is one of
few, the values of its axes that occur are its *places*. Factors are nonnegative at every pair of the cell
(spec/certificate-v1.md, section 8):

    i + 1 > 0         1 + y_i
    -(i + 1) < 0      1 - y_i
    (i, j), i >= 0    (y_i - c_j)(y_i - c_(j+1)), where no place of axis i lies between c_j and c_(j+1)
    (-1, j)           -h_j, a constraint h_j <= 0 put in terms of axes
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement

from flint import fmpq

from likewise.errors import InternalError

Rational = Fraction | fmpq | int
Monomial = tuple[int, ...]
Polynomial = dict[Monomial, fmpq]
Factor = int | tuple[int, int]
Generator = tuple[Factor, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Axes that depend on one code, and a row of their values for each code; None: all of abs(y) <= 1, one axis."""

    axes: tuple[int, ...]
    places: tuple[tuple[fmpq, ...], ...] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Cube:
    """Groups that share out the axes 0, 1, ..., and the constraints h_j <= 0 by their number."""

    groups: tuple[Group, ...]
    constraints: Mapping[int, Polynomial]

    def __post_init__(self) -> None:
        if sorted(axis for group in self.groups for axis in group.axes) != list(range(self.dimension)):
            raise InternalError("the groups of a cube do not share out its axes")
        if any(group.places is None and len(group.axes) != 1 for group in self.groups):
            raise InternalError("a group of several axes needs places")

    @property
    def dimension(self) -> int:
        """The number of axes."""
        return sum(len(group.axes) for group in self.groups)

    def places(self) -> list[tuple[fmpq, ...] | None]:
        """For each axis the values that occur, sorted, or None."""
        found: list[tuple[fmpq, ...] | None] = [None] * self.dimension
        for group in self.groups:
            for k, axis in enumerate(group.axes):
                if group.places is not None:
                    found[axis] = tuple(sorted({row[k] for row in group.places}))
        return found


def cube_of(
    places: Sequence[Sequence[Rational] | None],
    constraints: Mapping[int, Mapping[Monomial, Rational]] | None = None,
) -> Cube:
    """A cube whose axes are all groups by themselves, with or without places."""
    groups = []
    for axis, values in enumerate(places):
        rows = None if values is None else tuple((to_fmpq(value),) for value in values)
        groups.append(Group(axes=(axis,), places=rows))
    return Cube(
        groups=tuple(groups),
        constraints={j: to_polynomial(terms) for j, terms in (constraints or {}).items()},
    )


def to_fmpq(value: Rational) -> fmpq:
    """The same number, as python-flint's."""
    return value if isinstance(value, fmpq) else fmpq(value.numerator, value.denominator)


def to_fraction(value: fmpq) -> Fraction:
    """The same number, as Python's."""
    return Fraction(int(value.p), int(value.q))


def to_polynomial(terms: Mapping[Monomial, Rational]) -> Polynomial:
    """The same polynomial with python-flint's numbers, without zeros."""
    return {monomial: to_fmpq(value) for monomial, value in terms.items() if value != 0}


def linear_combination(parts: Iterable[tuple[fmpq, Polynomial]]) -> Polynomial:
    """The sum of factor * polynomial."""
    total: Polynomial = {}
    for factor, terms in parts:
        for monomial, value in terms.items():
            total[monomial] = total.get(monomial, 0) + factor * value
    return total


def multiply(first: Polynomial, second: Polynomial) -> Polynomial:
    """first * second."""
    total: Polynomial = {}
    for one, value in first.items():
        for two, other in second.items():
            monomial = tuple(sorted(one + two))
            total[monomial] = total.get(monomial, 0) + value * other
    return total


def value_at(terms: Polynomial, point: Sequence[fmpq]) -> fmpq:
    """The exact value at a point of the cube."""
    total = fmpq(0)
    for monomial, value in terms.items():
        for axis in monomial:
            value *= point[axis]
        total += value
    return total


def graded_monomials(dimension: int, degree: int) -> list[Monomial]:
    """All monomials up to a degree in graded order: by degree, then by indices."""
    return [
        monomial for d in range(degree + 1) for monomial in combinations_with_replacement(range(dimension), d)
    ]


class Generators:
    """Generators of one cube as polynomials: products of factors."""

    def __init__(self, cube: Cube) -> None:
        self._places = cube.places()
        self._constraints = cube.constraints

    def __call__(self, generator: Generator) -> Polynomial:
        terms: Polynomial = {(): fmpq(1)}
        for factor in generator:
            terms = multiply(terms, self._factor(factor))
        return terms

    def _factor(self, factor: Factor) -> Polynomial:
        if isinstance(factor, int):
            return {(): fmpq(1), (abs(factor) - 1,): fmpq(1 if factor > 0 else -1)}
        axis, j = factor
        if axis < 0:
            return {monomial: -value for monomial, value in self._constraints[j].items()}
        places = self._places[axis]
        if places is None:
            raise InternalError(f"axis {axis} has no places, so none to cut between")
        here, there = places[j], places[j + 1]
        return {(): here * there, (axis,): -(here + there), (axis, axis): fmpq(1)}
