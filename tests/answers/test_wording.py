"""Results as text: 80 columns, nothing cut, different values never look the same."""

import math
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

import likewise as lw
from likewise.answers import terminal
from likewise.answers.answer import words_text
from likewise.answers.audience import Audience
from likewise.answers.disparity import disparity_answer
from likewise.answers.pair import pair_answer
from likewise.answers.sentences import bounds_in_words
from likewise.answers.terminal import DIFFERS_MARK, WIDTH
from likewise.answers.verdict import verdict_in_words
from likewise.spec.properties import ProbabilityGap, SameDecision, ScoreGap
from likewise.verifying.result import Treatment

NAMES = st.text(st.characters(categories=["L", "N", "P"]), min_size=1, max_size=70)
VALUES = st.integers() | st.floats(allow_nan=False, allow_infinity=False) | NAMES
PAIRS = st.dictionaries(NAMES, st.tuples(VALUES, VALUES), min_size=1, max_size=8)
TREATED = Treatment(
    decisions=("yes", "no"), scores=(1e-9, -1e-9), probabilities=(0.5, 0.5), upper_label="yes"
)


def pair_lines(pair, treated, **how):
    return [words_text(line) for line in terminal.pair_lines(pair_answer(pair, treated, **how))]


def paragraph(title, text):
    return [words_text(line) for line in terminal.paragraph(title, text)]


@given(PAIRS)
def test_a_pair_fits_and_nothing_is_cut(pair):
    lines = pair_lines(pair, TREATED, most=None)
    assert max(map(len, lines)) <= WIDTH
    letters = sorted(char for line in lines for char in line)
    for name, (first, second) in pair.items():
        for text in (name, *(v for v in (first, second) if isinstance(v, str))):
            assert all(char in letters for char in text if char != " ")


@given(PAIRS)
def test_as_many_marks_as_differences(pair):
    lines = pair_lines(pair, TREATED)
    named = sum(DIFFERS_MARK in str(part) for name, values in pair.items() for part in (name, *values))
    differing = sum(first != second for first, second in pair.values())
    assert differing <= sum(f" {DIFFERS_MARK} " in line for line in lines) <= differing + named


def test_long_levels_are_wrapped_side_by_side():
    levels = "a" * 50 + "1", "a" * 50 + "2"
    lines = pair_lines({"level": levels}, Treatment())
    assert lines[1].split() == ["level", "a" * 33, DIFFERS_MARK, "a" * 34]
    assert lines[2].split() == ["a" * 17 + "1", "a" * 16 + "2"]


def test_numbers_that_differ_look_different():
    pair = {"income": (1.00000001, 1.00000002), "age": (math.nextafter(40.0, 41.0), 40.0)}
    for line in pair_lines(pair, Treatment(scores=(1.0, 1.0 + 1e-12), probabilities=(0.50001, 0.5)))[1:]:
        _, first, second = re.split(rf"\s+{DIFFERS_MARK}\s+|\s{{2,}}", line.strip())
        assert first != second
        assert len(first) <= len("just below 40") >= len(second)


def test_the_same_features_are_counted():
    pair = {f"f{i}": (i, i) for i in range(9)} | {"sex": ("f", "m")}
    lines = pair_lines(pair, Treatment())
    assert lines[1].split() == ["sex", "f", DIFFERS_MARK, "m"]
    assert lines[-1] == "  ... 6 more the same (.pair has them)"
    assert len(pair_lines(pair, Treatment(), most=None)) == 11


@pytest.mark.parametrize(
    ("property", "bounds", "said"),
    [
        (SameDecision(), (-math.inf, math.inf), "nothing is known of the largest margin"),
        (SameDecision(), (-math.inf, 0.5), "is at most 0.5; the claim is broken above 0"),
        (SameDecision(0.25), (-math.inf, 0.5), "is at most 0.5; the claim is broken above 0.25"),
        (
            ScoreGap(0.5),
            (0.0, 2.0),
            "the largest score gap of a similar pair is at most 2; the claim allows 0.5",
        ),
        (ScoreGap(4.0), (0.0, 4.0), "is at most 4 as far as the search tells, and the claim allows that"),
        (ScoreGap(4.0), (0.0, 4.0000000001), "is at most 4.00001; the claim allows 4"),
        (ScoreGap(0.5), (0.25, 2.0), "is between 0.25 and 2; the claim allows 0.5"),
        (
            ProbabilityGap(0.1),
            (0.05, math.inf),
            "the largest probability gap of a similar pair is at least 0.05",
        ),
    ],
)
def test_bounds_in_words(property, bounds, said):
    assert said in bounds_in_words(property, bounds)


@given(NAMES)
def test_paragraphs_fit(text):
    assert max(map(len, paragraph("claim", text)), default=0) <= WIDTH


def test_a_stand_in_for_a_library_is_named():
    space = lw.Space({"sex": lw.Categorical([0, 1])})
    model = LogisticRegression().fit([[0], [0], [1], [1]], [0, 0, 1, 1])
    result = lw.verify(model, space, lw.Similarity(free=["sex"]), certify=False)
    assert words_text(verdict_in_words(result)).endswith("replayed on predict")
    told = replace(result, stats={**result.stats, "replay": "the file's own trees"})
    assert words_text(verdict_in_words(told)).endswith("replayed on the file's own trees")


def test_scores_that_jump_have_no_constant_and_no_longer_search_is_suggested():
    found = lw.Disparity(of="lipschitz", lower=math.inf, upper=math.inf, reason="scores jump")
    answer = disparity_answer(found, telling=Audience(budget=10))
    text = terminal.render(answer)
    assert "no constant is large enough" in text
    assert "nothing is known" not in text
    assert "proved" not in text
    assert answer.steps == ()


def test_what_rounding_makes_of_no_gap_has_one_digit():
    found = lw.Disparity(of="score", lower=0.0, upper=0.0, program_lower=0.0, program_upper=1.55848e-14)
    assert "at most 2e-14 for any" in terminal.render(disparity_answer(found), 200)
