"""scikit-learn's NearestCentroid, x the columns that reach it: the class whose centroid c_i is nearest, the first of equal ones. As |x - c|^2 = |x|^2 - 2 (x . c - |c|^2 / 2), that is the largest of

    f_i = x . c_i - |c_i|^2 / 2,

and of two classes the second where f_1 - f_0 > 0. With the priors that it has by default its `predict` compares such distances, while its `decision_function` and `predict_proba` divide columns by their spread first: they belong
to other scores. How it rounds distances is not described.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.scored_model import Model
from likewise.families.settings import EXTRA_OPERATIONS
from likewise.importers.score_models import ScoreModels, python_labels, several_labels
from likewise.model.embedding import Column
from likewise.model.head import NUMBER_HEAD, Head

NEAREST = "NearestCentroid"
UNLINKED = "NearestCentroid decides by distances, and its probabilities divide columns by their spread first"


class ShownDistances:
    """A fitted model that is asked for what it compares: of two classes, by how much that of the second is larger."""

    def __init__(self, estimator: Any) -> None:
        self._centroids = np.asarray(estimator.centroids_, dtype=np.float64)

    def decision_function(self, rows: Any) -> Any:
        """All scores of many rows."""
        given = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows, dtype=np.float64)
        scores = given @ self._centroids.T - 0.5 * (self._centroids**2).sum(axis=1)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def import_centroids(estimator: Any, embedding: tuple[Column, ...]) -> ScoreModels:
    """The exact model on these columns, one a score."""
    if not hasattr(estimator, "centroids_"):
        raise UnsupportedModel(f"{NEAREST} is not fitted", hint="call fit(X, y) first")
    prior = np.asarray(estimator.class_prior_)
    if estimator.metric != "euclidean" or not np.isclose(prior, 1 / len(prior)).all():
        raise UnsupportedModel(
            f"{NEAREST}(metric={estimator.metric!r}, priors={estimator.priors!r}) is not supported: it compares other distances than plain ones",
            hint="fit it with metric='euclidean' and priors='uniform' (the defaults)",
        )
    centroids = np.asarray(estimator.centroids_, dtype=np.float64)
    if centroids.shape[1] != len(embedding) or not np.isfinite(centroids).all():
        raise UnsupportedModel(
            f"{NEAREST} has centroids of {centroids.shape[1]} columns for {len(embedding)}, or some that are not finite",
            hint="it was changed after fitting",
        )
    labels = several_labels(estimator, NEAREST)
    if labels is None:
        lower, upper = python_labels(estimator.classes_)
        head = Head(labels=(lower, upper), unlinked=UNLINKED)
        return ScoreModels.of(_score_model(centroids, {0: -1, 1: 1}, embedding, head))
    models = tuple(_score_model(centroids, {i: 1}, embedding, NUMBER_HEAD) for i in range(len(labels)))
    return ScoreModels(
        family=NEAREST, models=models, head=Head(labels=labels, rule="argmax", unlinked=UNLINKED)
    )


def _score_model(
    centroids: Any, signs: Mapping[int, int], embedding: tuple[Column, ...], head: Head
) -> Model:
    """The sum of the scores of these classes, with their signs."""
    width = len(embedding)
    weights, sizes = [Fraction(0)] * width, [Fraction(0)] * width
    bias = constant = Fraction(0)
    for i, sign in signs.items():
        centre = [Fraction(value) for value in centroids[i].tolist()]
        square = sum((value * value for value in centre), Fraction(0)) / 2
        bias, constant = bias - sign * square, constant + square
        for c, value in enumerate(centre):
            weights[c] += sign * value
            sizes[c] += abs(value)
    rounding = AffineRounding(
        sizes=tuple(sizes),
        constant=constant,
        operations=2 * width + EXTRA_OPERATIONS,
        described=False,
        bounded=False,
    )
    body = Affine(weights=tuple(weights), bias=bias)
    return Model(family=NEAREST, rounding=rounding, embedding=embedding, bodies=(body,), head=head)
