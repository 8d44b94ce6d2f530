"""Algorithm 1 of the paper, Verify-Individual-Bias: one bound a value pair.

    for every (v, v') in V_p:    l = lower bound of  f(x') - f(x)   with x_D = v, x'_D = v'
    all l >= -delta: NO BIAS     some l < -delta with a valid pair: BIAS INSTANCE     otherwise: POSSIBLE

The paper writes x for the individual with the lower score; here x is the one with the higher score, as
everywhere in Likewise. Where l comes from depends on the family: a mixed-integer program for linear models, sums
of squares for polynomial ones; RBF models go to Find-Bias-Rbf, which is no bound (see `rbf`).

The solvers' numbers carry errors of their tolerance, so a bound that misses -delta by less counts as met: with
exact comparisons the masked linear models would be POSSIBLE. That is one of the reasons why NO is not a proof.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from likewise.errors import UnsupportedModel
from likewise.families.kernel.body import KernelScore
from likewise.paper.answers import Answer, Finding, biased_finding, finding_without_pair
from likewise.paper.cases import Case, Cases, make_cases
from likewise.paper.prepare import oriented_score, prepare_problem
from likewise.progress import Listener, Snapshot
from likewise.run import open_listener
from likewise.search.budget import interruptible
from likewise.spec.terms import Separable

if TYPE_CHECKING:
    from likewise.model.cases import Witness
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.posed_problem import PosedProblem


@dataclass(frozen=True, slots=True, kw_only=True)
class CaseBound:
    """What a bounder says about one case: how far l lies below -delta (the `excess`), in its own units.

    `candidates` are pairs that may attain the bound; `finished` is False where the solver was stopped before
    it had any; `reason` says why it was, or why there is no better one.
    """

    excess: float
    candidates: Sequence[tuple[Sequence[float], Sequence[float]]] = ()
    finished: bool = True
    reason: str = ""


class Bounder(Protocol):
    """Bounds one family case by case. `symmetric`: (v, v') and (v', v) have the same bound."""

    name: str
    symmetric: bool
    tolerance: float

    def bound(self, case: Case, seconds: float) -> CaseBound:
        """The bound of one case, within so many seconds."""


def verify_individual_bias(
    model: Any,
    space: Space,
    similar: Similarity,
    property: Property | None = None,
    *,
    fixed: Sequence[str] | None = None,
    relaxed: Sequence[str] = (),
    X: Any = None,
    budget: float = 60,
    random_state: int | None = 0,
    progress: bool | Listener = False,
    most_order: int = 3,
) -> Finding:
    """The paper's meta-algorithm with its own bounds for the model's family.

    Parameters
    ----------
    model, space, similar, property, X, budget, random_state, progress
        As for `likewise.verify`; the property is SameDecision or ScoreGap.
    fixed : names
        The paper's D: discrete features whose value pairs are gone through. Unless given, all that are free.
    relaxed : names
        Integer features that may take any value in between; never those that are fixed.
    most_order : int
        Where the hierarchy of sums of squares stops (polynomial models).
    """
    with open_listener(progress) as listener:
        prepared = prepare_problem(
            model,
            space,
            similar,
            property,
            X=X,
            budget=budget,
            random_state=random_state,
            listener=listener,
        )
        cases = make_cases(prepared.pairs, fixed, relaxed)
        score = oriented_score(prepared)
        if isinstance(score, KernelScore):
            from likewise.paper.rbf import search_pairs

            with interruptible(prepared.task.budget):
                return search_pairs(prepared, score, cases)
        with interruptible(prepared.task.budget):
            return run_cases(prepared, cases, make_bounder(prepared, score, most_order))


def make_bounder(prepared: PosedProblem, score: Any, most_order: int) -> Bounder:
    """The paper's method for this family."""
    if isinstance(score, Separable):
        from likewise.paper.linear import MixedInteger

        return MixedInteger(prepared, score)
    from likewise.paper.polynomials import is_polynomial
    from likewise.paper.squares import SumsOfSquares

    if is_polynomial(prepared.imported.replay.estimator):
        return SumsOfSquares(prepared, most_order=most_order)
    raise UnsupportedModel(
        f"the paper has no algorithm for {prepared.imported.model.family}",
        hint="it has one for linear, polynomial kernel and RBF kernel models; likewise.verify takes more",
    )


def run_cases(prepared: PosedProblem, cases: Cases, bounder: Bounder) -> Finding:
    """Go through the cases; the first valid pair ends it."""
    problem, total = prepared.task, len(cases)
    open_cases: list[CaseBound] = []
    done: set[tuple[tuple[float, float], ...]] = set()
    for number, case in enumerate(cases):
        problem.listener(
            Snapshot(
                stage=f"{bounder.name}: value pair {number + 1} of {total}",
                seconds=problem.budget.elapsed,
                share=number / total,
            )
        )
        if bounder.symmetric and case.reversed in done:
            continue
        left = problem.budget.seconds - problem.budget.elapsed
        bounded = (
            CaseBound(excess=0, finished=False, reason=problem.budget.reason)
            if problem.budget.over
            else bounder.bound(case, left)
        )
        done.add(case.values)
        if bounded.finished and bounded.excess <= bounder.tolerance:
            continue
        witness = referee_candidates(prepared, bounded.candidates)
        if witness is not None:
            return biased_finding(prepared, bounder.name, witness, value_pairs=number + 1, of=total)
        if not bounded.finished:
            reason = problem.budget.reason if problem.budget.interrupted else bounded.reason
            note = f"{reason}, after {number} of {total} value pairs"
            return finding_without_pair(
                prepared, bounder.name, Answer.NO_ANSWER, note, value_pairs=number, of=total
            )
        open_cases.append(bounded)
    if open_cases:
        note = "; ".join(filter(None, [f"{len(open_cases)} of {total} value pairs", open_cases[-1].reason]))
        excess = max(bounded.excess for bounded in open_cases)
        return finding_without_pair(prepared, bounder.name, Answer.POSSIBLE, note, excess=excess, of=total)
    return finding_without_pair(
        prepared, bounder.name, Answer.NO, f"{total} value pairs, tolerance {bounder.tolerance:g}", of=total
    )


def referee_candidates(
    prepared: PosedProblem, candidates: Sequence[tuple[Sequence[float], Sequence[float]]]
) -> Witness | None:
    """The first candidate that is a witness, in either order of the two."""
    for x, other in candidates:
        for first, second in ((x, other), (other, x)):
            witness = prepared.task.referee(first, second)
            if witness is not None:
                return witness
    return None
