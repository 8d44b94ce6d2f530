"""Pairs that climb again from the best ones: they stay similar pairs of the space, the best are kept, and more is found than by climbing once."""

import random

import numpy as np
import pytest
from tests.families.network.cells import random_problem

from likewise.families.network.wandering import KEPT, Wanderers
from likewise.model.goal import Goal

GAP = Goal(worth="gap", first=np.array([[0.5, 0.0]]), second=np.array([[0.0, -0.5]]))


def similar_pairs(problem, rng, count):
    """Pairs of equal individuals, which are similar whatever may differ."""
    lo, hi = zip(*((v.lo, v.hi) for v in problem.pairs.variables), strict=True)
    rows = []
    for _ in range(count):
        row = [
            rng.randint(int(lo[v]), int(hi[v]))
            if problem.pairs.variables[v].discrete
            else rng.uniform(lo[v], hi[v])
            for v in problem.pairs.first
        ]
        rows.append(row)
    return np.array(rows, dtype=float), np.array(rows, dtype=float)


def gaps(problem):
    return lambda x, other: problem.first.scores(x) - problem.second.scores(other)


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(12))
def test_pairs_that_are_changed_stay_similar(seed):
    rng = random.Random(seed)
    problem = random_problem(rng)
    pairs, wanderers = problem.pairs, Wanderers(problem.pairs)
    wanderers.keep(*similar_pairs(problem, rng, 5), gaps(problem))
    before = wanderers.x.copy()
    for _ in range(20):
        x, other = wanderers.starts()
        assert len(x) == len(other) > 0
        for k, (one, two) in enumerate(zip(pairs.first, pairs.second, strict=True)):
            for codes, v in ((x[:, k], one), (other[:, k], two)):
                variable = pairs.variables[v]
                assert (codes >= float(variable.lo)).all()
                assert (codes <= float(variable.hi)).all()
                if variable.discrete:
                    assert (codes == np.floor(codes)).all()
            if one == two:
                assert (x[:, k] == other[:, k]).all()
            elif pairs.relations[k].kind != "free":
                assert all(map(pairs.relations[k].allows, x[:, k].tolist(), other[:, k].tolist()))
    assert np.array_equal(wanderers.x, before)  # what is kept is not changed in place
    assert (x != before[np.arange(len(x)) % len(before)]).any()


def test_the_best_pairs_are_kept_once():
    problem = random_problem(random.Random(3))
    worth = gaps(problem)
    wanderers = Wanderers(problem.pairs)
    assert len(wanderers.starts()[0]) == 0
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 1, (200, len(problem.pairs.first))).round()
    other = rng.permutation(x)
    value = worth(x, other)
    wanderers.keep(x, other, worth)
    found = worth(wanderers.x, wanderers.other)
    assert found.max() == value.max()
    assert len(found) <= KEPT
    assert len(np.unique(found.round(9))) == len(found)
    wanderers.keep(x, other, worth)
    assert np.array_equal(worth(wanderers.x, wanderers.other), found)


def test_more_is_found_than_by_climbing_once():
    better = 0
    for seed in range(30):
        rng = random.Random(seed)
        problem = random_problem(rng)
        climber, worth, wanderers = problem.bounder.climber, gaps(problem), Wanderers(problem.pairs)
        x, other = climber(GAP, *similar_pairs(problem, rng, 1), 0)
        once = worth(x, other).max()
        wanderers.keep(x, other, worth)
        for n in range(6):
            wanderers.keep(*climber(GAP, *wanderers.starts(), 1 + n), worth)
        best = worth(wanderers.x, wanderers.other).max()
        assert best >= once - 1e-9
        better += best > once + 1e-6
    assert better >= 3
