"""The rules `polynomial` and `sos`: whatever a leaf says, its bound is never below the truth; and it is that of the specification."""

import random
from dataclasses import replace
from fractions import Fraction
from math import prod

import numpy as np
import pytest
from tests.check.builder import (
    FREE,
    SAME,
    affine,
    categorical,
    checked,
    constraint,
    continuous,
    decision,
    integer,
    number,
    ordinal,
    probability,
    proof,
    score,
    within,
)
from tests.check.kernels import lemma_of, rbf, seeds, sloped, tabled
from tests.check.polynomials import (
    Slow,
    boxes,
    breaks,
    pairs,
    polynomial,
    random_cell,
    random_curve,
    tangent,
)

from likewise_check.core.cells import LeafRefused, make_box
from likewise_check.core.fields import Rejected
from likewise_check.core.properties import read_property
from likewise_check.packs.axes import coordinates, differences
from likewise_check.packs.cubes import cube, monomials
from likewise_check.packs.polynomial.rule import Polynomials
from likewise_check.packs.polynomial.squares import Squares

HALF = Fraction(1, 2)
NEAR = Fraction(1, 10**55)  # the error of the tests' own tangents


def drawn(seed: int):
    """A random model of one to four features, and a cell."""
    rng = random.Random(seed)
    sorts = [(rng.choice("cciithl"), rng.choice("sswf")) for _ in range(rng.randint(1, 4))]
    curve = random_curve(rng, sorts, rng.choice([1, 2, 2, 3, 4]), constrained=rng.random() < 0.5)
    return rng, curve, random_cell(rng, curve)


def asked(rng):
    """A property, a way that fits it, which label has the zero."""
    kind = rng.choice(["decision", "decision", "score", "probability"])
    if kind == "decision":
        way = Fraction(rng.randint(0, 8), 8)
        return decision(Fraction(rng.randint(-2, 4), 3)), way, rng.choice(["lower", "upper"])
    if kind == "score":
        return score(Fraction(rng.randint(0, 8), 3)), HALF, "upper"
    delta = Fraction(rng.randint(0, 6), 8)
    return probability(delta), (1 - delta) * Fraction(rng.randint(1, 7), 8) if delta else HALF, "lower"


def array_way(rng, axes: int) -> list[Fraction]:
    """p_0, p_1, ... on the border of what is allowed, or inside."""
    parts = [rng.randint(0, 3) * rng.choice([-1, 1]) for _ in range(axes + 1)]
    size = sum(map(abs, parts)) + rng.choice([0, 1]) or 1
    p = [Fraction(part, 2 * size) for part in parts]
    return [HALF + p[0], *p[1:]]


def random_factor(rng, slow: Slow):
    places = [i for axes, known in slow.groups if known for i in axes]
    kinds = ["sign"] * (slow.count > 0) + ["gap"] * bool(places) + ["rule"] * len(slow.curve.constraints)
    kind = rng.choice(kinds) if kinds else None
    if kind == "sign":
        return rng.choice([-1, 1]) * rng.randint(1, slow.count)
    if kind == "gap":
        i = rng.choice(places)
        axes, known = next(group for group in slow.groups if i in group[0])
        return [i, rng.randrange(len({place[axes.index(i)] for place in known}) - 1)]
    if kind == "rule":
        j = rng.randrange(2 * len(slow.curve.constraints))
        copy, rule = divmod(j, len(slow.curve.constraints))
        named = [k for k, _ in slow.curve.constraints[rule]["terms"]]
        return [-1, j] if all(slow.codes[copy][k] is not None for k in named) else None
    return None


def random_sum(rng, slow: Slow) -> list:
    """Generators, multiples and squares: anything goes."""
    found = []
    for _ in range(rng.randint(0, 4)):
        factors = [random_factor(rng, slow) for _ in range(rng.choice([0, 0, 1, 1, 2, 3]))]
        most = min(sum(1 for _ in monomials.graded_monomials(slow.count, 2)), 12)
        rows = [
            [rng.randint(-8, 8) for _ in range(rng.randint(0, most))] for _ in range(rng.choice([0, 1, 2]))
        ]
        found.append([[f for f in factors if f is not None], rng.choice([0, 1, 7, 100]), rows])
    return found


def random_leaf(rng, slow: Slow, prop, way):
    if rng.random() < 0.4:
        return ["polynomial", number(way), [rng.randint(-64, 64) for _ in range(slow.count)]]
    way = number(way)
    if prop["kind"] == "decision" and rng.random() < 0.5:
        way = [number(p) for p in array_way(rng, slow.count)]
    return ["sos", way, rng.choice([0, 1, 3, 40]), random_sum(rng, slow)]


def line_of(slow: Slow, prop, way):
    """a and b as polynomials of the axes, and T, from the specification."""
    zero = (0,) * slow.count
    if prop["kind"] == "decision":
        p = [Fraction(v) for v in way] if isinstance(way, list) else [Fraction(way)]
        a = slow.form((p[0], dict(enumerate(p[1:]))))
        return a, slow.plus({zero: Fraction(1)}, a, -1), Fraction(prop["margin"])
    delta = Fraction(prop["delta"])
    if prop["kind"] == "score" or delta == 0:
        return {zero: HALF}, {zero: HALF}, delta / 2
    a, b, threshold = tangent(Fraction(way), delta)
    return {zero: a}, {zero: b}, threshold


def expected(slow: Slow, sign, prop, leaf) -> Fraction:
    total = slow.excess(sign, *line_of(slow, prop, leaf[1]))
    if leaf[0] == "polynomial":
        return slow.bound(total, leaf[2])
    for factors, mu, rows in leaf[3]:
        part = slow.squares(leaf[2], mu, rows)
        for item in factors:
            part = slow.times(part, slow.factor(item))
        total = slow.plus(total, part)
    return slow.bound(total, [0] * slow.count)


def rule_of(lemma, leaf):
    return (Polynomials if leaf[0] == "polynomial" else Squares)(lemma)


def axis_values(curve, cell, x, other) -> list[Fraction]:
    """y of a pair, from the specification."""
    found = []
    for k, (feature, relation) in enumerate(zip(curve.features, curve.relations, strict=True)):
        mine = [c for c in curve.columns if c["feature"] == k]
        if "levels" in feature:
            sides = [(x, cell[k][0])] if relation == SAME else [(x, cell[k][0]), (other, cell[k][1])]
            for codes, (lo, hi) in sides:
                for column in mine:
                    entries = [Fraction(e) for e in column["table"][int(lo) : int(hi) + 1]]
                    low, high = min(entries), max(entries)
                    value = Fraction(column["table"][int(codes[k])])
                    found += [(2 * value - low - high) / (high - low)] if low < high else []
            continue
        if relation["kind"] == "within":
            u, d = coordinates(boxes(curve, cell)[k])
            shown = [((x[k] + other[k]) / 2, u), ((other[k] - x[k]) / 2, d)]
        else:
            shown = list(zip((x[k], other[k]), cell[k], strict=False))
        found += [(2 * value - lo - hi) / (hi - lo) for value, (lo, hi) in shown if lo < hi]
    return found


def excess_at(prop, way, s, t, y) -> Fraction:
    """S at a pair with g(x) = s, g(x') = t."""
    if isinstance(way, list):
        a = sum((Fraction(p) * v for p, v in zip(way, [Fraction(1), *y], strict=True)), Fraction(0))
        assert 0 <= a <= 1
        return a * s - (1 - a) * t - Fraction(prop["margin"])
    if prop["kind"] == "decision":
        a = Fraction(way)
        return a * s - (1 - a) * t - Fraction(prop["margin"])
    delta = Fraction(prop["delta"])
    if prop["kind"] == "score" or delta == 0:
        return (s - t - delta) / 2
    a, b, threshold = tangent(Fraction(way), delta)
    return a * s - b * t - threshold


def moved(prop: dict, line, bound: Fraction) -> dict | None:
    """The property whose T is larger by this bound: there the leaf is just accepted, or just not if a witness may have S = 0."""
    if prop["kind"] == "decision":
        return decision(Fraction(prop["margin"]) + bound)
    if prop["kind"] == "score" and Fraction(prop["delta"]) + 2 * bound >= 0:
        return score(Fraction(prop["delta"]) + 2 * bound)
    return prop


@seeds(40, 220)
def test_whatever_a_leaf_says_its_bound_is_above_the_truth(seed: int) -> None:
    """1,100 random leaves; then the property is moved to where the leaf is just accepted, and sampled pairs must not break it."""
    rng, curve, cell = drawn(seed)
    slow = Slow(curve, cell)
    found = [
        (curve.score(x), curve.score(other), axis_values(curve, cell, x, other))
        for x, other in pairs(rng, curve, cell, 25)
    ]
    assert not (slow.empty and found)
    assert all(abs(value) <= 1 for _, _, y in found for value in y)
    for _ in range(5):
        prop, way, zero = asked(rng)
        lemma = lemma_of(curve.features, curve.relations, prop, curve.model(zero=zero), curve.constraints)
        leaf = random_leaf(rng, slow, prop, way)
        rule = rule_of(lemma, leaf)
        answer = rule.bound(leaf, boxes(curve, cell))
        if slow.empty:
            assert answer is None
            assert rule(leaf, boxes(curve, cell)).clearance is None
            continue
        line, bound = answer
        for s, t, y in found:
            assert excess_at(prop, leaf[1], lemma.slope * s, lemma.slope * t, y) <= bound + NEAR
        prop = moved(prop, line, bound)
        rule = rule_of(replace(lemma, asked=read_property({"property": prop}, lemma.space)), leaf)
        try:
            rule(leaf, boxes(curve, cell))
        except LeafRefused:
            assert line.closed or prop["kind"] != "decision"
            continue
        assert not any(breaks(prop, lemma.slope * s, lemma.slope * t) for s, t, _ in found)


@seeds(25, 120)
def test_the_bound_is_that_of_the_specification(seed: int) -> None:
    rng, curve, cell = drawn(1000 + seed)
    slow = Slow(curve, cell)
    if slow.empty:
        return
    prop, way, zero = asked(rng)
    lemma = lemma_of(curve.features, curve.relations, prop, curve.model(zero=zero), curve.constraints)
    leaf = random_leaf(rng, slow, prop, way)
    _, bound = rule_of(lemma, leaf).bound(leaf, boxes(curve, cell))
    right = expected(slow, lemma.slope, prop, leaf)
    room = Fraction(1, 2**48)  # of T, and 2^-60 of coefficients below 2^12
    assert right - NEAR <= bound <= right + room


@seeds(20, 40)
def test_every_factor_is_nonnegative_at_every_pair(seed: int) -> None:
    rng, curve, cell = drawn(seed)
    slow = Slow(curve, cell)
    found = [axis_values(curve, cell, *pair) for pair in pairs(rng, curve, cell, 25)]
    rule = Squares(lemma_of(curve.features, curve.relations, score(1), curve.model(), curve.constraints))
    for item in [random_factor(rng, slow) for _ in range(10 if found else 0)]:
        if item is not None:
            made = rule._excess.cubes.cube(boxes(curve, cell))
            poly, unit = rule._factor(item, made, monomials.Budget())
            for y in found:
                value = sum(c * prod([y[i] for i in m]) for m, c in poly.items())
                assert value >= 0
                assert unit > 0


@seeds(15, 30)
def test_what_is_kept_between_leaves_changes_nothing(seed: int) -> None:
    """Cells that share boxes, but not the differences or the number of axes before."""
    rng, curve, cell = drawn(seed)
    lemma = lemma_of(curve.features, curve.relations, score(1), curve.model())
    one, cells = Squares(lemma), [cell, random_cell(rng, curve)]
    for _ in range(12):
        mixed = [list(rng.choice(intervals)) for intervals in zip(*cells, strict=True)]
        for intervals in mixed:
            if len(intervals) == 3:
                intervals[2] = rng.choice([(-1, 0), (0, 1), (-1, 1)])
        leaf = ["sos", "1/2", 0, []]
        assert one.bound(leaf, boxes(curve, mixed)) == Squares(lemma).bound(leaf, boxes(curve, mixed))


def test_the_samples_cover_every_corner() -> None:
    """Cells without pairs, axes with and without places, all factors and ways do occur among the random leaves."""
    seen: set = set()
    for seed in range(300):
        rng, curve, cell = drawn(seed)
        slow = Slow(curve, cell)
        seen |= {"empty"} if slow.empty else set()
        seen |= {("group", len(axes) > 1, places is None) for axes, places in slow.groups}
        for _, _, squares in random_sum(rng, slow):
            seen |= {("squares", bool(squares))}
        factor = random_factor(rng, slow)
        seen |= {
            ("factor", factor if factor is None else "axis" if isinstance(factor, int) else factor[0] >= 0)
        }
    assert seen >= {"empty", ("group", True, False), ("group", False, False), ("group", False, True)}
    assert seen >= {("squares", True), ("squares", False)}
    assert seen >= {("factor", what) for what in ("axis", True, False)}


def square_claim(
    terms, prop=None, *, features=None, relations=None, constraints=(), columns=None, zero="lower"
):
    features = features or [continuous(f"x{k}", -1, 1) for k in range(3)]
    relations = relations or [SAME] * len(features)
    columns = [sloped(k) for k in range(len(features))] if columns is None else columns
    model = polynomial(columns, terms, zero=zero)
    return lemma_of(features, relations, prop or decision(), model, constraints)


CUBE = [make_box((-1, 1))] * 3
# f = -(x0 + x1 + x2)^2 <= 0: no decision differs.
SUM = [(-1, [0, 0]), (-1, [1, 1]), (-1, [2, 2]), (-2, [0, 1]), (-2, [0, 2]), (-2, [1, 2])]


def test_a_square_by_hand() -> None:
    lemma = square_claim(SUM)
    assert Polynomials(lemma).bound(["polynomial", "1", [0, 0, 0]], CUBE)[1] == 3
    leaf = ["sos", "1", 0, [[[], 0, [[0, 1, 1, 1]]]]]
    assert Squares(lemma).bound(leaf, CUBE)[1] == 0
    assert Squares(lemma)(leaf, CUBE).clearance == 0
    assert Squares(lemma)(["sos", "1", 5, [[[], 0, [[0, 32, 32, 32]]]]], CUBE).clearance == 0
    with pytest.raises(LeafRefused, match="not below 0"):
        Squares(lemma)(["sos", "1", 0, [[[], 1, [[0, 1, 1, 1]]]]], CUBE)


def test_equality_is_not_enough_where_a_witness_may_lie_on_the_border() -> None:
    """f = x0: s' <= 0 may be s' = 0, which way 0 and arrays do not exclude."""
    lemma = square_claim([(1, [0])])
    fixed = [make_box((0, 0))] * 3
    assert Squares(lemma)(["sos", "1/8", 0, []], fixed).clearance == 0
    for way in ("0", ["1/8"], ["0"], ["1"]):
        with pytest.raises(LeafRefused):
            Squares(lemma)(["sos", way, 0, []], fixed)
    with pytest.raises(LeafRefused):
        Polynomials(lemma)(["polynomial", "0", []], fixed)
    below = square_claim([(1, [0])], decision(1))
    for way in ("0", ["1/8"], ["0"], ["1"]):
        assert Squares(below)(["sos", way, 0, []], fixed).clearance == 0


def test_a_gap_between_codes() -> None:
    """f = x (1 - x) on whole numbers: 0 at 0 and 1, negative elsewhere, 1/4 between."""
    terms = [(1, [0]), (-1, [0, 0])]
    lemma = square_claim(terms, features=[integer("n", -2, 3)])
    cell = [make_box((-2, 3))]
    # y = (2 n - 1) / 5, so n (n - 1) = 25/4 (y + 1/5)(y - 1/5).
    gap = ["sos", "1", 1, [[[[0, 2]], 25, []]]]
    assert Squares(lemma).bound(gap, cell)[1] == 0
    real = square_claim(terms, features=[continuous("n", -2, 3)])
    assert Squares(real).bound(["sos", "1", 0, []], cell)[1] == Fraction(1, 4)
    with pytest.raises(Rejected, match="places"):
        Squares(real).bound(gap, cell)


def test_a_constraint_is_a_factor() -> None:
    """f = x0 + x1 - 1 with x0 + x1 <= 1, for one copy or the other."""
    terms = [(1, [0]), (1, [1]), (-1, [])]
    features, relations = [continuous("a", 0, 1), continuous("b", 0, 1)], [SAME, within(HALF)]
    limit = [constraint([(0, 3), (1, 3)], 3)]
    difference = ((-HALF, HALF),)
    cell = [make_box((0, 1)), make_box((0, 1), (0, 1), difference=difference)]
    lemma = square_claim(terms, features=features, relations=relations, constraints=limit)
    # S = f(x) = h(x)/3; adding 1/3 of -h takes it to 0. In units of 4^-bits a third is not there, but 85/256 is close.
    bound = Squares(lemma).bound(["sos", "1", 4, [[[[-1, 0]], 85, []]]], cell)[1]
    assert 0 < bound < Fraction(1, 100)
    assert Squares(lemma).bound(["sos", "1", 4, []], cell)[1] == Fraction(5, 4)  # x <= 1 is lost in u and d
    other = Squares(lemma).bound(["sos", "1", 4, [[[[-1, 1]], 85, []]]], cell)[1]
    assert other > Fraction(1, 4)  # x' is another individual
    upper = square_claim(terms, features=features, relations=relations, constraints=limit, zero="upper")
    assert upper.slope == -1
    mirrored = Squares(upper).bound(["sos", "0", 4, [[[[-1, 1]], 85, []]]], cell)[1]
    assert mirrored == bound


def test_repeated_factors_and_products() -> None:
    """(1 + y)^3 (1 - y) is nonnegative; f = -(1 + x)^3 (1 - x) needs all of it."""
    f = np.poly1d([1, 1]) ** 3 * np.poly1d([-1, 1])
    terms = [(-int(c), [0] * power) for power, c in enumerate(f.coefficients[::-1]) if c]
    lemma = square_claim(terms)
    assert Squares(lemma).bound(["sos", "1", 0, [[[1, 1, -1, 1], 1, []]]], CUBE)[1] == 0
    assert Squares(lemma).bound(["sos", "1", 0, []], CUBE)[1] > 0
    same = [[1, -1], 0, [[1, 1, 0, 0]]]  # (1 + y)(1 - y)(1 + y)^2
    assert Squares(lemma).bound(["sos", "1", 0, [same]], CUBE)[1] == 0


@seeds(4, 10)
def test_shor_bounds(seed: int) -> None:
    """y'Qy <= sum mu_i on the cube if diag(mu) - Q is a sum of squares: made of eigenvectors, rounded, what is left goes to the majorant."""
    rng = np.random.default_rng(seed)
    n, bits = 5, 30
    q = rng.integers(-8, 9, (n, n))
    q = (q + q.T) / 2
    values, vectors = np.linalg.eigh(q)
    mu = values[-1] + 1e-6
    rows = (vectors * np.sqrt(mu - values)).T
    generators = [[[], 0, [[0, *(round(v * 2**bits) for v in row)] for row in rows.tolist()]]]
    generators += [[[i + 1, -(i + 1)], round(mu * 4**bits), []] for i in range(n)]
    terms = [
        (Fraction(q[i, j] * (2 if i < j else 1)), [i, j]) for i in range(n) for j in range(i, n) if q[i, j]
    ]
    features = [continuous(f"x{k}", -1, 1) for k in range(n)]
    lemma = square_claim(terms, features=features)
    _, bound = Squares(lemma).bound(["sos", "1", bits, generators], [make_box((-1, 1))] * n)
    assert abs(float(bound) - n * mu) < 1e-6
    corners = np.array(np.meshgrid(*[[-1, 1]] * n)).reshape(n, -1).T
    assert bound >= max(c @ q @ c for c in corners)


def test_an_array_way_separates_what_no_number_does() -> None:
    """f = x (1 + g/2), margin 1/5: x = 1 needs a <= 0.48, x = -1 needs a >= 0.52; a = 1/2 - x/4 does both."""
    features = [continuous("x", -1, 1), categorical("g", "ab")]
    lemma = square_claim(
        [(1, [0]), (HALF, [0, 1])],
        decision(Fraction(1, 5)),
        features=features,
        relations=[SAME, FREE],
        columns=[sloped(0), tabled(1, [0, 1])],
    )
    cell = [make_box((-1, 1)), make_box((0, 1), (0, 1))]
    # With y of g and y' of g', S = x (y - y')/8 - 5/8 x^2 - (y + y') x^2/16 - 1/5; x^2 (1 + y)/16 and x^2 (1 + y')/16 are added.
    added = [[[2], 0, [[0, 1]]], [[3], 0, [[0, 1]]]]
    leaf = ["sos", ["1/2", "-1/4", "0", "0"], 2, added]
    assert Squares(lemma).bound(leaf, cell)[1] == Fraction(1, 8) - Fraction(1, 5)
    assert Squares(lemma)(leaf, cell).clearance == 0
    for way in range(33):
        a = Fraction(way, 32)
        assert max(a * Fraction(3, 2) - (1 - a), (1 - a) * Fraction(3, 2) - a) > Fraction(1, 5)


FEATURES = [integer("n", 0, 3), continuous("x", 0, 1), categorical("g", "abc")]
RELATIONS = [SAME, within(HALF), FREE]
COLUMNS = [sloped(0), sloped(1, 2, 1), tabled(2, [0, 1, 3])]
TERMS = [(1, [0, 1]), (Fraction(1, 4), [2, 2]), (-1, [0])]
LIMITS = [constraint([(0, 1), (1, 1)], 3)]
MODEL = polynomial(COLUMNS, TERMS)
ROOT = [make_box((0, 3)), make_box((0, 1), (0, 1), difference=((-HALF, HALF),)), make_box((0, 2), (0, 2))]
AXES = 5  # n, u, d, g, g'


def rule(kind, prop=None):
    return {"polynomial": Polynomials, "sos": Squares}[kind](
        lemma_of(FEATURES, RELATIONS, prop or decision(), MODEL, LIMITS)
    )


@pytest.mark.parametrize(
    "leaf",
    [
        ["polynomial", "1/2"],
        ["polynomial", "1/2", [0] * AXES, 0],
        ["polynomial", "2", [0] * AXES],
        ["polynomial", 1, [0] * AXES],
        ["polynomial", ["1/2", *["0"] * AXES], [0] * AXES],
        ["polynomial", "1/2", [0] * (AXES - 1)],
        ["polynomial", "1/2", [0] * (AXES + 1)],
        ["polynomial", "1/2", [0, 0, 0, 0, 65]],
        ["polynomial", "1/2", [0, 0, 0, 0, True]],
        ["polynomial", "1/2", 0],
        ["sos", "1/2", 0],
        ["sos", "1/2", 0, [], 0],
        ["sos", "-1/2", 0, []],
        ["sos", 0, 0, []],
        ["sos", ["1/2"], 0, []],
        ["sos", ["1/2", *["0"] * (AXES + 1)], 0, []],
        ["sos", ["1/2", 0, "0", "0", "0", "0"], 0, []],
        ["sos", ["1/2", "1/2", "1/8", "0", "0", "0"], 0, []],
        ["sos", ["3/4", "1/2", "0", "0", "0", "0"], 0, []],
        ["sos", ["-1/8", *["0"] * AXES], 0, []],
        ["sos", "1/2", -1, []],
        ["sos", "1/2", 201, []],
        ["sos", "1/2", "0", []],
        ["sos", "1/2", True, []],
        ["sos", "1/2", 0, {}],
        ["sos", "1/2", 0, [[[], 0]]],
        ["sos", "1/2", 0, [[[], 0, [], 0]]],
        ["sos", "1/2", 0, [[0, 0, []]]],
        ["sos", "1/2", 0, [[[0], 0, []]]],
        ["sos", "1/2", 0, [[[AXES + 1], 0, []]]],
        ["sos", "1/2", 0, [[[-AXES - 1], 0, []]]],
        ["sos", "1/2", 0, [[[True], 0, []]]],
        ["sos", "1/2", 0, [[["1"], 0, []]]],
        ["sos", "1/2", 0, [[[1] * 9, 0, []]]],
        ["sos", "1/2", 0, [[[[0]], 0, []]]],
        ["sos", "1/2", 0, [[[[0, 3]], 0, []]]],
        ["sos", "1/2", 0, [[[[0, -1]], 0, []]]],
        ["sos", "1/2", 0, [[[[0, True]], 0, []]]],
        ["sos", "1/2", 0, [[[[1, 0]], 0, []]]],
        ["sos", "1/2", 0, [[[[AXES, 0]], 0, []]]],
        ["sos", "1/2", 0, [[[[-2, 0]], 0, []]]],
        ["sos", "1/2", 0, [[[[3, 2]], 0, []]]],
        ["sos", "1/2", 0, [[[[-1, 2]], 0, []]]],
        ["sos", "1/2", 0, [[[[-1, -1]], 0, []]]],
        ["sos", "1/2", 0, [[[], -1, []]]],
        ["sos", "1/2", 0, [[[], "0", []]]],
        ["sos", "1/2", 0, [[[], True, []]]],
        ["sos", "1/2", 0, [[[], 0, [0]]]],
        ["sos", "1/2", 0, [[[], 0, [["0"]]]]],
        ["sos", "1/2", 0, [[[], 0, [[True]]]]],
        ["sos", "1/2", 0, [[[], 0, [[0] * 1288]]]],
        ["sos", "1/2", 0, [[[], 0, {}]]],
    ],
)
def test_malformed_leaves_are_rejected(leaf) -> None:
    with pytest.raises(Rejected):
        rule(leaf[0]).bound(leaf, ROOT)
    assert not checked(proof(FEATURES, RELATIONS, decision(), MODEL, [leaf], constraints=LIMITS)).accepted


@pytest.mark.parametrize(
    "leaf",
    [
        ["polynomial", "1/2", [0, -64, 64, 1, 2]],
        ["sos", "1/2", 200, []],
        ["sos", ["1/2", "1/8", "-1/8", "0", "1/8", "-1/8"], 0, []],
        ["sos", "1/2", 0, [[[1, -1, AXES, -AXES, [0, 0], [0, 2], [-1, 0], [-1, 1]], 1, [[1]]]]],
        ["sos", "1/2", 0, [[[[3, 1], [4, 0]], 3, [[], [0] * 1287]]]],
    ],
)
def test_what_is_just_allowed(leaf) -> None:
    assert rule(leaf[0]).bound(leaf, ROOT) is not None


def test_an_array_is_for_decisions_only() -> None:
    with pytest.raises(Rejected, match="the way must be a number"):
        rule("sos", score(1)).bound(["sos", ["1/2", *["0"] * AXES], 0, []], ROOT)


def test_a_constraint_on_levels_is_a_factor_only_where_they_are_fixed() -> None:
    features = [ordinal("o", [True, {"number": "5"}]), ordinal("p", [True, {"number": "7"}])]
    limit = [constraint([(0, 1), (1, 2)], 9)]
    lemma = square_claim(
        [(1, [0])],
        features=features,
        relations=[SAME, FREE],
        constraints=limit,
        columns=[tabled(0, [0, 1]), tabled(1, [0, 1])],
    )
    leaves = [["sos", "1", 0, [[[[-1, j]], 1, []]]] for j in (0, 1)]
    cell = [make_box((1, 1)), make_box((0, 0), (0, 1))]
    assert Squares(lemma).bound(leaves[0], cell)[1] == 1 + 9 - 5 - 2
    with pytest.raises(Rejected, match="levels"):
        Squares(lemma).bound(leaves[1], cell)


def test_many_codes_have_no_places() -> None:
    for codes, places in ((1024, True), (1025, False)):
        lemma = square_claim([(1, [0])], features=[integer("n", 0, 2000)])
        leaf = ["sos", "1", 0, [[[[0, 0]], 1, []]]]
        cell = [make_box((0, codes - 1))]
        if places:
            Squares(lemma).bound(leaf, cell)
        else:
            with pytest.raises(Rejected, match="places"):
                Squares(lemma).bound(leaf, cell)
        assert Squares(lemma).bound(["sos", "1", 0, []], cell)[1] == codes - 1


def test_paired_coordinates() -> None:
    assert differences(make_box((0, 1), (3, 4), difference=((-1, 1),))) == (2, 1)
    assert differences(make_box((0, 1), (3, 4))) == (2, 4)
    assert coordinates(make_box((0, 1), (3, 4))) == ((Fraction(3, 2), Fraction(5, 2)), (1, 2))
    assert coordinates(make_box((0, 4), (0, 4), difference=((1, 2),))) == (
        (HALF, Fraction(7, 2)),
        (HALF, 1),
    )


def test_work_is_limited(monkeypatch) -> None:
    leaf = ["sos", "1/2", 0, [[[], 0, [[1] * 6] * 4]]]
    rule("sos").bound(leaf, ROOT)
    monkeypatch.setattr(monomials, "MOST_PRODUCTS", 100)
    with pytest.raises(LeafRefused, match="more than 100 products"):
        rule("sos").bound(leaf, ROOT)


def test_hostile_contents_are_refused_before_they_are_worked_out() -> None:
    for rows in ([[1] * 1287] * 20, [[]] * (1 << 14) + [[1] * 1025]):
        with pytest.raises(LeafRefused, match="products"):
            rule("sos").bound(["sos", "1/2", 0, [[[], 0, rows]]], ROOT)


def test_numbers_are_limited() -> None:
    huge = ["1/1" + "0" * 9900 + digit for digit in "137"]
    with pytest.raises(LeafRefused, match="bits"):
        rule("sos").bound(["sos", ["1/2", *huge, "0", "0"], 0, []], ROOT)
    model = polynomial([sloped(0, "0x1p+6000")], [(1, [0] * 16)])
    with pytest.raises(LeafRefused, match="bits"):
        Squares(lemma_of(FEATURES, RELATIONS, decision(), model)).bound(["sos", "1", 0, []], ROOT)
    uneven = polynomial([tabled(2, [0, Fraction(1, 3**9000), 1])], [(1, [0])])
    lemma = lemma_of(FEATURES, RELATIONS, decision(), uneven)
    assert Squares(lemma).bound(["sos", "1", 0, []], ROOT)[1] == 1
    for content in ([[[[3, 0]] * 4, 0, []]], [[[4] * 6, 1, []]]):
        with pytest.raises(LeafRefused, match="bits"):
            Squares(lemma).bound(["sos", "1", 0, content], ROOT)


def test_what_is_kept_between_leaves_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(cube, "MOST_KEPT", 1)
    leaf = ["polynomial", "1/2", [0] * AXES]
    known = rule("polynomial")
    assert known.bound(leaf, ROOT)[1] == known.bound(leaf, ROOT)[1]


def test_other_bodies_have_no_such_leaves() -> None:
    for model in (affine(0, []), rbf(1, 0, [], [(1, [])])):
        for leaf in (["polynomial", "1/2", []], ["sos", "1/2", 0, []]):
            report = checked(proof(FEATURES, RELATIONS, score(1), model, [leaf]))
            assert report.reason == f"{leaf[0]}: the body is not a polynomial one"
