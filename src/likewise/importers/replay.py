"""Replay: the original estimator's own answers on coded individuals, in its own kind of input."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DataError
from likewise.importers.heads import Mapped
from likewise.importers.inputs import Inputs
from likewise.model.question import DecisionQuestion, GapQuestion, ProbabilityQuestion, Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.head import Head

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorReplay:
    """Asks the fitted estimator itself. Where it has no score of its own (a calibrated classifier), the part of
    it that has one is `asked`, with what the transformers `before` it make of the rows, and the score is
    mapped as the parts around that do (`maps`, innermost first)."""

    estimator: Any
    inputs: Inputs
    head: Head
    asked: Any
    before: tuple[tuple[str, Any], ...] = ()
    maps: tuple[Mapped, ...] = ()

    @property
    def stand_in(self) -> str | None:
        """Who answers where the library of a saved model is not installed."""
        return getattr(self.asked, "stand_in", None)

    def scores(self, codes: Floats) -> Floats:
        """decision_function of a classifier, predict of a regressor."""
        method = "predict" if self.head.labels is None else "decision_function"
        # Fitted on a label of shape (n, 1), a regressor predicts in that shape.
        scores = np.asarray(self._ask(method, codes, inside=True), dtype=np.float64).reshape(len(codes))
        for mapped in self.maps:
            scores = mapped.of(scores)
        return scores

    def decisions(self, codes: Floats) -> NDArray[Any]:
        return np.asarray(self._ask("predict", codes))

    def probabilities(self, codes: Floats) -> Floats:
        """Probability of the upper label."""
        return np.asarray(self._ask("predict_proba", codes), dtype=np.float64)[:, 1]

    def confirms(self, x: Sequence[float], other: Sequence[float], question: Question) -> bool:
        """Whether the original treats the two as the question says, in its own floating point."""
        codes = np.array([x, other], dtype=np.float64)
        if isinstance(question, DecisionQuestion) and self.head.labels is not None:
            lower, upper = self.head.labels
            expected = (lower, upper) if self.head.zero_is_upper else (upper, lower)
            if tuple(self.decisions(codes).tolist()) != expected:
                return False
            first, second = (float(score[0]) for score in self._oriented(codes))
            level = float(question.level)
            return level == 0 or (first > level and second <= -level)
        if isinstance(question, ProbabilityQuestion) or (
            isinstance(question, GapQuestion) and question.of_probabilities
        ):
            first, second = self.probabilities(codes)
            return bool(abs(first - second) > float(question.delta))
        if isinstance(question, GapQuestion):
            first, second = self.scores(codes)
            return bool(abs(first - second) > float(question.delta))
        return bool(question.margin(*self._oriented(codes)) > 0)

    def _oriented(self, codes: Floats) -> tuple[Floats, Floats]:
        """Scores in the order in which the question asks for them: the deciding side first."""
        scores = self.scores(codes)
        if self.head.zero_is_upper:
            scores = -scores
        return scores[:1], scores[1:]

    def _ask(self, method: str, codes: Floats, *, inside: bool = False) -> Any:
        inputs = self.inputs.of(codes)
        return (
            answer(self.asked, method, inputs, self.before)
            if inside
            else answer(self.estimator, method, inputs)
        )


def answer(asked: Any, method: str, inputs: Any, before: Sequence[tuple[str, Any]] = ()) -> Any:
    """What a part of the original says of what the transformers before it make of these inputs."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for _, transformer in before:
                if transformer is not None and not isinstance(transformer, str):
                    inputs = transformer.transform(inputs)
            return getattr(asked, method)(inputs)
    except Exception as error:
        raise DataError(
            f"the model's own {method} fails on rows of the space: {type(error).__name__}: {error}",
            hint="the space must describe the columns exactly as the model takes them",
        ) from error
