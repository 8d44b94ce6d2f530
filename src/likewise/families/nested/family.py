"""The family of nested scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from likewise.errors import UnsupportedModel
from likewise.families.family import Family
from likewise.families.nested.body import Nested, NestedScore
from likewise.families.nested.judge import NestedJudge
from likewise.families.nested.median import Median
from likewise.families.nested.rounding import NestedRounding
from likewise.families.registry import family_of
from likewise.model.embedding import Column

if TYPE_CHECKING:
    from likewise.families.family import Body, Rounding
    from likewise.families.nested.bounder import NestedBounder
    from likewise.families.scored_model import Model
    from likewise.spec.pairs import PairSpace

COPIES = 2  # of an inner score: at x and at x'


class NestedFamily(Family):
    """Trees and medians of scores of other families."""

    name = "nested"
    rules = MappingProxyType(
        {"nested": "a function of other scores stays on one side of a line, by limits of each of these"}
    )
    leads = True
    differences = False

    def form(self, bodies: Sequence[Nested], alpha: tuple[Fraction, ...]) -> Nested:
        outers = [body.outer for body in bodies]
        if isinstance(outers[0], Median):
            return replace(bodies[0], outer=outers[0].scaled(alpha[0]))
        return replace(bodies[0], outer=family_of(outers[0]).form(outers, alpha))

    def form_score(
        self, model: Model, parts: Sequence[NestedScore], alpha: tuple[Fraction, ...], n_features: int
    ) -> NestedScore:
        """With the inner scores of the first one."""
        made = self.form([body for body in model.bodies if isinstance(body, Nested)], alpha)
        if not parts or isinstance(made.outer, Median):
            return made.score(model.embedding, n_features)
        return parts[0].around(parts[0].outer.form(made.outer.alpha))

    def join(self, models: Sequence[Model], estimator: str) -> tuple[tuple[Column, ...], tuple[Body, ...]]:
        raise UnsupportedModel(
            f"{estimator} holds models whose trees test sums of features, which are not compared here",
            hint="put what mixes columns in front of it",
        )

    def rounding_of_lead(self, rounding: Rounding | None, share: Fraction) -> Rounding | None:
        return rounding.of_lead(share) if isinstance(rounding, NestedRounding) else None

    def bounder(
        self, score: NestedScore, pairs: PairSpace, second: NestedScore | None = None
    ) -> NestedBounder:
        from likewise.families.nested.bounder import NestedBounder

        return NestedBounder(score, pairs, second)

    def inner_quantities(self, bodies: Sequence[Nested]) -> int:
        """Two an inner score."""
        return COPIES * len(bodies[0].inner)

    def inner_line(self, bodies: Sequence[Nested], place: int) -> list[Any]:
        return ["inner", *divmod(place, COPIES)]

    def judge(self, score: NestedScore) -> NestedJudge:
        return NestedJudge(score)

    def line(self, bodies: Sequence[Nested], embedding: tuple[Column, ...]) -> dict[str, Any]:
        outers = [body.outer for body in bodies]
        inner = [family_of(one.body).line([one.body], one.embedding) for one in bodies[0].inner]
        if isinstance(outers[0], Median):
            return {"kind": "nested", "inner": inner, "outer": outers[0].line()}
        return {"kind": "nested", "inner": inner, "outer": family_of(outers[0]).line(outers, ())}


FAMILY = NestedFamily()
