"""Numbers at the edge of double precision: an exact verdict, an honest UNKNOWN or a clear refusal, never a crash."""

import math

import numpy as np
import pandas as pd
import pytest
from tests.strategies import logistic_model, regression_model, svc_model

import likewise as lw

SPACE = lw.Space({"a": lw.Integer(0, 3), "b": lw.Integer(0, 1)})
FREE = lw.Similarity(free=["b"])


def verdict(weights, bias=0.0, space=SPACE, similar=FREE, property=None, make=logistic_model, **options):
    return lw.verify(make(weights, bias, space.names), space, similar, property, budget=10, **options)


def test_denormal_weights_count():
    assert verdict([1.0, 5e-324]).verdict == "BIASED"
    assert verdict([1.0, 5e-324], property=lw.ScoreGap(0.0)).verdict == "BIASED"
    assert verdict([1.0, 5e-324], property=lw.ScoreGap(5e-324)).verdict == "FAIR"


def test_minus_zero_is_zero():
    assert verdict([1.0, -0.0], bias=-0.0).stats["engine"] == "independence"
    assert verdict([0.0, 1.0], bias=-0.0, space=SPACE.replace(b=lw.Integer(-1, 0))).verdict == "FAIR"


@pytest.mark.parametrize("delta", [0.25, 0.5, 0.75])
@pytest.mark.parametrize("huge", [1e3, 1e12, 1e300])
def test_saturated_probabilities(huge, delta):
    result = verdict([0.0, huge], property=lw.ProbabilityGap(delta))  # 1 - exp(-huge) - 1/2
    assert result.verdict == ("BIASED" if delta < 0.5 else "FAIR")


@pytest.mark.parametrize("end", [1e300, 1e308])
def test_huge_ranges(end):
    space = lw.Space({"a": lw.Continuous(-end, end), "b": lw.Integer(0, 1)})
    assert verdict([1.0, 1.0], space=space, property=lw.ScoreGap(1.0)).verdict == "FAIR"
    assert verdict([1.0, 1.0], space=space, property=lw.ScoreGap(0.5)).verdict != "FAIR"
    assert verdict([1.0, 1.0], space=space).verdict != "FAIR"


def test_scores_that_overflow_are_refused():
    space = lw.Space({"a": lw.Continuous(0, 1e10), "b": lw.Integer(0, 1)})
    with pytest.raises(lw.UnsupportedModel, match="inf"):
        verdict([1e300, 1.0], space=space)


def test_constraints_beyond_double_precision():
    space = SPACE.where("a <= 1e350").where("1e-300 * a + b >= 0")
    assert verdict([1.0, 1.0], bias=-0.5, space=space).verdict == "BIASED"
    assert verdict([1.0, 1.0], bias=0.5, space=space).verdict == "FAIR"
    small = SPACE.where("1e-12 * a + 1e-12 * b <= 1e-12")
    assert verdict([1.0, 1.0], bias=-1.5, space=small, property=lw.SameDecision()).verdict == "FAIR"


def test_whole_numbers_up_to_2_to_the_53():
    top = 2**53
    space = lw.Space({"a": lw.Integer(top - 3, top), "b": lw.Integer(top - 3, top)})
    assert verdict([1.0, 1.0], space=space, property=lw.ScoreGap(3.0)).verdict == "FAIR"
    assert verdict([1.0, 1.0], space=space, property=lw.ScoreGap(2.0)).verdict == "BIASED"
    assert verdict([1.0, -1.0], space=space).verdict == "BIASED"


def test_levels_that_no_double_tells_apart_are_not_called_biased():
    """Exactly they differ, for the model they do not: neither FAIR nor BIASED would be right."""
    space = lw.Space({"a": lw.Categorical([2**53, 2**53 + 1]), "b": lw.Integer(0, 1)})
    result = verdict([1.0, 0.0], bias=float(-(2**53)), space=space, similar=lw.Similarity(free=["a"]))
    assert result.verdict == "UNKNOWN"
    assert result.reason.startswith("rounding")


def test_levels_count_by_value_not_by_place():
    space = lw.Space({"a": lw.Categorical([10, -10, 0]), "b": lw.Ordinal([5, 1, 3])})
    # One step of b is worth 4 or 2 by value; a tolerance of 1 by place.
    similar = lw.Similarity(within={"b": 1})
    model = regression_model([0.0, 1.0], 0.0, space.names)
    found = lw.measure(model, space, similar)
    assert (found.lower, found.upper) == (4.0, 4.0)


def test_a_feature_of_one_level_cannot_differ():
    space = lw.Space({"a": lw.Categorical([7]), "b": lw.Integer(0, 1)})
    with pytest.raises(lw.SpecError, match="nothing may differ"):
        verdict([1.0, 1.0], space=space, similar=lw.Similarity(free=["a"]))


@pytest.mark.parametrize("percent", ["10%", "33.3%"])
def test_percentages_are_exact(percent):
    """A tolerance is a share of hi - lo in rationals: the largest gap is its weight times that, no ulp more."""
    space = lw.Space({"a": lw.Continuous(0.1, 0.7), "b": lw.Integer(0, 1)})
    similar = lw.Similarity(within={"a": percent})
    from fractions import Fraction

    share = Fraction(percent.rstrip("%")) / 100 * (Fraction(0.7) - Fraction(0.1))
    found = lw.measure(regression_model([1.0, 0.0], 0.0, space.names), space, similar, tolerance=1e-12)
    assert Fraction(found.lower) <= share <= Fraction(found.upper)
    a = [Fraction(float(v)) for v in found.pair["a"]]
    assert abs(a[0] - a[1]) <= share


def test_constraints_hold_for_both_individuals():
    """b may not be 1 where a is below 2: the flip at a = 0 is a pair of nobody."""
    space = SPACE.where("a >= 2 * b")
    assert verdict([-1.0, 1.0], bias=0.5, space=SPACE).verdict == "BIASED"
    pair = verdict([1.0, 1.0], bias=-0.5, space=SPACE).pair
    assert pair["b"].to_list() == [1, 0]
    assert verdict([1.0, 1.0], bias=-0.5, space=space).verdict == "FAIR"


def test_an_equality_leaves_only_its_own_pairs():
    space = lw.Space({n: lw.Integer(0, 3) for n in "abc"}).where("a + b == 3")
    # a is shared, so b is too, whatever the similarity says.
    assert verdict([0.0, 1.0, 0.0], bias=-1.5, space=space, similar=FREE).verdict == "FAIR"
    both = lw.Similarity(free=["a", "b"])
    assert verdict([0.0, 1.0, 0.0], bias=-1.5, space=space, similar=both).verdict == "BIASED"


@pytest.mark.parametrize("margin", [0.25, 0.5])
def test_margins_of_the_mirrored_tie_rule(margin):
    """SVC's zero is upper, so its lower label is the strict side: scores 1/2 and -1/2 at the margin 1/2."""
    space = lw.Space({"b": lw.Integer(0, 1)})
    expected = "BIASED" if margin < 0.5 else "FAIR"
    assert verdict([1.0], -0.5, space, FREE, lw.SameDecision(margin), svc_model).verdict == expected
    assert verdict([1.0], -0.5, space, FREE, lw.SameDecision(margin)).verdict == expected


def test_mixed_dtypes_are_replayed():
    space = lw.Space(
        {
            "flag": lw.Categorical([False, True]),
            "n": lw.Integer(0, 3),
            "x": lw.Continuous(0, 1),
            "k": lw.Ordinal([0.5, 2]),
        }
    )
    X = pd.DataFrame({"flag": [True, False], "n": [0, 1], "x": [0.5, 0.25], "k": [2.0, 0.5]})
    result = verdict([1.0, 0.5, 0.1, -0.2], -0.75, space, lw.Similarity(free=["flag"]), X=X)
    assert result.verdict == "BIASED"
    assert result.pair.dtypes.to_list() == X.dtypes.to_list()
    model = logistic_model([1.0, 0.5, 0.1, -0.2], -0.75, space.names)
    assert list(model.predict(result.pair)) == [1, 0]


def test_the_answer_can_be_written_as_json():
    import json

    for weights in ([1.0, 1.0], [1.0, 0.0]):
        text = json.dumps(verdict(weights, -0.5).to_dict(), allow_nan=False)
        assert json.loads(text)["verdict"] in ("FAIR", "BIASED")


def test_what_is_asked_must_fit_the_model():
    with pytest.raises(lw.SpecError, match="makes no decision"):
        verdict([1.0, 1.0], make=regression_model)
    with pytest.raises(lw.SpecError, match="no probabilities"):
        verdict([1.0, 1.0], make=svc_model, property=lw.ProbabilityGap(0.5))
    with pytest.raises(lw.SpecError, match="property must be"):
        verdict([1.0, 1.0], property=0.5)
    with pytest.raises(lw.SpecError, match="space must be"):
        lw.verify(logistic_model([1.0, 1.0], 0.0, "ab"), {"a": 1}, FREE)
    with pytest.raises(lw.SpecError, match="similar must be"):
        lw.verify(logistic_model([1.0, 1.0], 0.0, "ab"), SPACE, ["b"])


def test_no_random_state_changes_the_verdict():
    random = np.random.default_rng(0)
    for _ in range(5):
        weights, bias = random.normal(size=2).tolist(), float(random.normal())
        verdicts = {verdict(weights, bias, random_state=seed).verdict for seed in range(4)}
        assert len(verdicts) == 1


def test_no_budget_is_needed_for_a_clear_case():
    assert verdict([1.0, 1.0], bias=5.0).bounds == (-math.inf, 0.0)


def test_a_pair_on_the_border_of_the_margin_is_replayed_as_the_claim_reads():
    """s > margin is strict and s' <= -margin is not: here every witness has s' = -margin exactly."""
    space = lw.Space({"a": lw.Continuous(0, 3), "b": lw.Continuous(3, 3)})
    model = svc_model([1.0, -0.25], -2.0, space.names)
    result = lw.verify(model, space, lw.Similarity(within={"a": 1}), lw.SameDecision(0.25), budget=20)
    assert result.verdict == "BIASED"
    assert sorted(result.scores)[-1] == 0.25


@pytest.mark.parametrize(
    ("name", "given"),
    [("n_jobs", 0), ("n_jobs", 1.5), ("executor", 3), ("random_state", "seed"), ("random_state", -1)],
)
def test_options_that_are_none_are_refused_by_name(name, given):
    with pytest.raises(lw.SpecError, match=f"{name} must be .*, not {given!r}"):
        verdict([1.0, 1.0], **{name: given})
