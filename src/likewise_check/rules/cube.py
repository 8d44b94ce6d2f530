"""Cells as cubes (section 8): every column of either copy becomes an affine function of axes y_i, |y_i| <= 1.

    numeric, same      x = x' = m + w y
    numeric, within    x = u - d, x' = u + d, u and d each m + w y (`paired`)
    numeric, free      x = m + w y, x' = m' + w' y'
    levels             a column c = m_c + w_c y_c, for each copy, or for both if they are the same

An axis exists where w > 0. Axes that depend on one code make up a group: an axis of a numeric feature by itself, all axes of a levels feature and copy.
What is fixed by few codes has places: the values of the group's axes, as ints in units of 1 / unit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from likewise_check.cells import Box, Cell, Interval
from likewise_check.claim import Claim
from likewise_check.polynomial import Polynomial
from likewise_check.rbf import Column
from likewise_check.rules.monomials import Monomial, Poly, common_denominator, common_multiple
from likewise_check.rules.paired import coordinates
from likewise_check.space import Feature, Relation

FEW_CODES = 1024
KEPT = 1 << 18  # numbers kept between leaves; dropped beyond, which changes nothing but time

Form: TypeAlias = dict[Monomial, Fraction]  # an affine function of axes
# How the codes x and x' are made of the intervals of a numeric feature.
_MIXES = {"same": ((1,), (1,)), "within": ((1, -1), (1, 1)), "free": ((1, 0), (0, 1))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Axes, consecutive from `start`, that depend on one code; their values at its places, or None: all of |y| <= 1."""

    start: int
    axes: int
    places: tuple[tuple[int, ...], ...] | None = None
    unit: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one feature has in a box; axes are numbered from 0 within it."""

    groups: tuple[Group, ...]
    values: tuple[Form | None, ...]  # what a constraint sees of x and of x', where that is affine
    columns: tuple[tuple[Poly, ...], ...]  # of x and of x', in units of 1 / unit
    unit: int

    @property
    def axes(self) -> int:
        return sum(group.axes for group in self.groups)

    @property
    def bits(self) -> int:
        """The length of the longest number of the columns."""
        return max(
            (a.bit_length() for forms in self.columns for form in forms for a in form.values()), default=0
        )

    @property
    def size(self) -> int:
        """How many numbers it holds, about."""
        return 4 + 4 * len(self.columns[0]) + sum(g.axes * len(g.places or ()) for g in self.groups)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cube:
    """The axes of a cell, numbered feature by feature."""

    axes: int
    groups: tuple[Group, ...]
    columns: tuple[list[Poly], list[Poly]]  # of x and of x', in the order of the body, in units of 1 / unit
    unit: int
    bits: int  # no number of the columns is longer, nor is the unit
    values: list[tuple[int, tuple[Form | None, ...]]]  # by feature: its first axis, and its part's values


class Cubes:
    """Makes the cubes of one claim's cells; keeps the parts of boxes, which neighbouring cells share."""

    def __init__(self, claim: Claim, body: Polynomial) -> None:
        self._features, self._relations = claim.space.features, claim.similarity
        self._columns: list[list[tuple[int, Column]]] = [[] for _ in self._features]
        for c, (k, column) in enumerate(body.columns):
            self._columns[k].append((c, column))
        self._parts: dict[object, tuple[Part, int, int] | None] = {}
        self._kept = 0

    def cube(self, cell: Cell) -> Cube | None:
        """The cube of a cell, or None if a feature shows that it holds no pair."""
        known = [self._part(k, box) for k, box in enumerate(cell)]
        parts = [part for part in known if part]
        if len(parts) < len(known):
            return None
        unit = common_multiple(part.unit for part, _, _ in parts)
        start, bits = 0, unit.bit_length()
        found: tuple[dict[int, Poly], dict[int, Poly]] = {}, {}
        groups: list[Group] = []
        values: list[tuple[int, tuple[Form | None, ...]]] = []
        for (part, axes, longest), owned in zip(parts, self._columns, strict=True):
            factor = unit // part.unit
            bits = max(bits, longest + factor.bit_length())
            for copy, forms in zip(found, part.columns, strict=True):
                for (c, _), form in zip(owned, forms, strict=True):
                    copy[c] = {tuple(start + i for i in m): amount * factor for m, amount in form.items()}
            groups += [
                Group(start=start + g.start, axes=g.axes, places=g.places, unit=g.unit) for g in part.groups
            ]
            values.append((start, part.values))
            start += axes
        first, second = ([copy[c] for c in range(len(copy))] for copy in found)
        return Cube(
            axes=start, groups=tuple(groups), columns=(first, second), unit=unit, bits=bits, values=values
        )

    def _part(self, k: int, box: Box) -> tuple[Part, int, int] | None:
        """The part of a box, the number of its axes and the length of its numbers."""
        key = k, box.key, box.difference
        if key not in self._parts:
            if self._kept > KEPT:
                self._parts, self._kept = {}, 0
            columns = [column for _, column in self._columns[k]]
            part = _part_of(self._features[k], self._relations[k], columns, box)
            self._parts[key] = (part, part.axes, part.bits) if part else None
            self._kept += part.size if part else 1
        return self._parts[key]


def _part_of(feature: Feature, relation: Relation, columns: Sequence[Column], box: Box) -> Part | None:
    if feature.levels:
        return _levels(feature, columns, box)
    intervals = coordinates(box) if relation.kind == "within" else box.intervals
    if intervals is None:
        return None
    few = feature.discrete and relation.kind != "within"
    return _numeric(columns, intervals, _MIXES[relation.kind], few)


def _numeric(
    columns: Sequence[Column], intervals: Sequence[Interval], mixes: Sequence[Sequence[int]], few: bool
) -> Part:
    groups: list[Group] = []
    forms: list[Form] = []
    for lo, hi in intervals:
        form: Form = {(): Fraction(lo + hi) / 2}
        axis = len(groups)
        if lo < hi:
            form[axis,] = Fraction(hi - lo) / 2
            if few and hi - lo < FEW_CODES:
                codes = tuple((2 * code - int(lo + hi),) for code in range(int(lo), int(hi) + 1))
                groups.append(Group(start=axis, axes=1, places=codes, unit=int(hi - lo)))
            else:
                groups.append(Group(start=axis, axes=1))
        forms.append(form)
    codes_of = [_combined(Fraction(0), mix, forms) for mix in mixes]
    made = [[_combined(column.offset, [column.slope], [code]) for column in columns] for code in codes_of]
    return _part(groups, codes_of, made)


def _combined(constant: Fraction, factors: Sequence[Fraction | int], forms: Sequence[Form]) -> Form:
    """constant + sum of factor * form."""
    total: Form = {(): constant}
    for factor, form in zip(factors, forms, strict=True):
        for m, amount in form.items():
            total[m] = total.get(m, Fraction(0)) + factor * amount
    return total


def _levels(feature: Feature, columns: Sequence[Column], box: Box) -> Part:
    groups: list[Group] = []
    values: list[Form | None] = []
    made: list[list[Form]] = []
    start = 0
    for lo, hi in box.intervals:
        positions = range(int(lo), int(hi) + 1)
        forms: list[Form] = []
        heights: list[list[Fraction]] = []
        for column in columns:
            entries = [column.at(position) for position in positions]
            low, high = min(entries), max(entries)
            m, w = (low + high) / 2, (high - low) / 2
            forms.append({(): m, (start + len(heights),): w} if w else {(): m})
            if w:
                heights.append([(entry - m) / w for entry in entries])
        if heights:
            unit = common_denominator(y for row in heights for y in row)
            rows = ([int(y * unit) for y in row] for row in heights)
            places = tuple(dict.fromkeys(zip(*rows, strict=True)))
            groups.append(Group(start=start, axes=len(heights), places=places, unit=unit))
        start += len(heights)
        made.append(forms)
        values.append({(): feature.value(Fraction(lo))} if lo == hi else None)
    copies = 2 // len(made)  # one list serves both copies of a feature that is the same
    return _part(groups, values * copies, made * copies)


def _part(groups: list[Group], values: Sequence[Form | None], made: list[list[Form]]) -> Part:
    unit = common_denominator(amount for forms in made for form in forms for amount in form.values())
    columns = tuple(
        tuple({m: int(amount * unit) for m, amount in form.items() if amount} for form in forms)
        for forms in made
    )
    return Part(groups=tuple(groups), values=tuple(values), columns=columns, unit=unit)
