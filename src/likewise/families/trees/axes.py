"""Axes: the codes of a feature as indices, such that no test tells codes of one index apart.

    numbers   index i holds the codes above cut i - 1 and up to cut i (whole ones for integers), the cuts being the thresholds of
              all tests, so a test sends the indices up to its own cut left; a missing number has an index of its own, the last
    levels    index = position

`Axes` holds what compiled loops ask of them, by variable of pair space (u for x_k, w for x'_k), and how the two indices of a feature
that may differ go together: by `reach` for numbers within a tolerance, by a table for levels. The tolerance is asked of the
ends of index intervals as a certificate asks it of a leaf's box: the lower end of a box is the threshold itself (`reach_open`),
that of a cell the double after it (`reach_closed`).
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from likewise.families.trees.body import LEAF, TreeSum
from likewise.spec.features import Continuous, Integer
from likewise.spec.pairs import PairSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.similarity import Relation

    Ints = NDArray[np.int32]
    Flags = NDArray[np.bool_]

NO_MISSING = -1
ANY_CODES, BY_REACH, BY_TABLE = (
    0,
    1,
    2,
)  # how the two codes of a feature go together: any way, by reach, by table


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """The indices of one feature, as intervals of codes [first[i], last[i]]; `missing` is the index of a missing number."""

    first: tuple[float, ...]
    last: tuple[float, ...]
    whole: bool
    number: bool
    missing: int = NO_MISSING

    @property
    def size(self) -> int:
        return len(self.last)

    def index(self, code: float) -> int:
        """The index that holds a code."""
        return min(bisect_left(self.last, code), len(self.last) - 1)


class Axes(NamedTuple):
    """By variable: `sets` (indices that a test sends left need not be an interval), `missing`, `size`, `partner` (the other variable of a
    feature whose two codes go together in some way, else -1), and that way; tables of it by feature."""

    sets: Flags
    missing: Ints
    size: Ints
    feature: Ints
    partner: Ints
    way: Ints
    joined: Ints  # the first variables of the features with a way
    offset: NDArray[np.int64]  # into the tables, which are of the other variable of the feature by this one
    reach_open: Ints
    reach_closed: Ints
    beside: Flags


def axis_of(body: TreeSum, pairs: PairSpace, k: int) -> Axis:
    """The indices of a feature: cut at every threshold that some test has for it."""
    feature, variable = pairs.space[pairs.space.names[k]], pairs.variables[pairs.first[k]]
    lo, hi, whole = float(variable.lo), float(variable.hi), variable.discrete
    if not isinstance(feature, (Continuous, Integer)):
        codes = tuple(float(p) for p in range(int(hi) + 1))
        return Axis(first=codes, last=codes, whole=True, number=False)
    missing = variable.missing
    if missing is not None:
        hi = float(variable.last)
    tests = np.concatenate([tree.threshold[tree.feature == k] for tree in body.trees])
    cuts = np.unique(np.floor(tests) if whole else tests) + 0.0
    cuts = cuts[(cuts >= lo) & (cuts < hi)]
    last = [*cuts.tolist(), hi]
    first = [lo, *((cut + 1 if whole else math.nextafter(cut, math.inf)) for cut in cuts.tolist())]
    if missing is None:
        return Axis(first=tuple(first), last=tuple(last), whole=whole, number=True)
    return Axis(first=(*first, missing), last=(*last, missing), whole=whole, number=True, missing=len(last))


def axes_of(pairs: PairSpace, axes: list[Axis], sets: list[bool]) -> Axes:
    """The axes of all variables; `sets` by feature."""
    variables = [v for v in pairs.variables if v.side != "difference"]
    features = [variable.feature for variable in variables]
    ways = [_relation_kind(relation, axis) for relation, axis in zip(pairs.relations, axes, strict=True)]
    partner = [-1] * len(variables)
    for k, way in enumerate(ways):
        if way != ANY_CODES:
            partner[pairs.first[k]], partner[pairs.second[k]] = pairs.second[k], pairs.first[k]
    offset, reaches, tables = [], [np.zeros((2, 0), dtype=np.int32)], [np.zeros(0, dtype=bool)]
    for variable in variables:
        way, axis = ways[variable.feature], axes[variable.feature]
        relation = pairs.relations[variable.feature]
        if variable.side == "second":
            relation = relation.turned()
        offset.append(sum(part.shape[1] for part in reaches) if way == BY_REACH else sum(map(len, tables)))
        if way == BY_REACH:
            reaches.append(np.array(_compute_reaches(axis, relation), dtype=np.int32))
        if way == BY_TABLE:
            tables.append(
                np.array([relation.allows(p, q) for p in range(axis.size) for q in range(axis.size)])
            )
    reach = np.concatenate(reaches, axis=1)
    return Axes(
        sets=np.array([sets[k] for k in features]),
        missing=np.array([axes[k].missing for k in features], dtype=np.int32),
        size=np.array([axes[k].size for k in features], dtype=np.int32),
        feature=np.array(features, dtype=np.int32),
        partner=np.array(partner, dtype=np.int32),
        way=np.array([ways[k] for k in features], dtype=np.int32),
        joined=np.array([pairs.first[k] for k, way in enumerate(ways) if way != ANY_CODES], dtype=np.int32),
        offset=np.array(offset, dtype=np.int64),
        reach_open=reach[0],
        reach_closed=reach[1],
        beside=np.concatenate(tables),
    )


def _relation_kind(relation: Relation, axis: Axis) -> int:
    if relation.kind in ("same", "free"):
        return ANY_CODES
    return BY_REACH if axis.number else BY_TABLE


def _compute_reaches(axis: Axis, relation: Relation) -> tuple[list[int], list[int]]:
    """For each index the largest one of the other individual with a code that may stand beside its last or one below: lower ends open, and closed. Open ends of
    codes between limits are not reached themselves, those of codes within a tolerance count as if they were."""
    most, strict = relation.apart[1], relation.limits is not None and not axis.whole
    count = axis.size if axis.missing == NO_MISSING else axis.missing
    closed = [Fraction(code) for code in axis.first[:count]]
    opened = closed if axis.whole else [closed[0], *(Fraction(code) for code in axis.last[: count - 1])]
    found: tuple[list[int], list[int]] = ([], [])
    for ends, reach in zip((opened, closed), found, strict=True):
        top = -1
        for i in range(count):
            limit = Fraction(axis.last[i]) + most
            while top + 1 < count and _is_reached(
                ends[top + 1], limit, strict and ends is opened and top >= 0
            ):
                top += 1
            reach.append(top)
    return found


def _is_reached(end: Fraction, limit: Fraction, strict: bool) -> bool:
    return end < limit if strict else end <= limit


def features_with_sets(body: TreeSum, axes: list[Axis]) -> list[bool]:
    """For each feature whether some test of its levels sends neither the first nor the last few of them left."""
    found = [False] * len(axes)
    for k, levels in {
        (k, levels)
        for tree in body.trees
        for k, levels in zip(tree.feature[list(tree.levels)].tolist(), tree.levels.values(), strict=True)
    }:
        size = axes[k].size
        inside = sorted(p for p in levels if p < size)
        run = not inside or inside[-1] - inside[0] + 1 == len(inside)
        if k != LEAF and not (run and (not inside or inside[0] == 0 or inside[-1] == size - 1)):
            found[k] = True
    return found
