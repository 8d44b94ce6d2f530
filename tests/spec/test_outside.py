"""Rows outside of the space: left out or moved into it, and counted."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

import likewise as lw
from likewise.errors import DataError, SpecError

SPACE = lw.Space(
    {
        "age": lw.Integer(18, 70),
        "rate": lw.Continuous(0, 0.8),
        "job": lw.Categorical(["a", "b"]),
        "years": lw.Integer(0, 60),
    }
).where("years <= age - 14")
ROWS = pd.DataFrame(
    {
        "age": [30, 90, 17, 40, 20, 50, 60],
        "rate": [0.5, 0.2, 0.9, 0.1, 0.1, -0.5, np.nan],
        "job": ["a", "b", "a", "c", "a", "b", "a"],
        "years": [5, 5, 1, 5, 10, 5, 5],
        "label": [0, 1, 0, 1, 0, 1, 0],
    }
)


def is_inside(row):
    return (
        18 <= row["age"] <= 70 and 0 <= row["rate"] <= 0.8 and row["job"] in "ab" and row["years"] <= row["age"] - 14
    )  # fmt: skip


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_strangers_are_left_out(kind):
    found = SPACE.admit(kind(ROWS), "ignore")
    inside = [is_inside(row) for row in ROWS.to_dict("records")]
    assert isinstance(found.frame, type(kind(ROWS)))
    assert found.frame["label"].to_list() == ROWS["label"][inside].to_list()
    assert (found.rows, found.ignored, found.clipped) == (7, 7 - sum(inside), 0)
    assert len(SPACE.encode(found.frame, allow_extra=True)) == sum(inside)


def test_every_row_that_is_left_out_is_one_that_is_refused():
    kept = SPACE.admit(ROWS, "ignore").frame.index
    for number in ROWS.index:
        alone = ROWS.loc[[number]]
        if number in kept:
            SPACE.encode(alone, allow_extra=True)
        else:
            with pytest.raises(DataError):
                SPACE.encode(alone, allow_extra=True)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.from_pandas])
def test_numbers_are_moved_to_the_ends(kind):
    found = SPACE.admit(kind(ROWS), "clip")
    assert found.frame["age"].to_list() == [30, 70, 18, 50]
    assert found.frame["rate"].to_list() == [0.5, 0.2, 0.8, 0.0]
    assert (found.rows, found.ignored, found.clipped) == (7, 3, 3)
    assert len(SPACE.encode(found.frame, allow_extra=True)) == 4


def test_whole_numbers_in_a_continuous_range():
    space = lw.Space({"rate": lw.Continuous(0, 0.5)})
    found = space.admit(pd.DataFrame({"rate": [0, 1, -3]}), "clip")
    assert found.frame["rate"].to_list() == [0.0, 0.5, 0.0]


def test_fractions_and_numbers_too_long_are_left_out():
    assert lw.Space({"n": lw.Integer(0, 9)}).admit(pd.DataFrame({"n": [1.0, 2.5, 3.0]}), "clip").ignored == 1
    large = lw.Space({"n": lw.Continuous(0, 2.0**60)})
    assert large.admit(pd.DataFrame({"n": [1, 2**53 + 1, 4]}), "clip").ignored == 1


def test_where_nothing_is_outside_nothing_is_said():
    inside = ROWS.iloc[[0]]
    for outside in ("error", "ignore", "clip"):
        found = SPACE.admit(inside, outside)
        assert found.stats is None
        assert len(found.frame) == 1


def test_errors_stay_errors():
    with pytest.raises(DataError, match="90 is outside"):
        SPACE.admit(ROWS, "error")
    with pytest.raises(SpecError, match="'drop'"):
        SPACE.admit(ROWS, "drop")
    with pytest.raises(DataError, match="no column 'years'"):
        SPACE.admit(ROWS.drop(columns="years"))


def test_random_rows_against_one_by_one():
    random = np.random.default_rng(3)
    rows = pd.DataFrame(
        {
            "age": random.integers(10, 80, 300),
            "rate": random.uniform(-0.2, 1, 300),
            "job": random.choice(["a", "b", "c"], 300, p=[0.5, 0.4, 0.1]),
            "years": random.integers(0, 40, 300),
        }
    )
    inside = [is_inside(row) for row in rows.to_dict("records")]
    assert 30 < sum(inside) < 270
    assert SPACE.admit(rows).frame.index.tolist() == rows.index[inside].tolist()
