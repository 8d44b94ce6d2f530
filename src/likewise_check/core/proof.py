"""The body and the end of a proof (sections 3 and 6): a tree of cells whose leaves all hold (one a case, if there are classes), and what the end states.

A clearance covers the rounding of the deployed program if it exceeds

    E = ((1 + 2^-53)^operations - 1) * (constant + sum_c sizes_c * max |column_c|) + operations * 2^-1074

(trees: without columns, and for programs of 24 bits with 2^-24 and 2^-149). The power has 53 * operations bits after the point, too many to
write out for large counts, so it is enclosed between two ints in units of 2^-precision, rounding down and up after each product; where
precision >= 53 * operations nothing is rounded.
"""

from collections.abc import Callable, Iterator
from concurrent.futures.process import BrokenProcessPool
from fractions import Fraction

from likewise_check.core.affine import Affine
from likewise_check.core.cells import Tree
from likewise_check.core.claim import Claim
from likewise_check.core.fields import Rejected, anything, array_of, record, text, whole
from likewise_check.core.leaves import Jury, Tally
from likewise_check.core.logarithm import ceil_div
from likewise_check.core.model import SMALLEST, Model
from likewise_check.core.numbers import number, shown
from likewise_check.core.reading import Lines
from likewise_check.packs.classes.head import Case
from likewise_check.packs.classes.scores import example
from likewise_check.packs.trees.body import Trees

MOST_NODES = 10**8
_PROGRESS_EVERY = 1000
_PRECISIONS = (256, 4096, 1 << 17)


def check_nodes(
    lines: Lines, jury: Jury, claim: Claim, progress: Callable[[int], None]
) -> tuple[int, object]:
    """Walks the tree, or one tree a case, and has its leaves judged; returns the number of nodes and the line that follows them."""
    try:
        try:
            found = _walk(lines, jury, claim, progress)
        except Rejected as rejection:
            rejection.line = rejection.line or lines.number
            if rejection.finished:
                jury.finish()  # a leaf that came earlier may be at fault: then this raises instead
            raise
        jury.finish()
    except BrokenProcessPool as error:
        raise Rejected("a worker process ended before its time; try fewer jobs") from error
    return found


def _walk(lines: Lines, jury: Jury, claim: Claim, progress: Callable[[int], None]) -> tuple[int, object]:
    nodes, tree, classes = 0, Tree(claim), claim.model.classes
    case: Case | None = None
    cases: Iterator[Case] = iter(())
    while type(node := lines.value("a node or the end")) is list:
        if tree.complete or nodes >= MOST_NODES:
            raise Rejected(f"a node follows the complete proof, or there are more than {MOST_NODES}")
        if classes and nodes == 0 and node[:1] == ["cases"]:
            cases = classes.cases(node, claim.asked)
            case = next(cases)
        elif node[:1] == ["split"] and (case or not classes):
            _, variable, *places = array_of(anything, max(3, min(len(node), 4)))(node, "a split")
            at = [number(place, "the place of a split") for place in places]
            tree.split(whole(0, MOST_NODES)(variable, "the variable"), *at)
        else:
            jury.take((nodes, lines.number, node, tuple(tree.cell), case))
            tree.close()
            if tree.complete and (following := next(cases, None)):
                tree, case = Tree(claim), following
        nodes += 1
        if nodes % _PROGRESS_EVERY == 0:
            progress(nodes)
    if not tree.complete:
        raise Rejected("the proof is not complete: a child of a split, or a case, is missing")
    return nodes, node


def check_end(end: object, lines: Lines, claim: Claim, tally: Tally, nodes: int) -> tuple[Fraction, bool]:
    """Checks what the end of a proof states; returns its clearance and whether that covers floating point."""
    (content,) = record(end, "the line", end=anything)
    count, clearance, covered, digest = record(
        content, "the end", nodes=anything, clearance=number, covers_floating_point=anything, sha256=text
    )
    if digest != lines.digest_before():
        raise Rejected("the end's sha256 is not that of the text before it")
    if type(count) is not int or count != nodes:
        raise Rejected(f"the end must state {nodes} nodes")
    if tally.clearance is None:
        raise Rejected("no pair exists at all: a claim about nobody")
    if not 0 <= clearance <= tally.clearance:
        raise Rejected(
            f"the stated clearance is below 0 or above the smallest of the leaves, {shown(tally.clearance)}"
        )
    if not isinstance(example(claim.model.body), Affine | Trees) and clearance != 0:
        raise Rejected("the clearance of this body must be stated as 0")
    # How a program rounds sigma or a softmax is not described, so nothing covers such a probability.
    classes = claim.model.classes
    plain = claim.asked.kind != "probability" or (classes is not None and classes.link == "identity")
    if covered is not (plain and covers(clearance, claim.model)):
        raise Rejected(
            "covers_floating_point must be true exactly if the clearance exceeds the rounding error"
        )
    return clearance, covered


def covers(clearance: Fraction, model: Model) -> bool:
    """Whether clearance > E, exactly."""
    rounding, body = model.rounding, model.body
    if rounding is None:
        return False
    sizes = zip(rounding.sizes, body.extents if isinstance(body, Affine) else (), strict=True)
    magnitude = rounding.constant + sum(size * extent for size, extent in sizes)
    least = rounding.operations * SMALLEST[rounding.bits]
    for precision in _PRECISIONS:
        growths = _growth(rounding.operations, rounding.bits, precision)
        low, high = (growth * magnitude + least for growth in growths)
        if clearance > high or clearance <= low:
            return clearance > high
    raise Rejected("the clearance is closer to the rounding error than the checker can tell")


def _growth(operations: int, bits: int, precision: int) -> tuple[Fraction, Fraction]:
    """(1 + 2^-bits)^operations - 1, enclosed; precision >= bits."""
    unit = 1 << precision
    low = high = unit
    low_power = high_power = unit + (unit >> bits)
    while operations:
        if operations & 1:
            low, high = low * low_power >> precision, ceil_div(high * high_power, unit)
        low_power, high_power = low_power * low_power >> precision, ceil_div(high_power * high_power, unit)
        operations >>= 1
    return Fraction(low - unit, unit), Fraction(high - unit, unit)
