"""Cells without pairs: closed by the rule `empty` only where there is really none, by exhaustion."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import likewise as lw
from likewise.cells.presolve import empty_leaf
from likewise.spec.pairs import pair_space


@pytest.mark.some_days
def test_no_cell_that_is_called_empty_has_a_pair():
    space = lw.Space({"a": lw.Integer(0, 5), "b": lw.Ordinal([0, 2, 4, 7]), "c": lw.Integer(0, 3)})
    space = space.where("a <= 3 + b").where("a + c >= 2")
    pairs = pair_space(space, lw.Similarity(free=["c"], within={"a": 1, "b": 1}))
    random, seen = np.random.default_rng(0), {True: 0, False: 0}
    for _ in range(400):
        ends = [sorted(random.integers(int(v.lo), int(v.hi) + 1, 2)) for v in pairs.variables]
        lo, hi = ([float(e[side]) for e in ends] for side in (0, 1))
        points = product(*(range(int(a), int(b) + 1) for a, b in zip(lo, hi, strict=True)))
        sides = (pairs.split(point) for point in points)
        someone = any(pairs.valid(*([Fraction(c) for c in side] for side in two)) for two in sides)
        leaf = empty_leaf(pairs, lo, hi)
        seen[leaf is None] += 1
        if leaf is not None:
            assert not someone
            assert leaf.rule == "empty"
            assert len(leaf.multipliers) == 4
    assert min(seen.values()) > 50
