"""Models of n >= 1 scores: one model a score first, and then how all of them together decide.

    linear models, one vs rest   a score a class; the class is the first one with the largest score (`argmax`)
    libsvm's one vs one          a score a pair of classes, which votes for one of the two (`votes`)

Every score is imported as the score of a model of its own (`Unjoined`), through the same steps whether there are several or one. `joined`
makes one model of them, over one embedding.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from likewise.errors import UnsupportedModel
from likewise.families.registry import family_of
from likewise.families.scored import Model, SeparateRounding
from likewise.model.head import Head

MOST_SCORES = 1000  # in a certificate
MOST_VOTING_CLASSES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjoined:
    """One model a score, of which embedding, body and rounding count, and how all scores together decide."""

    family: str
    models: tuple[Model, ...]
    head: Head

    def __post_init__(self) -> None:
        if len(self.models) != self.head.n_scores:
            raise UnsupportedModel(
                f"{self.family} has {len(self.models)} scores for {len(self.head.classes)} classes",
                hint="the estimator was changed after fitting",
            )

    @staticmethod
    def of(model: Model) -> Unjoined:
        """A model of one score."""
        return Unjoined(family=model.family, models=(model,), head=model.head)

    def each(self, change: Callable[[Model], Model]) -> Unjoined:
        """The same with every score's model changed."""
        return replace(self, models=tuple(change(model) for model in self.models))


def several_labels(estimator: Any, family: str) -> tuple[object, ...] | None:
    """The labels of a classifier of more than two classes, None for any other estimator."""
    classes = getattr(estimator, "classes_", None)
    if classes is None or len(classes) <= 2:
        return None
    binarizer = getattr(estimator, "label_binarizer_", getattr(estimator, "_label_binarizer", None))
    if isinstance(classes, list) or str(getattr(binarizer, "y_type_", "")).startswith("multilabel"):
        raise UnsupportedModel(
            f"{family} was fitted on several labels at once, each of which an individual may have or not",
            hint="fit one model a label",
        )
    if len(classes) > MOST_SCORES:
        raise UnsupportedModel(
            f"{family} was fitted on {len(classes):,} classes; at most {MOST_SCORES:,} are supported"
        )
    return plain(classes)


def plain(classes: Any) -> tuple[object, ...]:
    """Labels as Python's own values."""
    return tuple(label.item() if hasattr(label, "item") else label for label in classes)


def refuse_wrapper(wrapper: Any, model: Model) -> None:
    """Thresholds and calibrations are for two classes."""
    kind = type(wrapper).__name__
    why = "a threshold is for one score"
    if kind == "CalibratedClassifierCV":
        why = "it normalises the calibrated probabilities of each class against the rest"
    raise UnsupportedModel(
        f"{kind} around a classifier of {len(model.head.classes)} classes is not supported: {why}",
        hint=f"verify the {model.family} inside of it",
    )


def joined(scores: Unjoined) -> Model:
    """The model of all scores together."""
    if len(scores.models) == 1:
        return replace(scores.models[0], family=scores.family, head=scores.head)
    if len({model.body.family for model in scores.models}) > 1:
        raise UnsupportedModel(
            f"{scores.family} holds models of different kinds or on different columns, which have no one form",
            hint="use one kind of model, and put what selects or scales columns in front of it",
        )
    embedding, bodies = family_of(scores.models[0].body).join(scores.models, scores.family)
    return Model(
        family=scores.family,
        rounding=SeparateRounding(parts=scores.models),
        embedding=embedding,
        bodies=bodies,
        head=scores.head,
    )
