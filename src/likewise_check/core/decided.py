"""Everybody decided alike (section 14): what more an accepted proof of a decision with margin 0 says, if all of its leaves look at one side only.

A leaf with a line a g(x) - b g(x') and b = 0 shows that nobody who is x of a pair of its cell has g > 0; with a = 0, that everybody who is x' has. Every valid individual is
similar to itself, so it is x and x' of a pair of some leaf's cell. In a case (i, j) of classes the two say that nobody has class i, or class j.
"""

from fractions import Fraction

from likewise_check.core.cells import Holds
from likewise_check.core.claim import Claim
from likewise_check.core.fields import Rejected
from likewise_check.core.numbers import number
from likewise_check.packs.classes.head import Case

# The rules whose bound is one line with the way of the leaf.
OF_ONE_LINE = ("separable", "kernel", "polynomial", "trees")

FIRST, SECOND, BOTH = "x", "x'", "both"

Sides = dict[tuple[int, int], set[str]]  # by the classes of the case; (0, 0) where there are none


def note_side(sides: Sides, leaf: list[object], case: Case | None, holds: Holds) -> None:
    """Takes in which side of the pairs of its cell a leaf that holds has looked at; one without pairs says nothing."""
    seen = sides.setdefault((0, 0) if case is None else (case.i, case.j), set())
    if holds.clearance is None or BOTH in seen:
        return
    way = leaf[1] if leaf[0] in OF_ONE_LINE else None
    if case is not None:
        way = way[2] if type(way) is list else None
    if case is not None and case.cubes is not None:
        way = None  # a cube is not all of its class
    seen.add(_side(way))


def add_sides(sides: Sides, later: Sides) -> None:
    """Takes in what was seen of later leaves."""
    for classes, seen in later.items():
        sides.setdefault(classes, set()).update(seen)


def _side(way: object) -> str:
    try:
        share = number(way, "the way")
    except Rejected:
        return BOTH
    return {Fraction(0): SECOND, Fraction(1): FIRST}.get(share, BOTH)


def decision_of_all(claim: Claim, sides: Sides) -> int | None:
    """The decision that every valid individual gets, as the place of its label, if the leaves show it."""
    if claim.asked.kind != "decision" or claim.asked.bound != 0:
        return None
    classes = claim.model.classes
    if classes is None:
        seen = sides.get((0, 0))
        return int((seen == {SECOND}) != claim.model.upper_at_zero) if seen in ({FIRST}, {SECOND}) else None
    nobodys = {
        case[seen == {SECOND}]
        for case, seen in sides.items()
        if seen in ({FIRST}, {SECOND}) and case != (0, 0)
    }
    left = set(range(classes.count)) - nobodys
    return left.pop() if len(left) == 1 else None
