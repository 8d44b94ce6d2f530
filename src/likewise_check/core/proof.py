"""The body and the end of a proof (sections 3 and 6): a tree of cells for each case, whose leaves all hold, and what the end states."""

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import TypeAlias

from likewise_check.core.body import Body
from likewise_check.core.cells import Quantity, Tree
from likewise_check.core.claim import Claim
from likewise_check.core.fields import Rejected, anything, array_of, record, text, whole
from likewise_check.core.head import Case
from likewise_check.core.leaves import Jury, Tally
from likewise_check.core.line_reader import Lines
from likewise_check.core.nobody import check_somebody, shown_keys
from likewise_check.core.numbers import number, readable_number
from likewise_check.core.registry import find_entry, known_names
from likewise_check.core.rounding import covers

MOST_NODES = 10**8
_PROGRESS_EVERY = 1000

InnerSplit: TypeAlias = Callable[[list[object], Body], tuple[Quantity, Fraction]]


def check_nodes(
    lines: Lines, jury: Jury, claim: Claim, progress: Callable[[int], None]
) -> tuple[int, object]:
    """Walks the tree, or one tree a case, and has its leaves judged; returns the number of nodes and the line that follows them."""
    try:
        found = _walk(lines, jury, claim, progress)
    except Rejected as rejection:
        rejection.line = rejection.line or lines.number
        if rejection.finished:
            jury.finish()  # a leaf that came earlier may be at fault: then this raises instead
        raise
    jury.finish()
    return found


def _walk(lines: Lines, jury: Jury, claim: Claim, progress: Callable[[int], None]) -> tuple[int, object]:
    parts = claim.parts()
    part = next(parts)
    nodes, tree = 0, Tree(claim.space, part.similarity)
    case: Case | None = None
    cases: Iterator[Case] = iter(())
    while type(node := lines.value("a node or the end")) is list:
        if tree.complete or nodes >= MOST_NODES:
            raise Rejected(f"a node follows the complete proof, or there are more than {MOST_NODES}")
        opens = False
        if case is None:
            opens, cases = claim.model.head.cases(node, claim.asked)
            case = next(cases)
        if node[:1] == ["split"]:
            _, variable, *places = array_of(anything, max(3, min(len(node), 4)))(node, "a split")
            at = [number(place, "the place of a split") for place in places]
            tree.split(whole(0, MOST_NODES)(variable, "the variable"), *at)
        elif (read := _inner_split(node)) is not None:
            tree.limit(*read(node, claim.model.body))
        elif not opens:
            jury.take((nodes, lines.number, node, tree.cell, part.about(case)))
            tree.close()
            if tree.complete and (following := next(cases, None)):
                tree, case = Tree(claim.space, part.similarity), following
            elif tree.complete and (another := next(parts, None)):
                part, tree, case = another, Tree(claim.space, another.similarity), None
        nodes += 1
        if nodes % _PROGRESS_EVERY == 0:
            progress(nodes)
    if not tree.complete:
        raise Rejected("the proof is not complete: a child of a split, a part, or a case, is missing")
    return nodes, node


def _inner_split(node: list[object]) -> InnerSplit | None:
    """What reads a node that splits a quantity, if it is one that a pack knows."""
    name = node[0] if node else None
    return find_entry("NODES", name) if type(name) is str and name in known_names("NODES") else None


def check_end(end: object, lines: Lines, claim: Claim, tally: Tally, nodes: int) -> tuple[Fraction, bool]:
    """Checks what the end of a proof states; returns its clearance, and whether that covers floating
    point."""
    (content,) = record(end, "the line", end=anything)
    count, clearance, covered, digest, *shown = record(
        content,
        "the end",
        nodes=anything,
        clearance=number,
        covers_floating_point=anything,
        sha256=text,
        **shown_keys(content, claim.space),
    )
    if digest != lines.digest_before():
        raise Rejected("the end's sha256 is not that of the text before it")
    if type(count) is not int or count != nodes:
        raise Rejected(f"the end must state {nodes} nodes")
    if tally.clearance is None:
        raise Rejected("no pair exists at all: a claim about nobody")
    if not 0 <= clearance <= tally.clearance:
        raise Rejected(
            f"the stated clearance is below 0 or above the smallest of the leaves, {readable_number(tally.clearance)}"
        )
    if not claim.model.body.clears and clearance != 0:
        raise Rejected("the clearance of this body must be stated as 0")
    covered_by_it = claim.model.head.adds_up(claim.asked) and covers(clearance, claim.model.rounding)
    if covered is not covered_by_it:
        raise Rejected(
            "covers_floating_point must be true exactly if the clearance exceeds the rounding error"
        )
    check_somebody(claim, shown)
    return clearance, covered
