"""Bounds of cells against the definition, their cuts against the cells that they make, and exact bounds against both.

The definition is written out in plain Python (the twin of the compiled loops): for every tree the largest value over all leaf pairs that
some similar codes come to, feature by feature.
"""

import itertools
from fractions import Fraction

import numpy as np
import pytest
from tests.families.trees.forests import Case, all_scores, cells, problem_of, random_case
from tests.questions import asked

from likewise.cells.leaf import Leaf
from likewise.families.trees.body import LEAF, TreeScore
from likewise.families.trees.bounder import TreeBounder
from likewise.model.witness_set import DecisionSet, GapSet

LEANS = (0.0, 0.25, 0.5, 1.0)
EXCESS, ROOM = 100.0, 2e-4  # maximisers that tie count for a millionth of the excess


def boxes(case: Case, tree):
    """Each leaf with, for every feature, the places of its cells of codes that come there."""
    found = []

    def walk(node, sets):
        k = int(tree.feature[node])
        if k == LEAF:
            found.append((node, sets))
            return
        missing = case.body.missing.get(k)
        for left in (True, False):
            kept = [
                c for c in sets[k] if tree.goes_left(node, Fraction(cells(case, k)[c][1]), missing) == left
            ]
            if kept:
                walk(node + 1 if left else int(tree.right[node]), {**sets, k: kept})

    walk(0, {k: list(range(len(cells(case, k)))) for k in range(len(case.space.names))})
    return found


def defined_bound(case: Case, lo, hi, lean: Fraction):
    """The bound by its definition; None where a tree has no pair of leaves."""
    pairs, total = case.pairs, (2 * lean - 1) * case.body.bias[0]

    def codes(k, v, places):
        ends = [(max(a, lo[v]), min(b, hi[v])) for a, b in (cells(case, k)[c] for c in places)]
        return [(a, b) for a, b in ends if a <= b]

    def similar(k, here, there):
        relation = pairs.relations[k]
        for (a, b), (c, d) in itertools.product(
            codes(k, pairs.first[k], here), codes(k, pairs.second[k], there)
        ):
            nearest = (b, c) if b < c else (a, d) if d < a else (max(a, c), max(a, c))
            if relation.allows(*map(Fraction, nearest)) and (
                relation.kind != "same" or nearest[0] == nearest[1]
            ):
                return True
        return False

    for tree in case.body.trees:
        values = [
            lean * tree.exact(leaf)[0] - (1 - lean) * tree.exact(other)[0]
            for (leaf, sets), (other, sets2) in itertools.product(boxes(case, tree), repeat=2)
            if all(similar(k, sets[k], sets2[k]) for k in sets)
        ]
        if not values:
            return None
        total += max(values)
    return total


def random_cell(oracle: TreeBounder, random):
    """A cell between indices: from the whole space, some ends moved."""
    lo = np.array([float(v.lo) for v in oracle.pairs.variables])
    hi = np.array([float(v.hi) for v in oracle.pairs.variables])
    for v in range(len(lo)):
        axis = oracle.features[oracle.axes.feature[v]]
        if random.uniform() < 0.6:
            first, last = np.sort(random.integers(0, axis.size, 2))
            lo[v], hi[v] = axis.first[first], axis.last[last]
    return lo, hi


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(12))
def test_a_bound_is_the_one_defined_and_so_is_the_exact_one(seed):
    case, random = random_case(seed), np.random.default_rng(seed)
    oracle = TreeBounder(case.score, case.pairs)
    for _ in range(6):
        lo, hi = random_cell(oracle, random)
        for lean in LEANS:
            expected = defined_bound(case, lo, hi, Fraction(lean))
            memory = oracle.memory(lo.tolist(), hi.tolist())
            upper, first, second = oracle.bound_memory(memory, lean)
            if expected is None:
                assert upper == -np.inf
                continue
            # Where similar numbers lie at the very end of the tolerance, a box's lower end is the threshold itself.
            assert upper >= float(expected) - 1e-12
            assert upper == pytest.approx(lean * first - (1 - lean) * second)
            assert oracle.bound_anywhere(memory, lean)[0] == pytest.approx(upper)
            exact = oracle.values.bound(
                oracle.elements, oracle.axes, oracle.whole, memory.box, Fraction(lean), 1 - Fraction(lean)
            )
            assert float(exact) == pytest.approx(upper)
            assert exact >= expected
            if not any(r.kind == "within" and r.tolerance.denominator != 1 for r in case.pairs.relations):
                assert exact == expected


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(12))
def test_cuts_come_with_the_bounds_of_their_parts(seed):
    case, random = random_case(seed, trees=6), np.random.default_rng(seed)
    oracle = TreeBounder(case.score, case.pairs)
    tried = 0
    for _ in range(12):
        lo, hi = random_cell(oracle, random)
        memory = oracle.memory(lo.tolist(), hi.tolist())
        lean = float(random.choice(LEANS))
        upper, _, _ = oracle.bound_memory(memory, lean)
        variable, at, *lost = oracle.cut_memory(memory, lean, EXCESS)
        if upper == -np.inf or variable < 0:
            continue
        axis = oracle.features[oracle.axes.feature[variable]]
        parts = (lo[variable], at), (axis.first[axis.index(at) + 1], hi[variable])
        for ends, loss in zip(parts, lost, strict=True):
            below, _, _ = oracle.bound_memory(oracle.inherit(memory, variable, *ends), lean)
            related = oracle.axes.partner[variable] >= 0  # then a part may lose more than its own limits show
            assert below <= upper - loss + ROOM
            assert related or loss == EXCESS or below >= upper - loss - ROOM
            tried += 1
    assert tried


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(8))
def test_a_memory_handed_down_bounds_like_one_made_anew(seed):
    case, random = random_case(seed, trees=6), np.random.default_rng(seed)
    oracle = TreeBounder(case.score, case.pairs)
    lo, hi = (np.array([float(getattr(v, end)) for v in oracle.pairs.variables]) for end in ("lo", "hi"))
    memory = oracle.memory(lo.tolist(), hi.tolist(), even=True)
    for _ in range(8):
        upper, _, _ = oracle.bound_memory(memory, 0.5)
        assert upper == pytest.approx(oracle.bound_memory(oracle.memory(lo.tolist(), hi.tolist()), 0.5)[0])
        variable, at = oracle.choose_halving(lo.tolist(), hi.tolist())
        if variable < 0 or upper == -np.inf:
            break
        axis = oracle.features[oracle.axes.feature[variable]]
        if random.integers(2):
            hi[variable] = at
        else:
            lo[variable] = at + 1 if axis.whole else np.nextafter(at, np.inf)
        memory = oracle.inherit(memory, variable, lo[variable], hi[variable])


def test_a_proof_is_exact_to_the_last_digit():
    case = random_case(5)
    problem = problem_of(case, asked("score"))
    lo, hi = (np.array([float(getattr(v, end)) for v in problem.pairs.variables]) for end in ("lo", "hi"))
    oracle, leaf = problem.bounder, Leaf(rule="trees", lean=Fraction(1, 2))
    box = oracle.memory(lo.tolist(), hi.tolist()).box
    bound = 2 * oracle.values.bound(
        oracle.elements, oracle.axes, oracle.whole, box, Fraction(1, 2), Fraction(1, 2)
    )
    assert oracle.prove(lo, hi, leaf, GapSet(delta=bound)) == 0
    assert oracle.prove(lo, hi, leaf, GapSet(delta=bound - Fraction(1, 2**200))) is None
    below = Leaf(rule="trees", lean=Fraction(0))
    lowest = oracle.values.bound(oracle.elements, oracle.axes, oracle.whole, box, Fraction(0), Fraction(1))
    assert oracle.prove(lo, hi, below, DecisionSet(level=lowest)) is None  # a witness may lie on the line
    assert oracle.prove(lo, hi, below, DecisionSet(level=lowest + Fraction(1, 2**200))) is not None


def test_two_forms_of_one_ensemble_are_bounded_together():
    """Values of leaves for x and for x' may be those of two scores: here one is three times the other, less a half."""
    case = random_case(4, trees=5)
    thrice = TreeScore(body=case.body, alpha=(Fraction(3),))
    oracle = TreeBounder(case.score, case.pairs, thrice)
    lo, hi = ([float(getattr(v, end)) for v in oracle.pairs.variables] for end in ("lo", "hi"))
    upper, first, second = oracle.bound_memory(oracle.memory(lo, hi), 0.25)
    best = max(first / 4 - 9 * second / 4 for _, _, first, second in all_scores(case))
    assert best <= upper + 1e-12
    assert upper == pytest.approx(first / 4 - 3 * second / 4)
    memory = oracle.memory(lo, hi)
    found = [oracle.bound_memory(memory, 0.25), oracle.propose(memory, 0.25)][1]
    point = oracle.pair()[None]
    assert case.score.scores(point[:, list(case.pairs.first)]) == pytest.approx([found.first])
    assert thrice.scores(point[:, list(case.pairs.second)]) == pytest.approx([found.second])


def test_scores_of_many_rows_are_those_of_one():
    case, random = random_case(2, features=6, trees=8), np.random.default_rng(0)
    rows = np.array(
        [[random.choice([c for cell in cells(case, k) for c in cell]) for k in range(6)] for _ in range(50)]
    )
    exact = [case.score.exact([Fraction(c) for c in row]) for row in rows.tolist()]
    assert exact == [case.body.exact([Fraction(c) for c in row])[0] for row in rows.tolist()]
    assert case.score.scores(rows) == pytest.approx([float(score) for score in exact])
    assert case.score.negated().scores(rows) == pytest.approx([-float(score) for score in exact])
