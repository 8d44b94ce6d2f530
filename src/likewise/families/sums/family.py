"""The family of sums: scores of other families, which it knows through the registry only, added up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from likewise.families.family import Body, Family
from likewise.families.registry import family_of
from likewise.families.sums.body import Sum, SumPart, SumScore
from likewise.families.sums.judge import SumJudge
from likewise.model.embedding import Column, restrict_columns
from likewise.spec.numbers import one_or_array
from likewise.spec.terms import dot

if TYPE_CHECKING:
    from likewise.families.family import KeptLevels
    from likewise.families.scored_model import Model
    from likewise.families.sums.bounder import SumBounder
    from likewise.spec.pairs import PairSpace


class SumFamily(Family):
    """bias + sum of weight * link(score)."""

    name = "sums"
    rules = MappingProxyType(
        {
            "sum": "a sum of scores stays on one side of a line, by a line of each part and lines around what it goes through"
        }
    )
    leads = True
    differences = False

    def form(self, bodies: Sequence[Sum], alpha: tuple[Fraction, ...]) -> Sum:
        weights = tuple(dot(alpha, column) for column in zip(*(body.weights for body in bodies), strict=True))
        return replace(bodies[0], weights=weights, bias=dot(alpha, [body.bias for body in bodies]))

    def form_score(
        self, model: Model, parts: Sequence[SumScore], alpha: tuple[Fraction, ...], n_features: int
    ) -> SumScore:
        """With the scores of the first one's parts."""
        made = self.form([body for body in model.bodies if isinstance(body, Sum)], alpha)
        return parts[0].form(made.weights, made.bias) if parts else made.score(model.embedding, n_features)

    def join(self, models: Sequence[Model], estimator: str) -> tuple[tuple[Column, ...], tuple[Body, ...]]:
        """Over the parts of all of them; each one's own count."""
        sums = [model.body for model in models if isinstance(model.body, Sum)]
        every: list[SumPart] = []
        for one in sums:
            every += [part for part in one.parts if not any(part is known for known in every)]
        return (), tuple(_widen(one, tuple(every)) for one in sums)

    def restricted(self, bodies: Sequence[Sum], kept: KeptLevels) -> tuple[Sum, ...] | None:
        """Part by part; all bodies over the same parts, as before."""
        parts = []
        for part in bodies[0].parts:
            found = family_of(part.body).restricted([part.body], kept)
            if found is None:
                return None
            parts.append(replace(part, body=found[0], embedding=restrict_columns(part.embedding, kept)))
        return tuple(replace(body, parts=tuple(parts)) for body in bodies)

    def bounder(self, score: SumScore, pairs: PairSpace, second: SumScore | None = None) -> SumBounder:
        from likewise.families.sums.bounder import SumBounder

        return SumBounder(score, pairs, second)

    def why_unbounded(self, scores: Sequence[SumScore]) -> str | None:
        """Why nothing bounds a part of them."""
        for score in scores:
            for part, _, _ in score.counting():
                reason = family_of(part).why_unbounded([part])
                if reason is not None:
                    return reason
        return None

    def judge(self, score: SumScore) -> SumJudge:
        return SumJudge(score)

    def line(self, bodies: Sequence[Sum], embedding: tuple[Column, ...]) -> dict[str, Any]:
        parts = []
        for place, part in enumerate(bodies[0].parts):
            weights = [body.weights[place] for body in bodies]
            inside = family_of(part.body).line([part.body], part.embedding)
            parts.append({"weight": one_or_array(weights), "link": part.link.line(), "body": inside})
        return {"kind": "sum", "bias": one_or_array([body.bias for body in bodies]), "parts": parts}


FAMILY = SumFamily()


def _widen(one: Sum, every: tuple[SumPart, ...]) -> Sum:
    weights = [
        sum((w for part, w in zip(one.parts, one.weights, strict=True) if part is known), Fraction(0))
        for known in every
    ]
    return replace(one, parts=every, weights=tuple(weights))
