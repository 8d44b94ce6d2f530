"""Judging: a claim made ready to be put to many individuals, and the way that suits it.

Similar individuals that can all be looked at (or had feature by feature) are judged for many rows at once; otherwise each row gets a search of
its own. Decisions between two classes are about one score, also where the model has
one a class; what else models of several classes are asked is about all their scores.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from likewise.analysis.decision_labels import label_rows
from likewise.analysis.row_search import judge_rows_singly
from likewise.analysis.row_steepness import judge_steep_rows_singly
from likewise.errors import InternalError, UnsupportedModel
from likewise.families.judge import Judge
from likewise.problem import Problem, refuse_steepness
from likewise.progress import Snapshot
from likewise.run import Run
from likewise.search.budget import Budget, BudgetUntil
from likewise.search.counterparts import judge_rows, judged_together
from likewise.search.inquiry import Inquiry
from likewise.search.judgement import FAIR, Judgement
from likewise.search.neighbours import distinct_rows
from likewise.search.pace import warm_up
from likewise.search.part_rows import judge_in_parts, judge_nearly
from likewise.search.steep_rows import SteepSums
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.numbers import double_above
from likewise.spec.pairs import pin_features
from likewise.verifying.posed_problem import PosedProblem, is_turned, pose
from likewise.verifying.verification import verify_problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.recoding import Recoding
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]
    Flags = NDArray[np.bool_]
    Places = NDArray[np.int64]

WHOLE_SHARE = 0.2  # of the budget, for a proof of the claim itself, before rows of a Lipschitz claim are searched one by one

Found = TypeVar("Found", Judgement, Judgement | None)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowClaim:
    """A posed problem and what is asked of each individual, in a run."""

    posed: PosedProblem
    inquiry: Inquiry
    source: Problem
    run: Run
    seed: int = 0  # of what is random about a single row
    turned: bool = False  # the question's first of a pair is the second to the user
    holds: bool = False  # the claim is proved of everybody

    @property
    def budget(self) -> Budget:
        return self.posed.task.budget

    @property
    def pairs(self) -> PairSpace:
        return self.inquiry.pairs

    @property
    def random(self) -> np.random.Generator:
        return self.posed.task.random

    @property
    def rows(self) -> Floats:
        return self.posed.imported.rows

    @property
    def recoding(self) -> Recoding:
        return self.posed.imported.recoding

    @property
    def proves(self) -> bool:
        """Whether there are bounds of cells of one score, and a search that closes is a proof by itself."""
        oracles = self.posed.task.oracles
        return not self.posed.several and oracles.exact and oracles.unbounded is None

    @property
    def gap_scale(self) -> str:
        """What gaps are differences of."""
        if self.pairs.allowance is not None:
            return "excess score"  # over what the distance of the two allows
        return "probability" if self.posed.gauge.of == "probability" else "score"

    def tell(self, stage: str, share: float | None = None, **more: Any) -> None:
        """Report to whoever listens."""
        snapshot = Snapshot(stage=stage, seconds=self.budget.elapsed, share=share, **more)
        self.posed.task.listener(snapshot)

    def judge_together(
        self, rows: Floats, told: Callable[[int], None] | None = None, *, replayed: bool = False
    ) -> Judgement | None:
        """Many rows at once; None where that is not possible. With `replayed`, who is biased is so for the original as well."""
        if self.holds:
            return self._nobody_biased(rows)
        if self.pairs.branches:
            if not judged_together(self.inquiry):
                return None
            return judge_in_parts(self.inquiry, rows, self.budget, partial(self._in_part, replayed=replayed))

        def judge(inquiry: Inquiry, budget: Budget) -> Judgement | None:
            confirm = partial(self.confirmed, inquiry) if replayed else None
            return judge_rows(inquiry, rows, budget, told, confirm)

        return self._on_each_side(judge)

    def _on_each_side(self, judge: Callable[[Inquiry, Budget], Found]) -> Judgement | Found:
        """What is found of individuals, asked of each side of a pair where pairs are ordered, with half of the budget for the first."""
        sides = self.inquiry.sides()
        if len(sides) == 1:
            return judge(sides[0], self.budget)
        whole = self.budget
        first = judge(sides[0], BudgetUntil(whole, whole.elapsed + whole.left / 2))
        second = None if first is None else judge(sides[1], self.budget)
        if first is None or second is None:
            return first
        return second.joined(first) if self.turned else first.joined(second)

    def _in_part(
        self, part: Inquiry, rows: Floats, budget: Budget, *, replayed: bool = True
    ) -> Judgement | None:
        """Many rows at once in one part of the pairs."""

        def judge(inquiry: Inquiry, some: Floats) -> Judgement | None:
            confirm = partial(self.confirmed, inquiry) if replayed else None
            return judge_rows(inquiry, some, budget, None, confirm)

        return judge_nearly(part, rows, judge)

    def judge_singly(
        self, rows: Floats, told: Callable[[int], None] | None = None, *, waiting: int = 0
    ) -> Judgement:
        """One row after another, before as many others as are `waiting`."""

        def judge(inquiry: Inquiry, budget: Budget) -> Judgement:
            judge_singly = judge_rows_singly if self.pairs.allowance is None else judge_steep_rows_singly
            return judge_singly(self.posed, inquiry, rows, budget, told, seed=self.seed, waiting=waiting)

        if not self.pairs.branches:
            return self._on_each_side(judge)

        def judge_part(part: Inquiry, some: Floats, budget: Budget) -> Judgement:
            known = self._in_part(part, some, budget) if judged_together(part) else None
            if known is not None:
                return known
            return judge_rows_singly(self.posed, part, some, budget, seed=self.seed, waiting=waiting)

        found = judge_in_parts(self.inquiry, rows, self.budget, judge_part)
        if found is None:
            raise InternalError("rows were judged in no part")
        return found

    def _nobody_biased(self, rows: Floats) -> Judgement:
        """What is known of rows where the claim is proved of everybody."""
        found, most = Judgement.open(*rows.shape), double_above(self.inquiry.question.level)
        found.verdict[:], found.gap[:], found.gap_error[:] = FAIR, 0.0, most
        return found

    def within(self, budget: Budget) -> RowClaim:
        """The same on another clock."""
        return replace(self, posed=replace(self.posed, task=replace(self.posed.task, budget=budget)))

    def confirmed(self, inquiry: Inquiry, own: Floats, other: Floats) -> Flags:
        """Which pairs break the property for the original, in its own floating point."""
        first, second = inquiry.in_order(own, other)
        allowance = inquiry.pairs.allowance
        if allowance is not None:
            codes = zip(first.tolist(), second.tolist(), strict=True)
            ends = [allowance.ends(*([Fraction(c) for c in one] for one in pair))[1] for pair in codes]
            allowed = np.array([double_above(end) for end in ends])
            return self.posed.imported.replay.confirm_steepness(first, second, inquiry.question, allowed)
        found: Flags = self.posed.imported.replay.confirm_either_way(first, second, inquiry.question)
        return found

    def pinned(self, features: Sequence[int]) -> RowClaim:
        """The same for individuals of whom nobody is similar who differs in these features."""
        return replace(self, inquiry=replace(self.inquiry, pairs=pin_features(self.pairs, features)))

    def decisions(self, rows: Floats, found: Judgement) -> tuple[Places, Places] | None:
        """The places of the classes of all rows and of their counterparts, as far as there is time; None for a regressor."""
        return label_rows(self.posed, self.inquiry, rows, found, self.budget)


def prepare_row_claim(problem: Problem, run: Run) -> RowClaim:
    """Everything up to the judging."""
    if isinstance(problem.claim.property, Lipschitz) and problem.claim.similarity.one_way:
        refuse_steepness(problem.claim, "who has a counterpart in one direction")
    posed, recoding = pose(problem, run, by_lead=True), problem.imported.recoding
    judge = Judge(posed.task.oracles.parts)
    if posed.task.question.softmax and not judge.rational:
        raise UnsupportedModel(
            f"softmax probabilities of {problem.imported.model.family} are not known exactly: its scores are irrational",
            hint="ask for SameDecision or ScoreGap",
        )
    inquiry = Inquiry(
        pairs=posed.pairs,
        judge=judge,
        question=posed.task.question,
        snap_codes=recoding.settled_part if recoding.bent else None,
    )
    warm_up(judge, posed.pairs, run.budget)
    seed = int(run.random().integers(2**32))
    turned = inquiry.question.one_way and is_turned(problem.claim.property, inquiry.question)
    return RowClaim(posed=posed, inquiry=inquiry, source=problem, run=run, seed=seed, turned=turned)


def try_whole_claim(judging: RowClaim) -> RowClaim:
    """Where rows of a Lipschitz claim need a search each, the claim is put to a proof once: what is proved of everybody is so of every row."""
    if judging.pairs.allowance is None or judging.holds or judged_together(judging.inquiry):
        return judging
    if SteepSums.of(judging.inquiry) is not None:
        return judging
    part = replace(judging.run.part(WHOLE_SHARE), checkpoint=None)  # which is that of the rows
    result = verify_problem(judging.source, part)
    return replace(judging, holds=result.verdict == "FAIR")


def judge_data(judging: RowClaim, codes: Floats, *, waiting: int = 0) -> tuple[Floats, Judgement]:
    """Rows of the data, by codes of the user's space: their codes of the model's, and what is known of them; those that are biased are so on the model's own predictions as well. Who misses a
    number that is within a tolerance is similar to nobody who has one, even where the model puts a number in its place: such rows are judged apart from the others."""
    rows, found = _judge_data(judging, codes, waiting)
    if judging.posed.task.oracles.family.opaque:  # what a program says is no proof
        found.proved[found.verdict == FAIR] = False
    return rows, found


def _judge_data(judging: RowClaim, codes: Floats, waiting: int) -> tuple[Floats, Judgement]:
    rows, imputed = judging.recoding.coded(codes), imputed_tolerance_features(judging)
    if not imputed:
        return rows, _judge_distinct_rows(judging, rows, waiting=waiting)
    missing = judging.source.missing_codes(codes)[:, imputed]
    found = Judgement.open(len(rows), rows.shape[1])
    for pattern in np.unique(missing, axis=0):
        some = np.flatnonzero((missing == pattern).all(axis=1))
        features = [k for k, gone in zip(imputed, pattern, strict=True) if gone]
        found.put(some, _judge_distinct_rows(judging, rows[some], pinned=tuple(features), waiting=waiting))
    return rows, found


def _judge_distinct_rows(
    judging: RowClaim, rows: Floats, *, pinned: tuple[int, ...] = (), waiting: int
) -> Judgement:
    """Rows that are the same are judged once, in the order in which they first occur."""
    first, back = distinct_rows(rows)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    asked, distinct = judging.pinned(pinned) if pinned else judging, rows[first[order]]
    found = asked.judge_together(distinct, replayed=True)
    if found is None:
        found = asked.judge_singly(distinct, waiting=waiting)
    return found.repeated(place[back])


def imputed_tolerance_features(judging: RowClaim) -> list[int]:
    """Features that are within a tolerance and that the model imputes."""
    parts, relations = judging.recoding.parts, judging.source.relations
    return [k for k, part in parts.items() if part.gap is not None and relations[k].kind == "within"]
