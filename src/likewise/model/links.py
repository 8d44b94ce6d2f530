"""Links: from scores to probabilities, in float64 for many individuals and as balls for exact scores.

logistic   sigma(s) = 1 / (1 + exp(-s))
softmax    P_c = exp(f_c) / sum_k exp(f_k) = sigma(z),  z = -log sum over k != c of exp(f_k - f_c)
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, fmpq

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.enclosure import Enclosure

    Floats = NDArray[np.float64]
    Enclosures = tuple[Enclosure, ...]


# -- in float64 ---------------------------------------------------------------------------------------------


def logistic(score: Floats) -> Floats:
    """sigma without overflow."""
    value: Floats = 0.5 * (1 + np.tanh(0.5 * score))
    return value


def logit(p: Floats) -> Floats:
    """What sigma is p of."""
    value: Floats = np.log(p) - np.log1p(-p)
    return value


def log_odds(scores: Floats, of: int) -> Floats:
    """z of a class, of rows of scores."""
    apart = np.delete(scores, of, axis=1) - scores[:, of : of + 1]
    largest = apart.max(axis=1)
    z: Floats = -(largest + np.log(np.exp(apart - largest[:, None]).sum(axis=1)))
    return z


# -- as balls, at the current precision ---------------------------------------------------------------------


def sigma(score: Fraction) -> arb:
    """sigma of an exact score."""
    # exp of a negative number only: exp(1e300) overflows even a ball.
    small = (-ball(abs(score))).exp()
    return 1 / (1 + small) if score >= 0 else small / (1 + small)


def softmax_ball(scores: Enclosures, of: int) -> arb:
    """P_c of exact scores; the largest is taken out, so that nothing overflows."""
    largest = max(score.lo for score in scores)
    powers = [ball(score.lo - largest).exp() for score in scores]
    total = arb(0)
    for power in powers:
        total += power
    return powers[of] / total


def ball(value: Fraction) -> arb:
    """A rational as a ball."""
    return arb(fmpq(value.numerator, value.denominator))


def lower_end(ball: arb) -> Fraction:
    """The lower end of a ball as an exact rational."""
    mantissa, exponent = ball.lower().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)
