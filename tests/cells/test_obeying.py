"""Points moved into the constraints: they satisfy them exactly where there is an inside, stay in their ranges, and valid ones stay where they are."""

from fractions import Fraction

import numpy as np
import pytest

import likewise as lw
from likewise.cells.projection import project_points
from likewise.search.proof import root_cell
from likewise.spec.pairs import pair_space

SPACE = lw.Space({"a": lw.Continuous(0, 10), "b": lw.Integer(0, 3), "c": lw.Continuous(-1, 1)})


@pytest.mark.parametrize(
    "similar",
    [lw.Similarity(free=["a"]), lw.Similarity(within={"a": 0.1, "c": 0.3}), lw.Similarity(free=["c"])],
)
def test_points_are_moved_to_pairs(similar):
    space = SPACE.where("a + 2*b <= 7.3").where("a >= b + c/3 + 1/10")
    pairs = pair_space(space, similar)
    lo, hi = root_cell(pairs)
    random = np.random.default_rng(0)
    points = random.uniform(lo, hi, (200, len(lo)))
    for v, variable in enumerate(pairs.variables):
        if variable.discrete:
            points[:, v] = points[:, v].round()
    for k, relation in enumerate(pairs.relations):
        if relation.tolerance is not None:
            points[:, pairs.second[k]] = points[:, pairs.first[k]]
    moved = project_points(pairs, lo, hi, points)
    assert len(moved) > 150
    assert (moved >= lo).all()
    assert (moved <= hi).all()
    valid = [
        pairs.valid(*([Fraction(c) for c in side] for side in pairs.split(point))) for point in moved.tolist()
    ]
    assert np.mean(valid) > 0.9
    kept = moved[valid]
    assert np.array_equal(project_points(pairs, lo, hi, kept), kept)
