"""Sums of scores: f = bias + sum_k weight_k lambda_k(s_k), s_k scores of other families and lambda_k increasing functions of them (`links`).

All bodies of a model share their parts and differ in weights and biases, so that forms of several scores are sums over the same parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from likewise.families.sums.chains import Chain
from likewise.families.sums.links import Link
from likewise.spec.enclosure import Enclosure
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, Body, KeptLevels, Score
    from likewise.model.embedding import Column
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SumPart:
    """One of the scores, over columns of its own, and what it goes through."""

    body: Body
    embedding: tuple[Column, ...]
    link: Link | Chain


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sum:
    """A weight a part; a part that does not count has the weight 0."""

    family: ClassVar[str] = "sums"

    parts: tuple[SumPart, ...]
    weights: tuple[Fraction, ...]
    bias: Fraction

    def score(self, embedding: tuple[Column, ...], n_features: int) -> SumScore:
        scores = tuple(part.body.score(part.embedding, n_features) for part in self.parts)
        links = tuple(part.link for part in self.parts)
        return SumScore(parts=scores, links=links, weights=self.weights, bias=self.bias)

    def rescaled(self, by: AffineMap, kind: str) -> Sum:
        weights = tuple(by.slope * weight for weight in self.weights)
        return replace(self, weights=weights, bias=by.slope * self.bias + by.offset)

    def reads(self, feature: int) -> bool:
        counting = [part for part, weight in zip(self.parts, self.weights, strict=True) if weight]
        return any(
            any(column.feature == feature and not column.constant for column in part.embedding)
            or part.body.reads(feature)
            for part in counting
        )

    def restricted(self, kept: KeptLevels) -> None:
        return None  # by the family, for all bodies at once: they share their parts

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> None:
        return None


def sum_body(body: object) -> Sum | None:
    """The body, if it is a sum."""
    return body if isinstance(body, Sum) else None


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SumScore:
    """The score of a sum over codes."""

    family: ClassVar[str] = "sums"

    parts: tuple[Score, ...]
    links: tuple[Link | Chain, ...]
    weights: tuple[Fraction, ...]
    bias: Fraction

    def counting(self) -> list[tuple[Score, Link | Chain, Fraction]]:
        """The parts that count."""
        every = zip(self.parts, self.links, self.weights, strict=True)
        return [(part, link, weight) for part, link, weight in every if weight]

    def form(self, weights: tuple[Fraction, ...], bias: Fraction) -> SumScore:
        """Another sum over the same parts."""
        return replace(self, weights=weights, bias=bias)

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, for proposing; never for deciding."""
        total: Floats = np.full(len(codes), nearest_double(self.bias))
        for part, link, weight in self.counting():
            total = total + nearest_double(weight) * link.values(part.scores(codes))
        return total

    def scorer(self) -> Callable[[Floats], Floats]:
        known = [(part.scorer(), link, nearest_double(weight)) for part, link, weight in self.counting()]
        bias = nearest_double(self.bias)

        def scored(codes: Floats) -> Floats:
            total: Floats = np.full(len(codes), bias)
            for scorer, link, weight in known:
                total = total + weight * link.values(scorer(codes))
            return total

        return scored

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """By those of the parts; a logistic function in float64."""
        total = [self.bias] * len(codes)
        for part, link, weight in self.counting():
            found = part.reference_scores(codes)
            if link.rational:
                values = [link.exact(score) for score in found]
            else:
                floats = link.values(np.array([nearest_double(score) for score in found]))
                values = [Fraction(value) for value in floats.tolist()]
            total = [old + weight * value for old, value in zip(total, values, strict=True)]
        return total

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        values = ((link.exact(part.exact(codes)), weight) for part, link, weight in self.counting())
        return self.bias + sum((weight * value for value, weight in values), Fraction(0))

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """From enclosures of the parts, so that forms are enclosed by forms of the same enclosures."""
        low = high = self.bias
        for part, link, weight in self.counting():
            found = link.enclose(part.enclose(codes, bits), bits)
            ends = weight * found.lo, weight * found.hi
            low, high = low + min(ends), high + max(ends)
        return Enclosure(low, high)

    def depends(self, feature: int) -> bool:
        """Whether any part that counts can change with a feature."""
        return any(part.depends(feature) for part, _, _ in self.counting())

    def landmarks(self, space: Space) -> Floats:
        """Individuals that are worth looking at: those of all parts."""
        return np.concatenate([part.landmarks(space) for part in self.parts])

    def negated(self) -> SumScore:
        return self.form(tuple(-weight for weight in self.weights), -self.bias)

    @property
    def cost(self) -> int:
        """What a search has to pay for a row."""
        return sum(part.cost for part in self.parts)

    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""
        return all(part.rational for part in self.parts) and all(link.rational for link in self.links)

    @property
    def enclosing_work(self) -> int:
        """Of all parts, and of the functions that they go through."""
        return 0 if self.rational else sum(part.enclosing_work for part in self.parts) + len(self.parts)
