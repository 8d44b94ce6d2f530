"""Rows in float32: pairs that break the claim for such rows too are shown, and a proof says only where it has room that it covers how they are rounded."""

import io
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import likewise as lw
from likewise.clock import check_clock
from likewise.families.scored_model import rounding_error
from likewise.importers.imported_model import import_model
from likewise.search.budget import Budget
from likewise.verifying import single_rows

RANDOM = np.random.default_rng(1)
X = pd.DataFrame(
    {
        "age": RANDOM.uniform(18, 70, 200).astype(np.float32),
        "income": RANDOM.uniform(0, 9, 200).astype(np.float32),
        "sex": RANDOM.integers(0, 2, 200).astype(np.float32),
    }
)
Y = X.age / 50 + X.income / 5 + 0.3 * X.sex > 1.9
SPACE = lw.Space({"age": lw.Continuous(18, 70), "income": lw.Continuous(0, 9), "sex": lw.Integer(0, 1)})
FREE = lw.Similarity(free=["sex"])
RICH = lw.Space({"wealth": lw.Continuous(9e5, 1e6), "sex": lw.Integer(0, 1)})
PEOPLE = pd.DataFrame({"wealth": [9e5, 1e6, 9.5e5], "sex": [0, 1, 0]}).astype(np.float32)


def planted(weight):
    """wealth + weight * sex, which float32 has in sixteenths."""
    model = LinearRegression().fit(PEOPLE, np.zeros(3, dtype=np.float32))
    model.coef_, model.intercept_ = np.array([1.0, weight], dtype=np.float32), np.float32(0)
    return model


def in_single_precision(pair):
    return all(np.float32(value) == value for name in pair for value in pair[name].tolist())


@pytest.mark.parametrize(
    "model",
    [
        LogisticRegression(max_iter=2000),
        make_pipeline(StandardScaler(), LogisticRegression()),
        make_pipeline(FunctionTransformer(np.float32), StandardScaler(), LogisticRegression()),
    ],
)
@pytest.mark.parametrize("similar", [FREE, lw.Similarity(free=["sex"], within={"age": 0.1, "income": 1 / 3})])
def test_a_pair_is_shown_that_breaks_the_claim_for_such_rows_too(model, similar):
    model = model.fit(X, Y)
    found = lw.verify(model, SPACE, similar, X=X, budget=20)
    assert found.verdict == "BIASED"
    assert found.stats["in_single_precision"] == "replayed"
    assert in_single_precision(found.pair)
    rows = found.pair.astype(np.float32)
    for asked in (rows, rows.astype(np.float64)):
        first, second = model.predict(asked)
        assert first != second
    for name, most in (similar.within or {}).items():
        one, other = (Fraction(float(value)) for value in found.pair[name])
        assert abs(one - other) <= Fraction(most)
    assert lw.check(io.BytesIO(found.certificate.content)).accepted
    assert "the pair was replayed on such rows too" in " ".join(str(found).split())


def test_pairs_of_frames_of_polars_are_replayed_as_well():
    frame = pl.from_pandas(X)
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(frame, Y)
    found = lw.verify(model, SPACE, FREE, X=frame, budget=20)
    assert found.stats["in_single_precision"] == "replayed"
    first, second = model.predict(found.pair.cast(pl.Float32))
    assert first != second


def test_a_gap_that_single_precision_rounds_away_is_told_of_double_precision_only():
    model = planted(0.02)
    found = lw.verify(model, RICH, FREE, lw.ScoreGap(0.01), X=PEOPLE, budget=20)
    assert found.verdict == "BIASED"
    gaps = np.diff(model.predict(found.pair.astype(np.float32)).astype(float))
    assert abs(gaps)[0] <= 0.01  # which is why
    assert "in_single_precision" not in found.stats
    assert "may answer otherwise" in " ".join(str(found).split())


def test_a_proof_covers_such_rows_only_with_room_for_them():
    model = planted(0.04)
    wealth = np.linspace(9e5, 1e6, 2001).astype(np.float32)
    rows = [pd.DataFrame({"wealth": wealth, "sex": np.full(2001, sex, dtype=np.float32)}) for sex in (0, 1)]
    seen = np.abs(np.diff([model.predict(one).astype(float) for one in rows], axis=0)).max()
    near, far = lw.ScoreGap(0.05), lw.ScoreGap(40.0)
    assert near.delta < seen < far.delta
    found = lw.verify(model, RICH, FREE, near, X=PEOPLE, budget=20)
    assert found.verdict == "FAIR"
    assert found.covers_floating_point  # of rows in double precision
    assert "in_single_precision" not in found.stats
    assert "may answer otherwise" in " ".join(str(found).split())
    found = lw.verify(model, RICH, FREE, far, X=PEOPLE, budget=20)
    assert found.verdict == "FAIR"
    assert found.stats["in_single_precision"] == "covered"
    assert "has room for how the model rounds such rows" in " ".join(str(found).split())


def test_a_proof_stands_where_there_is_no_time_left_to_read_the_program_again(monkeypatch):
    """The clock has run out by the time that it is looked at."""

    def read(*given, **more):
        monkeypatch.setattr(Budget, "checking_seconds", property(lambda _: -1.0))
        check_clock()
        return import_model(*given, **more)

    monkeypatch.setattr(single_rows, "import_model", read)
    found = lw.verify(planted(0.04), RICH, FREE, lw.ScoreGap(40.0), X=PEOPLE, budget=20)
    assert found.verdict == "FAIR"
    assert "in_single_precision" not in found.stats


def test_columns_beside_doubles_are_covered_as_the_program_takes_them():
    mixed = X.astype({"income": np.float64})
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(mixed, Y)
    found = lw.verify(model, SPACE, FREE, lw.ScoreGap(50.0), X=mixed, budget=20)
    assert found.verdict == "FAIR"
    assert found.stats["single_precision"] == ["age", "sex"]
    assert found.stats["in_single_precision"] == "covered"


def test_functions_of_numbers_in_single_precision_are_not_said_to_be_covered():
    model = make_pipeline(FunctionTransformer(np.log1p), LogisticRegression()).fit(X, Y)
    found = lw.verify(model, SPACE, FREE, lw.ScoreGap(50.0), X=X, budget=20)
    assert found.verdict == "FAIR"
    assert "in_single_precision" not in found.stats


def test_rows_in_half_precision_are_told_as_before():
    halves = X.astype(np.float16)
    model = LogisticRegression(max_iter=2000).fit(X.astype(np.float64), Y)
    found = lw.verify(model, SPACE, FREE, X=halves, budget=20)
    assert found.verdict == "BIASED"
    assert "in_single_precision" not in found.stats


def test_mixes_of_such_rows_beside_doubles_count_their_own_rounding():
    """The model is handed doubles, but PCA has mixed numbers of single precision in single precision."""
    frame = X.assign(age=X.age + np.float32(1e4), more=np.float64(1.0) * X.income)
    space = lw.Space(
        {**SPACE.replace({"age": lw.Continuous(10018, 10070)}).features, "more": lw.Continuous(0, 9)}
    )
    front = ColumnTransformer(
        [("mixed", PCA(2), ["age", "income"]), ("plain", "passthrough", ["sex", "more"])]
    )
    model = make_pipeline(front, LinearRegression()).fit(frame, Y.astype(float))
    single = import_model(model, space, rows=space.encode(frame), like=frame, single=("age", "income", "sex"))
    codes = space.encode(frame)
    given = model.predict(frame).astype(float)
    exact = [single.model.exact([Fraction(c) for c in row])[0] for row in codes.tolist()]
    seen = max(abs(Fraction(a) - b) for a, b in zip(given.tolist(), exact, strict=True))
    assert Fraction(1, 10**9) < seen <= rounding_error(single.model, space)  # doubles are off by less


@pytest.mark.parametrize("which", ["nearest", "frequent"])
def test_pairs_like_the_data_are_replayed_as_they_are_shown(which):
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    found = lw.verify(model, SPACE, FREE, X=X, budget=20, like_data=which)
    assert found.verdict == "BIASED"
    assert found.stats["in_single_precision"] == "replayed"
    assert in_single_precision(found.pair)
    first, second = model.predict(found.pair.astype(np.float32))
    assert first != second
