"""Repaired: the new model, what `verify` says of it, and what it costs on the rows that are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DataError
from likewise.figures import number_text
from likewise.verifying.result import Result
from likewise.verifying.shown import ShownResult

if TYPE_CHECKING:
    from likewise.importers.imported_model import ImportedModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Repaired(ShownResult):
    """A new model, the verdict on it, and what it costs.

    Attributes
    ----------
    model : estimator or None
        The new one; None where no threshold was found.
    result : Result
        The verdict on it, with its certificate.
    method : str
        How it was made.
    features : tuple of str
        What was settled, in so many `settings`.
    settings : int or None
        How many settings were combined.
    kept : float or None
        The factor c of 'shrink'.
    threshold : float or None
        That of 'threshold'.
    rows, changed : int or None
        How many decisions were looked at, and how many are other ones now (of a regressor: predictions that moved).
    measure : str
        What `before` and `after` are: 'accuracy', or R^2 of a regressor.
    before, after : float or None
        The measure of both models.
    """

    method: str
    model: Any
    result: Result
    features: tuple[str, ...] = ()
    settings: int | None = None
    kept: float | None = None
    threshold: float | None = None
    rows: int | None = None
    changed: int | None = None
    measure: str = "accuracy"
    before: float | None = None
    after: float | None = None

    @property
    def stats(self) -> dict[str, Any]:
        """Seconds and the like, as all answers have them: those of the verdict."""
        return self.result.stats

    def how(self) -> str:
        """What was done, in words."""
        if self.method == "threshold":
            return (
                "no fair threshold was found"
                if self.threshold is None
                else f"threshold {number_text(self.threshold)}"
            )
        if not self.features:
            return "nothing to do: no feature that may differ matters to the score"
        over = ", ".join(self.features)
        what = {
            "average": "the mean score over all settings of",
            "max": "the largest score over all settings of",
            "min": "the smallest score over all settings of",
            "reference": "the score at one setting of",
        }.get(self.method)
        if what is None:
            return f"{number_text(self.kept)} of the score and the rest of its mean over {self.settings} settings of {over}"
        return f"{what} {over}" + (f" ({self.settings})" if self.settings != 1 else "")

    def to_dict(self) -> dict[str, Any]:
        """Everything but the model, ready for JSON."""
        names = ("method", "settings", "kept", "threshold", "rows", "changed", "measure", "before", "after")
        facts = {name: getattr(self, name) for name in names}
        words = {"features": list(self.features), "how": self.how()}
        return {**facts, **words, "result": self.result.to_dict()}


def compare_on_rows(imported: ImportedModel, old: Any, new: Any, y: Any) -> dict[str, Any]:
    """What both models say of the rows that are known; with labels, how often they are right."""
    rows = imported.replay.inputs.of(imported.rows)
    first, second = (np.asarray(model.predict(rows)).reshape(len(imported.rows)) for model in (old, new))
    facts: dict[str, Any] = {"rows": len(first), "changed": int((first != second).sum())}
    regressor = imported.model.head.labels is None
    if regressor:
        facts["measure"] = "R^2"
    if y is None:
        return facts
    labels = np.asarray(y).reshape(-1)
    if len(labels) != len(first):
        raise DataError(f"y has {len(labels):,} labels for {len(first):,} rows of X")
    worth = _r_squared if regressor else _accuracy
    return {**facts, "before": worth(first, labels), "after": worth(second, labels)}


def _accuracy(predicted: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> float:
    return float((predicted == labels).mean())


def _r_squared(predicted: np.ndarray[Any, Any], labels: np.ndarray[Any, Any]) -> float:
    """1 - sum (y - f)^2 / sum (y - mean)^2."""
    spread = float(((labels - labels.mean()) ** 2).sum())
    missed = float(((labels - predicted) ** 2).sum())
    return 1 - missed / spread if spread else float("nan")
