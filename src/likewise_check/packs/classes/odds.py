"""Rule `["odds", [[number, ...], ...]]` (section 10): P_c(x) - P_c(x') <= delta, by how far the d_r move between x and x' and where d(x) may be.

With M_r the largest d_r(x') - d_r(x) of the cell's pairs, P_c(x) - P_c(x') <= G(d(x)),

    G(d) = 1 / (1 + S) - 1 / (1 + R' S),     S = sum_r exp(d_r),     R' S = sum_r exp(d_r + M_r),

and d(x) is where gamma . d <= h for every direction of the leaf and every +- unit direction, h the maximum over the cell. G grows with R'. Over a box of d, R' is a mean of the
exp(M_r), largest (R) where y_r = exp(d_r) is as large as it can be for the largest M_r and as small as it can be for the others. For this R,

    1 / (1 + S) - 1 / (1 + R S)  =  (R - 1) S / ((1 + S) (1 + R S))  <=  delta     exactly if     q(S) = delta R S^2 - B S + delta >= 0,   B = (R - 1) - delta (1 + R),

a parabola, which is looked at over the range of S. Boxes that are not done are halved. Numbers are ints in units of 2^-BITS: d, M and h on that grid (M, h and the first box
rounded so that G and the region only get larger), exponentials rounded down where they stand for exp(lo), up for exp(hi) and exp(M).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from operator import mul
from typing import TypeAlias

from likewise_check.core.cells import Cell, Holds, LeafRefused
from likewise_check.core.deadline import look_at_clock
from likewise_check.core.fields import Rejected, array_of
from likewise_check.core.lemma import Lemma
from likewise_check.core.logarithm import exp_minus
from likewise_check.core.numbers import number
from likewise_check.packs.classes.forms import Alpha, Forms, NoPair, combine_forms

MOST_BOXES = 1 << 14
LARGEST_MOVE = 64  # of M, and of d before its exponential counts as infinite
BITS = 128
_UNIT = 1 << BITS
_COARSE = BITS // 2  # the first box is on a grid so much coarser, which leaves as many exact halvings

Limit: TypeAlias = tuple[tuple[Fraction, ...], Fraction]  # gamma and h
Ends: TypeAlias = tuple[tuple[int, int], ...]  # of a box, in units: lo and hi by r


class Odds:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        self._forms, self._delta = Forms(lemma, "odds"), lemma.asked.bound

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether no pair of the cell has P_c more than delta apart."""
        if len(leaf) != 2:
            raise Rejected('an odds leaf is ["odds", [[number, ...], ...]]')
        gaps, one = self._forms.gaps, Fraction(1)
        rows = array_of(array_of(number, len(gaps)))(leaf[1], "the directions")
        try:
            moves = [self._forms.largest(combine_forms([-one], [gap]), gap, cell) for gap in gaps]
            if max(moves) <= 0:
                return Holds(clearance=Fraction(0))
            ranges = [(-self._reach(cell, -one, gap), self._reach(cell, one, gap)) for gap in gaps]
            limits = [(tuple(row), self._forms.largest(combine_forms(row, gaps), {}, cell)) for row in rows]
        except NoPair:
            return Holds(clearance=None)
        if max(moves) > LARGEST_MOVE:
            raise LeafRefused(f"odds: differences of scores move by more than {LARGEST_MOVE}")
        if not Gap(moves, limits, self._delta).stays_below(ranges):
            raise LeafRefused("odds: the bound is not seen to be at most delta")
        return Holds(clearance=Fraction(0))

    def _reach(self, cell: Cell, sign: Fraction, gap: Alpha) -> Fraction:
        """The largest sign * d_r of the cell."""
        return self._forms.largest(combine_forms([sign], [gap]), {}, cell)


@dataclass(frozen=True, slots=True)
class _Power:
    """exp(t) from below and from above, None where that counts as infinite; sigma(t), about."""

    low: int
    high: int | None
    sigma: int


class Gap:
    """G for given M_r <= FARTHEST, where gamma . d <= h for each of the `limits`."""

    def __init__(self, moves: Sequence[Fraction], limits: Sequence[Limit], delta: Fraction) -> None:
        self._order = sorted(range(len(moves)), key=lambda r: -moves[r])
        self._raised = [_power(Fraction(_round_up(move), _UNIT)).high or 0 for move in moves]
        self._limits = [_limit_in_units(*limit) for limit in limits]
        self._delta = delta
        self._powers: dict[int, _Power] = {}

    def stays_below(self, ranges: Sequence[tuple[Fraction, Fraction]]) -> bool:
        """Whether G <= delta is seen where d_r is in these ranges and the limits hold."""
        boxes: list[Ends] = [tuple((-_round_up(-lo, _COARSE), _round_up(hi, _COARSE)) for lo, hi in ranges)]
        looked_at = 0
        while boxes:
            looked_at += 1
            look_at_clock()
            box = boxes.pop()
            if self._outside(box) or self.holds(box):
                continue
            r = max(range(len(box)), key=lambda r: self._spread(*box[r]))
            lo, hi = box[r]
            if looked_at >= MOST_BOXES or hi - lo < 2:
                return False
            middle = (lo + hi) // 2
            boxes += [(*box[:r], half, *box[r + 1 :]) for half in ((lo, middle), (middle, hi))]
        return True

    def _outside(self, box: Ends) -> bool:
        """Whether a limit excludes all of the box."""
        for direction, limit in self._limits:
            if sum(g * ends[g < 0] for g, ends in zip(direction, box, strict=True)) > limit:
                return True
        return False

    def holds(self, box: Ends) -> bool:
        """Whether q(S) >= 0 for all S of the box, with the largest R of the box."""
        least = [self._power(lo).low for lo, _ in box]
        most = [power for _, hi in box if (power := self._power(hi).high) is not None]
        if len(most) < len(box):
            return _never_negative(self._delta, max(self._raised), _UNIT, sum(least), None)
        return _never_negative(self._delta, *self._ratio(least, most), sum(least), sum(most))

    def _ratio(self, least: Sequence[int], most: Sequence[int]) -> tuple[int, int]:
        """R as a fraction."""
        above, below, best = sum(map(mul, least, self._raised)), sum(least), (0, 1)
        for r in self._order:
            above += (most[r] - least[r]) * self._raised[r]
            below += most[r] - least[r]
            if above * best[1] > best[0] * (below << BITS):
                best = above, below << BITS
        return best

    def _spread(self, lo: int, hi: int) -> int:
        return self._power(hi).sigma - self._power(lo).sigma

    def _power(self, t: int) -> _Power:
        if t not in self._powers:
            self._powers[t] = _power(Fraction(t, _UNIT))
        return self._powers[t]


def _never_negative(delta: Fraction, above: int, below: int, low: int, high: int | None) -> bool:
    """Whether delta R S^2 - B S + delta >= 0 for R = above / below and all S from low to high units (None: and beyond)."""
    a, b = delta.numerator, delta.denominator
    square, line, constant = a * above, b * (above - below) - a * (above + below), a * below
    if line <= 0 or line * line <= 4 * square * constant:
        return True

    def positive(s: int) -> bool:
        return (square * s - (line << BITS)) * s + (constant << 2 * BITS) >= 0

    if 2 * square * low >= line << BITS and positive(low):
        return True
    return high is not None and 2 * square * high <= line << BITS and positive(high)


def _power(t: Fraction) -> _Power:
    low, high = exp_minus(abs(t), 2 * BITS)
    if t <= 0:
        power = (low * _UNIT).__floor__(), (high * _UNIT).__ceil__()
        return _Power(*power, (power[1] << BITS) // (power[1] + _UNIT))
    if t > LARGEST_MOVE:
        return _Power(_power(Fraction(LARGEST_MOVE)).low, None, _UNIT)
    power = (_UNIT / high).__floor__(), (_UNIT / low).__ceil__()
    return _Power(*power, (power[1] << BITS) // (power[1] + _UNIT))


def _round_up(value: Fraction, coarse: int = 0) -> int:
    """Rounded up, in units; to a grid of 2^coarse units."""
    return (value * (1 << BITS - coarse)).__ceil__() << coarse


def _limit_in_units(direction: Sequence[Fraction], limit: Fraction) -> tuple[list[int], int]:
    """The same limit with whole numbers, of d in units."""
    scale = lcm(*(g.denominator for g in direction))
    return [(g * scale).numerator for g in direction], _round_up(limit * scale)
