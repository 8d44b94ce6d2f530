"""Activations: what a layer does to each of its sums y.

    identity      y                                     tanh        tanh(y)
    relu          max(y, 0)                             logistic    1 / (1 + exp(-y))
    leaky_relu    y, or slope y where y < 0             elu         y, or alpha (exp(y) - 1) where y < 0
    clip          min(max(y, lo), hi)

Those on the left are piecewise linear: of rationals they make rationals, and of whole numbers over a common denominator the same. The others are enclosed
in balls. All of them are continuous and change by at most `steepness` times what y changes by.

In float64 (`judge`) sums, products and comparisons are rounded as everywhere; exponentials are our own (`exponential`), with a proved error. With e = exp(-|y|), or exp(-2 |y|)
of tanh, off by at most RELATIVE e + LOST, the quotients 1 / (1 + e), e / (1 + e) and (1 - e) / (1 + e) move by at most twice that, as their slopes in e are at most 2, and have three roundings of
numbers up to 2: less than `BENT` in all. alpha (e - 1) is off by at most |alpha| BENT.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np
from flint import arb, fmpq, fmpz

from likewise.errors import InternalError
from likewise.families.exponential import exp_minus
from likewise.spec.terms import nearest_double

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

Kind = Literal["identity", "relu", "leaky_relu", "clip", "tanh", "logistic", "elu"]
PIECEWISE: tuple[Kind, ...] = ("identity", "relu", "leaky_relu", "clip")
NOTHING = fmpz(0)
BENT = 2.0**-48  # 2 RELATIVE + 2 LOST + 6 u < 14 u, with room


@dataclass(frozen=True, slots=True)
class Activation:
    """A kind and its parameters: the slope, the two limits, or alpha."""

    kind: Kind
    parameters: tuple[Fraction, ...] = ()

    @property
    def rational(self) -> bool:
        """Whether it makes rationals of rationals."""
        return self.kind in PIECEWISE

    @property
    def steepness(self) -> float:
        """It changes by at most so many times what y does."""
        if self.kind in ("leaky_relu", "elu"):
            return max(1.0, float(np.nextafter(abs(nearest_double(self.parameters[0])), np.inf)))
        return 1.0

    @property
    def bent(self) -> float:
        """What `judged` is off by at most, besides the rounding of products, which is relative."""
        if self.kind == "elu":
            return BENT * max(1.0, 2 * abs(nearest_double(self.parameters[0])))
        return 0.0 if self.rational else BENT

    @property
    def largest(self) -> float:
        """No value exceeds this in size; infinite where there is no such number."""
        if self.kind == "clip":
            return max(abs(nearest_double(limit)) for limit in self.parameters)
        return 1.0 if self.kind in ("tanh", "logistic") else math.inf

    @property
    def at_zero(self) -> float:
        """The size of its value at 0, rounded up."""
        if self.kind == "logistic":
            return 0.5
        if self.kind != "clip":
            return 0.0
        low, high = self.parameters
        return float(np.nextafter(abs(nearest_double(min(max(Fraction(0), low), high))), np.inf))

    def whole(self, sums: Sequence[fmpz], denominator: int) -> tuple[list[fmpz], int]:
        """Of sums / denominator, as whole numbers over the denominator returned."""
        if self.kind == "identity":
            return list(sums), denominator
        if self.kind == "relu":
            return [n if n > 0 else NOTHING for n in sums], denominator
        if self.kind == "leaky_relu":
            (slope,) = self.parameters
            above, below = slope.denominator, slope.numerator
            return [n * (above if n > 0 else below) for n in sums], denominator * above
        if self.kind != "clip":
            raise InternalError(f"{self.kind} makes no rationals of rationals")
        finer = math.lcm(*(limit.denominator for limit in self.parameters))
        low, high = (fmpz(int(limit * finer) * denominator) for limit in self.parameters)
        raised = [n * finer if n * finer > low else low for n in sums]
        return [n if n < high else high for n in raised], denominator * finer

    def enclosed(self, ball: arb) -> arb:
        """Of every number of a ball."""
        if self.kind == "tanh":
            return ball.tanh()
        if self.kind == "logistic":
            return (1 + (ball / 2).tanh()) / 2
        if self.kind == "elu":
            return ball.max(0) + _ball(self.parameters[0]) * ball.min(0).expm1()
        if self.kind == "relu":
            return ball.max(0)
        if self.kind == "leaky_relu":
            return ball.max(0) + _ball(self.parameters[0]) * ball.min(0)
        if self.kind == "clip":
            low, high = map(_ball, self.parameters)
            return ball.max(low).min(high)
        return ball

    def proposed(self, sums: Floats) -> Floats:
        """In float64 as fast as it can be had; for proposing."""
        if self.kind == "tanh":
            return np.asarray(np.tanh(sums))
        if self.kind == "logistic":
            return np.asarray(0.5 + 0.5 * np.tanh(0.5 * sums))
        if self.kind == "elu":
            return np.where(
                sums > 0, sums, nearest_double(self.parameters[0]) * np.expm1(np.minimum(sums, 0))
            )
        return self._piecewise(sums)

    def judged(self, sums: Floats) -> Floats:
        """In float64, off by at most `bent` and two roundings of the value."""
        if self.kind == "tanh":
            small = exp_minus(2 * np.abs(sums))
            return np.copysign((1 - small) / (1 + small), sums)
        if self.kind == "logistic":
            small = exp_minus(np.abs(sums))
            bent: Floats = np.where(sums >= 0, 1.0, small) / (1 + small)
            return bent
        if self.kind == "elu":
            return np.where(
                sums > 0, sums, nearest_double(self.parameters[0]) * (exp_minus(np.abs(sums)) - 1)
            )
        return self._piecewise(sums)

    def _piecewise(self, sums: Floats) -> Floats:
        if self.kind == "relu":
            return np.maximum(sums, 0.0)
        if self.kind == "leaky_relu":
            return np.where(sums > 0, sums, nearest_double(self.parameters[0]) * sums)
        if self.kind == "clip":
            low, high = map(nearest_double, self.parameters)
            return np.minimum(np.maximum(sums, low), high)
        return sums


IDENTITY, RELU = Activation("identity"), Activation("relu")
TANH, LOGISTIC = Activation("tanh"), Activation("logistic")


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))
