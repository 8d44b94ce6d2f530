"""Deciding a question about scores that are known by enclosures.

Every witness set is monotone: raising s or lowering s' keeps (s, s') inside. So a pair of enclosures is
certainly a witness if (lower end, upper end') is one, and certainly none if (upper end, lower end') is not;
in between, more bits are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, cast

from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from likewise.model.cases import Case
    from likewise.model.question import Question

FIRST_BITS = 128
MOST_BITS = (
    8192  # beyond this a comparison is given up: undecided, which is never a witness and never a proof
)

Several = tuple[Enclosure, ...]
Scores = Enclosure | Several  # of one individual: several of a model of several classes
Encloser = Callable[[Sequence[Fraction], int], Scores]


def decided(question: Question, first: Scores, second: Scores) -> bool | None:
    """Whether (s, s') is a witness, None where the enclosures are too wide to tell. Several scores are decided by their cases."""
    if isinstance(first, tuple) or isinstance(second, tuple):
        return cast("Case", question).decided(cast("Several", first), cast("Several", second))
    if question.holds(first.lo, second.hi):
        return True
    return None if question.holds(first.hi, second.lo) else False


def decide(
    question: Question, enclose: Encloser, x: Sequence[Fraction], other: Sequence[Fraction]
) -> tuple[bool | None, Scores, Scores]:
    """Ask for more bits until the question is decided, and say with which enclosures."""
    bits = FIRST_BITS
    while True:
        first, second = enclose(x, bits), enclose(other, bits)
        answer = decided(question, first, second)
        if answer is not None or bits >= MOST_BITS:
            return answer, first, second
        bits *= 4
