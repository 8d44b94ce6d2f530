"""Random problems of all families: no answer of any command disagrees with brute force over the model's own predictions.

Each day has its own seeds, so that runs add up; `python -m tests.fuzz` goes through thousands of them.
"""

import random
import warnings

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from tests import tiers
from tests.fuzz.choices import DrawnChoices, SeededChoices
from tests.fuzz.problems import drawn_problem
from tests.fuzz.running import compare_all

SEEDS = random.Random(tiers.SEED).sample(range(10**6), 120)


def assert_agrees(choices, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = drawn_problem(choices)
        findings = compare_all(problem, choices)
    assert not findings.failures, f"{name}: {problem.described()}\n{findings.failures}"


@pytest.mark.some_days
@pytest.mark.draw(8)
@pytest.mark.parametrize("n", range(len(SEEDS)))
def test_answers_to_seeded_problems_are_those_of_brute_force(n):
    assert_agrees(SeededChoices(SEEDS[n]), f"python -m tests.fuzz --only {SEEDS[n]}")


@pytest.mark.slow
@tiers.examples(20, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_answers_to_drawn_problems_are_those_of_brute_force(data):
    """Hypothesis makes what fails smaller."""
    assert_agrees(DrawnChoices(data), "drawn")
