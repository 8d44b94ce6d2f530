"""Posing: a problem made ready for the search, of n >= 1 scores: the pair space, the question, the oracles, and the way back from a witness to the user's terms.

One score is oriented so that the question's strict side is the deciding one: where zero belongs to the upper label, `-s > 0` is the lower one, the same
question about -s; where the probability falls with the score, it rises with -s. Several scores are asked as they are, case by case.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import InternalError, SpecError
from likewise.families.oracles import Oracles
from likewise.families.registry import bounder_of, family_of
from likewise.families.scored import Scores, score_of
from likewise.importers.two_classes import HALF, as_one_score
from likewise.model.cases import DecisionCase
from likewise.model.classquestion import ClassQuestion
from likewise.model.gauge import ClassGauge, Gauge, gauge_of
from likewise.model.question import DecisionQuestion, ProbabilityQuestion, question_of
from likewise.search.task import SearchTask
from likewise.spec.frames import with_categories_of
from likewise.spec.pairs import PairSpace, with_differences
from likewise.spec.properties import SameDecision, level_of, place_of_class
from likewise.spec.terms import dot, nearest
from likewise.verifying.wording import Treated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from likewise.families.family import Score
    from likewise.families.scored import Model
    from likewise.importers.imported import Imported
    from likewise.model.gauge import AnyGauge, Scale
    from likewise.model.question import Question
    from likewise.model.witness import Witness
    from likewise.problem import Problem
    from likewise.run import Run
    from likewise.spec.enclosure import Enclosure
    from likewise.spec.properties import Property

    Floats = NDArray[np.float64]
    Individual = tuple[tuple[float, ...], Enclosure]


@dataclass(frozen=True, slots=True, kw_only=True)
class PosedProblem:
    """The imported model and the search's task made of it; `gauge` is the scale of the question. `mirrored` where the only score was negated for the
    question, `score` is what was made of it; or all scores."""

    imported: Imported
    pairs: PairSpace
    task: SearchTask
    gauge: AnyGauge
    score: Score | Scores
    mirrored: bool = False
    like: Any = None

    @property
    def several(self) -> bool:
        """Whether individuals have more than one score."""
        return self.imported.model.n_scores > 1

    @property
    def only_score(self) -> Score:
        """That of a model of one."""
        if isinstance(self.score, Scores):
            raise InternalError(f"{self.imported.model.n_scores} scores were taken for one")
        return self.score

    @property
    def of(self) -> int | None:
        """The place of the class of interest, of several scores."""
        return self.gauge.asked.of if isinstance(self.gauge, ClassGauge) else None

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
        return with_categories_of(frame, self.like), (nearest(first[1].middle), nearest(second[1].middle))

    def treated(self, witness: Witness) -> Treated:
        """What the model's own program says about the two, in the same order; probabilities of the class that the pair is about."""
        head, replay = self.imported.model.head, self.imported.replay
        ordered, place = self.ordered(witness), self.place(witness)
        codes = np.array([codes for codes, _ in ordered])
        return Treated(
            decisions=None if head.labels is None else tuple(replay.decisions(codes).tolist()),
            scores=tuple(nearest(score.middle) for _, score in ordered),
            probabilities=None
            if head.link is None
            else tuple(replay.probabilities(codes)[:, place].tolist()),
            upper_label=None if head.labels is None else head.labels[place],
            score_name=self.score_name(witness),
        )

    def shown(self, witness: Witness, of: Scale) -> float:
        """What the model's own program shows of a pair on a scale, the least of asking one by one and together in either order."""
        replay, case = self.imported.replay, witness.case
        high, low = (np.array([codes]) for codes, _ in self.ordered(witness))
        asked = replay.probabilities if of == "probability" else replay.scores
        ways = (
            np.concatenate([asked(high), asked(low)]),
            asked(np.concatenate([high, low])),
            asked(np.concatenate([low, high]))[::-1],
        )
        if of == "margin" and isinstance(case, DecisionCase):
            return min(_least_lead(case, scores) for scores in ways)
        column = 0 if not self.several and of != "probability" else self.place(witness)
        first, second = np.array([scores[:, column] for scores in ways]).T
        return float(np.min(np.minimum(first, -second) if of == "margin" else np.abs(first - second)))

    def place(self, witness: Witness) -> int:
        """The class that the pair is about: the upper one of two by sign, of a decision the one that the first individual gets."""
        if not self.several:
            return 1
        if isinstance(witness.case, DecisionCase):
            return witness.case.classes[0]
        return int(getattr(witness.case, "of", 0))

    def score_name(self, witness: Witness) -> str:
        """What the two numbers that are shown are."""
        head = self.imported.model.head
        if not self.several:
            return "score"
        if self.gauge.of != "margin":
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


# -- from a problem to the search's task ----------------------------------------------------------------------


def pose(problem: Problem, run: Run, *, by_lead: bool = False) -> PosedProblem:
    """What the search needs of a problem; refuses a question that the model has no answer to. `by_lead` takes decisions of two classes with a score each
    by half the lead of one over the other (`importers.two_classes`), of which the margin is half as well."""
    imported, asked = problem.imported, problem.claim.property
    level = Fraction(level_of(asked))
    # By sign, what is claimed of one label is claimed of the other.
    place = place_of_class(asked.class_of_interest, imported.model.head.labels, imported.model.family)
    lead = as_one_score(imported, share=HALF) if by_lead and isinstance(asked, SameDecision) else None
    if lead is not None:
        imported, level = lead, level / 2
    pairs = imported.recoding.pairs(problem.relations)
    check_asked(asked, imported.model)
    one = imported.model.n_scores == 1
    asking = _one_score(imported, asked, level) if one else _all_scores(imported, asked, level, place)
    score, space, rows = asking.score, imported.space, imported.rows
    family = family_of(imported.model.bodies[0])
    rows = np.concatenate([rows, score.landmarks(space)])
    if family.differences:
        pairs = with_differences(pairs)
    with run.budget.stopped():  # compiled on first use
        oracles = Oracles(score, pairs, None if isinstance(score, Scores) else bounder_of(score, pairs))
        marks = oracles.marked()
        score.scores(rows[:1])
    task = SearchTask(
        pairs=pairs,
        oracles=oracles,
        question=asking.question,
        scores=score.scorer(),
        replay=imported.replay if one else PropertyReplay(imported, asked),
        budget=run.budget,
        random=run.random(),
        rows=rows,
        products=family.products(score, pairs) if one else None,
        climber=family.climber(oracles.parts, pairs),
        cost=score.cost,
        listener=run.listener,
        marks=marks,
        settle=imported.recoding.settled if imported.recoding.bent else None,
    )
    return PosedProblem(
        imported=imported,
        pairs=pairs,
        task=task,
        gauge=asking.gauge,
        score=score,
        mirrored=asking.mirrored,
        like=problem.claim.X,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asking:
    """The score or all of them, oriented for the question."""

    score: Score | Scores
    question: Question
    gauge: AnyGauge
    mirrored: bool = False


def _one_score(imported: Imported, asked: Property, level: Fraction) -> _Asking:
    head, scale, question = imported.model.head, gauge_of(asked).of, question_of(asked)
    mirrored = (head.zero_is_upper and scale == "margin") or (head.slope < 0 and scale == "probability")
    gauge = Gauge(of=scale, slope=abs(head.slope), offset=head.offset)
    if isinstance(question, (ProbabilityQuestion, DecisionQuestion)):
        question = gauge.question(level)
    score = score_of(imported.model, len(imported.space))
    return _Asking(
        score=score.negated() if mirrored else score, question=question, gauge=gauge, mirrored=mirrored
    )


def _all_scores(imported: Imported, asked: Property, level: Fraction, place: int | None) -> _Asking:
    model = imported.model
    by_lines = family_of(model.bodies[0]).softmax == "lines"
    question = ClassQuestion(kind=asked.kind, level=level, of=place, head=model.head, by_lines=by_lines)
    score = Scores(model, len(imported.space))
    return _Asking(score=score, question=question, gauge=ClassGauge(asked=question))


class PropertyReplay:
    """The original's replay, which is asked about a property of several scores, for a search, which speaks of questions."""

    def __init__(self, imported: Imported, property: Property) -> None:
        self.imported, self.property = imported, property

    def confirms(self, x: Sequence[float], other: Sequence[float], question: object) -> bool:  # noqa: ARG002
        return self.imported.replay.confirms(x, other, self.property)


def check_asked(asked: Property, model: Model) -> None:
    """Refuse a question that the model has no answer to."""
    head, family, kind = model.head, model.family, asked.kind
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
    if head.rule == "votes" and kind == "score":
        raise SpecError(
            f"{family} decides by votes and has no score of a class", hint="ask for SameDecision()"
        )
    if head.rule == "votes" and kind == "decision" and level_of(asked):
        raise SpecError(f"{family} decides by votes, which have no margin", hint="ask for SameDecision()")
    if kind == "probability" and head.link is None:
        why = f": {head.unlinked}" if head.unlinked is not None else ""
        hint = "ask for ScoreGap(delta), or use LogisticRegression or CalibratedClassifierCV, no threshold around it"
        if model.n_scores > 1:
            hint = "ask for SameDecision(), or for ScoreGap(delta) where classes have scores"
        raise SpecError(f"{family} gives no probabilities that can be verified{why}", hint=hint)
