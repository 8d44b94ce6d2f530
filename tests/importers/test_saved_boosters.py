"""Saved models of XGBoost and LightGBM as files: what is read, what is refused, and that damage ends in an error."""

import json
import re
import subprocess
import sys

import numpy as np
import pytest

import likewise as lw
from likewise.errors import UnsupportedModel
from likewise.importers.files import load_model
from likewise.importers.lightgbm.answers import raw_scores
from likewise.importers.lightgbm.model_file import read_lightgbm
from likewise.importers.saved_boosters import nearest_float32
from likewise.importers.xgboost.answers import margins
from likewise.importers.xgboost.model_file import read_xgboost

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
        (("learner", "gradient_booster", "name"), "dart", "its booster is 'dart'"),
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
