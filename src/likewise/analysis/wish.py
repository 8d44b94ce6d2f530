"""Wish: what `repair` was asked for, checked, and the estimators that are built around a fitted model for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from likewise.errors import UnsupportedModel
from likewise.model.head import Head
from likewise.search.budget import Budget
from likewise.verifying.deciding import listening, verify_taken
from likewise.verifying.preparing import take
from likewise.verifying.result import Claimed

if TYPE_CHECKING:
    import numpy as np

    from likewise.analysis.settings import Choice
    from likewise.progress import Listener
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.certifying import Checking
    from likewise.verifying.preparing import Taken
    from likewise.verifying.result import Result

Method = Literal["average", "max", "min", "reference", "shrink", "threshold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What was asked for; `asked` is how the model tells its scores (see `likewise.repaired.estimators`)."""

    model: Any
    space: Space
    similar: Similarity
    property: Property
    method: Method
    X: Any
    weights: str
    reference: Mapping[str, Any] | None
    grid: int
    taken: Taken
    asked: str
    budget: Budget
    checking: Checking
    random_state: int | np.random.Generator | None
    progress: bool | Listener

    def verify(self, model: Any) -> Result:
        """The verdict on a new model, in what is left of the budget."""
        clock = self.budget.part(1)
        with listening(self.progress) as listener:
            taken = take(model, self.space, self.similar, X=self.X, budget=clock, listener=listener)
            claimed = Claimed(
                space=self.space,
                similarity=self.similar,
                property=self.property,
                family=taken.imported.model.family,
            )
            return verify_taken(
                taken, claimed, clock, self.checking, random_state=self.random_state, listener=listener
            )


def settled_estimator(wish: Wish, choice: Choice, how: str, keep: float) -> Any:
    """The settled estimator around the model, which stays fitted when cloned."""
    from likewise.repaired.estimators import SettledClassifier, SettledRegressor

    imported = wish.taken.imported
    head, inputs = imported.model.head, imported.replay.inputs
    features = [name if inputs.named else inputs.columns.index(name) for name in choice.names]
    settings = [list(setting) for setting in choice.settings]
    alike = len(set(choice.counts)) == 1
    parts = (frozen(wish.model), features, settings, None if alike else list(choice.counts), how, keep)
    if head.labels is None:
        return SettledRegressor(*parts)
    return SettledClassifier(
        *parts,
        probabilities=head.link in ("logistic", "softmax"),
        asked=wish.asked,
        slope=float(head.slope) if isinstance(head, Head) else 1.0,
    )


def frozen(model: Any) -> Any:
    """The model in an estimator whose clones are fitted as it is."""
    try:
        from sklearn.frozen import FrozenEstimator
    except ImportError:
        raise UnsupportedModel(
            "a repaired model holds the fitted one in a FrozenEstimator, which scikit-learn has from 1.6 on",
            hint="pip install 'scikit-learn>=1.6'",
        ) from None
    return FrozenEstimator(model)
