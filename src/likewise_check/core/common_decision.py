"""Everybody decided alike (section 14): what more an accepted proof of a decision with margin 0 says, if all of its leaves look at one side only.

A leaf with a line a g(x) - b g(x') and b = 0 shows that nobody who is x of a pair of its cell has the label of x in its case; with a = 0, that nobody who is x' has
that of x'. Every valid individual is similar to itself, so it is x and x' of a pair of some leaf's cell.
"""

from likewise_check.core.cells import Holds
from likewise_check.core.claim import Claim
from likewise_check.core.head import Case

Sides = dict[tuple[int, int], set[str | None]]  # by the classes of the case


def note_side(sides: Sides, case: Case, holds: Holds) -> None:
    """Takes in which side of the pairs of its cell a leaf that holds has looked at; one without pairs says nothing."""
    if case.classes is not None and holds.clearance is not None:
        sides.setdefault(case.classes, set()).add(holds.side)


def add_sides(sides: Sides, later: Sides) -> None:
    """Takes in what was seen of later leaves."""
    for classes, seen in later.items():
        sides.setdefault(classes, set()).update(seen)


def decision_of_all(claim: Claim, sides: Sides) -> int | None:
    """The decision that every valid individual gets, as the place of its label, if the leaves show it."""
    if claim.asked.kind != "decision" or claim.asked.bound != 0:
        return None
    if not all(relation.allows(0, 0) for relation in claim.similarity):
        return None  # nobody is similar to themselves
    nobodys = {first for (first, _), seen in sides.items() if seen == {"x"}}
    nobodys |= {second for (_, second), seen in sides.items() if seen == {"x'"}}
    left = set(range(claim.model.head.count)) - nobodys
    return left.pop() if len(left) == 1 else None
