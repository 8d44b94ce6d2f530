"""From exponentials to cubics: steps 2 to 4 of the rule `kernel`, for one copy, and 7 for two.

Comes in: coefficients c~_t of weight units; for each term the ints e~_t, h~_t and k~_t >= 0 of exponent units, L~_t = -k~_t + Z_t,
|L~_t| <= h~_t. Goes out: q1, q2, q3 and a constant with sum_t c_t exp(X_t) <= constant + sum_t q1 Z_t + q2 Z_t^2 + q3 Z_t^3, in units of 2^-bits.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from likewise_check.core.cells import LeafRefused
from likewise_check.core.logarithm import ceil_div
from likewise_check.packs.kernel.cubics import (
    CUBIC,
    EXPONENT,
    GRID,
    SLACK,
    WEIGHT,
    WIDEST,
    chord,
    decay,
    one_sided,
    shift_cubic,
)

Cubic: TypeAlias = tuple[int, int, int, int]
_ZERO: Cubic = (0, 0, 0, 0)
MOST_SHIFTED = 1 << 16  # cubics kept between leaves; dropped beyond, which changes nothing but time


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """Cubics in Z, one a term, in units of 2^-bits; |Z| <= reach, a whole number, for all of them."""

    q: tuple[list[int], list[int], list[int]]
    constant: int
    bits: int
    reach: int


class Expander:
    """Expands the terms of a cell, `off` being how many exponent units an exponent may be off by; keeps the cubics of each h."""

    def __init__(self) -> None:
        self._sides: dict[tuple[int, bool], Cubic] = {}
        self._shifted: dict[tuple[int, bool, int], Cubic] = {}
        self._chords: dict[int, Cubic] = {}

    def one_copy(self, terms: Iterable[tuple[int, int, int, int]], off: int, most: int) -> Expansion:
        """From c~_t, e~_t, h~_t, k~_t."""
        constant = reach = 0
        rows: list[tuple[int, int, int]] = []
        for c, fall, h, k in terms:
            weight = _weight(c, fall, off)
            p0, p1, p2, p3 = self._side(_grid_index(h), weight, k)
            constant += weight * p0
            rows.append((weight * p1, weight * p2, weight * p3))
            reach = max(reach, h + k)
        return _shorten(rows, constant, reach, most)

    def two_copies(
        self,
        terms: Iterable[tuple[tuple[int, int, int], tuple[int, int, int], int, int]],
        off: int,
        most: int,
    ) -> Expansion:
        """From (c~_t, e~_t, h~_t) of the first copy and of the second, whose c~_t is of -c'_t; k~_t; g~_t."""
        constant = reach = 0
        rows: list[tuple[int, int, int]] = []
        others: list[tuple[int, int, int]] = []
        for (c, fall, h), (other_c, other_fall, other_h), k, gap in terms:
            weight, other = _weight(c, fall, off), _weight(other_c, other_fall, off)
            i, j = _grid_index(h), _grid_index(other_h)
            steep = bent = cubed = 0
            if 2 * gap * GRID <= max(i, j) << EXPONENT and (weight > 0) != (other > 0):
                m = weight if abs(weight) <= abs(other) else -other
                weight, other = weight - m, other + m
                _, p1, p2, p3, eps = self._chord(max(i, j), k)
                steep, bent, cubed = m * p1, m * p2, m * p3
                constant += (abs(m) * eps * gap >> EXPONENT) + 1
            p0, p1, p2, p3 = self._side(i, weight, k) if weight else _ZERO
            constant += weight * p0
            rows.append((weight * p1 + steep, weight * p2 + bent, weight * p3 + cubed))
            p0, p1, p2, p3 = self._side(j, other, k) if other else _ZERO
            constant += other * p0
            others.append((other * p1 - steep, other * p2 - bent, other * p3 - cubed))
            reach = max(reach, h + k, other_h + k)
        return _shorten(rows + others, constant, reach, most)

    def _side(self, i: int, weight: int, k: int) -> Cubic:
        """The cubic above exp if the weight is not negative, else below; in Z."""
        key = i, weight >= 0, k
        found = self._shifted.get(key)
        if found is None:
            side = key[:2]
            if side not in self._sides:
                self._sides[side] = one_sided(*side)
            if len(self._shifted) >= MOST_SHIFTED:
                self._shifted.clear()
            found = self._shifted[key] = shift_cubic(self._sides[side], k)
        return found

    def _chord(self, i: int, k: int) -> tuple[int, int, int, int, int]:
        """P in Z, and eps."""
        if i not in self._chords:
            self._chords[i] = chord(i)
        p1, p2, p3, eps = self._chords[i]
        return *shift_cubic((0, p1, p2, p3), k), eps


def _weight(c: int, fall: int, off: int) -> int:
    """C~ of step 2."""
    y = c * decay(fall) >> WEIGHT
    return y + (abs(y) * 2 * off >> EXPONENT) + (abs(c) >> 90) + 3


def _grid_index(h: int) -> int:
    """The smallest i with i / GRID >= h - SLACK."""
    i = -((SLACK - h) * GRID >> EXPONENT)
    if i > WIDEST * GRID:
        raise LeafRefused(f"kernel: the cell is too large, an exponent varies by more than {WIDEST}")
    return i


def _shorten(rows: list[tuple[int, int, int]], constant: int, reach: int, most: int) -> Expansion:
    """Brings the sum of the q down to so many bits."""
    reach = ceil_div(reach, 1 << EXPONENT)
    size = sum(abs(q1) + abs(q2) + abs(q3) for q1, q2, q3 in rows) * (1 + reach) ** 2
    excess = max(0, size.bit_length() - most)
    q1, q2, q3 = ([x >> excess for x in column] for column in zip(*rows, strict=True))
    return Expansion(
        q=(q1, q2, q3), constant=(constant >> excess) + 1, bits=WEIGHT + CUBIC - excess, reach=reach
    )
