"""Testing by samples: planted bias found with its share, fair models not, the same seed the same answer."""

import numpy as np
import pytest
from tests.strategies import logistic_model

import likewise as lw
from likewise import paper
from likewise.paper import Answer
from likewise.paper.prepare import prepare_problem
from likewise.paper.testing import MOST_SETTINGS, free_settings

SPACE = lw.Space({"a": lw.Integer(0, 9), "b": lw.Integer(0, 9), "sex": lw.Integer(0, 1)})
SIMILAR = lw.Similarity(free=["sex"])
TESTERS = [paper.random_testing, paper.directed_testing]


def model(sex):
    """a + b + sex * weight > 8.5"""
    return logistic_model([1.0, 1.0, sex], -8.5, SPACE.names)


@pytest.mark.parametrize("tester", TESTERS)
def test_planted_bias_is_found_with_its_share(tester):
    """With a weight of 2 the decision changes where a + b is 7 or 8: 17 of 100 individuals."""
    finding = tester(model(2.0), SPACE, SIMILAR, samples=20_000)
    assert finding.answer == Answer.BIASED
    assert int(finding.pair["a"].iloc[0]) + int(finding.pair["b"].iloc[0]) in (7, 8)
    error = np.sqrt(0.17 * 0.83 / 20_000)
    assert abs(finding.details["share"] - 0.17) < 5 * error


@pytest.mark.parametrize("tester", TESTERS)
def test_a_fair_model_is_not_found(tester):
    finding = tester(model(0.0), SPACE, SIMILAR, samples=2_000)
    assert finding.answer == Answer.NOT_FOUND
    assert finding.details["hits"] == 0
    assert finding.pair is None


@pytest.mark.parametrize("tester", TESTERS)
def test_a_seed_gives_the_same_answer_again(tester):
    first, second = (tester(model(2.0), SPACE, SIMILAR, samples=500, random_state=7) for _ in range(2))
    assert first.details == second.details
    assert first.pair.equals(second.pair)


def test_directed_testing_finds_more_near_what_it_found():
    """Hits are rare at random (a = 500 of 1001) and every step along b stays a hit."""
    space = lw.Space({"a": lw.Integer(0, 1000), "b": lw.Integer(0, 1000), "sex": lw.Integer(0, 1)})
    rare = logistic_model([1.0, 0.0, 1.0], -500.5, space.names)
    finding = paper.directed_testing(rare, space, SIMILAR, samples=5_000)
    assert finding.answer == Answer.BIASED
    assert finding.details["share"] < 0.01
    assert finding.details["hits_nearby"] > 100 * finding.details["share"] * finding.details["steps"] / 10


def test_directed_testing_walks_nowhere_without_a_hit():
    finding = paper.directed_testing(model(0.0), SPACE, SIMILAR, samples=100)
    assert finding.details["steps"] == 0


def test_samples_outside_the_constraints_are_no_hits():
    space = SPACE.where("a + b >= 12")
    assert paper.random_testing(model(2.0), space, SIMILAR, samples=5_000).answer == Answer.NOT_FOUND
    assert lw.verify(model(2.0), space, SIMILAR).verdict == "FAIR"


def test_many_values_are_sampled_inside_the_domain():
    space = lw.Space(
        {"a": lw.Integer(0, 5), "n": lw.Integer(0, 1000), "pay": lw.Continuous(-1, 1), "m": lw.Integer(0, 40)}
    )
    weights = logistic_model([1.0, 0.01, 1.0, 0.1], -8.0, space.names)
    similar = lw.Similarity(free=["n", "pay", "m"], within={"a": 2})
    settings = free_settings(prepare_problem(weights, space, similar, None))
    assert len(settings) == MOST_SETTINGS
    for setting in settings:
        assert setting[0] in ("own", "up")
        assert 0 <= setting[1] <= 1000
        assert setting[1] == round(setting[1])
        assert -1 <= setting[2] <= 1
        assert setting[3] in range(41)
    assert paper.random_testing(weights, space, similar, samples=200).answer == Answer.BIASED


def test_the_budget_ends_sampling():
    finding = paper.random_testing(model(0.0), SPACE, SIMILAR, samples=10**9, budget=0.2)
    assert finding.answer == Answer.NOT_FOUND
    assert finding.details["samples"] < 10**9
    assert "of 1,000,000,000 samples" in finding.meaning
