"""Preparing: from a problem about one score to what the search works on.

Makes the pair space, and orients the score so that the question's strict side is the deciding one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import SpecError, UnsupportedModel
from likewise.families.combined.score import CombinedScore
from likewise.families.kernel.products import kernel_products
from likewise.families.kernel.score import KernelScore
from likewise.families.oracles import Oracles
from likewise.families.polynomial.score import PolynomialScore
from likewise.families.registry import oracle_of
from likewise.families.scored import score_of
from likewise.families.trees.score import TreeScore
from likewise.importers.imported import Imported
from likewise.importers.kept import similar_codes
from likewise.importers.two_classes import HALF, as_one_score
from likewise.model.gauge import Gauge, gauge_of
from likewise.model.question import DecisionQuestion, ProbabilityQuestion, question_of
from likewise.search.problem import Problem as SearchTask
from likewise.spec.frames import with_categories_of
from likewise.spec.pairs import PairSpace, with_differences
from likewise.spec.properties import place_of_class
from likewise.spec.terms import Separable, nearest
from likewise.verifying.wording import Treated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.scored import Score
    from likewise.model.gauge import Scale
    from likewise.model.question import Case
    from likewise.model.witness import Witness
    from likewise.problem import Problem
    from likewise.run import Run
    from likewise.spec.enclosure import Enclosure


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The imported model and the problem made of it; `mirrored` where scores were negated for the question, `gauge` is
    the scale of the question for the scores as they are then, `score` the score itself."""

    imported: Imported
    pairs: PairSpace
    problem: SearchTask
    mirrored: bool
    gauge: Gauge
    like: Any
    score: Score

    def pair(self, witness: Witness) -> tuple[Any, tuple[float, float]]:
        """The witness as a frame of the user's kind, higher score first, with both scores."""
        first, second = self.ordered(witness)
        recoding = self.imported.recoding
        frame = recoding.given.decode(recoding.raw(np.array([first[0], second[0]])), like=self.like)
        return with_categories_of(frame, self.like), (nearest(first[1].middle), nearest(second[1].middle))

    def treated(self, witness: Witness) -> Treated:
        """What the model's own program says about the two, in the same order."""
        head, replay = self.imported.model.head, self.imported.replay
        ordered = self.ordered(witness)
        codes = np.array([codes for codes, _ in ordered])
        return Treated(
            decisions=None if head.labels is None else tuple(replay.decisions(codes).tolist()),
            scores=tuple(nearest(score.middle) for _, score in ordered),
            probabilities=None if head.link is None else tuple(replay.probabilities(codes)[:, 1].tolist()),
            upper_label=None if head.labels is None else head.labels[1],
        )

    def shown(self, witness: Witness, of: Scale) -> float:
        """What the model's own program shows of a pair on a scale, the least of asking one by one and together in either order."""
        replay = self.imported.replay
        high, low = (np.array([codes]) for codes, _ in self.ordered(witness))

        def asked(codes: NDArray[np.float64]) -> NDArray[np.float64]:
            found = replay.probabilities(codes) if of == "probability" else replay.scores(codes)
            return found[:, -1]

        together, swapped = asked(np.concatenate([high, low])), asked(np.concatenate([low, high]))[::-1]
        alone = np.concatenate([asked(high), asked(low)])
        first, second = np.array([alone, together, swapped]).T
        return float(np.min(np.minimum(first, -second) if of == "margin" else np.abs(first - second)))

    def ordered(
        self, witness: Witness
    ) -> tuple[tuple[tuple[float, ...], Enclosure], tuple[tuple[float, ...], Enclosure]]:
        """Codes and score of both individuals in the model's own sense, higher score first."""
        if self.mirrored:
            return (witness.other, -witness.second), (witness.x, -witness.first)
        return (witness.x, witness.first), (witness.other, witness.second)


def pose(problem: Problem, run: Run, *, by_lead: bool = False) -> Prepared:
    """What a search needs of a problem about one score. `by_lead` takes decisions of two classes with a score each as well, by half the lead of one
    over the other (`importers.two_classes`), of which the margin is half as well."""
    imported, asked = problem.imported, problem.claim.property
    question, head = question_of(asked), imported.model.head
    # Two classes: what is claimed of one label is claimed of the other.
    place_of_class(asked.class_of_interest, head.labels, imported.model.family)
    if by_lead and imported.model.n_scores > 1 and isinstance(question, DecisionQuestion):
        lead = as_one_score(imported, share=HALF)
        if lead is not None:
            imported, question = lead, DecisionQuestion(level=question.level / 2)
    if imported.model.n_scores > 1:
        raise UnsupportedModel(
            f"{imported.model.family} has a score for each of its {len(imported.model.head.classes)} classes, and this "
            "analysis is about models of one score",
            hint="verify and measure take it",
        )
    return _posed(problem, imported, question, gauge_of(asked).of, run)


def _posed(problem: Problem, imported: Imported, question: Case, scale: Scale, run: Run) -> Prepared:
    space, rows = imported.space, imported.rows
    pairs = similar_codes(imported.recoding, problem.relations)
    head = imported.model.head
    check_scale(scale, imported)
    # Where zero belongs to the upper label, `-s > 0` is the lower one: the same question about -s.
    # Where the probability falls with the score, it rises with -s.
    mirrored = (head.zero_is_upper and scale == "margin") or (head.slope < 0 and scale == "probability")
    gauge = Gauge(of=scale, slope=abs(head.slope), offset=head.offset)
    if isinstance(question, ProbabilityQuestion):
        question = gauge.question(question.delta)
    score = score_of(imported.model, len(space))
    if mirrored:
        score = score.negated()
    products = None
    if isinstance(score, (KernelScore, PolynomialScore, CombinedScore)):
        rows = np.concatenate([rows, score.landmarks(space)])
        pairs = with_differences(pairs)
    if isinstance(score, TreeScore):
        rows = np.concatenate([rows, score.landmarks(space)])
    if isinstance(score, KernelScore):
        products = partial(kernel_products, score, pairs)
    with run.budget.stopped():  # compiled on first use
        oracles = Oracles(score, pairs, oracle_of(score, pairs))
        score.scores(rows[:1])
    task = SearchTask(
        pairs=pairs,
        oracles=oracles,
        question=question,
        scores=score.scorer() if isinstance(score, Separable) else score.scores,
        replay=imported.replay,
        budget=run.budget,
        random=run.random(),
        rows=rows,
        products=products,
        cost=score.cost,
        listener=run.listener,
        marks=oracles.marked(),
        settle=imported.recoding.settled if imported.recoding.bent else None,
    )
    return Prepared(
        imported=imported,
        pairs=pairs,
        problem=task,
        mirrored=mirrored,
        gauge=gauge,
        like=problem.claim.X,
        score=score,
    )


def check_scale(scale: Scale, imported: Imported) -> None:
    """Refuse a question that the model has no answer to."""
    head, family = imported.model.head, imported.model.family
    if scale == "margin" and head.labels is None:
        raise SpecError(
            f"{family} is a regressor and makes no decision",
            hint="ask for ScoreGap(delta): predictions at most delta apart",
        )
    if scale == "margin" and head.undecided is not None:
        raise SpecError(
            f"claims about the decisions of this {family} cannot be made: {head.undecided}",
            hint="ask for ProbabilityGap(delta), or for the decisions of the model that was calibrated",
        )
    if scale == "probability" and head.link is None:
        why = f": {head.unlinked}" if head.unlinked is not None else ""
        raise SpecError(
            f"{family} gives no probabilities that can be verified{why}",
            hint="ask for ScoreGap(delta), or use LogisticRegression or CalibratedClassifierCV, no threshold around it",
        )
