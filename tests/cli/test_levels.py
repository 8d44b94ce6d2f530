"""Pairs of levels and rules between levels on the command line and in spec files."""

import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from likewise.spec.file import read_spec, write_spec

JOBS = ["none", "unskilled", "skilled", "a=b:c"]
HOUSING = ["own", "rent"]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    """jobs.csv and jobs.skops: only "none" is treated differently, whoever owns a house is employed."""
    folder = tmp_path_factory.mktemp("jobs")
    rows = pd.DataFrame([(job, h) for job in JOBS for h in HOUSING], columns=["job", "housing"])
    y = np.where(rows["job"] == "none", "no", "yes")
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(rows, y)
    classifier, weights = model[-1], np.array([[-2.0, -2.0, -2.0, -2.0, 0.0, 0.0]])
    weights[0, list(model[0].categories_[0]).index("none")] = 2.0
    classifier.coef_, classifier.intercept_ = -weights, np.array([0.0])
    rows.assign(granted=y).to_csv(folder / "jobs.csv", index=False)
    skops.io.dump(model, folder / "jobs.skops")
    return folder


@pytest.fixture
def verify(run, jobs, monkeypatch):
    monkeypatch.chdir(jobs)

    def call(*more):
        return run("verify", "--model", "jobs.skops", "--data", "jobs.csv", "--label", "granted", *more)

    return call


@pytest.mark.parametrize(
    ("pairs", "verdict"),
    [
        (["job=skilled:unskilled"], 0),
        (["job=skilled:none"], 1),
        (["job=skilled:unskilled", "job=unskilled:none"], 1),
        (["job=a=b:c:skilled"], 0),
        (["housing=own:rent"], 0),
    ],
)
def test_pairs_on_the_command_line(verify, pairs, verdict):
    done = verify(*(word for pair in pairs for word in ("--pairs", pair)))
    assert done.exit_code == verdict, done.output


def test_pairs_that_are_wrong(verify):
    done = verify("--pairs", "job=skilled:unskiled")
    assert done.exit_code == 2
    assert "unknown level 'unskiled' (did you mean 'unskilled'?)" in done.output
    assert "both free and in pairs" in verify("--free", "job", "--pairs", "job=skilled:none").output


SPEC = """
[model]
path = "{jobs}/jobs.skops"
[data]
path = "{jobs}/jobs.csv"
label = "granted"
[similarity.pairs]
job = [["skilled", "none"]]
"""


def test_pairs_in_a_spec_file(run, jobs, tmp_path):
    path = tmp_path / "claim.toml"
    path.write_text(SPEC.format(jobs=jobs))
    assert read_spec(path).similarity.pairs == {"job": (("skilled", "none"),)}
    assert run("verify", str(path)).exit_code == 1
    assert run("verify", str(path), "--pairs", "job=skilled:unskilled").exit_code == 0
    path.write_text(SPEC.format(jobs=jobs).replace('[["skilled", "none"]]', '"skilled"'))
    done = run("verify", str(path))
    assert done.exit_code == 2
    assert "'job' needs a list of pairs" in done.output


def test_rules_between_levels(verify):
    """The model treats "none" differently; under the rule nobody is left who could be told apart."""
    assert verify("--free", "job").exit_code == 1
    assert verify("--free", "job", "--where", "if housing in {own, rent} then job != none").exit_code == 0
    done = verify("--free", "job", "--where", "if housing == won then job != none")
    assert done.exit_code == 2
    assert "--where" in done.output
    assert "'housing' has no level 'won' (did you mean 'own'?)" in done.output


def test_rules_between_levels_in_a_spec_file(run, jobs, tmp_path):
    path = tmp_path / "claim.toml"
    listed = '[features.housing]\nkind = "categorical"\nlevels = ["own", "rent"]\n'
    rule = "[[constraints]]\nrule = 'if housing in {\"own\", rent} then job != none and job != skilled'\n"
    path.write_text(
        listed
        + rule
        + '[features.job]\nkind = "categorical"\nlevels = ["none", "skilled", "unskilled"]\n[similarity]\nfree = ["job"]\n'
    )
    claim = read_spec(path)
    assert len(claim.space.constraints) == 2
    write_spec(claim, tmp_path / "again.toml")
    assert read_spec(tmp_path / "again.toml") == claim
    assert (tmp_path / "again.toml").read_text().count("[[constraints]]") == 1


def test_truth_values_of_a_file_are_those_of_the_model(run, tmp_path, monkeypatch):
    """Read as text they would be unknown to the encoder, which ignores them, and the model would seem fair."""
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame({"married": [True, False] * 20, "income": range(40)})
    labels = np.where(rows.married, "yes", "no")
    rows.assign(granted=labels).to_csv("rows.csv", index=False)
    read = pd.read_csv("rows.csv")[["married", "income"]]
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression()).fit(read, labels)
    skops.io.dump(model, "model.skops")
    given = ("--model", "model.skops", "--label", "granted", "--free", "married")
    assert run("init", "rows.csv", *given, "-o", "claim.toml").exit_code == 0
    assert "levels = [false, true]" in (tmp_path / "claim.toml").read_text()
    assert run("verify", "claim.toml").exit_code == 1
    assert run("verify", *given, "--data", "rows.csv").exit_code == 1
