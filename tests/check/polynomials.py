"""Random polynomial models, exact scores, and section 8's bound in rationals, slowly: all from the specification alone."""

import itertools
import random
from collections import defaultdict
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from math import prod

from tests.check.builder import (
    FREE,
    SAME,
    categorical,
    constraint,
    continuous,
    integer,
    number,
    ordinal,
    within,
    worth,
)
from tests.check.builder import pairs as allowed_pairs
from tests.check.kernels import column_at, decimal, sloped, tabled

from likewise_check.core.cells import make_box
from likewise_check.core.numbers import int_if_whole

HALF = Fraction(1, 2)


def polynomial(columns, terms, *, labels=("no", "yes"), zero="lower", link="logistic") -> dict:
    return {
        "family": "test",
        "body": {
            "kind": "polynomial",
            "columns": list(columns),
            "terms": [[number(weight), list(product)] for weight, product in terms],
        },
        "head": {"labels": None if labels is None else list(labels), "zero": zero, "link": link},
        "rounding": None,
    }


@dataclass
class Curve:
    """A random model and its space; a cell of it is a list of intervals a feature, a difference's last."""

    features: list = field(default_factory=list)
    relations: list = field(default_factory=list)
    columns: list = field(default_factory=list)
    terms: list = field(default_factory=list)
    constraints: list = field(default_factory=list)

    def model(self, **head) -> dict:
        return polynomial(self.columns, self.terms, **head)

    def score(self, codes) -> Fraction:
        values = [column_at(c, codes[c["feature"]]) for c in self.columns]
        return sum((w * prod([values[c] for c in product]) for w, product in self.terms), Fraction(0))

    def worth(self, k, code) -> Fraction:
        feature = self.features[k]
        return Fraction(feature["levels"][int(code)]["number"]) if "levels" in feature else Fraction(code)

    def valid(self, codes) -> bool:
        return all(
            sum(Fraction(w) * self.worth(k, codes[k]) for k, w in c["terms"]) <= Fraction(c["bound"])
            for c in self.constraints
        )


def random_curve(rng: random.Random, sorts, degree: int, *, constrained=False) -> Curve:
    """Features of these sorts: c(ontinuous), i(nteger), t(able), h (several columns), l (no columns); s, w, f, p follow: the relation."""
    curve = Curve()

    def some(size=3):
        return Fraction(rng.randint(-4 * size, 4 * size), rng.choice([1, 2, 3, 4, 8]))

    for k, (low, relation) in enumerate(sorts):
        if low == "c":
            curve.features.append(continuous(f"f{k}", -2, 2))
        elif low == "i":
            curve.features.append(integer(f"f{k}", -2, 3))
        else:
            levels = [worth(v) for v in range(rng.randint(2, 4))]
            curve.features.append(
                categorical(f"f{k}", levels) if relation == "f" else ordinal(f"f{k}", levels)
            )
        levels = len(curve.features[k].get("levels", []))
        for _ in range({"c": 1, "i": 1, "t": 1, "h": 3, "l": 0}[low] + (rng.random() < 0.2)):
            entries = [some(1) for _ in range(levels)]
            curve.columns.append(tabled(k, entries) if levels else sloped(k, some(1), some(1)))
        curve.relations.append(
            {"s": SAME, "f": FREE, "w": within(rng.choice([1, 2]))}.get(relation) or some_pairs(rng, levels)
        )
    rng.shuffle(curve.columns)
    many = len(curve.columns)
    products = {
        tuple(sorted(rng.choices(range(many), k=rng.randint(0, degree if many else 0)))) for _ in range(8)
    }
    curve.terms = [(some(), product) for product in sorted(products)]
    if constrained:
        for _ in range(2):
            named = sorted(rng.sample(range(len(sorts)), rng.randint(1, len(sorts))))
            curve.constraints.append(constraint([(k, some(1)) for k in named], some(1) + 2))
    return curve


def some_pairs(rng: random.Random, levels: int) -> dict:
    """A relation of levels with about half of all pairs."""
    return allowed_pairs(*((i, j) for i in range(levels) for j in range(i + 1, levels) if rng.random() < 0.5))


def random_cell(rng: random.Random, curve: Curve):
    cell = []
    for feature, relation in zip(curve.features, curve.relations, strict=True):
        levels = "levels" in feature
        lo, hi = (0, len(feature["levels"]) - 1) if levels else (int(feature["lo"]), int(feature["hi"]))
        parts = 6 if feature["kind"] == "continuous" else 1

        def interval(lo=lo, hi=hi, parts=parts):
            ends = sorted(Fraction(rng.randint(parts * lo, parts * hi), parts) for _ in range(2))
            return tuple(ends) if rng.random() < 0.9 else (ends[0], ends[0])

        intervals = [interval() for _ in range(1 if relation == SAME else 2)]
        if relation["kind"] == "within" and not levels:
            reach = int(relation["tolerance"])
            if rng.random() < 0.5:
                intervals[1] = intervals[0]
            intervals.append(interval(-reach, reach) if rng.random() < 0.5 else (-reach, reach))
        cell.append(intervals)
    return cell


def boxes(curve: Curve, cell) -> list:
    found = []
    for relation, intervals in zip(curve.relations, cell, strict=True):
        codes = 1 if relation == SAME else 2
        ends = [(int_if_whole(Fraction(lo)), int_if_whole(Fraction(hi))) for lo, hi in intervals]
        found.append(make_box(*ends[:codes], difference=tuple(ends[codes:])))
    return found


def pairs(rng: random.Random, curve: Curve, cell, count: int):
    """Some pairs of the cell that satisfy the relations and constraints: ends and points between."""
    for _ in range(count):
        drawn = [_codes(rng, *about) for about in zip(curve.features, curve.relations, cell, strict=True)]
        if None in drawn:
            continue
        x, other = ([codes[side] for codes in drawn] for side in (0, 1))
        if curve.valid(x) and curve.valid(other):
            yield x, other


def _codes(rng, feature, relation, intervals):
    def draw(lo, hi):
        if feature["kind"] != "continuous":
            return Fraction(rng.choice([int(lo), int(hi), rng.randint(int(lo), int(hi))]))
        return lo + (hi - lo) * Fraction(rng.choice([0, 8, rng.randint(0, 8)]), 8)

    for _ in range(10):
        x = draw(*intervals[0])
        if relation == SAME:
            return x, x
        lo, hi = intervals[1]
        if relation["kind"] == "pairs":
            near = [Fraction(v) for v in range(int(lo), int(hi) + 1) if related(relation, x, v)]
            if near:
                return x, rng.choice(near)
            continue
        if relation != FREE:
            reach = Fraction(relation["tolerance"])
            p, q = intervals[2] if len(intervals) == 3 else (-reach, reach)
            lo, hi = max(lo, x + p), min(hi, x + q)
        if lo <= hi:
            return x, draw(lo, hi)
    return None


def related(relation, code, other) -> bool:
    """Whether two positions are as the relation asks."""
    if relation["kind"] == "within":
        return abs(code - other) <= int(relation["tolerance"])
    return relation["kind"] == "free" or code == other or sorted((code, other)) in relation["allowed"]


class Slow:
    """The axes of a cell, and polynomials in them with rational coefficients, by their exponents."""

    def __init__(self, curve: Curve, cell) -> None:
        self.curve, self.cell = curve, cell
        self.groups: list = []  # the axes of each, and their values at its places or None
        self.empty = False
        self.count = 0
        self.columns: list = [[None] * len(curve.columns) for _ in range(2)]
        self.codes: list = [[None] * len(cell) for _ in range(2)]
        for k in range(len(cell)):
            self._feature(k)
        self.one = {(0,) * self.count: Fraction(1)}

    def _axis(self, m, w, places=None):
        if w == 0:
            return (m, {})
        self.groups.append(([self.count], places))
        self.count += 1
        return (m, {self.count - 1: w})

    def _feature(self, k: int) -> None:
        feature, relation = self.curve.features[k], self.curve.relations[k]
        mine = [(c, column) for c, column in enumerate(self.curve.columns) if column["feature"] == k]
        sides = [self.cell[k][0]] if relation == SAME else self.cell[k][:2]
        if "levels" in feature:
            if (
                len(sides) == 2
                and all(lo == hi for lo, hi in sides)
                and not related(relation, *(lo for lo, _ in sides))
            ):
                self.empty = True
            for side, (lo, hi) in enumerate(sides):
                self._levels(mine, range(int(lo), int(hi) + 1), (0, 1) if relation == SAME else (side,))
                if lo == hi:
                    for copy in (0, 1) if relation == SAME else (side,):
                        self.codes[copy][k] = (Fraction(int(lo)), {})
            return
        if relation["kind"] == "within":
            (lo, hi), (low, high), (p, q) = self.cell[k]
            p, q = max(p, low - hi), min(q, high - lo)
            first = max((lo + low) * HALF, lo + p * HALF, low - q * HALF)
            last = min((hi + high) * HALF, hi + q * HALF, high - p * HALF)
            if first > last or p > q:
                self.empty = True
                return
            u = self._axis((first + last) * HALF, (last - first) * HALF)
            d = self._axis((p + q) * HALF * HALF, (q - p) * HALF * HALF)
            minus = {i: -w for i, w in d[1].items()}
            forms = [(u[0] - d[0], {**u[1], **minus}), (u[0] + d[0], {**u[1], **d[1]})]
        else:
            forms = []
            for lo, hi in sides:
                m, w = (lo + hi) * HALF, (hi - lo) * HALF
                places = None
                if feature["kind"] == "integer" and 0 < hi - lo < 1024:
                    places = [((c - m) / w,) for c in range(int(lo), int(hi) + 1)]
                forms.append(self._axis(m, w, places))
            forms = forms * (2 // len(forms))
        for copy in (0, 1):
            m, slopes = self.codes[copy][k] = forms[copy]
            for c, column in mine:
                slope, offset = Fraction(column["slope"]), Fraction(column["offset"])
                self.columns[copy][c] = (offset + slope * m, {i: slope * w for i, w in slopes.items()})

    def _levels(self, mine, positions, copies) -> None:
        axes, heights = [], []
        for c, column in mine:
            entries = [column_at(column, position) for position in positions]
            m, w = (max(entries) + min(entries)) * HALF, (max(entries) - min(entries)) * HALF
            form = (m, {})
            if w:
                form = (m, {self.count: w})
                axes.append(self.count)
                heights.append([(entry - m) / w for entry in entries])
                self.count += 1
            for copy in copies:
                self.columns[copy][c] = form
        if axes:
            self.groups.append((axes, list(zip(*heights, strict=True))))

    def form(self, affine) -> dict:
        m, slopes = affine
        found = {(0,) * self.count: m}
        for i, w in slopes.items():
            found[tuple(int(i == j) for j in range(self.count))] = Fraction(w)
        return found

    @staticmethod
    def times(p, q) -> dict:
        found: dict = defaultdict(Fraction)
        for (m, a), (n, b) in itertools.product(p.items(), q.items()):
            found[tuple(i + j for i, j in zip(m, n, strict=True))] += a * b
        return found

    @staticmethod
    def plus(p, q, factor=1) -> dict:
        found: dict = defaultdict(Fraction, p)
        for m, a in q.items():
            found[m] += factor * a
        return found

    def score(self, copy: int, terms=None) -> dict:
        total: dict = {}
        for weight, product in self.curve.terms if terms is None else terms:
            part = self.times(self.one, {(0,) * self.count: weight})
            for c in product:
                part = self.times(part, self.form(self.columns[copy][c]))
            total = self.plus(total, part)
        return total

    def excess(self, sign, a, b, threshold, terms=None) -> dict:
        """S, with a and b polynomials; the second copy may have terms of its own."""
        total = self.times(self.times(a, self.score(0)), {(0,) * self.count: Fraction(sign)})
        total = self.plus(total, self.times(b, self.score(1, terms)), -sign)
        return self.plus(total, self.one, -threshold)

    def factor(self, item) -> dict:
        if isinstance(item, int):
            return self.form((Fraction(1), {abs(item) - 1: Fraction(1 if item > 0 else -1)}))
        i, j = item
        if i >= 0:
            axes, places = next(group for group in self.groups if i in group[0])
            heights = sorted({place[axes.index(i)] for place in places})
            low, high = (self.form((-c, {i: Fraction(1)})) for c in heights[j : j + 2])
            return self.times(low, high)
        copy, j = divmod(j, len(self.curve.constraints))
        rule = self.curve.constraints[j]
        total = self.times(self.one, {(0,) * self.count: Fraction(rule["bound"])})
        for k, weight in rule["terms"]:
            m, slopes = self.codes[copy][k]
            m = self.curve.worth(k, m) if "levels" in self.curve.features[k] else m
            total = self.plus(total, self.form((m, slopes)), -Fraction(weight))
        return total

    def squares(self, bits, mu, rows) -> dict:
        monomials = [
            tuple(chosen.count(i) for i in range(self.count))
            for degree in range(9)
            for chosen in itertools.islice(
                itertools.combinations_with_replacement(range(self.count), degree), 2000
            )
        ]
        total = self.times(self.one, {(0,) * self.count: Fraction(mu, 4**bits)})
        for row in rows:
            root = {m: Fraction(c, 2**bits) for m, c in zip(monomials, row, strict=False)}
            total = self.plus(total, self.times(root, root))
        return total

    def bound(self, poly, hints) -> Fraction:
        """The separable majorant's maximum, to about 50 digits."""
        group = {i: g for g, (axes, _) in enumerate(self.groups) for i in axes}
        unit = [tuple(int(i == j) for j in range(self.count)) for i in range(self.count)]
        double = [tuple(2 * e for e in m) for m in unit]
        constant = Fraction(0)
        functions: list = [defaultdict(Fraction) for _ in self.groups]
        for m, c in poly.items():
            axes = [i for i, power in enumerate(m) if power]
            odd = [i for i in axes if m[i] % 2]
            if not axes:
                constant += c
            elif len({group[i] for i in axes}) == 1:
                functions[group[axes[0]]][m] += c
            elif sum(m) == 2:
                sigma = 1 if c >= 0 else -1
                f, g = axes
                tau = Fraction(hints[f] - sigma * hints[g], 64)
                for i, part in ((f, -tau), (g, sigma * tau)):
                    functions[group[i]][double[i]] += abs(c) / 2
                    functions[group[i]][unit[i]] += abs(c) * part
                constant += abs(c) * tau**2 / 2
            elif not odd:
                for i in axes:
                    functions[group[i]][double[i]] += max(c, Fraction(0)) / len(axes)
            elif len(odd) == 1:
                functions[group[odd[0]]][unit[odd[0]]] += c / 2
                constant += abs(c) / 2
            else:
                for i in odd:
                    functions[group[i]][double[i]] += abs(c) / len(odd)
        for (axes, places), function in zip(self.groups, functions, strict=True):
            if places is not None:
                constant += max(
                    sum(
                        c * prod([y ** m[i] for i, y in zip(axes, place, strict=True)])
                        for m, c in function.items()
                    )
                    for place in places
                )
                continue
            n = [Fraction(0)] * 4
            for m, c in function.items():
                power = m[axes[0]]
                if power <= 3:
                    n[power] += c
                elif power % 2:
                    n[1] += c / 2
                    constant += abs(c) / 2
                elif c > 0:
                    n[2] += c
            constant += top(*n[1:])
        return constant


def top(n1, n2, n3) -> Fraction:
    """The largest n1 y + n2 y^2 + n3 y^3 over |y| <= 1, to about 60 digits."""
    tries = [Fraction(-1), Fraction(1)]
    with localcontext() as context:
        context.prec = 80
        if n3 and n2**2 - 3 * n1 * n3 > 0:
            root = decimal(n2**2 - 3 * n1 * n3).sqrt()
            tries += [Fraction((sign * root - decimal(n2)) / (3 * decimal(n3))) for sign in (-1, 1)]
        elif n2:
            tries.append(-n1 / (2 * n2))
    return max(y * (n1 + y * (n2 + y * n3)) for y in tries if abs(y) <= 1)


def tangent(p: Fraction, delta: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """a, b and T of a probability, T to about 70 digits."""
    q = p + delta
    a, b = q * (1 - q), p * (1 - p)
    with localcontext() as context:
        context.prec = 80
        at_q, at_p = (decimal(r / (1 - r)).ln() for r in (q, p))
        return a, b, Fraction(decimal(a) * at_q - decimal(b) * at_p)


def breaks(prop: dict, s: Fraction, other: Fraction) -> bool:
    bound = Fraction(prop.get("margin") or prop.get("delta"))
    if prop["kind"] == "decision":
        return s > bound and other <= -bound
    if prop["kind"] == "score":
        return s - other > bound
    with localcontext() as context:
        context.prec = 80
        one, two = (1 / (1 + (-decimal(value)).exp()) for value in (s, other))
        return one - two > decimal(bound) + Decimal(10) ** -60
