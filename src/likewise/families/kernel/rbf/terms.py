"""The one-copy problem as arrays: a sum of Gaussians over the axes that both individuals share.

    F(x) = sum_t c_t exp( -gamma ( rest_t + sum_k D_tk(x_k) ) )

An axis is one shared feature. On a numeric axis D_tk = (z_k - centre_tk)^2 in the *embedded* coordinate z_k: the code
times `scale`, or the entry of a table. Several columns of one feature fold into one: with A = sum slope^2 and
B_t = sum slope (centre - offset),

    sum over columns (offset + slope x - centre)^2 = (sqrt(A) x - B_t / sqrt(A))^2 + rest_t.

On a one-hot axis D_tk is 0 at the term's own position and d_k at every other one; zeta_k = gamma d_k. A *grouped* one (section 20 of spec/certificate-v1.md) is the same of groups of
positions that are alike, about a number a term, and perhaps with a *ground*, a group that all others are d_k / 2 further away than:

    D_tk = beta_t - d_k [own group] + d_k / 2 [not the ground].

The c_t are no part of `Terms`: they depend on the values of the features that may differ and on the lean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.compiled import compiled

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Kinds of axes; plain ints, because compiled code compares them.
CONTINUOUS, WHOLE, TABLE, ONE_HOT = 0, 1, 2, 3
NO_GROUND = -1
NOT_GROUPED = -1  # as the group of a position


class Terms(NamedTuple):
    """Arrays of the one-copy problem, by axis (k) and term (t). A named tuple: compiled code takes it as it is."""

    gamma: float
    kind: Ints  # [k]
    scale: Floats  # [k] embedded coordinate of one code; 0 on tables and one-hot axes
    table: Floats  # [k, position] embedded coordinate of a position; 0 elsewhere
    zeta: Floats  # [k] gamma times the mismatch of a one-hot axis; 0 elsewhere
    base: Floats  # [k] gamma beta of a one-hot axis that is not grouped, zeta; 0 elsewhere: the beta_t of grouped ones are in `rest`
    group: Ints  # [k, position] of a grouped axis; NOT_GROUPED on others
    ground: Ints  # [k] the group of it, NO_GROUND for none
    centre: Floats  # [k, t] embedded coordinate of the term; 0 on one-hot axes
    place: Ints  # [k, t] group of the term on a one-hot axis; 0 elsewhere
    rest: Floats  # [t] part of the squared distance that no axis changes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SlopedAxis:
    """A continuous (or whole) feature with columns offset + slope * code; centres of shape (terms, columns)."""

    slopes: Floats
    offsets: Floats
    centres: Floats
    whole: bool


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TableAxis:
    """A feature with levels and one column: its value at each position; centres of shape (terms,)."""

    values: Floats
    centres: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OneHotAxis:
    """A feature with levels, each at the same squared distance from every other; places of shape (terms,)."""

    distance: float
    places: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupedAxis:
    """A grouped feature: groups of shape (levels,), places (a group, or -1) and betas of shape (terms,)."""

    distance: float
    groups: Ints
    places: Ints
    betas: Floats
    ground: int


Axis = SlopedAxis | TableAxis | OneHotAxis | GroupedAxis


def shared_terms(*, gamma: float, axes: Sequence[Axis], terms: int) -> Terms:
    """Lay the shared features out as arrays, in the order given (the feature order, for certificates)."""
    levels = max((len(axis.values) for axis in axes if isinstance(axis, TableAxis)), default=1)
    positions = max((len(axis.groups) for axis in axes if isinstance(axis, GroupedAxis)), default=1)
    found = Terms(
        gamma=float(gamma),
        kind=np.zeros(len(axes), dtype=np.int64),
        scale=np.zeros(len(axes)),
        table=np.zeros((len(axes), levels)),
        zeta=np.zeros(len(axes)),
        base=np.zeros(len(axes)),
        group=np.full((len(axes), positions), NOT_GROUPED, dtype=np.int64),
        ground=np.full(len(axes), NO_GROUND, dtype=np.int64),
        centre=np.zeros((len(axes), terms)),
        place=np.zeros((len(axes), terms), dtype=np.int64),
        rest=np.zeros(terms),
    )
    for k, axis in enumerate(axes):
        match axis:
            case SlopedAxis():
                found.kind[k] = WHOLE if axis.whole else CONTINUOUS
                _fold_columns(found, k, axis)
            case TableAxis():
                found.kind[k] = TABLE
                found.table[k, : len(axis.values)] = axis.values
                found.centre[k] = axis.centres
            case OneHotAxis():
                found.kind[k] = ONE_HOT
                found.zeta[k] = found.base[k] = gamma * axis.distance
                found.place[k] = axis.places
            case GroupedAxis():
                found.kind[k] = ONE_HOT
                found.zeta[k] = gamma * axis.distance
                found.group[k, : len(axis.groups)] = axis.groups
                found.ground[k] = axis.ground
                found.place[k] = axis.places
                found.rest[:] += axis.betas
    return found


def _fold_columns(found: Terms, k: int, axis: SlopedAxis) -> None:
    away = axis.centres - axis.offsets
    scale = float(np.sqrt(np.sum(axis.slopes**2)))
    found.scale[k] = scale
    if scale > 0:
        found.centre[k] = away @ axis.slopes / scale
    # Cancellation can leave a tiny negative number where one column leaves nothing.
    found.rest[:] += np.maximum(np.sum(away**2, axis=1) - found.centre[k] ** 2, 0.0)


@compiled
def drop_zero_terms(terms: Terms, coefficients: Floats) -> tuple[Terms, Floats]:
    """Leave out the terms with coefficient 0.

    With one free feature and equal weights those are all whose own value is neither of the two compared.
    """
    axes, count = len(terms.kind), 0
    live = np.empty(len(coefficients), np.int64)
    for t in range(len(coefficients)):
        if coefficients[t] != 0.0:
            live[count] = t
            count += 1
    centre, place = np.empty((axes, count)), np.empty((axes, count), np.int64)
    rest, left = np.empty(count), np.empty(count)
    for n in range(count):
        rest[n], left[n] = terms.rest[live[n]], coefficients[live[n]]
        for k in range(axes):
            centre[k, n] = terms.centre[k, live[n]]
            place[k, n] = terms.place[k, live[n]]
    kept = Terms(
        terms.gamma,
        terms.kind,
        terms.scale,
        terms.table,
        terms.zeta,
        terms.base,
        terms.group,
        terms.ground,
        centre,
        place,
        rest,
    )
    return kept, left


@compiled
def group_at(terms: Terms, k: int, position: int) -> int:
    """The group of a position on a one-hot axis: the position itself where it is not grouped."""
    group = terms.group[k, min(position, terms.group.shape[1] - 1)]
    return position if group == NOT_GROUPED else group


@compiled
def allowed_groups(terms: Terms, k: int, lo: float, hi: float) -> tuple[Ints, int]:
    """By group of a one-hot axis its place among those of the positions from lo to hi, in their order, and how many there are; -1 for the others."""
    first, last = int(lo), int(hi)
    grouped = terms.group[k, 0] != NOT_GROUPED
    slots = np.full(terms.group.shape[1] if grouped else last + 1, -1, np.int64)
    for position in range(first, last + 1):
        slots[group_at(terms, k, position)] = 0
    count = 0
    for group in range(len(slots)):
        if slots[group] == 0:
            slots[group] = count
            count += 1
    return slots, count


@compiled
def slot_of(slots: Ints, group: int) -> int:
    """The place of a group among those allowed, -1 for none."""
    return slots[group] if 0 <= group < len(slots) else -1


@compiled
def ground_rise(terms: Terms, k: int, slots: Ints) -> float:
    """What all groups allowed have in common, times gamma, because the ground is not among them."""
    ground = terms.ground[k]
    return 0.5 * terms.zeta[k] if ground != NO_GROUND and slot_of(slots, ground) < 0 else 0.0
