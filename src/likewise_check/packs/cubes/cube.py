"""Cells as cubes (section 8): every column of either copy becomes an affine function of axes y_i, |y_i| <= 1.

    numeric, same      x = x' = m + w y
    numeric, within    x = u - d, x' = u + d, u and d each m + w y (`paired`)
    numeric, free      x = m + w y, x' = m' + w' y'
    levels             a column c = m_c + w_c y_c, for each copy, or for both if they are the same

    in pieces          after those of its feature: what a line does not have of a column, or all of it (`curves`, section 23)

An axis exists where w > 0. Axes that depend on one code make up a group: an axis of a numeric feature by itself, all axes of a levels feature and copy.
What is fixed by few codes has places: the values of the group's axes, as ints in units of 1 / unit.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from likewise_check.core.cells import Box, Cell, Interval
from likewise_check.core.lemma import Lemma
from likewise_check.core.space import Feature, Relation
from likewise_check.packs.axes import Column, coordinates, differences
from likewise_check.packs.cubes.curves import Curve, line_on, meeting_codes, range_on
from likewise_check.packs.cubes.monomials import Monomial, Poly, common_denominator, common_multiple

FEW_CODES = 1024
MOST_KEPT = 1 << 18  # numbers kept between leaves; dropped beyond, which changes nothing but time

Form: TypeAlias = dict[Monomial, Fraction]  # an affine function of axes
# How the codes x and x' are made of the intervals of a numeric feature.
_MIXES = {
    "same": ((1,), (1,)),
    "within": ((1, -1), (1, 1)),
    "between": ((1, -1), (1, 1)),
    "free": ((1, 0), (0, 1)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Axes, consecutive from `start`, that depend on one code; their values at its places, or None: all of |y| <= 1."""

    start: int
    axes: int
    places: tuple[tuple[int, ...], ...] | None = None
    unit: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one feature has in a box."""

    groups: list[Group]
    values: list[Form | None]  # x and x', where they are affine: numbers, and levels that are fixed
    columns: list[list[Poly]]  # of x and of x', in units of 1 / unit
    unit: int
    bits: int  # no number of the columns is longer


@dataclass(frozen=True, slots=True, kw_only=True)
class Cube:
    """The axes of a cell, numbered feature by feature."""

    axes: int
    groups: list[Group]
    columns: list[dict[int, Poly]]  # of x and of x', in units of 1 / unit
    unit: int
    bits: int  # no number of the columns is longer, nor is the unit
    values: list[list[Form | None]]  # by feature


class Cubes:
    """Makes the cubes of one lemma's cells; keeps the parts of boxes, which neighbouring cells share."""

    def __init__(self, lemma: Lemma, columns: Sequence[tuple[int, Column | Curve]]) -> None:
        self._features, self._relations = lemma.space.features, lemma.similarity
        self._columns: list[dict[int, Column | Curve]] = [{} for _ in self._features]
        for c, (k, column) in enumerate(columns):
            self._columns[k][c] = column
        self._parts: dict[object, Part | None] = {}
        self._kept = 0

    def cube(self, cell: Cell) -> Cube | None:
        """The cube of a cell, or None if a feature shows that it holds no pair."""
        parts: list[Part] = []
        axes = 0
        for k, box in enumerate(cell):
            part = self._part(k, box, axes)
            if part is None:
                return None
            parts.append(part)
            axes += sum(group.axes for group in part.groups)
        unit = common_multiple(part.unit for part in parts)
        columns: list[dict[int, Poly]] = [{}, {}]
        for part, owned in zip(parts, self._columns, strict=True):
            factor = unit // part.unit
            for copy, forms in zip(columns, part.columns, strict=True):
                for c, form in zip(owned, forms, strict=True):
                    copy[c] = {m: amount * factor for m, amount in form.items()}
        return Cube(
            axes=axes,
            groups=[group for part in parts for group in part.groups],
            columns=columns,
            unit=unit,
            bits=unit.bit_length() + max(part.bits for part in parts),
            values=[part.values for part in parts],
        )

    def _part(self, k: int, box: Box, start: int) -> Part | None:
        key = k, start, box.key, box.difference
        if key not in self._parts:
            if self._kept > MOST_KEPT:
                self._parts, self._kept = {}, 0
            feature, relation, columns = self._features[k], self._relations[k], self._columns[k].values()
            part: Part | None
            if feature.levels:
                part = _levels_part(relation, columns, box, start)
            else:
                part = _numeric_part(feature, relation, columns, box, start)
            self._parts[key] = part
            self._kept += 4 + 4 * len(columns)
            self._kept += sum(g.axes * len(g.places or ()) for g in part.groups) if part else 0
        return self._parts[key]


def _numeric_part(
    feature: Feature, relation: Relation, columns: Collection[Column | Curve], box: Box, start: int
) -> Part | None:
    intervals: Sequence[Interval] = box.intervals
    apart = relation.apart is not None
    if apart:
        least, most = differences(box)
        if least > most:
            return None
        intervals = coordinates(box)
    groups: list[Group] = []
    forms: list[Form] = []
    for lo, hi in intervals:
        axis = start + len(groups)
        forms.append({(): Fraction(lo + hi) / 2, (axis,): Fraction(hi - lo) / 2})
        if not apart and feature.discrete and 0 < hi - lo < FEW_CODES:
            codes = tuple((2 * code - int(lo + hi),) for code in range(int(lo), int(hi) + 1))
            groups.append(Group(start=axis, axes=1, places=codes, unit=int(hi - lo)))
        elif lo < hi:
            groups.append(Group(start=axis, axes=1))
    values = [_combine_forms(Fraction(0), mix, forms) for mix in _MIXES[relation.kind]]
    made: list[list[Form]] = []
    for interval, value in zip(
        box.intervals, values, strict=False
    ):  # one interval serves both copies that are the same
        axis = start + sum(group.axes for group in groups)
        bent, more = _curve_forms([c for c in columns if isinstance(c, Curve)], interval, value, axis)
        groups += more
        made.append(
            [
                bent.pop(0) if isinstance(c, Curve) else _combine_forms(c.offset, [c.slope], [value])
                for c in columns
            ]
        )
    return _make_part(groups, values, made * (2 // len(made)))


def _curve_forms(
    curves: Sequence[Curve], interval: Interval, code: Form, axis: int
) -> tuple[list[Form], list[Group]]:
    """What the columns in pieces of one copy are in its axes, the first of which is `axis`, and these axes' groups."""
    met = [curve.parts(*interval) for curve in curves]
    flat = all(curve.flat(i) for curve, parts in zip(curves, met, strict=True) for i, _, _ in parts)
    forms: list[Form] = []
    moving: list[tuple[Curve, Fraction, Fraction]] = []
    for curve, parts in zip(curves, met, strict=True):
        if len(parts) == 1:
            value, slope, reach = line_on(curve, parts[0])
            middle = Fraction(parts[0][1] + parts[0][2]) / 2
            lines = [slope], [code]
            value -= slope * middle
        else:
            low, high = range_on(curve, parts)
            value, reach, lines = (low + high) / 2, (high - low) / 2, ([], [])
        own: Form = {(axis + len(moving),): reach}
        forms.append(_combine_forms(value, [*lines[0], 1], [*lines[1], own]))
        if reach:
            moving.append((curve, value, reach))
    if not flat or not moving:
        return forms, [Group(start=axis + n, axes=1) for n in range(len(moving))]
    places = [
        [(curve.at(code_at) - value) / reach for curve, value, reach in moving]
        for code_at in meeting_codes(curves, interval)
    ]
    unit = common_denominator(y for place in places for y in place)
    rows = tuple(dict.fromkeys(tuple(int(y * unit) for y in place) for place in places))
    return forms, [Group(start=axis, axes=len(moving), places=rows, unit=unit)]


def _combine_forms(constant: Fraction, factors: Sequence[Fraction | int], forms: Sequence[Form]) -> Form:
    """constant + sum of factor * form, without what is 0."""
    total: Form = {(): constant}
    for factor, form in zip(factors, forms, strict=True):
        for m, amount in form.items():
            total[m] = total.get(m, Fraction(0)) + factor * amount
    return {m: amount for m, amount in total.items() if amount}


def _levels_part(
    relation: Relation, columns: Collection[Column | Curve], box: Box, start: int
) -> Part | None:
    fixed = [lo for lo, hi in box.intervals if lo == hi]
    if len(fixed) == 2 and not relation.allows(*fixed):
        return None
    groups: list[Group] = []
    values: list[Form | None] = []
    made: list[list[Form]] = []
    for lo, hi in box.intervals:
        forms: list[Form] = []
        heights: list[list[Fraction]] = []
        for column in columns:
            entries = [column.at(position) for position in range(int(lo), int(hi) + 1)]
            low, high = min(entries), max(entries)
            m, w = (low + high) / 2, (high - low) / 2
            forms.append(_combine_forms(m, [w], [{(start + len(heights),): Fraction(1)}]))
            if w:
                heights.append([(entry - m) / w for entry in entries])
        if heights:
            unit = common_denominator(y for row in heights for y in row)
            rows = ([int(y * unit) for y in row] for row in heights)
            places = tuple(dict.fromkeys(zip(*rows, strict=True)))
            groups.append(Group(start=start, axes=len(heights), places=places, unit=unit))
        start += len(heights)
        made.append(forms)
        values.append({(): Fraction(lo)} if lo == hi else None)
    copies = 2 // len(made)  # one list serves both copies of a feature that is the same
    return _make_part(groups, values * copies, made * copies)


def _make_part(groups: list[Group], values: Sequence[Form | None], made: list[list[Form]]) -> Part:
    amounts = [amount for forms in made for form in forms for amount in form.values()]
    unit = common_denominator(amounts)
    return Part(
        groups=groups,
        values=list(values),
        columns=[[{m: int(a * unit) for m, a in form.items()} for form in forms] for forms in made],
        unit=unit,
        bits=max((int(amount * unit).bit_length() for amount in amounts), default=0),
    )
