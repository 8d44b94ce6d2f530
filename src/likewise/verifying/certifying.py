"""Certifying: write the proof down, have it checked, and say no more than the checker accepted.

`check` and `CheckReport` are the independent checker's; this module only hands certificates to it. A leaf
that the checker refuses is cut in two and the search goes on, within the budget. A check that is not finished when the grace of the budget
ends (`search.budget`) accepts nothing.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from fractions import Fraction
from math import floor, inf, isinf
from typing import TYPE_CHECKING

from likewise import clock
from likewise.cells.leaf import Clearance, Leaf
from likewise.certificate.certificate import Certificate
from likewise.certificate.collecting import without_collector
from likewise.certificate.lines import model_line, property_line, similarity_line, space_line
from likewise.certificate.writer import Writer
from likewise.errors import InternalError
from likewise.families.scored import rounding_error
from likewise.model.question import ProbabilityQuestion
from likewise.progress import Snapshot
from likewise.search.proof import Proof, Split, walk
from likewise_check import CheckReport, check

if TYPE_CHECKING:
    from likewise.model.question import WitnessSet
    from likewise.model.witness import Witness
    from likewise.run import Run
    from likewise.search.budget import Budget
    from likewise.search.frontier import Frontier
    from likewise.search.problem import Problem
    from likewise.verifying.preparing import Prepared

__all__ = ["CheckReport", "Checking", "Statement", "certify_proof", "certify_witness", "check"]

# Clearances are stated rounded down to this grid, less one step: short, and with room for the checker's own
# rounding of irrational thresholds.
CLEARANCE_GRID = 2**80
READING = 3.0  # times what writing a certificate down took: what reading it takes at least
REFUSALS = 10_000  # leaves that one check may refuse before it gives up


@dataclass(frozen=True, slots=True, kw_only=True)
class Checking:
    """How checks are run: processes for the leaves, and an executor to run them in instead of here."""

    jobs: int = 1
    executor: Executor | None = None

    @classmethod
    def of(cls, run: Run) -> Checking:
        """As a run has it."""
        return cls(jobs=run.jobs, executor=run.executor)

    def check(self, certificate: Certificate, seconds: float = inf) -> CheckReport:
        """What the checker says; it is stopped after so many seconds."""
        if self.executor is None:
            return check_bytes(certificate.content, self.jobs, seconds)
        return self.executor.submit(check_bytes, certificate.content, self.jobs, seconds).result()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What a certificate is about: the property and its level, the claim in words, the question behind both."""

    kind: str  # "decision", "score" or "probability"
    level: Fraction
    words: str
    question: WitnessSet

    def lines(self, prepared: Prepared) -> Sequence[bytes]:
        pairs, model = prepared.pairs, prepared.imported.model
        return (
            space_line(pairs),
            similarity_line(pairs),
            property_line(self.kind, self.level),
            model_line(model),
        )


def check_bytes(content: bytes, jobs: int, seconds: float) -> CheckReport:
    """Check a certificate in memory; a function of its own so that it can be sent to another process."""
    with without_collector():
        return check(io.BytesIO(content), jobs=jobs, refusals=REFUSALS, seconds=seconds)


def checked(checking: Checking, certificate: Certificate, problem: Problem, nodes: int) -> CheckReport:
    """What the checker says of a proof, within what is left of the budget and its grace."""
    problem.listener(Snapshot(stage="checking the proof", seconds=problem.budget.elapsed, closed=nodes))
    return checking.check(certificate, problem.budget.for_checking)


def checked_in_time(
    checking: Checking, certificate: Certificate, problem: Problem, began: float
) -> CheckReport:
    """What the checker says of a certificate of few lines, which takes longer to read than it took to write since `began`."""
    clock.look_at_clock(READING * (clock.now() - began))
    return checking.check(certificate, problem.budget.for_checking)


def why_not(report: CheckReport, budget: Budget) -> str:
    """Why a proof that was found proves nothing."""
    if report.finished and budget.over:
        return f"{budget.reason}: the checker refused leaves, and what they were cut into is not closed ({report.reason})"
    if report.finished:
        return f"the checker refused the proof: {report.reason}"
    return unchecked(budget)


def unchecked(budget: Budget) -> str:
    """Why a proof that was found was not written down or checked."""
    return f"{budget.reason}: a proof was found, but checking it takes longer"


def certify_witness(
    prepared: Prepared, witness: Witness, statement: Statement, checking: Checking
) -> tuple[Certificate, CheckReport]:
    """A witness certificate and what the checker says of it."""
    file, began = io.BytesIO(), clock.now()
    writer = Writer(file, kind="witness", words=statement.words, lines=statement.lines(prepared))
    scores = (-witness.first, -witness.second) if prepared.mirrored else (witness.first, witness.second)
    writer.witness(witness.x, witness.other, scores)
    writer.end_witness()
    certificate = Certificate(file.getvalue())
    return certificate, checked_in_time(checking, certificate, prepared.problem, began)


def certify_proof(
    prepared: Prepared,
    proof: Proof,
    clearance: Callable[[], Clearance],
    statement: Statement,
    checking: Checking,
    search: Frontier | None = None,
) -> tuple[Certificate, CheckReport]:
    """A proof certificate that the checker accepts, if the budget allows for what it refuses at first."""
    while True:
        began = clock.now()
        certificate, numbers = write_proof(prepared, proof, clearance(), statement)
        clock.look_at_clock(READING * (clock.now() - began))
        report = checked(checking, certificate, prepared.problem, len(numbers))
        if report.accepted or search is None or not (report.refused and report.finished):
            return certificate, report
        if search.reopen({numbers[i] for i in report.refused}, split=True) or search.run() != "closed":
            return certificate, report


def write_proof(
    prepared: Prepared, proof: Proof, clearance: Clearance, statement: Statement
) -> tuple[Certificate, list[int]]:
    """The certificate of a complete proof, and the proof's node numbers in the order of its lines."""
    file = io.BytesIO()
    writer = Writer(file, kind="proof", words=statement.words, lines=statement.lines(prepared))
    numbers = []
    for index, node, _, _ in walk(proof, prepared.pairs):
        clock.look_at_clock()
        numbers.append(index)
        if isinstance(node, Split):
            writer.split(node.variable, node.at, node.after)
        elif isinstance(node, Leaf) and node.squares is not None:
            content = node.squares
            blocks = ((block.generator, block.mu, block.squares) for block in content.blocks)
            writer.squares(content.way, content.bits, blocks)
        elif isinstance(node, Leaf):
            writer.leaf(node.rule, _way(node, statement.question), node.multipliers, node.hints)
        else:
            raise InternalError("a proof with open cells was to be written")
    if isinf(clearance):
        raise InternalError("a proof about nobody: no cell has a pair")
    stated = stated_clearance(Fraction(clearance) * _scale(statement.question))
    error = rounding_error(prepared.imported.model, prepared.pairs.space)
    if error is None:  # nothing is known of the program's rounding, so nothing is claimed about it
        writer.end_proof(clearance=Fraction(0), covers_floating_point=False)
    else:
        covers = stated > error and statement.kind != "probability"  # how a program rounds sigma is not known
        writer.end_proof(clearance=stated, covers_floating_point=covers)
    return Certificate(file.getvalue()), numbers


def _scale(question: WitnessSet) -> Fraction:
    """Certificates state how far slope s + offset may move, the search how far the score s may."""
    return question.slope if isinstance(question, ProbabilityQuestion) else Fraction(1)


def stated_clearance(clearance: Fraction) -> Fraction:
    """What a certificate says of a clearance."""
    return max(Fraction(floor(clearance * CLEARANCE_GRID) - 1, CLEARANCE_GRID), Fraction(0))


def _way(leaf: Leaf, question: WitnessSet) -> Fraction | None:
    """The direction of a separable leaf as the certificate names it: the lean, or the tangent's point."""
    if leaf.lean is None:
        return None
    direction = question.direction(leaf.lean)
    return leaf.lean if direction.tangent is None else direction.tangent
