"""A threshold on the probability of a classifier, where the user says one (`threshold=0.2`): what
scikit-learn's `FixedThresholdClassifier` decides around the same model.

    predict(x) = second class   where  predict_proba(x)[1] >= threshold, as NumPy compares the two
                 first class    elsewhere

Probabilities stay those of the model. `unfold` takes it apart as it does a `FixedThresholdClassifier`, so
that it is read, compared and replayed in the same way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.errors import SpecError, UnsupportedModel
from likewise.importers.registry import find_forest_reader, is_black_box, is_thresholded
from likewise.importers.unfold import THRESHOLDS, unfold
from likewise.spec.model_reading import check_threshold
from likewise.spec.space import Space

OWN_PARTS = ("estimator", "threshold", "classes_")


class ThresholdedModel:
    """The model with another decision; everything else is the model's own."""

    pos_label, response_method = None, "predict_proba"

    def __init__(self, estimator: Any, threshold: float, classes: tuple[Any, Any]) -> None:
        self.estimator, self.threshold, self.classes_ = estimator, threshold, classes

    def __getattr__(self, name: str) -> Any:
        """What the model has; whoever asks for a method must be able to tell whether it is there."""
        if name.startswith("__") or name in OWN_PARTS:
            raise AttributeError(name)
        return getattr(self.estimator, name)

    def predict(self, X: Any) -> Any:
        """Labels of rows."""
        return np.array(self.classes_)[(self.predict_proba(X)[:, 1] >= self.threshold).astype(np.intp)]

    def predict_proba(self, X: Any) -> Any:
        """The model's own probabilities, in its own precision."""
        given = np.asarray(self.estimator.predict_proba(X))
        if given.ndim != 2 or given.shape[1] != 2:
            raise UnsupportedModel(
                f"a threshold needs probabilities of two classes, and predict_proba gives an answer of the shape {given.shape}",
                hint="leave threshold out",
            )
        return given

    @property
    def stats(self) -> dict[str, Any]:
        """What an answer tells of it."""
        return {"level": self.threshold, "label": self.classes_[1]}


def with_threshold(model: Any, space: Space, threshold: float) -> ThresholdedModel:
    """The model deciding by a threshold on the probability of its second class."""
    check_threshold(threshold)
    if is_thresholded(model) and model.threshold == threshold:
        return model  # type: ignore[no-any-return]
    if not is_black_box(model):
        from likewise.importers.imported_model import as_estimator

        model = as_estimator(model, space)
    _refuse_twice(model)
    kind = type(model).__name__
    classes = None if isinstance(model, type) else _labels_of(model)
    if classes is None or not callable(getattr(model, "predict_proba", None)):
        raise UnsupportedModel(
            f"threshold needs a classifier with predict_proba, and {kind} has none",
            hint="leave threshold out, or put CalibratedClassifierCV around the classifier and fit that",
        )
    if len(classes) != 2:
        raise UnsupportedModel(
            f"threshold needs two classes, and {kind} has {len(classes)}", hint="leave threshold out"
        )
    return ThresholdedModel(model, float(threshold), (classes[0], classes[1]))


def _labels_of(model: Any) -> list[Any] | None:
    """The classes in the order of the probabilities; a saved booster has them in its file."""
    known = getattr(model, "classes_", None)
    if known is None and not is_black_box(model):
        final = unfold(model).final
        grow = find_forest_reader(final)
        known = None if grow is None else grow(final).head.labels
    return None if known is None else np.asarray(known).tolist()


def _refuse_twice(model: Any) -> None:
    """Refuse a model that decides by such a threshold already."""
    try:
        found = next((one for one in unfold(model).wrappers if type(one).__name__ in THRESHOLDS), None)
    except UnsupportedModel:
        return  # which is told when it is read
    if found is not None:
        kind = "a model with a threshold" if is_thresholded(found) else type(found).__name__
        raise SpecError(
            f"threshold is given twice: the model is {kind} already",
            hint="leave threshold out, or hand over the model inside of it",
        )
