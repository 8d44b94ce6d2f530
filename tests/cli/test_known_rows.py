"""Brackets on the command line begin with the rows of the data: what an audit shows, `measure` does not fall behind."""

import json

import pytest
import skops.io
from click.testing import CliRunner
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from tests.analysis.test_known_rows import FOREST, LEVELS, TARGETS, X

from likewise.analysis import disparity_problem
from likewise.cli.app import cli
from likewise.clock import OutOfTime

ASKED = (
    "--model forest.skops --data people.csv --label granted --free race --free region --within age=6 --json"
)


@pytest.fixture
def furnished(tmp_path, monkeypatch):
    """A forest of full depth and the rows that it was grown on."""
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import OneHotEncoder

    coding = OneHotEncoder(categories=[list(levels) for levels in LEVELS.values()])
    columns = make_column_transformer((coding, list(LEVELS)), remainder="passthrough")
    model = make_pipeline(columns, RandomForestClassifier(**FOREST)).fit(X, TARGETS["two"])
    skops.io.dump(model, tmp_path / "forest.skops")
    X.assign(granted=TARGETS["two"]).to_csv(tmp_path / "people.csv", index=False)
    monkeypatch.chdir(tmp_path)


def answer(*words):
    found = CliRunner().invoke(cli, [*words[0].split(), *ASKED.split()])
    assert found.exit_code in {0, 1, 3}, found.output
    return json.loads(found.stdout)


@pytest.mark.usefixtures("furnished")
def test_the_lower_end_is_that_of_an_audit_without_a_search(monkeypatch):
    """No cell is looked at: what is found is found by looking at the rows."""

    def no_time(*_args, **_kwargs):
        raise OutOfTime

    audited = answer("audit --property probability:0 --budget 60")
    gap = max(row["gap"] for row in audited["rows"])
    monkeypatch.setattr(disparity_problem, "begin_frontiers", no_time)
    monkeypatch.setattr(disparity_problem, "enumerate_space", lambda *_args, **_kwargs: None)
    found = answer("measure --of probability --budget 60")
    assert gap > 0
    assert found["lower"] >= gap - 1e-6
    assert found["upper"] == 1
