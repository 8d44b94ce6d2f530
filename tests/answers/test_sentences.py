"""Sentences that several answers have, for people."""

import pytest

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
