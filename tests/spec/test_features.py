import copy
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.errors import DataError, SpecError
from likewise.spec.features import Categorical, Continuous, Integer, Ordinal

doubles = st.floats(allow_nan=False, allow_infinity=False)
wholes = st.integers(-(2**53), 2**53)


@given(doubles, doubles, doubles)
def test_continuous_contains_exactly_the_doubles_between(a, b, value):
    feature = Continuous(min(a, b), max(a, b))
    assert feature.contains(value) == (min(a, b) <= value <= max(a, b))
    assert feature.contains(feature.lo)
    assert feature.contains(feature.hi)
    assert feature.size is None


@given(wholes, wholes, st.one_of(wholes, doubles))
def test_integer_contains_exactly_the_whole_numbers_between(a, b, value):
    feature = Integer(min(a, b), max(a, b))
    assert feature.contains(value) == (min(a, b) <= value <= max(a, b) and value == math.floor(value))


def test_integer_size_counts_values():
    feature = Integer(-2, 3)
    assert feature.size == 6 == sum(feature.contains(value) for value in range(-10, 10))


@pytest.mark.some_days
@pytest.mark.parametrize("kind", [Categorical, Ordinal])
@given(levels=st.lists(st.text(st.characters(codec="utf-8")), min_size=1, unique=True))
def test_positions_and_levels_are_inverse(kind, levels):
    feature = kind(levels)
    assert feature.levels == tuple(levels)
    assert [feature.position(level) for level in levels] == list(range(feature.size))
    assert all(feature.contains(level) for level in levels)


@pytest.mark.parametrize("value", [None, math.nan, math.inf, "18", [18], object(), np.array([1, 2])])
def test_odd_values_are_contained_nowhere(value):
    for feature in (Continuous(0, 99), Integer(0, 99), Categorical([18, 19]), Ordinal([18, 19])):
        assert not feature.contains(value)


@pytest.mark.parametrize(
    ("made", "plain"),
    [
        (Continuous(np.float32(0.5), np.int64(3)), Continuous(0.5, 3.0)),
        (Integer(np.int8(1), np.float64(3.0)), Integer(1, 3)),
        (Integer(np.array(1), np.uint64(3)), Integer(1, 3)),
        (Categorical(np.array(["a", "b"])), Categorical(["a", "b"])),
        (Categorical(np.array([True, False])), Categorical([True, False])),
        (Ordinal(np.array([1.5, 2.0])), Ordinal([1.5, 2.0])),
        (Ordinal(level for level in "ab"), Ordinal(["a", "b"])),
    ],
)
def test_numpy_values_become_plain_python(made, plain):
    assert made == plain
    assert hash(made) == hash(plain)
    assert repr(made) == repr(plain)
    assert "np." not in repr(made)


def test_numpy_values_are_looked_up_as_python_values():
    assert Categorical([1, 2]).position(np.int64(2)) == 1
    assert Categorical(["a", "b"]).position(np.str_("b")) == 1
    assert Categorical([False, True]).position(np.True_) == 1
    assert Integer(0, 5).contains(np.float64(5.0))


@pytest.mark.parametrize(
    "feature", [Continuous(0, 1e5), Integer(18, 75), Categorical(["f", "m"]), Ordinal([1, 2.5])]
)
def test_features_are_values(feature):
    for twin in (pickle.loads(pickle.dumps(feature)), copy.deepcopy(feature)):
        assert twin == feature
        assert hash(twin) == hash(feature)
    with pytest.raises(AttributeError):
        setattr(feature, "lo" if hasattr(feature, "lo") else "levels", 3)


def test_minus_zero_is_zero():
    assert repr(Continuous(-0.0, -0.0)) == "Continuous(0, 0)"
    assert math.copysign(1, Continuous(-0.0, 0).lo) == 1


def test_categorical_and_ordinal_with_equal_levels_differ():
    assert Categorical(["a", "b"]) != Ordinal(["a", "b"])
    assert Ordinal(["a", "b"]) != Ordinal(["b", "a"])
    assert Continuous(0, 1) != Integer(0, 1)


@pytest.mark.parametrize(
    ("feature", "kind", "words"),
    [
        (Continuous(0, 1e5), "continuous", "continuous 0..100000"),
        (Continuous(-0.5, 1e300), "continuous", "continuous -0.5..1e+300"),
        (Integer(18, 75), "integer", "integer 18..75"),
        (Categorical(["a", "b", "c", "d"]), "categorical", "4 levels: a, b, c, d"),
        (Categorical(["a"]), "categorical", "1 level: a"),
        (Categorical(["", "a\nb", 'x"'.strip()]), "categorical", "3 levels: '', 'a\\nb', x\""),
        (Categorical(range(9)), "categorical", "9 levels: 0, 1, 2, 3, 4, 5, ... (3 more)"),
        (Ordinal(["low", "high"]), "ordinal", "2 ordered levels: low < high"),
    ],
)
def test_describe(feature, kind, words):
    assert feature.kind == kind
    assert feature.describe() == words


def test_numeric_levels():
    assert Categorical([False, True]).numeric
    assert Ordinal([1, 2.5]).numeric
    assert not Categorical(["1", "2"]).numeric


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Continuous(2, 1), "lo = 2 is above hi = 1\nhint: swap them: (1, 2)"),
        (lambda: Integer(2, 1), "lo = 2 is above hi = 1"),
        (lambda: Continuous(math.nan, 1), "lo must be finite, got nan"),
        (lambda: Continuous(0, math.inf), "hi must be finite, got inf"),
        (lambda: Continuous(0, 10**400), "hi must be finite"),
        (lambda: Continuous(0, 2**53 + 1), "is not a double-precision number"),
        (lambda: Continuous("0", 1), "lo must be a number, got '0'"),
        (lambda: Continuous(True, 2), "lo must be a number, got True"),
        (lambda: Continuous(Fraction(1, 3), 2), "lo must be a number"),
        (lambda: Continuous(None, 2), "lo must be a number, got None"),
        (lambda: Integer(0.5, 2), "lo must be a whole number, got 0.5\nhint: or make it Continuous"),
        (lambda: Integer(0, math.inf), "hi must be finite"),
        (lambda: Integer(0, math.nan), "hi must be finite"),
        (lambda: Integer("0", 2), "lo must be a whole number, got '0'"),
        (lambda: Integer(0, 2**53 + 1), "beyond 2**53"),
        (lambda: Categorical([]), "no levels\nhint: give at least one"),
        (lambda: Categorical("ab"), "levels must be a list, got 'ab'"),
        (lambda: Categorical(3), "levels must be a list, got 3"),
        (lambda: Ordinal(["a", "b", "a"]), "level 'a' is given twice"),
        (lambda: Ordinal([1, True]), "level True is given twice (equal to 1)"),
        (lambda: Categorical([0.0, -0.0]), "is given twice"),
        (lambda: Categorical([None]), "no level beside None"),
        (lambda: Categorical([["a"]]), "level ['a'] is neither text, number nor boolean"),
        (lambda: Categorical([1.0, math.nan]), "level nan is not finite\nhint: name missing values"),
        (lambda: Categorical([math.inf]), "level inf is not finite"),
        (
            lambda: Categorical(["a", 1]),
            "levels mix text ('a') and numbers (1)\nhint: write all of them as text",
        ),
        (lambda: Categorical([2**63]), "does not fit in 64 bits"),
        (lambda: Categorical([0.5, 2**53 + 1]), "beside fractions is beyond 2**53"),
        (lambda: Categorical(["\ud800"]), "cannot be written as UTF-8"),
    ],
)
def test_wrong_features_say_what_is_wrong(make, said):
    with pytest.raises(SpecError) as caught:
        make()
    assert said in str(caught.value)


def test_unknown_level_suggests_and_lists():
    with pytest.raises(DataError) as caught:
        Categorical(["male", "female"]).position("mael")
    assert (
        str(caught.value) == "unknown level 'mael' (did you mean 'male'?)\nhint: the levels are male, female"
    )
    with pytest.raises(DataError, match="the space has '1' as text, the data have 1"):
        Categorical(["1", "2"]).position(1)
    with pytest.raises(DataError, match="the space has 1 as a number, the data have '1'"):
        Categorical([1, 2]).position("1")
