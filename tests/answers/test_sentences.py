"""Sentences that several answers have, for people."""

import pytest

from likewise.answers.answer import words_text
from likewise.answers.audit import audit_answer
from likewise.answers.sentences import comparison_in_words


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        (
            "ValueError: DataFrame.dtypes for data must be int",
            "it says: DataFrame.dtypes for data must be int",
        ),
        ("CatBoostError: Invalid type: str", "it says: Invalid type: str"),
        ("the column 'age' is missing", "it says: the column 'age' is missing"),
    ],
)
def test_what_a_program_says_of_rows_is_quoted_without_the_name_of_an_error(reason, told):
    said = comparison_in_words({"rows_not_compared": reason})
    assert said is not None
    assert said.endswith(told)


def test_counts_of_groups_are_written_as_other_counts():
    counts = {"school": 1990, "rows": 2577, "biased": 1620, "undecided": 0, "share": 0.5, "largest_gap": 0.25}
    found = {
        "biased": 1620,
        "undecided": 0,
        "total": 2577,
        "share": 0.5,
        "proved": True,
        "rows": [],
        "reasons": [],
    }
    table = audit_answer(found, groups=("school", [counts])).tables[-1]
    assert table.columns[-1] == "largest gap of any row"  # which need not be one that breaks the claim
    assert [words_text(cell.words) for cell in table.rows[0]] == [
        "1990",
        "2,577",
        "1,620",
        "0",
        "50.00%",
        "0.25",
    ]
