"""Kernels of columns that are mixed or bent: behind a linear map that is no rotation (reduced `PCA`, `TruncatedSVD`), on bins, splines and numbers with an indicator, and Laplacian ones.

    z_j = constant_j + sum_c factor_jc column_c,      f = bias + sum_t a_t exp(-gamma dist(z, s_t))

The sums are those of the pipeline, multiplied out in rationals; centres stay what the model has stored, in the space of the sums (`families.mixed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.kernel.body import kernel_body
from likewise.families.kernel.rounding import kernel_rounding
from likewise.families.mixed.body import MixedSum, mixed_body
from likewise.families.mixed.rounding import MixedRounding, mixed_rounding
from likewise.families.scored_model import Model

if TYPE_CHECKING:
    from likewise.importers.mixed_columns import ExpandedColumn
    from likewise.model.embedding import Column


def plain_sums(count: int) -> tuple[tuple[Fraction, tuple[tuple[int, Fraction], ...]], ...]:
    """Every column by itself."""
    return tuple((Fraction(0), ((c, Fraction(1)),)) for c in range(count))


def bumps_of(model: Model) -> Model | None:
    """A kernel model as one of sums, each of one column; None for other models."""
    body, rounding = kernel_body(model.body), kernel_rounding(model.rounding)
    if mixed_body(model.body) is not None:
        return model
    if body is None or rounding is None:
        return None
    width = len(model.embedding)
    made = MixedSum(
        shape="gaussian",
        gamma=body.gamma,
        bias=body.bias,
        coefficients=body.coefficients,
        centres=body.centres,
        sums=plain_sums(width),
    )
    told = replace(
        plain_rounding(width, expanded=rounding.expanded),
        columns=rounding.columns,
        described=rounding.described,
        more=rounding.more,
        bits=rounding.bits,
    )
    return replace(model, bodies=(made,), rounding=told)


def plain_rounding(width: int, *, expanded: bool) -> MixedRounding:
    """Of a program that takes its columns as they are."""
    return MixedRounding(expanded=expanded, sizes=np.eye(width), constants=np.zeros(width), inner=0)


def mix_kernel(model: Model, columns: Sequence[ExpandedColumn], base: tuple[Column, ...]) -> Model | None:
    """A kernel model on sums of base columns; None for other models."""
    bumps = bumps_of(model)
    body, rounding = (
        (None, None) if bumps is None else (mixed_body(bumps.body), mixed_rounding(bumps.rounding))
    )
    if bumps is None or body is None or rounding is None or body.sums != plain_sums(len(columns)):
        return None
    places = range(len(base))
    sums = tuple(
        (
            one.polynomial.get((), Fraction(0)),
            tuple((c, one.polynomial[c,]) for c in places if one.polynomial.get((c,))),
        )
        for one in columns
    )
    told = replace(
        rounding,
        sizes=np.array([[one.sizes.get((c,), 0.0) for c in places] for one in columns]),
        constants=np.array([one.sizes.get((), 0.0) for one in columns]),
        inner=max(one.roundings for one in columns),
    )
    made = MixedSum(
        shape=body.shape,
        gamma=body.gamma,
        bias=body.bias,
        coefficients=body.coefficients,
        centres=body.centres,
        sums=sums,
    )
    return replace(bumps, bodies=(made,), embedding=base, rounding=told)
