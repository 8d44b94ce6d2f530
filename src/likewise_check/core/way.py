"""The way of a leaf (section 4): a line a s - b s' that W lies above, by T.

The way gives a, b >= 0 and T such that a s - b s' > T on all of W (>= T where neither condition that counts is strict). T of a probability is irrational: it
is replaced by a lower bound.
"""

from fractions import Fraction
from typing import NamedTuple

from likewise_check.core.fields import Rejected
from likewise_check.core.logarithm import log_bounds
from likewise_check.core.numbers import number
from likewise_check.core.properties import Property


class Way(NamedTuple):
    """a, b and T, or a number below it."""

    a: Fraction
    b: Fraction
    threshold: Fraction

    @property
    def side(self) -> str | None:
        """The side that the line looks at, if it is one alone."""
        if self.a and self.b:
            return None
        return "x" if self.a else "x'"


def read_way(text: object, asked: Property) -> Way:
    """The line that a way stands for."""
    way, delta = number(text, "the way"), asked.bound
    if asked.kind == "decision":
        if not 0 <= way <= 1:
            raise Rejected("the way of a decision must be from 0 to 1")
        return Way(way, 1 - way, asked.bound)
    if asked.kind == "score" or delta == 0:
        if way != Fraction(1, 2):
            raise Rejected("the way must be 1/2")
        return Way(way, way, delta / 2)
    return tangent_at(way, delta)


def tangent_at(p: Fraction, delta: Fraction) -> Way:
    """The tangent at p to the boundary of a probability's W."""
    if not 0 < p < 1 - delta:
        raise Rejected("the way of a probability must be above 0 and below 1 - delta")
    q = p + delta
    a, b = q * (1 - q), p * (1 - p)
    low, _ = log_bounds(q / (1 - q))
    _, high = log_bounds(p / (1 - p))
    return Way(a, b, a * low - b * high if delta else Fraction(0))
