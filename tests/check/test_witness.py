"""Witnesses: accepted exactly if the pair is one."""

from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.check import samples
from tests.check.builder import FREE, affine, checked, continuous, line, probability, witness
from tests.check.strategies import claims, number_text
from tests.check.truth import Claim, sigma
from tests.tiers import examples


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("x", ["0"], "2 entries"),
        ("x", ["0", "2"], "valid individual"),
        ("other", ["0", "-1"], "valid individual"),
        ("x", ["4", "1"], "valid individual"),
        ("x", ["1/2", "1"], "valid individual"),
        ("other", ["0", "1/2"], "valid individual"),
        ("x", ["1", "1"], "not similar"),
        ("x", [0, "1"], "number"),
        ("scores", ["1/2"], "2 entries"),
        ("scores", ["1/2", "1/2"], "scores"),
        ("scores", ["0", "-1/2"], "scores"),
        ("scores", ["-1/2", "1/2"], "scores"),
        ("more", [], "exactly the keys"),
    ],
)
def test_wrong_witnesses(key, value, reason):
    values = samples.refuted()
    values[5]["witness"][key] = value
    report = checked(values)
    assert reason in report.reason
    assert report.line == 6


def test_a_pair_that_breaks_nothing():
    values = samples.refuted()
    values[5]["witness"] = {"x": ["0", "0"], "other": ["0", "1"], "scores": ["-1/2", "1/2"]}
    assert "does not break" in checked(values).reason
    assert not checked([*values[:5], *values[6:]]).accepted
    assert not checked([*values[:6], values[5], *values[6:]]).accepted


def test_a_report_of_a_witness():
    report = checked(samples.refuted())
    assert report.accepted
    assert report.kind == "witness"
    assert report.claim.startswith("Some two individuals")
    assert (report.cells, report.rules, report.clearance, report.covers_floating_point) == (
        0,
        {},
        None,
        False,
    )


def test_probabilities_a_hair_from_delta():
    model = affine(0, [line(0, 1)])
    gap = Fraction(sigma(Fraction(1))) - Fraction(sigma(Fraction(-2)))
    for slack, holds in ((-Fraction(1, 10**70), True), (Fraction(1, 10**70), False)):
        values = witness(
            [continuous("c", -2, 1)], [FREE], probability(number_text(gap + slack)), model, [1], [-2], [1, -2]
        )
        assert checked(values).accepted == holds


@examples(150)
@given(claims(real=True), st.data())
def test_a_witness_is_accepted_exactly_if_it_is_one(claim, data):
    truth = Claim(witness(**claim, x=[], other=[], scores=[]))
    points = list(truth.points())
    assume(points)
    x, other = data.draw(st.sampled_from(points))
    scores = [truth.score(x), truth.score(other)]
    report = checked(witness(**claim, x=x, other=other, scores=scores))
    pair = all(truth.excess(j, y) <= 0 for j in range(len(truth.constraints)) for y in (x, other))
    assert report.accepted == (pair and truth.breaks(truth.gauge(x), truth.gauge(other)))
