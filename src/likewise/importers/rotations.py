"""Rotations in front of an RBF kernel: `PCA` with all its components turns the columns and leaves distances as they are.

With mixed columns W x + c of the base columns x, and rho_t = W z_t + c - s_t for any z_t,

    |W x + c - s_t|  is within |rho_t| of |W (x - z_t)|,   and   |W (x - z_t)|^2 is within eps |x - z_t|^2 of |x - z_t|^2,   eps >= |W^T W - 1|.

So exp(-gamma |W x + c - s_t|^2) is within sqrt(2 gamma / e) |rho_t| + eps of exp(-gamma |x - z_t|^2) (eps < 1/2): a sum of Gaussians over the base columns, with centres z_t = W^T (s_t - c). Stored rotations are exact to
the last digits only, so that eps and rho are some 1e-15; that is a part of the error that is stated of the program (`RotatedRounding`), as are its own sums. Where a z_tc lies that near to what a table gives at one of its levels, it is put there: rows of
training data have one-hot columns.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.kernel.body import RbfSum, kernel_body
from likewise.families.kernel.rounding import KernelRounding, kernel_rounding
from likewise.families.program_rounding import (
    DENORMAL_LOSS,
    DOUBLE_BITS,
    EXTRA_ROUNDINGS,
    OUTWARD_FACTOR,
    ErrorBound,
    round_outward,
    rounding_growth,
)
from likewise.families.scored_model import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.mixed_columns import ExpandedColumn
    from likewise.model.embedding import Column
    from likewise.spec.space import Space

    Floats = NDArray[np.float64]

UNIT_ROUNDOFF = 2.0**-53
MOST_AWAY = 1e-9  # of W^T W from 1: rotations that were stored are a million times nearer


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RotatedRounding(KernelRounding):
    """Of a program that mixes its columns first. `apart` bounds how far each Gaussian is from that of the mixed columns; `sizes` and `constants` are of the mixed
    columns' terms, `inner` their roundings, `lengths` those of the program's own centres."""

    apart: Floats
    sizes: Floats
    constants: Floats
    inner: int
    lengths: Floats

    def error(self, body: RbfSum, columns: Sequence[float]) -> float:
        mixed = self.sizes @ np.abs(columns) + self.constants
        roundings = self.inner + max((k for k, _ in self.columns), default=0)
        slack = float((self.sizes @ np.array([s for _, s in self.columns])).sum()) if self.columns else 0.0
        lost = 1.0
        if self.expanded:
            lost += body.gamma * (float((mixed**2).sum()) + float((self.lengths**2).max()))
        size, terms = float(np.abs(body.coefficients).sum()), len(body.coefficients)
        moved = math.sqrt(2 * body.gamma / math.e) * roundings * (float(mixed.sum()) + slack)
        program = size * (terms + (len(columns) + 4) * lost + moved) + abs(body.bias) + terms * self.more
        return 16 * UNIT_ROUNDOFF * program + 2 * float(np.abs(body.coefficients) @ self.apart)

    def bound(self, model: Model, space: Space) -> ErrorBound | None:
        body = kernel_body(model.body)
        if not self.described or self.bits != DOUBLE_BITS or body is None:
            return None
        roundings, reach = self.reach(model, space)
        mixed = (self.sizes @ reach + self.constants) * OUTWARD_FACTOR
        sizes, terms, width = np.abs(body.coefficients), len(body.coefficients), len(mixed)
        moved = math.sqrt(2 * body.gamma / math.e) * rounding_growth(roundings + self.inner)
        off = self.apart + (
            moved * float(mixed.sum())
            + 2 * rounding_growth(width + EXTRA_ROUNDINGS)
            + DENORMAL_LOSS * body.gamma
        )
        if self.expanded:
            lengths = float(np.sqrt((mixed**2).sum())) + self.lengths
            growth = body.gamma * rounding_growth(width + EXTRA_ROUNDINGS) * lengths**2
            off = off + np.minimum(1.0, np.expm1(growth * OUTWARD_FACTOR))
        size = 2 * float(sizes.sum()) + abs(body.bias) + 2 * self.more
        return round_outward(float(sizes @ off) + rounding_growth(terms + EXTRA_ROUNDINGS) * size, size)


def rotate_back(model: Model, columns: Sequence[ExpandedColumn], base: tuple[Column, ...]) -> Model | None:
    """An RBF kernel on columns that are a rotation of the base columns, as one on those; None where they are not."""
    body, rounding = kernel_body(model.body), kernel_rounding(model.rounding)
    if body is None or rounding is None or len(columns) != len(base):
        return None
    places = range(len(base))
    matrix = np.array([[float(one.polynomial.get((c,), 0)) for c in places] for one in columns])
    shift = np.array([float(one.polynomial.get((), 0)) for one in columns])
    away = _distance_from_one(matrix)
    if away > MOST_AWAY:
        return None
    centres = _snapped((body.centres - shift) @ matrix, base)
    rho = _residuals(matrix, shift, centres, body.centres)
    steepest = math.sqrt(2 * body.gamma / math.e)
    told = RotatedRounding(
        expanded=rounding.expanded,
        more=rounding.more,
        bits=rounding.bits,
        described=rounding.described,
        apart=(steepest * rho + away) * OUTWARD_FACTOR,
        sizes=np.array([[one.sizes.get((c,), 0.0) for c in places] for one in columns]),
        constants=np.array([one.sizes.get((), 0.0) for one in columns]),
        inner=max(one.roundings for one in columns),
        lengths=np.sqrt((body.centres**2).sum(axis=1)) * OUTWARD_FACTOR,
    )
    made = RbfSum(gamma=body.gamma, bias=body.bias, coefficients=body.coefficients, centres=centres)
    return Model(family=model.family, rounding=told, embedding=base, bodies=(made,), head=model.head)


def _distance_from_one(matrix: Floats) -> float:
    """At least |W^T W - 1|: the largest sum of a row of it, and what rounding its entries and sums costs."""
    sizes = np.abs(matrix).T @ np.abs(matrix)
    off = np.abs(matrix.T @ matrix - np.eye(matrix.shape[1])) + (len(matrix) + 8) * UNIT_ROUNDOFF * (
        1 + sizes
    )
    return float(off.sum(axis=1).max()) * OUTWARD_FACTOR


def _residuals(matrix: Floats, shift: Floats, centres: Floats, given: Floats) -> Floats:
    """At least |rho_t|."""
    off = np.abs(centres @ matrix.T + shift - given)
    sizes = np.abs(centres) @ np.abs(matrix).T + np.abs(shift) + np.abs(given)
    off += (matrix.shape[1] + 8) * UNIT_ROUNDOFF * sizes
    lengths: Floats = np.sqrt((off**2).sum(axis=1)) * OUTWARD_FACTOR
    return lengths


def _snapped(centres: Floats, base: tuple[Column, ...]) -> Floats:
    """Centres at what tables give, where they are all but there."""
    made = centres.copy()
    for c, column in enumerate(base):
        for value in set(column.entries) if column.table is not None else ():
            made[np.abs(made[:, c] - value) < MOST_AWAY * (1 + abs(value)), c] = value
    return made
