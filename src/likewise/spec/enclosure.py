"""Enclosure: two rationals around a number that may be irrational; equal where it is known exactly. And deciding a question about scores that are known by
enclosures: where they do not tell, more bits are asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Enclosure:
    """lo <= number <= hi."""

    lo: Fraction
    hi: Fraction

    @classmethod
    def of(cls, value: Fraction) -> Enclosure:
        """A number that is known exactly."""
        return cls(value, value)

    @property
    def middle(self) -> Fraction:
        return (self.lo + self.hi) / 2

    def __neg__(self) -> Enclosure:
        return Enclosure(-self.hi, -self.lo)


FIRST_BITS = 128
MOST_BITS = (
    8192  # beyond this a comparison is given up: undecided, which is never a witness and never a proof
)

Enclosures = tuple[Enclosure, ...]
Scores = Enclosure | Enclosures  # of one individual; one score may come by itself
Encloser = Callable[[Sequence[Fraction], int], Scores]


class Decidable(Protocol):
    """A question, or one of its cases."""

    def decided(self, first: Enclosures, second: Enclosures) -> bool | None:
        """Whether a pair breaks it; None where the enclosures do not tell."""


def decided_by_enclosures(question: Decidable, first: Scores, second: Scores) -> bool | None:
    """Whether two individuals break a property, None where the enclosures of their scores are too wide to tell."""
    return question.decided(as_several(first), as_several(second))


def as_several(scores: Scores) -> Enclosures:
    """One score as the only one of several."""
    return scores if isinstance(scores, tuple) else (scores,)


def decide(
    question: Decidable, enclose: Encloser, x: Sequence[Fraction], other: Sequence[Fraction]
) -> tuple[bool | None, Scores, Scores]:
    """Ask for more bits until the question is decided, and say with which enclosures."""
    bits = FIRST_BITS
    while True:
        first, second = enclose(x, bits), enclose(other, bits)
        answer = decided_by_enclosures(question, first, second)
        if answer is not None or bits >= MOST_BITS:
            return answer, first, second
        bits *= 4
