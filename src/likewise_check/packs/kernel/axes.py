"""The two sorts of features of the rule `kernel`, and what one of them adds to the exponents in an interval of codes.

Rationals are rounded down to ints of exponent units, once each; what that costs is accounted for in `kernel`, step 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import compress

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


def classify_feature(feature: Feature, body: Rbf, k: int) -> Numeric | OneHot | None:
    """Numeric or one-hot, or None for any other; a levels kind without columns counts as numeric."""
    columns = body.columns[k]
    if not feature.levels or len(columns) <= 1:
        return Numeric(columns, body, whole_codes=feature.kind == "integer")
    by_term = list(zip(*(body.exponents(k, code) for code in range(feature.levels)), strict=True))
    nowhere = feature.levels  # the place of terms whose own level is not in the space
    places = [row.index(0) if 0 in row else nowhere for row in by_term]
    others = {x for row, place in zip(by_term, places, strict=True) for v, x in enumerate(row) if v != place}
    if len(others) > 1 or 0 in others:
        return None
    return OneHot(places, Fraction(max(others, default=0)) / body.scale)
