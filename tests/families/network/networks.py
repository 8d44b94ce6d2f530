"""Small random networks, and their scores by arithmetic of its own: fractions, or decimals of 60 digits where activations are irrational."""

import random
from decimal import Decimal, localcontext
from fractions import Fraction

import likewise as lw
from likewise.families.network.activation import Activation
from likewise.families.network.body import Layer, Network
from likewise.families.network.dyadic import Dyadic
from likewise.model.embedding import Column

SPACE = lw.Space(
    {
        "age": lw.Continuous(-3, 5),
        "debts": lw.Integer(0, 4),
        "job": lw.Categorical(["x", "y", "z"]),
        "sex": lw.Categorical(["f", "m"]),
    }
)
RATIONAL = (
    Activation("relu"),
    Activation("leaky_relu", (Fraction(1, 8),)),
    Activation("leaky_relu", (Fraction(-3, 7),)),
    Activation("clip", (Fraction(-1, 3), Fraction(2))),
)
BENT = (Activation("tanh"), Activation("logistic"), Activation("elu", (Fraction(3, 2),)))
DIGITS = 60


def columns(rng: random.Random) -> tuple[Column, ...]:
    """Scaled numbers, one-hot levels, and a table of anything."""
    return (
        Column(feature=0, slope=Fraction(1, rng.randint(1, 9)), offset=Fraction(rng.randint(-9, 9), 7)),
        Column(feature=1, slope=Fraction(rng.uniform(-1, 1))),
        *(Column(feature=2, table=tuple(Fraction(level == n) for level in range(3))) for n in range(3)),
        Column(feature=3, table=(Fraction(rng.randint(-5, 5), 3), Fraction(rng.uniform(-2, 2)))),
    )


def random_network(rng: random.Random, kinds=RATIONAL, *, width: int = 6, scores: int = 1) -> list[Network]:
    """Scores of one network of one to three hidden layers."""
    hidden, before = [], width
    for _ in range(rng.randint(1, 3)):
        neurons = rng.randint(1, 5)
        weights = [[rng.choice((0.0, rng.gauss(0, 1))) for _ in range(before)] for _ in range(neurons)]
        biases = [rng.gauss(0, 0.5) for _ in range(neurons)]
        activation = rng.choice(kinds)
        hidden.append(Layer(weights=Dyadic.of(weights), biases=Dyadic.of(biases), activation=activation))
        before = neurons
    return [
        Network(
            hidden=tuple(hidden),
            weights=tuple(Fraction(rng.randint(-9, 9), rng.randint(1, 5)) for _ in range(before)),
            bias=Fraction(rng.randint(-9, 9), 4),
        )
        for _ in range(scores)
    ]


def random_codes(rng: random.Random) -> list[Fraction]:
    numbers = (rng.uniform(-3, 5), rng.randint(0, 4), rng.randint(0, 2), rng.randint(0, 1))
    return [Fraction(number) for number in numbers]


def _bent(activation: Activation, y: Decimal) -> Decimal:
    if activation.kind == "tanh":
        return 1 - 2 / ((2 * y).exp() + 1)
    if activation.kind == "logistic":
        return 1 / (1 + (-y).exp())
    if activation.kind == "elu":
        alpha = activation.parameters[0]
        return y if y > 0 else Decimal(alpha.numerator) / alpha.denominator * (y.exp() - 1)
    return _line(activation, y, lambda v: Decimal(v.numerator) / v.denominator)


def _line(activation, y, number):
    if activation.kind == "relu":
        return y if y > 0 else number(Fraction(0))
    if activation.kind == "leaky_relu":
        return y if y > 0 else number(activation.parameters[0]) * y
    low, high = map(number, activation.parameters)
    return low if y < low else high if y > high else y


def true_score(body: Network, embedding, codes) -> Fraction:
    """By the definition; to 60 digits or so where it is irrational."""
    rational = all(layer.activation.kind in ("relu", "leaky_relu", "clip") for layer in body.hidden)
    number = Fraction if rational else (lambda v: Decimal(v.numerator) / v.denominator)
    with localcontext() as context:
        context.prec = DIGITS
        values = []
        for column in embedding:
            code = codes[column.feature]
            exact = column.offset + column.slope * code if column.table is None else column.table[int(code)]
            values.append(number(exact))
        for layer in body.hidden:
            unit, own = 2**layer.weights.exponent, 2**layer.biases.exponent
            sums = []
            for row, bias in zip(
                layer.weights.numerators.tolist(), layer.biases.numerators.tolist(), strict=True
            ):
                total = number(Fraction(bias, own))
                for weight, value in zip(row, values, strict=True):
                    total += number(Fraction(weight, unit)) * value
                sums.append(total)
            bend = layer.activation
            values = [_line(bend, y, number) if rational else _bent(bend, y) for y in sums]
        total = number(body.bias)
        for weight, value in zip(body.weights, values, strict=True):
            total += number(weight) * value
        return Fraction(total)
