"""Pruned trees are the trees at that setting, and their mean is the mean of all settings: in exact arithmetic, with missing values and levels."""

import random
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from likewise.families.trees.body import LEAF, Tree, TreeSum
from likewise.families.trees.pruning import distinct_prunings, extract_score, mean_of_trees, prune_tree

MISSING = {2: Fraction(4)}  # of feature 2, a number from 0 to 3
CODES = [range(3), range(3), range(5)]
EVERYBODY = [tuple(map(Fraction, codes)) for codes in product(*CODES)]


def grown(numbers: random.Random, depth: int = 4, scores: int = 2) -> Tree:
    """Tests of levels (features 0 and 1) and of numbers."""
    feature, threshold, levels, missing_left, right, values = [], [], {}, [], [], []

    def node(left: int) -> None:
        here = len(feature)
        leaf = left == 0 or numbers.random() < 0.15
        feature.append(LEAF if leaf else numbers.randrange(3))
        threshold.append(float(numbers.randrange(3)))
        missing_left.append(numbers.random() < 0.5)
        right.append(LEAF)
        values.append([numbers.uniform(-1, 1) for _ in range(scores)] if leaf else [0.0] * scores)
        if leaf:
            return
        if feature[here] < 2:
            levels[here] = frozenset(numbers.sample(range(3), numbers.randrange(1, 3)))
        node(left - 1)
        right[here] = len(feature)
        node(left - 1)

    node(depth)
    return Tree(
        feature=np.array(feature, dtype=np.int32),
        threshold=np.array(threshold),
        levels=levels,
        missing_left=np.array(missing_left),
        right=np.array(right, dtype=np.int32),
        values=np.array(values),
        factor=Fraction(numbers.randrange(1, 5), 3),
    )


def ensemble(seed: int) -> TreeSum:
    numbers = random.Random(seed)
    trees = tuple(grown(numbers) for _ in range(4))
    return TreeSum(bias=(Fraction(1, 7), Fraction(-2)), trees=trees, missing=MISSING)


def at(codes, setting):
    return tuple(setting.get(k, code) for k, code in enumerate(codes))


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(20))
def test_pruned_trees_do_not_look_and_say_the_same(seed):
    body = ensemble(seed)
    for setting in ({0: Fraction(seed % 3)}, {1: Fraction(1), 2: MISSING[2]}, {}):
        for tree in body.trees:
            left = prune_tree(tree, setting, MISSING)
            assert not set(left.feature.tolist()) & set(setting)
            assert left.factor == tree.factor
            for codes in EVERYBODY[:: 1 + seed % 3]:
                expected = tree.exact(tree.leaf(at(codes, setting), MISSING))
                assert left.exact(left.leaf(codes, MISSING)) == expected


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(20))
def test_means_are_those_of_all_settings(seed):
    body = ensemble(seed)
    settings = [{0: Fraction(i), 2: Fraction(j)} for i in range(3) for j in range(5)]
    weights = [Fraction(1 + (i * seed) % 4) for i in range(len(settings))]
    total = sum(weights) / (1 - Fraction(seed % 2, 4))
    settings, weights = [{}, *settings], [Fraction(seed % 2, 4), *(weight / total for weight in weights)]
    mean = mean_of_trees(body, settings, weights)
    assert sum(weights) == 1
    if not weights[0]:
        assert mean.tested() <= {1}
    for codes in EVERYBODY[::4]:
        scores = [body.exact(at(codes, setting)) for setting in settings]
        expected = [sum(w * s[c] for w, s in zip(weights, scores, strict=True)) for c in range(2)]
        assert list(mean.exact(codes)) == expected
    assert extract_score(mean, 1, Fraction(1, 2)).exact(codes) == (expected[1] - Fraction(1, 2),)


def test_every_different_ensemble_is_there_once():
    body = ensemble(3)
    settings = [{0: Fraction(i), 1: Fraction(j)} for i in range(3) for j in range(3)]
    found = distinct_prunings(body, [*settings, *settings])
    assert 1 < len(found) <= len(settings)
    for codes in EVERYBODY[::7]:
        expected = {body.exact(at(codes, setting)) for setting in settings}
        assert {one.exact(codes) for one in found} == expected
