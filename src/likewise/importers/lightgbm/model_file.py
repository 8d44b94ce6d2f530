"""A saved LightGBM model, read without LightGBM: its text to what it says, checked, and no more than that.

The text is a head of `key=value` lines, one block of such lines a tree, then the training parameters in
brackets and the
categories of pandas columns. Thresholds and leaf values are doubles, written with 17 digits.

The file is not trusted: every number that is used is looked at, trees must be trees, and what is not
understood is refused by name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.saved_boosters import (
    FEWER_TREES,
    LARGEST_INT,
    MOST_NODES,
    MOST_TREES,
    read_decimal,
    read_json,
    read_whole,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR_ZERO = float(np.float32(1e-35))  # numbers within it of zero are zero to LightGBM

CATEGORICAL, DEFAULT_LEFT = 1, 2  # bits of `decision_type`; the two after them:
MISSING_NONE, MISSING_ZERO, MISSING_NAN = 0, 1, 2  # what is taken for missing

HEAD = (
    *("version", "num_class", "num_tree_per_iteration", "label_index", "max_feature_idx", "objective"),
    *("average_output", "feature_names", "monotone_constraints", "feature_infos", "tree_sizes"),
)
TREE = (
    *("num_leaves", "num_cat", "split_feature", "split_gain", "threshold", "decision_type", "left_child"),
    *("right_child", "leaf_value", "leaf_weight", "leaf_count", "internal_value", "internal_weight"),
    *("internal_count", "cat_boundaries", "cat_threshold", "is_linear", "shrinkage"),
)
_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?"
_INFO = re.compile(rf"none|\[(?:{_NUMBER}|-inf):(?:{_NUMBER}|inf)\]|-?[0-9]{{1,10}}(?::-?[0-9]{{1,10}})*")
_CATEGORICAL = re.compile(r"^\[categorical_feature: ([0-9,]+)\]$", re.MULTILINE)
_REST = re.compile(
    r"end of trees\n\nfeature_importances:\n(?:[^\n]+=[0-9]+\n)*"
    r"(?:\nparameters:\n(?P<parameters>(?:\[[^\n]*\]\n)*)\nend of parameters\n)?"
    r"(?:\npandas_categorical:(?P<levels>[^\n]*)\n?)?"
)

Lines = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """The arrays of the file. A child below 0 is the leaf -1 - child; a tree of one leaf has no nodes. A
    number goes left where it
    is at most `threshold`, a category where it is among `chosen`."""

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    column: NDArray[np.int64]
    threshold: NDArray[np.float64]
    default_left: NDArray[np.bool_]
    missing: NDArray[np.int64]
    chosen: Mapping[int, frozenset[int]]
    leaves: NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredLightGBM:
    """`trees` add to the scores 0, 1, ..., n_scores - 1 in turn; `levels` are the categories of pandas
    columns in the order of their
    codes, `infos` what each column was trained on, `rivals` the columns that some of them could be those of
    as well; `averaged` if the score is the mean over the rounds."""

    objective: str
    settings: Mapping[str, str]
    n_scores: int
    averaged: bool
    names: tuple[str, ...]
    infos: tuple[str, ...]
    levels: Mapping[int, tuple[Any, ...]]
    rivals: Mapping[int, tuple[Any, ...]]
    trees: tuple[StoredTree, ...]

    @property
    def named(self) -> bool:
        """Whether names were given, and not made up."""
        return self.names != tuple(f"Column_{i}" for i in range(len(self.names)))


def read_lightgbm(content: bytes) -> StoredLightGBM:
    """The model in the bytes of a text file. Raises UnsupportedModel."""
    try:
        return _read_model(content)
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        what = f"has no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise UnsupportedModel(
            f"is no LightGBM model, or damaged: {' '.join(what.split())[:200]}",
            hint="save it again with model.booster_.save_model('model.txt')",
        ) from error


def _read_model(content: bytes) -> StoredLightGBM:
    if not content.startswith(b"tree\n") or b"\r" in content or b"\0" in content:
        raise ValueError("does not begin with 'tree', or has other ends of lines than LightGBM's")
    start = content.index(b"\n\n") + 2
    lines = _split_lines(content[5 : start - 2].decode("utf-8").split("\n"), HEAD)
    sizes = [read_whole(size) for size in lines["tree_sizes"].split(" ")] if lines["tree_sizes"] else []
    names, infos = tuple(lines["feature_names"].split(" ")), tuple(lines["feature_infos"].split(" "))
    if not len(set(names)) == len(names) == len(infos) == read_whole(lines["max_feature_idx"]) + 1:
        raise ValueError(f"{len(names)} names and {len(infos)} ranges for {lines['max_feature_idx']} columns")
    if not all(names) or not all(map(_INFO.fullmatch, infos)):
        raise ValueError("a column has no name, or no range")
    if len(sizes) > MOST_TREES:
        raise UnsupportedModel(
            f"it has {len(sizes):,} trees; at most {MOST_TREES:,} are supported", hint=FEWER_TREES
        )
    trees = []
    for number, size in enumerate(sizes):
        trees.append(_read_tree(content[start : start + size].decode("ascii"), number, len(names)))
        start += size
    rest = _REST.fullmatch(content[start:].decode("utf-8"))
    if not rest:
        raise ValueError("its trees are followed by something that LightGBM does not write")
    if sum(len(tree.left) for tree in trees) > MOST_NODES:
        raise UnsupportedModel(f"its trees have more than {MOST_NODES:,} nodes", hint=FEWER_TREES)
    if not trees:
        raise UnsupportedModel(
            "it has no trees, as it was trained for 0 rounds", hint="fit it with n_estimators of 1 or more"
        )
    n_scores = read_whole(lines["num_tree_per_iteration"], 1)
    if len(trees) % n_scores or read_whole(lines["num_class"]) != n_scores:
        raise ValueError(f"{len(trees)} trees and {lines['num_class']} classes for {n_scores} scores")
    objective, settings = _read_objective(lines.get("objective", "custom"), n_scores)
    levels = _read_levels(rest["parameters"] or "", rest["levels"] or "null", infos)
    return StoredLightGBM(
        objective=objective,
        settings=settings,
        n_scores=n_scores,
        averaged="average_output" in lines,
        names=names,
        infos=infos,
        levels=levels,
        rivals=_find_rivals(levels, infos),
        trees=tuple(trees),
    )


def _split_lines(given: Sequence[str], known: Sequence[str]) -> Lines:
    """Lines by their keys. LightGBM has ways of its own with keys that come twice, and with `=` at the ends
    of a value."""
    found: dict[str, str] = {}
    for line in given:
        key, equals, value = line.partition("=")
        if key not in known or key in found or (equals == "") != (key == "average_output"):
            raise ValueError(f"the line {line[:40]!r} is not known, or there twice")
        if "=" in value and (key != "feature_names" or value[0] == "=" or value[-1] == "="):
            raise ValueError(f"the line {line[:40]!r} has one = too many")
        found[key] = value
    return found


def _read_objective(line: str, n_scores: int) -> tuple[str, dict[str, str]]:
    objective, *given = line.split(" ")
    settings = {key: value for key, _, value in (one.partition(":") for one in given)}
    if len(settings) < len(given) or not set(settings) <= {"sqrt", "num_class", "sigmoid"}:
        raise ValueError(f"its objective is {line[:60]!r}")
    if read_whole(settings.get("num_class", str(n_scores))) != n_scores or settings.get("sqrt"):
        raise ValueError(f"its objective is {line[:60]!r} for {n_scores} scores")
    read_decimal(settings.get("sigmoid", "1"))
    return objective, settings


def _read_levels(parameters: str, given: str, infos: Sequence[str]) -> dict[int, tuple[Any, ...]]:
    """The categories of pandas columns, which the file lists without saying whose they are: those of the
    columns that were
    trained on as categories, in order, if they are as many."""
    lists = read_json(given)
    if not lists:
        return {}
    if not all(isinstance(level, str | int | float) for levels in lists for level in levels):
        raise ValueError("a category is neither a text nor a number")
    named = _CATEGORICAL.findall(parameters)
    by_setting = sorted(read_whole(part) for part in named[0].split(",")) if len(named) == 1 else []
    by_content = [c for c, info in enumerate(infos) if ":" in info and not info.startswith("[")]
    if any(len(set(levels)) < len(levels) for levels in lists):
        raise ValueError("a pandas column has a category twice")
    for columns in (by_setting, by_content):
        if len(columns) == len(lists) and columns[-1] < len(infos) and _are_codes(infos, columns, lists):
            return {c: tuple(levels) for c, levels in zip(columns, lists, strict=True)}
    raise UnsupportedModel(
        f"it was trained on {len(lists)} pandas columns of categories, and does not say which ones",
        hint="ordered categories come to LightGBM as numbers: pass their codes (.cat.codes) as such, or make them unordered",
    )


def _find_rivals(levels: Mapping[int, tuple[Any, ...]], infos: Sequence[str]) -> dict[int, tuple[Any, ...]]:
    """Columns that were trained on as numbers, each with numbers that are categories of which these could be
    the codes.

    So it is if `categorical_feature` names other columns than those with pandas categories. Text tells whose
    it is, as no number of another column is
    among it; and where codes are the numbers themselves it makes no difference.
    """
    found: dict[int, tuple[Any, ...]] = {}
    for listed in levels.values():
        if any(isinstance(level, str) for level in listed) or list(listed) == list(range(len(listed))):
            continue
        for c, info in enumerate(infos):
            if c not in levels and _could_be_codes(info, len(listed)):
                found[c] = (*found.get(c, ()), *listed)
    return found


def _could_be_codes(info: str, size: int) -> bool:
    """Whether all that was seen in a column of numbers may be codes of so many categories."""
    if not info.startswith("["):
        return info == "none"
    lo, hi = (float(end) for end in info.strip("[]").split(":"))
    return lo >= -1 and hi <= size - 1


def _are_codes(infos: Sequence[str], columns: list[int], lists: list[list[Any]]) -> bool:
    """Whether what was seen in these columns are codes of these categories, -1 for missing ones."""
    for column, levels in zip(columns, lists, strict=True):
        info = infos[column]
        if info != "none" and (
            info.startswith("[") or any(int(code) >= len(levels) for code in info.split(":"))
        ):
            return False
    return True


# -- trees ------------------------------------------------------------------------------------------------


def _read_tree(block: str, number: int, n_columns: int) -> StoredTree:
    first, *given = block.split("\n")
    if first != f"Tree={number}" or given[-3:] != ["", "", ""]:
        raise ValueError(f"tree {number} is not where it should be")
    if "is_linear=1" in given:
        raise UnsupportedModel(
            "its leaves are linear functions (linear_tree=True)", hint="fit it with linear_tree=False"
        )
    lines = _split_lines(given[:-3], TREE)
    if lines.get("is_linear", "0") != "0":
        raise ValueError("is_linear is neither 0 nor 1")
    n_leaves = read_whole(lines["num_leaves"], 1, MOST_NODES)
    inner = n_leaves - 1
    leaves = _read_doubles(lines["leaf_value"], n_leaves)
    if not np.isfinite(leaves).all():
        raise UnsupportedModel("a leaf of a tree has no finite value", hint="its training diverged")
    kinds = _read_ints(lines, "decision_type", inner, 0, 15)
    thresholds = _read_doubles(lines["threshold"], inner)
    tree = StoredTree(
        left=_read_ints(lines, "left_child", inner, -n_leaves, inner - 1),
        right=_read_ints(lines, "right_child", inner, -n_leaves, inner - 1),
        column=_read_ints(lines, "split_feature", inner, 0, n_columns - 1),
        threshold=thresholds,
        default_left=(kinds & DEFAULT_LEFT) > 0,
        missing=kinds >> 2,
        chosen=_read_left_categories(lines, kinds, thresholds),
        leaves=leaves,
    )
    if not np.isin(tree.missing, (MISSING_NONE, MISSING_ZERO, MISSING_NAN)).all():
        raise ValueError("a node of a tree has an unknown decision_type")
    _check_tree(tree)
    return tree


def _read_doubles(text: str, count: int) -> NDArray[np.float64]:
    parts = text.split(" ") if text else []
    # LightGBM writes infinite thresholds, where only missing values go right.
    values = np.array([float(part) if part in ("inf", "-inf") else read_decimal(part) for part in parts])
    if len(values) != count:
        raise ValueError(f"{len(values)} numbers where {count} are needed")
    return values


def _read_ints(lines: Lines, name: str, count: int, lo: int, hi: int) -> NDArray[np.int64]:
    text = lines[name]
    values = np.array([read_whole(part, lo, hi) for part in text.split(" ")] if text else [], dtype=np.int64)
    if len(values) != count:
        raise ValueError(f"{name} has {len(values)} numbers where {count} are needed")
    return values


def _read_left_categories(
    lines: Lines, kinds: NDArray[np.int64], thresholds: NDArray[np.float64]
) -> dict[int, frozenset[int]]:
    """By node: the categories that go left. The threshold of such a node is its number among them, in words
    of 32 bits."""
    nodes = np.flatnonzero(kinds & CATEGORICAL).tolist()
    if read_whole(lines["num_cat"]) != len(nodes) or thresholds[nodes].tolist() != list(range(len(nodes))):
        raise ValueError("the nodes of a tree that test categories are not numbered one by one")
    if not nodes:
        return {}
    ends = _read_ints(lines, "cat_boundaries", len(nodes) + 1, 0, LARGEST_INT).tolist()
    words = _read_ints(lines, "cat_threshold", ends[-1], 0, (1 << 32) - 1).tolist()
    if ends[0] != 0 or ends != sorted(ends):
        raise ValueError("the categories of the nodes of a tree overlap")
    return {
        node: frozenset(
            32 * i + bit for i, word in enumerate(words[start:end]) for bit in range(32) if word >> bit & 1
        )
        for node, start, end in zip(nodes, ends, ends[1:], strict=False)
    }


def _check_tree(tree: StoredTree) -> None:
    """That nodes and leaves form a tree."""
    left, right = tree.left.tolist(), tree.right.tolist()
    seen, ahead = set(), [0 if left else -1]
    while ahead:
        node = ahead.pop()
        if not -len(tree.leaves) <= node < len(left) or node in seen:
            raise ValueError("the nodes of a tree form no tree")
        seen.add(node)
        if node >= 0:
            ahead += [left[node], right[node]]
    if len(seen) != len(left) + len(tree.leaves):
        raise ValueError("a node of a tree cannot be reached")


# -- writing -----------------------------------------------------------------------------------------------


def write_lightgbm(stored: StoredLightGBM) -> str:
    """The text that says no more than what was read."""
    objective = " ".join((stored.objective, *(f"{k}:{v}" if v else k for k, v in stored.settings.items())))
    blocks = [_write_tree(tree, number) for number, tree in enumerate(stored.trees)]
    head = [
        *("tree", "version=v4", f"num_class={stored.n_scores}", f"num_tree_per_iteration={stored.n_scores}"),
        *("label_index=0", f"max_feature_idx={len(stored.names) - 1}", f"objective={objective}"),
        *(["average_output"] if stored.averaged else []),
        f"feature_names={' '.join(stored.names)}",
        f"feature_infos={' '.join(stored.infos)}",
        f"tree_sizes={' '.join(str(len(block)) for block in blocks)}",
    ]
    rest = ["end of trees", "", "feature_importances:"]
    if stored.levels:
        columns = ",".join(map(str, sorted(stored.levels)))
        rest += ["", "parameters:", f"[categorical_feature: {columns}]", "", "end of parameters"]
    levels = json.dumps([stored.levels[c] for c in sorted(stored.levels)] or None)
    return "\n".join(
        (*head, "", "".join(blocks) + rest[0], *rest[1:], "", f"pandas_categorical:{levels}", "")
    )


def _write_tree(tree: StoredTree, number: int) -> str:
    words, ends = [], [0]
    kinds = tree.default_left * DEFAULT_LEFT + (tree.missing << 2)
    for node, chosen in sorted(tree.chosen.items()):
        kinds[node] |= CATEGORICAL
        found = [0] * (max(chosen, default=0) // 32 + 1)
        for code in chosen:
            found[code // 32] |= 1 << code % 32
        words += found
        ends.append(len(words))
    arrays = {
        "split_feature": tree.column,
        "threshold": tree.threshold,
        "decision_type": kinds,
        "left_child": tree.left,
        "right_child": tree.right,
        "leaf_value": tree.leaves,
        **({"cat_boundaries": np.array(ends), "cat_threshold": np.array(words)} if words else {}),
    }
    lines = [f"Tree={number}", f"num_leaves={len(tree.leaves)}", f"num_cat={len(tree.chosen)}"]
    lines += [f"{name}={' '.join(map(repr, values.tolist()))}" for name, values in arrays.items()]
    return "\n".join((*lines, "is_linear=0", "shrinkage=1", "", "", ""))
