"""The body `affine` (section 2): f(x) = bias + sum of weight * column(x), brought to its separable form

    f(x) = constant + sum_k phi_k(x_k)     phi_k(c) = slope_k * c  or  a curve (continuous, integer),  or  table_k[c]  (levels kinds)

Columns of one feature add up; their offsets go into the constant. A column that is neither a slope nor a table is read by a pack; what it makes of all
such columns of a feature, and of their slope, is a `Curve`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Protocol, TypeAlias

from likewise_check.core.body import Codes, Ends, Form, blend_rows
from likewise_check.core.cells import Box
from likewise_check.core.fields import Reader, Rejected, anything, array_of, record, text, whole
from likewise_check.core.numbers import Exact, number
from likewise_check.core.registry import CORE, find_entry, known_names, pack_of
from likewise_check.core.rounding import LARGEST, MOST_OPERATIONS, Rounding
from likewise_check.core.space import Feature, Relation, Space

Slopes: TypeAlias = tuple[Exact, Exact]  # factor of a curve, and slope of what is added to it


class Curve(Protocol):
    """A function of one number in the place of a slope."""

    @property
    def steady(self) -> bool:
        """Whether the value is the same everywhere."""

    def at(self, code: Exact) -> Exact:
        """The value at a code."""

    def times(self, factor: Exact) -> "Curve":
        """The same, multiplied by a factor other than 0."""

    def numbers(self) -> Iterator[Exact]:
        """All numbers that `times` multiplies."""

    def blend(self, alpha: Form, curves: Sequence[Any]) -> "Curve":
        """The sum of alpha_c times curve c."""

    def beside(
        self, other: Any, relation: Relation, first: Slopes, second: Slopes
    ) -> Callable[[Box], Exact | None]:
        """The maximum over a box of u(x) + v(x'), u = factor * this curve + slope * x, v of the other likewise; None without codes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """The separable form; for each column its weight and a bound of the absolute values that it takes on the space, and whether a program can have such numbers."""

    kind: ClassVar[str] = "affine"
    rational: ClassVar[bool] = True
    clears: ClassVar[bool] = True
    knows_missing: ClassVar[bool] = False

    constant: Fraction
    tables: tuple[tuple[Fraction, ...], ...]  # one a feature: one entry a level, or just the slope
    linear: tuple[bool, ...]
    curves: tuple[Curve | None, ...]  # one a feature: in the place of slope * x, if there are any
    extents: tuple[Exact, ...]  # one a column
    bias: Fraction
    weights: tuple[Fraction, ...]  # one a column
    tame: bool
    packs: frozenset[str] = frozenset({CORE})

    def score(self, codes: Codes) -> Fraction:
        """f(x), exactly."""
        parts = zip(self.tables, self.linear, self.curves, codes, strict=True)
        return self.constant + sum(
            curve.at(x) if curve else table[0] * x if linear else table[int(x)]
            for table, linear, curve, x in parts
        )

    def ends(self, codes: Codes, _bits: int) -> Sequence[Ends]:
        """The one score."""
        return [(self.score(codes),) * 2]

    def steady(self, k: int) -> bool:
        """Whether the score does not depend on this feature."""
        if curve := self.curves[k]:
            return curve.steady
        return self.tables[k][0] == 0 if self.linear[k] else len(set(self.tables[k])) == 1

    def blend(self, alpha: Form, bodies: Sequence["Affine"]) -> "Affine":
        """The sum of alpha_c times body c."""
        tables = [blend_rows(alpha, [body.tables[k] for body in bodies]) for k in range(len(self.tables))]
        curves = (
            curve and curve.blend(alpha, [body.curves[k] for body in bodies])
            for k, curve in enumerate(self.curves)
        )
        (constant,) = blend_rows(alpha, [[body.constant] for body in bodies])
        return replace(self, constant=constant, tables=tuple(map(tuple, tables)), curves=tuple(curves))

    def read_rounding(self, item: object) -> Rounding:
        """The sizes of the columns, the constant and the operations."""
        sizes, constant, operations = record(
            item,
            "the rounding",
            sizes=array_of(number, len(self.extents)),
            constant=number,
            operations=whole(0, MOST_OPERATIONS),
        )
        if min([constant, *sizes]) < 0:
            raise Rejected("the rounding's sizes and constant must be at least 0")
        parts = zip(sizes, self.extents, strict=True)
        magnitude = constant + sum(size * extent for size, extent in parts)
        enough = all(size >= abs(weight) for size, weight in zip(sizes, self.weights, strict=True))
        enough = enough and constant >= abs(self.bias) and operations >= len(sizes)
        return Rounding(
            magnitude=magnitude, operations=operations, factor=1 + sum(sizes), fits=enough and self.tame
        )


def read_affine(item: object, space: Space, coefficient: Reader = number) -> Affine:
    """The body of a model line; `coefficient` reads the bias and the weights."""
    _, bias, columns = record(item, "the body", kind=text, bias=coefficient, columns=array_of(anything))
    constant, tame, weights = bias, True, []
    tables = [(Fraction(0),) * max(feature.levels, 1) for feature in space.features]
    curved: list[list[tuple[Fraction, Any]]] = [[] for _ in space.features]
    extents: list[Exact] = []
    packs = {CORE}
    for c, column in enumerate(columns):
        what = f"column {c}"
        place = column.get("feature") if type(column) is dict else None
        k = whole(0, len(space.features) - 1)(place, f"{what}, feature")
        feature = space.features[k]
        if not feature.levels and (sort := next((s for s in known_names("COLUMNS") if s in column), None)):
            packs.add(pack_of("COLUMNS", sort))
            curved[k].append(find_entry("COLUMNS", sort)(column, what, coefficient, whole=feature.discrete))
            weights.append(curved[k][-1][0])
            extents.append(curved[k][-1][1].extent(feature.lo, feature.hi))
            tame = tame and curved[k][-1][1].tame(feature.lo, feature.hi)
            continue
        weight, entries, offset, extent = _read_plain(column, what, feature, coefficient)
        constant += weight * offset
        weights.append(weight)
        extents.append(extent)
        added = zip(tables[k], entries, strict=True)
        tables[k] = tuple(before + weight * entry for before, entry in added)
    curves: list[Curve | None] = [None] * len(tables)
    for k, found in enumerate(curved):
        if found:
            curves[k] = found[0][1].add_up(found, tables[k][0])
            tables[k] = (Fraction(0),)
    return Affine(
        constant=constant,
        tables=tuple(tables),
        linear=tuple(not feature.levels for feature in space.features),
        curves=tuple(curves),
        extents=tuple(extents),
        bias=bias,
        weights=tuple(weights),
        tame=tame and _are_small([*extents, *(end for f in space.features for end in (f.lo, f.hi))]),
        packs=frozenset(packs),
    )


def _are_small(numbers: Sequence[Exact]) -> bool:
    """Whether a program of doubles has room for these and for what it computes of them."""
    return all(-LARGEST[53] < number < LARGEST[53] for number in numbers)


def _read_plain(
    column: object, what: str, feature: Feature, coefficient: Reader
) -> tuple[Fraction, Sequence[Fraction], Fraction, Fraction]:
    """Weight, entries of a table or the slope, offset, and extent."""
    if feature.levels:
        reader = array_of(number, feature.levels)
        _, weight, entries = record(column, what, feature=anything, weight=coefficient, table=reader)
        return weight, entries, Fraction(0), max(map(abs, entries))
    _, weight, slope, offset = record(
        column, what, feature=anything, weight=coefficient, slope=number, offset=number
    )
    return weight, [slope], offset, max(abs(offset + slope * end) for end in (feature.lo, feature.hi))


def zero_body(space: Space) -> Affine:
    """The body that is zero everywhere, for rules that do not look at the score."""
    return read_affine({"kind": "affine", "bias": "0", "columns": []}, space)
