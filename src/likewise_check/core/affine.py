"""The body `affine` (section 2): f(x) = bias + sum of weight * column(x), brought to its separable form

    f(x) = constant + sum_k phi_k(x_k)     phi_k(c) = slope_k * c  or  in pieces (continuous, integer),  or  table_k[c]  (levels kinds)

Columns of one feature add up; their offsets go into the constant, or the slopes into the pieces if there are any.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from likewise_check.core.fields import Reader, anything, array_of, record, text, whole
from likewise_check.core.numbers import Exact, number
from likewise_check.core.space import Space
from likewise_check.packs.pieces.columns import Pieces, read_pieces, summed


@dataclass(frozen=True, slots=True, kw_only=True)
class Affine:
    """The separable form, and for each column a bound of the absolute values that it takes on the space."""

    constant: Fraction
    tables: tuple[tuple[Fraction, ...], ...]  # one a feature: one entry a level, or just the slope
    linear: tuple[bool, ...]
    pieces: tuple[Pieces | None, ...]  # one a feature: in the place of slope * x, if there are any
    extents: tuple[Exact, ...]  # one a column

    def score(self, codes: Sequence[Fraction]) -> Fraction:
        """f(x), exactly."""
        parts = zip(self.tables, self.linear, self.pieces, codes, strict=True)
        return self.constant + sum(
            pieces.at(x) if pieces else table[0] * x if linear else table[int(x)]
            for table, linear, pieces, x in parts
        )

    def steady(self, k: int) -> bool:
        """Whether the score does not depend on this feature."""
        if pieces := self.pieces[k]:
            return pieces.steady
        return self.tables[k][0] == 0 if self.linear[k] else len(set(self.tables[k])) == 1


def read_affine(item: object, space: Space, coefficient: Reader = number) -> Affine:
    """The body of a model line; `coefficient` reads the bias and the weights."""
    _, constant, columns = record(item, "the body", kind=text, bias=coefficient, columns=array_of(anything))
    tables = [(Fraction(0),) * max(feature.levels, 1) for feature in space.features]
    curves: list[list[tuple[Fraction, Pieces]]] = [[] for _ in space.features]
    extents: list[Exact] = []
    for c, column in enumerate(columns):
        what = f"column {c}"
        place = column.get("feature") if type(column) is dict else None
        k = whole(0, len(space.features) - 1)(place, f"{what}, feature")
        feature = space.features[k]
        if feature.levels:
            reader = array_of(number, feature.levels)
            _, weight, entries = record(column, what, feature=anything, weight=coefficient, table=reader)
            extents.append(max(map(abs, entries)))
        elif "cuts" in column:
            curves[k].append(read_pieces(column, what, coefficient, whole=feature.discrete))
            extents.append(curves[k][-1][1].extent(feature.lo, feature.hi))
            continue
        else:
            _, weight, slope, offset = record(
                column, what, feature=anything, weight=coefficient, slope=number, offset=number
            )
            entries = [slope]
            constant += weight * offset
            extents.append(max(abs(offset + slope * end) for end in (feature.lo, feature.hi)))
        added = zip(tables[k], entries, strict=True)
        tables[k] = tuple(before + weight * entry for before, entry in added)
    pieces: list[Pieces | None] = [None] * len(tables)
    for k, found in enumerate(curves):
        if found:
            pieces[k] = summed(found, tables[k][0], whole=space.features[k].discrete)
            tables[k] = (Fraction(0),)
    return Affine(
        constant=constant,
        tables=tuple(tables),
        linear=tuple(not feature.levels for feature in space.features),
        pieces=tuple(pieces),
        extents=tuple(extents),
    )


def flat(space: Space) -> Affine:
    """The body that is zero everywhere, for rules that do not look at the score."""
    return read_affine({"kind": "affine", "bias": "0", "columns": []}, space)
