"""Unfolding: from what the user hands over to the estimator that scores, and all that stands around it.

    Pipeline                        its transformers, then its last step; of imbalanced-learn without the steps that draw rows
    EncodedModel                    the same: pandas.get_dummies, then the model
    GridSearchCV, ...               the best estimator, fitted again on all rows
    FrozenEstimator                 what it holds
    SelfTrainingClassifier, ...     what it was fitted with last
    FixedThresholdClassifier, ...   (and `ThresholdedModel`) what it holds; it decides by another threshold
    CalibratedClassifierCV          what it holds; it decides by calibrated probabilities (of several folds it is an ensemble, and is not taken apart)
    TransformedTargetRegressor      what it holds; its prediction is transformed back

The last three are `wrappers` (outermost first), worked into the model by `heads`. A threshold or a calibration looks at the
score or the probability of what it holds, never at its decision: a threshold inside of either is without effect.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from likewise.errors import UnsupportedModel
from likewise.importers.exponents import bends_by_exp
from likewise.importers.registry import class_name, is_encoded, is_sampler, is_sklearn_class, is_thresholded

SEARCHES = ("GridSearchCV", "RandomizedSearchCV", "HalvingGridSearchCV", "HalvingRandomSearchCV")
THRESHOLDS = ("FixedThresholdClassifier", "TunedThresholdClassifierCV", "ThresholdedModel")
REFITTED = ("RANSACRegressor", "SelfTrainingClassifier")  # which choose the rows that a model is fitted on
FIT_HINT = "call fit(X, y) first"
REFIT_HINT = "call fit(X, y) first, with refit=True"
FITTED_PARTS = {
    **dict.fromkeys(SEARCHES, ("best_estimator_", REFIT_HINT)),
    **dict.fromkeys(REFITTED, ("estimator_", FIT_HINT)),
}

Steps = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class UnfoldedEstimator:
    """`final` scores what `steps` make of the raw columns. `asked` is the outermost part of the original that
    can be asked for a score; it takes what `before` makes of the raw columns."""

    steps: Steps
    final: Any
    wrappers: tuple[Any, ...]
    before: Steps
    asked: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnThreshold:
    """The probability above which a model itself decides for its upper label: as a wrapper around its score."""

    family: str
    level: Fraction


def unfold(estimator: Any, *, whole: bool = False) -> UnfoldedEstimator:
    """Take an estimator apart; what is not known here is its own final estimator. `whole`: calibrations of one classifier are left as they are, as ensembles of one."""
    kind, encoded = class_name(estimator), is_encoded(estimator)
    own = encoded or is_thresholded(estimator)
    if isinstance(estimator, type) or not (own or is_sklearn_class(estimator)):
        return UnfoldedEstimator(steps=(), final=estimator, wrappers=(), before=(), asked=estimator)
    if encoded or kind == "Pipeline":
        return _unfold_pipeline(estimator, whole=whole)
    if kind in FITTED_PARTS:
        return _ask_outer(estimator, unfold(_fitted_part(estimator, *FITTED_PARTS[kind]), whole=whole))
    if kind == "FrozenEstimator":
        return _ask_outer(estimator, unfold(estimator.estimator, whole=whole))
    if kind in THRESHOLDS:
        inner = unfold(_held_estimator(estimator), whole=whole)
        return _ask_outer(estimator, replace(inner, wrappers=(estimator, *_drop_thresholds(inner))))
    if kind == "CalibratedClassifierCV" and not whole and _is_one_calibration(estimator):
        held = estimator.calibrated_classifiers_[0].estimator
        inner = unfold(held)
        if _is_calibrated(inner):
            raise UnsupportedModel(
                "CalibratedClassifierCV of a CalibratedClassifierCV is not supported: it calibrates probabilities, not scores",
                hint="calibrate once",
            )
        return replace(inner, wrappers=(estimator, *_drop_thresholds(inner)), before=(), asked=held)
    if kind == "TransformedTargetRegressor":
        inner = unfold(_fitted_part(estimator, "regressor_", FIT_HINT))
        within = replace(inner, wrappers=(estimator, *inner.wrappers))
        # Where exp bends the prediction back, the score is what is bent.
        return within if bends_by_exp(estimator) else replace(within, before=(), asked=estimator)
    return UnfoldedEstimator(steps=(), final=estimator, wrappers=(), before=(), asked=estimator)


def _ask_outer(estimator: Any, inner: UnfoldedEstimator) -> UnfoldedEstimator:
    """Ask the outer one for scores, if it can be: a calibrated classifier has none to give."""
    return inner if _is_calibrated(inner) else replace(inner, before=(), asked=estimator)


def _unfold_pipeline(pipeline: Any, *, whole: bool) -> UnfoldedEstimator:
    *every, (name, last) = pipeline.steps
    steps = [step for step in every if not is_sampler(pipeline, step[1])]
    if last is None or isinstance(last, str):
        raise UnsupportedModel(
            f"the pipeline ends in step {name!r} ({last!r}), which predicts nothing",
            hint="its last step must be the classifier or regressor",
        )
    inner = unfold(last, whole=whole)
    asked = inner.asked is last
    return replace(
        inner,
        steps=(*steps, *inner.steps),
        before=() if asked else (*steps, *inner.before),
        asked=pipeline if asked else inner.asked,
    )


def _fitted_part(estimator: Any, name: str, hint: str) -> Any:
    if not hasattr(estimator, name):
        raise UnsupportedModel(f"{type(estimator).__name__} is not fitted", hint=hint)
    return getattr(estimator, name)


def _held_estimator(estimator: Any) -> Any:
    """A FixedThresholdClassifier around a fitted model needs no fit of its own; a ThresholdedModel has what
    the model inside has."""
    if is_thresholded(estimator):
        return estimator.estimator
    if hasattr(estimator, "estimator_") or type(estimator).__name__ != "FixedThresholdClassifier":
        return _fitted_part(estimator, "estimator_", FIT_HINT)
    return estimator.estimator


def _is_one_calibration(estimator: Any) -> bool:
    """Whether one classifier was calibrated; those of several folds are an ensemble."""
    return len(_fitted_part(estimator, "calibrated_classifiers_", FIT_HINT)) == 1


def _is_calibrated(inner: UnfoldedEstimator) -> bool:
    return any(type(one).__name__ == "CalibratedClassifierCV" for one in inner.wrappers)


def _drop_thresholds(inner: UnfoldedEstimator) -> tuple[Any, ...]:
    return tuple(one for one in inner.wrappers if type(one).__name__ not in THRESHOLDS)
