"""A class of interest on the command line and in a claim file: one of the model's labels, or an error that names the nearest."""

import json
import tomllib

import pytest

FREE = "--free sex"


@pytest.mark.parametrize("label", ["yes", "no"])
def test_of_two_classes_either_is_the_same_claim(run, on_data, label):
    plain = run(f"verify --model m.skops {on_data} {FREE} -q")
    done = run(f"verify --model m.skops {on_data} {FREE} --class-of-interest {label}")
    assert done.exit_code == plain.exit_code == 1
    assert f"are alike in whether they get the class '{label}'" in " ".join(done.stdout.split())
    fair = run(f"verify --model fair.skops {on_data} {FREE} --class-of-interest {label} -q")
    assert (fair.exit_code, fair.stdout) == (0, "FAIR\n")


@pytest.mark.draw(4)
@pytest.mark.parametrize("command", ["verify", "measure"])
@pytest.mark.parametrize(
    ("model", "label", "message"),
    [
        ("m", "yse", "--class-of-interest: LogisticRegression has no class 'yse' (did you mean 'yes'?)"),
        ("three", "hihg", "LogisticRegression has no class 'hihg' (did you mean 'high'?)"),
        ("three", "hihg", "its classes are 'high', 'low', 'middle'"),
        ("grades", "3", "has no class '3'"),
        ("regression", "high", "LinearRegression is a regressor: there is no class 'high'"),
    ],
)
def test_a_class_that_the_model_does_not_have(run, on_data, command, model, label, message):
    done = run(f"{command} --model {model}.skops {on_data} {FREE} --class-of-interest {label}")
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_class_in_the_spec_file(run, spec):
    done = run("verify", spec(('kind = "decision"', 'kind = "decision"\nclass_of_interest = "ja"')))
    assert done.exit_code == 2
    assert "claim.toml: property.class_of_interest: LogisticRegression has no class 'ja'" in done.stderr
    path = spec(('kind = "decision"', 'kind = "decision"\nclass_of_interest = "yes"'))
    done = run("verify", path, "--property", "score:0.5")
    assert "get scores of the class 'yes' at most 0.5 apart" in " ".join(done.stdout.split())
    assert run("verify", path, "--class-of-interest", "nein").exit_code == 2


def test_measuring_says_of_which_class(run, on_data):
    said = run(f"measure --model m.skops {on_data} {FREE} --class-of-interest yes").stdout
    assert "the largest gap of scores of the class 'yes' between individuals" in " ".join(said.split())
    said = run(f"measure --model m.skops {on_data} {FREE} --class-of-interest yes --of margin").stdout
    assert "by which one gets the class 'yes' and the other does not" in " ".join(said.split())


@pytest.mark.parametrize(
    ("model", "line"),
    [
        (
            "three",
            '# class_of_interest = "high"    # only this class counts then; the classes: "high", "low", "middle"',
        ),
        ("grades", "# class_of_interest = 0    # only this class counts then; the classes: 0, 1, 2"),
    ],
)
def test_the_draft_names_the_classes_of_more_than_two(run, model, line):
    drafted = run(f"init d.csv --model {model}.skops --label approved").stdout
    assert drafted.endswith(line + "\n")
    assert tomllib.loads(drafted.replace("# class_of", "class_of"))["property"]["class_of_interest"] in (
        "high",
        0,
    )
    assert "class_of_interest" not in run("init d.csv --model m.skops --label approved").stdout


def test_three_classes_from_the_claim_to_the_certificate(run, on_data, tmp_path):
    done = run(
        f"verify --model three.skops {on_data} {FREE} --property score:100 --certificate {tmp_path / 'c.lwc'}"
    )
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "FAIR" in done.stdout
    gap = run(f"measure --model three.skops {on_data} {FREE} --class-of-interest high")
    assert gap.exit_code == 0
    assert "score of high" in gap.stdout
    margin = run(f"measure --model three.skops {on_data} {FREE} --of margin")
    assert margin.exit_code == 0
    lines = (done.stdout + gap.stdout + margin.stdout).splitlines()
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80
    exported = run(f"export --model three.skops {on_data} {FREE} -o {tmp_path / 'm.json'}")
    assert exported.exit_code == 0
    assert '"classes":"argmax"' in (tmp_path / "m.json").read_text()


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize(("model", "label"), [("three", "high"), ("three", None), ("grades", None)])
def test_audits_and_shares_of_several_classes(run, on_data, model, label):
    asked = f"--model {model}.skops {on_data} {FREE}" + (
        "" if label is None else f" --class-of-interest {label}"
    )
    done = run(f"audit {asked} --json")
    assert done.exit_code == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["undecided"] == 0
    assert answer["proved"]
    for row in answer["rows"]:
        if row["biased"]:
            assert row["decision"] != row["counterpart_decision"]
            assert label in (None, row["decision"], row["counterpart_decision"])
    share = json.loads(run(f"share {asked} --over data --json").stdout)
    assert share["lower"] == share["upper"] == answer["share"]
    assert share["method"] == "exact"
    assert "exact for each row" in run(f"audit {asked}").stdout
    bracket = run(f"share {asked} --method certified --budget 1 --json")
    assert bracket.exit_code in (0, 3)
    assert json.loads(bracket.stdout)["method"] == "certified"
