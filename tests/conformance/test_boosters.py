"""XGBoost and LightGBM: the imported trees say what the libraries say, bit by bit, on rows of every sort.

Both libraries add the leaves' values up one tree after the other. So does `summed` here, with the leaves that the imported trees come to and in the
library's own precision: its sums must be the library's, to the last bit, on data rows, random rows, missing values, every level, and
on every threshold with one double and one float32 to either side. Labels and probabilities are compared as well.
"""

import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    StandardScaler,
)

import likewise as lw
from likewise.errors import DataError, UnsupportedModel
from likewise.importers.files import load_model
from likewise.importers.imported_model import import_model
from likewise.importers.self_check import sample_codes
from likewise.importers.trees.tree_check import find_leaves, probing_codes, tree_sum_of_model
from likewise.spec.features import Continuous, Integer
from likewise_check import check

xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")

ROWS = 1_500  # compared for each model, at least
SPACE = lw.Space(
    {
        "income": lw.Continuous(-2.5, 40.0),
        "debt": lw.Continuous(-1.0, 1.0, missing=True),
        "age": lw.Integer(18, 60, missing=True),
        "stars": lw.Ordinal([0.5, 1.0, 2.5, 4.0]),
        "city": lw.Categorical(["berlin", "oslo", "rome", "turin"]),
        "rooms": lw.Categorical([5, 1, 2]),
    }
)
NUMBERS = ["income", "debt", "age", "stars"]


@pytest.fixture(scope="module")
def people():
    random, n = np.random.default_rng(0), 400
    X = pd.DataFrame(
        {
            "income": random.uniform(-2.5, 40, n),
            "debt": np.where(random.uniform(size=n) < 0.1, np.nan, random.uniform(-1, 1, n).round(2)),
            "age": np.where(random.uniform(size=n) < 0.1, np.nan, random.integers(18, 61, n)),
            "stars": random.choice([0.5, 1.0, 2.5, 4.0], n),
            "city": random.choice(["berlin", "oslo", "rome", "turin"], n),
            "rooms": random.choice([5, 1, 2], n),
        }
    )
    target = (
        0.1 * X.income + X.debt.fillna(0.3) - 0.02 * X.age.fillna(70) + (X.city == "rome") + 0.2 * X.rooms
    ).to_numpy() + random.normal(0, 0.3, n)
    return X, target


def as_categories(X, names=("city", "rooms")):
    """Categories in an order of their own, which is not that of the space."""
    orders = {"city": ["rome", "turin", "berlin", "oslo"], "rooms": [2, 5, 1]}
    return X.assign(**{name: pd.Categorical(X[name], categories=orders[name]) for name in names})


def columns(words="onehot"):
    encoder = OneHotEncoder(sparse_output=False) if words == "onehot" else OrdinalEncoder()
    return make_column_transformer(
        (StandardScaler(), ["income", "debt"]),
        (MinMaxScaler((-1, 1)), ["age"]),
        (encoder, ["city", "rooms"]),
        remainder="passthrough",
    )


def labels_of(target, classes):
    return np.searchsorted(np.quantile(target, np.arange(1, classes) / classes), target)


# -- comparing --------------------------------------------------------------------------------------------


def imported_of(model, X, space=SPACE):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_model(model, space, rows=space.encode(X), like=X)


def probing(imported, seed=1):
    space = imported.space
    codes = [probing_codes(tree_sum_of_model(imported.model), space, imported.rows)]
    random = np.random.default_rng(seed)
    missing = max(0, ROWS - len(codes[0]))
    drawn = np.concatenate([sample_codes(space, imported.rows) for _ in range(missing // 80 + 1)])
    for k, name in enumerate(space.names):
        feature = space[name]
        if isinstance(feature, Continuous):
            drawn[:, k] = random.uniform(feature.lo, feature.hi, len(drawn))
        elif isinstance(feature, Integer):
            drawn[:, k] = random.integers(feature.lo, feature.hi + 1, len(drawn))
        else:
            drawn[:, k] = random.integers(0, feature.size, len(drawn))
        if getattr(feature, "missing", False):
            drawn[random.uniform(size=len(drawn)) < 0.15, k] = feature.missing_code
    return np.concatenate([*codes, drawn])


def summed(body, codes, precision, start=None, dart=False):
    """All trees' values in order, rounded after each addition; those of XGBoost's dart with the base score added and taken off again, and weighed."""
    bias = np.array([float(value) for value in body.bias] if start is None else start, dtype=precision)
    total = np.tile(bias, (len(codes), 1))
    for tree in body.trees:
        values = tree.values[find_leaves(tree, codes, body.missing)].astype(precision)
        total += ((bias + values) - bias) * precision(float(tree.factor)) if dart else values
    return total


def assert_agrees(model, X, *, precision, scores, space=SPACE, divisor=1, shift=0.0, dart=False):
    """Scores bit by bit, labels and probabilities as the replay has them. `scores` asks the library for frames of the space."""
    imported = imported_of(model, X, space)
    codes = probing(imported)
    assert len(codes) >= ROWS
    body, replay = tree_sum_of_model(imported.model), imported.replay
    start = [float(value) + shift for value in body.bias]
    ours = summed(body, codes, precision, start, dart) / precision(divisor)
    theirs = np.asarray(scores(replay.inputs.of(codes))).reshape(ours.shape)
    assert theirs.dtype == precision
    assert (ours == theirs).all()
    head, exact = imported.model.head, ours.astype(np.float64) - shift
    if imported.model.n_scores > 1:
        assert (replay.decisions(codes) == np.array(head.labels)[np.argmax(ours, axis=1)]).all()
        if head.link == "softmax":
            powers = np.exp(exact - exact.max(axis=1, keepdims=True))
            shares = powers / powers.sum(axis=1, keepdims=True)
            assert np.abs(replay.probabilities(codes) - shares).max() < 1e-6
    elif head.labels is not None and head.undecided is None:
        near = np.abs(exact[:, 0]) < (2.0**-20 if precision is np.float32 else 2.0**-48)
        upper = np.array(head.labels)[(exact[:, 0] > 0).astype(int)]
        assert ((replay.decisions(codes) == upper) | near).all()
        assert near.mean() < 0.1
    if imported.model.n_scores == 1 and head.link == "logistic":
        shares = 1 / (1 + np.exp(-float(head.slope) * exact[:, 0]))
        assert np.abs(replay.probabilities(codes)[:, 1] - shares).max() < 1e-6
    return imported


# -- XGBoost ----------------------------------------------------------------------------------------------

SMALL = {"n_estimators": 12, "max_depth": 4, "n_jobs": 1, "random_state": 0}


def assert_xgboost(model, X, **more):
    final = model[-1] if hasattr(model, "steps") else model
    before = model[:-1].transform if hasattr(model, "steps") else lambda frame: frame
    return assert_agrees(
        model,
        X,
        precision=np.float32,
        scores=lambda frame: final.predict(before(frame), output_margin=True),
        **more,
    )


DART = {"booster": "dart", "rate_drop": 0.5}


@pytest.mark.draw(3)
@pytest.mark.parametrize(
    ("kind", "settings", "classes"),
    [
        ("XGBClassifier", {}, 2),
        ("XGBClassifier", {**DART, "base_score": 0.3}, 2),
        ("XGBClassifier", {**DART, "n_estimators": 6, "num_parallel_tree": 2, "subsample": 0.5}, 3),
        ("XGBRegressor", {**DART, "normalize_type": "forest"}, None),
        ("XGBClassifier", {"max_cat_to_onehot": 1, "base_score": 0.3}, 2),
        ("XGBClassifier", {"objective": "binary:logitraw"}, 2),
        ("XGBClassifier", {"n_estimators": 6}, 3),
        ("XGBClassifier", {"n_estimators": 6, "objective": "multi:softmax"}, 4),
        ("XGBClassifier", {"n_estimators": 4, "num_parallel_tree": 3, "subsample": 0.5}, 2),
        ("XGBRFClassifier", {}, 2),
        ("XGBRFRegressor", {}, None),
        ("XGBRegressor", {}, None),
        ("XGBRegressor", {"objective": "reg:absoluteerror"}, None),
        ("XGBRegressor", {"objective": "reg:logistic"}, 2),
    ],
)
def test_xgboost_on_frames_with_categories(people, kind, settings, classes):
    X, target = people
    y = target if classes is None else labels_of(target, classes)
    model = getattr(xgboost, kind)(enable_categorical=True, **{**SMALL, **settings}).fit(as_categories(X), y)
    shift = 0.5 if settings.get("objective") == "binary:logitraw" else 0.0
    dart = "booster" in settings
    imported = assert_xgboost(model, X, shift=shift, dart=dart)
    assert dart == any(tree.factor != 1 for tree in tree_sum_of_model(imported.model).trees)
    assert any(tree.levels for tree in tree_sum_of_model(imported.model).trees)


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    ("words", "classes"), [("onehot", 2), ("ordinal", 2), ("onehot", 3), ("ordinal", None)]
)
def test_xgboost_in_pipelines(people, words, classes):
    X, target = people
    last = xgboost.XGBRegressor(**SMALL) if classes is None else xgboost.XGBClassifier(**SMALL)
    y = target if classes is None else labels_of(target, classes)
    assert_xgboost(make_pipeline(columns(words), last).fit(X, y), X)


def test_xgboost_on_plain_arrays_and_in_a_search(people):
    X, target = people
    X = X[[*NUMBERS, "rooms"]]
    space = lw.Space({name: SPACE[name] for name in X.columns})
    search = GridSearchCV(xgboost.XGBClassifier(**SMALL), {"max_depth": [3]}, cv=2)
    search.fit(X.to_numpy(), labels_of(target, 2))
    best = search.best_estimator_
    assert_agrees(
        search,
        X,
        space=space,
        precision=np.float32,
        scores=lambda rows: best.predict(rows, output_margin=True),
    )


def test_xgboost_with_codes_for_categories(people):
    """Categories as numbers in an array: cut to whole numbers, unknown and negative ones go left."""
    X, target = people
    X = X[["income", "rooms"]].assign(rooms=X.rooms.astype(float))
    space = lw.Space(
        {"income": SPACE["income"], "rooms": lw.Categorical([-1.0, 0.5, 1.0, 1.9, 2.0, 5.0, 7.0, 300.0])}
    )
    model = xgboost.XGBClassifier(feature_types=["q", "c"], enable_categorical=True, **SMALL)
    model.fit(X.to_numpy(), labels_of(target, 2))
    assert_xgboost(model, X, space=space)


def test_xgboost_after_a_sparse_matrix_takes_zeros_for_missing(people):
    X, target = people
    X = X[["city", "rooms", "stars"]]
    space = lw.Space({name: SPACE[name] for name in X.columns})
    sparse = make_column_transformer(
        (OneHotEncoder(), ["city", "rooms"]), (OrdinalEncoder(), ["stars"]), sparse_threshold=1
    )
    model = make_pipeline(sparse, xgboost.XGBClassifier(**SMALL)).fit(X, labels_of(target, 2))
    assert hasattr(model[:-1].transform(X), "toarray")
    assert_xgboost(model, X, space=space)


def test_xgboost_predicts_with_its_best_rounds(people):
    X, target = people
    y = labels_of(target, 2)
    model = xgboost.XGBClassifier(early_stopping_rounds=2, enable_categorical=True, **SMALL)
    other = as_categories(X)
    model.fit(
        other, y, eval_set=[(other[:60], np.where(np.arange(60) < 20, 1 - y[:60], y[:60]))], verbose=False
    )
    rounds = model.get_booster().num_boosted_rounds()
    assert model.best_iteration + 1 < rounds
    imported = assert_xgboost(model, X)
    assert len(tree_sum_of_model(imported.model).trees) == model.best_iteration + 1


@pytest.mark.draw(2)
@pytest.mark.parametrize(("suffix", "installed"), [("json", True), ("ubj", False)])
@pytest.mark.parametrize("classes", [2, 3, None])
def test_xgboost_from_files(people, tmp_path, monkeypatch, suffix, classes, installed):
    X, target = people
    kind = xgboost.XGBRegressor if classes is None else xgboost.XGBClassifier
    y = target if classes is None else labels_of(target, classes)
    model = kind(enable_categorical=True, **SMALL).fit(as_categories(X), y)
    model.save_model(tmp_path / f"model.{suffix}")
    if not installed:
        monkeypatch.setitem(sys.modules, "xgboost", None)
    loaded = load_model(tmp_path / f"model.{suffix}")
    imported = assert_agrees(
        loaded,
        X,
        precision=np.float32,
        scores=lambda frame: model.predict(as_categories(frame), output_margin=True),
    )
    assert (imported.replay.stand_in is None) == installed


def test_a_booster_predicts_with_all_rounds(people):
    X, target = people
    booster = (
        xgboost.XGBRegressor(enable_categorical=True, **SMALL).fit(as_categories(X), target).get_booster()
    )
    booster.set_attr(best_iteration="2")
    imported = assert_agrees(
        booster,
        X,
        precision=np.float32,
        scores=lambda frame: booster.inplace_predict(frame, predict_type="margin"),
    )
    assert len(tree_sum_of_model(imported.model).trees) == SMALL["n_estimators"]


# -- LightGBM ---------------------------------------------------------------------------------------------

LEAFY = {
    "n_estimators": 12,
    "num_leaves": 12,
    "n_jobs": 1,
    "random_state": 0,
    "verbose": -1,
    "min_child_samples": 5,
    "min_data_per_group": 3,
    "cat_smooth": 1.0,
    "max_cat_to_onehot": 1,
}


def assert_lightgbm(model, X, **more):
    final = model[-1] if hasattr(model, "steps") else model
    before = model[:-1].transform if hasattr(model, "steps") else lambda frame: frame
    return assert_agrees(
        model,
        X,
        precision=np.float64,
        scores=lambda frame: final.predict(before(frame), raw_score=True),
        **more,
    )


@pytest.mark.draw(4)
@pytest.mark.parametrize(
    ("kind", "settings", "classes"),
    [
        ("LGBMClassifier", {}, 2),
        ("LGBMClassifier", {"sigmoid": 0.3, "use_missing": False}, 2),
        ("LGBMClassifier", {"boosting_type": "dart"}, 2),
        ("LGBMClassifier", {"boosting_type": "rf", "bagging_freq": 1, "bagging_fraction": 0.6}, 2),
        ("LGBMClassifier", {"n_estimators": 6}, 3),
        ("LGBMClassifier", {"n_estimators": 6, "objective": "multiclassova"}, 3),
        ("LGBMRegressor", {}, None),
        ("LGBMRegressor", {"objective": "quantile", "alpha": 0.7}, None),
        ("LGBMRegressor", {"objective": "cross_entropy"}, 2),
    ],
)
def test_lightgbm_on_frames_with_categories(people, kind, settings, classes):
    X, target = people
    y = target if classes is None else labels_of(target, classes)
    if kind == "LGBMClassifier":
        y = np.array(["d", "b", "c", "a"])[y]
    model = getattr(lightgbm, kind)(**{**LEAFY, **settings}).fit(as_categories(X), y)
    # What LightGBM calls raw is the sum also where it predicts with the mean; leaves are compared before they are averaged.
    imported = assert_lightgbm(model, X) if settings.get("boosting_type") != "rf" else imported_of(model, X)
    assert any(tree.levels for tree in tree_sum_of_model(imported.model).trees)


@pytest.mark.draw(1)
@pytest.mark.parametrize(
    ("words", "classes"), [("onehot", 2), ("ordinal", 2), ("onehot", 3), ("ordinal", None)]
)
def test_lightgbm_in_pipelines(people, words, classes):
    X, target = people
    last = lightgbm.LGBMRegressor(**LEAFY) if classes is None else lightgbm.LGBMClassifier(**LEAFY)
    y = target if classes is None else labels_of(target, classes)
    assert_lightgbm(make_pipeline(columns(words), last).fit(X, y), X)


def test_lightgbm_near_zero(people):
    """Numbers within 1e-35 of zero are zero to LightGBM; so is a missing value where none was there in training."""
    X, _ = people
    random = np.random.default_rng(3)
    tiny = random.choice(
        [0.0, 1e-35, -1e-35, 1e-36, 1.0000000180025095e-35, -1.0000000180025095e-35, 3e-35, -3e-35], len(X)
    )
    X = X[["income"]].assign(tiny=tiny, signed=random.choice([-1.0, 0.0, 1.0], len(X)))
    space = lw.Space(
        {
            "income": SPACE["income"],
            "tiny": lw.Continuous(-1e-34, 1e-34, missing=True),
            "signed": lw.Integer(-1, 1, missing=True),
        }
    )
    y = ((tiny > 0) ^ (X.signed > 0)).astype(int)
    model = lightgbm.LGBMClassifier(**LEAFY).fit(X, y)
    imported = assert_lightgbm(model, X, space=space)
    assert {1, 2} & {int(k) for k in tree_sum_of_model(imported.model).tested()}


def test_lightgbm_with_codes_for_categories(people):
    X, target = people
    X = X[["income", "rooms"]].assign(rooms=X.rooms.astype(float))
    space = lw.Space(
        {
            "income": SPACE["income"],
            "rooms": lw.Categorical([-1.0, -0.5, 0.5, 1.0, 1.9, 2.0, 5.0, 7.0, 300.0]),
        }
    )
    model = lightgbm.LGBMClassifier(**LEAFY).fit(X.to_numpy(), labels_of(target, 2), categorical_feature=[1])
    assert_lightgbm(model, X, space=space)


def test_categories_of_other_columns_are_noticed(people):
    """LightGBM does not say which columns had categories: a list that is not theirs must not be taken for theirs."""
    X, target = people
    X = X.assign(age=X.age.fillna(30).astype(int))
    marked = as_categories(X, ["city"])
    model = lightgbm.LGBMClassifier(**LEAFY)
    model.fit(marked, labels_of(target, 2), categorical_feature=["rooms"])
    with pytest.raises((DataError, UnsupportedModel), match=r"categor"):
        imported_of(model, X)
    with pytest.raises((DataError, UnsupportedModel), match=r"categor"):
        imported_of(model, marked)


def test_numbers_that_are_categories_of_one_of_two_columns():
    """`categorical_feature` names the column without pandas categories: whose the list is only the frame can tell."""
    plain = pd.DataFrame([(p, q) for p in range(3) for q in range(3)] * 6, columns=["p", "q"])
    frame = plain.assign(q=pd.Categorical(plain.q, categories=[2, 1, 0]))
    settings = {**LEAFY, "min_data_per_group": 1, "cat_smooth": 0}
    space = lw.Space({"p": lw.Integer(0, 2), "q": lw.Integer(1, 2)})
    here, free = plain.q > 0, lw.Similarity(free=["q"])
    for named, where in (["p"], "'q', or of one of 'p'"), ("auto", "'p', or of one of 'q'"):
        model = lightgbm.LGBMClassifier(**settings)
        model.fit(frame, plain.q == 2, categorical_feature=named)
        assert len(set(model.predict(frame[here]))) == 2
        for X in (None, plain[here]):
            with pytest.raises(UnsupportedModel, match=f"are those of {where}"):
                lw.verify(model, space, free, X=X)
        if named == "auto":
            assert lw.verify(model, space, free, X=frame[here]).verdict == lw.Verdict.BIASED
        else:
            with pytest.raises(DataError, match="the frame has categories in 'q'"):
                lw.verify(model, space, free, X=frame[here])


@pytest.mark.parametrize("kind", ["XGBClassifier", "LGBMClassifier"])
def test_missing_categories(people, kind):
    X, target = people
    X = X[["income", "city"]].assign(city=X.city.where(X.city != "oslo", None))
    space = lw.Space({"income": SPACE["income"], "city": lw.Categorical(["turin", "berlin", "rome", None])})
    frame = X.assign(city=pd.Categorical(X.city, categories=["rome", "turin", "berlin"]))
    if kind == "XGBClassifier":
        model = xgboost.XGBClassifier(enable_categorical=True, **SMALL).fit(frame, labels_of(target, 2))
        assert_xgboost(model, X, space=space)
    else:
        model = lightgbm.LGBMClassifier(**LEAFY).fit(frame, labels_of(target, 2))
        assert_lightgbm(model, X, space=space)


def test_lightgbm_predicts_with_its_best_rounds(people):
    X, target = people
    y, frame = labels_of(target, 2), as_categories(X)
    other = [(frame[:60], np.where(np.arange(60) < 20, 1 - y[:60], y[:60]))]
    model = lightgbm.LGBMClassifier(**LEAFY)
    with warnings.catch_warnings():  # newer releases call the argument eval_X
        warnings.simplefilter("ignore")
        model.fit(frame, y, eval_set=other, callbacks=[lightgbm.early_stopping(2, verbose=False)])
    assert 0 < model.best_iteration_ < LEAFY["n_estimators"]
    imported = assert_lightgbm(model, X)
    assert len(tree_sum_of_model(imported.model).trees) == model.best_iteration_


def test_lightgbm_names_with_blanks(people):
    X, target = people
    renamed = X[["income", "debt"]].rename(columns={"income": "the income"})
    space = lw.Space({"the income": SPACE["income"], "debt": SPACE["debt"]})
    assert_lightgbm(lightgbm.LGBMRegressor(**LEAFY).fit(renamed, target), renamed, space=space)


@pytest.mark.draw(3)
@pytest.mark.parametrize("installed", [True, False])
@pytest.mark.parametrize("classes", [2, 3, None])
def test_lightgbm_from_files(people, tmp_path, monkeypatch, classes, installed):
    X, target = people
    kind = lightgbm.LGBMRegressor if classes is None else lightgbm.LGBMClassifier
    y = target if classes is None else labels_of(target, classes)
    model = kind(**LEAFY).fit(as_categories(X), y)
    model.booster_.save_model(tmp_path / "model.txt")
    if not installed:
        monkeypatch.setitem(sys.modules, "lightgbm", None)
    loaded = load_model(tmp_path / "model.txt")
    imported = assert_agrees(
        loaded,
        X,
        precision=np.float64,
        scores=lambda frame: model.predict(as_categories(frame), raw_score=True),
    )
    assert (imported.replay.stand_in is None) == installed


def test_a_lightgbm_booster(people):
    X, target = people
    booster = lightgbm.LGBMRegressor(**LEAFY).fit(as_categories(X), target).booster_
    booster.best_iteration = 5
    imported = assert_agrees(
        booster, X, precision=np.float64, scores=lambda frame: booster.predict(frame, raw_score=True)
    )
    assert len(tree_sum_of_model(imported.model).trees) == 5


# -- both -------------------------------------------------------------------------------------------------


@pytest.mark.draw(5)
@pytest.mark.parametrize("library", ["XGB", "LGBM"])
@pytest.mark.parametrize("before", ["frame", "array", "scaled", "handed on"])
def test_whole_numbers_beyond_single_precision(library, before):
    """Cast to float32 by XGBoost always; refused where a pipeline hands them to LightGBM in an array, which casts that too."""
    random = np.random.default_rng(5)
    lo = 2**24 - 20
    X = pd.DataFrame(
        {"money": random.integers(lo, lo + 61, 400), "debt": random.integers(-3 * lo, -3 * lo + 41, 400)}
    )
    space = lw.Space({"money": lw.Integer(lo, lo + 60), "debt": lw.Integer(-3 * lo, -3 * lo + 40)})
    y = ((X.money * 3 + X.debt) % 7 > 2).astype(int)
    model = xgboost.XGBClassifier(**SMALL) if library == "XGB" else lightgbm.LGBMClassifier(**LEAFY)
    if before == "scaled":
        model = make_pipeline(StandardScaler(), model)
    if before == "handed on":
        model = make_pipeline(make_column_transformer(("passthrough", ["money", "debt"])), model)
    model.fit(X.to_numpy().astype(float) if before == "array" else X, y)
    if library == "LGBM" and before == "handed on":
        with pytest.raises(UnsupportedModel, match=r"casts to float32, and 'money' goes beyond 2\*\*24"):
            imported_of(model, X, space)
        model.set_output(transform="pandas").fit(X, y)
    (assert_xgboost if library == "XGB" else assert_lightgbm)(model, X, space=space)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("library", ["XGB", "LGBM"])
def test_any_settings(people, library, seed):
    """Models of random settings, bare and behind pipelines."""
    random = np.random.default_rng(seed)
    X, target = people
    classes = [2, 3, None][seed % 3]
    y = target if classes is None else labels_of(target, classes)
    kind = "Regressor" if classes is None else "Classifier"
    if library == "XGB":
        settings = {
            "n_estimators": int(random.integers(1, 40)),
            "max_depth": int(random.integers(1, 9)),
            "tree_method": random.choice(["hist", "approx"]),
            "max_cat_to_onehot": int(random.integers(1, 5)),
            "learning_rate": float(random.choice([0.01, 0.3, 1.0])),
            "subsample": float(random.choice([0.5, 1.0])),
            "max_bin": int(random.choice([4, 256])),
            "grow_policy": random.choice(["depthwise", "lossguide"]),
        }
        model = getattr(xgboost, f"XGB{kind}")(n_jobs=1, enable_categorical=True, **settings)
    else:
        settings = {
            "n_estimators": int(random.integers(1, 40)),
            "num_leaves": int(random.integers(2, 60)),
            "max_cat_to_onehot": int(random.integers(1, 5)),
            "extra_trees": bool(random.integers(2)),
            "use_missing": bool(random.integers(2)),
            "max_bin": int(random.choice([4, 255])),
        }
        model = getattr(lightgbm, f"LGBM{kind}")(**{**LEAFY, **settings})
    agrees = assert_xgboost if library == "XGB" else assert_lightgbm
    if seed % 2:
        agrees(make_pipeline(columns("ordinal"), model).fit(X, y), X)
    else:
        agrees(model.fit(as_categories(X), y), X)


# -- refusals ---------------------------------------------------------------------------------------------


def tiny(kind, **settings):
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {"income": random.uniform(0, 40, 100), "stars": random.choice([0.5, 1.0, 2.5, 4.0], 100)}
    )
    y = (X.income + random.normal(size=100) > 20).astype(int)
    library = xgboost if kind.startswith("XGB") else lightgbm
    more = {"n_estimators": 3, "n_jobs": 1} | ({} if library is xgboost else {"verbose": -1})
    return getattr(library, kind)(**{**more, **settings}), X, y


def squared(target, guess):
    return guess - target, np.ones_like(target, dtype=float)


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        ("XGBClassifier", {"booster": "gblinear"}, "its booster is 'gblinear'"),
        ("XGBClassifier", {"missing": 0.0}, "takes 0.0 for a missing value"),
        ("XGBClassifier", {"objective": "binary:hinge"}, "binary:hinge"),
        ("XGBRegressor", {"objective": "rank:pairwise"}, "rank:pairwise"),
        ("XGBRegressor", {"objective": squared}, "'squared'"),
        ("LGBMRegressor", {"objective": "cross_entropy_lambda"}, "cross_entropy_lambda"),
        ("LGBMRegressor", {"objective": "regression", "reg_sqrt": True}, "regression sqrt"),
        ("LGBMRegressor", {"objective": squared}, "'squared'"),
        ("LGBMRegressor", {"linear_tree": True}, "linear functions"),
        ("LGBMClassifier", {"pred_early_stop": True}, "pred_early_stop"),
    ],
)
def test_refused_by_name(kind, settings, message):
    model, X, y = tiny(kind, **settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    space = lw.Space({"income": lw.Continuous(0, 40), "stars": SPACE["stars"]})
    with pytest.raises(UnsupportedModel, match=message):
        imported_of(model, X, space)


UNREAD = {
    "gblinear": ("XGBClassifier", {"booster": "gblinear"}, "its booster is 'gblinear'"),
    "missing": ("XGBClassifier", {"missing": 1.0}, "takes 1.0 for a missing value"),
    "hinge": ("XGBClassifier", {"objective": "binary:hinge"}, "binary:hinge"),
    "vectors": ("XGBClassifier", {"multi_strategy": "multi_output_tree"}, "multi_output_tree"),
    "ranks": ("XGBRegressor", {"objective": "rank:pairwise"}, "rank:pairwise"),
    "lines": ("LGBMRegressor", {"linear_tree": True}, "linear functions"),
    "zero": ("LGBMClassifier", {"zero_as_missing": True}, "zero_as_missing"),
}
GRID = lw.Space({"wage": lw.Integer(0, 5), "sex": lw.Categorical([0, 1])})


def small_booster(name, changed=None, categories=False):
    """On a frame of all people of GRID, some of them more than once."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"wage": np.arange(240) % 6, "sex": np.arange(240) // 6 % 2})
    kind, settings, _ = UNREAD[name] if changed is None else (*changed, None)
    y = (
        X.wage + (5 if name == "gblinear" else 2) * X.sex * (X.wage != 2) + random.normal(0, 0.3, 240) > 3.5
    ).astype(int)
    if name == "zero":
        y = ((X.wage == 0) | (X.wage > 3 - X.sex)).astype(int)
    if name == "vectors":
        y = y + (X.wage > 4)
    if kind.endswith("Regressor"):
        y = X.wage + 3 * X.sex + (random.normal(0, 0.3, 240) if name != "ranks" else 0)
    library = xgboost if kind.startswith("XGB") else lightgbm
    more = {"max_depth": 3} if library is xgboost else {"verbose": -1, "min_child_samples": 5}
    if categories:
        X = X.assign(sex=pd.Categorical(X.sex, [1, 0]))
        more |= {"enable_categorical": True} if library is xgboost else {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        extra = {"qid": np.arange(240) // 40} if name == "ranks" else {}
        model = getattr(library, kind)(n_estimators=8, n_jobs=1, **more, **settings)
        if name == "ranks":
            model = xgboost.XGBRanker(n_estimators=8, n_jobs=1, **settings)
        return model.fit(X, y, **extra), X


def everybody_of(X):
    """Both sexes at every wage: predictions by brute force, sex by sex."""
    people = pd.DataFrame({"wage": np.repeat(np.arange(6), 2), "sex": [0, 1] * 6})
    return people.astype({"sex": X.sex.dtype})


@pytest.mark.some_days
@pytest.mark.parametrize("name", UNREAD)
def test_boosters_that_nothing_reads_are_black_boxes(name):
    """Likewise calls predict, says why, finds what brute force finds, and proves nothing."""
    model, X = small_booster(name)
    similar = lw.Similarity(free=["sex"])
    said = model.predict(everybody_of(X)).reshape(6, 2)
    if not hasattr(model, "predict_proba"):
        found = lw.measure(model, GRID, similar, X=X, budget=1)
        assert found.lower == pytest.approx(np.abs(np.diff(said.astype(float))).max())
        assert (found.upper, found.proved) == (np.inf, False)
        return
    assert (said[:, 0] != said[:, 1]).any()
    found = lw.verify(model, GRID, similar, X=X, budget=20)
    assert (found.verdict, found.certificate) == ("BIASED", None)
    assert UNREAD[name][2] in found.stats["black_box"]
    assert len(set(model.predict(found.pair[["wage", "sex"]]).tolist())) == 2
    alike = int(np.flatnonzero(said[:, 0] == said[:, 1])[0])
    part = lw.Space({"wage": lw.Integer(alike, alike), "sex": lw.Categorical([0, 1])})
    assert lw.verify(model, part, similar, budget=0.3).verdict == "UNKNOWN"  # true of both, and not proved


@pytest.mark.parametrize("name", ["missing", "hinge", "lines"])
def test_black_boxes_are_asked_with_the_categories_of_the_frame(name):
    model, X = small_booster(name, categories=True)
    said = model.predict(everybody_of(X)).reshape(6, 2).astype(float)
    found = lw.measure(model, GRID, lw.Similarity(free=["sex"]), X=X, budget=1)
    if name == "lines":
        assert found.lower == pytest.approx(np.abs(np.diff(said)).max())
        return
    result = lw.verify(model, GRID, lw.Similarity(free=["sex"]), X=X, budget=20)
    assert result.verdict == ("BIASED" if (said[:, 0] != said[:, 1]).any() else "UNKNOWN")


@pytest.mark.parametrize("name", ["gblinear", "lines"])
def test_a_booster_itself_is_refused_in_words(name):
    model, X = small_booster(name)
    booster = model.get_booster() if name == "gblinear" else model.booster_
    with pytest.raises(UnsupportedModel, match=UNREAD[name][2]):
        lw.verify(booster, GRID, lw.Similarity(free=["sex"]), X=X, budget=1)


@pytest.mark.parametrize("kind", ["XGBClassifier", "XGBRegressor", "LGBMClassifier", "LGBMRegressor"])
def test_dart_is_proved_as_brute_force_says(kind, tmp_path):
    """Gaps to the last digits on both sides, with a certificate that the checker accepts."""
    settings = {"booster": "dart", "rate_drop": 0.5} if kind.startswith("XGB") else {"boosting_type": "dart"}
    model, X = small_booster("dart", changed=(kind, settings))
    similar, everybody = lw.Similarity(free=["sex"]), everybody_of(X)
    raw = {"output_margin": True} if kind.startswith("XGB") else {"raw_score": True}
    gaps = np.abs(np.diff(model.predict(everybody, **raw).astype(float).reshape(6, 2)))
    assert gaps.max() > 0.01
    fair = lw.verify(model, GRID, similar, lw.ScoreGap(float(gaps.max()) + 1e-4), X=X, budget=60)
    assert (fair.verdict, fair.stats.get("black_box")) == ("FAIR", None)
    fair.certificate.save(tmp_path / "dart.lw")
    assert check(tmp_path / "dart.lw").accepted
    biased = lw.verify(model, GRID, similar, lw.ScoreGap(float(gaps.max()) - 1e-4), X=X, budget=60)
    assert biased.verdict == "BIASED"
    assert lw.measure(model, GRID, similar, X=X, budget=60).upper == pytest.approx(gaps.max(), abs=1e-5)
    if kind.endswith("Classifier"):
        said = model.predict(everybody).reshape(6, 2)
        found = lw.verify(model, GRID, similar, X=X, budget=60)
        assert found.verdict == ("BIASED" if (said[:, 0] != said[:, 1]).any() else "FAIR")


def test_zero_for_missing_is_refused_where_it_leaves_its_neighbours():
    random = np.random.default_rng(0)
    X = pd.DataFrame({"income": random.choice([-2.0, -1.0, 0.0, 1.0, 2.0], 300)})
    y = np.where(X.income == 0, 1, (X.income > 1).astype(int))
    model = lightgbm.LGBMClassifier(zero_as_missing=True, **LEAFY).fit(X, y)
    with pytest.raises(UnsupportedModel, match="zero_as_missing"):
        imported_of(model, X, lw.Space({"income": lw.Continuous(-2, 2)}))


@pytest.mark.draw(1)
@pytest.mark.parametrize("kind", ["XGB", "LGBM"])
def test_what_stands_around_them(kind):
    """Scaled targets are taken, and thresholds on probabilities are worked into the score: decisions are those of the wrapper."""
    space = lw.Space({"income": lw.Continuous(0, 40), "stars": SPACE["stars"]})
    model, X, y = tiny(f"{kind}Regressor")
    scaled = TransformedTargetRegressor(model, transformer=StandardScaler()).fit(X, 3 * X.income + 100)
    assert imported_of(scaled, X, space).model.family == f"{kind}Regressor"
    model, X, y = tiny(f"{kind}Classifier")
    wrapped = FixedThresholdClassifier(model, threshold=0.3).fit(X, y)
    made = imported_of(wrapped, X, space)
    assert made.model.head.rule == "sign"
    found = lw.verify(wrapped, space, lw.Similarity(free=["stars"]), X=X, budget=60)
    told = {
        income: {
            wrapped.predict(X.assign(income=income, stars=stars)[:1]).item() for stars in sorted(set(X.stars))
        }
        for income in np.linspace(0, 40, 81).tolist()
    }
    if found.verdict == "BIASED":
        assert len(set(wrapped.predict(found.pair).tolist())) == 2
    else:
        assert found.verdict == "FAIR"
        assert all(len(labels) == 1 for labels in told.values())


@pytest.mark.parametrize("kind", ["XGBClassifier", "LGBMClassifier"])
def test_unfitted_and_foreign_models_are_refused(kind):
    model, X, y = tiny(kind)
    space = lw.Space({"income": lw.Continuous(0, 40), "stars": SPACE["stars"]})
    with pytest.raises(UnsupportedModel, match="not fitted"):
        imported_of(model, X, space)
    with pytest.raises(DataError, match="column 'stars'"):
        imported_of(model.fit(X, y), X[["income"]], lw.Space({"income": lw.Continuous(0, 40)}))


@pytest.mark.parametrize("kind", ["XGBClassifier", "LGBMClassifier"])
def test_unknown_categories_are_refused(people, kind):
    X, target = people
    model = (
        xgboost.XGBClassifier(enable_categorical=True, **SMALL)
        if kind == "XGBClassifier"
        else lightgbm.LGBMClassifier(**LEAFY)
    ).fit(as_categories(X), labels_of(target, 2))
    space = SPACE.replace({"city": lw.Categorical(["berlin", "oslo", "rome", "turin", "vienna"])})
    with pytest.raises(DataError, match="not fitted on the category 'vienna' of 'city'"):
        imported_of(model, X, space)


def test_xgboost_refuses_numbers_in_a_sparse_matrix(people):
    X, target = people
    sparse = make_column_transformer(
        (OneHotEncoder(), ["city", "rooms"]), (StandardScaler(), ["income"]), sparse_threshold=1
    )
    model = make_pipeline(sparse, xgboost.XGBClassifier(**SMALL)).fit(X, labels_of(target, 2))
    with pytest.raises(UnsupportedModel, match="sparse matrix"):
        imported_of(model, X)


@pytest.mark.draw(1)
@pytest.mark.parametrize("seed", range(4))
def test_sums_of_float32_are_no_disagreement_behind_steps_that_are_rounded_themselves(seed):
    """Behind a logarithm no rounding of the whole is stated, but scores are compared in the library's own precision all the same."""
    random = np.random.default_rng(seed)
    rows = pd.DataFrame({"a": random.integers(1, 30, 300), "b": random.integers(0, 4, 300)})
    labels = random.normal(size=300) + np.log(rows["a"]) + rows["b"] > 3
    steps = make_column_transformer((FunctionTransformer(np.log1p), ["a"]), remainder="passthrough")
    model = make_pipeline(steps, xgboost.XGBClassifier(n_estimators=40, max_depth=3, n_jobs=1))
    model.fit(rows, labels)
    space, similar = lw.Space({"a": lw.Integer(1, 29), "b": lw.Integer(0, 3)}), lw.Similarity(free=["b"])
    assert import_model(model, space, rows=np.empty((0, 2)), like=rows).model.rounding is None
    assert lw.repair(model, space, similar, budget=20).result.verdict == "FAIR"
