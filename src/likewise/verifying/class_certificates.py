"""Certificates of models of several classes: the proofs of all cases in one file, or a pair with all its scores; and what the checker says."""

from __future__ import annotations

import io
from fractions import Fraction
from math import isinf
from typing import TYPE_CHECKING

from likewise import clock
from likewise.cells.leaf import Leaf
from likewise.certificate.certificate import Certificate
from likewise.certificate.lines import class_property_line, model_line, similarity_line, space_line
from likewise.certificate.writer import Writer
from likewise.errors import InternalError
from likewise.families.scored import rounding_error
from likewise.families.trees.body import TreeForm
from likewise.model.cubes import cubes
from likewise.search.proof import Split, walk
from likewise.verifying.certifying import READING, checked, checked_in_time, stated_clearance

if TYPE_CHECKING:
    from likewise.model.classquestion import ClassQuestion
    from likewise.model.question import Case
    from likewise.model.witness import Witness
    from likewise.search.frontiers import Frontiers
    from likewise.verifying.certifying import Checking, CheckReport
    from likewise.verifying.classes import PreparedClasses


def _lines(prepared: PreparedClasses, question: ClassQuestion) -> tuple[bytes, ...]:
    return (
        space_line(prepared.pairs),
        similarity_line(prepared.pairs),
        class_property_line(question.kind, question.level, question.of),
        model_line(prepared.imported.model),
    )


def certify_pair(
    prepared: PreparedClasses, witness: Witness, words: str, checking: Checking
) -> tuple[Certificate, CheckReport]:
    """A witness certificate and what the checker says of it."""
    file, began = io.BytesIO(), clock.now()
    writer = Writer(file, kind="witness", words=words, lines=_lines(prepared, prepared.question))
    writer.class_witness(witness.x, witness.other, witness.scores)
    writer.end_witness()
    certificate = Certificate(file.getvalue())
    return certificate, checked_in_time(checking, certificate, prepared.problem, began)


def certify_cases(
    prepared: PreparedClasses,
    question: ClassQuestion,
    search: Frontiers | None,
    words: str,
    checking: Checking,
) -> tuple[Certificate, CheckReport]:
    """A proof of all cases that the checker accepts, if the budget allows for what it refuses at first; without a search, the one
    leaf `independent`."""
    while True:
        began = clock.now()
        certificate, places = write_cases(prepared, question, search, words)
        clock.look_at_clock(READING * (clock.now() - began))
        report = checked(checking, certificate, prepared.problem, len(places))
        if report.accepted or search is None or not (report.refused and report.finished):
            return certificate, report
        if search.reopen([places[i] for i in report.refused]) or search.run() != "closed":
            return certificate, report


def write_cases(
    prepared: PreparedClasses, question: ClassQuestion, search: Frontiers | None, words: str
) -> tuple[Certificate, list[tuple[int, int]]]:
    """The certificate of complete proofs, and for each of its lines the case and the number of the node."""
    file = io.BytesIO()
    writer = Writer(file, kind="proof", words=words, lines=_lines(prepared, question))
    places = [(-1, -1)]
    if search is None:
        writer.leaf("independent")
    else:
        voted = question.kind == "decision" and question.head.rule == "votes"
        writer.cases(cubes(len(question.head.classes)) if voted else None)
        for n, (part, case) in enumerate(zip(search.all, question.cases(), strict=True)):
            for number, node, _, _ in walk(part.proof, prepared.pairs):
                clock.look_at_clock()
                places.append((n, number))
                _write(writer, node, case)
    clearance, covers = _room(prepared, question, search)
    writer.end_proof(clearance=clearance, covers_floating_point=covers)
    return Certificate(file.getvalue()), places


def _room(
    prepared: PreparedClasses, question: ClassQuestion, search: Frontiers | None
) -> tuple[Fraction, bool]:
    """By how much scores may move with every leaf still holding, and whether that covers how the program rounds: of trees, where
    that is known. A condition of a decision is a difference of two scores, which moves by twice as much as each."""
    model = prepared.imported.model
    error = rounding_error(model, prepared.pairs.space)
    softened = question.kind == "probability" and question.head.link == "softmax"
    if search is None or error is None or softened or not isinstance(model.bodies[0], TreeForm):
        return Fraction(0), False
    clearance = search.clearance()
    if isinf(clearance):
        raise InternalError("a proof about nobody: no cell has a pair")
    stated = stated_clearance(Fraction(clearance) / (2 if question.kind == "decision" else 1))
    return stated, stated > error


def _write(writer: Writer, node: Split | Leaf | None, case: Case) -> None:
    if node is None:
        raise InternalError("a proof with open cells was to be written")
    if isinstance(node, Split):
        writer.split(node.variable, node.at, node.after)
    elif node.squares is not None:
        blocks = ((block.generator, block.mu, block.squares) for block in node.squares.blocks)
        writer.squares(node.squares.way, node.squares.bits, blocks)
    elif node.soft is not None and node.lean is not None:
        tangent = case.direction(node.lean).tangent
        way = Fraction(1, 2) if tangent is None else tangent  # a gap of 0: any point has a = b
        writer.softmax(way, node.soft.weights, node.soft.steps, node.multipliers)
    elif node.rule == "odds":
        writer.odds(node.directions)
    else:
        writer.leaf(node.rule, node.lean, node.multipliers, node.hints, node.rivals)
