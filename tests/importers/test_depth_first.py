"""Nodes of trees put into depth-first order: what is in that order already, and what only looks like it."""

import numpy as np
import pytest

from likewise.errors import UnsupportedModel
from likewise.importers.trees.library_forest import LEAF, _is_depth_first, order_depth_first


def grown(random, size):
    """Children of a random tree of `size` inner nodes, numbered as they were grown: not depth first."""
    left, right = [LEAF], [LEAF]
    for _ in range(size):
        leaves = [i for i, child in enumerate(left) if child == LEAF]
        node = leaves[random.integers(len(leaves))]
        left[node], right[node] = len(left), len(left) + 1
        left += [LEAF, LEAF]
        right += [LEAF, LEAF]
    return np.array(left), np.array(right)


def walked(left, right, node=0):
    """The nodes depth first, by recursion."""
    if left[node] == LEAF:
        return [node]
    return [node, *walked(left, right, left[node]), *walked(left, right, right[node])]


@pytest.mark.parametrize("seed", range(40))
def test_order_and_right_children(seed):
    random = np.random.default_rng(seed)
    left, right = grown(random, int(random.integers(12)))
    order, rights = order_depth_first(left, right)
    expected = walked(left.tolist(), right.tolist())
    assert order.tolist() == expected
    assert rights.tolist() == [expected.index(right[i]) if right[i] != LEAF else LEAF for i in expected]
    ordered_left = np.where(rights == LEAF, LEAF, np.arange(1, len(rights) + 1))
    assert _is_depth_first(ordered_left, rights)
    again, same = order_depth_first(ordered_left, rights)
    assert (again.tolist(), same.tolist()) == (list(range(len(rights))), rights.tolist())


def test_right_children_that_change_places():
    left, right = np.array([1, 2, -1, -1, -1]), np.array([3, 4, -1, -1, -1])
    assert not _is_depth_first(left, right)
    assert order_depth_first(left, right)[0].tolist() == [0, 1, 2, 4, 3]


@pytest.mark.parametrize(
    ("left", "right"), [([1, 2, -1, -1], [3, 3, -1, -1]), ([1, 2, -1, -1, -1], [1, 3, -1, -1, -1])]
)
def test_a_node_with_two_parents_is_refused(left, right):
    with pytest.raises(UnsupportedModel, match="two parents"):
        order_depth_first(np.array(left), np.array(right))
