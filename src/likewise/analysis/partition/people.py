"""People: whom a partition is about, beside the space that it divides.

Individuals can be counted alike over the whole space, as rows of data, or distributed as the data's columns, each feature independent of the others.
A box has a *crowd*: its part of them, which can be put together with others, and sliced along a discrete feature. Parts of features are those
of `spec.boxes`, in the user's codes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol, Self

import numpy as np

from likewise.analysis.measures import marginal_measure
from likewise.analysis.partition.engine import BoxMeasure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.analysis.partition.engine import CodeBox, Cut
    from likewise.spec.boxes import FeaturePart
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]


class Crowd(Protocol):
    """The part of the people that a box holds."""

    @property
    def mass(self) -> Fraction:
        """Of all of them."""

    def joined(self, others: Sequence[Self]) -> Self:
        """With those of other boxes, which have nobody in common with it."""

    def slice(self, k: int, some: FeaturePart, every: FeaturePart) -> Self:
        """Those with some values of a discrete feature, of every value that the box has."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RowCrowd:
    """Rows by their numbers; `codes` are those of all rows, in the user's space."""

    codes: Floats
    numbers: NDArray[np.intp]

    @property
    def mass(self) -> Fraction:
        """A row counts as much as any other."""
        return Fraction(len(self.numbers), len(self.codes))

    def joined(self, others: Sequence[RowCrowd]) -> RowCrowd:
        """All of their rows."""
        return replace(self, numbers=np.concatenate([self.numbers, *(other.numbers for other in others)]))

    def slice(self, k: int, some: FeaturePart, every: FeaturePart) -> RowCrowd:  # noqa: ARG002 (rows tell by themselves)
        """The rows that have one of these values."""
        codes = self.codes[self.numbers, k]
        return replace(self, numbers=self.numbers[np.isin(codes, some)])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MarginalCrowd:
    """A mass of independent features; `weights` has, by discrete feature, how often each value occurs."""

    mass: Fraction
    weights: Mapping[int, Mapping[int, int]]

    def joined(self, others: Sequence[MarginalCrowd]) -> MarginalCrowd:
        """Masses add up."""
        return replace(self, mass=sum((other.mass for other in others), self.mass))

    def slice(self, k: int, some: FeaturePart, every: FeaturePart) -> MarginalCrowd:
        """In proportion to how often the values occur."""
        here, whole = (
            sum(self.weights[k].get(int(value), 0) for value in values) for values in (some, every)
        )
        return replace(self, mass=self.mass * Fraction(here, whole) if whole else Fraction(0))


class People(BoxMeasure, Protocol):
    """Whom a partition is about: in words, as a measure of boxes of codes, and by the crowd of a box."""

    words: str

    def crowd(self, box: CodeBox) -> Crowd:
        """Those in a box."""


class RowPeople:
    """The rows of data, in the model's codes and as they are `given`: every row counts alike."""

    def __init__(self, rows: Floats, given: Floats) -> None:
        self.rows, self.given = rows, given
        self.words = f"the {len(rows):,} rows of the data"

    def left(self, box: CodeBox, cut: Cut) -> Fraction:
        """Of the rows in the box, those up to the cut."""
        there = np.count_nonzero(self.rows[box.rows, cut.feature] <= cut.at)
        return Fraction(int(there), len(box.rows)) if len(box.rows) else Fraction(0)

    def crowd(self, box: CodeBox) -> Crowd:
        """Its rows."""
        return RowCrowd(codes=self.given, numbers=box.rows)


class ColumnPeople:
    """Individuals distributed as the columns of data, in the model's codes and as they are `given`."""

    words = "individuals distributed as the data's columns"

    def __init__(self, pairs: PairSpace, rows: Floats, given: Floats) -> None:
        self.left = marginal_measure(pairs, rows).left
        self.weights = {}
        for k, v in enumerate(pairs.first):
            if pairs.variables[v].discrete:
                values, counts = np.unique(given[:, k], return_counts=True)
                self.weights[k] = dict(zip(values.astype(int).tolist(), counts.tolist(), strict=True))

    def crowd(self, box: CodeBox) -> Crowd:
        """Its mass under this measure, which is the first one of its partition."""
        return MarginalCrowd(mass=box.mass, weights=self.weights)
