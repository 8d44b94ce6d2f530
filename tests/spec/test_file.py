"""Spec files: what is written is read back equal; what is wrong is named by file and key."""

import math
import os
import tomllib
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import DataError, SpecError
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
from likewise.spec.file import Claim, read_spec, spec_text, write_spec

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
    free, within = [], {}
    for name, feature in drawn.items():
        how = draw(st.sampled_from(["same", "within", "free"]))
        if how == "free":
            free.append(name)
        elif how == "within" and isinstance(feature, Continuous | Integer):
            within[name] = draw(
                st.one_of(st.integers(0, 10**30), st.floats(0, allow_nan=False), st.just("2.5%"))
            )
        elif how == "within" and isinstance(feature, Ordinal):
            within[name] = draw(st.integers(0, 5))
    wanted = draw(
        st.sampled_from(
            [SameDecision(), SameDecision(0.1), ScoreGap(1e-7), ScoreGap(1e22), ProbabilityGap(0.3)]
        )
    )
    path = st.none() | st.sampled_from(["model.skops", "../data/x.csv", '/abs/é \\ ".csv', "a\tb"])
    return Claim(
        Space(drawn, constraints=rules),
        Similarity(free=free, within=within),
        wanted,
        model_path=draw(path),
        data_path=draw(path),
        label=draw(st.none() | text.filter(lambda label: label not in drawn)),
    )


@given(claims(), st.booleans())
@settings(deadline=None, max_examples=200)
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
        Claim(Space({"a": Integer(0, 1)}), Similarity(), SameDecision()), comments=False
    )


CLAIM = Claim(
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

# What every individual satisfies besides: linear, with <=, >= or ==.
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
    claim = Claim(
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
    claim = Claim(
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
        Claim(**fields)
    assert said in str(caught.value)


def test_words():
    claim = Claim(CLAIM.space, Similarity(free=["sex"]), SameDecision())
    assert claim.describe() == "individuals who differ only in sex get the same decision"


# -- what is wrong is named -------------------------------------------------------------------------

AGE = '[features.age]\nkind = "integer"\nlo = 18\nhi = 75\n'
SEX = '[features.sex]\nkind = "categorical"\nlevels = ["f", "m"]\n'
SIMILAR = '[similarity]\nfree = ["sex"]\n'
GOOD = AGE + SEX + SIMILAR


@pytest.fixture
def spec(tmp_path):
    def write(content, name="claim.toml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def test_the_smallest_file(spec):
    claim = read_spec(spec(GOOD))
    assert claim == Claim(
        Space({"age": Integer(18, 75), "sex": Categorical(["f", "m"])}),
        Similarity(free=["sex"]),
        SameDecision(),
    )
    assert read_spec(spec(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())) == claim


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("[model\n", "is not TOML: Expected ']' at the end of a table declaration (at line 1, column 7)"),
        (b"\xff", "is not UTF-8 text"),
        (
            GOOD + "[modle]\n",
            "modle: unknown key (did you mean 'model'?)\nhint: expected model, data, features",
        ),
        (GOOD + '[model]\nfile = "m"\n', "model.file: unknown key\nhint: expected path"),
        ("model = 3\n" + GOOD, "model: expected a table, got a number: 3"),
        (GOOD + "[model]\npath = 3\n", "model.path: expected text, got a number: 3"),
        (GOOD + '[model]\npath = ""\n', "model.path: '' is no path"),
        (GOOD + "[data]\npath = true\n", "data.path: expected text, got true or false: True"),
        (GOOD + "[data]\nlabel = 1979-05-27\n", "data.label: expected text, got a date or time"),
        (
            GOOD + '[data]\nfeatures = "list"\n',
            "data.features: must be \"observed\" or \"listed\", got 'list' (did you mean 'listed'?)",
        ),
        (GOOD + '[data]\nlabel = "age"\n', "label 'age' is also a feature"),
        (SIMILAR, "features: no features\nhint: list them as [features.NAME], or give data.path"),
        ("features = []\n" + SIMILAR, "features: expected a table, got a list: []"),
        (
            "[features]\nage = 3\n" + SIMILAR,
            "features.age: expected a table with kind and lo, hi or levels, got a number: 3",
        ),
        (GOOD.replace('kind = "integer"\n', ""), "features.age: kind is missing\nhint: kind is"),
        (GOOD.replace("kind", "knd", 1), "features.age: kind is missing (is 'knd' meant to be 'kind'?)"),
        (
            GOOD.replace('"integer"', '"intger"'),
            "features.age.kind: 'intger' is no kind of feature (did you mean 'integer'?)",
        ),
        (GOOD.replace('"integer"', "3"), "features.age.kind: 3 is no kind of feature"),
        (GOOD.replace("lo = 18\n", ""), "features.age: lo is missing, a feature of kind integer needs it"),
        (
            GOOD.replace("hi = 75", "high = 75"),
            "features.age.high: unknown key (did you mean 'hi'?)\nhint: expected kind, lo, hi",
        ),
        (GOOD.replace("hi = 75", "hi = 7"), "features.age: lo = 18 is above hi = 7"),
        (GOOD.replace("hi = 75", "hi = inf"), "features.age: hi must be finite"),
        (GOOD.replace("hi = 75", 'hi = "75"'), "features.age: hi must be a whole number, got '75'"),
        (GOOD.replace("levels", "levles"), "features.sex.levles: unknown key (did you mean 'levels'?)"),
        (
            GOOD.replace('levels = ["f", "m"]\n', ""),
            "features.sex: levels is missing, a feature of kind categorical needs it",
        ),
        (GOOD.replace('["f", "m"]', "3"), "features.sex: levels must be a list, got 3"),
        (GOOD.replace('["f", "m"]', "[]"), "features.sex: no levels"),
        (GOOD.replace('["f", "m"]', '["f", "f"]'), "features.sex: level 'f' is given twice"),
        (
            GOOD.replace('["f", "m"]', '["f", ["m"]]'),
            "features.sex: level ['m'] is neither text, number nor boolean",
        ),
        (GOOD.replace('["f", "m"]', '["f", nan]'), "features.sex: level nan is not finite"),
        (
            GOOD.replace('"m"]', "1979-05-27]"),
            "features.sex: level datetime.date(1979, 5, 27) is neither text",
        ),
        (
            GOOD.replace("features.age", 'features."a b"').replace("lo =", "low ="),
            "features.\"a b\".low: unknown key (did you mean 'lo'?)",
        ),
        (AGE + SEX, "similarity: is missing\nhint: [similarity]"),
        (
            GOOD.replace("free", "fre"),
            "similarity.fre: unknown key (did you mean 'free'?)\nhint: expected free, within",
        ),
        (
            GOOD.replace('["sex"]', '"sex"'),
            "similarity.free: expected a list of feature names, got text: 'sex'",
        ),
        (
            GOOD.replace('["sex"]', '["sxe"]'),
            "similarity: no feature 'sxe' in the space (did you mean 'sex'?)",
        ),
        (GOOD + "within = 3\n", "similarity.within: expected a table of tolerances, got a number: 3"),
        (
            GOOD + "[similarity.within]\nage = -2\n",
            "similarity: within: the tolerance of 'age' is negative: -2",
        ),
        (GOOD + '[similarity.within]\nage = "5"\n', "similarity: within: '5' is no tolerance for 'age'"),
        (GOOD + "[similarity.within]\nsex = 1\n", "similarity: feature 'sex' is both free and within"),
        (
            AGE + SEX + "[similarity.within]\nsex = 1\n",
            "within: 'sex' is categorical, its levels have no distance",
        ),
        (GOOD + "[property]\n", 'property.kind: is missing\nhint: "decision" (with margin)'),
        (
            GOOD + '[property]\nkind = "scor"\n',
            "property.kind: 'scor' is no kind of property (did you mean 'score'?)",
        ),
        (
            GOOD + '[property]\nkind = "score"\n',
            "property: delta is missing, a property of kind score needs it",
        ),
        (
            GOOD + '[property]\nkind = "score"\nmargin = 1\n',
            "property.margin: unknown key\nhint: expected kind, delta",
        ),
        (
            GOOD + '[property]\nkind = "decision"\nmargin = -1\n',
            "property: margin must not be negative, got -1",
        ),
        (GOOD + '[property]\nkind = "score"\ndelta = "1"\n', "property: delta must be a number, got '1'"),
        (
            GOOD + '[constraints]\nrule = "age <= 3"\n',
            "constraints: must be tables\nhint: write [[constraints]]",
        ),
        (GOOD + "[[constraints]]\n", "constraints[0]: rule is missing"),
        (
            GOOD + '[[constraints]]\nrul = "age <= 3"\n',
            "constraints[0].rul: unknown key (did you mean 'rule'?)",
        ),
        (
            GOOD + '[[constraints]]\nrule = "age >= 20"\n[[constraints]]\nrule = "age < 3"\n',
            "constraints[1].rule: constraint: strict comparison < is not supported\n    age < 3\n        ^",
        ),
        (
            GOOD + '[[constraints]]\nrule = "agee <= 3"\n',
            "constraints[0].rule: constraint 'agee <= 3': no feature 'agee' (did you mean 'age'?)",
        ),
    ],
)
def test_wrong_files_name_file_and_key(spec, content, said):
    path = spec(content)
    with pytest.raises(SpecError) as caught:
        read_spec(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(SpecError, match=r"none\.toml: cannot be read: No such file"):
        read_spec(tmp_path / "none.toml")


# -- features from the data -------------------------------------------------------------------------

DATA = "id,age,sex,zip,good\n1,30,f,0,yes\n2,18,m,1,no\n3,75,f,1,no\n"
WITH_DATA = '[data]\npath = "sub/d.csv"\nlabel = "good"\n'


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "d.csv").write_text(DATA)
    return tmp_path


def test_features_come_from_the_data_and_the_listed_ones_override(spec, folder):
    claim = read_spec(
        spec(WITH_DATA + '[features.zip]\nkind = "categorical"\nlevels = [0, 1, 2]\n' + SIMILAR)
    )
    assert claim.space == Space(
        {
            "id": Integer(1, 3),
            "age": Integer(18, 75),
            "sex": Categorical(["f", "m"]),
            "zip": Categorical([0, 1, 2]),
        }
    )
    assert claim.data_path == str(folder / "sub" / "d.csv")
    assert claim.label == "good"


def test_listed_features_alone_count_if_the_file_says_so(spec, folder):
    (folder / "sub" / "d.csv").unlink()
    claim = read_spec(spec(WITH_DATA + 'features = "listed"\n' + GOOD))
    assert claim.space.names == ("age", "sex")


def test_all_features_listed_beside_the_data(spec, folder):
    (folder / "sub" / "d.csv").write_text("age,sex,good\n1,f,1\n")
    assert read_spec(spec(WITH_DATA + GOOD)).space == read_spec(spec(GOOD)).space


@pytest.mark.parametrize(
    ("content", "data", "kind", "said"),
    [
        (
            WITH_DATA.replace("good", "godo") + SIMILAR,
            DATA,
            SpecError,
            "data.label: the data have no column 'godo' (did you mean 'good'?)",
        ),
        (
            WITH_DATA + GOOD.replace("features.age", "features.agee"),
            DATA,
            SpecError,
            "features.agee: the data have no column 'agee' (did you mean 'age'?)\nhint: with data.features = \"listed\"",
        ),
        (WITH_DATA + SIMILAR, None, DataError, "d.csv: cannot be read: No such file"),
        (WITH_DATA + SIMILAR, "a,good\n1,\n", DataError, "d.csv, line 2, column 'good': empty cell"),
        (
            WITH_DATA + SIMILAR,
            "sex,age,good\nf,1,1\nm,1,0\n",
            DataError,
            "data.path: column 'age' is constant: every row has 1\nhint: list it as [features.NAME]",
        ),
    ],
)
def test_data_that_do_not_fit_the_file(spec, folder, content, data, kind, said):
    path = spec(content)
    if data is None:
        (folder / "sub" / "d.csv").unlink()
    else:
        (folder / "sub" / "d.csv").write_text(data)
    with pytest.raises(kind) as caught:
        read_spec(path)
    assert str(caught.value).startswith(f"{path}: ")
    assert said in str(caught.value)


def test_exact_numbers_survive():
    space = Space({"x": Continuous(math.nextafter(0, 1), math.nextafter(1, 0))}).where(
        Constraint("?", (("x", Fraction(1, 3)),), Fraction(2, 7))
    )
    text = spec_text(Claim(space, Similarity(free=["x"]), ScoreGap(0.1)))
    assert "lo = 5e-324" in text
    assert 'rule = "1/3 * x <= 2/7"' in text
