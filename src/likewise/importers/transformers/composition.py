"""Composing: columns through pipelines, column transformers and unions, down to the single transformer.

Pipeline            one step after the other
ColumnTransformer   each transformer on the columns that were selected for it when it was fitted, side by side
FeatureUnion        each transformer on all columns, side by side

`transformer_weights` multiply what a transformer gives. "passthrough" leaves columns alone, "drop" leaves them out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from likewise.errors import suggest_name
from likewise.importers.registry import (
    is_own_class,
    is_sklearn_class,
    library_name,
    traces_itself,
)
from likewise.importers.transformers import bins, category_encoders, curves, encoders, scalers, selectors
from likewise.importers.transformers.traced_columns import (
    Arithmetic,
    DerivedColumn,
    Operation,
    Step,
    TracedColumn,
    derive_column,
    exact_scale,
    require_number,
)

Handler = Callable[[Any, Sequence[TracedColumn], Step], list[DerivedColumn]]
HANDLERS: dict[str, Handler] = {
    **scalers.HANDLERS,
    **encoders.HANDLERS,
    **bins.HANDLERS,
    **curves.HANDLERS,
    **selectors.HANDLERS,
}
STATELESS = ("FunctionTransformer", "Binarizer", "Normalizer")

Columns = tuple[TracedColumn, ...]


def trace_transformer(transformer: Any, columns: Columns, step: Step) -> Columns:
    """The columns that a fitted transformer makes of these."""
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return columns
    if traces_itself(transformer):
        traced: Columns = transformer.trace(columns, step)
        return traced
    kind, library = type(transformer).__name__, library_name(transformer)
    if library == category_encoders.LIBRARY and is_own_class(transformer):
        return _trace_by(category_encoders.HANDLERS, transformer, columns, step)
    if not is_sklearn_class(transformer):
        base = next((c for c in type(transformer).__mro__ if c.__module__.startswith("sklearn.")), None)
        named = f", whatever it inherits from {base.__name__}" if base is not None else ""
        step.refuse(
            f"is code of {library!r}{named}, and cannot be read",
            hint="use scikit-learn's own transformers, not subclasses of them",
        )
    if kind in COMPOSERS:
        return COMPOSERS[kind](transformer, columns, step)
    return _trace_by(HANDLERS, transformer, columns, step)


def _trace_by(handlers: Mapping[str, Handler], transformer: Any, columns: Columns, step: Step) -> Columns:
    """By the one of these that is named like the transformer's class."""
    handler = handlers.get(step.kind)
    if handler is None:
        why, hint = refusal_reason(step.kind, library_name(transformer), sorted((*handlers, *COMPOSERS)))
        step.refuse(why, hint=hint)
    _check_fitted(transformer, columns, step)
    made = handler(transformer, columns, step)
    return tuple(derive_column(columns[one.source], one.action, step) for one in made)


def _check_fitted(transformer: Any, columns: Columns, step: Step) -> None:
    width = getattr(transformer, "n_features_in_", None)
    if width is None and step.kind not in STATELESS:
        step.refuse("is not fitted", hint="call fit(X, y) on the whole pipeline")
    if width is not None and width != len(columns):
        step.refuse(
            f"was fitted on {width} columns, but gets {len(columns)}",
            hint="a step was exchanged after fitting: call fit(X, y) on the whole pipeline again",
        )


# -- pipelines and unions ---------------------------------------------------------------------------------


def _trace_pipeline(pipeline: Any, columns: Columns, step: Step) -> Columns:
    for name, transformer in pipeline.steps:
        columns = trace_transformer(transformer, columns, step.inside(name, transformer))
    return columns


def _trace_union(union: Any, columns: Columns, step: Step) -> Columns:
    made: list[TracedColumn] = []
    for name, transformer in union.transformer_list:
        if transformer == "drop":
            continue
        inside = step.inside(name, transformer)
        weight = (union.transformer_weights or {}).get(name)
        made += _weight_columns(trace_transformer(transformer, columns, inside), weight, inside)
    return tuple(made)


def _weight_columns(columns: Columns, weight: Any, step: Step) -> Columns:
    if weight is None:
        return columns
    for column in columns:
        require_number(column, step)
    by = Arithmetic((Operation("times", exact_scale(weight, step)),))
    return tuple(derive_column(column, by, step) for column in columns)


# -- column transformers ----------------------------------------------------------------------------------


def _trace_column_transformer(transformer: Any, columns: Columns, step: Step) -> Columns:
    if not hasattr(transformer, "transformers_"):
        step.refuse("is not fitted", hint="call fit(X, y) on the whole pipeline")
    _check_fitted(transformer, columns, step)
    names = [str(name) for name in getattr(transformer, "feature_names_in_", ())]
    made: list[TracedColumn] = []
    for name, part, selection in transformer.transformers_:
        inside = step.inside(name, part)
        chosen = tuple(columns[i] for i in selected_places(selection, names, len(columns), inside))
        if not chosen or (isinstance(part, str) and part == "drop"):
            continue
        found = trace_transformer(part, chosen, inside)
        _check_width(transformer, name, len(found), inside)
        made += _weight_columns(found, (transformer.transformer_weights or {}).get(name), inside)
    return tuple(made)


def _check_width(transformer: Any, name: str, width: int, step: Step) -> None:
    place = getattr(transformer, "output_indices_", {}).get(name)
    if place is not None and place.stop - place.start != width:
        step.refuse(
            f"gave {place.stop - place.start} columns when it was fitted, and now gives {width}",
            hint="it was changed after fitting: call fit(X, y) on the whole pipeline again",
        )


def selected_places(selection: Any, names: Sequence[str], width: int, step: Step) -> list[int]:
    """The places of selected columns: names, numbers, a mask, or a slice of either (labels include its end)."""
    if isinstance(selection, slice):
        return _slice_places(selection, names, width, step)
    if isinstance(selection, (str, int, np.integer)) and not isinstance(selection, bool):
        selection = [selection]
    chosen = list(selection)
    if chosen and all(isinstance(one, (bool, np.bool_)) for one in chosen):
        return [int(i) for i in np.flatnonzero(chosen)]
    return [_column_place(one, names, width, step) for one in chosen]


def _slice_places(selection: slice, names: Sequence[str], width: int, step: Step) -> list[int]:
    start, stop = selection.start, selection.stop
    if isinstance(start, str) or isinstance(stop, str):
        start = None if start is None else _column_place(start, names, width, step)
        stop = None if stop is None else _column_place(stop, names, width, step) + 1
    return list(range(width))[slice(start, stop, selection.step)]


def _column_place(one: Any, names: Sequence[str], width: int, step: Step) -> int:
    if isinstance(one, str):
        if one not in names:
            step.refuse(
                f"selects the column {one!r} by name, but was fitted without that name",
                hint="fit the pipeline on a frame that has it",
            )
        return list(names).index(one)
    place = int(one)
    if not -width <= place < width:
        step.refuse(f"selects column {place} of {width}", hint="fit the pipeline on all its columns")
    return place % width


COMPOSERS: dict[str, Callable[[Any, Columns, Step], Columns]] = {
    "Pipeline": _trace_pipeline,
    "FeatureUnion": _trace_union,
    "ColumnTransformer": _trace_column_transformer,
}


ROTATION_REASON = "adds columns up, so that what it gives depends on several features at once"
COLUMNS_HINT = "fit the model on the columns themselves, scaled or encoded one by one"
LINEAR_MODEL_HINT = f"{COLUMNS_HINT}; in front of linear models and networks PCA and the like are taken"
TEXT_REASON = "makes columns of words or hashes, and a space has no such features"

REFUSAL_REASONS: dict[str, tuple[str, str]] = {
    "Normalizer": (
        "divides a row by its own length, so that every column depends on all features",
        "use StandardScaler or MinMaxScaler, which work column by column",
    ),
    **dict.fromkeys(
        (
            "PCA",
            "IncrementalPCA",
            "TruncatedSVD",
            "FactorAnalysis",
            "FastICA",
            "SparsePCA",
            "MiniBatchSparsePCA",
            "GaussianRandomProjection",
            "SparseRandomProjection",
            "LinearDiscriminantAnalysis",
            "PLSRegression",
            "FeatureAgglomeration",
        ),
        (ROTATION_REASON, LINEAR_MODEL_HINT),
    ),
    **dict.fromkeys(
        ("NMF", "MiniBatchNMF", "DictionaryLearning", "MiniBatchDictionaryLearning", "LatentDirichletAllocation"),
        ("solves for its columns anew for every row, from all features at once", LINEAR_MODEL_HINT),
    ),
    **dict.fromkeys(
        ("KernelCenterer", "Isomap", "LocallyLinearEmbedding", "KNeighborsTransformer", "RadiusNeighborsTransformer"),
        ("gives columns that depend on distances to the rows that it was fitted on, and so on all features at once",
         "use SVC(kernel='rbf') on the columns themselves"),
    ),
    **dict.fromkeys(
        ("Nystroem", "KernelPCA"),
        ("gives columns that depend on all features at once",
         "put it behind all others, in front of a linear model; or use SVC(kernel='rbf') on the columns themselves"),
    ),
    "RBFSampler": (
        "gives cosines of sums of all columns",
        "put it behind all others, in front of a linear model; or use SVC(kernel='rbf') on the columns themselves",
    ),
    "SkewedChi2Sampler": (
        "gives cosines of sums of logarithms of all columns, which nothing here bounds",
        "use RBFSampler or Nystroem in front of a linear model, or SVC(kernel='rbf') on the columns themselves",
    ),
    "AdditiveChi2Sampler": (
        "gives cosines and sines of logarithms of columns, which nothing here bounds",
        "use Nystroem in front of a linear model, or SplineTransformer",
    ),
    "PolynomialCountSketch": (
        "gives sums of products of random columns, by a Fourier transform",
        "use PolynomialFeatures, or SVC(kernel='poly') on the columns themselves",
    ),
    "BernoulliRBM": (
        "gives logistic functions of sums of all columns",
        "use an MLPClassifier(activation='logistic'), which is read with its layers",
    ),
    **dict.fromkeys(
        ("CountVectorizer", "TfidfVectorizer", "TfidfTransformer", "HashingVectorizer", "FeatureHasher", "DictVectorizer"),
        (TEXT_REASON, "declare levels and use OneHotEncoder"),
    ),
    **dict.fromkeys(
        ("KMeans", "MiniBatchKMeans", "BisectingKMeans", "Birch"),
        ("gives distances to centres, which depend on all features at once",
         f"{COLUMNS_HINT}; SVC(kernel='rbf') takes distances itself"),
    ),
    "RandomTreesEmbedding": (
        "gives the leaves of trees, which depend on several features at once",
        "use RandomForestClassifier or ExtraTreesClassifier, whose leaves are read",
    ),
}  # fmt: skip


def refusal_reason(kind: str, library: str, known: list[str]) -> tuple[str, str]:
    """Why a transformer is refused, and what would work."""
    if library == "sklearn" and kind in REFUSAL_REASONS:
        return REFUSAL_REASONS[kind]
    hint = f"transformers that are taken: {', '.join(known)}"
    if library == category_encoders.LIBRARY:
        return "gives columns of several features together", f"encoders that are taken: {', '.join(known)}"
    if library != "sklearn":
        return f"is code of {library or 'an unknown module'} and cannot be read", hint
    return f"is not known to work on one column at a time{suggest_name(kind, known)}", hint
