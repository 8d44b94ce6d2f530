"""Heads: thresholds, calibrations and transformed targets, worked into the model that they stand around.

With f the score of the model inside, everything here is an affine map of it, g = slope f + offset, exactly:

    TransformedTargetRegressor      g = what `inverse_transform` does to f, where that is affine
    CalibratedClassifierCV          P = sigma(-(a f + b)):  g = -(a f + b), upper label where g > 0; around an RBF model, whose
                                    parameters are doubles and -a times them are none, g stays a link of f
    threshold t on the score        upper where f >= t:     g = f - t, zero is upper
    threshold t on sigma(f)         upper where f >= logit(t)

logit(t) is irrational for a rational t other than 1/2 (exp of a rational other than 0 is), so no individual is
on it, and any number between the same two neighbouring scores decides alike. All individuals are rows of doubles,
so their scores are multiples of 1 / D, D a common denominator of what the terms of the score can be; the number

    r = (floor(D logit(t)) + 1/2) / D

lies between the same two multiples as logit(t), and g = f - r decides every individual as the original does in
real arithmetic. How a program rounds sigma is not described, so that proofs about it cover no rounding.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, ctx, fmpq

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.combined.score import OPPOSITE, Combined, SimpleBody
from likewise.families.kernel.body import RbfSum
from likewise.families.scored import (
    CombinedRounding,
    KernelRounding,
    Model,
    PolynomialRounding,
    ProductRounding,
    Rounding,
    TreeRounding,
    separable,
)
from likewise.families.trees.body import TreeForm, TreeSum
from likewise.importers.transformers.scalers import HANDLERS as SCALERS
from likewise.importers.transformers.scalers import inverse_operations
from likewise.importers.transformers.tracing import Operation, Step
from likewise.importers.unfolding import THRESHOLDS
from likewise.model.question import lower_end
from likewise.spec.features import Continuous

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

MOST_BITS = 12_000  # of a common denominator: longer numbers have no place in a certificate
SIGMA = 16  # roundings that computing sigma takes at most, with room


@dataclass(frozen=True, slots=True, kw_only=True)
class Mapped:
    """g = slope f + offset, in `operations` roundings of terms no larger than |slope| |f| + `size`."""

    slope: Fraction
    offset: Fraction
    size: Fraction
    operations: int

    def of(self, scores: Floats) -> Floats:
        """The same in float64, of the original's scores."""
        return float(self.slope) * scores + float(self.offset)


NOTHING = Mapped(slope=Fraction(1), offset=Fraction(0), size=Fraction(0), operations=0)


def worked_in(model: Model, wrapper: Any, space: Space) -> tuple[Model, Mapped]:
    """The model with a wrapper around it, and what that does to a score that the original is asked for."""
    kind = type(wrapper).__name__
    if kind == "TransformedTargetRegressor":
        # The original's own predict has done this already.
        return mapped(model, _transformed_back(wrapper), kind), NOTHING
    if kind in THRESHOLDS:
        return _threshold(model, wrapper, space, kind)
    return _calibrated(model, wrapper, kind)


def mapped(model: Model, by: Mapped, kind: str) -> Model:
    """The model whose score is g."""
    body, rounding = model.body, model.rounding
    if isinstance(body, Combined):
        parts = tuple(replace(part, body=_mapped_body(part.body, by, kind)) for part in body.parts)
        how = body.how if by.slope >= 0 else OPPOSITE[body.how]
        new: SimpleBody | Combined = replace(body, how=how, parts=parts)
    else:
        new = _mapped_body(body, by, kind)
    if isinstance(rounding, CombinedRounding):
        rounding = CombinedRounding(parts=tuple(mapped(part, by, kind) for part in rounding.parts))
    if isinstance(rounding, TreeRounding):
        rounding = replace(
            rounding,
            constant=abs(by.slope) * rounding.constant + by.size,
            operations=rounding.operations + by.operations,
        )
    if isinstance(rounding, (PolynomialRounding, ProductRounding)):
        rounding = replace(
            rounding,
            coefficients=float(by.slope) * rounding.coefficients,
            bias=abs(float(by.slope) * rounding.bias) + float(by.size),
        )
    if isinstance(rounding, KernelRounding):
        rounding = replace(rounding, more=abs(float(by.slope) * rounding.more) + float(by.size))
    if isinstance(rounding, Rounding):
        rounding = replace(
            rounding,
            sizes=tuple(abs(by.slope) * size for size in rounding.sizes),
            constant=abs(by.slope) * rounding.constant + by.size,
            operations=rounding.operations + by.operations,
        )
    return replace(model, bodies=(new,), rounding=rounding)


def _whole(body: TreeForm) -> TreeSum:
    """The ensemble of a body that is its only score."""
    if not body.whole:
        raise InternalError("forms of several scores have nothing around them")
    return body.ensemble


def _mapped_trees(body: TreeSum, by: Mapped) -> TreeSum:
    trees = tuple(replace(tree, factor=by.slope * tree.factor) for tree in body.trees)
    return replace(body, bias=tuple(by.slope * bias + by.offset for bias in body.bias), trees=trees)


def _mapped_body(body: SimpleBody, by: Mapped, kind: str) -> SimpleBody:
    if isinstance(body, TreeForm):
        return replace(body, ensemble=_mapped_trees(_whole(body), by))
    if isinstance(body, Affine):
        return Affine(
            weights=tuple(by.slope * w for w in body.weights), bias=by.slope * body.bias + by.offset
        )
    if isinstance(body, RbfSum):
        return RbfSum(
            gamma=body.gamma,
            bias=_as_double(by.slope * Fraction(body.bias) + by.offset, kind),
            coefficients=np.array(
                [_as_double(by.slope * Fraction(a), kind) for a in body.coefficients.tolist()]
            ),
            centres=body.centres,
        )
    return body.mapped(by.slope, by.offset)


def _as_double(value: Fraction, kind: str) -> float:
    """Kernel models have doubles for parameters; a product that is none would have to be rounded."""
    double = float(value)
    if Fraction(double) != value:
        raise UnsupportedModel(
            f"{kind} rescales or shifts the score of a kernel model to numbers that are no doubles, "
            "so that it cannot be taken exactly",
            hint="verify the model inside of it, or use a linear one",
        )
    return double


# -- targets ----------------------------------------------------------------------------------------------


def _transformed_back(wrapper: Any) -> Mapped:
    transformer = wrapper.transformer_
    step = Step(path=("transformer",), kind=type(transformer).__name__)
    if step.kind == "FunctionTransformer" and transformer.inverse_func is None:
        return NOTHING
    if step.kind not in SCALERS or getattr(transformer, "clip", False):
        func = getattr(transformer, "inverse_func", None)
        shown = f"{step.kind}, inverse {getattr(func, '__name__', func)}" if func is not None else step.kind
        raise UnsupportedModel(
            f"TransformedTargetRegressor bends its predictions ({shown}): a gap of predictions is no gap of scores then",
            hint="verify its regressor_, on the transformed scale; StandardScaler and other scalers are taken as they are",
        )
    return _in_order(inverse_operations(transformer, step))


def _in_order(operations: tuple[Operation, ...]) -> Mapped:
    slope, offset, size, count = Fraction(1), Fraction(0), Fraction(0), 0
    for one in operations:
        count += 2 if one.kind == "over" else 1
        if one.kind == "plus":
            offset, size = offset + one.number, size + abs(one.number)
        else:
            by = one.number if one.kind == "times" else 1 / one.number
            slope, offset, size = slope * by, offset * by, size * abs(by)
    return Mapped(slope=slope, offset=offset, size=size, operations=count)


# -- calibration ------------------------------------------------------------------------------------------


def _calibrated(model: Model, wrapper: Any, kind: str) -> tuple[Model, Mapped]:
    (found,) = wrapper.calibrated_classifiers_
    if found.method != "sigmoid":
        raise UnsupportedModel(
            f"CalibratedClassifierCV(method={found.method!r}) is not supported: its probability is "
            f"{'a staircase' if found.method == 'isotonic' else 'another function'} of the score",
            hint="calibrate with method='sigmoid'",
        )
    if model.head.labels is None or len(found.calibrators) != 1:
        raise UnsupportedModel(f"{kind} is supported for two classes only")
    a, b = (Fraction(float(value)) for value in (found.calibrators[0].a_, found.calibrators[0].b_))
    if isinstance(model.body, (RbfSum, Combined)):
        return _linked(model, -a, -b, kind), NOTHING
    by = Mapped(slope=-a, offset=-b, size=abs(b) + SIGMA, operations=2)
    made = undescribed(mapped(model, by, kind))
    head = replace(
        made.head,
        link="logistic",
        zero_is_upper=False,
        unlinked=None,
        slope=Fraction(1),
        offset=Fraction(0),
    )
    return replace(made, head=head), by


def _linked(model: Model, slope: Fraction, offset: Fraction, kind: str) -> Model:
    """The model with the calibration as its link: its score stays that of the model inside."""
    if slope == 0:
        raise UnsupportedModel(
            f"{kind} has fitted the slope 0: everybody has the same probability",
            hint="calibrate on more rows",
        )
    head = replace(
        model.head,
        link="logistic",
        slope=slope,
        offset=offset,
        zero_is_upper=False,
        unlinked=None,
        undecided=f"{kind} decides by the calibrated probability, not by the sign of the score",
    )
    return replace(model, head=head)


# -- thresholds -------------------------------------------------------------------------------------------


def _threshold(model: Model, wrapper: Any, space: Space, kind: str) -> tuple[Model, Mapped]:
    labels = model.head.labels
    if labels is None:
        raise UnsupportedModel(f"{kind} around a regressor decides nothing")
    if model.head.undecided is not None:
        raise UnsupportedModel(
            f"{kind} around a calibrated kernel model is not supported: its threshold is irrational",
            hint="verify the calibrated model without the threshold",
        )
    upper = _positive(wrapper, kind) in (None, labels[1])
    method, level = _level(wrapper, model, kind)
    # P(lower) >= t is P(upper) <= 1 - t, and -f >= t is f <= -t.
    if method == "decision_function":
        shift, slack, described = level if upper else -level, Fraction(0), True
    else:
        level = level if upper else 1 - level
        shift, slack, described = (
            _logit_between(model, level, space, kind),
            SIGMA / (level * (1 - level)),
            False,
        )
    by = Mapped(slope=Fraction(1), offset=-shift, size=abs(shift) + slack, operations=2)
    made = mapped(model, by, kind)
    head = replace(
        made.head,
        zero_is_upper=upper,
        link=None,
        unlinked=f"the threshold of {kind} moves its decision, not its probability",
    )
    made = replace(made, head=head)
    return (made if described else undescribed(made)), by


def _positive(wrapper: Any, kind: str) -> Any:
    if kind == "FixedThresholdClassifier":
        given = wrapper.pos_label
    else:
        given = wrapper._curve_scorer._get_pos_label()
    return given.item() if hasattr(given, "item") else given


def _level(wrapper: Any, model: Model, kind: str) -> tuple[str, Fraction]:
    """Which answer of the model inside is compared, and with what."""
    method = wrapper.response_method
    if method == "auto":
        method = "predict_proba" if hasattr(wrapper, "predict_proba") else "decision_function"
    given = wrapper.threshold if kind == "FixedThresholdClassifier" else wrapper.best_threshold_
    if isinstance(given, str):
        given = 0.5 if method == "predict_proba" else 0.0
    level = Fraction(float(given))
    if method == "predict_proba" and model.head.link is None:
        raise UnsupportedModel(
            f"{kind} compares the probability of {model.family}, which is no logistic function of its score",
            hint="fit it with response_method='decision_function', or around a logistic model",
        )
    if method == "predict_proba" and (model.head.slope != 1 or model.head.offset != 0):
        raise UnsupportedModel(
            f"{kind} compares the probability of {model.family}, which is the logistic function of a multiple of its score",
            hint="fit it with response_method='decision_function'",
        )
    if method == "predict_proba" and not 0 < level < 1:
        raise UnsupportedModel(
            f"{kind} has the threshold {given!r} on a probability: it decides alike for everybody",
            hint="thresholds on probabilities lie between 0 and 1",
        )
    return method, level


def _logit_between(model: Model, level: Fraction, space: Space, kind: str) -> Fraction:
    """logit(level), or a number that no individual's score lies between it and."""
    if level == Fraction(1, 2):
        return Fraction(0)
    if not isinstance(model.body, (Affine, TreeForm)):
        raise UnsupportedModel(
            f"{kind} compares a probability of {model.family} with {float(level)!r}, whose logit is irrational",
            hint="fit it with response_method='decision_function'",
        )
    denominator = _common_denominator(model, space)
    if denominator.bit_length() > MOST_BITS:
        raise UnsupportedModel(
            f"{kind} compares a probability with {float(level)!r}, whose logit is irrational, and the model has "
            "too many different scales for a rational threshold of reasonable length",
            hint="fit it with response_method='decision_function', or on fewer scaled columns",
        )
    return Fraction(2 * _floor_of_logit(level, denominator) + 1, 2 * denominator)


def _common_denominator(model: Model, space: Space) -> int:
    """D such that every individual's score is a multiple of 1 / D."""
    if isinstance(model.body, TreeForm):
        return _denominator_of_trees(_whole(model.body))
    score = separable(model, len(space))
    found = score.bias.denominator
    for name, term in zip(space.names, score.terms, strict=True):
        parts = (term.slope,) if term.table is None else term.table
        unit = (
            2**1074 if term.slope and isinstance(space[name], Continuous) else 1
        )  # doubles are multiples of 1/2^1074
        found = math.lcm(found, *(part.denominator * unit for part in parts))
        if term.pieces is not None:
            found = math.lcm(found, term.pieces.denominator(whole=not isinstance(space[name], Continuous)))
    return found


def _denominator_of_trees(body: TreeSum) -> int:
    """Of a tree: that of its factor times the largest one of its leaves, as those are all powers of two."""
    found = math.lcm(*(bias.denominator for bias in body.bias))
    for tree in body.trees:
        smallest = max(value.as_integer_ratio()[1] for value in np.unique(tree.values).tolist())
        found = math.lcm(found, tree.factor.denominator * smallest)
    return found


def _floor_of_logit(level: Fraction, denominator: int) -> int:
    """floor(D logit(t)): with more and more digits until it is certain, which ends as logit(t) is irrational."""
    odds, bits = level / (1 - level), denominator.bit_length() + 64
    while True:
        with ctx.workprec(bits):
            value = arb(fmpq(odds.numerator, odds.denominator)).log() * denominator
            low, high = lower_end(value), -lower_end(-value)
        if math.floor(low) == math.floor(high):
            return math.floor(low)
        bits *= 2


def undescribed(model: Model) -> Model:
    """The same model without a claim to know how its program rounds."""
    if isinstance(model.rounding, TreeRounding):
        return replace(model, rounding=None)
    if not isinstance(model.rounding, Rounding):
        return model
    return replace(model, rounding=replace(model.rounding, described=False))
