"""Deciding a question about scores that are known by enclosures.

Every witness set is monotone: raising s or lowering s' keeps (s, s') inside. So a pair of enclosures is
certainly a witness if (lower end, upper end') is one, and certainly none if (upper end, lower end') is not;
in between, more bits are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from likewise.model.cases import Case, ClassQuestion
    from likewise.model.question import Question

    Asked = Question | Case | ClassQuestion

FIRST_BITS = 128
MOST_BITS = (
    8192  # beyond this a comparison is given up: undecided, which is never a witness and never a proof
)

Scores = Enclosure | tuple[Enclosure, ...]  # of one individual: several of a model of several classes
Encloser = Callable[[Sequence[Fraction], int], Scores]


def decided(question: Asked, first: Scores, second: Scores) -> bool | None:
    """Whether (s, s') is a witness, None where the enclosures are too wide to tell."""
    if isinstance(first, tuple):
        return question.decided(first, second)  # type: ignore[union-attr, arg-type]
    if question.holds(first.lo, second.hi):  # type: ignore[union-attr]
        return True
    return None if question.holds(first.hi, second.lo) else False  # type: ignore[union-attr]


def decide(
    question: Asked, enclose: Encloser, x: Sequence[Fraction], other: Sequence[Fraction]
) -> tuple[bool | None, Scores, Scores]:
    """Ask for more bits until the question is decided, and say with which enclosures."""
    bits = FIRST_BITS
    while True:
        first, second = enclose(x, bits), enclose(other, bits)
        answer = decided(question, first, second)
        if answer is not None or bits >= MOST_BITS:
            return answer, first, second
        bits *= 4
