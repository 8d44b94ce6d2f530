"""Ranges narrowed by constraints: nobody is lost, what is cut off is empty to the last code, and a search starts from what is left."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import likewise as lw
from likewise.cells.leaf import Leaf
from likewise.cells.presolve import excludes, tighten_ranges
from likewise.search.proof import Split, begin_proof, walk_proof
from likewise.spec.pairs import pair_space

TEXTS = ["2*a + b <= 6", "a - c >= -1", "b + c <= 4", "3*c <= 10", "a + b + c >= 3", "b >= 1/2", "a == c + 1"]


def random_space(random):
    space = lw.Space({"a": lw.Integer(0, 5), "b": lw.Ordinal([-1, 0, 2, 5]), "c": lw.Integer(-1, 4)})
    for text in random.choice(TEXTS, random.integers(1, 4), replace=False):
        space = space.where(text)
    return space


def similarity(random):
    return [
        lw.Similarity(free=["a"], within={"b": 1}),
        lw.Similarity(within={"a": 2, "c": 1}),
        lw.Similarity(free=["b", "c"]),
    ][random.integers(3)]


@pytest.mark.draw(8)
@pytest.mark.parametrize("seed", range(40))
def test_a_proof_begins_with_cells_that_have_no_pairs(seed):
    random = np.random.default_rng(seed)
    pairs = pair_space(random_space(random), similarity(random))
    start, narrowed = begin_proof(pairs), tighten_ranges(pairs)
    for number, node, lo, hi in walk_proof(start.proof, pairs):
        if number == start.number:
            assert (lo == start.lo).all()
            assert (hi == start.hi).all()
        elif isinstance(node, Leaf):
            assert excludes(pairs, lo.tolist(), hi.tolist(), node)
        else:
            assert isinstance(node, Split)
    ranges = [range(int(v.lo), int(v.hi) + 1) for v in pairs.variables]
    for point in product(*ranges):
        x, other = ([Fraction(c) for c in side] for side in pairs.split(point))
        inside = narrowed.nobody is None and all(
            low <= code <= high for low, code, high in zip(narrowed.lo, point, narrowed.hi, strict=True)
        )
        assert inside or not pairs.valid(x, other)


@pytest.mark.parametrize(
    ("text", "lo", "hi"),
    [
        ("a <= 7.5", 0.0, 7.5),
        ("3*a <= 1", 0.0, 0.3333333333333333),  # the double below one third
        ("10*a >= 1", 0.1, 10.0),  # 0.1 is above one tenth
        ("a >= 3/10", math.nextafter(0.3, 1), 10.0),  # 0.3 is below three tenths
        ("1 <= 2*a <= 3", 0.5, 1.5),
    ],
)
def test_a_bound_of_one_continuous_feature_ends_at_the_last_double_that_it_allows(text, lo, hi):
    pairs = pair_space(lw.Space({"a": lw.Continuous(0, 10)}).where(text), lw.Similarity(free=["a"]))
    narrowed = tighten_ranges(pairs)
    assert narrowed.lo == [lo, lo]
    assert narrowed.hi == [hi, hi]
    for cut in narrowed.cuts:
        assert cut.after == math.nextafter(cut.at, math.inf)


def test_several_constraints_narrow_each_other_and_what_hardly_narrows_does_not_count():
    space = lw.Space({"a": lw.Continuous(0, 8), "b": lw.Continuous(0, 8)})
    chained = tighten_ranges(pair_space(space.where("a <= 2").where("b <= 2*a"), lw.Similarity(free=["b"])))
    assert chained.hi == [2.0, 4.0, 4.0]
    slow = tighten_ranges(
        pair_space(space.where("a <= 0.99*b").where("b <= 0.99*a + 0.01"), lw.Similarity(free=["b"]))
    )
    assert slow.cuts == []


def test_levels_that_an_implication_excludes_are_cut_off_once_its_condition_is_certain():
    space = lw.Space({"job": lw.Categorical(["yes"]), "home": lw.Ordinal(["none", "rent", "own"])})
    pairs = pair_space(space.where("if job == yes then home != none"), lw.Similarity(free=["home"]))
    assert tighten_ranges(pairs).lo == [0.0, 1.0, 1.0]


def test_a_leaf_with_other_weights_than_the_constraints_ask_for_excludes_nothing():
    pairs = pair_space(lw.Space({"a": lw.Integer(0, 9)}).where("a <= 4"), lw.Similarity(free=["a"]))

    def leaf(*weights):
        return Leaf(rule="empty", multipliers=tuple(map(Fraction, weights)))

    assert excludes(pairs, [5, 0], [9, 9], leaf(1, 0))
    assert not excludes(pairs, [4, 0], [9, 9], leaf(1, 0))
    assert not excludes(pairs, [5, 0], [9, 9], leaf(0, 1))
    assert not excludes(pairs, [0, 0], [3, 9], leaf(-1, 0))
    assert not excludes(pairs, [5, 0], [9, 9], leaf(1))
    assert not excludes(pairs, [5, 0], [9, 9], leaf(0, 0))
