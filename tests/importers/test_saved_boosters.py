"""Saved models of XGBoost and LightGBM as files: what is read, what is refused, and that damage ends in an error."""

import json
import re
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import likewise as lw
from likewise.errors import MismatchedModel, UnsupportedModel
from likewise.importers.files import load_model
from likewise.importers.imported_model import import_model
from likewise.importers.lightgbm.answers import raw_scores
from likewise.importers.lightgbm.model_file import read_lightgbm
from likewise.importers.saved_boosters import nearest_float32, same_arrays
from likewise.importers.xgboost import answers as xgboost_answers
from likewise.importers.xgboost.answers import margins
from likewise.importers.xgboost.forest import import_xgboost
from likewise.importers.xgboost.model_file import read_xgboost, write_xgboost

xgboost = pytest.importorskip("xgboost", reason="XGBoost is not installed")
lightgbm = pytest.importorskip("lightgbm", reason="LightGBM is not installed")


@pytest.fixture(scope="module")
def data():
    random = np.random.default_rng(0)
    X = random.normal(size=(200, 3))
    X[:, 2] = random.integers(0, 5, 200)
    return X, (X[:, 0] + (X[:, 2] == 3) > 0).astype(int)


@pytest.fixture(scope="module")
def xgb(data):
    X, y = data
    matrix = xgboost.DMatrix(X, y, feature_types=["q", "q", "c"], enable_categorical=True)
    return xgboost.train({"objective": "binary:logistic", "max_depth": 3, "nthread": 1}, matrix, 4)


@pytest.fixture(scope="module")
def lgb(data):
    settings = {
        "objective": "binary",
        "verbose": -1,
        "num_threads": 1,
        "min_data_per_group": 5,
        "cat_smooth": 1,
    }
    return lightgbm.train(settings, lightgbm.Dataset(*data, categorical_feature=[2]), 4)


def test_json_and_ubj_say_the_same(xgb, data):
    one, other = (read_xgboost(bytes(xgb.save_raw(kind))) for kind in ("json", "ubj"))
    assert one.objective == other.objective == "binary:logistic"
    for first, second in zip(one.trees, other.trees, strict=True):
        assert first.condition.tolist() == second.condition.tolist()
        assert first.chosen == second.chosen
    assert any(tree.chosen for tree in one.trees)


def test_trees_of_the_files_say_what_the_libraries_say(xgb, lgb, data):
    stored = read_xgboost(bytes(xgb.save_raw("ubj")))
    made = margins(stored, data[0])[:, 0]
    assert (made == xgb.inplace_predict(data[0], predict_type="margin")).all()
    made = raw_scores(read_lightgbm(lgb.model_to_string().encode()), data[0])[:, 0]
    assert (made == lgb.predict(data[0], raw_score=True)).all()


@pytest.fixture(scope="module")
def dart(data):
    X, _ = data
    target = X[:, 0] + np.nan_to_num(X[:, 1]) + 100
    settings = {"booster": "dart", "rate_drop": 0.5, "max_depth": 2, "nthread": 1}
    return xgboost.train(settings, xgboost.DMatrix(X, target), 9)


def test_trees_of_dart_say_what_xgboost_says(dart, data):
    """To the last bit, and written anew they are the same model; of a DMatrix XGBoost rounds otherwise, by less than what is stated."""
    stored = read_xgboost(bytes(dart.save_raw("ubj")))
    assert len(set(stored.weights.tolist())) > 2
    made = margins(stored, data[0])[:, 0]
    assert (made == dart.inplace_predict(data[0], predict_type="margin")).all()
    assert same_arrays(read_xgboost(write_xgboost(stored)), stored)
    loaded = xgboost.Booster(model_file=bytearray(write_xgboost(stored)))
    assert (made == loaded.inplace_predict(data[0], predict_type="margin")).all()
    model = import_xgboost(stored, family="dart", kind="regressor")
    bare = sum(abs(tree.factor) * Fraction(np.abs(tree.values).max()) for tree in model.forest.trees)
    bare += abs(model.forest.bias[0])
    growth = (1 + Fraction(1, 2**24)) ** model.operations - 1
    ways = [made, dart.predict(xgboost.DMatrix(data[0]))]
    leaves = list(xgboost_answers.XGBoostModel(stored=stored, kind="regressor").leaves(data[0]))
    for row in range(0, len(made), 7):
        exact = model.forest.bias[0] + sum(
            tree.factor * Fraction(leaf[row, 0])
            for tree, leaf in zip(model.forest.trees, leaves, strict=True)
        )
        assert all(abs(Fraction(float(way[row])) - exact) <= growth * (bare + model.more) for way in ways)


def test_what_the_base_score_loses_of_small_leaves_is_in_the_stated_error(data):
    """Next to a base score of a million leaves of 0.01 are rounded to multiples of 1/16: far more than additions of such numbers lose by themselves."""
    X, _ = data
    settings = {"booster": "dart", "rate_drop": 0.3, "max_depth": 2, "nthread": 1, "base_score": 1e6}
    booster = xgboost.train({**settings, "eta": 0.01}, xgboost.DMatrix(X, 1e6 + X[:, 0]), 5)
    stored = read_xgboost(bytes(booster.save_raw("json")))
    model = import_xgboost(stored, family="dart", kind="regressor")
    least = Fraction(10**6) * sum(Fraction(float(one)) for one in stored.weights) / 2**24
    growth = (1 + Fraction(1, 2**24)) ** model.operations - 1
    assert growth * model.more >= least
    program = booster.inplace_predict(X, predict_type="margin").astype(float) - 1e6
    leaves = xgboost_answers.XGBoostModel(stored=stored, kind="regressor").leaves(X)
    exact = sum(float(w) * leaf[:, 0] for w, leaf in zip(stored.weights, leaves, strict=True))
    assert 0.001 < np.abs(program - exact).max() <= float(growth * (10**6 + 1 + model.more))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda weights: weights[:-1], "weight_drop is not 9 numbers"),
        (lambda weights: [*weights, 1.0], "weight_drop is not 9 numbers"),
        (lambda weights: [True] * 9, "weight_drop is not 9 numbers"),
        (lambda weights: [weights] * 9, "weight_drop is not 9 numbers"),
        (lambda weights: "1", "weight_drop is not 9 numbers"),
        (lambda weights: [*weights[:-1], 1e300], "not finite"),
        (lambda weights: [*weights[:-1], float("nan")], "'NaN' is not a decimal number"),
        (lambda weights: [*weights[:-1], float("inf")], "'Infinity' is not a decimal number"),
    ],
)
def test_damaged_weights_are_refused(dart, change, message):
    document = json.loads(dart.save_raw("json").decode())
    booster = document["learner"]["gradient_booster"]
    booster["weight_drop"] = change(booster["weight_drop"])
    with pytest.raises(UnsupportedModel, match=message):
        read_xgboost(json.dumps(document).encode())


def test_weights_in_other_places_are_refused(dart, xgb):
    text = dart.save_raw("json").decode()
    twice = text.replace('"weight_drop":', '"weight_drop":[1,1,1,1,1,1,1,1,1],"weight_drop":')
    ubj = bytes(dart.save_raw("ubj"))
    name = b"L" + (11).to_bytes(8, "big") + b"weight_drop"
    start = ubj.index(name)
    nan = np.array([np.nan], ">f4").tobytes()
    at = ubj.index(np.array([read_xgboost(ubj).weights[-1]], ">f4").tobytes(), start)
    for content, message in (
        (twice.encode(), "a key is there twice"),
        (ubj[:start] + name + b"i\x01" + ubj[start:], "twice"),
        (ubj[:at] + nan + ubj[at + 4 :], "not finite"),
        (
            xgb.save_raw("json").decode().replace('"name":"gbtree"', '"name":"gbtree","weight_drop":[1]'),
            "weight_drop",
        ),
        (text.replace('"name":"gbtree"', '"name":"dart"'), "its booster is 'dart'|has no|not known"),
        (re.sub(r',"weight_drop":\[[^]]*\]', "", text), "has no 'weight_drop'"),
    ):
        with pytest.raises(UnsupportedModel, match=message):
            read_xgboost(content if isinstance(content, bytes) else content.encode())


def test_weights_that_are_not_the_librarys_are_noticed(dart):
    """Each of them, by as little as a hundredth, where XGBoost itself answers."""
    stored = read_xgboost(bytes(dart.save_raw("ubj")))
    space = lw.Space({"f0": lw.Continuous(-3, 3), "f1": lw.Continuous(-3, 3), "f2": lw.Integer(0, 4)})
    rows = np.array([[0.0, 0.0, 1.0], [1.0, -1.0, 3.0]])
    for place in range(len(stored.weights)):
        changed = stored.weights.copy()
        changed[place] += np.float32(0.01)
        for weights in (stored.weights, changed):
            model = xgboost_answers.XGBoostModel(stored=replace(stored, weights=weights), kind="regressor")
            answers = xgboost_answers.LibraryAnswers(model, dart)
            with pytest.raises(MismatchedModel, match="disagrees") if weights is changed else nullcontext():
                import_model(answers, space, rows=rows)


def test_answers_in_python_suggest_no_repair_of_what_is_no_estimator(data):
    """A Booster cannot be made a part of an estimator, and LGBMClassifier can."""
    X, y = data
    features = {
        "Column_0": lw.Continuous(-3, 3),
        "Column_1": lw.Continuous(-3, 3),
        "Column_2": lw.Integer(0, 4),
    }
    space, similar = lw.Space(features), lw.Similarity(free=["Column_2"])
    model = lightgbm.LGBMClassifier(n_estimators=4, num_leaves=4, verbose=-1, n_jobs=1).fit(X, y)
    for one, repairable in ((model, True), (model.booster_, False)):
        result = lw.verify(one, space, similar, budget=60)
        assert result.verdict == "BIASED"
        assert ("likewise.repair(" in result._repr_html_()) == repairable


def test_decimals_are_rounded_to_float32_once():
    middle = 1 + 2**-24  # between two neighbours; as a double it is exactly there
    assert nearest_float32(f"{middle:.30f}") == 1.0
    assert nearest_float32("1.00000005960464477539062500000000001") == float(
        np.nextafter(np.float32(1), np.float32(2))
    )
    assert nearest_float32("1.00000005960464477539062499999999999") == 1.0
    for value in np.random.default_rng(0).normal(size=300).astype(np.float32):
        assert nearest_float32(f"{value:.9g}") == float(value)


# -- damage -----------------------------------------------------------------------------------------------


def leaves_of(value, path=()):
    """Every place in a JSON document, lists by their first entry."""
    if isinstance(value, dict):
        for key, inside in value.items():
            yield (*path, key)
            yield from leaves_of(inside, (*path, key))
    elif isinstance(value, list) and value:
        yield from leaves_of(value[0], (*path, 0))


def changed(document, path, new):
    document = json.loads(json.dumps(document))
    at = document
    for key in path[:-1]:
        at = at[key]
    if new is None:
        del at[path[-1]]
    else:
        at[path[-1]] = new
    return json.dumps(document).encode()


def resized(text):
    """A text of LightGBM with the sizes that its trees have."""
    head, *blocks = re.split(r"(?=^Tree=|^end of trees)", text, flags=re.MULTILINE)
    sizes = " ".join(str(len(block.encode())) for block in blocks[:-1])
    return (re.sub(r"tree_sizes=.*", f"tree_sizes={sizes}", head) + "".join(blocks)).encode()


@pytest.mark.parametrize("new", [None, -3, "x", [9, 9], 1e300, True])
def test_an_altered_json_is_read_or_refused(xgb, new):
    document = json.loads(xgb.save_raw("json").decode())
    refused = 0
    for path in leaves_of(document):
        try:
            read_xgboost(changed(document, path, new))
        except UnsupportedModel:
            refused += 1
    assert refused > 10


@pytest.mark.parametrize(
    ("path", "new", "message"),
    [
        (("learner", "gradient_booster", "name"), "dart", "the key 'model' is not known"),
        (("learner", "gradient_booster", "name"), "gblinear", "its booster is 'gblinear'"),
        (("learner", "learner_model_param", "num_target"), "2", "several targets"),
        (("learner", "learner_model_param", "base_score"), "nan", "not a decimal number"),
        (("learner", "gradient_booster", "model", "tree_info"), [0, 0, 0, 1], "tree_info"),
    ],
)
def test_refused_by_name(xgb, path, new, message):
    document = json.loads(xgb.save_raw("json").decode())
    with pytest.raises(UnsupportedModel, match=message):
        read_xgboost(changed(document, path, new))


@pytest.mark.parametrize(
    "turn", [{"left_children": 0}, {"left_children": 99}, {"right_children": 1}, {"split_indices": 3}]
)
def test_nodes_must_form_a_tree(xgb, turn):
    document = json.loads(xgb.save_raw("json").decode())
    ((name, value),) = turn.items()
    tree = document["learner"]["gradient_booster"]["model"]["trees"][0]
    tree[name][0] = value
    with pytest.raises(UnsupportedModel, match="a tree"):
        read_xgboost(json.dumps(document).encode())


def test_files_that_are_cut_off_are_refused(xgb, lgb):
    for kind in ("json", "ubj"):
        content = bytes(xgb.save_raw(kind))
        for end in range(0, len(content) - 1, 97):
            with pytest.raises(UnsupportedModel):
                read_xgboost(content[:end])
    content = lgb.model_to_string().encode()
    for end in range(0, content.index(b"end of trees"), 97):
        with pytest.raises(UnsupportedModel):
            read_lightgbm(content[:end])


def test_an_altered_text_is_read_or_refused(lgb):
    text = lgb.model_to_string()
    lines = text.split("\n")
    refused = 0
    for i, line in enumerate(lines):
        key, equals, value = line.partition("=")
        for new in ("", "x", "-1", "99", "nan", value + " 1"):
            if equals and value:
                try:
                    read_lightgbm(resized("\n".join((*lines[:i], f"{key}={new}", *lines[i + 1 :]))))
                except UnsupportedModel:
                    refused += 1
    assert refused > 50


@pytest.mark.parametrize(
    ("pattern", "new", "message"),
    [
        (r"is_linear=0", "is_linear=1", "linear functions"),
        (r"left_child=1", "left_child=0", "form no tree"),
        (r"leaf_value=\S+", "leaf_value=1_0", "not a decimal number"),
        (r"leaf_value=\S+", "leaf_value=inf", "no finite value"),
        (r"decision_type=\d+", "decision_type=12", "decision_type"),
        (r"Tree=1", "Tree=2", "tree 1"),
    ],
)
def test_text_refused_by_name(lgb, pattern, new, message):
    with pytest.raises(UnsupportedModel, match=message):
        read_lightgbm(resized(re.sub(pattern, new, lgb.model_to_string(), count=1)))


def test_files_are_read_without_the_libraries(xgb, lgb, tmp_path):
    xgb.save_model(tmp_path / "model.json")
    xgb.save_model(tmp_path / "model.ubj")
    lgb.save_model(tmp_path / "model.txt")
    code = (
        "import sys; sys.modules['xgboost'] = sys.modules['lightgbm'] = None\n"
        "from likewise.importers.files import load_model\n"
        "for name in ('model.json', 'model.ubj', 'model.txt'):\n"
        "    model = load_model(sys.argv[1] + '/' + name)\n"
        "    print(model.stand_in, model.predict_proba(__import__('numpy').zeros((1, 3))).shape)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True, check=True
    ).stdout
    assert done.count("not installed (1, 2)") == 3


def test_a_file_says_its_own_name_in_errors(tmp_path):
    for name in ("model.json", "model.ubj", "model.txt"):
        (tmp_path / name).write_bytes(b"{}")
        with pytest.raises(UnsupportedModel, match=f"{name}: is no (XGBoost|LightGBM) model"):
            load_model(tmp_path / name)


def test_rounds_after_the_best_one_are_asked_about(xgb, data, tmp_path):
    X, y = data
    matrix = xgboost.DMatrix(X, y)
    early = xgboost.train(
        {"objective": "binary:logistic", "nthread": 1},
        matrix,
        30,
        evals=[(xgboost.DMatrix(X, 1 - y), "other")],
        early_stopping_rounds=3,
        verbose_eval=False,
    )
    early.save_model(tmp_path / "early.json")
    with pytest.raises(UnsupportedModel, match="stopped early"):
        load_model(tmp_path / "early.json")


# -- what rounding a decision allows for ------------------------------------------------------------------


def test_sigma_in_single_precision_is_one_half_near_zero_and_not_beyond(data):
    """The error that is stated for XGBoost's decisions is at least 2^-20: there sigma is above 1/2, nearer it may not be."""
    X, y = data
    booster = xgboost.train(
        {"objective": "binary:logistic", "max_depth": 1, "base_score": 0.5, "nthread": 1},
        xgboost.DMatrix(X, y),
        1,
    )
    document = json.loads(booster.save_raw("json").decode())
    decided = {}
    for exponent in range(-40, -10):
        tree = document["learner"]["gradient_booster"]["model"]["trees"][0]
        tree["split_conditions"][1:] = [2.0**exponent, -(2.0**exponent)]
        model = xgboost.Booster()
        model.load_model(bytearray(json.dumps(document).encode()))
        margin, share = (model.inplace_predict(X, predict_type=kind) for kind in ("margin", "value"))
        assert set(np.abs(margin).tolist()) == {2.0**exponent}
        assert (share[margin < 0] <= 0.5).all()
        decided[exponent] = (share[margin > 0] > 0.5).all()
    assert all(decided[exponent] for exponent in range(-20, -10))
    assert not decided[-40]


def test_sigma_in_double_precision_likewise(data):
    X, y = data
    settings = {
        "objective": "binary",
        "verbose": -1,
        "num_threads": 1,
        "num_leaves": 2,
        "boost_from_average": False,
    }
    text = lightgbm.train(settings, lightgbm.Dataset(X, y), 1).model_to_string()
    decided = {}
    for exponent in range(-70, -40):
        values = f"leaf_value={2.0**exponent!r} {-(2.0**exponent)!r}"
        model = lightgbm.Booster(model_str=re.sub(r"leaf_value=.*", values, text))
        score, share = model.predict(X, raw_score=True), model.predict(X)
        assert set(np.abs(score).tolist()) == {2.0**exponent}
        assert (share[score < 0] <= 0.5).all()
        decided[exponent] = (share[score > 0] > 0.5).all()
    assert all(decided[exponent] for exponent in range(-49, -40))
    assert not decided[-70]
