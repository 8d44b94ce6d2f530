"""The body and the end of a proof (sections 3 and 6): a tree of cells whose leaves all hold, and what the end states."""

from collections.abc import Callable
from fractions import Fraction

from likewise_check import fields, numbers
from likewise_check.cells import Tree
from likewise_check.claim import Claim
from likewise_check.errors import Rejected
from likewise_check.floating import covers
from likewise_check.leaves import Jury, Tally
from likewise_check.reading import Lines

MOST_NODES = 10**8
_PROGRESS_EVERY = 1000


def check_nodes(
    lines: Lines,
    claim: Claim,
    tally: Tally,
    *,
    jobs: int,
    refusals: int,
    progress: Callable[[int], None],
) -> tuple[int, object]:
    """Walks the tree and judges its leaves; returns the number of nodes and the line that follows them."""
    with Jury(claim, tally, jobs=jobs, refusals=refusals) as jury:
        try:
            found = _walk(lines, Tree(claim), jury, progress)
        except Rejected as rejection:
            rejection.line = rejection.line or lines.number
            jury.finish()  # a leaf that came earlier may be at fault: then this raises instead
            raise
        jury.finish()
    return found


def _walk(lines: Lines, tree: Tree, jury: Jury, progress: Callable[[int], None]) -> tuple[int, object]:
    nodes = 0
    while type(node := lines.value("a node or the end")) is list:
        if tree.complete:
            raise Rejected("a node follows the complete proof")
        if nodes >= MOST_NODES:
            raise Rejected(f"more than {MOST_NODES} nodes")
        if node and node[0] == "split":
            _, variable, at = fields.array(node, "a split", 3)
            tree.split(variable, numbers.parse(at, "the place of a split"))
        else:
            jury.take(nodes, lines.number, node, tree.cell)
            tree.close()
        nodes += 1
        if nodes % _PROGRESS_EVERY == 0:
            progress(nodes)
    if not tree.complete:
        raise Rejected("the proof is not complete: a child of a split is missing")
    return nodes, node


def check_end(end: object, lines: Lines, claim: Claim, tally: Tally, nodes: int) -> tuple[Fraction, bool]:
    """Checks what the end of a proof states; returns its clearance and whether that covers floating point."""
    (content,) = fields.record(end, "the end line", "end")
    count, number, covered, digest = fields.record(
        content, "the end of a proof", "nodes", "clearance", "covers_floating_point", "sha256"
    )
    if fields.text(digest, "the end's sha256") != lines.digest_before():
        raise Rejected("the end's sha256 is not that of the text before it")
    if fields.whole(count, "the number of nodes", 1, MOST_NODES) != nodes:
        raise Rejected(f"the end states {count} nodes, but there are {nodes}")
    clearance = numbers.parse(number, "the clearance")
    if tally.clearance is None:
        raise Rejected("no pair exists at all: a claim about nobody")
    if clearance > tally.clearance:
        raise Rejected(
            f"the stated clearance exceeds the smallest of the leaves, {numbers.shown(tally.clearance)}"
        )
    covering = covers(clearance, claim.model)
    if fields.truth(covered, "covers_floating_point") is not covering:
        raise Rejected(f"covers_floating_point must be {'true' if covering else 'false'}")
    return clearance, covering
