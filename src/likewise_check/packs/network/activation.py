"""Activations of layers (section 15): what a layer makes of each of its sums y, exactly or between two ints.

All of them are monotone: they rise with y, or, where a slope or alpha is negative, fall on y < 0, where their values are taken at both ends and at 0.
A real is enclosed by two ints low <= value * 2^work <= high.
"""

from dataclasses import dataclass
from fractions import Fraction

from likewise_check.core.fields import Rejected, anything, array_of
from likewise_check.core.logarithm import exp_minus_ints, unit_bits
from likewise_check.core.numbers import number

PARAMETERS = {"relu": 0, "leaky_relu": 1, "clip": 2, "tanh": 0, "logistic": 0, "elu": 1}
RATIONAL = ("relu", "leaky_relu", "clip")


@dataclass(frozen=True, slots=True)
class Activation:
    """A kind and its numbers: a slope, two limits, or alpha."""

    kind: str
    numbers: tuple[Fraction, ...]

    @property
    def rational(self) -> bool:
        return self.kind in RATIONAL

    def at(self, y: Fraction) -> Fraction:
        """The value at y, of the rational kinds."""
        if self.kind == "clip":
            return min(max(y, self.numbers[0]), self.numbers[1])
        if y >= 0:
            return y
        return self.numbers[0] * y if self.kind == "leaky_relu" else Fraction(0)

    def between(self, low: int, high: int, work: int) -> tuple[int, int]:
        """Enclosures of all values at numbers enclosed by low and high."""
        ends = [low, high] if low >= 0 or high <= 0 else [low, 0, high]
        found = [self._enclosed(end, work) for end in ends]
        return min(below for below, _ in found), max(above for _, above in found)

    def _enclosed(self, y: int, work: int) -> tuple[int, int]:
        """The value at y 2^-work, between two ints."""
        if self.kind == "tanh" or self.kind == "logistic":
            return _quotient(y, work, self.kind)
        if self.kind == "elu" and y < 0:
            below, above = _decay(-y, work)
            unit, (alpha,) = 1 << work, self.numbers
            ends = (alpha * (below - unit), alpha * (above - unit))
            return _floor(min(ends)), -_floor(-max(ends))
        if self.kind == "clip":
            low, high = (limit * (1 << work) for limit in self.numbers)
            value = min(max(Fraction(y), low), high)
        elif y >= 0:
            return y, y
        else:
            value = self.numbers[0] * y if self.kind == "leaky_relu" else Fraction(0)
        return _floor(value), -_floor(-value)


def read_activation(item: object, what: str) -> Activation:
    """A kind, and as many numbers as it has."""
    kind, *rest = array_of(anything)(item, what) or [None]
    if type(kind) is not str or kind not in PARAMETERS or len(rest) != PARAMETERS[kind]:
        raise Rejected(f"{what} must be one of {', '.join(PARAMETERS)}, with its numbers")
    found = tuple(number(value, f"{what}, number {i}") for i, value in enumerate(rest))
    if kind == "clip" and found[0] > found[1]:
        raise Rejected(f"{what}: the lower limit is above the upper one")
    return Activation(kind, found)


def _decay(y: int, work: int) -> tuple[int, int]:
    """exp(-y 2^-work), y >= 0, between two ints, in units of 2^-work."""
    low, high = exp_minus_ints(y, 1 << work, work)
    shift = unit_bits(work) - work
    return low >> shift, -(-high >> shift)


def _quotient(y: int, work: int, kind: str) -> tuple[int, int]:
    """tanh y = (1 - e) / (1 + e) with e = exp(-2 y), 1 / (1 + e) with e = exp(-y), for y >= 0: both fall with e. For y < 0 they are -tanh(-y) and 1 - logistic(-y)."""
    unit = 1 << work
    low, high = _decay(abs(y) * (2 if kind == "tanh" else 1), work)
    if kind == "tanh":
        below, above = ((unit - high) << work) // (unit + high), -((-(unit - low) << work) // (unit + low))
        return (below, above) if y >= 0 else (-above, -below)
    below, above = (unit << work) // (unit + high), -((-unit << work) // (unit + low))
    return (below, above) if y >= 0 else (unit - above, unit - below)


def _floor(value: Fraction) -> int:
    return value.numerator // value.denominator
