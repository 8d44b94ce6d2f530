"""Scalers: x -> (x - m) / s and x -> x s + m by stored doubles, and back.

StandardScaler   (x - mean_) / scale_            MaxAbsScaler   x / scale_
RobustScaler     (x - center_) / scale_          MinMaxScaler   x * scale_ + min_

`clip=True` of MinMaxScaler and MaxAbsScaler bends the line at both ends: a table, or of a continuous number a function in
three pieces. The way back is what TransformedTargetRegressor does to a prediction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from likewise.importers.transformers.tracing import (
    Arithmetic,
    Derived,
    Line,
    Operation,
    Step,
    Tabulated,
    Traced,
    scale_of,
    stored,
)
from likewise.spec.pieces import pieces_of

CLIPPED = Tabulated(does="clips numbers")
WHOLE = (-1, 1)  # what MaxAbsScaler clips to


def scaled(transformer: Any, columns: Sequence[Traced], step: Step) -> list[Derived]:
    """Every column by the numbers that were fitted for it."""
    if getattr(transformer, "clip", False):
        return [Derived(i, _clipped(transformer, i, step)) for i in range(len(columns))]
    return [Derived(i, Arithmetic(operations(transformer, i, step))) for i in range(len(columns))]


def _clipped(transformer: Any, column: int, step: Step) -> Tabulated:
    """The line between the ends of the range, and the ends beyond."""
    line = Arithmetic(operations(transformer, column, step)).on(Line())
    low, high = (stored(end, step) for end in getattr(transformer, "feature_range", WHOLE))
    if line.slope <= 0 or low >= high:
        return CLIPPED
    cuts = [(end - line.offset) / line.slope for end in (low, high)]
    return replace(CLIPPED, spline=pieces_of(cuts, [[low], [line.offset, line.slope], [high]]))


def operations(transformer: Any, column: int, step: Step) -> tuple[Operation, ...]:
    """What `transform` does to a column, in its order."""
    if step.kind == "MinMaxScaler":
        factor, shift = transformer.scale_[column], transformer.min_[column]
        return Operation("times", scale_of(factor, step)), Operation("plus", stored(shift, step))
    centre, scale = _parts(transformer, step.kind)
    minus = () if centre is None else (Operation("plus", -stored(centre[column], step)),)
    over = () if scale is None else (Operation("over", _divisor(scale[column], step)),)
    return (*minus, *over)


def inverse_operations(transformer: Any, step: Step) -> tuple[Operation, ...]:
    """What `inverse_transform` does to the one column of a prediction."""
    if step.kind == "MinMaxScaler":
        shift, factor = transformer.min_[0], transformer.scale_[0]
        return Operation("plus", -stored(shift, step)), Operation("over", _divisor(factor, step))
    centre, scale = _parts(transformer, step.kind)
    times = () if scale is None else (Operation("times", scale_of(scale[0], step)),)
    plus = () if centre is None else (Operation("plus", stored(centre[0], step)),)
    return (*times, *plus)


def _parts(transformer: Any, kind: str) -> tuple[Any, Any]:
    """The fitted centres and scales, None where the scaler was told not to use them."""
    if kind == "StandardScaler":
        return (
            transformer.mean_ if transformer.with_mean else None,
            transformer.scale_ if transformer.with_std else None,
        )
    if kind == "RobustScaler":
        return (
            transformer.center_ if transformer.with_centering else None,
            transformer.scale_ if transformer.with_scaling else None,
        )
    return None, transformer.scale_


def _divisor(value: Any, step: Step) -> Any:
    number = scale_of(value, step)
    if number == 0:
        step.refuse("divides by zero", hint="fit it again: scikit-learn stores 1 for constant columns")
    return number


HANDLERS = dict.fromkeys(("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"), scaled)
