"""Every exit code, and what is on which stream."""

import json

import pytest

from likewise.cli.exits import Exit
from likewise.errors import InternalError

ON = "--data d.csv --label approved --free sex"
HARD = "--model s.skops --data s.csv --free sex"  # a subset sum: no budget of a test decides it
BUDGET = "--budget 0.2"


def test_the_codes_are_the_documented_ones():
    codes = {name: int(code) for name, code in Exit.__members__.items()}
    assert codes == {
        "FAIR": 0, "DONE": 0, "BIASED": 1, "INPUT": 2, "UNKNOWN": 3, "REJECTED": 4, "INTERNAL": 101,
    }  # fmt: skip


def test_fair_is_0(run, on_data):
    done = run(f"verify --model fair.skops {on_data} --free sex")
    assert done.exit_code == 0
    assert "\nverdict  FAIR" in done.stdout
    assert done.stderr == ""


def test_biased_is_1(run, on_data):
    done = run(f"verify --model m.skops {on_data} --free sex")
    assert done.exit_code == 1
    assert "\nverdict  BIASED" in done.stdout
    assert done.stderr == ""


def test_usage_is_2(run):
    for line in ("verify", "verify --nonsense", "nonsense", "verify --budget soon", "measure --of luck"):
        done = run(line)
        assert done.exit_code == 2
        assert done.stdout == ""
        assert "Usage" in done.stderr or "Error" in done.stderr


def test_unknown_is_3_with_bounds(run):
    done = run("verify --model s.skops --data s.csv --free sex --budget 0.5")
    assert done.exit_code == 3
    assert "verdict  UNKNOWN" in done.stdout
    assert "the budget of 0.5 s is used up" in done.stdout
    assert "bounds   the largest margin" in done.stdout


def test_unknown_json_has_the_bounds(run):
    done = run("verify --model s.skops --data s.csv --free sex --budget 0.5 --json")
    assert done.exit_code == 3
    answer = json.loads(done.stdout)
    assert answer["verdict"] == "UNKNOWN"
    assert answer["bounds"][1] is not None


def test_measure_is_0_within_the_tolerance_and_3_if_the_budget_ends_first(run, on_data):
    assert run(f"measure --model m.skops {on_data} --free sex").exit_code == 0
    done = run("measure --model s.skops --data s.csv --free sex --of margin --budget 0.2")
    assert done.exit_code == 3
    assert "reason   the budget of 0.2 s is used up" in done.stdout


@pytest.mark.parametrize("error", [ZeroDivisionError("by zero"), InternalError("a proof has a hole")])
def test_what_nobody_foresaw_is_101_without_a_traceback(run, on_data, monkeypatch, error):
    def fails(*_args, **_options):
        raise error

    monkeypatch.setattr("likewise.verifying.verification.verify_problem", fails)
    done = run(f"verify --model m.skops {on_data} --free sex")
    assert done.exit_code == 101
    assert done.stdout == ""
    assert str(error) in done.stderr
    assert "Please report it" in done.stderr
    assert "Traceback" not in done.stderr
    assert "Traceback" in run(f"verify --model m.skops {on_data} --free sex --debug").stderr


def test_ctrl_c_before_the_search_is_3(run, on_data, monkeypatch):
    def interrupted(*_args, **_options):
        raise KeyboardInterrupt

    monkeypatch.setattr("likewise.verifying.verification.verify_problem", interrupted)
    done = run(f"verify --model m.skops {on_data} --free sex")
    assert (done.exit_code, done.stdout) == (3, "")
    assert done.stderr == "UNKNOWN: interrupted before anything was known\n"
    done = run(f"verify --model m.skops {on_data} --free sex --json")
    assert done.exit_code == 3
    assert json.loads(done.stdout)["verdict"] == "UNKNOWN"


def test_help_and_version_are_0(run):
    for line in ("--help", "verify --help", "measure -h", "init --help", "demo --help"):
        done = run(line)
        assert done.exit_code == 0
        assert max(map(len, done.stdout.splitlines())) <= 80
    assert run("--version").stdout.startswith("likewise 0.")


@pytest.mark.some_days
@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"verify --model m.skops {ON}", 1),
        (f"measure --model m.skops {ON}", 0),
        (f"measure {HARD} --of margin {BUDGET}", 3),
        (f"audit --model m.skops {ON}", 0),
        (f"audit --model m.skops {ON} --budget 1e-9", 3),
        (f"share --model m.skops {ON} --over data", 0),
        (f"share --model rbf.skops {ON} --method certified --budget 0.01", 3),
        (f"regions --model fair.skops {ON}", 0),
        (f"regions {HARD} {BUDGET}", 3),
        ("radius --model m.skops --data d.csv --label approved --feature age --property probability:0.1", 0),
        (f"radius {HARD} --feature b0 {BUDGET}", 3),
        ("near --model m.skops --data d.csv --label approved --free sex --distance 0.1", 1),
        (f"near {HARD} --distance 0.1 {BUDGET}", 3),
        (f"compare --model m.skops --with fair.skops {ON}", 0),
        (f"compare --model fair.skops --with m.skops {ON}", 1),
        (f"compare {HARD} --with s.skops --of margin {BUDGET}", 3),
        (f"repair --model m.skops {ON}", 0),
        (f"card --model m.skops {ON}", 0),
        (f"report --model m.skops {ON} -o page.html", 1),
        (f"report {HARD} -o page.html {BUDGET}", 3),
    ],
)
def test_the_codes_of_the_analyses(run, tmp_path, line, code):
    done = run(line.replace("page.html", f"{tmp_path}/page.html"))
    assert done.exit_code == code, done.output
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "command", ["audit", "share", "regions", "radius --feature age", "repair", "compare"]
)
def test_input_errors_of_the_analyses_are_2(run, command):
    other = " --with none.skops" if command == "compare" else ""
    done = run(f"{command} --model none.skops {ON}{other}")
    assert done.exit_code == 2
    assert done.stdout == ""
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr
