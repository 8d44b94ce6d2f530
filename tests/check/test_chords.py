"""The rule `chords` of kernel models: its bound is that of section 25 and no pair exceeds it, in one copy and in two, for features of all sorts."""

import json
import random
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product

import pytest
from tests.check.builder import (
    FREE,
    SAME,
    categorical,
    checked,
    continuous,
    decision,
    integer,
    number,
    proof,
    score,
    sealed,
    within,
)
from tests.check.kernels import (
    boxes,
    decimal,
    lemma_of,
    random_cell,
    random_kernel,
    rbf,
    seeds,
    sloped,
    tabled,
)
from tests.check.section25 import Bound
from tests.check.test_schema import LINE
from tests.check.test_two_copies import posed, whole_pairs

from likewise_check.core.bound import read_way
from likewise_check.core.cells import LeafRefused
from likewise_check.core.fields import Rejected
from likewise_check.core.properties import read_property
from likewise_check.packs.kernel import chords as module
from likewise_check.packs.kernel.chords import Chords, _chord, _tangent
from likewise_check.packs.kernel.cubics import EXPONENT, WEIGHT
from likewise_check.packs.kernel.parabolas import Parabola, largest_apart

HALF = Fraction(1, 2)


def interval(rng, feature):
    """An interval of a feature's codes, or one code."""
    if "levels" in feature:
        lo, hi = 0, len(feature["levels"]) - 1
    else:
        lo, hi = Fraction(feature["lo"]), Fraction(feature["hi"])
    if feature["kind"] != "continuous":
        ends = sorted([rng.randint(int(lo), int(hi)), rng.randint(int(lo), int(hi))])
    else:
        ends = sorted(lo + (hi - lo) * Fraction(rng.random()) for _ in range(2))
        ends = rng.choice([ends, ends, [lo, hi], [ends[0], ends[0] + (ends[1] - ends[0]) / 2**30]])
    return Fraction(ends[0]), Fraction(ends[0] if rng.random() < 0.15 else ends[1])


def drawn(seed: int):
    """A random model of features of all sorts, and a cell; of every third one all that may differ is fixed."""
    rng = random.Random(seed)
    sorts = rng.choices("cithgl", k=rng.randint(1, 3)) + rng.choices("CITHGL", k=rng.randint(0, 2))
    rng.shuffle(sorts)
    kernel = random_kernel(
        rng, sorts, rng.randint(1, 8), spread=rng.choice([0.3, 1, 3]), thirds=seed % 5 == 0
    )
    if seed % 4 == 0:  # levels at any distances, which section 7 calls other
        places = [c for c, column in enumerate(kernel.columns) if "table" in column]
        for c in places:
            entries = [number(Fraction(rng.randint(-9, 9), 7)) for _ in kernel.columns[c]["table"]]
            kernel.columns[c] = {**kernel.columns[c], "table": entries}
    fixed = seed % 3 == 0
    cell = random_cell(rng, kernel)
    for k, (feature, relation) in enumerate(zip(kernel.features, kernel.relations, strict=True)):
        if relation == SAME:
            cell[k] = [interval(rng, feature)]
        elif not fixed:
            cell[k] = [interval(rng, feature), interval(rng, feature)]
        if relation not in (SAME, FREE) and "levels" not in feature:
            tolerance = Fraction(relation["tolerance"])
            limits = sorted([rng.randint(-4, 4) * tolerance / 4, rng.randint(-4, 4) * tolerance / 4])
            ends = [(-tolerance, tolerance), tuple(limits)]
            if feature["kind"] == "integer":
                ends = [(Fraction(-(-lo // 1)), Fraction(hi // 1)) for lo, hi in ends]
            cell[k].append(ends[0] if fixed or ends[-1][0] > ends[-1][1] else rng.choice(ends))
    return rng, kernel, cell, rng.choice([0, 1, 4, 16, 1024])


def pair_of(rng, kernel, cell):
    """A pair of the cell; None where a draw finds none."""
    x, other = [], []
    for feature, relation, intervals in zip(kernel.features, kernel.relations, cell, strict=True):
        whole = feature["kind"] != "continuous"

        def draw(lo, hi, whole=whole):
            if whole:
                return Fraction(rng.randint(int(lo), int(hi)))
            return lo + (hi - lo) * rng.choice([Fraction(0), Fraction(1), Fraction(rng.random())])

        code = again = draw(*intervals[0])
        if relation != SAME:
            (lo, hi), (low, high) = intervals[:2]
            p, q = intervals[2] if len(intervals) == 3 else (low - hi, high - lo)
            p, q = max(p, low - hi), min(q, high - lo)
            if "levels" in feature and relation != FREE:
                near = int(relation["tolerance"])
                p, q = max(p, Fraction(-near)), min(q, Fraction(near))
            if p > q:
                return None
            gap = draw(p, q)
            code = draw(max(lo, low - gap), min(hi, high - gap))
            again = code + gap
        x.append(code)
        other.append(again)
    return x, other


@seeds(30, 900)
def test_the_bound_is_that_of_the_specification_and_holds_for_every_pair(seed: int) -> None:
    rng, kernel, cell, width = drawn(seed)
    lemma, way = posed(rng, kernel)
    a, b, _ = read_way(number(way), lemma.asked)
    found = Chords(lemma).bound(read_way(number(way), lemma.asked), width, boxes(cell))
    pairs = [pair for pair in (pair_of(rng, kernel, cell) for _ in range(30)) if pair]
    if found is None:
        assert not pairs
        return
    sign = int(lemma.slope)
    expected, room = Bound(kernel, cell, width).bound(sign, a, b)
    with localcontext() as context:
        context.prec = 60
        bound = decimal(found)
        assert expected - room / 64 <= bound <= expected + room
        for x, other in pairs:
            s, again = (sign * (kernel.score(codes) - decimal(kernel.bias)) for codes in (x, other))
            assert decimal(a) * s - decimal(b) * again <= bound


@seeds(6, 120)
def test_whole_codes_one_by_one(seed: int) -> None:
    """Every pair of a cell of discrete features, where the margin is such that the leaf is only just accepted."""
    rng = random.Random(seed)
    kernel = random_kernel(rng, rng.choice(["Ii", "IHh", "HHg", "TIt", "Gih"]), rng.randint(1, 8))
    cell = random_cell(rng, kernel)
    for k, relation in enumerate(kernel.relations):
        feature = kernel.features[k]
        cell[k] = [interval(rng, feature) for _ in range(1 if relation == SAME else 2)]
        if relation not in (SAME, FREE) and "levels" not in feature:
            cell[k].append(rng.choice([(-2, 2), (-2, 0), (1, 2), (0, 0)]))
    way, sign, width = Fraction(rng.randint(0, 4), 4), rng.choice([1, -1]), rng.choice([0, 2, 16])
    zero = "lower" if sign > 0 else "upper"
    lemma = lemma_of(kernel.features, kernel.relations, decision(0), kernel.model(zero=zero))
    pairs = list(whole_pairs(kernel, cell))
    scores = [tuple(sign * kernel.score(codes) for codes in pair) for pair in pairs]
    low, high = Fraction(-20), Fraction(20)
    for _ in range(40):
        margin = (low + high) / 2
        rule = Chords(replace(lemma, asked=read_property({"property": decision(margin)}, lemma.space)))
        try:
            rule(["chords", number(way), width], boxes(cell))
        except LeafRefused:
            low = margin
            continue
        high = margin
        assert not any(s > decimal(margin) and other <= -decimal(margin) for s, other in scores)
    assert high < 20


@seeds(20, 60)
def test_lines_are_on_their_side(seed: int) -> None:
    """Chords above and tangents below, with all their rounding, also of terms that are hardly there, and of points."""
    rng = random.Random(seed)
    low = rng.choice([0, 1, rng.randrange(1 << EXPONENT), rng.randrange(80 << EXPONENT)])
    high = low + rng.choice([0, 1, 2, rng.randrange(1 << 20), rng.randrange(1 << EXPONENT), 50 << EXPONENT])
    c = rng.choice(
        [1, 7, rng.randrange(1 << 40), rng.randrange(1 << WEIGHT), rng.randrange(1 << WEIGHT + 20)]
    )
    with localcontext() as context:
        context.prec = 80
        unit = Decimal(1 << WEIGHT)
        for sign, line in ((1, _chord), (-1, _tangent)):
            level, slope, place = line(c, low, high)
            for n in range(41):
                q = low + (high - low) * n // 40
                value = Decimal(level) + Decimal(slope) * (q - place) / (1 << EXPONENT)
                true = sign * c * (-Decimal(q) / (1 << EXPONENT)).exp()
                assert value >= true
            assert value <= c + 40 * unit * Decimal(2) ** -80 + c * Decimal(2) ** -40


@seeds(30, 200)
def test_parabolas_over_polygons(seed: int) -> None:
    """No point of a grid is above the maximum, and the maximum is attained, up to the grid."""
    rng = random.Random(seed)
    draw = lambda: Fraction(rng.randint(-8, 8), rng.randint(1, 3))  # noqa: E731
    u, v = (Parabola(draw(), draw(), draw()) for _ in range(2))
    if seed % 7 == 0:
        u = Parabola(0, rng.choice([0, 1]), 0)
    first, second = (tuple(sorted([draw(), draw()])) for _ in range(2))
    apart = tuple(sorted([draw(), draw()]))
    p, q = max(apart[0], second[0] - first[1]), min(apart[1], second[1] - first[0])
    if p > q:
        return
    found = largest_apart(u, v, first, second, (p, q))
    best, steps = None, 24
    for i, j in product(range(steps + 1), repeat=2):
        d = p + (q - p) * Fraction(i, steps)
        lo, hi = max(first[0], second[0] - d), min(first[1], second[1] - d)
        x = lo + (hi - lo) * Fraction(j, steps)
        value = u.at(x) + v.at(x + d)
        assert value <= found
        best = value if best is None or value > best else best
    steep = sum(2 * abs(f.a) * 16 + abs(f.b) for f in (u, v))
    assert found - best <= 2 * steep * 16 / steps


FEATURES = [
    categorical("group", "abc"),
    continuous("z", 0, 4),
    categorical("colour", "rgb"),
    integer("n", 0, 9),
]
RELATIONS = [FREE, SAME, SAME, within(1)]
COLUMNS = [
    *[tabled(0, [1 if v == u else 0 for v in range(3)]) for u in range(3)],
    sloped(1, HALF),
    tabled(2, [0, Fraction(1, 3), 1]),
    tabled(2, [1, 0, Fraction(1, 5)]),  # at any distances
    sloped(3, Fraction(1, 5)),
]
TERMS = [(1, [1, 0, 0, 0, 0, 1, 0]), (-HALF, [0, 0, 1, 1, 1, 0, 1])]
MODEL = rbf(Fraction(1, 4), Fraction(1, 8), COLUMNS, TERMS)
CELL = [[(0, 2), (0, 2)], [(0, 4)], [(0, 2)], [(0, 9), (0, 9), (-1, 1)]]
LEAF = ["chords", "1/2", 16]


def rule(prop=None):
    return Chords(lemma_of(FEATURES, RELATIONS, prop or score(3), MODEL))


def changed(**intervals):
    names = ["group", "z", "colour", "n"]
    return boxes([intervals.get(name, old) for name, old in zip(names, CELL, strict=True)])


def test_a_leaf_of_a_whole_space() -> None:
    assert rule()(LEAF, boxes(CELL)).clearance == 0
    with pytest.raises(LeafRefused, match="does not separate"):
        rule(score(Fraction(1, 10)))(LEAF, boxes(CELL))


@pytest.mark.parametrize(
    "leaf",
    [
        ["chords", "1/2"],
        ["chords", "1/2", 16, 0],
        ["chords", "1/2", -1],
        ["chords", "1/2", 1025],
        ["chords", "1/2", True],
        ["chords", "1/2", "16"],
        ["chords", "1/2", [16]],
        ["chords", "2/3", 16],
        ["chords", 1, 16],
    ],
)
def test_malformed_leaves_are_rejected_even_in_empty_cells(leaf) -> None:
    for cell in (boxes(CELL), changed(n=[(0, 1), (5, 9), (-1, 1)])):
        with pytest.raises(Rejected):
            rule()(leaf, cell)


@pytest.mark.parametrize(
    "boxed",
    [
        {"n": [(0, 1), (3, 9), (-1, 1)]},
        {"n": [(3, 3), (5, 5), (-1, 1)], "group": [(0, 0), (1, 1)]},
        {"n": [(3, 3), (4, 4), (-1, 0)], "group": [(0, 0), (1, 1)]},
        {"n": [(0, 9), (0, 3), (1, 1)], "group": [(0, 0), (0, 2)]} | {"n": [(9, 9), (0, 3), (1, 1)]},
    ],
)
def test_cells_without_pairs_hold(boxed) -> None:
    assert rule(score(0))(LEAF, changed(**boxed)).clearance is None


def test_levels_that_no_pair_has_hold() -> None:
    """Of a relation of allowed pairs, in both copies."""
    relations = [{"kind": "pairs", "allowed": [[0, 1]]}, *RELATIONS[1:]]
    asked = Chords(lemma_of(FEATURES, relations, score(0), MODEL))
    assert asked(LEAF, changed(group=[(0, 1), (2, 2)])).clearance is None
    assert asked(LEAF, changed(group=[(0, 0), (2, 2)], n=[(1, 1), (1, 1), (-1, 1)])).clearance is None
    with pytest.raises(LeafRefused):
        asked(LEAF, changed(group=[(0, 1), (1, 2)]))


def test_equal_individuals_differ_by_nothing() -> None:
    """Where all that may differ is fixed and the same, no term is left, and any score gap is allowed but none at all."""
    cell = changed(group=[(1, 1), (1, 1)], n=[(4, 4), (4, 4), (-1, 1)])
    assert rule(score(Fraction(1, 10**30)))(LEAF, cell).clearance == 0
    with pytest.raises(LeafRefused):
        rule(score(0))(LEAF, cell)


def test_the_order_of_rules_changes_nothing() -> None:
    """Both rules keep what they prepared with the body, whichever comes first."""
    from likewise_check.packs.kernel.rule import Kernel

    for first, second in ((Kernel, Chords), (Chords, Kernel)):
        lemma = lemma_of(FEATURES, RELATIONS, score(3), MODEL)
        first(lemma), second(lemma)
        assert Chords(lemma)(LEAF, boxes(CELL)).clearance == 0


def test_what_is_kept_between_leaves_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 1)
    asked = rule()
    for z in ([(0, 1)], [(1, 4)], [(0, 4)]):
        assert asked(LEAF, changed(z=z)).clearance == 0


def test_a_proof_and_lies_about_it() -> None:
    nodes = [["split", 2, "2"], LEAF, ["split", 3, "0"], LEAF, ["chords", "1/2", 0]]
    values = proof(FEATURES, RELATIONS, score(3), MODEL, nodes)
    for jobs in (1, 2):
        report = checked(values, jobs=jobs)
        assert report.accepted, report.reason
        assert report.rules == {"chords": 3}
        assert "kernel" in report.packs
    for raw in sealed(values):
        LINE.validate(json.loads(raw))
    for line, entry in ((5, ["split", 2, "2"]), (6, ["chords", "1/2", 16, 1]), (6, ["chord", "1/2", 16])):
        lied = proof(FEATURES, RELATIONS, score(3), MODEL, nodes)
        lied[line] = entry
        assert checked(lied).accepted == (line == 5)
    tight = proof(FEATURES, RELATIONS, score(Fraction(1, 100)), MODEL, nodes)
    assert "does not separate" in checked(tight).reason
