"""What bad input gets: an error that names the place, exit code 2, and nothing on stdout."""

import re
from pathlib import Path

import pytest

HEADER = "age,sex,income,approved\n"
ROWS = "20,0,10.5,no\n30,1,20.5,yes\n40,0,90.5,yes\n"


def refused(done, *words):
    assert done.exit_code == 2, done.output
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")
    for word in words:
        assert word in done.stderr
    return done.stderr


@pytest.fixture
def table(tmp_path):
    """table("...") writes a CSV file and gives its path."""

    def write(text, name="t.csv"):
        path = tmp_path / name
        path.write_text(text)
        return str(path)

    return write


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["is empty"]),
        (HEADER, ["no rows"]),
        (HEADER + ROWS + "20,0,,no\n", ["row 3", "'income'", "missing value", "likewise init"]),
        (HEADER + ROWS + "20,0,5\n", ["line 5", "3 cells"]),
        ("age,sex,sex,income\n1,2,3,4\n", ["'sex'", "twice"]),
        (HEADER + ROWS + "50,1,nan,no\n", ["'income'", "row 3", "text 'nan'"]),
        (HEADER + ROWS + "50,1,inf,no\n", ["'income'", "row 3", "text 'inf'"]),
        (HEADER + ROWS + "50,1,rich,no\n", ["'income'", "row 3", "text 'rich'"]),
        (HEADER + "20,0,1,no\n20,1,2,no\n", ["'age'", "constant"]),
        ("age,sex,approved\n20,0,no\n30,1,yes\n", ["'income'", "m.skops"]),
        ("age,sex,income,shoes,approved\n20,0,1,7,no\n30,1,2,8,yes\n", ["'shoes'", "m.skops"]),
    ],
)
def test_tables_that_do_not_fit(run, table, text, words):
    path = table(text)
    said = refused(run(f"verify --model m.skops --data {path} --label approved --free sex"), *words)
    assert path in said


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("90,0,50.0,no", ["'age'", "row 1", "90 is outside 18..70", "--widen"]),
        ("30,2,50.0,no", ["'sex'", "row 1", "2", "--widen"]),
        ("30,1,nan,no", ["'income'", "row 1", "text 'nan'"]),
        ("30.5,1,50.0,no", ["'age'", "row 1", "not a whole number"]),
    ],
)
def test_rows_outside_the_declared_space(run, spec, table, row, words):
    path = table(HEADER + "20,0,10.5,no\n" + row + "\n")
    said = refused(run("verify", spec(), "--data", path), *words)
    assert path in said


def test_widening_is_a_choice(run, spec, table):
    path = table(HEADER + "20,0,10.5,no\n90,1,50.0,no\n")
    done = run("verify", spec(), "--data", path, "--widen")
    assert done.exit_code == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("lo = 18", "lo = 90"), ["features.age", "lo", "hi"]),
        (('kind = "integer"', 'kind = "integral"'), ["features.age.kind", "did you mean 'integer'"]),
        (("within = { age = 2 }", "within = { age = -2 }"), ["similarity", "'age'", "negative"]),
        (('free = ["sex"]', 'free = ["sexx"]'), ["'sexx'", "did you mean 'sex'"]),
        (
            ('free = ["sex"]\nwithin = { age = 2 }', "free = []"),
            ["similarity", "nothing may differ", "--free"],
        ),
        (("[property]", "[propetry]"), ["propetry", "did you mean 'property'"]),
        (('label = "approved"', 'lable = "approved"'), ["data.lable", "did you mean 'label'"]),
        (("levels = [0, 1]", "levels = [0]"), ["d.csv", "'sex'", "--widen"]),
        (("hi = 100", "hi = inf"), ["features.income", "hi"]),
        (("[features.sex]", "[features.gender]"), ["'sex'"]),
        (("m.skops", "absent.skops"), ["absent.skops", "no such model file"]),
        (("d.csv", "absent.csv"), ["absent.csv", "cannot be read"]),
        (("[model]", "[model"), ["is not TOML"]),
    ],
)
def test_spec_files_that_are_wrong(run, spec, change, words):
    refused(run("verify", spec(change)), *words)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("verify absent.toml", ["absent.toml", "cannot be read"]),
        ("verify d.csv", ["d.csv", "--data d.csv"]),
        ("verify --model m.skops {d}", ["nothing says how similar individuals may differ", "--free sex"]),
        ("verify --model m.skops {d} --free sxe", ["--free", "'sxe'", "did you mean 'sex'"]),
        ("verify --model m.skops {d} --within age", ["--within age", "--within age=2"]),
        ("verify --model m.skops {d} --within age=-1", ["'age'", "negative"]),
        ("verify --model m.skops {d} --within age=two", ["'age'", "two"]),
        ("verify --model m.skops {d} --within age=1 --within age=2", ["'age'", "twice"]),
        ("verify --model m.skops {d} --free sex --within sex=1", ["'sex'", "both free and within"]),
        (
            "verify --model m.skops {d} --pairs age=20:30",
            ["--pairs age=20:30", "'age' is integer", "--within"],
        ),
        ("verify --model m.skops {d} --pairs sxe=0:1", ["no feature 'sxe'", "did you mean 'sex'"]),
        ("verify --model m.skops {d} --pairs sex", ["no levels", "--pairs job=skilled:unskilled"]),
        ("verify --model m.skops {d} --free sex --property luck", ["--property", "'luck'"]),
        ("verify --model m.skops {d} --free sex --property score", ["--property", "lacks its number"]),
        (
            "verify --model m.skops {d} --free sex --property probability:2",
            ["--property", "never more than 1"],
        ),
        ("verify --model m.skops {d} --free sex --budget -1", ["budget", "from 0 on"]),
        ("verify --model m.skops {d} --free sex --import-budget -1", ["import_budget", "from 0 on"]),
        ("verify --model m.skops {d} --free sex --where income<=wealth", ["--where", "'wealth'"]),
        ("verify --model m.skops {d} --free sex --where age>=100", ["no individual"]),
        ("verify --model m.skops --data d.csv --free sex", ["d.csv", "'approved'", "--label approved"]),
        ("verify --model m.skops --data d.csv --label aproved --free sex", ["'aproved'", "mean 'approved'"]),
        ("verify --model m.skops --data m.skops --free sex", ["m.skops", ".csv"]),
        ("verify --model d.csv {d} --free sex", ["d.csv", ".csv", "skops.io.dump"]),
        ("verify --model n.skops {d} --free sex", ["n.skops", "no such model file", "m.skops"]),
        ("verify --model m.joblib {d} --free sex", ["m.joblib", "pickle", "--allow-pickle", "skops"]),
        ("verify --model unfitted.skops {d} --free sex", ["unfitted.skops", "not fitted"]),
        ("verify --model other.skops {d} --free sex", ["other.skops", "'wage'"]),
        ("verify --model unnamed.skops --data d.csv --free sex", ["unnamed.skops", "3 unnamed columns"]),
        ("verify --model svc.skops {d} --free sex --property probability:0.1", ["--property score:"]),
        ("verify --model regression.skops {d} --free sex", ["regressor", "--property score:"]),
        ("measure --model m.skops {d} --free sex --tolerance 0", ["tolerance", "positive"]),
        ("measure --model svc.skops {d} --free sex --of probability", ["no probabilities"]),
    ],
)
def test_command_lines_that_are_wrong(run, on_data, line, words):
    refused(run(line.format(d=on_data)), *words)


def test_an_unsupported_estimator_is_asked_and_named(run, on_data, shelf):
    import pandas as pd
    import skops.io
    from sklearn.neighbors import KNeighborsClassifier

    rows = pd.read_csv(shelf / "d.csv")
    model = KNeighborsClassifier(algorithm="brute").fit(rows[["age", "sex", "income"]], rows["approved"])
    skops.io.dump(model, shelf / "neighbours.skops")
    result = run(f"verify --model neighbours.skops {on_data} --free sex")
    assert result.exit_code == 1
    told = " ".join(result.stdout.split())
    for words in (
        "asked, not read",
        "KNeighborsClassifier is not supported",
        "what would allow a proof",
        "LogisticRegression",
    ):
        assert words in told


def test_a_spec_without_a_model_says_so(run, spec):
    path = Path(spec())
    path.write_text(re.sub(r"\[model\]\npath = .*\n", "", path.read_text()))
    refused(run("verify", str(path)), "model", "path is missing", "--model")


def test_hints_speak_the_command_line(run, on_data, spec):
    for line in (
        f"verify --model svc.skops {on_data} --free sex --property probability:0.1",
        f"verify --model unfitted.skops {on_data} --free sex",
    ):
        assert not re.search(r"ScoreGap|space\.|Similarity\(|exclude=", run(line).stderr)
