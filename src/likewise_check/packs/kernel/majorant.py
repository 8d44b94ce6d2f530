"""The separable majorant of a sum of cubics (section 7), in integers: the table of products, one block of code a row.

Comes in: for each term ints q1, q2, q3 of one unit, and Z = sum_f l_f y_f + sum_i zeta_i [v_i = s_i] (l, zeta in exponent units), for

    sum_t q1 Z + q2 Z^2 + q3 Z^3   <=   constant + sum_i table_i[v_i] + sum_f n1 y + n2 y^2 + n3 y^3 + sum_fl G_fl y_f y_l,     |y| <= 1,

in the same unit, with the pairs of one-hot axes already eliminated. Moving amounts is exact (means are rounded to ints, which the
specification allows); what is rounded is accounted for as follows, with n numeric axes, M terms, |Z| <= reach for all of them:

- Columns. q2 l_f, q3 l_f and, for one-hot axes, (q3 l_f) l_g, f <= g, are rounded down once a term, so they are off by less than 1, 1 and 1 + |l_g|. With
  Z = N + O (numeric, one-hot) they stand in 2 q2 N (N/2 + O), 3 (q3 N) O^2 and (q3 N^2) (N + 3 O), and each axis has |y| <= 1; so a term is off by less
  than 2 n r, 3 n r^2 and 3 (n^2 + 2 n r) r, r = reach. For i j k, q3 zeta_k is rounded down once, and stands next to 6 zeta_i zeta_j: 3 m r^2 for m one-hot
  axes. The caller has rounded q1, q2, q3 down once too, for r + r^2 + r^3 more. In all this is at most
  r (1 + 2 n + 3 n^2) + r^2 (1 + 9 n + 3 m) + r^3 <= 3 (1 + n + m)^2 (1 + r)^3; `terms_error` is M times that.
- Every sum over terms is then rounded down once when it is brought back to the unit (amounts of pairs and of f i j: when all of them are
  together), so 1 is added for each: to the constant, or to the table that it goes to (an axis takes one value, so one entry of a table
  counts). Halves and thirds are rounded up, thirds by enough for the sum.

Sums by position run over many columns at a time: the columns' entries of one term are the 64-bit lanes of one big int (`Lanes`). Lanes
never overflow if (|q1| + |q2| + |q3|) (1 + reach)^2 adds up to less than 2^60 and 2 M (1 + reach)^2 < 2^58 (M < 2^26, reach <= 2^7 + 1): a lane
is a sum over some terms of one column, so less than b = 2^60 + 2^58; the means by u and by v are at most b and b, what is left less than 3 b < 2^62.

Products of numeric axes run over many axes at a time: the loads l_o of one term, o >= g, are the wide lanes of one int, which is multiplied by l_g and
by the columns q2 l_f, q3 l_f. A wide lane is a sum of (q3 l_f) l_g l_o: as |q3 l_f| adds up to less than 2^65 and loads are below 2^(48 + 8), less than 2^177.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, compress
from operator import add, mul
from struct import Struct

from likewise_check.packs.axes import cubic_maximum
from likewise_check.packs.kernel.cubics import EXPONENT

LANE_SUM = 60  # bits of the sum of the q, if there are one-hot axes
FINE_SUM = 64  # if there are none
WIDE = 192  # bits of a wide lane


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An active one-hot axis: zeta, the position of each term, and the positions that the cell allows, from first to last."""

    zeta: int
    places: list[int]
    first: int
    last: int
    levels: int

    @property
    def width(self) -> int:
        return self.last - self.first + 1


class Lanes:
    """Vectors of signed 64-bit ints x_0, x_1, ... as one int, the sum of x_j 2^(64 j): they add up as ints do."""

    def __init__(self, length: int) -> None:
        self._struct = Struct(f"<{length}q")
        # Adding 2^63 to each lane makes all of them nonnegative; in two's complement it flips their top bits.
        self._tops = sum(1 << 64 * j + 63 for j in range(length))

    def packed(self, row: Sequence[int]) -> int:
        return (int.from_bytes(self._struct.pack(*row), "little") ^ self._tops) - self._tops

    def unpacked(self, vectors: Iterable[int]) -> list[tuple[int, ...]]:
        tops, size = self._tops, self._struct.size
        raw = [((vector + tops) ^ tops).to_bytes(size, "little") for vector in vectors]
        return list(self._struct.iter_unpack(b"".join(raw)))

    def means(self, vectors: Iterable[int], count: int) -> list[list[int]]:
        """Each vector by the count, rounded."""
        return [[x // count for x in row] for row in self.unpacked(vectors)]


class Majorant:
    """The majorant; `tables` are of the one-hot axes, `n1`, `n2`, `n3` and `products` of numeric ones."""

    def __init__(
        self, q: tuple[list[int], list[int], list[int]], slopes: list[list[int]], choices: list[Choice]
    ) -> None:
        n = len(slopes)
        self.constant = 0
        self.n1, self.n2, self.n3 = [0] * n, [0] * n, [0] * n
        self.products = {(f, g): 0 for f in range(n) for g in range(f + 1, n)}
        self._choices, self._slopes = choices, slopes
        self._q1, self._q2, self._q3 = q
        self._a2 = [_times(self._q2, slope) for slope in slopes]
        self._a3 = [_times(self._q3, slope) for slope in slopes]
        self._numeric()
        # Of one-hot axes, by position in the cell; N1 of (f, i) and pairs in units 2^(2 EXPONENT) times finer. Of a pair, all v for the first u come first.
        self._cross = [[[0] * choice.width for choice in choices] for _ in slopes]
        self.tables = [[0] * choice.width for choice in choices]
        self._pairs = {
            (i, j): [0] * (choice.width * other.width)
            for i, choice in enumerate(choices)
            for j, other in enumerate(choices)
            if i < j
        }
        if choices:
            self._two_choices()
            self._a33 = {(f, g): _times(self._a3[f], slopes[g]) for f in range(n) for g in range(f, n)}
            columns = [*q, *self._a2, *self._a3, *self._a33.values()]
            lanes = Lanes(len(columns))
            rows = [lanes.packed(row) for row in zip(*columns, strict=True)]
            for i, choice in enumerate(choices):
                self._one_choice(i, choice, rows, lanes)
            self._eliminate()

    def _numeric(self) -> None:
        """The products f, f l, f f l, f l o, those of f and l for all o >= l at a time."""
        slopes, n = self._slopes, len(self._slopes)
        tails = _tails(slopes)
        doubles = [list(map(mul, slope, rows)) for slope, rows in zip(slopes, tails, strict=True)]
        for f, (a2, a3) in enumerate(zip(self._a2, self._a3, strict=True)):
            square, *squares = _dots(a2, tails[f], n - f)
            cubes = [_dots(a3, doubles[g], n - g) for g in range(f, n)]
            self.n1[f] += sum(map(mul, self._q1, slopes[f])) >> EXPONENT
            self.n2[f] += square >> EXPONENT
            self.n3[f] += cubes[0][0] >> 2 * EXPONENT
            self.constant += 3
            for g, with_g in enumerate(squares, f + 1):
                self.products[f, g] += 2 * with_g >> EXPONENT
                self._square_times(g, cubes[0][g - f])
                self._square_times(f, cubes[g - f][0])
                self.constant += 3
                for o, cube in enumerate(cubes[g - f][1:], g + 1):
                    third = abs(6 * cube >> 2 * EXPONENT) // 3 + 1
                    for axis in (f, g, o):
                        self.n2[axis] += third

    def _square_times(self, linear: int, cube: int) -> None:
        """The product f f l with l linear, y_f^2 being within 1/2 of 1/2."""
        amount = 3 * cube >> 2 * EXPONENT
        self.n1[linear] += amount >> 1
        self.constant += abs(amount) + 1 >> 1

    def _two_choices(self) -> None:
        """The products f i j, i j, i j k, for each pair (i, j) with all f and all k > j at a time."""
        choices, n = self._choices, len(self._slopes)
        base = Lanes(2 + n)
        rows = [base.packed(row) for row in zip(self._q2, self._q3, *self._a3, strict=True)]
        starts: dict[int, int] = {}  # where the lanes of k begin
        length = 2 + n
        for j in reversed(range(1, len(choices))):
            lanes, other = Lanes(length), choices[j]
            inside = [other.first <= place <= other.last for place in other.places]
            places, some = list(compress(other.places, inside)), list(compress(rows, inside))
            for i in range(j):
                sums = _sum_by_positions(choices[i], compress(choices[i].places, inside), other, places, some)
                self._two(i, j, sums, lanes, starts)
            starts[j] = length
            shifts = {other.first + w: 64 * (length + w) for w in range(other.width)}
            rows = [
                row + ((q * other.zeta >> EXPONENT) << shifts[place]) if place in shifts else row
                for row, q, place in zip(rows, self._q3, other.places, strict=True)
            ]
            length += other.width

    def _two(self, i: int, j: int, sums: list[list[int]], lanes: Lanes, starts: dict[int, int]) -> None:
        """One pair: sums[v][u] holds the lanes q2, q3, q3 l_f for all f, then q3 zeta_k by position of each k > j."""
        zeta, other, n = self._choices[i].zeta, self._choices[j].zeta, len(self._slopes)
        pairs, six = self._pairs, 6 * zeta * other
        # Lane by lane, sums[v][u] = by_u[u] + by_v[v] + rest.
        by_u = lanes.means(map(sum, zip(*sums, strict=True)), len(sums))
        packed_u = [lanes.packed(mean) for mean in by_u]
        away = sum(packed_u)
        by_v = lanes.means([sum(row) - away for row in sums], len(packed_u))
        packed_v = [lanes.packed(mean) for mean in by_v]
        spans = {k: slice(start, start + self._choices[k].width) for k, start in starts.items()}
        for axis, means in ((i, by_v), (j, by_u)):
            columns = list(zip(*means, strict=True))
            for cross, column in zip(self._cross, columns[2:], strict=False):
                cross[axis] = [old + six * x for old, x in zip(cross[axis], column, strict=True)]
            for k, span in spans.items():
                moved = chain.from_iterable(columns[span])
                pairs[axis, k] = [old + six * x for old, x in zip(pairs[axis, k], moved, strict=True)]
        # What is left, for all u and v at a time: columns[c] is lane c of it.
        rests = [
            x - at_u - at_v
            for column, at_u in zip(zip(*sums, strict=True), packed_u, strict=True)
            for x, at_v in zip(column, packed_v, strict=True)
        ]
        columns = list(zip(*lanes.unpacked(rests), strict=True))
        sizes = [map(abs, column) for column in columns[2 : 2 + n]]
        sizes += [map(max, *columns[span]) for span in spans.values()]
        amounts = map(sum, zip(*sizes, strict=True)) if sizes else [0] * len(rests)
        means2 = [at_u[0] + at_v[0] for at_u in by_u for at_v in by_v]
        means3 = [at_u[1] + at_v[1] for at_u in by_u for at_v in by_v]
        third, half = six // 3, six // 2 * (zeta + other)
        pairs[i, j] = [
            old + six * amount + third * (q2 + mean2) + (half * (q3 + mean3) >> EXPONENT)
            for old, amount, q2, q3, mean2, mean3 in zip(
                pairs[i, j], amounts, *columns[:2], means2, means3, strict=True
            )
        ]

    def _one_choice(self, i: int, choice: Choice, rows: list[int], lanes: Lanes) -> None:
        """The products i, f i, f l i; rows hold the lanes q1, q2, q3, then q2 l_f, q3 l_f, q3 l_f l_g for all f, g."""
        zeta, n, width = choice.zeta, len(self._slopes), choice.width
        table = self.tables[i]
        values = list(zip(*lanes.unpacked(_sum_by_position(choice, rows)), strict=True))
        for v, (q1, q2, q3) in enumerate(zip(*values[:3], strict=True)):
            table[v] += (
                zeta * ((q1 << 2 * EXPONENT) + (zeta * q2 << EXPONENT) + zeta * zeta * q3) >> 3 * EXPONENT
            )
        self.constant += 1
        a33 = dict(zip(self._a33, values[3 + 2 * n :], strict=True))
        for f, cross in enumerate(self._cross):
            a2, a3 = values[3 + f], values[3 + n + f]
            first = [
                old + zeta * ((2 * x << EXPONENT) + 3 * zeta * y) >> 2 * EXPONENT
                for old, x, y in zip(cross[i], a2, a3, strict=True)
            ]
            second = [3 * zeta * x >> EXPONENT for x in a33[f, f]]
            mean1, mean2 = sum(first) // width, sum(second) // width
            self.n1[f] += mean1
            self.n2[f] += mean2
            for v in range(width):
                table[v] += cubic_maximum(first[v] - mean1, second[v] - mean2, 0)
            self.constant += 2
            for g in range(f + 1, n):
                both = [6 * zeta * x >> EXPONENT for x in a33[f, g]]
                mean = sum(both) // width
                self.products[f, g] += mean
                for v in range(width):
                    table[v] += abs(both[v] - mean)
                self.constant += 1

    def _eliminate(self) -> None:
        """Pair by pair, S[v, u] <= table_i[v] + table_j[u]."""
        tables = self.tables
        for (i, j), pair in self._pairs.items():
            # x may be too small by less than 1, as `_two` rounds it down: (x + 1) / 2^s <= (x >> s) + 1.
            sums = [
                [(x >> 2 * EXPONENT) + 1 + at_v + at_u for x, at_u in zip(row, tables[j], strict=True)]
                for row, at_v in zip(_by_first(pair, len(tables[i])), tables[i], strict=True)
            ]
            tables[i] = [max(row) + 1 >> 1 for row in sums]
            tables[j] = [max(column) + 1 >> 1 for column in zip(*sums, strict=True)]


def terms_error(terms: int, axes: int, reach: int) -> int:
    """What rounding the columns costs at most, in units."""
    return 3 * terms * (1 + axes) ** 2 * (1 + reach) ** 3


def _times(weights: list[int], slope: list[int]) -> list[int]:
    return [q * x >> EXPONENT for q, x in zip(weights, slope, strict=True)]


def _tails(slopes: list[list[int]]) -> list[list[int]]:
    """For each axis, term by term, the loads of it and of all axes that follow, as wide lanes of one int."""
    tails: list[list[int]] = []
    for slope in reversed(slopes):
        before = tails[-1] if tails else [0] * len(slope)
        tails.append([(tail << WIDE) + x for tail, x in zip(before, slope, strict=True)])
    return tails[::-1]


@cache
def _tops(lanes: int) -> int:
    """As in `Lanes`, for wide ones."""
    return sum(1 << WIDE * (j + 1) - 1 for j in range(lanes))


def _dots(weights: list[int], rows: list[int], lanes: int) -> list[int]:
    """The sum over the terms of weight times row, lane by lane."""
    tops, step = _tops(lanes), WIDE // 8
    raw = (sum(map(mul, weights, rows)) + tops ^ tops).to_bytes(step * lanes, "little")
    return [int.from_bytes(raw[i : i + step], "little", signed=True) for i in range(0, len(raw), step)]


def _sum_by_position(choice: Choice, rows: list[int]) -> list[int]:
    """Sums of the rows by position, for the positions that the cell allows."""
    sums = [0] * choice.levels
    for v, row in zip(choice.places, rows, strict=True):
        sums[v] += row
    return sums[choice.first : choice.last + 1]


def _by_first(pair: list[int], width: int) -> list[list[int]]:
    """What a pair has for each v."""
    return [pair[v::width] for v in range(width)]


def _sum_by_positions(
    choice: Choice, firsts: Iterable[int], other: Choice, seconds: list[int], rows: list[int]
) -> list[list[int]]:
    """Sums of the rows by two positions."""
    wide = other.levels
    sums = [0] * (choice.levels * wide)
    for at, row in zip(map(add, [v * wide for v in firsts], seconds), rows, strict=True):
        sums[at] += row
    starts = range(choice.first * wide, (choice.last + 1) * wide, wide)
    return [sums[start + other.first : start + other.last + 1] for start in starts]
