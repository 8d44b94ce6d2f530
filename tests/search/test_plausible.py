"""Pairs near the data: witnesses still, at least as near to a row as the one that was found, and the row that is named."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import likewise as lw
from likewise.clock import OutOfTime
from likewise.errors import SpecError
from likewise.search import plausible

SPACE = lw.Space(
    {
        "sex": lw.Categorical(["f", "m"]),
        "a": lw.Integer(0, 20),
        "b": lw.Integer(0, 20),
        "c": lw.Continuous(0, 10),
    }
)


def coded(frame):
    return frame.assign(sex=(frame["sex"] == "m").astype(int))


class Coded:
    """A linear model behind codes of sex, as one pipeline."""

    @staticmethod
    def of(weights, bias):
        from sklearn.compose import make_column_transformer
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import OrdinalEncoder

        frame = pd.DataFrame({"sex": ["f", "m"], "a": [0, 20], "b": [0, 20], "c": [0.0, 10.0]})
        encoded = make_column_transformer((OrdinalEncoder(), ["sex"]), remainder="passthrough")
        model = make_pipeline(encoded, LogisticRegression()).fit(frame, [0, 1])
        model[-1].coef_, model[-1].intercept_ = np.array([weights], dtype=float), np.array([float(bias)])
        return model


def gower(one, other, rows):
    """Written anew: nothing of the package."""
    parts = [float(one["sex"] != other["sex"])]
    for name in ("a", "b", "c"):
        spread = float(rows[name].max() - rows[name].min()) or 1.0
        parts.append(min(abs(float(one[name]) - float(other[name])) / spread, 1.0))
    return sum(parts) / len(parts)


def nearest(pair, rows):
    people, data = pair.to_dict("records"), rows.to_dict("records")
    return min((gower(one, row, rows), n) for one, (n, row) in itertools.product(people, enumerate(data)))


def test_a_row_that_is_part_of_a_pair_is_shown():
    """Only a narrow band of scores flips with sex, and one row is in it."""
    rows = pd.DataFrame(
        {"sex": ["f", "m", "f", "m"], "a": [1, 2, 10, 3], "b": [1, 1, 10, 2], "c": [0.5, 1.0, 5.0, 2.0]}
    )
    model = Coded.of([0.5, 1, 1, 0], -20.25)
    found = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=rows, like_data=True)
    near = found.stats["nearest_row"]
    assert found.verdict == "BIASED"
    assert (near["row"], near["distance"], near["differs"]) == (2, 0.0, {})
    assert found.pair.iloc[near["individual"] - 1].to_dict() == rows.iloc[2].to_dict()
    assert "is row 2 of the data" in str(found)
    assert len(set(model.predict(found.pair))) == 2


def test_a_row_that_is_part_of_a_pair_is_shown_also_where_time_is_short(monkeypatch):
    """Thousands of rows break a claim, and there is no time to compare all of their counterparts with all rows."""
    model = Coded.of([1.0, 0.1, 0.0, 0.0], -1.5)
    rows = pd.DataFrame({"sex": ["f", "m"] * 20, "a": [9, 1] * 20, "b": range(40), "c": [1.0] * 40})
    rows["b"] = rows["b"] // 2
    whole, calls = plausible._Nearness.nearest, itertools.count()

    def late(self, codes):
        if next(calls) == 3:
            raise OutOfTime
        return whole(self, codes)

    monkeypatch.setattr(plausible._Nearness, "nearest", late)
    result = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=rows, like_data=True)
    assert result.verdict == "BIASED"
    assert result.stats["nearest_row"]["distance"] == 0


def test_a_pair_is_moved_towards_the_rows():
    """No row is in the band: what is shown is nearer than what a search shows by itself, and its distance is what Gower says."""
    rows = pd.DataFrame(
        {"sex": ["f", "m", "f", "m"], "a": [1, 2, 9, 3], "b": [1, 1, 9, 2], "c": [0.5, 1.0, 5.0, 2.0]}
    )
    model = Coded.of([0.5, 1, 1, 0], -20.25)
    plain = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=rows)
    found = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=rows, like_data=True)
    near = found.stats["nearest_row"]
    distance, row = nearest(found.pair, rows)
    assert near["distance"] == pytest.approx(distance)
    assert near["row"] == row
    assert distance <= nearest(plain.pair, rows)[0] + 1e-12
    assert near["differs"]
    assert "no row was found to be part of such a pair" in str(found)
    assert "nearest_row" not in plain.stats
    assert len(set(model.predict(found.pair))) == 2
    x, other = (codes for codes in coded(found.pair)[["sex", "a", "b", "c"]].to_numpy())
    scores = [
        sum(Fraction(w) * Fraction(v) for w, v in zip((0.5, 1, 1, 0), one, strict=True)) for one in (x, other)
    ]
    assert (scores[0] > Fraction(81, 4)) != (scores[1] > Fraction(81, 4))


@pytest.mark.parametrize("make", [lambda: SVC(gamma=0.3), lambda: RandomForestClassifier(10, random_state=0)])
def test_pairs_of_other_models_stay_pairs(make):
    data = lw.datasets.load_credit(coded=True)
    model = make().fit(data.X, data.y)
    similar = lw.Similarity(free=["Ethnicity", "Gender"])
    found = lw.verify(model, data.space, similar, X=data.X, like_data=True, budget=60)
    assert found.verdict == "BIASED"
    assert found.certificate is not None
    near = found.stats["nearest_row"]
    row = data.X.iloc[near["row"]]
    own = found.pair.iloc[near["individual"] - 1]
    assert {name for name in data.space.names if row[name] != own[name]} == set(near["differs"])
    assert len(set(model.predict(found.pair[list(data.X.columns)]).tolist())) == 2


def test_a_fair_model_has_no_such_row_and_no_data_is_an_error():
    rows = pd.DataFrame({"sex": ["f", "m"], "a": [1, 2], "b": [1, 1], "c": [0.5, 1.0]})
    fair = Coded.of([0, 1, 1, 0], -20.25)
    found = lw.verify(fair, SPACE, lw.Similarity(free=["sex"]), X=rows, like_data=True)
    assert found.verdict == "FAIR"
    assert "nearest_row" not in found.stats
    with pytest.raises(SpecError, match="need the data"):
        lw.verify(fair, SPACE, lw.Similarity(free=["sex"]), like_data=True)
