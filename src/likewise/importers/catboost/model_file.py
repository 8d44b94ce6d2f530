"""A saved CatBoost model, read without CatBoost: its JSON to what it says, checked, and no more than that.

Trees are *splits*, numbered through all of them: first those of numbers (a feature and a border), then those
of categories (a feature and a hash), then those of
*statistics* (a number that stands for a category, or for several features together, and a border). A
symmetric tree has one split a level, the first one telling the lowest bit of the
number of the leaf; others are nested.

Statistics are counted by the hash of what was seen together (`category_hash`), and calculated in float32:

    Borders, Buckets          how often the target was above a border, or in a class, of how often at all
    Counter, FeatureFreq      how often that was seen, of the most often
    ...MeanValue              the sum of targets, of how many

    value = ((count + prior_numerator) / (total + prior_denominator) + shift) * scale

The file is not trusted: every number that is used is looked at, trees must be trees, and what is not
understood is refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.catboost.json_grammar import Written, parse_model
from likewise.importers.saved_boosters import (
    FEWER_TREES,
    LARGEST_INT,
    MOST_NODES,
    MOST_TREES,
    read_json,
    read_whole,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

DEEPEST = 32
NOBODY = (1 << 64) - 1  # the hash of a place of a table that nobody has
MEANS = ("BinarizedTargetMeanValue", "FloatTargetMeanValue")
COUNTERS = ("Counter", "FeatureFreq")
CLASSES = ("Borders", "Buckets")
LABELS = {"Integer": (int,), "Float": (int, Written), "Boolean": (bool,), "String": (str,)}
_ELEMENTS = ("cat_feature_value", "float_feature", "cat_feature_exact_value")


@dataclass(frozen=True, slots=True)
class NumberSplit:
    """Whether a number, as float32, is above a border; a missing one is where its feature says so
    (`missing_above`)."""

    column: int
    border: float
    missing_above: bool


@dataclass(frozen=True, slots=True)
class CategorySplit:
    """Whether a category has this hash."""

    column: int
    hash: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Statistic:
    """A number for all that is seen together: the categories of `columns`, and whether splits of numbers and
    categories hold, in this order."""

    columns: tuple[int, ...]
    parts: tuple[NumberSplit | CategorySplit, ...]
    table: Mapping[int, np.float32]  # by hash
    other: np.float32  # of what was never seen

    def value(self, hashed: int) -> np.float32:
        """What stands for a hash."""
        return self.table.get(hashed, self.other)


@dataclass(frozen=True, slots=True, eq=False)
class StatisticSplit:
    """Whether a statistic is above a border."""

    statistic: Statistic
    border: np.float32


Split = NumberSplit | CategorySplit | StatisticSplit


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """Nodes and leaves in one array, from the root on; a leaf has no children (-1). Where the split holds it
    goes right."""

    left: Ints
    right: Ints
    split: Ints
    values: Floats  # (nodes, scores)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredCatBoost:
    """`names` of all columns, None where there are none; `categories` are the columns of categories; scores
    are scale * sum of leaves + bias."""

    loss: str
    labels: tuple[Any, ...] | None
    threshold: float
    names: tuple[str, ...] | None
    n_columns: int
    categories: tuple[int, ...]
    splits: tuple[Split, ...]
    trees: tuple[StoredTree, ...]
    scale: float
    bias: tuple[float, ...]

    @property
    def n_scores(self) -> int:
        return len(self.bias)


def is_catboost(content: bytes) -> bool:
    """Whether a JSON file is one of CatBoost's, and not of XGBoost."""
    try:
        model = json.loads(content)
    except (ValueError, RecursionError):
        return False
    return isinstance(model, dict) and "features_info" in model and "model_info" in model


def read_catboost(content: bytes) -> StoredCatBoost:
    """The model in the bytes of a JSON file. Raises UnsupportedModel."""
    return read_model(parse_catboost(content))


def parse_catboost(content: bytes) -> dict[str, Any]:
    """What a JSON file says of a model. Raises UnsupportedModel."""
    with _damage_refused():
        features = json.loads(content)["features_info"]
        for kind in ("text", "embedding"):
            if features.get(f"{kind}_features"):
                raise UnsupportedModel(
                    f"it takes {kind} features, which are not single values",
                    hint=f"fit it without {kind}_features",
                )
        return parse_model(content)


def read_model(model: Mapping[str, Any]) -> StoredCatBoost:
    """The model in what a file says. Raises UnsupportedModel."""
    with _damage_refused():
        return _read_model(model)


@contextmanager
def _damage_refused() -> Iterator[None]:
    try:
        yield
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        what = f"has no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise UnsupportedModel(
            f"is no CatBoost model, or damaged: {' '.join(what.split())[:200]}",
            hint="save it again with model.save_model('model.json', format='json')",
        ) from error


def _read_model(model: Mapping[str, Any]) -> StoredCatBoost:
    features = model["features_info"]
    numbers, categories = features.get("float_features", ()), features.get("categorical_features", ())
    places = [one["flat_feature_index"] for one in (*numbers, *categories)]
    if sorted(places) != list(range(len(places))):
        raise ValueError("its features are not numbered one by one")
    scale, bias = model["scale_and_bias"]
    splits = _read_splits(features, model.get("ctr_data", {}))
    trees = _read_trees(model, len(bias), len(splits))
    info = model["model_info"]
    return StoredCatBoost(
        loss=info["params"]["loss_function"]["type"],
        labels=_read_labels(info.get("class_params")),
        threshold=float(info.get("binclass_probability_threshold", 0.5)),
        names=_read_names([*numbers, *categories]),
        n_columns=len(places),
        categories=tuple(one["flat_feature_index"] for one in categories),
        splits=splits,
        trees=trees,
        scale=float(scale),
        bias=tuple(map(float, bias)),
    )


def _read_names(features: Sequence[Mapping[str, Any]]) -> tuple[str, ...] | None:
    named = {one["flat_feature_index"]: one["feature_id"] for one in features}
    names = tuple(named[place] for place in sorted(named))
    made_up = all(name in ("", str(place)) for place, name in enumerate(names))
    return None if made_up else names


def _read_labels(params: Mapping[str, Any] | None) -> tuple[Any, ...] | None:
    if not params or not params.get("class_names"):
        return None
    names, kind = params["class_names"], params["class_label_type"]
    if params["class_to_label"] != list(range(len(names))):
        raise UnsupportedModel("its classes are in another order than their labels")
    if not all(type(name) in LABELS[kind] for name in names) or len(set(names)) < len(names):
        raise ValueError(f"its labels are not of the type {kind}, or there twice")
    return tuple(map(float, names)) if kind == "Float" else tuple(names)


# -- splits -----------------------------------------------------------------------------------------------


class _Features:
    """The features by their numbers among those of their kind, and the splits of them."""

    def __init__(self, info: Mapping[str, Any]) -> None:
        self.numbers, self.categories = info.get("float_features", ()), info.get("categorical_features", ())
        for one in (*self.numbers, *self.categories, *info.get("ctrs", ())):
            borders = one.get("borders", [])
            if any(first >= second for first, second in pairwise(borders)):
                raise ValueError("the borders of a feature do not rise")
            if len(set(one.get("values", ()))) < len(one.get("values", ())):
                raise ValueError("a feature has a category twice")
        for features in (self.numbers, self.categories):
            if [one["feature_index"] for one in features] != list(range(len(features))):
                raise ValueError("its features are not numbered one by one")

    def number_split(self, index: int, border: float) -> NumberSplit:
        one = self.numbers[index]
        treatment = one["nan_value_treatment"]
        if treatment not in ("AsIs", "AsFalse", "AsTrue") or (treatment != "AsIs" and not one["has_nans"]):
            raise ValueError(f"missing values are treated as {treatment!r}")
        if border not in one["borders"]:
            raise ValueError("a number is compared with a border that its feature does not have")
        return NumberSplit(one["flat_feature_index"], border, treatment == "AsTrue")

    def category_split(self, index: int, value: int) -> CategorySplit:
        one = self.categories[index]
        if value not in one["values"]:
            raise ValueError("a category is compared with a value that its feature does not have")
        return CategorySplit(one["flat_feature_index"], value & 0xFFFFFFFF)

    def statistic(self, given: Mapping[str, Any], tables: Mapping[str, Any]) -> Statistic:
        columns: list[int] = []
        parts: list[NumberSplit | CategorySplit] = []
        order = [_ELEMENTS.index(one["combination_element"]) for one in given["elements"]]
        if order != sorted(order):
            raise ValueError("the features of a statistic are in another order than CatBoost takes them in")
        for one in given["elements"]:
            match one["combination_element"]:
                case "cat_feature_value":
                    columns.append(self.categories[one["cat_feature_index"]]["flat_feature_index"])
                case "float_feature":
                    parts.append(self.number_split(one["float_feature_index"], one["border"]))
                case _:
                    parts.append(self.category_split(one["cat_feature_index"], one["value"]))
        # CatBoost finds the table by the features themselves, whatever the identifier says.
        told = read_json(given["identifier"])
        if told != {"identifier": given["elements"], "type": given["ctr_type"]}:
            raise ValueError("a statistic has the identifier of another one")
        table, unseen = _read_table(given, tables[given["identifier"]])
        return Statistic(columns=tuple(columns), parts=tuple(parts), table=table, other=unseen)


def _read_splits(info: Mapping[str, Any], tables: Mapping[str, Any]) -> tuple[Split, ...]:
    """All splits, in the order that trees number them in."""
    features = _Features(info)
    found: list[Split] = []
    for index, one in enumerate(features.numbers):
        found += (features.number_split(index, border) for border in one.get("borders", ()))
    for index, one in enumerate(features.categories):
        found += (features.category_split(index, value) for value in one.get("values", ()))
    statistics = info.get("ctrs", ())
    if {one["identifier"] for one in statistics} != set(tables):
        raise ValueError("it has statistics without a table, or tables without a statistic")
    for one in statistics:
        made = features.statistic(one, tables)
        found += (StatisticSplit(made, np.float32(border)) for border in one["borders"])
    return tuple(found)


def _read_table(
    given: Mapping[str, Any], stored: Mapping[str, Any]
) -> tuple[dict[int, np.float32], np.float32]:
    """The value of each hash, and that of all others."""
    kind, stride, entries = given["ctr_type"], stored["hash_stride"], stored["hash_map"]
    if kind not in (*MEANS, *COUNTERS, *CLASSES):
        raise UnsupportedModel(f"it has statistics of the kind {kind!r}", hint="fit it with CatBoost's own")
    least = {"Buckets": 2, **dict.fromkeys(MEANS, 3), **dict.fromkeys(COUNTERS, 2)}.get(kind, 3)
    border, total = given["target_border_idx"], stored["counter_denominator"]
    if stride < least or len(entries) % stride or (kind in CLASSES and border > stride - least):
        raise ValueError("a table of statistics is cut off")
    if kind in (*MEANS, *COUNTERS) and (stride != least or border):
        raise ValueError("a table of statistics has more columns than it needs")
    prior, weight, shift, scale = (
        np.float32(given[name]) for name in ("prior_numerator", "prior_denomerator", "shift", "scale")
    )

    def value(count: float, of: float) -> np.float32:
        with np.errstate(all="ignore"):
            return np.float32(((np.float32(count) + prior) / (np.float32(of) + weight) + shift) * scale)

    table = {}
    for at in range(0, len(entries), stride):
        hashed, *counts = entries[at : at + stride]
        place = read_whole(hashed, 0, NOBODY)
        sums = kind in MEANS  # of targets
        if not all(type(one) is int and one >= 0 for one in counts[sums:]) or sum(counts) > LARGEST_INT:
            raise ValueError("a table of statistics has other things than counts")
        if place == NOBODY:
            continue
        if place in table:
            raise ValueError("a table of statistics has a hash twice")
        if kind in MEANS:
            made = value(counts[0], counts[1])
        elif kind in COUNTERS:
            made = value(counts[0], total)
        elif kind == "Buckets":
            made = value(counts[border], sum(counts))
        else:
            made = value(sum(counts[border + 1 :]), sum(counts))
        table[place] = made
    return table, value(0, total if kind in COUNTERS else 0)


# -- trees ------------------------------------------------------------------------------------------------


def _read_trees(model: Mapping[str, Any], n_scores: int, n_splits: int) -> tuple[StoredTree, ...]:
    symmetric = "oblivious_trees" in model
    given = model["oblivious_trees"] if symmetric else model["trees"]
    if not given:
        raise UnsupportedModel("it has no trees", hint="fit it with iterations of 1 or more")
    if len(given) > MOST_TREES:
        raise UnsupportedModel(
            f"it has {len(given):,} trees; at most {MOST_TREES:,} are supported", hint=FEWER_TREES
        )
    trees, nodes = [], 0
    for one in given:
        tree = _read_symmetric(one, n_scores) if symmetric else _read_nested(one, n_scores)
        inner = tree.left >= 0
        if ((tree.split[inner] < 0) | (tree.split[inner] >= n_splits)).any():
            raise ValueError("a tree has a split that the model does not have")
        if not np.isfinite(tree.values).all():
            raise UnsupportedModel("a leaf of a tree has no finite value", hint="its training diverged")
        nodes += len(tree.left)
        if nodes > MOST_NODES:
            raise UnsupportedModel(f"its trees have more than {MOST_NODES:,} nodes", hint=FEWER_TREES)
        trees.append(tree)
    return tuple(trees)


def _read_symmetric(given: Mapping[str, Any], n_scores: int) -> StoredTree:
    splits = np.array([one["split_index"] for one in given.get("splits", ())], dtype=np.int64)
    if len(splits) > DEEPEST // 2:
        raise ValueError(f"a tree has {len(splits)} levels")
    values = np.array(given["leaf_values"], dtype=np.float64)
    if values.shape != (n_scores << len(splits),):
        raise ValueError(f"a tree has {values.size} values of leaves for {len(splits)} levels")
    left, right, level, leaf = _complete_tree(len(splits))
    return StoredTree(
        left=left,
        right=right,
        split=np.append(splits, -1)[level],
        values=values.reshape(-1, n_scores)[leaf] * (left < 0)[:, None],
    )


@cache
def _complete_tree(depth: int) -> tuple[Ints, Ints, Ints, Ints]:
    """Children, level and leaf of the nodes of a tree with all leaves, depth first; the first level tells
    the lowest bit of the leaf."""
    size = (2 << depth) - 1
    left, right = np.full(size, -1, dtype=np.int64), np.full(size, -1, dtype=np.int64)
    level, leaf = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    for node in range(size):
        if level[node] < depth:
            below = (1 << depth - int(level[node])) - 1
            left[node], right[node] = node + 1, node + 1 + below
            level[[node + 1, node + 1 + below]] = level[node] + 1
            leaf[node + 1], leaf[node + 1 + below] = leaf[node], leaf[node] | 1 << int(level[node])
    return left, right, level, leaf


def _read_nested(root: Any, n_scores: int) -> StoredTree:
    left: list[int] = []
    right: list[int] = []
    split: list[int] = []
    values: list[Floats] = []
    stack: list[tuple[Any, int, bool]] = [(root, -1, False)]
    while stack:
        given, parent, is_right = stack.pop()
        place = len(left)
        if parent >= 0:
            (right if is_right else left)[parent] = place
        left.append(-1)
        right.append(-1)
        inner = "value" not in given
        split.append(given["split"]["split_index"] if inner else -1)
        value = np.zeros(n_scores) if inner else np.atleast_1d(np.array(given["value"], dtype=np.float64))
        if value.shape != (n_scores,):
            raise ValueError(f"a leaf has {value.size} values for {n_scores} scores")
        values.append(value)
        if inner:
            stack += ((given["right"], place, True), (given["left"], place, False))
        if len(left) > MOST_NODES:
            raise UnsupportedModel(f"its trees have more than {MOST_NODES:,} nodes", hint=FEWER_TREES)
    return StoredTree(
        left=np.array(left), right=np.array(right), split=np.array(split), values=np.array(values)
    )
