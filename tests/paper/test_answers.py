"""Answers say what they are worth, and are never taken for a truth value."""

import json

import pytest
from tests.strategies import logistic_model

import likewise as lw
from likewise import paper
from likewise.errors import SpecError
from likewise.paper import Answer
from likewise.paper.answers import MEANING

SPACE = lw.Space({"a": lw.Integer(0, 9), "sex": lw.Integer(0, 1)})
SIMILAR = lw.Similarity(free=["sex"])


def findings():
    for weight in (0.0, 2.0):
        model = logistic_model([1.0, weight], -4.5, SPACE.names)
        yield paper.verify_individual_bias(model, SPACE, SIMILAR)
        yield paper.random_testing(model, SPACE, SIMILAR, samples=100)


def test_every_answer_has_its_meaning():
    assert set(MEANING) == set(Answer)
    for finding in findings():
        assert finding.meaning.startswith(MEANING[finding.answer])


def test_a_finding_is_no_truth_value_and_can_be_read():
    for finding in findings():
        with pytest.raises(TypeError, match="neither true nor false"):
            bool(finding)
        assert str(finding.answer) in str(finding)
        assert max(map(len, str(finding).splitlines())) <= 80
        assert f"<caption>{finding.answer}</caption>" in finding._repr_html_()
        document = json.loads(json.dumps(finding.to_dict(), allow_nan=False))
        assert (document["pair"] is not None) == (finding.answer == Answer.BIASED)


def test_a_property_that_the_paper_does_not_have_is_refused():
    model = logistic_model([1.0, 1.0], 0.0, SPACE.names)
    for algorithm in (paper.verify_individual_bias, paper.random_testing, paper.find_bias_rbf):
        with pytest.raises(SpecError, match="ProbabilityGap"):
            algorithm(model, SPACE, SIMILAR, lw.ProbabilityGap(0.1))
