"""LightGBM's trees as grown trees, and its objectives as heads.

LightGBM compares doubles and goes left where x <= threshold; numbers within `NEAR_ZERO` of zero become zero
before that, so a threshold there
stands for one of the two ends of that interval. A category goes left where it is chosen; missing, negative
and all other ones go right.
What counts as missing is said at each node: nothing (then NaN is taken for 0), NaN, or zero and NaN
(`zero_as_missing`).

    binary                               P = sigma(s f), s the parameter `sigmoid` > 0; decides P > 1/2, in
    real numbers f > 0
    cross_entropy                        P = sigma(f)
    multiclass                           the class with the largest score, the first of equal ones; P =
    softmax
    multiclassova                        the same class; its probabilities do not add up to one and are no
    link
    regression and others                the prediction is f

Shrinkage, dropped trees (dart) and the average of the label are in the leaf values already; a forest (rf)
predicts the mean over its rounds.

Rounding: n additions in float64, a division by the number of rounds. sigma(s f) is 1/2 for s f up to about
2^-53, see `NEAR_HALF`.
multiclassova compares probabilities that are all 1 from scores of about 37 on: no claim about it covers
floating point.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.trees.body import LEAF
from likewise.importers.exponents import EXPONENTIAL_HEAD
from likewise.importers.lightgbm.model_file import (
    MISSING_NONE,
    MISSING_ZERO,
    NEAR_ZERO,
    StoredLightGBM,
    StoredTree,
)
from likewise.importers.saved_boosters import numbers_of_levels
from likewise.importers.trees.library_forest import Forest, LibraryTree, order_depth_first
from likewise.importers.trees.matrix_reading import MatrixReading
from likewise.importers.trees.tree_model import LibraryModel
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOGISTIC = ("binary", "cross_entropy", "xentropy")
CLASSES = ("multiclass", "softmax", "multiclassova")
IDENTITY = ("regression", "regression_l2", "regression_l1", "huber", "fair", "quantile", "mape")
LOGARITHMIC = ("poisson", "gamma", "tweedie")
SUPPORTED = ("binary", "cross_entropy", "multiclass", "multiclassova", *IDENTITY, *LOGARITHMIC)

NEAR_HALF = Fraction(16)  # times 2^-53 for every operation
MOST_DIGITS = 5  # of a sigmoid: LightGBM writes six, and what has six may have had more
BEFORE_ZERO = float(np.nextafter(-NEAR_ZERO, -np.inf))


def import_lightgbm(
    stored: StoredLightGBM, *, family: str, kind: str | None, labels: Sequence[object] | None = None
) -> LibraryModel:
    """The model in the form that all libraries share. `kind` is "classifier" or "regressor" for scikit-learn
    estimators, None
    for a Booster; `labels` are a classifier's own."""
    head = _make_head(stored, family, kind, labels)
    rounds = len(stored.trees) // stored.n_scores
    factor = Fraction(1, rounds) if stored.averaged else Fraction(1)
    forest = Forest(
        trees=tuple(
            _convert_tree(tree, number % stored.n_scores, stored.n_scores, factor, family)
            for number, tree in enumerate(stored.trees)
        ),
        bias=(Fraction(0),) * stored.n_scores,
        single=False,
        strict=False,
        category=_category_code,
    )
    regressor = head.labels is None
    return LibraryModel(
        family=family,
        forest=forest,
        head=head,
        operations=None if stored.objective == "multiclassova" else len(stored.trees) + 2,
        bits=53,
        more=Fraction(0) if regressor else NEAR_HALF / min(head.slope, Fraction(1)),
        numbered=numbers_of_levels(stored.levels),
        rivals=stored.rivals,
        taken=MatrixReading(whole_single=True),
    )


def _category_code(value: float) -> float:
    """The code that a column's value is taken for: cut to a whole number, towards zero."""
    return float(math.trunc(value)) if -1 < value < 2**31 else math.nan


def _convert_tree(tree: StoredTree, group: int, n_scores: int, factor: Fraction, family: str) -> LibraryTree:
    """Nodes and leaves in one array, the leaves behind the nodes."""
    inner, n_leaves = len(tree.left), len(tree.leaves)
    left, right = (
        np.concatenate([np.where(child < 0, inner - 1 - child, child), np.full(n_leaves, -1)])
        for child in (tree.left, tree.right)
    )
    kept, second = order_depth_first(left, right)
    chosen = np.zeros(inner, dtype=bool)
    chosen[list(tree.chosen)] = True
    limits = _largest_left(tree, chosen, family)
    missing_left = np.where(tree.missing == MISSING_NONE, tree.threshold >= 0, tree.default_left) & ~chosen
    values = np.zeros((inner + n_leaves, n_scores))
    values[inner:, group] = tree.leaves
    of_leaves = np.zeros(n_leaves)
    return LibraryTree(
        column=np.concatenate([tree.column, of_leaves + LEAF]).astype(np.int32)[kept],
        threshold=np.concatenate([limits, of_leaves])[kept],
        missing_left=np.concatenate([missing_left, of_leaves > 0])[kept],
        right=second,
        values=values[kept],
        categories={i: tree.chosen[node] for i, node in enumerate(kept.tolist()) if node in tree.chosen},
        factor=factor,
    )


def _largest_left(tree: StoredTree, chosen: NDArray[np.bool_], family: str) -> NDArray[np.float64]:
    """The largest double that goes left at each node that tests a number."""
    limits = np.where(
        tree.threshold < 0, np.minimum(tree.threshold, BEFORE_ZERO), np.maximum(tree.threshold, NEAR_ZERO)
    )
    zero = (tree.missing == MISSING_ZERO) & ~chosen
    # Zero goes where the threshold sends it anyway, or is next to the threshold and changes sides.
    plain = tree.default_left == (tree.threshold >= 0)
    joins, leaves = tree.default_left & (limits == BEFORE_ZERO), ~tree.default_left & (limits == NEAR_ZERO)
    if (zero & ~plain & ~joins & ~leaves).any():
        raise UnsupportedModel(
            f"{family} takes zero for a missing value (zero_as_missing) and sends it away from the numbers beside it",
            hint="fit it with zero_as_missing=False",
        )
    return np.where(zero & leaves, BEFORE_ZERO, np.where(zero & joins, NEAR_ZERO, limits))


# -- objectives -------------------------------------------------------------------------------------------


def _make_head(
    stored: StoredLightGBM, family: str, kind: str | None, labels: Sequence[object] | None
) -> Head:
    objective = stored.objective
    if objective not in (*LOGISTIC, *CLASSES, *IDENTITY, *LOGARITHMIC) or "sqrt" in stored.settings:
        shown = f"{objective} sqrt" if "sqrt" in stored.settings else objective
        raise UnsupportedModel(
            f"{family} has the objective {shown[:40]!r}, whose predictions are no supported function of the score",
            hint=f"supported objectives: {', '.join(SUPPORTED)}",
        )
    if objective in CLASSES:
        return _make_class_head(stored, family, kind, labels)
    if stored.n_scores != 1:
        raise UnsupportedModel(f"{family} has {stored.n_scores} scores for the objective {objective!r}")
    if objective in (*IDENTITY, *LOGARITHMIC):
        if kind == "classifier":
            raise UnsupportedModel(
                f"{family} is a classifier with the objective {objective!r}", hint="use objective='binary'"
            )
        return NUMBER_HEAD if objective in IDENTITY else EXPONENTIAL_HEAD
    undecided = None
    if kind == "regressor" or (kind is None and objective != "binary"):
        undecided = f"{family} with {objective!r} predicts the probability itself and decides nothing"
    known = (0, 1) if labels is None else tuple(labels)
    if len(known) != 2:
        raise UnsupportedModel(
            f"{family} has the objective {objective!r} for {len(known)} classes",
            hint="fit it on rows of both classes",
        )
    return Head(
        labels=(known[0], known[1]),
        link="logistic",
        slope=_sigmoid_slope(stored, family),
        undecided=undecided,
    )


def _sigmoid_slope(stored: StoredLightGBM, family: str) -> Fraction:
    written = stored.settings.get("sigmoid", "1")
    slope = Fraction(float(written))
    if slope <= 0:
        raise UnsupportedModel(f"{family} has sigmoid={float(slope)}, and only positive ones make sense")
    if len(written.partition("e")[0].replace(".", "").strip("0")) > MOST_DIGITS:
        raise UnsupportedModel(
            f"{family} has sigmoid={written}, which LightGBM may have rounded when it wrote it",
            hint=f"fit it with a sigmoid of at most {MOST_DIGITS} digits",
        )
    return slope


def _make_class_head(
    stored: StoredLightGBM, family: str, kind: str | None, labels: Sequence[object] | None
) -> Head:
    count = stored.n_scores
    if kind == "regressor" or count < 2 or (labels is not None and len(labels) != count):
        raise UnsupportedModel(f"{family} has the objective {stored.objective!r} for {count} classes")
    own = stored.objective == "multiclassova"
    return Head(
        labels=tuple(range(count)) if labels is None else tuple(labels),
        rule="argmax",
        link=None if own else "softmax",
        unlinked="its probabilities (multiclassova) are those of each class against the rest and do not add up to one"
        if own
        else None,
    )
