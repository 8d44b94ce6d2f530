"""Files of an audit are opened in spreadsheets: no text of the data may run there as a formula. The judge splits lines as spreadsheets do."""

import csv
from itertools import product

import numpy as np
import pandas as pd
import pytest
import skops.io
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import likewise as lw
from likewise.cli.app import cli
from likewise.spec.csv_file import disarm_cell
from likewise.spec.frames import read_table

UNSEEN = " \t\r\n\"'\u200b\ufeff\x00"
NASTY = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3+cmd|'x'!A1",
    "@SUM(1,2)",
    "\t=1",
    "\r=1",
    "  =1",
    '"=1"',
    "'=1",
    "\ufeff=1",
    "x;=1",
    'x";=HYPERLINK("https://evil.example")',
    "a\n=1",
    "\uff1d1",
    "-",
    "\tplain",
]
HARMLESS = ["-3.5", "+1e5", "-.5", "7", "a=b", "a-b", "x@y.example", "(+49)", "", "it's", "5;6"]


def runs(cell):
    """Whether a spreadsheet may run a cell."""
    bare = cell.lstrip(UNSEEN)
    if cell.startswith("'") or not bare:  # text, to a spreadsheet
        return False
    return not plain_number(cell) and (bare[0] in "=+-@\uff1d" or cell[0] in "\t\r")


def plain_number(cell):
    try:
        return float(cell) is not None
    except ValueError:
        return False


def cells_of(text):
    """All cells that a program may see in a file, whatever it splits at."""
    for row in csv.reader(text.splitlines(keepends=True)):
        for cell in row:
            yield cell
            yield from cell.replace("\t", ";").replace("\r", ";").replace("\n", ";").split(";")
    for line in text.splitlines():
        yield from line.split(";")
        yield from line.split("\t")


@given(st.sampled_from(NASTY) | st.text(st.sampled_from("=+-@;'\" \t\r\n\ufeffx1.\uff1d"), max_size=12))
def test_no_part_of_a_cell_runs(cell):
    disarmed = disarm_cell(cell)
    assert "\r" not in disarmed
    assert not runs(disarmed)
    if not plain_number(cell):
        assert not any(runs(part) for part in disarmed.replace("\t", ";").replace("\n", ";").split(";"))
    as_lines = cell.replace("\r\n", "\n").replace("\r", "\n")
    assert disarmed.replace("'", "") == as_lines.replace("'", "")  # nothing but apostrophes is put in


@pytest.mark.parametrize("cell", [*HARMLESS, -3.5, 2, None, True])
def test_numbers_and_plain_text_stay(cell):
    assert disarm_cell(cell) is cell


@pytest.fixture(scope="module")
def audited():
    """An audit whose features, categories and labels would run."""
    names = ["=1+1", "\t@x"]
    X = pd.DataFrame([*product(NASTY, [-3, 5])], columns=names)
    y = np.where(X[names[0]].isin(NASTY[::2]), "+granted", "@refused")
    first = make_column_transformer((OneHotEncoder(), [names[0]]), remainder="passthrough")
    model = make_pipeline(first, LogisticRegression()).fit(X, y)
    space = lw.Space({names[0]: lw.Categorical(NASTY), names[1]: lw.Integer(-3, 5)})
    return lw.audit(model, space, lw.Similarity(free=[names[0]]), X=X)


def test_a_file_of_an_audit_runs_nothing(audited, tmp_path):
    audited.save(tmp_path / "rows.csv")
    text = (tmp_path / "rows.csv").read_text(encoding="utf-8")
    assert not [cell for cell in cells_of(text) if runs(cell)]
    read = pd.read_csv(tmp_path / "rows.csv", keep_default_na=False)
    assert set(read["'\t'@x"]) == {-3, 5}  # numbers stay numbers, with their signs
    assert set(read["'=1+1"]) == set(map(disarm_cell, NASTY))
    assert len(read) == 2 * len(NASTY)
    again = read_table(tmp_path / "rows.csv")  # our own reader takes it
    assert set(again["'=1+1"]) == set(read["'=1+1"])


def test_formulas_can_be_kept(audited, tmp_path):
    audited.save(tmp_path / "rows.csv", formulas=True)
    read = pd.read_csv(tmp_path / "rows.csv", keep_default_na=False)
    assert {cell for cell in NASTY if "\r" not in cell} < set(read["=1+1"])
    assert {"+granted", "@refused"} & set(read["decision"])
    audited.save(tmp_path / "rows.parquet")  # no spreadsheet guesses there
    assert set(pd.read_parquet(tmp_path / "rows.parquet")["=1+1"]) == set(NASTY)


def test_the_command_disarms_unless_told_otherwise(tmp_path):
    X = pd.DataFrame({"=sex": ["@f", "-m"] * 4, "age": [-1, -2, 3, 4] * 2})
    first = make_column_transformer((OneHotEncoder(), ["=sex"]), remainder="passthrough")
    skops.io.dump(make_pipeline(first, LogisticRegression()).fit(X, X["=sex"]), tmp_path / "m.skops")
    X.to_csv(tmp_path / "d.csv", index=False)
    asked = ["audit", "--model", f"{tmp_path}/m.skops", "--data", f"{tmp_path}/d.csv", "--free", "=sex", "-q"]
    for more, name, values in (([], "'=sex", {"'@f", "'-m"}), (["--keep-formulas"], "=sex", {"@f", "-m"})):
        done = CliRunner().invoke(cli, [*asked, "--output", f"{tmp_path}/rows.csv", *more])
        assert done.exit_code == 0, done.output
        assert set(pd.read_csv(tmp_path / "rows.csv")[name]) == values
