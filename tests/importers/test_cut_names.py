"""Categories whose names XGBoost cuts off: taken from the user's frame where it explains what is left of them, refused everywhere else."""

import functools
import itertools
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import likewise as lw
from likewise.errors import DataError, UnsupportedModel
from likewise.importers.files import load_model
from likewise.importers.xgboost.category_names import CutNames
from likewise.importers.xgboost.model_file import read_xgboost

xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")

CITIES = ("Berlin", "Zürich", "köln", "日本")
PEOPLE = pd.DataFrame(itertools.product(CITIES, range(4), range(3)), columns=["city", "a", "b"])
SPACE = lw.Space.from_data(PEOPLE)
MOVED = lw.Similarity(free=["city"])


def categories(frame=PEOPLE, cities=CITIES):
    return frame.assign(city=pd.Categorical(frame["city"], categories=list(cities)))


@functools.cache
def fitted(biased=True):
    codes = categories()["city"].cat.codes.to_numpy()
    y = (2 * (codes % 2) * biased + PEOPLE["a"] - PEOPLE["b"] > 1).astype(int)
    model = xgboost.XGBClassifier(n_estimators=3, max_depth=4, enable_categorical=True)
    return model.fit(categories(), y)


def as_booster(model, folder):
    return model.get_booster()


def as_json(model, folder):
    model.save_model(folder / "model.json")
    return load_model(folder / "model.json")


def as_ubj(model, folder):
    model.save_model(folder / "model.ubj")
    return load_model(folder / "model.ubj")


def as_estimator(model, folder):
    return model


WAYS = [as_estimator, as_booster, as_json, as_ubj]


@pytest.mark.draw(4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("pairs", [None, [("Zürich", "日本")], [("Berlin", "Zürich")]])
def test_verdicts_are_those_of_predict(way, biased, pairs, tmp_path):
    model = fitted(biased)
    frame = categories()
    similar = MOVED if pairs is None else lw.Similarity(pairs={"city": pairs})
    labels = dict(zip(PEOPLE.itertuples(index=False, name=None), model.predict(frame).tolist(), strict=True))
    moves = itertools.permutations(CITIES, 2) if pairs is None else pairs
    differ = any(
        labels[one, a, b] != labels[two, a, b]
        for (one, two), a, b in itertools.product(list(moves), range(4), range(3))
    )
    result = lw.verify(way(model, tmp_path), SPACE, similar, X=frame)
    assert result.verdict == ("BIASED" if differ else "FAIR")
    assert result.stats["rows_compared"] == len(frame)


@pytest.mark.parametrize("way", WAYS)
def test_without_the_names_it_says_who_lost_them(way, tmp_path):
    model = way(fitted(), tmp_path)
    for X in (None, PEOPLE):
        with pytest.raises(UnsupportedModel, match=r"'city'.*XGBoost 3\.\d.* cuts such names off") as refusal:
            lw.verify(model, SPACE, MOVED, X=X)
        assert "a pandas frame with the categories" in refusal.value.hint


@pytest.mark.parametrize(
    "cities",
    [
        CITIES[::-1],
        ("Berlin", "köln", "Zürich", "日本"),
        (*CITIES, "Bern"),
        ("Berlin", "Zürich", "käln", "日本"),
    ],
)
def test_a_frame_whose_categories_do_not_explain_the_rest_is_refused(cities):
    frame = categories(PEOPLE[PEOPLE["city"] == "Berlin"], cities)
    with pytest.raises(DataError, match="not those that XGBClassifier was fitted on"):
        lw.verify(fitted(), SPACE, MOVED, X=frame)


def test_rows_of_the_frame_must_be_compared():
    with pytest.raises(UnsupportedModel, match="known from the data alone"):
        lw.verify(fitted(), SPACE, MOVED, X=categories().iloc[:0])


def test_behind_a_pipeline_they_are_refused_as_other_categories_are():
    model = make_pipeline(
        FunctionTransformer(), xgboost.XGBClassifier(n_estimators=1, enable_categorical=True)
    )
    model.fit(categories(), PEOPLE["a"] > 1)
    with pytest.raises(UnsupportedModel, match="behind a pipeline"):
        lw.verify(model, SPACE, MOVED, X=categories())


def test_a_repaired_model_keeps_the_names():
    repaired = lw.repair(fitted(), SPACE, MOVED, X=categories())
    assert repaired.result.verdict == "FAIR"
    assert repaired.result.stats["rows_compared"] == len(PEOPLE)


def test_from_the_command_line_with_parquet(tmp_path, invoke_json):
    pytest.importorskip("pyarrow")
    fitted().save_model(tmp_path / "model.json")
    categories().to_parquet(tmp_path / "people.parquet")
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    code, found = invoke_json(tmp_path, "people.parquet")
    assert (code, found["verdict"]) == (1, "BIASED")
    code, text = invoke_json(tmp_path, "people.csv")
    assert code == 2
    assert "cuts such names off" in text


@pytest.fixture
def invoke_json():
    from click.testing import CliRunner

    from likewise.cli.app import cli

    def invoked(folder, data):
        arguments = ["--model", str(folder / "model.json"), "--data", str(folder / data), "--free", "city"]
        found = CliRunner().invoke(cli, ["verify", *arguments, "--json"])
        return found.exit_code, json.loads(found.stdout) if found.exit_code < 2 else " ".join(
            found.output.split()
        )

    return invoked


@pytest.mark.parametrize(
    "names", [("é",), ("ab", "é", "cd"), ("日本", "日光"), CITIES, ("üüüüüü", "ab", "cd"), ("plain", "text")]
)
def test_what_is_left_is_what_xgboost_keeps(names):
    rows = [name for name in names for _ in range(4)]
    frame = pd.DataFrame({"n": pd.Categorical(rows, categories=list(names)), "a": np.arange(len(rows)) % 2})
    booster = xgboost.train({}, xgboost.DMatrix(frame, frame["a"], enable_categorical=True), 1)
    stored = read_xgboost(bytes(booster.save_raw("json")))
    if "".join(names).isascii():
        assert stored.levels[0] == names
        assert not stored.cut
        return
    assert 0 not in stored.levels
    assert stored.cut[0].matches_names(names)
    assert not stored.cut[0].matches_names(tuple(name + "x" for name in names))
    assert not stored.cut[0].matches_names((*names, "more"))


def test_names_that_are_kept_as_they_should_be_are_taken():
    kept = CutNames(letters="éab".encode(), ends=(0, 2, 4))
    assert kept.matches_names(("é", "ab"))
    assert not kept.matches_names(("é", "ba"))
