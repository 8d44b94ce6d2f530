"""Scores that classifiers of scikit-learn have and do not show by a `decision_function`: outputs of the last layer of a perceptron, before the logistic function or softmax; joint log likelihoods of naive Bayes."""

from __future__ import annotations

import copy
from typing import Any


def last_layer(estimator: Any, rows: Any) -> Any:
    """The outputs, one a row or one a class, of a fitted MLPClassifier: itself, frozen, found by a search, or at the end of a pipeline."""
    estimator, rows = _reach_final(estimator, rows)
    shown = copy.copy(estimator)
    shown.out_activation_ = "identity"
    outputs = shown._forward_pass_fast(rows)
    return outputs[:, 0] if outputs.shape[1] == 1 else outputs


def log_likelihoods(estimator: Any, rows: Any) -> Any:
    """The joint log likelihoods of all classes by a fitted naive Bayes model, wherever it stands; of two classes that of the second less that of the first."""
    estimator, rows = _reach_final(estimator, rows)
    scores = estimator.predict_joint_log_proba(rows)
    return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores


def _reach_final(estimator: Any, rows: Any) -> tuple[Any, Any]:
    """The estimator at the end, and what those before it make of the rows."""
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
            return estimator, rows
