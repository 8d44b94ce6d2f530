"""The first layer over codes: its sums are y_0 = base + a contribution of each feature, a row of a table for a level, a multiple of a row of slopes for a number.

That is the first layer's weights times the columns of the embedding, added up feature by feature, exactly: whole numbers over a denominator of each feature's own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InternalError
from likewise.families.network.dyadic import quotients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from likewise.families.network.body import Layer
    from likewise.model.embedding import Column

    Floats = NDArray[np.float64]
    Wholes = NDArray[np.object_]


@dataclass(frozen=True, kw_only=True, eq=False)
class Part:
    """numerators / denominator, exactly: (levels, neurons) of a feature that `is_table`, else one row."""

    numerators: Wholes
    denominator: int
    is_table: bool

    @cached_property
    def floats(self) -> Floats:
        """The nearest doubles."""
        return quotients(self.numerators, self.denominator)

    def moves(self, neurons: NDArray[np.bool_]) -> bool:
        """Whether the sum of any of these neurons changes with the feature."""
        rows = self.numerators[:, neurons]
        return bool((rows != rows[0]).any()) if self.is_table else bool((rows != 0).any())


@dataclass(frozen=True, kw_only=True, eq=False)
class FirstSums:
    """The sums of the first layer; `parts` by feature, None for one without columns."""

    base: Part
    parts: tuple[Part | None, ...]

    @cached_property
    def numeric(self) -> tuple[list[int], Floats]:
        """The features that are numbers, and their slopes (features, neurons)."""
        places = [k for k, part in enumerate(self.parts) if part is not None and not part.is_table]
        slopes = [part.floats[0] for part in self.parts if part is not None and not part.is_table]
        return places, np.array(slopes).reshape(len(places), self.base.numerators.shape[1])

    def of(self, codes: Floats) -> Floats:
        """Many rows in float64."""
        places, slopes = self.numeric
        sums: Floats = codes[:, places] @ slopes if places else np.zeros((len(codes), 1))
        sums = sums + self.base.floats[0]
        for k, part in enumerate(self.parts):
            if part is not None and part.is_table:
                sums += part.floats[codes[:, k].astype(np.intp)]
        return sums

    def added(self, features: Sequence[int], columns: Sequence[Floats], count: int) -> tuple[Floats, Floats]:
        """What these features add to the sums at these codes, (rows, neurons), and the sum of the sizes of what was added."""
        neurons = self.base.numerators.shape[1]
        total, size = np.zeros((count, neurons)), np.zeros((count, neurons))
        for k, codes in zip(features, columns, strict=True):
            part = self.parts[k]
            if part is not None:
                term = (
                    part.floats[codes.astype(np.intp)] if part.is_table else codes[:, None] * part.floats[0]
                )
                total += term
                size += np.abs(term)
        return total, size


def first_sums(layer: Layer, embedding: Sequence[Column], n_features: int) -> FirstSums:
    """A first layer over the columns, over codes."""
    weights, unit = layer.weights.numerators, 1 << layer.weights.exponent
    if len(embedding) != weights.shape[1]:
        raise InternalError(f"a first layer of {weights.shape[1]} inputs for {len(embedding)} columns")
    base = [Fraction(n, 1 << layer.biases.exponent) for n in layer.biases.numerators.tolist()]
    parts = []
    for k in range(n_features):
        own = [(column, weights[:, c]) for c, column in enumerate(embedding) if column.feature == k]
        parts.append(_part([column for column, _ in own], [rows for _, rows in own], unit))
        for column, rows in own:
            if column.table is None and column.offset:
                step = column.offset / unit
                base = [old + step * n for old, n in zip(base, rows.tolist(), strict=True)]
    common = math.lcm(*(value.denominator for value in base))
    numerators = np.array([[int(value * common) for value in base]], dtype=object)
    return FirstSums(base=Part(numerators=numerators, denominator=common, is_table=False), parts=tuple(parts))


def _part(columns: Sequence[Column], weights: Sequence[Wholes], unit: int) -> Part | None:
    if not columns:
        return None
    tables = [column.table for column in columns]
    is_table = tables[0] is not None
    if any(
        (table is not None) != is_table or column.pieces
        for table, column in zip(tables, columns, strict=True)
    ):
        raise InternalError("a feature is embedded both as a number and as levels, or in pieces")
    rows = [table or (column.slope,) for table, column in zip(tables, columns, strict=True)]
    common = math.lcm(*(value.denominator for row in rows for value in row))
    total = np.zeros((len(rows[0]), len(weights[0])), dtype=object)
    for row, own in zip(rows, weights, strict=True):
        for level, value in enumerate(row):
            if value:
                total[level] += int(value * common) * own
    return Part(numerators=total, denominator=common * unit, is_table=is_table)
