"""scikit-learn's Gaussian processes, x the columns that reach them, x_t the rows that they were fitted on:

    GaussianProcessRegressor    predicts  spread sum_t alpha_t k(x, x_t) + mean
    GaussianProcessClassifier   says the upper of two labels where  sum_t (y_t - pi_t) k(x, x_t) > 0

for kernels k that are sums of multiples (ConstantKernel) of RBFs, of powers of DotProducts, and of constants; WhiteKernel says nothing of new rows. Several that are no constants are a sum of the scores of each (`families.sums`). An RBF is exp(-|x / l - x_t / l|^2 / 2): the columns are divided by the length scales, exactly where they are numbers; x_t / l are
the doubles that the program makes of them, as are tables. Coefficients are products of two or three stored doubles, rounded once, as the program rounds them too: that is a part of the error that is stated of it.

Probabilities of the classifier are another function of mean and variance, and with more than two classes they decide: both are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.kernel.body import RbfSum
from likewise.families.kernel.rounding import KernelRounding
from likewise.families.polynomial.rounding import PolynomialRounding
from likewise.families.scored_model import Model
from likewise.families.sums.body import Sum, SumPart
from likewise.families.sums.links import IDENTITY
from likewise.families.sums.rounding import SumRounding
from likewise.importers.expansion import PowerSum, expand_powers
from likewise.importers.score_models import ScoreModels, python_labels
from likewise.importers.sklearn_linear import sum_vectors
from likewise.model.embedding import Column
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import ComputedColumn

    Floats = NDArray[np.float64]

CLASSIFIER, REGRESSOR = "GaussianProcessClassifier", "GaussianProcessRegressor"
ESTIMATORS = (CLASSIFIER, REGRESSOR)
SUPPORTED = "sums of ConstantKernel times RBF, DotProduct and its powers, constants and WhiteKernel"


class ShownLatentMeans:
    """A fitted classifier of two classes that is asked for the number whose sign decides."""

    def __init__(self, estimator: Any) -> None:
        self._estimator = estimator

    def decision_function(self, rows: Any) -> Any:
        """The numbers of many rows, as `predict` computes them."""
        base = self._estimator.base_estimator_
        values = base.kernel_(base.X_train_, np.asarray(rows, dtype=np.float64))
        return values.T.dot(base.y_train_ - base.pi_)


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPart:
    """factor times an RBF with these length scales, a power of a dot product plus offset, or 1."""

    factor: float
    scales: tuple[float, ...] | None = None
    offset: float = 0.0
    degree: int = 0


def import_gaussian_process(estimator: Any, embedding: tuple[Column, ...]) -> ScoreModels:
    """The model of a fitted Gaussian process on these columns."""
    name = type(estimator).__name__
    fitted: Any = getattr(estimator, "base_estimator_", None) if name == CLASSIFIER else estimator
    if not hasattr(fitted, "X_train_"):
        if name == CLASSIFIER and fitted is not None:
            raise UnsupportedModel(
                f"{name} of {len(estimator.classes_)} classes decides by probabilities, which are integrals over mean and variance",
                hint="fit it on two classes, or use SVC",
            )
        raise UnsupportedModel(f"{name} is not fitted", hint="call fit(X, y) first")
    centres = np.asarray(fitted.X_train_, dtype=np.float64)
    if centres.ndim != 2 or centres.shape[1] != len(embedding):
        raise UnsupportedModel(f"{name} was fitted on other columns than these {len(embedding)}")
    if name == CLASSIFIER:
        weights, mean, head = (
            np.asarray(fitted.y_train_ - fitted.pi_, dtype=np.float64),
            0.0,
            _class_head(estimator),
        )
    else:
        weights, mean = _regression_weights(fitted, name)
        head = NUMBER_HEAD
    parts = _merge(_parts_of(fitted.kernel_, len(embedding), name))
    model = _sum_of(parts, weights, centres, mean, embedding, name)
    return ScoreModels.of(replace(model, head=head))


def _class_head(estimator: Any) -> Head:
    lower, upper = python_labels(estimator.classes_)
    why = f"{CLASSIFIER} integrates its probabilities over mean and variance of its score"
    return Head(labels=(lower, upper), unlinked=why)


def _regression_weights(fitted: Any, name: str) -> tuple[Floats, float]:
    weights = np.asarray(fitted.alpha_, dtype=np.float64)
    if weights.size != len(fitted.X_train_):
        raise UnsupportedModel(
            f"{name} was fitted on several outputs; only one is supported", hint="fit one model per output"
        )
    spread, mean = (np.ravel(part) for part in (fitted._y_train_std, fitted._y_train_mean))
    return float(spread[0]) * weights.ravel(), float(mean[0])


# -- kernels ------------------------------------------------------------------------------------------------


def _parts_of(kernel: Any, width: int, name: str) -> list[KernelPart]:
    """A kernel as a sum."""
    kind = type(kernel).__name__
    if kind == "Sum":
        return [*_parts_of(kernel.k1, width, name), *_parts_of(kernel.k2, width, name)]
    if kind == "Product":
        first, second = _parts_of(kernel.k1, width, name), _parts_of(kernel.k2, width, name)
        return [_product(a, b, name) for a in first for b in second]
    if kind == "WhiteKernel":
        return []
    if kind == "ConstantKernel":
        return [KernelPart(factor=float(kernel.constant_value))]
    if kind == "RBF":
        scales = np.broadcast_to(np.asarray(kernel.length_scale, dtype=np.float64), (width,))
        return [KernelPart(factor=1.0, scales=tuple(scales.tolist()))]
    if kind == "DotProduct":
        return [KernelPart(factor=1.0, offset=float(kernel.sigma_0**2), degree=1)]
    if kind == "Exponentiation" and float(kernel.exponent).is_integer() and kernel.exponent > 0:
        inside = _parts_of(kernel.kernel, width, name)
        if len(inside) == 1 and inside[0].degree == 1 and inside[0].factor == 1.0:
            return [replace(inside[0], degree=int(kernel.exponent))]
    raise UnsupportedModel(
        f"{name} with the kernel {kernel} is not supported", hint=f"supported: {SUPPORTED}"
    )


def _product(first: KernelPart, second: KernelPart, name: str) -> KernelPart:
    plain, other = sorted((first, second), key=lambda part: part.scales is not None or part.degree > 0)
    if plain.scales is not None or plain.degree:
        raise UnsupportedModel(
            f"{name} multiplies two kernels that are no constants", hint=f"supported: {SUPPORTED}"
        )
    return replace(other, factor=plain.factor * other.factor)


def _merge(parts: Sequence[KernelPart]) -> list[KernelPart]:
    """Like parts added up; constants go with the first that is none."""
    found: dict[KernelPart, float] = {}
    for part in parts:
        key = replace(part, factor=1.0)
        found[key] = found.get(key, 0.0) + part.factor
    return [replace(key, factor=factor) for key, factor in found.items()]


# -- models -------------------------------------------------------------------------------------------------


def _sum_of(
    parts: Sequence[KernelPart],
    weights: Floats,
    centres: Floats,
    mean: float,
    embedding: tuple[Column, ...],
    name: str,
) -> Model:
    """The model of all parts: of one that is no constant, or a sum of several."""
    mains = [part for part in parts if part.scales is not None or part.degree]
    if len(mains) <= 1:
        return _model_of(parts, weights, centres, mean, embedding, name)
    constants = [part for part in parts if part not in mains]
    models = [_model_of([*constants, mains[0]], weights, centres, mean, embedding, name)]
    models += [_model_of([part], weights, centres, 0.0, embedding, name) for part in mains[1:]]
    ones = (Fraction(1),) * len(models)
    summed = Sum(
        parts=tuple(SumPart(body=one.body, embedding=one.embedding, link=IDENTITY) for one in models),
        weights=ones,
        bias=Fraction(0),
    )
    rounding = SumRounding(
        parts=tuple(models), links=(IDENTITY,) * len(models), weights=ones, bias=Fraction(0)
    )
    return Model(family=name, rounding=rounding, embedding=(), bodies=(summed,), head=NUMBER_HEAD)


def _model_of(
    parts: Sequence[KernelPart],
    weights: Floats,
    centres: Floats,
    mean: float,
    embedding: tuple[Column, ...],
    name: str,
) -> Model:
    constant = sum(part.factor for part in parts if part.scales is None and not part.degree)
    bias = mean + constant * float(weights.sum())
    size = abs(mean) + abs(constant) * float(np.abs(weights).sum())
    main = next((part for part in parts if part.scales is not None or part.degree), KernelPart(factor=0.0))
    coefficients = main.factor * weights
    if not all(np.isfinite(part).all() for part in (coefficients, centres, [bias])):
        raise UnsupportedModel(
            f"{name} has a parameter that is not a finite number", hint="its training diverged"
        )
    if main.scales is not None and coefficients.any():
        scales = np.array(main.scales)
        return Model(
            family=name,
            rounding=ScaledRounding(
                expanded=False,
                more=size,
                columns=((2, 0.0),) * len(scales),
                scales=tuple(main.scales),
            ),
            embedding=tuple(
                _divided(column, scale) for column, scale in zip(embedding, main.scales, strict=True)
            ),
            bodies=(RbfSum(gamma=0.5, bias=bias, coefficients=coefficients, centres=centres / scales),),
            head=NUMBER_HEAD,
        )
    if main.degree > 1:
        powers = PowerSum(
            coefficients=coefficients,
            centres=centres,
            gamma=1.0,
            coef0=main.offset,
            degree=main.degree,
            bias=bias,
        )
        rounding = PolynomialRounding(
            coefficients=coefficients, slopes=centres, coef0=main.offset, bias=size, degree=main.degree
        )
        body = expand_powers(powers, name)
        return Model(family=name, rounding=rounding, embedding=embedding, bodies=(body,), head=NUMBER_HEAD)
    factors = [Fraction(value) for value in coefficients.tolist()]
    start = Fraction(bias) + Fraction(main.offset) * sum(factors, Fraction(0))
    linear, whole, described = sum_vectors(factors, centres, start)
    more = Fraction(size) + Fraction(main.offset) * sum(map(abs, factors), Fraction(0))
    described = replace(
        described, constant=described.constant + more, operations=described.operations + len(factors) + 8
    )
    return Model(
        family=name,
        rounding=described,
        embedding=embedding,
        bodies=(Affine(weights=linear, bias=whole),),
        head=NUMBER_HEAD,
    )


def _divided(column: Column, scale: float) -> Column:
    """The column by a length scale: a table as the program computes it, a line exactly."""
    if column.table is not None:
        return replace(column, table=tuple(Fraction(float(v) / scale) for v in column.table))
    if column.pieces is not None:
        return column  # refused by whoever takes pieces
    return replace(column, slope=column.slope / Fraction(scale), offset=column.offset / Fraction(scale))


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaledRounding(KernelRounding):
    """Of a program that divides its columns by length scales."""

    scales: tuple[float, ...]

    def of_columns(self, columns: Sequence[ComputedColumn], *, described: bool) -> ScaledRounding:
        scaled = tuple(
            (one.roundings + 4, float(one.slack + 2 * abs(one.offset)) / scale)
            for one, scale in zip(columns, self.scales, strict=True)
        )
        return replace(self, columns=scaled, described=described)
