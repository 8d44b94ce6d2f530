"""Boosters: models of XGBoost and LightGBM, from their scikit-learn estimators, their Boosters, or the bytes
of saved files.

All of them go the same way: the library saves its model to bytes, the bytes are read as those of a file
(`stored`), made into grown
trees (`forest`), and compared with the answers of the library itself, or of the file's arrays where the
library is not installed (`answers`).
The library never sees a file: it loads one that is written from what was read, and must say back exactly
that.
No library is imported here unless an object of it was handed over, or a file of it was and it is installed.
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from likewise.errors import DataError, UnsupportedModel
from likewise.importers.lightgbm import answers as lightgbm
from likewise.importers.lightgbm.forest import import_lightgbm
from likewise.importers.lightgbm.model_file import StoredLightGBM, read_lightgbm, write_lightgbm
from likewise.importers.registry import library_name
from likewise.importers.saved_boosters import check_same
from likewise.importers.transformers.embedding import Steps, run_steps
from likewise.importers.transformers.encoders import check_missing_text
from likewise.importers.unfold import UnfoldedEstimator
from likewise.importers.xgboost import answers as xgboost
from likewise.importers.xgboost.category_names import frame_categories, take_frame_names
from likewise.importers.xgboost.forest import import_xgboost
from likewise.importers.xgboost.model_file import StoredXGBoost, read_xgboost, write_xgboost
from likewise.spec.features import Continuous, Feature, Integer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from likewise.importers.inputs import Inputs
    from likewise.importers.trees.tree_model import LibraryModel
    from likewise.spec.space import Space

# Settings of an LGBM estimator that change what it predicts with.
PREDICT_OPTIONS = (
    *("pred_early_stop", "predict_raw_score", "raw_score", "is_predict_raw_score", "num_iteration_predict"),
    *(
        "start_iteration_predict",
        "predict_leaf_index",
        "is_predict_leaf_index",
        "predict_contrib",
        "pred_leaf",
    ),
)


def as_estimator(estimator: Any) -> Any:
    """A Booster as an object with scikit-learn's verbs; everything else as it is."""
    if type(estimator).__name__ != "Booster":
        return estimator
    library = library_name(estimator)
    if library == "xgboost":
        model = xgboost.XGBoostModel(stored=_read_booster(estimator), kind=None)
        return xgboost.LibraryAnswers(model, estimator)
    if library == "lightgbm":
        return lightgbm.LibraryAnswers(read_lightgbm(estimator.model_to_string().encode()), estimator)
    return estimator


def saved_xgboost(content: bytes) -> xgboost.XGBoostAnswers:
    """The model in a ``.json`` or ``.ubj`` file, with XGBoost to answer for it if that is installed."""
    stored = read_xgboost(content)
    rounds = len(stored.trees) // stored.trees_a_round
    best = rounds if stored.best_iteration is None else stored.best_iteration + 1
    if best < rounds and stored.estimator is None:
        raise UnsupportedModel(
            f"stopped early: XGBClassifier and XGBRegressor would predict with {best} of its {rounds} rounds, a Booster with all",
            hint="save the rounds that are meant: booster[: booster.best_iteration + 1].save_model(...)",
        )
    model = xgboost.XGBoostModel(stored=stored, kind=stored.estimator, rounds=min(best, rounds))
    if importlib.util.find_spec("xgboost") is None:
        return xgboost.StoredAnswers(model)
    return xgboost.LibraryAnswers(model, _load_xgboost(stored))


def saved_lightgbm(content: bytes) -> lightgbm.LightGBMAnswers:
    """The model in a text file, with LightGBM to answer for it if that is installed."""
    stored = read_lightgbm(content)
    if importlib.util.find_spec("lightgbm") is None:
        return lightgbm.StoredAnswers(stored)
    import lightgbm as library

    booster = library.Booster(model_str=write_lightgbm(stored))
    check_same(stored, read_lightgbm(booster.model_to_string(num_iteration=-1).encode()), "LightGBM")
    return lightgbm.LibraryAnswers(stored, booster)


def pickled_xgboost(content: bytes) -> bytes:
    """The same for a booster in the bytes of a pickle, which this gives back as XGBoost writes them."""
    stored = read_xgboost(content, pickled=True)
    if importlib.util.find_spec("xgboost") is None:
        return content  # and nothing is constructed
    state = _load_xgboost(stored).__getstate__()
    return bytes(state["handle"])


def _load_xgboost(stored: StoredXGBoost) -> Any:
    import xgboost as library

    booster = library.Booster()
    booster.load_model(bytearray(write_xgboost(stored)))
    check_same(stored, _read_booster(booster), "XGBoost")
    return booster


def _read_booster(booster: Any) -> StoredXGBoost:
    return read_xgboost(bytes(booster.save_raw("ubj")))


# -- the original ----------------------------------------------------------------------------------------


def answering_estimator(
    grown: LibraryModel, estimator: Any, unfolded: UnfoldedEstimator
) -> tuple[Any, UnfoldedEstimator]:
    """Whom to ask for labels and probabilities, and with `unfolded.asked` for scores: the estimators of
    these libraries have no
    `decision_function`, and regressors of probabilities no `predict_proba`."""
    answers, head = grown.answers, grown.head
    if answers is not None and head.link == "exponential":
        if unfolded.wrappers:
            raise UnsupportedModel(
                f"{type(unfolded.wrappers[0]).__name__} around {grown.family} is not supported, which predicts exp of its score",
                hint=f"verify the {grown.family} inside of it",
            )
        return estimator, replace(unfolded, asked=answers, before=unfolded.steps)
    if answers is None or head.labels is None:
        return estimator, unfolded
    decides = head.undecided is not None or answers.decides
    if unfolded.wrappers and (head.undecided is not None or head.n_scores > 1 or head.link != "logistic"):
        raise UnsupportedModel(
            f"{type(unfolded.wrappers[0]).__name__} around {grown.family} is not supported",
            hint=f"verify the {grown.family} inside of it",
        )
    if decides and not unfolded.wrappers:
        estimator = PipelineAnswers(unfolded.steps, answers)
    return estimator, replace(unfolded, asked=answers, before=unfolded.steps)


def frame_levels(grown: LibraryModel, inputs: Inputs) -> dict[str, tuple[Any, ...]]:
    """The columns that come to a model as pandas categories, which it numbers. All levels of the space must
    be among them, and
    the user's own frame, if it has categories, must have them in these columns."""
    found = {inputs.columns[c]: tuple(numbering) for c, numbering in grown.numbered.items()}
    for name, levels in found.items():
        strange = [
            level
            for level in _feature_values(inputs.space[name])
            if level is not None and level not in levels
        ]
        if strange:
            raise DataError(
                f"{grown.family} was not fitted on the category {strange[0]!r} of {name!r}",
                hint=f"its categories: {', '.join(map(repr, levels[:12]))}",
            )
        if inputs.space[name].missing:
            check_missing_text(
                name, _feature_values(inputs.space[name]), levels, partial(_refuse, grown.family)
            )
    marked = set(frame_categories(inputs.like)) & set(inputs.columns)
    if found and marked and marked != set(found):
        raise DataError(
            f"{grown.family} numbers the categories of {', '.join(map(repr, found))}, and the frame has categories in "
            f"{', '.join(map(repr, sorted(marked)))}",
            hint="fit it on a frame with categories in the columns that it is to take for such, and let it find them itself",
        )
    if marked != set(found):
        for c, levels in grown.rivals.items():
            if any(value in levels for value in _feature_values(inputs.space[inputs.columns[c]])):
                raise UnsupportedModel(
                    f"{grown.family} does not say whether the categories {', '.join(map(repr, levels[:6]))} are those of "
                    f"{inputs.columns[c]!r}, or of one of {', '.join(map(repr, found))}",
                    hint="pass X, a frame with the dtypes that it was fitted on; or fit it on categories that are text",
                )
    return found


def _refuse(family: str, why: str, *, hint: str) -> NoReturn:
    raise UnsupportedModel(f"{family} {why}", hint=hint)


def _feature_values(feature: Feature) -> Sequence[Any]:
    """What is looked up among the categories; a continuous feature is refused later."""
    if isinstance(feature, Continuous):
        return ()
    return range(feature.lo, feature.hi + 1) if isinstance(feature, Integer) else feature.levels


class PipelineAnswers:
    """Answers behind the steps of a pipeline."""

    def __init__(self, steps: Steps, answers: Any) -> None:
        self.steps, self.answers = steps, answers

    def predict(self, X: Any) -> Any:
        return self.answers.predict(self._transform(X))

    def predict_proba(self, X: Any) -> Any:
        return self.answers.predict_proba(self._transform(X))

    def _transform(self, X: Any) -> Any:
        return run_steps(self.steps, X)[0]


def fitted_names(names: tuple[str, ...], model: Any, space: Space) -> tuple[str, ...]:
    """The names of the columns that a model was fitted on, as the space has them: LightGBM writes
    underscores for blanks."""
    if not (isinstance(model, lightgbm.LightGBMAnswers) or library_name(model) == "lightgbm"):
        return names
    written: dict[str, list[str]] = {}
    for name in space.names:
        written.setdefault(name.replace(" ", "_"), []).append(name)
    return tuple(written[name][0] if len(written.get(name, ())) == 1 else name for name in names)


# -- models that answer by themselves --------------------------------------------------------------------


def _read_xgboost_answers(answers: xgboost.XGBoostAnswers) -> LibraryModel:
    model, family = answers.model, "XGBoost model"
    if model.stored.cut and answers.stand_in is not None:
        raise UnsupportedModel(
            f"{family}: its file has lost names of categories with letters beyond ASCII, and what it makes of a frame only XGBoost can tell",
            hint="install XGBoost (pip install 'likewise[xgboost]'), or fit the model on names in ASCII letters",
        )

    def made(stored: StoredXGBoost) -> LibraryModel:
        return replace(
            import_xgboost(stored, family=family, kind=model.kind, rounds=model.rounds),
            leaves=model.leaves,
            answers=answers,
        )

    return _restore_names(made, model.stored, family)


def _read_lightgbm_answers(answers: lightgbm.LightGBMAnswers) -> LibraryModel:
    stored = answers.stored
    grown = import_lightgbm(stored, family="LightGBM model", kind=None)
    return replace(grown, leaves=lambda columns: lightgbm.leaf_values(stored, columns), answers=answers)


# -- estimators ------------------------------------------------------------------------------------------


def _read_xgboost_estimator(estimator: Any) -> LibraryModel:
    family = _check_fitted(estimator)
    if callable(estimator.objective):
        raise UnsupportedModel(
            f"{family} has an objective of its own, {getattr(estimator.objective, '__name__', 'a function')!r}",
            hint="use one of XGBoost's objectives",
        )
    if not (estimator.missing is None or math.isnan(estimator.missing)):
        raise UnsupportedModel(
            f"{family} takes {estimator.missing!r} for a missing value (missing={estimator.missing!r})",
            hint="mark missing values by NaN and fit with missing=nan",
        )
    booster = estimator.get_booster()
    stored = _read_booster(booster)
    rounds = None if stored.best_iteration is None else stored.best_iteration + 1
    kind = "classifier" if family.endswith("Classifier") else "regressor"
    model = xgboost.XGBoostModel(stored=stored, kind=kind, rounds=rounds)

    def made(stored: StoredXGBoost) -> LibraryModel:
        return replace(
            import_xgboost(stored, family=family, kind=kind, rounds=rounds),
            leaves=model.leaves,
            answers=xgboost.LibraryAnswers(model, booster),
        )

    return _restore_names(made, stored, family)


def _restore_names(
    made: Callable[[StoredXGBoost], LibraryModel], stored: StoredXGBoost, family: str
) -> LibraryModel:
    """The model; where XGBoost has cut names of categories off, it is to be made again with those of the
    user's frame."""

    def named(inputs: Inputs) -> tuple[LibraryModel, tuple[str, ...]]:
        whole, borrowed = take_frame_names(stored, inputs.like, inputs.columns, family)
        return made(whole), borrowed

    return replace(made(stored), named=named) if stored.cut else made(stored)


def _read_lightgbm_estimator(estimator: Any) -> LibraryModel:
    family = _check_fitted(estimator)
    settings = estimator.get_params()
    set_to = [name for name in PREDICT_OPTIONS if settings.get(name) is not None]
    if set_to:
        raise UnsupportedModel(
            f"{family} predicts with {set_to[0]}={settings[set_to[0]]!r}", hint=f"fit it without {set_to[0]}"
        )
    if callable(estimator.objective_):
        raise UnsupportedModel(
            f"{family} has an objective of its own, {getattr(estimator.objective_, '__name__', 'a function')!r}",
            hint="use one of LightGBM's objectives",
        )
    stored: StoredLightGBM = read_lightgbm(estimator.booster_.model_to_string().encode())
    kind = "classifier" if family.endswith("Classifier") else "regressor"
    labels = estimator.classes_.tolist() if kind == "classifier" else None
    grown = import_lightgbm(stored, family=family, kind=kind, labels=labels)
    answers = lightgbm.LibraryAnswers(stored, estimator.booster_)
    return replace(grown, leaves=lambda columns: lightgbm.leaf_values(stored, columns), answers=answers)


def _check_fitted(estimator: Any) -> str:
    family = type(estimator).__name__
    if not estimator.__sklearn_is_fitted__():
        raise UnsupportedModel(f"{family} is not fitted", hint="call fit(X, y) first")
    return family


# What reads which classes, see `registry`.
XGBOOST = dict.fromkeys(
    ("XGBClassifier", "XGBRegressor", "XGBRFClassifier", "XGBRFRegressor"), _read_xgboost_estimator
)
LIGHTGBM = dict.fromkeys(("LGBMClassifier", "LGBMRegressor"), _read_lightgbm_estimator)
SAVED_XGBOOST = dict.fromkeys(("LibraryAnswers", "StoredAnswers"), _read_xgboost_answers)
SAVED_LIGHTGBM = dict.fromkeys(("LibraryAnswers", "StoredAnswers"), _read_lightgbm_answers)
