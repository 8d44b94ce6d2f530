"""measure against exhaustion: the bracket holds the true disparity, and its pair attains the lower end."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given
from tests.strategies import all_pairs, linear_cases, logistic_model, rows_of, svc_model, value
from tests.tiers import ALL, examples

import likewise as lw
from likewise.analysis.measure import _claim_text

relaxed = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (
        Phase.explicit,
        Phase.reuse,
        Phase.generate,
    ),  # shrinking takes minutes, the case is small anyway
}
KINDS = {
    "score": ("logistic", "svc", "regression"),
    "margin": ("logistic", "svc"),
    "probability": ("logistic",),
}
SLACK = Fraction(1, 10**70)  # of the reference's 80 digits


@pytest.mark.some_days
@pytest.mark.parametrize("of", sorted(KINDS))
def test_the_bracket_holds_the_true_disparity(of):
    @given(case=linear_cases(kinds=KINDS[of]))
    @examples(400 if ALL else 120, **relaxed)
    def check(case):
        pairs = all_pairs(case)
        if not pairs:
            return
        truth = max(value(of, first, second) for *_, first, second in pairs)
        found = lw.measure(case.model, case.space, case.similar, of=of, budget=30)
        assert found.reason is None
        assert Fraction(found.lower) <= truth + SLACK
        assert truth - SLACK <= Fraction(found.upper)
        assert Fraction(found.upper) - Fraction(found.lower) <= Fraction(1, 10**6) + Fraction(1, 2**50)
        x, other = rows_of(found.pair, case.space.names)
        scores = {(a, b): (first, second) for a, b, first, second in pairs}
        assert (x, other) in scores
        attained = value(of, *scores[x, other])
        assert Fraction(found.lower) <= attained + SLACK
        assert attained - Fraction(math.nextafter(found.lower, math.inf)) <= SLACK

    check()


SPACE = lw.Space({"a": lw.Integer(0, 3), "b": lw.Integer(0, 1)})
FREE = lw.Similarity(free=["b"])


@pytest.mark.parametrize("of", ["score", "probability"])
def test_a_masked_model_has_no_disparity_at_all(of):
    found = lw.measure(logistic_model([1.0, 0.0], 0.3, "ab"), SPACE, FREE, of=of)
    assert (found.lower, found.upper) == (0.0, 0.0)
    assert not math.copysign(1, found.lower) < 0


def test_probabilities_that_saturate_end_at_one():
    found = lw.measure(logistic_model([1.0, 200.0], -100.0, "ab"), SPACE, FREE, of="probability")
    assert 1 - 1e-12 <= found.lower <= found.upper == 1.0
    assert found.reason is None


def test_where_no_certificate_is_needed_the_answer_says_so():
    model = logistic_model([1.0, 200.0], -100.0, "ab")
    found = lw.measure(model, SPACE, FREE, of="probability", certify=True)
    assert found.upper == 1.0
    assert found.certificate is None
    assert found.reason is not None
    assert "needs no certificate" in found.reason


def test_scores_beyond_all_exponentials_are_measured():
    found = lw.measure(logistic_model([1.0, 1e300], 0.3, "ab"), SPACE, FREE, of="probability")
    sigma = 1 / (1 + math.exp(-0.3))
    assert found.lower <= 1 - sigma <= found.upper
    assert found.upper - found.lower <= 2e-6


def test_a_negative_margin_says_how_far_the_decisions_are_from_flipping():
    model = logistic_model([1.0, 0.5], 1.0, "ab")  # scores from 1 to 4.5: nobody is refused
    found = lw.measure(model, SPACE, FREE, of="margin")
    assert found.lower == -1.0
    assert found.upper in (-1.0, math.nextafter(-1.0, 0.0))  # -1 is attained on the border of the question


@pytest.mark.parametrize("tolerance", [0, -1, math.nan, math.inf, "1"])
def test_tolerances_are_positive_numbers(tolerance):
    with pytest.raises(lw.SpecError, match="tolerance"):
        lw.measure(logistic_model([1.0, 1.0], 0.0, "ab"), SPACE, FREE, tolerance=tolerance)


def test_scales_have_names():
    with pytest.raises(lw.SpecError, match="of must be"):
        lw.measure(logistic_model([1.0, 1.0], 0.0, "ab"), SPACE, FREE, of="scores")


def test_probabilities_need_a_link():
    with pytest.raises(lw.SpecError, match="no probabilities"):
        lw.measure(svc_model([1.0, 1.0], 0.0, "ab"), SPACE, FREE, of="probability")


def hard_case(count=40):
    """Shared weights without structure: the margin of a narrow flip takes many cells."""
    random = np.random.default_rng(5)
    names = [f"f{k}" for k in range(count)]
    weights = [*random.normal(0, 1, count - 1).tolist(), 1e-7]
    space = lw.Space({name: lw.Integer(0, 1) for name in names})
    return logistic_model(weights, -0.123456789, names), space, lw.Similarity(free=[names[-1]])


def test_the_end_of_the_budget_leaves_a_true_bracket():
    model, space, similar = hard_case()
    found = lw.measure(model, space, similar, of="margin", tolerance=1e-12, budget=0.3)
    assert found.reason is not None
    assert "budget" in found.reason
    # The gap is the free weight wherever the rest stands, so no margin exceeds half of it.
    assert found.lower <= found.upper
    assert found.lower <= 0.5e-7
    assert found.upper >= found.lower
    assert math.isfinite(found.upper)
    assert "budget" in str(found)


def test_the_history_closes_in_and_ends_with_the_answer():
    model, space, similar = hard_case(10)
    found = lw.measure(model, space, similar, of="margin", tolerance=1e-12)
    seconds, lowers, uppers = zip(*found.history, strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(lowers) == sorted(lowers)
    assert (lowers[-1], uppers[-1]) == (found.lower, found.upper)
    assert found.to_dict()["history"][-1][1] == found.lower


def test_listeners_hear_of_it():
    heard = []
    model, space, similar = hard_case(10)
    lw.measure(model, space, similar, of="margin", progress=heard.append)
    assert {"looking for a pair"} < {snapshot.stage for snapshot in heard}


@pytest.mark.parametrize(
    ("of", "level", "words"),
    [
        ("score", 0.5, "similar individuals get scores at most 0.5 apart"),
        (
            "margin",
            0.5,
            "similar individuals get the same decision wherever both decisions are clear by a margin of more than 0.5",
        ),
        (
            "margin",
            -0.03125,
            "similar individuals get the same decision, also if their scores move by less than 0.03125 each",
        ),
    ],
)
def test_the_claim_of_a_certificate_is_told_in_plain_words(of, level, words):
    assert _claim_text(of, level) == words
