"""audit and share where numbers may be missing, or are seen through a function: what the models' own predictions say."""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import likewise as lw
from likewise.errors import SpecError

SPACE = lw.Space(
    {
        "age": lw.Integer(0, 6, missing=True),
        "wage": lw.Integer(0, 4, missing=True),
        "sex": lw.Categorical([0, 1]),
    }
)
SIMILAR = {
    "free": lw.Similarity(free=["sex", "wage"]),
    "within": lw.Similarity(free=["sex"], within={"age": 1}),
    "within all": lw.Similarity(within={"age": 6, "wage": 1}),
}


def imputing(final, **options):
    return lambda: make_pipeline(SimpleImputer(strategy="constant", fill_value=2, **options), final())


def listing():
    levels = OneHotEncoder(sparse_output=False, handle_unknown="ignore")
    return make_pipeline(SimpleImputer(strategy="constant", fill_value=2), levels, LogisticRegression(C=10))


MODELS = {
    "imputed": imputing(lambda: LogisticRegression(C=10)),
    "imputed, indicated": imputing(lambda: LogisticRegression(C=10), add_indicator=True),
    "imputed, listed": listing,
    "imputed kernel": imputing(lambda: SVC(gamma=0.2)),
    "boosted": lambda: HistGradientBoostingClassifier(max_iter=6, min_samples_leaf=4),
    "forest": lambda: RandomForestClassifier(5, max_depth=4, random_state=0),
}
PEOPLE = pd.DataFrame(
    list(itertools.product([*range(7), np.nan], [*range(5), np.nan], (0, 1))), columns=["age", "wage", "sex"]
)
PEOPLE["sex"] = PEOPLE["sex"].astype(int)


def fitted(make):
    random = np.random.default_rng(3)
    X = PEOPLE.sample(300, replace=True, random_state=0)
    noise = random.normal(size=len(X))
    return make().fit(X, X["age"].fillna(5) + X["wage"].fillna(-2) + 1.5 * X["sex"] + noise > 6)


def near(similar):
    """Which of everybody may stand beside whom, told from the values."""
    free, within = similar
    allowed = np.ones((len(PEOPLE), len(PEOPLE)), dtype=bool)
    for name in PEOPLE:
        values = PEOPLE[name].to_numpy(dtype=float)
        alike = (values[:, None] == values) | (np.isnan(values)[:, None] & np.isnan(values))
        if name in within:
            alike |= np.abs(values[:, None] - values) <= within[name]
        allowed &= alike | (name in free)
    return allowed


PLAIN = {
    "free": (["sex", "wage"], {}),
    "within": (["sex"], {"age": 1}),
    "within all": ([], {"age": 6, "wage": 1}),
}


@pytest.mark.draw(5)
@pytest.mark.parametrize("similar", SIMILAR)
@pytest.mark.parametrize("name", MODELS)
def test_missing_values_are_judged_as_the_model_does(name, similar):
    model = fitted(MODELS[name])
    decided = model.predict(PEOPLE)
    biased = (near(PLAIN[similar]) & (decided[:, None] != decided)).any(axis=1)
    assert biased.any()
    found = lw.audit(model, SPACE, SIMILAR[similar], X=PEOPLE, budget=60)
    rows = found.rows.sort_values("row").reset_index(drop=True)
    assert rows["biased"].tolist() == biased.tolist()
    shown = rows[rows["biased"]]
    other = PEOPLE.iloc[shown["row"].to_numpy()].reset_index(drop=True)
    for column in [c for c in shown if c.startswith("counterpart_") and c != "counterpart_decision"]:
        other[column.removeprefix("counterpart_")] = shown[column].to_numpy(dtype=float)
    other["sex"] = other["sex"].astype(int)
    assert (model.predict(other) != decided[shown["row"]]).all()
    places = {tuple(row): i for i, row in enumerate(PEOPLE.fillna(-1).to_numpy().tolist())}
    there = [places[tuple(row)] for row in other.fillna(-1).to_numpy().tolist()]
    assert near(PLAIN[similar])[shown["row"].to_numpy(), there].all()
    of_rows = lw.share(model, SPACE, SIMILAR[similar], over=PEOPLE)
    assert of_rows.lower == of_rows.upper == biased.mean()


@pytest.mark.parametrize("name", ["imputed", "imputed, listed", "forest"])
def test_shares_count_the_missing_value_as_one_more(name):
    model, similar = fitted(MODELS[name]), SIMILAR["free"]
    decided = model.predict(PEOPLE)
    truth = (near(PLAIN["free"]) & (decided[:, None] != decided)).any(axis=1)
    exact = lw.share(model, SPACE, similar)
    assert exact.method == "exact"
    assert exact.lower - 1e-12 <= truth.mean() <= exact.upper + 1e-12
    assert exact.upper - exact.lower < 1e-9
    sampled = lw.share(model, SPACE, similar, method="sampled", budget=1)
    assert sampled.lower <= truth.mean() <= sampled.upper
    certified = lw.share(model, SPACE, similar, method="certified", budget=3)
    assert certified.lower <= truth.mean() <= certified.upper
    data = PEOPLE.sample(200, replace=True, random_state=5)
    weights = np.ones(len(PEOPLE))
    for column in data:
        shares = data[column].fillna(-1).value_counts(normalize=True)
        weights *= shares.reindex(PEOPLE[column].fillna(-1)).fillna(0).to_numpy()
    marginal = lw.share(model, SPACE, similar, over="marginals", X=data)
    assert marginal.lower - 1e-9 <= weights @ truth <= marginal.upper + 1e-9


def test_shares_of_imputed_numbers_within_a_tolerance_are_told_of_rows_only():
    model = fitted(MODELS["imputed"])
    with pytest.raises(
        SpecError, match="'age' may be missing, is imputed by the model and within a tolerance"
    ):
        lw.share(model, SPACE, SIMILAR["within"])


def logarithmic():
    columns = make_column_transformer(
        (make_pipeline(FunctionTransformer(np.log1p), StandardScaler()), ["wage"]), remainder="passthrough"
    )
    return make_pipeline(columns, LogisticRegression(C=10))


def earning(seed=0, count=400):
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "wage": random.uniform(0, 1000, count),
            "age": random.integers(18, 70, count),
            "sex": random.integers(0, 2, count),
        }
    )


EARNING = lw.Space({"wage": lw.Continuous(0, 1000), "age": lw.Integer(18, 69), "sex": lw.Categorical([0, 1])})


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("kernel", [False, True])
def test_numbers_behind_a_logarithm(kernel):
    X = earning(count=120 if kernel else 400)
    model = logarithmic()
    if kernel:
        model = make_pipeline(model[0], StandardScaler(), SVC(gamma=0.3))
    model.fit(X, np.log1p(X["wage"]) + X["age"] / 60 + 0.4 * X["sex"] > 6.6)
    decided = model.predict(X)
    found = lw.audit(model, EARNING, lw.Similarity(free=["sex"]), X=X)
    rows = found.rows.sort_values("row").reset_index(drop=True)
    flipped = model.predict(X.assign(sex=1 - X["sex"]))
    assert rows["biased"].tolist() == (flipped != decided).tolist()
    some = X.head(6 if kernel else 60)
    found = lw.audit(model, EARNING, lw.Similarity(free=["wage"]), X=some, budget=60)
    rows = found.rows.sort_values("row").reset_index(drop=True)
    grid = np.linspace(0, 1000, 401)
    for i, row in rows.iterrows():
        around = model.predict(some.iloc[[i] * len(grid)].assign(wage=grid))
        if row["biased"]:
            assert 0 <= row["counterpart_wage"] <= 1000
            assert model.predict(some.iloc[[i]].assign(wage=row["counterpart_wage"]))[0] != decided[i]
        else:
            assert (around == decided[i]).all()
    assert (rows["biased"].astype(bool)).any()


@pytest.mark.some_days
def test_shares_of_numbers_behind_a_logarithm():
    X = earning()
    model = logarithmic().fit(X, np.log1p(X["wage"]) + X["age"] / 60 + 0.4 * X["sex"] > 6.6)
    similar = lw.Similarity(free=["sex"])
    sampled = lw.share(model, EARNING, similar, method="sampled", budget=2)
    people = earning(seed=9, count=200_000)
    truth = (model.predict(people) != model.predict(people.assign(sex=1 - people["sex"]))).mean()
    assert sampled.lower - 0.003 <= truth <= sampled.upper + 0.003
    with pytest.raises(SpecError, match=r"log1p\(wage\)"):
        lw.share(model, EARNING, similar, method="certified")
    marginal = lw.share(model, EARNING, similar, over="marginals", X=X, method="certified", budget=5)
    pairs = X["wage"].to_numpy()
    ages = X["age"].value_counts(normalize=True)
    truth = 0.0
    for age, weight in ages.items():
        frame = pd.DataFrame({"wage": pairs, "age": age, "sex": 0})
        truth += weight * (model.predict(frame) != model.predict(frame.assign(sex=1))).mean()
    assert marginal.lower <= truth + 1e-9
    assert marginal.upper >= truth - 1e-9


def test_other_processes_know_from_the_rows_what_missing_looks_like():
    """The encoder tells None from NaN, and only rows say which of them stands for the missing level."""
    random = np.random.default_rng(0)
    rows = pd.DataFrame({"x": random.uniform(0, 5, 40), "z": random.uniform(0, 5, 40)})
    rows["g"] = pd.Series(random.choice(np.array(["a", "b", None], dtype=object), 40), dtype=object)
    model = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["g"]), remainder="passthrough"),
        SVC(kernel="poly", degree=2, coef0=1),
    ).fit(rows, rows["x"] + rows["z"] + (rows["g"] == "a") > 5)
    features = {"x": lw.Continuous(0, 5), "z": lw.Continuous(0, 5), "g": lw.Categorical(["a", "b", None])}
    space, similar = lw.Space(features), lw.Similarity(free=["g"], within={"x": 0.3})
    alone = lw.audit(model, space, similar, X=rows.head(6))
    with ThreadPoolExecutor(2) as pool:
        together = lw.audit(model, space, similar, X=rows.head(6), executor=pool)
    assert rows.head(6)["g"].isna().any()
    assert alone.rows["biased"].tolist() == together.rows["biased"].tolist()
