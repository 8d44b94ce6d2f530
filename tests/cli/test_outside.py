"""--outside and data.outside: what becomes of rows that are no individuals of the space, told in every answer."""

import json

import pytest

ON = "--free sex"
COMMANDS = [
    "verify",
    "measure",
    "audit",
    "share --budget 0.5",
    "radius --feature age",
    "near --distance 0.1",
    "regions --budget 0.5",
    "card",
]


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


@pytest.mark.some_days
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


@pytest.mark.draw(1)
@pytest.mark.parametrize("chunk", [1, 7, 10**6])
def test_rows_keep_their_numbers_where_others_are_left_out(run, shelf, narrow, monkeypatch, chunk):
    import pandas as pd

    from likewise.spec import data_rows

    monkeypatch.setattr(data_rows, "CHUNK_ROWS", chunk)
    rows = pd.read_csv(shelf / "d.csv")
    found = json.loads(run(f"audit {narrow} --outside ignore --where age>=30 --by approved --json").stdout)
    kept = rows[(rows["age"] <= 60) & (rows["age"] >= 30)]
    assert sorted(row["row"] for row in found["rows"]) == kept.index.tolist()
    assert all(row["age"] == rows["age"][row["row"]] for row in found["rows"])
    groups = {group["approved"]: group["rows"] for group in found["by"]["groups"]}
    assert groups == kept["approved"].value_counts().to_dict()
    share = json.loads(run(f"share {narrow} --over data --outside ignore --where age>=30 --json").stdout)
    assert share["lower"] == found["share"]


@pytest.mark.draw(1)
@pytest.mark.parametrize("chunk", [1, 7, 10**6])
def test_errors_name_the_row_of_the_file(run, shelf, narrow, tmp_path, monkeypatch, chunk):
    from likewise.spec import data_rows

    monkeypatch.setattr(data_rows, "CHUNK_ROWS", chunk)
    lines = (shelf / "d.csv").read_text().splitlines()
    _, rest = lines[100].split(",", 1)
    for value, message in (("old", "text 'old' in a column of numbers"), ("200", "200 is outside 18..90")):
        lines[100] = f"{value},{rest}"
        (tmp_path / "bad.csv").write_text("\n".join(lines))
        wide = tmp_path / "wide.toml"
        wide.write_text(narrow.read_text(encoding="utf-8").replace("hi = 60", "hi = 90"), encoding="utf-8")
        done = run(f"audit {wide} --data {tmp_path / 'bad.csv'}")
        assert done.exit_code == 2
        assert f"column 'age', row 99 (counted from 0): {message}" in " ".join(done.output.split())
