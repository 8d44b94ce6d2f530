"""The separable majorant of section 8: a polynomial in the axes is at most a sum of functions of one group each, whose maxima add up.

A product c y^p of several groups is replaced by squares and linear terms of its axes (the table of section 8), exactly: in a unit that is a multiple of
2^13 lcm(1, ..., degree), every division comes out even. A function of a group with places is evaluated there. One of a single axis without
places becomes a cubic in the same manner, and its maximum over |y| <= 1 is rounded up by less than 2^-60 of its coefficients.
"""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from math import lcm, prod

from likewise_check.core.bound import sum_maxima
from likewise_check.packs.axes import cubic_maximum
from likewise_check.packs.cubes.cube import Cube, Group
from likewise_check.packs.cubes.monomials import Budget, Monomial, Poly, check_length

HINT_UNIT = 64
_FINE = 64  # bits that the coefficients of a cubic have, at least


def upper_bound(poly: Poly, cube: Cube, hints: Sequence[int], budget: Budget) -> Fraction:
    """A number >= poly at every pair of the cube; the hints are one an axis."""
    finer = lcm(*range(1, max(map(len, poly), default=0) + 1)) << 13
    majorant = _Majorant(cube)
    for monomial, c in poly.items():
        if c:
            majorant.take(monomial, c * finer, hints)
    by_group = zip(majorant.functions, cube.groups, strict=True)
    total = sum_maxima(majorant.constant, (_maximum(function, group, budget) for function, group in by_group))
    return Fraction(total) / finer


class _Majorant:
    """constant + the functions of the groups, so far."""

    def __init__(self, cube: Cube) -> None:
        self.constant = 0
        self.functions: list[Poly] = [{} for _ in cube.groups]
        self._group = [g for g, group in enumerate(cube.groups) for _ in range(group.axes)]

    def take(self, monomial: Monomial, c: int, hints: Sequence[int]) -> None:
        """Adds a majorant of c times a product of axes."""
        if not monomial:
            self.constant += c
        elif len({self._group[i] for i in monomial}) == 1:
            self._add(monomial, c)
        elif len(monomial) == 2:
            self._take_pair(*monomial, c, hints)
        else:
            self._take_product(monomial, c)

    def _add(self, monomial: Monomial, c: int) -> None:
        function = self.functions[self._group[monomial[0]]]
        function[monomial] = function.get(monomial, 0) + c

    def _take_pair(self, f: int, g: int, c: int, hints: Sequence[int]) -> None:
        size, sign = abs(c), 1 if c >= 0 else -1
        tau = hints[f] - sign * hints[g]  # in units of 1/64
        self._add((f, f), size // 2)
        self._add((g, g), size // 2)
        if tau:
            self._add((f,), -size * tau // HINT_UNIT)
            self._add((g,), size * sign * tau // HINT_UNIT)
            self.constant += size * tau * tau // (2 * HINT_UNIT**2)

    def _take_product(self, monomial: Monomial, c: int) -> None:
        powers = Counter(monomial)
        odd = [i for i, power in powers.items() if power % 2]
        if len(odd) == 1:
            self._add((odd[0],), c // 2)
            self.constant += abs(c) // 2
        elif odd or c > 0:
            spread = odd or list(powers)
            for i in spread:
                self._add((i, i), abs(c) // len(spread))


def _maximum(function: Poly, group: Group, budget: Budget) -> Fraction | int:
    """A number >= the function at the group's places, or for all |y| <= 1."""
    if not function:
        return 0
    if group.places is None:
        return _cubic_bound(function)
    degree = max(map(len, function))
    budget.spend(len(function) * len(group.places))
    check_length(degree * group.unit.bit_length())
    terms = [
        (c * group.unit ** (degree - len(m)), tuple(i - group.start for i in m)) for m, c in function.items()
    ]
    best = max(sum(c * prod([y[i] for i in m]) for c, m in terms) for y in group.places)
    return Fraction(best, group.unit**degree)


def _cubic_bound(function: Poly) -> Fraction:
    constant, n = 0, [0, 0, 0, 0]
    for monomial, c in function.items():
        power = len(monomial)
        if power <= 3:
            n[power] += c
        elif power % 2:
            n[1] += c // 2
            constant += abs(c) // 2
        else:
            n[2] += max(c, 0)
    shift = max(0, _FINE - sum(map(abs, n)).bit_length())
    return constant + Fraction(cubic_maximum(*(c << shift for c in n[1:])), 1 << shift)
