"""Inputs that are not supported, or broken: each error names the step or the column, and the way out."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.impute import KNNImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    PowerTransformer,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)
from tests.conformance.people import LINES, NUMBERS, SPACE, WORDS, people, quick_logistic

import likewise as lw
from likewise.errors import LikewiseError
from likewise.importers.imported_model import import_model

X, TARGET, LABELS = people()
WORDS_STEP = ("words", OneHotEncoder(), WORDS)


def fitted(model, X=X, y=LABELS):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def in_front(transformer, columns, final=None):
    """A fitted pipeline with one transformer on some columns, called 'part' in the step 'prepare'."""
    columns = ColumnTransformer([("part", transformer, columns), WORDS_STEP])
    return fitted(Pipeline([("prepare", columns), ("model", quick_logistic() if final is None else final)]))


def usual():
    return in_front(StandardScaler(), NUMBERS)


class HalfScaler(StandardScaler):
    """Inherits everything and does something else."""

    def transform(self, X, copy=None):
        return super().transform(X) / 2


def disguised():
    """As HalfScaler, and says that it is scikit-learn's own."""
    kind = type("StandardScaler", (HalfScaler,), {"__module__": "sklearn.preprocessing._data"})
    return in_front(kind(), NUMBERS)


def mixing_by_hand():
    """The fitted scaler of a fitted pipeline is given another transform."""
    model = usual()
    scaler = model[0].named_transformers_["part"]
    scaler.transform = lambda rows: StandardScaler.transform(scaler, rows)[:, ::-1]
    return model


def exchanged(step):
    """A step of a fitted pipeline is replaced."""
    model = usual()
    name, _, columns = model[0].transformers_[0]
    model[0].transformers_[0] = (name, step, columns)
    return model


def unfitted_first():
    model = usual()
    model.steps[0] = ("prepare", StandardScaler())
    return model


def infinite():
    model = usual()
    model[0].named_transformers_["part"].mean_[0] = np.inf
    return model


def twice_named():
    model = usual()
    model[0].feature_names_in_ = np.array(["age", "age", *X.columns[2:]], dtype=object)
    return model


def half_precision():
    words = ColumnTransformer([("words", OrdinalEncoder(dtype=np.float16), WORDS)])
    return fitted(Pipeline([("prepare", words), ("model", quick_logistic())]))


def own_function(rows):
    return rows * 2


def encoded_as_missing():
    from sklearn.svm import LinearSVC

    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    rows = X[X.city != "berlin"]
    columns = ColumnTransformer([("part", encoder, ["city"])])
    return fitted(Pipeline([("prepare", columns), ("model", LinearSVC())]), rows, LABELS[X.city != "berlin"])


def text_left_in():
    rows = X.assign(city=X.city.map({"berlin": "1", "oslo": "2", "rome": "3"}))
    columns = ColumnTransformer([("part", "passthrough", ["age", "city"])])
    return fitted(Pipeline([("prepare", columns), ("model", quick_logistic())]), rows)


def leaking():
    columns = make_column_transformer((StandardScaler(), [*NUMBERS, "label"]))
    return fitted(make_pipeline(columns, quick_logistic()), X.assign(label=(LABELS == "yes").astype(int)))


def wrong_order():
    """Fitted on an array whose columns are in another order than the features of the space."""
    columns = make_column_transformer((OneHotEncoder(), [0, 5]))
    rows = X[["city", *[name for name in X.columns if name != "city"]]]
    return fitted(make_pipeline(columns, quick_logistic()), rows.to_numpy())


SEEN = SPACE.replace(city=lw.Categorical(["berlin", "oslo", "rome", "paris"]))
TEXTUAL = SPACE.replace(rooms=lw.Categorical(["one", "two"]))
WIDE = SPACE.replace(age=lw.Integer(0, 200_000))
LOGARITHM = SPACE.replace(children=lw.Integer(-3, 4))

GUISES = pd.DataFrame({"owns": [True, False] * 20, "code": [1, 2, 3, 4] * 10, "job": ["clerk", None] * 20})
LENIENT = {
    "one-hot": lambda: OneHotEncoder(handle_unknown="ignore"),
    "ordinal": lambda: OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1, encoded_missing_value=-2),
    "target": TargetEncoder,
}  # fmt: skip
GUISED = {
    "truth values as text": ({"owns": lw.Categorical(["False", "True"])}, "was fitted on False in feature 'owns', and the space has 'False' instead"),
    "numbers as text": ({"code": lw.Categorical(["1", "02"])}, "was fitted on 1 in feature 'code', and the space has '1' instead"),
    "a word for missing": ({"job": lw.Categorical(["clerk", "None"])}, "has never seen the value 'None' of feature 'job', which pandas.read_csv takes for a missing one"),
    "nothing that it has seen": ({"code": lw.Integer(7, 9)}, "has seen none of the values of feature 'code': 7"),
}  # fmt: skip


@pytest.mark.draw(4)
@pytest.mark.parametrize("name", GUISED)
@pytest.mark.parametrize("encoder", LENIENT)
def test_levels_in_another_guise_are_not_passed_over(encoder, name):
    """An encoder that ignores what it does not know would make them alike, and a biased model fair."""
    model = fitted(make_pipeline(LENIENT[encoder](), quick_logistic()), GUISES, GUISES.owns.to_numpy())
    features = {
        "owns": lw.Categorical([False, True]),
        "code": lw.Integer(0, 5),
        "job": lw.Categorical(["clerk", "nurse"]),
    }
    same = lw.Similarity(free=["owns"])
    assert (
        lw.verify(model, lw.Space(features), same).verdict == "BIASED"
    )  # 0, 5 and nurse are unknown, as they are to be
    with pytest.raises(LikewiseError) as error:
        lw.verify(model, lw.Space({**features, **GUISED[name][0]}), same)
    assert GUISED[name][1] in error.value.message


def test_native_categories_in_another_guise_are_not_passed_over():
    rows = pd.DataFrame({"sex": pd.Categorical(["1", "2"] * 40), "age": np.arange(80)})
    model = fitted(
        HistGradientBoostingClassifier(max_iter=2, categorical_features="from_dtype"), rows, rows.sex == "1"
    )
    similar = lw.Similarity(free=["sex"])
    right = lw.Space({"sex": lw.Categorical(["1", "2"]), "age": lw.Integer(0, 79)})
    assert lw.verify(model, right, similar).verdict == "BIASED"
    with pytest.raises(
        LikewiseError, match="was fitted on '1' in feature 'sex', and the space has 1 instead"
    ):
        lw.verify(model, right.replace(sex=lw.Categorical([1, 2])), similar)


TINY = lw.Space({"age": lw.Integer(0, 1), "wealth": lw.Continuous(0, 1e-200)})


def tiny_splines():
    rows = pd.DataFrame({"age": [0, 1] * 20, "wealth": np.linspace(0, 1e-200, 40)})
    return fitted(
        make_pipeline(
            make_column_transformer((SplineTransformer(4), ["wealth"]), remainder="passthrough"),
            quick_logistic(),
        ),
        rows,
        np.arange(40) > 20,
    )


GAPS = SPACE.replace({"age": lw.Integer(18, 30, missing=True)})

# name: (model, what the message says, what the hint says, space)
CASES = {
    "lambda": (lambda: in_front(FunctionTransformer(lambda rows: rows + 1), NUMBERS), "step 'prepare' > 'part' (FunctionTransformer) calls a lambda", "numpy.log1p"),
    "function": (lambda: in_front(FunctionTransformer(own_function), NUMBERS), "calls the function 'own_function'", "functions that are known"),
    "arguments": (lambda: in_front(FunctionTransformer(np.sqrt, kw_args={"dtype": float}), ["age"]), "step 'prepare' > 'part' (FunctionTransformer) calls numpy.sqrt with further arguments", "without kw_args"),
    "whole numbers": (lambda: in_front(FunctionTransformer(np.reciprocal), ["age"]), "gives 'age' other results as whole numbers than as floats", "Ordinal([1.0, 2.0, ...])"),
    "normalizer": (lambda: in_front(Normalizer(), NUMBERS), "step 'prepare' > 'part' (Normalizer) divides a row by its own length", "StandardScaler"),
    "kernel map": (lambda: in_front(Nystroem(n_components=3), NUMBERS), "(Nystroem) gives columns that depend on all features", "SVC(kernel='rbf')"),
    "splines of tiny numbers": (tiny_splines, "(SplineTransformer) has splines too steep for doubles between 0.0 and 1e-200", "of ordinary size", TINY),
    "neighbours": (lambda: in_front(KNNImputer(), NUMBERS), "(KNNImputer) fills a gap from the other columns, and 'age' may be missing", "SimpleImputer", GAPS),
    "words": (lambda: in_front(CountVectorizer(), "city"), "step 'prepare' > 'part' (CountVectorizer) makes columns of words", "OneHotEncoder"),
    "periodic splines of a continuous feature": (lambda: in_front(SplineTransformer(5, extrapolation="periodic"), ["wealth"]), "(SplineTransformer) repeats its splines periodically, and 'wealth' is continuous", 'extrapolation="constant"'),
    "power of a power of a continuous feature": (lambda: in_front(make_pipeline(PowerTransformer(), PowerTransformer()), ["wealth"]), "(PowerTransformer) bends numbers", "'wealth': Integer(lo, hi)"),
    "too many values": (lambda: in_front(OneHotEncoder(handle_unknown="ignore"), ["age"]), "needs a table of 'age', and that has 200,001 values", "at most 100,000 values", WIDE),
    "unseen level": (usual, "step 'prepare' > 'words' (OneHotEncoder) has never seen the value 'paris' of feature 'city'", "handle_unknown='ignore'", SEEN),
    "unseen position": (lambda: in_front(OrdinalEncoder(), ["city"]), "step 'prepare' > 'part' (OrdinalEncoder) has never seen the value 'paris'", "space.replace({'city': ...})", SEEN),
    "unknown is no number": (encoded_as_missing, "the preprocessing gives nan where 'city' is 'berlin'", "encode it as a number"),
    "logarithm of a negative number": (lambda: in_front(FunctionTransformer(np.log1p), ["children"]), "the preprocessing gives", "leave that value out of the space", LOGARITHM),
    "words to a scaler": (usual, "step 'prepare' > 'part' (StandardScaler) takes numbers, but feature 'rooms' has the level 'one'", "as the model was fitted", TEXTUAL),
    "text left in": (text_left_in, "LogisticRegression takes numbers, but feature 'city' reaches it as text", "OneHotEncoder"),
    "half precision": (half_precision, "step 'prepare' (ColumnTransformer) gives float16", "dtype=numpy.float64"),
    "unfitted step": (lambda: exchanged(StandardScaler()), "step 'prepare' > 'part' (StandardScaler) is not fitted", "call fit(X, y) on the whole pipeline"),
    "unfitted pipeline": (lambda: Pipeline([("prepare", StandardScaler()), ("model", quick_logistic())]), "step 'prepare' (StandardScaler) is not fitted", "call fit(X, y) on the whole pipeline"),
    "unfitted first step": (unfitted_first, "step 'prepare' (StandardScaler) is not fitted", "call fit(X, y) on the whole pipeline"),
    "unfitted search": (lambda: GridSearchCV(quick_logistic(), {"C": [1]}), "GridSearchCV is not fitted", "refit=True"),
    "step of other columns": (lambda: exchanged(fitted(StandardScaler(), X[LINES])), "step 'prepare' > 'part' (StandardScaler) was fitted on 2 columns, but gets 6", "call fit(X, y) on the whole pipeline again"),
    "step that gives other columns": (lambda: exchanged(fitted(make_pipeline(PolynomialFeatures(1)), X[NUMBERS])), "step 'prepare' > 'part' (Pipeline) gave 6 columns when it was fitted, and now gives 7", "call fit(X, y) on the whole pipeline again"),
    "subclass": (lambda: in_front(HalfScaler(), NUMBERS), "step 'prepare' > 'part' (HalfScaler) is code of 'tests', whatever it inherits from StandardScaler", "not subclasses"),
    "disguised subclass": (disguised, "step 'prepare' > 'part' (StandardScaler) is code of 'sklearn'", "not subclasses"),
    "changed by hand": (mixing_by_hand, "disagrees with the original", "changed after fitting"),
    "not a finite number": (infinite, "step 'prepare' > 'part' (StandardScaler) holds the number inf", "fit it again"),
    "no final model": (lambda: fitted(Pipeline([("prepare", StandardScaler()), ("model", "passthrough")]), X[NUMBERS]), "the pipeline ends in step 'model' ('passthrough'), which predicts nothing", "classifier or regressor"),
    "only a transformer": (lambda: fitted(ColumnTransformer([WORDS_STEP])), "ColumnTransformer is not supported: it transforms columns and predicts nothing", "supported:"),
    "neighbours as a model": (lambda: in_front(StandardScaler(), NUMBERS, KNeighborsClassifier(2)), "KNeighborsClassifier is not supported", "RandomForestClassifier"),
    "votes of neighbours": (lambda: fitted(VotingClassifier([("a", usual()), ("b", in_front(StandardScaler(), NUMBERS, KNeighborsClassifier(2)))])), "KNeighborsClassifier is not supported", "LogisticRegression"),
    "ensemble of calibrations of two sums": (lambda: fitted(CalibratedClassifierCV(VotingClassifier([("a", usual()), ("b", in_front(StandardScaler(), NUMBERS, quick_logistic()))], voting="soft"), cv=2)), "adds up several models, and what is made of that sum is added up again", "by itself"),
    "bent target": (lambda: fitted(TransformedTargetRegressor(make_pipeline(make_column_transformer((StandardScaler(), NUMBERS)), LinearRegression()), func=np.sqrt, inverse_func=np.square), y=np.exp(TARGET / 50)), "bends its predictions (FunctionTransformer, inverse square)", "regressor_"),
    "target among the columns": (leaking, "the model was fitted on column 'label', which the space does not have", "the model's columns"),
    "duplicate names": (twice_named, "two columns named 'age'", "name of its own"),
    "other columns": (lambda: fitted(make_pipeline(make_column_transformer((StandardScaler(), NUMBERS)), quick_logistic()), X[NUMBERS]), "the space has the feature 'city', which the model was not fitted on", "leave it out of the space"),
    "unnamed columns": (lambda: fitted(make_pipeline(StandardScaler(), quick_logistic()), X[LINES].to_numpy()), "fitted on 2 unnamed columns, the space has 8 features", "in their order"),
    "wrong order": (wrong_order, "step 'columntransformer' > 'onehotencoder' (OneHotEncoder) has never seen the value", "leave it out of the space"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_refused_with_the_step_and_the_way_out(name):
    make, message, hint, *space = CASES[name]
    model = make()
    declared = space[0] if space else SPACE
    with pytest.raises(LikewiseError) as error:  # what cannot be read may still be asked
        import_model(model, declared, rows=np.empty((0, len(declared))))
    assert message in error.value.message
    assert error.value.hint is not None
    assert hint in error.value.hint


def test_there_are_at_least_thirty():
    assert len(CASES) >= 30


def test_missing_values_are_refused_with_their_cell():
    rows = X.assign(income=np.where(np.arange(len(X)) == 7, np.nan, X.income))
    with pytest.raises(LikewiseError, match="row 7") as error:
        lw.verify(usual(), SPACE, lw.Similarity(free=["age"]), X=rows)
    assert "income" in str(error.value)


def test_numbers_of_scale_beyond_doubles_are_refused():
    model = usual()
    model[0].named_transformers_["part"].scale_[0] = 1e-305
    with pytest.raises(LikewiseError, match="scales by 1e-305"):
        import_model(model, SPACE, rows=np.empty((0, len(SPACE))))


def test_a_table_too_large_for_memory_is_refused():
    ages = pd.DataFrame({"age": np.arange(300), "city": ["oslo", "rome"] * 150})
    columns = make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["age"]), remainder="drop")
    model = fitted(make_pipeline(columns, quick_logistic()), ages, np.arange(300) > 150)
    space = lw.Space({"age": lw.Integer(0, 90_000), "city": lw.Categorical(["oslo", "rome"])})
    with pytest.raises(LikewiseError, match="the longest are of 'age'"):
        import_model(model, space, rows=np.empty((0, 2)))
