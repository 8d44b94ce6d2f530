"""Proposes the content of `sos` leaves: pose, solve, round, and tell the exact bound.

In: the scores of both individuals, sign f(x) and sign f(x'), as exact polynomials in the axes of a cell; what is asked:

    Direction    a fixed line a s - b s' - T (a score gap has a = b = 1/2)
    Leaning      a decision: the lean a in [0, 1], b = 1 - a, is found as part of the solution; linear in the axes
                 if `linear`

Out: a `Proposal`. Its `bound` of S = a s - b s' - T is exact and true whatever the solver did; everything else is float64.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpq

from likewise.errors import InternalError
from likewise.families.polynomial.sos.cube import (
    Cube,
    Monomial,
    Polynomial,
    Rational,
    linear_combination,
    to_fraction,
    to_polynomial,
)
from likewise.families.polynomial.sos.exact import Content, Way, exact_bound, excess_of
from likewise.families.polynomial.sos.moments import FloatPolynomial, Programme, build_programme
from likewise.families.polynomial.sos.relaxations import Relaxation, make_relaxation
from likewise.families.polynomial.sos.rounding import choose_bits, round_blocks, round_way
from likewise.families.polynomial.sos.solvers import Solver, solve
from likewise.model.witness_set import Direction

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

HALF = fmpq(1, 2)
# The price of tau is |s|/|g|, within these: beyond the one a solver sees nothing else, below the other nothing of it.
HIGHEST_PRICE = 1e7
LOWEST_PRICE = 1e-7
# Leans are rounded so that |s| times the error is this part of |g|, if s is not much smaller than g.
LEAN_BITS = 52
SHORTEST_LEAN, LONGEST_LEAN = 32, 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class FreeLean:
    """A decision with a margin, the threshold: find the lean, a number or (`linear`) a linear function of the axes."""

    threshold: Fraction = Fraction(0)
    linear: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SolveTimes:
    """CPU seconds of this process: making the program, solving it, and the exact bound."""

    build: float
    solve: float
    check: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Proposal:
    """`bound`: exact upper bound of S that `content` proves. `float_bound`: what the solver claims.
    `point`: first moments, a candidate for a witness."""

    content: Content
    bound: Fraction
    float_bound: float
    point: Floats
    status: str
    solved: bool
    seconds: SolveTimes


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _PosedProgramme:
    """A program and how to read it: dual values times 4^size belong to S, those of forms times `lean` are
    theta, to be rounded to `lean_bits`. `equal`: both scores are the same, so without any squares S = -T at lean 1/2."""

    programme: Programme
    size: int
    lean: float = 0.0
    lean_bits: int = 0
    equal: bool = False


def propose(
    first: Mapping[Monomial, Rational],
    second: Mapping[Monomial, Rational],
    cube: Cube,
    asked: Direction | FreeLean,
    *,
    kind: str = "shor",
    solver: Solver = "auto",
    bits: int = 40,
    time_limit: float | None = None,
) -> Proposal:
    """Content for S = a first - b second - T over the cube by the relaxation `kind`, and its exact bound."""
    start = time.process_time()
    scores = to_polynomial(first), to_polynomial(second)
    relaxed = make_relaxation(kind, cube)
    posed = _pose_programme(*scores, cube, relaxed, asked)
    built = time.process_time()
    found = solve(posed.programme, solver=solver, time_limit=time_limit)
    solved = time.process_time()
    way = _way(asked, found.z, posed)
    places = choose_bits(bits, posed.size)
    blocks = round_blocks(relaxed, posed.programme, found.z, posed.size, places)
    contents = [Content(way=way, bits=places, blocks=blocks)]
    if not found.solved:
        contents.append(Content(way=way, bits=places, blocks=()))
    if posed.equal:
        contents.append(Content(way=Fraction(1, 2), bits=0, blocks=()))
    bounds = [exact_bound(content, excess_for(asked, content.way, *scores), cube) for content in contents]
    bound = min(bounds)
    content = contents[bounds.index(bound)]
    return Proposal(
        content=content,
        bound=to_fraction(bound),
        float_bound=float(np.ldexp(found.value, 2 * posed.size)) - float(asked.threshold),
        point=_first_moments(posed.programme, found.x),
        status=found.status,
        solved=found.solved,
        seconds=SolveTimes(build=built - start, solve=found.seconds, check=time.process_time() - solved),
    )


def excess_for(asked: Direction | FreeLean, way: Way, first: Polynomial, second: Polynomial) -> Polynomial:
    """S in terms of axes, for a way: of a decision, one that keeps the lean within [0, 1] on the whole cube."""
    threshold = fmpq(asked.threshold.numerator, asked.threshold.denominator)
    if isinstance(asked, Direction):
        return excess_of(first, second, to_polynomial({(): asked.a}), to_polynomial({(): asked.b}), threshold)
    leans = way if isinstance(way, tuple) else (way,)
    if abs(2 * leans[0] - 1) + 2 * sum(abs(lean) for lean in leans[1:]) > 1:
        raise InternalError(f"the lean {way} leaves [0, 1]")
    a = to_polynomial({(() if k == 0 else (k - 1,)): lean for k, lean in enumerate(leans)})
    return excess_of(
        first, second, a, linear_combination([(fmpq(1), {(): fmpq(1)}), (fmpq(-1), a)]), threshold
    )


def _pose_programme(
    first: Polynomial, second: Polynomial, cube: Cube, relaxed: Relaxation, asked: Direction | FreeLean
) -> _PosedProgramme:
    if isinstance(asked, Direction):
        line = excess_for(asked, Fraction(0), first, second)
        line[()] = line.get((), fmpq(0)) + fmpq(asked.threshold.numerator, asked.threshold.denominator)
        scaled, size = _normalise(line)
        return _PosedProgramme(programme=build_programme(cube, relaxed, scaled), size=size)
    gap, size = _normalise(linear_combination([(HALF, first), (-HALF, second)]))
    mean, mean_size = _normalise(linear_combination([(HALF, first), (HALF, second)]))
    axes: list[Monomial] = [(), *((axis,) for axis in range(cube.dimension))] if asked.linear else [()]
    forms = []
    for axis in axes:
        form = {tuple(sorted(monomial + axis)): value for monomial, value in mean.items()}
        forms += [form, {monomial: -value for monomial, value in form.items()}]
    ratio = max(float(np.ldexp(1.0, 2 * (mean_size - size))), LOWEST_PRICE)
    price = min(ratio, HIGHEST_PRICE)
    return _PosedProgramme(
        programme=build_programme(cube, relaxed, gap, forms, price),
        size=size,
        lean=1.0 / ratio,
        lean_bits=min(max(LEAN_BITS + 2 * (mean_size - size), SHORTEST_LEAN), LONGEST_LEAN),
        equal=not any(gap.values()),
    )


def _normalise(terms: Polynomial) -> tuple[FloatPolynomial, int]:
    """The polynomial divided by a power of 4, its largest coefficient then between 1/8 and 1, and the exponent."""
    largest = max((abs(value) for value in terms.values()), default=fmpq(0))
    if largest == 0:
        return {}, 0
    size = -((int(largest.q).bit_length() - int(largest.p).bit_length() - 1) // 2)
    unit = fmpq(4) ** -size
    return {monomial: float(value * unit) for monomial, value in terms.items()}, size


def _way(asked: Direction | FreeLean, z: Floats, posed: _PosedProgramme) -> Way:
    """The way of a fixed direction as the certificate writes it; theta from the dual values of the forms."""
    if isinstance(asked, Direction):
        return asked.a / (asked.a + asked.b) if asked.tangent is None else asked.tangent
    rows = z[: posed.programme.forms]
    theta = (rows[0::2] - rows[1::2]) * posed.lean
    return round_way(theta, posed.lean_bits)


def _first_moments(posed: Programme, x: Floats) -> Floats:
    columns = posed.first_moments
    return np.clip(np.where(columns >= 0, x[columns], 0.0), -1.0, 1.0)
