"""Small models with classes, and what is true about them by looking at every pair: from section 10 alone."""

import random
from fractions import Fraction
from itertools import combinations, product

from tests.check import truth
from tests.check.builder import (
    FREE,
    SAME,
    categorical,
    constraint,
    integer,
    line,
    number,
    ordinal,
    pieces,
    table,
    within,
    worth,
)
from tests.check.ensembles import random_tree
from tests.check.truth import value

HALF = Fraction(1, 2)


def classes(body, labels, way="argmax", link=None) -> dict:
    head = {"labels": list(labels), "classes": way, "link": link}
    return {"family": "test", "body": body, "head": head, "rounding": None}


def numbers(values) -> list[str]:
    return [*map(number, values)]


def affine_body(biases, columns) -> dict:
    """Columns as (column of one score, weights)."""
    weighed = [{**column, "weight": numbers(weights)} for column, weights in columns]
    return {"kind": "affine", "bias": numbers(biases), "columns": weighed}


def asked(kind, bound, of=None) -> dict:
    return {"kind": kind, "margin" if kind == "decision" else "delta": number(bound), "class": of}


def voted(count: int, signs) -> int:
    """The class by libsvm's loop over pairs, from the signs of the decision values."""
    votes = [0] * count
    place = 0
    for i in range(count):
        for j in range(i + 1, count):
            if signs[place]:
                votes[i] += 1
            else:
                votes[j] += 1
            place += 1
    best = 0
    for i in range(1, count):
        if votes[i] > votes[best]:
            best = i
    return best


def one_score(body: dict, c: int) -> dict:
    """The body of score c alone."""
    if body["kind"] == "affine":
        columns = [{**column, "weight": column["weight"][c]} for column in body["columns"]]
        return {**body, "bias": body["bias"][c], "columns": columns}
    if body["kind"] == "trees":
        return tree_form(body, {c: 1})
    terms = [[weight[c], *rest] for weight, *rest in body["terms"]]
    more = {"bias": body["bias"][c]} if "bias" in body else {}
    return {**body, **more, "terms": terms}


def tree_form(body: dict, alpha: dict) -> dict:
    """The body of trees whose score is alpha . f."""

    def blended(entries):
        return number(sum((factor * value(entries[c]) for c, factor in alpha.items()), Fraction(0)))

    found = [[node if isinstance(node[0], int) else blended(node) for node in tree] for tree in body["trees"]]
    return {"kind": "trees", "bias": blended(body["bias"]), "trees": found}


class Truth(truth.Claim):
    """The claim of a certificate about a model with classes."""

    def __init__(self, values: list, grid: int = 5) -> None:
        super().__init__(values, grid)
        body, head = self.model["body"], self.model["head"]
        self.count, self.voting = len(head["labels"]), head["classes"] == "votes"
        many = self.count * (self.count - 1) // 2 if self.voting else self.count
        start = [*values[:4], {"model": {**self.model, "body": None}}]
        self.parts = []
        for c in range(many):
            start[4] = {"model": {**self.model, "body": one_score(body, c)}}
            self.parts.append(truth.Claim(start, grid))
        self.kind, self.of = self.property["kind"], self.property["class"]
        self.bound = value(self.property.get("margin") or self.property.get("delta"))
        self._scores: dict = {}
        self._points = list(self.points())
        self._forms: dict = {}

    def scores(self, x) -> list[Fraction]:
        if x not in self._scores:
            self._scores[x] = [part.score(x) for part in self.parts]
        return self._scores[x]

    def member(self, x, i: int) -> bool:
        """Whether x has class i, with the margin."""
        f = self.scores(x)
        if self.voting:
            return voted(self.count, [s > 0 for s in f]) == i
        gaps = ((f[i] - f[k], k) for k in range(self.count) if k != i)
        return all(gap > self.bound or (k > i and gap == self.bound) for gap, k in gaps)

    def parted(self, x, other, c: int) -> bool:
        """Whether the scores of class c are too far apart."""
        return self.scores(x)[c] - self.scores(other)[c] > self.bound

    def broken(self, x, other) -> bool:
        everyone = range(self.count)
        if self.kind == "decision":
            own = [i for i in everyone if self.member(x, i)]
            others = [j for j in everyone if self.member(other, j)]
            return any(i != j and self.of in (None, i, j) for i, j in product(own, others))
        return any(self.parted(x, other, c) for c in everyone if self.of in (None, c))

    def witness(self):
        return next(((x, y) for x, y in self.pairs() if self.broken(x, y)), None)

    def cases(self, cubes=None) -> list:
        """(i, j, conditions of x, conditions of x'), in order; a condition is its form and whether it is strict."""
        everyone = range(self.count)
        if self.kind != "decision":
            return [(c, c, [], []) for c in everyone if self.of in (None, c)]
        couples = [*combinations(everyone, 2)]
        if self.of is not None:
            couples = [(self.of, j) for j in everyone if j != self.of]
        if self.voting:
            return [
                (i, j, self.in_cube(first), self.in_cube(second))
                for i, j in couples
                for first in cubes[i]
                for second in cubes[j]
            ]
        return [(i, j, self.leading(i), self.leading(j)) for i, j in couples]

    def leading(self, i: int) -> list:
        return [({i: 1, k: -1}, k < i) for k in range(self.count) if k != i]

    @staticmethod
    def in_cube(cube) -> list:
        return [({s: 1 if up else -1}, up) for s, up in cube]

    def form(self, alpha: dict, x) -> Fraction:
        key = x, tuple(alpha.items())
        if key not in self._forms:
            self._forms[key] = sum((factor * self.scores(x)[c] for c, factor in alpha.items()), Fraction(0))
        return self._forms[key]

    def variables(self) -> list:
        """The root: one interval a variable, without differences."""
        return [
            (min(codes), max(codes))
            for codes, relation in zip(self.codes, self.relations, strict=True)
            for _ in range(1 if relation == SAME else 2)
        ]

    def inside(self, cell) -> list:
        """The points of a cell, pairs or not."""
        places = [side for relation in self.relations for side in ((2,) if relation == SAME else (0, 1))]
        owners = [k for k, relation in enumerate(self.relations) for _ in range(1 if relation == SAME else 2)]
        return [
            (x, y)
            for x, y in self._points
            if all(
                lo <= (y if side == 1 else x)[k] <= hi
                for k, side, (lo, hi) in zip(owners, places, cell, strict=True)
            )
        ]

    def separation(self, case, way, cell, multipliers=()) -> tuple[Fraction | None, bool, int]:
        """B, whether B = T is enough, and what the clearance is divided by."""
        _, _, at_x, at_other = case
        r, again, a = way
        (first, strict), (second, strict_other) = at_x[r], at_other[again]
        b, count = 1 - a, len(self.constraints)
        m = list(multipliers) or [Fraction(0)] * (2 * count)
        top = max(
            (
                a * self.form(first, x)
                + b * self.form(second, y)
                - sum(m[j] * self.excess(j, x) + m[count + j] * self.excess(j, y) for j in range(count))
                for x, y in self.inside(cell)
            ),
            default=None,
        )
        enough = (a > 0 and strict) or (b > 0 and strict_other)
        return top, enough, a * len(first) + b * len(second)

    def in_case(self, case, x, other) -> bool:
        i, j, *_ = case
        if self.kind != "decision":
            return self.parted(x, other, i)
        return self.member(x, i) and self.member(other, j)

    def holds_witness(self, case, cell) -> bool:
        return any(self.valid(x) and self.valid(y) and self.in_case(case, x, y) for x, y in self.inside(cell))


def all_cubes(count: int) -> list:
    """Every way to vote, by the class it leads to."""
    found: list = [[] for _ in range(count)]
    for ups in product([False, True], repeat=count * (count - 1) // 2):
        found[voted(count, ups)].append([[s, up] for s, up in enumerate(ups)])
    return found


def joined_cubes(count: int) -> list:
    """Fewer cubes of the same votes: two that differ in one score become one, again and again."""
    found = []
    for listed in all_cubes(count):
        cubes = {tuple(map(tuple, cube)) for cube in listed}
        done: set = set()
        while cubes:
            larger = set()
            merged = set()
            for cube in cubes:
                for place, (s, up) in enumerate(cube):
                    twin = (*cube[:place], (s, not up), *cube[place + 1 :])
                    if twin in cubes:
                        larger.add((*cube[:place], *cube[place + 1 :]))
                        merged |= {cube, twin}
            done |= cubes - merged
            cubes = larger
        found.append([[list(pair) for pair in cube] for cube in sorted(done)])
    return found


def random_space(rng: random.Random, *, constrained=False) -> tuple[list, list, list]:
    features = [
        integer("age", 0, rng.randint(1, 2)),
        ordinal("rank", [worth(v) for v in range(rng.randint(2, 3))]),
        categorical("sex", ["f", "m"]),
    ]
    relations = [rng.choice([SAME, within(1)]), rng.choice([SAME, within(1), FREE]), rng.choice([SAME, FREE])]
    limits = [constraint([(0, rng.randint(-1, 2)), (1, rng.randint(-1, 2))], rng.randint(1, 2))]
    return features, relations, limits if constrained else []


def random_body(rng: random.Random, features, scores: int, *, size=2, degree=1) -> dict:
    """Weights are small whole numbers: ties are many."""

    def weights():
        return [rng.randint(-size, size) for _ in range(scores)]

    columns = []
    for k, feature in enumerate(features):
        for _ in range(rng.randint(1, 2)):
            if "levels" in feature:
                entries = [rng.randint(-1, 1) for _ in feature["levels"]]
                columns.append((table(k, 0, entries), weights()))
            elif rng.random() < 0.3:
                cuts = sorted({Fraction(rng.randint(0, 4), 2) for _ in range(2)})
                polys = [
                    [rng.randint(-1, 1) for _ in range(rng.randint(1, degree + 1))]
                    for _ in range(len(cuts) + 1)
                ]
                columns.append((pieces(k, 0, cuts, polys), weights()))
            else:
                columns.append((line(k, 0, rng.randint(1, 2), rng.randint(-1, 1)), weights()))
    return affine_body([rng.randint(-2, 2) for _ in range(scores)], columns)


def random_trees(rng: random.Random, features, scores: int, count=2, depth=2) -> dict:
    """Trees with small whole values at their leaves."""

    def valued(tree):
        return [
            node if isinstance(node, list) else numbers(rng.randint(-2, 2) for _ in range(scores))
            for node in tree
        ]

    found = [valued(random_tree(rng, features, rng.randint(1, depth))) for _ in range(rng.randint(1, count))]
    return {"kind": "trees", "bias": numbers(rng.randint(-1, 1) for _ in range(scores)), "trees": found}
