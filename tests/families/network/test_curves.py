"""Bounds of pairs of networks with tanh, logistic and elu: never below a pair of their cell, alike in float64, in the engine's whole numbers and in the checker's; brackets close and claims are proved."""

import random
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier, MLPRegressor
from tests.families.network.cells import random_cells, random_problem
from tests.families.network.networks import BENT, RATIONAL
from tests.families.network.test_bounds import LEAN, bounded, check_against_samples, checkers_cell, lemma_of

import likewise as lw
from likewise.families.network.activation import Activation
from likewise_check.packs.network.rule import Multipliers

KINDS = (*BENT, Activation("elu", (Fraction(-1, 3),)), RATIONAL[0])


@pytest.mark.some_days
def test_no_sampled_pair_exceeds_the_bound_of_its_cell():
    assert check_against_samples(0, kinds=KINDS, networks=40, cells=40, samples=200) > 600


@pytest.mark.slow
def test_no_sampled_pair_exceeds_the_bound_of_its_cell_on_many():
    assert check_against_samples(1, kinds=KINDS, networks=800, cells=60, samples=400) > 20_000


def test_whole_numbers_of_engine_and_checker_and_float64_agree():
    rng, compared = random.Random(2), 0
    for _ in range(30):
        problem = random_problem(rng, kinds=KINDS)
        lo, hi = random_cells(problem, rng, 10)
        upper, multipliers = bounded(problem, lo, hi, LEAN)
        bounder, rule = problem.bounder, Multipliers(lemma_of(problem))
        for c in range(len(lo)):
            whole = tuple(multipliers[c].ravel().tolist())
            exact = bounder.proof.bound(lo[c].tolist(), hi[c].tolist(), LEAN, 1 - LEAN, bounder.bits, whole)
            layers = [rule._multipliers(row.tolist(), "") for row in multipliers[c]]
            objective = rule._objective(f"{LEAN.numerator}/{LEAN.denominator}")
            checked = rule._bound(objective, bounder.bits, *layers, checkers_cell(problem, lo[c], hi[c]))
            assert (checked is None) == (exact is None)
            if exact is None:
                continue
            assert abs(checked - exact) <= Fraction(1, 10**12) * (1 + abs(exact))
            if upper[c] > -99:  # not closed, so that the multipliers are known
                assert float(exact) <= upper[c] + 1e-9
                free = all(relation.kind != "pairs" for relation in problem.pairs.relations)
                assert not free or upper[c] <= float(exact) + 1e-7 * (1 + abs(upper[c]))
                compared += 1
    assert compared > 100


RNG = np.random.default_rng(3)
X = pd.DataFrame(
    {"age": RNG.uniform(-2, 2, 60), "debts": RNG.uniform(0, 3, 60), "sex": RNG.integers(0, 2, 60)}
)
TARGET = np.abs(X.age * (1 + X.sex) - X.debts) + X.sex
SPACE = lw.Space({"age": lw.Continuous(-2, 2), "debts": lw.Continuous(0, 3), "sex": lw.Categorical([0, 1])})
SIMILAR = lw.Similarity(free=["sex"], within={"age": 0.25})


def fitted(kind, target, activation, sizes):
    model = kind(
        hidden_layer_sizes=sizes,
        activation=activation,
        max_iter=100,
        learning_rate_init=0.02,
        random_state=1,
    )
    with pytest.warns(ConvergenceWarning):
        return model.fit(X, target)


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize(("activation", "sizes"), [("tanh", (4,)), ("logistic", (4, 3))])
def test_gaps_are_bracketed_and_claims_proved(activation, sizes):
    model = fitted(MLPRegressor, TARGET, activation, sizes)
    found = lw.measure(model, SPACE, SIMILAR, X=X, tolerance=0.05, budget=20)
    assert found.proved
    assert found.upper - found.lower <= 0.06
    above = lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(1.25 * found.lower), X=X, budget=20)
    assert above.verdict == "FAIR"
    assert above.certificate.outline().rules["network"] >= 1
    below = lw.verify(model, SPACE, SIMILAR, lw.ScoreGap(0.99 * found.lower), X=X, budget=20)
    assert below.verdict == "BIASED"


@pytest.mark.some_days
def test_decisions_of_a_small_classifier():
    model = fitted(MLPClassifier, TARGET > 2, "tanh", (3,))
    margin = lw.measure(model, SPACE, SIMILAR, of="margin", X=X, tolerance=0.1, budget=20)
    assert margin.proved
    claim = lw.SameDecision(1.2 * margin.upper + 0.1)
    assert lw.verify(model, SPACE, SIMILAR, claim, X=X, budget=20).verdict == "FAIR"
