"""scikit-learn's QuadraticDiscriminantAnalysis, x the columns that reach it: a score a class,

    f_i = log prior_i - 1/2 (sum_j log s_ij + |(x - mean_i) M_i|^2),      M_i = rotation_i scaling_i^(-1/2),

multiplied out exactly into products of two columns. M_i and the logarithms are the doubles that the program makes of what it has stored, made here by the same functions. The first largest score decides, and probabilities are
their softmax; two classes have one score, f_1 - f_0. (LinearDiscriminantAnalysis is a linear model: `sklearn_linear`.)
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpz_mat

from likewise.errors import UnsupportedModel
from likewise.families.polynomial.body import PolynomialSum
from likewise.families.polynomial.rounding import PolynomialRounding
from likewise.families.scored_model import Model
from likewise.importers.expansion import MOST_PRODUCTS, Product, scaled_integers
from likewise.importers.score_models import ScoreModels, python_labels, several_labels
from likewise.model.embedding import Column
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ESTIMATORS = ("QuadraticDiscriminantAnalysis",)
HALF = Fraction(1, 2)


def import_discriminants(estimator: Any, embedding: tuple[Column, ...]) -> ScoreModels:
    """The exact model of a fitted quadratic discriminant analysis on these columns, one a score."""
    name = type(estimator).__name__
    if not hasattr(estimator, "rotations_"):
        raise UnsupportedModel(f"{name} is not fitted", hint="call fit(X, y) first")
    width = estimator.means_.shape[1]
    if width != len(embedding):
        raise UnsupportedModel(f"{name} has means of {width} columns, not {len(embedding)}")
    if width * (width + 1) // 2 > MOST_PRODUCTS:
        raise UnsupportedModel(
            f"{name} on {width:,} columns has more than {MOST_PRODUCTS:,} products of two columns",
            hint="fit it on fewer columns",
        )
    labels = several_labels(estimator, name)
    if labels is None:
        lower, upper = python_labels(estimator.classes_)
        head = Head(labels=(lower, upper), link="logistic")
        return ScoreModels.of(_score_model(estimator, {0: -1, 1: 1}, embedding, head))
    models = tuple(_score_model(estimator, {i: 1}, embedding, NUMBER_HEAD) for i in range(len(labels)))
    return ScoreModels(family=name, models=models, head=Head(labels=labels, rule="argmax", link="softmax"))


def _score_model(
    estimator: Any, signs: Mapping[int, int], embedding: tuple[Column, ...], head: Head
) -> Model:
    """The sum of the scores of these classes, with their signs."""
    name = type(estimator).__name__
    terms: dict[Product, Fraction] = {(): Fraction(0)}
    slopes, offsets, size = [], [], 0.0
    for i, sign in signs.items():
        mean, matrix, constants = _stored_class(estimator, i)
        if not all(np.isfinite(part).all() for part in (mean, matrix, constants)):
            raise UnsupportedModel(
                f"{name} has a class whose rows do not spread in every direction",
                hint="fit it with reg_param above 0, on more rows or fewer columns",
            )
        terms[()] += sign * sum(map(Fraction, constants), Fraction(0))
        for product, value in _square_norm(mean, matrix).items():
            terms[product] = terms.get(product, Fraction(0)) - sign * HALF * value
        slopes.append(matrix.T)
        offsets.append(np.abs(mean) @ np.abs(matrix))
        size += float(np.abs(constants).sum())
    slope = np.concatenate(slopes)
    rounding = PolynomialRounding(
        coefficients=np.full(len(slope), 0.5),
        slopes=slope,
        coef0=np.concatenate(offsets),
        bias=size,
        degree=2,
    )
    kept = {product: value for product, value in terms.items() if value or not product}
    body = PolynomialSum(coefficients=tuple(kept.values()), products=tuple(kept))
    return Model(family=name, rounding=rounding, embedding=embedding, bodies=(body,), head=head)


def _stored_class(estimator: Any, i: int) -> tuple[Floats, Floats, list[float]]:
    """Mean, M and constants of a class, as the program makes them."""
    rotation, scaling = estimator.rotations_[i], estimator.scalings_[i]
    with np.errstate(divide="ignore", invalid="ignore"):
        matrix = np.asarray(rotation * (scaling ** (-0.5)), dtype=np.float64)
        constants = [-0.5 * float(np.sum(np.log(scaling))), float(np.log(estimator.priors_)[i])]
    return np.asarray(estimator.means_[i], dtype=np.float64), matrix, constants


def _square_norm(mean: Floats, matrix: Floats) -> dict[Product, Fraction]:
    """|(x - mean) M|^2 = x A x - 2 mean A x + mean A mean with A = M M^T, in whole numbers over powers of two."""
    width = len(mean)
    flat, exponent = scaled_integers(matrix.ravel())
    factor = fmpz_mat(width, matrix.shape[1], flat)
    middle, shift = scaled_integers(mean)
    centre = fmpz_mat(width, 1, middle)
    form = factor * factor.transpose()
    linear = form * centre
    unit = 1 << 2 * exponent
    terms: dict[Product, Fraction] = {
        (): Fraction(int((centre.transpose() * linear)[0, 0]), unit << 2 * shift)
    }
    for k in range(width):
        terms[k,] = Fraction(-2 * int(linear[k, 0]), unit << shift)
        for j in range(k, width):
            terms[k, j] = Fraction((1 if j == k else 2) * int(form[k, j]), unit)
    return terms
