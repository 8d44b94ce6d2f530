"""Preparing: from what the user hands over to a `Problem` that the search can work on.

Checks the arguments, imports the model (with its self-check), resolves the similarity, orients the score
so that the question's strict side is the deciding one, and starts the clock.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import SpecError, UnsupportedModel
from likewise.families.affine.oracle import SeparableOracle
from likewise.families.combined.score import CombinedScore
from likewise.families.kernel.products import kernel_products
from likewise.families.kernel.score import KernelScore
from likewise.families.oracle import Remembering
from likewise.families.polynomial.score import PolynomialScore
from likewise.families.registry import oracle_of
from likewise.families.scored import score_of
from likewise.families.trees.score import TreeScore
from likewise.importers.imported import Imported, ImportedClasses, import_model
from likewise.importers.kept import similar_codes
from likewise.importers.own_rows import check_own_rows
from likewise.importers.two_classes import HALF, as_one_score
from likewise.model.gauge import Gauge
from likewise.model.question import DecisionQuestion, ProbabilityQuestion, Question
from likewise.progress import Listener, Snapshot, silent
from likewise.search.budget import Budget, budget_of
from likewise.search.feasible import some_individual
from likewise.search.problem import Problem
from likewise.spec.frames import with_categories_of
from likewise.spec.pairs import PairSpace, with_differences
from likewise.spec.similarity import Relation, Similarity
from likewise.spec.space import Space
from likewise.spec.terms import Separable, nearest
from likewise.verifying.wording import LONG_READING, Treated

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.scored import Score
    from likewise.model.gauge import Scale
    from likewise.search.problem import Witness
    from likewise.spec.enclosure import Enclosure
    from likewise.spec.similarity import Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """The imported model and the problem made of it; `mirrored` where scores were negated for the question, `gauge` is
    the scale of the question for the scores as they are then, `score` the score itself."""

    imported: Imported
    pairs: PairSpace
    problem: Problem
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
            probabilities=None if head.link is None else tuple(replay.probabilities(codes).tolist()),
            upper_label=None if head.labels is None else head.labels[1],
        )

    def shown(self, witness: Witness, of: Scale) -> float:
        """What the model's own program shows of a pair on a scale, the least of asking one by one and together in either order."""
        replay = self.imported.replay
        high, low = (np.array([codes]) for codes, _ in self.ordered(witness))
        asked = replay.probabilities if of == "probability" else replay.scores
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What the user handed over, checked and imported; `given` are the rows in codes of the user's own space."""

    imported: Imported | ImportedClasses
    relations: tuple[Relation, ...]
    given: NDArray[np.float64]
    like: Any

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which features (rows, features) the rows miss."""
        space = self.imported.recoding.given
        codes = [space[name].missing_code for name in space.names]
        missing: NDArray[np.bool_] = self.given == np.array([np.nan if c is None else c for c in codes])
        return missing


def take(
    model: Any,
    space: Space,
    similar: Similarity,
    *,
    X: Any = None,
    budget: float | Budget = 60,
    listener: Listener = silent,
) -> Taken:
    """Check and import; raises what is wrong with the user's input."""
    if not isinstance(space, Space):
        raise SpecError(
            f"space must be a likewise.Space, not {type(space).__name__}", hint="Space.from_data(X)"
        )
    if not isinstance(similar, Similarity):
        raise SpecError(
            f"similar must be a likewise.Similarity, not {type(similar).__name__}",
            hint='Similarity(free=["sex"], within={"age": 2})',
        )
    clock = budget_of(budget)  # refuses a budget that is none before anything else is done
    listener(Snapshot(stage="reading the model and comparing it with the original", seconds=0.0))
    with clock.importing():
        relations = similar.resolve(space)
        given = np.empty((0, len(space))) if X is None else space.encode(X, allow_extra=True)
        imported = import_model(model, space, rows=given, like=X)
        imported = replace(imported, compared=check_own_rows(imported, X, given))
        if imported.compared.single:
            imported = replace(imported, program=replace(imported.program, bounds=(None,)))
        if imported.space.constraints:
            some_individual(imported.space)
    if clock.stats["import_seconds"] > LONG_READING:
        took = f"reading the model took {clock.stats['import_seconds']:.0f} s"
        listener(Snapshot(stage=took, seconds=clock.elapsed))
    return Taken(imported=imported, relations=relations, given=given, like=X)


def prepare(
    model: Any,
    space: Space,
    similar: Similarity,
    question: Question,
    scale: Scale,
    *,
    X: Any = None,
    budget: float | Budget = 60,
    random_state: int | np.random.Generator | None = 0,
    listener: Listener = silent,
    two_as_one: bool = False,
) -> Prepared:
    """Everything up to the search, for a model of one score."""
    clock = budget_of(budget)
    taken = take(model, space, similar, X=X, budget=clock, listener=listener)
    return prepare_taken(
        taken,
        question,
        scale,
        budget=clock,
        random_state=random_state,
        listener=listener,
        two_as_one=two_as_one,
    )


def prepare_taken(
    taken: Taken,
    question: Question,
    scale: Scale,
    *,
    budget: float | Budget = 60,
    random_state: int | np.random.Generator | None = 0,
    listener: Listener = silent,
    two_as_one: bool = False,
) -> Prepared:
    """The same for what was taken already. `two_as_one` takes decisions of two classes with a score each as well, by half the lead of one over
    the other (`importers.two_classes`), of which the margin is half as well."""
    imported = taken.imported
    if two_as_one and isinstance(imported, ImportedClasses) and isinstance(question, DecisionQuestion):
        lead = as_one_score(imported, share=HALF)
        if lead is not None:
            imported, question = lead, DecisionQuestion(level=question.level / 2)
    if isinstance(imported, ImportedClasses):
        raise UnsupportedModel(
            f"{imported.model.family} has a score for each of its {len(imported.model.head.labels)} classes, and this "
            "analysis is about models of one score",
            hint="verify and measure take it",
        )
    return posed(
        imported,
        taken.relations,
        question,
        scale,
        budget=budget_of(budget),
        random=generator(random_state),
        like=taken.like,
        listener=listener,
    )


def generator(random_state: int | np.random.Generator | None) -> np.random.Generator:
    """The random numbers that `random_state` asks for; refuses what is no seed."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as error:
        raise SpecError(
            f"random_state must be a whole number from 0 on, a numpy Generator or None, not {random_state!r}"
        ) from error


def posed(
    imported: Imported,
    relations: tuple[Relation, ...],
    question: Question,
    scale: Scale,
    *,
    budget: Budget,
    random: np.random.Generator,
    like: Any = None,
    listener: Listener = silent,
) -> Prepared:
    """The problem that a question about an imported model is, with the similarity by feature."""
    space, rows = imported.space, imported.rows
    pairs = similar_codes(imported.recoding, relations)
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
    with budget.stopped():  # compiled on first use
        oracle = oracle_of(score, pairs)
        score.scores(rows[:1])
    problem = Problem(
        pairs=pairs,
        oracle=oracle,
        question=question,
        scores=score.scorer() if isinstance(score, Separable) else score.scores,
        replay=imported.replay,
        budget=budget,
        random=random,
        rows=rows,
        products=products,
        cost=score.cost,
        listener=listener,
        marks=oracle.marked() if isinstance(oracle, (SeparableOracle, Remembering)) else {},
        settle=imported.recoding.settled if imported.recoding.bent else None,
    )
    return Prepared(
        imported=imported,
        pairs=pairs,
        problem=problem,
        mirrored=mirrored,
        gauge=gauge,
        like=like,
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
