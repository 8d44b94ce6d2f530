"""Wish: what `repair` was asked for, checked, and the estimators that are built around a fitted model for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from likewise.errors import SpecError, UnsupportedModel
from likewise.verifying.verification import verify_problem

if TYPE_CHECKING:
    from likewise.analysis.repair_settings import SettingChoice
    from likewise.problem import Problem
    from likewise.run import Run
    from likewise.spec.properties import Property
    from likewise.spec.space import Space
    from likewise.verifying.result import Result

MethodName = Literal["average", "max", "min", "reference", "shrink", "threshold"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairMethod:
    """How a model is to be repaired: `weights` of settings and the `reference` to settle at, and how many values of a number are settings (`grid`)."""

    name: MethodName
    weights: str
    reference: Mapping[str, Any] | None
    grid: int

    def __post_init__(self) -> None:
        names = get_args(MethodName)
        if self.name not in names:
            raise SpecError(f"method must be one of {', '.join(names)}, not {self.name!r}")
        if self.weights not in ("uniform", "observed"):
            raise SpecError(f"weights must be 'uniform' or 'observed', not {self.weights!r}")
        if self.reference is not None and self.name != "reference":
            raise SpecError("reference is for method='reference'")


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairRequest:
    """What is to be repaired how, in which run; `asked` is how the model tells its scores (see `likewise.repaired.estimators`)."""

    problem: Problem
    run: Run
    method: RepairMethod
    asked: str

    @property
    def space(self) -> Space:
        return self.problem.claim.space

    @property
    def property(self) -> Property:
        return self.problem.claim.property

    def verify(self, model: Any) -> Result:
        """The verdict on a new model, in what is left of the budget."""
        run = self.run.part(1)
        return verify_problem(self.problem.with_model(model, run), run)


def settled_estimator(wish: RepairRequest, choice: SettingChoice, how: str, keep: float) -> Any:
    """The settled estimator around the model, which stays fitted when cloned."""
    from likewise.repaired.estimators import SettledClassifier, SettledRegressor

    imported = wish.problem.imported
    head, inputs = imported.model.head, imported.replay.inputs
    features = [name if inputs.named else inputs.columns.index(name) for name in choice.names]
    settings = [list(setting) for setting in choice.settings]
    alike = len(set(choice.counts)) == 1
    parts = (
        freeze_model(wish.problem.claim.model),
        features,
        settings,
        None if alike else list(choice.counts),
        how,
        keep,
    )
    if head.labels is None:
        return SettledRegressor(*parts)
    return SettledClassifier(
        *parts,
        probabilities=head.link in ("logistic", "softmax"),
        asked=wish.asked,
        slope=float(head.slope),
    )


def freeze_model(model: Any) -> Any:
    """The model in an estimator whose clones are fitted as it is."""
    try:
        from sklearn.frozen import FrozenEstimator
    except ImportError:
        raise UnsupportedModel(
            "a repaired model holds the fitted one in a FrozenEstimator, which scikit-learn has from 1.6 on",
            hint="pip install 'scikit-learn>=1.6'",
        ) from None
    return FrozenEstimator(model)
