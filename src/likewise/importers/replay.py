"""Replay: the original estimator's own answers on coded individuals, in its own kind of input."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DataError
from likewise.model.question import DecisionQuestion, GapQuestion, ProbabilityQuestion, Question

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.head import Head
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class EstimatorReplay:
    """Asks the fitted estimator itself. `columns` are its columns in its order, `like` the user's frame type."""

    estimator: Any
    space: Space
    columns: tuple[str, ...]
    head: Head
    like: Any
    named: bool

    def inputs(self, codes: Floats) -> Any:
        """Rows as the estimator takes them: a frame with its column names, or a plain array."""
        frame = self.space.decode(codes, like=self.like)
        if self.named:
            import narwhals.stable.v2 as nw

            return nw.from_native(frame).select(list(self.columns)).to_native()
        columns = [np.asarray(frame[name], dtype=np.float64) for name in self.columns]
        return np.stack(columns, axis=1)

    def scores(self, codes: Floats) -> Floats:
        """decision_function of a classifier, predict of a regressor."""
        method = "predict" if self.head.labels is None else "decision_function"
        # Fitted on a label of shape (n, 1), a regressor predicts in that shape.
        return np.asarray(self._ask(method, codes), dtype=np.float64).reshape(len(codes))

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
            return question.level == 0 or bool(question.margin(*self._oriented(codes)) > 0)
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

    def _ask(self, method: str, codes: Floats) -> Any:
        inputs = self.inputs(codes)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return getattr(self.estimator, method)(inputs)
        except Exception as error:
            raise DataError(
                f"the model's own {method} fails on rows of the space: {type(error).__name__}: {error}",
                hint="the space must describe the columns exactly as the model takes them",
            ) from error
