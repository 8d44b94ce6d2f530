"""Deciding a question about scores that are known by enclosures: where they do not tell, more bits are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from likewise.spec.enclosure import Enclosure

if TYPE_CHECKING:
    from likewise.model.question import Question

FIRST_BITS = 128
MOST_BITS = (
    8192  # beyond this a comparison is given up: undecided, which is never a witness and never a proof
)

Enclosures = tuple[Enclosure, ...]
Scores = Enclosure | Enclosures  # of one individual; one score may come by itself
Encloser = Callable[[Sequence[Fraction], int], Scores]


def decided(question: Question, first: Scores, second: Scores) -> bool | None:
    """Whether two individuals break a property, None where the enclosures of their scores are too wide to tell."""
    return question.decided(as_several(first), as_several(second))


def as_several(scores: Scores) -> Enclosures:
    """One score as the only one of several."""
    return scores if isinstance(scores, tuple) else (scores,)


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
