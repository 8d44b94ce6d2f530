"""Nested scores: f = outer(s_1, s_2, ...), s_k rational scores of other families and outer either an ensemble of trees over these numbers or a median.

Trees behind columns that mix features test sums of features: each sum is an inner score. All bodies of a model share their inner scores and differ in the outer one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from likewise.families.nested.median import Median
from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, Body, KeptLevels, Score
    from likewise.model.embedding import Column
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class InnerBody:
    """One of the scores, over columns of its own."""

    body: Body
    embedding: tuple[Column, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nested:
    """The outer function is a `Median`, or a body whose features are the inner scores."""

    family: ClassVar[str] = "nested"

    inner: tuple[InnerBody, ...]
    outer: Any

    def score(self, embedding: tuple[Column, ...], n_features: int) -> NestedScore:
        inner = tuple(one.body.score(one.embedding, n_features) for one in self.inner)
        outer = self.outer if isinstance(self.outer, Median) else self.outer.score((), len(inner))
        return NestedScore(inner=inner, outer=outer)

    def rescaled(self, by: AffineMap, kind: str) -> Nested:
        return replace(self, outer=self.outer.rescaled(by, kind))

    def reads(self, feature: int) -> bool:
        return any(
            one.body.reads(feature)
            or any(column.feature == feature and not column.constant for column in one.embedding)
            for one in self.inner
        )

    def restricted(self, kept: KeptLevels) -> None:
        return None

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> None:
        return None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NestedScore:
    """The score over codes."""

    family: ClassVar[str] = "nested"
    rational: ClassVar[bool] = True
    enclosing_work: ClassVar[int] = 0

    inner: tuple[Score, ...]
    outer: Any  # a Median, or a score over the inner scores

    @property
    def median(self) -> Median | None:
        """The outer function, if it is one."""
        return self.outer if isinstance(self.outer, Median) else None

    def around(self, outer: Any) -> NestedScore:
        """Another function of the same scores."""
        return replace(self, outer=outer)

    def inner_scores(self, codes: Floats) -> Floats:
        """(rows, inner) in float64."""
        return np.stack([one.scores(codes) for one in self.inner], axis=1)

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, for proposing; never for deciding."""
        found: Floats = self.outer.scores(self.inner_scores(codes))
        return found

    def scorer(self) -> Callable[[Floats], Floats]:
        scorers, outer = [one.scorer() for one in self.inner], self.outer

        def scored(codes: Floats) -> Floats:
            found: Floats = outer.scores(np.stack([scorer(codes) for scorer in scorers], axis=1))
            return found

        return scored

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """By those of the inner scores."""
        rows = zip(*(one.reference_scores(codes) for one in self.inner), strict=True)
        return [self.outer.exact(row) for row in rows]

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        found: Fraction = self.outer.exact([one.exact(codes) for one in self.inner])
        return found

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        return Enclosure.of(self.exact(codes))

    def depends(self, feature: int) -> bool:
        """Whether any inner score that counts can change with a feature."""
        return any(one.depends(feature) and self.outer.depends(k) for k, one in enumerate(self.inner))

    def landmarks(self, space: Space) -> Floats:
        """Those of all inner scores."""
        return np.concatenate([one.landmarks(space) for one in self.inner])

    def negated(self) -> NestedScore:
        return self.around(self.outer.negated())

    @property
    def cost(self) -> int:
        """What a search has to pay for a row."""
        outer: int = self.outer.cost
        return sum(one.cost for one in self.inner) + outer
