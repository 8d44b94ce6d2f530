"""Random kernel models, their scores to 60 digits, and section 7's bound in floating point: all from the specification alone."""

import itertools
import random
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
from tests.check.builder import FREE, SAME, categorical, continuous, integer, number, ordinal, within

from likewise_check.cells import box
from likewise_check.claim import Claim
from likewise_check.model import read_model
from likewise_check.numbers import exact
from likewise_check.properties import read_property
from likewise_check.space import read_similarity, read_space


def rbf(gamma, bias, columns, terms, *, labels=("no", "yes"), zero="lower", link="logistic") -> dict:
    return {
        "family": "test",
        "body": {
            "kind": "rbf",
            "gamma": number(gamma),
            "bias": number(bias),
            "columns": list(columns),
            "terms": [[number(weight), [*map(number, centre)]] for weight, centre in terms],
        },
        "head": {"labels": None if labels is None else list(labels), "zero": zero, "link": link},
        "rounding": None,
    }


def sloped(feature, slope=1, offset=0) -> dict:
    return {"feature": feature, "slope": number(slope), "offset": number(offset)}


def tabled(feature, entries) -> dict:
    return {"feature": feature, "table": [number(e) for e in entries]}


def claim_of(features, relations, prop, model, constraints=()) -> Claim:
    space = read_space({"space": {"features": list(features), "constraints": list(constraints)}})
    asked = read_property({"property": prop})
    return Claim(
        space=space,
        similarity=read_similarity({"similarity": list(relations)}, space),
        model=read_model({"model": model}, space, asked),
        asked=asked,
    )


@dataclass
class Kernel:
    """A random model: features, relations, columns by feature, terms."""

    features: list
    relations: list
    columns: list
    terms: list
    gamma: Fraction
    bias: Fraction

    def model(self, **head) -> dict:
        return rbf(self.gamma, self.bias, self.columns, self.terms, **head)

    def values(self, codes) -> list[Fraction]:
        return [column_at(c, codes[c["feature"]]) for c in self.columns]

    def score(self, codes) -> Decimal:
        """f, to about 60 digits."""
        values = self.values(codes)
        with localcontext() as context:
            context.prec = 80
            total = decimal(self.bias)
            for weight, centre in self.terms:
                square = sum((v - Fraction(c)) ** 2 for v, c in zip(values, centre, strict=True))
                total += decimal(Fraction(weight)) * decimal(-self.gamma * square).exp()
            return +total


def column_at(column, code) -> Fraction:
    if "table" in column:
        return Fraction(column["table"][int(code)])
    return Fraction(column["offset"]) + Fraction(column["slope"]) * Fraction(code)


def decimal(value: Fraction) -> Decimal:
    with localcontext() as context:
        context.prec = 80
        return Decimal(value.numerator) / Decimal(value.denominator)


def dyadic(value: float) -> Fraction:
    return Fraction(round(value * 2**20), 2**20)


def random_kernel(rng: random.Random, sorts, terms: int, *, spread=1.0, thirds=False) -> Kernel:
    """Features of these sorts: c(ontinuous), i(nteger), t(able), l(onely: no columns), h (one-hot); upper case: may differ."""
    features, relations, columns, starts = [], [], [], []
    for k, sort in enumerate(sorts):
        starts.append(len(columns))
        low = sort.lower()
        slope = dyadic(rng.choice([-1, 1]) * rng.uniform(0.3, 1.5) * spread)
        levels = rng.randint(2, 4)
        if low == "c":
            features.append(continuous(f"f{k}", -1, 2))
            columns.append(sloped(k, slope, dyadic(rng.uniform(-1, 1))))
            if rng.random() < 0.3:
                columns.append(sloped(k, dyadic(rng.uniform(-0.5, 0.5)), 0))
        elif low == "i":
            features.append(integer(f"f{k}", 0, 4))
            columns.append(sloped(k, slope / 2, dyadic(rng.uniform(-1, 1))))
        elif low == "l":
            features.append(rng.choice([continuous(f"f{k}"), ordinal(f"f{k}", "ab")]))
        elif low == "t":
            features.append(ordinal(f"f{k}", [str(v) for v in range(levels)]))
            columns.append(tabled(k, [dyadic(rng.uniform(-1, 1) * spread) for _ in range(levels)]))
        else:
            features.append(categorical(f"f{k}", [str(v) for v in range(levels)]))
            size = dyadic(rng.uniform(0.2, 0.9) * spread)
            columns += [tabled(k, [size if v == u else 0 for v in range(levels)]) for u in range(levels)]
        relations.append(SAME if sort == low else FREE if low in "hl" else within(2))
    listed = []
    for _ in range(terms):
        centre = []
        for k, sort in enumerate(sorts):
            mine = [c for c in columns if c["feature"] == k]
            if sort.lower() == "h":
                place = rng.randrange(len(mine))
                centre += [Fraction(c["table"][place]) for c in mine]
            else:
                centre += [
                    Fraction(round(rng.gauss(0, 1) * 81), 81) if thirds else dyadic(rng.gauss(0, 1))
                    for _ in mine
                ]
        listed.append((dyadic(rng.gauss(0, 1)), centre))
    gamma = Fraction(rng.randint(1, 9), 10) if thirds else dyadic(rng.uniform(0.1, 0.9))
    return Kernel(features, relations, columns, listed, gamma, dyadic(rng.uniform(-0.3, 0.3)))


def random_cell(rng: random.Random, kernel: Kernel, *, width=0.5):
    """One interval a variable, in feature order, as lists of (lo, hi)."""
    cell = []
    for feature, relation in zip(kernel.features, kernel.relations, strict=True):
        if "levels" in feature or feature["kind"] == "integer":
            lo = 0
            hi = len(feature["levels"]) - 1 if "levels" in feature else int(feature["hi"])
            draw = lambda lo=lo, hi=hi: Fraction(rng.randint(lo, hi))  # noqa: E731
        else:
            lo, hi = Fraction(feature["lo"]), Fraction(feature["hi"])
            draw = lambda lo=lo, hi=hi: Fraction(lo + (hi - lo) * Fraction(rng.randint(0, 96), 96))  # noqa: E731
        if relation == SAME:
            ends = sorted([draw(), draw()])
            if feature["kind"] == "continuous" and rng.random() < 0.9:
                ends[1] = min(hi, ends[0] + Fraction(width) * (hi - lo) * Fraction(rng.randint(1, 64), 64))
            cell.append([tuple(ends)])
        else:
            cell.append([(end, end) for end in (draw(), draw())])
    return cell


def boxes(cell) -> list:
    return [box(*[(exact(lo), exact(hi)) for lo, hi in intervals]) for intervals in cell]


def discrete(feature) -> bool:
    return feature["kind"] != "continuous"


def samples(rng: random.Random, kernel: Kernel, cell, count: int):
    """Pairs of the cell: corners, the middle, and points drawn at random."""
    places = [Fraction(0), Fraction(1, 2), Fraction(1)]
    for n in range(count):
        x, other = [], []
        for feature, intervals in zip(kernel.features, cell, strict=True):
            codes = []
            for lo, hi in intervals:
                if discrete(feature):
                    codes.append(Fraction(rng.randint(int(lo), int(hi))))
                else:
                    codes.append(lo + (hi - lo) * (rng.choice(places) if n % 2 else Fraction(rng.random())))
            x.append(codes[0])
            other.append(codes[-1])
        yield x, other


def hint_count(kernel: Kernel, cell) -> int:
    """How many e a leaf has: numeric features that are `same` and not fixed."""
    per = [sum(c["feature"] == k for c in kernel.columns) for k in range(len(kernel.features))]
    return sum(
        relation == SAME and (per[k] <= 1 or "levels" not in feature) and cell[k][0][0] != cell[k][0][1]
        for k, (feature, relation) in enumerate(zip(kernel.features, kernel.relations, strict=True))
    )


def cubic_top(n1, n2, n3, places=None) -> float:
    if places is not None:
        return max(n1 * y + n2 * y * y + n3 * y**3 for y in places)
    roots = np.roots([3 * n3, 2 * n2, n1]) if n3 else np.roots([2 * n2, n1])
    inside = [r.real for r in roots if abs(r.imag) < 1e-12 and abs(r.real) <= 1]
    return max(n1 * y + n2 * y * y + n3 * y**3 for y in [-1.0, 1.0, *inside])


def phi(kernel: Kernel, cell, sign, a, b, threshold, hints, tangent):
    """Section 7's right side in floating point, and the room that a certificate must leave."""
    gamma, terms = float(kernel.gamma), kernel.terms
    columns = [[(i, c) for i, c in enumerate(kernel.columns) if c["feature"] == k] for k in range(len(cell))]

    def distance(k, code, t):
        return float(sum((column_at(c, code) - Fraction(terms[t][1][i])) ** 2 for i, c in columns[k]))

    m_terms = range(len(terms))
    same = [k for k in range(len(cell)) if kernel.relations[k] == SAME]
    differ = [k for k in range(len(cell)) if kernel.relations[k] != SAME]
    c = np.array(
        [
            sign
            * float(terms[t][0])
            * (
                float(a) * np.exp(-gamma * sum(distance(k, cell[k][0][0], t) for k in differ))
                - float(b) * np.exp(-gamma * sum(distance(k, cell[k][1][0], t) for k in differ))
            )
            for t in m_terms
        ]
    )
    limit = float(threshold) - float(a - b) * sign * float(kernel.bias)
    fall, shift = np.zeros(len(terms)), np.zeros(len(terms))
    slopes, curves, places, hot, given, left = [], [], [], [], [], list(hints)
    for k in same:
        lo, hi = cell[k][0]
        if "levels" in kernel.features[k] and len(columns[k]) > 1:
            chosen = range(int(lo), int(hi) + 1)
            s = [
                next(v for v in range(len(kernel.features[k]["levels"])) if distance(k, v, t) == 0)
                for t in m_terms
            ]
            zeta = gamma * max(distance(k, v, 0) for v in range(len(kernel.features[k]["levels"])))
            for t in m_terms:
                if s[t] not in chosen:
                    fall[t] += zeta
                elif len(chosen) > 1:
                    fall[t] += zeta / 2
                    shift[t] -= zeta / 2
            if len(chosen) > 1:
                hot.append((zeta, np.array(s), list(chosen)))
            continue
        hint = left.pop(0) if lo != hi else 0
        occur = None
        if "levels" in kernel.features[k]:
            occur = [
                float(Fraction(columns[k][0][1]["table"][v])) if columns[k] else 0.0
                for v in range(int(lo), int(hi) + 1)
            ]
        elif discrete(kernel.features[k]):
            occur = [float(v) for v in range(int(lo), int(hi) + 1)]
        low, high = (min(occur), max(occur)) if occur else (float(lo), float(hi))
        m, w = (low + high) / 2, (high - low) / 2
        line = [
            (float(Fraction(col.get("slope", 1))), float(Fraction(col.get("offset", 0))), i)
            for i, col in columns[k]
        ]
        big_a = sum(slope**2 for slope, _, _ in line)
        big_b = np.array([sum(sl * (float(terms[t][1][i]) - o) for sl, o, i in line) for t in m_terms])
        big_c = np.array([sum((float(terms[t][1][i]) - o) ** 2 for sl, o, i in line) for t in m_terms])
        fall += gamma * (big_a * m * m - 2 * big_b * m + big_c)
        if w > 0:
            slopes.append(-2 * gamma * w * (big_a * m - big_b))
            curves.append(big_a * w * w)
            places.append([(v - m) / w for v in occur] if occur else None)
            given.append(hint)
    weights = c * np.exp(-fall)
    h = np.abs(shift) + sum((np.abs(slope) for slope in slopes), np.zeros(len(terms)))
    h = np.ceil((h - 2.0**-42) * 1024) / 1024
    q = np.array(
        [w * np.array(_shifted(_cubic(x, w > 0), k)) for w, x, k in zip(weights, h, shift, strict=True)]
    ).T
    constant, q1, q2, q3 = q[0].sum(), q[1], q[2], q[3]
    n = len(slopes)
    n1 = [float(q1 @ x) for x in slopes]
    n2 = [float(q2 @ x**2) for x in slopes]
    n3 = [float(q3 @ x**3) for x in slopes]
    cross = {(f, g): float(2 * q2 @ (slopes[f] * slopes[g])) for f in range(n) for g in range(f + 1, n)}
    for f, g in itertools.permutations(range(n), 2):
        s = float(3 * q3 @ (slopes[f] ** 2 * slopes[g]))
        n1[g] += s / 2
        constant += abs(s) / 2
    for f, g, o in itertools.combinations(range(n), 3):
        s = float(6 * q3 @ (slopes[f] * slopes[g] * slopes[o]))
        for axis in (f, g, o):
            n2[axis] += abs(s) / 3
    marks = [np.array([(s == v) * 1.0 for v in p]) for _, s, p in hot]  # by position, by term
    z = [zeta for zeta, _, _ in hot]
    tables = [marks[i] @ (z[i] * (q1 + z[i] * q2 + z[i] ** 2 * q3)) for i in range(len(hot))]
    first = {
        (f, i): marks[i] @ (slopes[f] * z[i] * (2 * q2 + 3 * q3 * z[i]))
        for f in range(n)
        for i in range(len(hot))
    }
    pairs = {}
    for i, j in itertools.combinations(range(len(hot)), 2):
        pairs[i, j] = (marks[i] * (z[i] * z[j] * (2 * q2 + 3 * q3 * (z[i] + z[j])))) @ marks[j].T
        for f in range(n):
            g = (marks[i] * (6 * q3 * slopes[f] * z[i] * z[j])) @ marks[j].T
            mean = g.mean(axis=1)
            first[f, i] = first[f, i] + mean
            g = g - mean[:, None]
            mean = g.mean(axis=0)
            first[f, j] = first[f, j] + mean
            pairs[i, j] += np.abs(g - mean)
    for i, j, k in itertools.combinations(range(len(hot)), 3):
        g = np.einsum("vt,ut,wt,t->vuw", marks[i], marks[j], marks[k], 6 * q3 * z[i] * z[j] * z[k])
        mean = g.mean(axis=0)
        pairs[j, k] += mean
        g = g - mean
        mean = g.mean(axis=1)
        pairs[i, k] += mean
        pairs[i, j] += (g - mean[:, None, :]).max(axis=2)
    for i in range(len(hot)):
        for f in range(n):
            second = marks[i] @ (3 * q3 * slopes[f] ** 2 * z[i])
            n1[f] += first[f, i].mean()
            n2[f] += second.mean()
            both = zip(first[f, i] - first[f, i].mean(), second - second.mean(), strict=True)
            tables[i] = tables[i] + np.array([cubic_top(p, r, 0.0) for p, r in both])
        for f, g in cross:
            s = marks[i] @ (6 * q3 * slopes[f] * slopes[g] * z[i])
            cross[f, g] += s.mean()
            tables[i] = tables[i] + np.abs(s - s.mean())
    for (i, j), pair in pairs.items():
        total = pair + tables[i][:, None] + tables[j][None, :]
        tables[i], tables[j] = total.max(axis=1) / 2, total.max(axis=0) / 2
    for (f, g), amount in cross.items():
        sigma = 1 if amount >= 0 else -1
        tau = (given[f] - sigma * given[g]) / 64
        n1[f] -= abs(amount) * tau
        n1[g] += abs(amount) * tau * sigma
        n2[f] += abs(amount) / 2
        n2[g] += abs(amount) / 2
        constant += abs(amount) * tau**2 / 2
    if limit >= 0:
        rho = tangent / 1024
        constant -= limit * np.exp(rho) * (1 - rho)
        multiple = limit * np.exp(rho) * gamma
    else:
        top = sum(curves)
        constant -= limit
        multiple = limit * (np.exp(gamma * top) - 1) / top if top else 0.0
    total = constant + sum(t.max() for t in tables)
    for f in range(n):
        total += cubic_top(n1[f], n2[f] - multiple * curves[f], n3[f], places[f])
    top = float(max(h))
    room = 2.0**-40 * (1 + np.abs(weights).sum()) * (1 + n + len(hot)) ** 3 * (1 + top) ** 3 * np.exp(top)
    return float(total), float(room)


def _cubic(h, upper):
    a = h / 2
    if h < 1e-9:
        return 1.0, 1.0, 0.5, 1 / 6
    if upper:
        return 1.0, 1.0, (np.cosh(h) - 1) / h**2, (np.sinh(h) - h) / h**3
    c, s = np.cosh(a), np.sinh(a)
    return c - a * s / 2, (3 * s - a * c) / (2 * a), s / (2 * a), (a * c - s) / (2 * a**3)


def _shifted(p, k):
    p0, p1, p2, p3 = p
    return p0 + p1 * k + p2 * k**2 + p3 * k**3, p1 + 2 * p2 * k + 3 * p3 * k**2, p2 + 3 * p3 * k, p3
