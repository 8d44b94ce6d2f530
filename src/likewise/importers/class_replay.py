"""Replay for more than two classes: the original's own labels, scores and probabilities, and whether they break a property.

libsvm's machines of all pairs are asked through a copy with `decision_function_shape="ovo"`, which shows their scores as `predict` compares
them with 0; the copy shares everything else with the original.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.importers.inputs import Inputs
from likewise.importers.replay import answer, confirmed_in_any_company
from likewise.importers.unfolding import Unfolded
from likewise.model.head import ClassHead
from likewise.spec.properties import ProbabilityGap, Property, SameDecision, place_of_class

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassReplay:
    """Asks the fitted estimator itself; for its scores the part of it that is `asked`, after the transformers `before` it."""

    estimator: Any
    inputs: Inputs
    head: ClassHead
    asked: Any
    before: tuple[tuple[str, Any], ...] = ()

    @property
    def stand_in(self) -> str | None:
        """Who answers where the library of a saved model is not installed."""
        return getattr(self.asked, "stand_in", None)

    def scores(self, codes: Floats) -> Floats:
        """All scores, a row an individual: those of the classes, or of the pairs of classes; probabilities where they are the scores."""
        return self.scores_of(self.inputs.of(codes))

    def scores_of(self, inputs: Any) -> Floats:
        """The same of rows in the estimator's own kind of input."""
        method = "predict_proba" if self.head.link == "identity" else "decision_function"
        given = answer(self.asked, method, inputs, self.before)
        return np.asarray(given, dtype=np.float64).reshape(-1, self.head.n_scores)

    def decisions(self, codes: Floats) -> NDArray[Any]:
        return np.asarray(answer(self.estimator, "predict", self.inputs.of(codes)))

    def probabilities(self, codes: Floats) -> Floats:
        """Probabilities of all classes, a row an individual."""
        return np.asarray(
            answer(self.estimator, "predict_proba", self.inputs.of(codes)), dtype=np.float64
        ).reshape(len(codes), len(self.head.labels))

    def confirms(self, x: Sequence[float], other: Sequence[float], broken: Property) -> bool:
        """Whether the two break the property for the original, in its own floating point."""
        return confirmed_in_any_company(self.confirmed, x, other, broken)

    def confirmed(self, first: Floats, second: Floats, broken: Property) -> NDArray[np.bool_]:
        """The same for many pairs."""
        place = place_of_class(broken.class_of_interest, self.head.labels, type(self.estimator).__name__)
        sides = (first, second)
        if isinstance(broken, SameDecision):
            here, there = (np.array(self._places(codes)) for codes in sides)
            differ: NDArray[np.bool_] = here != there
            if place is not None:
                differ &= (here == place) | (there == place)
            if broken.margin and differ.any():
                for codes, decided in zip(sides, (here, there), strict=True):
                    differ &= [
                        _leads(scores, at, broken.margin)
                        for scores, at in zip(self.scores(codes), decided.tolist(), strict=True)
                    ]
            return differ
        asked = self.probabilities if isinstance(broken, ProbabilityGap) else self.scores
        gaps = np.abs(asked(first) - asked(second))
        wide: NDArray[np.bool_] = (gaps.max(axis=1) if place is None else gaps[:, place]) > broken.delta
        return wide

    def _places(self, codes: Floats) -> list[int]:
        return [self.head.labels.index(label) for label in self.decisions(codes).tolist()]


def class_replay(estimator: Any, unfolded: Unfolded, head: ClassHead, inputs: Inputs) -> ClassReplay:
    """The replay of an estimator that was taken apart."""
    asked, before = unfolded.asked, unfolded.before
    if head.rule == "votes":
        asked, before = copy.copy(unfolded.final), unfolded.steps
        asked.decision_function_shape = "ovo"
    return ClassReplay(estimator=estimator, inputs=inputs, head=head, asked=asked, before=before)


def _leads(scores: Floats, place: int, margin: float) -> bool:
    """Whether a class leads every other one by the margin: by more than that, if the other one comes before it."""
    ahead = scores[place] - scores
    return bool((ahead[:place] > margin).all() and (ahead[place + 1 :] >= margin).all())
