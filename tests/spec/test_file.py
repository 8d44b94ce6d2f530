"""Reading claim files: what is wrong is named by file and key; features come from the data where not listed."""

import pytest

from likewise.errors import DataError, SpecError
from likewise.spec import (
    Categorical,
    Integer,
    SameDecision,
    Similarity,
    Space,
)
from likewise.spec.file import WrittenClaim, read_spec

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
    assert claim == WrittenClaim(
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
        (GOOD + "[model]\nlabels = 3\n", "model.labels: expected a list of labels, got a number: 3"),
        (GOOD + '[model]\nlabels = ["a"]\n', "model: a model's labels must be at least two"),
        (GOOD + "[model]\nexternal_data = 1\n", "model.external_data: expected true or false"),
        (GOOD + "[model]\ninputs = 1\n", "model.inputs: expected a table, got a number: 1"),
        (GOOD + "[model.inputs]\nx = [1]\n", "model.inputs.x: expected the name of a feature"),
        (
            GOOD + '[model.inputs]\nx = ["agee"]\n',
            "model.inputs: there is no feature 'agee' (did you mean 'age'?)",
        ),
        (GOOD + '[model.inputs]\nx = [{ feature = "sex" }]\n', "model.inputs.x: needs feature and levels"),
        (
            GOOD + '[model.inputs]\nx = [{ feature = "sex", levles = [] }]\n',
            "model.inputs.x.levles: unknown key (did you mean 'levels'?)",
        ),
        (
            GOOD + '[model.inputs]\nx = { feature = "sex", levels = ["f", "f"] }\n',
            "model.inputs.x: the levels of 'sex' must be some, and different",
        ),
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
            "property.margin: unknown key\nhint: expected kind, delta, class_of_interest",
        ),
        (
            GOOD + '[property]\nkind = "decision"\nmargin = -1\n',
            "property: margin must not be negative, got -1",
        ),
        (
            GOOD + '[property]\nkind = "decision"\nclass_of_interest = [1]\n',
            "property: class_of_interest must be one of the model's labels, got [1]",
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
        (
            WITH_DATA + SIMILAR,
            "a,good\n1,1\n,0\n",
            DataError,
            "column 'a', row 1 (counted from 0): missing value\nhint: list it as [features.NAME] in the claim file, with missing",
        ),
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
