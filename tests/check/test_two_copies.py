"""The rule `kernel` in cells of two copies, and differences as variables of a cell."""

import json
import random
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import product
from math import exp

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
    line,
    number,
    ordinal,
    probability,
    proof,
    score,
    sealed,
    within,
)
from tests.check.kernels import (
    Kernel,
    boxes,
    decimal,
    hint_count,
    lemma_of,
    random_cell,
    random_kernel,
    rbf,
    seeds,
    sloped,
    tabled,
)
from tests.check.section7 import Bound, chord_of, is_fixed, is_paired, limits
from tests.check.test_schema import LINE

from likewise_check.core.bound import read_way
from likewise_check.core.cells import LeafRefused, Tree
from likewise_check.core.fields import Rejected
from likewise_check.core.properties import read_property
from likewise_check.packs.kernel import rule as module
from likewise_check.packs.kernel.cubics import CUBIC, EXPONENT, GRID, SLACK, chord, shift_cubic
from likewise_check.packs.kernel.rule import Kernel as Rule


def drawn_interval(rng, feature, place: Fraction, width: float):
    """An interval around the place, or the place alone."""
    lo, hi = Fraction(feature["lo"]), Fraction(feature["hi"])
    if rng.random() < 0.15:
        return place, place
    if feature["kind"] == "integer":
        return max(lo, place - rng.randint(0, 2)), min(hi, place + rng.randint(0, 2))
    size = Fraction(width) * (hi - lo)
    return max(lo, place - size * Fraction(rng.random())), min(hi, place + size * Fraction(rng.random()))


def drawn(seed: int, most_terms: int = 10):
    """A random model with features that are paired, a cell of two copies that is not empty, hints and a tangent."""
    rng = random.Random(seed)
    sorts = rng.choices("cithhl", k=rng.randint(0, 3)) + rng.choices("CI", k=rng.randint(1, 2))
    sorts += rng.choices("HTL", k=rng.randint(0, 1))
    rng.shuffle(sorts)
    kernel = random_kernel(rng, sorts, rng.randint(1, most_terms), thirds=seed % 5 == 0)
    width = rng.choice([1e-12, 0.003, 0.05, 0.3])
    cell = random_cell(rng, kernel, width=width)
    paired = [k for k, sort in enumerate(sorts) if sort in "CI"]
    for n, k in enumerate(paired):
        feature, whole = kernel.features[k], sorts[k] == "I"
        x, other = cell[k][0][0], cell[k][1][0]
        if rng.random() < 0.5:  # near each other
            other = x if whole else min(Fraction(feature["hi"]), x + Fraction(width * rng.random()))
        if n or rng.random() < 0.9:
            tolerance = Fraction(rng.randint(1, 3)) if whole else Fraction(rng.randint(1, 9), 3)
            tolerance = max(tolerance, abs(other - x))
            kernel.relations[k] = within(tolerance)
            low = Fraction(rng.randint(0, 2)) if whole else Fraction(width * rng.random())
            high = Fraction(rng.randint(0, 2)) if whole else Fraction(width * rng.random())
            ends = max(-tolerance, other - x - low), min(tolerance, other - x + high)
            limit = [rng.choice([(-tolerance, tolerance), ends, (other - x, other - x)])]
        else:
            kernel.relations[k], limit = FREE, []
        intervals = [drawn_interval(rng, feature, place, width) for place in (x, other)]
        cell[k] = intervals + limit
    if all(is_fixed(cell[k]) for k in paired):
        lo, hi = kernel.features[paired[0]]["lo"], kernel.features[paired[0]]["hi"]
        cell[paired[0]][0] = Fraction(lo), Fraction(hi)
    count = hint_count(kernel, cell)
    hints = [rng.randint(-64, 64) for _ in range(count)]
    if rng.random() < 0.5:
        hints = [0] * count
    return rng, kernel, cell, hints, rng.choice([0, 3, 100, 1024, 3000])


def posed(rng, kernel):
    """A claim about the kernel, and a way."""
    kind = rng.choice([decision, score, probability])
    zero = rng.choice(["lower", "upper"])
    if kind is decision:
        way, prop = Fraction(rng.randint(0, 8), 8), decision(Fraction(rng.randint(-9, 9), 10))
    elif kind is score:
        way, prop = Fraction(1, 2), score(Fraction(rng.randint(0, 9), 10))
    else:
        delta = Fraction(rng.randint(1, 9), 10)
        way, prop = (1 - delta) * Fraction(rng.randint(1, 63), 64), probability(delta)
    return lemma_of(kernel.features, kernel.relations, prop, kernel.model(zero=zero)), way


def sampled(rng, kernel: Kernel, cell):
    """A pair of the cell."""
    x, other = [], []
    for feature, relation, intervals in zip(kernel.features, kernel.relations, cell, strict=True):
        discrete = feature["kind"] != "continuous"

        def draw(lo, hi, discrete=discrete):
            if discrete:
                return Fraction(rng.randint(int(lo), int(hi)))
            return lo + (hi - lo) * rng.choice([Fraction(0), Fraction(1), Fraction(rng.random())])

        code = draw(*intervals[0])
        if relation == SAME:
            again = code
        elif not is_paired(feature, relation, intervals):
            again = intervals[1][0]
        else:
            (lo, hi), (low, high) = intervals[:2]
            p, q = intervals[2] if len(intervals) == 3 else (low - hi, high - lo)
            gap = draw(max(p, low - hi), min(q, high - lo))
            code = draw(max(lo, low - gap), min(hi, high - gap))
            again = code + gap
        x.append(code)
        other.append(again)
    return x, other


@seeds(15, 500)
def test_the_bound_is_that_of_the_specification_and_holds_for_every_pair(seed: int) -> None:
    rng, kernel, cell, hints, tangent = drawn(seed)
    lemma, way = posed(rng, kernel)
    a, b, threshold = read_way(number(way), lemma.asked)
    bound, bits = Rule(lemma).bound(["kernel", number(way), hints, tangent], boxes(cell))
    true = Bound(kernel, cell, hints)
    expected, room = true.phi(int(lemma.slope), a, b, threshold, tangent)
    with localcontext() as context:
        context.prec = 60
        found = decimal(Fraction(bound, 2**bits))
        # Loads are rounded either way, by which the formula may fall a little; what counts is that no pair is above it.
        assert expected - room / 64 <= found <= expected + room
        for _ in range(30):
            x, other = sampled(rng, kernel, cell)
            s, again = (int(lemma.slope) * kernel.score(codes) for codes in (x, other))
            beyond = decimal(a) * s - decimal(b) * again - decimal(threshold)
            assert decimal(true.gamma_r(x, other)).exp() * beyond <= found


@seeds(4, 100)
def test_whole_numbers_one_by_one(seed: int) -> None:
    """Every pair of a cell of integer features, where the margin is such that the leaf is only just accepted."""
    rng = random.Random(seed)
    kernel = random_kernel(rng, rng.choice(["Ii", "IIh", "IH", "ITi"]), rng.randint(1, 8))
    cell = random_cell(rng, kernel)
    for k, relation in enumerate(kernel.relations):
        if relation != SAME and kernel.features[k]["kind"] == "integer":
            ends = [sorted([rng.randint(0, 4), rng.randint(0, 4)]) for _ in range(2)]
            cell[k] = [*map(tuple, ends), rng.choice([(-2, 2), (-2, 0), (1, 2), (0, 0)])]
    way, sign = Fraction(rng.randint(0, 4), 4), rng.choice([1, -1])
    low, high, tangent = Fraction(-9), Fraction(9), rng.choice([0, 50])
    hints = [rng.randint(-9, 9) for _ in range(hint_count(kernel, cell))]
    lemma = lemma_of(
        kernel.features, kernel.relations, decision(0), kernel.model(zero="lower" if sign > 0 else "upper")
    )
    pairs = list(whole_pairs(kernel, cell))
    scores = [tuple(sign * kernel.score(codes) for codes in pair) for pair in pairs]
    for _ in range(40):
        margin = (low + high) / 2
        rule = Rule(replace(lemma, asked=read_property({"property": decision(margin)}, lemma.space)))
        try:
            rule(["kernel", number(way), hints, tangent], boxes(cell))
        except LeafRefused:
            low = margin
            continue
        high = margin
        assert not any(s > decimal(margin) and other <= -decimal(margin) for s, other in scores)
    assert high < 9
    empty = rule.bound(["kernel", number(way), hints, tangent], boxes(cell)) is None
    assert not (empty and pairs)


def whole_pairs(kernel: Kernel, cell):
    choices = []
    for relation, intervals in zip(kernel.relations, cell, strict=True):
        codes = [range(int(lo), int(hi) + 1) for lo, hi in intervals[:2]]
        if relation == SAME:
            choices.append([(x, x) for x in codes[0]])
            continue
        p, q = intervals[2] if len(intervals) == 3 else (-9, 9)
        tolerance = int(relation.get("tolerance", 9))
        near = [(x, y) for x, y in product(*codes) if p <= y - x <= q and abs(y - x) <= tolerance]
        choices.append(near)
    for chosen in product(*choices):
        yield [Fraction(x) for x, _ in chosen], [Fraction(y) for _, y in chosen]


def test_chords() -> None:
    rng = random.Random(0)
    with localcontext() as context:
        context.prec = 80
        for i in [0, 1, 2, 3, 17, 512, 1024, 1025, 5000, 64 * GRID]:
            h = Decimal(i) / GRID + Decimal(SLACK) / (1 << EXPONENT)
            *slopes, eps = chord(i)
            k = rng.randint(0, int(h * (1 << EXPONENT)))
            p = [Decimal(x) / (1 << CUBIC) for x in shift_cubic((0, *slopes), k)]
            room = Decimal(eps) / (1 << CUBIC)
            _, true = chord_of(Fraction(i, GRID))
            assert true <= room <= true + (h + 3) ** 2 * h.exp() * Decimal(2) ** -40
            for step in range(-100, 101):
                at = h * step / 100
                z = at + Decimal(k) / (1 << EXPONENT)
                assert abs(at.exp() - (p[1] + z * (2 * p[2] + z * 3 * p[3]))) <= room


FEATURES = [
    continuous("x", 0, 1),
    integer("n", 0, 3),
    ordinal("grade", "abcd"),
    categorical("colour", "rgb"),
    continuous("z", 0, 1),
]
RELATIONS = [within(Fraction(1, 2)), within(1), within(1), SAME, SAME]
HOT = [tabled(3, [1 if v == u else 0 for v in range(3)]) for u in range(3)]
COLUMNS = [
    sloped(0),
    sloped(1, Fraction(1, 4)),
    tabled(2, [0, Fraction(1, 4), Fraction(1, 2), 1]),
    *HOT,
    sloped(4, Fraction(1, 2)),
]
TERMS = [(1, [0, 0, 0, 1, 0, 0, 0]), (Fraction(-1, 2), [1, Fraction(1, 2), 1, 0, 0, 1, Fraction(1, 4)])]
MODEL = rbf(Fraction(1, 4), Fraction(1, 8), COLUMNS, TERMS)
# Two variables each of x, n and grade, one each of colour and z, then the differences of x and n.
X, OTHER_X, N, OTHER_N, GRADE, OTHER_GRADE, COLOUR, Z, APART_X, APART_N = range(10)
HALF = Fraction(1, 2)
CELL = [
    [(0, 1), (0, 1), (-HALF, HALF)],
    [(0, 3), (0, 3), (-1, 1)],
    [(1, 1), (2, 2)],
    [(0, 2)],
    [(0, 1)],
]
LEAF = ["kernel", "1/2", [0] * 7, 0]


def rule(prop=None, model=MODEL, features=FEATURES, relations=RELATIONS):
    return Rule(lemma_of(features, relations, prop or score(3), model))


def changed(**intervals):
    """CELL with other boxes, by name."""
    names = ["x", "n", "grade", "colour", "z"]
    return boxes([intervals.get(name, old) for name, old in zip(names, CELL, strict=True)])


def test_a_leaf_of_two_copies() -> None:
    assert rule()(LEAF, boxes(CELL)).clearance == 0
    with pytest.raises(LeafRefused, match="not below 0"):
        rule(score(0))(LEAF, boxes(CELL))


@pytest.mark.parametrize(
    "leaf",
    [
        ["kernel", "1/2", [0] * 6, 0],
        ["kernel", "1/2", [0] * 8, 0],
        ["kernel", "1/2", [0], 0],
        ["kernel", "1/2", [0] * 6 + [65], 0],
        ["kernel", "1/2", [-65] + [0] * 6, 0],
        ["kernel", "1/2", [0] * 6 + [True], 0],
        ["kernel", "1/2", [0] * 7, -1],
        ["kernel", "2/3", [0] * 7, 0],
        ["kernel", "1/2", [0] * 7],
    ],
)
def test_malformed_leaves_are_rejected_even_in_empty_cells(leaf) -> None:
    for cell in (boxes(CELL), changed(x=[(0, Fraction(1, 4)), (Fraction(1, 2), 1), (-HALF, Fraction(1, 8))])):
        with pytest.raises(Rejected):
            rule()(leaf, cell)


@pytest.mark.parametrize(
    ("n", "count"),
    [
        ([(1, 1), (2, 2), (-1, 1)], 4),
        ([(1, 1), (1, 2), (-1, 1)], 7),
        ([(0, 1), (1, 1), (-1, 1)], 7),
        ([(0, 3), (0, 3), (0, 0)], 7),
    ],
)
def test_three_hints_for_each_feature_that_is_not_fixed(n, count) -> None:
    for size in (4, 7):
        leaf = ["kernel", "1/2", [0] * size, 0]
        if size == count:
            assert rule()(leaf, changed(n=n)).clearance == 0
        else:
            with pytest.raises(Rejected):
                rule()(leaf, changed(n=n))


@pytest.mark.parametrize("grade", [[(0, 1), (1, 1)], [(1, 1), (0, 3)], [(0, 3), (0, 3)]])
def test_levels_that_may_differ_must_be_fixed(grade) -> None:
    with pytest.raises(LeafRefused, match="not down to one value"):
        rule()(LEAF, changed(grade=grade))


@pytest.mark.parametrize(
    "boxed",
    [
        {"x": [(0, Fraction(1, 4)), (Fraction(7, 8), 1), (-HALF, HALF)]},
        {"x": [(Fraction(7, 8), 1), (0, Fraction(1, 4)), (-HALF, HALF)]},
        {"x": [(0, 1), (0, Fraction(1, 4)), (Fraction(3, 8), HALF)]},
        {"x": [(Fraction(7, 8), 1), (0, 1), (Fraction(1, 4), HALF)]},
        {"n": [(0, 1), (2, 3), (-1, 0)]},
        {"n": [(3, 3), (0, 3), (1, 1)]},
        {"grade": [(0, 0), (2, 2)]},
        {"grade": [(3, 3), (0, 0)]},
    ],
)
def test_cells_without_pairs_hold(boxed) -> None:
    """Whatever the score does; and their clearance is infinite, as is that of empty leaves."""
    assert rule(score(0))(LEAF, changed(**boxed)).clearance is None


def test_one_copy_without_pairs_holds() -> None:
    fixed = {"x": [(0, 0), (HALF, HALF), (-HALF, HALF)], "n": [(1, 1), (1, 1), (-1, 1)]}
    leaf = ["kernel", "1/2", [0], 0]
    with pytest.raises(LeafRefused):
        rule(score(0))(leaf, changed(**fixed))
    for more in (
        {"grade": [(0, 0), (3, 3)]},
        {"n": [(1, 1), (3, 3), (-1, 1)]},
        {"n": [(1, 1), (2, 2), (-1, 0)]},
        {"x": [(0, 0), (HALF, HALF), (0, Fraction(1, 4))]},
    ):
        assert rule(score(0))(leaf, changed(**{**fixed, **more})).clearance is None


def test_touching_cells_are_not_empty() -> None:
    touching = [[(0, Fraction(1, 4)), (Fraction(3, 4), 1), (-HALF, HALF)], [(0, 0), (0, 1), (1, 1)]]
    assert limits(touching[0]) == ((HALF, HALF), (Fraction(1, 4), Fraction(1, 4)))
    assert rule()(LEAF, changed(x=touching[0], n=touching[1])).clearance == 0


@pytest.mark.parametrize("columns", [[], [sloped(0, 0, 3)]])
def test_features_that_the_score_does_not_depend_on(columns) -> None:
    """They take their hints all the same, and have no axes."""
    features, relations = [continuous("x", 0, 1), continuous("z", 0, 1)], [within(HALF), FREE]
    model = rbf(1, 0, [*columns, sloped(1)], [(1, [2] * len(columns) + [1])])
    cell = boxes([[(0, 1), (0, 1), (-HALF, HALF)], [(0, 0), (HALF, HALF)]])
    asked = rule(score(2), model, features, relations)
    bound, bits = asked.bound(["kernel", "1/2", [9, 9, 9], 0], cell)
    alone = rule(score(2), rbf(1, 0, [sloped(0)], [(1, [1])]), [continuous("z", 0, 1)], [FREE])
    other, other_bits = alone.bound(["kernel", "1/2", [], 0], boxes([[(0, 0), (HALF, HALF)]]))
    scale = exp(-1) if columns else 1.0
    assert abs(bound / 2**bits + 1 - scale * (other / 2**other_bits + 1)) < 1e-9


def test_equal_copies_differ_by_nothing() -> None:
    """Where the difference is fixed at 0 and nothing else differs, the bound of F is the rounding alone."""
    features, relations = [continuous("x", 0, 1), continuous("z", 0, 1)], [within(HALF), SAME]
    model = rbf(1, 0, [sloped(0), sloped(1)], [(3, [0, 1]), (-2, [1, 0])])
    asked = rule(score(0), model, features, relations)
    bound, bits = asked.bound(["kernel", "1/2", [0] * 4, 0], boxes([[(0, 1), (0, 1), (0, 0)], [(0, 1)]]))
    assert 0 < bound / 2**bits < 1e-9


def test_cells_that_are_too_large_are_refused() -> None:
    asked = rule(score(2), rbf(1, 0, [sloped(0)], [(1, [0])]), [continuous("x", 0, 10**6)], [FREE])
    with pytest.raises(LeafRefused, match="an exponent varies"):
        asked(["kernel", "1/2", [0] * 3, 0], boxes([[(0, 10**6), (0, 10**6)]]))


def test_what_is_kept_between_leaves_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 1)
    asked = rule()
    for x in ([(0, HALF), (0, 1), (-HALF, HALF)], [(0, 1), (0, 1), (0, HALF)]):
        assert asked(LEAF, changed(x=x)).clearance == 0


def test_variables_of_differences() -> None:
    """They come last, in feature order, for numbers within a tolerance alone."""
    lemma = lemma_of(FEATURES, RELATIONS, score(3), MODEL)
    tree = Tree(lemma.space, lemma.similarity)
    assert [len(box.difference) for box in tree.cell] == [1, 1, 0, 0, 0]
    assert tree.cell[0].difference == ((-HALF, HALF),)
    assert tree.cell[1].difference == ((-1, 1),)
    tree.split(APART_X, Fraction(1, 4))
    tree.split(APART_N, Fraction(0))
    assert tree.cell[0].difference == ((-HALF, Fraction(1, 4)),)
    assert tree.cell[1].difference == ((-1, 0),)
    assert tree.cell[1].intervals == ((0, 3), (0, 3))
    tree.split(N, Fraction(1))
    assert (tree.cell[1].intervals, tree.cell[1].difference) == (((0, 1), (0, 3)), ((-1, 0),))
    for variable, place in ((APART_X, Fraction(1, 4)), (APART_N, Fraction(0)), (APART_N, Fraction(-1, 2))):
        with pytest.raises(Rejected):
            tree.split(variable, place)
    with pytest.raises(Rejected, match="from 0 to 9"):
        tree.split(APART_N + 1, Fraction(0))
    tree.close()
    assert tree.cell[1].intervals == ((2, 3), (0, 3))
    tree.close()
    assert (tree.cell[1].intervals, tree.cell[1].difference) == (((0, 3), (0, 3)), ((1, 1),))
    tree.close()
    assert tree.cell[0].difference == ((Fraction(1, 4), HALF),)
    assert tree.cell[1].difference == ((-1, 1),)
    tree.close()
    assert tree.complete


def nodes_by_grade(leaf):
    """Splits the grades down to one value each, in both copies, and the differences of x and n."""

    def of_grades(variable, lo, hi, inner):
        if lo == hi:
            return inner
        middle = (lo + hi) // 2
        return [
            ["split", variable, str(middle)],
            *of_grades(variable, lo, middle, inner),
            *of_grades(variable, middle + 1, hi, inner),
        ]

    inner = [["split", APART_X, "0"], leaf, ["split", APART_N, "-1"], leaf, leaf]
    return of_grades(GRADE, 0, 3, of_grades(OTHER_GRADE, 0, 3, inner))


def test_a_proof_by_leaves_of_two_copies() -> None:
    values = proof(FEATURES, RELATIONS, score(3), MODEL, nodes_by_grade(LEAF))
    for jobs in (1, 2):
        report = checked(values, jobs=jobs)
        assert report.accepted, report.reason
        assert report.rules == {"kernel": 48}
        assert report.clearance == 0
    values[3]["property"]["delta"] = "1/100"
    assert "not below 0" in checked(values).reason


def test_a_claim_about_nobody_is_refused() -> None:
    """Where x = x' is excluded by a constraint and all else by the differences, no leaf has seen a pair."""
    features, relations = [integer("n", 0, 1)], [within(1)]
    model = rbf(1, 0, [sloped(0)], [(1, [0])])
    never = [constraint([(0, 0)], -1)]
    kernel = ["kernel", "1/2", [], 0]
    nodes = [
        ["split", 0, "0"],
        ["split", 1, "0"],
        ["empty", ["1", "0"]],
        ["split", 2, "0"],
        kernel,
        ["empty", ["1", "0"]],
        ["empty", ["1", "0"]],
    ]
    report = checked(proof(features, relations, score(2), model, nodes, constraints=never))
    assert "nobody" in report.reason
    report = checked(
        proof(features, relations, score(2), model, [*nodes[:2], kernel, *nodes[3:]], constraints=never)
    )
    assert "nobody" in report.reason  # also where a leaf takes others for pairs


def test_other_rules_leave_differences_aside() -> None:
    features, relations = [continuous("x", 0, 1), integer("n", 0, 2)], [within(HALF), within(1)]
    model = affine(0, [line(0, 1), line(1, 1)])
    separable, split = ["separable", "1/2"], ["split", 4, "0"]
    for delta, right in ((Fraction(3, 2), True), (Fraction(5, 4), False)):
        values = proof(features, relations, score(delta), model, [split, separable, separable])
        assert checked(values).accepted == right
    enumerated = [["split", 2, "0"], ["enumerated"], ["enumerated"]]
    values = proof([features[1]], [within(1)], score(1), affine(0, [line(0, 1)]), enumerated)
    report = checked(values)
    assert report.accepted, report.reason
    assert report.rules == {"enumerated": 2}
    steady = proof(features, relations, score(0), affine(0, []), [split, ["independent"], ["independent"]])
    assert checked(steady).accepted


def test_lines_of_two_copies_fit_the_schema() -> None:
    for raw in sealed(proof(FEATURES, RELATIONS, score(3), MODEL, nodes_by_grade(LEAF))):
        LINE.validate(json.loads(raw))


def grown(rng, asked: Rule, cell) -> list | None:
    """A proof of the cell: kernel leaves, splits of any variable where they are refused; None where nothing is left to split."""
    moves = [any(lo != hi for lo, hi in intervals[:2]) for intervals in cell]
    hints = [rng.randint(-20, 20) for _ in range(3 * moves[0] + moves[1])]
    leaf = ["kernel", "1/2", hints, 0]
    try:
        asked(leaf, boxes(cell))
    except LeafRefused:
        numbered = [
            (0, 0),
            (0, 1),
            (1, 0),
            (2, 0),
            (0, 2),
        ]  # the variables: feature and which of its intervals
        wide = [
            n
            for n, (k, side) in enumerate(numbered)
            if cell[k][side][0] < cell[k][side][1] and (side < 2 or moves[0])
        ]
        if not wide:
            return None
        variable = rng.choice(wide)
        k, side = numbered[variable]
        lo, hi = cell[k][side]
        at = rng.randrange(lo, hi)
        children = []
        for ends in ((lo, at), (at + 1, hi)):
            intervals = [ends if n == side else old for n, old in enumerate(cell[k])]
            child = grown(rng, asked, [*cell[:k], intervals, *cell[k + 1 :]])
            if child is None:
                return None
            children += child
        return [["split", variable, str(at)], *children]
    return [leaf]


@seeds(3, 40)
def test_proofs_of_small_spaces_agree_with_all_pairs(seed: int) -> None:
    """Grown by splits of codes and of differences: above the largest gap there is a proof, at 0.99 of it there is none."""
    rng = random.Random(seed)
    kernel = random_kernel(rng, "Iih", rng.randint(2, 5))
    kernel.relations[0] = within(1)
    cell = [[(0, 4), (0, 4), (-1, 1)], [(0, 4)], [(0, len(kernel.features[2]["levels"]) - 1)]]
    gap = Fraction(max(kernel.score(x) - kernel.score(y) for x, y in whole_pairs(kernel, cell)))
    for factor in (Fraction(11, 10), Fraction(99, 100)):
        delta = score((gap * factor).limit_denominator(10**9))
        asked = rule(delta, kernel.model(), kernel.features, kernel.relations)
        nodes = grown(rng, asked, cell)
        assert (nodes is None) == (factor < 1)
        if nodes:
            report = checked(proof(kernel.features, kernel.relations, delta, kernel.model(), nodes))
            assert report.accepted, report.reason
            nodes[-1] = [*nodes[-1][:2], [*nodes[-1][2], 0], 0]
            assert not checked(
                proof(kernel.features, kernel.relations, delta, kernel.model(), nodes)
            ).accepted
