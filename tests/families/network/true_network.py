"""What networks compute, by their definition alone, over spaces of which everybody can be listed: nothing of the package is used, and nothing but fractions and balls of 300 bits.

A score is a Fraction where all activations are piecewise linear, else a ball (python-flint) that holds it. Balls that overlap are not told apart: `beyond` and `within_reach` answer no to both then.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from fractions import Fraction

from flint import arb, fmpq

BITS = 300
PIECEWISE = ("Relu", "LeakyRelu", "Clip", "HardSigmoid")
SMOOTH = ("Tanh", "Sigmoid", "Elu")


@dataclass(frozen=True)
class TrueNetwork:
    """Hidden layers (rows of weights, biases, activation, its numbers) and the rows of the scores."""

    hidden: tuple[tuple[list[list[float]], list[float], str, tuple[float, ...]], ...]
    last: list[list[float]]
    biases: list[float]

    @property
    def smooth(self) -> bool:
        return any(kind in SMOOTH for _, _, kind, _ in self.hidden)

    def scores(self, columns):
        """All scores of one individual."""
        number = ball if self.smooth else Fraction
        values = [number(Fraction(value)) for value in columns]
        for weights, biases, kind, numbers in self.hidden:
            sums = [
                sum(
                    (number(Fraction(w)) * v for w, v in zip(row, values, strict=True)),
                    number(Fraction(bias)),
                )
                for row, bias in zip(weights, biases, strict=True)
            ]
            values = [activated(kind, numbers, y, number) for y in sums]
        return [
            sum((number(Fraction(w)) * v for w, v in zip(row, values, strict=True)), number(Fraction(bias)))
            for row, bias in zip(self.last, self.biases, strict=True)
        ]


def ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def activated(kind, numbers, y, number):
    """The activation by its definition; the numbers are those of ONNX's operator."""
    some = [number(Fraction(n)) for n in numbers]
    zero, one = number(Fraction(0)), number(Fraction(1))
    if kind == "Tanh":
        return 1 - 2 / ((2 * y).exp() + 1)
    if kind == "Sigmoid":
        return 1 / (1 + (-y).exp())
    if kind == "Relu":
        return larger(y, zero)
    if kind == "Clip":
        return smaller(larger(y, some[0]), some[1])
    if kind == "HardSigmoid":
        return smaller(larger(some[0] * y + some[1], zero), one)
    low = smaller(y, zero)
    return larger(y, zero) + some[0] * (low.exp() - 1 if kind == "Elu" else low)


def larger(one, two):
    return one.max(two) if isinstance(one, arb) else max(one, two)


def smaller(one, two):
    return one.min(two) if isinstance(one, arb) else min(one, two)


def ends(value) -> tuple[Fraction, Fraction]:
    """Around a number."""
    if isinstance(value, Fraction):
        return value, value
    return tuple(exact(end) for end in (value.lower(), value.upper()))


def exact(point: arb) -> Fraction:
    mantissa, exponent = point.man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def probabilities(scores):
    """The logistic function of one score, softmax of several, as balls."""
    if len(scores) == 1:
        value = scores[0] if isinstance(scores[0], arb) else ball(scores[0])
        return [1 / (1 + (-value).exp())]
    values = [s if isinstance(s, arb) else ball(s) for s in scores]
    return [1 / sum(((other - one).exp() for other in values), arb(0)) for one in values]


def decided(scores):
    """The place of the class: of one score 1 above 0; of several the largest. None where that is not told."""
    if len(scores) == 1:
        low, high = ends(scores[0])
        return 1 if low > 0 else 0 if high < 0 else None
    told = [ends(score) for score in scores]
    for c, (low, _) in enumerate(told):
        if all(low > high for other, (_, high) in enumerate(told) if other != c):
            return c
    return None


def largest(values) -> tuple[Fraction, Fraction]:
    """Around the largest of some numbers."""
    told = [ends(value) for value in values]
    return max(low for low, _ in told), max(high for _, high in told)


def apart(values, pairs) -> tuple[Fraction, Fraction]:
    """Around the largest gap of any of several numbers of two who are similar."""
    gaps = [abs(one - two) for i, j in pairs for one, two in zip(values[i], values[j], strict=True)]
    return largest(gaps) if gaps else (Fraction(0), Fraction(0))


def largest_margin(values, pairs) -> tuple[Fraction, Fraction] | None:
    """Around the largest min(s, -s') of one score of two who are decided apart; None where nobody is."""
    margins = []
    for i, j in pairs:
        for one, two in ((values[i][0], values[j][0]), (values[j][0], values[i][0])):
            if ends(one)[0] > 0 and ends(two)[1] < 0:
                margins.append(smaller(one, -two))
    return largest(margins) if margins else None


def random_network(rng: random.Random, inputs: int, outputs: int, kinds) -> TrueNetwork:
    """One to three hidden layers of up to five neurons; some weights are 0, some neurons dead."""
    hidden, before = [], inputs
    for _ in range(rng.choice((1, 1, 2, 3))):
        width, kind = rng.randint(2, 5), rng.choice(kinds)
        weights = [
            [rng.choice((0.0, *(rng.gauss(0, 1) for _ in range(4)))) for _ in range(before)]
            for _ in range(width)
        ]
        hidden.append((weights, [rng.gauss(0, 0.7) for _ in range(width)], kind, random_numbers(rng, kind)))
        before = width
    return TrueNetwork(
        tuple(hidden),
        [[rng.gauss(0, 1) for _ in range(before)] for _ in range(outputs)],
        [rng.gauss(0, 0.3) for _ in range(outputs)],
    )


def random_numbers(rng: random.Random, kind: str) -> tuple[float, ...]:
    """Those of an activation, all of them numbers of single precision."""
    if kind == "LeakyRelu":
        return (rng.choice((0.125, 0.25, 0.5)),)
    if kind == "Clip":
        return rng.choice(((-1.0, 1.0), (0.0, 6.0), (-0.25, 0.5)))
    if kind == "HardSigmoid":
        return rng.choice(((0.25, 0.5), (0.125, 0.375)))
    return (rng.choice((1.0, 0.5, 1.5)),) if kind == "Elu" else ()


@dataclass(frozen=True)
class People:
    """Features by name with their values; who is there and who is similar to whom is said by functions of two rows."""

    features: dict[str, list]
    allowed: object  # of a row
    similar: object  # of two rows

    def listed(self):
        """Everybody, as dictionaries."""
        rows = (
            dict(zip(self.features, values, strict=True))
            for values in itertools.product(*self.features.values())
        )
        return [row for row in rows if self.allowed(row)]

    def pairs(self, rows):
        return [
            (i, j) for i, j in itertools.combinations(range(len(rows)), 2) if self.similar(rows[i], rows[j])
        ]
