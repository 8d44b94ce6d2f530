"""Missing numbers in the search: windows stop before them, rows and moves reach them, pairs stay pairs."""

from fractions import Fraction

import numpy as np

import likewise as lw
from likewise.search import falsification, variants
from likewise.search.budget import Budget
from likewise.search.lattice import Block, make_lattice
from likewise.search.task import SearchTask, nudge_pair
from likewise.spec.pairs import pair_space

SPACE = lw.Space(
    {
        "age": lw.Integer(3, 9, missing=True),
        "rooms": lw.Integer(0, 2, missing=True),
        "sex": lw.Categorical(["f", "m"]),
    }
)
SIMILAR = lw.Similarity(within={"age": 2}, free=["rooms"])


def similar(pairs, x, other):
    return pairs.valid([Fraction(c) for c in x], [Fraction(c) for c in other])


def test_the_lowest_similar_score_is_the_one_that_all_pairs_have():
    pairs = pair_space(SPACE, SIMILAR)
    lattice = make_lattice(pairs, rows=1000)
    shape = (lattice.count(lattice.left), 8, 4, lattice.count(lattice.right))
    scores = np.random.default_rng(0).normal(size=shape)
    block = Block(lattice=lattice, start=0, scores=scores)
    everybody = block.codes(np.arange(scores.size))
    lowest, highest = block.lowest(scores).ravel(), block.highest(scores).ravel()
    for place, x in enumerate(everybody):
        beside = [i for i, other in enumerate(everybody) if similar(pairs, x, other)]
        assert lowest[place] == scores.ravel()[beside].min()
        assert highest[place] == scores.ravel()[beside].max()
        counterpart = block.counterpart(place)
        assert similar(pairs, x, counterpart)
        assert scores.ravel()[(everybody == counterpart).all(axis=1)] == lowest[place]


NUMBERS = lw.Space(
    {
        "income": lw.Continuous(0.0, 5.0, missing=True),
        "age": lw.Integer(0, 500, missing=True),
        "debt": lw.Continuous(-1.0, 1.0, missing=True),
    }
)


def problem(similarity):
    return SearchTask(
        pairs=pair_space(NUMBERS, similarity),
        oracles=None,
        question=None,
        scores=lambda rows: rows.sum(axis=1),
        replay=None,
        budget=Budget(60),
        random=np.random.default_rng(0),
        rows=np.empty((0, 3)),
    )


def test_random_rows_and_moves_are_individuals_and_reach_missing_values():
    asked = problem(lw.Similarity(within={"income": 1.0, "age": 3}, free=["debt"]))
    rows = falsification.random_rows(asked, 400)
    codes = [NUMBERS[name].missing_code for name in NUMBERS.names]
    assert (rows[:, 0] == codes[0]).any()
    assert (rows[:, 2] == codes[2]).any()
    for k, name in enumerate(NUMBERS.names):
        tried = falsification._values_to_try(asked, k, rows[:, k])
        assert (tried == codes[k]).any()
        assert (tried == NUMBERS[name].hi).any()
    rows[:, 0] = np.where(
        rows[:, 0] == codes[0], codes[0], rows[:, 0].round(1) // 0.125 / 8
    )  # sums are exact
    for setting in variants.differing_settings(asked):
        for x, moved in zip(rows, variants._set_features(asked, rows, setting), strict=True):
            assert similar(asked.pairs, x, moved)


def test_free_numbers_are_tried_at_both_ends_and_missing():
    asked = problem(lw.Similarity(free=["debt", "age"]))
    tried = variants.differing_settings(asked)
    assert {setting[2] for setting in tried} == {-1.0, 1.0, NUMBERS["debt"].missing_code}
    assert {setting[1] for setting in tried} == {0.0, 500.0, 501.0}


def test_missing_values_are_not_nudged_towards_numbers():
    asked = problem(lw.Similarity(within={"income": 1.0, "age": 3, "debt": 0.5}))
    x, other = [5.0, 500.0, 1.0], [NUMBERS["income"].missing_code, 501.0, 0.25]
    moved = nudge_pair(asked.pairs, x, other)
    assert moved[:2] == other[:2]
    assert moved[2] == np.nextafter(0.25, 1.0)
