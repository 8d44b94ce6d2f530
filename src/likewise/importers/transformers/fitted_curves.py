"""Fitted curves: monotone functions of one number with fitted parameters, as `monotone` takes them beside numpy's own.

    PowerTransformer      Box-Cox or Yeo-Johnson with a fitted power, then (g - mean) / scale
    QuantileTransformer   where a number stands among the fitted quantiles, between 0 and 1, or the normal quantile of that

All of them rise. How far what a program computes may be from the function, with u = 2^-53 and numpy's logarithms and exponentials right within 8 roundings:

    powers       (1 + x)^p - 1 is expm1(z) with z = p log1p(x), off by at most (1 + max(z, 0)) 10 u + 8 u of itself, and z <= 710 where that is a double: 2^13 u
                 of the largest |g|, and a few roundings of (|g| + |mean|) / scale
    quantiles    straight lines between stored points, 8 u each, and their mean: 16 u
    normal ones  their slope is below 2^21 where they are not cut off, at 10^-7: 2^25 u

`slack` and `room` are well above twice that, see `MonotoneMap.line` and `MonotoneMap.range`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from likewise.importers.transformers.traced_columns import Step, exact_parameter, exact_scale

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

BOUNDS_THRESHOLD = 1e-7  # scikit-learn's: nearer to the ends than this, normal quantiles are cut off
POWER_SLACK, POWER_ROOM = 2.0**11, 2.0**-36
UNIFORM_SLACK, UNIFORM_ROOM = 2.0**4, 2.0**-44
NORMAL_SLACK, NORMAL_ROOM = 2.0**23, 2.0**-24


@dataclass(frozen=True, slots=True, kw_only=True)
class FittedPower:
    """A column of a fitted PowerTransformer."""

    method: Literal["box-cox", "yeo-johnson"]
    power: float
    mean: float = 0.0
    scale: float = 1.0

    @property
    def __name__(self) -> str:
        return "power"

    def _bent(self, number: float) -> float:
        power = self.power
        if self.method == "box-cox":
            from scipy.special import boxcox

            return float(boxcox(number, power))
        rising, size = (number >= 0), abs(number)
        if not rising:
            power = 2 - power
        z = np.log1p(size)
        bent = z if abs(power) < np.finfo(np.float64).eps else np.expm1(power * z) / power
        return float(bent) if rising else -float(bent)

    def __call__(self, number: float) -> float:
        return (self._bent(number) - self.mean) / self.scale

    def rises(self, lo: float, hi: float) -> bool:  # noqa: ARG002
        """Box-Cox is for numbers above 0."""
        return lo > 0 or self.method == "yeo-johnson"

    def _size(self, lo: float, hi: float) -> float:
        return (max(abs(self._bent(lo)), abs(self._bent(hi))) + abs(self.mean)) / self.scale

    def slack(self, lo: float, hi: float) -> float:
        """As of a `Line` after 16 roundings, for numbers between lo and hi."""
        return POWER_SLACK * self._size(lo, hi)

    def room(self, lo: float, hi: float) -> float:
        """How far beyond its values at lo and hi the program may get."""
        return POWER_ROOM * self._size(lo, hi)


@dataclass(frozen=True, kw_only=True)
class FittedQuantiles:
    """A column of a fitted QuantileTransformer."""

    quantiles: tuple[float, ...]
    references: tuple[float, ...]
    normal: bool

    @property
    def __name__(self) -> str:
        return "quantile"

    @cached_property
    def _points(self) -> tuple[Floats, Floats, Floats, Floats]:
        quantiles, references = np.array(self.quantiles), np.array(self.references)
        return quantiles, references, -quantiles[::-1], -references[::-1]

    def __call__(self, number: float) -> float:
        quantiles, references, falling, back = self._points
        share = float(0.5 * (np.interp(number, quantiles, references) - np.interp(-number, falling, back)))
        near = BOUNDS_THRESHOLD if self.normal else 0.0
        if number + near > quantiles[-1] or (not self.normal and number == quantiles[-1]):
            share = 1.0
        if number - near < quantiles[0] or (not self.normal and number == quantiles[0]):
            share = 0.0
        return _normal_quantile(share) if self.normal else share

    def rises(self, lo: float, hi: float) -> bool:  # noqa: ARG002
        """Always."""
        return True

    def slack(self, lo: float, hi: float) -> float:  # noqa: ARG002
        """As of a `Line` after 16 roundings; values are of absolute size 6 at most."""
        return NORMAL_SLACK if self.normal else UNIFORM_SLACK

    def room(self, lo: float, hi: float) -> float:  # noqa: ARG002
        """How far beyond its values at both ends the program may get."""
        return 6 * NORMAL_ROOM if self.normal else UNIFORM_ROOM


def _normal_quantile(share: float) -> float:
    from scipy.special import ndtri

    edge = BOUNDS_THRESHOLD - np.spacing(1)
    return float(np.clip(ndtri(share), ndtri(edge), ndtri(1 - edge)))


FittedCurve = FittedPower | FittedQuantiles


def fitted_power(transformer: Any, column: int, step: Step) -> FittedPower:
    """What a fitted PowerTransformer does to a column."""
    power = float(exact_parameter(transformer.lambdas_[column], step))
    if not transformer.standardize:
        return FittedPower(method=transformer.method, power=power)
    scaler = transformer._scaler
    return FittedPower(
        method=transformer.method,
        power=power,
        mean=float(exact_parameter(scaler.mean_[column], step)),
        scale=float(exact_scale(scaler.scale_[column], step)),
    )


def fitted_quantiles(transformer: Any, column: int, step: Step) -> FittedQuantiles:
    """What a fitted QuantileTransformer does to a column."""
    quantiles = np.asarray(transformer.quantiles_, dtype=np.float64)[:, column]
    references = np.asarray(transformer.references_, dtype=np.float64)
    if not (
        np.isfinite(quantiles).all() and (np.diff(quantiles) >= 0).all() and (np.diff(references) > 0).all()
    ):
        step.refuse("has quantiles that do not rise", hint="fit it again on finite numbers")
    if not math.isclose(references[0], 0) or not math.isclose(references[-1], 1):
        step.refuse("has references that do not go from 0 to 1", hint="fit it again")
    return FittedQuantiles(
        quantiles=tuple(quantiles.tolist()),
        references=tuple(references.tolist()),
        normal=transformer.output_distribution == "normal",
    )
