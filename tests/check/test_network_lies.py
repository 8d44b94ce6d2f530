"""Lies planted into a proof of the search's own about a network: whatever is changed, a claim that a pair breaks is refused, and what is accepted breaks nowhere.

The proof is of a claim a thousandth above the largest gap of a small network of two layers, cut by codes and by neurons. Its claim is then lowered below the gap of a pair that is known, so that it is false, and every lie tries to have it accepted.
"""

import copy
import gzip
import json
import random
import warnings
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.neural_network import MLPRegressor
from tests.check.builder import SECTIONS, checked, number
from tests.check.kernels import lemma_of

import likewise as lw

FIRST_NODE = 5  # the header and the four sections come before


@pytest.fixture(scope="module")
def honest():
    """The lines of a proof, and the gap of the best pair known."""
    rng = np.random.default_rng(3)
    X = pd.DataFrame(
        {"age": rng.uniform(-2, 2, 40), "debts": rng.uniform(0, 3, 40), "sex": rng.integers(0, 2, 40)}
    )
    y = np.abs(X.age * (1 + X.sex) - X.debts) + X.sex
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = MLPRegressor(
            hidden_layer_sizes=(5, 3), max_iter=150, learning_rate_init=0.02, random_state=1
        ).fit(X, y)
    space = lw.Space(
        {"age": lw.Continuous(-2, 2), "debts": lw.Continuous(0, 3), "sex": lw.Categorical([0, 1])}
    )
    similar = lw.Similarity(free=["sex"], within={"age": 0.5})
    lower = lw.measure(model, space, similar, X=X, budget=2).lower
    proved = lw.verify(model, space, similar, lw.ScoreGap(1.001 * lower), X=X, budget=30)
    lines = [json.loads(line) for line in gzip.decompress(proved.certificate.content).splitlines()]
    assert checked(lines).accepted
    return lines, lower


def nodes_of(lines):
    return lines[FIRST_NODE:-1]


def with_nodes(lines, nodes):
    changed = [*lines[:FIRST_NODE], *nodes, copy.deepcopy(lines[-1])]
    changed[-1]["end"]["nodes"] = len(nodes)
    return changed


def claiming(lines, delta):
    """The same with another claim."""
    changed = copy.deepcopy(lines)
    changed[3]["property"]["delta"] = number(Fraction(delta))
    return changed


@pytest.fixture
def lying(honest):
    """The proof with a claim that the pair known breaks by a thousandth."""
    lines, lower = honest
    return claiming(lines, 0.999 * lower)


def places(lines, kind):
    return [i for i, node in enumerate(nodes_of(lines)) if node[0] == kind]


def end_of(nodes, start):
    """The place after a node and all that is below it."""
    waiting, place = 1, start
    while waiting:
        waiting += 1 if nodes[place][0] in ("split", "neuron") else -1
        place += 1
    return place


def test_the_proof_has_what_lies_are_planted_into(honest):
    lines, lower = honest
    assert len(places(lines, "neuron")) >= 5
    assert len(places(lines, "network")) >= 20
    assert lower > 0.1


def test_a_lowered_claim_alone_is_refused(lying):
    assert not checked(lying).accepted


def test_changed_multipliers_do_not_save_a_false_claim(lying):
    rng, nodes = random.Random(0), nodes_of(lying)
    for _ in range(60):
        changed = copy.deepcopy(nodes)
        for place in places(lying, "network"):
            if rng.random() < 0.5:
                for row in changed[place][3:]:
                    row[:] = [rng.choice((0, n, 2 * n, -n, n + rng.randint(-(2**20), 2**20))) for n in row]
        assert not checked(with_nodes(lying, changed)).accepted


@pytest.mark.parametrize("way", ["0", "1", "1/4", "3/4", None])
def test_other_directions_do_not_save_a_false_claim(lying, way):
    changed = copy.deepcopy(nodes_of(lying))
    for place in places(lying, "network"):
        changed[place][1] = way
    assert not checked(with_nodes(lying, changed)).accepted


def test_swapped_children(honest, lying):
    """Of a neuron: what is proved below it is proved of the other side."""
    for lines, true in ((honest[0], True), (lying, False)):
        nodes, refused = nodes_of(lines), 0
        for place in places(lines, "neuron"):
            middle, end = end_of(nodes, place + 1), end_of(nodes, place)
            changed = [*nodes[: place + 1], *nodes[middle:end], *nodes[place + 1 : middle], *nodes[end:]]
            assert sorted(map(str, changed)) == sorted(map(str, nodes))
            accepted = checked(with_nodes(lines, changed)).accepted
            assert true or not accepted
            refused += not accepted
        assert refused > 0


@pytest.mark.parametrize("change", ["copy", "place", "neuron", "layer"])
def test_nodes_about_something_else(lying, change):
    nodes = nodes_of(lying)
    for place in places(lying, "neuron"):
        for step in (1, 2):
            changed = copy.deepcopy(nodes)
            _, layer, index, side, at = changed[place]
            changed[place] = {
                "copy": ["neuron", layer, index, (side + step) % 3, at],
                "place": ["neuron", layer, index, side, number((-1) ** step * 1000)],
                "neuron": ["neuron", layer, (index + step) % 3, side, at],
                "layer": ["neuron", 1 - layer, index % 3, side, at],
            }[change]
            assert not checked(with_nodes(lying, changed)).accepted


def test_a_cut_moved_far_out_leaves_one_side_to_prove_all(honest):
    """At a true claim: one child has the whole cell, and its leaves were made for half of it."""
    lines, refused = honest[0], 0
    for place in places(lines, "neuron"):
        for at in ("-1000", "1000"):
            changed = copy.deepcopy(nodes_of(lines))
            changed[place][4] = at
            refused += not checked(with_nodes(lines, changed)).accepted
    assert refused > 0


@pytest.mark.some_days
@pytest.mark.parametrize("side", ["left", "right"])
def test_one_child_missing(honest, side):
    lines = honest[0]
    nodes = nodes_of(lines)
    for place in [*places(lines, "neuron"), *places(lines, "split")]:
        middle, end = end_of(nodes, place + 1), end_of(nodes, place)
        gone = (place + 1, middle) if side == "left" else (middle, end)
        changed = [*nodes[: gone[0]], *nodes[gone[1] :]]
        assert not checked(with_nodes(lines, changed)).accepted
        without = [*nodes[:place], *nodes[place + 1 : gone[0]], *nodes[gone[1] :]]
        # The node gone as well: the child that is left has to prove the whole cell of a claim that was lowered.
        assert not checked(with_nodes(claiming(lines, 0.999 * honest[1]), without)).accepted


@pytest.mark.parametrize("lie", ["nothing", "their own", "small", "large"])
def test_saying_that_nobody_is_in_the_cells_that_are_refused_does_not_help(lying, lie):
    """Each leaf that is refused is replaced by one that says so, which is to be refused in the same place."""
    rng, nodes = random.Random(4), nodes_of(lying)
    for _ in range(len(nodes)):
        report = checked(with_nodes(lying, nodes))
        assert not report.accepted
        place = report.line - FIRST_NODE - 1
        leaf = nodes[place]
        assert leaf[0] == "network"
        if leaf[1] is None:
            break
        width, size = len(leaf[3]), {"nothing": 0, "small": 3, "large": 2**40}.get(lie)
        rows = (
            [[rng.randint(-size, size) for _ in range(width)] for _ in "xy"] if size is not None else leaf[3:]
        )
        nodes = [*nodes[:place], ["network", None, leaf[2], *rows], *nodes[place + 1 :]]


def test_no_line_at_all_shows_nothing_of_a_cell_that_holds_pairs(honest, lying):
    """`null` for the way: neither with the multipliers that prove the claim, nor with none, nor with any."""
    rng = random.Random(1)
    width = len(nodes_of(lying)[places(lying, "network")[0]][3])
    for lines in (honest[0], lying):
        for _ in range(30):
            rows = [[rng.choice((0, rng.randint(-(2**24), 2**24))) for _ in range(width)] for _ in range(2)]
            whole = [["network", None, 20, *rows]]
            assert not checked(with_nodes(lines, whole)).accepted
        assert not checked(with_nodes(lines, [["network", None, 0, [0] * width, [0] * width]])).accepted
        inherited = copy.deepcopy(nodes_of(lines))
        for place in places(lines, "network"):
            inherited[place][1] = None
        assert not checked(with_nodes(lines, inherited)).accepted


@pytest.mark.parametrize("bits", [-1, 1001, 2**70, 10**400, 1.5, "20", None, True])
def test_impossible_bits(honest, bits):
    lines = honest[0]
    changed = copy.deepcopy(nodes_of(lines))
    changed[places(lines, "network")[0]][2] = bits
    assert not checked(with_nodes(lines, changed)).accepted


@pytest.mark.parametrize("bits", [0, 1, 60, 1000])
def test_other_bits_do_not_save_a_false_claim(lying, bits):
    changed = copy.deepcopy(nodes_of(lying))
    for place in places(lying, "network"):
        changed[place][2] = bits
    assert not checked(with_nodes(lying, changed)).accepted


SHAPES = {
    "a weight too many": lambda body: body["layers"][1]["weights"][0].append("1"),
    "a weight too few": lambda body: body["layers"][1]["weights"][0].pop(),
    "a neuron too many": lambda body: body["layers"][0]["weights"].append(body["layers"][0]["weights"][0]),
    "a bias too few": lambda body: body["layers"][1]["biases"].pop(),
    "a bias too many": lambda body: body["layers"][0]["biases"].append("0"),
    "layers the other way round": lambda body: body["layers"].reverse(),
    "a layer gone": lambda body: body["layers"].pop(),
    "a layer twice": lambda body: body["layers"].append(copy.deepcopy(body["layers"][1])),
    "a last weight too few": lambda body: body["weights"].pop(),
    "a column gone": lambda body: body["columns"].pop(),
    "no layers": lambda body: body["layers"].clear(),
}


@pytest.mark.parametrize("name", SHAPES)
def test_layers_that_do_not_fit_each_other(honest, name):
    changed = copy.deepcopy(honest[0])
    SHAPES[name](changed[4]["model"]["body"])
    assert not checked(changed).accepted


def breaks(lines):
    """Whether one of many pairs breaks the claim of a file, by the checker's own scores."""
    space, similarity, prop, model = (line[name] for line, name in zip(lines[1:5], SECTIONS, strict=True))
    lemma = lemma_of(space["features"], similarity, prop, model, space["constraints"])
    ages = [Fraction(n, 4) for n in range(-8, 9)]
    for debts in (Fraction(n, 2) for n in range(7)):
        for age in ages:
            for other in (age - Fraction(1, 2), age, age + Fraction(1, 2)):
                if abs(other) <= 2:
                    for one, two in (([age, debts, Fraction(0)], [other, debts, Fraction(1)]),):
                        if lemma.broken_by(one, two) or lemma.broken_by(two, one):
                            return True
    return False


def test_other_weights_and_activations_are_accepted_only_where_no_pair_breaks_the_claim(honest):
    """With new seals it is a proof about another network: the old leaves hold for it, or they do not."""
    rng, refused = random.Random(2), 0
    kinds = (
        ["leaky_relu", "1/2"],
        ["leaky_relu", "-1"],
        ["clip", "0", "1"],
        ["clip", "-5", "5"],
        ["tanh"],
        ["logistic"],
    )
    lies = [("activation", kind, layer) for kind in kinds for layer in (0, 1)]
    lies += [
        (part, factor, layer) for part in ("weights", "biases") for factor in (-1, 2, 5) for layer in (0, 1)
    ]
    for part, what, layer in lies:
        changed = copy.deepcopy(honest[0])
        place = changed[4]["model"]["body"]["layers"][layer]
        if part == "activation":
            place["activation"] = what
        else:
            i = rng.randrange(len(place["biases"]))
            row = place["weights"][i] if part == "weights" else place["biases"]
            row[:] = [
                number(what * Fraction(float.fromhex(n)) if "x" in n else what * Fraction(n)) for n in row
            ]
        if checked(changed).accepted:
            assert not breaks(changed), (part, what, layer)
        else:
            refused += 1
    assert refused > len(lies) // 2


def test_sampled_pairs_see_a_false_claim(honest):
    lines, lower = honest
    assert breaks(claiming(lines, lower / 2))
    assert not breaks(lines)
