"""Affine score: a sum of one function a feature, which is what an affine body over columns of one feature each comes to. Rational, so exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

from likewise.clock import look_at_clock
from likewise.errors import InternalError
from likewise.model.embedding import Column
from likewise.spec.pieces import Pieces, summed
from likewise.spec.terms import Separable, Term

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class AffineScore(Separable):
    """The score of an affine body over codes."""

    family: ClassVar[str] = "affine"
    rational: ClassVar[bool] = True
    enclosing_work: ClassVar[int] = 0

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """Many rows, exactly."""
        values = []
        for row in codes.tolist():
            look_at_clock()
            values.append(self.exact([Fraction(c) for c in row]))
        return values

    def landmarks(self, space: Space) -> Floats:
        """None: linear programs find what is worth looking at."""
        import numpy as np

        return np.empty((0, len(space)))


def affine_score(
    weights: Sequence[Fraction], bias: Fraction, embedding: tuple[Column, ...], n_features: int
) -> AffineScore:
    """bias + sum of weight * column feature by feature: columns of one feature are added up exactly."""
    slopes = [Fraction(0)] * n_features
    tables: list[list[Fraction] | None] = [None] * n_features
    curves: dict[int, list[tuple[Fraction, Pieces]]] = {}
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
        terms[k] = Term(pieces=summed(parts, slopes[k]))
    return AffineScore(bias=bias, terms=tuple(terms))
