"""Networks in the checker (section 15): reading, exact and enclosed scores, what a feature is constant for, several scores, refusals, every mutation."""

import copy
import random
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    categorical,
    checked,
    continuous,
    decision,
    integer,
    number,
    proof,
    score,
    witness,
)
from tests.check.kernels import claim_of, seeds, sloped, tabled
from tests.check.several import asked, classes
from tests.check.test_mutation import mutants

from likewise_check.core.numbers import number as read

FEATURES = [integer("age", 0, 3), continuous("income", -2, 2), categorical("sex", ["f", "m"])]
RELATIONS = [SAME, SAME, FREE]
COLUMNS = [sloped(0, "1/3", -1), sloped(1, 2), tabled(2, [0, 1]), tabled(2, [1, 0])]
KINDS = {
    "relu": [["relu"]],
    "rational": [["relu"], ["leaky_relu", "-1/4"], ["clip", "-1", "3/2"]],
    "bent": [["tanh"], ["logistic"], ["elu", "3/2"], ["elu", "-1/2"], ["relu"]],
}


def network(layers, weights, bias=0, *, columns=COLUMNS, labels=("no", "yes"), link="logistic") -> dict:
    return {
        "family": "test",
        "body": {
            "kind": "network",
            "columns": list(columns),
            "layers": [
                {
                    "activation": list(activation),
                    "biases": [number(b) for b in biases],
                    "weights": [[number(w) for w in row] for row in rows],
                }
                for activation, biases, rows in layers
            ],
            "weights": [number(w) for w in weights],
            "bias": number(bias),
        },
        "head": {"labels": None if labels is None else list(labels), "zero": "lower", "link": link},
        "rounding": None,
    }


def random_model(rng, kinds) -> dict:
    layers, width = [], len(COLUMNS)
    for _ in range(rng.randint(1, 3)):
        neurons = rng.randint(1, 3)
        rows = [
            [Fraction(rng.randint(-8, 8), rng.choice((1, 4, 7))) for _ in range(width)]
            for _ in range(neurons)
        ]
        biases = [Fraction(rng.randint(-4, 4), 8) for _ in range(neurons)]
        layers.append((rng.choice(kinds), biases, rows))
        width = neurons
    weights = [Fraction(rng.randint(-8, 8), 3) for _ in range(width)]
    return network(layers, weights, Fraction(1, 8))


def rational(text) -> Fraction:
    return read(text, "a number")


def true_score(model, codes):
    """By the specification: in fractions, or in decimals of 80 digits."""
    body = model["body"]
    bent = any(layer["activation"][0] in ("tanh", "logistic", "elu") for layer in body["layers"])
    with localcontext() as context:
        context.prec = 80
        take = (lambda v: Decimal(v.numerator) / v.denominator) if bent else (lambda v: v)
        values = []
        for column in body["columns"]:
            code = Fraction(codes[column["feature"]])
            if "table" in column:
                values.append(take(rational(column["table"][int(code)])))
            else:
                values.append(take(rational(column["offset"]) + rational(column["slope"]) * code))
        for layer in body["layers"]:
            sums = [
                sum((take(rational(w)) * v for w, v in zip(row, values, strict=True)), take(rational(bias)))
                for row, bias in zip(layer["weights"], layer["biases"], strict=True)
            ]
            kind, *numbers = layer["activation"]
            values = [_activated(kind, [take(rational(n)) for n in numbers], y) for y in sums]
        last = zip(body["weights"], values, strict=True)
        return Fraction(sum((take(rational(w)) * v for w, v in last), take(rational(body["bias"]))))


def _activated(kind, numbers, y):
    if kind == "tanh":
        return 1 - 2 / ((2 * y).exp() + 1)
    if kind == "logistic":
        return 1 / (1 + (-y).exp())
    if kind == "clip":
        return min(max(y, numbers[0]), numbers[1])
    if y >= 0:
        return y
    if kind == "elu":
        return numbers[0] * (y.exp() - 1)
    return numbers[0] * y if kind == "leaky_relu" else y * 0


def body_of(model, prop=None):
    return claim_of(FEATURES, RELATIONS, prop or decision(), model).model.body


def codes_of(rng):
    return [Fraction(rng.randint(0, 3)), Fraction(rng.randint(-20, 20), 10), Fraction(rng.randint(0, 1))]


@seeds(15, 30)
@pytest.mark.parametrize("kinds", KINDS)
def test_scores_are_those_of_the_specification(kinds, seed):
    rng = random.Random(seed)
    model = random_model(rng, KINDS[kinds])
    body = body_of(model)
    for _ in range(6):
        codes = codes_of(rng)
        true = true_score(model, codes)
        if body.rational:
            assert body.ends(codes, 10) == [(true, true)]
        for bits in (20, 130):
            ((low, high),) = body.ends(codes, bits)
            assert 0 <= high - low <= Fraction(1, 2**bits)
            assert low - Fraction(1, 10**60) <= true <= high + Fraction(1, 10**60)


@seeds(12, 20)
def test_what_is_constant_changes_nothing(seed):
    rng = random.Random(seed)
    model = random_model(rng, KINDS["rational"])
    for layer in model["body"]["layers"][:1]:
        for row in layer["weights"]:
            row[3] = row[2]  # the two columns of sex cancel
    body = body_of(model)
    assert body.steady(2)
    for _ in range(5):
        codes = codes_of(rng)
        assert true_score(model, [*codes[:2], 0]) == true_score(model, [*codes[:2], 1])
    if any(any(rational(row[0]) for row in layer["weights"]) for layer in model["body"]["layers"][:1]):
        seen = {true_score(model, [Fraction(age), Fraction(0), Fraction(0)]) for age in range(4)}
        assert len(seen) == 1 or not body.steady(0)


def test_a_neuron_that_leads_nowhere_does_not_count():
    layers = [(["relu"], [0, 0], [[1, 0, 0, 0], [0, 0, 1, 0]]), (["tanh"], [0], [[1, 0]])]
    assert checked(proof(FEATURES, RELATIONS, decision(), network(layers, [1]), [["independent"]])).accepted
    layers[1] = (["tanh"], [0], [[1, 1]])
    report = checked(proof(FEATURES, RELATIONS, decision(), network(layers, [1]), [["independent"]]))
    assert not report.accepted
    assert "depends" in report.reason


LAYERS = [(["relu"], [0, "1/2"], [[1, 0, 1, 0], [0, 1, 0, -2]]), (["clip", "0", "2"], [1], [[1, -1]])]
DISCRETE = [FEATURES[0], integer("income", -2, 2), FEATURES[2]]


def proved(delta):
    return proof(
        DISCRETE, RELATIONS, score(delta), network(LAYERS, [2], labels=None, link=None), [["enumerated"]]
    )


def refuted():
    model = network(LAYERS, [2], labels=None, link=None)
    x, other = max(
        (([a, i, 1], [a, i, 0]) for a in range(4) for i in range(-2, 3)),
        key=lambda pair: abs(true_score(model, pair[0]) - true_score(model, pair[1])),
    )
    scores = [true_score(model, [Fraction(c) for c in codes]) for codes in (x, other)]
    return witness(DISCRETE, RELATIONS, score("1/2"), model, x, other, scores)


def test_pairs_are_looked_through():
    model = network(LAYERS, [2], labels=None, link=None)
    gap = max(
        abs(
            true_score(model, [Fraction(a), Fraction(i), Fraction(0)])
            - true_score(model, [Fraction(a), Fraction(i), Fraction(1)])
        )
        for a in range(4)
        for i in range(-2, 3)
    )
    assert gap > Fraction(1, 2)
    report = checked(proved(gap))
    assert report.accepted
    assert "network" in report.packs
    assert not checked(proved(gap - Fraction(1, 100))).accepted
    assert checked(refuted()).accepted


def test_every_mutation_of_a_witness_is_refused_or_true():
    """A changed number may leave the pair a witness; then its stated scores must be those of the changed model."""
    for path, changed in mutants(refuted()):
        if checked(changed).accepted:
            lines = changed
            told = lines[5]["witness"]
            model = lines[4]["model"]
            for codes, stated in zip((told["x"], told["other"]), told["scores"], strict=True):
                assert true_score(model, [rational(c) for c in codes]) == rational(stated), path


def test_several_scores_share_their_layers():
    model = network(LAYERS, [2])
    several = copy.deepcopy(model["body"])
    several["weights"] = [["2", "-1", "1/2"]]
    several["bias"] = ["0", "1", "-1/3"]
    body = claim_of(DISCRETE, RELATIONS, asked("decision", 0), classes(several, "abc")).model.body
    for codes in ([Fraction(a), Fraction(i), Fraction(s)] for a in range(4) for i in (-1, 2) for s in (0, 1)):
        found = [low for low, _ in body.ends(codes, 0)]
        for c, value in enumerate(found):
            one = copy.deepcopy(model)
            one["body"]["weights"], one["body"]["bias"] = [several["weights"][0][c]], several["bias"][c]
            assert true_score(one, codes) == value
        form = body.form(((0, Fraction(1)), (2, Fraction(-1))))
        assert form.ends(codes, 0)[0][0] == found[0] - found[2]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda body: body.pop("bias"), "exactly the keys"),
        (lambda body: body.update(layers=[]), "layers"),
        (lambda body: body.update(columns=[]), "columns"),
        (lambda body: body["weights"].append("1"), "weights"),
        (lambda body: body["layers"][0]["weights"].pop(), "rows of weights"),
        (lambda body: body["layers"][0]["weights"][0].pop(), "entries"),
        (lambda body: body["layers"][1]["weights"][0].append("1"), "entries"),
        (lambda body: body["layers"][0].update(activation=["swish"]), "one of"),
        (lambda body: body["layers"][0].update(activation=[]), "one of"),
        (lambda body: body["layers"][0].update(activation=["relu", "1"]), "one of"),
        (lambda body: body["layers"][0].update(activation=["clip", "2", "1"]), "above"),
        (lambda body: body["layers"][0]["biases"].__setitem__(0, 1), "number"),
    ],
)
def test_what_is_no_network_is_refused(change, reason):
    lines = proved(100)
    change(lines[4]["model"]["body"])
    report = checked(lines)
    assert not report.accepted
    assert reason in report.reason


def test_other_rules_do_not_apply():
    model = network(LAYERS, [2], labels=None, link=None)
    for node in (["separable", "1/2"], ["kernel", "1/2", [], 0], ["polynomial", "1/2", []], ["trees", "1/2"]):
        assert not checked(proof(DISCRETE, RELATIONS, score(100), model, [node])).accepted
