"""Every estimator of the family: the imported model is the original, and what is not exact is refused."""

import warnings
from fractions import Fraction
from io import BytesIO

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn.cross_decomposition
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.svm
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.semi_supervised import SelfTrainingClassifier
from tests.strategies import logistic_model, svc_model

import likewise as lw
from likewise.errors import DataError, UnsupportedModel
from likewise.importers import sklearn_linear
from likewise.importers.imported_model import import_model
from likewise.importers.self_check import sample_codes
from likewise.model.question import question_of
from likewise_check import check

RANDOM = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "age": RANDOM.integers(18, 80, 60),
        "income": RANDOM.uniform(0, 9, 60),
        "group": RANDOM.choice([3, 1, 7], 60),
    }
)
NOISE = RANDOM.normal(0, 1, 60)
TARGET = 0.1 * X["age"] - X["income"] + 0.3 * X["group"] + NOISE
LABELS = np.where(np.median(TARGET) < TARGET, "yes", "no")
# Not the model's order: columns go by name.
SPACE = lw.Space(
    {"group": lw.Categorical([1, 3, 7]), "income": lw.Continuous(0, 9), "age": lw.Integer(18, 80)}
)
MODULES = (sklearn.linear_model, sklearn.svm, sklearn.discriminant_analysis, sklearn.cross_decomposition)


def estimator_class(name):
    for module in MODULES:
        if hasattr(module, name):
            return getattr(module, name)
    pytest.skip(f"this scikit-learn has no {name}")


def fit(name, data=X, **options):
    kind = estimator_class(name)
    if name in ("SVC", "NuSVC", "SVR", "NuSVR"):
        options = {"kernel": "linear", **options}
    if name in ("LarsCV", "LassoLarsCV", "OrthogonalMatchingPursuitCV"):
        options = {"cv": 2, **options}
    if name in ("PLSCanonical", "CCA"):
        options = {"n_components": 1, **options}
    if name == "LogisticRegressionCV":
        options = {"Cs": 2, "cv": 2, **options}
    classifies = name in sklearn_linear.CLASSIFIERS or name in ("SVC", "NuSVC")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        numbers = np.exp(TARGET / np.abs(TARGET).max()) if name in POSITIVE else TARGET
        return kind(**options).fit(data, LABELS if classifies else numbers)


POSITIVE = ("PoissonRegressor", "GammaRegressor")  # whose scores are logarithms of what they predict


def codes_of(space, count=200):
    return sample_codes(space, RANDOM.integers(0, 1, (0, len(space))).astype(float))[:count]


def test_weights_biases_and_rounding_are_those_of_the_stored_numbers():
    estimator = sklearn.linear_model.LinearRegression().fit(np.eye(2), [0.0, 1.0])
    estimator.coef_, estimator.intercept_ = np.array([-2.0, 0.5]), -3.0
    (model,) = sklearn_linear.import_linear(estimator, (None, None)).models
    assert (model.body.weights, model.body.bias) == ((Fraction(-2), Fraction(1, 2)), -3)
    rounding = model.rounding
    assert (rounding.sizes, rounding.constant) == ((2, Fraction(1, 2)), 3)
    assert rounding.operations >= 2 * 2 + 1  # products, additions and the intercept
    row, means = np.array([-2.0, 0.5]), np.array([5.0, 4.0])
    weights, bias, rounding = sklearn_linear._centred_parameters(row, -3.0, means, "PLSRegression")
    assert (weights, bias) == (model.body.weights, 5)  # -2 (x - 5) + (y - 4) / 2 - 3
    assert rounding.constant == 3 + 10 + 2
    weights, bias, rounding = sklearn_linear.sum_vectors(
        (Fraction(1), Fraction(-3)), np.array([[1.0, 2.0], [1.0, 0.0]]), Fraction(-7)
    )
    assert (weights, bias) == ((-2, 2), -7)
    assert (rounding.sizes, rounding.constant) == ((4, 2), 7)


@pytest.mark.draw(25)
@pytest.mark.parametrize("name", sorted(sklearn_linear.ESTIMATORS - sklearn_linear.GENERALISED))
@pytest.mark.parametrize("as_frame", [True, False], ids=["frame", "array"])
def test_the_imported_model_is_the_original(name, as_frame):
    model = fit(name, X if as_frame else X.to_numpy())
    space = SPACE if as_frame else lw.Space({n: SPACE[n] for n in X.columns})
    imported = import_model(model, space, rows=space.encode(X), like=X)
    codes = np.concatenate([space.encode(X), codes_of(space)])
    exact = [imported.model.exact([Fraction(c) for c in row])[0] for row in codes.tolist()]
    frame = space.decode(codes, like=X)[list(X.columns)]
    rows = frame if as_frame else frame.to_numpy(dtype=float)
    labels = imported.model.head.labels
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = model.predict(rows) if labels is None else model.decision_function(rows)
        decided = model.predict(rows)
    if name in POSITIVE:
        theirs = np.log(theirs)
    assert np.allclose([float(s) for s in exact], theirs, rtol=1e-9, atol=1e-9)
    if labels is not None:
        assert labels == ("no", "yes")
        clear = [i for i, s in enumerate(exact) if abs(s) > 1e-9]
        assert len(clear) > 100
        assert [imported.model.head.decide([exact[i]]) for i in clear] == [decided[i] for i in clear]
    if imported.model.head.link == "logistic":
        ours = [1 / (1 + np.exp(-float(s))) for s in exact]
        assert np.allclose(ours, model.predict_proba(rows)[:, 1], atol=1e-9)


@pytest.mark.draw(4)
@pytest.mark.parametrize("name", ["LogisticRegression", "SVC", "LinearRegression"])
@pytest.mark.parametrize("make", [pl.DataFrame, pa.table, pd.DataFrame], ids=["polars", "pyarrow", "pandas"])
def test_pairs_come_back_in_the_users_own_kind_of_frame(name, make):
    rows = make({column: X[column].to_list() for column in X.columns})
    model = fit(name, X)
    result = lw.verify(model, SPACE, lw.Similarity(free=["age"]), lw.ScoreGap(1e-6), X=rows)
    assert result.verdict == "BIASED"
    assert type(result.pair) is type(rows)


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "modified_huber"])
def test_only_log_loss_has_logistic_probabilities(loss):
    model = fit("SGDClassifier", loss=loss, random_state=0)
    head = import_model(model, SPACE, rows=np.empty((0, 3))).model.head
    assert head.link == ("logistic" if loss == "log_loss" else None)


def test_sparse_weights_are_read():
    model = fit("LogisticRegression")
    dense = import_model(model, SPACE, rows=np.empty((0, 3))).model.body
    assert import_model(model.sparsify(), SPACE, rows=np.empty((0, 3))).model.body == dense


def test_labels_of_shape_n_1_are_one_output():
    model = sklearn.linear_model.LinearRegression().fit(X, np.asarray(TARGET)[:, None])
    assert lw.verify(model, SPACE, lw.Similarity(free=["age"]), lw.ScoreGap(0.0)).verdict == "BIASED"


def test_libsvm_weights_are_exact_sums_not_the_rounded_ones():
    model = fit("SVC")
    weights = import_model(model, SPACE, rows=np.empty((0, 3))).model.body.weights
    exact = [
        sum(
            (
                Fraction(float(a)) * Fraction(float(v[k]))
                for a, v in zip(model.dual_coef_[0], model.support_vectors_, strict=True)
            ),
            Fraction(0),
        )
        for k in range(3)
    ]
    assert list(weights) == exact


# -- zero ---------------------------------------------------------------------------------------------


TINY = lw.Space({"a": lw.Integer(-1, 1), "b": lw.Integer(0, 1)})


@pytest.mark.parametrize(("make", "expected"), [(logistic_model, 0), (svc_model, 1)])
def test_the_original_itself_decides_zero_as_imported(make, expected):
    model = make([1.0, 0.5], 0.0, "ab")
    imported = import_model(model, TINY, rows=np.empty((0, 2)))
    zero = TINY.encode(pd.DataFrame({"a": [0], "b": [0]}))
    assert imported.model.exact([Fraction(c) for c in zero[0]]) == (0,)
    assert imported.replay.scores(zero)[0, 0] == 0
    assert imported.replay.decisions(zero)[0] == expected == imported.model.head.decide([Fraction(0)])


@pytest.mark.parametrize("make", [logistic_model, svc_model])
def test_a_replay_confirms_only_what_the_original_does(make):
    imported = import_model(make([1.0, 0.5], -0.25, "ab"), TINY, rows=np.empty((0, 2)))
    question = question_of(lw.SameDecision(), imported.model.head, "model")
    high, low = (0.0, 1.0), (0.0, 0.0)  # scores 0.25 and -0.25
    pair = (high, low) if make is logistic_model else (low, high)
    assert imported.replay.confirms(*pair, question)
    assert not imported.replay.confirms(*reversed(pair), question)
    assert not imported.replay.confirms(high, high, question)
    assert not imported.replay.confirms(*pair, question.at(Fraction(1, 2)))


# -- refused ------------------------------------------------------------------------------------------


def refused(model, match, space=SPACE, error=UnsupportedModel):
    with pytest.raises(error, match=match):
        import_model(model, space, rows=np.empty((0, len(space))))


def test_what_is_refused_by_name():
    refused(KNeighborsClassifier(2).fit(X, LABELS), "KNeighborsClassifier")
    refused(KNeighborsRegressor(2).fit(X, TARGET), "KNeighborsRegressor")
    refused(sklearn.linear_model.LogisticRegression, "is a class")
    refused("a model", "not supported")
    refused(fit("SVC", kernel="sigmoid"), "kernel='sigmoid'")
    refused(fit("SVR", kernel="sigmoid"), "kernel='sigmoid'")


@pytest.mark.parametrize("name", ["LogisticRegression", "SVC", "LinearRegression"])
def test_unfitted_models_are_refused(name):
    kind = estimator_class(name)
    refused(kind(kernel="linear") if name == "SVC" else kind(), "not fitted")


def test_more_than_one_output_is_refused():
    refused(sklearn.linear_model.LinearRegression().fit(X, np.stack([TARGET, NOISE], axis=1)), "2 outputs")


def test_a_machine_fitted_on_sparse_data_is_the_one_fitted_on_dense_data():
    from scipy.sparse import csr_matrix

    space = lw.Space({n: SPACE[n] for n in X.columns})
    machine = sklearn.svm.SVC(kernel="linear").fit(csr_matrix(X.to_numpy()), LABELS)
    imported = import_model(machine, space, rows=space.encode(X), like=X)
    dense = machine.dual_coef_.toarray() @ machine.support_vectors_.toarray()
    assert np.allclose([float(w) for w in imported.model.body.weights], dense[0])


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(value):
    model = fit("LogisticRegression")
    model.coef_[0, 1] = value
    refused(model, "not a finite number")


def test_columns_must_be_those_of_the_model():
    model = fit("LogisticRegression")
    refused(model, "'income'", lw.Space({"age": SPACE["age"], "group": SPACE["group"]}), DataError)
    more = lw.Space({**SPACE.features, "incomes": lw.Integer(0, 1)})
    refused(model, "'incomes', which the model was not fitted on", more, DataError)
    array = sklearn.linear_model.LogisticRegression().fit(X.to_numpy(), LABELS)
    refused(array, "3 unnamed columns", more, DataError)


def test_two_columns_of_one_name_are_refused():
    model = fit("LogisticRegression")
    model.feature_names_in_ = np.array(["age", "age", "group"], dtype=object)
    refused(model, "two columns named 'age'", error=DataError)


def test_text_levels_are_refused():
    refused(fit("LogisticRegression"), "level 'x'", SPACE.replace(group=lw.Categorical(["x", "y"])))


def test_changed_weights_are_taken_as_they_are():
    model = fit("LogisticRegression")
    model.coef_ = np.array([[0.0, 1.0, 0.0]])
    assert lw.verify(model, SPACE, lw.Similarity(free=["age"])).verdict == "FAIR"


def test_inconsistent_changes_are_noticed():
    """libsvm predicts with private copies; a change to the public ones alone changes nothing."""
    model = fit("SVC")
    model.dual_coef_ = 2 * model.dual_coef_
    refused(model, "disagrees with the original")


class LogisticRegression(sklearn.linear_model.LogisticRegression):
    """The right name from the wrong place."""

    def predict(self, X):
        return np.full(len(X), "yes")


def test_a_subclass_is_not_the_class_it_is_named_after():
    refused(LogisticRegression().fit(X, LABELS), "not supported")


def test_a_subclass_in_disguise_is_caught_by_the_self_check():
    disguised = type(
        "LogisticRegression", (LogisticRegression,), {"__module__": "sklearn.linear_model._logistic"}
    )
    refused(disguised().fit(X, LABELS), "disagrees with the original")


def test_another_link_is_caught_by_the_self_check():
    kind = type(
        "LogisticRegression",
        (sklearn.linear_model.LogisticRegression,),
        {
            "__module__": "sklearn.linear_model._logistic",
            "predict_proba": lambda self, X: np.stack(
                [1 / (1 + np.exp(s * 2 * self.decision_function(X))) for s in (1, -1)], axis=1
            ),
        },
    )
    refused(kind().fit(X, LABELS), "not the logistic function")


@pytest.mark.parametrize("name", sorted(sklearn_linear.LEAST_SQUARES))
def test_partial_least_squares_round_by_no_more_than_is_stated_and_get_their_verdicts(name):
    """Means are subtracted first: far from zero that loses digits."""
    far = lw.Space(
        {"age": lw.Integer(1018, 1080), "income": lw.Continuous(5000, 5009), "group": SPACE["group"]}
    )
    rows = X.assign(age=X.age + 1000, income=X.income + 5000)
    model, similar = fit(name, rows), lw.Similarity(free=["group"])
    imported = import_model(model, far, rows=far.encode(rows), like=rows)
    exact = [imported.model.exact([Fraction(c) for c in row])[0] for row in far.encode(rows).tolist()]
    off = [abs(Fraction(float(said)) - value) for said, value in zip(model.predict(rows), exact, strict=True)]
    assert 0 < max(off) <= imported.program.error < 1e-9
    largest = abs(float(model.coef_[0, 2])) * 6
    fair = lw.verify(model, far, similar, lw.ScoreGap(largest * 1.0001), X=rows)
    assert fair.verdict == "FAIR"
    assert fair.covers_floating_point
    assert check(BytesIO(fair.certificate.content)).accepted
    assert lw.verify(model, far, similar, lw.ScoreGap(largest * 0.9999), X=rows).verdict == "BIASED"
    model.coef_[0, 2] = 0.0
    assert lw.verify(model, far, similar, lw.ScoreGap(1e-9), X=rows).verdict == "FAIR"


def test_partial_least_squares_of_two_outputs_are_refused():
    model = sklearn.cross_decomposition.PLSRegression(1).fit(X, np.stack([TARGET, NOISE], axis=1))
    refused(model, "2 outputs")


SOME_LABELS = np.where(np.arange(60) % 9 == 0, -1, LABELS == "yes")  # -1 is no label


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (sklearn.linear_model.RANSACRegressor(random_state=0), TARGET),
        (SelfTrainingClassifier(sklearn.linear_model.LogisticRegression()), SOME_LABELS),
    ],
    ids=lambda one: type(one).__name__,
)
def test_models_that_choose_their_rows_are_those_that_they_were_fitted_with_last(model, target):
    fitted = model.fit(X, target)
    found = import_model(fitted, SPACE, rows=SPACE.encode(X), like=X)
    assert found.model.body.bias == Fraction(float(np.ravel(fitted.estimator_.intercept_)[0]))
    similar = lw.Similarity(free=["group"])
    property = lw.ScoreGap(0.0) if target is TARGET else lw.ProbabilityGap(0.0)
    assert lw.verify(fitted, SPACE, similar, property, X=X, budget=60).verdict == "BIASED"


@pytest.mark.parametrize(
    ("model", "target"),
    [
        (DummyRegressor(), TARGET),
        (DummyClassifier(), LABELS),
        (DummyClassifier(strategy="most_frequent"), LABELS),
        (DummyClassifier(strategy="constant", constant="yes"), LABELS),
        (DummyClassifier(), np.arange(60) % 3),
    ],
)
def test_what_says_the_same_of_everybody_is_fair(model, target):
    fitted, similar = model.fit(X, target), lw.Similarity(free=["group"])
    property = lw.ScoreGap(0.0) if target is TARGET else None
    result = lw.verify(fitted, SPACE, similar, property, X=X, budget=60)
    assert result.verdict == "FAIR"
    assert result.certificate is not None


def test_lots_are_asked():
    drawn = DummyClassifier(strategy="uniform", random_state=0).fit(X, LABELS)
    assert lw.verify(drawn, SPACE, lw.Similarity(free=["group"]), X=X, budget=2).verdict != "FAIR"
