"""The combined family: means, largest and smallest of scores of other families, which it knows through the registry only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.errors import UnsupportedModel
from likewise.families.combined.body import NO_BOUNDS, Combined, CombinedPart, CombinedScore
from likewise.families.combined.judge import CombinedJudge
from likewise.families.family import Body, Family
from likewise.families.registry import family_of
from likewise.model.embedding import Column
from likewise.spec.numbers import format_numbers

if TYPE_CHECKING:
    from likewise.families.scored_model import Model
    from likewise.spec.pairs import PairSpace


class CombinedFamily(Family):
    """What is made of the scores of several bodies."""

    name = "combined"
    links_rescaled = False
    unbounded = NO_BOUNDS

    def form(self, bodies: Sequence[Combined], alpha: tuple[Fraction, ...]) -> Combined:
        places = [i for i, a in enumerate(alpha) if a]
        if len(places) != 1 or alpha[places[0]] != 1:
            raise UnsupportedModel(
                "combined scores of several classes are not compared with each other",
                hint="ask for what no feature that may differ matters to, or about the model inside",
            )
        return bodies[places[0]]

    def join(self, models: Sequence[Model], estimator: str) -> tuple[tuple[Column, ...], tuple[Body, ...]]:
        """Part by part, as the family of the parts does."""
        means = [model.body for model in models if isinstance(model.body, Combined)]
        rows = []
        for parts in zip(*(mean.parts for mean in means), strict=True):
            simple = [
                replace(model, bodies=(part.body,), embedding=part.embedding)
                for model, part in zip(models, parts, strict=True)
            ]
            rows.append(family_of(parts[0].body).join(simple, estimator))
        return (), tuple(
            replace(
                mean, parts=tuple(CombinedPart(body=bodies[c], embedding=columns) for columns, bodies in rows)
            )
            for c, mean in enumerate(means)
        )

    def bounder(self, score: CombinedScore, pairs: PairSpace, second: CombinedScore | None = None) -> None:
        return None

    def judge(self, score: CombinedScore) -> CombinedJudge:
        return CombinedJudge(score)

    def line(self, bodies: Sequence[Combined], embedding: tuple[Column, ...]) -> dict[str, Any]:
        first = bodies[0]
        weights = {"weights": format_numbers(first.weights)} if first.how == "mean" else {}
        parts = []
        for row in zip(*(body.parts for body in bodies), strict=True):
            of_part = [part.body for part in row]
            parts.append(family_of(of_part[0]).line(of_part, row[0].embedding))
        return {"kind": "combined", "how": first.how, **weights, "of": parts}


FAMILY = CombinedFamily()
