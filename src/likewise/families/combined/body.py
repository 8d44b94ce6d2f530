"""Combined scores: the weighted mean of the scores of several bodies, or the largest or the smallest of them.

    mean   f = sum_i weight_i f_i, weights >= 0 with the sum 1        max   f = max_i f_i        min   f = min_i f_i

All three are monotone in every f_i, so that enclosures of the f_i give one of f by their ends, no wider than the widest.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from likewise.errors import InternalError
from likewise.families.combined.rounding import CombinedRounding
from likewise.families.settings import CombineRule
from likewise.model.embedding import Column
from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import AffineMap, Body, KeptLevels, Score
    from likewise.families.scored_model import Model
    from likewise.families.settings import CombineRule
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

NO_BOUNDS = "a mean, largest or smallest score over settings is bounded only where nothing that may differ matters to it"
NEGATED_HOW: dict[CombineRule, CombineRule] = {"mean": "mean", "max": "min", "min": "max"}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CombinedPart:
    """One of the bodies, over columns of its own (none for trees, which test codes)."""

    body: Body
    embedding: tuple[Column, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Combined:
    """What is made of the scores of the parts; `weights` of a mean, else none."""

    family: ClassVar[str] = "combined"

    how: CombineRule
    weights: tuple[Fraction, ...]
    parts: tuple[CombinedPart, ...]

    def score(self, embedding: tuple[Column, ...], n_features: int) -> CombinedScore:
        parts = tuple(part.body.score(part.embedding, n_features) for part in self.parts)
        return CombinedScore(how=self.how, weights=self.weights, parts=parts)

    def rescaled(self, by: AffineMap, kind: str) -> Combined:
        parts = tuple(replace(part, body=part.body.rescaled(by, kind)) for part in self.parts)
        return replace(self, how=self.how if by.slope >= 0 else NEGATED_HOW[self.how], parts=parts)

    def reads(self, feature: int) -> bool:
        columns = [column for part in self.parts for column in part.embedding]
        return any(column.feature == feature and not column.constant for column in columns) or any(
            part.body.reads(feature) for part in self.parts
        )

    def restricted(self, kept: KeptLevels) -> None:
        return None

    def common_denominator(self, embedding: tuple[Column, ...], space: Space) -> None:
        return None


def combine_scores(how: CombineRule, weights: Sequence[Fraction], scores: Sequence[Fraction]) -> Fraction:
    """The combined score of an individual with these scores."""
    if how == "mean":
        return sum((w * s for w, s in zip(weights, scores, strict=True)), Fraction(0))
    return max(scores) if how == "max" else min(scores)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CombinedScore:
    """The score of a combined body over codes."""

    family: ClassVar[str] = "combined"

    how: CombineRule
    weights: tuple[Fraction, ...]
    parts: tuple[Score, ...]

    def scores(self, codes: Floats) -> Floats:
        """Many rows in float64, for proposing; never for deciding."""
        found = np.stack([part.scores(codes) for part in self.parts])
        if self.how == "mean":
            mean: Floats = np.array([float(w) for w in self.weights]) @ found
            return mean
        extreme: Floats = found.max(axis=0) if self.how == "max" else found.min(axis=0)
        return extreme

    def scorer(self) -> Callable[[Floats], Floats]:
        return self.scores

    def reference_scores(self, codes: Floats) -> list[Fraction]:
        """By those of the parts."""
        rows = zip(*(part.reference_scores(codes) for part in self.parts), strict=True)
        return [combine_scores(self.how, self.weights, row) for row in rows]

    def exact(self, codes: Sequence[Fraction]) -> Fraction:
        if not self.rational:
            raise InternalError("scores that are made of irrational ones are not rational")
        return combine_scores(self.how, self.weights, [part.exact(codes) for part in self.parts])

    def enclose(self, codes: Sequence[Fraction], bits: int) -> Enclosure:
        """One score, by the ends of those of the parts."""
        found = [part.enclose(codes, bits) for part in self.parts]
        low = combine_scores(self.how, self.weights, [one.lo for one in found])
        return Enclosure(low, combine_scores(self.how, self.weights, [one.hi for one in found]))

    def depends(self, feature: int) -> bool:
        """Whether any part can change with a feature."""
        return any(part.depends(feature) for part in self.parts)

    def landmarks(self, space: Space) -> Floats:
        """Individuals that are worth looking at: those of the first part."""
        return self.parts[0].landmarks(space)

    def negated(self) -> CombinedScore:
        parts = tuple(part.negated() for part in self.parts)
        return CombinedScore(how=NEGATED_HOW[self.how], weights=self.weights, parts=parts)

    @property
    def cost(self) -> int:
        """What a search has to pay for a row."""
        return sum(part.cost for part in self.parts)

    @property
    def rational(self) -> bool:
        """Whether scores are known exactly."""
        return all(part.rational for part in self.parts)

    @property
    def enclosing_work(self) -> int:
        """Of all parts."""
        return sum(part.enclosing_work for part in self.parts)


def combine_models(
    model: Model, how: CombineRule, weights: Sequence[Fraction], parts: Sequence[Model]
) -> Model:
    """The model like `model` whose score is made of those of the parts."""
    if any(part.body.family == Combined.family for part in parts):
        raise InternalError("combined bodies are not combined")
    bodies = tuple(CombinedPart(body=one.body, embedding=one.embedding) for one in parts)
    return replace(
        model,
        embedding=(),
        bodies=(Combined(how=how, weights=tuple(weights), parts=bodies),),
        rounding=CombinedRounding(parts=tuple(parts)),
    )


def combined_parts(model: Model) -> tuple[Model, ...]:
    """The models whose scores a program of one score combines; none where it combines nothing."""
    known = isinstance(model.bodies[0], Combined) and isinstance(model.rounding, CombinedRounding)
    return model.rounding.parts if known and isinstance(model.rounding, CombinedRounding) else ()


def combine_floats(body: object, scores: Sequence[Floats]) -> Floats:
    """What the body makes of the scores of its parts, in float64: the largest or smallest ones; of one part its own."""
    if not isinstance(body, Combined):
        (own,) = scores
        return own
    if body.how == "mean":
        raise InternalError("means of trees are trees")
    extreme = np.max if body.how == "max" else np.min
    made: Floats = extreme(np.stack(scores), axis=0)
    return made
