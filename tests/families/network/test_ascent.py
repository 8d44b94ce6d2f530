"""Ascent over pairs: what it proposes are pairs, no worse than where it started; small margins are found."""

import random

import numpy as np
import pandas as pd
import pytest
from sklearn.neural_network import MLPClassifier
from tests.families.network.networks import BENT, RATIONAL, SPACE, columns, random_codes, random_network

import likewise as lw
from likewise.families.network.ascent import NetworkClimber
from likewise.model.goal import Goal
from likewise.spec.pairs import pair_space

SIMILAR = lw.Similarity(free=["sex"], within={"age": 1, "debts": 1})


def leads(scores, factors, offset):
    return (scores @ factors.T + offset).min(axis=1)


def worth(goal, first, second):
    u, v = leads(first, goal.first, goal.offset), leads(second, goal.second, goal.offset)
    if goal.worth == "probability":
        v = leads(second, goal.second, -goal.offset)
        return 1 / (1 + np.exp(-u)) - 1 / (1 + np.exp(v))
    return np.minimum(u, v) if goal.worth == "decision" else u + v


GOALS = [
    Goal(worth="decision", first=np.array([[1.0, 0.0]]), second=np.array([[-1.0, 0.0]])),
    Goal(worth="decision", first=np.array([[1.0, -1.0], [1.0, 0.0]]), second=np.array([[-1.0, 1.0]])),
    Goal(worth="gap", first=np.array([[0.0, 1.0]]), second=np.array([[0.0, -1.0]])),
    Goal(worth="probability", first=np.array([[2.0, 0.0]]), second=np.array([[-2.0, 0.0]]), offset=0.5),
]


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("seed", range(6))
def test_pairs_stay_pairs_and_get_no_worse(goal, seed):
    rng = random.Random(seed)
    bodies, embedding = random_network(rng, RATIONAL + BENT, scores=2), columns(rng)
    parts = [body.score(embedding, len(SPACE)) for body in bodies]
    pairs = pair_space(SPACE, SIMILAR)
    x = np.array([[float(c) for c in random_codes(rng)] for _ in range(20)])
    other = x.copy()
    other[:, 3] = 1 - other[:, 3]

    def of(rows):
        return np.stack([part.scores(rows) for part in parts], axis=1)

    before = worth(goal, of(x), of(other))
    first, second = NetworkClimber(parts, pairs)(goal, x, other, seed)
    assert (worth(goal, of(first), of(second)) >= before - 1e-9).all()
    assert (x[:, 3] + other[:, 3] == 1).all()  # what it starts from is left as it is
    assert (first[:, 2] == second[:, 2]).all()
    assert (np.abs(first[:, :2] - second[:, :2]) <= 1 + 1e-9).all()
    for rows in (first, second):
        for k, name in enumerate(SPACE.names):
            lo, hi = SPACE[name].code_range
            assert ((rows[:, k] >= lo) & (rows[:, k] <= hi)).all()
            assert k == 0 or (rows[:, k] == np.round(rows[:, k])).all()


def test_a_feature_that_hardly_matters_is_found_out():
    """Of whole numbers, so that both scores of a pair have to be within a millionth of the threshold by luck."""
    draw = np.random.default_rng(0)
    frame = pd.DataFrame(draw.integers(0, 100, (200, 5)).astype(float), columns=list("abcde"))
    frame["sex"] = draw.integers(0, 2, 200).astype(float)
    model = MLPClassifier((8, 8), max_iter=2000, random_state=0).fit(
        frame / 100, (frame.a * frame.b + 50 * frame.c > 5000).astype(int)
    )
    model.coefs_[0] /= 100.0
    model.coefs_[0][5] *= 1e-4  # sex counts by about a millionth of what the others do
    space = lw.Space({**{name: lw.Integer(0, 99) for name in "abcde"}, "sex": lw.Integer(0, 1)})
    result = lw.verify(model, space, lw.Similarity(free=["sex"]), X=frame, budget=60)
    assert result.verdict == "BIASED"
    assert result.certificate is not None
