"""A CSV file as the model was fitted on it: verdicts are those of the model's own predict on the frame that pandas reads, or refused."""

import lightgbm
import numpy as np
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, TargetEncoder

ONE_HOT = OneHotEncoder(handle_unknown="ignore")
ENCODERS = {
    "one hot": ONE_HOT,
    "target": TargetEncoder(cv=2),
    "imputed": make_pipeline(SimpleImputer(strategy="constant", fill_value="gone"), ONE_HOT),
}
BIASED, REFUSED = 1, 2


@pytest.fixture
def verdict(run, tmp_path, monkeypatch):
    """The exit code for a model fitted on what `read` makes of a file where the last level alone is treated differently."""
    monkeypatch.chdir(tmp_path)

    def answered(levels, read, fit):
        cells = [(level, k, int(level == levels[-1])) for level in levels for k in range(3)] * 4
        lines = [f'"{c}",{k},{y}' for c, k, y in cells]
        (tmp_path / "t.csv").write_text("\n".join(["c,k,y", *lines]) + "\n")
        rows = read("t.csv")
        path = fit(rows[["c", "k"]], rows["y"])
        assert (
            run("init", "t.csv", "--model", path, "--label", "y", "--free", "c", "-o", "t.toml").exit_code
            == 0
        )
        return run("verify", "t.toml")

    return answered


def of_encoder(encoder):
    def fit(X, y):
        columns = make_column_transformer((encoder, ["c"]), remainder="passthrough")
        model = make_pipeline(columns, LogisticRegression(C=1e3)).fit(X, y)
        assert len(set(model.predict(X))) == 2
        skops.io.dump(model, "model.skops")
        return "model.skops"

    return fit


def every_word(path):
    return pd.read_csv(path, keep_default_na=False)


@pytest.mark.draw(5)
@pytest.mark.parametrize("encoder", ["one hot", "target"])
@pytest.mark.parametrize(
    ("levels", "read", "code"),
    [
        (["True", "False", ""], pd.read_csv, BIASED),
        (["true", "false", ""], pd.read_csv, BIASED),
        (["a", "b", ""], pd.read_csv, BIASED),
        (["a", "b", " "], pd.read_csv, BIASED),
        (["a", "b", " "], every_word, BIASED),
        (["a", "b", "NA"], every_word, BIASED),
        (["a", "b", "NA"], pd.read_csv, REFUSED),
        (["a", "b", ""], every_word, REFUSED),
    ],
)
def test_cells_are_what_the_encoder_was_fitted_on(verdict, levels, read, code, encoder):
    done = verdict(levels, read, of_encoder(ENCODERS[encoder]))
    assert done.exit_code == code, done.output


@pytest.mark.parametrize(("levels", "code"), [(["a", "b", " "], BIASED), (["a", "b", ""], REFUSED)])
def test_an_imputer_that_never_saw_the_gap(verdict, levels, code):
    done = verdict(levels, every_word, of_encoder(ENCODERS["imputed"]))
    assert done.exit_code == code, done.output


@pytest.mark.parametrize(
    ("levels", "read", "code"), [(["a", "b", ""], pd.read_csv, BIASED), (["a", "b", ""], every_word, REFUSED)]
)
def test_categories_of_a_booster(verdict, levels, read, code):
    def fit(X, y):
        settings = {"min_child_samples": 1, "min_data_per_group": 1, "cat_smooth": 0, "verbose": -1}
        model = lightgbm.LGBMClassifier(n_estimators=5, learning_rate=0.5, n_jobs=1, **settings)
        model.fit(X.assign(c=X["c"].astype("category")), y)
        model.booster_.save_model("model.txt")
        return "model.txt"

    done = verdict(levels, read, fit)
    assert done.exit_code == code, done.output


def test_columns_without_names_in_another_order(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = pd.DataFrame([(s, b) for s in (0, 1) for b in range(4)] * 3, columns=["s", "b"])
    y = (rows["b"] > 1).astype(int)
    rows.assign(y=y).to_csv("t.csv", index=False)
    skops.io.dump(LogisticRegression().fit(np.asarray(rows), y), "model.skops")
    assert (
        run(
            "init", "t.csv", "--model", "model.skops", "--label", "y", "--free", "s", "-o", "t.toml"
        ).exit_code
        == 0
    )
    assert run("verify", "t.toml").exit_code == 0
    text = (tmp_path / "t.toml").read_text()
    head, first, second = text.partition("[features.s]")[0], *(f"[features.{n}]" for n in ("s", "b"))
    s, b = text[text.index(first) : text.index(second)], text[text.index(second) : text.index("[similarity]")]
    (tmp_path / "t.toml").write_text(head + b + s + text[text.index("[similarity]") :])
    done = run("verify", "t.toml")
    assert done.exit_code == REFUSED
    assert "without names" in done.output
