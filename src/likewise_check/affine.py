"""The affine body: f(x) = bias + sum of weight * column(x), brought to its separable form (section 2).

    f(x) = constant + sum_k phi_k(x_k)        phi_k(c) = slope_k * c  (continuous, integer)  or  table_k[c]  (levels kinds)

Columns of one feature add up; their offsets go into the constant.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from likewise_check import fields, numbers
from likewise_check.errors import Rejected
from likewise_check.space import Feature, Space


@dataclass(frozen=True, slots=True)
class Linear:
    """phi(c) = slope * c."""

    slope: Fraction

    def at(self, code: Fraction) -> Fraction:
        return self.slope * code

    @property
    def constant(self) -> bool:
        return self.slope == 0


@dataclass(frozen=True, slots=True)
class Table:
    """phi(c) = entries[c]."""

    entries: tuple[Fraction, ...]

    def at(self, code: Fraction) -> Fraction:
        return self.entries[int(code)]

    @property
    def constant(self) -> bool:
        return all(entry == self.entries[0] for entry in self.entries)


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """The separable form, and for each column the largest absolute value that it takes on the space."""

    constant: Fraction
    shapes: tuple[Linear | Table, ...]  # one a feature
    extents: tuple[Fraction, ...]  # one a column

    def score(self, codes: Sequence[Fraction]) -> Fraction:
        """f(x), exactly."""
        return self.constant + sum(shape.at(code) for shape, code in zip(self.shapes, codes, strict=True))


def read_affine(body: object, space: Space) -> Affine:
    """The affine body of a model line."""
    _, bias, column_list = fields.record(body, "the body", "kind", "bias", "columns")
    constant = numbers.parse(bias, "the bias")
    shapes: list[Linear | Table] = [
        Table((Fraction(0),) * feature.levels) if feature.levels else Linear(Fraction(0))
        for feature in space.features
    ]
    extents: list[Fraction] = []
    for c, column in enumerate(fields.array(column_list, "the columns")):
        what = f"column {c}"
        if type(column) is not dict:
            raise Rejected(f"{what} must be an object")
        k = fields.whole(column.get("feature"), f"{what}, feature", 0, len(space.features) - 1)
        weight = numbers.parse(column.get("weight"), f"{what}, weight")
        shape = shapes[k]
        if isinstance(shape, Table):
            entries = _table(column, what, len(shape.entries))
            added = zip(shape.entries, entries, strict=True)
            shapes[k] = Table(tuple(before + weight * entry for before, entry in added))
            extents.append(max(map(abs, entries)))
        else:
            slope, offset = _line(column, what)
            shapes[k] = Linear(shape.slope + weight * slope)
            constant += weight * offset
            extents.append(_extent(slope, offset, space.features[k]))
    return Affine(constant=constant, shapes=tuple(shapes), extents=tuple(extents))


def _table(column: object, what: str, levels: int) -> list[Fraction]:
    *_, table = fields.record(column, what, "feature", "weight", "table")
    return [numbers.parse(entry, f"{what}, table") for entry in fields.array(table, f"{what}, table", levels)]


def _line(column: object, what: str) -> tuple[Fraction, Fraction]:
    *_, slope, offset = fields.record(column, what, "feature", "weight", "slope", "offset")
    return numbers.parse(slope, f"{what}, slope"), numbers.parse(offset, f"{what}, offset")


def _extent(slope: Fraction, offset: Fraction, feature: Feature) -> Fraction:
    return max(abs(offset + slope * feature.lo), abs(offset + slope * feature.hi))
