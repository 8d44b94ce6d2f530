"""Raw: trees over columns as trees over the raw features, deciding every individual of the space as the program does.

Every test of a column is a test of the one feature that the column depends on:

    a number     code <= raw limit, found in the program's own arithmetic (`limits`); the children change places where the column falls
    in steps     code <= the last number of the steps that go left, if those come first (or last: then the children change places)
    levels       the positions whose number goes left, all of them computed by the program
    missing      goes where the program sends what it makes of it

A test that all individuals of the space pass, or none, is left out with the branch that nobody comes to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import check_clock
from likewise.errors import InternalError, UnsupportedModel
from likewise.families.trees.body import LEAF, Tree, TreeSum
from likewise.importers.transformers.embedding import level_rows
from likewise.importers.trees.library_forest import BentTest, Forest, LibraryTree
from likewise.importers.trees.limits import raw_limits
from likewise.importers.trees.reached_columns import ReachedColumn, ReachedColumns, missing_code
from likewise.spec.features import Continuous, Integer

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class NumberTests:
    """Tests of numbers, one an entry: column, the column's limit, and what they are on the raw number."""

    limit: Floats  # of the column
    raw: Floats  # code <= raw goes first
    falls: Bools  # the first child is the right one
    first: Bools  # every number that is there goes to the first child
    second: Bools  # or to the second


@dataclass(frozen=True, slots=True)
class LevelTest:
    """A test of levels: the positions that go left, of how many."""

    left: frozenset[int]
    size: int


def tree_sum(forest: Forest, reaching: ReachedColumns, *, model: str) -> TreeSum:
    """The same scores as a function of codes of the space."""
    tests = [_inner_nodes(tree) for tree in forest.trees]
    columns = np.concatenate([tree.column[inner] for tree, inner in zip(forest.trees, tests, strict=True)])
    thresholds = np.concatenate(
        [tree.threshold[inner] for tree, inner in zip(forest.trees, tests, strict=True)]
    )
    width = len(reaching.columns)
    if len(columns) and not 0 <= columns.min() <= columns.max() < width:
        raise UnsupportedModel(
            f"{model} tests columns that it does not have: {width} come to it", hint="fit it again"
        )
    pairs, index = np.unique(np.stack([columns, thresholds]), axis=1, return_inverse=True)
    numbers = _number_tests(forest, reaching, pairs[0].astype(np.intp), pairs[1], model)
    splits: dict[tuple[object, ...], LevelTest] = {}
    trees, at = [], 0
    for tree, inner in zip(forest.trees, tests, strict=True):
        check_clock()
        places = index[at : at + len(inner)]
        trees.append(_raw_tree(tree, inner, places, forest, reaching, numbers, splits))
        at += len(inner)
    space = reaching.inputs.space
    codes = {k: missing_code(space, k) for k in range(len(space))}
    return TreeSum(
        bias=forest.bias,
        trees=tuple(trees),
        missing={k: Fraction(code) for k, code in codes.items() if code is not None},
    )


def _inner_nodes(tree: LibraryTree) -> NDArray[np.intp]:
    return np.flatnonzero(tree.column != LEAF)


# -- tests of numbers ------------------------------------------------------------------------------------


def _number_tests(
    forest: Forest, reaching: ReachedColumns, columns: NDArray[np.intp], thresholds: Floats, model: str
) -> NumberTests:
    """The distinct pairs of column and threshold; entries of levels have no meaning."""
    limit = forest.limits(thresholds)
    raw, falls = np.zeros(len(limit)), np.zeros(len(limit), dtype=bool)
    slopes = np.array([2 if one.slope is None else one.slope for one in reaching.columns])
    moving = np.flatnonzero(np.isin(slopes[columns], (-1, 1)))
    if len(moving):
        raw[moving] = raw_limits(reaching, columns[moving], limit[moving])
        falls[moving] = slopes[columns[moving]] < 0
    constant = _constant_columns(reaching)
    lo, hi = _number_ranges(reaching)
    for i in np.flatnonzero(~np.isin(slopes[columns], (-1, 1))).tolist():
        column = reaching.columns[columns[i]]
        if column.slope == 0:
            raw[i] = hi[column.feature] if constant[columns[i]] <= limit[i] else -np.inf
        elif column.table is None:
            raw[i], falls[i] = _step_test(column, float(limit[i]), reaching, model)
    features = np.array([one.feature for one in reaching.columns], dtype=np.intp)[columns]
    second = raw < lo[features]
    raw = np.where(second, _code_below(lo, reaching)[features], np.minimum(raw, hi[features]))
    return NumberTests(limit=limit, raw=raw, falls=falls, first=raw >= hi[features], second=second)


def _constant_columns(reaching: ReachedColumns) -> Floats:
    """What columns are that no number changes."""
    space = reaching.inputs.space
    made: Floats = reaching.matrix(level_rows(space, [1] * len(space), 0, 1))[0]
    return made


def _step_test(
    column: ReachedColumn, limit: float, reaching: ReachedColumns, model: str
) -> tuple[float, bool]:
    if column.values is None or column.last is None:
        raise InternalError("a column that is neither a line nor in steps")
    left = column.values <= limit
    changes = np.flatnonzero(left[1:] != left[:-1])
    if len(changes) > 1:
        name = reaching.inputs.space.names[column.feature]
        raise BentTest(
            f"{model} tests bins of {name!r} that lie between others, and it is continuous",
            hint="fit the trees on the number itself, which loses nothing, or encode bins as ordinal",
        )
    if len(changes) == 0:
        return (float(column.last[-1]) if left[0] else -np.inf), False
    return float(column.last[changes[0]]), not left[0]


def _number_ranges(reaching: ReachedColumns) -> tuple[Floats, Floats]:
    """The smallest and the largest number of each feature, 0 for levels."""
    ends = [
        (float(feature.lo), float(feature.hi)) if isinstance(feature, (Continuous, Integer)) else (0.0, 0.0)
        for feature in reaching.inputs.space.features.values()
    ]
    lo, hi = np.array(ends).T
    return lo, hi


def _code_below(lo: Floats, reaching: ReachedColumns) -> Floats:
    """A code below all of a feature."""
    whole = [isinstance(feature, Integer) for feature in reaching.inputs.space.features.values()]
    return np.where(whole, lo - 1, np.nextafter(lo, -np.inf))


# -- trees -----------------------------------------------------------------------------------------------


def _raw_tree(
    tree: LibraryTree,
    inner: NDArray[np.intp],
    places: NDArray[np.intp],
    forest: Forest,
    reaching: ReachedColumns,
    numbers: NumberTests,
    splits: dict[tuple[object, ...], LevelTest],
) -> Tree:
    """One tree over the features. `first` and `second` are the children of a node, in the order of the new tree."""
    n, nodes, tested = len(tree.column), inner, tree.column[inner]
    columns = reaching.columns
    feature = np.full(n, LEAF, dtype=np.int32)
    feature[nodes] = np.array([one.feature for one in columns], dtype=np.int32)[tested]
    threshold, falls = np.zeros(n), np.zeros(n, dtype=bool)
    threshold[nodes], falls[nodes] = numbers.raw[places], numbers.falls[places]
    missing = np.array([np.nan if one.missing is None else one.missing for one in columns])[tested]
    can_miss = np.array([one.missing is not None for one in columns])[tested]
    missing_left = np.where(np.isnan(missing), tree.missing_left[nodes], missing <= numbers.limit[places])
    missing_first = np.zeros(n, dtype=bool)
    missing_first[nodes] = (missing_left ^ numbers.falls[places]) & can_miss
    all_first, all_second = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    all_first[nodes] = numbers.first[places] & (~can_miss | missing_first[nodes])
    all_second[nodes] = numbers.second[places] & (~can_miss | ~missing_first[nodes])
    levels: dict[int, frozenset[int]] = {}
    limits = np.zeros(n)
    limits[nodes] = numbers.limit[places]
    of_levels = np.array([one.table is not None for one in columns])[tested]
    for node in nodes[of_levels].tolist():
        split = _level_test(tree, node, float(limits[node]), forest, columns, splits)
        levels[node] = split.left
        all_first[node], all_second[node] = len(split.left) == split.size, not split.left
    following = np.arange(1, n + 1, dtype=np.int32)
    first, second = np.where(falls, tree.right, following), np.where(falls, following, tree.right)
    kept, right = _reachable_nodes(feature, first, second, all_first, all_second)
    return Tree(
        feature=feature[kept],
        threshold=threshold[kept],
        levels={i: levels[node] for i, node in enumerate(kept.tolist()) if node in levels},
        missing_left=missing_first[kept],
        right=right,
        values=tree.values[kept],
        factor=tree.factor,
    )


def _reachable_nodes(
    feature: NDArray[np.int32],
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    all_first: Bools,
    all_second: Bools,
) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """The nodes that somebody comes to, depth first, without tests that decide nothing; and the right child of each."""
    if not (all_first.any() or all_second.any()) and (first == np.arange(1, len(first) + 1)).all():
        return np.arange(len(feature)), np.where(feature == LEAF, LEAF, second).astype(np.int32)
    firsts, seconds, leaf = first.tolist(), second.tolist(), (feature == LEAF).tolist()
    skipped = np.where(all_first, first, np.where(all_second, second, LEAF)).tolist()
    kept: list[int] = []
    right: list[int] = []
    stack = [(0, LEAF)]
    while stack:
        node, parent = stack.pop()
        while skipped[node] != LEAF:
            node = skipped[node]
        if parent != LEAF:
            right[parent] = len(kept)
        if not leaf[node]:
            stack += ((seconds[node], len(kept)), (firsts[node], LEAF))
        kept.append(node)
        right.append(LEAF)
    return np.array(kept, dtype=np.intp), np.array(right, dtype=np.int32)


def _level_test(
    tree: LibraryTree,
    node: int,
    limit: float,
    forest: Forest,
    columns: Sequence[ReachedColumn],
    splits: dict[tuple[object, ...], LevelTest],
) -> LevelTest:
    """Which levels go left; the same test is asked for once."""
    c, missing_left = int(tree.column[node]), bool(tree.missing_left[node])
    among = tree.categories.get(node)
    key = (c, limit if among is None else among, among is not None, missing_left)
    if key not in splits:
        table = columns[c].table
        if table is None:
            raise InternalError("levels without a table")
        if among is not None:
            goes = [forest.category_goes_left(c, v, among, missing_left=missing_left) for v in table.tolist()]
        else:
            goes = np.where(np.isnan(table), missing_left, table <= limit).tolist()
        splits[key] = LevelTest(frozenset(i for i, left in enumerate(goes) if left), len(table))
    return splits[key]
