"""Thresholds: the score as it is, with the decision threshold nearest to the present one that is fair.

Tried are the middles between neighbouring scores of rows, nearest to 0 first. A pair with the scores s > s' that is found on the way rules out every threshold
from s' on and below s.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.repair_request import RepairRequest, freeze_model, settled_estimator
from likewise.analysis.repair_settings import SettingChoice
from likewise.errors import SpecError
from likewise.spec.properties import SameDecision

if TYPE_CHECKING:
    from likewise.verifying.result import Result

MOST_CANDIDATES = 256  # thresholds that are looked at, nearest first


def find_fair_threshold(wish: RepairRequest) -> tuple[Any, Result, dict[str, Any]]:
    """The model with it, the verdict on that, and the threshold; no model where none was found."""
    imported = wish.problem.imported
    if len(imported.model.head.labels or ()) != 2:
        raise SpecError("a threshold is for classifiers of two classes", hint="use method='average'")
    if not isinstance(wish.property, SameDecision):
        raise SpecError("a threshold changes decisions, no scores", hint="ask for SameDecision()")
    if wish.problem.claim.X is None:
        raise SpecError("thresholds are tried between the scores of rows", hint="pass X")
    model = _wrap_one_score(wish)
    first = wish.verify(model)
    if first.verdict == "FAIR":
        return model, first, {"threshold": 0.0}
    if not hasattr(model, "decision_function"):
        raise SpecError(
            f"{imported.model.family} shows no score that a threshold could be put to",
            hint="soft votes have probabilities: voting='soft'",
        )
    ruled_out, last = [_pair_scores(first, 0.0)], first
    rows = imported.replay.inputs.of(imported.rows)
    for candidate in _candidate_thresholds(np.asarray(model.decision_function(rows), dtype=np.float64)):
        if any(low <= candidate < high for low, high in ruled_out):
            continue
        if wish.run.budget.over:
            break
        new = _apply_threshold(model, candidate)
        last = wish.verify(new)
        if last.verdict == "FAIR":
            return new, last, {"threshold": candidate}
        ruled_out.append(_pair_scores(last, candidate))
    return None, last, {}


def _wrap_one_score(wish: RepairRequest) -> Any:
    """The model, or an estimator around it that has its score as decision_function."""
    if wish.asked == "decision_function":
        return wish.problem.claim.model
    return settled_estimator(wish, SettingChoice(names=(), settings=((),), counts=(1,)), "max", 0.0)


def _candidate_thresholds(scores: np.ndarray[Any, np.dtype[np.float64]]) -> list[float]:
    """Middles between neighbouring scores, nearest to 0 first."""
    known = np.unique(scores)
    middles = known[:-1] / 2 + known[1:] / 2
    return [float(middle) for middle in sorted(middles.tolist(), key=abs)[:MOST_CANDIDATES]]


def _pair_scores(result: Result, threshold: float) -> tuple[float, float]:
    if result.scores is None:
        return math.inf, -math.inf
    return min(result.scores) + threshold, max(result.scores) + threshold


def _apply_threshold(model: Any, threshold: float) -> Any:
    from sklearn.model_selection import FixedThresholdClassifier

    return FixedThresholdClassifier(
        freeze_model(model), threshold=threshold, response_method="decision_function"
    )
