"""Models of n >= 1 scores: one model a score first, and then how all of them together decide.

    linear models, one vs rest   a score a class; the class is the first one with the largest score (`argmax`)
    libsvm's one vs one          a score a pair of classes, which votes for one of the two (`votes`)

Every score is imported as the score of a model of its own (`Unjoined`), through the same steps whether there are several or one. `joined`
makes one model of them: over one embedding, sums of Gaussians over the centres of all, polynomials over the products of all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.combined.score import Combined, Part
from likewise.families.kernel.body import RbfSum
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.scored import Body, Model, SeparateRounding
from likewise.model.head import Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.embedding import Column

    Floats = NDArray[np.float64]

MOST_SCORES = 1000  # in a certificate
MOST_VOTING_CLASSES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjoined:
    """One model a score, of which embedding, body and rounding count, and how all scores together decide."""

    family: str
    models: tuple[Model, ...]
    head: Head

    def __post_init__(self) -> None:
        if len(self.models) != self.head.n_scores:
            raise UnsupportedModel(
                f"{self.family} has {len(self.models)} scores for {len(self.head.classes)} classes",
                hint="the estimator was changed after fitting",
            )

    @staticmethod
    def of(model: Model) -> Unjoined:
        """A model of one score."""
        return Unjoined(family=model.family, models=(model,), head=model.head)

    def each(self, change: Callable[[Model], Model]) -> Unjoined:
        """The same with every score's model changed."""
        return replace(self, models=tuple(change(model) for model in self.models))


def several_labels(estimator: Any, family: str) -> tuple[object, ...] | None:
    """The labels of a classifier of more than two classes, None for any other estimator."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) <= 2:
        return None
    binarizer = getattr(estimator, "label_binarizer_", getattr(estimator, "_label_binarizer", None))
    if isinstance(classes, list) or str(getattr(binarizer, "y_type_", "")).startswith("multilabel"):
        raise UnsupportedModel(
            f"{family} was fitted on several labels at once, each of which an individual may have or not",
            hint="fit one model a label",
        )
    if len(classes) > MOST_SCORES:
        raise UnsupportedModel(
            f"{family} was fitted on {len(classes):,} classes; at most {MOST_SCORES:,} are supported"
        )
    return plain(classes)


def plain(classes: Any) -> tuple[object, ...]:
    """Labels as Python's own values."""
    return tuple(label.item() if hasattr(label, "item") else label for label in classes)


def refuse_wrapper(wrapper: Any, model: Model) -> None:
    """Thresholds and calibrations are for two classes."""
    kind = type(wrapper).__name__
    why = "a threshold is for one score"
    if kind == "CalibratedClassifierCV":
        why = "it normalises the calibrated probabilities of each class against the rest"
    raise UnsupportedModel(
        f"{kind} around a classifier of {len(model.head.classes)} classes is not supported: {why}",
        hint=f"verify the {model.family} inside of it",
    )


def joined(scores: Unjoined) -> Model:
    """The model of all scores together."""
    if len(scores.models) == 1:
        return replace(scores.models[0], family=scores.family, head=scores.head)
    if isinstance(scores.models[0].body, Combined):
        return _combined(scores)
    embedding, places = _one_embedding([model.embedding for model in scores.models])
    bodies = [model.body for model in scores.models]
    kinds = {type(body) for body in bodies}
    if len(kinds) > 1 or (kinds == {RbfSum} and any(place != places[0] for place in places)):
        raise UnsupportedModel(
            f"{scores.family} holds models of different kinds or on different columns, which have no one form",
            hint="use one kind of model, and put what selects or scales columns in front of it",
        )
    return Model(
        family=scores.family,
        rounding=SeparateRounding(parts=scores.models),
        embedding=embedding,
        bodies=_joined(bodies, places, len(embedding), scores.family),
        head=scores.head,
    )


def _combined(scores: Unjoined) -> Model:
    """The same of means of scores: part by part."""
    means = [model.body for model in scores.models if isinstance(model.body, Combined)]
    rows = []
    for parts in zip(*(mean.parts for mean in means), strict=True):
        models = zip(scores.models, parts, strict=True)
        simple = tuple(
            replace(model, bodies=(part.body,), embedding=part.embedding) for model, part in models
        )
        rows.append(joined(replace(scores, models=simple)))
    bodies = []
    for c, mean in enumerate(means):
        parts_of_score = []
        for row in rows:
            body: Any = row.bodies[c]
            parts_of_score.append(Part(body=body, embedding=row.embedding))
        bodies.append(replace(mean, parts=tuple(parts_of_score)))
    return Model(
        family=scores.family,
        rounding=SeparateRounding(parts=scores.models),
        embedding=(),
        bodies=tuple(bodies),
        head=scores.head,
    )


def _one_embedding(
    embeddings: Sequence[tuple[Column, ...]],
) -> tuple[tuple[Column, ...], list[tuple[int, ...]]]:
    """The columns of all, and where each one's are among them."""
    if all(one == embeddings[0] for one in embeddings):
        return embeddings[0], [tuple(range(len(embeddings[0])))] * len(embeddings)
    found: dict[Column, int] = {}
    places = [tuple(found.setdefault(column, len(found)) for column in one) for one in embeddings]
    return tuple(found), places


def _joined(
    bodies: Sequence[Any], places: list[tuple[int, ...]], width: int, family: str
) -> tuple[Body, ...]:
    if isinstance(bodies[0], Affine):
        return tuple(_affine(body, place, width) for body, place in zip(bodies, places, strict=True))
    if isinstance(bodies[0], RbfSum):
        return _gaussians(bodies, family)
    if isinstance(bodies[0], PolynomialSum):
        return _polynomials(bodies, places)
    raise InternalError(f"no joint body of {type(bodies[0]).__name__}s")


def _affine(body: Affine, place: tuple[int, ...], width: int) -> Affine:
    weights = [Fraction(0)] * width
    for column, weight in zip(place, body.weights, strict=True):
        weights[column] += weight
    return Affine(weights=tuple(weights), bias=body.bias)


def _gaussians(bodies: Sequence[RbfSum], family: str) -> tuple[RbfSum, ...]:
    """The same sums over the centres of all."""
    gamma = bodies[0].gamma
    if any(body.gamma != gamma for body in bodies):
        raise UnsupportedModel(
            f"{family} holds kernel models of different gamma", hint="fit it with one number for gamma"
        )
    rows: dict[tuple[bytes, int], int] = {}
    joined = [[rows.setdefault(key, len(rows)) for key in _keys(body.centres)] for body in bodies]
    centres = np.array([np.frombuffer(row) for row, _ in rows])
    found = []
    for body, places in zip(bodies, joined, strict=True):
        coefficients = np.zeros(len(rows))
        coefficients[places] = body.coefficients
        found.append(RbfSum(gamma=gamma, bias=body.bias, coefficients=coefficients, centres=centres))
    return tuple(found)


def _keys(centres: Floats) -> Iterator[tuple[bytes, int]]:
    """What tells centres apart: a centre that one sum has twice is two, as the sum of two coefficients may be no double."""
    seen: Counter[bytes] = Counter()
    for centre in centres + 0.0:  # -0.0 and 0.0 are one number
        row = centre.tobytes()
        yield row, seen[row]
        seen[row] += 1


def _polynomials(bodies: Sequence[PolynomialSum], places: list[tuple[int, ...]]) -> tuple[PolynomialSum, ...]:
    """The same sums over the products of all."""
    terms: list[dict[tuple[int, ...], Fraction]] = []
    for body, place in zip(bodies, places, strict=True):
        moved: dict[tuple[int, ...], Fraction] = {}
        for value, product in zip(body.coefficients, body.products, strict=True):
            key = tuple(sorted(place[column] for column in product))
            moved[key] = moved.get(key, Fraction(0)) + value
        terms.append(moved)
    products = tuple(dict.fromkeys(product for one in terms for product in one))
    return tuple(
        PolynomialSum(coefficients=tuple(one.get(p, Fraction(0)) for p in products), products=products)
        for one in terms
    )
