"""Portfolio: the engines in order, cheapest proof first.

    independence     no score depends on anything that may differ: FAIR, one leaf
    falsification    known and random rows, coordinate ascent, judges of known rows, a family's own ascent from many starts: BIASED
    enumeration      votes of classes over few pairs, every pair: BIASED and FAIR; small discrete spaces of one score, every individual: BIASED
    branch and bound everything else, and every proof that is not independence
    looking through  scores without bounds, of few pairs

`decide` reports what was found; whether it is a verdict is for `likewise.verifying` to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.cells.enumerated import enumerated_clearance, find_witnesses, is_independent, pair_count
from likewise.cells.leaf import Clearance, Leaf
from likewise.clock import OutOfTime, check_clock
from likewise.errors import InternalError
from likewise.search.ascent import ascended
from likewise.search.checkpoint import begin_frontiers
from likewise.search.enumeration import enumerate_space
from likewise.search.falsification import climb_from, falsify, sees_all_counterparts
from likewise.search.frontier import ROOT_GRACE_SHARE
from likewise.search.frontiers import Frontiers
from likewise.search.known_rows import pairs_of_rows
from likewise.search.proof import Proof, begin_proof
from likewise.search.slope_tree import SlopeTree
from likewise.search.steep_pairs import find_steep_witness

if TYPE_CHECKING:
    from likewise.model.cases import Witness
    from likewise.search.task import SearchTask
    from likewise.spec.enclosure import Enclosure


MOST_PAIRS = 2**14  # that are looked through one by one
MOST_VOTING_TERMS = (
    2**16
)  # pairs times kernel values, up to which votes are looked through: a tenth of a second to a few
SLOPES_SHARE = 0.6  # of the budget, for boxes of individuals by their slopes


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """A witness, or complete proofs of all cases (one of all of them together, where that is `is_independent`), or neither with the reason;
    `frontiers` where there was a branch and bound."""

    engine: str
    witness: Witness | None = None
    proofs: tuple[Proof, ...] | None = None
    reason: str | None = None
    clearance: Clearance = Fraction(0)
    frontiers: Frontiers | None = None

    @property
    def proof(self) -> Proof | None:
        """That of the only case."""
        if self.proofs is not None and len(self.proofs) != 1:
            raise InternalError(f"{len(self.proofs)} proofs were taken for one")
        return None if self.proofs is None else self.proofs[0]

    @property
    def cells(self) -> int:
        """How many cells were looked at."""
        if self.frontiers is not None:
            return self.frontiers.cells
        return 0 if self.proofs is None else 1


def prove_independence(problem: SearchTask) -> Proof | None:
    """The one-leaf proof that exists where no differing feature matters."""
    proof, leaf = Proof(), Leaf(rule="independent")
    if not is_independent(problem.pairs, problem.oracles.score):
        return None
    proof.close(0, leaf)
    return proof


def decide(problem: SearchTask) -> Outcome:
    """Run the engines until one of them decides or the budget is over."""
    try:
        with problem.budget.later(ROOT_GRACE_SHARE).watched():
            proof = prove_independence(problem)
    except OutOfTime:
        return Outcome(engine="independence", reason=problem.budget.reason)
    if proof is not None:
        return Outcome(engine="independence", proofs=(proof,))
    if problem.pairs.allowance is not None:
        return _decide_steepness(problem)
    looked = enumerate_votes(problem)
    if looked is not None:
        return looked
    parts = problem.each()
    for part in parts:
        witness = falsify(part) or _witness_of_rows(part, len(parts)) or ascended(part)
        if witness is not None:
            return Outcome(engine="falsification", witness=witness)
    witness = None if problem.question.several or problem.parts else enumerate_space(problem)
    if witness is not None:
        return Outcome(engine="enumeration", witness=witness)
    refusal = problem.oracles.unproved(problem.question)
    return _search(problem) if refusal is None else _look_on(problem, refusal)


def _decide_steepness(problem: SearchTask) -> Outcome:
    """The engines of a claim about how fast scores change: steep pairs, then the whole space."""
    witness = find_steep_witness(problem)
    if witness is not None:
        return Outcome(engine="falsification", witness=witness)
    refusal = problem.oracles.unproved(problem.question)
    if refusal is not None:
        return (
            _look_on(problem, refusal)
            if not problem.oracles.family.opaque
            else Outcome(engine="falsification", reason=refusal)
        )
    return _prove_at_once(problem) or _search(problem)


def _prove_at_once(problem: SearchTask) -> Outcome | None:
    """A proof of all pairs by one leaf: a line less costs, or boxes of individuals on which no derivative is too large."""
    allowance, start = problem.pairs.allowance, begin_proof(problem.pairs)
    if allowance is None or start.number is None or problem.question.several:
        return None
    leaf = problem.bounder.leaf_by_costs(start.lo, start.hi, problem.question.level)
    if leaf is None and problem.slopes is not None:
        tree = SlopeTree(problem.pairs, problem.slopes, start.lo, start.hi)
        with suppress(OutOfTime), problem.budget.watched():
            if tree.refine(float(allowance.constant), problem.budget, SLOPES_SHARE * problem.budget.seconds):
                leaf = tree.leaf()
    if leaf is None:
        return None
    start.proof.close(start.number, leaf)
    return Outcome(engine="slopes", proofs=(start.proof,))


def _look_on(problem: SearchTask, refusal: str) -> Outcome:
    """What is done where no proof is tried: ask on, or look through few pairs."""
    if problem.oracles.family.opaque:
        return _ask_on(problem)
    if problem.question.several:
        return Outcome(engine="falsification", reason=refusal)
    try:
        with problem.budget.watched():
            if problem.parts:
                return _look_through_parts(problem, refusal)
            return enumerate_all_pairs(problem, refusal)
    except OutOfTime:
        return Outcome(engine="looking through", reason=problem.budget.reason)


def _look_through_parts(problem: SearchTask, refusal: str) -> Outcome:
    """Every pair of every part one by one: a proof a part, or what the first one without has."""
    found = []
    for part in problem.each():
        alone = prove_independence(part)
        looked = (
            Outcome(engine="looking through", proofs=(alone,))
            if alone is not None
            else enumerate_all_pairs(part, refusal)
        )
        if looked.proofs is None:
            return looked
        found.append(looked)
    proofs = tuple(proof for looked in found for proof in looked.proofs or ())
    return Outcome(
        engine="looking through", proofs=proofs, clearance=min(looked.clearance for looked in found)
    )


def _witness_of_rows(problem: SearchTask, parts: int) -> Witness | None:
    """A witness that a known row is part of, where falsification has not seen all of its counterparts already; of one of so many parts of the pairs."""
    return None if sees_all_counterparts(problem) else pairs_of_rows(problem, parts=parts).witness


def _ask_on(problem: SearchTask) -> Outcome:
    """Look for pairs from ever new individuals until the budget is over: of a model that can only be asked there is nothing else to do."""
    for witness in ask_anew(problem, falsify):
        if witness is not None:
            return Outcome(engine="falsification", witness=witness)
    return Outcome(engine="falsification", reason=problem.oracles.unproved(problem.question))


def ask_anew(problem: SearchTask, look: Callable[[SearchTask], Witness | None]) -> Iterator[Witness | None]:
    """What looking at random individuals finds, again and again, until the budget is over or nobody answers any more."""
    problem.rows = problem.rows[:0]  # these were looked at
    while not problem.budget.over and not problem.oracles.silent:
        for part in problem.each():
            yield look(part)


def _search(problem: SearchTask) -> Outcome:
    try:
        with problem.budget.later(ROOT_GRACE_SHARE).watched():
            frontiers = begin_frontiers(problem, checked=True)
    except OutOfTime:
        return Outcome(engine="branch and bound", reason=problem.budget.reason)
    witness = climb_from_starts(problem, frontiers)
    if witness is not None:
        return Outcome(engine="falsification", witness=witness)
    return run_frontiers(problem, frontiers)


def climb_from_starts(problem: SearchTask, frontiers: Frontiers) -> Witness | None:
    """The best pair, if it is a witness, that coordinate ascent leads to from where the oracles of softmax cases would start: there several
    features hold each other in balance, which no ascent from random rows finds soon."""
    for part in problem.each():
        starts = []
        with suppress(OutOfTime), problem.budget.watched():
            for frontier in frontiers.all:
                if not frontier.case.by_lines and frontier.pairs is part.pairs:
                    check_clock()
                    starts.append(frontier.oracle.starts(*frontier.start)[:, list(part.pairs.first)])
        witness = climb_from(part, np.concatenate(starts)) if starts else None
        if witness is not None:
            return witness
    return None


def enumerate_all_pairs(problem: SearchTask, refusal: str) -> Outcome:
    """Every pair one by one, if they are few: the one-leaf proof, or a witness."""
    start, engine = begin_proof(problem.pairs), "looking through"
    lo, hi, proof = start.lo.tolist(), start.hi.tolist(), start.proof
    if start.number is None or pair_count(problem.pairs, lo, hi) > MOST_PAIRS:
        return Outcome(engine=engine, reason=refusal)
    enclose, case = problem.oracles.enclose, problem.case
    clearance = enumerated_clearance(problem.pairs, enclose, lo, hi, case)
    if clearance is not None:
        proof.close(start.number, Leaf(rule="enumerated"))
        return Outcome(engine=engine, proofs=(proof,), clearance=clearance)
    for x, other in find_witnesses(problem.pairs, enclose, lo, hi, case):
        witness = problem.referee([float(c) for c in x], [float(c) for c in other])
        if witness is not None:
            return Outcome(engine=engine, witness=witness)
    return Outcome(engine=engine, reason=explain_stuck(problem, exact=True))


def enumerate_votes(problem: SearchTask) -> Outcome | None:
    """Every pair one by one by the classes that votes lead to, of which there are far fewer than cubes: one
    proof of all cases together, or a witness. None where pairs are many, or the time is over."""
    question, pairs, start = problem.question, problem.pairs, begin_proof(problem.pairs)
    if not question.by_votes or problem.parts or start.number is None or question.unproved() is not None:
        return None
    lo, hi, unsure = start.lo.tolist(), start.hi.tolist(), False
    if pair_count(pairs, lo, hi) * max(problem.cost, len(problem.oracles.parts)) > MOST_VOTING_TERMS:
        return None
    scores: dict[tuple[tuple[Fraction, ...], int], tuple[Enclosure, ...]] = {}

    def enclose(codes: Sequence[Fraction], bits: int) -> tuple[Enclosure, ...]:
        asked = tuple(codes), bits
        if asked not in scores:
            scores[asked] = problem.oracles.enclose(codes, bits)
        return scores[asked]

    try:
        with problem.budget.later(ROOT_GRACE_SHARE).watched():
            for case in question.undivided_cases():
                for x, other in find_witnesses(pairs, enclose, lo, hi, case):
                    unsure = True
                    witness = problem.referee([*map(float, x)], [*map(float, other)])
                    if witness is not None:
                        return Outcome(engine="enumeration", witness=witness)
    except OutOfTime:
        return None
    if unsure:
        return Outcome(engine="enumeration", reason=explain_stuck(problem, exact=True))
    start.proof.close(start.number, Leaf(rule="enumerated"))
    return Outcome(engine="enumeration", proofs=(start.proof,))


def run_frontiers(problem: SearchTask, frontiers: Frontiers) -> Outcome:
    """Run a branch and bound to its end and say what came out."""
    frontiers.propose_ties()
    end, engine = frontiers.run(), "branch and bound"
    if problem.checkpoint is not None:
        problem.checkpoint.save()
    if end == "witness":
        return Outcome(engine=engine, witness=frontiers.witness, frontiers=frontiers)
    if end == "closed":
        clearance = frontiers.clearance_so_far
        return Outcome(engine=engine, proofs=frontiers.proofs, clearance=clearance, frontiers=frontiers)
    reason = problem.budget.reason if end == "budget" else explain_stuck(problem, exact=frontiers.exact)
    return Outcome(engine=engine, reason=reason, frontiers=frontiers)


def explain_stuck(problem: SearchTask, *, exact: bool) -> str:
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
