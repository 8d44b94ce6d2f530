"""A saved XGBoost model, read without XGBoost: JSON or UBJ to what the file says, checked, and no more than that.

The file is not trusted: every number that is used is looked at, trees must be trees, and what is not understood is refused by name.
Its numbers are float32, in JSON as decimals, which XGBoost rounds to float32 at once: so does `nearest_float32`, where Python's own way
over float64 would round twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.saved_boosters import FEWER_TREES, MOST_NODES, MOST_TREES
from likewise.importers.xgboost.category_names import CutNames
from likewise.importers.xgboost.ubj import parse_ubj

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CATEGORIES = 1 << 24  # codes from here on are invalid to XGBoost


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """The arrays of the file. Node i is a leaf where left is -1, with the value `condition`. A number goes left where it is below
    `condition`; a category goes right where it is among `chosen`."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    column: NDArray[np.int64]
    condition: NDArray[np.float32]
    default_left: NDArray[np.bool_]
    chosen: Mapping[int, frozenset[int]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredXGBoost:
    """`trees` add to the score `groups`; `levels` are the categories of a column in the order of their codes, where the file has
    them, and `cut` what it has of their names where it may have cut these off; `estimator` is what kind of scikit-learn estimator wrote the file, if one did."""

    version: tuple[int, ...]
    objective: str
    base_score: tuple[np.float32, ...]
    n_columns: int
    names: tuple[str, ...] | None
    types: tuple[str, ...] | None
    levels: Mapping[int, tuple[Any, ...]]
    cut: Mapping[int, CutNames]
    trees: tuple[StoredTree, ...]
    groups: tuple[int, ...]
    trees_a_round: int
    n_scores: int
    best_iteration: int | None
    estimator: str | None

    def first_rounds(self, rounds: int) -> tuple[tuple[StoredTree, ...], tuple[int, ...]]:
        count = rounds * self.trees_a_round
        return self.trees[:count], self.groups[:count]


def read_xgboost(content: bytes) -> StoredXGBoost:
    """The model in the bytes of a ``.json`` or ``.ubj`` file, or of a booster that is saved with its settings beside it. Raises UnsupportedModel."""
    try:
        file = _parse_content(content)
        return _read_model(file.get("Model", file))
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        what = f"has no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise UnsupportedModel(
            f"is no XGBoost model, or damaged: {' '.join(what.split())[:200]}",
            hint="save it again with model.save_model('model.json') or 'model.ubj'",
        ) from error


def _parse_content(content: bytes) -> Any:
    # Both begin with a brace; a key of UBJ begins with the marker of a length, one of JSON with a quotation mark.
    if content[1:2] in (b"i", b"U", b"I", b"l", b"L", b"$", b"#"):
        return parse_ubj(content)
    return json.loads(content.decode("utf-8"), parse_float=nearest_float32)


def nearest_float32(decimal: str) -> float:
    """The float32 nearest to a decimal, rounded once."""
    wide = float(decimal)
    with np.errstate(over="ignore"):
        single = float(np.float32(wide))
    if single == wide or not np.isfinite(single):
        return single
    other = float(np.nextafter(np.float32(single), np.float32(np.copysign(np.inf, wide - single))))
    if wide - single != other - wide:
        return single
    exact, middle = Fraction(decimal), Fraction(wide)
    if exact == middle:
        return single
    return max(single, other) if exact > middle else min(single, other)


def _read_model(file: Any) -> StoredXGBoost:
    learner = file["learner"]
    booster = learner["gradient_booster"]
    if booster["name"] != "gbtree":
        raise UnsupportedModel(
            f"its booster is {str(booster['name'])[:20]!r}, and only 'gbtree' is supported",
            hint="fit it with booster='gbtree'",
        )
    given, model = learner["learner_model_param"], booster["model"]
    if int(given.get("num_target", 1)) > 1:
        raise UnsupportedModel("it predicts several targets", hint="fit one model a target")
    n_columns, n_scores = int(given["num_feature"]), max(1, int(given["num_class"]))
    trees, groups = _read_trees(model, n_columns, n_scores)
    a_round = n_scores * max(1, int(model["gbtree_model_param"].get("num_parallel_tree", 1)))
    if not trees:
        raise UnsupportedModel(
            "it has no trees, as it was trained for 0 rounds", hint="fit it with n_estimators of 1 or more"
        )
    if len(trees) % a_round:
        raise ValueError(f"{len(trees)} trees for {a_round} a round")
    attributes, (levels, cut) = learner.get("attributes", {}), _read_levels(model.get("cats", {}))
    best = attributes.get("best_iteration")
    return StoredXGBoost(
        version=tuple(int(part) for part in file.get("version", ())),
        objective=str(learner["objective"]["name"]),
        base_score=_read_base_score(str(given["base_score"]), n_scores),
        n_columns=n_columns,
        names=_read_texts(learner.get("feature_names"), n_columns),
        types=_read_texts(learner.get("feature_types"), n_columns),
        levels=levels,
        cut=cut,
        trees=trees,
        groups=groups,
        trees_a_round=a_round,
        n_scores=n_scores,
        best_iteration=None if best is None else int(best),
        estimator=_estimator_kind(attributes),
    )


def _estimator_kind(attributes: Mapping[str, Any]) -> str | None:
    if "scikit_learn" not in attributes:
        return None
    return str(json.loads(attributes["scikit_learn"]).get("_estimator_type"))


def _read_texts(given: Any, count: int) -> tuple[str, ...] | None:
    if given is None or not len(given):
        return None
    if len(given) != count or not all(isinstance(one, str) for one in given):
        raise ValueError(f"{len(given)} names for {count} columns")
    return tuple(given)


def _read_base_score(text: str, n_scores: int) -> tuple[np.float32, ...]:
    """A number, or from version 3.1 on a list of one or of one a class."""
    parts = text.strip().removeprefix("[").removesuffix("]").split(",")
    numbers = [np.float32(nearest_float32(part)) for part in parts]
    if len(numbers) not in (1, n_scores) or not np.isfinite(numbers).all():
        raise ValueError(f"base_score is {text[:60]!r} for {n_scores} scores")
    return tuple(numbers * n_scores if len(numbers) == 1 else numbers)


def _read_levels(cats: Mapping[str, Any]) -> tuple[dict[int, tuple[Any, ...]], dict[int, CutNames]]:
    """The categories of each column that has any: text as one array of bytes with its ends, or numbers; and the text that may be cut off."""
    found, cut = {}, {}
    for column, one in enumerate(cats.get("enc", ())):
        if "offsets" in one:
            letters = np.asarray(one["values"]).astype(np.int8).tobytes()
            ends = tuple(int(end) for end in one["offsets"])
            if not letters.isascii():
                cut[column] = CutNames(letters=letters, ends=ends)
                continue
            values: tuple[Any, ...] = tuple(
                letters[start:end].decode("ascii") for start, end in pairwise(ends)
            )
        else:
            values = tuple(np.asarray(one["values"]).tolist())
        if len(set(values)) < len(values):
            raise ValueError(f"column {column} has a category twice")
        if values:
            found[column] = values
    return found, cut


# -- trees ------------------------------------------------------------------------------------------------


def _read_trees(model: Any, n_columns: int, n_scores: int) -> tuple[tuple[StoredTree, ...], tuple[int, ...]]:
    if len(model["trees"]) > MOST_TREES:
        raise UnsupportedModel(
            f"it has {len(model['trees']):,} trees; at most {MOST_TREES:,} are supported", hint=FEWER_TREES
        )
    trees = tuple(_read_tree(one, n_columns) for one in model["trees"])
    if sum(len(tree.left) for tree in trees) > MOST_NODES:
        raise UnsupportedModel(f"its trees have more than {MOST_NODES:,} nodes", hint=FEWER_TREES)
    groups = tuple(int(group) for group in model["tree_info"])
    if len(groups) != len(trees) or not all(0 <= group < n_scores for group in groups):
        raise ValueError("tree_info does not say which score each tree adds to")
    return trees, groups


def _read_tree(one: Any, n_columns: int) -> StoredTree:
    if int(one["tree_param"].get("size_leaf_vector", 0)) > 1:
        raise UnsupportedModel(
            "its leaves have several values (multi_strategy='multi_output_tree')",
            hint="fit it with multi_strategy='one_output_per_tree'",
        )
    count = len(one["left_children"])
    tree = StoredTree(
        left=_read_array(one, "left_children", count, np.int64),
        right=_read_array(one, "right_children", count, np.int64),
        column=_read_array(one, "split_indices", count, np.int64),
        condition=_read_array(one, "split_conditions", count, np.float32),
        default_left=_read_array(one, "default_left", count, np.bool_),
        chosen=_read_right_categories(one),
    )
    kinds = (
        _read_array(one, "split_type", count, np.int64) if "split_type" in one else np.zeros(count, np.int64)
    )
    _check_tree(tree, kinds, n_columns)
    return tree


def _read_array(one: Any, name: str, count: int, dtype: Any) -> Any:
    values = np.asarray(one[name])
    if values.shape != (count,) or values.dtype.kind not in "biuf":
        raise ValueError(f"{name} is not {count} numbers")
    if values.dtype.kind == "f" and dtype is not np.float32:
        raise ValueError(f"{name} holds fractions")
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def _read_right_categories(one: Any) -> dict[int, frozenset[int]]:
    nodes = [int(node) for node in one.get("categories_nodes", ())]
    codes = np.asarray(one.get("categories", ()))
    found = {}
    for node, start, size in (
        zip(nodes, one["categories_segments"], one["categories_sizes"], strict=True) if nodes else ()
    ):
        if not 0 <= int(start) <= int(start) + int(size) <= len(codes):
            raise ValueError("categories_segments point past the categories")
        found[node] = frozenset(int(code) for code in codes[int(start) : int(start) + int(size)])
        if not all(0 <= code < MOST_CATEGORIES for code in found[node]):
            raise ValueError("a category has an invalid code")
    return found


def _check_tree(tree: StoredTree, kinds: NDArray[np.int64], n_columns: int) -> None:
    """That the nodes below the root form a tree, with finite numbers. Nodes that pruning has cut off are not looked at."""
    left, right, seen, ahead = tree.left.tolist(), tree.right.tolist(), bytearray(len(tree.left)), [0]
    while ahead:
        node = ahead.pop()
        if not 0 <= node < len(left) or seen[node]:
            raise ValueError("the nodes of a tree form no tree")
        seen[node] = 1
        if not np.isfinite(tree.condition[node]):
            raise UnsupportedModel(f"a node of a tree has the number {tree.condition[node]}")
        if left[node] == -1:
            continue
        if not 0 <= tree.column[node] < n_columns or (kinds[node] == 1) != (node in tree.chosen):
            raise ValueError("a node of a tree tests no column of the model")
        ahead += [left[node], right[node]]
