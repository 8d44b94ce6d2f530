"""Boxes and constraints: all, none or some of the individuals, as looking at each of them says."""

import itertools

import numpy as np
import pytest

import likewise as lw
from likewise.analysis.partition.constraints import constraint_status, most_moving_feature
from likewise.spec.pairs import pair_space

SPACE = lw.Space(
    {
        "a": lw.Integer(-2, 3),
        "b": lw.Integer(0, 4),
        "c": lw.Ordinal([0, 2, 7]),
        "d": lw.Categorical(["u", "v"]),
    }
)
RULES = {
    "one": ["a <= b"],
    "two": ["a + c >= 2", "2 * b - a <= 6"],
    "levels": ["if c == 7 then d != u"],
    "of one value": ["c + b <= 9", "a + b + c >= -1"],
}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_boxes_stand_as_their_individuals_do(rules):
    space = SPACE.where(*rules)
    pairs, random = pair_space(space, lw.Similarity(free=["d"])), np.random.default_rng(0)
    ends = [space[name].code_range for name in space.names]
    seen = set()
    for _ in range(300):
        box = np.sort([[random.integers(int(lo), int(hi) + 1) for _ in range(2)] for lo, hi in ends], axis=1)
        lo, hi = box.T.astype(float)
        codes = itertools.product(*(range(int(a), int(b) + 1) for a, b in box))
        valid = [all(c.exact(row) <= 0 for c in pairs.constraints) for row in codes]
        found = constraint_status(pairs.constraints, lo, hi)
        seen.add(found)
        assert found != "all" or all(valid)
        assert found != "none" or not any(valid)
        if len(pairs.constraints) == 1:
            assert found == ("all" if all(valid) else "none" if not any(valid) else "some")
        k = most_moving_feature(pairs.constraints, lo, hi, range(4))
        assert k is None or lo[k] < hi[k]
        assert found != "some" or k is not None
    assert seen == {"all", "none", "some"}
