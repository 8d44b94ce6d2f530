"""Trees in pairs: what they save is never too much, pairs of a cell serve its parts, and leaves with pairs are proved as the checker proves them."""

from fractions import Fraction

import numpy as np
import pytest
from tests.families.trees.forests import Case, all_scores, random_case
from tests.families.trees.test_cells import LEANS, random_cell

from likewise.cells.leaf import Leaf
from likewise.families.trees.bounder import TreeBounder
from likewise.model.witness_set import GapSet


def true_maximum(case: Case, lo, hi, lean: float) -> Fraction | None:
    """The largest lean s - (1 - lean) s' of a pair in the cell, one for every way in which tests treat a pair; None of none."""
    weight, pairs = Fraction(lean), case.pairs
    found = [
        weight * score - (1 - weight) * other_score
        for x, other, score, other_score in all_scores(case)
        if all(
            lo[v] <= code <= hi[v]
            for codes, variables in ((x, pairs.first), (other, pairs.second))
            for code, v in zip(codes, variables, strict=True)
        )
    ]
    return max(found, default=None)


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(16))
def test_pairs_of_trees_save_no_more_than_there_is(seed):
    """The bound less what is saved is no less than the truth, also in parts of the cell, and with relations that pairs leave aside."""
    case, random = random_case(seed, trees=6), np.random.default_rng(seed)
    oracle = TreeBounder(case.score, case.pairs)
    for _ in range(8):
        lo, hi = random_cell(oracle, random)
        lean = float(random.choice(LEANS))
        memory = oracle.memory(lo.tolist(), hi.tolist())
        upper, _, _ = oracle.bound_memory(memory, lean)
        if upper == -np.inf:
            continue
        saved = oracle.save_together(memory, lean, 100.0)
        truth = true_maximum(case, lo, hi, lean)
        assert saved >= 0
        assert truth is None or upper - saved >= float(truth) - 1e-12
        groups = oracle.line(memory, Fraction(lean), together=True).hints
        assert len(set(groups)) == len(groups)
        assert oracle._bound_in_pairs(memory, memory.box, lean, 1 - lean, groups) + lean * oracle.bias[0] - (
            1 - lean
        ) * oracle.bias[1] == pytest.approx(upper - saved)


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(16))
def test_a_leaf_with_pairs_is_proved_down_to_what_they_save(seed):
    """And not below the truth."""
    case, random = random_case(seed, trees=6), np.random.default_rng(seed)
    oracle = TreeBounder(case.score, case.pairs)
    for _ in range(8):
        lo, hi = random_cell(oracle, random)
        memory = oracle.memory(lo.tolist(), hi.tolist(), even=True)
        upper, _, _ = oracle.bound_memory(memory, 0.5)
        if upper == -np.inf:
            continue
        saved = oracle.save_together(memory, 0.5, 100.0)
        leaf = oracle.line(memory, Fraction(1, 2), together=saved > 0)
        limit = Fraction(2 * (upper - saved) + 1e-9)
        assert oracle.prove(lo, hi, leaf, GapSet(delta=limit)) is not None
        if saved > 0:
            alone = Leaf(rule="trees", lean=Fraction(1, 2))
            assert oracle.prove(lo, hi, alone, GapSet(delta=limit)) is None
        truth = true_maximum(case, lo, hi, 0.5)
        if truth is not None:
            assert oracle.prove(lo, hi, leaf, GapSet(delta=2 * truth - Fraction(1, 10**6))) is None


def test_pairs_of_a_cell_save_as_much_in_its_parts():
    case, random = random_case(3, trees=8, depth=4), np.random.default_rng(3)
    oracle = TreeBounder(case.score, case.pairs)
    lo, hi = (np.array([float(end) for end in ends]) for ends in _whole(oracle))
    memory = oracle.memory(lo.tolist(), hi.tolist(), even=True)
    whole, _, _ = oracle.bound_memory(memory, 0.5)
    whole -= oracle.save_together(memory, 0.5, 100.0)
    tried = 0
    for _ in range(20):
        low, high = random_cell(oracle, random)
        part = memory
        for v in range(len(lo)):
            part = oracle.inherit(part, v, float(low[v]), float(high[v]))
        upper, _, _ = oracle.bound_memory(part, 0.5)
        if upper == -np.inf:
            continue
        assert upper - oracle.save_together(part, 0.5, 100.0) <= whole + 1e-12
        tried += 1
    assert tried > 5


def _whole(oracle: TreeBounder):
    return [v.lo for v in oracle.pairs.variables], [v.hi for v in oracle.pairs.variables]
