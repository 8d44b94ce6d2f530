"""Saved boosters: what models of XGBoost and LightGBM have in common once their files are read (`stored`),
each in its own way.

Rows walk down the arrays of a file as the library would send them, in its own precision: that answers where
the library is not installed, and shares nothing with
the exact model that it is compared with. What a library or a file answers comes in scikit-learn's verbs
(`Answers`).
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from likewise.errors import UnsupportedModel

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Nodes = NDArray[np.int64]
    Side = NDArray[np.bool_]  # whether each row goes left

MOST_TREES = 100_000
FEWER_TREES = "fit it with fewer or shallower trees"
MOST_NODES = 10_000_000
LARGEST_INT = (1 << 31) - 1

_WHOLE = re.compile(r"(?:-?[1-9][0-9]{0,19}|0)")
_DECIMAL = re.compile(r"-?[0-9]{1,400}(?:\.[0-9]{1,400})?(?:[eE][+-]?[0-9]{1,4})?")


# -- grammars ------------------------------------------------------------------------------------------------


def read_whole(text: Any, lo: int = 0, hi: int = LARGEST_INT) -> int:
    """A whole number as libraries write it: ASCII digits and nothing else."""
    if not isinstance(text, str) or not _WHOLE.fullmatch(text) or not lo <= int(text) <= hi:
        raise ValueError(f"{str(text)[:30]!r} is not a whole number from {lo} to {hi}")
    return int(text)


def read_decimal(text: Any) -> float:
    """A decimal in ASCII digits, as libraries write it."""
    if not isinstance(text, str) or not _DECIMAL.fullmatch(text):
        raise ValueError(f"{str(text)[:30]!r} is not a decimal number")
    return float(text)


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


def shortest_decimals(values: NDArray[np.float32]) -> list[float]:
    """The shortest decimals that `nearest_float32` takes for these."""
    return [float(str(value)) for value in values]


def read_json(
    text: str, parse_float: Callable[[str], float] = float, parse_int: Callable[[str], int] = int
) -> Any:
    """A JSON value without repeated keys, which every library settles in its own way, and without NaN."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            raise ValueError("a key is there twice")
        return made

    return json.loads(
        text,
        parse_float=parse_float,
        parse_int=parse_int,
        parse_constant=read_decimal,
        object_pairs_hook=unique,
    )


def check_keys(given: Any, known: Collection[str], needed: Iterable[str] = ()) -> None:
    """Refuse what is no JSON object, has keys beyond the known ones, or lacks needed ones."""
    if not isinstance(given, Mapping):
        raise TypeError("a part of it is not an object")
    for name in given:
        if name not in known:
            raise ValueError(f"the key {name[:40]!r} is not known")
    for name in needed:
        if name not in given:
            raise KeyError(name)


# -- two readings --------------------------------------------------------------------------------------------


def same_arrays(one: Any, other: Any) -> bool:
    """Whether two readings are the same, to the last bit of every number."""
    if isinstance(one, np.ndarray):
        return (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())
    if is_dataclass(one):
        return type(one) is type(other) and all(
            same_arrays(getattr(one, each.name), getattr(other, each.name))
            for each in fields(one)
            if each.compare
        )
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(same_arrays, one, other))
    if isinstance(one, Mapping):
        return one.keys() == other.keys() and all(same_arrays(one[key], other[key]) for key in one)
    return type(one) is type(other) and bool(one == other)


def check_same(stored: Any, loaded: Any, library: str) -> None:
    """Refuse a file whose model the library says back in another way than it was read."""
    if not same_arrays(stored, loaded):
        raise UnsupportedModel(
            f"is not taken by {library} for the model that was read from it",
            hint=f"save it again with the {library} that is installed",
        )


# -- trees ---------------------------------------------------------------------------------------------------


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
    """Where rows end: `inner` says which nodes are no leaves, the other two where a value goes at nodes that
    test a number, and at one that tests categories."""
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
    """Scikit-learn's verbs, made of scores and of what the library makes of them; `stand_in` is who answers,
    if not the library; `decides` that
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
