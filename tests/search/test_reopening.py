"""Leaves that are refused are put to other rules and cut, until pairs are looked at one by one: a proof comes out, whatever is refused."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from tests.posing import posed

import likewise as lw
from likewise.cells.leaf import Leaf
from likewise.search.frontiers import make_frontiers
from likewise.search.portfolio import run_frontiers

SPACE = lw.Space({"a": lw.Integer(0, 3), "b": lw.Integer(0, 3), "s": lw.Categorical([0, 1, 2])})
SIMILAR = lw.Similarity(free=["s"], within={"a": 1})
MODELS = {
    "linear": Ridge(),
    "polynomial": KernelRidge(kernel="poly", degree=2, gamma=0.5),
    "rbf": KernelRidge(kernel="rbf", gamma=0.3),
}


def fitted(name):
    random = np.random.default_rng(1)
    rows = pd.DataFrame(
        {"a": random.integers(0, 4, 40), "b": random.integers(0, 4, 40), "s": random.integers(0, 3, 40)}
    )
    return MODELS[name].fit(rows, rows.a + 0.5 * rows.b * rows.s + random.normal(size=40))


def searched(name, property):
    prepared = posed(fitted(name), SPACE, SIMILAR, property)
    frontiers = make_frontiers(prepared.task)
    return frontiers.only, run_frontiers(prepared.task, frontiers)


def refuse_bounds(search):
    """Every leaf that rests on the family's bounds; how many there are, and whether a witness was found."""
    rules = {search.task.bounder.rule, *search.task.bounder.more_rules}
    numbers = {
        n for n, node in enumerate(search.proof.nodes) if isinstance(node, Leaf) and node.rule in rules
    }
    return len(numbers), search.reopen(numbers, split=True)


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("name", MODELS)
def test_whatever_is_refused_a_true_claim_is_proved(name):
    limit = 1.2 * lw.measure(fitted(name), SPACE, SIMILAR).upper
    search, outcome = searched(name, lw.ScoreGap(limit))
    assert outcome.proof is not None
    refused = 1
    while refused:
        refused, found = refuse_bounds(search)
        assert not found
        assert search.run() == "closed"
    assert outcome.proof.complete
    rules = {node.rule for node in outcome.proof.nodes if isinstance(node, Leaf)}
    assert rules <= {"enumerated", "sos", "empty"}


def test_a_leaf_that_hides_a_pair_ends_in_it():
    """The whole space, wrongly closed at a level that some pairs exceed."""
    model = fitted("polynomial")
    limit = 0.99 * lw.measure(model, SPACE, SIMILAR).lower
    prepared = posed(model, SPACE, SIMILAR, lw.ScoreGap(limit))
    search = make_frontiers(prepared.task).only
    search.open.clear()
    search.proof.close(0, Leaf(rule=search.task.bounder.rule, lean=Fraction(1, 2)))
    found = search.reopen({0}, split=True)
    assert found or search.run() == "witness"
    assert search.witness is not None
