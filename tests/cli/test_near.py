"""near on the command line: the verdict at a distance, the bracket without one, and the certificates of the boxes."""

import json

import pandas as pd

import likewise as lw

LINE = "near --model m.skops --data far.csv --label approved --free sex"


def write_rows_far_from_the_border(path="far.csv"):
    frame = pd.read_csv("d.csv")
    frame[(frame["income"] - 50).abs() > 40].to_csv(path, index=False)


def test_rows_that_are_decided_clearly(run, on_data, tmp_path):
    write_rows_far_from_the_border()
    done = run(f"{LINE} --distance 0.01 --certificates {tmp_path}")
    assert done.exit_code == 0, done.output
    assert "FAIR within 0.01 of the data" in done.stdout
    written = sorted(tmp_path.glob("near-*.likewise"))
    assert written
    assert all(lw.check(path).accepted for path in written)


def test_the_bracket(run, on_data):
    write_rows_far_from_the_border()
    done = run(f"{LINE} --json")
    found = json.loads(done.stdout)
    assert found["verdict"] is None
    assert found["proved"] is None or found["proved"] < found["refuted"]
    assert run(f"{LINE} --distance {found['refuted']} --quiet").stdout.strip() == "BIASED"


def test_no_rows(run):
    done = run("near --model m.skops --distance 0.1")
    assert done.exit_code == 2
    assert "--data" in done.stderr
