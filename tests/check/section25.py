"""The bound of the rule `chords`, in decimals of 60 digits, as section 25 of the specification has it: by its formulas, and by nothing of the checker."""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

from tests.check.builder import SAME
from tests.check.kernels import Kernel, column_at, decimal

STEPS = 400  # of a grid over the polygon of two numbers
NOISE = Decimal(10) ** -50  # of decimals of 60 digits


class Bound:
    """F on a cell whose intervals are lists of (lo, hi): of a variable, or of two and perhaps of a difference."""

    def __init__(self, kernel: Kernel, cell, width: int) -> None:
        self.kernel, self.cell, self.width = kernel, cell, width
        self.levels = ["levels" in feature for feature in kernel.features]
        self.differ = [k for k, relation in enumerate(kernel.relations) if relation != SAME]
        self.fixed = all(lo == hi for k in self.differ for lo, hi in cell[k][:2])

    def squared(self, k: int, t: int, code) -> Fraction:
        """gamma D_tk."""
        centre = self.kernel.terms[t][1]
        return self.kernel.gamma * sum(
            (column_at(column, code) - Fraction(centre[c])) ** 2
            for c, column in enumerate(self.kernel.columns)
            if column["feature"] == k
        )

    def apart(self, k: int):
        (lo, hi), (low, high), *limits = self.cell[k]
        p, q = limits[0] if limits else (low - hi, high - lo)
        return max(p, low - hi), min(q, high - lo)

    def codes(self, k: int, side: int):
        """The interval that codes of x (side 0) or x' are taken from."""
        if k not in self.differ:
            return self.cell[k][0]
        if self.levels[k]:
            return self.cell[k][side]
        (lo, hi), (low, high) = self.cell[k][:2]
        p, q = self.apart(k)
        return (max(lo, low - q), min(hi, high - p)) if side == 0 else (max(low, lo + p), min(high, hi + q))

    def range_of(self, k: int, t: int, side: int) -> tuple[Fraction, Fraction]:
        lo, hi = self.codes(k, side)
        if self.levels[k]:
            found = [self.squared(k, t, v) for v in range(int(lo), int(hi) + 1)]
            return min(found), max(found)
        ends = [self.squared(k, t, lo), self.squared(k, t, hi)]
        at = [self.squared(k, t, z) for z in (-1, 0, 1)]
        bend = (at[0] + at[2]) / 2 - at[1]
        if bend > 0:
            turn = (at[0] - at[2]) / (4 * bend)
            if lo < turn < hi:
                return self.squared(k, t, turn), max(ends)
        return min(ends), max(ends)

    def terms(self, sign: int, a: Fraction, b: Fraction):
        """(c_t, t, side, features of Q_t)."""
        count, every = len(self.kernel.terms), range(len(self.kernel.features))
        weights = [decimal(sign * Fraction(weight)) for weight, _ in self.kernel.terms]
        if not self.fixed:
            return [
                (factor * weights[t], t, side, list(every))
                for side, factor in ((0, decimal(a)), (1, -decimal(b)))
                for t in range(count)
            ]
        falls = [
            [sum(self.squared(k, t, self.cell[k][side][0]) for k in self.differ) for t in range(count)]
            for side in (0, 1)
        ]
        same = [k for k in every if k not in self.differ]
        return [
            (
                weights[t]
                * (decimal(a) * decimal(-falls[0][t]).exp() - decimal(b) * decimal(-falls[1][t]).exp()),
                t,
                0,
                same,
            )
            for t in range(count)
        ]

    def bound(self, sign: int, a: Fraction, b: Fraction) -> tuple[Decimal, Decimal]:
        """The right side of the rule, and the room for rounding."""
        with localcontext() as context:
            context.prec = 60
            terms = self.terms(sign, a, b)
            total, slopes, room = Decimal(0), [], Decimal(1)
            wide = Decimal(0)
            for c, t, side, features in terms:
                ranges = [self.range_of(k, t, side) for k in features]
                low, high = (decimal(sum(end[n] for end in ranges)) for n in (0, 1))
                level, steep = self.line(c, low, high)
                total += c * level
                slopes.append(-c * steep)
                room += abs(c)
                wide += high - low if c > 0 else 0
            own = terms[0][3]
            for k in own:
                total += self.largest(k, terms, slopes)
            return total, room * (1 + self.width) * Decimal(2) ** -40 + wide * Decimal(2) ** -60

    def line(self, c: Decimal, low: Decimal, high: Decimal) -> tuple[Decimal, Decimal]:
        """v and m."""
        if c > 0 and high > low:
            steep = ((-low).exp() - (-high).exp()) / (high - low)
            return (-high).exp() + steep * high, steep
        if c >= 0 or high - low > self.width:
            return (-high).exp(), Decimal(0)
        place = low + 6 * (high - low) / (12 + high - low)
        return (-place).exp() * (1 + place), (-place).exp()

    def largest(self, k: int, terms, slopes) -> Decimal:
        """B_k: levels one by one; numbers on the parabolas, by their values at three codes and a search of the polygon's grid for what is not `same`."""

        def value(code, side) -> Decimal:
            return sum(
                (
                    slope * decimal(self.squared(k, t, code))
                    for (_, t, at, _), slope in zip(terms, slopes, strict=True)
                    if at == side
                ),
                Decimal(0),
            )

        sides = 1 if self.fixed else 2
        if self.levels[k]:
            places = [range(int(lo), int(hi) + 1) for lo, hi in self.cell[k][:2]]
            tables = [{v: value(v, side) for v in {*places[0], *places[-1]}} for side in range(sides)]
            if k not in self.differ:
                return max(sum(table[v] for table in tables) for v in places[0])
            relation = self.kernel.relations[k]
            near = int(relation.get("tolerance", 99))
            return max(tables[0][i] + tables[1][j] for i, j in product(*places) if abs(i - j) <= near)
        parabolas = [Parabola(lambda z, side=side: value(z, side)) for side in range(sides)]
        if k not in self.differ:
            lo, hi = map(decimal, self.cell[k][0])
            whole = Parabola(lambda z: sum((one.at(Decimal(z)) for one in parabolas), Decimal(0)))
            return whole.largest(lo, hi)
        return self.over_polygon(k, *parabolas)

    def over_polygon(self, k: int, u: "Parabola", v: "Parabola") -> Decimal:
        """For a grid of differences, x as good as it can be: exact in x, and in the difference up to the grid, whose ends and turns are on it."""
        (lo, hi), (low, high) = ([*map(decimal, ends)] for ends in self.cell[k][:2])
        p, q = map(decimal, self.apart(k))
        places = {p + (q - p) * n / STEPS for n in range(STEPS + 1)}
        # Where x and x' are at ends or at their own tops, and where the top along x' = x + d enters or leaves.
        firsts = [lo, hi, *([u.top] if u.top is not None else [])]
        seconds = [low, high, *([v.top] if v.top is not None else [])]
        places |= {other - x for x, other in product(firsts, seconds)}
        bend = u.a + v.a
        if bend < 0 and v.a:
            for x in (lo, hi):
                places.add(-(2 * bend * x + u.b + v.b) / (2 * v.a))
            for other in (low, high):
                if u.a:
                    places.add((2 * bend * other + u.b + v.b) / (2 * u.a))
        best = None
        for d in sorted(places | {p, q}):
            if p <= d <= q:
                along = Parabola(lambda x, d=d: u.at(Decimal(x)) + v.at(x + d))
                start, end = max(lo, low - d), min(hi, high - d)
                if start <= end + NOISE:
                    here = along.largest(start, max(start, end))
                    best = here if best is None or here > best else best
        return best


class Parabola:
    """The one through a function's values at -1, 0 and 1."""

    def __init__(self, function) -> None:
        below, self.c, above = function(-1), function(0), function(1)
        self.a, self.b = (below + above) / 2 - self.c, (above - below) / 2
        self.top = -self.b / (2 * self.a) if self.a < 0 else None

    def at(self, z: Decimal) -> Decimal:
        return (self.a * z + self.b) * z + self.c

    def largest(self, lo: Decimal, hi: Decimal) -> Decimal:
        inside = [self.top] if self.top is not None and lo < self.top < hi else []
        return max(self.at(z) for z in (lo, hi, *inside))
