"""Enclosure: two rationals around a number that may be irrational; equal where it is known exactly."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


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
