"""Settled estimators (`likewise.repaired`): the model inside, with some features fixed to one setting or several.

The columns that they set are features of the space as it is: a settled estimator comes first, and what transforms columns is inside of it. A
classifier says the upper label where its score is above 0, also around a model that has it from 0 on; its probabilities are sigma of its score, or softmax
of its scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.errors import UnsupportedModel
from likewise.importers.classes import Scores
from likewise.importers.heads import worked_in
from likewise.importers.unfolding import Unfolded, unfold
from likewise.model.classes import ClassHead
from likewise.model.head import Head
from likewise.model.settling import Setting, Settings, settled
from likewise.spec.features import Categorical, Ordinal

if TYPE_CHECKING:
    from likewise.importers.inputs import Inputs
    from likewise.model.scored import Model
    from likewise.spec.space import Space

HOME = "likewise.repaired.estimators"
NAMES = ("SettledClassifier", "SettledRegressor")
Build = Callable[[Unfolded], "tuple[Model | Scores, Inputs]"]


def is_settled(estimator: Any) -> bool:
    """Whether this is one of the settled estimators themselves."""
    return type(estimator).__module__ == HOME and type(estimator).__name__ in NAMES


def import_settled(
    estimator: Any, steps: Sequence[tuple[str, Any]], build: Build
) -> tuple[Model | Scores, Inputs]:
    """The model of a settled estimator; `build` makes that of what the estimator inside unfolds to."""
    kind = type(estimator).__name__
    before = [name for name, step in steps if step is not None and step != "passthrough"]
    if before:
        raise UnsupportedModel(
            f"step {before[0]!r} comes before a {kind}, which sets columns of the rows as they are",
            hint="repair the whole pipeline: repair(pipeline, space, similar)",
        )
    inside = unfold(estimator.held)
    refuse_wrappers(inside)
    model, inputs = build(inside)
    settings = _settings(estimator, inputs, kind)
    family = f"{kind} of {model.family}"
    if isinstance(model, Scores):
        return replace(_classes(model, estimator, settings), family=family), inputs
    for wrapper in reversed(inside.wrappers):
        model, _ = worked_in(model, wrapper, inputs.space)
    made = settled(model, settings)
    return replace(made, family=family, head=_head(model, estimator)), inputs


def refuse_wrappers(inside: Unfolded) -> None:
    """Thresholds and calibrations belong around a settled estimator, not inside of it: it combines scores."""
    kinds = [type(wrapper).__name__ for wrapper in inside.wrappers]
    refused = [kind for kind in kinds if kind != "TransformedTargetRegressor"]
    if refused:
        raise UnsupportedModel(
            f"{refused[0]} is about decisions or probabilities, and repairing is about scores",
            hint=f"repair the model inside of it, and put {refused[0]} around the repaired one, in a FrozenEstimator",
        )


def _classes(scores: Scores, estimator: Any, settings: Settings) -> Scores:
    if scores.head.rule != "argmax":
        raise UnsupportedModel(
            f"{scores.family} decides by votes, and has no score of a class to combine",
            hint="use OneVsRestClassifier around it",
        )
    if settings.how != "mean":
        raise UnsupportedModel(
            f"the {settings.how} of scores is for two classes, and there are {len(scores.head.labels)}",
            hint="use method='average' or 'reference'",
        )
    link = "softmax" if estimator.probabilities else None
    head = ClassHead(labels=scores.head.labels, rule="argmax", link=link)  # type: ignore[arg-type]
    return replace(scores.each(lambda one: settled(one, settings)), head=head)


def _head(model: Model, estimator: Any) -> Head:
    if model.head.labels is None or type(estimator).__name__ == "SettledRegressor":
        return Head(labels=None)
    return Head(labels=model.head.labels, link="logistic" if estimator.probabilities else None)


def _settings(estimator: Any, inputs: Inputs, kind: str) -> Settings:
    """The settings in codes, with exact weights; refuses an estimator that was made by hand and not well."""
    keep, counts = Fraction(float(estimator.keep)), estimator.counts
    rows = [list(setting) for setting in estimator.settings]
    counts = [1] * len(rows) if counts is None else [int(count) for count in counts]
    names = [_named(feature, inputs) for feature in estimator.features]
    if (
        estimator.how not in ("mean", "max", "min")
        or not 0 <= keep <= 1
        or (keep and estimator.how != "mean")
    ):
        raise UnsupportedModel(f"{kind} with how={estimator.how!r} and keep={estimator.keep!r} is not known")
    fits = all(len(row) == len(names) for row in rows) and len(set(names)) == len(names)
    if not rows or not fits or len(counts) != len(rows) or min(counts) < 0 or sum(counts) < 1:
        raise UnsupportedModel(f"the settings of this {kind} do not fit its features or its counts")
    total = sum(counts)
    used = [(row, count) for row, count in zip(rows, counts, strict=True) if count or estimator.how != "mean"]
    return Settings(
        how=estimator.how,
        codes=tuple(_codes(names, row, inputs.space) for row, _ in used),
        weights=tuple(Fraction(count, total) for _, count in used),
        keep=keep,
    )


def _named(feature: Any, inputs: Inputs) -> str:
    if isinstance(feature, str):
        return feature
    return inputs.columns[int(feature)]


def _codes(names: Sequence[str], row: Sequence[Any], space: Space) -> Setting:
    found: dict[int, Fraction] = {}
    for name, value in zip(names, row, strict=True):
        if name not in space:
            raise UnsupportedModel(f"a setting is about {name!r}, which the space does not have")
        feature = space[name]
        # What columns make of a feature is known within its range only.
        if not feature.contains(value):
            raise UnsupportedModel(
                f"a setting of {name!r} is {value!r}, which is not in the space",
                hint="repair the model for this space",
            )
        code = feature.position(value) if isinstance(feature, (Categorical, Ordinal)) else float(value)
        found[space.names.index(name)] = Fraction(code)
    return found
