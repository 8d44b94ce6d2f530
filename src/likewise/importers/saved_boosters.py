"""Saved boosters: what models of XGBoost and LightGBM have in common once their files are read (`stored`), each in its own way.

Rows walk down the arrays of a file as the library would send them, in its own precision: that answers where the library is not installed, and shares nothing with
the exact model that it is compared with. What a library or a file answers comes in scikit-learn's verbs (`Answers`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]
    Side = NDArray[np.bool_]  # whether each row goes left

MOST_TREES = 100_000
FEWER_TREES = "fit it with fewer or shallower trees"
MOST_NODES = 10_000_000


class SavedTree(Protocol):
    """The arrays of a tree, by node; `chosen` has the categories that nodes test."""

    @property
    def left(self) -> Nodes: ...

    @property
    def right(self) -> Nodes: ...

    @property
    def column(self) -> Nodes: ...

    @property
    def chosen(self) -> Mapping[int, frozenset[int]]: ...


def walk_down(
    tree: SavedTree,
    columns: NDArray[Any],
    *,
    root: int,
    inner: Callable[[Nodes], Side],
    by_number: Callable[[Nodes, NDArray[Any]], Side],
    by_category: Callable[[int, NDArray[Any], frozenset[int]], Side],
) -> Nodes:
    """Where rows end: `inner` says which nodes are no leaves, the other two where a value goes at nodes that test a number, and at one that tests categories."""
    at, rows = np.full(len(columns), root, dtype=np.int64), np.arange(len(columns))
    while (going := inner(at)).any():
        node = at[going]
        values = columns[rows[going], tree.column[node]]
        goes_left = by_number(node, values)
        for one in np.unique(node).tolist():
            if one in tree.chosen:
                here = node == one
                goes_left[here] = by_category(one, values[here], tree.chosen[one])
        at[going] = np.where(goes_left, tree.left[node], tree.right[node])
    return at


def among(values: NDArray[Any], chosen: frozenset[int], valid: Side) -> Side:
    """Whether each value, cut to a whole number, is one of the chosen categories; invalid ones are none."""
    return valid & np.isin(np.where(valid, values, -1).astype(np.int64), list(chosen))


def numbers_of_levels(levels: Mapping[int, Sequence[Any]]) -> dict[int, dict[object, float]]:
    """The columns whose categories a library numbers: by column the code of each category."""
    return {c: {level: float(code) for code, level in enumerate(known)} for c, known in levels.items()}


class Answers(ABC):
    """Scikit-learn's verbs, made of scores and of what the library makes of them; `stand_in` is who answers, if not the library; `decides` that
    decisions are asked of it too, and not of the estimator."""

    stand_in: str | None = None
    decides: bool = False

    def __init__(self, n_columns: int, names: Sequence[str] | None) -> None:
        self.n_features_in_ = n_columns
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    @abstractmethod
    def decision_function(self, X: Any) -> Floats:
        """The scores of the imported model."""

    @abstractmethod
    def shares(self, X: Any) -> Any:
        """Probabilities: of the upper label, or of all classes."""

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of all classes."""
        shares = np.asarray(self.shares(X), dtype=np.float64)
        return shares if shares.ndim == 2 else np.stack([1 - shares, shares], axis=1)
