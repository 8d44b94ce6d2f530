"""CatBoost's trees as trees over columns, and its losses as heads.

CatBoost casts numbers to float32 and goes right where x > border; a missing number is below all borders or above them. The columns of categories hold their hashes
(`CategoryReader`): a split of categories, or of a statistic of one feature, is a set of hashes. A statistic of several features together is a table over the values that they have in the space: where a tree tests one, it first tells the values of
one feature apart by what is left of the table, then those of the next (`_Growing`); what the tests above have decided already is not asked again.

    Logloss, CrossEntropy   P = sigma(f); decides f > 0, or P > t with a threshold of its own
    MultiClass              the class with the largest score, the first of equal ones; P = softmax
    MultiClassOneVsAll      the same class; its probabilities do not add up to one and are no link
    RMSE and others         the prediction is f
    Poisson, Tweedie        CatBoostRegressor predicts exp(f)

Rounding: one addition in float64 a tree, a multiplication by the scale, and the addition of the bias. Leaves in a JSON file are off by
one more step of doubles where CatBoost reads it (`reading`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.clock import check_clock
from likewise.errors import UnsupportedModel
from likewise.families.trees.body import LEAF
from likewise.importers.catboost.category_hash import category_hash, combined_hash, signed
from likewise.importers.catboost.model_file import (
    CategorySplit,
    NumberSplit,
    Split,
    Statistic,
    StatisticSplit,
    StoredCatBoost,
    StoredTree,
)
from likewise.importers.exponents import EXPONENTIAL_HEAD
from likewise.importers.transformers.traced_columns import Step, TableFunction, TracedColumn, derive_column
from likewise.importers.trees.library_forest import Forest, LibraryTree, order_depth_first
from likewise.importers.trees.reached_columns import OwnPreprocessing, ReachedColumns
from likewise.importers.trees.tree_model import LibraryModel
from likewise.model.head import NUMBER_HEAD, Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

LOGISTIC = ("Logloss", "CrossEntropy")
CLASSES = ("MultiClass", "MultiClassOneVsAll")
LOGARITHMIC = ("Poisson", "Tweedie")
IDENTITY = ("RMSE", "MAE", "Quantile", "Expectile", "Huber", "MAPE", "Lq", "LogCosh")
HASHES = TableFunction(does="takes the values for categories")
MOST_TOGETHER = 100_000  # values of the features of a statistic, all combinations
MOST_NODES = 2_000_000  # of all trees, once statistics of several features are told apart


def import_catboost(
    stored: StoredCatBoost, *, family: str, kind: str | None, labels: tuple[Any, ...] | None = None
) -> LibraryModel:
    """The model in the form that all libraries share. `kind` is "classifier" or "regressor" for estimators, None for a model
    that is none; `labels` are a classifier's own."""
    own = None
    if stored.categories:
        own = OwnPreprocessing(
            name=family,
            transformer=CategoryReader(stored, family),
            trace=lambda columns, step: _trace(stored, columns, step),
        )
    plain = Forest(trees=(), bias=_bias(stored), single=True, strict=False)
    return LibraryModel(
        family=family,
        forest=plain,
        head=_make_head(stored, family, kind, labels or stored.labels),
        operations=len(stored.trees) + 4,
        threshold=Fraction(stored.threshold) if stored.loss in LOGISTIC else None,
        own=own,
        grow=lambda reaching: replace(plain, trees=_grow_trees(stored, reaching, family)),
    )


def _bias(stored: StoredCatBoost) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, stored.bias))


def _make_head(stored: StoredCatBoost, family: str, kind: str | None, labels: tuple[Any, ...] | None) -> Head:
    loss, count = stored.loss, stored.n_scores
    numbers = (*IDENTITY, *LOGARITHMIC)
    if loss not in (*LOGISTIC, *CLASSES, *numbers) or (loss in numbers and count > 1):
        raise UnsupportedModel(
            f"{family} has the loss {loss[:40]!r}, whose predictions are no supported function of one score",
            hint=f"supported losses: {', '.join((*LOGISTIC, *CLASSES, *numbers))}",
        )
    if (loss in numbers) != (kind == "regressor") and kind is not None:
        raise UnsupportedModel(f"{family} has the loss {loss!r}", hint="use one that fits the estimator")
    if loss in numbers:
        return NUMBER_HEAD if loss in IDENTITY else EXPONENTIAL_HEAD
    known = tuple(range(max(count, 2))) if labels is None else tuple(labels)
    if len(known) != (2 if count == 1 else count) or (loss in LOGISTIC and count > 1):
        raise UnsupportedModel(
            f"{family} has the loss {loss!r} with {count} scores for {len(known)} classes",
            hint="fit it on rows of all classes",
        )
    if loss in LOGISTIC:
        return Head(labels=known, link="logistic")
    own = loss == "MultiClassOneVsAll"
    return Head(
        labels=known,
        rule="argmax",
        link=None if own else "softmax",
        unlinked="its probabilities (MultiClassOneVsAll) are those of each class against the rest and do not add up to one"
        if own
        else None,
    )


# -- columns ----------------------------------------------------------------------------------------------


class CategoryReader:
    """Rows as CatBoost's splits see them: numbers as they are, categories by their hashes."""

    def __init__(self, stored: StoredCatBoost, family: str) -> None:
        self.categories, self.family = frozenset(stored.categories), family
        self.names, self.n_columns = stored.names, stored.n_columns

    def transform(self, X: Any) -> Floats:
        """(rows, columns)."""
        if hasattr(X, "columns"):
            columns = [np.asarray(X[name]) for name in (self.names or X.columns)]
        else:
            columns = list(np.asarray(X).T)
        if len(columns) != self.n_columns:
            raise UnsupportedModel(f"{self.family} takes {self.n_columns} columns, and gets {len(columns)}")
        return np.stack(
            [
                self._hashes(values) if c in self.categories else values.astype(np.float64)
                for c, values in enumerate(columns)
            ],
            axis=1,
        )

    def _hashes(self, values: NDArray[Any]) -> Floats:
        return np.array(
            [float(category_hash(self._text(value))) for value in values.tolist()], dtype=np.float64
        )

    def _text(self, value: Any) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, int):  # truth values are 0 and 1
            return str(int(value))
        raise UnsupportedModel(
            f"{self.family} takes whole numbers and text for categories, and no {value!r}",
            hint="fit it on text in that column, also for what is missing",
        )


def _trace(stored: StoredCatBoost, columns: tuple[TracedColumn, ...], step: Step) -> tuple[TracedColumn, ...]:
    if len(columns) != stored.n_columns:
        step.refuse(f"was fitted on {stored.n_columns} columns, but gets {len(columns)}", hint="fit it again")
    for c in stored.categories:
        if columns[c].feature.missing and columns[c].fill is None:
            step.refuse(
                f"takes no missing categories, and {columns[c].name!r} may be missing",
                hint=f"fit it on text for what is missing, and declare that as a level of {columns[c].name!r}",
            )
    return tuple(
        derive_column(column, HASHES, step) if c in stored.categories else column
        for c, column in enumerate(columns)
    )


# -- trees ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Plain:
    """A test of one column: above a border goes right, or all hashes but some."""

    column: int
    border: float = 0.0
    missing_above: bool = False
    left: frozenset[int] | None = None


Axis = int | NumberSplit  # a column of categories, or a test of a number


@dataclass(frozen=True, slots=True, eq=False)
class _Together:
    """A test of several features: where it goes right, over the values of each of the axes; of a test of a number those are False and True."""

    axes: tuple[Axis, ...]
    values: tuple[tuple[int, ...], ...]
    holds: NDArray[np.bool_]


Test = _Plain | _Together
Branch = tuple[int, dict[Axis, Any]]  # the node of the old tree that a box goes on from
Found = int | tuple[Axis, tuple[Branch, Branch]]


def _grow_trees(stored: StoredCatBoost, reaching: ReachedColumns, family: str) -> tuple[LibraryTree, ...]:
    """The trees, over the values that columns of categories have in the space."""
    hashes: dict[int, tuple[int, ...]] = {}
    for c in stored.categories:
        table = reaching.columns[c].table
        if table is None:
            raise UnsupportedModel(
                f"{family} takes a number for categories", hint="declare it as Categorical"
            )
        hashes[c] = tuple(sorted(map(int, set(table.tolist()))))
    tests = [_test_of(split, hashes, family) for split in _used(stored)]
    factor, trees, nodes = Fraction(stored.scale), [], 0
    for tree in stored.trees:
        check_clock()
        if any(isinstance(tests[i], _Together) for i in tree.split.tolist() if i >= 0):
            made = _Growing(tree, tests, hashes, factor).grow()
        else:
            made = _convert_tree(tree, tests, factor)
        nodes += len(made.column)
        if nodes > MOST_NODES:
            raise UnsupportedModel(
                f"{family} has statistics of several categories together, which make more than {MOST_NODES:,} nodes of its trees",
                hint="fit it with max_ctr_complexity=1, or with one_hot_max_size as large as the number of categories",
            )
        trees.append(made)
    return tuple(trees)


def _used(stored: StoredCatBoost) -> list[Split | None]:
    """The splits that some tree has, None for others."""
    used = {int(i) for tree in stored.trees for i in np.unique(tree.split)}
    return [split if i in used else None for i, split in enumerate(stored.splits)]


def _test_of(split: Split | None, hashes: Mapping[int, tuple[int, ...]], family: str) -> Test:
    match split:
        case NumberSplit(column, border, above):
            return _Plain(column, border, above)
        case CategorySplit(column, hashed):
            return _Plain(column, left=frozenset(hashes[column]) - {hashed})
        case StatisticSplit(statistic, border):
            return _statistic_test(statistic, border, hashes, family)
        case _:
            return _Plain(0)


def _statistic_test(
    statistic: Statistic, border: np.float32, hashes: Mapping[int, tuple[int, ...]], family: str
) -> Test:
    """Where a statistic is above a border, all over the values of its features."""
    axes: list[Axis] = []
    for part in (*statistic.columns, *statistic.parts):
        axis = part.column if isinstance(part, CategorySplit) else part
        if axis not in axes:
            axes.append(axis)
    values = tuple(hashes[axis] if isinstance(axis, int) else (0, 1) for axis in axes)
    shape = tuple(map(len, values))
    size = int(np.prod([float(n) for n in shape]))
    if size > MOST_TOGETHER:
        raise UnsupportedModel(
            f"{family} has a statistic of {len(shape)} features together, of which there are {size:,} combinations",
            hint=f"at most {MOST_TOGETHER:,} are told apart: fit it with a lower max_ctr_complexity",
        )
    holds = np.zeros(shape, dtype=bool)
    for place in np.ndindex(shape):
        seen = {axis: values[i][p] for i, (axis, p) in enumerate(zip(axes, place, strict=True))}
        hashed = 0
        for column in statistic.columns:
            hashed = combined_hash(hashed, signed(seen[column]))
        for part in statistic.parts:
            is_so = seen[part.column] == part.hash if isinstance(part, CategorySplit) else seen[part]
            hashed = combined_hash(hashed, int(is_so))
        holds[place] = statistic.value(hashed) > border
    if len(axes) == 1 and isinstance(axes[0], int):
        return _Plain(axes[0], left=frozenset(v for v, up in zip(values[0], holds, strict=True) if not up))
    return _Together(tuple(axes), values, holds)


def _convert_tree(tree: StoredTree, tests: list[Test], factor: Fraction) -> LibraryTree:
    """A tree whose tests are of one column each."""
    kept, second = order_depth_first(tree.left, tree.right)
    places = tree.split[kept].tolist()
    plain = [tests[i] if i >= 0 else None for i in places]
    found = [one if isinstance(one, _Plain) else None for one in plain]
    return LibraryTree(
        column=np.array([LEAF if one is None else one.column for one in found], dtype=np.int32),
        threshold=np.array([0.0 if one is None else one.border for one in found]),
        missing_left=np.array([one is not None and not one.missing_above for one in found], dtype=bool),
        right=second,
        values=tree.values[kept],
        categories={i: one.left for i, one in enumerate(found) if one is not None and one.left is not None},
        factor=factor,
    )


class _Growing:
    """A tree with tests of several features, grown anew: `box` has the hashes that are left of columns of categories, and what tests of numbers have come to."""

    def __init__(
        self, tree: StoredTree, tests: list[Test], hashes: Mapping[int, tuple[int, ...]], factor: Fraction
    ) -> None:
        self.tree, self.tests, self.hashes, self.factor = tree, tests, hashes, factor
        self.column: list[int] = []
        self.threshold: list[float] = []
        self.missing_left: list[bool] = []
        self.right: list[int] = []
        self.values: list[Floats] = []
        self.categories: dict[int, frozenset[int]] = {}

    def grow(self) -> LibraryTree:
        """Depth first, left before right."""
        stack: list[tuple[int, dict[Axis, Any], int]] = [(0, {}, LEAF)]
        while stack:
            node, box, parent = stack.pop()
            if parent != LEAF:
                self.right[parent] = len(self.column)
            made = self._next(node, box)
            if isinstance(made, int):
                self._add(LEAF, self.tree.values[made])
                continue
            axis, (left, right) = made
            place = len(self.column)
            if isinstance(axis, int):
                self._add(axis, np.zeros_like(self.tree.values[0]))
                self.categories[place] = left[1][axis]
            else:
                self._add(
                    axis.column, np.zeros_like(self.tree.values[0]), axis.border, not axis.missing_above
                )
            stack += ((*right, place), (*left, LEAF))
        return LibraryTree(
            column=np.array(self.column, dtype=np.int32),
            threshold=np.array(self.threshold),
            missing_left=np.array(self.missing_left, dtype=bool),
            right=np.array(self.right, dtype=np.int32),
            values=np.array(self.values),
            categories=self.categories,
            factor=self.factor,
        )

    def _add(self, column: int, values: Floats, threshold: float = 0.0, missing_left: bool = False) -> None:
        self.column.append(column)
        self.threshold.append(threshold)
        self.missing_left.append(missing_left)
        self.right.append(LEAF)
        self.values.append(values)

    def _next(self, node: int, box: dict[Axis, Any]) -> Found:
        """The leaf that a box comes to, or what has to be told apart next, with where both parts go on."""
        while self.tree.left[node] >= 0:
            test = self.tests[int(self.tree.split[node])]
            ways = int(self.tree.left[node]), int(self.tree.right[node])
            if isinstance(test, _Together):
                found = self._tell_apart(test, node, ways, box)
            else:
                found = self._ask(test, ways, box)
            if not isinstance(found, int):
                return found
            node = found
        return node

    def _ask(self, test: _Plain, ways: tuple[int, int], box: dict[Axis, Any]) -> Found:
        if test.left is None:
            axis = NumberSplit(test.column, test.border, test.missing_above)
            if axis in box:
                return ways[box[axis]]
            return axis, ((ways[0], {**box, axis: 0}), (ways[1], {**box, axis: 1}))
        inside = box.get(test.column, frozenset(self.hashes[test.column]))
        parts = inside & test.left, inside - test.left
        if not parts[0] or not parts[1]:
            return ways[not parts[0]]
        first, second = ({**box, test.column: part} for part in parts)
        return test.column, ((ways[0], first), (ways[1], second))

    def _tell_apart(self, test: _Together, node: int, ways: tuple[int, int], box: dict[Axis, Any]) -> Found:
        """The way that a box goes; or the first axis that makes a difference in it, cut into two halves of the groups of its values that are alike."""
        held = [
            [i for i, value in enumerate(values) if self._inside(axis, value, box)]
            for axis, values in zip(test.axes, test.values, strict=True)
        ]
        left = test.holds[np.ix_(*held)]
        if left.all() or not left.any():
            return ways[bool(left.all())]
        for i, axis in enumerate(test.axes):
            rows = np.moveaxis(left, i, 0).reshape(len(held[i]), -1)
            _, groups = np.unique(rows, axis=0, return_inverse=True)
            groups = groups.ravel()
            if groups.max() == 0:
                continue
            if not isinstance(axis, int):
                return axis, ((node, {**box, axis: 0}), (node, {**box, axis: 1}))
            half = frozenset(
                test.values[i][p]
                for p, g in zip(held[i], groups.tolist(), strict=True)
                if g <= groups.max() // 2
            )
            rest = frozenset(test.values[i][p] for p in held[i]) - half
            return axis, ((node, {**box, axis: half}), (node, {**box, axis: rest}))
        raise UnsupportedModel("a table of statistics has no axis that makes a difference")

    def _inside(self, axis: Axis, value: int, box: dict[Axis, Any]) -> bool:
        if axis not in box:
            return True
        return value in box[axis] if isinstance(axis, int) else bool(box[axis] == value)
