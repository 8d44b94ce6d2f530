"""Names for readers: read from a claim file, written back, and refused where they name what is not there."""

import pickle

import pytest

from likewise.errors import SpecError
from likewise.spec.claim import WrittenClaim
from likewise.spec.display_names import DisplayNames
from likewise.spec.features import Categorical, Integer
from likewise.spec.file import read_spec, write_spec
from likewise.spec.properties import SameDecision
from likewise.spec.similarity import Similarity
from likewise.spec.space import Space

NAMES = {
    "title": 'Loans, "spring" 2026',
    "author": "Risk team",
    "features": {"age": "Age (years)", "a b": "Both"},
    "labels": {"1": "granted"},
}


def claim(**names):
    space = Space({"age": Integer(18, 75), "a b": Categorical(["f", "m"])})
    return WrittenClaim(space, Similarity(free=["a b"]), SameDecision(), display=DisplayNames.of(names))


def test_they_come_back_from_a_file(tmp_path):
    write_spec(claim(**NAMES), tmp_path / "claim.toml")
    read = read_spec(tmp_path / "claim.toml")
    assert read.display == DisplayNames.of(NAMES)
    assert read.display.to_dict() == NAMES
    assert pickle.loads(pickle.dumps(read.display)) == read.display
    assert (read.display.feature("age"), read.display.feature("sex")) == ("Age (years)", "sex")
    assert (read.display.label("1"), read.display.label("0")) == ("granted", "0")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"titel": "x"}, "display.titel: unknown key (did you mean 'title'?)"),
        ({"author": 7}, "display.author: must be text, got 7"),
        ({"features": "age"}, "display.features: must be a table of texts"),
        ({"labels": {"1": 2}}, "display.labels: must be a table of texts"),
        ({"features": {"agee": "Age"}}, "display.features: there is no feature 'agee' (did you mean 'age'?)"),
    ],
)
def test_what_is_wrong_is_named(given, message):
    with pytest.raises(SpecError) as caught:
        claim(**given)
    assert message in str(caught.value)
