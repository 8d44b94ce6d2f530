"""Embedding: raw features to encoded columns, each column a function of ONE raw feature.

An individual is a vector of *codes*, one number a feature: the value itself for continuous and integer
features, the position of the level for categorical and ordinal ones (`Space.encode`). A column is

    affine   offset + slope * code          on a number,
    table    table[code]                    on a level,
    pieces   a polynomial of the code between cuts (`spec.pieces`), on a number; in affine bodies only.

All numbers are exact rationals; a stored double is a rational, so nothing is lost on the way in.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, UnsupportedModel
from likewise.spec.features import Categorical, Continuous, Integer, Ordinal
from likewise.spec.numbers import format_number, format_numbers
from likewise.spec.pieces import PiecewisePolynomial, sum_pieces
from likewise.spec.terms import Separable, Term

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.space import Space


@dataclass(frozen=True, kw_only=True)
class Column:
    """One encoded column: a table over the levels of its feature, or an affine map or pieces of its number."""

    feature: int
    slope: Fraction = Fraction(1)
    offset: Fraction = Fraction(0)
    table: tuple[Fraction, ...] | None = None
    pieces: PiecewisePolynomial | None = None

    def exact(self, code: Fraction) -> Fraction:
        if self.pieces is not None:
            return self.pieces.exact(code)
        if self.table is not None:
            return self.table[int(code)]
        return self.offset + self.slope * code

    @cached_property
    def entries(self) -> NDArray[np.float64]:
        """The table in float64; empty where there is none."""
        return np.array([float(value) for value in self.table or ()])

    @cached_property
    def constant(self) -> bool:
        """Whether the column has one and the same value whatever the feature."""
        if self.pieces is not None:
            return self.pieces.constant
        return self.slope == 0 if self.table is None else len(set(self.table)) == 1


def embed_rows(embedding: Sequence[Column], codes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The columns of many rows, in float64."""
    columns = np.empty((len(codes), len(embedding)))
    for c, column in enumerate(embedding):
        values = codes[:, column.feature]
        if column.pieces is not None:
            columns[:, c] = column.pieces.values(values)
        elif column.table is None:
            columns[:, c] = float(column.offset) + float(column.slope) * values
        else:
            columns[:, c] = column.entries[values.astype(np.intp)]
    return columns


def sum_by_feature(
    weights: Sequence[Fraction], bias: Fraction, embedding: tuple[Column, ...], n_features: int
) -> Separable:
    """bias + sum of weight * column feature by feature: columns of one feature are added up exactly."""
    slopes = [Fraction(0)] * n_features
    tables: list[list[Fraction] | None] = [None] * n_features
    curves: dict[int, list[tuple[Fraction, PiecewisePolynomial]]] = {}
    for column, weight in zip(embedding, weights, strict=True):
        k = column.feature
        if column.pieces is not None:
            curves.setdefault(k, []).append((weight, column.pieces))
        elif column.table is None:
            if tables[k] is not None:
                raise InternalError(f"feature {k} is embedded both as a number and as levels")
            slopes[k] += weight * column.slope
            bias += weight * column.offset
        else:
            values = [weight * v for v in column.table]
            old = tables[k]
            tables[k] = values if old is None else [a + b for a, b in zip(old, values, strict=True)]
    terms = [
        Term(slope=slope, table=None if table is None else tuple(table))
        for slope, table in zip(slopes, tables, strict=True)
    ]
    for k, parts in curves.items():
        terms[k] = Term(pieces=sum_pieces(parts, slopes[k]))
    return Separable(bias=bias, terms=tuple(terms))


def level_values(space: Space, name: str) -> tuple[Fraction, ...] | None:
    """The numbers that the levels of a feature stand for; None for a feature that is a number itself."""
    feature = space[name]
    if not isinstance(feature, (Categorical, Ordinal)):
        return None
    return tuple(Fraction(level) for level in feature.levels if isinstance(level, int | float))


def identity_columns(space: Space, names: Sequence[str], *, step: str) -> tuple[Column, ...]:
    """One column a name, passed through unchanged; levels must be numbers to stand in a numeric column."""
    columns = []
    for name in names:
        feature = space[name]
        if isinstance(feature, (Categorical, Ordinal)) and not feature.numeric:
            odd = next(level for level in feature.levels if not isinstance(level, int | float))
            raise UnsupportedModel(
                f"{step} takes numbers, but feature {name!r} has the level {odd!r}",
                hint=f"declare {name!r} with the numeric codes that the model was trained on, e.g. "
                f"space.replace({{{name!r}: Categorical([0, 1])}})",
            )
        columns.append(Column(feature=space.names.index(name), table=level_values(space, name)))
    return tuple(columns)


def join_embeddings(
    embeddings: Sequence[tuple[Column, ...]],
) -> tuple[tuple[Column, ...], list[tuple[int, ...]]]:
    """The columns of all, and where each one's are among them."""
    if all(one == embeddings[0] for one in embeddings):
        return embeddings[0], [tuple(range(len(embeddings[0])))] * len(embeddings)
    found: dict[Column, int] = {}
    places = [tuple(found.setdefault(column, len(found)) for column in one) for one in embeddings]
    return tuple(found), places


def restrict_columns(embedding: Sequence[Column], kept: Sequence[Sequence[int] | None]) -> tuple[Column, ...]:
    """The columns over the levels that are left of each feature; None of a feature without levels."""
    return tuple(
        column
        if column.table is None
        else replace(column, table=tuple(column.table[place] for place in kept[column.feature] or ()))
        for column in embedding
    )


def column_extents(embedding: Sequence[Column], space: Space) -> list[Fraction]:
    """The largest absolute value of each column over the whole space; of one in pieces, of the terms that are added up."""
    ends = []
    for column in embedding:
        feature = space[space.names[column.feature]]
        if column.pieces is not None and isinstance(feature, (Continuous, Integer)):
            lo, hi, whole = Fraction(feature.lo), Fraction(feature.hi), isinstance(feature, Integer)
            ends.append(column.pieces.extent(lo, hi, whole=whole))
        elif isinstance(feature, (Continuous, Integer)):
            ends.append(max(abs(column.exact(Fraction(end))) for end in (feature.lo, feature.hi)))
        else:
            ends.append(max(abs(value) for value in column.table or (Fraction(0),)))
    return ends


def column_line(column: Column) -> dict[str, Any]:
    """A column as certificates write it."""
    if column.pieces is not None:
        return {
            "feature": column.feature,
            "cuts": format_numbers(column.pieces.cuts),
            "pieces": [format_numbers(p) or ["0"] for p in column.pieces.polynomials],
        }
    if column.table is None:
        return {
            "feature": column.feature,
            "slope": format_number(column.slope),
            "offset": format_number(column.offset),
        }
    return {"feature": column.feature, "table": format_numbers(column.table)}
