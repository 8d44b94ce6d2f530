"""Models fitted on pandas.get_dummies: what is said of raw rows is what get_dummies and the model's own predict say of everybody."""

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from likewise.importers.get_dummies import recognise

N = 240
PREFIX = {"job": "J", "grade": "level", "plan": "P"}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "drop_first": {"drop_first": True},
    "separator": {"prefix_sep": "="},
    "no separator": {"prefix_sep": ""},
    "prefixes": {"prefix": PREFIX, "prefix_sep": ":"},
    "missing": {"dummy_na": True},
    "missing and drop_first": {"dummy_na": True, "drop_first": True, "prefix_sep": "__"},
    "numbers": {"dtype": float},
}


def rows(seed: int = 0, *, gaps: bool = False) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    found = pd.DataFrame(
        {
            "age": random.integers(20, 24, N),
            "job": random.choice(["clerk", "nurse aid", "none_of"], N),
            "grade": random.choice([1, 2, 3], N),
            "plan": random.choice(["a", "b"], N),
            "smokes": random.choice([True, False], N),
        },
        index=np.arange(N) * 3 + 7,
    )
    if gaps:
        found.loc[random.uniform(size=N) < 0.2, "job"] = np.nan
    return found


def labels(X: pd.DataFrame, seed: int = 0) -> Any:
    noise = np.random.default_rng(seed).normal(0, 1.5, len(X))
    score = X.age - 21 + 2 * (X.job == "clerk") - 2 * (X.plan == "b") + X.grade + X.smokes
    return (score + noise > 3).astype(int).to_numpy()


def everybody(X: pd.DataFrame) -> pd.DataFrame:
    """All people that the rows' values make, in pandas."""
    values = [sorted(X[name].dropna().unique().tolist()) for name in X]
    values = [
        [*some_, None] if X[name].isna().any() else some_ for name, some_ in zip(X, values, strict=True)
    ]
    people = pd.DataFrame(list(product(*values)), columns=list(X))
    return people.astype({"age": int, "grade": int, "smokes": bool})


def encode(people: pd.DataFrame, names: Any, options: dict[str, Any]) -> pd.DataFrame:
    """What the notebook does with new rows."""
    shown = {name: value for name, value in options.items() if name != "drop_first"}
    made = pd.get_dummies(people, columns=["job", "grade", "plan"], **shown)
    return made.reindex(columns=names, fill_value=0)


def models() -> dict[str, Any]:
    xgboost = pytest.importorskip("xgboost")
    return {
        "logistic": LogisticRegression(max_iter=2000),
        "forest": RandomForestClassifier(7, max_depth=4, random_state=0),
        "xgboost": xgboost.XGBClassifier(n_estimators=6, max_depth=3),
    }


def treated_otherwise(people: pd.DataFrame, decided: Any, free: str) -> Any:
    """Who has a counterpart that differs in `free` alone and is decided otherwise."""
    rest = [name for name in people if name != free]
    keys = people[rest].astype(object).where(people[rest].notna(), "missing").apply(tuple, axis=1)
    return pd.Series(decided).groupby(keys.to_numpy()).transform("nunique").to_numpy() > 1


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("kind", ["logistic", "forest", "xgboost"])
def test_everybody_is_as_pandas_and_predict_say(kind: str, options: str) -> None:
    """Verdict, share, largest gap and audit against the original program over all people."""
    chosen = OPTIONS[options]
    X = rows(gaps="missing" in options)
    fitted_on = pd.get_dummies(X, columns=["job", "grade", "plan"], **chosen)
    order = np.random.default_rng(1).permutation(fitted_on.columns)
    model = models()[kind].fit(fitted_on[order], labels(X))
    space = lw.Space.from_data(X.astype({"job": object}), missing="include").replace(
        grade=lw.Categorical([1, 2, 3])
    )
    people = everybody(X)
    decided = model.predict(encode(people, order, chosen))
    broken = treated_otherwise(people, decided, "plan")
    similar, said = lw.Similarity(free=["plan"]), {"X": X, "encoding": "get_dummies", "budget": 20}
    result = lw.verify(model, space, similar, **said)
    assert result.verdict == ("BIASED" if broken.any() else "FAIR")
    if result.verdict == "BIASED":
        shown = model.predict(encode(result.pair[list(X)], order, chosen))
        assert shown[0] != shown[1]
    assert lw.share(model, space, similar, **said).lower == pytest.approx(broken.mean())
    chances = pd.Series(model.predict_proba(encode(people, order, chosen))[:, 1].astype(float))
    keys = people.drop(columns="plan").astype(str).apply(tuple, axis=1).to_numpy()
    widest = (chances.groupby(keys).max() - chances.groupby(keys).min()).max()
    gap = lw.measure(model, space, similar, of="probability", **said)
    assert gap.lower - 1e-5 <= widest <= gap.upper + 1e-5
    audit = lw.audit(model, space, similar, **said)
    known = dict(zip(map(tuple, people.astype(str).to_numpy()), broken, strict=True))
    own = X.astype({"job": object}).where(X.notna(), None)[list(people)].astype(str)
    expected = [known[tuple(row)] for row in own.to_numpy()]
    assert audit.rows.sort_values("row")["biased"].tolist() == expected


SPACE = lw.Space(
    {"x": lw.Categorical(["a_b", "c"]), "x_a": lw.Categorical(["b", "d"]), "n": lw.Integer(0, 9)}
)


@pytest.mark.parametrize(
    ("names", "space", "message"),
    [
        (["n", "x_a_b", "x_c", "x_a_d"], SPACE, "may be the category 'a_b' of 'x', or 'b' of 'x_a'"),
        (["n", "x_c"], SPACE, "no column of the model is of the feature 'x_a'"),
        (["n", "x_c", "x_a_d", "x_e"], SPACE, "'x_e', which is neither a feature"),
        (["n", "x_c", "x_a_d", "n_squared"], SPACE, "'n_squared', which is neither a feature"),
        (["n", "x_c", "x_a_d", "x_c"], SPACE, "two columns named 'x_c'"),
        (["p_no", "p_yes", "q_no", "q_yes"], {"a": ["no", "yes"], "b": ["no", "yes"]}, "may be the category"),
        (["x__a"], {"x": ["a", "_a"]}, "may be the category"),
        (["k_1", "k_1.0", "k_2"], {"k": [1, 2]}, "of one category"),
        (["s_nan", "s_u"], {"s": ["nan", "u", None]}, "may be the category 'nan' of 's', or None of 's'"),
    ],
)
def test_what_has_two_readings_or_none_is_refused(names: list[str], space: Any, message: str) -> None:
    if isinstance(space, dict):
        space = lw.Space({name: lw.Categorical(levels) for name, levels in space.items()})
    with pytest.raises(lw.DataError, match=message):
        recognise(names, space)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["x_c", "n", "x_a_d"], [("x", "c"), None, ("x_a", "d")]),
        (["n", "x.a_b", "x.c", "x_a.b"], [None, ("x", "a_b"), ("x", "c"), ("x_a", "b")]),
        (["A=c", "B=b", "B=d", "n"], [("x", "c"), ("x_a", "b"), ("x_a", "d"), None]),
        (["n", "x_c", "x_nan", "x_a_d"], [None, ("x", "c"), ("x", None), ("x_a", "d")]),
    ],
)
def test_columns_are_read_by_their_names(names: list[str], expected: list[Any]) -> None:
    found = recognise(names, SPACE)
    assert [None if one.text is None else (one.feature, one.level) for one in found] == expected


def test_rows_that_pandas_encodes_otherwise_are_refused() -> None:
    """Fitted on text, asked with whole numbers that are written otherwise."""
    X = pd.DataFrame({"k": ["1.0", "2.0"] * 20, "n": range(40)})
    model = LogisticRegression().fit(pd.get_dummies(X), [0, 1] * 20)
    whole = X.assign(k=[1, 2] * 20)
    space = lw.Space.from_data(whole).replace(k=lw.Categorical([1, 2]))
    with pytest.raises(lw.DataError, match=r"pandas.get_dummies gives .* in column 'k_1.0'"):
        lw.verify(model, space, lw.Similarity(free=["k"]), X=whole, encoding="get_dummies")


def test_without_the_argument_the_error_names_it() -> None:
    X = rows()
    model = LogisticRegression(max_iter=500).fit(pd.get_dummies(X), labels(X))
    with pytest.raises(lw.DataError, match="seems to have made of 'job'") as caught:
        lw.verify(model, lw.Space.from_data(X), lw.Similarity(free=["plan"]), X=X)
    assert caught.value.hint == "pass encoding='get_dummies'"


def test_other_encodings_and_models_without_names_are_refused() -> None:
    X = rows()
    space, similar = lw.Space.from_data(X), lw.Similarity(free=["plan"])
    model = LogisticRegression(max_iter=500).fit(pd.get_dummies(X).to_numpy(dtype=float), labels(X))
    with pytest.raises(lw.UnsupportedModel, match="without names"):
        lw.verify(model, space, similar, encoding="get_dummies")
    with pytest.raises(lw.SpecError, match="encoding must be"):
        lw.verify(model, space, similar, encoding="one-hot")
    with pytest.raises(lw.UnsupportedModel, match="BlackBox has none"):
        lw.verify(lw.BlackBox(model.predict), space, similar, encoding="get_dummies")


def test_a_category_that_nobody_has_counts_as_zeros_and_is_named() -> None:
    X = rows()
    seen = X[X.job != "clerk"]
    model = LogisticRegression(max_iter=500).fit(pd.get_dummies(seen), labels(seen))
    result = lw.verify(model, lw.Space.from_data(X), lw.Similarity(free=["job"]), X=X, encoding="get_dummies")
    assert result.stats["encoding"]["without_column"] == [["job", "clerk"]]
    assert "'clerk' of job" in str(result)


def test_a_repaired_model_takes_raw_rows() -> None:
    X = rows()
    model = LogisticRegression(max_iter=500).fit(pd.get_dummies(X), labels(X))
    found = lw.repair(model, lw.Space.from_data(X), lw.Similarity(free=["plan"]), X=X, encoding="get_dummies")
    assert found.result.verdict == "FAIR"
    other = X.assign(plan=X.plan.map({"a": "b", "b": "a"}))
    assert (found.model.predict(X) == found.model.predict(other)).all()


def test_init_detects_the_encoding_and_verify_takes_it_from_the_file(
    tmp_path: Path, monkeypatch: Any
) -> None:
    """From a CSV and a model file to a verdict; without the key the error names the flag."""
    from click.testing import CliRunner

    from likewise.cli.app import cli

    monkeypatch.chdir(tmp_path)
    X = rows()[["age", "job", "plan"]]
    skops_io = pytest.importorskip("skops.io")
    skops_io.dump(LogisticRegression(max_iter=500).fit(pd.get_dummies(X), labels(rows())), "m.skops")
    X.assign(y=labels(rows())).to_csv("d.csv", index=False)
    asked = ["--model", "m.skops", "--label", "y", "--free", "plan"]
    drafted = CliRunner().invoke(cli, ["init", "d.csv", *asked, "-o", "claim.toml"])
    assert drafted.exit_code == 0, drafted.output
    assert 'encoding = "get_dummies"' in (tmp_path / "claim.toml").read_text()
    assert CliRunner().invoke(cli, ["verify", "claim.toml", "--jobs", "1"]).exit_code == 1
    without = CliRunner().invoke(cli, ["verify", "--data", "d.csv", *asked])
    assert without.exit_code == 2
    assert "--encoding get_dummies" in without.output


@pytest.mark.parametrize(
    ("names", "levels"),
    [
        (
            ("job_no", "job_yes", "job_own_no", "job_own_yes"),
            {"job": ["no", "yes", "own_yes"], "job_own": ["no", "yes"]},
        ),
        (("job_yes", "job_own_yes"), {"job": ["no", "yes", "own_yes"], "job_own": ["no", "yes"]}),
        (("a_x", "a_b_x"), {"a": ["x", "b_x"], "a_b": ["x", "y"]}),
        (
            ("p_no", "p_yes", "p_own_no", "p_own_yes"),
            {"job": ["no", "yes", "own_yes"], "job_own": ["no", "yes"]},
        ),
        (("p_no", "p_yes", "q_no", "q_yes"), {"job": ["no", "yes"], "home": ["no", "yes"]}),
        (("A=a_b", "A=c", "B=b", "B=d"), {"x": ["a_b", "c"], "x_a": ["b", "d"]}),
        (("p_no", "p_maybe", "q_no", "q_yes"), {"job": ["no", "yes"], "home": ["no", "maybe", "yes"]}),
    ],
)
def test_columns_of_two_readings_are_refused_and_never_swapped(names, levels):
    space = lw.Space({name: lw.Categorical(some) for name, some in levels.items()})
    with pytest.raises(lw.DataError, match="may be th"):
        recognise(names, space)


def test_a_column_that_is_a_feature_and_a_category_is_refused():
    space = lw.Space({"a": lw.Categorical(["b", "c"]), "a_b": lw.Integer(0, 9)})
    with pytest.raises(lw.DataError, match="may be the feature itself"):
        recognise(("a_b", "a_c"), space)


def test_a_category_that_training_lacked_makes_no_proof_of_another_feature():
    """Both features have the category yes; the columns of one begin like those of the other."""
    train = pd.DataFrame([(a, b) for a in ("no", "yes") for b in ("no", "yes")], columns=["job", "job_own"])
    model = DecisionTreeClassifier().fit(pd.get_dummies(train), train.job == "yes")
    similar = lw.Similarity(free=["job"])
    space = lw.Space.from_data(train)
    assert lw.verify(model, space, similar, encoding="get_dummies", X=train).verdict == "BIASED"
    wider = space.replace(job=lw.Categorical(["no", "yes", "own_yes"]))
    with pytest.raises(lw.DataError, match="may be the category"):
        lw.verify(model, wider, similar, encoding="get_dummies")
