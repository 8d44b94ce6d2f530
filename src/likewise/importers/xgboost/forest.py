"""XGBoost's trees as grown trees, and its objectives as heads.

XGBoost casts columns to float32 and goes left where x < threshold; a category goes RIGHT where it is chosen, so at such nodes the
children change places. The base score is a margin for identity objectives and softmax, a probability for logistic ones, of which
the library takes the logit in float32.

    binary:logistic, reg:logistic        P = sigma(f); XGBClassifier decides P > 1/2, in real numbers f > 0
    binary:logitraw                      XGBClassifier decides f > 1/2 (its predict compares the margin with 0.5): the score here is f - 1/2
    multi:softprob, multi:softmax        the class with the largest margin, the first of equal ones; P = softmax
    reg:squarederror and others          the prediction is f
    count:poisson, reg:gamma, -tweedie   the prediction is exp(f); the base score is one, of which the library takes the logarithm in float32

Rounding: n additions in float32 starting from the base score, whose logarithm is within one unit in the last place, two roundings.
In float32 sigma(f) is 1/2 for f up to about 1.2e-7, and probabilities of two classes are equal where margins differ by as little: `NEAR_HALF` in
the constant makes the stated error at least 2^-20 = 9.5e-7, beyond which sign and order of margins decide. So a claim covers
floating point only where its clearance is larger than that.

Trees of dart are multiplied by float32 weights w_i. Of arrays and frames XGBoost calculates ((b + v_i) - b)
w_i in float32 and adds that, with the base
score b as a margin; of a DMatrix v_i w_i. With u = 2^-24 the difference is v_i but for two roundings and u
|b|; the product and at most n additions round what comes of it.
So the sum is off by at most ((1 + u)^(n + 3) - 1) sum |w_i v_i| + u (1 + u)^(n + 2) |b| sum |w_i|.
Operations are n + 6, as the base score has
three of its own, and 2 |b| sum |w_i| / n in the constant is more than the last term.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.trees.body import LEAF
from likewise.importers.exponents import EXPONENTIAL_HEAD
from likewise.importers.saved_boosters import numbers_of_levels
from likewise.importers.trees.library_forest import Forest, LibraryTree, order_depth_first
from likewise.importers.trees.matrix_reading import MatrixReading
from likewise.importers.trees.tree_model import LibraryModel
from likewise.importers.xgboost.model_file import MOST_CATEGORIES, StoredTree, StoredXGBoost
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

LOGISTIC = ("binary:logistic", "reg:logistic")
RAW = "binary:logitraw"
SOFTMAX = ("multi:softprob", "multi:softmax")
IDENTITY = ("reg:squarederror", "reg:linear", "reg:absoluteerror", "reg:pseudohubererror")
LOGARITHMIC = ("count:poisson", "reg:gamma", "reg:tweedie")
SUPPORTED = (*LOGISTIC, RAW, *SOFTMAX, *IDENTITY, *LOGARITHMIC)

NEAR_HALF = Fraction(16)  # times 2^-24 for every operation
HALF = Fraction(1, 2)
# From here on the base score of binary:logitraw is a margin; what it was before is not known here.
VECTOR_BASE_SCORE = (3, 1)


def base_margins(stored: StoredXGBoost) -> tuple[np.float32, ...]:
    """The base score as the library starts adding from it, in float32."""
    if stored.objective in LOGARITHMIC:
        return tuple(_logarithm(score) for score in stored.base_score)
    if stored.objective not in LOGISTIC:
        return stored.base_score
    return tuple(_logit(score) for score in stored.base_score)


def _logarithm(prediction: np.float32) -> np.float32:
    if not prediction > 0:
        raise UnsupportedModel(
            f"its base_score {float(prediction)} is no prediction of counts, so that its scores are infinite",
            hint="fit it on rows with targets above 0",
        )
    return np.float32(math.log(float(prediction)))


def _logit(probability: np.float32) -> np.float32:
    one = np.float32(1)
    if not 0 < probability < 1:
        raise UnsupportedModel(
            f"its base_score {float(probability)} is no probability, so that its scores are infinite",
            hint="fit it on rows of both classes",
        )
    return np.float32(-math.log(float(one / probability - one)))


def import_xgboost(
    stored: StoredXGBoost, *, family: str, kind: str | None, rounds: int | None = None
) -> LibraryModel:
    """The model in the form that all libraries share. `kind` is "classifier" or "regressor" for scikit-learn estimators, None
    for a Booster; the first `rounds` rounds predict, or all of them."""
    head = _make_head(stored, family, kind)
    stored = stored.first_rounds(rounds)
    count = len(stored.trees)
    weights = np.ones(count) if stored.weights is None else stored.weights
    bias = [Fraction(float(margin)) for margin in base_margins(stored)]
    more = Fraction(0) if head.labels is None else NEAR_HALF
    if decides_at_half(stored, kind):
        bias, more = [score - HALF for score in bias], more + HALF
    operations = count + 3
    if stored.weights is not None:
        lost = max(abs(Fraction(float(margin))) for margin in base_margins(stored))
        operations, more = count + 6, more + 2 * lost * _total(stored.weights) / max(count, 1)
    forest = Forest(
        trees=tuple(
            _convert_tree(tree, group, stored.n_scores, Fraction(float(weight)))
            for tree, group, weight in zip(stored.trees, stored.groups, weights, strict=True)
        ),
        bias=tuple(bias),
        single=True,
        strict=True,
        category=_category_code,
    )
    return LibraryModel(
        family=family,
        forest=forest,
        head=head,
        operations=operations,
        bits=24,
        more=more,
        numbered=numbered_columns(stored),
        taken=MatrixReading(absent_missing=True),
    )


def decides_at_half(stored: StoredXGBoost, kind: str | None) -> bool:
    """Whether the margin is compared with 1/2, so that 1/2 is taken off the score."""
    return stored.objective == RAW and kind == "classifier"


def numbered_columns(stored: StoredXGBoost) -> dict[int, dict[object, float]]:
    """The columns whose categories XGBoost numbers, by the categories that it has kept."""
    types = stored.types or ()
    if "c" in types and stored.version < VECTOR_BASE_SCORE and stored.names is not None:
        name = stored.names[types.index("c")]
        raise UnsupportedModel(
            f"it was fitted on categories ({name!r}) by XGBoost {'.'.join(map(str, stored.version))}, which did not keep them: "
            "their codes depend on the frame that it is asked with",
            hint="fit it with XGBoost 3.1 or newer, or on numbers (OrdinalEncoder)",
        )
    return numbers_of_levels(stored.levels)


def _category_code(value: float) -> float:
    """The code that a column's value is taken for: cut to a whole number after the cast, NaN for invalid ones."""
    with np.errstate(over="ignore"):
        single = float(np.float32(value))
    return float(math.trunc(single)) if 0 <= single < MOST_CATEGORIES else math.nan


def _total(weights: NDArray[np.float32]) -> Fraction:
    return sum((abs(Fraction(float(weight))) for weight in weights), Fraction(0))


def _convert_tree(tree: StoredTree, group: int, n_scores: int, factor: Fraction) -> LibraryTree:
    swapped = np.zeros(len(tree.left), dtype=bool)
    swapped[list(tree.chosen)] = True
    left, right = np.where(swapped, tree.right, tree.left), np.where(swapped, tree.left, tree.right)
    kept, second = order_depth_first(left, right)
    leaf = tree.left[kept] == -1
    values = np.zeros((len(kept), n_scores))
    values[leaf, group] = tree.condition[kept][leaf]
    return LibraryTree(
        column=np.where(leaf, LEAF, tree.column[kept]).astype(np.int32),
        threshold=np.where(leaf, 0.0, tree.condition[kept]).astype(np.float64),
        missing_left=tree.default_left[kept] ^ swapped[kept],
        right=second,
        values=values,
        categories={i: tree.chosen[node] for i, node in enumerate(kept.tolist()) if node in tree.chosen},
        factor=factor,
    )


# -- objectives -------------------------------------------------------------------------------------------


def _make_head(stored: StoredXGBoost, family: str, kind: str | None) -> Head:
    objective = stored.objective
    if objective not in SUPPORTED:
        raise UnsupportedModel(
            f"{family} has the objective {objective[:40]!r}, whose predictions are no supported function of the score",
            hint=f"supported objectives: {', '.join(SUPPORTED)}",
        )
    if objective in SOFTMAX:
        return _make_class_head(stored, family, kind)
    if stored.n_scores != 1:
        raise UnsupportedModel(f"{family} has {stored.n_scores} scores for the objective {objective!r}")
    if objective in (*IDENTITY, *LOGARITHMIC):
        if kind == "classifier":
            raise UnsupportedModel(
                f"{family} is a classifier with the objective {objective!r}",
                hint="use objective='binary:logistic'",
            )
        return NUMBER_HEAD if objective in IDENTITY else EXPONENTIAL_HEAD
    if objective == RAW:
        return _make_margin_head(stored, family, kind)
    undecided = None
    if kind == "regressor" or (kind is None and objective == "reg:logistic"):
        undecided = f"{family} with {objective!r} predicts the probability itself and decides nothing"
    return Head(labels=(0, 1), link="logistic", undecided=undecided)


def _make_margin_head(stored: StoredXGBoost, family: str, kind: str | None) -> Head:
    if stored.version < VECTOR_BASE_SCORE:
        raise UnsupportedModel(
            f"{family} with the objective {RAW!r} was saved by XGBoost {'.'.join(map(str, stored.version))}",
            hint="save it with XGBoost 3.1 or newer, or use objective='binary:logistic'",
        )
    if kind != "classifier":
        return NUMBER_HEAD
    return Head(
        labels=(0, 1), unlinked=f"with {RAW!r} its predict_proba holds margins, which are no probabilities"
    )


def _make_class_head(stored: StoredXGBoost, family: str, kind: str | None) -> Head:
    if kind == "regressor":
        raise UnsupportedModel(f"{family} is a regressor with the objective {stored.objective!r}")
    if stored.n_scores < 2 or (kind == "classifier" and stored.n_scores == 2):
        raise UnsupportedModel(
            f"{family} has the objective {stored.objective!r} for {stored.n_scores} classes",
            hint="use objective='binary:logistic' for two classes",
        )
    return Head(labels=tuple(range(stored.n_scores)), rule="argmax", link="softmax")
