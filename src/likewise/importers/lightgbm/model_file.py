"""A saved LightGBM model, read without LightGBM: its text to what it says, checked, and no more than that.

The text is a head of `key=value` lines, one block of such lines a tree, then the training parameters in brackets and the
categories of pandas columns. Thresholds and leaf values are doubles, written with 17 digits.

The file is not trusted: every number that is used is looked at, trees must be trees, and what is not understood is refused by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.saved_boosters import FEWER_TREES, MOST_NODES, MOST_TREES

if TYPE_CHECKING:
    from numpy.typing import NDArray

NEAR_ZERO = float(np.float32(1e-35))  # numbers within it of zero are zero to LightGBM

CATEGORICAL, DEFAULT_LEFT = 1, 2  # bits of `decision_type`; the two after them:
MISSING_NONE, MISSING_ZERO, MISSING_NAN = 0, 1, 2  # what is taken for missing

Lines = Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StoredTree:
    """The arrays of the file. A child below 0 is the leaf -1 - child; a tree of one leaf has no nodes. A number goes left where it
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
    """`trees` add to the scores 0, 1, ..., n_scores - 1 in turn; `levels` are the categories of pandas columns in the order of their
    codes, `rivals` the columns that some of them could be those of as well; `averaged` if the score is the mean over the rounds."""

    objective: str
    settings: Mapping[str, str]
    n_scores: int
    averaged: bool
    names: tuple[str, ...]
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
        return _read_model(content.decode("utf-8"))
    except (AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError) as error:
        what = f"has no {error}" if isinstance(error, KeyError) else str(error) or type(error).__name__
        raise UnsupportedModel(
            f"is no LightGBM model, or damaged: {' '.join(what.split())[:200]}",
            hint="save it again with model.booster_.save_model('model.txt')",
        ) from error


def _read_model(text: str) -> StoredLightGBM:
    body, end, rest = text.replace("\r\n", "\n").partition("\nend of trees")
    if not text.startswith("tree") or not end:
        raise ValueError("does not begin with 'tree' or has no end of trees")
    head, *blocks = body.split("\nTree=")
    lines = _split_lines(head)
    names = tuple(lines["feature_names"].split(" "))
    n_scores = int(lines["num_tree_per_iteration"])
    if len(names) != int(lines["max_feature_idx"]) + 1:
        raise ValueError(f"{len(names)} names for {int(lines['max_feature_idx']) + 1} columns")
    if len(blocks) > MOST_TREES:
        raise UnsupportedModel(
            f"it has {len(blocks):,} trees; at most {MOST_TREES:,} are supported", hint=FEWER_TREES
        )
    trees = tuple(_read_tree(block, number, len(names)) for number, block in enumerate(blocks))
    if sum(len(tree.left) for tree in trees) > MOST_NODES:
        raise UnsupportedModel(f"its trees have more than {MOST_NODES:,} nodes", hint=FEWER_TREES)
    if not trees:
        raise UnsupportedModel(
            "it has no trees, as it was trained for 0 rounds", hint="fit it with n_estimators of 1 or more"
        )
    if n_scores < 1 or len(trees) % n_scores:
        raise ValueError(f"{len(trees)} trees for {n_scores} scores")
    objective, *settings = lines.get("objective", "custom").split()
    infos = lines.get("feature_infos", "").split(" ")
    levels = _read_levels(rest, infos)
    return StoredLightGBM(
        objective=objective,
        settings={key: value for key, _, value in (one.partition(":") for one in settings)},
        n_scores=n_scores,
        averaged="average_output" in head.split("\n"),
        names=names,
        levels=levels,
        rivals=_find_rivals(levels, infos),
        trees=trees,
    )


def _split_lines(block: str) -> Lines:
    return {key: value for key, _, value in (line.partition("=") for line in block.split("\n"))}


def _read_levels(rest: str, infos: list[str]) -> dict[int, tuple[Any, ...]]:
    """The categories of pandas columns, which the file lists without saying whose they are: those of the columns that were
    trained on as categories, in order, if they are as many."""
    lines = rest.split("\n")
    given = next((line.partition(":")[2] for line in lines if line.startswith("pandas_categorical:")), "null")
    lists = json.loads(given)
    if not lists:
        return {}
    named = (
        next((line for line in lines if line.startswith("[categorical_feature: ")), "")
        .strip("[]")
        .partition(": ")[2]
    )
    by_setting = sorted(int(part) for part in named.split(",") if part.strip().isdecimal())
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


def _find_rivals(levels: Mapping[int, tuple[Any, ...]], infos: list[str]) -> dict[int, tuple[Any, ...]]:
    """Columns that were trained on as numbers, each with numbers that are categories of which these could be the codes.

    So it is if `categorical_feature` names other columns than those with pandas categories. Text tells whose it is, as no number of another column is
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


def _are_codes(infos: list[str], columns: list[int], lists: list[list[Any]]) -> bool:
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
    first, _, rest = block.partition("\n")
    lines = _split_lines(rest)
    if int(first) != number:
        raise ValueError(f"tree {number} is called {first[:20]!r}")
    if int(lines.get("is_linear", "0")):
        raise UnsupportedModel(
            "its leaves are linear functions (linear_tree=True)", hint="fit it with linear_tree=False"
        )
    n_leaves = int(lines["num_leaves"])
    leaves = _read_numbers(lines, "leaf_value", n_leaves, np.float64)
    if n_leaves < 1 or not np.isfinite(leaves).all():
        raise UnsupportedModel("a leaf of a tree has no finite value", hint="its training diverged")
    kinds = _read_numbers(lines, "decision_type", n_leaves - 1, np.int64)
    thresholds = _read_numbers(lines, "threshold", n_leaves - 1, np.float64)
    tree = StoredTree(
        left=_read_numbers(lines, "left_child", n_leaves - 1, np.int64),
        right=_read_numbers(lines, "right_child", n_leaves - 1, np.int64),
        column=_read_numbers(lines, "split_feature", n_leaves - 1, np.int64),
        threshold=thresholds,
        default_left=(kinds & DEFAULT_LEFT) > 0,
        missing=(kinds >> 2) & 3,
        chosen=_read_left_categories(lines, kinds, thresholds),
        leaves=leaves,
    )
    if (
        not np.isin(tree.missing, (MISSING_NONE, MISSING_ZERO, MISSING_NAN)).all()
        or (kinds > 15).any()
        or (kinds < 0).any()
    ):
        raise ValueError("a node of a tree has an unknown decision_type")
    _check_tree(tree, n_columns)
    return tree


def _read_numbers(lines: Lines, name: str, count: int, dtype: Any) -> Any:
    if not count:
        return np.empty(0, dtype=dtype)
    values = np.array(
        [float(part) if dtype is np.float64 else int(part) for part in lines[name].split()], dtype=dtype
    )
    if values.shape != (count,):
        raise ValueError(f"{name} has {len(values)} numbers where {count} are needed")
    return values


def _read_left_categories(
    lines: Lines, kinds: NDArray[np.int64], thresholds: NDArray[np.float64]
) -> dict[int, frozenset[int]]:
    """By node: the categories that go left. The threshold of such a node is the number of its words of 32 bits."""
    nodes = np.flatnonzero(kinds & CATEGORICAL).tolist()
    if not nodes:
        return {}
    ends = [int(part) for part in lines["cat_boundaries"].split()]
    words = [int(part) for part in lines["cat_threshold"].split()]
    found = {}
    for node in nodes:
        place = int(thresholds[node])
        if not (
            place == thresholds[node]
            and 0 <= place < len(ends) - 1
            and 0 <= ends[place] <= ends[place + 1] <= len(words)
        ):
            raise ValueError("a node of a tree tests no categories of it")
        own = words[ends[place] : ends[place + 1]]
        found[node] = frozenset(
            32 * i + bit for i, word in enumerate(own) for bit in range(32) if word >> bit & 1
        )
    return found


def _check_tree(tree: StoredTree, n_columns: int) -> None:
    """That nodes and leaves form a tree, and test columns that there are."""
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
    if not ((tree.column >= 0) & (tree.column < n_columns)).all() or np.isnan(tree.threshold).any():
        raise ValueError("a node of a tree tests no column of the model")
