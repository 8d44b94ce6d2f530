"""Reading CatBoost's models: estimators and models in memory by way of the JSON that the library saves, and files.

A JSON file needs no library; where CatBoost is installed it is what CatBoost has in memory that is read, as its reader of JSON does not round every double
to the nearest one. A ``.cbm`` file is CatBoost's own format, which CatBoost turns into JSON.
"""

from __future__ import annotations

import importlib.util
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from likewise.errors import UnsupportedModel
from likewise.importers.catboost.answers import CatBoostAnswers, LibraryAnswers, StoredAnswers, leaf_values
from likewise.importers.catboost.forest import import_catboost
from likewise.importers.catboost.model_file import StoredCatBoost, read_catboost
from likewise.importers.trees.tree_model import LibraryModel


def saved_catboost(content: bytes, *, binary: bool) -> CatBoostAnswers:
    """The model in a JSON file, or in a ``.cbm`` file (`binary`), with CatBoost to answer for it if that is installed."""
    installed = importlib.util.find_spec("catboost") is not None
    if binary and not installed:
        raise UnsupportedModel(
            "is in CatBoost's own format, which CatBoost has to turn into JSON, and that is not installed",
            hint="pip install 'likewise[catboost]', or save the model with model.save_model('model.json', format='json')",
        )
    if not binary:
        stored = read_catboost(content)  # before CatBoost sees it, as nobody vouches for a file
        if not installed:
            return StoredAnswers(stored)
    import catboost

    model = catboost.CatBoost()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        path.write_bytes(content)
        model.load_model(str(path), format="cbm" if binary else "json")
    return LibraryAnswers(read_model(model), model)


def read_model(model: Any) -> StoredCatBoost:
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
        return read_catboost(path.read_bytes())


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
SAVED_READERS = dict.fromkeys(("LibraryAnswers", "StoredAnswers"), _read_answers)
