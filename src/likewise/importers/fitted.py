"""Fitted columns: which feature of the space each column is that a model was fitted on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.errors import DataError, UnsupportedModel, closest
from likewise.importers.boosters import spelled
from likewise.importers.transformers.tracing import Step
from likewise.importers.unfolding import Unfolded

if TYPE_CHECKING:
    from likewise.spec.space import Space


def fitted_columns(estimator: Any, unfolded: Unfolded, space: Space) -> tuple[tuple[str, ...], bool]:
    """The feature of each column that the model was fitted on, by name where it knows names (then True), else in
    order. A column that a ColumnTransformer drops is one of them: the model sees it, and does not look."""
    knowing = _knowing(estimator, unfolded)
    count = knowing.n_features_in_
    if not hasattr(knowing, "feature_names_in_"):
        if count != len(space):
            raise DataError(
                f"the model was fitted on {count} unnamed columns, the space has {len(space)} features",
                hint="give the space exactly the model's columns, in their order",
            )
        return space.names, False
    names = spelled(knowing, space)
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
    return names, True


def _knowing(estimator: Any, unfolded: Unfolded) -> Any:
    """The first part that the rows come to and that remembers what it was fitted on."""
    real = [(name, one) for name, one in unfolded.steps if one is not None and not isinstance(one, str)]
    for part in (estimator, *(one for _, one in real[:1]), *([] if real else [unfolded.final])):
        if hasattr(part, "n_features_in_"):
            return part
    if not real:
        raise UnsupportedModel(f"{type(unfolded.final).__name__} is not fitted", hint="call fit(X, y) first")
    raise UnsupportedModel(
        f"{Step(path=()).inside(*real[0])} is not fitted", hint="call fit(X, y) on the whole pipeline"
    )
