"""What is true about a small claim, by looking at every pair. Written from the specification; shares nothing with the checker."""

from decimal import Context, Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import inf, nextafter, prod

DIGITS = 80


def value(text: str) -> Fraction:
    return Fraction(float.fromhex(text)) if "x" in text else Fraction(text)


def is_double(x: Fraction) -> bool:
    return Fraction(float(x)) == x


def sigma(s: Fraction) -> Decimal:
    with localcontext(Context(prec=DIGITS)):
        return 1 / (1 + (-(Decimal(s.numerator) / Decimal(s.denominator))).exp())


def linked(link, t: Fraction) -> Fraction:
    """What a part of a sum brings, sigma to so many digits."""
    if link is None:
        return t
    if link[0] == "logistic":
        return Fraction(sigma(value(link[1]) * t + value(link[2])))
    if link[0] == "chain":
        return linked(link[2], linked(link[1], t))
    knots = [[value(one) for one in knot] for knot in link[1]]
    for place, _, at, _ in knots:
        if place == t:
            return at
    left, right = [k for k in knots if k[0] < t], [k for k in knots if k[0] > t]
    if not left or not right:
        return left[-1][3] if left else right[0][1]
    (start, _, _, low), (end, high, _, _) = left[-1], right[0]
    return low + (high - low) * (t - start) / (end - start)


class Claim:
    """The claim of a certificate's lines; continuous features are looked at on the doubles nearest to `grid` points, and at cuts, only."""

    def __init__(self, values: list, grid: int = 5) -> None:
        space, similarity = values[1]["space"], values[2]["similarity"]
        self.features, self.constraints = space["features"], space["constraints"]
        self.relations = similarity
        self.property = values[3]["property"]
        self.model = values[4]["model"]
        self.exhaustive = all(f["kind"] != "continuous" for f in self.features)
        self._gauge: dict = {}
        self._valid: dict = {}
        self.codes = [self._codes(k, f, grid) for k, f in enumerate(self.features)]

    def _codes(self, k: int, feature: dict, grid: int) -> list[Fraction]:
        if "levels" in feature:
            return [Fraction(i) for i in range(len(feature["levels"]))]
        lo, hi = value(feature["lo"]), value(feature["hi"])
        gone = [] if self._missing(k) is None else [self._missing(k)]
        if feature["kind"] == "integer":
            return [Fraction(i) for i in range(int(lo), int(hi) + 1)] + gone
        columns = [c for c in self.model["body"].get("columns", []) if c["feature"] == k]
        cuts = [value(cut) for column in columns for cut in column.get("cuts", [])]
        tests = [
            n for t in self.model["body"].get("trees", []) for n in t if isinstance(n, list) and n[0] == k
        ]
        cuts += [value(node[1]) for node in tests]
        grid = 3 if cuts else grid
        points = {float(lo + (hi - lo) * i / (grid - 1)) for i in range(grid)}
        points |= {x for cut in cuts for x in (float(cut), nextafter(float(cut), inf))}
        return sorted(Fraction(x) for x in points if lo <= x <= hi) + gone

    def _missing(self, k: int) -> Fraction | None:
        """The code of what is missing: one more than hi, or the next double."""
        feature = self.features[k]
        if not feature.get("missing"):
            return None
        hi = value(feature["hi"])
        return hi + 1 if feature["kind"] == "integer" else Fraction(nextafter(float(hi), inf))

    def worth(self, k: int, code: Fraction) -> Fraction:
        feature = self.features[k]
        if "levels" not in feature:
            return code
        level = feature["levels"][int(code)]
        return Fraction(int(level)) if isinstance(level, bool) else value(level["number"])

    def excess(self, j: int, x) -> Fraction:
        c = self.constraints[j]
        terms = (
            value(w[int(x[k])]) if isinstance(w, list) else value(w) * self.worth(k, x[k])
            for k, w in c["terms"]
        )
        return sum(terms, Fraction(0)) - value(c["bound"])

    def score(self, x) -> Fraction:
        return self._scored(self.model["body"], x)

    def _scored(self, body: dict, x) -> Fraction:
        if body["kind"] == "combined":
            scores = [self._scored(one, x) for one in body["of"]]
            if body["how"] == "mean":
                return sum(value(w) * s for w, s in zip(body["weights"], scores, strict=True))
            return {"max": max, "min": min}[body["how"]](scores)
        if body["kind"] == "sum":
            parts = (
                (value(p["weight"]), linked(p["link"], self._scored(p["body"], x))) for p in body["parts"]
            )
            return value(body["bias"]) + sum((weight * one for weight, one in parts), Fraction(0))
        if body["kind"] == "nested":
            return self._outer(body["outer"], [self._scored(one, x) for one in body["inner"]])
        if body["kind"] == "polynomial":
            return self._polynomial(body, x)
        if body["kind"] == "trees":
            return value(body["bias"]) + sum(self._reached(tree, x) for tree in body["trees"])
        total = value(body["bias"])
        for column in body["columns"]:
            code = x[column["feature"]]
            if "table" in column:
                total += value(column["weight"]) * value(column["table"][int(code)])
            elif "cuts" in column:
                piece = column["pieces"][sum(value(cut) < code for cut in column["cuts"])]
                total += value(column["weight"]) * sum(value(c) * code**i for i, c in enumerate(piece))
            else:
                total += value(column["weight"]) * (value(column["offset"]) + value(column["slope"]) * code)
        return total

    def _reached(self, tree: list, x) -> Fraction:
        i = 0
        while isinstance(tree[i], list):
            k, test, right, *gone = tree[i]
            if gone and x[k] == self._missing(k):
                left = gone == ["left"]
            else:
                left = x[k] in test if isinstance(test, list) else x[k] <= value(test)
            i = i + 1 if left else right
        return value(tree[i])

    def _outer(self, outer: dict, z: list[Fraction]) -> Fraction:
        """A tree of other scores, or the smallest of them that half of the weight is not above."""
        if outer["kind"] == "trees":
            return value(outer["bias"]) + sum(self._reached(tree, z) for tree in outer["trees"])
        weights = [value(w) for w in outer["weights"]]

        def below(one: Fraction) -> Fraction:
            return sum((w for w, other in zip(weights, z, strict=True) if other <= one), Fraction(0))

        median = min(one for one in z if 2 * below(one) >= sum(weights))
        return value(outer["offset"]) + value(outer["slope"]) * median

    @staticmethod
    def _polynomial(body: dict, x) -> Fraction:
        columns = [
            value(c["table"][int(x[c["feature"]])])
            if "table" in c
            else value(c["offset"]) + value(c["slope"]) * x[c["feature"]]
            for c in body["columns"]
        ]
        return sum(
            (value(weight) * prod([columns[c] for c in product]) for weight, product in body["terms"]),
            Fraction(0),
        )

    def gauge(self, x) -> Fraction:
        if x not in self._gauge:
            self._gauge[x] = self._gauge_of(x)
        return self._gauge[x]

    def valid(self, x) -> bool:
        if x not in self._valid:
            self._valid[x] = all(self.excess(j, x) <= 0 for j in range(len(self.constraints)))
        return self._valid[x]

    def _gauge_of(self, x) -> Fraction:
        link = self.model["head"]["link"]
        if self.property["kind"] == "probability" and isinstance(link, list):
            return value(link[1]) * self.score(x) + value(link[2])
        upper = self.property["kind"] == "decision" and self.model["head"]["zero"] == "upper"
        return -self.score(x) if upper else self.score(x)

    def near(self, k: int, code: Fraction, other: Fraction) -> bool:
        relation = self.relations[k]
        if relation["kind"] == "within":
            if (code == self._missing(k)) != (other == self._missing(k)):
                return False
            return abs(code - other) <= value(relation["tolerance"])
        if relation["kind"] == "between":
            return value(relation["low"]) <= other - code <= value(relation["high"])
        if relation["kind"] == "pairs" and sorted((code, other)) in relation["allowed"]:
            return True
        return relation["kind"] == "free" or code == other

    def related(self, x, other) -> bool:
        return all(self.near(k, a, b) for k, (a, b) in enumerate(zip(x, other, strict=True)))

    def points(self):
        """All (x, x') that satisfy the relations."""
        choices = [
            [(a, b) for a in codes for b in codes if self.near(k, a, b)] for k, codes in enumerate(self.codes)
        ]
        for chosen in product(*choices):
            yield tuple(a for a, _ in chosen), tuple(b for _, b in chosen)

    def pairs(self):
        return ((x, other) for x, other in self.points() if self.valid(x) and self.valid(other))

    def breaks(self, s: Fraction, other: Fraction) -> bool:
        kind = self.property["kind"]
        if kind == "decision":
            margin = value(self.property["margin"])
            return s > margin and other <= -margin
        delta = value(self.property["delta"])
        if kind == "score" or delta == 0:
            return s - other > delta
        with localcontext(Context(prec=DIGITS)):
            return sigma(s) - sigma(other) > Decimal(delta.numerator) / Decimal(delta.denominator)

    def clearance(self, s: Fraction, other: Fraction) -> Fraction:
        kind = self.property["kind"]
        if kind == "decision":
            margin = value(self.property["margin"])
            return max(margin - s, other + margin)
        delta = value(self.property["delta"])
        if kind == "score":
            return (delta - (s - other)) / 2
        with localcontext(Context(prec=DIGITS)):
            return 2 * (delta - Fraction(sigma(s) - sigma(other)))

    def witness(self):
        """A pair that breaks the property, or None."""
        for x, other in self.pairs():
            if self.breaks(self.gauge(x), self.gauge(other)):
                return x, other
        return None

    def smallest_clearance(self) -> Fraction | None:
        return min((self.clearance(self.gauge(x), self.gauge(y)) for x, y in self.pairs()), default=None)

    def line_maximum(self, a: Fraction, b: Fraction, multipliers: list[Fraction]) -> Fraction | None:
        """The B of section 4, over the whole space."""
        count = len(self.constraints)
        m = multipliers or [Fraction(0)] * (2 * count)
        return max(
            (
                a * self.gauge(x)
                - b * self.gauge(y)
                - sum(m[j] * self.excess(j, x) + m[count + j] * self.excess(j, y) for j in range(count))
                for x, y in self.points()
            ),
            default=None,
        )
