"""init drafts a claim file, decides nothing, and overwrites nothing."""

import tomllib

import joblib
import pandas as pd
import pytest
import skops.io
from sklearn.compose import make_column_transformer
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from likewise.cli.init import sounds_protected


def test_the_draft_is_a_spec_file_without_a_decision(run, on_data, shelf):
    done = run("init d.csv --model m.skops --label approved")
    assert done.exit_code == 0
    draft = tomllib.loads(done.stdout)
    assert draft["model"]["path"] == "m.skops"
    assert draft["data"] == {"path": "d.csv", "label": "approved", "features": "listed"}
    assert list(draft["features"]) == ["age", "sex", "income"]
    assert draft["similarity"] == {"free": []}
    assert "# FILL IN: what may differ" in done.stdout
    assert '# By their names alone these might be: "age", "sex".' in done.stdout


def test_verify_refuses_the_draft_until_it_is_filled_in(run, shelf, tmp_path):
    path = tmp_path / "claim.toml"
    assert run(f"init d.csv --model m.skops --label approved -o {path}").exit_code == 0
    done = run("verify", str(path))
    assert done.exit_code == 2
    assert f"{path}: similarity: nothing may differ" in done.stderr
    path.write_text(path.read_text().replace("free = []", 'free = ["sex"]'))
    assert run("verify", str(path)).exit_code == 1


def test_with_free_the_draft_is_complete(run, tmp_path):
    path = tmp_path / "claim.toml"
    run(f"init d.csv --model m.skops --label approved --free sex -o {path}")
    assert "FILL IN" not in path.read_text()
    assert "individuals who differ only in sex get the same decision" in path.read_text()
    assert run("verify", str(path)).exit_code == 1


def test_nothing_is_overwritten_without_force(run, tmp_path):
    path = tmp_path / "claim.toml"
    path.write_text("mine")
    line = f"init d.csv --model m.skops --label approved -o {path}"
    done = run(line)
    assert done.exit_code == 2
    assert "--force" in done.stderr
    assert path.read_text() == "mine"
    assert run(f"{line} --force").exit_code == 0
    assert path.read_text() != "mine"


def test_columns_the_model_does_not_know_are_named(run):
    done = run("init d.csv --model m.skops")
    assert done.exit_code == 0
    assert "# The model was not fitted on: approved\n" in done.stdout
    assert "approved" not in tomllib.loads(done.stdout)["features"]


def test_a_pickle_stays_closed(run):
    assert list(tomllib.loads(run("init d.csv --model m.joblib --label approved").stdout)["features"]) == [
        "age", "sex", "income",
    ]  # fmt: skip


def test_constant_columns_are_kept_and_marked(run, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("age,sex,income\n20,0,1.5\n20,1,2.5\n")
    text = run("init", str(path), "--model", "m.skops").stdout
    assert "# The same in every row of the data: give it its real bounds or levels.\n[features.age]\n" in text


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("init absent.csv --model m.skops", "absent.csv"),
        ("init d.csv --model absent.skops", "absent.skops"),
        ("init d.csv --model m.skops --label aproved", "did you mean 'approved'"),
        ("init d.csv --model m.skops --label approved --free sx", "did you mean 'sex'"),
        ("init d.csv --model other.skops --label approved", "no column 'wage'"),
        ("init d.csv --model m.skops --label approved -o absent/claim.toml", "cannot be written"),
    ],
)
def test_bad_input(run, line, word):
    done = run(line)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert word in done.stderr


def test_names_that_sound_protected():
    assert all(map(sounds_protected, ["sex", "personal_age", "MaritalStatus", "is-foreign-worker", "Race"]))
    assert not any(map(sounds_protected, ["wage", "page_views", "sexton", "trace", "income"]))


def test_what_verify_refuses_is_refused_at_once(run, tmp_path):
    lightgbm = pytest.importorskip("lightgbm")
    rows = pd.DataFrame({"age": [20, 30, 40, 50], "sex": [0, 1, 0, 1]})
    ranker = lightgbm.LGBMRanker(n_estimators=2, min_child_samples=1, verbose=-1)
    joblib.dump(ranker.fit(rows, [0, 1, 2, 3], group=[4]).booster_, tmp_path / "ranker.joblib")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    draft = ["init", str(tmp_path / "rows.csv"), "--free", "sex", "--allow-pickle", "--model"]
    done = run(*draft, str(tmp_path / "ranker.joblib"))
    assert done.exit_code == 2
    assert "Booster is not supported" in done.stderr


def test_columns_that_make_a_black_box_are_named_with_what_would_allow_a_proof(run, tmp_path):
    """In sparse columns XGBoost takes every zero for a missing value."""
    xgboost = pytest.importorskip("xgboost")
    rows = pd.DataFrame({"age": [0, 30, 40, 50] * 9, "job": list("abcdef") * 6, "sex": ["f", "m"] * 18})
    for dense in (False, True):
        coding = OneHotEncoder(sparse_output=not dense)
        columns = make_column_transformer(
            (coding, ["job", "sex"]), ("passthrough", ["age"]), sparse_threshold=float(not dense)
        )
        model = make_pipeline(columns, xgboost.XGBClassifier(n_estimators=2, max_depth=2))
        skops.io.dump(model.fit(rows, [0, 0, 1, 1] * 9), tmp_path / "m.skops")
        rows.to_csv(tmp_path / "rows.csv", index=False)
        draft = ["init", str(tmp_path / "rows.csv"), "--model", str(tmp_path / "m.skops"), "--free", "sex"]
        done = run(*draft, "-o", str(tmp_path / "c.toml"), "--force")
        asked = run("verify", str(tmp_path / "c.toml"), "--budget", "1")
        assert done.exit_code == 0
        assert ("gives a sparse matrix" in " ".join(asked.stdout.split())) == (not dense)
        assert ("sparse_threshold=0" in asked.stdout) == (not dense)


def test_what_verify_asks_is_drafted(run, tmp_path):
    rows = pd.DataFrame({"age": [20, 30, 40, 50], "sex": [0, 1, 0, 1]})
    skops.io.dump(KNeighborsClassifier(2).fit(rows, [0, 0, 1, 1]), tmp_path / "knn.skops")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    done = run("init", str(tmp_path / "rows.csv"), "--model", str(tmp_path / "knn.skops"), "--free", "sex")
    assert done.exit_code == 0, done.output


def test_rules_of_the_rows_are_comments_until_somebody_takes_them(run, tmp_path):
    data, path = tmp_path / "rows.csv", tmp_path / "claim.toml"
    frame = pd.read_csv("d.csv")
    rows = pd.concat([frame] * (1 + 200 // len(frame)), ignore_index=True)
    rows["age"] = range(20, 20 + len(rows))
    rows["income"] = rows["age"] * 2.0
    rows.to_csv(data, index=False)
    line = f"init {data} --model m.skops --label approved --free sex"
    assert "Rules that the rows obey" not in run(line).stdout
    drafted = run(f"{line} --mine -o {path}")
    assert drafted.exit_code == 0
    text = path.read_text()
    assert "# Rules that the rows obey" in text
    assert f"# {len(rows):,} rows, none breaks it" in text
    assert "constraints" not in tomllib.loads(text)
    lines = [
        one.removeprefix("# ") if one.startswith(("# [[con", "# rule")) else one for one in text.splitlines()
    ]
    taken = tomllib.loads("\n".join(lines))
    assert all("income" in constraint["rule"] for constraint in taken["constraints"])
    path.write_text("\n".join(lines))
    assert run("verify", str(path)).exit_code in (0, 1)


def test_no_rule_is_said_so(run):
    assert "# No rule between two features was found" in run("init d.csv --model m.skops --mine").stdout
