"""Files of boosters that two readers can take in two ways: refused, whichever way the library takes."""

import json
import re

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost

from likewise.errors import UnsupportedModel
from likewise.importers.catboost.model_file import read_catboost
from likewise.importers.lightgbm.model_file import read_lightgbm, write_lightgbm
from likewise.importers.saved_boosters import same_arrays
from likewise.importers.xgboost.model_file import read_xgboost, write_xgboost

RANDOM = np.random.default_rng(0)
X = RANDOM.normal(size=(200, 3))
X[:, 2] = RANDOM.integers(0, 5, 200)
Y = (X[:, 0] + (X[:, 2] == 3) > 0).astype(int)


def lgb_text(**settings):
    more = {"verbose": -1, "num_threads": 1, "num_leaves": 4, "min_data_per_group": 5, "cat_smooth": 1}
    rows = lightgbm.Dataset(X, Y, categorical_feature=[2])
    return lightgbm.train({"objective": "binary", **more, **settings}, rows, 3).model_to_string()


@pytest.fixture(scope="module")
def lgb():
    return lgb_text()


@pytest.fixture(scope="module")
def xgb():
    rows = xgboost.DMatrix(X, Y, feature_types=["q", "q", "c"], enable_categorical=True)
    return xgboost.train({"objective": "binary:logistic", "max_depth": 2, "nthread": 1}, rows, 2)


@pytest.fixture(scope="module")
def cat(tmp_path_factory):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame = frame.assign(c=frame["c"].astype(int).astype(str), d=RANDOM.choice(["x", "y", "z"], 200))
    frame.loc[::9, "a"] = np.nan
    more = {"thread_count": 1, "verbose": 0, "allow_writing_files": False, "one_hot_max_size": 3}
    model = catboost.CatBoostClassifier(iterations=20, depth=3, **more).fit(frame, Y, cat_features=["c", "d"])
    path = tmp_path_factory.mktemp("models") / "model.json"
    model.save_model(str(path), format="json")
    return path.read_text()


def resized(text):
    """A text of LightGBM with the sizes that its trees have."""
    head, *blocks = re.split(r"(?=^Tree=|^end of trees)", text, flags=re.MULTILINE)
    sizes = " ".join(str(len(block.encode())) for block in blocks[:-1])
    return re.sub(r"tree_sizes=.*", f"tree_sizes={sizes}", head) + "".join(blocks)


def other_tree_behind(text):
    """Another tree in lines that are there already, where LightGBM reads 22 of them and the first."""
    lines = re.search(r"(?<=Tree=0\n).*?(?=\n\n)", text, flags=re.DOTALL)[0]
    other = re.sub(r"leaf_value=.*", "leaf_value=1 1 1 1", lines)
    return text.replace(lines, f"{lines}\n{other}", 1)


def in_text(pattern, new):
    return lambda text: re.sub(pattern, new, text, count=1, flags=re.MULTILINE)


IN_LIGHTGBM = {
    "lines behind those that are read": other_tree_behind,
    "a line that is there twice": in_text(r"^(shrinkage=.*)$", r"\1\nleaf_value=1 1 1 1"),
    "a line twice in the head": in_text(r"^(num_class=1)$", r"\1\nnum_class=1"),
    "a line that nobody knows": in_text(r"^(num_class=1)$", r"\1\nnum_glass=1"),
    "an underscore in a number": in_text(r"leaf_value=-?\d", "leaf_value=4_0"),
    "digits of another script": in_text(r"threshold=-?\d", "threshold=\uff11"),
    "a plus": in_text(r"leaf_value=-?", "leaf_value=+"),
    "a hexadecimal number": in_text(r"leaf_value=\S+", "leaf_value=0x10"),
    "an infinite leaf": in_text(r"leaf_value=\S+", "leaf_value=inf"),
    "an integer beyond 32 bits": in_text(r"left_child=\S+", "left_child=4294967297"),
    "a column beyond the last one": in_text(r"split_feature=\S+", "split_feature=3"),
    "a column below zero": in_text(r"split_feature=\S+", "split_feature=-1"),
    "two blanks": in_text(r"^(left_child=\S+) ", r"\1  "),
    "a tab between numbers": in_text(r"^(left_child=\S+) ", r"\1\t"),
    "a lone end of line": in_text(r"^(num_leaves=4)$", "\\1\rleaf_value=1 1 1 1"),
    "a null": in_text(r"^(feature_names=\S+)", "\\1\0"),
    "more leaves than values": in_text(r"num_leaves=4", "num_leaves=5"),
    "fewer classes than scores": in_text(r"num_class=1", "num_class=2"),
    "an objective of other classes": in_text(r"binary sigmoid:1", "multiclass num_class:3"),
    "a setting twice": in_text(r"binary sigmoid:1", "binary sigmoid:1 sigmoid:2"),
    "a name that begins with =": in_text(r"feature_names=", "feature_names=="),
    "a name twice": in_text(r"Column_1", "Column_0"),
    "a tree of linear functions": in_text(r"is_linear=0", "is_linear=2"),
    "another number of categories": in_text(r"num_cat=\d+", "num_cat=7"),
    "text before the parameters": in_text(r"^parameters:$", "parameters: \nparameters:"),
    "another list of categories": in_text(r"\Z", "\npandas_categorical:[[1]]\n"),
}


@pytest.mark.parametrize("name", IN_LIGHTGBM)
def test_two_readings_of_lightgbm_text_are_refused(lgb, name):
    read_lightgbm(lgb.encode())
    changed = IN_LIGHTGBM[name](lgb)
    assert changed != lgb
    with pytest.raises(UnsupportedModel):
        read_lightgbm(resized(changed).encode())


def test_trees_must_be_where_lightgbm_looks_for_them(lgb):
    for sizes in ("1 2 3", "", "10", re.search(r"tree_sizes=(.*)", lgb)[1] + " 0"):
        with pytest.raises(UnsupportedModel):
            read_lightgbm(re.sub(r"tree_sizes=.*", f"tree_sizes={sizes}", lgb).encode())
    with pytest.raises(UnsupportedModel):  # between the head and the first tree, and behind it
        read_lightgbm(lgb.replace("\n\nTree=0", "\n\n\nTree=0").encode())


# -- XGBoost ----------------------------------------------------------------------------------------------


def put(*path):
    """A change of a JSON document: the last of these at the place that the others name."""
    *steps, last, new = path

    def change(document):
        for step in steps:
            document = document[step]
        document[last] = new

    return change


MODEL = ("learner", "gradient_booster", "model")
TREE = (*MODEL, "trees", 0)
PARAM = ("learner", "learner_model_param")
IN_XGBOOST = {
    "both trees in the first round": put(*MODEL, "iteration_indptr", [0, 2, 2]),
    "rounds in another order": put(*MODEL, "iteration_indptr", [0, 0, 2]),
    "other weights of trees": put(*MODEL, "weight_drop", [1.0, 0.0]),
    "a best round that is not there": put("learner", "attributes", "best_iteration", "2"),
    "a best round with an underscore": put("learner", "attributes", "best_iteration", "0_0"),
    "a best round in another script": put("learner", "attributes", "best_iteration", "\u0660"),
    "a second model beside the first": put("Model", {"learner": {}}),
    "a key that nobody knows": put(*TREE, "leaf_weights", [1.0]),
    "a model of two objectives": put("learner", "objective", "softmax_multiclass_param", {"num_class": "3"}),
    "classes in blanks": put(*PARAM, "num_class", " 0"),
    "a base score with an underscore": put(*PARAM, "base_score", "5_0E-2"),
    "trees in parallel": put(*MODEL, "gbtree_model_param", "num_parallel_tree", "2"),
    "fewer trees than there are": put(*MODEL, "gbtree_model_param", "num_trees", "1"),
    "a tree of another number": put(*TREE, "id", 1),
    "a parent beyond the nodes": put(*TREE, "parents", 1, 10**6),
    "another parent": put(*TREE, "parents", 3, 0),
    "neither left nor right": put(*TREE, "default_left", 0, 2),
    "a fraction for a child": put(*TREE, "left_children", 0, 1.0),
    "a child beyond 64 bits": put(*TREE, "left_children", 0, 2**64 + 1),
    "a column beyond 32 bits": put(*TREE, "split_indices", 0, 2**32),
    "fewer nodes than there are": put(*TREE, "tree_param", "num_nodes", "3"),
    "nodes of categories that XGBoost passes over": put(*TREE, "categories_nodes", [9]),
    "categories of no node": put(*TREE, "categories_sizes", [1]),
    "no categories for a node": put(*TREE, "split_type", [0] * 5),
    "categories in another order": put(*MODEL, "cats", "sorted_idx", [0]),
}


@pytest.mark.parametrize("name", IN_XGBOOST)
def test_two_readings_of_xgboost_json_are_refused(xgb, name):
    document = json.loads(xgb.save_raw("json").decode())
    assert any(tree["categories_nodes"] for tree in document["learner"]["gradient_booster"]["model"]["trees"])
    IN_XGBOOST[name](document)
    with pytest.raises(UnsupportedModel):
        read_xgboost(json.dumps(document, ensure_ascii=False).encode())


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"tree_info":[0,0]', b'"tree_info":[0,0],"tree_info":[0,0]'),
        (b'"split_type"', b'"\\u0073plit_type"'),
        (b'"base_score":"', b'"base_score":"\xef\xbc\x91'),
        (b'"default_left":[', b'"default_left":[NaN,'),
    ],
)
def test_two_readings_of_the_text_are_refused(xgb, old, new):
    content = bytes(xgb.save_raw("json"))
    assert old in content
    with pytest.raises(UnsupportedModel):
        read_xgboost(content.replace(old, new, 1))


# -- CatBoost ---------------------------------------------------------------------------------------------


def swapped_identifiers(model):
    first, *rest = model["features_info"]["ctrs"]
    other = next(one for one in rest if one["identifier"] != first["identifier"])
    first["identifier"], other["identifier"] = other["identifier"], first["identifier"]


def in_features(name, key, new):
    def change(model):
        one = next(one for one in model["features_info"][name] if one.get(key))
        one[key] = new(one[key])

    return change


def in_table(change):
    def changed(model):
        table = next(iter(model["ctr_data"].values()))
        entries, stride = table["hash_map"], table["hash_stride"]
        table["hash_map"] = change(entries[-stride:], entries)

    return changed


IN_CATBOOST = {
    "borders that do not rise": in_features("float_features", "borders", lambda borders: borders[::-1]),
    "a border twice": in_features("float_features", "borders", lambda borders: [*borders, borders[-1]]),
    "a border that is no float32": in_features(
        "float_features", "borders", lambda b: [*b[:-1], b[-1] + 1e-12]
    ),
    "missing values where there are none": in_features("float_features", "has_nans", lambda _: False),
    "a category twice": in_features("categorical_features", "values", lambda values: [values[0]] * 2),
    "a category beyond 32 bits": in_features(
        "categorical_features", "values", lambda v: [v[0] + 2**32, *v[1:]]
    ),
    "features of one number": put("features_info", "float_features", 0, "feature_index", 1),
    "identifiers of other tables": swapped_identifiers,
    "a hash twice": in_table(lambda last, entries: [*entries, *last]),
    "a hash in another script": in_table(lambda last, entries: ["\u0661", *last[1:], *entries]),
    "counts that are no whole numbers": in_table(lambda last, entries: [*entries[:-1], last[-1] + 0.5]),
    "a sum beyond 32 bits": in_table(lambda last, entries: [*entries[:-1], 2**31]),
    "two kinds of trees": put("trees", []),
    "a key that nobody knows": put("oblivious_trees", 0, "shift", 1),
    "a split that is true": put("oblivious_trees", 0, "splits", 0, "split_index", True),
    "a leaf in text": put("oblivious_trees", 0, "leaf_values", 0, "1"),
    "a threshold with an underscore": put("model_info", "binclass_probability_threshold", "0.5_0"),
    "a label of another type": put("model_info", "class_params", "class_names", 0, 1e300),
    "labels of an old release": put("model_info", "multiclass_params", {}),
}


@pytest.mark.parametrize("name", IN_CATBOOST)
def test_two_readings_of_catboost_json_are_refused(cat, name):
    read_catboost(cat.encode())
    model = json.loads(cat)
    IN_CATBOOST[name](model)
    with pytest.raises(UnsupportedModel):
        read_catboost(json.dumps(model).encode())


@pytest.mark.parametrize("new", ["-1e999", "1" * 400, '"\\ud800"'])
def test_what_catboost_stops_reading_at_is_refused_wherever_it_is(cat, new):
    """CatBoost takes what it has read before a fault for the model."""
    changed = re.sub(r'"train_finish_time":"[^"]*"', lambda _: f'"train_finish_time":{new}', cat)
    assert changed != cat
    with pytest.raises(UnsupportedModel):
        read_catboost(changed.encode())


def test_repeated_keys_of_catboost_json_are_refused(cat):
    changed = cat.replace('"scale_and_bias":', '"scale_and_bias":[2,[0]],"scale_and_bias":', 1)
    with pytest.raises(UnsupportedModel, match="twice"):
        read_catboost(changed.encode())


# -- what is written anew -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings", [{}, {"objective": "regression"}, {"num_leaves": 40, "min_data_in_leaf": 1}]
)
def test_what_is_written_is_what_was_read(settings):
    stored = read_lightgbm(lgb_text(**settings).encode())
    assert same_arrays(stored, read_lightgbm(write_lightgbm(stored).encode()))


def test_what_is_written_for_xgboost_is_what_was_read(xgb):
    stored = read_xgboost(bytes(xgb.save_raw("ubj")))
    assert same_arrays(stored, read_xgboost(write_xgboost(stored)))
    assert not same_arrays(
        stored, read_xgboost(write_xgboost(stored).replace(b'"base_score": "', b'"base_score": "1'))
    )
