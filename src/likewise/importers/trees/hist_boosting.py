"""scikit-learn's HistGradientBoosting: doubles as they are, left where value <= threshold, native categories, missing values.

Categories come first: the model numbers them by an OrdinalEncoder of its own (NaN for levels that it has never seen and for missing ones), all
other columns follow. At a test of categories those in its bitset go left; NaN, and numbers of no known category, go the way of missing
values. f = baseline + sum of leaves (a tree a class and iteration; the learning rate is in the leaves), so a term goes through as many
additions as there are iterations. With loss "poisson" and "gamma" it predicts exp(f). The upper of two labels wins where f > 0. Constraints on training (monotonic, interactions) leave no trace in this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.families.trees.body import LEAF
from likewise.importers.exponents import EXPONENTIAL_HEAD, has_logarithmic_link
from likewise.importers.transformers.encoders import ORDINAL, check_categories
from likewise.importers.transformers.traced_columns import Step, TracedColumn, derive_column
from likewise.importers.trees.library_forest import Forest, LibraryTree, order_depth_first
from likewise.importers.trees.reached_columns import OwnPreprocessing
from likewise.importers.trees.sklearn_trees import (
    boosted_head,
    check_fitted,
    classifier_labels,
    require_finite,
)
from likewise.importers.trees.tree_model import LibraryModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WORD_BITS = 32  # bits of one number of a bitset


def read_hist_boosting(estimator: Any) -> LibraryModel:
    """Iterations of one tree, or of one a class."""
    family = check_fitted(estimator, "_predictors")
    labels = classifier_labels(estimator, family)
    baseline = np.asarray(estimator._baseline_prediction)
    start = require_finite(np.ravel(baseline).astype(np.float64))
    trees = [
        _convert_tree(predictor, c, len(start))
        for iteration in estimator._predictors
        for c, predictor in enumerate(iteration)
    ]
    return LibraryModel(
        family=family,
        forest=Forest(
            trees=tuple(trees),
            bias=tuple(Fraction(value) for value in start.tolist()),
            single=False,
            strict=False,
            known=_known_categories(estimator),
        ),
        head=EXPONENTIAL_HEAD
        if labels is None and has_logarithmic_link(estimator._loss)
        else boosted_head(labels, len(start), zero_is_upper=False),
        operations=len(trees) + 2,
        bits=24 if baseline.dtype == np.float32 else 53,
        own=_own_encoder(estimator),
        leaves=_leaf_reader(estimator, len(start)),
    )


READERS: dict[str, Callable[[Any], LibraryModel]] = dict.fromkeys(
    ("HistGradientBoostingClassifier", "HistGradientBoostingRegressor"), read_hist_boosting
)


def _convert_tree(predictor: Any, c: int, scores: int) -> LibraryTree:
    nodes = predictor.nodes
    leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(leaf, LEAF, nodes[side].astype(np.int64)) for side in ("left", "right"))
    order, then = order_depth_first(left, right)
    nodes, leaf = nodes[order], leaf[order]
    values = np.zeros((len(nodes), scores))
    values[:, c] = require_finite(np.where(leaf, nodes["value"], 0.0))
    by_category = np.flatnonzero(nodes["is_categorical"].astype(bool) & ~leaf).tolist()
    return LibraryTree(
        column=np.where(leaf, LEAF, nodes["feature_idx"]).astype(np.int32),
        threshold=np.where(leaf | (nodes["is_categorical"] != 0), 0.0, nodes["num_threshold"]),
        missing_left=nodes["missing_go_to_left"].astype(bool),
        right=then,
        values=values,
        categories={
            node: bitset_members(predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]])
            for node in by_category
        },
    )


def bitset_members(bitset: NDArray[np.uint32]) -> frozenset[int]:
    """The numbers in a bitset."""
    return frozenset(
        WORD_BITS * i + bit
        for i, word in enumerate(bitset.tolist())
        for bit in range(WORD_BITS)
        if word >> bit & 1
    )


def _known_categories(estimator: Any) -> dict[int, frozenset[int]]:
    bitsets, places = estimator._bin_mapper.make_known_categories_bitsets()
    mask = estimator._bin_mapper.is_categorical_
    if mask is None:
        return {}
    return {int(f): bitset_members(bitsets[places[f]]) for f in np.flatnonzero(mask)}


def _own_encoder(estimator: Any) -> OwnPreprocessing | None:
    """The encoder of categories; a model without any looks at its columns as they are."""
    if getattr(estimator, "_preprocessor", None) is None:
        return None
    mask = np.asarray(estimator.is_categorical_, dtype=bool)

    def trace(columns: tuple[TracedColumn, ...], step: Step) -> tuple[TracedColumn, ...]:
        if len(columns) != len(mask):
            step.refuse(f"was fitted on {len(mask)} columns, but gets {len(columns)}", hint="fit it again")
        chosen = [columns[c] for c in np.flatnonzero(mask)]
        check_categories(estimator._preprocessor.named_transformers_["encoder"], chosen, step)
        encoded = [derive_column(column, ORDINAL, step) for column in chosen]
        return (*encoded, *(columns[c] for c in np.flatnonzero(~mask)))

    return OwnPreprocessing(name=type(estimator).__name__, transformer=estimator._preprocessor, trace=trace)


def _leaf_reader(estimator: Any, scores: int) -> Callable[[Floats], Iterable[Floats]]:
    """The values of the leaves that rows come to, by the trees' own program."""
    bitsets, places = estimator._bin_mapper.make_known_categories_bitsets()

    def leaves(matrix: Floats) -> Iterable[Floats]:
        for iteration in estimator._predictors:
            for c, predictor in enumerate(iteration):
                made = np.zeros((len(matrix), scores))
                made[:, c] = predictor.predict(matrix, bitsets, places, 1)
                yield made

    return leaves
