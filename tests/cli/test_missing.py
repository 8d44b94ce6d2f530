"""From a CSV file with empty cells to a verdict."""

import json
import tomllib

import numpy as np
import pandas as pd
import pytest
import skops.io
from click.testing import CliRunner
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from likewise.cli.app import cli


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Who leaves the income out is refused: a model that tells missing values, free or not, from numbers."""
    place, random = tmp_path_factory.mktemp("gaps"), np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": random.integers(18, 40, 90),
            "income": random.uniform(0, 100, 90).round(2),
            "city": random.choice(["oslo", "rome"], 90),
        }
    )
    for name, every in (("age", 7), ("income", 5), ("city", 11)):
        X[name] = X[name].where(np.arange(90) % every != 0)
    y = np.where(X.income.notna() & (X.age.fillna(20) < 38), "yes", "no")
    X.assign(approved=y).to_csv(place / "d.csv", index=False)
    columns = make_column_transformer(
        (SimpleImputer(add_indicator=True), ["income"]),
        (SimpleImputer(), ["age"]),
        (OneHotEncoder(), ["city"]),
    )
    skops.io.dump(make_pipeline(columns, LogisticRegression(max_iter=2000)).fit(X, y), place / "m.skops")
    return place


@pytest.fixture
def run(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return lambda line: CliRunner().invoke(cli, line.split())


def test_from_empty_cells_to_a_pair_with_a_missing_value(run, folder):
    done = run("init d.csv --model m.skops --label approved --free income -o claim.toml --force")
    assert done.exit_code == 0, done.stderr
    text = (folder / "claim.toml").read_text()
    assert text.count("missing = true    # as in some rows of the data") == 3
    features = tomllib.loads(text)["features"]
    assert features["age"] == {"kind": "integer", "lo": 18, "hi": 39, "missing": True}
    done = run("verify claim.toml --certificate c.likewise")
    assert done.exit_code == 1, done.stderr
    assert "missing" in next(line for line in done.stdout.splitlines() if line.startswith("  income"))
    pair = json.loads(run("verify claim.toml --json").stdout)["pair"]
    assert [row["income"] is None for row in pair].count(True) == 1
    assert run("explain c.likewise").exit_code == 0


def test_fair_where_income_is_the_same(run):
    line = "verify claim.toml --within age=1 --property score:50 --json"
    run("init d.csv --model m.skops --label approved --free city -o claim.toml --force")
    done = run(line)
    assert json.loads(done.stdout)["verdict"] == "FAIR"


def test_without_a_spec_file_missing_values_are_refused_with_the_way_out(run):
    done = run("verify --model m.skops --data d.csv --label approved --free city")
    assert done.exit_code == 2
    assert "missing value" in done.stderr
    assert "likewise init" in done.stderr


def test_a_spec_file_that_allows_no_missing_values(run, folder):
    run("init d.csv --model m.skops --label approved --free city -o claim.toml --force")
    text = (folder / "claim.toml").read_text()
    lines = [line for line in text.splitlines() if not line.startswith("missing = true")]
    (folder / "complete.toml").write_text("\n".join(lines))
    done = run("verify complete.toml")
    assert done.exit_code == 2
    assert "column 'age', row 0 (counted from 0): missing value" in done.stderr
    assert "or write missing = true for it in complete.toml; or fill or drop such rows" in done.stderr
    assert run("verify complete.toml --widen").exit_code == 1
