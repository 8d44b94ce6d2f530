"""Reading CatBoost's models: estimators and models in memory by way of the JSON that the library saves, and
files.

CatBoost never sees a file here, but one that is written from what was read, and must say back the same. Its
reader of JSON does not round every double to the nearest one: so of a JSON file
it is what CatBoost has in memory that is taken. A ``.cbm`` file is CatBoost's own format, which CatBoost
turns into JSON in a process of its own (`reader_process`);
doubles of that are written in decimals that CatBoost reads as they are.
"""

from __future__ import annotations

import importlib.util
import tempfile
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.catboost.answers import (
    CatBoostAnswers,
    LibraryAnswers,
    StoredAnswers,
    UnwrittenAnswers,
    leaf_values,
)
from likewise.importers.catboost.forest import import_catboost
from likewise.importers.catboost.json_grammar import Written, alike, doubles, write_model
from likewise.importers.catboost.model_file import NOBODY, StoredCatBoost, parse_catboost, read_catboost
from likewise.importers.catboost.model_file import read_model as read_stored
from likewise.importers.trees.tree_model import LibraryModel
from likewise.spec.reader_process import ask_process

STEPS = 4  # of doubles that CatBoost's reader of JSON is off by at most


def saved_catboost(content: bytes, *, binary: bool) -> CatBoostAnswers:
    """The model in a JSON file, or in a ``.cbm`` file (`binary`), with CatBoost to answer for it if that is
    installed."""
    installed = importlib.util.find_spec("catboost") is not None
    if binary and not installed:
        raise UnsupportedModel(
            "is in CatBoost's own format, which CatBoost has to turn into JSON, and that is not installed",
            hint="pip install 'likewise[catboost]', or save the model with model.save_model('model.json', format='json')",
        )
    given = parse_catboost(ask_process(__name__, content, "CatBoost model") if binary else content)
    stored = read_stored(given)
    fractions = doubles(given.get("ctr_data"))
    if fractions and not binary:
        raise UnsupportedModel(
            "has sums of targets that are not whole numbers, which CatBoost's own reader of JSON cuts off",
            hint="save it with model.save_model('model.cbm')",
        )
    if not installed:
        return StoredAnswers(stored)
    texts = _exact_decimals(doubles(given)) if binary and not fractions else {}
    if texts is None or fractions:
        return UnwrittenAnswers(stored)
    model = _load(write_model(given, texts))
    loaded = parse_catboost(_as_json(model))
    if not alike(_without_order(given), _without_order(loaded), 0 if binary else STEPS):
        raise UnsupportedModel(
            "is not taken by CatBoost for the model that was read from it",
            hint="save it again with the CatBoost that is installed",
        )
    return LibraryAnswers(read_stored(loaded), model)


def rewritten(content: bytes) -> bytes:
    """The bytes of a ``.cbm`` file, written anew from what was read of it."""
    answers = saved_catboost(content, binary=True)
    if not isinstance(answers, LibraryAnswers):
        raise UnsupportedModel(
            "CatBoost's reader of JSON would round or cut its numbers",
            hint="save it with model.save_model('model.cbm')",
        )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.cbm"
        answers.model.save_model(str(path), format="cbm")
        return path.read_bytes()


def _without_order(model: dict[str, Any]) -> dict[str, Any]:
    """The same with the places of tables in the order of their hashes; CatBoost writes places that nobody
    has, or not."""
    tables = {}
    for name, table in model.get("ctr_data", {}).items():
        entries, stride = table["hash_map"], table["hash_stride"]
        rows = [entries[at : at + stride] for at in range(0, len(entries), stride)]
        kept = sorted((row for row in rows if row[0] != str(NOBODY)), key=lambda row: row[0])
        tables[name] = {**table, "hash_map": kept}
    return {**model, "ctr_data": tables}


def _exact_decimals(values: set[float]) -> dict[float, str] | None:
    """By number a decimal that CatBoost's reader of JSON takes for it, which is one of its neighbours'
    sometimes; None where none is found."""
    found: dict[float, str] = {}
    for spell in _SPELLINGS:
        waiting = sorted(values - set(found))
        if not waiting:
            break
        texts = [spell(value) for value in waiting]
        trees = [{"leaf_values": [Written(text)], "splits": []} for text in texts]
        read = _load(write_model({**_EMPTY, "oblivious_trees": trees}, {})).get_leaf_values()
        found |= {v: t for v, t, back in zip(waiting, texts, read.tolist(), strict=True) if back == v}
    return found if len(found) == len(values) else None


def _spelled(quarters: int, digits: int, value: float) -> str:
    """A whole number and a power of ten, so many quarters of the step of doubles above a double."""
    beside = Decimal(value) + quarters * Decimal(float(np.spacing(abs(value)))) / 4
    number, _, power = f"{beside:.{digits}e}".partition("e")
    return f"{number.replace('.', '')}e{int(power) - digits}"


_SPELLINGS: tuple[Callable[[float], str], ...] = (
    repr,
    *(
        partial(_spelled, sign * quarters, digits)
        for quarters in range(6)
        for digits in range(16, 60)
        for sign in (1, -1)
    ),
)
_EMPTY: dict[str, Any] = {
    "model_info": {"params": {"loss_function": {"type": "RMSE", "params": {}}, "flat_params": {}}},
    "features_info": {},
    "scale_and_bias": [1, [0]],
}


def answer(content: bytes) -> bytes:
    """In a process of its own (`reader_process`): the bytes of a ``.cbm`` file as JSON."""
    import catboost

    model = catboost.CatBoost()
    model.load_model(blob=content)
    return _as_json(model)


def _load(content: bytes) -> Any:
    """The model in a JSON file that was written here."""
    import catboost

    model = catboost.CatBoost()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        path.write_bytes(content)
        model.load_model(str(path), format="json")
    return model


def _as_json(model: Any) -> bytes:
    """What a model of CatBoost saves of itself."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.json"
        try:
            model.save_model(str(path), format="json")
        except Exception as error:
            raise UnsupportedModel(
                f"CatBoost does not write it as JSON: {' '.join(str(error).split())[:200]}",
                hint="fit it without text_features and embedding_features",
            ) from error
        return path.read_bytes()


def read_model(model: Any) -> StoredCatBoost:
    """What is in a model of CatBoost."""
    return read_catboost(_as_json(model))


def as_answers(model: Any) -> LibraryAnswers:
    """A model that is no scikit-learn estimator, with its verbs."""
    return LibraryAnswers(_read_fitted(model), model)


def _read_fitted(estimator: Any) -> StoredCatBoost:
    if not estimator.is_fitted():
        raise UnsupportedModel(f"{type(estimator).__name__} is not fitted", hint="call fit(X, y) first")
    return read_model(estimator)


def _read_estimator(estimator: Any) -> LibraryModel:
    family = type(estimator).__name__
    stored = _read_fitted(estimator)
    kind = "classifier" if family == "CatBoostClassifier" else "regressor"
    if kind == "classifier" and stored.labels is not None:
        stored = replace(stored, labels=tuple(estimator.classes_.tolist()))
    grown = import_catboost(stored, family=family, kind=kind)
    return replace(
        grown, leaves=partial(leaf_values, stored), answers=LibraryAnswers(stored, estimator, kind)
    )


def _read_answers(answers: CatBoostAnswers) -> LibraryModel:
    grown = import_catboost(answers.stored, family="CatBoost model", kind=None)
    return replace(grown, leaves=partial(leaf_values, answers.stored), answers=answers)


# What reads which classes, see `registry`.
READERS = dict.fromkeys(("CatBoostClassifier", "CatBoostRegressor"), _read_estimator)
SAVED_READERS = dict.fromkeys(("LibraryAnswers", "StoredAnswers", "UnwrittenAnswers"), _read_answers)
