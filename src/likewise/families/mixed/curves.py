"""Columns in pieces over an interval of codes (specification, section 23): a line with a remainder where the interval has one piece, a range where it has several.

Whether there is an axis is decided in rationals, as a checker decides it; the numbers are then rounded to doubles, for bounds that only propose.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.spec.pieces import compose_affine

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.spec.pieces import PiecewisePolynomial

    Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveForm:
    """value + slope (x - middle) + reach y, |y| <= 1."""

    value: float
    slope: float
    middle: float
    reach: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CurveForms:
    """The columns in pieces of one feature and copy; where all of them are constant on every piece, the values of the axes (those with a reach) at each of the pieces."""

    forms: tuple[CurveForm, ...]
    places: Floats | None  # (places, axes)


def curve_forms(curves: tuple[PiecewisePolynomial, ...], lo: float, hi: float, *, whole: bool) -> CurveForms:
    """The columns over [lo, hi]."""
    low, high = Fraction(lo), Fraction(hi)
    forms: list[CurveForm] = []
    exact: list[tuple[PiecewisePolynomial, Fraction, Fraction]] = []
    flat = True
    for curve in curves:
        parts = curve.parts(low, high, whole=whole)
        flat = flat and all(len(curve.polynomials[i]) <= 1 for i, _, _ in parts)
        if len(parts) == 1:
            value, slope, reach = _line(curve, parts[0][0], low, high)
        else:
            value, reach = _range(curve, parts)
            slope = Fraction(0)
        forms.append(
            CurveForm(
                value=float(value),
                slope=float(slope),
                middle=float((low + high) / 2),
                reach=float(reach) or (5e-324 if reach else 0.0),
            )
        )
        if reach:
            exact.append((curve, value, reach))
    if not flat or not exact:
        return CurveForms(forms=tuple(forms), places=None)
    joint = curves[0].cut_at(cut for curve in curves for cut in curve.cuts)
    codes = [end for _, _, end in joint.parts(low, high, whole=whole)]
    rows = {tuple((c.exact(code) - value) / reach for c, value, reach in exact): None for code in codes}
    places = np.array([[float(y) for y in row] for row in rows])
    return CurveForms(forms=tuple(forms), places=places)


def _about(curve: PiecewisePolynomial, piece: int, lo: Fraction, hi: Fraction) -> list[Fraction]:
    """c_i w^i of a piece about the middle of an interval, i = 0, 1, ..., w half its width."""
    return list(compose_affine(curve.polynomials[piece], (lo + hi) / 2, (hi - lo) / 2 or Fraction(1)))


def _line(
    curve: PiecewisePolynomial, piece: int, lo: Fraction, hi: Fraction
) -> tuple[Fraction, Fraction, Fraction]:
    width = (hi - lo) / 2
    scaled = _about(curve, piece, lo, hi)
    value = scaled[0] if scaled else Fraction(0)
    if not width:
        return value, Fraction(0), Fraction(0)
    reach = Fraction(0)
    for i in range(2, len(scaled)):
        if i % 2:
            reach += abs(scaled[i])
        else:
            value += scaled[i] / 2
            reach += abs(scaled[i]) / 2
    return value, scaled[1] / width if len(scaled) > 1 else Fraction(0), reach


def _range(
    curve: PiecewisePolynomial, parts: list[tuple[int, Fraction, Fraction]]
) -> tuple[Fraction, Fraction]:
    ends: list[Fraction] = []
    for piece, lo, hi in parts:
        scaled = _about(curve, piece, lo, hi)
        value = scaled[0] if scaled else Fraction(0)
        spread = sum(map(abs, scaled[1:]), Fraction(0)) if hi > lo else Fraction(0)
        ends += [value - spread, value + spread]
    return (max(ends) + min(ends)) / 2, (max(ends) - min(ends)) / 2
