"""A folder of small models and data, and a way to run command lines on them."""

import pathlib

import joblib
import numpy as np
import pandas as pd
import pytest
import skops.io
from click.testing import CliRunner
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.svm import SVC, LinearSVC

from likewise.cli.app import cli


@pytest.fixture(scope="session")
def shelf(tmp_path_factory):
    """d.csv with models on it, and a subset sum (s.csv, s.skops) that no budget of a test decides."""
    folder = tmp_path_factory.mktemp("shelf")
    random = np.random.default_rng(0)
    n = 120
    X = pd.DataFrame(
        {
            "age": random.integers(18, 70, n),
            "sex": random.integers(0, 2, n),
            "income": random.uniform(0, 100, n).round(2),
        }
    )
    y = np.where(X.income + 20 * X.sex + random.normal(0, 5, n) > 60, "yes", "no")
    X.assign(approved=y).to_csv(folder / "d.csv", index=False)
    biased = LogisticRegression(solver="liblinear").fit(X, y)
    models = {
        "m": biased,
        "fair": LogisticRegression(solver="liblinear").fit(X.assign(sex=0), y),
        "unnamed": LogisticRegression(solver="liblinear").fit(X.to_numpy(), y),
        "unfitted": LogisticRegression(),
        "other": LogisticRegression(solver="liblinear").fit(X.rename(columns={"income": "wage"}), y),
        "rbf": SVC().fit(X, y),
        "svc": LinearSVC().fit(X, y),
        "regression": LinearRegression().fit(X, X.income),
        "three": LogisticRegression(solver="newton-cg").fit(
            X, np.array(["low", "middle", "high"])[np.digitize(X.age, [35, 52])]
        ),
        "grades": LogisticRegression(solver="newton-cg").fit(X, np.digitize(X.age, [35, 52])),
        "s": _subset_sum(folder / "s.csv", random),
    }
    for name, model in models.items():
        skops.io.dump(model, folder / f"{name}.skops")
    joblib.dump(biased, folder / "m.joblib")
    return folder


def _subset_sum(path: pathlib.Path, random: np.random.Generator, size: int = 44) -> LogisticRegression:
    """Whether the sum hits one of two neighbouring numbers: even weights, and a bound of half a step."""
    rows = pd.DataFrame(
        random.integers(0, 2, (40, size + 1)), columns=[*(f"b{i}" for i in range(size)), "sex"]
    )
    rows.to_csv(path, index=False)
    weights = 2.0 * random.integers(2**40, 2**41, size)
    model = LogisticRegression(solver="liblinear").fit(rows, rows["sex"])
    model.coef_ = np.append(weights, 1.0)[None, :]
    model.intercept_ = np.array([-weights[: size // 2].sum() - 1.0])
    return model


@pytest.fixture
def run(shelf, monkeypatch):
    """run("verify", "--model", ...) in the folder of the models; also takes one string to split at blanks."""
    monkeypatch.chdir(shelf)

    def call(*args: str):
        words = args[0].split() if len(args) == 1 else args
        return CliRunner().invoke(cli, list(words))

    return call


ON_DATA = "--data d.csv --label approved"


@pytest.fixture
def on_data():
    """The flags that name the data."""
    return ON_DATA


@pytest.fixture
def spec(shelf, tmp_path):
    """A claim file with every section, to be changed by tests: spec(old="new") writes it and gives its path."""
    text = f"""
[model]
path = "{shelf}/m.skops"
[data]
path = "{shelf}/d.csv"
label = "approved"
features = "listed"
[features.age]
kind = "integer"
lo = 18
hi = 70
[features.sex]
kind = "categorical"
levels = [0, 1]
[features.income]
kind = "continuous"
lo = 0
hi = 100
[similarity]
free = ["sex"]
within = {{ age = 2 }}
[property]
kind = "decision"
"""

    def write(*changes: tuple[str, str], name: str = "claim.toml") -> str:
        changed = text
        for old, new in changes:
            assert old in changed
            changed = changed.replace(old, new)
        path = tmp_path / name
        path.write_text(changed)
        return str(path)

    return write
