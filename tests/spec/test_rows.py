"""Frames to codes and back, on pandas and polars; bad rows are named; constraints are decided exactly."""

import itertools
import math
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tiers import examples

from likewise.errors import DataError
from likewise.spec import Categorical, Constraint, Continuous, Integer, Ordinal, Space

BACKENDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
both = pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])

text = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6)
doubles = st.floats(allow_nan=False, allow_infinity=False)
level_lists = st.one_of(
    st.lists(text, min_size=1, max_size=5, unique=True),
    st.lists(st.integers(-(2**63) + 1, 2**63 - 1), min_size=1, max_size=5, unique=True),
    st.lists(doubles, min_size=1, max_size=5, unique=True),
    st.permutations([False, True]),
)


def fits(levels):
    return not any(isinstance(level, int) and abs(level) > 2**53 for level in levels)


maybe_missing = st.tuples(level_lists, st.booleans()).map(
    lambda drawn: [*drawn[0], *([None] if drawn[1] and fits(drawn[0]) else [])]
)
below_the_largest = st.floats(-1e308, 1e308)
features = st.one_of(
    st.tuples(below_the_largest, below_the_largest, st.booleans()).map(
        lambda ends: Continuous(min(ends[:2]), max(ends[:2]), missing=ends[2])
    ),
    st.tuples(doubles, doubles).map(lambda ends: Continuous(min(ends), max(ends))),
    st.tuples(st.integers(-(2**53), 2**53 - 1), st.integers(-(2**53), 2**53 - 1), st.booleans()).map(
        lambda e: Integer(min(e[:2]), max(e[:2]), missing=e[2])
    ),
    maybe_missing.map(Categorical),
    maybe_missing.map(Ordinal),
)
names = text.filter(lambda name: name.strip())
spaces = st.dictionaries(names, features, min_size=1, max_size=4).map(Space)


def code_of(feature):
    if isinstance(feature, Continuous):
        numbers = st.floats(feature.lo, feature.hi)
        return st.one_of(numbers, st.just(feature.missing_code)) if feature.missing else numbers
    return st.integers(*feature.code_range).map(float)


@st.composite
def coded(draw):
    space = draw(spaces)
    rows = draw(st.lists(st.tuples(*(code_of(feature) for feature in space.features.values())), max_size=5))
    return space, np.array(rows, dtype=float).reshape(len(rows), len(space))


@pytest.mark.parametrize("backend", sorted(BACKENDS))
@given(case=coded())
@examples(60, deadline=None)
def test_codes_survive_the_trip_through_a_frame(backend, case):
    space, codes = case
    frame = space.decode(codes, like=BACKENDS[backend]({"any": [1]}))
    assert type(frame) is type(BACKENDS[backend]({"any": [1]}))
    table = nw.from_native(frame)
    assert tuple(table.columns) == space.names
    assert len(table) == len(codes)
    np.testing.assert_array_equal(space.encode(frame), codes)
    for j, name in enumerate(space.names):
        found = [None if value != value else value for value in table[name].to_list()]  # NaN in pandas
        assert found == [space.value(j, code) for code in codes[:, j]]


SPACE = Space(
    {
        "age": Integer(18, 75),
        "sex": Categorical(["f", "m"]),
        "income": Continuous(0, 1e5),
        "grade": Ordinal(["low", "high"]),
        "zone": Categorical([1, 2, 7]),
        "member": Categorical([False, True]),
    }
)
GOOD = {
    "age": [18, 75, 30],
    "sex": ["f", "m", "m"],
    "income": [0.0, 1e5, 0.1],
    "grade": ["low", "high", "low"],
    "zone": [7, 1, 2],
    "member": [True, False, True],
}
CODES = [[18, 0, 0, 0, 2, 1], [75, 1, 1e5, 1, 0, 0], [30, 1, 0.1, 0, 1, 1]]


@both
def test_encode_by_name_in_any_order(make):
    frame = make(GOOD)
    np.testing.assert_array_equal(SPACE.encode(frame), CODES)
    np.testing.assert_array_equal(SPACE.encode(frame[list(reversed(SPACE.names))]), CODES)
    assert SPACE.encode(frame).dtype == np.float64
    assert SPACE.check_frame(frame) is None


@both
def test_round_trip_of_a_frame(make):
    frame = make(GOOD)
    again = SPACE.decode(SPACE.encode(frame), like=frame)
    assert again.equals(frame)


@both
def test_decoded_dtypes_are_natural_also_without_rows(make):
    for codes in (CODES, np.empty((0, 6))):
        schema = nw.from_native(SPACE.decode(codes, like=make(GOOD))).schema
        assert list(schema.values()) == [nw.Int64, nw.String, nw.Float64, nw.String, nw.Int64, nw.Boolean]


def test_decode_without_a_frame_to_follow_gives_pandas():
    assert isinstance(SPACE.decode(CODES), pd.DataFrame)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({**GOOD, "sex": pd.Categorical(GOOD["sex"]), "zone": pd.Categorical(GOOD["zone"])}),
        pd.DataFrame({**GOOD, "grade": pd.Categorical(GOOD["grade"], ["low", "high"], ordered=True)}),
        pd.DataFrame(GOOD).astype(object),
        pd.DataFrame(GOOD).convert_dtypes(),
        pd.DataFrame(GOOD).astype({"age": "float32", "zone": "uint8", "member": "int64"}),
        pd.DataFrame(GOOD, index=[7, 7, 9]),
        pl.DataFrame({**GOOD, "sex": pl.Series(GOOD["sex"], dtype=pl.Categorical)}),
        pl.DataFrame({**GOOD, "grade": pl.Series(GOOD["grade"], dtype=pl.Enum(["high", "mid", "low"]))}),
        pl.DataFrame({**GOOD, "age": pl.Series(GOOD["age"], dtype=pl.Int128)}),
        pl.DataFrame({**GOOD, "age": pl.Series(GOOD["age"], dtype=pl.UInt8)}),
        pa.table(GOOD),
    ],
)
def test_every_way_to_store_the_same_values_gives_the_same_codes(frame):
    np.testing.assert_array_equal(SPACE.encode(frame), CODES)


@both
@pytest.mark.parametrize(
    ("column", "values", "said"),
    [
        (
            "age",
            [18, 75, 17],
            "column 'age', row 2 (counted from 0): 17 is outside 18..75\nhint: space.widen(frame), or space.replace({'age': Integer(17, 75)})",
        ),
        ("age", [18, 76, 17], "column 'age', row 1 (counted from 0): 76 is outside 18..75"),
        ("age", [18.0, 20.5, 30.0], "column 'age', row 1 (counted from 0): 20.5 is not a whole number"),
        ("age", ["18", "20", "30"], "column 'age', row 0 (counted from 0): text '18' in a numeric feature"),
        ("age", [18.0, math.nan, 30.0], "column 'age', row 1 (counted from 0): missing value"),
        ("age", [18, None, 30], "column 'age', row 1 (counted from 0): missing value"),
        ("income", [0.0, math.inf, 1.0], "column 'income', row 1 (counted from 0): inf is not finite"),
        (
            "income",
            [0.0, 1.0, 100000.5],
            "row 2 (counted from 0): 100000.5 is outside 0..100000\nhint: space.widen(frame), or space.replace({'income': Continuous(0, 100000.5)})",
        ),
        (
            "sex",
            ["f", "x", "m"],
            "column 'sex', row 1 (counted from 0): unknown level 'x'\nhint: the levels are f, m; or space.widen(frame)",
        ),
        ("sex", ["f", None, "m"], "column 'sex', row 1 (counted from 0): missing value\nhint: fill or drop"),
        ("grade", ["low", "hihg", "low"], "unknown level 'hihg' (did you mean 'high'?)"),
        (
            "zone",
            ["7", "1", "2"],
            "row 0 (counted from 0): unknown level '7'\nhint: the space has 7 as a number, the data have '7'",
        ),
        ("zone", [7, 1, 3], "row 2 (counted from 0): unknown level 3"),
        ("member", ["True", "False", "True"], "unknown level 'True'"),
    ],
)
def test_bad_cells_are_named(make, column, values, said):
    with pytest.raises(DataError) as caught:
        SPACE.check_frame(make({**GOOD, column: values}))
    assert said in str(caught.value)


@both
def test_missing_and_extra_columns(make):
    frame = make(GOOD)
    with pytest.raises(DataError, match=r"no column 'age' \(did you mean 'Age'\?\)"):
        SPACE.encode(make({"Age" if name == "age" else name: values for name, values in GOOD.items()}))
    with pytest.raises(
        DataError, match=r"the frame has no column 'age' \(and 1 more\)\nhint: its columns are"
    ):
        SPACE.encode(frame[["sex", "income", "grade", "zone"]])
    extra = make({**GOOD, "label": [0, 1, 0], "id": [0, 1, 2]})
    with pytest.raises(DataError, match=r"column 'label' \(and 1 more\) is no feature of the space"):
        SPACE.check_frame(extra)
    SPACE.check_frame(extra, allow_extra=True)
    np.testing.assert_array_equal(SPACE.encode(extra, allow_extra=True), CODES)


@pytest.mark.parametrize(
    ("frame", "said"),
    [
        (np.zeros((2, 6)), "expected a pandas or polars frame, got ndarray\nhint: name the columns"),
        (GOOD, "got dict\nhint: name the columns"),
        (None, "got NoneType"),
        (pd.Series([1]), "got Series\nhint: call .to_frame()"),
        (pl.LazyFrame(GOOD), "got LazyFrame\nhint: call .collect()"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "column name 'a' appears twice"),
        (pa.table([pa.array([1]), pa.array([2])], names=["a", "a"]), "column name appears twice"),
        (pd.DataFrame([[1, 2]]), "column name 0 is not text\nhint: name the columns"),
        (
            pd.DataFrame({**GOOD, "sex": pd.to_datetime(["2020", "2021", "2022"])}),
            "column 'sex' has dtype datetime64",
        ),
        (
            pl.DataFrame({**GOOD, "sex": [[1], [2], [3]]}),
            "column 'sex' has dtype List(Int64), which is no kind of feature",
        ),
        (
            pd.DataFrame({**GOOD, "sex": ["f", (1,), "m"]}),
            "column 'sex', row 1 (counted from 0): (1,) is neither text",
        ),
        (
            pd.DataFrame({**GOOD, "age": [18, "x", 30]}),
            "column 'age', row 1 (counted from 0): text 'x' in a numeric",
        ),
        (pd.DataFrame({**GOOD, "age": np.array([18, 2**70, 30], dtype=object)}), "is outside 18..75"),
        (
            pd.DataFrame({**GOOD, "sex": np.array(["f", pd.NA, "m"], dtype=object)}),
            "row 1 (counted from 0): missing value",
        ),
        (
            pl.DataFrame({**GOOD, "sex": [None, None, None]}),
            "column 'sex', row 0 (counted from 0): missing value",
        ),
    ],
)
def test_bad_frames(frame, said):
    with pytest.raises(DataError) as caught:
        SPACE.encode(frame)
    assert said in str(caught.value)


def test_whole_numbers_no_double_tells_apart_are_refused():
    space = Space({"x": Continuous(0, 2.0**60)})
    assert space.encode(pd.DataFrame({"x": [2**53, 2**54, 2**60]})).tolist() == [
        [2.0**53],
        [2.0**54],
        [2.0**60],
    ]
    with pytest.raises(
        DataError, match=r"row 1 \(counted from 0\): 9007199254740993 has more digits than a double"
    ):
        space.encode(pd.DataFrame({"x": [2**53, 2**53 + 1, 3]}))


def test_booleans_count_as_numbers():
    space = Space({"x": Integer(0, 1)})
    assert space.encode(pd.DataFrame({"x": [True, False]})).tolist() == [[1.0], [0.0]]


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        (np.zeros(6), "codes must have shape (rows, 6), got (6,)"),
        (np.zeros((1, 5)), "codes must have shape (rows, 6), got (1, 5)"),
        ([[18.5, 0, 0, 0, 0, 0]], "column 'age', row 0 (counted from 0): 18.5 is no code of integer 18..75"),
        ([[18, 2, 0, 0, 0, 0]], "column 'sex', row 0 (counted from 0): 2.0 is no code of 2 levels: f, m"),
        ([[18, -1, 0, 0, 0, 0]], "-1.0 is no code"),
        ([[18, math.nan, 0, 0, 0, 0]], "nan is no code"),
        ([[18, 0.5, 0, 0, 0, 0]], "0.5 is no code"),
    ],
)
def test_bad_codes(codes, said):
    with pytest.raises(DataError) as caught:
        SPACE.decode(codes)
    assert said in str(caught.value)


def test_a_broken_constraint_names_row_rule_and_values():
    space = SPACE.where("1000 * age + zone >= income")
    with pytest.raises(DataError) as caught:
        space.check_frame(pd.DataFrame(GOOD))
    assert str(caught.value) == (
        "row 1 (counted from 0) breaks the constraint '1000 * age + zone >= income': age = 75, income = 100000, zone = 1\n"
        "hint: space.admit(frame) leaves such rows out; or leave the constraint out of the space"
    )


def test_constraints_agree_with_brute_force():
    space = Space({"a": Integer(0, 5), "b": Ordinal([1, 4, 2.5]), "c": Categorical([False, True])})
    ruled = space.where("2 * a - b <= 3 - 3 * c", "a + b >= 2", "a + c <= 5")
    for a, b, c in itertools.product(range(6), [1, 4, 2.5], [False, True]):
        frame = pl.DataFrame({"a": [a], "b": [float(b)], "c": [c]})
        if 2 * a - b <= 3 - 3 * c and a + b >= 2 and a + c <= 5:
            ruled.check_frame(frame)
        else:
            with pytest.raises(DataError, match="breaks the constraint"):
                ruled.check_frame(frame)


@given(
    st.lists(st.tuples(doubles, doubles), min_size=1, max_size=4),
    st.tuples(*[st.fractions()] * 3),
    st.sampled_from([Fraction(1), Fraction(1, 10**350), Fraction(10**350), Fraction(1, 3)]),
)
@settings(deadline=None)
def test_constraints_are_decided_in_rationals_at_any_scale(rows, numbers, scale):
    a, b, bound = (number * scale for number in numbers)
    if a == 0 and b == 0:
        return
    big = Continuous(-1.7976931348623157e308, 1.7976931348623157e308)
    space = Space({"x": big, "y": big}).where(Constraint("rule", (("x", a), ("y", b)), bound))
    broken = [row for row, (x, y) in enumerate(rows) if a * Fraction(x) + b * Fraction(y) > bound]
    frame = pd.DataFrame(rows, columns=["x", "y"])
    if broken:
        with pytest.raises(DataError, match=rf"^row {broken[0]} "):
            space.check_frame(frame)
    else:
        space.check_frame(frame)


def test_a_hair_beyond_a_constraint_is_beyond():
    # The double 0.1 is a little more than one tenth, 0.3 a little less than three tenths.
    space = Space({"x": Continuous(0, 1)})
    space.where("x <= 0.3").check_frame(pd.DataFrame({"x": [0.3]}))
    with pytest.raises(DataError, match=r"^row 0 .* breaks the constraint 'x <= 0\.1'"):
        space.where("x <= 0.1").check_frame(pd.DataFrame({"x": [0.1]}))


def test_a_coefficient_too_small_for_a_double_still_counts():
    tiny = Fraction(5e-324) * Fraction(2, 5)  # as a double it is 0
    space = Space({"x": Continuous(0, 1.7e308), "y": Continuous(-1, 1)})
    ruled = space.where(Constraint("tiny", (("x", tiny), ("y", Fraction(1))), 0))
    ruled.check_frame(pd.DataFrame({"x": [1.7e308], "y": [-1e-15]}))
    with pytest.raises(DataError, match=r"^row 0 .* breaks the constraint 'tiny'"):
        ruled.check_frame(pd.DataFrame({"x": [1.7e308], "y": [-1e-16]}))
