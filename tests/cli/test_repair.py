"""`likewise repair`: the model it writes is verified FAIR, the table and the exit codes."""

import json

import pytest
from tests.cli.conftest import ON_DATA


def test_the_written_model_is_fair(run, tmp_path):
    fair, proof = tmp_path / "fair.skops", tmp_path / "proof"
    done = run(f"repair --model m.skops {ON_DATA} --free sex --output {fair} --certificate {proof}")
    assert done.exit_code == 0, done.output
    for word in (
        "FAIR",
        "the mean score over all settings of sex (2)",
        "changed",
        "before",
        "after",
        "accuracy",
    ):
        assert word in done.output
    again = run(f"verify --model {fair} {ON_DATA} --free sex")
    assert again.exit_code == 0, again.output
    assert run(f"verify --model m.skops {ON_DATA} --free sex").exit_code == 1
    assert proof.exists()


@pytest.mark.parametrize(
    "flags",
    [
        "--method max",
        "--method min",
        "--method reference --reference sex=1",
        "--weights observed",
        "--method shrink --property probability:0.05",
    ],
)
def test_methods(run, flags):
    done = run(f"repair --model m.skops {ON_DATA} --free sex --json {flags}")
    assert done.exit_code == 0, done.output
    told = json.loads(done.output)
    assert told["result"]["verdict"] == "FAIR"
    assert told["rows"] == 120
    assert 0.5 < told["after"] <= 1


def test_nothing_is_written_if_it_is_not_fair(run, tmp_path):
    fair = tmp_path / "fair.skops"
    done = run(f"repair --model m.skops {ON_DATA} --free sex --method threshold --budget 5 --output {fair}")
    assert done.exit_code in (1, 3), done.output
    assert "not written" in done.output
    assert not fair.exists()


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--output fair.pkl", ".skops"),
        ("--output nowhere/fair.skops", "no such folder"),
        ("--method reference --reference sex=7", "is not a value of"),
        ("--method reference --reference six=1", "did you mean"),
        ("--method shrink", "--method average"),
        ("--reference sex=1", "reference is for"),
    ],
)
def test_bad_input(run, flags, words):
    done = run(f"repair --model m.skops {ON_DATA} --free sex {flags}")
    assert done.exit_code == 2, done.output
    assert words in done.output
