"""Obeying: whether the program that rounds obeys a claim that is proved of the model as mathematics, where its rounding is large.

The rule, for programs whose rounding is large against their scores (`families.program_rounding`) and proofs whose clearance does not cover it:

    gaps        FAIR needs room: the claim must be proved at a level lower by as much as the program's rounding can move a gap
    decisions   the program is asked about the pairs nearest to breaking the claim, and none may break it
    thresholds  decisions at another probability than 1/2 are asked about like that, however small the rounding is: votes and leaves of few rows meet 0.2 exactly
    unread      no column that the program computes, and no test of a tree, reads what may differ: it cannot tell the two apart

What fails is UNKNOWN. A proof of any other program is FAIR, up to a rounding that nobody sees, and says how much that is.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.families.program_rounding import reads_feature
from likewise.figures import rough_bound_text
from likewise.model.gauge import scale_of
from likewise.search.falsification import nearest_pairs
from likewise.spec.lipschitz import Lipschitz
from likewise.spec.numbers import double_below
from likewise.spec.properties import SameDecision

if TYPE_CHECKING:
    from likewise.search.task import SearchTask
    from likewise.verifying.certification import CheckReport, CheckRunner
    from likewise.verifying.result import StatedClaim
    from likewise.verifying.verdicts import ClaimOutcome

PAIRS_ASKED = 64  # pairs that the program is asked about
PROVED = "rounding: proved of the model as mathematics"
BROKEN = f"{PROVED}, but its own program shows a similar pair that breaks the claim"
UNBOUNDED = f"{PROVED}, but how far its own program's rounding moves a gap is not known"
NO_ROOM = f"{PROVED}, with no room for its own program's rounding, which may move a gap by {{}}"


def proves_with_room(found: ClaimOutcome, claimed: StatedClaim, checking: CheckRunner) -> bool:
    """Whether a claim about gaps is proved with room for the program's rounding."""
    asked, imported = claimed.property, found.posed.imported
    if isinstance(asked, SameDecision):
        return False
    moved = imported.program.moved(scale_of(asked), imported.model.head)
    if moved is None or Fraction(asked.delta) < moved:
        return False
    left = double_below(Fraction(asked.delta) - moved)
    narrower = replace(asked, slack=left) if isinstance(asked, Lipschitz) else replace(asked, delta=left)
    again = found.search_again(replace(claimed, property=narrower))
    if again.witness is not None or not again.proved:
        return False
    _, report = again.certify(checking)
    return report.accepted and again.witness is None


def explain_noncompliance(
    found: ClaimOutcome, claimed: StatedClaim, report: CheckReport, covered: bool
) -> str | None:
    """Why a proof is no FAIR of the program; None where it is one."""
    posed = found.posed
    moved_border = isinstance(claimed.property, SameDecision) and posed.imported.model.head.offset != 0
    if not (posed.imported.program.large or moved_border) or report.covers_floating_point or covered:
        return None
    differing = [k for k, relation in enumerate(posed.task.pairs.relations) if relation.kind != "same"]
    if not any(reads_feature(posed.imported.model, k) for k in differing):
        return None
    if isinstance(claimed.property, SameDecision):
        return BROKEN if _program_breaks(posed.task) else None
    moved = posed.imported.program.moved(scale_of(claimed.property), posed.imported.model.head)
    return UNBOUNDED if moved is None else NO_ROOM.format(rough_bound_text(float(moved)))


def _program_breaks(problem: SearchTask) -> bool:
    """Whether the program itself breaks the claim on one of the pairs that come nearest to it."""
    return any(
        problem.pairs.valid([Fraction(c) for c in x], [Fraction(c) for c in other])
        and problem.replay.confirms(x, other, problem.question)
        for x, other in nearest_pairs(problem, PAIRS_ASKED)
    )
