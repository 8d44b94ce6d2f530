"""Certifying: write the proof down, have it checked, and say no more than the checker accepted.

`check` and `CheckReport` are the independent checker's; this module only hands certificates to it. A leaf
that the checker refuses is cut in two and the search goes on, within the budget. A check that is not finished when the grace of the budget
ends (`search.budget`) accepts nothing.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from math import floor, inf, isinf
from threading import TIMEOUT_MAX
from typing import TYPE_CHECKING, Any

from likewise import clock
from likewise.cells.leaf import Clearance, Leaf
from likewise.certificate.certificate import Certificate
from likewise.certificate.writer import (
    Writer,
    class_lipschitz_line,
    class_property_line,
    lipschitz_line,
    model_line,
    property_line,
    similarity_line,
    space_line,
)
from likewise.errors import InternalError, SpecError
from likewise.families.registry import family_of
from likewise.families.scored_model import rounding_error
from likewise.gc_pause import without_collector
from likewise.model.cubes import vote_cubes
from likewise.progress import Snapshot
from likewise.run import usable_cores
from likewise.search.feasibility import find_individual, find_moving_pair
from likewise.search.frontiers import Frontiers
from likewise.search.proof import Proof, Split, walk_proof
from likewise.search.workers import is_loss
from likewise.verifying.posed_problem import asked_pairs, check_property, problem_question
from likewise_check import CheckReport, check

if TYPE_CHECKING:
    from likewise.families.scored_model import Model
    from likewise.model.cases import Case, Witness
    from likewise.model.question import Question
    from likewise.problem import Problem
    from likewise.run import Run
    from likewise.search.budget import Budget
    from likewise.search.checkpoint import Checkpoint
    from likewise.search.task import SearchTask
    from likewise.spec.pairs import PairSpace
    from likewise.verifying.posed_problem import PosedProblem

__all__ = ["CheckReport", "CheckRunner", "Statement", "certify_proof", "certify_witness", "check"]

# Clearances are stated rounded down to this grid, less one step: short, and with room for the checker's own
# rounding of irrational thresholds.
CLEARANCE_GRID = 2**80
READING_FACTOR = 3.0  # times what writing a certificate down took: what reading it takes at least
ANSWER_SECONDS = 1.0  # that an executor may take besides, to begin and to answer
MOST_REFUSALS = 10_000  # leaves that one check may refuse before it gives up


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRunner:
    """How checks are run: processes for the leaves, and an executor to run them in instead of here."""

    jobs: int = 1
    executor: Executor | None = None

    @classmethod
    def of(cls, run: Run) -> CheckRunner:
        """As a run has it."""
        return cls(jobs=run.jobs, executor=run.executor)

    def check(self, certificate: Certificate, seconds: float = inf) -> CheckReport:
        """What the checker says; it is stopped after so many seconds. An executor that does not answer, or is gone, accepts nothing."""
        if self.executor is None:
            return check_bytes(certificate.content, self.jobs, seconds)
        began = clock.now()
        try:
            # A worker may be in the middle of something, and has no processes of its own.
            asked = self.executor.submit(check_bytes, certificate.content, 1, seconds)
            return asked.result(timeout=min(seconds + ANSWER_SECONDS, TIMEOUT_MAX))
        except TimeoutError:
            return CheckReport(accepted=False, finished=False, reason="the executor did not answer in time")
        except Exception as error:
            if not is_loss(error) and not isinstance(error, RuntimeError):  # RuntimeError: it was shut down
                raise
            left = seconds - (clock.now() - began)
            return check_bytes(certificate.content, min(self.jobs, usable_cores()), left)


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a certificate is about: the claim in words, and the question that it answers with no (a witness: with yes)."""

    words: str
    question: Question

    def lines(self, posed: PosedProblem) -> Sequence[bytes]:
        return _claim_lines(posed.pairs, self.question, posed.imported.model)


def problem_lines(problem: Problem) -> Sequence[bytes]:
    """Space, similarity, property and model, as the certificate of a verdict on a problem holds them."""
    imported = problem.imported
    check_property(problem.claim.property, imported.model)
    question = problem_question(problem)
    return _claim_lines(asked_pairs(problem, question), question, imported.model)


def _claim_lines(pairs: PairSpace, asked: Question, model: Model) -> Sequence[bytes]:
    about = property_line(asked.kind, asked.level)
    if pairs.allowance is not None:
        about = lipschitz_line(pairs.allowance, asked.level)
        if asked.several:
            about = class_lipschitz_line(pairs.allowance, asked.level, asked.of)
    elif asked.several:
        about = class_property_line(asked.kind, asked.level, asked.of)
    return space_line(pairs), similarity_line(pairs), about, model_line(model, pairs.space)


def keep_state(posed: PosedProblem, checkpoint: Checkpoint | None, question: bytes) -> None:
    """Have the state of a search written to a file, if there is one, and taken up from it: the file must be about the same."""
    if checkpoint is None:
        return
    checkpoint.begin(_claim_digests(posed, question))
    posed.task.checkpoint = checkpoint


def take_up_analysis(
    posed: PosedProblem, checkpoint: Checkpoint | None, question: bytes, data: bytes = b""
) -> Any:
    """What an analysis of the same question wrote to its file, if anything; `data` are those that it is about besides the model."""
    if checkpoint is None:
        return None
    more = {"data": hashlib.sha256(data).hexdigest()}
    checkpoint.begin({**_claim_digests(posed, question), **more})
    return checkpoint.take_state()


def _claim_digests(posed: PosedProblem, question: bytes) -> dict[str, str]:
    pairs, model = posed.pairs, posed.imported.model
    lines = {
        "space": space_line(pairs),
        "similarity": similarity_line(pairs),
        "question": question,
        "model": model_line(model, pairs.space),
    }
    return {name: hashlib.sha256(line).hexdigest() for name, line in lines.items()}


def check_bytes(content: bytes, jobs: int, seconds: float) -> CheckReport:
    """Check a certificate in memory; a function of its own so that it can be sent to another process."""
    with without_collector():
        return check(io.BytesIO(content), jobs=jobs, refusals=MOST_REFUSALS, seconds=seconds)


def check_proof(
    checking: CheckRunner, certificate: Certificate, problem: SearchTask, nodes: int
) -> CheckReport:
    """What the checker says of a proof, within what is left of the budget and its grace."""
    stage = f"checking the proof; Ctrl-C {'again' if problem.budget.interrupted else 'twice'} leaves"
    problem.listener(Snapshot(stage=stage, seconds=problem.budget.elapsed, closed=nodes))
    return checking.check(certificate, problem.budget.checking_seconds)


def check_in_time(
    checking: CheckRunner, certificate: Certificate, problem: SearchTask, began: float
) -> CheckReport:
    """What the checker says of a certificate of few lines, which takes longer to read than it took to write since `began`."""
    clock.check_clock(READING_FACTOR * (clock.now() - began))
    return checking.check(certificate, problem.budget.checking_seconds)


def confirm_subject(report: CheckReport, kind: str, digests: Mapping[str, str]) -> CheckReport:
    """The report, if what the checker accepted is what it was asked about: a proof or a witness of this very claim. Otherwise nothing is accepted."""
    if not report.accepted or (report.kind == kind and report.digests == digests):
        return report
    return replace(
        report, accepted=False, reason=f"the checker accepted something else than the {kind} of this claim"
    )


def explain_refusal(report: CheckReport, budget: Budget) -> str:
    """Why a proof that was found proves nothing."""
    if report.finished and budget.over:
        return f"{budget.reason}: the checker refused parts of the proof, and these could not be proved otherwise in time ({report.reason})"
    if report.finished:
        return f"the checker refused the proof: {report.reason}"
    return explain_unchecked(budget)


def explain_unchecked(budget: Budget) -> str:
    """Why a proof that was found was not written down or checked."""
    return f"{budget.reason}: a proof was found, but checking it takes longer"


def certify_witness(
    posed: PosedProblem, witness: Witness, statement: Statement, checking: CheckRunner
) -> tuple[Certificate, CheckReport]:
    """A witness certificate and what the checker says of it."""
    file, began = io.BytesIO(), clock.now()
    writer = Writer(file, kind="witness", words=statement.words, lines=statement.lines(posed))
    exact = all(score.rational for score in posed.task.oracles.parts)
    if posed.several:
        writer.class_witness(witness.x, witness.other, witness.scores, exact=exact)
    else:
        first, second = (scores[0] for scores in witness.scores)
        told = (-first, -second) if posed.mirrored else (first, second)
        writer.witness(witness.x, witness.other, told, exact=exact)
    writer.end_witness()
    certificate = Certificate(file.getvalue())
    report = check_in_time(checking, certificate, posed.task, began)
    return certificate, confirm_subject(report, "witness", writer.digests)


def certify_proof(
    posed: PosedProblem,
    found: Frontiers | Proof | Sequence[Proof],
    clearance: Callable[[], Clearance],
    statement: Statement,
    checking: CheckRunner,
) -> tuple[Certificate, CheckReport]:
    """A proof certificate that the checker accepts, if the budget allows for what it refuses at first: only frontiers can go on. `clearance` is how far
    the scores may move with every leaf still holding. Several proofs are those of the parts of the pairs."""
    while True:
        began = clock.now()
        certificate, places, digests = write_proof(posed, found, clearance, statement)
        clock.check_clock(READING_FACTOR * (clock.now() - began))
        report = check_proof(checking, certificate, posed.task, len(places))
        report = confirm_subject(report, "proof", digests)
        if report.accepted or not isinstance(found, Frontiers) or not (report.refused and report.finished):
            return certificate, report
        if found.reopen([places[i] for i in report.refused]) or found.run() != "closed":
            return certificate, report


def write_proof(
    posed: PosedProblem,
    found: Frontiers | Proof | Sequence[Proof],
    clearance: Callable[[], Clearance],
    statement: Statement,
) -> tuple[Certificate, list[tuple[int, int]], dict[str, str]]:
    """The certificate of complete proofs, for each of its lines the case and the number of the node, and the digests of what it is about."""
    file, question = io.BytesIO(), statement.question
    writer = Writer(file, kind="proof", words=statement.words, lines=statement.lines(posed))
    places: list[tuple[int, int]] = []
    for n, pairs in enumerate(posed.pairs.branches or (posed.pairs,)):
        _write_part(writer, posed, pairs, _proofs_of_part(posed, found, n), question, places)
    stated, covers = _stated_room(posed, found, clearance, statement)
    writer.end_proof(clearance=stated, covers_floating_point=covers, shown=_somebody(posed.pairs))
    return Certificate(file.getvalue()), places, writer.digests


def _proofs_of_part(
    posed: PosedProblem, found: Frontiers | Proof | Sequence[Proof], n: int
) -> Sequence[tuple[int, Proof]] | None:
    """The proofs of the cases of one part of the pairs, with their places among all; None where it is `independent`."""
    if isinstance(found, Proof):
        return None if posed.pairs.branches else ((0, found),)
    if not isinstance(found, Frontiers):
        return ((n, found[n]),)
    if not posed.pairs.branches:
        return tuple(enumerate(found.proofs))
    pairs = posed.pairs.branches[n]
    searched = tuple((i, one.proof) for i, one in enumerate(found.all) if one.pairs is pairs)
    return searched or None


def _write_part(
    writer: Writer,
    posed: PosedProblem,
    pairs: PairSpace,
    proofs: Sequence[tuple[int, Proof]] | None,
    question: Question,
    places: list[tuple[int, int]],
) -> None:
    """The nodes of the proof of all pairs, or of one part of them."""
    if proofs is None:
        writer.leaf("independent")
        places.append((-1, -1))
        return
    whole = len(proofs) == 1 and proofs[0][1].nodes == [Leaf(rule="independent")]
    if question.by_votes and not whole and len(proofs) == 1:  # by classes: cubes without conditions
        cases, cubes = question.undivided_cases(), (((),),) * len(question.head.classes)
        proofs = [*proofs] * len(cases)
    else:
        cases, cubes = question.cases(), None
    if question.several and not whole:
        writer.cases(cubes or (vote_cubes(len(question.head.classes)) if question.by_votes else None))
        places.append((-1, -1))
    for (n, proof), case in zip(proofs, cases, strict=not whole):
        for number, node, _, _ in walk_proof(proof, pairs):
            clock.check_clock()
            places.append((n, number))
            if isinstance(node, Split) and node.variable >= len(pairs.variables):
                _write_inner_split(writer, node, posed, pairs)
            else:
                _write_node(writer, node, case)


def _somebody(pairs: PairSpace) -> Sequence[Sequence[Fraction]]:
    """One who satisfies the constraints, where there are any, or two, where nobody is similar to
    themselves; nobody also where none is found, which a checker refuses."""
    if not pairs.space.constraints:
        return ()
    with suppress(SpecError):
        return find_moving_pair(pairs) or (find_individual(pairs.space),)
    return ()


def _write_inner_split(writer: Writer, split: Split, posed: PosedProblem, pairs: PairSpace) -> None:
    bodies = posed.imported.model.bodies
    place = split.variable - len(pairs.variables)
    writer.split_inner(family_of(bodies[0]).inner_line(bodies, place), split.at)


def _write_node(writer: Writer, node: Split | Leaf | None, case: Case) -> None:
    if node is None:
        raise InternalError("a proof with open cells was to be written")
    if isinstance(node, Split):
        writer.split(node.variable, node.at, node.after)
    elif node.squares is not None:
        blocks = ((block.generator, block.mu, block.squares) for block in node.squares.blocks)
        writer.squares(node.squares.way, node.squares.bits, blocks)
    elif node.soft is not None and node.lean is not None:
        tangent = case.line.direction(node.lean).tangent
        way = Fraction(1, 2) if tangent is None else tangent  # a gap of 0: any point has a = b
        writer.softmax(way, node.soft.weights, node.soft.steps, node.multipliers)
    elif node.parts:
        lean = _leaf_way(node, case)
        writer.lines_of_parts(node.rule, Fraction(1, 2) if lean is None else lean, node.parts, node.rivals)
    elif node.boxes:
        writer.slope(node.boxes)
    elif node.shares:
        writer.separable_less_costs(Fraction(1, 2), node.multipliers, node.shares)
    elif node.rule == "odds":
        writer.odds(node.directions)
    else:
        writer.leaf(node.rule, _leaf_way(node, case), node.multipliers, node.hints, node.rivals)


def _leaf_way(leaf: Leaf, case: Case) -> Fraction | None:
    """The direction of a separable leaf as the certificate names it: the lean, or the tangent's point."""
    if leaf.lean is None or not case.line.admits(leaf.lean):
        return leaf.lean
    tangent = case.line.direction(leaf.lean).tangent
    return leaf.lean if tangent is None else tangent


def _stated_room(
    posed: PosedProblem,
    found: Frontiers | Proof | Sequence[Proof],
    clearance: Callable[[], Clearance],
    statement: Statement,
) -> tuple[Fraction, bool]:
    """By how much scores may move with every leaf still holding, and whether that covers how the program rounds: of several scores of trees only, where
    that is known. Where nothing is known of the program's rounding, nothing is claimed about it, nor of how it rounds sigma or softmax."""
    question = statement.question
    kind, several = question.kind, question.several
    error = rounding_error(posed.imported.model, posed.pairs.space)
    untold = isinstance(found, Proof) or question.softmax
    if several and (untold or error is None):
        return Fraction(0), False
    room = clearance()
    if posed.pairs.branches and isinstance(found, Frontiers) and len(found.all) < len(posed.pairs.branches):
        room = Fraction(0)  # of a part that is `independent`
    if isinf(room):
        raise InternalError("a proof about nobody: no cell has a pair")
    if error is None:
        return Fraction(0), False
    scale = Fraction(1)
    if (
        kind == "probability" and question.level and not several
    ):  # stated is how far slope s + offset may move
        scale = abs(question.head.slope)
    if kind == "decision" and several:  # a difference of two scores moves by twice as much as each
        scale = Fraction(1, 2)
    stated = stated_clearance(Fraction(room) * scale)
    return stated, stated > error and (several or kind not in ("probability", "prediction"))


def stated_clearance(clearance: Fraction) -> Fraction:
    """What a certificate says of a clearance."""
    return max(Fraction(floor(clearance * CLEARANCE_GRID) - 1, CLEARANCE_GRID), Fraction(0))
