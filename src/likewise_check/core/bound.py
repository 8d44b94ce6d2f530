"""Lines and bounds: how every rule with a bound begins and ends (section 4).

The way of a leaf is a line a s - b s' that W lies above, by T. It gives a, b >= 0 and T such that a s - b s' > T on all of W (>= T where neither condition that counts is strict). T of a probability or of a prediction is irrational: it
is replaced by a lower bound.

The last step is the same for all: a constant plus the sum of one maximum a group, and what that says of a cell. A line, or a majorant of it, is a constant plus functions of one *group* of variables each that nothing ties to other groups: a feature (`separable`), an axis or the
axes of a code (`polynomial`, `sos`, `kernel`), a tree. Its maximum over the cell is the constant plus the sum of the groups' maxima; minus infinity (None) if a
group has no point at all. Where that is below what every witness exceeds, there is no witness.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import NamedTuple, overload

from likewise_check.core.cells import NO_PAIR, Holds, LeafRefused
from likewise_check.core.fields import Rejected
from likewise_check.core.logarithm import log_bounds
from likewise_check.core.numbers import Exact, number, number_text, readable_number
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
    if asked is LINE:
        return _read_line(text)
    way, delta = number(text, "the way"), asked.bound
    if asked.kind == "decision":
        if not 0 <= way <= 1:
            raise Rejected("the way of a decision must be from 0 to 1")
        return Way(way, 1 - way, asked.bound)
    if asked.kind == "score" or delta == 0:
        if way != Fraction(1, 2):
            raise Rejected("the way must be 1/2")
        return Way(way, way, delta / 2)
    return tangent_at(way, delta) if asked.kind == "probability" else _tangent_of_prediction(way, delta)


def _tangent_of_prediction(way: Fraction, delta: Fraction) -> Way:
    """The tangent with this way to the boundary of a prediction's W; s > s' at 1/2, which touches it nowhere."""
    if not Fraction(1, 2) <= way <= 1:
        raise Rejected("the way of a prediction must be from 1/2 to 1")
    other, rest, threshold = 1 - way, 2 * way - 1, Fraction(0)
    if rest:
        threshold = way * log_bounds(way)[0] + rest * log_bounds(delta / rest)[0]
    if other and rest:
        threshold -= other * log_bounds(other)[1]
    return Way(way, other, threshold)


LINE = Property(kind="line", bound=Fraction(0))  # of lemmas about any line: its `way` has a, and T after it


def line_text(way: Fraction, threshold: Fraction) -> str:
    """The way of a line a s - (1 - a) s' with any T, which no certificate writes in one text."""
    return f"{number_text(way)} {number_text(threshold)}"


def _read_line(text: object) -> Way:
    way, threshold = (number(part, "the line") for part in str(text).split(" "))
    return Way(way, 1 - way, threshold)


def tangent_at(p: Fraction, delta: Fraction) -> Way:
    """The tangent at p to the boundary of a probability's W."""
    if not 0 < p < 1 - delta:
        raise Rejected("the way of a probability must be above 0 and below 1 - delta")
    q = p + delta
    a, b = q * (1 - q), p * (1 - p)
    low, _ = log_bounds(q / (1 - q))
    _, high = log_bounds(p / (1 - p))
    return Way(a, b, a * low - b * high if delta else Fraction(0))


@overload
def sum_maxima(constant: int, maxima: Iterable[int]) -> int: ...
@overload
def sum_maxima(constant: Exact, maxima: Iterable[Exact]) -> Exact: ...
@overload
def sum_maxima(constant: Exact, maxima: Iterable[Exact | None]) -> Exact | None: ...
def sum_maxima(constant: Exact, maxima: Iterable[Exact | None]) -> Exact | None:
    """The constant plus the maxima of the groups; None if one of them is."""
    total = constant
    for largest in maxima:
        if largest is None:
            return None
        total += largest
    return total


def conclude(
    rule: str,
    bound: Exact | None,
    limit: Exact,
    *,
    closed: bool,
    unit: Exact = 1,
    spread: Fraction | None = None,
    side: str | None = None,
) -> Holds:
    """That a leaf holds if the bound is at most the limit, or below it if `closed`; both are in units of 1 / unit.

    Its clearance is their distance by the spread, how far the line moves where scores move by 1; 0 without one.
    """
    if bound is None:
        return NO_PAIR
    if bound > limit or (closed and bound == limit):
        beyond, border = (readable_number(Fraction(number) / unit) for number in (bound - limit, limit))
        raise LeafRefused(
            f"{rule}: the line does not separate, its bound is not below {border}: it exceeds it by {beyond}"
        )
    clearance = (limit - bound) / (spread * unit) if spread else Fraction(0)
    return Holds(clearance=clearance, side=side)
