"""Declaring: how each feature is declared for the model, once it is known what its columns are (see `recoding`).

==============================================  ====================================================
columns of a number                             declared as
==============================================  ====================================================
a table                                         the levels of its values
lines of one function, such as log1p            that function's values, `log1p(income)`
lines of several functions, or beside lines     the number itself, and its columns are curves in
of the number; tolerances or constraints        pieces (`take_in_pieces`)
may be missing, no column                       the number; nobody looks at it
may be missing, filled with a number of its     the number; missing is treated as that
range before anything else was done
may be missing otherwise, integer               levels, missing ones last
may be missing otherwise, continuous            the number, with one more above it that stands for missing
==============================================  ====================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.errors import UnsupportedModel
from likewise.importers.recoding import FeatureRecoding, Recoding
from likewise.importers.transformers.curve_pieces import bend_in_pieces
from likewise.importers.transformers.traced_columns import TracedColumn, listable_values
from likewise.spec.features import Continuous, Feature, Integer, Ordinal
from likewise.spec.numbers import number_text
from likewise.spec.space import Space

if TYPE_CHECKING:
    from likewise.importers.transformers.monotone import MonotoneMap

MOST_LEVELS = 4_096  # values of an integer feature that is listed because it may be missing


@dataclass(frozen=True, slots=True, kw_only=True)
class DeclaredFeature:
    """One feature for the model: its name and kind, its codes, a note for the claim's words, and whether its largest code
    stands for missing."""

    name: str
    feature: Feature
    part: FeatureRecoding | None = None
    note: str | None = None
    highest: bool = False


def declare_space(space: Space, traced: Sequence[TracedColumn]) -> tuple[Recoding, frozenset[int]]:
    """The space that the model is over, and the features whose largest code stands for missing."""
    found = [_declare_feature(space, k, _dependent_columns(traced, k)) for k in range(len(space))]
    names = [one.name for one in found]
    for k, name in enumerate(names):
        if name != space.names[k] and names.count(name) > 1:
            raise UnsupportedModel(f"two features would be shown as {name!r}", hint="rename one of them")
    recoding = Recoding(
        given=space,
        space=Space({one.name: one.feature for one in found}, constraints=space.constraints),
        parts={k: one.part for k, one in enumerate(found) if one.part is not None},
        notes=tuple(one.note for one in found if one.note is not None),
    )
    return recoding, frozenset(k for k, one in enumerate(found) if one.highest)


def take_in_pieces(
    space: Space, traced: Sequence[TracedColumn], measured: frozenset[int]
) -> tuple[TracedColumn, ...]:
    """The columns, with curves in the place of functions of numbers that come to the model in other ways as well, or that a constraint or how far two people are apart (`measured`) speaks of. Those of a feature stay as they are where one
    of them is no such curve, and are refused for that later."""
    found = list(traced)
    for k, name in enumerate(space.names):
        feature = space[name]
        columns = _dependent_columns(traced, k)
        bends = {one.bend for one in columns}
        told = k in measured or any(name in constraint.names for constraint in space.constraints)
        if not isinstance(feature, Continuous) or bends <= {None} or (len(bends) == 1 and not told):
            continue
        curves = {
            c: bend_in_pieces(one, feature)
            for c, one in enumerate(traced)
            if one.index == k and one.bend is not None
        }
        for c, curve in curves.items() if None not in curves.values() else ():
            found[c] = curve or found[c]
    return tuple(found)


def _dependent_columns(traced: Sequence[TracedColumn], k: int) -> list[TracedColumn]:
    """The columns that are not the same for every value of a feature."""
    mine = (one for one in traced if one.index == k)
    return [one for one in mine if one.tells or one.line is None or one.line.slope != 0]


def _declare_feature(space: Space, k: int, columns: Sequence[TracedColumn]) -> DeclaredFeature:
    name = space.names[k]
    feature = space[name]
    if not isinstance(feature, (Continuous, Integer)):
        return DeclaredFeature(name=name, feature=feature)
    gap, tells = _missing_as_number(feature, columns), bool(columns) and feature.missing
    tells = tells and gap is None
    plain = replace(feature, missing=False)
    note = (
        f"missing {name} is treated as {number_text(gap[1])}, which is in the space"
        if gap and columns
        else None
    )
    if any(one.line is None and one.starts is None for one in columns) or (
        tells and isinstance(feature, Integer)
    ):
        return _declare_levels(name, feature if tells else plain, gap, note)
    if tells:
        return _declare_with_missing(name, feature, columns)
    bend = _common_bend(space, name, columns)
    if bend is not None and (values := bend.range()) is not None:
        return DeclaredFeature(
            name=bend.title(name), feature=values, part=FeatureRecoding(gap=gap, bend=bend), note=note
        )
    distance = max((one.distance for one in columns), default=Fraction(0))
    if distance:
        curves = f"what the model makes of {name} is taken in polynomials, at most {float(distance):.1e} away"
        note = curves if note is None else f"{note}; {curves}"
    return DeclaredFeature(
        name=name, feature=plain, part=None if gap is None else FeatureRecoding(gap=gap), note=note
    )


def _missing_as_number(
    feature: Continuous | Integer, columns: Sequence[TracedColumn]
) -> tuple[float, float] | None:
    """The code of missing and the number that every column treats it as; None where there is none."""
    if feature.missing_code is None:
        return None
    if not columns:
        return feature.missing_code, float(feature.lo)
    fills = {one.fill for one in columns}
    fill = columns[0].fill
    if len(fills) > 1 or any(one.tells for one in columns) or fill is None or not feature.contains(fill):
        return None
    return (feature.missing_code, float(fill)) if isinstance(fill, int | float) else None


def _declare_levels(
    name: str, feature: Continuous | Integer, gap: tuple[float, float] | None, note: str | None
) -> DeclaredFeature:
    values = listable_values(feature)
    if values is None or (feature.missing and len(values) > MOST_LEVELS):
        raise UnsupportedModel(
            f"{name!r} may be missing, which no number of its own range stands for, and it has too many values to list",
            hint=f"at most {MOST_LEVELS:,} are listed: narrow its bounds, use coarser units, or impute a whole number between them",
        )
    return DeclaredFeature(
        name=name, feature=Ordinal(values), part=FeatureRecoding(gap=gap, shift=float(feature.lo)), note=note
    )


def _declare_with_missing(
    name: str, feature: Continuous | Integer, columns: Sequence[TracedColumn]
) -> DeclaredFeature:
    lo, hi = feature.code_range
    if any(one.starts is not None or one.curve is not None or one.bend is not None for one in columns):
        raise UnsupportedModel(
            f"{name!r} may be missing, which no number of its range stands for, and comes to the model in bins, splines or "
            "through a function",
            hint="impute a number between its bounds first, without an indicator; or declare it as Integer(lo, hi, missing=True)",
        )
    note = f"the largest value of {name} in the certificate stands for missing"
    return DeclaredFeature(name=name, feature=Continuous(lo, hi), note=note, highest=True)


def _common_bend(space: Space, name: str, columns: Sequence[TracedColumn]) -> MonotoneMap | None:
    """The one function that all columns are lines of, None where they are lines of the number itself."""
    bends = {one.bend for one in columns}
    if not columns or bends == {None}:
        return None
    bend = next(one for one in (column.bend for column in columns) if one is not None)
    ways = f"declare it as Integer(lo, hi) or Ordinal([...]), of which tables are made, or give the model {bend.title(name)} only"
    if len(bends) > 1:
        raise UnsupportedModel(
            f"the model sees {name!r} in more than one way, {bend.title(name)} among them", hint=ways
        )
    for constraint in space.constraints:
        if name in constraint.names:
            raise UnsupportedModel(
                f"the model sees {bend.title(name)}, and the constraint {constraint.text!r} speaks of {name!r}",
                hint=ways.partition(", or give")[0],
            )
    return bend
