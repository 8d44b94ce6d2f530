"""Trees and boosters in .skops files: read without trust where they are sound, refused before they are constructed where not."""

import io
import json
import warnings
import zipfile

import catboost
import lightgbm
import numpy as np
import pytest
import skops.io
import xgboost
from sklearn.ensemble import (
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier

from likewise.errors import UnsupportedModel
from likewise.importers.files import load_model
from likewise.importers.skops_files import read_skops

DRAWN = np.random.default_rng(5).random((60, 3))
X = np.column_stack([DRAWN[:, :2], np.floor(DRAWN[:, 2] * 4)])
TWO, THREE = (X[:, 0] + X[:, 2] / 9 > 0.6).astype(int), np.floor(X[:, 1] * 3).astype(int)
QUIET = {"verbose": False, "allow_writing_files": False}
MODELS = [
    DecisionTreeClassifier(),
    RandomForestClassifier(4, random_state=0),
    ExtraTreesRegressor(3, random_state=0),
    GradientBoostingClassifier(n_estimators=3),
    HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=4, categorical_features=[2]),
    xgboost.XGBClassifier(n_estimators=3, max_depth=2),
    xgboost.XGBRegressor(n_estimators=3, max_depth=2),
    lightgbm.LGBMClassifier(n_estimators=3, min_child_samples=4, verbose=-1),
    lightgbm.LGBMRegressor(n_estimators=3, min_child_samples=4, verbose=-1),
    catboost.CatBoostClassifier(iterations=3, depth=2, **QUIET),
    catboost.CatBoostRegressor(iterations=3, depth=2, **QUIET),
    make_pipeline(StandardScaler(), RandomForestClassifier(3, random_state=0)),
    VotingClassifier([("tree", DecisionTreeClassifier()), ("forest", RandomForestClassifier(2))]),
]


@pytest.mark.some_days
@pytest.mark.draw(9)
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_sound_trees_need_no_trust(model, y, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
        skops.io.dump(model, tmp_path / "m.skops")
        assert np.array_equal(load_model(tmp_path / "m.skops").predict(X), model.predict(X))


def forged(model, change):
    """The file of a model in which `change` has been at the schema and at the arrays by file name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = skops.io.dumps(model.fit(X, TWO))
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        files = {name: old.read(name) for name in old.namelist()}
    schema = json.loads(files["schema.json"])
    change(schema, files)
    files["schema.json"] = json.dumps(schema).encode()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as new:
        for name, data in files.items():
            new.writestr(name, data)
    return made.getvalue()


def nodes(schema, kind):
    if isinstance(schema, dict):
        if schema.get("__class__") == kind and schema.get("__loader__") != "TypeNode":
            yield schema
        schema = list(schema.values())
    for part in schema if isinstance(schema, list) else ():
        yield from nodes(part, kind)


def in_array(kind, field, row, value, name="nodes"):
    """A change of one entry of the arrays of the first tree."""

    def change(schema, files):
        file = next(nodes(schema, kind))["content"]["content"][name]["file"]
        array = np.load(io.BytesIO(files[file]))
        array[field][row] = value
        written = io.BytesIO()
        np.save(written, array)
        files[file] = written.getvalue()

    return change


def in_state(kind, name, text):
    def change(schema, _files):
        next(nodes(schema, kind))["content"]["content"][name].update(content=text, __id__=1)

    return change


def in_arguments(place, text):
    def change(schema, _files):
        next(nodes(schema, "Tree"))["__reduce__"]["args"]["content"][place].update(content=text, __id__=1)

    return change


def other_loader(schema, _files):
    next(nodes(schema, "Tree"))["__loader__"] = "ObjectNode"


def other_name(schema, _files):
    """A tree under the name of a type that needs no trust."""
    tree = next(nodes(schema, "Tree"))
    tree["__class__"], tree["__module__"] = "OrderedDict", "collections"
    tree["content"]["content"]["node_count"]["content"] = "1000000"


def other_function(schema, _files):
    called = next(nodes(schema, "partial"))["content"]["func"]
    called.update(__class__="asarray", __module__="scipy._lib.array_api_compat.numpy._aliases", __id__=1)


def fewer_columns(schema, _files):
    """A model that says it has one column; its trees ask for more."""
    schema["content"]["content"]["n_features_in_"].update(content="1", __id__=1)


def two_of_one_number(schema, _files):
    """Another count of nodes than the one that is constructed, which was met before."""
    state = next(nodes(schema, "Tree"))["content"]["content"]
    schema["content"]["content"] = {
        "early": {**state["node_count"], "content": "1000000"},
        **schema["content"]["content"],
    }


def in_booster(change):
    def forge(schema, files):
        file = next(nodes(schema, "Booster"))["content"]["content"]["handle"]["file"]
        files[file] = change(files[file])

    return forge


def in_catboost(change):
    def forge(schema, files):
        file = next(nodes(schema, "CatBoostClassifier"))["content"]["content"]["__model"]["file"]
        files[file] = change(files[file])

    return forge


def far_child(schema, _files):
    handle = next(nodes(schema, "Booster"))["content"]["content"]["_handle"]
    text = json.loads(handle["content"])
    head, _, rest = text.partition("left_child=")
    handle["content"] = json.dumps(f"{head}left_child=99 {rest.partition(' ')[2]}")


TREE, BOOSTED = DecisionTreeClassifier(), GradientBoostingClassifier(n_estimators=2)
HISTOGRAMS = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=4, categorical_features=[2])
FORGERIES = {
    "child beyond the end": (TREE, in_array("Tree", "left_child", 0, 10**6)),
    "child before its parent": (TREE, in_array("Tree", "right_child", 0, 0)),
    "child below zero": (TREE, in_array("Tree", "left_child", 0, -7)),
    "column beyond the end": (TREE, in_array("Tree", "feature", 0, 3)),
    "column below zero": (TREE, in_array("Tree", "feature", 0, -2)),
    "more nodes than there are": (TREE, in_state("Tree", "node_count", "1000000")),
    "more outputs than counts of classes": (TREE, in_arguments(2, "5")),
    "columns that are no number": (TREE, in_arguments(0, '"3"')),
    "other loader": (TREE, other_loader),
    "other name": (TREE, other_name),
    "boosting with fewer columns than its trees": (BOOSTED, fewer_columns),
    "tree with fewer columns": (TREE, fewer_columns),
    "child of a histogram's tree": (HISTOGRAMS, in_array("TreePredictor", "left", 0, 10**6)),
    "column of a histogram's tree": (HISTOGRAMS, in_array("TreePredictor", "feature_idx", 0, 9)),
    "other function": (HISTOGRAMS, other_function),
    "booster cut short": (xgboost.XGBClassifier(n_estimators=2), in_booster(lambda data: data[: len(data) // 2])),
    "booster that is none": (xgboost.XGBClassifier(n_estimators=2), in_booster(lambda _: b"{}")),
    "CatBoost cut short": (catboost.CatBoostClassifier(iterations=2, depth=2, **QUIET), in_catboost(lambda data: data[: len(data) // 2])),
    "CatBoost that is none": (catboost.CatBoostClassifier(iterations=2, depth=2, **QUIET), in_catboost(lambda _: b"{}")),
    "child of LightGBM's tree": (lightgbm.LGBMClassifier(n_estimators=2, min_child_samples=4, verbose=-1), far_child),
}  # fmt: skip


def test_values_that_hide_behind_others_are_refused():
    with pytest.raises(UnsupportedModel, match="have the same number"):
        read_skops(forged(TREE, two_of_one_number))


@pytest.mark.parametrize("name", FORGERIES)
def test_unsound_trees_are_refused(name):
    model, change = FORGERIES[name]
    with pytest.raises(UnsupportedModel, match="not sound"):
        read_skops(forged(model, change))


def test_what_is_not_changed_passes_the_same_way():
    for model, _ in FORGERIES.values():
        assert hasattr(read_skops(forged(model, lambda _schema, _files: None)), "predict")


def test_other_partial_functions_are_refused():
    from functools import partial

    model = make_pipeline(FunctionTransformer(partial(np.sum, axis=0)), DecisionTreeClassifier())
    content = skops.io.dumps(model)
    with pytest.raises(UnsupportedModel, match=r"not sound|would call functions"):
        read_skops(content)
