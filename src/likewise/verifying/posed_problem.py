"""Posing: a problem made ready for the search, of n >= 1 scores: the pair space, the question, the oracles, and the way back from a witness to the user's terms.

One score is negated where its question is asked of -f (`Question.mirrored`), so that the strict side is the deciding one; several scores are asked as they
are, case by case.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, SpecError
from likewise.families.oracles import Oracles
from likewise.families.registry import family_of
from likewise.families.scored_model import scores_of
from likewise.families.slopes import slopes_of
from likewise.importers.two_classes import HALF, as_one_score
from likewise.model.gauge import Gauge
from likewise.model.question import Question, question_of
from likewise.search.task import SearchTask
from likewise.spec.frames import copy_categories
from likewise.spec.numbers import short_repr
from likewise.spec.pairs import PairSpace, add_differences, add_inner_quantities
from likewise.spec.properties import class_index, property_level
from likewise.spec.terms import dot, nearest_double
from likewise.verifying.result import Treatment

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.scored_model import Model
    from likewise.families.slopes import Slopes
    from likewise.importers.imported_model import ImportedModel
    from likewise.model.cases import Case, Witness
    from likewise.model.gauge import Scale
    from likewise.problem import Problem
    from likewise.run import Run
    from likewise.spec.enclosure import Enclosure
    from likewise.spec.properties import Property

    Floats = NDArray[np.float64]
    Individual = tuple[tuple[float, ...], Enclosure]


@dataclass(frozen=True, slots=True, kw_only=True)
class PosedProblem:
    """The imported model and the search's task made of it; `gauge` is the scale of the question. `mirrored` where the only score was negated for the
    question."""

    imported: ImportedModel
    pairs: PairSpace
    task: SearchTask
    gauge: Gauge
    mirrored: bool = False
    like: Any = None

    @property
    def several(self) -> bool:
        """Whether individuals have more than one score."""
        return self.imported.model.n_scores > 1

    def task_of(self, pairs: PairSpace) -> SearchTask:
        """The search's task of these pairs: that of the part that they are, where there are parts, with bounds of its own."""
        steps = {k for one in self.pairs.along for k in (one.feature, one.leader, *one.shared)}
        for part in self.task.parts:
            if all(part.pairs.relations[k] == pairs.relations[k] for k in steps):
                return part
        if self.task.parts:
            raise InternalError("these pairs are none of the parts that the problem falls into")
        return self.task

    # -- a witness in the user's terms ----------------------------------------------------------------------

    def ordered(self, witness: Witness) -> tuple[Individual, Individual]:
        """Codes of both individuals and the number that each is shown by, in the model's own sense; of one score, the higher one first."""
        if self.mirrored:
            return (witness.other, -witness.second), (witness.x, -witness.first)
        return (witness.x, witness.first), (witness.other, witness.second)

    def pair(self, witness: Witness) -> tuple[Any, tuple[float, float]]:
        """The witness as a frame of the user's kind, with the two numbers that it is about."""
        first, second = self.ordered(witness)
        recoding = self.imported.recoding
        frame = recoding.given.decode(recoding.raw(np.array([first[0], second[0]])), like=self.like)
        return copy_categories(frame, self.like), self._numbers(first, second)

    def _numbers(self, first: Individual, second: Individual) -> tuple[float, float]:
        """What two individuals are shown by: their scores, or what the program predicts, where that is exp of them."""
        if self.imported.model.head.link == "exponential":
            one, other = self.imported.replay.predictions(np.array([first[0], second[0]]))[:, 0].tolist()
            return one, other
        return nearest_double(first[1].middle), nearest_double(second[1].middle)

    def treated(self, witness: Witness) -> Treatment:
        """What the model's own program says about the two, in the same order; probabilities of the class that the pair is about."""
        head, replay = self.imported.model.head, self.imported.replay
        ordered, place = self.ordered(witness), self.place(witness)
        codes = np.array([codes for codes, _ in ordered])
        return Treatment(
            decisions=None if head.labels is None else tuple(replay.decisions(codes).tolist()),
            scores=self._numbers(*ordered),
            probabilities=None
            if not head.probable
            else tuple(replay.probabilities(codes)[:, place].tolist()),
            upper_label=None if head.labels is None else head.labels[place],
            score_name=self.score_name(witness),
        )

    def shown(self, witness: Witness, of: Scale, treated: Treatment) -> float:
        """What the model's own program shows of a pair on a scale, the least of asking one by one and together in either order; `treated` has
        what it said of the probabilities of both."""
        replay, case = self.imported.replay, witness.case
        high, low = (np.array([codes]) for codes, _ in self.ordered(witness))
        asked = replay.probabilities if of == "probability" else replay.scores
        if self.imported.model.head.link == "exponential":
            asked = replay.predictions
        ways = [np.concatenate([asked(high), asked(low)]), asked(np.concatenate([low, high]))[::-1]]
        if of != "probability":
            ways.append(asked(np.concatenate([high, low])))
        if of == "margin" and self.several:
            return min(_least_lead(case, scores) for scores in ways)
        column = 0 if not self.several and of != "probability" else self.place(witness)
        known = [] if of != "probability" or treated.probabilities is None else [treated.probabilities]
        first, second = np.array([*(scores[:, column] for scores in ways), *known]).T
        return float(np.min(np.minimum(first, -second) if of == "margin" else np.abs(first - second)))

    def place(self, witness: Witness) -> int:
        """The class that the pair is about: the upper one of two by sign, of a decision the one that the first individual gets."""
        if not self.several:
            return 1
        case = witness.case
        return (case.of or 0) if case.classes is None else case.classes[0]

    def score_name(self, witness: Witness) -> str:
        """What the two numbers that are shown are."""
        head = self.imported.model.head
        if not self.several:
            return "prediction" if head.link == "exponential" else "score"
        if self.gauge.of != "margin":
            return f"score of {head.classes[self.place(witness)]}"
        if head.rule == "votes":
            return "votes for it"
        return "lead over the other class" if len(head.classes) == 2 else "lead over others"


def _least_lead(case: Case, scores: Floats) -> float:
    """By how much all conditions of a case hold, by the program's own scores."""
    sides = zip(case.conditions, scores.tolist(), strict=True)
    forms = [
        float(dot(condition.alpha, [Fraction(score) for score in of]))
        for conditions, of in sides
        for condition in conditions
    ]
    return min(forms, default=0.0)


# -- from a problem to the search's task ----------------------------------------------------------------------


def pose(problem: Problem, run: Run, *, by_lead: bool = False) -> PosedProblem:
    """What the search needs of a problem; refuses a question that the model has no answer to. `by_lead` takes decisions of two classes with a score each
    by half the lead of one over the other (`importers.two_classes`), of which the margin is half as well."""
    imported, asked = problem.imported, problem.claim.property
    family = family_of(imported.model.bodies[0])
    question = problem_question(problem)
    lead = as_one_score(imported, share=HALF) if by_lead and question.kind == "decision" else None
    if lead is not None:
        imported = lead
        question = replace(question, level=question.level / 2, head=imported.model.head, of=None)
    pairs = asked_pairs(problem, question)
    check_property(asked, imported.model)
    score = scores_of(imported.model, len(imported.space), mirrored=question.mirrored)
    rows = np.concatenate([imported.rows, score.landmarks(imported.space)])
    if family.differences:
        pairs = add_differences(pairs)
    pairs = add_inner_quantities(pairs, family.inner_quantities(imported.model.bodies))
    with run.budget.stopped():  # compiled on first use
        oracles = Oracles.of_scores(score, pairs)
        marks = oracles.codes_to_try()
        score.scores(rows[:1])
    task = SearchTask(
        pairs=pairs,
        oracles=oracles,
        question=question,
        scores=score.scorer(),
        replay=imported.replay,
        budget=run.budget,
        random=run.random(),
        rows=rows,
        products=None if oracles.several else family.products(oracles.parts[0], pairs),
        climber=family.climber(oracles.parts, pairs),
        cost=score.cost,
        listener=run.listener,
        marks=marks,
        snap_codes=imported.recoding.settled if imported.recoding.bent else None,
        workers=run.workers,
        slopes=None if pairs.allowance is None else _slopes(imported.model, len(imported.space)),
    )
    if pairs.branches:
        with run.budget.stopped():
            task.parts = tuple(_task_of_part(task, part) for part in pairs.branches)
    return PosedProblem(
        imported=imported,
        pairs=pairs,
        task=task,
        gauge=Gauge(asked=question),
        mirrored=question.mirrored,
        like=problem.claim.X,
    )


def _task_of_part(task: SearchTask, part: PairSpace) -> SearchTask:
    """The search's task of one part of the pairs: with bounds of its own."""
    oracles = Oracles.of_scores(task.oracles.score, part)
    climber = task.oracles.family.climber(oracles.parts, part)
    return replace(
        task, pairs=part, oracles=oracles, products=None, climber=climber, unreplayed=task.unreplayed
    )


def _slopes(model: Model, features: int) -> Slopes | None:
    """The derivatives of the only score, where it has some."""
    if model.n_scores > 1:
        return None
    return slopes_of(family_of(model.bodies[0]).line(model.bodies, model.embedding), features)


def imported_question(imported: ImportedModel, asked: Property) -> Question:
    """What is asked of the scores of an imported model."""
    model = imported.model
    return question_of(
        asked, model.head, model.family, by_lines=family_of(model.bodies[0]).softmax == "lines"
    )


def problem_question(problem: Problem) -> Question:
    """What a problem asks of its model."""
    question = imported_question(problem.imported, problem.claim.property)
    if not any(relation.one_way for relation in problem.relations):
        return question
    if question.several and question.of is None and len(question.head.classes) == 2:
        question = replace(question, of=1)
    check_one_way(problem.imported.model, question)
    return replace(question, one_way=True)


def asked_pairs(problem: Problem, question: Question) -> PairSpace:
    """The pairs that a question is about, x and x' being those of the question."""
    relations = problem.relations
    if question.one_way and is_turned(problem.claim.property, question):
        relations = tuple(relation.turned() for relation in relations)
    pairs = problem.imported.recoding.pairs(relations, problem.distance, problem.along)
    allowance = problem.allowance
    if allowance is None:
        return pairs
    problem.refuse_along("how fast scores change", hint="ask for ScoreGap(delta)")
    problem.imported.recoding.refuse_unmeasured(allowance)
    return replace(pairs, allowance=allowance)


def is_turned(asked: Property, question: Question) -> bool:
    """Whether x and x' of an ordered pair change places for a question: it is broken by an x that is on the upper side of it, and the claim by a first individual that is better off, which is not the same
    where zero belongs to the upper label (the strict side is then the lower one), and where the class of interest is the lower one of two."""
    if question.several:
        return False
    upper = question.kind != "decision" or not question.mirrored
    labels = question.head.labels
    lower = (
        asked.class_of_interest is not None
        and labels is not None
        and class_index(asked.class_of_interest, labels, "") == 0
    )
    return upper == lower


def check_one_way(model: Model, question: Question) -> None:
    """Refuse a claim about ordered pairs that does not say who is better off."""
    if question.several and question.of is None:
        raise SpecError(
            f"{model.family} has {len(model.head.classes)} classes: who is better off is not said",
            hint=f"name the class of interest: {', '.join(short_repr(label) for label in model.head.classes[:4])}",
        )
    if question.several and question.head.rule == "votes" and question.kind != "decision":
        raise SpecError(
            f"{model.family} decides by votes and has no score of a class", hint="ask for decisions"
        )


def check_property(asked: Property, model: Model) -> None:
    """Refuse a question that the model has no answer to."""
    head, family, kind = model.head, model.family, asked.kind
    if kind == "lipschitz" and head.link == "exponential":
        raise SpecError(
            f"{family} predicts exp of its score, which no proof compares with a distance",
            hint="ask for ScoreGap(delta) within a radius",
        )
    if kind == "decision" and head.labels is None:
        raise SpecError(
            f"{family} is a regressor and makes no decision",
            hint="ask for ScoreGap(delta): predictions at most delta apart",
        )
    if kind == "decision" and head.undecided is not None:
        raise SpecError(
            f"claims about the decisions of this {family} cannot be made: {head.undecided}",
            hint="ask for ProbabilityGap(delta), or for the decisions of the model that was calibrated",
        )
    if head.rule == "votes" and kind in ("score", "lipschitz"):
        raise SpecError(
            f"{family} decides by votes and has no score of a class", hint="ask for SameDecision()"
        )
    if head.rule == "votes" and kind == "decision" and property_level(asked):
        raise SpecError(f"{family} decides by votes, which have no margin", hint="ask for SameDecision()")
    if kind == "probability" and not head.probable:
        why = f": {head.unlinked}" if head.unlinked is not None else ""
        hint = "ask for ScoreGap(delta), or use LogisticRegression or CalibratedClassifierCV, no threshold around it"
        if model.n_scores > 1:
            hint = "ask for SameDecision(), or for ScoreGap(delta) where classes have scores"
        raise SpecError(f"{family} gives no probabilities that can be verified{why}", hint=hint)
