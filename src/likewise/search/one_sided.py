"""One-sided: is everybody of a box decided alike, and how? A frontier with ONE line for all cells.

The pairs are individuals beside themselves (every feature is `same`), and what is asked is whether somebody is decided the other way. A leaf of lean 1
says  max s <= 0  over its cell: everybody gets the lower decision; a leaf of lean 0 says  max -s < 0: everybody gets the upper
one. The claim of such a certificate, that nobody gets two decisions, is true of any model; what counts is that all leaves of the proof
have the same lean, which the checker finds out by itself (spec/certificate-v1.md, section 14). So no other rule closes a cell here.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from likewise.model.question import SidedQuestion
from likewise.progress import silent
from likewise.search.frontier import Frontier

if TYPE_CHECKING:
    from likewise.search.task import SearchTask

UPPER, LOWER = 0, 1  # the leans


def one_sided(problem: SearchTask, lean: int) -> Frontier:
    """The search for a proof that everybody of a problem of individuals beside themselves gets the decision of `lean`."""
    question = SidedQuestion(lean=lean)
    return Frontier(
        problem=replace(problem, question=question, wanted=None, listener=silent), lines_only=True
    )
