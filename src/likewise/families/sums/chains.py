"""Chains: a link after a logistic one, outer(sigma(slope t + offset)): what a calibration makes of a probability.

Both never fall, and so bounds compose. A line above the chain is one above the outer link, over the values p that the inner one can have there, of a line above the inner link:

    outer(p) <= alpha_2 (m p + n) + beta_2,  p <= alpha_1 r + beta_1,  so that  outer(inner(t)) <= alpha_2 m alpha_1 r + alpha_2 (m beta_1 + n) + beta_2.

Slopes and tangents are arrays of two rows here, the inner link's first. Turned round, 1 - inner(-t) is logistic again, and outer(1 - p) is the outer link turned round and moved by 1.
What a chain rises by over a distance is found piece by piece (`chain_rises`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from likewise.errors import InternalError
from likewise.families.sums.links import Link

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.sums.links import LinkKind
    from likewise.spec.enclosure import Enclosure

    Floats = NDArray[np.float64]

APART = 2.0**-46  # more than float64 is off by in a probability: outer links may be steep, and see it


@dataclass(frozen=True, slots=True, kw_only=True)
class Chain:
    """outer(inner(t)), in the place of a link."""

    kind: ClassVar[LinkKind] = "chain"
    rational: ClassVar[bool] = False

    inner: Link
    outer: Link

    def __post_init__(self) -> None:
        if self.inner.kind != "logistic" or self.outer.kind not in ("logistic", "table"):
            raise InternalError("a chain is of a logistic link and another one")

    @property
    def slope(self) -> Fraction:
        """Lines are in slope t + offset of the inner link."""
        return self.inner.slope

    @property
    def offset(self) -> Fraction:
        """Lines are in slope t + offset of the inner link."""
        return self.inner.offset

    @property
    def whole(self) -> Fraction:
        """What the chain and what is turned round add up to."""
        return self.outer.whole

    # -- values ---------------------------------------------------------------------------------------------------

    def values(self, scores: Floats) -> Floats:
        """Of many scores in float64."""
        return self.outer.values(self.inner.values(scores))

    def exact(self, score: Fraction) -> Fraction:
        return self.inner.exact(score)  # which there is none of

    def enclose(self, score: Enclosure, bits: int) -> Enclosure:
        """From an enclosure of the score, by its ends; what is steep needs more digits of the probability."""
        more = max(int(self.outer.steepest() or 0), 1).bit_length()
        return self.outer.enclose(self.inner.enclose(score, bits + more), bits)

    # -- errors ---------------------------------------------------------------------------------------------------

    def judged(self, scores: Floats, error: Floats, rounding: float = 0.0) -> tuple[Floats, Floats]:
        """As of a link; `rounding` is what a program's own probability may be off by besides. What an error of the score makes of the probability is seen at its two ends: little near 0 and 1, where calibrations are steepest."""
        values, _ = self.inner.judged(scores, np.zeros_like(error))
        (low, below), (high, above) = (
            self.inner.judged(scores + side * error, np.zeros_like(error)) for side in (-1, 1)
        )
        off = np.maximum(high + above - values, values - (low - below))
        return self.outer.judged(values, off + rounding)

    def carried(self, error: float, growth: float) -> float | None:
        """As of a link: the probability is rounded, and so is what is made of it."""
        steepest, rounded = self.steepest(), self.outer.carried(growth, growth)
        return (
            None
            if steepest is None or rounded is None
            else self.outer.extent(float(steepest) * error) + rounded
        )

    def steepest(self) -> Fraction | None:
        """By how much a value moves at most where the score moves by 1; None where it jumps."""
        outer = self.outer.steepest()
        if outer is None or self.outer.kind == "logistic":
            return None if outer is None else outer * self.slope / 4
        steps = zip(self.outer.knots, self.outer.knots[1:], strict=False)
        found = ((b[1] - a[3]) / (b[0] - a[0]) * _widest(a[0], b[0]) for a, b in steps)
        return self.slope * max(found, default=Fraction(0))

    def largest(self) -> float | None:
        """What no value exceeds in size."""
        return self.outer.largest()

    # -- lines ----------------------------------------------------------------------------------------------------

    def turned(self) -> Chain:
        """t -> -lambda(-t), up to a constant."""
        return Chain(inner=self.inner.turned(), outer=self.outer.mirrored())

    def line_above(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        """Slopes of lines above both links, and where their tangents are taken."""
        inner, outer = (
            self.inner.line_above(low, high),
            self.outer.line_above(*self._probabilities(low, high)),
        )
        return np.stack([inner[0], outer[0]]), np.stack([inner[1], outer[1]])

    def steep(self, alpha: Floats) -> Floats:
        """The slopes of the lines of the chain."""
        slope: Floats = float(self.outer.slope) * alpha[0] * alpha[1]
        return slope

    def beta_above(self, alpha: Floats, tangent: Floats, low: Floats, high: Floats) -> Floats:
        """The betas of the lines of the chain, as the rule has them, but for a little more."""
        inner = self.inner.beta_above(alpha[0], tangent[0], low, high) + APART
        outer = self.outer.beta_above(alpha[1], tangent[1], *self._probabilities(low, high))
        step = alpha[1] * float(self.outer.slope)
        carried = np.where(step > 0, step * np.where(step > 0, inner, 0.0), 0.0)
        beta: Floats = carried + alpha[1] * float(self.outer.offset) + outer
        return beta

    def _probabilities(self, low: Floats, high: Floats) -> tuple[Floats, Floats]:
        return self.inner.values(low) - APART, self.inner.values(high) + APART

    def line(self) -> Any:
        """As a certificate has it."""
        return ["chain", self.inner.line(), self.outer.line()]


def _widest(low: Fraction, high: Fraction) -> Fraction:
    """The largest p (1 - p) from low to high, of those from 0 to 1."""
    nearest = min(max(Fraction(1, 2), low), high)
    return max(nearest * (1 - nearest), Fraction(0))
