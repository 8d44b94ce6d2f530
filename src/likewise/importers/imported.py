"""Import a fitted estimator: find its importer, read its columns, make the model, check it.

`import_model` is the one way in. It refuses by name what it cannot take exactly; what it takes is compared
with the original before anything is done with it (`selfcheck`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from likewise.errors import DataError, UnsupportedModel, closest
from likewise.importers import sklearn_kernel, sklearn_linear
from likewise.importers.replay import EstimatorReplay
from likewise.importers.selfcheck import check_import

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.model.scored import Model
    from likewise.spec.space import Space

Importer = Callable[[Any, "Space", tuple[str, ...]], "Model"]
IMPORTERS: dict[str, Importer] = dict.fromkeys(
    sklearn_linear.FAMILY, sklearn_linear.import_linear
) | dict.fromkeys(sklearn_kernel.FAMILY, sklearn_kernel.import_kernel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The model as mathematics and the original to replay witnesses on."""

    model: Model
    replay: EstimatorReplay


def import_model(estimator: Any, space: Space, *, rows: NDArray[np.float64], like: Any = None) -> Imported:
    """The exact model of a fitted estimator over a space; `rows` are coded individuals to compare on."""
    importer = _importer(estimator)
    columns = fitted_columns(estimator, space)
    model = importer(estimator, space, columns)
    replay = EstimatorReplay(
        estimator=estimator, space=space, columns=columns, head=model.head, like=like, named=_named(estimator)
    )
    check_import(model, replay, space, rows)
    return Imported(model=model, replay=replay)


def _importer(estimator: Any) -> Importer:
    kind = type(estimator)
    if isinstance(estimator, type):
        raise UnsupportedModel(
            f"{kind.__name__} {estimator.__name__} is a class, not a fitted model",
            hint=f"pass the object that fit() returned: {estimator.__name__}(...).fit(X, y)",
        )
    library = kind.__module__.partition(".")[0]
    if library == "sklearn" and kind.__name__ in IMPORTERS:
        return IMPORTERS[kind.__name__]
    raise UnsupportedModel(
        f"{library}'s {kind.__name__} is not supported{_reason(kind.__name__)}",
        hint="supported: " + ", ".join(sorted(IMPORTERS)),
    )


_REFUSED = {
    "Pipeline": "pipelines are not taken apart yet: hand over the final estimator and the columns it was fitted on",
    "ColumnTransformer": "it transforms columns and predicts nothing",
    "GridSearchCV": "pass its best_estimator_",
    "RandomizedSearchCV": "pass its best_estimator_",
    "CalibratedClassifierCV": "calibrated heads are not supported yet",
    "SGDOneClassSVM": "it detects outliers and has no labels",
}


def _reason(name: str) -> str:
    if name in _REFUSED:
        return f": {_REFUSED[name]}"
    return closest(name, sorted(IMPORTERS))


def _named(estimator: Any) -> bool:
    return hasattr(estimator, "feature_names_in_")


def fitted_columns(estimator: Any, space: Space) -> tuple[str, ...]:
    """The feature of each column that the model was fitted on; by name where it knows names, else in order."""
    count = getattr(estimator, "n_features_in_", None)
    if count is None:
        raise UnsupportedModel(f"{type(estimator).__name__} is not fitted", hint="call fit(X, y) first")
    if not _named(estimator):
        if count != len(space):
            raise DataError(
                f"the model was fitted on {count} unnamed columns, the space has {len(space)} features",
                hint="give the space exactly the model's columns, in their order",
            )
        return space.names
    names = tuple(str(name) for name in estimator.feature_names_in_)
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise DataError(
            f"the model was fitted on two columns named {twice[0]!r}",
            hint="give every column a name of its own and fit again: the space cannot tell them apart",
        )
    missing = [name for name in names if name not in space]
    if missing:
        raise DataError(
            f"the model was fitted on column {missing[0]!r}, which the space does not have"
            f"{closest(missing[0], space.names)}",
            hint=f"the model's columns: {', '.join(names)}",
        )
    extra = [name for name in space.names if name not in names]
    if extra:
        raise DataError(
            f"the space has the feature {extra[0]!r}, which the model was not fitted on{closest(extra[0], names)}",
            hint="leave it out of the space (Space.from_data(X, exclude=[...])): the model never sees it",
        )
    return names
