"""Judging by all scores of a model of several classes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.singly_classes import judged_classes_singly
from likewise.errors import UnsupportedModel
from likewise.families.class_judge import ClassJudge
from likewise.progress import Snapshot
from likewise.search.class_counterparts import ClassAsked, judged_classes
from likewise.search.judgement import Judgement
from likewise.search.pacing import settling_part, warm_up
from likewise.spec.pairs import pinned_pairs
from likewise.verifying.classes import PreparedClasses, pose_classes

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.recoding import Recoding
    from likewise.problem import Problem
    from likewise.run import Run
    from likewise.search.budget import Budget
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassJudging:
    """The prepared problem and what is asked of each individual, of a problem in a run."""

    prepared: PreparedClasses
    asked: ClassAsked
    source: Problem
    run: Run

    @property
    def budget(self) -> Budget:
        return self.prepared.problem.budget

    @property
    def pairs(self) -> PairSpace:
        return self.asked.pairs

    @property
    def random(self) -> np.random.Generator:
        return self.prepared.problem.random

    @property
    def rows(self) -> Floats:
        return self.prepared.imported.rows

    @property
    def missing(self) -> Flags:
        """Which features (rows, features) the rows of the data miss."""
        return self.source.missing

    @property
    def recoding(self) -> Recoding:
        return self.prepared.imported.recoding

    @property
    def gap_of(self) -> str:
        """What gaps are differences of."""
        return "probability" if self.asked.question.kind == "probability" else "score"

    def tell(self, stage: str, share: float | None = None, **more: Any) -> None:
        """Report to whoever listens."""
        snapshot = Snapshot(stage=stage, seconds=self.budget.elapsed, share=share, **more)
        self.prepared.problem.listener(snapshot)

    def together(
        self, rows: Floats, told: Callable[[int], None] | None = None, *, replayed: bool = False
    ) -> Judgement | None:
        """Many rows at once; None where that is not possible. With `replayed`, who is biased is so for the original as well."""
        return judged_classes(self.asked, rows, self.budget, told, self.confirmed if replayed else None)

    def singly(self, rows: Floats, told: Callable[[int], None] | None = None) -> Judgement:
        """One row after another."""
        return judged_classes_singly(self.prepared, self.asked, rows, self.budget, told)

    def pinned(self, features: Sequence[int]) -> ClassJudging:
        """The same for individuals of whom nobody is similar who differs in these features."""
        return replace(self, asked=replace(self.asked, pairs=pinned_pairs(self.pairs, features)))

    def confirmed(self, own: Floats, other: Floats) -> Flags:
        """Which pairs break the property for the original, in its own floating point."""
        return self.prepared.imported.replay.confirmed(own, other, self.source.claim.property)

    def decisions(self, rows: Floats, found: Judgement) -> tuple[list[Any], list[Any]]:
        """Of all rows and of their counterparts, as far as there is time."""
        somebody, at_last = ~np.isnan(found.counterpart).any(axis=1), settling_part(self.budget)
        own = self._labels(rows, at_last)
        others: list[Any] = [None] * len(rows)
        for i, label in zip(
            np.flatnonzero(somebody), self._labels(found.counterpart[somebody], at_last), strict=True
        ):
            others[i] = label
        return own, others

    def _labels(self, rows: Floats, budget: Budget) -> list[Any]:
        labels = self.asked.question.head.classes
        return [None if place is None else labels[place] for place in self.asked.classes(rows, budget)]


def class_judging(problem: Problem, run: Run) -> ClassJudging:
    """The judging of a claim about a model of several classes."""
    prepared = pose_classes(problem, run)
    score, question = prepared.score, prepared.question
    if question.kind == "probability" and question.head.link == "softmax" and not score.rational:
        raise UnsupportedModel(
            f"softmax probabilities of {problem.imported.model.family} are not known exactly: its scores are irrational",
            hint="ask for SameDecision or ScoreGap",
        )
    asked = ClassAsked(pairs=prepared.pairs, judge=ClassJudge(score), question=question)
    warm_up(asked.judge, asked.pairs, prepared.problem.budget)
    return ClassJudging(prepared=prepared, asked=asked, source=problem, run=run)
