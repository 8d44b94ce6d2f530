"""Combined scores: the weighted mean of the scores of several bodies, or the largest or the smallest of them.

    mean   f = sum_i weight_i f_i, weights >= 0 with the sum 1        max   f = max_i f_i        min   f = min_i f_i

All three are monotone in every f_i, so that enclosures of the f_i give one of f by their ends, no wider than the widest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from likewise.families.affine.body import Affine
from likewise.families.kernel.body import RbfSum
from likewise.families.kernel.score import KernelScore
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.polynomial.score import PolynomialScore
from likewise.families.trees.body import TreeForm
from likewise.families.trees.score import TreeScore
from likewise.model.embedding import Column
from likewise.spec.enclosure import Enclosure
from likewise.spec.terms import Separable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

How = Literal["mean", "max", "min"]
OPPOSITE: dict[How, How] = {"mean": "mean", "max": "min", "min": "max"}

NO_BOUNDS = "a mean, largest or smallest score over settings is bounded only where nothing that may differ matters to it"

SimpleBody = Affine | RbfSum | PolynomialSum | TreeForm
SimpleScore = Separable | KernelScore | PolynomialScore | TreeScore


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Part:
    """One of the bodies, over columns of its own (none for trees, which test codes)."""

    body: SimpleBody
    embedding: tuple[Column, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Combined:
    """What is made of the scores of the parts; `weights` of a mean, else none."""

    how: How
    weights: tuple[Fraction, ...]
    parts: tuple[Part, ...]


def made_of(how: How, weights: Sequence[Fraction], scores: Sequence[Fraction]) -> Fraction:
    """The combined score of an individual with these scores."""
    if how == "mean":
        return sum((w * s for w, s in zip(weights, scores, strict=True)), Fraction(0))
    return max(scores) if how == "max" else min(scores)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CombinedScore:
    """The score of a combined body over codes."""

    how: How
    weights: tuple[Fraction, ...]
    parts: tuple[SimpleScore, ...]

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, for proposing; never for deciding."""
        found = np.stack([part.scores(codes) for part in self.parts])
        if self.how == "mean":
            mean: Floats = np.array([float(w) for w in self.weights]) @ found
            return mean
        extreme: Floats = found.max(axis=0) if self.how == "max" else found.min(axis=0)
        return extreme

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """One score, by the ends of those of the parts."""
        found = [part.enclose(codes, bits) for part in self.parts]
        low = made_of(self.how, self.weights, [one.lo for one in found])
        return Enclosure(low, made_of(self.how, self.weights, [one.hi for one in found]))

    def depends(self, feature: int) -> bool:
        """Whether any part can change with a feature."""
        return any(part.depends(feature) for part in self.parts)

    def landmarks(self, space: Space) -> Floats:
        """Individuals that are worth looking at: those of the first part that knows any."""
        for part in self.parts:
            if isinstance(part, (KernelScore, PolynomialScore, TreeScore)):
                return part.landmarks(space)
        return np.empty((0, len(space)))

    def negated(self) -> CombinedScore:
        parts = tuple(part.negated() for part in self.parts)
        return CombinedScore(how=OPPOSITE[self.how], weights=self.weights, parts=parts)

    @property
    def cost(self) -> int:
        """What a search has to pay for a row."""
        return sum(part.cost for part in self.parts)

    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""
        return not any(isinstance(part, KernelScore) for part in self.parts)
