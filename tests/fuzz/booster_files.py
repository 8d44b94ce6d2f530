"""Files of boosters for `files`: small models with categories, missing values, several classes and means of rounds."""

from __future__ import annotations

import json
import random
import re
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.mutations import Format, mutate_bytes, mutate_document, mutate_json, mutate_text

from likewise.errors import UnsupportedModel


def mutate_lightgbm(draw: random.Random, content: bytes) -> bytes:
    """Text, often with sizes of trees that fit."""
    if draw.random() < 0.1:
        return mutate_bytes(draw, content)
    text = mutate_text(draw, content).decode()
    if draw.random() < 0.7:
        head, *blocks = re.split(r"(?=^Tree=|^end of trees)", text, flags=re.MULTILINE)
        sizes = " ".join(str(len(block.encode())) for block in blocks[:-1])
        text = re.sub(r"tree_sizes=.*", f"tree_sizes={sizes}", head) + "".join(blocks)
    return text.encode()


def mutate_ubj(draw: random.Random, content: bytes) -> bytes:
    """A document in UBJ, or its bytes."""
    from likewise.importers.xgboost.ubj import parse_ubj

    if draw.random() < 0.5:
        return mutate_bytes(draw, content)
    plain = json.loads(json.dumps(parse_ubj(content), default=lambda array: array.tolist()))
    return to_ubj(mutate_document(draw, plain))


SINGLES = ("base_weights", "loss_changes", "split_conditions", "sum_hessian")
KINDS = {
    "default_left": "U",
    "split_type": "U",
    "values": "i",
    "categories_segments": "L",
    "categories_sizes": "L",
}
DTYPES = {"d": ">f4", "U": ">u1", "i": ">i1", "l": ">i4", "L": ">i8"}
INTS = ("categories", "categories_nodes", "left_children", "right_children", "parents", "split_indices")


def to_ubj(value: Any, key: str = "") -> bytes:
    """UBJ as XGBoost writes it, arrays of numbers by their names."""

    def long(number: int) -> bytes:
        return b"L" + number.to_bytes(8, "big", signed=True)

    if isinstance(value, dict):
        parts = (long(len(k.encode())) + k.encode() + to_ubj(v, k) for k, v in value.items())
        return b"{" + b"".join(parts) + b"}"
    kind = "d" if key in SINGLES else KINDS.get(key, "l" if key in INTS else "")
    if isinstance(value, list) and kind:
        try:
            array = np.array(value).astype(DTYPES[kind])
            return f"[${kind}#".encode() + long(array.size) + array.tobytes()
        except (ValueError, TypeError, OverflowError):
            pass
    if isinstance(value, list):
        return b"[#" + long(len(value)) + b"".join(map(to_ubj, value))
    if isinstance(value, str):
        return b"S" + long(len(value.encode())) + value.encode()
    if isinstance(value, bool) or value is None:
        return {True: b"T", False: b"F", None: b"Z"}[value]
    if isinstance(value, int) and -(2**63) <= value < 2**63:
        return long(value)
    return b"D" + np.array(value, dtype=">f8").tobytes()


def numbers() -> Any:
    """Rows of two numbers and a category, with what is seldom seen among them."""
    draw = np.random.default_rng(3)
    rows = draw.normal(size=(400, 3))
    rows[:, 2] = draw.integers(-1, 9, 400)
    rows[::9, 0], rows[1::9, 1], rows[2::9, 2] = np.nan, 0.0, np.nan
    rows[3::9, 0], rows[4::9, 1] = 1e-36, draw.choice([3e38, -1e300, 40.0, 400.0], len(rows[4::9]))
    return rows


def learning() -> tuple[Any, Any]:
    draw = np.random.default_rng(0)
    X = draw.normal(size=(240, 3))
    X[:, 2] = draw.integers(0, 5, 240)
    return X, (X[:, 0] + (X[:, 2] == 3) > 0).astype(int) + (X[:, 1] > 1)


def lightgbm_files() -> list[bytes]:
    import lightgbm

    X, y = learning()
    more = {"verbose": -1, "num_threads": 1, "min_data_per_group": 5, "cat_smooth": 1, "num_leaves": 5}
    forest = {"boosting": "rf", "bagging_freq": 1, "bagging_fraction": 0.7, "objective": "binary"}
    kinds = (
        {"objective": "binary"},
        {"objective": "multiclass", "num_class": 3},
        {"objective": "poisson"},
        forest,
    )
    made = []
    for kind in kinds:
        rows = lightgbm.Dataset(
            X, np.minimum(y, 1) if kind["objective"] == "binary" else y, categorical_feature=[2]
        )
        made.append(lightgbm.train({**more, **kind}, rows, 3).model_to_string().encode())
    return made


def our_lightgbm(model: Any, rows: Any) -> list[Any]:
    from likewise.importers.lightgbm import answers
    from likewise.importers.lightgbm.forest import import_lightgbm

    import_lightgbm(model.stored, family="model", kind=None)
    alone = answers.StoredAnswers(model.stored)
    return [
        alone.decision_function(rows),
        alone.predict_proba(rows) if "poisson" not in model.stored.objective else 0,
    ]


def their_lightgbm(path: str, rows: Any) -> list[Any]:
    import lightgbm

    model = lightgbm.Booster(model_file=path)
    averaged = "\naverage_output\n" in Path(path).read_text()
    given = model.predict(rows)
    raw = model.predict(rows, raw_score=True) / (model.current_iteration() if averaged else 1)
    return [raw, 0 if model.dump_model()["objective"] == "poisson" else two_columns(given)]


def two_columns(given: Any) -> Any:
    return given if given.ndim == 2 else np.stack([1 - given, given], axis=1)


def xgboost_files(kind: str) -> list[bytes]:
    import xgboost

    X, y = learning()
    more, made = {"nthread": 1, "max_depth": 2}, []
    for objective in ({"objective": "binary:logistic"}, {"objective": "multi:softprob", "num_class": 3}):
        target = np.minimum(y, 1) if "num_class" not in objective else y
        rows = xgboost.DMatrix(X, target, feature_types=["q", "q", "c"], enable_categorical=True)
        made.append(bytes(xgboost.train({**more, **objective}, rows, 3).save_raw(kind)))
    return made


def our_xgboost(model: Any, rows: Any) -> list[Any]:
    from likewise.importers.xgboost import answers
    from likewise.importers.xgboost.forest import import_xgboost

    import_xgboost(model.model.stored, family="model", kind=None, rounds=model.model.rounds)
    alone = answers.StoredAnswers(model.model)
    return [alone.decision_function(rows), alone.predict_proba(rows)]


def their_xgboost(path: str, rows: Any) -> list[Any]:
    import xgboost

    model = xgboost.Booster()
    model.load_model(path)
    best = model.attr("best_iteration")
    span = (0, 0 if best is None else int(best) + 1)
    made = [
        model.inplace_predict(rows, iteration_range=span, predict_type=kind) for kind in ("margin", "value")
    ]
    return [made[0], two_columns(made[1])]


def people() -> Any:
    import pandas as pd

    rows = pd.DataFrame(numbers(), columns=["a", "b", "c"])
    return rows.assign(
        c=rows["c"].fillna(-7).astype(int).astype(str), d=np.array(list("xyzw"))[np.arange(400) % 4]
    )


def catboost_files(kind: str) -> list[bytes]:
    import catboost
    import pandas as pd

    X, y = learning()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame = frame.assign(c=frame["c"].astype(int).astype(str), d=np.array(list("xyz"))[np.arange(240) % 3])
    frame.loc[::11, "a"] = np.nan
    more = {"iterations": 3, "depth": 2, "verbose": 0, "thread_count": 1, "allow_writing_files": False}
    settings = ({"max_ctr_complexity": 2}, {"grow_policy": "Lossguide"}, {"one_hot_max_size": 9})
    made = []
    for one in settings:
        model = catboost.CatBoostClassifier(**more, **one).fit(
            frame, np.minimum(y, 1), cat_features=["c", "d"]
        )
        with tempfile.TemporaryDirectory() as folder:
            model.save_model(f"{folder}/model", format=kind)
            made.append(Path(f"{folder}/model").read_bytes())
    return made


def our_catboost(model: Any, rows: Any) -> list[Any]:
    from likewise.importers.catboost.answers import StoredAnswers
    from likewise.importers.catboost.forest import import_catboost

    import_catboost(model.stored, family="model", kind=None)
    if set(model.stored.names or ()) != set(rows.columns):
        raise UnsupportedModel("has other columns")
    alone = StoredAnswers(model.stored)
    return [alone.decision_function(rows), alone.predict(rows).astype(str)]


def their_catboost(path: str, rows: Any) -> list[Any]:
    import catboost

    model = catboost.CatBoost().load_model(path, format=path.rpartition(".")[2])
    asked = [model.predict(rows, prediction_type=kind, thread_count=1) for kind in ("RawFormulaVal", "Class")]
    return [asked[0], np.ravel(asked[1]).astype(str)]


BOOSTERS = {
    "lightgbm": Format(".txt", lightgbm_files, mutate_lightgbm, our_lightgbm, their_lightgbm, numbers),
    "xgboost-json": Format(
        ".json", lambda: xgboost_files("json"), mutate_json, our_xgboost, their_xgboost, numbers
    ),
    "xgboost-ubj": Format(
        ".ubj", lambda: xgboost_files("ubj"), mutate_ubj, our_xgboost, their_xgboost, numbers
    ),
    "catboost-json": Format(
        ".json", lambda: catboost_files("json"), mutate_json, our_catboost, their_catboost, people
    ),
    "catboost-cbm": Format(
        ".cbm", lambda: catboost_files("cbm"), mutate_bytes, our_catboost, their_catboost, people
    ),
}
