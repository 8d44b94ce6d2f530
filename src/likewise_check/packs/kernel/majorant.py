"""The separable majorant of a sum of cubics (section 7), in integers: the table of products, one block of code a row.

Comes in: for each term ints q1, q2, q3 of one unit, and Z = sum_f l_f y_f + sum_i zeta_i [v_i = s_i] (l, zeta in exponent units), for

    sum_t q1 Z + q2 Z^2 + q3 Z^3   <=   constant + sum_i table_i[v_i] + sum_f n1 y + n2 y^2 + n3 y^3 + sum_fl G_fl y_f y_l,     |y| <= 1,

in the same unit, with the pairs of one-hot axes already eliminated. Moving amounts is exact (means are rounded to ints, which the
specification allows); what is rounded is accounted for as follows, with n numeric axes, M terms, |Z| <= reach for all of them:

- Columns. q2 l_f, q3 l_f and (q3 l_f) l_g, f <= g, are rounded down once a term, so they are off by less than 1, 1 and 1 + |l_g|. With
  Z = N + O (numeric, one-hot) they stand in 2 q2 N (N/2 + O), 3 (q3 N) O^2 and (q3 N^2) (N + 3 O), and each axis has |y| <= 1; so a term is off by less
  than 2 n r, 3 n r^2 and 3 (n^2 + 2 n r) r, r = reach. For i j k, q3 zeta_k is rounded down once, and stands next to 6 zeta_i zeta_j: 3 m r^2 for m one-hot
  axes. The caller has rounded q1, q2, q3 down once too, for r + r^2 + r^3 more. In all this is at most
  r (1 + 2 n + 3 n^2) + r^2 (1 + 9 n + 3 m) + r^3 <= 3 (1 + n + m)^2 (1 + r)^3; `terms_error` is M times that.
- Every sum over terms is then rounded down once when it is brought back to the unit (amounts of pairs and of f i j: when all of them are
  together), so 1 is added for each: to the constant, or to the table that it goes to (an axis takes one value, so one entry of a table
  counts). Halves and thirds are rounded up, thirds by enough for the sum.

Sums by position run over many columns at a time: the columns' entries of one term are the lanes of one big int (`lanes`). Lanes stay below 2^62 if
(|q1| + |q2| + |q3|) (1 + reach)^2 adds up to less than 2^60 and 2 M (1 + reach)^2 < 2^58 (M < 2^26, reach <= 2^7 + 1): a lane is a sum over some terms of one column, so less than
b = 2^60 + 2^58; means are of 2 or more, so those by u are at most b/2, those by v 3b/4, and what is left at most 9b/4. Of one pair (i, j) sizes of it and maxima over w are added up for all f and
k: as the columns q3 l_f and q3 zeta_k of a term add up to |q3| reach, this is less than 9/4 2^60 reach / (1 + reach)^2 and what was rounded. Of the means that are moved to one axis each pair adds
one, in units (`Moved.unit`) that leave room for as many as there are axes. Means are off by at most 8 + 2 c + 2 m, c positions (`Lanes.means`): the same numbers are moved and taken off.

Products of numeric axes run over many axes at a time: the loads l_o of one term, o >= g, are the wide lanes of one int, which is multiplied by the columns q2 l_f and
(q3 l_f) l_g. These add up to less than 2^65 and loads are below 2^(48 + 8), so a wide lane is less than 2^121.
"""

from functools import reduce
from itertools import islice
from operator import add, mul
from typing import TypeAlias

from likewise_check.packs.axes import cubic_maximum
from likewise_check.packs.kernel.choices import Choice, Groups
from likewise_check.packs.kernel.cubics import EXPONENT
from likewise_check.packs.kernel.lanes import LANE, Columns, Lanes, dots, tails_of

LANE_SUM = 60  # bits of the sum of the q, if there are one-hot axes
FINE_SUM = 64  # if there are none


Pairs: TypeAlias = dict[tuple[int, int], list[list[int]]]


class Majorant:
    """The majorant; `tables` are of the one-hot axes, `n1`, `n2`, `n3` and `products` of numeric ones.

    The places of choices are of the terms of one copy, and those of a second one are the same.
    """

    def __init__(
        self,
        q: tuple[list[int], list[int], list[int]],
        slopes: list[list[int]],
        choices: list[Choice],
        groups: Groups,
    ) -> None:
        n = len(slopes)
        self.constant = 0
        self.n1, self.n2, self.n3 = [0] * n, [0] * n, [0] * n
        self.products = {(f, g): 0 for f in range(n) for g in range(f + 1, n)}
        self._choices, self._slopes, self._groups = choices, slopes, groups
        self._q1, self._q2, self._q3 = q
        self._a2 = [_times(self._q2, slope) for slope in slopes]
        self._a3 = [_times(self._q3, slope) for slope in slopes]
        self._a33 = {(f, g): _times(self._a3[f], slopes[g]) for f in range(n) for g in range(f, n)}
        self._numeric()
        self.tables = [[0] * choice.width for choice in choices]
        if choices:
            self._one_hot()

    def _one_hot(self) -> None:
        """The products with one-hot axes; N1 of f i, and pairs, are in units 2^(2 EXPONENT) times finer."""
        columns = [self._q1, self._q2, self._q3, *self._a2, *self._a3, *self._a33.values()]
        lanes = Lanes(len(columns))
        rows = self._rows(columns, lanes)
        moved, pairs = self._two_choices()
        for i, choice in enumerate(self._choices):
            sums = lanes.unpacked(self._groups.sums(choice, rows))
            self._one_choice(i, choice, list(zip(*sums, strict=True)), moved[i])
        self._eliminate(pairs)

    def _rows(self, columns: list[list[int]], lanes: Lanes) -> list[int]:
        """The columns as lanes, term by term, those of both copies of a term together."""
        return self._together(lanes.packed(columns))

    def _together(self, numbers: list[int]) -> list[int]:
        terms = len(self._choices[0].places)
        return numbers if len(numbers) == terms else list(map(add, numbers, numbers[terms:]))

    def _numeric(self) -> None:
        """The products f, f l, f f l, f l o, those of f and l for all o >= l at a time."""
        slopes, n = self._slopes, len(self._slopes)
        tails = tails_of(slopes)
        for f, a2 in enumerate(self._a2):
            square, *squares = dots(a2, tails[f], n - f)
            cubes = [dots(self._a33[f, g], tails[g], n - g) for g in range(f, n)]
            self.n1[f] += sum(map(mul, self._q1, slopes[f])) >> EXPONENT
            self.n2[f] += square >> EXPONENT
            self.n3[f] += cubes[0][0] >> EXPONENT
            self.constant += 3
            for g, with_g in enumerate(squares, f + 1):
                self.products[f, g] += 2 * with_g >> EXPONENT
                self._square_times(g, cubes[0][g - f])
                self._square_times(f, cubes[g - f][0])
                self.constant += 3
                for o, cube in enumerate(cubes[g - f][1:], g + 1):
                    third = abs(6 * cube >> EXPONENT) // 3 + 1
                    for axis in (f, g, o):
                        self.n2[axis] += third

    def _square_times(self, linear: int, cube: int) -> None:
        """The product f f l with l linear, y_f^2 being within 1/2 of 1/2."""
        amount = 3 * cube >> EXPONENT
        self.n1[linear] += amount >> 1
        self.constant += abs(amount) + 1 >> 1

    def _two_choices(self) -> tuple[list[list[list[int]]], Pairs]:
        """The products f i j, i j, i j k, for each j with all i < j, all f and all k > j at a time.

        Comes out: N1 that is moved to each position of an axis, for each f; and the pairs, by position of i and then of j.
        """
        choices, n = self._choices, len(self._slopes)
        rows = self._rows([self._q2, self._q3, *self._a3], Lanes(2 + n))
        cubes = self._together(self._q3)
        by_zeta = {zeta: [q * zeta >> EXPONENT for q in cubes] for zeta in {c.zeta for c in choices}}
        moved = Moved(choices)
        starts: dict[int, int] = {}  # where the lanes of k begin
        pairs: Pairs = {}
        length = 2 + n
        for j in reversed(range(len(choices))):
            other = choices[j]
            sums = self._groups.sums_of_two(choices[:j], other, rows)
            self._pairs_with(j, sums, Lanes(length), starts, moved, pairs)
            starts[j] = length
            self._groups.add_lanes(rows, other, by_zeta[other.zeta], LANE * length)
            length += other.width
        numbers = [moved.numbers(axis, Lanes(starts[axis])) for axis in range(len(choices))]
        for (i, k), pair in pairs.items():
            at, end = starts[k], starts[k] + choices[k].width
            pairs[i, k] = [list(map(add, row, to[at:end])) for row, to in zip(pair, numbers[i], strict=True)]
        return [[to[2 : 2 + n] for to in rows] for rows in numbers], pairs

    def _pairs_with(
        self,
        j: int,
        sums: list[list[tuple[int, ...]]],
        lanes: Lanes,
        starts: dict[int, int],
        moved: "Moved",
        pairs: Pairs,
    ) -> None:
        """The pairs (i, j), i < j: sums[i][v][u] holds the lanes q2, q3, q3 l_f for all f, then q3 zeta_k by position of each k > j.

        Lane by lane, sums[i][v][u] = by_u + by_v + rest; of q2 and q3, which stay with the pair, all is rest.
        """
        other, unit, rests = self._choices[j], moved.unit, []
        for i, block in enumerate(sums):
            choice = self._choices[i]
            by_u = lanes.means(map(sum, zip(*block, strict=True)), choice.width, first=2, unit=unit)
            away = sum(by_u) << unit
            by_v = lanes.means([sum(row) - away for row in block], other.width, first=2, unit=unit)
            moved.add(i, other.zeta, by_v)
            moved.add(j, choice.zeta, by_u)
            for row, at_v in zip(block, by_v, strict=True):
                rests += [x - (at_v + at_u << unit) for x, at_u in zip(row, by_u, strict=True)]
        columns, every = lanes.columns(rests), Columns(len(rests))
        sizes = [every.sizes(column) for column in columns[2 : 2 + len(self._slopes)]]
        sizes += [reduce(every.larger, columns[at : at + self._choices[k].width]) for k, at in starts.items()]
        left = zip(*map(every.numbers, [every.total(sizes), *columns[:2]]), strict=True)
        for i in range(j):
            zeta, width = self._choices[i].zeta, other.width
            six = 6 * zeta * other.zeta
            third, half = six // 3, six // 2 * (zeta + other.zeta)
            amounts = [
                six * amount + third * q2 + (half * q3 >> EXPONENT)
                for amount, q2, q3 in islice(left, self._choices[i].width * width)
            ]
            pairs[i, j] = [amounts[at : at + width] for at in range(0, len(amounts), width)]

    def _one_choice(
        self, i: int, choice: Choice, values: list[tuple[int, ...]], moved: list[list[int]]
    ) -> None:
        """The products i, f i, f l i; values are, by position, q1, q2, q3, then q2 l_f, q3 l_f, q3 l_f l_g for all f, g."""
        zeta, n, width = choice.zeta, len(self._slopes), choice.width
        table = self.tables[i]
        for v, (q1, q2, q3) in enumerate(zip(*values[:3], strict=True)):
            table[v] += (
                zeta * ((q1 << 2 * EXPONENT) + (zeta * q2 << EXPONENT) + zeta * zeta * q3) >> 3 * EXPONENT
            )
        self.constant += 1
        a33 = dict(zip(self._a33, values[3 + 2 * n :], strict=True))
        for f in range(n):
            a2, a3 = values[3 + f], values[3 + n + f]
            first = [
                old[f] + zeta * ((2 * x << EXPONENT) + 3 * zeta * y) >> 2 * EXPONENT
                for old, x, y in zip(moved, a2, a3, strict=True)
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

    def _eliminate(self, pairs: Pairs) -> None:
        """Pair by pair, in the order of i and then of j, S[v, u] <= table_i[v] + table_j[u]."""
        tables = self.tables
        for i, j in sorted(pairs):
            # x may be too small by less than 1, as `_pairs_with` rounds it down: (x + 1) / 2^s <= (x >> s) + 1.
            sums = [
                [(x >> 2 * EXPONENT) + 1 + at_v + at_u for x, at_u in zip(row, tables[j], strict=True)]
                for row, at_v in zip(pairs[i, j], tables[i], strict=True)
            ]
            tables[i] = [max(row) + 1 >> 1 for row in sums]
            tables[j] = [max(column) + 1 >> 1 for column in zip(*sums, strict=True)]


class Moved:
    """Means that are moved to the positions of axes, in units of 2^unit, added up for each zeta that they are multiplied by."""

    def __init__(self, choices: list[Choice]) -> None:
        self.unit = len(choices).bit_length()  # so that lanes hold as many of them as there are axes
        self._choices = choices
        self._sums: dict[tuple[int, int], list[int]] = {}

    def add(self, axis: int, zeta: int, means: list[int]) -> None:
        before = self._sums.get((axis, zeta))
        self._sums[axis, zeta] = list(map(add, before, means)) if before else means

    def numbers(self, axis: int, lanes: Lanes) -> list[list[int]]:
        """For each position of the axis, 6 zeta_axis times the sum of zeta times mean."""
        choice = self._choices[axis]
        found = [[0] * lanes.length for _ in choice.allowed]
        for (at, zeta), vectors in self._sums.items():
            if at == axis:
                factor = 6 * choice.zeta * zeta << self.unit
                found = [
                    [old + factor * x for old, x in zip(row, new, strict=True)]
                    for row, new in zip(found, lanes.unpacked(vectors), strict=True)
                ]
        return found


def terms_error(terms: int, axes: int, reach: int) -> int:
    """What rounding the columns costs at most, in units."""
    return 3 * terms * (1 + axes) ** 2 * (1 + reach) ** 3


def _times(weights: list[int], slope: list[int]) -> list[int]:
    return [x >> EXPONENT for x in map(mul, weights, slope)]
