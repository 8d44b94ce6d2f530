"""Grouping: levels of a kernel model that are alike, or at the ground (section 20 of spec/certificate-v1.md).

Positions with equal columns are one group q. A feature is grouped if the squared distances of every term t have one of the forms

    D_t(q) = beta_t - d [q = s_t]                              one-hot columns that several levels share: infrequent ones, bins
    D_t(q) = beta_t - d [q = s_t] + d/2 [q is not the ground]  a level whose columns are all 0: dropped, or unknown

exactly, which is why it is looked for in rationals: the checker refuses what only looks like it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.kernel.rbf.terms import NO_GROUND, GroupedAxis

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.embedding import Column

    Floats = NDArray[np.float64]

Row = tuple[Fraction, ...]
NOWHERE = -1
MOST_DISTANCES = 3  # different ones of a term: at the ground, at its own group, elsewhere
DIGITS = 9  # to which distances are compared before they are compared exactly


@dataclass(frozen=True, slots=True, kw_only=True)
class _Way:
    """d, and beta_t and s_t of each row of distances."""

    distance: Fraction
    betas: tuple[Fraction, ...]
    own: tuple[int, ...]
    ground: int


def grouped_axis(columns: Sequence[Column], centres: Floats) -> GroupedAxis | None:
    """The axis of a feature with these columns, tables of its levels, and the terms' centres in them; None where it is not grouped."""
    tables = [column.table for column in columns if column.table is not None]
    if len(tables) < 2 or len(tables) != len(columns):
        return None
    numbers: dict[Row, int] = {}
    groups = [numbers.setdefault(values, len(numbers)) for values in zip(*tables, strict=True)]
    distinct, back = np.unique(centres, axis=0, return_inverse=True)
    if len(numbers) < 2 or not _may_be_grouped(list(numbers), distinct):
        return None
    rows = [_distances(values, list(numbers)) for values in distinct.tolist()]
    way = next(_ways(rows), None)
    if way is None:
        return None
    places = back.ravel()
    return GroupedAxis(
        distance=float(way.distance),
        groups=np.array(groups, dtype=np.int64),
        places=np.array(way.own, dtype=np.int64)[places],
        betas=np.array([float(beta) for beta in way.betas])[places],
        ground=way.ground,
    )


def _may_be_grouped(groups: Sequence[Row], centres: Floats) -> bool:
    """Whether rounded distances look like it: most features that are not are found out here."""
    vectors = np.array([[float(value) for value in row] for row in groups])
    for centre in centres:
        apart = ((vectors - centre) ** 2).sum(axis=1)
        scale = max(float(apart.max()), 1e-300)
        if len(np.unique(np.round(apart / scale, DIGITS))) > MOST_DISTANCES:
            return False
    return True


def _distances(centre: Sequence[float], groups: Sequence[Row]) -> Row:
    """D_t by group."""
    here = [Fraction(value) for value in centre]
    return tuple(sum(((a - b) ** 2 for a, b in zip(row, here, strict=True)), Fraction(0)) for row in groups)


def _ways(rows: Sequence[Row]) -> Iterator[_Way]:
    """Without ground first, then with each group as the ground."""
    tops = tuple(max(row) for row in rows)
    steps = {top - value for row, top in zip(rows, tops, strict=True) for value in row if value != top}
    own = _own_groups(rows, tops)
    if len(steps) == 1 and own is not None:
        yield _Way(distance=steps.pop(), betas=tops, own=own, ground=NO_GROUND)
    for ground in range(len(rows[0])):
        betas = tuple(row[ground] for row in rows)
        steps = {
            abs(value - beta)
            for row, beta in zip(rows, betas, strict=True)
            for q, value in enumerate(row)
            if q != ground
        }
        own = _own_groups(rows, betas)
        if len(steps) == 1 and 0 not in steps and own is not None:
            yield _Way(distance=2 * steps.pop(), betas=betas, own=own, ground=ground)


def _own_groups(rows: Sequence[Row], betas: Sequence[Fraction]) -> tuple[int, ...] | None:
    """The group of each row that is nearer than beta; None if there are two."""
    nearer = [
        [q for q, value in enumerate(row) if value < beta] for row, beta in zip(rows, betas, strict=True)
    ]
    if any(len(found) > 1 for found in nearer):
        return None
    return tuple(found[0] if found else NOWHERE for found in nearer)
