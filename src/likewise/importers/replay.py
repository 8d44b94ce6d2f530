"""Replay: the original estimator's own answers on coded individuals, in its own kind of input, and whether they break a question.

libsvm's machines of all pairs are asked through a copy with `decision_function_shape="ovo"`, which shows their scores as `predict` compares
them with 0; the copy shares everything else with the original. Classifiers that show no scores are asked for them: networks before the last function (`ShownScores`), naive Bayes for its likelihoods (`ShownLikelihoods`).
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import DataError
from likewise.families.family import AffineMap
from likewise.importers.inputs import Inputs
from likewise.importers.registry import is_black_box, is_naive_bayes
from likewise.importers.unfold import UnfoldedEstimator

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.head import Head
    from likewise.model.question import Question

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """Asks the fitted estimator itself. Where it has no score of its own (a calibrated classifier), the part of
    it that has one is `asked`, with what the transformers `before` it make of the rows, and the score is
    mapped as the parts around that do (`maps`, innermost first)."""

    estimator: Any
    inputs: Inputs
    head: Head
    asked: Any
    before: tuple[tuple[str, Any], ...] = ()
    maps: tuple[AffineMap, ...] = ()

    @property
    def stand_in(self) -> str | None:
        """Who answers where the library of a saved model is not installed."""
        return getattr(self.asked, "stand_in", None)

    def restricted(self, kept: Sequence[Sequence[int] | None]) -> Replay:
        """The same asked by codes of a part of the space, which has these levels, by feature."""
        return replace(self, inputs=self.inputs.restricted(kept))

    def in_single_precision(self, columns: tuple[str, ...]) -> Replay:
        """The same asked about rows with these columns in single precision."""
        return replace(self, inputs=replace(self.inputs, single=columns))

    def scores(self, codes: Floats) -> Floats:
        """All scores (rows, scores): what a regressor predicts, probabilities where they are the scores, else the decision function."""
        return self.scores_of(self.inputs.of(codes))

    def scores_of(self, inputs: Any) -> Floats:
        """The same of rows in the estimator's own kind of input."""
        method = "predict_proba" if self.head.link == "identity" else "decision_function"
        if self.head.labels is None and self.head.link is None:
            method = "predict"
        given = ask_part(self.asked, method, inputs, self.before)
        scores = np.asarray(given, dtype=np.float64).reshape(-1, self.head.n_scores)
        for mapped in self.maps:
            scores = mapped.of(scores)
        return scores

    def decisions(self, codes: Floats) -> NDArray[Any]:
        return np.asarray(ask_part(self.estimator, "predict", self.inputs.of(codes)))

    def predictions(self, codes: Floats) -> Floats:
        """What a regressor predicts, (rows, 1)."""
        return np.asarray(
            ask_part(self.estimator, "predict", self.inputs.of(codes)), dtype=np.float64
        ).reshape(-1, 1)

    def probabilities(self, codes: Floats) -> Floats:
        """Probabilities of all classes (rows, classes)."""
        given = ask_part(self.estimator, "predict_proba", self.inputs.of(codes))
        return np.asarray(given, dtype=np.float64).reshape(len(codes), len(self.head.classes))

    def confirms(self, x: Sequence[float], other: Sequence[float], question: Question) -> bool:
        """Whether the original treats the two as the question says, in its own floating point: one by one, and together in either order, as a
        program may add up in another order for another number of rows."""
        codes = np.array([x, other], dtype=np.float64)
        swapped = codes[::-1]
        return bool(
            self.confirmed(codes[:1], codes[1:], question)[0]
            and self.confirmed(codes, swapped, question)[0]
            and self.confirmed(swapped, codes, question)[1]
        )

    def confirmed(self, first: Floats, second: Floats, question: Question) -> NDArray[np.bool_]:
        """The same for many pairs; whichever way round a pair stands, but for decisions by sign and where pairs are ordered."""
        if question.kind != "decision":
            return self._gaps(first, second, question) > float(question.level)
        if question.several:
            return self._told_apart(first, second, question)
        confirmed: NDArray[np.bool_] = self._sides(first, question)[0] & self._sides(second, question)[1]
        return confirmed

    def confirm_steepness(
        self, first: Floats, second: Floats, question: Question, allowed: Floats
    ) -> NDArray[np.bool_]:
        """The same of pairs whose scores may be apart by so much each, besides the level."""
        return self._gaps(first, second, question) > float(question.level) + allowed

    def confirm_either_way(self, first: Floats, second: Floats, question: Question) -> NDArray[np.bool_]:
        """The same in one order or the other; the original is asked about everybody once."""
        if question.kind != "decision" or question.several or question.one_way:
            return self.confirmed(first, second, question)
        above, below = self._sides(np.concatenate([first, second]), question)
        own, other = slice(None, len(first)), slice(len(first), None)
        either: NDArray[np.bool_] = (above[own] & below[other]) | (above[other] & below[own])
        return either

    def _gaps(self, first: Floats, second: Floats, question: Question) -> Floats:
        """How far pairs are apart: by the only score or its probability, of several by the class of interest or the widest gap; of ordered pairs, how far the first is above the second."""
        asked, place = self.scores, question.of
        if question.kind == "probability" or (question.kind == "score" and self.head.shifted):
            asked, place = self.probabilities, place if question.several else 1
        if question.kind == "prediction":
            asked = self.predictions
        gaps = asked(first) - asked(second)
        if not question.one_way:
            gaps = np.abs(gaps)
        widest: Floats = gaps.max(axis=1) if place is None else gaps[:, place]
        return widest

    def _sides(self, codes: Floats, question: Question) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Who is decided as the first of a pair should be, and who as the second, by sign and by the margin."""
        lower, upper = self.head.classes
        decisions = self.decisions(codes).tolist()
        first, second = (
            np.array([decision == label for decision in decisions], dtype=bool)
            for label in ((lower, upper) if question.mirrored else (upper, lower))
        )
        if question.level:
            scores, level = self.scores(codes)[:, 0], float(question.level)
            depth = -scores if question.mirrored else scores
            first &= depth > level
            second &= depth <= -level
        return first, second

    def _told_apart(self, first: Floats, second: Floats, question: Question) -> NDArray[np.bool_]:
        """Who get different classes of several, by the margin."""
        sides, margin = (first, second), float(question.level)
        here, there = (np.array(self._places(codes)) for codes in sides)
        differ: NDArray[np.bool_] = here != there
        if question.of is not None:
            differ &= (here == question.of) | ((there == question.of) & (not question.one_way))
        if margin and differ.any():
            for codes, decided in zip(sides, (here, there), strict=True):
                differ &= [
                    _leads(scores, at, margin)
                    for scores, at in zip(self.scores(codes), decided.tolist(), strict=True)
                ]
        return differ

    def _places(self, codes: Floats) -> list[int]:
        return [self.head.classes.index(label) for label in self.decisions(codes).tolist()]


def make_replay(
    estimator: Any, unfolded: UnfoldedEstimator, head: Head, inputs: Inputs, maps: tuple[AffineMap, ...] = ()
) -> Replay:
    """The replay of an estimator that was taken apart."""
    asked, before = unfolded.asked, unfolded.before
    if head.link == "exponential":
        from likewise.importers.exponents import shown_exponents

        asked, before = shown_exponents(unfolded)
    if head.rule == "votes":
        asked, before = copy.copy(unfolded.final), unfolded.steps
        asked.decision_function_shape = "ovo"
    elif type(unfolded.final).__name__ == "MLPClassifier":
        from likewise.importers.sklearn_network import ShownScores

        asked, before = ShownScores(unfolded.final), unfolded.steps
    elif type(unfolded.final).__name__ == "GaussianProcessClassifier":
        from likewise.importers.sklearn_gaussian_process import ShownLatentMeans

        asked, before = ShownLatentMeans(unfolded.final), unfolded.steps
    elif type(unfolded.final).__name__ == "NearestCentroid":
        from likewise.importers.sklearn_centroids import ShownDistances

        asked, before = ShownDistances(unfolded.final), unfolded.steps
    elif is_naive_bayes(unfolded.final):
        from likewise.importers.sklearn_bayes import ShownLikelihoods

        asked, before = ShownLikelihoods(unfolded.final), unfolded.steps
    return Replay(estimator=estimator, inputs=inputs, head=head, asked=asked, before=before, maps=maps)


def _leads(scores: Floats, place: int, margin: float) -> bool:
    """Whether a class leads every other one by the margin: by more than that, if the other one comes before it."""
    ahead = scores[place] - scores
    return bool((ahead[:place] > margin).all() and (ahead[place + 1 :] >= margin).all())


def ask_part(asked: Any, method: str, inputs: Any, before: Sequence[tuple[str, Any]] = ()) -> Any:
    """What a part of the original says of what the transformers before it make of these inputs. Some programs fail on a batch of one (SparsePCA gives its columns as one axis then):
    such a row is asked about twice at once, and the first answer counts."""
    try:
        return _ask(asked, method, inputs, before)
    except Exception as error:
        if len(inputs) == 1 and not is_black_box(asked):  # whose calls are counted
            try:
                return _ask(asked, method, _twice(inputs), before)[:1]
            except Exception:  # noqa: BLE001 - what it said of the row itself is told
                pass
        raise DataError(
            f"the model's own {method} fails on rows of the space: {type(error).__name__}: {error}",
            hint="the space must describe the columns exactly as the model takes them",
        ) from error


def _ask(asked: Any, method: str, inputs: Any, before: Sequence[tuple[str, Any]]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _, transformer in before:
            if transformer is not None and not isinstance(transformer, str):
                inputs = transformer.transform(inputs)
        return getattr(asked, method)(inputs)


def _twice(row: Any) -> Any:
    if isinstance(row, np.ndarray):
        return np.repeat(row, 2, axis=0)
    import narwhals.stable.v2 as nw

    return nw.from_native(row, eager_only=True)[[0, 0]].to_native()
