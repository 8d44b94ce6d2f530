import math

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import DataError, SpecError
from likewise.spec import Categorical, Continuous, Integer, Ordinal, Space

both = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
COLUMNS = {
    "age": [30, 18, 75],
    "income": [0.5, 2.0, -1.0],
    "sex": ["m", "f", "m"],
    "member": [True, True, False],
}


@both
def test_kinds_from_dtypes_bounds_and_levels_from_values(make):
    assert Space.from_data(make(COLUMNS)) == Space(
        {
            "age": Integer(18, 75),
            "income": Continuous(-1, 2),
            "sex": Categorical(["f", "m"]),
            "member": Categorical([False, True]),
        }
    )
    assert Space.from_data(make(COLUMNS), exclude=["sex", "age"]).names == ("income", "member")
    assert Space.from_data(make(COLUMNS), exclude="sex").names == ("age", "income", "member")


@pytest.mark.parametrize(
    ("column", "feature"),
    [
        (pd.Categorical(["b", "a", "b"]), Categorical(["a", "b"])),
        (pd.Categorical(["b", "a", "b"], ["a", "z", "b"]), Categorical(["a", "b"])),
        (pd.Categorical(["b", "a", "b"], ["b", "z", "a"], ordered=True), Ordinal(["b", "z", "a"])),
        (pd.Categorical([3, 1, 3], [3, 2, 1], ordered=True), Ordinal([3, 2, 1])),
        (pd.Categorical([3, 1, 3]), Categorical([1, 3])),
        (np.array(["b", "a", "b"], dtype=object), Categorical(["a", "b"])),
        (np.array([3, 1, 3], dtype=object), Categorical([1, 3])),
        (np.array([True, False, True], dtype=object), Categorical([False, True])),
        (pd.array([3, 1, 3], dtype="Int64"), Integer(1, 3)),
        (pd.array([3, 1, 3], dtype="Float64"), Continuous(1, 3)),
        (pd.array([True, False, True], dtype="boolean"), Categorical([False, True])),
        (np.array([3, 1, 3], dtype=np.uint8), Integer(1, 3)),
        (np.array([0.1, 1, 3], dtype=np.float32), Continuous(np.float32(0.1), 3)),
        (pl.Series(["b", "a", "b"], dtype=pl.Categorical), Categorical(["a", "b"])),
        (pl.Series(["b", "a", "b"], dtype=pl.Enum(["b", "z", "a"])), Ordinal(["b", "z", "a"])),
        (pl.Series([3, 1, 3], dtype=pl.UInt64), Integer(1, 3)),
        (pl.Series([0.1, 1, 3], dtype=pl.Float32), Continuous(np.float32(0.1), 3)),
    ],
)
def test_every_dtype_has_its_kind(column, feature):
    make = pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    space = Space.from_data(make({"x": column}))
    assert space["x"] == feature
    space.check_frame(make({"x": column}))


columns = st.one_of(
    st.lists(st.integers(-(2**53), 2**53), min_size=2, max_size=2, unique=True),
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2, unique=True),
    st.lists(st.text(st.characters(codec="utf-8")), min_size=2, max_size=2, unique=True),
    st.just([True, False]),
)


@both
@given(drawn=st.lists(columns, min_size=1, max_size=4))
@settings(deadline=None)
def test_every_frame_fits_the_space_it_shows_and_comes_back_the_same(make, drawn):
    frame = make({f"c{j}": column for j, column in enumerate(drawn)})
    space = Space.from_data(frame)
    assert space.decode(space.encode(frame), like=frame).equals(frame)


@both
def test_constant_columns_are_refused_or_kept(make):
    frame = make({"age": [5, 5], "income": [1.5, 1.5], "sex": ["f", "f"], "member": [True, True]})
    with pytest.raises(DataError) as caught:
        Space.from_data(frame)
    assert str(caught.value) == (
        "column 'age' is constant: every row has 5\n"
        "hint: constant=\"keep\" keeps it with this one value, exclude=['age'] leaves it out"
    )
    assert dict(Space.from_data(frame, constant="keep").features) == {
        "age": Integer(5, 5),
        "income": Continuous(1.5, 1.5),
        "sex": Categorical(["f"]),
        "member": Categorical([False, True]),
    }


def test_an_ordered_column_with_one_value_is_constant_too():
    frame = pd.DataFrame({"x": pd.Categorical(["a", "a"], ["a", "b"], ordered=True)})
    with pytest.raises(DataError, match="column 'x' is constant"):
        Space.from_data(frame)
    assert Space.from_data(frame, constant="keep")["x"] == Ordinal(["a", "b"])


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        ([[1, 2]], "expected a pandas or polars frame, got list\nhint: name the columns"),
        (pd.DataFrame(), "the frame has no columns"),
        (pd.DataFrame({"a": []}), "the frame has no rows\nhint: bounds and levels are read off the rows"),
        (pl.DataFrame({"a": []}), "the frame has no rows"),
        (pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]), "column name 'a' appears twice"),
        (pd.DataFrame({"a": [1.0, math.nan]}), "column 'a', row 1 (counted from 0): missing value"),
        (pl.DataFrame({"a": [1.0, math.nan]}), "column 'a', row 1 (counted from 0): missing value"),
        (pl.DataFrame({"a": [1, None]}), "column 'a', row 1 (counted from 0): missing value"),
        (pd.DataFrame({"a": ["x", None]}), "column 'a', row 1 (counted from 0): missing value"),
        (pd.DataFrame({"a": [1.0, -math.inf]}), "column 'a', row 1 (counted from 0): -inf is not finite"),
        (pd.DataFrame({"a": ["x", "y", 3]}), "column 'a' mixes text (row 0: 'x') and numbers (row 2: 3)"),
        (
            pd.DataFrame({"a": np.array([1, True, 2], dtype=object)}),
            "mixes numbers (row 0: 1) and booleans (row 1: True)",
        ),
        (pd.DataFrame({"a": [1, 2**60]}), "column 'a': hi = 1152921504606846976 is beyond 2**53"),
        (pd.DataFrame({"a": pd.to_datetime(["2020", "2021"])}), "column 'a' has dtype datetime64"),
        (pd.DataFrame({"a": [1j, 2]}), "column 'a' has dtype complex128"),
    ],
)
def test_frames_that_show_no_space(frame, said):
    with pytest.raises(DataError) as caught:
        Space.from_data(frame)
    assert said in str(caught.value)


def test_wrong_arguments():
    frame = pd.DataFrame(COLUMNS)
    with pytest.raises(DataError, match=r"exclude: the frame has no column 'sxe' \(did you mean 'sex'\?\)"):
        Space.from_data(frame, exclude=["sxe"])
    with pytest.raises(DataError, match="no columns are left after exclude"):
        Space.from_data(frame, exclude=list(COLUMNS))
    with pytest.raises(SpecError, match='constant must be "error" or "keep", got \'drop\''):
        Space.from_data(frame, constant="drop")


SPACE = Space(
    {
        "age": Integer(20, 30),
        "income": Continuous(0, 1),
        "sex": Categorical(["m"]),
        "step": Ordinal([1, 5]),
        "grade": Ordinal(["low", "high"]),
    },
    constraints=["age >= 20"],
)
WIDE = {"age": [18, 31], "income": [-0.5, 0.5], "sex": ["x", "f"], "step": [3, 9], "grade": ["low", "high"]}


@both
def test_widen_covers_the_frame_and_no_more(make):
    frame = make({**WIDE, "label": [0, 1]})
    wide = SPACE.widen(frame)
    assert dict(wide.features) == {
        "age": Integer(18, 31),
        "income": Continuous(-0.5, 1),
        "sex": Categorical(["m", "f", "x"]),
        "step": Ordinal([1, 3, 5, 9]),
        "grade": Ordinal(["low", "high"]),
    }
    assert wide.constraints == SPACE.constraints
    assert wide.widen(frame) == wide
    Space(wide.features).check_frame(frame, allow_extra=True)
    assert SPACE.widen(make(WIDE)[:0]) == SPACE


@both
@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        (
            "grade",
            ["low", "middle"],
            "column 'grade': 'middle' is not among the 2 ordered levels: low < high, and its place is unknown",
        ),
        ("sex", [1, 2], "column 'sex': 1 cannot join the levels of 1 level: m"),
        ("age", [18.0, 20.5], "column 'age', row 1 (counted from 0): 20.5 is not a whole number"),
        ("age", [18, 2**60], "column 'age': hi = 1152921504606846976 is beyond 2**53"),
        ("age", ["a", "b"], "column 'age', row 0 (counted from 0): text 'a' in a numeric feature"),
    ],
)
def test_what_widening_cannot_do(make, column, values, said):
    with pytest.raises(DataError) as caught:
        SPACE.widen(make({**WIDE, column: values}))
    assert said in str(caught.value)


def test_widen_needs_every_column():
    with pytest.raises(DataError, match=r"the frame has no column 'age' \(did you mean 'Age'\?\)"):
        SPACE.widen(pd.DataFrame({"Age": [1]}))
