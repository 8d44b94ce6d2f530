"""Lipschitz claims of rows on the command line: flags and claim files say the same, and a share of the rows is that of their audit."""

import json
from pathlib import Path

import pytest

ASKED = "--property lipschitz:0.001 --metric l1:income=1"


@pytest.fixture
def line(run, tmp_path):
    """The model and a few of the rows."""
    file = tmp_path / "few.csv"
    file.write_text("".join(Path("d.csv").read_text().splitlines(keepends=True)[:21]))
    return f"--model m.skops --data {file} --label approved"


def test_rows_are_audited_and_counted(run, line):
    done = run(f"audit {line} {ASKED} --json")
    assert done.exit_code in (0, 1), done.output
    found = json.loads(done.stdout)
    assert found["biased"] > 0
    assert found["undecided"] == 0
    assert found["stats"]["gap_of"] == "excess score"
    share = json.loads(run(f"share {line} {ASKED} --over data --json").stdout)
    assert share["lower"] == share["upper"] == found["biased"] / found["total"]
    none = json.loads(run(f"audit {line} --property lipschitz:9 --metric l1:income=1 --json").stdout)
    assert (none["biased"], none["undecided"]) == (0, 0)


def test_claim_files_ask_the_same(run, line, tmp_path):
    file, data = tmp_path / "steep.toml", tmp_path / "few.csv"
    assert run(f"init {data} --model m.skops --label approved --free sex -o {file}").exit_code == 0
    text = file.read_text(encoding="utf-8")
    asked = '\n[property]\nkind = "lipschitz"\nconstant = 0.001\n\n[property.metric]\nkind = "l1"\nweights = { income = 1 }\n'
    begin = text.index("[property]") if "[property]" in text else len(text)
    rest = text[begin:].split("\n[", 1)
    tail = "\n[" + rest[1] if len(rest) > 1 else ""
    file.write_text(text[:begin] + asked + tail, encoding="utf-8")
    found = json.loads(run(f"audit {file} --json").stdout)
    flags = json.loads(run(f"audit {line} --free sex {ASKED} --json").stdout)
    assert (found["biased"], found["total"]) == (flags["biased"], flags["total"])
