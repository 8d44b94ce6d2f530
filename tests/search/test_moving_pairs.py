"""Pairs of two who must differ: one is found exactly where there is one, and a proof shows it."""

import gzip
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression
from tests.tiers import examples

import likewise as lw
from likewise.search.feasibility import find_moving_pair
from likewise.spec.pairs import pair_space
from likewise_check.__main__ import main

RISING = lw.Similarity(free=["age"], order={"age": "up"})
LEVELS = ["low", "mid", "high"]


def space_of(*constraints, age=None):
    features = {"age": age or lw.Integer(0, 9), "income": lw.Integer(0, 9)}
    return lw.Space(features, constraints=list(constraints))


def model(*weights):
    rows = np.array([[0, 0], [1, 0], [0, 1], [3, 5.0]])
    return LinearRegression().fit(rows, rows @ np.array(weights, dtype=float))


@pytest.mark.parametrize(
    ("rules", "there"),
    [
        ([], True),
        (["age <= 5"], True),
        (["age + income == 5"], False),  # all but the age is the same
        (["age <= 5", "age >= 5"], False),
        (["age + income <= 5", "age + income >= 4"], True),
        (["age + income <= 5.5", "age + income >= 4.75"], False),
    ],
)
@pytest.mark.parametrize("way", ["up", "down"])
def test_a_pair_is_found_where_there_is_one(rules, there, way):
    similar = lw.Similarity(free=["age"], order={"age": way})
    pairs = pair_space(space_of(*rules), similar)
    if not there:
        with pytest.raises(lw.SpecError, match="no two individuals"):
            find_moving_pair(pairs)
        return
    x, other = find_moving_pair(pairs)
    assert pairs.valid(x, other)
    assert x != other


def test_levels_move_by_steps():
    pairs = pair_space(space_of("income <= 3", age=lw.Ordinal(LEVELS)), RISING)
    x, other = find_moving_pair(pairs)
    assert pairs.valid(x, other)


def test_where_everybody_is_similar_to_themselves_none_is_looked_for():
    space = space_of("age + income == 5")
    assert find_moving_pair(pair_space(space, lw.Similarity(free=["age"]))) is None
    both = lw.Similarity(free=["age", "income"], order={"age": "up"})
    assert find_moving_pair(pair_space(space, both)) is None


@given(
    weights=st.tuples(*[st.integers(-2, 2)] * 2),
    low=st.integers(-6, 6),
    width=st.integers(0, 2),
    size=st.integers(1, 4),
)
@examples(60, deadline=None)
def test_as_brute_force_finds_it(weights, low, width, size):
    a, b = weights
    features = {"age": lw.Integer(0, size), "income": lw.Integer(0, 2)}
    rules = [f"{a}*age + {b}*income >= {low}", f"{a}*age + {b}*income <= {low + width}"]
    if weights == (0, 0):
        return
    pairs = pair_space(lw.Space(features, constraints=rules), RISING)
    valid = [(x, y) for x in range(size + 1) for y in range(3) if low <= a * x + b * y <= low + width]
    if any(x < other and y == same for x, y in valid for other, same in valid):
        assert pairs.valid(*find_moving_pair(pairs))
    else:
        with pytest.raises(lw.SpecError, match="no two individuals"):
            find_moving_pair(pairs)


def test_a_proof_shows_the_pair(tmp_path):
    result = lw.verify(model(1, 2), space_of("age + income <= 7"), lw.Monotone("age"))
    assert result.verdict == "FAIR"
    end = json.loads(gzip.decompress(result.certificate.content).splitlines()[-1])["end"]
    x, other = (list(map(int, end[key])) for key in ("somebody", "other"))
    assert x[1] == other[1]
    assert x[0] != other[0]
    assert (
        main([str(result.certificate.save(tmp_path / "fair.likewise")), "--expect", "fair", "--quiet"]) == 0
    )


@pytest.mark.parametrize("weights", [(1, 2), (0, 1)], ids=["read", "not read"])
def test_a_claim_about_no_pair_is_refused(weights):
    with pytest.raises(lw.SpecError, match="no two individuals of the space were found that differ in 'age'"):
        lw.verify(model(*weights), space_of("age == 5"), lw.Monotone("age"))
