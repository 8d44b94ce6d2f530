"""Series: Taylor coefficients of functions of one number, in balls of python-flint.

A chain f_n(l_n(... f_1(l_1(x)))) of lines and functions is developed around a number, or around any number of a ball: then its coefficients are balls that hold those around each of them. What is not smooth there is not finite.

The normal quantile y of a share p is sqrt(2) erfinv(2 p - 1), and y' = p' sqrt(2 pi) exp(y^2 / 2): integrating that once more gives one more coefficient.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, arb_series, ctx, fmpq

from likewise.importers.transformers.fitted_curves import FittedPower
from likewise.importers.transformers.quantile_stretches import QuantileStretch
from likewise.importers.transformers.traced_columns import Line

if TYPE_CHECKING:
    from likewise.importers.transformers.fitted_curves import FittedCurve

ORDER = 7  # of the last coefficient
NOT_A_NUMBER = arb("nan")
SMALLEST_POWER = Fraction(1, 2**52)  # below it, in absolute value, scikit-learn takes a logarithm


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One function of a line."""

    line: Line
    function: np.ufunc | FittedCurve | QuantileStretch


Chain = tuple[Link, ...]


def ball_of(value: Fraction) -> arb:
    """A ball that holds a number."""
    return arb(fmpq(value.numerator, value.denominator))


def chain_series(chain: Chain, at: arb) -> list[arb]:
    """Taylor coefficients around a number, or around any number of a ball: not finite where the chain is not smooth."""
    return function_series(chain, on_line(chain[0].line, arb_series([at, 1])))


def chain_value(chain: Chain, at: Fraction) -> arb:
    """The value at a number, also where there is no slope."""
    return function_series(chain, on_line(chain[0].line, arb_series([ball_of(at)])))[0]


def function_series(chain: Chain, x: arb_series) -> list[arb]:
    """The functions of a chain of a series; the line of the first one has been taken already."""
    for i, link in enumerate(chain):
        if i:
            x = on_line(link.line, x)
        made = series_of(link.function)
        try:
            x = made(x) if made is not None else arb_series([NOT_A_NUMBER])
        except (ValueError, ZeroDivisionError):
            x = arb_series([NOT_A_NUMBER])
        if not x[0].is_finite():
            return [NOT_A_NUMBER] * (ORDER + 1)
    found = list(x.coeffs())
    return found + [arb(0)] * (ORDER + 1 - len(found))


def on_line(line: Line, x: arb_series) -> arb_series:
    """offset + slope x, exactly."""
    return x * ball_of(line.slope) + ball_of(line.offset)


def series_of(function: Any) -> Callable[[arb_series], arb_series] | None:
    """What develops a function into a series; None where nothing does."""
    if isinstance(function, FittedPower):
        return _power_series(function)
    if isinstance(function, QuantileStretch):
        return _stretch_series(function)
    return SERIES.get(function.__name__) if isinstance(function, np.ufunc) else None


def has_kink(function: Any) -> bool:
    """Whether there is one formula below zero and another one above it."""
    if isinstance(function, FittedPower):
        return function.method == "yeo-johnson"
    return isinstance(function, np.ufunc) and function.__name__ in KINKS


def _is_above(x: arb_series) -> bool:
    """On which side of zero this is, of what lies on one side but for the last digits of a ball."""
    return bool(x[0].mid() >= 0)


def _power_series(power: FittedPower) -> Callable[[arb_series], arb_series]:
    mean, scale = ball_of(Fraction(power.mean)), ball_of(Fraction(power.scale))

    def bent(x: arb_series, exponent: Fraction) -> arb_series:
        logarithm = x.log()
        if abs(exponent) < SMALLEST_POWER:
            return logarithm
        by = ball_of(exponent)
        return ((logarithm * by).exp() - 1) / by

    def of(x: arb_series) -> arb_series:
        exponent = Fraction(power.power)
        if power.method == "box-cox":
            made = bent(x, exponent)
        else:
            made = bent(1 + x, exponent) if _is_above(x) else -bent(1 - x, 2 - exponent)
        return (made - mean) / scale

    return of


def _stretch_series(stretch: QuantileStretch) -> Callable[[arb_series], arb_series]:
    def of(x: arb_series) -> arb_series:
        share = x * ball_of(stretch.slope) + ball_of(stretch.offset)
        return _normal_series(share) if stretch.normal else share

    return of


def _normal_series(share: arb_series) -> arb_series:
    """The normal quantile, which rises."""
    start = _normal_quantile(share[0].lower()).union(_normal_quantile(share[0].upper()))
    quantile = arb_series([start])
    if _is_number(share) or not start.is_finite():
        return quantile
    by = share.derivative() * (2 * arb.pi()).sqrt()
    for _ in range(ctx.cap - 1):
        quantile = start + (by * (quantile * quantile / 2).exp()).integral()
    return quantile


def _normal_quantile(share: arb) -> arb:
    return arb(2).sqrt() * (2 * share - 1).erfinv() if 0 < share < 1 else NOT_A_NUMBER


def _is_number(x: arb_series) -> bool:
    """Whether only a value is asked for, which there may be where there is no slope."""
    return len(x.coeffs()) <= 1


def _root(x: arb_series) -> arb_series:
    return arb_series([x[0].sqrt()]) if _is_number(x) else x.sqrt()


def _cube_root(x: arb_series) -> arb_series:
    if _is_number(x) and x[0] == 0:
        return x
    return (x.log() / 3).exp() if _is_above(x) else -((-x).log() / 3).exp()


def _absolute(x: arb_series) -> arb_series:
    return x if _is_above(x) else -x


def _odd(function: Callable[[arb_series], arb_series], x: arb_series) -> arb_series:
    """An odd function, where less cancels."""
    return function(x) if _is_above(x) else -function(-x)


KINKS = ("absolute", "fabs", "cbrt")
SERIES: dict[str, Callable[[arb_series], arb_series]] = {
    "log": lambda x: x.log(),
    "log1p": lambda x: (1 + x).log(),
    "log2": lambda x: x.log() / arb(2).log(),
    "log10": lambda x: x.log() / arb(10).log(),
    "exp": lambda x: x.exp(),
    "exp2": lambda x: (x * arb(2).log()).exp(),
    "expm1": lambda x: x.exp() - 1,
    "sqrt": _root,
    "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x,
    "absolute": _absolute,
    "fabs": _absolute,
    "cbrt": _cube_root,
    "sin": lambda x: x.sin(),
    "cos": lambda x: x.cos(),
    "arctan": lambda x: x.atan(),
    "arcsin": lambda x: arb_series([x[0].asin()]) if _is_number(x) else x.asin(),
    "arccos": lambda x: arb_series([x[0].acos()]) if _is_number(x) else x.acos(),
    "sinh": lambda x: (x.exp() - (-x).exp()) / 2,
    "cosh": lambda x: (x.exp() + (-x).exp()) / 2,
    "tanh": lambda x: 1 - 2 / ((2 * x).exp() + 1),
    "arcsinh": lambda x: _odd(lambda y: (y + (y * y + 1).sqrt()).log(), x),
    "arccosh": lambda x: (x + _root(x * x - 1)).log(),
    "arctanh": lambda x: ((1 + x) / (1 - x)).log() / 2,
}
