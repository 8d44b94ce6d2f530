"""Rows that follow each other: leaves that are not walked to again are those that a walk comes to."""

from fractions import Fraction

import numpy as np
import pytest

from likewise.families.trees.body import LEAF, Tree, TreeScore, TreeSum
from likewise.search.known_rows import different_rows


def random_tree(random, features, depth):
    """A tree with whole leaves, so that sums are exact in any order."""
    column, threshold, right = [], [], []

    def grow(left):
        here = len(column)
        column.append(LEAF if left == 0 else int(random.integers(features)))
        threshold.append(0.0 if left == 0 else float(random.integers(3)))
        right.append(0)
        if left:
            grow(left - 1)
            right[here] = len(column)
            grow(int(random.integers(left)))

    grow(depth)
    return Tree(
        feature=np.array(column, dtype=np.int32),
        threshold=np.array(threshold),
        levels={},
        missing_left=np.zeros(len(column), dtype=bool),
        right=np.array(right, dtype=np.int32),
        values=random.integers(-99, 99, (len(column), 2)).astype(float),
        factor=Fraction(1),
    )


def leaf_values(tree, row):
    node = 0
    while tree.feature[node] != LEAF:
        node = node + 1 if row[tree.feature[node]] <= tree.threshold[node] else int(tree.right[node])
    return tree.values[node]


def rows_in_small_steps(random, features, count):
    """Each differs from the one before it in no, one or two features; or in all."""
    rows = np.empty((count, features))
    rows[0] = random.integers(0, 4, features)
    for i in range(1, count):
        rows[i] = rows[i - 1]
        for _ in range(random.integers(3)):
            rows[i, random.integers(features)] = random.integers(0, 4)
        if random.random() < 0.1:
            rows[i] = random.integers(0, 4, features)
    return rows


@pytest.mark.parametrize("features", [3, 64, 65, 200])
def test_scores_of_rows_in_any_order_are_those_of_each_alone(features):
    random = np.random.default_rng(features)
    trees = tuple(random_tree(random, features, depth) for depth in (0, 1, 2, 4, 4, 6, 0))
    score = TreeScore(
        body=TreeSum(bias=(Fraction(1), Fraction(2)), trees=trees, missing={}),
        alpha=(Fraction(1), Fraction(-3)),
    )
    rows = rows_in_small_steps(random, features, 400)
    expected = np.array([sum(leaf_values(tree, row) for tree in trees) for row in rows]) + np.array([1, 2])
    assert (score.all_scores(rows) == expected).all()
    assert (score.scores(rows) == expected @ [1, -3]).all()
    assert len(np.unique(expected, axis=0)) > 20


def test_rows_are_known_once():
    rows = rows_in_small_steps(np.random.default_rng(0), 3, 300)
    found = different_rows(rows)
    assert sorted(map(tuple, found)) == sorted({tuple(row) for row in rows})
    assert len(different_rows(rows[:0])) == 0
