"""Asking: a model and a claim prepared for the published algorithms, as `verify` prepares them for its own.

They share the import with its self-check, the space, the similarity and the referee with the default engine;
only the two properties that the paper has are taken: the same decision, and a gap of scores.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.errors import SpecError
from likewise.families.family import Score
from likewise.families.scored_model import only_score
from likewise.problem import make_claim, prepare, refuse_one_way
from likewise.progress import Listener, ignore_progress
from likewise.run import open_run
from likewise.spec.properties import Property, SameDecision, ScoreGap
from likewise.verifying.posed_problem import PosedProblem, pose

if TYPE_CHECKING:
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space


def prepare_problem(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None,
    *,
    X: Any = None,
    budget: float = 60,
    random_state: int | None = 0,
    listener: Listener = ignore_progress,
) -> PosedProblem:
    """Everything up to the search, for a property that the paper has."""
    property = SameDecision() if property is None else property
    if not isinstance(property, (SameDecision, ScoreGap)):
        raise SpecError(
            f"the paper's algorithms know no {type(property).__name__}",
            hint="ask for SameDecision() or ScoreGap(delta), or use likewise.verify",
        )
    if similar.metric is not None:
        raise SpecError("the paper's algorithms know no metrics", hint="use likewise.verify")
    with open_run(budget=budget, random_state=random_state, progress=listener) as run:
        claim = make_claim(model, space, similar, property, X)
        refuse_one_way(claim, "what the paper asks")
        problem = prepare(claim, run)
        problem.refuse_along("what the paper asks")
        return pose(problem, run)


def oriented_score(prepared: PosedProblem) -> Score:
    """The score whose strict side is the deciding one: x is above, x' is not."""
    score = only_score(prepared.imported.model, len(prepared.pairs.space))
    return score.negated() if prepared.mirrored else score


def allowed_level(prepared: PosedProblem) -> float:
    """What the property allows: the paper's delta, or the margin of a decision."""
    return float(prepared.task.question.level)


def asks_for_decision(prepared: PosedProblem) -> bool:
    """Whether the question is about decisions; else it is about a gap of scores."""
    return prepared.task.question.kind == "decision"
