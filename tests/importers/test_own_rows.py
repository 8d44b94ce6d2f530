"""The user's own rows: what the model says of them as they are is what it says of their codes, or nothing is proved."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler

import likewise as lw
from likewise.errors import DataError, UnsupportedModel
from likewise.importers.imported_model import import_model
from likewise.importers.self_check import compare_own_rows

ROWS = pd.DataFrame([(s, a, b) for s in (0, 1) for a in range(4) for b in range(4)], columns=["s", "a", "b"])
SPACE = lw.Space.from_data(ROWS)
LABELS = (2 * ROWS["b"] + ROWS["a"] / 10 > 3).astype(int)
FREE = lw.Similarity(free=["s"])


def verdict(model, X, space=SPACE, similar=FREE):
    return str(lw.verify(model, space, similar, lw.SameDecision(), X=X).verdict)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_columns_without_names_come_in_the_order_of_the_space(make):
    model = LogisticRegression().fit(ROWS.to_numpy(), LABELS)
    frame = make(ROWS.to_dict("list"))
    assert verdict(model, frame) == "FAIR"
    swapped = make(ROWS[["b", "a", "s"]].assign(label=LABELS).to_dict("list"))
    with pytest.raises(DataError, match="the space has 's' where the data have 'b'"):
        verdict(model, swapped)
    named = LogisticRegression().fit(ROWS, LABELS)
    assert verdict(named, swapped) == "FAIR"


def test_narrow_integers_that_overflow_are_noticed():
    square = make_pipeline(FunctionTransformer(np.square), LinearRegression())
    narrow = (ROWS * 30).astype("int8")
    model = square.fit(narrow, LABELS)
    space = lw.Space.from_data(ROWS * 30)
    with pytest.raises(DataError, match="for the row as it is"):
        lw.verify(model, space, FREE, lw.ScoreGap(1), X=narrow)
    assert lw.verify(model, space, FREE, lw.ScoreGap(1e9), X=ROWS * 30).verdict


@pytest.mark.parametrize(
    "model",
    [make_pipeline(StandardScaler(), LogisticRegression()), RandomForestClassifier(3, random_state=0)],
)
def test_rows_in_single_precision_are_taken(model):
    single = (ROWS + np.float32(0.1)).astype("float32")
    space = lw.Space.from_data(single)
    codes = space.encode(single)
    imported = import_model(model.fit(ROWS + 0.1, LABELS), space, rows=codes, like=single)
    compare_own_rows(imported, single, codes)
    with pytest.raises(DataError, match=r"row 0 .*: the model's score is"):
        compare_own_rows(imported, single, codes[::-1].copy())


@pytest.mark.some_days
@pytest.mark.parametrize(
    "gaps",
    [
        pd.Series([True, False, None], dtype=object),
        pd.Series([True, False, np.nan], dtype=object),
        pd.Series([True, False, None], dtype="boolean"),
        pd.Series(pd.Categorical([True, False, None])),
        pd.Series(pd.Categorical(["yes", "no", None])),
        pd.Series(["yes", "no", None], dtype="str"),
        pd.Series(["yes", "no", None], dtype=object),
    ],
    ids=str,
)
def test_missing_levels_are_what_they_are_in_the_rows(gaps):
    """Only what is missing is treated differently; an encoder that is given another marker would pass over it."""
    rows = pd.DataFrame({"c": gaps, "k": [0, 0, 0]})
    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(C=1e3)).fit(
        rows, [0, 0, 1]
    )
    space = lw.Space({**lw.Space.from_data(rows[["c"]], missing="include").features, "k": lw.Integer(0, 1)})
    result = lw.verify(model, space, lw.Similarity(free=["c"]), lw.SameDecision(), X=rows)
    assert str(result.verdict) == "BIASED"


def test_another_marker_than_the_encoder_was_fitted_on_is_refused():
    def rows(marker):
        return pd.DataFrame({"c": pd.Series(["yes", "no", marker], dtype=object)})

    model = make_pipeline(OneHotEncoder(handle_unknown="ignore"), LogisticRegression(C=1e3))
    model.fit(rows(None), [0, 0, 1])
    space, free = lw.Space({"c": lw.Categorical(["no", "yes", None])}), lw.Similarity(free=["c"])
    with pytest.raises(
        UnsupportedModel, match="was fitted on None for missing values of 'c', and the rows have NaN"
    ):
        lw.verify(model, space, free, lw.SameDecision(), X=rows(np.nan))
    assert str(lw.verify(model, space, free, lw.SameDecision(), X=rows(None)).verdict) == "BIASED"


NAMED = ROWS.assign(s=ROWS["s"].map({0: "east", 1: "west"}))
CATEGORIES = NAMED.assign(s=NAMED["s"].astype("category"))


@pytest.fixture(scope="module")
def boosted():
    """A model of pandas categories, which fails on the same words as text."""
    xgboost = pytest.importorskip("xgboost")
    return xgboost.XGBClassifier(n_estimators=2, enable_categorical=True).fit(CATEGORIES, LABELS)


ANSWERS = {
    "verify": lambda model, X, space: lw.verify(model, space, FREE, X=X),
    "measure": lambda model, X, space: lw.measure(model, space, FREE, X=X),
    "audit": lambda model, X, space: lw.audit(model, space, FREE, X=X),
    "share": lambda model, X, space: lw.share(model, space, FREE, over=X),
    "share of everybody": lambda model, X, space: lw.share(model, space, FREE, X=X),
    "radius": lambda model, X, space: lw.radius(model, space, FREE, X=X, feature="a"),
    "regions": lambda model, X, space: lw.regions(model, space, FREE, X=X),
    "repair": lambda model, X, space: lw.repair(model, space, FREE, X=X).result,
    "compare": lambda model, X, space: lw.compare(model, model, space, FREE, X=X).results[1],
}


@pytest.mark.some_days
@pytest.mark.parametrize("command", ANSWERS)
def test_every_answer_tells_how_many_rows_were_compared_or_why_none_could_be(boosted, command):
    space = lw.Space.from_data(NAMED)
    stats = ANSWERS[command](boosted, CATEGORIES, space).stats
    assert (stats["rows_compared"], stats["rows_not_compared"]) == (len(ROWS), None)
    stats = ANSWERS[command](boosted, NAMED, space).stats
    assert stats["rows_compared"] == 0
    assert stats["rows_not_compared"].startswith("ValueError: DataFrame.dtypes")
    assert "\n" not in stats["rows_not_compared"]


def test_a_verdict_says_so_where_rows_could_not_be_compared(boosted):
    space = lw.Space.from_data(NAMED)
    compared, through_codes = (
        lw.verify(boosted, space, FREE, lw.ProbabilityGap(0.9), X=X) for X in (CATEGORIES, NAMED)
    )
    said = "compared through codes only"
    for text in (str, lambda result: result.model_card(), lambda result: result._repr_html_()):
        words = [" ".join(text(result).split()) for result in (compared, through_codes)]
        assert [said in one for one in words] == [False, True]
    assert lw.verify(boosted, space, FREE, lw.ProbabilityGap(0.9)).stats["rows_not_compared"] is None


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_answers_say_that_columns_in_single_precision_are_asked_about_in_double(make):
    rows = make({"s": ROWS["s"], "a": ROWS["a"].astype("float32"), "b": ROWS["b"]})
    scaled = make_pipeline(StandardScaler(), RandomForestClassifier(3, random_state=0)).fit(rows, LABELS)
    result = lw.verify(scaled, SPACE, FREE, X=rows)
    assert result.stats["single_precision"] == ["a"]
    assert "in single precision (a)" in " ".join(str(result).split())
    assert lw.audit(scaled, SPACE, FREE, X=rows).stats["single_precision"] == ["a"]
    alone = RandomForestClassifier(3, random_state=0).fit(rows, LABELS)
    assert lw.verify(alone, SPACE, FREE, X=rows).stats["single_precision"] == []
    doubles = make({name: rows[name].to_numpy().astype("float64") for name in ("s", "a", "b")})
    assert lw.verify(scaled, SPACE, FREE, X=doubles).stats["single_precision"] == []
