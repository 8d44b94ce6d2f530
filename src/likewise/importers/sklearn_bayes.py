"""scikit-learn's naive Bayes: a score a class, the joint log likelihood of the columns, which is a sum of one function a column.

    MultinomialNB, ComplementNB    f_i = prior_i + sum_c w_ic x_c, the rows of `feature_log_prob_`; no prior for ComplementNB
    BernoulliNB                    the same with w = log p - log(1 - p) of columns that are 0 or 1, and sum_c log(1 - p_ic) besides
    CategoricalNB                  a row of `feature_log_prob_[c]` a level of column c
    GaussianNB                     log prior_i - 1/2 sum_c log(2 pi var_ic) - 1/2 sum_c (x_c - theta_ic)^2 / var_ic, columns and their squares

What BernoulliNB does to its columns first (`binarize`), and that CategoricalNB cuts numbers down to whole ones and takes these for levels, are transformers of scikit-learn too: they are put in front (`implied_steps`). Logarithms that the program takes of
stored numbers are taken here by the same functions, and the doubles that come out are the constants of the score.

The first largest score decides, and probabilities are their softmax. Two classes have one score, f_1 - f_0, the log odds of the upper one, which is said where it is above 0. Estimators show no such
scores by a `decision_function`: `ShownLikelihoods` does.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DataError, MismatchedModel, UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import SLACK_GRID, AffineRounding
from likewise.families.scored_model import Model
from likewise.importers.score_models import ScoreModels, python_labels, several_labels
from likewise.model.embedding import Column
from likewise.model.head import NUMBER_HEAD, Head
from likewise.repaired.outputs import log_likelihoods
from likewise.spec.pieces import MOST_COEFFICIENTS, add_polynomials, make_piecewise, multiply_polynomials

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import ComputedColumn

    Floats = NDArray[np.float64]

GAUSSIAN, BERNOULLI, CATEGORICAL, COMPLEMENT = "GaussianNB", "BernoulliNB", "CategoricalNB", "ComplementNB"
LEVELS = "levels of CategoricalNB"  # the step that encodes them
ESTIMATORS = (GAUSSIAN, BERNOULLI, CATEGORICAL, COMPLEMENT, "MultinomialNB")
# Roundings of constants that the program computes, and of the logarithm of a sum that it subtracts for a probability, with room.
MORE_OPERATIONS = 24


class ShownLikelihoods:
    """A fitted naive Bayes model that is asked for its scores: joint log likelihoods, of two classes by how much that of the second is larger."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def decision_function(self, rows: Any) -> Any:
        """All scores of many rows, computed by the classifier itself."""
        return log_likelihoods(self._estimator, rows)


def implied_steps(estimator: Any) -> tuple[tuple[str, Any], ...]:
    """What a model does to its columns before it scores them, as transformers."""
    from sklearn.preprocessing import Binarizer

    name = type(estimator).__name__
    if name == BERNOULLI and getattr(estimator, "binarize", None) is not None:
        return (("binarize", Binarizer(threshold=estimator.binarize)),)
    if name == CATEGORICAL and hasattr(estimator, "feature_log_prob_"):
        return _level_steps([rows.shape[1] for rows in estimator.feature_log_prob_])
    return ()


def _level_steps(counts: Sequence[int]) -> tuple[tuple[str, Any], ...]:
    """Cuts numbers down to whole ones, as CategoricalNB does: bin 0 for what is -1 or less, bin j + 1 for j <= x < j + 1 (and -1 < x < 1 for j = 0). Then a column a level that it knows; of others
    it knows no probability, and its program fails."""
    from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder

    bins = KBinsDiscretizer(
        [count + 2 for count in counts], encode="ordinal", strategy="uniform", subsample=None
    )
    bins.fit(np.outer([0.0, 1.0], np.ones(len(counts))))
    for c, count in enumerate(counts):
        inner = [math.nextafter(-1.0, 0.0), *map(float, range(1, count + 1))]
        bins.bin_edges_[c] = np.array([-math.inf, *inner, math.inf])
    levels = [np.arange(1, count + 1, dtype=np.float64) for count in counts]
    encoder = OneHotEncoder(categories=levels, sparse_output=False)
    return (("whole", bins), (LEVELS, encoder.fit(np.ones((1, len(counts))))))


@contextmanager
def naming_unknown_levels(estimator: Any) -> Iterator[None]:
    """What the encoder of `implied_steps` fails on, CategoricalNB itself fails on."""
    try:
        yield
    except DataError as error:
        if f"{LEVELS!r} (OneHotEncoder)" not in error.message:
            raise
        counts = ", ".join(str(rows.shape[1]) for rows in estimator.feature_log_prob_[:12])
        raise MismatchedModel(
            f"{CATEGORICAL} has never seen some of the values of the space, and its own predict fails on them: it takes as many levels, counted from 0, as its columns have ({counts})",
            hint="leave them out of the space, or fit it with min_categories",
        ) from error


def import_bayes(estimator: Any, embedding: tuple[Column, ...]) -> ScoreModels:
    """The exact model of a fitted naive Bayes classifier on these columns, one a score."""
    name = type(estimator).__name__
    if not hasattr(estimator, "classes_"):
        raise UnsupportedModel(f"{name} is not fitted", hint="call fit(X, y) first")
    if len(estimator.classes_) < 2:
        raise UnsupportedModel(f"{name} was fitted on one class", hint="it says the same of everybody")
    labels = several_labels(estimator, name)
    make = _gaussian_model if name == GAUSSIAN else _discrete_model
    if labels is None:
        lower, upper = python_labels(estimator.classes_)
        lead = make(estimator, {0: -1, 1: 1}, embedding, Head(labels=(lower, upper), link="logistic"))
        return ScoreModels.of(lead)
    models = tuple(make(estimator, {i: 1}, embedding, NUMBER_HEAD) for i in range(len(labels)))
    return ScoreModels(family=name, models=models, head=Head(labels=labels, rule="argmax", link="softmax"))


Signs = Mapping[int, int]  # of the classes whose scores a score is the sum of


# -- sums of weighted columns -------------------------------------------------------------------------------


def _discrete_model(estimator: Any, signs: Signs, embedding: tuple[Column, ...], head: Head) -> Model:
    name = type(estimator).__name__
    rows, constants = _stored_rows(estimator, name)
    width = rows.shape[1]
    if width != len(embedding):
        raise UnsupportedModel(f"{name} has {width} weights for {len(embedding)} columns")
    weights, sizes = [Fraction(0)] * width, [Fraction(0)] * width
    bias, constant = Fraction(0), Fraction(0)
    for i, sign in signs.items():
        for c, value in enumerate(_rationals(rows[i], name)):
            weights[c] += sign * value
            sizes[c] += abs(value)
        for value in _rationals(constants[i], name):
            bias, constant = bias + sign * value, constant + abs(value)
    rounding = AffineRounding(sizes=tuple(sizes), constant=constant, operations=2 * width + MORE_OPERATIONS)
    body = Affine(weights=tuple(weights), bias=bias)
    return Model(family=name, rounding=rounding, embedding=embedding, bodies=(body,), head=head)


def _stored_rows(estimator: Any, name: str) -> tuple[Floats, Floats]:
    """The weights of the columns a class, and the constants that are added."""
    if name == CATEGORICAL:
        return np.concatenate(estimator.feature_log_prob_, axis=1), estimator.class_log_prior_[:, None]
    stored = np.asarray(estimator.feature_log_prob_, dtype=np.float64)
    if name == COMPLEMENT:
        return stored, np.zeros((len(stored), 1))
    prior = np.asarray(estimator.class_log_prior_, dtype=np.float64)
    if name != BERNOULLI:
        return stored, prior[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        absent = np.log(1 - np.exp(stored))
        return stored - absent, np.stack([prior, absent.sum(axis=1)], axis=1)


def _rationals(values: Floats, name: str) -> list[Fraction]:
    if not np.isfinite(values).all():
        raise UnsupportedModel(
            f"{name} has a probability of zero, whose logarithm is no number",
            hint="fit it with alpha=1 (the default), on rows of all classes",
        )
    return [Fraction(value) for value in values.tolist()]


# -- sums of squares ----------------------------------------------------------------------------------------


def _gaussian_model(estimator: Any, signs: Signs, embedding: tuple[Column, ...], head: Head) -> Model:
    """A column (x_c - theta_ic)^2 a class and column."""
    if estimator.theta_.shape[1] != len(embedding):
        raise UnsupportedModel(
            f"{GAUSSIAN} has {estimator.theta_.shape[1]} means for {len(embedding)} columns"
        )
    if not all(np.isfinite(part).all() for part in (estimator.theta_, estimator.var_)) or not (
        (estimator.var_ > 0).all() and (estimator.class_prior_ > 0).all()
    ):
        raise UnsupportedModel(
            f"{GAUSSIAN} has a variance or the share of a class that is not above zero",
            hint="fit it on rows of all classes, with var_smoothing above 0",
        )
    squares, weights, bias, constant = [], [], Fraction(0), Fraction(0)
    for i, sign in signs.items():
        scale = float(-0.5 * np.sum(np.log(2.0 * np.pi * estimator.var_[i, :])))
        for value in (float(np.log(estimator.class_prior_[i])), scale):
            bias, constant = bias + sign * Fraction(value), constant + abs(Fraction(value))
        for c, (mean, variance) in enumerate(
            zip(estimator.theta_[i].tolist(), estimator.var_[i].tolist(), strict=True)
        ):
            squares.append(Square(column=c, centre=Fraction(mean)))
            weights.append(-sign / (2 * Fraction(variance)))
    rounding = SquaresRounding(
        sizes=tuple(map(abs, weights)),
        constant=constant,
        operations=len(embedding) + MORE_OPERATIONS,
        squares=tuple(squares),
    )
    return Model(
        family=GAUSSIAN,
        rounding=rounding,
        embedding=tuple(_squared_column(embedding[one.column], one.centre) for one in squares),
        bodies=(Affine(weights=tuple(weights), bias=bias),),
        head=head,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Square:
    """(column - centre)^2."""

    column: int
    centre: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class SquaresRounding(AffineRounding):
    """Of a program that squares its columns less a centre each, where the columns are exact: the difference is rounded once, and the square once more.

    Where it has column c with an error of at most ((1 + u)^k - 1) (|c| + slack), the difference is off by ((1 + u)^(k + 1) - 1) m with m = |c| + slack + |centre| <= |c - centre| + 2 |centre| + slack, and
    its square by twice as many roundings of m^2 <= 2 (c - centre)^2 + 2 (2 |centre| + slack)^2.
    """

    squares: tuple[Square, ...]

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> AffineRounding:
        most = max(one.roundings for one in columns)
        more = Fraction(0)
        if most:
            for size, square in zip(self.sizes, self.squares, strict=True):
                more += 2 * size * (2 * abs(square.centre) + columns[square.column].slack) ** 2
        whole = AffineRounding(
            sizes=tuple((2 if most else 1) * size for size in self.sizes),
            constant=self.constant + Fraction(math.ceil(more * SLACK_GRID), SLACK_GRID),
            operations=self.operations,
            described=self.described and described,
            bounded=self.bounded and described,
            crude=self.crude,
            unit=self.unit,
        )
        return whole.with_roundings(2 * most)


def _squared_column(column: Column, centre: Fraction) -> Column:
    if column.table is not None:
        return Column(feature=column.feature, table=tuple((v - centre) ** 2 for v in column.table))
    pieces = column.pieces
    cuts, lines = (
        ((), ((column.offset, column.slope),)) if pieces is None else (pieces.cuts, pieces.polynomials)
    )
    made = [multiply_polynomials(*[add_polynomials(line, [-centre])] * 2) for line in lines]
    if max(map(len, made)) > MOST_COEFFICIENTS:
        raise UnsupportedModel(
            f"{GAUSSIAN} squares splines, which are of a degree above {(MOST_COEFFICIENTS - 1) // 2} here",
            hint="fit SplineTransformer with degree=2 or less in front of it, or hand over the number itself",
        )
    return Column(feature=column.feature, pieces=make_piecewise(cuts, made))
