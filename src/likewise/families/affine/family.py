"""The affine family: linear models, whose scores are sums of one function a feature."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.family import Family
from likewise.families.separable import SeparableJudge
from likewise.families.settings import EXTRA_OPERATIONS
from likewise.model.embedding import Column, column_line
from likewise.spec.numbers import one_or_array
from likewise.spec.terms import dot

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.cells.forms import Forms
    from likewise.families.affine.body import AffineScore
    from likewise.families.affine.bounder import SeparableBounder
    from likewise.families.affine.odds import OddsBounder
    from likewise.families.scored_model import Model
    from likewise.families.settings import Settings
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]


class AffineFamily(Family):
    """bias + sum of weight * column."""

    name = "affine"
    rules = MappingProxyType(
        {
            "separable": "a line separates the cell's scores from those that break the property",
            "odds": "probabilities by softmax differ little enough, seen by the extent of scores",
        }
    )
    leads = True
    bounded_means = True
    additive = True
    takes_pieces = True
    differences = False
    softmax = "odds"

    def form(self, bodies: Sequence[Affine], alpha: tuple[Fraction, ...]) -> Affine:
        columns = zip(*(body.weights for body in bodies), strict=True)
        return Affine(
            weights=tuple(dot(alpha, column) for column in columns),
            bias=dot(alpha, [body.bias for body in bodies]),
        )

    def join_bodies(
        self, bodies: Sequence[Affine], places: Sequence[tuple[int, ...]], width: int, estimator: str
    ) -> tuple[Affine, ...]:
        return tuple(_widen_body(body, place, width) for body, place in zip(bodies, places, strict=True))

    def bounder(
        self, score: AffineScore, pairs: PairSpace, second: AffineScore | None = None
    ) -> SeparableBounder:
        if second is not None:
            from likewise.families.affine.bounder import RivalBounder

            return RivalBounder(score, second, pairs)
        from likewise.families.affine.bounder import SeparableBounder

        return SeparableBounder(score, pairs)

    def shared(self, parts: Sequence[AffineScore], pairs: PairSpace) -> Forms:
        from likewise.cells.forms import Forms

        return Forms(parts, pairs)

    def codes_to_try(self, shared: Forms) -> dict[int, Floats]:
        return shared.codes_to_try()

    def bounder_of_log_odds(
        self, parts: Sequence[AffineScore], of: int, pairs: PairSpace, shared: Forms
    ) -> OddsBounder:
        from likewise.families.affine.odds import OddsBounder

        return OddsBounder(parts, of, pairs)

    def judge(self, score: AffineScore) -> SeparableJudge:
        return SeparableJudge(score)

    def mean(self, model: Model, settings: Settings) -> Model | None:
        body, rounding = model.body, model.rounding
        if settings.single or not (isinstance(body, Affine) and isinstance(rounding, AffineRounding)):
            return None
        return _mean_model(model, body, rounding, settings)

    def line(self, bodies: Sequence[Affine], embedding: tuple[Column, ...]) -> dict[str, Any]:
        columns = []
        for column, *weights in zip(embedding, *(body.weights for body in bodies), strict=True):
            place, *rest = column_line(column).items()
            columns.append(dict([place, ("weight", one_or_array(weights)), *rest]))
        return {"kind": "affine", "bias": one_or_array([body.bias for body in bodies]), "columns": columns}


FAMILY = AffineFamily()


def _widen_body(body: Affine, place: tuple[int, ...], width: int) -> Affine:
    weights = [Fraction(0)] * width
    for column, weight in zip(place, body.weights, strict=True):
        weights[column] += weight
    return Affine(weights=tuple(weights), bias=body.bias)


def _mean_model(model: Model, body: Affine, rounding: AffineRounding, settings: Settings) -> Model:
    """Columns of fixed features count with the share that is kept; the rest of them goes into the bias.

    The program scores every setting and takes the mean: each score is off by at most what its terms allow, and no setting has larger terms of
    fixed features than the one with the largest.
    """
    places = [c for c, column in enumerate(model.embedding) if column.feature in settings.codes[0]]
    share = dict.fromkeys(places, settings.keep)
    bias, largest = body.bias, Fraction(0)
    for codes, weight in zip(settings.codes, settings.weights, strict=True):
        values = {c: model.embedding[c].exact(codes[model.embedding[c].feature]) for c in places}
        bias += (
            (1 - settings.keep) * weight * sum((body.weights[c] * v for c, v in values.items()), Fraction(0))
        )
        largest = max(largest, sum((rounding.sizes[c] * abs(v) for c, v in values.items()), Fraction(0)))
    kept = [c for c in range(len(model.embedding)) if share.get(c, Fraction(1))]
    more = replace(
        rounding,
        sizes=tuple(rounding.sizes[c] * share.get(c, Fraction(1)) for c in kept),
        constant=rounding.constant + largest,
        operations=rounding.operations + len(settings.codes) + 1 + EXTRA_OPERATIONS,
    )
    return replace(
        model,
        embedding=tuple(model.embedding[c] for c in kept),
        bodies=(Affine(weights=tuple(body.weights[c] * share.get(c, Fraction(1)) for c in kept), bias=bias),),
        rounding=more,
    )
