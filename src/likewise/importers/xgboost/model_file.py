"""A saved XGBoost model, read without XGBoost from JSON or UBJ, and checked.

The file is not trusted: every number that is used is checked, and unknown content is refused by name.
XGBoost rounds decimals to float32 at once, as `nearest_float32` does; Python would round twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.saved_boosters import (
    FEWER_TREES,
    MOST_NODES,
    MOST_TREES,
    check_keys,
    nearest_float32,
    read_decimal,
    read_json,
    read_whole,
    shortest_decimals,
)
from likewise.importers.xgboost.category_names import CutNames
from likewise.importers.xgboost.ubj import parse_ubj

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_CATEGORIES = 1 << 24  # codes from here on are invalid to XGBoost
ROOTS_PARENT = (1 << 31) - 1

NAMING = ("feature_names", "feature_types")
LEARNER = ("attributes", "gradient_booster", "learner_model_param", "objective", *NAMING)
LEARNER_PARAM = ("base_score", "boost_from_average", "num_class", "num_feature", "num_target")
MODEL = ("cats", "gbtree_model_param", "iteration_indptr", "tree_info", "trees")
MODEL_PARAM = ("num_parallel_tree", "num_trees", "size_leaf_vector")
TREE_PARAM = ("num_deleted", "num_feature", "num_nodes", "size_leaf_vector")
CATEGORIES = ("categories", "categories_nodes", "categories_segments", "categories_sizes", "split_type")
# Settings of training, without which XGBoost does not load a model. They change no prediction.
OBJECTIVE_SETTINGS: Mapping[str, Mapping[str, Mapping[str, str]]] = {
    "count:poisson": {"poisson_regression_param": {"max_delta_step": "0.7"}},
    "reg:pseudohubererror": {"pseudo_huber_param": {"huber_slope": "1"}},
    "reg:quantileerror": {"quantile_loss_param": {"quantile_alpha": "[5E-1]"}},
    "reg:tweedie": {"tweedie_regression_param": {"tweedie_variance_power": "1.5"}},
}
STATISTICS = ("base_weights", "loss_changes", "sum_hessian")
INNER = ("default_left", "left_children", "parents", "right_children", "split_conditions", "split_indices")
# Escapes in text that XGBoost takes for themselves, or for what Python takes them for.
_STRANGE_ESCAPE = re.compile(r'(?<!\\)\\(?:\\\\)*[^"\\nrt]')


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """The arrays of the file. Node i is a leaf if left is -1. A number goes left if it is below
    `condition`; a category goes right where it is among `chosen`."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    column: NDArray[np.int64]
    condition: NDArray[np.float32]
    default_left: NDArray[np.bool_]
    chosen: Mapping[int, frozenset[int]]


@dataclass(frozen=True, slots=True)
class NumberedCodes:
    """Categories of a column that are numbers, or none; `kind` is XGBoost's number for their type."""

    kind: int
    values: tuple[Any, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredXGBoost:
    """`trees` add to the score `groups`; `encodings` is what the file has of the categories of all columns,
    `levels` are these in the order of their codes,
    and `cut` what it has of their names where it may have cut these off; `weights` multiply dart's trees, None for those that nothing
    multiplies; `estimator` is what kind of scikit-learn estimator wrote the file, if one did."""

    version: tuple[int, ...] = field(compare=False)
    objective: str
    base_score: tuple[np.float32, ...]
    n_columns: int
    names: tuple[str, ...] | None
    types: tuple[str, ...] | None
    encodings: tuple[CutNames | NumberedCodes, ...]
    levels: Mapping[int, tuple[Any, ...]]
    cut: Mapping[int, CutNames]
    trees: tuple[StoredTree, ...]
    groups: tuple[int, ...]
    weights: NDArray[np.float32] | None
    trees_a_round: int
    n_scores: int
    best_iteration: int | None
    estimator: str | None = field(compare=False)

    def first_rounds(self, rounds: int | None) -> StoredXGBoost:
        """The model of these rounds alone, or of all of them."""
        count = len(self.trees) if rounds is None else rounds * self.trees_a_round
        weights = None if self.weights is None else self.weights[:count]
        return replace(self, trees=self.trees[:count], groups=self.groups[:count], weights=weights)


def read_xgboost(content: bytes, *, pickled: bool = False) -> StoredXGBoost:
    """The model in the bytes of a ``.json`` or ``.ubj`` file, or in those of a `pickled` booster, which has
    its settings beside it. Raises UnsupportedModel."""
    try:
        file = _parse_content(content)
        if pickled:
            check_keys(file, ("Config", "Model"), ("Model",))
            file = file["Model"]
        return _read_model(file)
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        what = f"has no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise UnsupportedModel(
            f"is no XGBoost model, or damaged: {' '.join(what.split())[:200]}",
            hint="save it again with model.save_model('model.json') or 'model.ubj'",
        ) from error


def _parse_content(content: bytes) -> Any:
    # Both begin with a brace; a key of UBJ begins with the marker of a length, one of JSON with a quotation mark.
    if content[1:2] == b"L":
        return parse_ubj(content)
    text = content.decode("utf-8")
    if _STRANGE_ESCAPE.search(text):
        raise ValueError("a text in it has an escape that XGBoost does not write")
    return read_json(text, parse_float=nearest_float32)


def _read_model(file: Any) -> StoredXGBoost:
    check_keys(file, ("learner", "version"), ("version",))
    learner = file["learner"]
    check_keys(learner, LEARNER, ("attributes",))
    booster, dropped = learner["gradient_booster"], None
    if booster["name"] == "dart":
        check_keys(booster, ("gbtree", "name", "weight_drop"))
        booster, dropped = booster["gbtree"], booster["weight_drop"]
    if booster["name"] != "gbtree":
        raise UnsupportedModel(
            f"its booster is {str(booster['name'])[:20]!r}, and only 'gbtree' and 'dart' are supported",
            hint="fit it with booster='gbtree'",
        )
    given, model = learner["learner_model_param"], booster["model"]
    check_keys(booster, ("model", "name"))
    check_keys(given, LEARNER_PARAM)
    check_keys(model, MODEL)
    check_keys(model["gbtree_model_param"], MODEL_PARAM)
    if read_whole(given.get("num_target", "1")) > 1:
        raise UnsupportedModel("it predicts several targets", hint="fit one model a target")
    n_columns, n_scores = read_whole(given["num_feature"], 1), max(1, read_whole(given["num_class"]))
    a_round = n_scores * max(1, read_whole(model["gbtree_model_param"].get("num_parallel_tree", "1")))
    trees, groups = _read_trees(model, n_columns, n_scores, a_round)
    attributes, encodings = learner["attributes"], _read_encodings(model.get("cats"), n_columns)
    if not isinstance(attributes, dict) or not all(isinstance(one, str) for one in attributes.values()):
        raise ValueError("an attribute is not a text")
    best = attributes.get("best_iteration")
    return StoredXGBoost(
        version=_read_version(file["version"]),
        objective=_read_objective(learner["objective"], n_scores),
        base_score=_read_base_score(given["base_score"], n_scores),
        n_columns=n_columns,
        names=_read_texts(learner.get("feature_names"), n_columns),
        types=_read_texts(learner.get("feature_types"), n_columns),
        encodings=encodings,
        levels=_read_levels(encodings),
        cut={c: one for c, one in enumerate(encodings) if isinstance(one, CutNames) and one.is_cut},
        trees=trees,
        groups=groups,
        weights=None if dropped is None else _read_weights(dropped, len(trees)),
        trees_a_round=a_round,
        n_scores=n_scores,
        best_iteration=None if best is None else read_whole(best, 0, len(trees) // a_round - 1),
        estimator=_estimator_kind(attributes),
    )


def _read_version(given: Any) -> tuple[int, ...]:
    if len(given) != 3 or not all(isinstance(part, int) and part >= 0 for part in given):
        raise ValueError("its version is not three numbers")
    return tuple(given)


def _read_objective(given: Any, n_scores: int) -> str:
    """The name of the objective. Its settings are those of training, but for the number of classes."""
    settings = {name: value for name, value in given.items() if name != "name"}
    if len(settings) > 1 or not all(isinstance(one, dict) for one in settings.values()):
        raise ValueError("its objective has other settings than XGBoost writes")
    classes = settings.get("softmax_multiclass_param", {}).get("num_class")
    if classes is not None and read_whole(classes) != n_scores:
        raise ValueError(f"its objective has {classes} classes for {n_scores} scores")
    return str(given["name"])


def _estimator_kind(attributes: Mapping[str, str]) -> str | None:
    if "scikit_learn" not in attributes:
        return None
    return str(read_json(attributes["scikit_learn"]).get("_estimator_type"))


def _read_texts(given: Any, count: int) -> tuple[str, ...] | None:
    if given is None or not len(given):
        return None
    if len(given) != count or not all(isinstance(one, str) for one in given):
        raise ValueError(f"{len(given)} names for {count} columns")
    return tuple(given)


def _read_base_score(text: str, n_scores: int) -> tuple[np.float32, ...]:
    """A number, or from version 3.1 on a list of one or of one a class."""
    listed = text.startswith("[") and text.endswith("]")
    parts = text[1:-1].split(",") if listed else [text]
    read = [read_decimal(part) for part in parts]
    numbers = [np.float32(nearest_float32(part)) for part in parts]
    if len(numbers) not in (1, n_scores) or not np.isfinite(read).all() or not np.isfinite(numbers).all():
        raise ValueError(f"base_score is {text[:60]!r} for {n_scores} scores")
    return tuple(numbers * n_scores if len(numbers) == 1 else numbers)


def _read_encodings(cats: Any, n_columns: int) -> tuple[CutNames | NumberedCodes, ...]:
    """The categories of each column: text as one array of bytes with its ends, or numbers."""
    if cats is None:
        return ()
    check_keys(cats, ("enc", "feature_segments", "sorted_idx"))
    found = tuple(map(_read_encoding, cats["enc"]))
    order, segments = _sorted_places(found)
    if len(found) not in (0, n_columns) or (order, segments) != (
        *map(_whole_numbers, (cats["sorted_idx"], cats["feature_segments"])),
    ):
        raise ValueError("its categories are not sorted as XGBoost sorts them")
    return found


def _read_encoding(given: Any) -> CutNames | NumberedCodes:
    values = np.asarray(given["values"])
    if "offsets" not in given:
        check_keys(given, ("type", "values"))
        if not isinstance(given["type"], int) or values.dtype.kind not in "iuf" or values.ndim != 1:
            raise ValueError("the categories of a column are not numbers")
        return NumberedCodes(given["type"], tuple(values.tolist()))
    check_keys(given, ("offsets", "values"))
    ends, letters = _whole_numbers(given["offsets"]), _whole_numbers(values)
    if list(ends) != sorted(ends) or (ends or (0,))[0] != 0 or (ends or (0,))[-1] != len(letters):
        raise ValueError("the names of categories are not one after the other")
    return CutNames(letters=np.array(letters, dtype=np.int16).astype(np.int8).tobytes(), ends=ends)


def _sorted_places(
    encodings: tuple[CutNames | NumberedCodes, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The categories of each column in the order of their names or numbers, and where they end."""
    order: list[int] = []
    ends = [0] if encodings else []
    for one in encodings:
        # XGBoost takes the bytes of names for signed numbers.
        keys = (
            [np.frombuffer(part, np.int8).tolist() for part in one.parts]
            if isinstance(one, CutNames)
            else one.values
        )
        order += sorted(range(len(keys)), key=keys.__getitem__)
        ends.append(len(order))
    return tuple(order), tuple(ends)


def _whole_numbers(given: Any) -> tuple[int, ...]:
    values = np.asarray(given)
    if values.ndim != 1 or (values.size and values.dtype.kind not in "iu"):
        raise ValueError("an array holds other things than whole numbers")
    return tuple(values.tolist())


def _read_levels(encodings: tuple[CutNames | NumberedCodes, ...]) -> dict[int, tuple[Any, ...]]:
    """The categories of each column that has any, but for names that may be cut off."""
    found: dict[int, tuple[Any, ...]] = {}
    for column, one in enumerate(encodings):
        if isinstance(one, CutNames):
            values: tuple[Any, ...] = () if one.is_cut else tuple(part.decode("ascii") for part in one.parts)
        else:
            values = one.values
        if len(set(values)) < len(values):
            raise ValueError(f"column {column} has a category twice")
        if values:
            found[column] = values
    return found


# -- trees ------------------------------------------------------------------------------------------------


def _read_trees(
    model: Any, n_columns: int, n_scores: int, a_round: int
) -> tuple[tuple[StoredTree, ...], tuple[int, ...]]:
    count = len(model["trees"])
    if count > MOST_TREES:
        raise UnsupportedModel(
            f"it has {count:,} trees; at most {MOST_TREES:,} are supported", hint=FEWER_TREES
        )
    if not count:
        raise UnsupportedModel(
            "it has no trees, as it was trained for 0 rounds", hint="fit it with n_estimators of 1 or more"
        )
    trees = tuple(_read_tree(one, number, n_columns) for number, one in enumerate(model["trees"]))
    if sum(len(tree.left) for tree in trees) > MOST_NODES:
        raise UnsupportedModel(f"its trees have more than {MOST_NODES:,} nodes", hint=FEWER_TREES)
    groups = _whole_numbers(model["tree_info"])
    if len(groups) != count or not all(0 <= group < n_scores for group in groups):
        raise ValueError("tree_info does not say which score each tree adds to")
    rounds = _whole_numbers(model.get("iteration_indptr", range(0, count + 1, a_round)))
    if count % a_round or rounds != tuple(range(0, count + 1, a_round)):
        raise ValueError(f"its rounds are not of {a_round} trees each")
    if read_whole(model["gbtree_model_param"]["num_trees"]) != count:
        raise ValueError(f"{count} trees where it says other")
    return trees, groups


def _read_weights(given: Any, count: int) -> NDArray[np.float32]:
    """What each tree of dart is multiplied by."""
    values = np.asarray(given)
    if values.shape != (count,) or values.dtype.kind not in "iuf":
        raise ValueError(f"weight_drop is not {count} numbers, one a tree")
    weights = values.astype(np.float32)
    if not np.isfinite(weights).all():
        raise UnsupportedModel("weight_drop has a number that is not finite", hint="its training diverged")
    return weights


def _read_tree(one: Any, number: int, n_columns: int) -> StoredTree:
    check_keys(one["tree_param"], TREE_PARAM)
    if read_whole(one["tree_param"].get("size_leaf_vector", "0")) > 1:
        raise UnsupportedModel(
            "its leaves have several values (multi_strategy='multi_output_tree')",
            hint="fit it with multi_strategy='one_output_per_tree'",
        )
    check_keys(one, ("id", "tree_param", *INNER, *STATISTICS, *CATEGORIES), ("id",))
    count = read_whole(one["tree_param"]["num_nodes"], 1)
    left, right, column, parents, default_left = (
        _read_ints(one, name, count)
        for name in ("left_children", "right_children", "split_indices", "parents", "default_left")
    )
    condition = np.asarray(one["split_conditions"])
    if condition.shape != (count,) or condition.dtype.kind not in "iuf" or one["id"] != number:
        raise ValueError(f"split_conditions is not {count} numbers, or a tree has another number")
    if not np.isin(default_left, (0, 1)).all():
        raise ValueError("default_left is neither 0 nor 1")
    kept = _reached(left.tolist(), right.tolist(), parents.tolist())
    with np.errstate(over="ignore"):
        condition = condition.astype(np.float32)[kept]
    leaf, chosen = left[kept] == -1, _read_right_categories(one, count)
    if count - len(kept) != read_whole(one["tree_param"].get("num_deleted", str(count - len(kept)))):
        raise ValueError("some nodes of a tree cannot be reached")
    if not np.isfinite(condition).all():
        raise UnsupportedModel("a node of a tree has a number that is not finite")
    if not (leaf | ((column[kept] >= 0) & (column[kept] < n_columns))).all():
        raise ValueError("a node of a tree tests no column of the model")
    places = np.full(count + 1, -1)  # the last one is a leaf's
    places[kept] = np.arange(len(kept))
    return StoredTree(
        left=places[left[kept]],
        right=places[right[kept]],
        column=np.where(leaf, 0, column[kept]),
        condition=condition,
        default_left=(default_left[kept] == 1) & ~leaf,
        chosen={int(places[node]): codes for node, codes in chosen.items() if places[node] >= 0},
    )


def _read_ints(one: Any, name: str, count: int) -> NDArray[np.int64]:
    values = np.asarray(one[name])
    if values.shape != (count,) or not (values.dtype.kind in "bi" or values.dtype == np.uint8):
        raise ValueError(f"{name} is not {count} whole numbers")
    return values.astype(np.int64)


def _read_right_categories(one: Any, count: int) -> dict[int, frozenset[int]]:
    """By node: the categories that go right. XGBoost reads them in the order of the nodes."""
    if "split_type" not in one:
        return {}
    kinds = _read_ints(one, "split_type", count)
    nodes, starts, sizes, codes = (
        _whole_numbers(one[name])
        for name in ("categories_nodes", "categories_segments", "categories_sizes", "categories")
    )
    if nodes != tuple(np.flatnonzero(kinds).tolist()) or not np.isin(kinds, (0, 1)).all():
        raise ValueError("categories_nodes are not the nodes that test categories")
    ends = [0, *accumulate(sizes)]
    if ends[:-1] != list(starts) or ends[-1] != len(codes) or not all(size > 0 for size in sizes):
        raise ValueError("categories_segments do not follow one another")
    if not all(0 <= code < MOST_CATEGORIES for code in codes):
        raise ValueError("a category has an invalid code")
    return {
        node: frozenset(codes[start : start + size])
        for node, start, size in zip(nodes, starts, sizes, strict=True)
    }


def _reached(left: list[int], right: list[int], parents: list[int]) -> list[int]:
    """The nodes below the root, which must form a tree. Others are what pruning has cut off."""
    seen, ahead = bytearray(len(left)), [(0, parents[0])]
    if parents[0] not in (-1, ROOTS_PARENT):
        raise ValueError("the root of a tree has a parent")
    while ahead:
        node, parent = ahead.pop()
        if not 0 <= node < len(left) or seen[node] or parents[node] != parent:
            raise ValueError("the nodes of a tree form no tree")
        seen[node] = 1
        if left[node] != -1:
            ahead += [(left[node], node), (right[node], node)]
        elif right[node] != -1:
            raise ValueError("a leaf of a tree has a child")
    return [node for node, found in enumerate(seen) if found]


# -- writing -----------------------------------------------------------------------------------------------


def write_xgboost(stored: StoredXGBoost) -> bytes:
    """A JSON file that says no more than what was read."""
    classes = str(stored.n_scores if stored.n_scores > 1 else 0)
    base = [str(score) for score in stored.base_score]
    objective: dict[str, Any] = {"name": stored.objective, **OBJECTIVE_SETTINGS.get(stored.objective, {})}
    if stored.objective.startswith("multi:"):
        objective["softmax_multiclass_param"] = {"num_class": classes}
    order, segments = _sorted_places(stored.encodings)
    model = {
        "gbtree_model_param": {
            "num_parallel_tree": str(stored.trees_a_round // stored.n_scores),
            "num_trees": str(len(stored.trees)),
            "size_leaf_vector": "0",
        },
        "iteration_indptr": list(range(0, len(stored.trees) + 1, stored.trees_a_round)),
        "tree_info": stored.groups,
        "trees": [_write_tree(tree, number, stored.n_columns) for number, tree in enumerate(stored.trees)],
        "cats": {
            "enc": [_write_encoding(one) for one in stored.encodings],
            "feature_segments": segments,
            "sorted_idx": order,
        },
    }
    booster: dict[str, Any] = {"model": model, "name": "gbtree"}
    if stored.weights is not None:
        booster = {"gbtree": booster, "name": "dart", "weight_drop": shortest_decimals(stored.weights)}
    learner = {
        "attributes": {} if stored.best_iteration is None else {"best_iteration": str(stored.best_iteration)},
        "feature_names": stored.names or (),
        "feature_types": stored.types or (),
        "gradient_booster": booster,
        "learner_model_param": {
            "base_score": base[0] if len(set(base)) == 1 else f"[{','.join(base)}]",
            "boost_from_average": "1",
            "num_class": classes,
            "num_feature": str(stored.n_columns),
            "num_target": "1",
        },
        "objective": objective,
    }
    written = {"learner": learner, "version": stored.version}
    return json.dumps(written, ensure_ascii=False).encode()


def _write_encoding(one: CutNames | NumberedCodes) -> dict[str, Any]:
    if isinstance(one, NumberedCodes):
        return {"type": one.kind, "values": one.values}
    return {"offsets": one.ends, "values": np.frombuffer(one.letters, dtype=np.int8).tolist()}


def _write_tree(tree: StoredTree, number: int, n_columns: int) -> dict[str, Any]:
    count, nodes = len(tree.left), sorted(tree.chosen)
    parents = np.full(count, ROOTS_PARENT)
    for children in (tree.left, tree.right):
        parents[children[children >= 0]] = np.flatnonzero(children >= 0)
    sizes = [len(tree.chosen[node]) for node in nodes]
    return {
        "id": number,
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(n_columns),
            "num_nodes": str(count),
            "size_leaf_vector": "1",
        },
        **{name: [0.0] * count for name in STATISTICS},
        "default_left": tree.default_left.astype(int).tolist(),
        "left_children": tree.left.tolist(),
        "right_children": tree.right.tolist(),
        "parents": parents.tolist(),
        "split_indices": tree.column.tolist(),
        "split_conditions": shortest_decimals(tree.condition),
        "split_type": [int(node in tree.chosen) for node in range(count)],
        "categories": [code for node in nodes for code in sorted(tree.chosen[node])],
        "categories_nodes": nodes,
        "categories_segments": [0, *accumulate(sizes)][:-1],
        "categories_sizes": sizes,
    }
