"""Curves in pieces: smooth functions of a continuous number as polynomials between cuts, within a proved distance.

A chain of lines and functions, g(x) = f_n(l_n(... f_1(l_1(x)))), such as log1p of a scaled number, is divided into pieces [a, b] with the middle c and the half width r. With the Taylor coefficients t_k of g around c, and
T a ball that holds the seventh coefficient around every number of the piece,

    |g(x) - sum_(k < 7) t_k (x - c)^k|  <=  |T| r^7        (Lagrange's remainder).

Certificates take degree 5. With y = (x - c) / r the sixth power is a polynomial of lower degree, but for a multiple of Chebyshev's T_6: y^6 = (48 y^4 - 18 y^2 + 1) / 32 + T_6(y) / 32, so that leaving that out costs |t_6| r^6 / 32 more.

Coefficients are balls of python-flint around doubles of many digits; what they are rounded by counts as well. A piece whose values differ by next to nothing is a constant. From left to right, each piece is about as long as it can be within `CLOSENESS` of the largest
absolute value of g. Cuts and middles are numbers of few bits, so that certificates stay small.

The polynomials are what the model is then made of, and how far they and the program's own function can be apart is what the program's column is said to be off by (`Line`, in `traced_columns`):

    the program's function        as said of it where it is taken as it is (`monotone`, `fitted_curves`)
    its lines, which it rounds    off by d, times the largest slope of g
    the polynomials               the bound above

Unlike a number that is seen through one monotone function alone, which is a number of its own (`monotone`), a number in pieces keeps its codes: it may come to the model in other ways besides, tolerances and constraints may speak of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, arb_series, ctx

from likewise.clock import check_clock
from likewise.importers.transformers.function_series import (
    ORDER,
    Chain,
    Link,
    ball_of,
    chain_series,
    chain_value,
    function_series,
    has_kink,
    on_line,
    series_of,
)
from likewise.importers.transformers.traced_columns import Line, Operation, TracedColumn
from likewise.spec.numbers import double_below
from likewise.spec.pieces import MOST_COEFFICIENTS, PiecewisePolynomial, make_piecewise

if TYPE_CHECKING:
    from likewise.importers.transformers.fitted_curves import FittedCurve
    from likewise.importers.transformers.monotone import MonotoneMap
    from likewise.spec.features import Continuous

BITS = 256  # of balls
CLOSENESS = Fraction(1, 2**40)  # of the largest value: a millionth of what is visible in six digits
COEFFICIENT_BITS = 96  # of stored coefficients, so far beyond doubles that their rounding is nothing
MOST_PIECES = 2_000
LONGER, SHORTER = 2, Fraction(4, 5)  # what the length of the next piece is tried by
UNIT = Fraction(1, 2**53)
FUNCTION_ROUNDINGS = 16  # of numpy's functions: 8 units in the last place
ZERO = Fraction(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveInPieces:
    """The polynomials of a chain, and the line that says how far the program's column is from them."""

    pieces: PiecewisePolynomial
    line: Line
    distance: Fraction


def curve_in_pieces(chain: Chain, lo: float, hi: float) -> CurveInPieces | None:
    """A chain of functions of the numbers between lo and hi in pieces; None where one of them is not known as a series, is not finite there, or takes too many pieces."""
    if not all(series_of(link.function) for link in chain):
        return None
    known = ctx.prec, ctx.cap
    try:
        ctx.prec, ctx.cap = BITS, ORDER + 1
        return _in_pieces(chain, Fraction(lo), Fraction(hi))
    finally:
        ctx.prec, ctx.cap = known


# -- pieces -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Piece:
    """Up to `hi`; `steepness` has, of each function of the chain, how much what it is taken of being off counts in the end."""

    hi: Fraction
    polynomial: tuple[Fraction, ...]
    distance: arb
    steepness: tuple[arb, ...]


def _in_pieces(chain: Chain, lo: Fraction, hi: Fraction) -> CurveInPieces | None:
    size = _largest_value(chain, lo, hi)
    if size is None or any(has_kink(link.function) for link in chain[1:]):
        return None
    close, found = ball_of(CLOSENESS * size), list[_Piece]()
    for start, end in _smooth_parts(chain[0], lo, hi):
        pieces_of = _pieces_between(chain, start, end, close, MOST_PIECES - len(found))
        if pieces_of is None:
            return None
        found += pieces_of
    distance = max(_upper(piece.distance) for piece in found)
    pieces = make_piecewise([piece.hi for piece in found[:-1]], [piece.polynomial for piece in found])
    line = _rounded_line(chain, _interval(lo, hi), [piece.steepness for piece in found], distance)
    return None if line is None else CurveInPieces(pieces=pieces, line=line, distance=distance)


def _pieces_between(chain: Chain, lo: Fraction, hi: Fraction, close: arb, most: int) -> list[_Piece] | None:
    """The pieces from left to right."""
    found: list[_Piece] = []
    start, width = lo, hi - lo
    while start < hi:
        check_clock()
        end = hi if start + width >= hi else _short_number(start + width * SHORTER, start + width)
        if end is None or len(found) >= most:
            return None
        piece = _piece(chain, start, end, close)
        if piece is None:
            width = SHORTER * (end - start)
            continue
        found.append(piece)
        start, width = end, LONGER * (end - start)
    return found


def _smooth_parts(first: Link, lo: Fraction, hi: Fraction) -> list[tuple[Fraction, Fraction]]:
    """Where the first function has one formula: on both sides of zero, if it has a kink there. No double is left out."""
    if not has_kink(first.function) or not first.line.slope:
        return [(lo, hi)]
    below = double_below(-first.line.offset / first.line.slope)
    above = math.nextafter(below, math.inf)
    if not lo < Fraction(below) or not Fraction(above) < hi:
        return [(lo, hi)]
    return [(lo, Fraction(below)), (Fraction(above), hi)]


def _piece(chain: Chain, lo: Fraction, hi: Fraction, close: arb) -> _Piece | None:
    """The polynomial of a piece, if it is close enough."""
    centre = _short_number(lo, hi)
    centre = (lo + hi) / 2 if centre is None else centre
    radius = ball_of(max(hi - centre, centre - lo))
    around, over = chain_series(chain, ball_of(centre)), chain_series(chain, _interval(lo, hi))
    if not all(c.is_finite() for c in (*around, *over)):
        return _constant(chain, lo, hi, close)
    sixth = around[MOST_COEFFICIENTS]
    lowered = [
        sixth * radius**6 / 32,
        arb(0),
        -18 * sixth * radius**4 / 32,
        arb(0),
        48 * sixth * radius**2 / 32,
        arb(0),
    ]
    wanted = [c + more for c, more in zip(around, lowered, strict=False)]
    kept = [_short_fraction(c) for c in wanted]
    distance = abs(over[ORDER]) * radius**ORDER + abs(sixth) * radius**6 / 32
    for k, (c, rounded) in enumerate(zip(wanted, kept, strict=True)):
        distance += abs(c - ball_of(rounded)) * radius**k
    if not distance < close:
        return _constant(chain, lo, hi, close)
    return _Piece(hi, _moved(kept, centre), distance, _steepness(chain, _interval(lo, hi)))


def _constant(chain: Chain, lo: Fraction, hi: Fraction, close: arb) -> _Piece | None:
    """The middle of the values, where they are next to each other: of a function of the number itself that rises or falls, which may be as steep as it likes, as the number is exact."""
    (first, *others) = chain
    if others or first.line != Line() or not _rises_or_falls(first, lo, hi):
        return None
    values = chain_value(chain, lo).union(chain_value(chain, hi))
    if not values.is_finite() or not values.rad() < close:
        return None
    kept = _short_fraction(values)
    return _Piece(hi, (kept,), abs(values - ball_of(kept)), (arb(0),))


def _rises_or_falls(link: Link, lo: Fraction, hi: Fraction) -> bool:
    from likewise.importers.transformers.monotone import MONOTONE_FUNCTIONS

    ends = float(lo), float(hi)
    if not isinstance(link.function, np.ufunc):
        return link.function.rises(*ends)
    known = MONOTONE_FUNCTIONS.get(link.function.__name__)
    return known is not None and known(*ends)


def _largest_value(chain: Chain, lo: Fraction, hi: Fraction) -> Fraction | None:
    """About the largest absolute value: what closeness is measured by."""
    values = [chain_value(chain, lo + (hi - lo) * i / 64) for i in range(65)]
    if not all(value.is_finite() for value in values):
        return None
    return max(*(_upper(abs(value)) for value in values), UNIT)


# -- how the program rounds -------------------------------------------------------------------------------


def _steepness(chain: Chain, over: arb) -> tuple[arb, ...]:
    """Of each function, the largest slope in what it is taken of of all that follows."""
    found, value = [], arb_series([over])
    for i, link in enumerate(chain):
        value = on_line(link.line, value)
        found.append(abs(function_series(chain[i:], arb_series([value[0], 1]))[1]))
        value = arb_series([function_series((link,), arb_series([value[0]]))[0]])
    return tuple(found)


def _rounded_line(
    chain: Chain, over: arb, steepness: Sequence[Sequence[arb]], distance: Fraction
) -> Line | None:
    """How far the program's own column is from the polynomials at most, see the module's docstring. Each line and each function is off by some roundings of the numbers that go into it."""
    most = [max(_upper(one[i]) for one in steepness) for i in range(len(chain))]
    roundings, slack, value = 0, distance / (FUNCTION_ROUNDINGS * UNIT), arb_series([over])
    for i, link in enumerate(chain):
        line, after = link.line, chain[i + 1].line if i + 1 < len(chain) else None
        roundings += line.roundings + 2 * FUNCTION_ROUNDINGS
        value = on_line(line, value)
        if i or line.roundings:  # else it is the number itself, which is exact
            slack += 2 * most[i] * (_upper(abs(value[0])) + line.slack + abs(line.offset))
        if not isinstance(link.function, np.ufunc):
            ends = (float(value[0].lower()), float(value[0].upper()))
            counts = 1 if after is None else most[i + 1] * abs(after.slope)
            slack += Fraction(link.function.slack(*ends)) * counts
        if after is not None:
            value = arb_series([function_series((link,), arb_series([value[0]]))[0]])
            if not value[0].is_finite():
                return None
    return Line(roundings=roundings, slack=slack)


# -- numbers ----------------------------------------------------------------------------------------------


def _interval(lo: Fraction, hi: Fraction) -> arb:
    return ball_of(lo).union(ball_of(hi))


def _upper(ball: arb) -> Fraction:
    """A number that a ball does not exceed."""
    mantissa, exponent = ball.upper().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def _short_fraction(ball: arb) -> Fraction:
    """A number of `COEFFICIENT_BITS` near the middle of a ball."""
    mantissa, exponent = ball.mid().man_exp()
    spare = max(abs(int(mantissa)).bit_length() - COEFFICIENT_BITS, 0)
    return Fraction(int(mantissa) >> spare) * Fraction(2) ** (int(exponent) + spare)


def _short_number(lo: Fraction, hi: Fraction) -> Fraction | None:
    """A double of few bits between two numbers, in the middle half; None where there is none."""
    left, right = lo + (hi - lo) / 4, hi - (hi - lo) / 4
    if left < 0 < right:
        return ZERO
    if left == right:
        return None
    width = right - left
    step = Fraction(2) ** (width.numerator.bit_length() - width.denominator.bit_length() - 1)
    found = math.ceil(left / step) * step
    return found if found <= right and Fraction(double_below(found)) == found else None


def _moved(coefficients: Sequence[Fraction], centre: Fraction) -> tuple[Fraction, ...]:
    """A polynomial of x - centre as one of x."""
    return tuple(
        sum((c * comb(k, i) * (-centre) ** (k - i) for k, c in enumerate(coefficients) if k >= i), ZERO)
        for i in range(len(coefficients))
    )


# -- columns ----------------------------------------------------------------------------------------------


def function_in_pieces(
    column: TracedColumn, function: np.ufunc | FittedCurve, feature: Continuous
) -> TracedColumn | None:
    """A function of a column that is a line of the number, or of a monotone function of it, as a curve."""
    if column.line is None or column.curve is not None:
        return None
    link = Link(line=column.line, function=function)
    chain = (link,) if column.bend is None else (_link_of(column.bend), link)
    return _on_curve(column, chain, feature, ())


def bend_in_pieces(column: TracedColumn, feature: Continuous) -> TracedColumn | None:
    """A column that is a line of a monotone function of the number, as one of a curve; None where it is none, or there is none."""
    if column.bend is None or column.line is None or column.curve is not None:
        return None
    return _on_curve(column, (_link_of(column.bend),), feature, column.line.operations)


def _link_of(bend: MonotoneMap) -> Link:
    return Link(line=_chained(Line(), bend.operations), function=bend.function)


def _on_curve(
    column: TracedColumn, chain: Chain, feature: Continuous, operations: Sequence[Operation]
) -> TracedColumn | None:
    found = curve_in_pieces(chain, float(feature.lo), float(feature.hi))
    if found is None:
        return None
    line = _chained(found.line, operations)
    return replace(
        column,
        untouched=False,
        settled=False,
        line=line,
        curve=found.pieces,
        bend=None,
        distance=found.distance * abs(line.slope),
    )


def _chained(line: Line, operations: Sequence[Operation]) -> Line:
    """The same operations after another line."""
    for operation in operations:
        line = operation.on(line)
    return line
