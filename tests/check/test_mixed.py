"""Kernel models of mixed columns (section 23): no bound is below what a pair of the cell has, and what is not of the form is rejected."""

import copy
import math
import random
from bisect import bisect_left
from decimal import Decimal, localcontext
from fractions import Fraction

import pytest
from tests.check.builder import FREE, SAME, number, score, within
from tests.check.kernels import boxes, column_at, decimal, dyadic, lemma_of, random_cell, random_kernel, seeds

from likewise_check.core.fields import Rejected
from likewise_check.packs.mixed.bumps import (
    CURVE_BITS,
    GRID,
    Shapes,
    Sums,
    Total,
    _curvature_above,
    _curvature_below,
    take_term,
)
from likewise_check.packs.mixed.rule import MixedKernel

SORTS = ("cHi", "ccH", "cIt", "Cth", "cCh", "Ic")


class RandomMixed:
    """A random model, by the specification alone: features and relations of a kernel, columns of it and some in pieces, sums of those."""

    def __init__(self, rng: random.Random, sorts: str, shape: str) -> None:
        kernel = random_kernel(rng, sorts, 1)
        self.features, self.relations, self.shape = kernel.features, kernel.relations, shape
        self.columns = list(kernel.columns)
        for k, feature in enumerate(kernel.features):
            if "levels" not in feature and rng.random() < 0.7:
                flat = rng.random() < 0.4
                self.columns += [pieces(rng, k, feature, flat=flat) for _ in range(rng.randint(1, 3))]
        self.sums = [
            (
                dyadic(rng.gauss(0, 0.3)),
                [(c, dyadic(rng.gauss(0, 0.6))) for c in range(len(self.columns)) if rng.random() < 0.7],
            )
            for _ in range(rng.randint(1, 3))
        ]
        self.terms = [
            (dyadic(rng.gauss(0, 1)), [dyadic(rng.gauss(0, 1)) for _ in self.sums]) for _ in range(6)
        ]
        self.gamma, self.bias = dyadic(rng.uniform(0.05, 0.8)), dyadic(rng.uniform(-0.3, 0.3))

    def model(self, *, zero="lower") -> dict:
        body = {
            "kind": "mixed",
            "shape": self.shape,
            "gamma": number(self.gamma),
            "bias": number(self.bias),
            "columns": self.columns,
            "sums": [[number(a), [[c, number(f)] for c, f in pairs]] for a, pairs in self.sums],
            "terms": [[number(w), [number(s) for s in centre]] for w, centre in self.terms],
        }
        head = {"labels": ["no", "yes"], "zero": zero, "link": "logistic"}
        return {"family": "test", "body": body, "head": head, "rounding": None}

    def score(self, codes) -> Decimal:
        values = [value_at(column, codes[column["feature"]]) for column in self.columns]
        z = [a + sum((f * values[c] for c, f in pairs), Fraction(0)) for a, pairs in self.sums]
        with localcontext() as context:
            context.prec = 60
            total = decimal(self.bias)
            for weight, centre in self.terms:
                gaps = [here - there for here, there in zip(z, centre, strict=True)]
                far = sum((g * g if self.shape == "gaussian" else abs(g) for g in gaps), Fraction(0))
                total += decimal(Fraction(weight)) * decimal(-self.gamma * far).exp()
            return +total


def pieces(rng: random.Random, k: int, feature: dict, *, flat: bool) -> dict:
    lo, hi = Fraction(feature["lo"]), Fraction(feature["hi"])
    cuts = sorted({lo + (hi - lo) * Fraction(rng.randint(1, 23), 24) for _ in range(rng.randint(0, 3))})
    degree = 1 if flat else rng.randint(1, 4)
    polys = [[number(dyadic(rng.gauss(0, 0.5))) for _ in range(degree)] for _ in range(len(cuts) + 1)]
    return {"feature": k, "cuts": [number(cut) for cut in cuts], "pieces": polys}


def value_at(column: dict, code) -> Fraction:
    if "cuts" not in column:
        return column_at(column, code)
    piece = column["pieces"][bisect_left([Fraction(cut) for cut in column["cuts"]], Fraction(code))]
    return sum((Fraction(c) * Fraction(code) ** i for i, c in enumerate(piece)), Fraction(0))


def drawn(seed: int, shape: str):
    """A model, a cell (some with both copies of a number open), pairs of it, and hints."""
    rng = random.Random(seed)
    mixed = RandomMixed(rng, rng.choice(SORTS), shape)
    cell = random_cell(rng, mixed, width=rng.choice([0.05, 0.3, 1.0]))
    for k, (feature, relation) in enumerate(zip(mixed.features, mixed.relations, strict=True)):
        if relation != SAME and rng.random() < 0.5:
            cell[k] = [opened(rng, feature, ends) for ends in cell[k]]
        if relation["kind"] == "within":
            t = Fraction(relation["tolerance"])
            cell[k] = [*cell[k], (-t, t)]
    pairs = [pair for pair in (drawn_pair(rng, mixed, cell) for _ in range(25)) if pair is not None]
    return rng, mixed, cell, pairs


def opened(rng, feature, ends):
    if "levels" in feature:
        return Fraction(0), Fraction(len(feature["levels"]) - 1)
    hi = Fraction(feature["hi"])
    if feature["kind"] == "integer":
        return ends[0], Fraction(rng.randint(int(ends[0]), int(hi)))
    return ends[0], ends[0] + (hi - ends[0]) * Fraction(rng.randint(0, 16), 16)


def drawn_pair(rng, mixed, cell):
    x, other = [], []
    for feature, relation, intervals in zip(mixed.features, mixed.relations, cell, strict=True):
        codes = [drawn_code(rng, feature, *ends) for ends in intervals[:2]]
        if relation["kind"] == "within" and abs(codes[0] - codes[1]) > Fraction(relation["tolerance"]):
            return None
        x.append(codes[0])
        other.append(codes[-1])
    return x, other


def drawn_code(rng, feature, lo, hi):
    if feature["kind"] == "continuous":
        return rng.choice([lo, hi, lo + (hi - lo) * Fraction(rng.randint(0, 64), 64)])
    return Fraction(rng.randint(int(lo), int(hi)))


def bound_of(rule, cell, rng, width):
    """The bound with drawn hints; how many axes a cell has is found by trying."""
    for axes in range(60):
        hints = [rng.randint(-64, 64) for _ in range(axes)]
        try:
            return rule.bound(["mixed", "1/2", hints, width], boxes(cell)), hints
        except Rejected as reason:
            if "hints" not in str(reason):
                raise
    raise AssertionError("more axes than expected")


@pytest.mark.parametrize("shape", ["gaussian", "laplacian"])
@seeds(25, 600)
def test_no_bound_is_below_a_pair_of_the_cell(seed: int, shape: str) -> None:
    rng, mixed, cell, pairs = drawn(seed, shape)
    rule = MixedKernel(lemma_of(mixed.features, mixed.relations, score(1), mixed.model()))
    bound, _ = bound_of(rule, cell, rng, rng.choice([0, 5, 20, 64]))
    for x, other in pairs:
        excess = (Fraction(mixed.score(x)) - Fraction(mixed.score(other)) - 1) / 2
        assert bound is not None
        assert bound >= excess - Fraction(1, 10**50)


@pytest.mark.parametrize("squared", [True, False], ids=["gaussian", "laplacian"])
@pytest.mark.parametrize("sign", [1, -1])
@seeds(80, 2000)
def test_no_polynomial_of_a_term_is_below_the_term(seed: int, sign: int, squared: bool) -> None:
    """Term by term, where nothing else makes up for a bound that is too low, and not by much above it either where it is narrow."""
    rng = random.Random(seed)
    axes, sums, one = rng.randint(1, 3), rng.randint(1, 3), 1 << GRID

    def on_grid(size):
        return [int(rng.uniform(-size, size) * one) for _ in range(sums)]

    size = rng.choice([0.01, 0.3, 1.0])
    reaches = [[int(rng.uniform(-size, size) * one) for _ in range(axes)] for _ in range(sums)]
    middles, centre = on_grid(1.5), on_grid(1.5)
    gamma, coefficient = Fraction(rng.randint(1, 64), 16), Fraction(sign * rng.randint(1, 99), 7)
    shapes = Shapes(Sums(middles=middles, reaches=reaches), gamma, squared=squared)
    total = Total(gamma, axes)
    left = take_term(total, shapes, shapes.bump(centre), coefficient, rng.choice([8, 40, 64]))
    total.add_common(left, shapes.matrix)
    bound = {at: Fraction(value, total.unit) for at, value in total.polynomial().items()}
    ends = [[rng.choice([-1, 1]) for _ in range(axes)] for _ in range(8)]
    inside = [[Fraction(rng.randint(-64, 64), 64) for _ in range(axes)] for _ in range(8)]
    for y in (*ends, *inside):
        apart = [
            Fraction(m - c + sum(w * t for w, t in zip(row, y, strict=True)), one)
            for m, c, row in zip(middles, centre, reaches, strict=True)
        ]
        distance = sum(v * v if squared else abs(v) for v in apart)
        with localcontext() as context:
            context.prec = 60
            term = decimal(coefficient) * (-decimal(gamma * distance)).exp()
        found = sum(value * math.prod(y[i] for i in at) for at, value in bound.items())
        assert decimal(found) >= term - Decimal(10) ** -20
        if size == 0.01 and squared:
            assert decimal(found) <= term + Decimal("0.01") * abs(decimal(coefficient))


def test_bounds_come_near_to_what_there_is_in_small_cells() -> None:
    """Else the test above would show nothing."""
    rng = random.Random(5)
    near = 0
    for seed in range(30):
        rng, mixed, cell, _ = drawn(seed, "gaussian")
        x = [ends[0][0] for ends in cell]
        tiny = []
        for feature, relation, code in zip(mixed.features, mixed.relations, x, strict=True):
            end = code
            if feature["kind"] == "continuous":
                end = min(Fraction(feature["hi"]), code + Fraction(1, 10**6))
            tiny.append([(code, end)] * (1 if relation == SAME else 2))
            if relation["kind"] == "within":
                tiny[-1].append((Fraction(-1, 10**6), Fraction(1, 10**6)))
        rule = MixedKernel(lemma_of(mixed.features, mixed.relations, score(1), mixed.model()))
        bound, _ = bound_of(rule, tiny, rng, 64)
        near += abs(bound + Fraction(1, 2)) < Fraction(
            1, 100
        )  # the same individual twice, nearly; cuts may lie between
    assert near >= 25


@pytest.mark.parametrize("x", [0, 1e-9, 0.01, 0.5, 1, 2, 4])
def test_the_curvature_of_exp_is_enclosed(x) -> None:
    exact = Fraction(x)
    units = int(exact * 2**CURVE_BITS) + 1
    rounded = Fraction(units, 2**CURVE_BITS)
    with localcontext() as context:
        context.prec = 200
        up, down = decimal(rounded), -decimal(rounded)
        above, below = ((v.exp() - 1 - v) / (v * v) for v in (up, down))
        found = Decimal(_curvature_above(units)) / 2**CURVE_BITS
        assert above <= found + Decimal(10) ** -24
        assert found <= above + Decimal(10) ** -18
        low = Decimal(_curvature_below(units)) / 2**CURVE_BITS
        assert low <= below + Decimal(10) ** -24
        assert low >= below - Decimal(10) ** -18


def simple():
    rng = random.Random(3)
    return RandomMixed(rng, "cH", "gaussian")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda body: body.update(shape="cosine"), "shape"),
        (lambda body: body.update(gamma="0"), "gamma above 0"),
        (lambda body: body.update(gamma="-1"), "gamma above 0"),
        (lambda body: body.update(sums=[]), "a sum"),
        (lambda body: body.update(terms=[]), "a term"),
        (lambda body: body.update(grouped=True), "the body"),
        (lambda body: body["sums"].append(["0", [[0, "1"], [0, "1"]]]), "increasing"),
        (lambda body: body["sums"].append(["0", [[99, "1"]]]), "a column"),
        (lambda body: body["sums"].append(["0", []]), "centre"),
        (lambda body: body["columns"].append({"feature": 1, "cuts": [], "pieces": [["1"]]}), "only numbers"),
        (
            lambda body: body["columns"].append({"feature": 0, "cuts": ["1", "1"], "pieces": [["1"]] * 3}),
            "cuts",
        ),
        (
            lambda body: body["columns"].append({"feature": 0, "cuts": ["1"], "pieces": [["1"]]}),
            "one piece more",
        ),
        (
            lambda body: body["columns"].append({"feature": 0, "cuts": [], "pieces": [["1"] * 7]}),
            "one piece more",
        ),
    ],
)
def test_bodies_that_are_none_are_rejected(change, reason) -> None:
    mixed = simple()
    model = copy.deepcopy(mixed.model())
    change(model["body"])
    with pytest.raises(Rejected, match=reason):
        lemma_of(mixed.features, mixed.relations, score(1), model)


@pytest.mark.parametrize(
    "leaf",
    [
        ["mixed", "1/2", []],
        ["mixed", "1/2", [], 0, 0],
        ["mixed", "1/2", [0] * 50, 0],
        ["mixed", "1/2", [65], 0],
        ["mixed", "1/2", [0], 65],
        ["mixed", "1/2", [0], -1],
        ["mixed", "1/3", [0], 0],
    ],
)
def test_leaves_that_are_none_are_rejected(leaf) -> None:
    mixed = simple()
    mixed.columns = [c for c in mixed.columns if "cuts" not in c]
    mixed.sums = [(a, [(c, f) for c, f in pairs if c < len(mixed.columns)]) for a, pairs in mixed.sums]
    rule = MixedKernel(lemma_of(mixed.features, [SAME, FREE], score(1), mixed.model()))
    cell = boxes([[(Fraction(0), Fraction(1))], [(Fraction(0),) * 2, (Fraction(1),) * 2]])
    assert rule.bound(["mixed", "1/2", [0], 64], cell) is not None
    with pytest.raises(Rejected):
        rule.bound(leaf, cell)


def test_scores_are_those_of_the_specification() -> None:
    room = Fraction(1, 10**50)
    for seed in range(20):
        for shape in ("gaussian", "laplacian"):
            _, mixed, _, pairs = drawn(seed, shape)
            body = lemma_of(mixed.features, mixed.relations, score(1), mixed.model()).first
            for x, _ in pairs[:3]:
                low, high = body.ends(x, 100)[0]
                assert low - room <= Fraction(mixed.score(x)) <= high + room
                assert high - low <= Fraction(1, 2**100)


def test_a_feature_is_steady_where_no_sum_has_it() -> None:
    mixed = simple()
    mixed.sums = [
        (a, [(c, f) for c, f in pairs if mixed.columns[c]["feature"] == 1]) for a, pairs in mixed.sums
    ]
    mixed.sums[0] = (
        mixed.sums[0][0],
        [(next(c for c, one in enumerate(mixed.columns) if one["feature"] == 1), 1)],
    )
    body = lemma_of(mixed.features, [within(1), FREE], score(1), mixed.model()).first
    assert body.steady(0)
    assert not body.steady(1)
