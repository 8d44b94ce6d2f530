"""Splines: the B-splines of SplineTransformer, exactly, as functions of one number in pieces.

With knots t_0 < t_1 < ... and degree p, on [t_j, t_(j+1)] (Cox and de Boor)

    B_(i,0) = 1 for i = j, else 0,
    B_(i,k) = (x - t_i) / (t_(i+k) - t_i) B_(i,k-1)  +  (t_(i+k+1) - x) / (t_(i+k+1) - t_(i+1)) B_(i+1,k-1).

Beyond the first and last knots of the data, [t_p, t_n], extrapolation "continue" goes on with the polynomials there,
"linear" with their tangents, "constant" with their values. Knots are stored doubles, taken exactly.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from likewise.importers.transformers.traced_columns import Line
from likewise.spec.numbers import double_below
from likewise.spec.pieces import (
    PiecewisePolynomial,
    Polynomial,
    add_polynomials,
    compose_affine,
    evaluate_polynomial,
    make_piecewise,
    trim_zeros,
)

ZERO, ONE = Fraction(0), Fraction(1)
ROUNDINGS = 64  # of a program that computes a B-spline of low degree: generous, it is only compared with
SAMPLES = 256  # places at which its steepness is looked at


def compose_spline(
    spline: PiecewisePolynomial, line: Line, lo: float, hi: float
) -> tuple[PiecewisePolynomial, Line] | None:
    """The spline of a line as a function of the raw number, and the rounding of a program that computes it: where it
    is steep, what the line is off by counts that much more. None where float64 cannot tell how steep that is."""
    if line.slope == 0:
        return make_piecewise([], [[spline.exact(line.offset)]]), Line(roundings=ROUNDINGS, slack=ONE)
    curve = compose_line(spline, line.offset, line.slope)
    ends = [line.offset + line.slope * Fraction(end) for end in (lo, hi)]
    places = np.linspace(float(min(ends)), float(max(ends)), SAMPLES)
    with np.errstate(over="ignore", invalid="ignore"):
        steepness = float(np.abs(differentiate(spline).values(places)).max())
    if not math.isfinite(steepness):
        return None
    steepest = Fraction(steepness)
    farthest = max(map(abs, ends)) + line.slack + abs(line.offset)
    return curve, Line(roundings=line.roundings + ROUNDINGS, slack=1 + 2 * steepest * farthest)


def spline_basis(knots: Sequence[float], degree: int, extrapolation: str) -> list[PiecewisePolynomial]:
    """Every B-spline of these knots."""
    t = [Fraction(knot) for knot in knots]
    count = len(t) - degree - 1
    inner = [_basis_between(t, degree, j) for j in range(degree, count)]
    ends = t[degree], t[count]
    found = []
    for i in range(count):
        polynomials = [piece.get(i, ()) for piece in inner]
        left = _extrapolate(polynomials[0], ends[0], extrapolation)
        right = _extrapolate(polynomials[-1], ends[1], extrapolation)
        found.append(make_piecewise(t[degree : count + 1], [left, *polynomials, right]))
    return found


def compose_line(pieces: PiecewisePolynomial, offset: Fraction, slope: Fraction) -> PiecewisePolynomial:
    """The function of offset + slope * x, slope not 0, as one of x; cuts are rounded down to doubles, which changes no
    value at any double, as it is continuous."""
    polynomials = [compose_affine(p, offset, slope) for p in pieces.polynomials]
    cuts = [double_below((cut - offset) / slope) for cut in pieces.cuts]
    if slope < 0:
        polynomials, cuts = polynomials[::-1], cuts[::-1]
    kept = [polynomials[0]]
    at: list[float] = []
    for cut, polynomial in zip(cuts, polynomials[1:], strict=True):
        if at and cut == at[-1]:  # no double lies between the two
            kept[-1] = polynomial
        else:
            at.append(cut)
            kept.append(polynomial)
    return make_piecewise([Fraction(cut) for cut in at], kept)


def differentiate(pieces: PiecewisePolynomial) -> PiecewisePolynomial:
    """The derivative, piece by piece."""
    return make_piecewise(pieces.cuts, [_derivative(p) for p in pieces.polynomials])


def _basis_between(t: list[Fraction], degree: int, j: int) -> dict[int, Polynomial]:
    """The B-splines that are not zero between knots j and j + 1."""
    found: dict[int, Polynomial] = {j: (ONE,)}
    for k in range(1, degree + 1):
        grown: dict[int, Polynomial] = {}
        for i in range(j - k, j + 1):
            rising, falling = t[i + k] - t[i], t[i + k + 1] - t[i + 1]
            up = _times_affine(found.get(i, ()), -t[i] / rising, ONE / rising)
            down = _times_affine(found.get(i + 1, ()), t[i + k + 1] / falling, -ONE / falling)
            grown[i] = add_polynomials(up, down)
        found = grown
    return found


def _times_affine(polynomial: Polynomial, constant: Fraction, slope: Fraction) -> Polynomial:
    """The polynomial times constant + slope * x."""
    return add_polynomials([constant * c for c in polynomial], [ZERO, *(slope * c for c in polynomial)])


def _derivative(polynomial: Polynomial) -> Polynomial:
    return trim_zeros(i * c for i, c in enumerate(polynomial) if i)


def _extrapolate(polynomial: Polynomial, end: Fraction, extrapolation: str) -> Polynomial:
    if extrapolation == "continue":
        return polynomial
    slope = evaluate_polynomial(_derivative(polynomial), end) if extrapolation == "linear" else ZERO
    return trim_zeros([evaluate_polynomial(polynomial, end) - slope * end, slope])
