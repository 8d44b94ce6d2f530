"""The sorts of features of the rule `kernel`, and what one of them adds to the exponents in an interval of codes.

Rationals are rounded down to ints of exponent units, once each; what that costs is accounted for in `kernel`, step 1.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import compress
from typing import TypeAlias

from likewise_check.core.numbers import Exact, int_if_whole
from likewise_check.core.space import Feature
from likewise_check.packs.axes import Column
from likewise_check.packs.kernel.body import Rbf
from likewise_check.packs.kernel.choices import Choice
from likewise_check.packs.kernel.cubics import EXPONENT, WEIGHT

FEW_CODES = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A numeric axis: its loads l~_t, those of a second copy after those of the first."""

    loads: list[int]
    curve: tuple[int, int] = (0, 0)  # gamma A w^2, rounded down and up, in weight units
    places: list[int] | None = None  # the y that occur, in weight units, if few
    is_product: bool = False  # of the two axes before it: an axis p after u and d


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one `same` feature adds in an interval of codes: to e~_t, h~_t and k~_t, and its axis if it has one."""

    decay: list[int]
    height: list[int] | None = None
    axis: Axis | None = None
    choice: Choice | None = None  # an active one-hot axis, whose height is k~_t

    def only(self, live: Sequence[bool], name: object) -> "Part":
        """The same of some of the terms; a name for the feature and these terms."""

        def some(numbers: Sequence[int]) -> list[int]:
            return list(compress(numbers, live))

        axis, choice = self.axis, self.choice
        return Part(
            decay=some(self.decay),
            height=some(self.height) if self.height else None,
            axis=replace(axis, loads=some(axis.loads)) if axis else None,
            choice=replace(choice, places=some(choice.places), terms=name) if choice else None,
        )


class Numeric:
    """A numeric feature: scale * gamma * D_t = alpha tau^2 - beta_t tau + chi_t."""

    def __init__(self, columns: Sequence[Column], body: Rbf, *, whole_codes: bool) -> None:
        self._table = columns[0].table if columns else None
        self._scale, self._whole = body.scale, whole_codes
        factor = body.gamma * body.scale
        self._alpha = int_if_whole(factor * sum(column.slope**2 for column in columns))
        self._beta: list[Exact] = [0] * len(body.coefficients)
        self._chi: list[Exact] = [0] * len(body.coefficients)
        for column in columns:
            gaps = [centre - column.offset for centre in column.centres]
            self._beta = [
                int_if_whole(b + 2 * factor * column.slope * gap)
                for b, gap in zip(self._beta, gaps, strict=True)
            ]
            self._chi = [int_if_whole(c + factor * gap**2) for c, gap in zip(self._chi, gaps, strict=True)]

    @property
    def terms(self) -> int:
        return len(self._beta)

    @property
    def flat(self) -> bool:
        """Whether A = 0: the score does not depend on this feature."""
        return self._alpha == 0

    def falls(self, m: Fraction) -> list[int]:
        """gamma D_t(m), rounded down."""
        above, below, unit = m.numerator, m.denominator, self._scale * m.denominator**2
        square, one = self._alpha * above * above, 1 << EXPONENT
        return [
            int((square + below * (chi * below - beta * above)) * one // unit)
            for beta, chi in zip(self._beta, self._chi, strict=True)
        ]

    def loads(self, m: Fraction, w: Fraction) -> list[int]:
        """-2 gamma w (A m - B_t), rounded down."""
        factor, unit = w.numerator << EXPONENT, self._scale * w.denominator * m.denominator
        centre = 2 * self._alpha * m.numerator
        return [int(factor * (beta * m.denominator - centre) // unit) for beta in self._beta]

    def curve(self, w: Fraction, other: Fraction, bits: int) -> tuple[int, int]:
        """gamma A w w', rounded down and up to units of 2^-bits."""
        exactly = self._alpha * w * other * (1 << bits) / self._scale
        return int(exactly // 1), int(-(-exactly // 1))

    def part(self, lo: Exact, hi: Exact) -> Part:
        """The part of the codes from lo to hi."""
        values: list[Fraction] | None = None
        if self._table is not None:
            values = list(self._table[int(lo) : int(hi) + 1])
        elif self._whole and hi - lo < FEW_CODES:
            values = [Fraction(code) for code in range(int(lo), int(hi) + 1)]
        low, high = (min(values), max(values)) if values else (lo, hi)
        m, w = Fraction(low + high) / 2, Fraction(high - low) / 2
        falls = self.falls(m)
        if w == 0 or self.flat:
            return Part(decay=falls)
        loads = self.loads(m, w)
        places = None
        if values and len(values) <= FEW_CODES:
            places = [int((value - m) / w * (1 << WEIGHT) // 1) for value in values]
        axis = Axis(loads=loads, curve=self.curve(w, w, WEIGHT), places=places)
        return Part(decay=falls, height=[abs(x) for x in loads], axis=axis)


class OneHot:
    """A one-hot feature: gamma D_t is 0 at one position and zeta at all others; the last place is no position."""

    def __init__(self, places: list[int], zeta: Fraction) -> None:
        self._places = places
        self._half = int(zeta * (1 << EXPONENT) / 2 // 1)

    def part(self, lo: Exact, hi: Exact) -> Part:
        """The part of the positions from lo to hi."""
        first, last, half = int(lo), int(hi), self._half
        if first == last:
            return Part(decay=[0 if place == first else 2 * half for place in self._places])
        return Part(
            decay=[half if first <= place <= last else 2 * half for place in self._places],
            height=[half if first <= place <= last else 0 for place in self._places],
            choice=Choice(zeta=2 * half, places=self._places, first=first, last=last, terms=None),
        )


class Grouped:
    """A grouped feature (section 20): gamma D_t is beta_t - zeta [q = s_t], and zeta / 2 more beside the ground, if there is one."""

    def __init__(self, groups: list[int], falls: list[list[Fraction]], way: "GroupedWay") -> None:
        self._groups, self._falls, self._way = groups, falls, way  # falls: gamma D_t, by group
        self._half = int(way.zeta * (1 << EXPONENT) / 2 // 1)

    def part(self, lo: Exact, hi: Exact) -> Part:
        """The part of the positions from lo to hi."""
        allowed = sorted(set(self._groups[int(lo) : int(hi) + 1]))
        if len(allowed) == 1:
            return Part(decay=[_floored(row[allowed[0]]) for row in self._falls])
        way, half = self._way, self._half
        grounded = way.ground in allowed
        # Where the ground is not allowed, every group that is has zeta / 2 more.
        more = way.zeta / 2 if way.ground is not None and not grounded else Fraction(0)
        inside = [half if q in allowed else 0 for q in way.own]
        rise = way.zeta * (1 << WEIGHT) / 2
        choice = Choice(
            zeta=2 * half,
            places=way.own,
            first=allowed[0],
            last=allowed[-1],
            terms=None,
            listed=tuple(allowed),
            raised=tuple(n for n, q in enumerate(allowed) if q != way.ground) if grounded else (),
            rise=(int(rise // 1), int(-(-rise // 1))),
        )
        decay = [_floored(beta + more) - away for beta, away in zip(way.betas, inside, strict=True)]
        return Part(decay=decay, height=inside, choice=choice)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupedWay:
    """How a feature is grouped: gamma d, gamma beta_t and s_t of each term (-1 for none), and the ground."""

    zeta: Fraction
    betas: list[Fraction]
    own: list[int]
    ground: int | None


def _floored(number: Fraction) -> int:
    return int(number * (1 << EXPONENT) // 1)


def _ways(falls: list[list[Fraction]]) -> Iterator[GroupedWay]:
    """The ways in which gamma D_t, by group, fits section 20, in their order."""
    betas = [max(row) for row in falls]
    below = [
        [q for q, value in enumerate(row) if value != beta] for row, beta in zip(falls, betas, strict=True)
    ]
    steps = {beta - row[q] for row, beta, less in zip(falls, betas, below, strict=True) for q in less}
    if len(steps) == 1 and all(len(less) <= 1 for less in below):
        yield GroupedWay(
            zeta=steps.pop(), betas=betas, own=[less[0] if less else -1 for less in below], ground=None
        )
    for ground in range(len(falls[0])):
        betas = [row[ground] for row in falls]
        below = [
            [q for q, value in enumerate(row) if value < beta] for row, beta in zip(falls, betas, strict=True)
        ]
        steps = {
            abs(value - beta)
            for row, beta in zip(falls, betas, strict=True)
            for q, value in enumerate(row)
            if q != ground
        }
        if len(steps) == 1 and 0 not in steps and all(len(less) <= 1 for less in below):
            own = [less[0] if less else -1 for less in below]
            yield GroupedWay(zeta=2 * steps.pop(), betas=betas, own=own, ground=ground)


def _group_positions(feature: Feature, body: Rbf, k: int) -> Grouped | None:
    """The feature as a grouped one, if it is."""
    rows = [tuple(column.at(code) for column in body.columns[k]) for code in range(feature.levels)]
    numbers: dict[tuple[Fraction, ...], int] = {}
    groups = [numbers.setdefault(row, len(numbers)) for row in rows]
    if len(numbers) < 2:
        return None
    firsts = [groups.index(q) for q in range(len(numbers))]
    by_group = [body.exponents(k, code) for code in firsts]
    falls = [[Fraction(value) / body.scale for value in row] for row in zip(*by_group, strict=True)]
    way = next(_ways(falls), None)
    return None if way is None else Grouped(groups, falls, way)


Sort: TypeAlias = Numeric | OneHot | Grouped | None


def classify_feature(feature: Feature, body: Rbf, k: int) -> Sort:
    """Numeric, one-hot or grouped, or None for any other; a levels kind without columns counts as numeric."""
    columns = body.columns[k]
    if not feature.levels or len(columns) <= 1:
        return Numeric(columns, body, whole_codes=feature.kind == "integer")
    by_term = list(zip(*(body.exponents(k, code) for code in range(feature.levels)), strict=True))
    nowhere = feature.levels  # the place of terms whose own level is not in the space
    places = [row.index(0) if 0 in row else nowhere for row in by_term]
    others = {x for row, place in zip(by_term, places, strict=True) for v, x in enumerate(row) if v != place}
    if len(others) > 1 or 0 in others:
        return _group_positions(feature, body, k) if body.grouped else None
    return OneHot(places, Fraction(max(others, default=0)) / body.scale)
