"""Rule `["chords", way, r]` (section 25): sum_t c_t exp(-Q_t) < U on a cell, each exp(-Q) replaced by a chord, a tangent or a constant.

Q_t = gamma sum_k D_tk(x_k) is a sum of one function a feature: a parabola of a number, a table of levels. So is the sum of all lines, whose largest value is a sum of maxima.

Rounding, as section 25 allows it. Exponents are ints of 2^-EXPONENT: L_t is rounded down and R_t up. Weights are ints of 2^-WEIGHT: c_t is rounded up, and `decay` is off by less than
DECAY_ERROR units. A line is K_t + S_t (Q_t - r_t) with ints K_t and S_t:

    c > 0   r = R,  K >= c e,  -S >= c m,   with e >= exp(-R) and e + m (R - L) >= exp(-L)
    c < 0   r = p,  0 <= S <= |c| exp(-p),  K >= -S + (|c| exp(-p) - S) (R - p);   or S = 0 and K >= c e with 0 <= e <= exp(-R)

From there on everything is exact: the S_t Q_t are added up feature by feature, in rationals.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from operator import mul
from typing import Any, TypeAlias

from likewise_check.core.bound import Way, conclude, read_way
from likewise_check.core.cells import Box, Cell, Holds, Interval
from likewise_check.core.deadline import look_at_clock
from likewise_check.core.fields import Rejected, whole
from likewise_check.core.lemma import Lemma
from likewise_check.core.logarithm import ceil_div, unit_bits
from likewise_check.core.maxima import table_maximum
from likewise_check.core.numbers import Exact, int_if_whole
from likewise_check.packs.axes import differences
from likewise_check.packs.kernel.body import Rbf
from likewise_check.packs.kernel.cubics import DECAY_ERROR, EXPONENT, WEIGHT, decay
from likewise_check.packs.kernel.parabolas import Parabola, largest_apart

MOST_WIDTH = 1024  # the largest hint
MOST_KEPT = 1 << 21  # numbers kept between leaves; dropped beyond, which changes nothing but time
_FINE = 16  # more bits of what one feature adds to an exponent
_ONE = 1 << EXPONENT

Codes: TypeAlias = tuple[tuple[int, Exact], ...]  # features and their codes
Row: TypeAlias = Sequence[Any]  # one entry a term


class Number:
    """A continuous or integer feature: scale gamma D_t(z) = alpha z^2 - beta_t z + chi_t."""

    def __init__(self, body: Rbf, k: int) -> None:
        self._scale = body.scale
        below, self.chi, above = (body.exponents(k, code) for code in (-1, 0, 1))
        self.beta = [int_if_whole(Fraction(x - y) / 2) for x, y in zip(below, above, strict=True)]
        self.alpha = int_if_whole(Fraction(below[0] + above[0]) / 2 - self.chi[0])

    def range_on(self, interval: Interval) -> tuple[Row, Row]:
        """The smallest and the largest gamma D_t over an interval, rounded down and up, in units of 2^-(EXPONENT + _FINE)."""
        alpha, unit, one = self.alpha, self._scale, 1 << EXPONENT + _FINE
        lo, hi = map(Fraction, interval)
        ends = [(z.numerator, z.denominator, z.denominator**2 * unit) for z in (lo, hi)]
        squares = [alpha * n * n for n, _, _ in ends]
        (low, low_below, low_unit), (high, high_below, high_unit) = ends
        lows, highs = [], []
        for beta, chi in zip(self.beta, self.chi, strict=True):
            left = one * (squares[0] + low_below * (chi * low_below - beta * low))
            right = one * (squares[1] + high_below * (chi * high_below - beta * high))
            highs.append(max(_round_up(left, low_unit), _round_up(right, high_unit)))
            if 2 * alpha * low < beta * low_below and beta * high_below < 2 * alpha * high:
                lows.append(int(one * (4 * alpha * chi - beta * beta) // (4 * alpha * unit)))
            else:
                lows.append(int(min(left // low_unit, right // high_unit)))
        return lows, highs

    def rows(self) -> tuple[Row, ...]:
        """What its sums are made of."""
        return self.beta, self.chi

    def sums(self, weights: Sequence[int], beta: Row, chi: Row) -> Parabola:
        """The sum of S_t scale gamma D_t of some terms, as a parabola."""
        return Parabola(self.alpha * sum(weights), -sum(map(mul, weights, beta)), sum(map(mul, weights, chi)))


class Levels:
    """A levels kind: terms whose centres have the same columns are one sort, of which D is known at each position."""

    def __init__(self, body: Rbf, k: int) -> None:
        self._columns, self._factor = body.columns[k], body.scale * body.gamma
        centres = list(zip(*(column.centres for column in self._columns), strict=True))
        if not centres:  # no columns
            centres = [()] * len(body.coefficients)
        numbers: dict[tuple[Fraction, ...], int] = {}
        self.sorts = [numbers.setdefault(centre, len(numbers)) for centre in centres]
        self._centres, self._scale = list(numbers), body.scale
        self._known: dict[int, list[Exact]] = {}

    def at(self, position: int) -> list[Exact]:
        """scale gamma D at a position, one a sort of terms."""
        if position not in self._known:
            look_at_clock()
            values = [column.at(position) for column in self._columns]
            self._known[position] = [
                int_if_whole(self._factor * sum((v - c) ** 2 for v, c in zip(values, centre, strict=True)))
                for centre in self._centres
            ]
        return self._known[position]

    def range_on(self, interval: Interval) -> tuple[Row, Row]:
        """The smallest and the largest gamma D_t over the positions of an interval, as for numbers."""
        one, unit = 1 << EXPONENT + _FINE, self._scale
        rows = [self.at(position) for position in range(int(interval[0]), int(interval[1]) + 1)]
        least = [int(one * min(values) // unit) for values in zip(*rows, strict=True)]
        most = [_round_up(one * max(values), unit) for values in zip(*rows, strict=True)]
        return [least[sort] for sort in self.sorts], [most[sort] for sort in self.sorts]

    def rows(self) -> tuple[Row, ...]:
        """What its tables are made of."""
        return (self.sorts,)

    def table(self, weights: Sequence[int], sorts: Row, intervals: Sequence[Interval]) -> dict[int, Exact]:
        """The sum of S_t scale gamma D_t of some terms, by position of the intervals."""
        sums = [0] * len(self._centres)
        for sort, weight in zip(sorts, weights, strict=True):
            sums[sort] += weight
        positions = sorted({v for lo, hi in intervals for v in range(int(lo), int(hi) + 1)})
        return {v: sum(map(mul, sums, self.at(v))) for v in positions}


def _round_up(number: Exact, unit: Exact) -> int:
    return int(-(-number // unit))


@dataclass(frozen=True, slots=True, kw_only=True)
class TermSet:
    """Some terms, by their places, with their c_t rounded up; rows of features are cut down to them once."""

    places: tuple[int, ...]
    weights: list[int]
    kept: dict[object, tuple[Row, ...]] = field(default_factory=dict)

    def of(self, key: object, rows: Callable[..., tuple[Row, ...]], *given: Any) -> tuple[Row, ...]:
        """These terms' entries of rows with one entry a term, made of what is given and kept by the key."""
        if key not in self.kept:
            if len(self.kept) * len(self.places) > MOST_KEPT:
                self.kept.clear()
            self.kept[key] = tuple(tuple(map(row.__getitem__, self.places)) for row in rows(*given))
        return self.kept[key]


class Chords:
    """The rule, prepared for one lemma."""

    def __init__(self, lemma: Lemma) -> None:
        body, other = lemma.first, lemma.second
        if not isinstance(body, Rbf) or not isinstance(other, Rbf):
            raise Rejected("chords: the body is not a kernel one")
        self._lemma, self._body, self._other = lemma, body, other  # which differ in coefficients only
        kept = body.shared.setdefault("chords", {})
        if not kept:
            kept["features"] = [
                Levels(body, k) if feature.levels else Number(body, k)
                for k, feature in enumerate(lemma.space.features)
            ]
            kept["ranges"] = {}
        self._features: list[Number | Levels] = kept["features"]
        self._ranges: dict[tuple[int, Interval], tuple[Row, Row]] = kept["ranges"]
        self._all = list(range(len(self._features)))
        self._same = [k for k in self._all if lemma.similarity[k].kind == "same"]
        self._differ = [k for k in self._all if lemma.similarity[k].kind != "same"]
        self._folded: dict[tuple[Codes, Codes, Fraction, Fraction], TermSet] = {}
        self._whole: dict[tuple[int, Fraction], TermSet] = {}

    def __call__(self, leaf: list[object], cell: Cell) -> Holds:
        """Whether the lines show that no pair of the cell is a witness."""
        if len(leaf) != 3:
            raise Rejected('a chords leaf is ["chords", way, width]')
        way = read_way(leaf[1], self._lemma.asked)
        bound = self.bound(way, whole(0, MOST_WIDTH)(leaf[2], "the width"), cell)
        gauge = self._lemma.gauge
        limit = way.threshold - way.a * gauge(self._body.bias) + way.b * gauge(self._other.bias)
        return conclude("chords", bound, limit, closed=True, side=way.side)

    def bound(self, way: Way, width: int, cell: Cell) -> Fraction | None:
        """A number that F does not exceed on the cell; None if that holds no pair."""
        if any(self._holds_none(k, cell[k]) for k in self._differ):
            return None
        fixed = not any(_moves(cell[k]) for k in self._differ)
        if fixed:
            terms = [self._fold_terms(way, cell)]
            sides = [[(k, cell[k].intervals[0]) for k in self._same]]
        else:
            terms = [self._weigh_terms(0, way.a), self._weigh_terms(1, -way.b)]
            sides = [[(k, _codes(cell[k], side)) for k in self._all] for side in (0, 1)]
        total, slopes = 0, []
        for some, features in zip(terms, sides, strict=True):
            constant, weights = self._lines(some, features, width)
            total += constant
            slopes.append(weights)
        found = Fraction(total, 1 << WEIGHT + EXPONENT)
        for k in self._same if fixed else self._all:
            largest = self._largest(k, cell[k], terms, slopes)
            if largest is None:
                return None
            found += Fraction(largest) / (self._body.scale << WEIGHT)
        return found

    def _holds_none(self, k: int, box: Box) -> bool:
        """Whether no codes of the box satisfy the relation of a feature that may differ, as far as that is seen without its terms."""
        (x, _), (other, _) = box.intervals
        if not _moves(box) and not self._lemma.similarity[k].allows(x, other):
            return True
        if isinstance(self._features[k], Levels):
            return False
        least, most = differences(box)
        return least > most

    def _fold_terms(self, way: Way, cell: Cell) -> TermSet:
        """The terms of one copy: without those that are the same real number at x and at x', weighed by a and b."""
        here, there = (tuple((k, cell[k].intervals[side][0]) for k in self._differ) for side in (0, 1))
        key = here, there, way.a, way.b
        if key not in self._folded:
            if len(self._folded) * len(self._body.coefficients) > MOST_KEPT:
                self._folded.clear()
            bits = WEIGHT + 32
            falls, other_falls = self._body.falls(here), self._body.falls(there)
            ends, other_ends = self._body.exponentials(here, bits), self._body.exponentials(there, bits)
            places, weights = [], []
            for t, (weight, other) in enumerate(
                zip(self._body.coefficients, self._other.coefficients, strict=True)
            ):
                a, b = self._lemma.slope * way.a * weight, self._lemma.slope * way.b * other
                if a == b and falls[t] == other_falls[t]:
                    continue
                (low, high), (other_low, other_high) = ends[t], other_ends[t]
                most = a * (high if a > 0 else low) - b * (other_low if b > 0 else other_high)
                places.append(t)
                weights.append(_round_up(Fraction(most), 1 << unit_bits(bits) - WEIGHT))
            self._folded[key] = TermSet(places=tuple(places), weights=weights)
        return self._folded[key]

    def _weigh_terms(self, side: int, factor: Fraction) -> TermSet:
        """All terms of one of two copies."""
        key = side, factor
        if key not in self._whole:
            if len(self._whole) * len(self._body.coefficients) > MOST_KEPT:
                self._whole.clear()
            coefficients = (self._body, self._other)[side].coefficients
            numbers = [Fraction(self._lemma.slope * factor * weight) for weight in coefficients]
            weights = [_round_up(number * (1 << WEIGHT), 1) for number in numbers]
            self._whole[key] = TermSet(places=tuple(range(len(weights))), weights=weights)
        return self._whole[key]

    def _lines(
        self, terms: TermSet, features: Sequence[tuple[int, Interval]], width: int
    ) -> tuple[int, list[int]]:
        """The sum of K_t - S_t r_t, in units of 2^-(WEIGHT + EXPONENT), and the S_t."""
        rows = [terms.of((k, interval), self._range, k, interval) for k, interval in features]
        none = [0] * len(terms.places)
        lows = map(sum, zip(*(row[0] for row in rows), none, strict=True))
        highs = map(sum, zip(*(row[1] for row in rows), none, strict=True))
        constant, slopes, widest = 0, [], width << EXPONENT
        for c, fine_low, fine_high in zip(terms.weights, lows, highs, strict=True):
            low, high = fine_low >> _FINE, -(-fine_high >> _FINE)
            if c > 0:
                level, slope, place = _chord(c, low, high)
            elif high - low <= widest:
                level, slope, place = _tangent(-c, low, high)
            else:
                level, slope, place = -(-c * max(decay(high) - DECAY_ERROR, 0) >> WEIGHT), 0, 0
            constant += (level << EXPONENT) - slope * place
            slopes.append(slope)
        return constant, slopes

    def _range(self, k: int, interval: Interval) -> tuple[Row, Row]:
        key = k, interval
        if key not in self._ranges:
            look_at_clock()
            if len(self._ranges) * len(self._body.coefficients) > MOST_KEPT:
                self._ranges.clear()
            self._ranges[key] = self._features[k].range_on(interval)
        return self._ranges[key]

    def _largest(self, k: int, box: Box, terms: list[TermSet], slopes: list[list[int]]) -> Exact | None:
        """The largest u_k(x_k) + v_k(x'_k), in units of 1 / (scale 2^WEIGHT); None if no codes satisfy the relation."""
        feature, relation = self._features[k], self._lemma.similarity[k]
        if isinstance(feature, Levels):
            tables = [
                feature.table(weights, some.of(k, feature.rows)[0], box.intervals)
                for some, weights in zip(terms, slopes, strict=True)
            ]
            if relation.kind == "same":
                return max(map(sum, zip(*(table.values() for table in tables), strict=True)))
            return table_maximum(_Table(tables[0]), _Table(tables[1]), box, relation)
        parabolas = [
            feature.sums(weights, *some.of(k, feature.rows))
            for some, weights in zip(terms, slopes, strict=True)
        ]
        if relation.kind == "same":
            total = parabolas[0] if len(parabolas) == 1 else parabolas[0].plus(parabolas[1])
            return total.largest(*box.intervals[0])
        first, second = box.intervals
        return largest_apart(parabolas[0], parabolas[1], first, second, differences(box))


class _Table(Sequence[Exact]):
    """Entries of some positions, as `table_maximum` takes them."""

    def __init__(self, entries: dict[int, Exact]) -> None:
        self._entries = entries

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self._entries[v] for v in range(place.start, place.stop)]
        return self._entries[place]

    def __len__(self) -> int:
        return len(self._entries)


def _moves(box: Box) -> bool:
    return any(lo != hi for lo, hi in box.intervals)


def _codes(box: Box, side: int) -> Interval:
    """The codes of x (side 0) or x', as far as the other and the difference leave them."""
    if len(box.intervals) == 1:
        return box.intervals[0]
    first, second = box.intervals
    if not box.difference:
        return (first, second)[side]
    p, q = differences(box)
    if side == 0:
        return max(first[0], second[0] - q), min(first[1], second[1] - p)
    return max(second[0], first[0] + p), min(second[1], first[1] + q)


def _chord(c: int, low: int, high: int) -> tuple[int, int, int]:
    """K, S and r of a term with c > 0."""
    end = decay(high) + DECAY_ERROR
    rise = max(decay(low) + DECAY_ERROR - end, 0)
    steep = ceil_div(rise << EXPONENT, high - low) if high > low else 0
    return -(-c * end >> WEIGHT), -c * steep >> WEIGHT, high


def _tangent(size: int, low: int, high: int) -> tuple[int, int, int]:
    """K, S and r of a term with c = -size < 0."""
    wide = high - low
    place = low + 6 * _ONE * wide // (12 * _ONE + wide)
    value = decay(place)
    slope = size * max(value - DECAY_ERROR, 0) >> WEIGHT
    loss = -(-size * (value + DECAY_ERROR) >> WEIGHT) - slope
    return -slope - (-loss * (high - place) >> EXPONENT), slope, place
