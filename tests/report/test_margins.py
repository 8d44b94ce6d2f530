"""The section on margins: limits on the right scale only, nothing claimed that the ends do not say."""

import pytest

import likewise as lw
from likewise.answers.answer import words_text
from likewise.answers.margins import claim_limit, margins_answer
from likewise.report.pictures import bracket_chart

POINTS = [[0.0, -0.5, -0.4, True], [1.0, -0.1, 0.3, False], [4.0, 0.2, None, False]]


@pytest.mark.parametrize(
    ("property", "of", "limit"),
    [
        (lw.SameDecision(), "margin", 0.0),
        (lw.SameDecision(0.5), "margin", 0.5),
        (lw.SameDecision(), "score", None),
        (lw.ScoreGap(2), "score", 2.0),
        (lw.ProbabilityGap(0.1), "score", None),
    ],
)
def test_the_limit_is_that_of_the_claim(property, of, limit):
    assert claim_limit(property, of) == limit


@pytest.mark.parametrize(
    ("property", "verdict", "said"),
    [
        (lw.SameDecision(), "UNKNOWN", ["kept", "open", "broken"]),
        (lw.SameDecision(), "BIASED", ["kept", "broken", "broken"]),
        (lw.SameDecision(0.4), "UNKNOWN", ["kept", "kept, by floating point", "open"]),
        (lw.SameDecision(0.4), "FAIR", ["kept", "kept", "open"]),
        (lw.ScoreGap(1), "FAIR", ["proved", "floating point", "floating point"]),  # nothing of the claim
    ],
)
def test_what_the_ends_and_the_verdict_say(property, verdict, said):
    answer = margins_answer({"of": "margin", "points": POINTS, "reason": None}, property, verdict)
    (table,) = answer.tables
    assert [words_text(row[-1].words) for row in table.rows] == said
    assert words_text(table.rows[2][2].words) == "?"
    drawn = answer.pictures[0].drawn
    assert len(bracket_chart([point[:3] for point in drawn["points"]], drawn["limit"])["brackets"]) == 2


def test_larger_is_further_up_and_nothing_finite_is_no_drawing():
    drawn = bracket_chart([point[:3] for point in POINTS], 0.0)
    first, second = drawn["brackets"]
    assert first["x"] < second["x"]
    assert second["high"] < drawn["limit"] < first["high"] < first["low"]
    assert bracket_chart([[0.0, None, None]], 0.0) is None


def test_it_is_in_the_page(page):
    text = page.read_text(encoding="utf-8")
    assert 'id="margins"' in text
    assert "the budget &lt;b&gt; is used up" in text
    assert "<td>kept</td>" in text
    assert "<td>broken</td>" in text
