"""PolynomialFeatures in front of linear models: a polynomial of the columns, one-hot ones included."""

import warnings

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_selection import VarianceThreshold
from sklearn.linear_model import Ridge
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    KBinsDiscretizer,
    OneHotEncoder,
    PolynomialFeatures,
    SplineTransformer,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from tests.conformance.agreement import assert_agrees, import_quietly
from tests.conformance.people import SPACE, people, quick_logistic

import likewise as lw
from likewise.families.polynomial.body import PolynomialSum

X, TARGET, LABELS = people()


def columns(numbers=("age", "income"), words=("city",)):
    return ColumnTransformer([("n", StandardScaler(), list(numbers)), ("w", OneHotEncoder(), list(words))])


def fitted(*steps):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        regression = isinstance(steps[-1], Ridge)
        return make_pipeline(*steps).fit(X, TARGET if regression else LABELS)


POWERS = {
    "squares": PolynomialFeatures(2),
    "cubes": PolynomialFeatures(3),
    "interactions": PolynomialFeatures(3, interaction_only=True, include_bias=False),
    "only two": PolynomialFeatures((2, 2)),
}


@pytest.mark.draw(4)
@pytest.mark.parametrize("name", POWERS)
@pytest.mark.parametrize(
    "final", [quick_logistic(), LinearSVC(), Ridge()], ids=lambda one: type(one).__name__
)
def test_powers_of_columns(name, final):
    imported = assert_agrees(fitted(columns(), POWERS[name], final), SPACE, X)
    assert isinstance(imported.model.body, PolynomialSum)


@pytest.mark.parametrize(
    "after",
    [[StandardScaler()], [VarianceThreshold()], [VarianceThreshold(), StandardScaler(with_mean=False)]],
)
def test_products_are_scaled_and_chosen_from(after):
    assert_agrees(fitted(columns(), PolynomialFeatures(2), *after, quick_logistic()), SPACE, X)


def test_a_threshold_around_it():
    model = FixedThresholdClassifier(
        fitted(columns(), PolynomialFeatures(2), quick_logistic()), threshold=0.5
    )
    import_quietly(model, SPACE, X)


def test_raw_numbers():
    numbers = X[["age", "income", "children"]]
    space = lw.Space({name: SPACE[name] for name in numbers.columns})
    model = make_pipeline(PolynomialFeatures(2), Ridge()).fit(numbers, TARGET)
    assert_agrees(model, space, numbers)


REFUSED = {
    "kernel": ([columns(), PolynomialFeatures(2), SVC()], "on PolynomialFeatures takes distances"),
    "bins of products": ([columns(), PolynomialFeatures(2), KBinsDiscretizer(2, strategy="uniform"), Ridge()], "or to products of columns, than scale"),
    "products of splines": ([ColumnTransformer([("n", SplineTransformer(), ["income"])]), PolynomialFeatures(2), Ridge()], "'income' is continuous and comes to it in bins or splines"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_polynomial_is_refused(name):
    steps, words = REFUSED[name]
    with pytest.raises(lw.UnsupportedModel, match=words) as caught:
        import_quietly(fitted(*steps), SPACE, X)
    assert caught.value.hint


def test_too_many_products_are_refused(monkeypatch):
    monkeypatch.setattr("likewise.importers.mixing.MOST_PRODUCTS", 10)
    with pytest.raises(lw.UnsupportedModel, match="makes 21 products"):
        import_quietly(fitted(columns(), PolynomialFeatures(2), Ridge()), SPACE, X)


def test_verdict_and_disparity_of_a_pipeline():
    space = lw.Space({"age": SPACE["age"], "city": SPACE["city"]})
    people_of_it = X[["age", "city"]]
    steps = ColumnTransformer([("n", StandardScaler(), ["age"]), ("w", OneHotEncoder(), ["city"])])
    model = make_pipeline(steps, PolynomialFeatures(2), quick_logistic()).fit(people_of_it, LABELS)
    everyone = [(age, city) for age in range(18, 31) for city in ("berlin", "oslo", "rome")]
    scores = model.decision_function(people_of_it.iloc[:0].reindex(range(len(everyone))).assign(
        age=[age for age, _ in everyone], city=[city for _, city in everyone]
    )).reshape(13, 3)  # fmt: skip
    found = lw.measure(model, space, lw.Similarity(free=["city"]), of="score", X=people_of_it)
    assert found.lower == pytest.approx(np.ptp(scores, axis=1).max(), abs=1e-6)
    assert found.upper == pytest.approx(found.lower, abs=1e-5)
    flips = ((scores > 0).any(axis=1) & (scores <= 0).any(axis=1)).any()
    result = lw.verify(model, space, lw.Similarity(free=["city"]), lw.SameDecision(), X=people_of_it)
    assert result.verdict == ("BIASED" if flips else "FAIR")
