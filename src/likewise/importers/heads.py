"""Heads: thresholds, calibrations and transformed targets, worked into the model that they stand around.

With f the score of the model inside, everything here is an affine map of it, g = slope f + offset, exactly:

    TransformedTargetRegressor      exp or expm1 as a link of f (`exponents`); else g = what `inverse_transform` does to f, where that is affine
    CalibratedClassifierCV          P = sigma(-(a f + b)):  g = -(a f + b), upper label where g > 0; around an RBF model, whose
                                    parameters are doubles and -a times them are none, g stays a link of f
    threshold t on the score        upper where f >= t:     g = f - t, zero is upper
    threshold t on sigma(f)         upper where f >= logit(t)
    threshold t on f itself         where the score is a probability (forests, votes): g = f - t, t the least number that rounds to it
    (thresholds)                    P = sigma(g + shift), or g + t: probabilities stay where they are
    isotonic calibration            upper where f is above the place at which the table passes 1/2

logit(t) is irrational for a rational t other than 1/2 (exp of a rational other than 0 is), so no individual is
on it, and any number between the same two neighbouring scores decides alike. All individuals are rows of doubles,
so their scores are multiples of 1 / D, D a common denominator of what the terms of the score can be; the number

    r = (floor(D logit(t)) + 1/2) / D

lies between the same two multiples as logit(t), and g = f - r decides every individual as the original does in
real arithmetic. How a program rounds sigma is not described, so that proofs about it cover no rounding.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import ctx

from likewise.errors import UnsupportedModel
from likewise.families.family import AffineMap
from likewise.families.program_rounding import DOUBLE_BITS, program_bits
from likewise.families.registry import family_of
from likewise.families.scored_model import Model
from likewise.importers.exponents import EXPONENTIAL_HEAD, bends_by_exp
from likewise.importers.registry import is_thresholded
from likewise.importers.transformers.scalers import HANDLERS as SCALERS
from likewise.importers.transformers.scalers import inverse_operations
from likewise.importers.transformers.traced_columns import Operation, Step
from likewise.importers.unfold import THRESHOLDS, OwnThreshold, unfold
from likewise.model.head import ball, lower_end

if TYPE_CHECKING:
    from likewise.spec.space import Space

SCORE_HINT = "decide by the score: FixedThresholdClassifier(response_method='decision_function')"
TUNED = "TunedThresholdClassifierCV"
MOST_BITS = 12_000  # of a common denominator: longer numbers have no place in a certificate
SIGMA_ROUNDINGS = 16  # roundings that computing sigma takes at most, with room


IDENTITY_MAP = AffineMap(slope=Fraction(1), offset=Fraction(0), size=Fraction(0), operations=0)


def apply_wrapper(model: Model, wrapper: Any, space: Space) -> tuple[Model, AffineMap]:
    """The model with a wrapper around it, and what that does to a score that the original is asked for."""
    kind = type(wrapper).__name__
    if kind == "TransformedTargetRegressor":
        if bends_by_exp(wrapper):
            return _bend_prediction(model, kind), IDENTITY_MAP
        # The original's own predict has done this already.
        return map_score(model, _inverse_target_map(wrapper), kind), IDENTITY_MAP
    if kind in THRESHOLDS:
        named = f"threshold={wrapper.threshold!r}" if is_thresholded(wrapper) else kind
        return _apply_threshold(model, wrapper, space, named)
    if isinstance(wrapper, OwnThreshold):
        return _apply_own_threshold(model, wrapper, space)
    return _apply_calibration(model, wrapper, space, kind)


def map_score(model: Model, by: AffineMap, kind: str) -> Model:
    """The model whose score is g."""
    rounding = None if model.rounding is None else model.rounding.rescaled(by)
    return replace(model, bodies=(model.body.rescaled(by, kind),), rounding=rounding)


# -- targets ----------------------------------------------------------------------------------------------


def _inverse_target_map(wrapper: Any) -> AffineMap:
    transformer = wrapper.transformer_
    step = Step(path=("transformer",), kind=type(transformer).__name__)
    if step.kind == "FunctionTransformer" and transformer.inverse_func is None:
        return IDENTITY_MAP
    if step.kind not in SCALERS or getattr(transformer, "clip", False):
        func = getattr(transformer, "inverse_func", None)
        shown = f"{step.kind}, inverse {getattr(func, '__name__', func)}" if func is not None else step.kind
        raise UnsupportedModel(
            f"TransformedTargetRegressor bends its predictions ({shown}): a gap of predictions is no gap of scores then",
            hint="verify its regressor_, on the transformed scale; scalers, and numpy's exp and expm1 as inverse_func, are taken as they are",
        )
    return _compose_operations(inverse_operations(transformer, step))


def _bend_prediction(model: Model, kind: str) -> Model:
    """The model whose prediction is exp of the score."""
    if model.head.link is not None or model.head.labels is not None:
        raise UnsupportedModel(
            f"{kind} takes exp of what is exp of a score already", hint="bend the target once"
        )
    return replace(model, head=EXPONENTIAL_HEAD)


def _compose_operations(operations: tuple[Operation, ...]) -> AffineMap:
    slope, offset, size, count = Fraction(1), Fraction(0), Fraction(0), 0
    for one in operations:
        count += 2 if one.kind == "over" else 1
        if one.kind == "plus":
            offset, size = offset + one.number, size + abs(one.number)
        else:
            by = one.number if one.kind == "times" else 1 / one.number
            slope, offset, size = slope * by, offset * by, size * abs(by)
    return AffineMap(slope=slope, offset=offset, size=size, operations=count)


# -- calibration ------------------------------------------------------------------------------------------


def _apply_calibration(model: Model, wrapper: Any, space: Space, kind: str) -> tuple[Model, AffineMap]:
    (found,) = wrapper.calibrated_classifiers_
    if found.method not in ("sigmoid", "isotonic"):
        raise UnsupportedModel(
            f"CalibratedClassifierCV(method={found.method!r}) is not supported: its probability is another function of the score",
            hint="calibrate with method='sigmoid' or 'isotonic'",
        )
    if model.head.labels is None or len(found.calibrators) != 1:
        raise UnsupportedModel(
            f"{kind} is supported for two classes only", hint="verify the classifier inside of it"
        )
    of_probability = model.head.link == "logistic" and not hasattr(found.estimator, "decision_function")
    if of_probability or found.method == "isotonic":
        return _cut_where_even(model, found, space, kind, of_probability=of_probability)
    a, b = (Fraction(float(value)) for value in (found.calibrators[0].a_, found.calibrators[0].b_))
    if not family_of(model.body).links_rescaled:
        return _link_calibration(model, -a, -b, kind), IDENTITY_MAP
    by = AffineMap(slope=-a, offset=-b, size=abs(b) + SIGMA_ROUNDINGS, operations=2)
    made = without_rounding(map_score(model, by, kind))
    head = replace(
        made.head,
        link="logistic",
        zero_is_upper=False,
        unlinked=None,
        slope=Fraction(1),
        offset=Fraction(0),
    )
    return replace(made, head=head), by


def _cut_where_even(
    model: Model, found: Any, space: Space, kind: str, *, of_probability: bool
) -> tuple[Model, AffineMap]:
    """The model whose score is the distance from where the calibrated probability passes 1/2, which rises with what is calibrated: the score, or its
    probability. Only decisions are those of the calibrated model."""
    (calibrator,) = found.calibrators
    if found.method == "isotonic":
        place = _even_place(calibrator)
    else:
        a, b = Fraction(float(calibrator.a_)), Fraction(float(calibrator.b_))
        place = -b / a if a < 0 else None
    if place is None or (of_probability and not 0 < place < 1):
        raise UnsupportedModel(
            f"{kind} has fitted a probability that never passes 1/2, or falls: it decides alike for everybody",
            hint="calibrate on more rows",
        )
    shift = _separating_logit(model, place, space, kind) if of_probability else place
    by = AffineMap(slope=Fraction(1), offset=-shift, size=abs(shift), operations=2)
    made = without_rounding(map_score(model, by, kind))
    said = (
        "is a table of the score" if found.method == "isotonic" else "calibrates a probability, not a score"
    )
    head = replace(
        made.head,
        link=None,
        zero_is_upper=False,
        slope=Fraction(1),
        offset=Fraction(0),
        unlinked=f"the probability of {kind} {said}",
    )
    return replace(made, head=head), by


def _even_place(calibrator: Any) -> Fraction | None:
    """The largest place where a fitted isotonic regression is 1/2 at most, between two of its knots; None where it never is, or always."""
    places = [Fraction(float(t)) for t in calibrator.X_thresholds_]
    values = [Fraction(float(value)) for value in calibrator.y_thresholds_]
    half = Fraction(1, 2)
    if values[0] > half or values[-1] <= half:
        return None
    last = max(n for n, value in enumerate(values) if value <= half)
    share = (half - values[last]) / (values[last + 1] - values[last])
    return places[last] + share * (places[last + 1] - places[last])


def _link_calibration(model: Model, slope: Fraction, offset: Fraction, kind: str) -> Model:
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


def _apply_threshold(model: Model, wrapper: Any, space: Space, kind: str) -> tuple[Model, AffineMap]:
    labels = model.head.labels
    if labels is None:
        raise UnsupportedModel(
            f"{kind} around a regressor decides nothing", hint="verify the regressor inside of it"
        )
    if model.head.undecided is not None:
        raise UnsupportedModel(
            f"{kind} around a calibrated kernel model is not supported: its threshold is irrational",
            hint="verify the calibrated model without the threshold",
        )
    upper = _positive_label(wrapper) in (None, labels[1])
    method, level = _threshold_level(wrapper, model, kind)
    # P(lower) >= t is P(upper) <= 1 - t, and -f >= t is f <= -t.
    if method == "decision_function":
        shift, slack, described = level if upper else -level, Fraction(0), True
    elif model.head.link == "identity":
        least = _least_rounded(level, model)
        shift, slack, described = least if upper else 1 - least, Fraction(0), True
    else:
        level = level if upper else 1 - level
        shift, slack, described = (
            _separating_logit(model, level, space, kind),
            SIGMA_ROUNDINGS / (level * (1 - level) * model.head.slope),
            False,
        )
    made, by = _move_decision(model, shift, slack, kind)
    made = replace(made, head=replace(made.head, zero_is_upper=upper))
    return (made if described else without_rounding(made)), by


def _apply_own_threshold(model: Model, wrapper: OwnThreshold, space: Space) -> tuple[Model, AffineMap]:
    """No score is the irrational logit itself, so that it does not matter to whom it belongs."""
    level = wrapper.level
    if not 0 < level < 1:
        raise UnsupportedModel(
            f"{wrapper.family} decides at a probability of {float(level)!r}: alike for everybody",
            hint="thresholds on probabilities lie between 0 and 1",
        )
    shift = _separating_logit(model, level, space, wrapper.family)
    made, by = _move_decision(model, shift, SIGMA_ROUNDINGS / (level * (1 - level)), wrapper.family)
    return without_rounding(made), by


def _move_decision(model: Model, shift: Fraction, slack: Fraction, kind: str) -> tuple[Model, AffineMap]:
    """The score less the shift; probabilities stay where they are, sigma(slope (g + shift) + offset)."""
    by = AffineMap(slope=Fraction(1), offset=-shift, size=abs(shift) + slack, operations=2)
    made = map_score(model, by, kind)
    head = made.head if made.head.link is None else replace(made.head, offset=made.head.link_argument(shift))
    return replace(made, head=head), by


def _least_rounded(level: Fraction, model: Model) -> Fraction:
    """The middle between the level, as the program rounds it, and the number below it: whoever has that
    probability or more has the level in a program that rounds once, such as one that divides votes by their
    number (1/5 is less than the double 0.2)."""
    kind = np.float64 if program_bits(model) == DOUBLE_BITS else np.float32
    rounded = kind(float(level))
    return (Fraction(float(rounded)) + Fraction(float(np.nextafter(rounded, kind(0))))) / 2


def probability_cut(estimator: Any, labels: Sequence[Any]) -> float | None:
    """The probability of the upper of two classes at which a threshold decides; None where none does."""
    try:
        wrapper = next(iter(unfold(estimator).wrappers), None)
    except UnsupportedModel:
        return None
    if type(wrapper).__name__ not in THRESHOLDS or len(labels) != 2:
        return None
    method, level = _asked_level(wrapper)
    upper = _positive_label(wrapper) in (None, labels[1])
    return None if method != "predict_proba" else level if upper else 1 - level


def _positive_label(wrapper: Any) -> Any:
    tuned = type(wrapper).__name__ == TUNED
    given = wrapper._curve_scorer._get_pos_label() if tuned else wrapper.pos_label
    return given.item() if hasattr(given, "item") else given


def _threshold_level(wrapper: Any, model: Model, kind: str) -> tuple[str, Fraction]:
    """Which answer of the model inside is compared, and with what; refuses what is not read."""
    method, given = _asked_level(wrapper)
    level = Fraction(given)
    if method == "predict_proba" and model.head.link is None:
        raise UnsupportedModel(
            f"{kind} compares the probability of {model.family}, which is no logistic function of its score",
            hint=f"{SCORE_HINT}, or take a logistic model",
        )
    if method == "predict_proba" and not 0 < level < 1:
        raise UnsupportedModel(
            f"{kind} has the threshold {given!r} on a probability: it decides alike for everybody",
            hint="thresholds on probabilities lie between 0 and 1",
        )
    return method, level


def _asked_level(wrapper: Any) -> tuple[str, float]:
    """The same as the wrapper says it."""
    method = wrapper.response_method
    if method == "auto":
        method = "predict_proba" if hasattr(wrapper, "predict_proba") else "decision_function"
    given = wrapper.best_threshold_ if type(wrapper).__name__ == TUNED else wrapper.threshold
    if isinstance(given, str):
        given = 0.5 if method == "predict_proba" else 0.0
    return method, float(given)


def _separating_logit(model: Model, level: Fraction, space: Space, kind: str) -> Fraction:
    """The score with that probability, (logit(level) - offset) / slope, or a number that no individual's
    score lies between it and."""
    slope, offset = model.head.slope, model.head.offset
    if level == Fraction(1, 2):
        return -offset / slope
    denominator = model.body.common_denominator(model.embedding, space)
    if denominator is None:
        raise UnsupportedModel(
            f"{kind} compares a probability of {model.family} with {float(level)!r}, whose logit is irrational",
            hint=SCORE_HINT,
        )
    if denominator.bit_length() > MOST_BITS:
        raise UnsupportedModel(
            f"{kind} compares a probability with {float(level)!r}, whose logit is irrational, and the model has "
            "too many different scales for a rational threshold of reasonable length",
            hint=f"{SCORE_HINT}, or fit the model on fewer scaled columns",
        )
    return Fraction(2 * _floor_of_logit(level, denominator, slope, offset) + 1, 2 * denominator)


def _floor_of_logit(level: Fraction, denominator: int, slope: Fraction, offset: Fraction) -> int:
    """floor(D (logit(t) - offset) / slope): with more and more digits until it is certain, which ends as
    logit(t) is irrational."""
    odds, bits = level / (1 - level), denominator.bit_length() + 64
    while True:
        with ctx.workprec(bits):
            value = (ball(odds).log() - ball(offset)) / ball(slope) * denominator
            low, high = lower_end(value), -lower_end(-value)
        if math.floor(low) == math.floor(high):
            return math.floor(low)
        bits *= 2


def without_rounding(model: Model) -> Model:
    """The same model without a claim to know how its program rounds."""
    rounding = None if model.rounding is None else model.rounding.undescribed()
    return replace(model, rounding=rounding)
