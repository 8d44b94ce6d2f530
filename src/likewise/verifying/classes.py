"""Models of several classes, from what was taken to a `Result`: what `preparing`, `certifying` and `deciding` do for one score.

A verdict rests on the same three things: FAIR on one certificate with a tree of cells for every case, accepted by the checker; BIASED on a
pair that breaks a case in exact arithmetic, also to the checker, and on the model's own predict.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, SpecError, UnsupportedModel
from likewise.families.kernel.body import RbfSum
from likewise.families.oracles import Oracles
from likewise.families.scores import Scores, shares_centres
from likewise.families.trees.body import TreeForm
from likewise.families.trees.score import TreeScore
from likewise.importers.imported import Imported
from likewise.importers.kept import similar_codes
from likewise.model.cases import DecisionCase
from likewise.model.classquestion import ClassQuestion
from likewise.model.gauge import ClassGauge
from likewise.search.frontiers import still_allowed
from likewise.search.portfolio import Outcome, decide
from likewise.search.problem import Problem as SearchTask
from likewise.spec.frames import with_categories_of
from likewise.spec.pairs import PairSpace, with_differences
from likewise.spec.properties import Property, level_of, place_of_class
from likewise.spec.terms import Separable, dot, nearest
from likewise.verifying.certifying import Checking, CheckReport
from likewise.verifying.class_certificates import certify_cases, certify_pair
from likewise.verifying.contributions import Compared, compared_classes
from likewise.verifying.result import Claimed, Result
from likewise.verifying.verdicts import concluded
from likewise.verifying.wording import Treated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from likewise.certificate.certificate import Certificate
    from likewise.model.gauge import Scale
    from likewise.model.witness import Witness
    from likewise.problem import Problem
    from likewise.run import Run

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedClasses:
    """The imported model, the question, and the problem made of both."""

    imported: Imported
    pairs: PairSpace
    problem: SearchTask
    question: ClassQuestion
    score: Scores
    like: Any

    def pair(self, witness: Witness) -> tuple[Any, tuple[float, float]]:
        """The witness as a frame of the user's kind, with the two numbers that its case is about."""
        recoding = self.imported.recoding
        frame = recoding.given.decode(recoding.raw(np.array([witness.x, witness.other])), like=self.like)
        return with_categories_of(frame, self.like), (
            nearest(witness.first.middle),
            nearest(witness.second.middle),
        )

    def treated(self, witness: Witness) -> Treated:
        """What the model's own program says about the two; probabilities of the class that the case is about."""
        head, replay = self.imported.model.head, self.imported.replay
        codes = np.array([witness.x, witness.other])
        place = self.place(witness)
        probabilities = None
        if head.link is not None:
            probabilities = tuple(float(p) for p in replay.probabilities(codes)[:, place])
        return Treated(
            decisions=tuple(replay.decisions(codes).tolist()),
            scores=self.pair(witness)[1],
            probabilities=probabilities,
            upper_label=head.classes[place],
            score_name=self.score_name(witness),
        )

    def shown(self, witness: Witness, of: Scale) -> float:
        """What the model's own program shows of a pair on a scale, the least of asking one by one and together."""
        replay, case = self.imported.replay, witness.case
        codes = np.array([witness.x, witness.other])
        asked = replay.probabilities if of == "probability" else replay.scores
        ways = (asked(codes), np.concatenate([asked(codes[:1]), asked(codes[1:])]))
        if of == "margin" and isinstance(case, DecisionCase):
            return min(_least_lead(case, scores) for scores in ways)
        place = self.place(witness)
        return min(abs(float(scores[0, place] - scores[1, place])) for scores in ways)

    def place(self, witness: Witness) -> int:
        """The class that the pair is about: of a decision the one that the first individual gets."""
        if isinstance(witness.case, DecisionCase):
            return witness.case.classes[0]
        return int(getattr(witness.case, "of", self.question.of or 0))

    def score_name(self, witness: Witness) -> str:
        """What the two scores that are shown are."""
        head = self.imported.model.head
        if self.question.kind != "decision":
            return f"score of {head.classes[self.place(witness)]}"
        return "votes for it" if head.rule == "votes" else "lead over others"


def _least_lead(case: DecisionCase, scores: Floats) -> float:
    """By how much all conditions of a case hold, by the program's own scores."""
    sides = zip((case.first, case.second), scores.tolist(), strict=True)
    forms = [
        float(dot(condition.alpha, [Fraction(score) for score in of]))
        for conditions, of in sides
        for condition in conditions
    ]
    return min(forms, default=0.0)


class _Replayed:
    """The original's replay, which speaks of properties, for a search, which speaks of questions."""

    def __init__(self, imported: Imported, property: Property) -> None:
        self.imported, self.property = imported, property

    def confirms(self, x: Sequence[float], other: Sequence[float], question: object) -> bool:  # noqa: ARG002
        return self.imported.replay.confirms(x, other, self.property)


def pose_classes(problem: Problem, run: Run) -> PreparedClasses:
    """What a search needs of a problem about several classes; raises a question that the model has no answer to."""
    imported, property = problem.imported, problem.claim.property
    if imported.model.n_scores == 1:
        raise InternalError("a model of one score was taken for one of several classes")
    model, space = imported.model, imported.space
    if isinstance(model.bodies[0], RbfSum) and not shares_centres(model):
        raise UnsupportedModel(f"the sums of Gaussians of this {model.family} do not share their centres")
    place = place_of_class(property.class_of_interest, model.head.classes, model.family)
    question = ClassQuestion(
        kind=property.kind,
        level=Fraction(level_of(property)),
        of=place,
        head=model.head,
        by_lines=isinstance(model.bodies[0], TreeForm),
    )
    check_asked(question, model.family)
    score = Scores(model, len(space))
    pairs = similar_codes(imported.recoding, problem.relations)
    rows = np.concatenate([imported.rows, score.landmarks(space)])
    if not isinstance(score.parts[0], (Separable, TreeScore)):
        pairs = with_differences(pairs)
    with run.budget.stopped():  # compiled on first use
        oracles = Oracles(score, pairs)
        marks = oracles.marked()
        score.scores(rows[:1])
    task = SearchTask(
        pairs=pairs,
        oracles=oracles,
        question=question,
        scores=score.scores,
        replay=_Replayed(imported, property),
        budget=run.budget,
        random=run.random(),
        rows=rows,
        cost=score.cost,
        listener=run.listener,
        marks=marks,
        settle=imported.recoding.settled if imported.recoding.bent else None,
    )
    return PreparedClasses(
        imported=imported, pairs=pairs, problem=task, question=question, score=score, like=problem.claim.X
    )


def check_asked(question: ClassQuestion, family: str) -> None:
    """Refuse a question that the model has no answer to."""
    head = question.head
    if head.rule == "votes" and question.kind == "score":
        raise SpecError(
            f"{family} decides by votes and has no score of a class", hint="ask for SameDecision()"
        )
    if head.rule == "votes" and question.kind == "decision" and question.level:
        raise SpecError(f"{family} decides by votes, which have no margin", hint="ask for SameDecision()")
    if question.kind == "probability" and head.link is None:
        why = f": {head.unlinked}" if head.unlinked is not None else ""
        raise SpecError(
            f"{family} gives no probabilities that can be verified{why}",
            hint="ask for SameDecision(), or for ScoreGap(delta) where classes have scores",
        )


def verify_classes(prepared: PreparedClasses, claimed: Claimed, checking: Checking | None) -> Result:
    """Decide, and turn what was found into a Result; without `checking` nothing can be FAIR."""
    outcome = decide(prepared.problem)
    return concluded(FoundOfClasses(prepared, outcome, claimed), claimed, checking)


@dataclass(frozen=True, slots=True)
class FoundOfClasses:
    """What the searches of all cases came to."""

    posed: PreparedClasses
    outcome: Outcome
    claimed: Claimed

    @property
    def witness(self) -> Witness | None:
        frontiers = self.outcome.frontiers
        return self.outcome.witness if frontiers is None else self.outcome.witness or frontiers.witness

    @property
    def proved(self) -> bool:
        return self.outcome.proofs is not None

    @property
    def reason(self) -> str | None:
        return self.outcome.reason

    @property
    def stand_in(self) -> str | None:
        return self.posed.imported.replay.stand_in

    def certify(self, checking: Checking) -> tuple[Certificate, CheckReport]:
        return certify_cases(
            self.posed, self.posed.question, self.outcome.frontiers, self.claimed.in_words(), checking
        )

    def asked_again(self, claimed: Claimed) -> FoundOfClasses:
        posed, level = self.posed, Fraction(level_of(claimed.property))
        question = posed.question.at(level)
        problem = replace(posed.problem, question=question, wanted=None, unreplayed=[])
        posed = replace(posed, problem=problem, question=question)
        return FoundOfClasses(posed, decide(problem), claimed)

    def certify_witness(self, witness: Witness, checking: Checking) -> tuple[Certificate, CheckReport]:
        return certify_pair(self.posed, witness, self.claimed.in_words(), checking)

    def value(self, witness: Witness) -> Fraction:
        return ClassGauge(asked=self.posed.question).value_of(witness)

    def compared(self, witness: Witness) -> Compared | None:
        return compared_classes(self.posed, witness)

    def upper(self) -> float:
        question, frontiers = self.posed.question, self.outcome.frontiers
        if frontiers is None or (question.kind == "decision" and question.head.rule == "votes"):
            return math.inf
        return still_allowed(frontiers.open, ClassGauge(asked=question), float(question.level))

    def facts(self) -> dict[str, Any]:
        facts = {"engine": self.outcome.engine, "cells": self.outcome.cells}
        frontiers = self.outcome.frontiers
        return facts if frontiers is None else {**facts, "cases": len(frontiers.all)}
