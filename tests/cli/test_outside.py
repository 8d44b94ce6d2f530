"""--outside and data.outside: what becomes of rows that are no individuals of the space, told in every answer."""

import json

import pytest

ON = "--free sex"
COMMANDS = ["verify", "measure", "audit", "share", "radius --feature age", "regions --budget 2", "card"]


@pytest.fixture
def narrow(shelf, tmp_path):
    """A claim file whose space leaves some rows of the data out."""
    path = tmp_path / "claim.toml"
    path.write_text(
        f"""
[model]
path = "{(shelf / "m.skops").as_posix()}"
[data]
path = "{(shelf / "d.csv").as_posix()}"
label = "approved"
[features.age]
kind = "integer"
lo = 18
hi = 60
[features.sex]
kind = "categorical"
levels = [0, 1]
[features.income]
kind = "continuous"
lo = 0.0
hi = 100.0
[similarity]
free = ["sex"]
""",
        encoding="utf-8",
    )
    return path


def strangers(shelf):
    import pandas as pd

    return int((pd.read_csv(shelf / "d.csv")["age"] > 60).sum())


def test_rows_outside_are_an_error_that_says_what_helps(run, narrow):
    done = run(f"verify {narrow}")
    assert done.exit_code == 2
    assert "--outside ignore" in done.output


@pytest.mark.parametrize("command", COMMANDS)
def test_rows_left_out_are_counted(run, shelf, narrow, command):
    done = run(f"{command.split()[0]} {narrow} {' '.join(command.split()[1:])} --outside ignore")
    assert done.exit_code in (0, 1, 3), done.output
    assert f"{strangers(shelf)} left out" in " ".join(done.output.split())


def test_the_claim_file_may_say_it(run, shelf, narrow):
    text = narrow.read_text(encoding="utf-8")
    narrow.write_text(text.replace("[data]", '[data]\noutside = "clip"'), encoding="utf-8")
    found = json.loads(run(f"audit {narrow} --json").stdout)
    assert found["stats"]["rows_outside"] == {"rows": 120, "ignored": 0, "clipped": strangers(shelf)}
    assert found["total"] == 120
    narrow.write_text(text.replace("[data]", '[data]\noutside = "drop"'), encoding="utf-8")
    done = run(f"audit {narrow}")
    assert done.exit_code == 2
    assert "data.outside" in done.output


def test_rows_that_are_left_are_the_same_as_without_the_others(run, shelf, narrow, tmp_path):
    import pandas as pd

    rows = pd.read_csv(shelf / "d.csv")
    rows[rows["age"] <= 60].to_csv(tmp_path / "inside.csv", index=False)
    one = json.loads(run(f"audit {narrow} --outside ignore --json").stdout)
    other = json.loads(run(f"audit {narrow} --data {tmp_path / 'inside.csv'} --json").stdout)
    assert one["total"] == other["total"] == len(rows) - strangers(shelf)
    assert one["biased"] == other["biased"]
