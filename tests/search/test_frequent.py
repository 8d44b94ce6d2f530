"""Frequent pairs: witnesses still, at least as frequent by the marginals of the rows as the one that was found, and as frequent as is said; frequencies are computed here anew."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.svm import SVC

import likewise as lw
from likewise.clock import OutOfTime
from likewise.errors import SpecError
from likewise.search import frequent

SPACE = lw.Space(
    {"sex": lw.Categorical(["f", "m"]), "a": lw.Integer(0, 6), "b": lw.Integer(0, 6), "c": lw.Integer(0, 3)}
)
NAMES = SPACE.names
ROWS = pd.DataFrame(
    {
        "sex": ["f", "m", "f", "m", "f", "f"],
        "a": [1, 1, 2, 1, 5, 1],
        "b": [4, 4, 4, 0, 4, 3],
        "c": [2, 2, 2, 0, 1, 2],
    }
)


def linear(weights, bias):
    frame = pd.DataFrame({"sex": ["f", "m"], "a": [0, 6], "b": [0, 6], "c": [0, 3]})
    encoded = make_column_transformer((OrdinalEncoder(), ["sex"]), remainder="passthrough")
    model = make_pipeline(encoded, LogisticRegression()).fit(frame, [0, 1])
    model[-1].coef_, model[-1].intercept_ = np.array([weights], dtype=float), np.array([float(bias)])
    return model


def share(name, value, rows):
    """Of rows with the same value, or in the same tenth of the range of a number with more than 20 values; half a row where there is none. Written anew."""
    column = rows[name].tolist()
    if isinstance(value, str) or len(set(column)) <= 20:
        count = sum(one == value for one in column)
    else:
        low, high = min(column), max(column)
        tenth = lambda one: min(int((one - low) * 10 / (high - low)), 9)  # noqa: E731
        count = sum(tenth(one) == tenth(value) for one in column) if low <= value <= high else 0
    return Fraction(count or Fraction(1, 2), len(column))


def frequency(person, rows):
    return math.prod(share(name, person[name], rows) for name in rows)


def pair_frequency(pair, rows):
    return math.prod(frequency(person, rows) for person in pair.to_dict("records"))


def everybody():
    for values in itertools.product(("f", "m"), range(7), range(7), range(4)):
        yield dict(zip(NAMES, values, strict=True))


def score(person, weights, bias):
    codes = (person["sex"] == "m", person["a"], person["b"], person["c"])
    return sum(Fraction(w) * int(v) for w, v in zip(weights, codes, strict=True)) + Fraction(bias)


# Every pair is reached by raising one feature after the other, so the most frequent of all pairs must be shown.
@pytest.mark.parametrize(
    ("weights", "bias"),
    [([4.0, 0.25, 0.0, 0.0], -3.0), ([1.0, 0.0, 0.0, 0.0], -0.5), ([8.0, 1.0, 0.5, 0.0], -7.5)],
)
def test_the_most_frequent_of_all_pairs_is_shown(weights, bias):
    model = linear(weights, bias)
    found = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=ROWS, like_data="frequent")
    assert found.verdict == "BIASED"
    assert len(set(model.predict(found.pair))) == 2
    best = max(
        frequency(one, ROWS) * frequency({**one, "sex": "m"}, ROWS)
        for one in everybody()
        if one["sex"] == "f"
        and (score(one, weights, bias) > 0) != (score({**one, "sex": "m"}, weights, bias) > 0)
    )
    assert pair_frequency(found.pair, ROWS) == best


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(12))
def test_a_pair_is_at_least_as_frequent_as_the_one_that_is_found(seed):
    random = np.random.default_rng(seed)
    weights, bias = random.integers(-4, 5, 4) / 2, float(random.integers(-8, 3)) / 2 - 0.25
    model = linear(weights, bias)
    similar = lw.Similarity(free=["sex"], within={"a": 1})
    plain = lw.verify(model, SPACE, similar, X=ROWS)
    found = lw.verify(model, SPACE, similar, X=ROWS, like_data="frequent")
    assert found.verdict == plain.verdict
    if found.verdict == "BIASED":
        assert pair_frequency(found.pair, ROWS) >= pair_frequency(plain.pair, ROWS)
        one, other = found.pair.to_dict("records")
        assert abs(one["a"] - other["a"]) <= 1
        assert (one["b"], one["c"]) == (other["b"], other["c"])
        assert (score(one, weights, bias) > 0) != (score(other, weights, bias) > 0)
        assert found.certificate is not None


def test_what_is_said_of_a_pair_is_true():
    model = linear([8.0, 1.0, 0.5, 0.0], -7.5)
    found = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=ROWS, like_data="frequent")
    said = found.stats["frequency"]
    rows = [frequency(row, ROWS) for row in ROWS.to_dict("records")]
    for i, person in enumerate(found.pair.to_dict("records")):
        own = frequency(person, ROWS)
        assert said["rarer_rows"][i] == pytest.approx(sum(one < own for one in rows) / len(rows))
        assert said["usual_share"][i] == pytest.approx(float(own) ** (1 / 4))
        shares = {name: share(name, person[name], ROWS) for name in NAMES}
        assert shares[said["rarest"][i]] == min(shares.values())
        assert said["rarest_share"][i] == pytest.approx(float(min(shares.values())))
    assert "the first individual is more frequent than" in " ".join(str(found).split())
    assert "nearest_row" not in found.stats


def test_values_that_nobody_has_are_said_to_be_so():
    """Only people with a = 6 are treated differently, and no row has that."""
    model = linear([1.0, 1.0, 0.0, 0.0], -6.5)
    found = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=ROWS, like_data="frequent")
    said = found.stats["frequency"]
    assert found.pair["a"].tolist() == [6, 6]
    assert (said["rarest"], said["rarest_share"]) == (["a", "a"], [0.0, 0.0])
    assert "its rarest value: a = 6, like no row" in " ".join(str(found).split())


def test_numbers_are_counted_by_tenths_of_their_range():
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"g": random.integers(0, 2, 300), "v": random.normal(50, 10, 300).clip(0, 100)})
    space = lw.Space({"g": lw.Categorical([0, 1]), "v": lw.Continuous(0, 100, missing=False)})
    model = LogisticRegression().fit(rows, rows["g"])
    model.coef_, model.intercept_ = np.array([[30.0, 1.0]]), np.array([-70.0])  # 40 < v <= 70
    found = lw.verify(model, space, lw.Similarity(free=["g"]), X=rows, like_data="frequent")
    value = found.pair["v"].iloc[0]
    best = max(share("v", one, rows) for one in np.linspace(40.01, 69.99, 400))
    assert share("v", value, rows) == best
    assert found.stats["frequency"]["rarest_share"] == pytest.approx(
        [min(float(best), float(share("g", g, rows))) for g in found.pair["g"]]
    )


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    "make",
    [
        lambda: SVC(gamma=0.3),
        lambda: RandomForestClassifier(10, random_state=0),
        lambda: MLPClassifier((6,), max_iter=60, random_state=0),
    ],
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_pairs_of_other_models_stay_pairs(make):
    data = lw.datasets.load_credit(coded=True)
    model = make().fit(data.X, data.y)
    similar = lw.Similarity(free=["Ethnicity", "Gender"])
    found = lw.verify(model, data.space, similar, X=data.X, like_data="frequent", budget=60)
    plain = lw.verify(model, data.space, similar, X=data.X, budget=60)
    assert found.verdict == plain.verdict == "BIASED"
    assert found.certificate is not None
    names = list(data.X.columns)
    assert len(set(model.predict(found.pair[names]).tolist())) == 2
    assert pair_frequency(found.pair[names], data.X) >= pair_frequency(plain.pair[names], data.X)


def test_missing_numbers_are_a_value_of_their_own():
    rows = pd.DataFrame({"g": ["f", "m"] * 40, "v": [*np.linspace(0.0, 10.0, 30), *[None] * 50]})
    space = lw.Space({"g": lw.Categorical(["f", "m"]), "v": lw.Continuous(0, 10, missing=True)})
    codes = space.encode(rows)
    marginal = frequent._Marginal(space["v"], codes[:, 1])
    missing = space["v"].missing_code
    assert marginal.share(np.array([missing]))[0] == pytest.approx(50 / 80)
    assert marginal.share(np.array([0.5]))[0] == pytest.approx(3 / 80)
    assert marginal.share(np.array([10.0]))[0] == pytest.approx(3 / 80)


def test_claims_by_name_and_lipschitz_claims_have_frequent_pairs():
    model = linear([8.0, 1.0, 0.5, -1.0], -7.5)
    found = lw.verify(model, SPACE, lw.Monotone("c"), X=ROWS, like_data="frequent")
    assert found.verdict == "BIASED"
    assert found.stats["frequency"]
    steep = lw.Lipschitz(0.75, lw.Metric("l1", weights={"a": 1, "b": 1}))
    result = lw.verify(model, SPACE, steep, X=ROWS, like_data="frequent")
    assert result.verdict == "BIASED"
    one, other = result.pair.to_dict("records")
    apart = abs(one["a"] - other["a"]) + abs(one["b"] - other["b"])
    weights = ([8.0, 1.0, 0.5, -1.0], -7.5)
    assert abs(score(one, *weights) - score(other, *weights)) > Fraction(3, 4) * apart


def test_whoever_runs_out_of_time_keeps_the_pair(monkeypatch):
    def late(*_):
        raise OutOfTime

    monkeypatch.setattr(frequent, "_climb", late)
    monkeypatch.setattr(frequent, "_pairs_of_rows", late)
    model = linear([1.0, 0.1, 0.0, 0.0], -1.25)
    found = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=ROWS, like_data="frequent")
    assert found.verdict == "BIASED"
    assert found.stats["frequency"]


def test_other_words_and_no_data_are_errors():
    model = linear([1.0, 0.1, 0.0, 0.0], -1.25)
    with pytest.raises(SpecError, match="'nearest' or 'frequent', not 'often'"):
        lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=ROWS, like_data="often")
    with pytest.raises(SpecError, match="need the data"):
        lw.verify(model, SPACE, lw.Similarity(free=["sex"]), like_data="frequent")
