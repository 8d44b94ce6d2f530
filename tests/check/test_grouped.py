"""Grouped features of kernel models (section 20): levels that are alike, and levels at the ground."""

import random
from fractions import Fraction

import pytest
from tests.check.builder import FREE, SAME, categorical, continuous, score
from tests.check.kernels import (
    boxes,
    hint_count,
    lemma_of,
    random_cell,
    random_kernel,
    rbf,
    samples,
    seeds,
    sloped,
    tabled,
)
from tests.check.section7 import Bound, Side
from tests.check.test_kernel import (
    assert_bound_is_that_of_the_specification,
    assert_no_witness_is_accepted,
    drawn,
    holds,
)

from likewise_check.core.fields import Rejected
from likewise_check.packs.kernel.axes import Grouped
from likewise_check.packs.kernel.rule import Kernel as Rule

GROUPED = "cithggg"


def grouped_cells(seed: int):
    """As `drawn`; features that are neither one-hot nor grouped are fixed, as they must be."""
    rng, kernel, cell, hints, tangent = drawn(seed, most_terms=25, kinds=GROUPED)
    return rng, kernel, fix_others(kernel, cell), hints, tangent


def fix_others(kernel, cell):
    for k, relation in enumerate(kernel.relations):
        side = Side(kernel, k)
        if relation == SAME and side.other() and side.grouping() is None:
            cell[k] = [(cell[k][0][0], cell[k][0][0])]
    return cell


@seeds(4, 150)
def test_no_accepted_leaf_holds_a_witness(seed: int) -> None:
    assert_no_witness_is_accepted(*grouped_cells(seed))


@seeds(10, 300)
def test_the_bound_is_that_of_the_specification(seed: int) -> None:
    assert_bound_is_that_of_the_specification(*grouped_cells(seed))


@seeds(5, 40)
def test_the_common_factor_is_never_left_out(seed: int) -> None:
    """What gamma R adds at a pair of the cell is what its groups say, between 0 and the largest."""
    rng, kernel, cell, hints, _ = grouped_cells(seed)
    bound = Bound(kernel, cell, hints)
    most = sum((rise for rise, _ in bound.raised.values()), Fraction(0))
    most += kernel.gamma * sum(bound.curves, Fraction(0))
    for x, other in samples(rng, kernel, cell, 10):
        assert 0 <= bound.gamma_r(x, other) <= most


def one_feature(tables, centres, *, grouped=True, extra=()):
    """The sort of a feature with these columns, of terms with these centres."""
    levels = [str(v) for v in range(len(tables[0]))]
    features = [categorical("a", levels), categorical("b", "yz"), continuous("c", 0, 1)]
    columns = [*(tabled(0, table) for table in tables), tabled(1, [0, 1]), sloped(2)]
    model = rbf(1, 0, columns, [(1, [*centre, 0, 0]) for centre in centres], grouped=grouped)
    return Rule(lemma_of(features, [SAME, FREE, SAME], score(1), model))


FIRST_DROPPED = [[0, 1, 0], [0, 0, 1]]


def test_which_features_are_grouped() -> None:
    def is_grouped(tables, centres, **more):
        return isinstance(one_feature(tables, centres, **more)._sorts[0], Grouped)

    everywhere = [(0, 0), (1, 0), (0, 1)]
    assert is_grouped(FIRST_DROPPED, everywhere)
    assert not is_grouped(FIRST_DROPPED, everywhere, grouped=False)
    assert not is_grouped(FIRST_DROPPED, [(0, 0)])  # one-hot
    assert not is_grouped([[0, 1, 0], [0, 0, 2]], everywhere)  # levels at other distances
    assert not is_grouped(FIRST_DROPPED, [*everywhere, (1, 1)])  # a term at two levels at a time
    assert is_grouped([[1, 1, 0], [0, 0, 1]], [(1, 0), (0, 1)])  # two levels alike
    assert is_grouped([[1, 1, 0, 0], [0, 0, 1, 0]], [(1, 0), (0, 1), (0, 0)])
    assert not is_grouped([[1, 1], [2, 2]], [(1, 2), (0, 0)])  # all alike


def test_a_feature_that_is_not_grouped_must_be_fixed_and_a_grouped_one_need_not_be() -> None:
    cell = [[(0, 2)], [(0, 0), (1, 1)], [(0, 0)]]
    leaf = ["kernel", "1/2", [], 0]
    everywhere = [(0, 0), (1, 0), (0, 1)]
    generous = one_feature(FIRST_DROPPED, everywhere)
    assert holds(generous, leaf, boxes(cell)) or generous.bound(leaf, boxes(cell)) is not None
    assert not holds(one_feature(FIRST_DROPPED, everywhere, grouped=False), leaf, boxes(cell))
    assert not holds(one_feature([[0, 1, 0], [0, 0, 2]], everywhere), leaf, boxes(cell))


@pytest.mark.parametrize("mark", [False, None, 1, "true"])
def test_the_mark_is_true_or_not_there(mark) -> None:
    kernel = random_kernel(random.Random(0), "gH", 5)
    model = kernel.model()
    model["body"]["grouped"] = mark
    with pytest.raises(Rejected, match="must be true"):
        lemma_of(kernel.features, kernel.relations, score(1), model)


@seeds(2, 8)
def test_what_is_kept_between_cells_changes_no_bound(seed: int) -> None:
    rng, kernel, _, _, _ = grouped_cells(seed)
    lemma = lemma_of(kernel.features, kernel.relations, score(1), kernel.model())
    kept = Rule(lemma)
    for _ in range(12):
        cell = fix_others(kernel, random_cell(rng, kernel, width=0.3))
        leaf = ["kernel", "1/2", [0] * hint_count(kernel, cell), 5]
        fresh = Rule(lemma_of(kernel.features, kernel.relations, score(1), kernel.model()))
        assert kept.bound(leaf, boxes(cell)) == fresh.bound(leaf, boxes(cell))
