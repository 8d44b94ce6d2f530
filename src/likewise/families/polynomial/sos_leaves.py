"""Sums of squares for cells of a polynomial score: the content of `sos` leaves, proposed by a semidefinite program.

A program costs as much as some thousand bounds by the majorant, and closes cells that would have to be split
into many more than that. So it is tried where it can help (few axes, low degree): on every cell in which nothing
but what may differ has been cut, and on others as long as programs take a share of the time only. What it proposes is put into axes of the cell, and bounded,
in exact arithmetic (`families.polynomial.sos.exact`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpq

from likewise import clock
from likewise.cells.presolve import tighten_ranges
from likewise.families.coordinates import MOST_PLACES, Coordinate, Coordinates
from likewise.families.polynomial.sos.cube import Cube, Group, to_polynomial
from likewise.families.polynomial.sos.exact import Content, exact_bound
from likewise.families.polynomial.sos.proposal import FreeLean, excess_for, propose
from likewise.families.polynomial.tables import substitute_columns
from likewise.model.witness_set import EVEN_LEAN, DecisionSet
from likewise.spec.terms import Separable

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.polynomial.body import PolynomialScore
    from likewise.families.polynomial.sos.cube import Monomial, Polynomial
    from likewise.model.witness_set import Direction, WitnessSet
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

TIME_SHARE = 0.3  # of the time that programs may take
WHOLE_CELL_SECONDS = 20.0  # seconds that they may take on whole cells in any case
FIRST_PROGRAMMES = 40  # programs that are tried on other cells in any case
PROGRAMME_SECONDS = 5.0  # seconds that one may take
# Relaxations by degree, each with the most axes it is tried with; the next one if the one before did not do.
RELAXATIONS_BY_DEGREE = {
    1: (("shor", 60),),
    2: (("shor", 60),),
    3: (("d3", 10),),
    4: (("o2", 6),),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellFrame:
    """A cell, exactly: its ends by variable; of every coordinate the middle and half width, in t; the coordinates
    that are axes."""

    low: list[Fraction]
    high: list[Fraction]
    middle: tuple[Fraction, ...]
    half: tuple[Fraction, ...]
    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellCube:
    """A cell as a cube: both copies in its axes."""

    frame: CellFrame
    cube: Cube
    first: Polynomial
    second: Polynomial


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SosProposal:
    """A content, whether it closes the cell, and the first moments as t's of all coordinates."""

    content: Content
    closes: bool
    t: Floats


class SosProver:
    """Proposes and proves `sos` leaves of one score."""

    def __init__(self, score: PolynomialScore, pairs: PairSpace, coordinates: Coordinates) -> None:
        self.pairs, self.coordinates = pairs, coordinates
        self.copies = tuple(substitute_columns(score.body, maps) for maps in coordinates.maps)
        self.degree = max((len(key) for copy in self.copies for key in copy), default=0)
        narrowed = tighten_ranges(pairs)
        self.shared = [
            (n, narrowed.lo[n], narrowed.hi[n]) for n, v in enumerate(pairs.variables) if v.side == "both"
        ]
        self.started: float | None = None
        self.spent, self.tried = 0.0, 0

    def propose(self, lo: Floats, hi: Floats, question: WitnessSet) -> SosProposal | None:
        """The best content found for a cell; None where no program is worth trying."""
        asked, now = _programme_direction(question, linear=self.degree > 2), clock.now()
        self.started = self.started or now
        if asked is None or not self._affordable(lo, hi, now - self.started):
            return None
        kinds = RELAXATIONS_BY_DEGREE.get(max(self.degree, 1), ())
        axes = sum(self.coordinates.is_axis(lo.tolist(), hi.tolist()))
        found = None
        for kind, most in kinds:
            if not 0 < axes <= most:
                break
            posed = self.posed(lo, hi)
            proposal = propose(
                posed.first, posed.second, posed.cube, asked, kind=kind, time_limit=PROGRAMME_SECONDS
            )
            found = SosProposal(
                content=proposal.content, closes=proposal.bound < 0, t=self._t(posed, proposal.point)
            )
            if found.closes:
                break
        self.spent += clock.now() - now
        self.tried += found is not None
        return found

    def _affordable(self, lo: Floats, hi: Floats, elapsed: float) -> bool:
        if all(lo[n] == low and hi[n] == high for n, low, high in self.shared):
            return self.spent <= WHOLE_CELL_SECONDS + TIME_SHARE * elapsed
        return self.tried < FIRST_PROGRAMMES or self.spent <= TIME_SHARE * elapsed

    def proves(self, lo: Floats, hi: Floats, content: Content, question: WitnessSet) -> bool:
        """Whether the content closes the cell. Exact."""
        asked, posed = _programme_direction(question, linear=True), self.posed(lo, hi)
        if asked is None:
            return False
        excess = excess_for(asked, content.way, posed.first, posed.second)
        return bool(exact_bound(content, excess, posed.cube) < 0)

    def posed(self, lo: Floats, hi: Floats) -> CellCube:
        """The cell as a cube, exactly."""
        low, high = ([Fraction(end) for end in ends.tolist()] for ends in (lo, hi))
        ends = [_coordinate_ends(coordinate, low, high) for coordinate in self.coordinates.all]
        half = tuple((b - a) / 2 for a, b in ends)
        frame = CellFrame(
            low=low,
            high=high,
            middle=tuple((a + b) / 2 for a, b in ends),
            half=half,
            axes=tuple(n for n, width in enumerate(half) if width > 0),
        )
        first, second = (_substitute_axes(copy, frame) for copy in self.copies)
        cube = Cube(groups=tuple(self._groups(frame)), constraints=self._constraints(frame))
        return CellCube(frame=frame, cube=cube, first=first, second=second)

    def _groups(self, frame: CellFrame) -> list[Group]:
        """The groups of the axes, with the places that they have."""
        found: dict[int, list[int]] = {}
        for axis, n in enumerate(frame.axes):
            found.setdefault(self.coordinates.all[n].group, []).append(axis)
        return [
            Group(axes=tuple(members), places=self._places([frame.axes[i] for i in members], frame))
            for members in found.values()
        ]

    def _places(self, members: list[int], frame: CellFrame) -> tuple[tuple[fmpq, ...], ...] | None:
        coordinate = self.coordinates.all[members[0]]
        v = coordinate.variables[0]
        if coordinate.kind != "level" and not (
            coordinate.kind == "number" and coordinate.discrete and frame.high[v] - frame.low[v] < MOST_PLACES
        ):
            return None
        rows = []
        for code in range(int(frame.low[v]), int(frame.high[v]) + 1):
            row = []
            for n in members:
                c = self.coordinates.all[n]
                z = c.table[code] if c.kind == "level" else Fraction(code)
                y = ((z - c.middle) / c.reach - frame.middle[n]) / frame.half[n]
                row.append(fmpq(y.numerator, y.denominator))
            rows.append(tuple(row))
        return tuple(rows)

    def _constraints(self, frame: CellFrame) -> dict[int, Polynomial]:
        """h_j(x), then h_j(x'), in axes; left out where a levels feature in it is not fixed."""
        found: dict[int, Polynomial] = {}
        for side in (0, 1):
            for j, constraint in enumerate(self.pairs.constraints):
                terms = self._linear(constraint, side, frame)
                if terms is not None:
                    number = side * len(self.pairs.constraints) + j
                    found[number] = _substitute_axes(to_polynomial(terms), frame)
        return found

    def _linear(self, constraint: Separable, side: int, frame: CellFrame) -> dict[Monomial, Fraction] | None:
        """A constraint at one copy as a polynomial in t's."""
        owner = (self.pairs.first, self.pairs.second)[side]
        low, high = frame.low, frame.high
        total: dict[Monomial, Fraction] = {(): constraint.bias}
        for k, term in enumerate(constraint.terms):
            if term.constant:
                total[()] += term.exact(low[owner[k]])
            elif term.table is not None:
                if low[owner[k]] != high[owner[k]]:
                    return None
                total[()] += term.exact(low[owner[k]])
            else:
                for n, sign in self._numbers(k, side, owner):
                    c = self.coordinates.all[n]
                    total[()] += term.slope * sign * c.middle
                    total[(n,)] = total.get((n,), Fraction(0)) + term.slope * sign * c.reach
        return total

    def _numbers(self, k: int, side: int, owner: tuple[int, ...]) -> list[tuple[int, int]]:
        """The coordinates whose sum, with these signs, is the number of feature k at one copy."""
        found = []
        for n, c in enumerate(self.coordinates.all):
            if c.feature == k and (c.kind != "number" or c.variables[0] == owner[k]):
                found.append((n, -1 if c.kind == "half difference" and side == 0 else 1))
        return found

    def _t(self, posed: CellCube, point: Floats) -> Floats:
        frame = posed.frame
        t = np.array([float(m) for m in frame.middle])
        for axis, n in enumerate(frame.axes):
            t[n] += float(frame.half[n]) * min(max(float(point[axis]), -1.0), 1.0)
        return t


def _substitute_axes(terms: Polynomial, frame: CellFrame) -> Polynomial:
    """A polynomial in t's in terms of axes: t_n = middle_n + half_n y."""
    place = {n: axis for axis, n in enumerate(frame.axes)}
    at = [fmpq(m.numerator, m.denominator) for m in frame.middle]
    by = [fmpq(w.numerator, w.denominator) for w in frame.half]
    total: dict[Monomial, fmpq] = {}
    for key, value in terms.items():
        parts: dict[Monomial, fmpq] = {(): value}
        for n in key:
            grown: dict[Monomial, fmpq] = {}
            for product, weight in parts.items():
                if at[n] != 0:
                    grown[product] = grown.get(product, 0) + weight * at[n]
                if n in place:
                    longer = tuple(sorted((*product, place[n])))
                    grown[longer] = grown.get(longer, 0) + weight * by[n]
            parts = grown
        for product, weight in parts.items():
            total[product] = total.get(product, 0) + weight
    return {product: weight for product, weight in total.items() if weight != 0}


def _coordinate_ends(c: Coordinate, low: list[Fraction], high: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Ends of t over a cell."""
    if c.kind == "level":
        entries = c.table[int(low[c.variables[0]]) : int(high[c.variables[0]]) + 1]
        start, end = min(entries), max(entries)
    else:
        start, end = c.interval(low, high)
    return (start - c.middle) / c.reach, (end - c.middle) / c.reach


def _programme_direction(question: WitnessSet, *, linear: bool) -> Direction | FreeLean | None:
    """What a program is asked: a lean to be found, or the only one there is; none for curved witness sets."""
    if isinstance(question, DecisionSet):
        return FreeLean(threshold=question.level, linear=linear)
    return question.direction(EVEN_LEAN) if question.leans() == (float(EVEN_LEAN),) else None
