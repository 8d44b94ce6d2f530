"""Curves in pieces: smooth functions of a continuous number as polynomials between cuts, within a proved distance.

A chain of lines and functions, g(x) = f_n(l_n(... f_1(l_1(x)))), such as log1p of a scaled number, is divided into pieces [a, b] with the middle c and the half width r. With the Taylor coefficients t_k of g around c, and
T a ball that holds the seventh coefficient around every number of the piece,

    |g(x) - sum_(k < 7) t_k (x - c)^k|  <=  |T| r^7        (Lagrange's remainder).

Certificates take degree 5. With y = (x - c) / r the sixth power is a polynomial of lower degree, but for a multiple of Chebyshev's T_6: y^6 = (48 y^4 - 18 y^2 + 1) / 32 + T_6(y) / 32, so that leaving that out costs |t_6| r^6 / 32 more.

Coefficients are balls of python-flint around doubles of many digits; what they are rounded by counts as well, and so do the last ones that are left out because they count for next to nothing. Where the chain has one formula after the other (`smooth_parts`), pieces end with each of them. A piece whose values differ by next to nothing is a constant. From left to right, each piece is about as long as it can be within `CLOSENESS` of the largest
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
from likewise.errors import UnsupportedModel
from likewise.importers.transformers.fitted_curves import FittedQuantiles
from likewise.importers.transformers.function_series import (
    ORDER,
    Chain,
    Link,
    ball_of,
    chain_series,
    chain_value,
    function_series,
    on_line,
)
from likewise.importers.transformers.smooth_parts import SmoothPart, smooth_parts
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
FEW_QUANTILES = 500  # whose normal quantiles take less than that
SAMPLES = 64  # steps between the numbers at which values are looked at, all parts together
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
    known = ctx.prec, ctx.cap
    try:
        ctx.prec, ctx.cap = BITS, ORDER + 1
        parts = smooth_parts(chain, lo, hi)
        return None if parts is None or len(parts) > MOST_PIECES else _in_pieces(parts)
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


def _in_pieces(parts: Sequence[SmoothPart]) -> CurveInPieces | None:
    size = _largest_value(parts)
    if size is None:
        return None
    close, found, lines = ball_of(CLOSENESS * size), list[_Piece](), list[Line]()
    for part in parts:
        pieces_of = _pieces_of(part, close, MOST_PIECES - len(found))
        line = None if pieces_of is None else _rounded_line(part, [one.steepness for one in pieces_of])
        if pieces_of is None or line is None:
            return None
        found += pieces_of
        lines.append(line)
    distance = max(_upper(piece.distance) for piece in found)
    slack = max(line.slack for line in lines) + distance / (FUNCTION_ROUNDINGS * UNIT)
    return CurveInPieces(
        pieces=make_piecewise([piece.hi for piece in found[:-1]], [piece.polynomial for piece in found]),
        line=Line(roundings=max(line.roundings for line in lines), slack=slack),
        distance=distance,
    )


def _pieces_of(part: SmoothPart, close: arb, most: int) -> list[_Piece] | None:
    """The pieces from left to right."""
    found: list[_Piece] = []
    start, width = part.lo, part.hi - part.lo
    while not found or start < part.hi:
        check_clock()
        end = part.hi if start + width >= part.hi else _short_number(start + width * SHORTER, start + width)
        if end is None or len(found) >= most:
            return None
        piece = _piece(part, start, end, close)
        if piece is None and start == end:
            return None
        if piece is None:
            width = SHORTER * (end - start)
            continue
        found.append(piece)
        start, width = end, LONGER * (end - start)
    return found


def _piece(part: SmoothPart, lo: Fraction, hi: Fraction, close: arb) -> _Piece | None:
    """The polynomial of a piece, if it is close enough."""
    chain = part.chain
    centre = _short_number(lo, hi)
    centre = (lo + hi) / 2 if centre is None else centre
    radius = ball_of(max(hi - centre, centre - lo))
    around, over = chain_series(chain, ball_of(centre)), chain_series(chain, _interval(lo, hi))
    if not all(c.is_finite() for c in (*around, *over)):
        return _constant(part, lo, hi, close)
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
    distance = abs(over[ORDER]) * radius**ORDER + abs(sixth) * radius**6 / 32 + _moved_by(part, lo, hi)
    for k, (c, rounded) in enumerate(zip(wanted, kept, strict=True)):
        distance += abs(c - ball_of(rounded)) * radius**k
    if not distance < close:
        return _constant(part, lo, hi, close)
    while kept[1:] and distance + (last := ball_of(abs(kept[-1])) * radius ** (len(kept) - 1)) < close:
        kept.pop()
        distance += last
    return _Piece(hi, _moved(kept, centre), distance, _steepness(chain, _interval(lo, hi)))


def _moved_by(part: SmoothPart, lo: Fraction, hi: Fraction) -> arb:
    """How much it counts that what the first function is taken of may be moved."""
    if not part.off:
        return arb(0)
    room = part.off / abs(part.chain[0].line.slope)
    return ball_of(part.off) * _steepness(part.chain, _interval(lo - room, hi + room))[0]


def _constant(part: SmoothPart, lo: Fraction, hi: Fraction, close: arb) -> _Piece | None:
    """The middle of the values, where they are next to each other: of a function of the number itself that rises or falls, which may be as steep as it likes, as the number is exact."""
    first, *others = part.chain
    if others or part.off or first.line != Line() or not _rises_or_falls(first, lo, hi):
        return None
    values = chain_value(part.chain, lo).union(chain_value(part.chain, hi))
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


def _largest_value(parts: Sequence[SmoothPart]) -> Fraction | None:
    """About the largest absolute value: what closeness is measured by."""
    steps = max(SAMPLES // len(parts), 1)
    values = [
        chain_value(part.chain, part.lo + (part.hi - part.lo) * i / steps)
        for part in parts
        for i in range(steps + 1)
    ]
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


def _rounded_line(part: SmoothPart, steepness: Sequence[Sequence[arb]]) -> Line | None:
    """How far the program's own column is from the function at most, see the module's docstring. Each line and each function is off by some roundings of the numbers that go into it."""
    chain = part.chain
    most = [max(_upper(one[i]) for one in steepness) for i in range(len(chain))]
    roundings, slack, value = 0, ZERO, arb_series([_interval(part.lo, part.hi)])
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
    found = _on_curve(column, (_link_of(column.bend),), feature, column.line.operations)
    if found is None and isinstance(column.bend.function, FittedQuantiles):
        raise UnsupportedModel(
            f"{column.bend.title(column.name)} takes more than {MOST_PIECES:,} polynomials, or is too steep for them",
            hint=f"fit QuantileTransformer with n_quantiles={FEW_QUANTILES}, or give the model nothing else of {column.name!r}",
        )
    return found


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
