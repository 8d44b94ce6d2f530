"""Judging by one score: models of one score, and decisions between two classes that have a score each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.analysis.singly import gauge_of_gaps, judged_singly
from likewise.clock import OutOfTime, look_at_clock
from likewise.families.judge import judge_of
from likewise.model.enclosure import FIRST_BITS, MOST_BITS
from likewise.progress import Snapshot
from likewise.search.certainty import Near
from likewise.search.counterparts import Asked, judged
from likewise.search.judgement import Judgement
from likewise.search.pacing import scored_in_pieces, settling_part, warm_up
from likewise.spec.pairs import pinned_pairs
from likewise.verifying.preparing import Prepared, pose

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.recoding import Recoding
    from likewise.model.question import Case
    from likewise.problem import Problem
    from likewise.run import Run
    from likewise.search.budget import Budget
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreJudging:
    """The prepared problem and what is asked of each individual, of a problem in a run."""

    prepared: Prepared
    asked: Asked
    source: Problem
    run: Run

    @property
    def budget(self) -> Budget:
        return self.prepared.problem.budget

    @property
    def pairs(self) -> PairSpace:
        return self.asked.pairs

    @property
    def question(self) -> Case:
        return self.asked.question

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
    def proves(self) -> bool:
        """Whether there are bounds of cells, and a search that closes is a proof by itself."""
        return self.prepared.problem.oracles.exact and self.prepared.problem.oracles.unbounded is None

    @property
    def gap_of(self) -> str:
        """What gaps are differences of."""
        return self.asked.gauge.of

    def tell(self, stage: str, share: float | None = None, **more: Any) -> None:
        """Report to whoever listens."""
        snapshot = Snapshot(stage=stage, seconds=self.budget.elapsed, share=share, **more)
        self.prepared.problem.listener(snapshot)

    def together(
        self, rows: Floats, told: Callable[[int], None] | None = None, *, replayed: bool = False
    ) -> Judgement | None:
        """Many rows at once; None where that is not possible. With `replayed`, who is biased is so for the original as well."""
        return judged(self.asked, rows, self.budget, told, self.confirmed if replayed else None)

    def singly(self, rows: Floats, told: Callable[[int], None] | None = None) -> Judgement:
        """One row after another."""
        return judged_singly(self.prepared, self.asked, rows, self.budget, told)

    def confirmed(self, own: Floats, other: Floats) -> Flags:
        """Which pairs break the property for the original, in its own floating point."""
        found: Flags = self.prepared.imported.replay.confirmed_either_way(own, other, self.question)
        return found

    def pinned(self, features: Sequence[int]) -> ScoreJudging:
        """The same for individuals of whom nobody is similar who differs in these features."""
        return replace(self, asked=replace(self.asked, pairs=pinned_pairs(self.pairs, features)))

    # -- decisions ------------------------------------------------------------------------------------------

    def decisions(self, rows: Floats, found: Judgement) -> tuple[list[Any], list[Any]] | None:
        """Of all rows and of their counterparts, as far as there is time; None for a regressor."""
        if self.prepared.imported.model.head.labels is None:
            return None
        at_last = settling_part(self.budget)
        return self._labels(rows, found.score, at_last), self._labels(found.counterpart, found.other, at_last)

    def _labels(self, codes: Floats, score: Near, budget: Budget) -> list[Any]:
        """The decision of each individual, by the sign of its score: by enclosures where float64 does not tell. None where there is nobody, no
        precision tells, or the time is over."""
        unknown = np.flatnonzero(~np.isfinite(score.error) & ~np.isnan(codes).any(axis=1))
        for some, scored in scored_in_pieces(self.asked.judge, codes, unknown, budget):
            score.take(some, Near(value=scored.values[:, 0], error=scored.error[:, 0]))
        labels = self.prepared.imported.model.head.classes
        known = self._sides(score)
        found = [labels[place] if place >= 0 else None for place in known.tolist()]
        with suppress(OutOfTime), budget.watched():
            for i in np.flatnonzero((known < 0) & ~np.isnan(score.value)).tolist():
                look_at_clock()
                found[i] = self._exact_label(codes[i])
        return found

    def _sides(self, score: Near) -> NDArray[np.int64]:
        """1 where the upper label is certain, 0 where the lower one is, else -1."""
        head, mirrored = self.prepared.imported.model.head, self.prepared.mirrored
        at = Fraction(0) if head.undecided is None else -head.offset / head.slope
        rising = (head.undecided is None or head.slope > 0) != mirrored
        border = float(at) * (-1 if mirrored else 1)
        room = score.error + abs(border) * 2.0**-50 + np.abs(score.value) * 2.0**-50
        above, below = score.value - border > room, score.value - border < -room
        upper, lower = (above, below) if rising else (below, above)
        return np.where(upper, 1, np.where(lower, 0, -1))

    def _exact_label(self, codes: Floats) -> Any:
        """None where no precision tells."""
        head, bits = self.prepared.imported.model.head, FIRST_BITS
        exact = [Fraction(c) for c in codes.tolist()]
        while bits <= MOST_BITS:
            score = self.asked.judge.enclose(exact, bits)
            score = -score if self.prepared.mirrored else score
            labels = head.decide([score.lo]), head.decide([score.hi])
            if labels[0] == labels[1]:
                return labels[0]
            bits *= 4
        return None


def score_judging(problem: Problem, run: Run) -> ScoreJudging:
    """The judging of a claim about one score."""
    prepared, recoding = pose(problem, run, by_lead=True), problem.imported.recoding
    asked = Asked(
        pairs=prepared.pairs,
        judge=judge_of(prepared.score),
        question=prepared.problem.case,
        gauge=gauge_of_gaps(prepared.gauge),
        settle=recoding.settled_part if recoding.bent else None,
    )
    warm_up(asked.judge, asked.pairs, prepared.problem.budget)
    return ScoreJudging(prepared=prepared, asked=asked, source=problem, run=run)
