"""The mixed family: bumps in sums of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.family import Family
from likewise.families.mixed.body import MixedScore, MixedSum
from likewise.families.mixed.judge import MixedJudge
from likewise.model.embedding import Column, column_line
from likewise.spec.numbers import format_number, format_numbers, one_or_array

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.mixed.bounder import MixedBounder
    from likewise.families.scored_model import Model
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]


class MixedFamily(Family):
    """bias + sum of coefficients times bumps. The bodies of a model share all but coefficients."""

    name = "mixed"
    rules = MappingProxyType(
        {"mixed": "a sum of bumps stays on one side of a line, by a quadratic bound in sums of columns"}
    )
    links_rescaled = False
    takes_pieces = True

    def form(self, bodies: Sequence[MixedSum], alpha: tuple[Fraction, ...]) -> MixedSum:
        """Coefficients are doubles, so only one score, or its negative."""
        places = [i for i, a in enumerate(alpha) if a]
        if len(places) != 1 or abs(alpha[places[0]]) != 1:
            raise InternalError("a form of sums of bumps is one of them, or its negative")
        body = bodies[places[0]]
        return body if alpha[places[0]] > 0 else body.negated()

    def form_score(
        self, model: Model, parts: Sequence[MixedScore], alpha: tuple[Fraction, ...], n_features: int
    ) -> MixedScore:
        """alpha . f of several with its coefficients rounded to doubles: good enough for bounds, which only propose; the checker forms it in rationals."""
        if sum(map(abs, alpha)) == 1:
            return MixedScore(body=self.form(_bumps(model), alpha), embedding=model.embedding)
        weights = np.array([float(a) for a in alpha])
        body = parts[0].body.with_coefficients(
            weights @ np.stack([part.body.coefficients for part in parts]),
            float(weights @ [part.body.bias for part in parts]),
        )
        return replace(parts[0], body=body)

    def join_bodies(
        self, bodies: Sequence[MixedSum], places: Sequence[tuple[int, ...]], width: int, estimator: str
    ) -> tuple[MixedSum, ...]:
        first = bodies[0]
        if any(place != places[0] for place in places) or any(_differ(first, body) for body in bodies[1:]):
            raise UnsupportedModel(
                f"{estimator} holds kernel models of mixed columns with centres of their own, which have no one form",
                hint="put what mixes or bends columns in front of one model",
            )
        return tuple(bodies)

    def check(self, bodies: Sequence[MixedSum]) -> None:
        if any(_differ(bodies[0], body) for body in bodies[1:]):
            raise UnsupportedModel("the sums of bumps of this model do not share their centres")

    def bounder(self, score: MixedScore, pairs: PairSpace, second: MixedScore | None = None) -> MixedBounder:
        from likewise.families.mixed.bounder import MixedBounder

        return MixedBounder(score, pairs, second)

    def judge(self, score: MixedScore) -> MixedJudge:
        return MixedJudge(score)

    def line(self, bodies: Sequence[MixedSum], embedding: tuple[Column, ...]) -> dict[str, Any]:
        first = bodies[0]
        rows = zip(first.centres.tolist(), *(body.coefficients.tolist() for body in bodies), strict=True)
        return {
            "kind": "mixed",
            "shape": first.shape,
            "gamma": format_number(Fraction(first.gamma)),
            "bias": one_or_array([Fraction(body.bias) for body in bodies]),
            "columns": [column_line(column) for column in embedding],
            "sums": [
                [format_number(constant), [[c, format_number(factor)] for c, factor in pairs]]
                for constant, pairs in first.sums
            ],
            "terms": [
                [one_or_array(list(map(Fraction, weights))), format_numbers(map(Fraction, centre))]
                for centre, *weights in rows
            ],
        }

    def hints_line(self, rule: str, hints: Sequence[int]) -> list[Any]:
        """The last one by itself."""
        return [list(hints[:-1]), hints[-1]]


FAMILY = MixedFamily()


def _bumps(model: Model) -> list[MixedSum]:
    return [body for body in model.bodies if isinstance(body, MixedSum)]


def _differ(one: MixedSum, other: MixedSum) -> bool:
    """Whether two bodies differ in more than coefficients."""
    same = one.centres is other.centres or np.array_equal(one.centres, other.centres)
    return not same or (one.shape, one.gamma, one.sums) != (other.shape, other.gamma, other.sums)
