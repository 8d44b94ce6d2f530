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


def test_a_model_of_an_earlier_run_is_replaced_or_moved(run, tmp_path):
    fair, moved = tmp_path / "fair.skops", tmp_path / "fair.skops.old"
    claim = f"repair --model m.skops {ON_DATA} --free sex --output {fair} -q"
    assert run(f"{claim} --method threshold --where income<=20").exit_code == 0
    done = run(claim)
    assert (done.exit_code, done.stderr, moved.exists()) == (0, "", False)
    content = fair.read_bytes()
    done = run(f"{claim} --method threshold --budget 5")
    assert done.exit_code in (1, 3), done.output
    assert not fair.exists()
    assert moved.read_bytes() == content
    assert f"no repaired model was written to {fair}; the older one is now {moved}" in done.stderr


def test_the_model_itself_is_never_overwritten(run, shelf, spec):
    content = (shelf / "m.skops").read_bytes()
    for claim in (f"--model m.skops {ON_DATA} --free sex", spec()):
        done = run(f"repair {claim} --output {shelf / 'm.skops'}")
        assert done.exit_code == 2
        assert "is the model to be repaired" in done.stderr
        assert (shelf / "m.skops").read_bytes() == content


def test_a_file_that_is_no_model_is_left_alone(run, tmp_path):
    notes = tmp_path / "notes.skops"
    notes.write_text("mine")
    done = run(f"repair --model m.skops {ON_DATA} --free sex --output {notes}")
    assert done.exit_code == 2
    assert "already exists and is no repaired model" in done.stderr
    assert notes.read_text() == "mine"


def test_an_error_leaves_no_model_of_an_earlier_run(run, tmp_path):
    fair = tmp_path / "fair.skops"
    run(f"repair --model m.skops {ON_DATA} --free sex --output {fair} -q")
    assert fair.exists()
    assert run(f"repair none.toml --output {fair}").exit_code == 2
    assert [path.name for path in tmp_path.iterdir()] == ["fair.skops.old"]


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
