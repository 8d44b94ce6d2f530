"""Portfolio: the engines in order, cheapest proof first.

    independence     the score depends on nothing that may differ: FAIR, one leaf
    falsification    known and random rows, coordinate ascent: BIASED
    enumeration      small discrete spaces, every individual: BIASED
    branch and bound everything else, and every proof that is not independence
    looking through  combined scores, which have no bounds, of few pairs

`decide` reports what was found; whether it is a verdict is for `likewise.verifying` to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.cells.enumerated import pair_count, witnesses
from likewise.cells.leaf import Clearance, Leaf
from likewise.clock import OutOfTime
from likewise.families.combined.oracle import NO_BOUNDS, CombinedOracle
from likewise.search.branch_and_bound import FOR_THE_ROOT
from likewise.search.enumeration import enumerate_space
from likewise.search.falsification import falsify
from likewise.search.proof import Proof, begin, root_cell
from likewise.search.remembering import search_of

if TYPE_CHECKING:
    from likewise.search.branch_and_bound import Search
    from likewise.search.problem import Problem, Witness


MOST_PAIRS = 2**14  # that are looked through one by one


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A witness, or a complete proof, or neither with the reason; `search` where one was run."""

    engine: str
    witness: Witness | None = None
    proof: Proof | None = None
    reason: str | None = None
    clearance: Clearance = Fraction(0)
    search: Search | None = None


def independence(problem: Problem) -> Proof | None:
    """The one-leaf proof that exists where no differing feature matters."""
    proof, leaf = Proof(), Leaf(rule="independent")
    if problem.oracle.prove(*root_cell(problem.pairs), leaf, problem.question) is None:
        return None
    proof.close(0, leaf)
    return proof


def decide(problem: Problem) -> Outcome:
    """Run the engines until one of them decides or the budget is over."""
    try:
        with problem.budget.later(FOR_THE_ROOT).watched():
            proof = independence(problem)
    except OutOfTime:
        return Outcome(engine="independence", reason=problem.budget.reason)
    if proof is not None:
        return Outcome(engine="independence", proof=proof)
    witness = falsify(problem)
    if witness is not None:
        return Outcome(engine="falsification", witness=witness)
    witness = enumerate_space(problem)
    if witness is not None:
        return Outcome(engine="enumeration", witness=witness)
    if isinstance(problem.oracle, CombinedOracle):
        try:
            with problem.budget.watched():
                return look_through(problem)
        except OutOfTime:
            return Outcome(engine="looking through", reason=problem.budget.reason)
    return conclude(problem, search_of(problem))


def look_through(problem: Problem) -> Outcome:
    """Every pair one by one, if they are few: the one-leaf proof, or a witness."""
    start, engine = begin(problem.pairs), "looking through"
    lo, hi, proof = start.lo, start.hi, start.proof
    if start.number is None or pair_count(problem.pairs, lo.tolist(), hi.tolist()) > MOST_PAIRS:
        return Outcome(engine=engine, reason=f"no proof is known: {NO_BOUNDS}")
    leaf = Leaf(rule="enumerated")
    clearance = problem.oracle.prove(lo, hi, leaf, problem.question)
    if clearance is not None:
        proof.close(start.number, leaf)
        return Outcome(engine=engine, proof=proof, clearance=clearance)
    for x, other in witnesses(
        problem.pairs, problem.oracle.enclose, lo.tolist(), hi.tolist(), problem.question
    ):
        witness = problem.referee([float(c) for c in x], [float(c) for c in other])
        if witness is not None:
            return Outcome(engine=engine, witness=witness)
    return Outcome(engine=engine, reason=why_stuck(problem, exact=True))


def conclude(problem: Problem, search: Search) -> Outcome:
    """Run a branch and bound to its end and say what came out."""
    search.proposes_ties = True
    end = search.run()
    engine = "branch and bound"
    if end == "witness":
        return Outcome(engine=engine, witness=search.witness, search=search)
    if end == "closed":
        return Outcome(engine=engine, proof=search.proof, clearance=search.clearance, search=search)
    reason = problem.budget.reason if end == "budget" else why_stuck(problem, exact=problem.oracle.exact)
    return Outcome(engine=engine, reason=reason, search=search)


def why_stuck(problem: Problem, *, exact: bool) -> str:
    """Why cells that can neither be closed nor split are left; `exact` bounds leave them open only where a pair is."""
    if problem.unreplayed:
        return (
            "rounding: a pair breaks the property in exact arithmetic, "
            "but the model's own floating-point prediction does not show it"
        )
    if exact:
        return "rounding: a pair exists in the real numbers, but no representable one was found"
    return (
        "rounding: what is left open is as narrow as numbers are, and neither a pair that breaks the property "
        "nor a proof that none does was found there"
    )
