"""scikit-learn's trees and ensembles, bare and behind pipelines: the original's answers on every row, and refusals by name."""

import warnings
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
    StandardScaler,
)
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from tests.conformance.people import NUMBERS, SPACE, people
from tests.conformance.tree_agreement import assert_agrees, body_of, import_quietly
from threadpoolctl import threadpool_limits

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.importers.inputs import Inputs
from likewise.importers.recoding import identity_recoding
from likewise.importers.registry import find_forest_reader
from likewise.importers.trees.tree_check import check_trees
from likewise.importers.trees.tree_model import import_forest


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


ROWS_A_FAMILY = 1500  # at least
X, TARGET, LABELS = people(rows=240)
THREE = np.digitize(TARGET, np.quantile(TARGET, [0.3, 0.7]))
ONLY_NUMBERS = lw.Space({name: SPACE[name] for name in NUMBERS})
GAPS = SPACE.replace(
    {
        "age": lw.Integer(18, 30, missing=True),
        "income": lw.Continuous(-2.5, 40, missing=True),
        "children": lw.Integer(0, 4, missing=True),
        "city": lw.Categorical(["berlin", "oslo", "rome", None]),
        "stars": lw.Ordinal([0.5, 1.0, 2.5, 4.0, None]),
    }
)
NUMBERS_WITH_GAPS = lw.Space({name: GAPS[name] for name in NUMBERS})


def with_gaps():
    random, frame = np.random.default_rng(5), X.copy()
    for name in ("age", "income", "children"):
        frame[name] = frame[name].astype(float)
    for name in ("age", "income", "children", "city", "stars"):
        frame[name] = frame[name].mask(random.uniform(size=len(frame)) < 0.15)
    return frame


MISSING = with_gaps()
POLARS = pl.DataFrame(
    {name: pl.Series(name, [None if pd.isna(v) else v for v in MISSING[name]]) for name in MISSING}
)

CLASSIFIERS = {
    "tree": DecisionTreeClassifier(random_state=0),
    "tree grown best first": DecisionTreeClassifier(max_leaf_nodes=12, random_state=0),
    "extra tree": ExtraTreeClassifier(random_state=0),
    "forest": RandomForestClassifier(8, random_state=0),
    "extra trees": ExtraTreesClassifier(6, max_depth=7, random_state=0),
    "bag": BaggingClassifier(n_estimators=8, max_features=0.6, random_state=0),
    "boosting": GradientBoostingClassifier(n_estimators=8, random_state=0),
    "boosting from zero": GradientBoostingClassifier(n_estimators=6, init="zero", random_state=0),
    "hist boosting": HistGradientBoostingClassifier(max_iter=8),
    "adaptive boosting": AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=3, random_state=0), n_estimators=6, random_state=0
    ),
}
REGRESSORS = {
    "tree": DecisionTreeRegressor(random_state=0),
    "extra tree": ExtraTreeRegressor(random_state=0),
    "forest": RandomForestRegressor(6, max_depth=8, random_state=0),
    "extra trees": ExtraTreesRegressor(5, max_depth=7, random_state=0),
    "bag": BaggingRegressor(n_estimators=5, random_state=0),
    "boosting": GradientBoostingRegressor(n_estimators=8, loss="huber", random_state=0),
    "hist boosting": HistGradientBoostingRegressor(max_iter=8),
    "hist boosting of a quantile": HistGradientBoostingRegressor(max_iter=8, loss="quantile", quantile=0.7),
}
NO_GAPS = ("boosting", "boosting from zero", "adaptive boosting")  # take no missing values


def fitted(model, frame, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(frame, y)


def filled():
    """Imputers, scalers of both directions, encoders: no missing value comes to the model."""
    return ColumnTransformer(
        [
            (
                "n",
                make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()),
                ["age", "income", "children"],
            ),
            ("w", make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder()), ["city"]),
            ("o", OrdinalEncoder(), ["grade", "rooms"]),
            ("s", SimpleImputer(strategy="median"), ["stars"]),
            ("m", MinMaxScaler((3, 5)), ["wealth"]),
        ],
        transformer_weights={"m": -7.3},
    )


def left_open():
    """Missing values come to the model, where they are not a category of their own."""
    return ColumnTransformer(
        [
            ("n", StandardScaler(), ["age", "income"]),
            ("w", OneHotEncoder(), ["city", "stars"]),
            ("o", OrdinalEncoder(dtype=np.float32), ["grade", "rooms"]),
            ("i", MissingIndicator(), ["income"]),
            ("f", FunctionTransformer(np.negative), ["wealth"]),
        ],
        remainder="passthrough",
    )


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers_agree_on_every_row(name):
    model, rows = CLASSIFIERS[name], 0
    gaps = name not in NO_GAPS
    bare, space = (MISSING[NUMBERS], NUMBERS_WITH_GAPS) if gaps else (X[NUMBERS], ONLY_NUMBERS)
    prepared = left_open if gaps else filled
    for labels in (LABELS, THREE):
        rows += assert_agrees(fitted(model, bare, labels), space, bare)[1]
        rows += assert_agrees(fitted(make_pipeline(filled(), model), POLARS, labels), GAPS, POLARS)[1]
    rows += assert_agrees(fitted(make_pipeline(prepared(), model), MISSING, LABELS), GAPS, MISSING)[1]
    assert rows >= ROWS_A_FAMILY


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("name", REGRESSORS)
def test_regressors_agree_on_every_row(name):
    model = REGRESSORS[name]
    gaps = name not in (*NO_GAPS, "bag")
    bare, space = (POLARS[NUMBERS], NUMBERS_WITH_GAPS) if gaps else (pl.DataFrame(X[NUMBERS]), ONLY_NUMBERS)
    prepared = left_open if gaps else filled
    rows = assert_agrees(fitted(model, bare, TARGET), space, bare)[1]
    rows += assert_agrees(
        fitted(make_pipeline(filled(), model), MISSING, TARGET), GAPS, MISSING, at_least=900
    )[1]
    rows += assert_agrees(fitted(make_pipeline(prepared(), model), POLARS, TARGET), GAPS, POLARS)[1]
    assert rows >= ROWS_A_FAMILY


def test_exponential_loss_doubles_the_score_in_the_link():
    model = fitted(GradientBoostingClassifier(loss="exponential", n_estimators=8), X[NUMBERS], LABELS)
    imported, _ = assert_agrees(model, ONLY_NUMBERS, X[NUMBERS])
    assert imported.model.head.slope == 2
    threshold = fitted(FixedThresholdClassifier(model, threshold=0.3), X[NUMBERS], LABELS)
    moved = import_quietly(
        threshold, ONLY_NUMBERS, X[NUMBERS]
    )  # compared with predict on both sides of all cuts
    assert moved.model.head.slope == 2


# -- native categories -----------------------------------------------------------------------------------


def categories(frame):
    return frame.assign(**{name: frame[name].astype("category") for name in ("city", "grade", "rooms")})


@pytest.mark.parametrize("frame", [X, MISSING], ids=["complete", "missing"])
def test_native_categories_by_dtype(frame):
    typed, space = categories(frame), SPACE if frame is X else GAPS
    for y in (LABELS, THREE):
        assert_agrees(fitted(HistGradientBoostingClassifier(max_iter=8), typed, y), space, typed)


def test_native_categories_of_numbers_become_levels():
    model = HistGradientBoostingRegressor(max_iter=8, categorical_features=["age", "city", "grade"])
    for frame in (MISSING, POLARS):
        imported, _ = assert_agrees(fitted(model, frame, TARGET), GAPS, frame)
        assert imported.space["age"] == lw.Ordinal([*range(18, 31), None])
    continuous = HistGradientBoostingRegressor(max_iter=8, categorical_features=["age", "city", "grade"])
    with pytest.raises(UnsupportedModel, match="continuous"):
        import_quietly(
            fitted(continuous, X, TARGET),
            SPACE.replace({"age": lw.Continuous(18, 30)}),
            X.assign(age=X.age + 0.0),
        )


def test_levels_that_were_never_seen_go_the_way_of_missing_values():
    seen = X.city != "rome"
    typed = categories(X)
    model = fitted(HistGradientBoostingClassifier(max_iter=8), typed[seen], LABELS[seen])
    assert_agrees(model, SPACE, typed)
    encoder = OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=np.nan)
    for inside in (
        HistGradientBoostingClassifier(max_iter=8, categorical_features=[0, 1]),
        RandomForestClassifier(5),
    ):
        prepared = ColumnTransformer([("o", encoder, ["city", "grade"])], remainder="passthrough")
        assert_agrees(fitted(make_pipeline(prepared, inside), X[seen], LABELS[seen]), SPACE, X)


# -- columns in steps ------------------------------------------------------------------------------------


def in_bins(encode):
    bins = KBinsDiscretizer(5, encode=encode, subsample=None, quantile_method="averaged_inverted_cdf")
    return ColumnTransformer([("b", bins, ["income", "wealth"])])


BENT = {
    r"bins of '(income|wealth)' that lie between others": in_bins("onehot-dense"),
    r"tests log1p\(wealth\)": ColumnTransformer([("l", FunctionTransformer(np.log1p), ["wealth"])]),
    "splines of 'income'": ColumnTransformer([("s", SplineTransformer(), ["income"])]),
}


def test_ordinal_bins_are_tests_of_the_number():
    model = fitted(make_pipeline(in_bins("ordinal"), DecisionTreeRegressor()), X, TARGET)
    assert_agrees(model, SPACE, X)


@pytest.mark.draw(1)
@pytest.mark.parametrize("reason", BENT)
def test_other_bins_and_curves_are_scores_of_their_own(reason):
    """Neither in a vote nor with a threshold around them: then it is said why."""
    model = fitted(make_pipeline(BENT[reason], DecisionTreeClassifier(max_depth=4)), X, LABELS)
    assert import_quietly(model, SPACE, X).model.bodies[0].family == "nested"
    with pytest.raises(UnsupportedModel, match=reason):
        import_quietly(fitted(FixedThresholdClassifier(model, threshold=0.3), X, LABELS == "yes"), SPACE, X)


# -- what stands around ----------------------------------------------------------------------------------


@pytest.mark.draw(5)
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (TransformedTargetRegressor(RandomForestRegressor(5), transformer=StandardScaler()), TARGET),
        (GridSearchCV(HistGradientBoostingRegressor(max_iter=5), {"max_depth": [2, 3]}, cv=2), TARGET),
        (GridSearchCV(RandomForestClassifier(5), {"max_depth": [2, 3]}, cv=2), THREE),
        (
            FixedThresholdClassifier(
                GradientBoostingClassifier(n_estimators=5), threshold=0.2, response_method="decision_function"
            ),
            LABELS,
        ),
        (FixedThresholdClassifier(HistGradientBoostingClassifier(max_iter=5), threshold=0.3), LABELS),
        (CalibratedClassifierCV(GradientBoostingClassifier(n_estimators=5), ensemble=False, cv=2), LABELS),
        (FixedThresholdClassifier(RandomForestClassifier(4, max_depth=3), threshold=0.3), LABELS),
        (CalibratedClassifierCV(RandomForestClassifier(4, max_depth=3), ensemble=False, cv=2), LABELS),
        (
            CalibratedClassifierCV(
                RandomForestClassifier(4, max_depth=3), ensemble=False, cv=2, method="isotonic"
            ),
            LABELS,
        ),
        (
            CalibratedClassifierCV(
                GradientBoostingClassifier(n_estimators=5), ensemble=False, cv=2, method="isotonic"
            ),
            LABELS,
        ),
    ],
    ids=[
        *("target", "search", "search of classes", "threshold", "threshold of probability", "calibrated"),
        *("threshold of a forest", "calibrated forest", "isotonic forest", "isotonic"),
    ],
)
def test_wrappers_are_worked_in(model, y):
    """Their own check compares them with the original on every threshold; here on rows of the data."""
    model = fitted(model, X[NUMBERS], y)
    imported = import_quietly(model, ONLY_NUMBERS, X[NUMBERS])
    codes = ONLY_NUMBERS.encode(X[NUMBERS])[:60]
    for row, said in zip(codes.tolist(), model.predict(X[NUMBERS])[:60].tolist(), strict=True):
        exact = imported.model.exact([Fraction(code) for code in row])
        if imported.model.head.labels is None:
            assert abs(float(exact[0]) - said) <= 1e-9
        else:
            assert imported.model.head.decide(exact) == said


# -- refusals --------------------------------------------------------------------------------------------

REFUSED = {
    "weighted median": (AdaBoostRegressor(LinearRegression(), n_estimators=3), TARGET),
    "outliers": (IsolationForest(n_estimators=3), TARGET),
    "starts from DecisionTree": (
        GradientBoostingClassifier(n_estimators=2, init=DecisionTreeClassifier()),
        LABELS,
    ),
    "2 outputs": (DecisionTreeRegressor(), np.stack([TARGET, TARGET], axis=1)),
    "fitted on 1 classes": (RandomForestClassifier(3), np.zeros(len(X))),
}


@pytest.mark.parametrize("why", REFUSED)
def test_refused_by_name(why):
    model, y = REFUSED[why]
    with pytest.raises(UnsupportedModel, match=why):
        import_quietly(fitted(model, X[NUMBERS], y), ONLY_NUMBERS, X[NUMBERS])


def test_missing_values_are_refused_where_the_model_fails_on_them():
    model = fitted(GradientBoostingClassifier(n_estimators=3), X[NUMBERS], LABELS)
    with pytest.raises(UnsupportedModel, match="takes no missing values, and 'age'"):
        import_quietly(model, NUMBERS_WITH_GAPS, MISSING[NUMBERS])


def test_text_needs_an_encoder():
    prepared = ColumnTransformer([("n", StandardScaler(), ["income"])], remainder="passthrough")
    model = make_pipeline(prepared, RandomForestClassifier(2))
    fitted(model, X.assign(city=0, grade=0), LABELS)
    with pytest.raises(UnsupportedModel, match="'city' reaches it as text"):
        import_quietly(model, SPACE, X)


# -- the check itself ------------------------------------------------------------------------------------


class Asked:
    """A replay of what another model says."""

    def __init__(self, model, inputs):
        self._model, self._inputs = model, inputs

    def scores(self, codes):
        return np.asarray(self._model.predict(self._inputs.of(codes))).reshape(len(codes), -1)


def read(model, space=ONLY_NUMBERS, frame=X):
    grown = find_forest_reader(model)(model)
    inputs = Inputs(recoding=identity_recoding(space), columns=space.names, like=frame, named=True)
    return grown, inputs


def checked(grown, inputs, asked, rows=None):
    found = import_forest(grown, (), inputs)
    rows = ONLY_NUMBERS.encode(X[NUMBERS]) if rows is None else found.reaching.inputs.recoding.coded(rows)
    check_trees(found.model, grown, found.reaching, Asked(asked, found.reaching.inputs), rows)


def test_check_finds_a_comparison_that_is_read_wrongly():
    model = fitted(RandomForestRegressor(4, random_state=0), X[NUMBERS], TARGET)
    grown, inputs = read(model)
    checked(grown, inputs, model)
    for wrong in ({"single": False}, {"strict": True}):
        with pytest.raises(UnsupportedModel, match=r"disagrees with the original .* its tree \d"):
            checked(replace(grown, forest=replace(grown.forest, **wrong)), inputs, model)


def test_check_finds_a_changed_leaf_and_a_changed_bias():
    model = fitted(DecisionTreeRegressor(max_depth=4), X[NUMBERS], TARGET)
    grown, inputs = read(model)
    tree = grown.forest.trees[0]
    values = tree.values + 1e-9
    with pytest.raises(UnsupportedModel, match="its tree 0 says"):
        checked(
            replace(grown, forest=replace(grown.forest, trees=(replace(tree, values=values),))), inputs, model
        )
    shifted = replace(grown, forest=replace(grown.forest, bias=(Fraction(1, 10**9),)))
    with pytest.raises(UnsupportedModel, match="its score is"):
        checked(shifted, inputs, model)


def test_check_finds_missing_values_and_categories_that_go_the_wrong_way():
    categorical = ["city", "grade", "age"]
    model = fitted(
        HistGradientBoostingRegressor(max_iter=3, categorical_features=categorical), MISSING, TARGET
    )
    grown, inputs = read(model, GAPS, MISSING)
    rows = GAPS.encode(MISSING)
    checked(grown, inputs, model, rows)
    for change in (
        lambda tree: replace(tree, missing_left=~tree.missing_left),
        lambda tree: replace(tree, categories={node: among ^ {0} for node, among in tree.categories.items()}),
        lambda tree: replace(tree, threshold=np.nextafter(tree.threshold, -np.inf)),
    ):
        trees = tuple(change(tree) for tree in grown.forest.trees)
        with pytest.raises(UnsupportedModel, match=r"disagrees with the original .* its tree \d"):
            checked(replace(grown, forest=replace(grown.forest, trees=trees)), inputs, model, rows)


def test_tests_that_decide_nothing_are_left_out():
    model = fitted(DecisionTreeRegressor(random_state=0), X[NUMBERS], TARGET)
    narrow = ONLY_NUMBERS.replace({"age": lw.Integer(20, 20), "income": lw.Continuous(5.0, 9.0)})
    inside = X[NUMBERS][(X.age == 20) & X.income.between(5, 9)]
    whole, part = (
        body_of(import_quietly(model, space, rows).model)
        for space, rows in ((ONLY_NUMBERS, X[NUMBERS]), (narrow, inside))
    )
    assert 0 not in part.tested()
    assert len(part.trees[0].feature) < len(whole.trees[0].feature) / 2
    assert_agrees(model, narrow, inside)
