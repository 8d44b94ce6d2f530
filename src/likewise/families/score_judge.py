"""Judges of one score, one a model family: scores of many individuals in float64 with a PROVED error.

`values` are floats, `error` bounds their distance from the real score; what the rows share is computed once for all settings. `judge` puts the scores
of a model together: a family is asked by nobody else.

Sums, differences and products of doubles are off by u = 2^-53 of the result. A value that passed n such roundings on its way from
terms t is off by at most ((1 + u)^n - 1) sum |t|, in whatever order it was added up; `rounding_growth` is an upper bound of (1 + u)^n - 1.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

import numpy as np

from likewise.model.embedding import Column
from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

UNIT_ROUNDOFF = 2.0**-53
UNDERFLOW_LOSS = (
    2.0**-300
)  # more than all underflows of a score together, parameters and columns being `are_ordinary`
ORDINARY_SIZES = (
    Fraction(1, 2**400),
    Fraction(2**400),
)  # sizes of parameters that neither under- nor overflow matters to
WIDEST_COLUMN = 2.0**60  # of columns: products of five times a parameter are far from overflow
MOST_OPERATIONS = 2**40
PRODUCTS_A_SECOND = 4e9  # of a matrix product


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreGrid:
    """One score of each individual, |value - score| <= error of its row: shapes (rows, settings) and (rows, 1). Values are finite."""

    values: Floats
    error: Floats

    @staticmethod
    def of(values: Floats, error: Floats) -> ScoreGrid:
        """(rows, settings) with the error of each row; an overflow anywhere in a row says nothing about the row."""
        bad = ~np.isfinite(values)
        error = np.where(bad.any(axis=1) | ~np.isfinite(error), np.inf, error)
        if bad.any():
            values = np.where(bad, 0.0, values)
        return ScoreGrid(values=values, error=error[:, None])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreTable:
    """n >= 1 numbers of each individual, |value - true| <= error of its row: shapes (rows, settings, n) and (rows, n)."""

    values: Floats
    error: Floats

    def only(self, place: int | None) -> ScoreTable:
        """One of the n, where only that is of interest."""
        if place is None:
            return self
        return ScoreTable(values=self.values[..., place : place + 1], error=self.error[:, place : place + 1])


class JudgedScore(Protocol):
    """What a judge needs of its score besides its numbers."""

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure: ...

    def depends(self, feature: int) -> bool: ...

    @property
    def cost(self) -> int: ...


class ScoreJudge(ABC):
    """Exact and nearly exact scores of coded individuals. A family has `cross`, and says where the rest is otherwise."""

    score: JudgedScore

    @abstractmethod
    def cross(self, rows: Floats, features: Sequence[int], settings: Floats) -> ScoreGrid:
        """Scores (rows, settings): every row with these features set to each of the settings."""

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """The score of one individual, to about so many bits."""
        return self.score.enclose(codes, bits)

    def depends(self, feature: int) -> bool:
        """Whether the score can change with a feature."""
        return self.score.depends(feature)

    def cuts(self, feature: int) -> Floats | None:  # noqa: ARG002
        """Codes, in increasing order, between which (the larger one included) the score is constant along a feature; None where it is not."""
        return None

    @property
    def cost(self) -> int:
        """What a row costs, in kernel values."""
        return self.score.cost

    @property
    def pace(self) -> float:
        """About how many scores a second there are of rows times settings."""
        return PRODUCTS_A_SECOND / self.cost


def rounding_growth(operations: int) -> float:
    """At least (1 + u)^n - 1: n u / (1 - n u) bounds it, and 1.01 n u bounds that for n < 2^40."""
    if operations >= MOST_OPERATIONS:
        return np.inf
    return 1.01 * operations * UNIT_ROUNDOFF


def are_ordinary(parameters: Iterable[Fraction]) -> bool:
    """Whether all parameters are zero or of a size that roundings of 2^-53 are all there is to say about them."""
    return all(value == 0 or ORDINARY_SIZES[0] <= abs(value) <= ORDINARY_SIZES[1] for value in parameters)


def cross_settings(rows: Floats, features: Sequence[int], settings: Floats) -> Floats:
    """All individuals (rows * settings, features of the space), row by row."""
    codes = np.repeat(rows, len(settings), axis=0)
    codes[:, list(features)] = np.tile(settings, (len(rows), 1))
    return codes


def column_sizes(column: Column, codes: Floats) -> Floats:
    """|offset| + |slope code|, or |table entry|: at least the column's absolute value, but for rounding."""
    if column.pieces is not None:
        return np.full(len(codes), np.inf)  # only affine models have such columns
    if column.table is not None:
        return np.abs(column.entries)[codes.astype(np.intp)]
    size: Floats = abs(float(column.offset)) + abs(float(column.slope)) * np.abs(codes)
    return size * (1 + 8 * UNIT_ROUNDOFF)
