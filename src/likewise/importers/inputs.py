"""Inputs: which feature of the space each column is that an estimator was fitted on, and coded individuals in the kind of input that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from likewise.errors import DataError, UnsupportedModel, suggest_name
from likewise.importers.registry import is_booster, is_classical_graph, is_network_file, library_name
from likewise.importers.unfold import UnfoldedEstimator, unfold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.recoding import Recoding
    from likewise.spec.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """`columns` are the estimator's columns in its order, `like` the user's frame type; `named` estimators
    were fitted on frames. Codes are those of the space that the model is over. Columns in `single` are handed over in single precision. `levels` has the columns that must come as pandas
    categories, with these in this order; of those in `borrowed` the names are the frame's, as the model has lost its own."""

    recoding: Recoding
    columns: tuple[str, ...]
    like: Any
    named: bool
    levels: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    borrowed: tuple[str, ...] = ()
    measured: frozenset[int] = (
        frozenset()
    )  # features of the user's space that a claim measures how far two people are apart in
    single: tuple[str, ...] = ()
    kept: tuple[
        tuple[int, ...] | None, ...
    ] = ()  # of a model over a part of the space, by feature, where its levels are among those of the whole

    @property
    def space(self) -> Space:
        """The space that the model is over."""
        return self.recoding.space

    def of(self, codes: NDArray[np.float64]) -> Any:
        """Rows as the estimator takes them: a frame with its column names, or a plain array."""
        return self.of_raw(self.recoding.raw(self._among_all(codes)))

    def restricted(self, kept: Sequence[Sequence[int] | None]) -> Inputs:
        """The same of codes of a part of the space: which levels are left, by feature; None for numbers, whose codes stay what they are."""
        before = self.kept or (None,) * len(kept)
        places = (
            None if some is None else tuple(some if whole is None else (whole[place] for place in some))
            for some, whole in zip(kept, before, strict=True)
        )
        return replace(self, kept=tuple(places))

    def _among_all(self, codes: NDArray[np.float64]) -> NDArray[np.float64]:
        """Codes of the part as codes of the whole space."""
        found = codes.copy() if self.kept else codes
        for k, places in enumerate(self.kept):
            if places is not None:
                found[:, k] = np.array(places, dtype=np.float64)[codes[:, k].astype(np.intp)]
        return found

    def of_raw(self, rows: NDArray[np.float64]) -> Any:
        """The same of rows in codes of the user's own space."""
        frame = self.recoding.given.decode(rows, like=self.like)
        if self.named:
            import narwhals.stable.v2 as nw

            frame = nw.from_native(frame).select(list(self.columns))
            if self.single:
                frame = frame.with_columns(nw.col(*self.single).cast(nw.Float32))
            return self._with_categories(frame.to_pandas()) if self.levels else frame.to_native()
        columns = [np.asarray(frame[name]) for name in self.columns]
        words = any(column.dtype.kind not in "biuf" for column in columns)
        numbers = np.float32 if set(self.columns) <= set(self.single) else np.float64
        return np.stack([column.astype(object if words else numbers) for column in columns], axis=1)

    def _with_categories(self, frame: Any) -> Any:
        """What the estimator was not fitted on is a category too: it has to say what it makes of it."""
        import pandas as pd

        columns = {}
        for name, levels in self.levels.items():
            known, others = list(levels), frame[name].dropna().unique().tolist()
            known += [level for level in others if level not in known]
            columns[name] = pd.Categorical(frame[name], categories=known)
        return frame.assign(**columns)


def fitted_columns(estimator: Any, unfolded: UnfoldedEstimator, space: Space) -> tuple[tuple[str, ...], bool]:
    """The feature of each column that the model was fitted on, by name where it knows names (then True), else in
    order. A column that a ColumnTransformer drops is one of them: the model sees it, and does not look."""
    knowing = _part_with_names(estimator, unfolded)
    names = _names_of(knowing, space)
    if names is None:
        count = len(knowing.feature_names_) if library_name(knowing) == "catboost" else knowing.n_features_in_
        if count != len(space):
            raise DataError(
                f"the model was fitted on {count} unnamed columns, the space has {len(space)} features",
                hint="say in a claim file which feature is in which column: likewise init drafts one"
                if is_network_file(unfolded.final) or is_classical_graph(unfolded.final)
                else "give the space exactly the model's columns, in their order",
            )
        return space.names, False
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise DataError(
            f"the model was fitted on two columns named {twice[0]!r}",
            hint="give every column a name of its own and fit again: the space cannot tell them apart",
        )
    missing = [name for name in names if name not in space]
    if missing:
        refuse_encoded(names, space)
        raise DataError(
            f"the model was fitted on column {missing[0]!r}, which the space does not have"
            f"{suggest_name(missing[0], space.names)}",
            hint=f"the model's columns: {', '.join(names)}",
        )
    extra = [name for name in space.names if name not in names]
    if extra:
        raise DataError(
            f"the space has the feature {extra[0]!r}, which the model was not fitted on{suggest_name(extra[0], names)}",
            hint="leave it out of the space (Space.from_data(X, exclude=[...])): the model never sees it",
        )
    return names, True


def refuse_encoded(names: Sequence[str], space: Space) -> None:
    """Refuse columns that are named like the categories of features of the space."""
    from likewise.importers.get_dummies import looks_encoded
    from likewise.spec.model_reading import GET_DUMMIES

    found = looks_encoded(names, space)
    if found is not None:
        raise DataError(
            f"the model was fitted on column {found[0]!r}, which pandas.get_dummies seems to have made of {found[1]!r}",
            hint=f"pass encoding={GET_DUMMIES!r}",
        )


def known_names(estimator: Any, unfolded: UnfoldedEstimator, space: Space) -> tuple[str, ...] | None:
    """The names of the columns that the model was fitted on, None where it knows none."""
    return _names_of(_part_with_names(estimator, unfolded), space)


def _names_of(knowing: Any, space: Space) -> tuple[str, ...] | None:
    """The names of the columns that a model was fitted on, None where it knows none. interpret and CatBoost number the columns of arrays."""
    library = library_name(knowing)
    if library == "catboost":
        if not knowing.is_fitted():
            raise UnsupportedModel(f"{type(knowing).__name__} is not fitted", hint="call fit(X, y) first")
        names = [str(name) for name in knowing.feature_names_ or ()]
        return None if names == [str(i) for i in range(len(names))] else tuple(names)
    if not hasattr(knowing, "feature_names_in_"):
        return None
    names = [str(name) for name in knowing.feature_names_in_]
    made_up = library == "interpret" and names == [f"feature_{i:04}" for i in range(len(names))]
    if made_up and not any(name in space for name in names):
        return None
    return _frame_names(knowing, tuple(names), space)


def _frame_names(knowing: Any, names: tuple[str, ...], space: Space) -> tuple[str, ...]:
    """The names that a model knows its columns by, as the space spells them."""
    try:
        inside = unfold(getattr(knowing, "held", knowing))
    except UnsupportedModel:  # it can still be asked
        return names
    if inside.steps or not is_booster(inside.final):
        return names
    from likewise.importers.boosters import fitted_names

    return fitted_names(names, inside.final, space)


def _part_with_names(estimator: Any, unfolded: UnfoldedEstimator) -> Any:
    """The first part that the rows come to and that remembers what it was fitted on."""
    real = [(name, one) for name, one in unfolded.steps if one is not None and not isinstance(one, str)]
    for part in (estimator, *(one for _, one in real[:1]), *([] if real else [unfolded.final])):
        if hasattr(part, "n_features_in_"):
            return part
    if not real:
        raise UnsupportedModel(f"{type(unfolded.final).__name__} is not fitted", hint="call fit(X, y) first")
    from likewise.importers.transformers.traced_columns import Step

    raise UnsupportedModel(
        f"{Step(path=()).inside(*real[0])} is not fitted", hint="call fit(X, y) on the whole pipeline"
    )


def refuse_gap(name: str) -> NoReturn:
    """Where nothing is put in the place of missing values, and the model cannot do with them."""
    raise UnsupportedModel(
        f"{name!r} may be missing, and no step puts a number in its place: the model takes none that is missing",
        hint=f"fit the pipeline with a SimpleImputer for {name!r}, or leave missing values of {name!r} out of the space",
    )
