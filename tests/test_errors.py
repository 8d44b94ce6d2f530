import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise import errors
from likewise.errors import LikewiseError, suggest_name

KINDS = [
    errors.SpecError,
    errors.DataError,
    errors.UnsupportedModel,
    errors.BudgetError,
    errors.CertificateError,
    errors.InternalError,
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_is_a_likewise_error_with_message_and_hint(kind):
    plain, hinted = kind("it is wrong"), kind("it is wrong", hint="do better")
    assert isinstance(plain, LikewiseError)
    assert str(plain) == "it is wrong"
    assert plain.hint is None
    assert str(hinted) == "it is wrong\nhint: do better"


@pytest.mark.parametrize("kind", KINDS)
def test_errors_cross_process_borders_with_their_hint(kind):
    copy = pickle.loads(pickle.dumps(kind("it is wrong", hint="do better")))
    assert type(copy) is kind
    assert str(copy) == "it is wrong\nhint: do better"


def test_kinds_are_told_apart():
    for kind in KINDS:
        assert [other for other in KINDS if issubclass(kind, other)] == [kind]


def test_the_tree_in_the_docstring_names_every_error():
    defined = {
        name
        for name, value in vars(errors).items()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert defined == {kind.__name__ for kind in KINDS} | {"LikewiseError", "MismatchedModel"}
    assert all(name in errors.__doc__ for name in defined)


def test_located_puts_the_place_in_front_and_keeps_kind_and_hint():
    error = errors.DataError("unknown level", hint="widen").located("column 'sex'")
    assert type(error) is errors.DataError
    assert str(error) == "column 'sex': unknown level\nhint: widen"


def test_closest_names_the_likeliest_candidate_or_nothing():
    assert suggest_name("agee", ["age", "sex"]) == " (did you mean 'age'?)"
    assert suggest_name("AGE", ["sex", "age"]) == " (did you mean 'age'?)"
    assert suggest_name("zzz", ["age", "sex"]) == ""
    assert suggest_name("age", []) == ""
    assert suggest_name(3, ["age"]) == ""


@given(st.text(), st.lists(st.text(), max_size=5))
def test_closest_only_ever_suggests_a_candidate(name, candidates):
    said = suggest_name(name, candidates)
    assert said == "" or said in {f" (did you mean {candidate!r}?)" for candidate in candidates}
