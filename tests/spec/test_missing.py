"""Missing values: their codes, frames that have them, who is similar to whom, files that say so."""

import math
import sys
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

import likewise as lw
from likewise.errors import DataError, SpecError
from likewise.spec.claim import WrittenClaim
from likewise.spec.file import read_spec, spec_text
from likewise.spec.pairs import pair_space

SPACE = lw.Space(
    {
        "age": lw.Integer(18, 20, missing=True),
        "income": lw.Continuous(0.5, 1.5, missing=True),
        "sex": lw.Categorical(["f", "m", None]),
        "grade": lw.Ordinal(["low", "mid", "high", None]),
        "zone": lw.Categorical([1, None, 2]),
    }
)
ROWS = {
    "age": [18, None, 20],
    "income": [None, 0.75, 1.5],
    "sex": ["m", None, "f"],
    "grade": [None, "low", "mid"],
    "zone": [2, 1, None],
}
ABOVE = math.nextafter(1.5, math.inf)
CODES = [[18, ABOVE, 1, 3, 1], [21, 0.75, 2, 0, 0], [20, 1.5, 0, 1, 2]]
both = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])


def test_codes_of_missing_values():
    assert [feature.missing_code for feature in SPACE.features.values()] == [21.0, ABOVE, 2.0, 3.0, 2.0]
    assert [feature.code_range for feature in SPACE.features.values()] == [
        (18, 21), (0.5, ABOVE), (0, 2), (0, 3), (0, 2),
    ]  # fmt: skip
    assert lw.Integer(18, 20).missing_code is None
    assert not lw.Ordinal(["a"]).missing


def test_they_are_counted():
    assert lw.Integer(18, 20, missing=True).size == 4
    one = lw.Space({"a": lw.Continuous(2, 2, missing=True), "b": lw.Categorical(["x", "y", None])})
    assert one.size == 6


def test_they_are_told():
    assert repr(lw.Integer(18, 20, missing=True)) == "Integer(18, 20, missing=True)"
    assert lw.Continuous(0, 1, missing=True).describe() == "continuous 0..1 or missing"
    assert SPACE["sex"].describe() == "3 levels: f, m, missing"
    assert SPACE["grade"].describe() == "3 ordered levels: low < mid < high, or missing"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: lw.Continuous(0, sys.float_info.max, missing=True), "no double is left above hi"),
        (lambda: lw.Integer(0, 2**53, missing=True), "no code is left above hi"),
        (lambda: lw.Integer(0, 5, missing="yes"), "missing must be true or false, got 'yes'"),
        (lambda: SPACE.where("age <= 19"), "feature 'age' may be missing, and then it has no number"),
        (lambda: SPACE.where("zone <= 1"), "feature 'zone' may be missing"),
    ],
)
def test_wrong_ones(make, said):
    with pytest.raises(SpecError) as caught:
        make()
    assert said in str(caught.value)


def test_numbers_that_may_be_missing_are_told_from_others():
    assert lw.Integer(0, 5, missing=True) != lw.Integer(0, 5)
    assert lw.Integer(0, 5, missing=True).contains(None)
    assert lw.Continuous(0, 5, missing=True).contains(math.nan)
    assert not lw.Continuous(0, 5).contains(math.nan)
    with pytest.raises(TypeError):
        lw.Integer(0, 5, True)


# -- frames -----------------------------------------------------------------------------------------------


@both
def test_frames_to_codes_and_back(make):
    frame = make(ROWS)
    codes = SPACE.encode(frame)
    assert codes.tolist() == CODES
    again = SPACE.decode(codes, like=frame)
    assert SPACE.encode(again).tolist() == CODES
    assert [SPACE.value(k, CODES[1][k]) for k in range(5)] == [None, 0.75, None, "low", 1]


@both
def test_columns_of_nothing_but_missing_values(make):
    codes = np.array([[SPACE[name].missing_code for name in SPACE.names]] * 2)
    frame = SPACE.decode(codes, like=make(ROWS))
    assert SPACE.encode(frame).tolist() == codes.tolist()


def test_pandas_own_markers():
    frame = pd.DataFrame({"a": pd.array([1, None], dtype="Int64"), "b": [pd.NA, "x"], "c": [True, None]})
    space = lw.Space.from_data(frame, constant="keep", missing="include")
    assert space["a"] == lw.Integer(1, 1, missing=True)
    assert space["c"] == lw.Categorical([False, True, None])
    assert space.encode(frame).tolist() == [[1, 1, 1], [2, 0, 2]]


def test_a_column_of_objects_keeps_its_marker():
    """An encoder tells None from NaN: what comes back is what the data have."""
    for marker in (None, np.nan):
        like = pd.DataFrame({"a": pd.Series(["x", marker], dtype=object)})
        back = lw.Space({"a": lw.Categorical(["x", None])}).decode([[1.0], [0.0]], like=like)
        assert back["a"].dtype == object
        assert (back["a"][0] is None) == (marker is None)


@both
@pytest.mark.parametrize(
    ("name", "feature", "way"),
    [
        ("age", lw.Integer(18, 20), "Integer(18, 20, missing=True)"),
        ("income", lw.Continuous(0.5, 1.5), "Continuous(0.5, 1.5, missing=True)"),
        ("sex", lw.Categorical(["f", "m"]), "the level None among those of Categorical([...])"),
    ],
)
def test_gaps_where_none_are_allowed(make, name, feature, way):
    row = ROWS[name].index(None)
    with pytest.raises(DataError) as caught:
        SPACE.replace({name: feature}).encode(make(ROWS))
    assert f"column {name!r}, row {row} (counted from 0): missing value\nhint: fill or drop it" in str(
        caught.value
    )
    assert way in str(caught.value)


@both
def test_spaces_from_data(make):
    frame = make(ROWS)
    with pytest.raises(DataError, match='missing="include"'):
        lw.Space.from_data(frame)
    included = lw.Space.from_data(frame, missing="include")
    assert included["age"] == lw.Integer(18, 20, missing=True)
    assert included["income"] == lw.Continuous(0.75, 1.5, missing=True)
    assert included["sex"] == SPACE["sex"]
    complete = lw.Space.from_data(frame, missing="exclude")
    assert not any(feature.missing for feature in complete.features.values())
    assert complete["income"] == lw.Continuous(0.75, 1.5)
    with pytest.raises(DataError, match="has no values"):
        lw.Space.from_data(make({"a": [1, 2], "b": [None, None]}), missing="include")


@both
def test_widening_lets_values_be_missing(make):
    narrow = lw.Space(
        {"age": lw.Integer(19, 19), "sex": lw.Categorical(["f"]), "grade": lw.Ordinal(["low", "mid", "high"])}
    )
    wide = narrow.widen(make({name: ROWS[name] for name in narrow.names}))
    assert wide["age"] == SPACE["age"]
    assert wide["sex"] == SPACE["sex"]
    assert wide["grade"] == SPACE["grade"]


# -- similarity -------------------------------------------------------------------------------------------


def similar(space, x, other, **how):
    pairs = pair_space(space, lw.Similarity(**how))
    return pairs.valid([Fraction(c) for c in x], [Fraction(c) for c in other])


@pytest.mark.parametrize("tolerance", [1, 2, 100])
def test_missing_numbers_are_within_reach_of_themselves_only(tolerance):
    space = lw.Space({"age": lw.Integer(18, 20, missing=True), "x": lw.Continuous(0, 1, missing=True)})
    gap = space["x"].missing_code
    within = {"within": {"age": tolerance, "x": tolerance}}
    assert similar(space, (21, gap), (21, gap), **within)
    assert similar(space, (20, 1.0), (19, 0.5), **within)
    assert not similar(space, (21, 0.0), (20, 0.0), **within)
    assert not similar(space, (20, gap), (20, 1.0), **within)
    assert similar(space, (21, gap), (18, 0.0), free=["age", "x"])


def test_steps_between_levels_do_not_lead_to_what_is_missing():
    space = lw.Space({"grade": lw.Ordinal([None, "low", "mid", "high"])})
    relation = lw.Similarity(within={"grade": 1}).resolve(space)[0]
    assert relation.allowed == ((0, 1), (1, 2))
    assert lw.Similarity(within={"grade": 1}).describe(space) == "differ only by at most 1 step in grade"
    assert not similar(space, (2,), (3,), within={"grade": 5})
    assert similar(space, (2,), (3,), pairs={"grade": [("high", None)]})


def test_one_number_or_missing_may_differ():
    space = lw.Space({"a": lw.Integer(3, 3, missing=True), "b": lw.Continuous(1, 1, missing=True)})
    assert [r.kind for r in lw.Similarity(free=["a", "b"]).resolve(space)] == ["free", "free"]
    assert [r.kind for r in lw.Similarity(free=["a"], within={"b": 9}).resolve(space)] == ["free", "same"]


# -- files ------------------------------------------------------------------------------------------------


def test_spec_files_say_it(tmp_path):
    claim = WrittenClaim(
        SPACE,
        lw.Similarity(free=["age"], pairs={"sex": [("f", None)]}, within={"grade": 1}),
        lw.SameDecision(),
    )
    text = spec_text(claim)
    assert text.count("missing = true") == 6
    path = tmp_path / "claim.toml"
    path.write_text(text)
    again = read_spec(path)
    assert again.space == SPACE
    assert again.similarity == claim.similarity


def test_wrong_words_in_spec_files(tmp_path):
    path = tmp_path / "claim.toml"
    path.write_text(
        '[features.a]\nkind = "integer"\nlo = 1\nhi = 2\nmissing = 1\n[similarity]\nfree = ["a"]\n'
    )
    with pytest.raises(SpecError, match=r"features\.a\.missing: expected true or false"):
        read_spec(path)
