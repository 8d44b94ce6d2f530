"""Outputs of the last layer of a scikit-learn perceptron that classifies, before the logistic function or softmax: its scores, which it does not show."""

from __future__ import annotations

import copy
from typing import Any


def last_layer(estimator: Any, rows: Any) -> Any:
    """The outputs, one a row or one a class, of a fitted MLPClassifier: itself, frozen, found by a search, or at the end of a pipeline."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif type(estimator).__name__ == "FrozenEstimator":
            estimator = estimator.estimator
        elif hasattr(estimator, "steps"):
            *steps, (_, last) = estimator.steps
            for _, step in steps:
                if step is not None and not isinstance(step, str):
                    rows = step.transform(rows)
            estimator = last
        else:
            break
    shown = copy.copy(estimator)
    shown.out_activation_ = "identity"
    outputs = shown._forward_pass_fast(rows)
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs
