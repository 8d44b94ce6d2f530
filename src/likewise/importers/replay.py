"""Replay: the original estimator's own answers on coded individuals, in its own kind of input."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from likewise.errors import DataError
from likewise.importers.heads import Mapped
from likewise.importers.inputs import Inputs
from likewise.model.question import DecisionQuestion, GapQuestion, ProbabilityQuestion, Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.head import Head

    Floats = NDArray[np.float64]

Asked = TypeVar("Asked")


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
        return self.scores_of(self.inputs.of(codes))

    def scores_of(self, inputs: Any) -> Floats:
        """The same of rows in the estimator's own kind of input."""
        method = "predict" if self.head.labels is None else "decision_function"
        # Fitted on a label of shape (n, 1), a regressor predicts in that shape.
        scores = np.asarray(answer(self.asked, method, inputs, self.before), dtype=np.float64).reshape(-1)
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
        return confirmed_in_any_company(self.confirmed, x, other, question)

    def confirmed(self, first: Floats, second: Floats, question: Question) -> NDArray[np.bool_]:
        """The same for many pairs."""
        if isinstance(question, DecisionQuestion) and self.head.labels is not None:
            confirmed: NDArray[np.bool_] = self._sides(first, question)[0] & self._sides(second, question)[1]
            return confirmed
        if isinstance(question, ProbabilityQuestion) or (
            isinstance(question, GapQuestion) and question.of_probabilities
        ):
            gaps = np.abs(self.probabilities(first) - self.probabilities(second))
            return np.asarray(gaps > float(question.delta))
        if isinstance(question, GapQuestion):
            gaps = np.abs(self.scores(first) - self.scores(second))
            return np.asarray(gaps > float(question.delta))
        return np.asarray(question.margin(self._oriented(first), self._oriented(second)) > 0)

    def confirmed_either_way(self, first: Floats, second: Floats, question: Question) -> NDArray[np.bool_]:
        """The same in one order or the other; the original is asked about everybody once."""
        if not (isinstance(question, DecisionQuestion) and self.head.labels is not None):
            return self.confirmed(first, second, question)  # gaps have no order
        above, below = self._sides(np.concatenate([first, second]), question)
        own, other = slice(None, len(first)), slice(len(first), None)
        either: NDArray[np.bool_] = (above[own] & below[other]) | (above[other] & below[own])
        return either

    def _sides(
        self, codes: Floats, question: DecisionQuestion
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Who is decided as the first of a pair should be, and who as the second, by the margin."""
        lower, upper = self.head.labels or (None, None)
        decisions = self.decisions(codes).tolist()
        first, second = (
            np.array([decision == label for decision in decisions], dtype=bool)
            for label in ((lower, upper) if self.head.zero_is_upper else (upper, lower))
        )
        if question.level:
            depth, level = self._oriented(codes), float(question.level)
            first &= depth > level
            second &= depth <= -level
        return first, second

    def _oriented(self, codes: Floats) -> Floats:
        """Scores as the question asks for them: the deciding side is the one above."""
        scores = self.scores(codes)
        return -scores if self.head.zero_is_upper else scores

    def _ask(self, method: str, codes: Floats) -> Any:
        return answer(self.estimator, method, self.inputs.of(codes))


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


def confirmed_in_any_company(
    confirmed: Callable[[Floats, Floats, Asked], NDArray[np.bool_]],
    x: Sequence[float],
    other: Sequence[float],
    asked: Asked,
) -> bool:
    """Whether a pair is confirmed one by one, and together in either order, as a program may add up in another order for another number of
    rows."""
    codes = np.array([x, other], dtype=np.float64)
    swapped = codes[::-1]
    return bool(
        confirmed(codes[:1], codes[1:], asked)[0]
        and confirmed(codes, swapped, asked)[0]
        and confirmed(swapped, codes, asked)[1]
    )
