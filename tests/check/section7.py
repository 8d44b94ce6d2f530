"""The right side of sections 7 and 20 to 60 digits, for one copy and for two: term by term, product by product, from the specification alone.

Cells are lists of intervals, one list a feature: its codes' (one or two), then its difference's if it has one.
"""

from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial

import numpy as np
from tests.check.builder import SAME
from tests.check.kernels import Kernel, column_at, decimal

DIGITS = 60


class Side:
    """A kernel's D_tk = A tau^2 - 2 B_t tau + C_t of one feature, exactly."""

    def __init__(self, kernel: Kernel, k: int) -> None:
        self.columns = [(i, column) for i, column in enumerate(kernel.columns) if column["feature"] == k]
        self.feature, self.centres = kernel.features[k], [centre for _, centre in kernel.terms]
        self.one_hot = "levels" in self.feature and len(self.columns) > 1

    def distance(self, code, t) -> Fraction:
        return sum(
            ((column_at(column, code) - Fraction(self.centres[t][i])) ** 2 for i, column in self.columns),
            Fraction(0),
        )

    def numeric(self, t) -> tuple[Fraction, Fraction, Fraction]:
        a = b = c = Fraction(0)
        for i, column in self.columns:
            slope, offset = Fraction(column.get("slope", 1)), Fraction(column.get("offset", 0))
            gap = Fraction(self.centres[t][i]) - offset
            a, b, c = a + slope**2, b + slope * gap, c + gap**2
        return a, b, c

    def rows(self) -> list[list[Fraction]]:
        """D by term and position."""
        levels = range(len(self.feature["levels"]))
        return [[self.distance(v, t) for v in levels] for t in range(len(self.centres))]

    def other(self) -> bool:
        """Whether this is neither numeric nor one-hot."""
        if not self.one_hot:
            return False
        found = set()
        for row in self.rows():
            place = row.index(0) if 0 in row else None
            found |= {x for v, x in enumerate(row) if v != place}
        return len(found) > 1 or 0 in found

    def groups(self) -> list[int]:
        """The group of each position."""
        known: dict = {}
        levels = range(len(self.feature["levels"]))
        rows = [tuple(column_at(column, v) for _, column in self.columns) for v in levels]
        return [known.setdefault(row, len(known)) for row in rows]

    def grouping(self):
        """d, beta_t, s_t and the ground, the first that fits; None for a feature that is not grouped."""
        if not self.other() or max(self.groups()) == 0:
            return None
        groups = self.groups()
        firsts = [groups.index(q) for q in range(max(groups) + 1)]
        rows = [[row[v] for v in firsts] for row in self.rows()]
        for ground in (None, *range(len(firsts))):
            betas = [max(row) if ground is None else row[ground] for row in rows]
            for d in {
                abs(x - b) * (1 if ground is None else 2)
                for row, b in zip(rows, betas, strict=True)
                for x in row
            } - {0}:
                s = [self._own(row, beta, d, ground) for row, beta in zip(rows, betas, strict=True)]
                if None not in s and (ground is not None or any(q >= 0 for q in s)):
                    return d, betas, s, ground
        return None

    @staticmethod
    def _own(row, beta, d, ground) -> int | None:
        """s_t, -1 for none, None where the row is not of this form."""
        for s in (-1, *range(len(row))):
            if s == ground and ground is not None:
                continue
            raised = [Fraction(0) if ground is None or q == ground else d / 2 for q in range(len(row))]
            if all(
                x == beta + up - (d if q == s else 0)
                for q, (x, up) in enumerate(zip(row, raised, strict=True))
            ):
                return s
        return None

    def taus(self, lo, hi) -> list[Fraction] | None:
        """The values that occur from lo to hi, if they are listed."""
        if "levels" in self.feature:
            codes = range(int(lo), int(hi) + 1)
            return [column_at(self.columns[0][1], v) if self.columns else Fraction(0) for v in codes]
        return (
            [Fraction(v) for v in range(int(lo), int(hi) + 1)] if self.feature["kind"] == "integer" else None
        )


def is_fixed(intervals) -> bool:
    return all(lo == hi for lo, hi in intervals[:2])


def is_paired(feature, relation, intervals) -> bool:
    return relation != SAME and "levels" not in feature and not is_fixed(intervals)


def limits(intervals):
    """The intervals of u and d, or None if one is empty."""
    (lo, hi), (low, high) = intervals[:2]
    p, q = intervals[2] if len(intervals) == 3 else (low - hi, high - lo)
    p, q = max(p, low - hi), min(q, high - lo)
    first = max(Fraction(lo + low) / 2, lo + Fraction(p) / 2, low - Fraction(q) / 2)
    last = min(Fraction(hi + high) / 2, hi + Fraction(q) / 2, high - Fraction(p) / 2)
    if first > last or p > q:
        return None
    return (first, last), (Fraction(p) / 2, Fraction(q) / 2)


def middle(ends) -> tuple[Fraction, Fraction]:
    return Fraction(ends[0] + ends[1]) / 2, Fraction(ends[1] - ends[0]) / 2


class Bound:
    """The coordinates of a cell, and its bound."""

    def __init__(self, kernel: Kernel, cell, hints) -> None:
        self.kernel, self.cell = kernel, cell
        self.gamma, count = kernel.gamma, len(kernel.terms)
        self.sides = [Side(kernel, k) for k in range(len(cell))]
        self.falls = [[Fraction(0)] * count for _ in range(2)]  # of both copies: gamma sum D
        self.shift = [Fraction(0)] * count  # -k_t
        self.loads: list[list[list[Fraction]]] = []  # by axis, copy, term
        self.curves: list[Fraction] = []  # A w^2
        self.places: list[list[Fraction] | None] = []
        self.hints: list[int] = []
        self.products: list[tuple[int, int, int]] = []  # axes u, d, p
        self.hot: list[tuple[Fraction, list[int], list[int]]] = []  # zeta, s_t, P
        self.raised: dict[
            int, tuple[Fraction, set[int]]
        ] = {}  # by one-hot axis: gamma d / 2, and where nu is that
        self.copies = 1
        left = list(hints)
        both = list(enumerate(zip(kernel.features, kernel.relations, cell, strict=True)))
        for k, (_, relation, intervals) in both:
            if relation == SAME:
                (self._choice if self.sides[k].one_hot else self._numeric)(k, intervals[0], left)
        for k, (feature, relation, intervals) in both:
            if is_paired(feature, relation, intervals):
                self.copies = 2
                self._paired(k, intervals, [left.pop(0) for _ in range(3)])
            elif relation != SAME:
                for copy in (0, 1):
                    for t in range(count):
                        self.falls[copy][t] += self.gamma * self.sides[k].distance(intervals[copy][0], t)
        assert not left

    def _add(self, loads, curve, places, hint) -> None:
        self.loads.append(loads)
        self.curves.append(curve)
        self.places.append(places)
        self.hints.append(hint)

    def _numeric(self, k, ends, left) -> None:
        hint = left.pop(0) if ends[0] != ends[1] else 0
        taus = self.sides[k].taus(*ends)
        m, w = middle((min(taus), max(taus)) if taus else ends)
        loads = []
        for t in range(len(self.shift)):
            a, b, c = self.sides[k].numeric(t)
            for copy in (0, 1):
                self.falls[copy][t] += self.gamma * (a * m * m - 2 * b * m + c)
            loads.append(-2 * self.gamma * w * (a * m - b))
        if w > 0 and a > 0:
            self._add([loads, loads], a * w * w, [(tau - m) / w for tau in taus] if taus else None, hint)

    def _add_falls(self, falls) -> None:
        for t, fall in enumerate(falls):
            for copy in (0, 1):
                self.falls[copy][t] += fall

    def _grouped(self, k, ends) -> None:
        """Section 20, or an other feature that is fixed."""
        side, terms = self.sides[k], range(len(self.shift))
        positions = range(int(ends[0]), int(ends[1]) + 1)
        groups = side.groups()
        allowed = sorted({groups[v] for v in positions})
        if len(allowed) == 1:
            self._add_falls([self.gamma * side.distance(ends[0], t) for t in terms])
            return
        d, betas, s, ground = side.grouping()
        zeta, lifted = self.gamma * d, ground is not None and ground not in allowed
        for t in terms:
            inside = s[t] in allowed
            beta = betas[t] + (d / 2 if lifted else 0)
            for copy in (0, 1):
                self.falls[copy][t] += self.gamma * beta - (zeta / 2 if inside else 0)
            self.shift[t] += zeta / 2 if inside else 0
        if ground in allowed:
            self.raised[len(self.hot)] = zeta / 2, {q for q in allowed if q != ground}
        self.hot.append((zeta, s, allowed))

    def _choice(self, k, ends, _left) -> None:
        if self.sides[k].grouping() is not None or self.sides[k].other():
            self._grouped(k, ends)
            return
        side, allowed = self.sides[k], list(range(int(ends[0]), int(ends[1]) + 1))
        levels = range(len(side.feature["levels"]))
        terms = range(len(self.shift))
        s = [next((v for v in levels if side.distance(v, t) == 0), None) for t in terms]
        zeta = self.gamma * max(side.distance(v, t) for v in levels for t in terms)
        for t, place in enumerate(s):
            fall = zeta if place not in allowed else zeta / 2 if len(allowed) > 1 else Fraction(0)
            for copy in (0, 1):
                self.falls[copy][t] += fall
            if place in allowed and len(allowed) > 1:
                self.shift[t] += zeta / 2
        if len(allowed) > 1:
            self.hot.append((zeta, s, allowed))

    def _paired(self, k, intervals, hints) -> None:
        (u, wide), (d, gap) = map(middle, limits(intervals))
        at = [u - d, u + d]
        loads = [[[], []] for _ in range(3)]
        for t in range(len(self.shift)):
            a, b, c = self.sides[k].numeric(t)
            for copy, (m, sign) in enumerate(zip(at, (-1, 1), strict=True)):
                self.falls[copy][t] += self.gamma * (a * m * m - 2 * b * m + c)
                loads[0][copy].append(-2 * self.gamma * wide * (a * m - b))
                loads[1][copy].append(-2 * self.gamma * gap * (a * m - b) * sign)
                loads[2][copy].append(-2 * self.gamma * a * wide * gap * sign)
        n = len(self.loads)
        exists = [a > 0 and wide > 0, a > 0 and gap > 0, a > 0 and wide > 0 and gap > 0]
        curves = [a * wide**2, a * gap**2, Fraction(0)]
        for there, *axis, hint in zip(exists, loads, curves, hints, strict=True):
            if there:
                self._add(*axis, None, hint)
        if exists[2]:
            self.products.append((n, n + 1, n + 2))

    def gamma_r(self, x, other) -> Fraction:
        """gamma R at a pair of the cell."""
        total = Fraction(0)
        axes = iter(range(len(self.hot)))
        for k, (feature, relation, intervals) in enumerate(
            zip(self.kernel.features, self.kernel.relations, self.cell, strict=True)
        ):
            side = self.sides[k]
            if relation == SAME and side.one_hot:
                groups = side.groups() if side.grouping() is not None else range(len(side.feature["levels"]))
                lo, hi = intervals[0]
                if len({groups[v] for v in range(int(lo), int(hi) + 1)}) > 1:
                    rise, places = self.raised.get(next(axes), (Fraction(0), set()))
                    total += rise / self.gamma if groups[int(x[k])] in places else 0
            elif relation == SAME:
                taus = side.taus(*intervals[0])
                m, _ = middle((min(taus), max(taus)) if taus else intervals[0])
                tau = side.taus(x[k], x[k])[0] if taus else x[k]
                total += side.numeric(0)[0] * (tau - m) ** 2
            elif is_paired(feature, relation, intervals):
                (u, _), (d, _) = map(middle, limits(intervals))
                moved = ((x[k] + other[k]) / 2 - u) ** 2 + ((other[k] - x[k]) / 2 - d) ** 2
                total += side.numeric(0)[0] * moved
        return self.gamma * total

    def phi(self, sign, a, b, threshold, tangent, twin: Kernel | None = None) -> tuple[Decimal, Decimal]:
        """The right side, and the room that a certificate must leave; the second copy may have a twin's coefficients."""
        twin = twin or self.kernel
        with localcontext() as context:
            context.prec = DIGITS
            factors = [decimal(sign * a), decimal(sign * b)]
            weights = [
                [
                    factor * decimal(Fraction(coefficient)) * (-decimal(fall)).exp()
                    for (coefficient, _), fall in zip(kernel.terms, falls, strict=True)
                ]
                for kernel, factor, falls in zip((self.kernel, twin), factors, self.falls, strict=True)
            ]
            limit = decimal(threshold - sign * (a * self.kernel.bias - b * twin.bias))
            cubics, constant, top = self._cubics(weights)
            total = constant + self._majorant(cubics, limit, tangent)
            size = sum(abs(x) for copy in weights for x in copy)
            if self.copies == 1:
                size = sum(abs(x - y) for x, y in zip(*weights, strict=True))
            n = len(self.loads) + len(self.hot)
            room = Decimal(2) ** -40 * (1 + size) * (1 + n) ** 3 * (1 + decimal(top)) ** 3
            return total, room * decimal(top).exp()

    def _height(self, copy, t) -> Fraction:
        """h_t, rounded up."""
        h = self.shift[t] + sum(abs(loads[copy][t]) for loads in self.loads)
        return Fraction(-int((Fraction(1, 2**42) - h) * 1024 // 1), 1024)

    def _cubics(self, weights):
        """Cubics in Z, by copy and term; the constant that the chords add; the largest h."""
        found, constant, top = [[], []], Decimal(0), Fraction(0)
        for t in range(len(self.shift)):
            heights = [self._height(copy, t) for copy in range(self.copies)]
            h, k = max(heights), decimal(-self.shift[t])
            top = max(top, h)
            if self.copies == 1:
                weight = weights[0][t] - weights[1][t]
                found[0].append(times(weight, shifted(one_sided(h, weight > 0), k)))
                continue
            gap = sum(abs(first[t] - second[t]) for first, second in self.loads)
            one_sign = weights[0][t] * weights[1][t] >= 0
            m = min(weights[0][t], weights[1][t], key=abs) if 2 * gap <= h and one_sign else Decimal(0)
            chord, eps = chord_of(h)
            constant += abs(m) * eps * decimal(gap)
            for copy, sign in enumerate((1, -1)):
                rest = sign * (weights[copy][t] - m)
                sided = times(rest, shifted(one_sided(heights[copy], rest > 0), k))
                straight = times(sign * m, shifted(chord, k))
                found[copy].append([x + y for x, y in zip(sided, straight, strict=True)])
        return found, constant, top

    def _majorant(self, cubics, limit, tangent) -> Decimal:
        terms = [(copy, t) for copy in range(self.copies) for t in range(len(self.shift))]
        q0, q1, q2, q3 = np.array([cubics[copy][t] for copy, t in terms], dtype=object).T
        loads = [
            np.array([decimal(by_copy[copy][t]) for copy, t in terms], dtype=object) for by_copy in self.loads
        ]
        zeta = [decimal(x) for x, _, _ in self.hot]
        allowed = [positions for _, _, positions in self.hot]
        at = [{v: np.array([s[t] == v for _, t in terms]) for v in p} for _, s, p in self.hot]
        numeric, hot = range(len(loads)), range(len(zeta))
        constant = q0.sum()
        n1, n2, n3 = ([(q * x**n).sum() for x in loads] for n, q in ((1, q1), (2, q2), (3, q3)))
        cross = {(f, g): (2 * q2 * loads[f] * loads[g]).sum() for f, g in combinations(numeric, 2)}
        for f, g in permutations(numeric, 2):
            s = (3 * q3 * loads[f] ** 2 * loads[g]).sum()
            n1[g] += s / 2
            constant += abs(s) / 2
        for f, g, o in combinations(numeric, 3):
            s = (6 * q3 * loads[f] * loads[g] * loads[o]).sum()
            for axis in (f, g, o):
                n2[axis] += abs(s) / 3
        tables = [
            {v: (z * (q1 + z * q2 + z * z * q3))[at[i][v]].sum() for v in allowed[i]}
            for i, z in enumerate(zeta)
        ]
        first = {
            (f, i): {v: (x * zeta[i] * (2 * q2 + 3 * q3 * zeta[i]))[at[i][v]].sum() for v in allowed[i]}
            for f, x in enumerate(loads)
            for i in hot
        }
        pairs = {}
        for i, j in combinations(hot, 2):
            both = {(v, u): at[i][v] & at[j][u] for v in allowed[i] for u in allowed[j]}
            amounts = zeta[i] * zeta[j] * (2 * q2 + 3 * q3 * (zeta[i] + zeta[j]))
            pairs[i, j] = {spot: amounts[mask].sum() for spot, mask in both.items()}
            for f, x in enumerate(loads):
                g = {spot: (6 * q3 * x * zeta[i] * zeta[j])[mask].sum() for spot, mask in both.items()}
                g, means = without_means(g, 1)
                add(first[f, i], {v: mean for (v,), mean in means.items()})
                g, means = without_means(g, 0)
                add(first[f, j], {u: mean for (u,), mean in means.items()})
                add(pairs[i, j], {spot: abs(rest) for spot, rest in g.items()})
        for i, j, k in combinations(hot, 3):
            amounts = 6 * q3 * zeta[i] * zeta[j] * zeta[k]
            g = {
                (v, u, w): amounts[at[i][v] & at[j][u] & at[k][w]].sum()
                for v, u, w in product(allowed[i], allowed[j], allowed[k])
            }
            g, means = without_means(g, 0)
            add(pairs[j, k], means)
            g, means = without_means(g, 1)
            add(pairs[i, k], means)
            for v, u in pairs[i, j]:
                pairs[i, j][v, u] += max(g[v, u, w] for w in allowed[k])
        for i, z in enumerate(zeta):
            for f, x in enumerate(loads):
                second = {v: (3 * q3 * x**2 * z)[at[i][v]].sum() for v in allowed[i]}
                mean1, mean2 = average(first[f, i].values()), average(second.values())
                n1[f] += mean1
                n2[f] += mean2
                for v in allowed[i]:
                    tables[i][v] += cubic_top(first[f, i][v] - mean1, second[v] - mean2, Decimal(0))
            for f, g in cross:
                s = {v: (6 * q3 * loads[f] * loads[g] * z)[at[i][v]].sum() for v in allowed[i]}
                mean = average(s.values())
                cross[f, g] += mean
                add(tables[i], {v: abs(x - mean) for v, x in s.items()})
        for (i, j), pair in pairs.items():
            sums = {(v, u): amount + tables[i][v] + tables[j][u] for (v, u), amount in pair.items()}
            tables[i] = {v: max(sums[v, u] for u in allowed[j]) / Decimal(2) for v in allowed[i]}
            tables[j] = {u: max(sums[v, u] for v in allowed[i]) / Decimal(2) for u in allowed[j]}
        for u, d, p in self.products:
            cross[u, d] += n1[p]
            n1[p] = Decimal(0)
        for (f, g), amount in cross.items():
            sigma = 1 if amount >= 0 else -1
            tau = Decimal(self.hints[f] - sigma * self.hints[g]) / 64
            n1[f] -= abs(amount) * tau
            n1[g] += abs(amount) * tau * sigma
            n2[f] += abs(amount) / 2
            n2[g] += abs(amount) / 2
            constant += abs(amount) * tau**2 / 2
        curves = [decimal(self.gamma * curve) for curve in self.curves]
        if limit >= 0:
            rho = Decimal(tangent) / 1024
            constant -= limit * rho.exp() * (1 - rho)
            multiple = limit * rho.exp()
        else:
            top = sum(curves, Decimal(0)) + sum(decimal(rise) for rise, _ in self.raised.values())
            constant -= limit
            multiple = limit * (top.exp() - 1) / top if top else Decimal(0)
        for i, (rise, places) in self.raised.items():
            for v in places:
                tables[i][v] -= multiple * decimal(rise)
        constant += sum(max(table.values()) for table in tables)
        return constant + sum(
            cubic_top(n1[f], n2[f] - multiple * curves[f], n3[f], self.places[f]) for f in numeric
        )


def add(amounts: dict, more: dict) -> None:
    for spot, amount in more.items():
        amounts[spot] += amount


def without_means(amounts: dict, axis: int):
    """What is left of the amounts after their means over this position of the keys, and the means by the other positions."""
    lists: dict = {}
    for spot, amount in amounts.items():
        lists.setdefault(spot[:axis] + spot[axis + 1 :], []).append(amount)
    means = {spot: average(listed) for spot, listed in lists.items()}
    rest = {spot: amount - means[spot[:axis] + spot[axis + 1 :]] for spot, amount in amounts.items()}
    return rest, means


def average(values) -> Decimal:
    listed = list(values)
    return sum(listed, Decimal(0)) / len(listed)


def times(weight, cubic):
    return [weight * x for x in cubic]


def shifted(p, k):
    """p(k + Z) in Z."""
    p0, p1, p2, p3 = p
    return p0 + p1 * k + p2 * k**2 + p3 * k**3, p1 + 2 * p2 * k + 3 * p3 * k**2, p2 + 3 * p3 * k, p3


def one_sided(h: Fraction, upper: bool):
    with localcontext() as context:
        context.prec = DIGITS + 40  # as differences cancel where h is small
        if h == 0:
            return Decimal(1), Decimal(1), Decimal(1) / 2, Decimal(1) / 6
        top = decimal(h)
        a = top if upper else top / 2
        c, s = (a.exp() + (-a).exp()) / 2, (a.exp() - (-a).exp()) / 2
        if upper:
            return Decimal(1), Decimal(1), (c - 1) / a**2, (s - a) / a**3
        return c - a * s / 2, (3 * s - a * c) / (2 * a), s / (2 * a), (a * c - s) / (2 * a**3)


def chord_of(h: Fraction):
    """P and eps."""
    if h == 0:
        return (Decimal(0), Decimal(1), Decimal(1) / 2, Decimal(1) / 6), Decimal(0)
    with localcontext() as context:
        context.prec = DIGITS + 40
        top = decimal(h)
        zero, one, two = (bessel(k, top) for k in range(3))
        cubic = Decimal(0), zero - 2 * two, one / top, 4 * two / (3 * top**2)
        return cubic, top.exp() - zero - 2 * one - 2 * two


def bessel(k: int, h: Decimal) -> Decimal:
    total, j, half = Decimal(0), 0, h / 2
    while True:
        term = half ** (2 * j + k) / (factorial(j) * factorial(j + k))
        total += term
        if j > h and term < total * Decimal(10) ** -(DIGITS + 45):
            return total
        j += 1


def cubic_top(n1, n2, n3, places=None) -> Decimal:
    points = [decimal(y) for y in places] if places else [Decimal(-1), Decimal(1)]
    if not places and n3:
        square = n2 * n2 - 3 * n1 * n3
        if square > 0:
            points.append(-(n2 + square.sqrt()) / (3 * n3))
    elif not places and n2:
        points.append(-n1 / (2 * n2))
    return max(y * (n1 + y * (n2 + y * n3)) for y in points if abs(y) <= 1)
