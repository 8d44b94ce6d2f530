"""Files that were made to crash the programs that read them: each ends with exit code 2 and words, in this process, which goes on."""

import io
import json
import re
import signal
import warnings

import catboost
import lightgbm
import numpy as np
import pytest
import skops.io
import xgboost
from click.testing import CliRunner
from sklearn.svm import SVC

from likewise.cli.app import cli
from likewise.spec import reader_process

RANDOM = np.random.default_rng(1)
X = np.stack([RANDOM.integers(0, 9, 80), RANDOM.integers(0, 2, 80)], axis=1)
Y = (np.isin(X[:, 0], [1, 3, 6, 8]) | (X.sum(axis=1) > 8)).astype(int)


@pytest.fixture
def verified(tmp_path):
    """What `likewise verify` says of the bytes of a file."""
    lines = ["a,b,y", *(f"{a},{b},{y}" for (a, b), y in zip(X.tolist(), Y.tolist(), strict=True))]
    (tmp_path / "d.csv").write_text("\n".join(lines))

    def ask(name, content):
        (tmp_path / name).write_bytes(content)
        words = ["verify", "--model", str(tmp_path / name), "--data", str(tmp_path / "d.csv")]
        return CliRunner().invoke(
            cli, [*words, "--label", "y", "--free", "b", "--budget", "5", "--jobs", "1"]
        )

    return ask


def in_words(result, name):
    assert result.exit_code == 2, result.output
    assert name in result.output
    assert "hint:" in result.output
    assert "Traceback" not in result.output


@pytest.fixture(scope="module")
def lgb():
    settings = {"objective": "binary", "verbose": -1, "num_threads": 1, "num_leaves": 4, "cat_smooth": 1}
    rows = lightgbm.Dataset(X, Y, feature_name=["a", "b"], categorical_feature=[0])
    return lightgbm.train(
        {**settings, "min_data_per_group": 1, "min_data_in_leaf": 1}, rows, 2
    ).model_to_string()


IN_LIGHTGBM = {
    "sizes": (r"tree_sizes=\d+", "tree_sizes=999999999"),
    "sizes below zero": (r"tree_sizes=\d+", "tree_sizes=-5"),
    "a child beyond the nodes": (r"left_child=\S+", "left_child=1000000"),
    "a leaf beyond the leaves": (r"right_child=\S+", "right_child=-1000000"),
    "a way that never ends": (r"left_child=\S+", "left_child=0"),
    "a column beyond the last": (r"split_feature=\S+", "split_feature=1000000"),
    "many classes": (r"num_class=1", "num_class=1000000"),
    "many scores": (r"num_tree_per_iteration=1", "num_tree_per_iteration=1000000"),
    "no scores": (r"num_tree_per_iteration=1", "num_tree_per_iteration=0"),
    "more leaves than there are": (r"num_leaves=\d+", "num_leaves=100000000"),
    "sets beyond the words": (r"cat_boundaries=0 \d+", "cat_boundaries=0 1000000"),
    "many columns": (r"max_feature_idx=1", "max_feature_idx=2000000000"),
}


@pytest.mark.parametrize("name", IN_LIGHTGBM)
def test_crafted_files_of_lightgbm(lgb, verified, name):
    changed, count = re.subn(*IN_LIGHTGBM[name], lgb, count=1)
    assert count
    assert verified("m.txt", lgb.encode()).exit_code in (0, 1, 3)
    if "sizes" not in name:
        head, *blocks = re.split(r"(?=^Tree=|^end of trees)", changed, flags=re.MULTILINE)
        sizes = " ".join(str(len(block)) for block in blocks[:-1])
        changed = re.sub(r"tree_sizes=.*", f"tree_sizes={sizes}", head) + "".join(blocks)
    in_words(verified("m.txt", changed.encode()), "m.txt")


TREE = ("learner", "gradient_booster", "model", "trees", 0)
IN_XGBOOST = {
    "a parent beyond the nodes": (*TREE, "parents", 1, 10**6),
    "a parent below zero": (*TREE, "parents", 1, -(10**6)),
    "a child beyond the nodes": (*TREE, "left_children", 0, 10**6),
    "a way that never ends": (*TREE, "left_children", 0, 0),
    "a column beyond the last": (*TREE, "split_indices", 0, 10**6),
    "many classes": ("learner", "learner_model_param", "num_class", "1000000"),
    "a score beyond the last": ("learner", "gradient_booster", "model", "tree_info", 0, 10**6),
    "many trees": ("learner", "gradient_booster", "model", "gbtree_model_param", "num_trees", "1000000"),
}


@pytest.mark.parametrize("name", IN_XGBOOST)
@pytest.mark.parametrize("suffix", ["json", "ubj"])
def test_crafted_files_of_xgboost(verified, name, suffix):
    from tests.fuzz.booster_files import to_ubj

    rows = xgboost.DMatrix(X, Y, feature_names=["a", "b"])
    model = xgboost.train({"objective": "binary:logistic", "max_depth": 2, "nthread": 1}, rows, 2)
    document = json.loads(model.save_raw("json").decode())
    *steps, key, new = IN_XGBOOST[name]
    place = document
    for step in steps:
        place = place[step]
    place[key] = new
    content = json.dumps(document).encode() if suffix == "json" else to_ubj(document)
    in_words(verified(f"m.{suffix}", content), f"m.{suffix}")


def test_machines_with_counts_below_zero(verified):
    model = SVC().fit(X, Y)
    model._n_support = np.array([-1, len(model.support_) + 1], dtype=np.int32)
    in_words(verified("m.skops", skops.io.dumps(model)), "m.skops")


def test_dicts_of_skops_whose_keys_have_no_types(verified):
    from tests.importers.test_skops_hostile import with_schema

    def shorter(schema):
        schema["content"]["key_types"]["content"].pop()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        content = skops.io.dumps(SVC().fit(X, Y))
    in_words(verified("m.skops", with_schema(content, shorter)), "m.skops")


@pytest.fixture(scope="module")
def cbm(tmp_path_factory):
    path = tmp_path_factory.mktemp("cat") / "m.cbm"
    model = catboost.CatBoostClassifier(2, depth=2, verbose=0, thread_count=1, allow_writing_files=False)
    model.fit(X, Y).save_model(str(path), format="cbm")
    return path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("place", [8, 20, 200, 700])
def test_damaged_files_of_catboost(cbm, verified, place):
    content = bytearray(cbm)
    content[place : place + 8] = b"\xff" * 8
    in_words(verified("m.cbm", bytes(content)), "m.cbm")


@pytest.mark.parametrize("name", ["SIGSEGV", "SIGXCPU"])
def test_a_reader_that_crashes_or_takes_too_long(verified, cbm, monkeypatch, name):
    """The process that reads ends by a signal, as that of a crash, or of a limit of time."""
    code = f"import os; os.kill(os.getpid(), {int(getattr(signal, name))})"
    run = reader_process.subprocess.run
    monkeypatch.setattr(
        reader_process.subprocess, "run", lambda given, **more: run([given[0], "-c", code], **more)
    )
    result = verified("m.cbm", cbm)
    in_words(result, "m.cbm")
    assert "its reader crashed" in result.output


def test_arrays_of_numpy_that_say_other_sizes(verified):
    made = io.BytesIO()
    np.savez(made, layers=["Linear(in_features=2, out_features=1, bias=True)"], **{"0.weight": np.zeros((1, 2), np.float32), "0.bias": np.zeros(1, np.float32)})  # fmt: skip
    content = made.getvalue()
    for old, new in ((b"'shape': (1, 2)", b"'shape': (1, 9)"), (b"'<f4'", b"'|O8'")):
        assert old in content
        in_words(verified("m.npz", content.replace(old, new)), "m.npz")
