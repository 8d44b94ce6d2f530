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

from likewise.importers.transformers.traced_columns import (
    Arithmetic,
    DerivedColumn,
    Line,
    Operation,
    Step,
    TableFunction,
    TracedColumn,
    exact_parameter,
    exact_scale,
)
from likewise.spec.pieces import make_piecewise

CLIP = TableFunction(does="clips numbers")
MAX_ABS_RANGE = (-1, 1)  # what MaxAbsScaler clips to


def scale_columns(transformer: Any, columns: Sequence[TracedColumn], step: Step) -> list[DerivedColumn]:
    """Every column by the numbers that were fitted for it."""
    if getattr(transformer, "clip", False):
        return [DerivedColumn(i, _clip_action(transformer, i, step)) for i in range(len(columns))]
    return [
        DerivedColumn(i, Arithmetic(scaler_operations(transformer, i, step))) for i in range(len(columns))
    ]


def _clip_action(transformer: Any, column: int, step: Step) -> TableFunction:
    """The line between the ends of the range, and the ends beyond."""
    line = Arithmetic(scaler_operations(transformer, column, step)).on(Line())
    low, high = (exact_parameter(end, step) for end in getattr(transformer, "feature_range", MAX_ABS_RANGE))
    if line.slope <= 0 or low >= high:
        return CLIP
    cuts = [(end - line.offset) / line.slope for end in (low, high)]
    return replace(CLIP, spline=make_piecewise(cuts, [[low], [line.offset, line.slope], [high]]))


def scaler_operations(transformer: Any, column: int, step: Step) -> tuple[Operation, ...]:
    """What `transform` does to a column, in its order."""
    if step.kind == "MinMaxScaler":
        factor, shift = transformer.scale_[column], transformer.min_[column]
        return Operation("times", exact_scale(factor, step)), Operation("plus", exact_parameter(shift, step))
    centre, scale = _centres_and_scales(transformer, step.kind)
    minus = () if centre is None else (Operation("plus", -exact_parameter(centre[column], step)),)
    over = () if scale is None else (Operation("over", _divisor(scale[column], step)),)
    return (*minus, *over)


def inverse_operations(transformer: Any, step: Step) -> tuple[Operation, ...]:
    """What `inverse_transform` does to the one column of a prediction."""
    if step.kind == "MinMaxScaler":
        shift, factor = transformer.min_[0], transformer.scale_[0]
        return Operation("plus", -exact_parameter(shift, step)), Operation("over", _divisor(factor, step))
    centre, scale = _centres_and_scales(transformer, step.kind)
    times = () if scale is None else (Operation("times", exact_scale(scale[0], step)),)
    plus = () if centre is None else (Operation("plus", exact_parameter(centre[0], step)),)
    return (*times, *plus)


def _centres_and_scales(transformer: Any, kind: str) -> tuple[Any, Any]:
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
    number = exact_scale(value, step)
    if number == 0:
        step.refuse("divides by zero", hint="fit it again: scikit-learn stores 1 for constant columns")
    return number


HANDLERS = dict.fromkeys(("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"), scale_columns)
