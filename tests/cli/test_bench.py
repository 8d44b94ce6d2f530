"""likewise bench paper on a tiny selection: tables, files, resuming, missing data, wrong names."""

import json

import pytest
from click.testing import CliRunner

from likewise.cli.app import cli
from likewise.paper import experiment


@pytest.fixture
def bench(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def call(*words):
        return CliRunner().invoke(
            cli, ["bench", "paper", "--cache", "kept", "--jobs", "1", "--samples", "300", *words]
        )

    return call


def test_tables_and_files(bench, tmp_path):
    done = bench("--only", "german-linear1", "--only", "fraud-rbf2", "--json", "t.json", "--markdown", "t.md")
    assert done.exit_code == 0
    assert "Table 1" in done.stdout
    assert "Table 2" in done.stdout
    document = json.loads((tmp_path / "t.json").read_text())
    german, fraud = document["rows"]
    assert german["ours"]["verdict"] == "BIASED"
    assert german["ours"]["checked"] is True
    assert german["published"]["answer"] == "BIASED (replayed pair)"
    assert german["testing"]["details"]["samples"] == 300
    assert german["paper"]["time"] == "226.2s"
    assert fraud["ours"] is None
    assert "do not come with Likewise" in fraud["missing"]
    assert "--data DIR" in done.stdout
    markdown = (tmp_path / "t.md").read_text()
    assert markdown.startswith("`likewise bench paper --only german-linear1 --only fraud-rbf2 --samples 300`")
    assert (
        "| GC_Linear1 | 0.767 / 0.760 | 0.767 / 0.760 | Yes | 226.2s | BIASED (replayed pair) |" in markdown
    )
    assert "| FD_Rbf2 | 1.000 / 0.665 | - | Yes | 32.7s | data missing | - | data missing |" in markdown


def test_without_published_only_our_answers_are_worked_out(bench, tmp_path):
    done = bench("--only", "credit-linear2", "--without-published", "--json", "t.json")
    assert done.exit_code == 0
    assert "Table 2" not in done.stdout
    (row,) = json.loads((tmp_path / "t.json").read_text())["rows"]
    assert (row["published"], row["testing"]) == (None, None)
    assert row["ours"]["verdict"] == "FAIR"


def test_a_second_run_continues(bench, monkeypatch):
    def interrupted(*_given):
        return {"reason": "interrupted after 0.1 s"}

    with monkeypatch.context() as patched:
        patched.setattr(experiment, "_ANSWERS", {**experiment._ANSWERS, "ours": interrupted})
        first = bench("--only", "credit-linear1")
    assert first.exit_code == 3
    assert "continues from here" in first.stderr
    assert "BIASED (replayed pair)" in first.stdout
    monkeypatch.setattr(experiment, "_ANSWERS", {"ours": experiment._ANSWERS["ours"]})
    second = bench("--only", "credit-linear1")
    assert second.exit_code == 0
    assert "checked" in second.stdout


def test_models_that_are_refused_are_shown_as_such(bench, monkeypatch, tmp_path):
    from likewise.errors import UnsupportedModel

    def refused(*_given):
        raise UnsupportedModel("no bound is known")

    monkeypatch.setattr(experiment, "_ANSWERS", {"ours": refused})
    done = bench("--only", "credit-linear2", "--without-published")
    assert done.exit_code == 0
    assert "UnsupportedModel" in done.stdout
    assert "CR_Linear2: no bound is known" in done.stdout


def test_wrong_names_and_budgets_are_input_errors(bench):
    wrong = bench("--only", "germany")
    assert wrong.exit_code == 2
    assert "did you mean" in wrong.stderr
    assert bench("--only", "german-linear2", "--budget", "-1").exit_code == 2
    missing = bench("--only", "credit-linear2", "--without-published", "--json", "nowhere/t.json")
    assert missing.exit_code == 2
