"""The rule `kernel`: no accepted leaf holds a witness, whatever its hints; and it accepts what leaves the stated room."""

import random
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

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
    ordinal,
    probability,
    proof,
    score,
)
from tests.check.kernels import (
    boxes,
    decimal,
    hint_count,
    lemma_of,
    random_cell,
    random_kernel,
    rbf,
    samples,
    seeds,
    sloped,
    tabled,
)
from tests.check.section7 import Bound

from likewise_check.core.bound import read_way
from likewise_check.core.cells import LeafRefused
from likewise_check.core.fields import Rejected
from likewise_check.core.properties import read_property
from likewise_check.packs.axes import cubic_maximum
from likewise_check.packs.kernel import cubics
from likewise_check.packs.kernel import rule as module
from likewise_check.packs.kernel.choices import Choice, Groups
from likewise_check.packs.kernel.cubics import (
    CUBIC,
    DECAY_ERROR,
    EXPONENT,
    GRID,
    SLACK,
    WEIGHT,
    decay,
    largest_at,
    one_sided,
    shift_cubic,
)
from likewise_check.packs.kernel.lanes import Lanes, dots, tails_of
from likewise_check.packs.kernel.majorant import Majorant, terms_error
from likewise_check.packs.kernel.rule import Kernel as Rule

SORTS = "ccithhhl"


def drawn(seed: int, most_terms: int = 40, kinds: str = SORTS):
    """A random model of one to five features that agree and one or two that may differ, and a cell."""
    rng = random.Random(seed)
    sorts = [rng.choice(kinds) for _ in range(rng.randint(1, 5))] + rng.choices("HCITL", k=rng.randint(1, 2))
    rng.shuffle(sorts)
    kernel = random_kernel(rng, sorts, rng.randint(1, most_terms), thirds=seed % 5 == 0)
    cell = random_cell(rng, kernel, width=rng.choice([1e-12, 0.01, 0.2, 0.5]))
    hints = [rng.randint(-64, 64) for _ in range(hint_count(kernel, cell))]
    return rng, kernel, cell, hints, rng.choice([0, 3, 100, 1024, 3000])


def asked(rng, kernel):
    """A property and a way that fits it; the property's bound is to be filled in."""
    kind = rng.choice(["decision", "score", "probability"])
    if kind == "decision":
        return decision, Fraction(rng.randint(0, 8), 8), rng.choice(["lower", "upper"])
    if kind == "score":
        return score, Fraction(1, 2), "upper"
    return probability, Fraction(rng.randint(1, 63), 64), "lower"


def holds(rule, leaf, cell) -> bool:
    try:
        rule(leaf, cell)
    except LeafRefused:
        return False
    return True


def in_witness_set(prop, s: Decimal, other: Decimal) -> bool:
    """(s, s') in W by more than the error of the decimals."""
    bound = decimal(Fraction(prop.get("margin") or prop.get("delta")))
    tiny = Decimal(10) ** -50
    with localcontext() as context:
        context.prec = 80
        if prop["kind"] == "decision":
            return s > bound + tiny and other <= -bound - tiny
        if prop["kind"] == "score":
            return s - other > bound + tiny
        return 1 / (1 + (-s).exp()) - 1 / (1 + (-other).exp()) > bound + tiny


@seeds(6, 150)
def test_no_accepted_leaf_holds_a_witness(seed: int) -> None:
    """The property's bound is moved to where the leaf is just accepted: the sampled points must not break it there."""
    assert_no_witness_is_accepted(*drawn(seed))


def assert_no_witness_is_accepted(rng, kernel, cell, hints, tangent) -> None:
    make, way, zero = asked(rng, kernel)
    low, high = (Fraction(-40), Fraction(40)) if make is decision else (Fraction(0), Fraction(40))
    if make is probability:
        low, high = Fraction(1, 1000), 1 - way
    accepted = 0
    lemma = lemma_of(kernel.features, kernel.relations, make(low), kernel.model(zero=zero))
    turned = lemma.slope < 0  # g = -f
    pairs = [
        tuple(kernel.score(codes).copy_negate() if turned else kernel.score(codes) for codes in pair)
        for pair in samples(rng, kernel, cell, 40)
    ]
    rule = Rule(lemma)
    for _ in range(30):  # to about 10^-7
        middle = (low + high) / 2
        if make is probability and not 0 < middle < 1 - way:
            break
        prop = make(middle)
        rule._lemma = replace(lemma, asked=read_property({"property": prop}, lemma.space))
        if not holds(rule, ["kernel", number(way), hints, tangent], boxes(cell)):
            low = middle
            continue
        high = middle
        accepted += 1
        assert not any(in_witness_set(prop, s, other) for s, other in pairs)
    assert accepted or make is not score or tangent >= 1024


@seeds(10, 300)
def test_the_bound_is_that_of_the_specification(seed: int) -> None:
    assert_bound_is_that_of_the_specification(*drawn(seed))


def assert_bound_is_that_of_the_specification(rng, kernel, cell, hints, tangent) -> None:
    make, way, zero = asked(rng, kernel)
    prop = make(
        Fraction(rng.randint(0, 9), 10) * (1 - way)
        if make is probability
        else Fraction(rng.randint(0, 9), 10)
    )
    lemma = lemma_of(kernel.features, kernel.relations, prop, kernel.model(zero=zero))
    if make is probability and prop["delta"] == "0":
        way = Fraction(1, 2)
    a, b, threshold = read_way(number(way), lemma.asked)
    bound, bits = Rule(lemma).bound(["kernel", number(way), hints, tangent], boxes(cell))
    expected, room = Bound(kernel, cell, hints).phi(int(lemma.slope), a, b, threshold, tangent)
    assert expected - room / 64 <= decimal(Fraction(bound, 2**bits)) <= expected + room


def test_points_are_bounded_to_the_last_digits() -> None:
    """Where every feature is down to one value, the bound is the value itself, up to the room."""
    for seed in range(40):
        rng = random.Random(seed)
        kernel = random_kernel(rng, "cithlH", 20, thirds=seed % 2 == 0)
        cell = random_cell(rng, kernel)
        cell = [[(lo, lo) for lo, _ in intervals] for intervals in cell]
        lemma = lemma_of(kernel.features, kernel.relations, score(0), kernel.model())
        bound, bits = Rule(lemma).bound(["kernel", "1/2", [], 0], boxes(cell))
        x, other = ([intervals[side][0] for intervals in cell] for side in (0, -1))
        true = (Fraction(kernel.score(x)) - Fraction(kernel.score(other))) / 2
        assert true < Fraction(bound, 2**bits) < true + Fraction(1, 2**40)


@seeds(10, 60)
def test_the_majorant_is_one(seed: int) -> None:
    """In exact arithmetic, at random points; with small weights, where rounding is all there is, as with large ones."""
    rng = random.Random(seed)
    terms, n, one = rng.randint(1, 12), rng.randint(0, 4), 1 << EXPONENT
    size = rng.choice([1, 3, 10**3, 10**12])
    q = tuple([rng.randint(-size, size) for _ in range(terms)] for _ in range(3))
    slopes = [[rng.randint(-one, one) // 2 for _ in range(terms)] for _ in range(n)]
    choices = []
    for i in range(rng.randint(0, 4)):
        levels = rng.randint(2, 4)
        first = rng.randint(0, levels - 2)
        last = rng.randint(first + 1, levels - 1)
        places = [rng.randrange(levels) for _ in range(terms)]
        choices.append(Choice(zeta=rng.randint(1, one), places=places, first=first, last=last, terms=i))
    majorant = Majorant(q, slopes, choices, Groups())
    reach = len(choices) + -(-n // 2)
    error = terms_error(terms, n + len(choices), reach)
    for _ in range(60):
        y = [Fraction(rng.choice([-8, 8, rng.randint(-8, 8)]), 8) for _ in range(n)]
        v = [rng.randint(choice.first, choice.last) for choice in choices]
        total = Fraction(0)
        for t in range(terms):
            z = sum((x * slope[t] for x, slope in zip(y, slopes, strict=True)), Fraction(0))
            z += sum(c.zeta for c, place in zip(choices, v, strict=True) if c.places[t] == place)
            z /= one
            total += z * (q[0][t] + z * (q[1][t] + z * q[2][t]))
        tables = zip(majorant.tables, choices, v, strict=True)
        bound = majorant.constant + error + sum(table[at - choice.first] for table, choice, at in tables)
        bound += sum(
            majorant.n1[f] * x + majorant.n2[f] * x**2 + majorant.n3[f] * x**3 for f, x in enumerate(y)
        )
        bound += sum(amount * y[f] * y[g] for (f, g), amount in majorant.products.items())
        assert total <= bound


def test_one_sided_cubics() -> None:
    with localcontext() as context:
        context.prec = 60
        for i in [0, 1, 2, 3, 17, 512, 1024, 1025, 5000, 64 * GRID]:
            h = Decimal(i) / GRID + Decimal(SLACK) / (1 << EXPONENT)
            for upper in (True, False):
                p = [Decimal(c) / (1 << CUBIC) for c in one_sided(i, upper)]
                tight = [p[0], *p[1:]]
                for step in range(-200, 201):
                    at = h * step / 200
                    value = tight[0] + at * (tight[1] + at * (tight[2] + at * tight[3]))
                    assert value >= at.exp() if upper else value <= at.exp()
                    if i and abs(step) == (200 if upper else 100):  # contacts
                        assert abs(value - at.exp()) < (h + 2) ** 3 * h.exp() * Decimal(2) ** -41


def test_shifted_cubics_stay_within_what_was_left_for_them() -> None:
    rng = random.Random(0)
    for _ in range(60):
        i = rng.randint(0, 4096)
        upper = rng.random() < 0.5
        h = Fraction(i, GRID)
        k = rng.randint(0, int(h * (1 << EXPONENT)))
        p = [Fraction(c, 1 << CUBIC) for c in shift_cubic(one_sided(i, upper), k)]
        for step in range(-50, 51):
            at = h * step / 50
            z = at + Fraction(k, 1 << EXPONENT)
            value = p[0] + z * (p[1] + z * (p[2] + z * p[3]))
            with localcontext() as context:
                context.prec = 60
                assert (
                    (decimal(value) >= decimal(at).exp()) if upper else (decimal(value) <= decimal(at).exp())
                )


def test_decays() -> None:
    rng = random.Random(0)
    exponents = [0, 1, (1 << 24) - 1, 1 << 24, 1 << 36, 66 << EXPONENT, 67 << EXPONENT, 500 << EXPONENT]
    exponents += [rng.randrange(68 << EXPONENT) for _ in range(300)]
    with localcontext() as context:
        context.prec = 60
        for e in exponents:
            true = (-Decimal(e) / (1 << EXPONENT)).exp() * (1 << WEIGHT)
            assert abs(decay(e) - true) < DECAY_ERROR


def test_maxima_of_cubics() -> None:
    rng = random.Random(0)
    for n in range(1000):
        size = 10 ** rng.randint(0, 6)
        n1, n2, n3 = (rng.choice([0, rng.randint(-size, size)]) for _ in range(3))
        places = range(-1000, 1001)
        true = max(
            Fraction(y * (n1 * 10**6 + y * (n2 * 1000 + y * n3)), 10**9)
            for y in (places if n < 100 else range(-1000, 1001, 50))
        )
        top = cubic_maximum(n1, n2, n3)
        assert top >= true
        if n < 100:
            assert top <= true + 2 + Fraction(4 * (abs(n1) + abs(n2) + abs(n3)), 1000**2) * 2
        few = [Fraction(rng.randint(-9, 9), 9) for _ in range(3)]
        best = max(y * (n1 + y * (n2 + y * n3)) for y in few)
        assert best <= largest_at(n1, n2, n3, [int(y * (1 << WEIGHT) // 1) for y in few]) <= best + 4


def test_lanes() -> None:
    rng = random.Random(0)
    lanes = Lanes(5)
    rows = [[rng.randint(-(2**60), 2**60) for _ in range(5)] for _ in range(4)]
    first, second, third, _ = packed = lanes.packed(list(zip(*rows, strict=True)))
    assert packed == [sum(x << 64 * j for j, x in enumerate(row)) for row in rows]
    assert lanes.unpacked(packed) == [tuple(row) for row in rows]
    total = first + second - third
    assert lanes.unpacked([total]) == [tuple(a + b - c for a, b, c, _ in zip(*rows, strict=True))]


def test_wide_lanes() -> None:
    """Products and sums of loads and columns as large as they get."""
    rng = random.Random(0)
    for lanes in (1, 2, 5):
        loads = [[rng.choice([-1, 0, 1]) * rng.randint(0, 2**56) for _ in range(6)] for _ in range(lanes)]
        weights = [rng.choice([-1, 1]) * rng.randint(2**61, 2**62) for _ in range(6)]
        for g, rows in enumerate(tails_of(loads)):
            expected = [sum(w * x for w, x in zip(weights, other, strict=True)) for other in loads[g:]]
            assert dots(weights, rows, lanes - g) == expected


@pytest.mark.parametrize("count", [1, 2, 3, 5, 7, 10, 1000, 2**20])
@pytest.mark.parametrize("unit", [0, 3, 8])
def test_means_of_lanes(count: int, unit: int) -> None:
    """About the mean in each lane, whatever its neighbours hold, and nothing in those that are left out."""
    rng = random.Random(count)
    lanes, most = Lanes(6), 2**62 - 1
    rows = [
        [rng.choice([most, -most, 0, 1, -1, rng.randint(-most, most)]) for _ in range(6)] for _ in range(200)
    ]
    found = lanes.unpacked(
        lanes.means(lanes.packed(list(zip(*rows, strict=True))), count, first=2, unit=unit)
    )
    for row, means in zip(rows, found, strict=True):
        assert means[:2] == (0, 0)
        for x, mean in zip(row[2:], means[2:], strict=True):
            assert abs((mean << unit) - Fraction(x, count)) <= 8 + 2 * count + 2**unit


FEATURES = [
    continuous("x", 0, 1),
    integer("n", 0, 3),
    categorical("colour", "rgb"),
    categorical("group", "ab"),
]
RELATIONS = [SAME, SAME, SAME, FREE]
HOT = [tabled(2, [1 if v == u else 0 for v in range(3)]) for u in range(3)]
COLUMNS = [sloped(0), sloped(1, Fraction(1, 4)), *HOT, tabled(3, [0, 1])]
TERMS = [(1, [0, 0, 1, 0, 0, 0]), (Fraction(-1, 2), [1, Fraction(1, 2), 0, 0, 1, 1])]
MODEL = rbf(Fraction(1, 4), Fraction(1, 8), COLUMNS, TERMS)


def built(*leaf, prop=None, model=MODEL, features=FEATURES, relations=RELATIONS):
    nodes = [["split", 3, "0"], ["split", 4, "0"], *[list(leaf)] * 2, ["split", 4, "0"], *[list(leaf)] * 2]
    return proof(features, relations, prop or score(2), model, nodes)


def test_a_proof_by_kernel_leaves() -> None:
    report = checked(built("kernel", "1/2", [0, 0], 0))
    assert report.accepted, report.reason
    assert report.rules == {"kernel": 4}
    assert report.clearance == 0
    refused = checked(built("kernel", "1/2", [0, 0], 0, prop=score(Fraction(1, 100))))
    assert "not below 0" in refused.reason


@pytest.mark.parametrize(
    "leaf",
    [
        ["kernel", "1/2", [0, 0]],
        ["kernel", "1/2", [0, 0], 0, 0],
        ["kernel", "1/3", [0, 0], 0],
        ["kernel", 1, [0, 0], 0],
        ["kernel", "1/2", [0], 0],
        ["kernel", "1/2", [0, 0, 0], 0],
        ["kernel", "1/2", [0, 65], 0],
        ["kernel", "1/2", [0, -65], 0],
        ["kernel", "1/2", [0, "0"], 0],
        ["kernel", "1/2", [0, True], 0],
        ["kernel", "1/2", 0, 0],
        ["kernel", "1/2", [0, 0], -1],
        ["kernel", "1/2", [0, 0], 2**20 + 1],
        ["kernel", "1/2", [0, 0], False],
        ["kernel", "1/2", [0, 0], "0"],
    ],
)
def test_malformed_leaves_are_rejected(leaf) -> None:
    lemma = lemma_of(FEATURES, RELATIONS, score(2), MODEL)
    cell = boxes([[(0, 1)], [(0, 3)], [(0, 2)], [(0, 0), (1, 1)]])
    assert holds(Rule(lemma), ["kernel", "1/2", [0, 0], 0], cell)
    with pytest.raises(Rejected):
        Rule(lemma)(leaf, cell)
    assert not checked(built(*leaf)).accepted


def test_what_may_differ_must_be_fixed() -> None:
    lemma = lemma_of(FEATURES, RELATIONS, score(2), MODEL)
    with pytest.raises(LeafRefused, match="not down to one value"):
        Rule(lemma)(["kernel", "1/2", [0, 0], 0], boxes([[(0, 1)], [(0, 3)], [(0, 2)], [(0, 0), (0, 1)]]))


@pytest.mark.parametrize(
    "tables",
    [
        [[1, 0, 0], [0, 1, 0], [0, 0, 2]],  # distances differ
        [[1, 0, 0], [0, 1, 1], [0, 0, 0]],  # two positions at one place
        [[1, 0, 3], [0, 1, 3], [3, 3, 1]],  # no position where the first term is, and distances differ
    ],
)
def test_features_that_are_neither_numeric_nor_one_hot(tables) -> None:
    columns = [sloped(0), sloped(1), *(tabled(2, entries) for entries in tables), tabled(3, [0, 1])]
    model = rbf(1, 0, columns, [(1, [0, 0, 1, 0, 1, 0]), (1, [0, 0, 0, 1, 0, 0])])
    assert "neither numeric nor one-hot" in checked(built("kernel", "1/2", [0, 0], 0, model=model)).reason


def test_a_single_level_is_one_hot_whatever_the_terms_are() -> None:
    features = [*FEATURES[:2], categorical("colour", "r"), FEATURES[3]]
    columns = [*COLUMNS[:2], tabled(2, [1]), tabled(2, [0]), COLUMNS[-1]]
    for centre in (0, 1):
        model = rbf(1, 0, columns, [(1, [0, 0, 1, centre, 0])])
        assert checked(built("kernel", "1/2", [0, 0], 0, model=model, features=features)).accepted


def test_a_closed_border_needs_more_than_equality() -> None:
    """With way = 0 a decision's W holds s' = -margin itself, so F <= U would not do."""
    model = rbf(1, -1, [tabled(3, [0, 0])], [(1, [0])])  # f = 0 everywhere
    for way in ("0", "1/2", "1"):
        assert not checked(built("kernel", way, [0, 0], 0, prop=decision(), model=model)).accepted


def test_cells_that_are_too_large_are_refused() -> None:
    lemma = lemma_of([continuous("x", 0, 10**6)], [SAME], score(2), rbf(1, 0, [sloped(0)], [(1, [0])]))
    with pytest.raises(LeafRefused, match="an exponent varies"):
        Rule(lemma)(["kernel", "1/2", [0], 0], boxes([[(0, 10**6)]]))
    model = rbf(1, -1, [sloped(0)], [(1, [500])])
    lemma = lemma_of([continuous("x", 0, 1000)], [SAME], decision(-3), model)
    with pytest.raises(LeafRefused, match="gamma R varies"):
        Rule(lemma)(["kernel", "1", [0], 0], boxes([[(0, 1000)]]))


def test_many_codes_are_bounded_as_an_interval() -> None:
    slope = Fraction(1, 4096)
    for feature in (integer("n", 0, 2000), ordinal("n", [str(v) for v in range(1100)])):
        entries = [slope * v for v in range(1100)]
        column = tabled(0, entries) if "levels" in feature else sloped(0, slope)
        lemma = lemma_of([feature], [SAME], decision(-2), rbf(1, 0, [column], [(1, [0])]))
        assert not holds(Rule(lemma), ["kernel", "1", [0], 0], boxes([[(0, 1099)]]))
        bound, bits = Rule(lemma).bound(["kernel", "1", [0], 0], boxes([[(0, 1099)]]))
        assert 3 <= bound / 2**bits < 3.3


@seeds(8, 60)
def test_mutated_leaves_hold_only_where_that_is_right(seed: int) -> None:
    """Leaves just accepted, then moved to another cell, another way or other hints."""
    rng, kernel, _cell, hints, tangent = drawn(seed, 8)
    claims = {}
    for _ in range(12):
        other = random_cell(rng, kernel, width=0.3)
        size = hint_count(kernel, other)
        leaf = [
            "kernel",
            number(Fraction(rng.randint(0, 4), 4)),
            [rng.randint(-64, 64) for _ in range(size)],
            rng.choice([0, 50, 2**20]),
        ]
        margin = Fraction(rng.randint(-4, 2), 4)
        if margin not in claims:
            claims[margin] = Rule(
                lemma_of(kernel.features, kernel.relations, decision(margin), kernel.model())
            )
        if holds(claims[margin], leaf, boxes(other)):
            for x, y in samples(rng, kernel, other, 20):
                assert not in_witness_set(decision(margin), kernel.score(x), kernel.score(y))
        if size != len(hints):
            with pytest.raises(Rejected):
                claims[margin]([*leaf[:2], hints, tangent], boxes(other))


def test_what_is_kept_between_leaves_is_bounded(monkeypatch) -> None:
    monkeypatch.setattr(module, "MOST_KEPT", 1)
    assert checked(built("kernel", "1/2", [0, 0], 0)).accepted


def test_several_processes_agree() -> None:
    assert checked(built("kernel", "1/2", [3, -5], 7), jobs=2).accepted
    assert cubics.WIDEST * GRID < 1 << 20


@pytest.mark.parametrize(
    ("way", "x", "other", "counted"),
    [
        ("1/2", 0, 1, (True, True, False)),  # the third term is as far from both
        ("1/2", 0, 0, (True, False, False)),  # all of them cancel: one is kept
        ("1/4", 0, 1, (True, True, True)),  # but not where they are weighed otherwise
    ],
)
def test_terms_are_left_out_only_where_they_cancel(way, x, other, counted) -> None:
    features, relations = [continuous("x", 0, 1), categorical("group", "abc")], [SAME, FREE]
    hot = [tabled(1, [1 if v == u else 0 for v in range(3)]) for u in range(3)]
    terms = [(1, [0, *(1 if v == u else 0 for v in range(3))]) for u in range(3)]
    model = rbf(Fraction(1, 4), Fraction(0), [sloped(0), *hot], terms)
    lemma = lemma_of(features, relations, decision(0), model)
    rule = Rule(lemma)
    found = rule._which(read_way(way, lemma.asked), ((1, x),), ((1, other),), counts_all=False)
    assert found == (sum(1 << t for t, counts in enumerate(counted) if counts), counted)
    assert (
        rule._which(read_way(way, lemma.asked), ((1, x),), ((1, other),), counts_all=True)[1] == (True,) * 3
    )
