"""Every function and every command reads a model once, and encodes the rows once."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
import skops.io
from click.testing import CliRunner
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.svm import SVC

import likewise as lw
import likewise.problem
from likewise.analysis.margins import margins
from likewise.cli.app import cli
from likewise.importers.imported_model import import_model
from likewise.spec import rows as spec_rows

SPACE = lw.Space({"a": lw.Integer(0, 5), "job": lw.Categorical(["x", "y", "z"]), "s": lw.Integer(0, 1)})
SIMILAR = lw.Similarity(free=["s"], within={"a": 1})


def people(count=40):
    random = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "a": random.integers(0, 6, count),
            "job": random.choice(["x", "y", "z"], count),
            "s": random.integers(0, 2, count),
        }
    )


X = people()
Y = (X.a + X.s + 2 * (X.job == "y") + np.random.default_rng(4).normal(size=len(X)) > 3.5).astype(int)


def fitted(last):
    columns = make_column_transformer((OneHotEncoder(), ["job"]), remainder="passthrough")
    return make_pipeline(columns, last).fit(X, Y)


@pytest.fixture(scope="module")
def models():
    return fitted(LogisticRegression()), fitted(SVC(gamma=0.3))


@pytest.fixture
def counts(monkeypatch):
    """How often a model was imported, and how often the rows (more than a pair) were encoded."""
    seen = {"imports": 0, "encodings": 0}
    encode = spec_rows.encode

    def counting_import(*given, **more):
        seen["imports"] += 1
        return import_model(*given, **more)

    def counting_encode(space, frame, **more):
        seen["encodings"] += len(frame) > 2
        return encode(space, frame, **more)

    monkeypatch.setattr(likewise.problem, "import_model", counting_import)
    monkeypatch.setattr("likewise.importers.imported_model.import_model", counting_import)
    monkeypatch.setattr("likewise.analysis.partition.proofs.import_model", counting_import)
    monkeypatch.setattr(spec_rows, "encode", counting_encode)
    return seen


FUNCTIONS = {
    "verify": lambda m, o: lw.verify(m, SPACE, SIMILAR, X=X, budget=2),
    "measure": lambda m, o: lw.measure(m, SPACE, SIMILAR, X=X, budget=2),
    "margins": lambda m, o: margins(m, SPACE, SIMILAR, X=X, budget=2),
    "audit": lambda m, o: lw.audit(m, SPACE, SIMILAR, X=X, budget=2),
    "share": lambda m, o: lw.share(m, SPACE, SIMILAR, X=X, budget=2),
    "certified share": lambda m, o: lw.share(m, SPACE, SIMILAR, X=X, method="certified", budget=2),
    "share of rows": lambda m, o: lw.share(m, SPACE, SIMILAR, over=X, budget=2),
    "radius": lambda m, o: lw.radius(m, SPACE, SIMILAR, X=X, budget=2),
    "radius of a feature": lambda m, o: lw.radius(m, SPACE, lw.Similarity(), feature="a", X=X, budget=2),
    "regions": lambda m, o: lw.regions(m, SPACE, SIMILAR, X=X, budget=2),
    "compare": lambda m, o: lw.compare(m, o, SPACE, SIMILAR, X=X, budget=2),
    "repair": lambda m, o: lw.repair(m, SPACE, SIMILAR, X=X, y=Y, weights="observed", budget=2),
    "shrink": lambda m, o: lw.repair(
        m, SPACE, SIMILAR, X=X, method="shrink", property=lw.ScoreGap(0.1), budget=5
    ),
}
MODELS_READ = {"compare": 2, "repair": 2, "shrink": 2}  # one each: what is built is a model as well


@pytest.mark.some_days
@pytest.mark.draw(6)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_import_and_encode_once(name, models, counts):
    FUNCTIONS[name](*models)
    assert counts == {"imports": MODELS_READ.get(name, 1), "encodings": 1}


def test_regions_of_other_families_import_once(models, counts):
    lw.regions(models[1], SPACE, SIMILAR, X=X, budget=3)
    assert counts == {"imports": 1, "encodings": 1}


COMMANDS = {
    "verify": ["verify"],
    "verify where": ["verify", "--where", "a <= 4"],
    "measure": ["measure"],
    "audit": ["audit"],
    "share": ["share", "--over", "marginals"],
    "radius": ["radius", "--feature", "a", "--free", "s"],
    "regions": ["regions"],
    "regions around": ["regions", "--around", "0"],
    "compare": ["compare", "--with", "other.skops"],
    "repair": ["repair"],
    "report": ["report", "-o", "report.html", "--within", "a=1"],
    "card": ["card"],
    "export": ["export", "-o", "model.json"],
}


@pytest.mark.some_days
@pytest.mark.draw(6)
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_import_and_encode_once(name, models, counts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X.assign(y=Y).to_csv("rows.csv", index=False)
    for file, model in zip(("model.skops", "other.skops"), models, strict=True):
        skops.io.dump(model, file)
    command, *flags = COMMANDS[name]
    claim = ["--model", "model.skops", "--data", "rows.csv", "--label", "y"]
    claim += [] if "--free" in flags else ["--free", "s"]
    budget = [] if command == "export" else ["--budget", "2"]
    given = CliRunner().invoke(cli, [command, *claim, *flags, *budget])
    assert given.exit_code in (0, 1, 3), given.output
    assert counts == {"imports": MODELS_READ.get(name, 1), "encodings": 1}


def test_several_claims_of_a_run_are_read_once_each(models, counts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X.assign(y=Y).to_csv("rows.csv", index=False)
    skops.io.dump(models[0], "model.skops")
    drafted = CliRunner().invoke(
        cli, ["init", "rows.csv", "--model", "model.skops", "--label", "y", "--free", "s", "-o", "one.toml"]
    )
    assert drafted.exit_code == 0, drafted.output
    assert counts == {
        "imports": 1,
        "encodings": 2,
    }  # to look for dummies, and to tell what verify would refuse
    counts.update(imports=0, encodings=0)
    (tmp_path / "two.toml").write_text((tmp_path / "one.toml").read_text())
    given = CliRunner().invoke(cli, ["verify", "one.toml", "two.toml", "--json"])
    assert [one["stats"]["import_seconds"] > 0 for one in json.loads(given.stdout)] == [True, True]
    assert counts == {"imports": 2, "encodings": 2}
