"""Random problems of all families: no answer of any command disagrees with brute force over the model's own predictions.

Hypothesis draws few of them here and makes what fails smaller; `python -m tests.fuzz` goes through thousands of seeds.
"""

import warnings

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.fuzz.choices import DrawnChoices, SeededChoices
from tests.fuzz.problems import drawn_problem
from tests.fuzz.running import compare_all


def assert_agrees(choices):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = drawn_problem(choices)
        findings = compare_all(problem, choices)
    assert not findings.failures, f"{problem.described()}\n{findings.failures}"


@settings(
    max_examples=12,
    derandomize=True,
    phases=[Phase.generate],  # a smaller example takes minutes: run the slow one for it
    suppress_health_check=list(HealthCheck),
)
@given(data=st.data())
def test_answers_are_those_of_brute_force(data):
    assert_agrees(DrawnChoices(data))


@pytest.mark.parametrize("part", range(3))
def test_answers_to_seeded_problems_are_those_of_brute_force(part):
    for seed in range(8 * part, 8 * part + 8):
        assert_agrees(SeededChoices(seed))


@pytest.mark.slow
@pytest.mark.parametrize("part", range(20))
def test_answers_to_many_problems_are_those_of_brute_force(part):
    for seed in range(10_000 + 50 * part, 10_050 + 50 * part):
        assert_agrees(SeededChoices(seed))


@pytest.mark.slow
@settings(max_examples=300, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_answers_to_many_drawn_problems_are_those_of_brute_force(data):
    assert_agrees(DrawnChoices(data))
