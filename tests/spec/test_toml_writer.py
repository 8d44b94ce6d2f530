"""Claims as TOML text: what is written is read back equal, and a failed write leaves the old file."""

import math
import os
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tiers import examples

from likewise.errors import SpecError
from likewise.spec import (
    Categorical,
    Constraint,
    Continuous,
    Integer,
    Ordinal,
    ProbabilityGap,
    SameDecision,
    ScoreGap,
    Similarity,
    Space,
)
from likewise.spec.file import WrittenClaim, read_spec, spec_text, write_spec
from likewise.spec.model_reading import LevelColumns, ModelReading

# -- what is written is read back -------------------------------------------------------------------

text = st.text(st.characters(codec="utf-8"), max_size=6)
names = st.one_of(
    st.sampled_from(["age", "credit-amount", "a b", "ä", "x`y", '"q"', "a\nb", "kind", "lo"]), text
)
names = names.filter(lambda name: name.strip())
doubles = st.floats(allow_nan=False, allow_infinity=False)
wholes = st.integers(-(2**53), 2**53)
numeric = st.one_of(
    st.tuples(doubles, doubles).map(lambda ends: Continuous(min(ends), max(ends))),
    st.tuples(wholes, wholes).map(lambda ends: Integer(min(ends), max(ends))),
    st.lists(doubles, min_size=1, max_size=4, unique=True).map(Ordinal),
    st.just(Categorical([False, True])),
)
features = st.one_of(
    numeric,
    st.lists(text, min_size=1, max_size=30, unique=True).flatmap(
        lambda v: st.sampled_from([Categorical(v), Ordinal(v)])
    ),
)


@st.composite
def constraints(draw, usable):
    chosen = draw(st.lists(st.sampled_from(usable), min_size=1, max_size=3, unique=True))
    by = draw(st.lists(st.fractions().filter(bool), min_size=len(chosen), max_size=len(chosen)))
    made = Constraint(draw(text), tuple(zip(chosen, by, strict=True)), draw(st.fractions()))
    return draw(st.sampled_from([made, made.canonical(), f"0 <= {made.canonical().split('<=')[0]} == 3"]))


@st.composite
def claims(draw):
    drawn = draw(st.dictionaries(names, features, min_size=1, max_size=4))
    usable = [name for name, f in drawn.items() if not isinstance(f, Categorical | Ordinal) or f.numeric]
    rules = draw(st.lists(constraints(usable), max_size=3)) if usable else []
    free, within, pairs = [], {}, {}
    for name, feature in drawn.items():
        how = draw(st.sampled_from(["same", "within", "free", "pairs"]))
        if how == "free":
            free.append(name)
        elif how == "within" and isinstance(feature, Continuous | Integer):
            within[name] = draw(
                st.one_of(st.integers(0, 10**30), st.floats(0, allow_nan=False), st.just("2.5%"))
            )
        elif how == "within" and isinstance(feature, Ordinal):
            within[name] = draw(st.integers(0, 5))
        elif how == "pairs" and isinstance(feature, Categorical | Ordinal) and feature.size > 1:
            some = st.lists(st.sampled_from(feature.levels), min_size=2, max_size=2, unique=True)
            pairs[name] = draw(st.lists(some, min_size=1, max_size=3))
    wanted = draw(
        st.sampled_from(
            [
                *(SameDecision(), SameDecision(0.1), ScoreGap(1e-7), ScoreGap(1e22), ProbabilityGap(0.3)),
                *(SameDecision(class_of_interest=label) for label in ('a "\\ b', 3, 2.5, True)),
                ScoreGap(1.0, class_of_interest="high"),
            ]
        )
    )
    path = st.none() | st.sampled_from(["model.skops", "../data/x.csv", '/abs/é \\ ".csv', "a\tb"])
    name = st.sampled_from(list(drawn))
    levels = st.lists(text | st.integers(-9, 9), min_size=1, max_size=3, unique=True)
    column = name | st.builds(LevelColumns, name, levels.map(tuple))
    reading = ModelReading(
        inputs=draw(st.dictionaries(text, st.lists(column, max_size=3).map(tuple), max_size=2)),
        labels=draw(st.none() | st.just(("no", "yes", 3))),
        external_data=draw(st.booleans()),
    )
    return WrittenClaim(
        Space(drawn, constraints=rules),
        Similarity(free=free, within=within, pairs=pairs),
        wanted,
        model_path=draw(path),
        data_path=draw(path),
        label=draw(st.none() | text.filter(lambda label: label not in drawn)),
        reading=reading,
    )


@given(claims(), st.booleans())
@examples(200, deadline=None)
def test_every_claim_is_read_back_equal(tmp_path_factory, claim, comments):
    path = tmp_path_factory.mktemp("spec") / "claim.toml"
    write_spec(claim, path)
    assert read_spec(path) == claim
    path.write_text(spec_text(claim, comments=comments), encoding="utf-8", newline="\n")
    assert read_spec(path) == claim
    # What is read is written the same again: the text is a fixed point after one trip.
    assert spec_text(read_spec(path)) == spec_text(claim)


@given(claims())
def test_comments_change_nothing_but_comments(claim):
    assert tomllib.loads(spec_text(claim)) == tomllib.loads(spec_text(claim, comments=False))
    assert "#" not in spec_text(
        WrittenClaim(Space({"a": Integer(0, 1)}), Similarity(), SameDecision()), comments=False
    )


CLAIM = WrittenClaim(
    Space(
        {"age": Integer(18, 75), "sex": Categorical(["f", "m"]), "credit-amount": Continuous(0, 1e5)},
        constraints=["18 <= age <= 65", "credit-amount <= 1000 * age"],
    ),
    Similarity(free=["sex"], within={"age": 2, "credit-amount": "5%"}),
    ProbabilityGap(0.1),
)


def test_the_text_reads_well():
    assert (
        spec_text(CLAIM)
        == """\
# A claim for Likewise:
# individuals who differ only in sex, by at most 2 in age, by at most 5% in credit-amount get probabilities at most 0.1 apart

# Who the individuals are. kind: continuous or integer (lo, hi), categorical or ordinal (levels).
[features.age]
kind = "integer"
lo = 18
hi = 75

[features.sex]
kind = "categorical"
levels = ["f", "m"]

[features.credit-amount]
kind = "continuous"
lo = 0.0
hi = 100000.0

# What every individual satisfies besides: linear, with <=, >= or ==; or if a == b then c != d.
[[constraints]]
rule = "18 <= age <= 65"

[[constraints]]
rule = "credit-amount <= 1000 * age"

# How similar individuals may differ: free in any way, within at most so far, all others not at all.
[similarity]
free = ["sex"]

[similarity.within]
age = 2
credit-amount = "5%"

# What they must share. kind: "decision" (margin), "score" (delta) or "probability" (delta).
[property]
kind = "probability"
delta = 0.1
"""
    )


def test_the_folder_can_move_as_a_whole(tmp_path):
    old, new = tmp_path / "old", tmp_path / "new"
    (old / "sub").mkdir(parents=True)
    claim = WrittenClaim(
        CLAIM.space,
        CLAIM.similarity,
        CLAIM.property,
        model_path=str(old / "m.skops"),
        data_path=str(tmp_path / "d.csv"),
    )
    write_spec(claim, old / "sub" / "claim.toml")
    assert 'path = "../m.skops"' in (old / "sub" / "claim.toml").read_text()
    old.rename(new)
    moved = read_spec(new / "sub" / "claim.toml")
    assert moved.model_path == str(new / "m.skops")
    assert moved.data_path == str(tmp_path / "d.csv")


def test_paths_mean_the_same_file_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    claim = WrittenClaim(
        CLAIM.space, CLAIM.similarity, CLAIM.property, model_path="m.skops", data_path=Path("x/../d.csv")
    )
    assert claim.model_path == str(tmp_path / "m.skops")
    assert claim.data_path == str(tmp_path / "d.csv")
    write_spec(claim, "claim.toml")
    assert read_spec("claim.toml") == read_spec(tmp_path / "claim.toml") == claim


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "claim.toml"
    write_spec(CLAIM, path)
    before = path.read_bytes()

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SpecError, match=r"claim\.toml: cannot be written: No space left on device"):
        write_spec(CLAIM, path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["claim.toml"]
    monkeypatch.undo()
    with pytest.raises(SpecError, match="cannot be written"):
        write_spec(CLAIM, tmp_path / "no" / "claim.toml")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"space": {}}, "a claim's space cannot be {}"),
        ({"similarity": ["sex"]}, "a claim's similarity cannot be ['sex']"),
        ({"property": "decision"}, "a claim's property cannot be 'decision'"),
        ({"label": 3}, "a claim's label cannot be 3"),
        ({"label": "age"}, "label 'age' is also a feature"),
        ({"model_path": " "}, "a claim's model_path cannot be ' '"),
        ({"data_path": "a\0b"}, "a claim's data_path cannot be 'a\\x00b'"),
        ({"similarity": Similarity(free=["sxe"])}, "no feature 'sxe' in the space (did you mean 'sex'?)"),
    ],
)
def test_claims_that_do_not_hold_together(change, said):
    fields = {"space": CLAIM.space, "similarity": CLAIM.similarity, "property": CLAIM.property, **change}
    with pytest.raises(SpecError) as caught:
        WrittenClaim(**fields)
    assert said in str(caught.value)


def test_words():
    claim = WrittenClaim(CLAIM.space, Similarity(free=["sex"]), SameDecision())
    assert claim.describe() == "individuals who differ only in sex get the same decision"


def test_exact_numbers_survive():
    space = Space({"x": Continuous(math.nextafter(0, 1), math.nextafter(1, 0))}).where(
        Constraint("?", (("x", Fraction(1, 3)),), Fraction(2, 7))
    )
    text = spec_text(WrittenClaim(space, Similarity(free=["x"]), ScoreGap(0.1)))
    assert "lo = 5e-324" in text
    assert 'rule = "1/3 * x <= 2/7"' in text


def test_a_constraint_whose_text_says_something_else_is_written_as_it_is(tmp_path):
    (both, _) = Space({"x": Integer(0, 9)}).where("2 <= x <= 5").constraints
    for made in (Constraint("x <= 5", (("x", 1),), 3), both):
        claim = WrittenClaim(
            Space({"x": Integer(0, 9)}, constraints=[made]), Similarity(free=["x"]), SameDecision()
        )
        write_spec(claim, tmp_path / "claim.toml")
        assert read_spec(tmp_path / "claim.toml") == claim
