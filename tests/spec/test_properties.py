import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import SpecError
from likewise.spec.properties import (
    ProbabilityGap,
    SameDecision,
    ScoreGap,
    class_index,
    make_property,
    parse_property,
)

amounts = st.floats(0, allow_infinity=False, allow_nan=False)
properties = st.one_of(
    st.builds(SameDecision, amounts),
    st.builds(ScoreGap, amounts),
    st.builds(ProbabilityGap, st.floats(0, 1, exclude_max=True)),
)


@given(properties)
def test_spelling_is_read_back_exactly(wanted):
    again = parse_property(wanted.spell())
    assert again == wanted
    assert type(again) is type(wanted)
    assert pickle.loads(pickle.dumps(wanted)) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("decision", SameDecision()),
        ("decision:0", SameDecision(margin=0)),
        ("decision:0.1", SameDecision(0.1)),
        (" score : 5e-1 ", ScoreGap(0.5)),
        ("probability:0", ProbabilityGap(0)),
    ],
)
def test_parse(text, wanted):
    assert parse_property(text) == wanted


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("decison", "unknown property 'decison' (did you mean 'decision'?)\nhint: decision, decision:0.1"),
        ("", "unknown property ''"),
        ("score", "property 'score' lacks its number\nhint: for instance score:0.1"),
        ("decision:", "property 'decision:' lacks its number"),
        ("score:abc", "property 'score:abc': 'abc' is not a number"),
        ("score:-1", "property 'score:-1': delta must not be negative, got -1"),
        ("score:nan", "property 'score:nan': delta must be finite"),
        ("probability:1", "property 'probability:1': delta = 1: probabilities are never more than 1 apart"),
        (3, "a property is spelled as text, got 3"),
    ],
)
def test_wrong_spellings(text, said):
    with pytest.raises(SpecError) as caught:
        parse_property(text)
    assert said in str(caught.value)


@pytest.mark.parametrize("kind", [SameDecision, ScoreGap, ProbabilityGap])
@pytest.mark.parametrize("amount", [-0.1, math.nan, math.inf, "1", None, True, 10**400])
def test_wrong_amounts(kind, amount):
    with pytest.raises(SpecError, match=r"margin|delta"):
        kind(amount)


def test_probability_delta_stays_below_one():
    assert ProbabilityGap(math.nextafter(1, 0)).delta < 1
    with pytest.raises(SpecError, match=r"10 percent is 0\.1"):
        ProbabilityGap(10)


def test_numpy_numbers_become_floats():
    assert type(ScoreGap(np.float32(0.5)).delta) is float
    assert ScoreGap(np.int64(2)) == ScoreGap(2.0)
    assert math.copysign(1, SameDecision(-0.0).margin) == 1


def test_words():
    assert SameDecision().describe() == "get the same decision"
    assert "clear by a margin of 0.5" in SameDecision(0.5).describe()
    assert ScoreGap(0.5).describe() == "get scores at most 0.5 apart"
    assert ProbabilityGap(0.1).describe() == "get probabilities at most 0.1 apart"
    assert [p.kind for p in (SameDecision(), ScoreGap(1), ProbabilityGap(0))] == [
        "decision",
        "score",
        "probability",
    ]


def test_kinds_are_never_equal():
    assert ScoreGap(0.5) != ProbabilityGap(0.5)
    with pytest.raises(SpecError, match="did you mean 'score'"):
        make_property("scor", 0.5)


def test_a_class_of_interest_is_part_of_the_claim_and_of_its_words():
    assert (
        SameDecision(class_of_interest="high").describe() == "are alike in whether they get the class 'high'"
    )
    assert SameDecision(0.5, class_of_interest=2).describe() == (
        "are alike in whether they get the class 2 wherever both decisions are clear by a margin of 0.5"
    )
    assert (
        ScoreGap(0.5, class_of_interest="high").describe()
        == "get scores of the class 'high' at most 0.5 apart"
    )
    assert ProbabilityGap(0.1, class_of_interest=np.int64(3)) == ProbabilityGap(0.1, class_of_interest=3)
    assert SameDecision(class_of_interest="high") != SameDecision(class_of_interest="low") != SameDecision()
    assert make_property("score", 1.0, "high") == ScoreGap(1.0, class_of_interest="high")
    for wrong in ([1], float("nan"), ("a",)):
        with pytest.raises(SpecError, match="class_of_interest must be one of the model's labels"):
            ScoreGap(1, class_of_interest=wrong)


def test_the_place_of_a_class_among_the_labels():
    assert class_index(None, ("a", "b"), "M") is None
    assert [class_index(label, ("low", 2, True), "M") for label in ("low", 2, True)] == [0, 1, 2]
    with pytest.raises(
        SpecError, match=r"M has no class 'hihg' \(did you mean 'high'\?\)(.|\n)*'low', 'high'"
    ):
        class_index("hihg", ("low", "high"), "M")
    with pytest.raises(SpecError, match="no class True"):
        class_index(True, (0, 1, 2), "M")
    with pytest.raises(SpecError, match="Ridge is a regressor"):
        class_index("high", None, "Ridge")
