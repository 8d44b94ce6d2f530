"""Groups of dummies: columns of 0 and 1 that are the categories of one column, as `pandas.get_dummies`
writes them, taken for features of their own.

A space of such columns without a constraint has people with two categories at once. Pairs and counts would
be about them.

A group is all columns of 0 and 1 whose names begin alike, up to a separator, if no row has two ones. Rare
flags have that by chance: with p_i the share of ones in column i
and n rows, so many would have two if the columns were independent,

    n (1 - prod (1 - p_i) - sum_i p_i prod_{j != i} (1 - p_j)),

and where that is below `FEWEST_EXPECTED`, nothing is said.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.spec.features import Categorical, Feature, Ordinal
from likewise.spec.tokens import quoted_name

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.constraints import Constraint
    from likewise.spec.space import Space

FEWEST_EXPECTED = 7.0  # exp(-7) is about 1 in 1,000
SEPARATOR = re.compile(r"[^0-9A-Za-z]+|(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class DummyGroup:
    """Columns of which each row has at most one 1, or exactly one."""

    columns: tuple[str, ...]
    exact: bool

    @property
    def rule(self) -> str:
        """The constraint that says so."""
        return f"{' + '.join(map(quoted_name, self.columns))} {'==' if self.exact else '<='} 1"

    @property
    def stats(self) -> dict[str, Any]:
        """What an answer tells of it."""
        return {"columns": list(self.columns), "rule": self.rule}


def undeclared_groups(space: Space, codes: NDArray[np.float64]) -> tuple[DummyGroup, ...]:
    """The groups among the features, by the codes of rows, that no constraint of the space declares."""
    ones: dict[str, NDArray[np.bool_]] = {}
    for k, (name, feature) in enumerate(space.features.items()):
        places = _zero_and_one(feature)
        if places is not None and np.isin(codes[:, k], places).all():
            ones[name] = codes[:, k] == places[1]
    begun: dict[str, list[str]] = {}
    for name in ones:
        for separator in SEPARATOR.finditer(name):
            if separator.start() > 0 and separator.end() < len(name):
                begun.setdefault(name[: separator.start()], []).append(name)
    found: list[DummyGroup] = []
    for beginning in sorted(begun, key=len):  # the widest ones first
        columns = tuple(begun[beginning])
        taken = {name for group in found for name in group.columns}
        if len(columns) > 1 and taken.isdisjoint(columns) and _excludes(columns, ones):
            found.append(DummyGroup(columns, bool(np.any([ones[name] for name in columns], axis=0).all())))
    return tuple(group for group in found if not any(_declares(one, group) for one in space.constraints))


def _zero_and_one(feature: Feature) -> tuple[float, float] | None:
    """The codes of 0 and 1, where a feature has no others but numbers between them."""
    if feature.missing:
        return None
    if isinstance(feature, (Categorical, Ordinal)):
        levels = list(feature.levels)
        same = sorted(map(str, levels)) in (["0", "1"], ["0.0", "1.0"], ["False", "True"])
        return (
            (float(levels.index(0)), float(levels.index(1))) if same and 1 in levels and 0 in levels else None
        )
    return (0.0, 1.0) if (feature.lo, feature.hi) == (0, 1) else None


def _excludes(columns: Sequence[str], ones: Mapping[str, NDArray[np.bool_]]) -> bool:
    """Whether no row has two ones, and by more than chance."""
    table = np.stack([ones[name] for name in columns], axis=1)
    if (table.sum(axis=1) > 1).any():
        return False
    shares = table.mean(axis=0)
    none = [np.prod(np.delete(1 - shares, i)) for i in range(len(shares))]
    several = 1 - np.prod(1 - shares) - sum(share * rest for share, rest in zip(shares, none, strict=True))
    return bool(len(table) * several >= FEWEST_EXPECTED)


def _declares(constraint: Constraint, group: DummyGroup) -> bool:
    """Whether a constraint says that the sum is at most 1, whatever else it adds up."""
    by = dict(constraint.coefficients)
    times = by.get(group.columns[0])
    return (
        times is not None
        and constraint.bound == times > 0
        and all(by.get(name) == times for name in group.columns)
        and min(by.values()) > 0
    )
