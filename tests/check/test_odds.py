"""The rule `odds` (section 10): what it accepts is true of every pair, and it accepts nearly everything that is true of its polytope."""

import math
import random
from decimal import localcontext
from fractions import Fraction

import pytest
from tests.check.builder import FREE, checked, integer, line, number, proof, within
from tests.check.kernels import boxes, claim_of, seeds
from tests.check.several import affine_body, asked, classes, numbers
from tests.check.test_classes import with_nodes
from tests.check.test_softmax import DIGITS, Truthful, boxed, drawn, nearly, share

from likewise_check.core.cells import LeafRefused
from likewise_check.packs.classes import odds
from likewise_check.packs.classes.cases import ClassCase
from likewise_check.packs.classes.odds import Gap, Odds

UNITS = 1 << odds.BITS


def rule(values, c: int, delta: Fraction) -> Odds:
    space, similarity, _, model = (values[n] for n in range(1, 5))
    claim = claim_of(
        space["space"]["features"],
        similarity["similarity"],
        asked("probability", delta, c),
        model["model"],
        space["space"]["constraints"],
    )
    case = ClassCase(of=claim.model.head.classes, i=c, j=c)
    return Odds(case.task(claim, ["odds"]).lemma())


def some_directions(rng, m: int) -> list:
    return [numbers(Fraction(rng.randint(-4, 4), rng.randint(1, 3)) for _ in range(m)) for _ in range(4)]


def holds(asked_rule, leaf, cell) -> bool:
    try:
        asked_rule(leaf, cell)
    except LeafRefused:
        return False
    return True


@pytest.mark.parametrize("trees", [False, True])
@pytest.mark.parametrize("count", [2, 3, 4])
@seeds(2, 60)
def test_what_holds_is_true_of_every_pair(seed, count, trees) -> None:
    rng, values = drawn(seed, count, Fraction(0), trees=trees)
    truth = Truthful(values)
    cell, pairs = truth.variables(), list(truth.pairs())
    with localcontext() as context:
        context.prec = DIGITS
        for c in range(count):
            known = {x: share(truth.scores(x), c) for pair in pairs for x in pair}
            largest = max(known[x] - known[y] for x, y in pairs)
            leaf = ["odds", some_directions(rng, count - 1)]
            below = nearly(largest) * Fraction(99, 100)
            if below > 0:
                assert not holds(rule(values, c, below), leaf, boxed(truth, cell))
            for delta in (Fraction(1, 4), Fraction(99, 100)):
                if holds(rule(values, c, delta), leaf, boxed(truth, cell)):
                    assert nearly(largest) <= delta


def grown(truth: Truthful, cell) -> list:
    """Splits down to single points."""
    moving = [v for v, (lo, hi) in enumerate(cell) if lo < hi]
    if not moving:
        return [["odds", []]]
    v = moving[0]
    lo, hi = cell[v]
    parts = [[*cell[:v], ends, *cell[v + 1 :]] for ends in ((lo, lo), (lo + 1, hi))]
    return [["split", v, number(lo)], *grown(truth, parts[0]), *grown(truth, parts[1])]


@seeds(2, 30)
def test_proofs_agree_with_all_points(seed) -> None:
    """Of single points the rule is exact: just above the largest difference there is a proof, just below it there is none."""
    count = 2 + seed % 3
    c = seed % count
    _, values = drawn(seed, count, Fraction(0), of=c, size=1, trees=seed % 3 == 1)
    truth = Truthful(values)
    with localcontext() as context:
        context.prec = DIGITS
        points = list(truth.points())
        largest = nearly(max(share(truth.scores(x), c) - share(truth.scores(y), c) for x, y in points))
    nodes = [["cases"], *grown(truth, truth.variables())]
    for slack in (Fraction(1, 10**6), -Fraction(1, 10**6)):
        if 0 < largest + slack < 1:
            values[3]["property"] = asked("probability", largest + slack, c)
            assert checked(with_nodes(values, nodes)).accepted == (slack > 0)


def gap(d, moves) -> float:
    s, t = (sum(map(math.exp, v)) for v in (d, [a + b for a, b in zip(d, moves, strict=True)]))
    return 1 / (1 + s) - 1 / (1 + t)


def polygon(rng, m: int):
    """Directions with limits, some point inside, and the ranges of d."""
    centre = [rng.uniform(-3, 3) for _ in range(m)]
    ranges = [(Fraction(c - rng.uniform(0, 2)), Fraction(c + rng.uniform(0, 2))) for c in centre]
    rows = [[Fraction(rng.randint(-5, 5), 2) for _ in range(m)] for _ in range(3)]
    limits = [
        (tuple(row), sum((r * Fraction(c) for r, c in zip(row, centre, strict=True)), Fraction(rng.random())))
        for row in rows
    ]
    return ranges, limits


@pytest.mark.some_days
@pytest.mark.parametrize("m", [1, 2, 3])
@seeds(4, 60)
def test_the_largest_gap_of_a_polytope(m, seed) -> None:
    """Below what sampled points reach nothing is accepted; above what a fine grid reaches, with the slope of G as room, all is."""
    rng = random.Random(f"{m} {seed}")
    ranges, limits = polygon(rng, m)
    moves = [Fraction(rng.uniform(-2, 2)) for _ in range(m)]
    moves[0] = abs(moves[0])
    steps = {1: 400, 2: 40, 3: 8}[m]
    width = max(float(hi - lo) for lo, hi in ranges) / steps
    inside, nearby = -math.inf, -math.inf
    for n in range((steps + 1) ** m):
        at = [n // (steps + 1) ** r % (steps + 1) for r in range(m)]
        d = [lo + (hi - lo) * k / steps for k, (lo, hi) in zip(at, ranges, strict=True)]
        excess = [
            float(sum(g * e for g, e in zip(row, d, strict=True)) - limit) - 0.5 * width * sum(map(abs, row))
            for row, limit in limits
        ]
        if max(excess) <= 0:
            value = gap([*map(float, d)], [*map(float, moves)])
            nearby = max(nearby, value)
            if all(
                e <= -0.5 * width * float(sum(map(abs, row)))
                for e, (row, _) in zip(excess, limits, strict=True)
            ):
                inside = max(inside, value)
    if inside > 1e-6:
        assert not Gap(moves, limits, Fraction(inside - 1e-9)).stays_below(ranges)
    assert Gap(moves, limits, Fraction(max(nearby, 0) + 0.25 * m * width + 0.02)).stays_below(ranges)


@seeds(10, 200)
def test_a_box_that_holds_has_no_larger_gap(seed) -> None:
    rng = random.Random(seed)
    m = rng.randint(1, 4)
    moves = [Fraction(rng.uniform(-3, 3)) for _ in range(m)]
    box = []
    for _ in range(m):
        middle, half = rng.uniform(-6, 6), rng.choice([0, 0.01, 0.5, 3])
        box.append((math.floor((middle - half) * UNITS), math.ceil((middle + half) * UNITS)))
    for delta in (0.001, 0.01, 0.1, 0.3, 0.6):
        if Gap(moves, [], Fraction(delta)).holds(tuple(box)):
            for n in range(100):
                d = [
                    (lo, hi)[n >> r & 1] / UNITS if n < 2**m else rng.uniform(lo, hi) / UNITS
                    for r, (lo, hi) in enumerate(box)
                ]
                assert gap(d, [*map(float, moves)]) <= delta + 1e-12


def two(weights, delta, relations=(FREE,), hi=1):
    """One feature, free, that moves the scores of three classes."""
    body = affine_body([0, 0, 0], [(line(0, 0), weights)])
    model = classes(body, "abc", link="softmax")
    return proof([integer("s", 0, hi)], [*relations], asked("probability", delta, 0), model, [])


def test_scores_that_do_not_move_hold_at_any_level() -> None:
    """The two others trade places with nothing: d_1 and d_2 never rise."""
    values = two([0, 0, 0], 0)
    assert checked(with_nodes(values, [["cases"], ["odds", []]])).accepted
    values = two([0, 0, "1/1000"], 0)
    assert not checked(with_nodes(values, [["cases"], ["odds", []]])).accepted


@pytest.mark.parametrize(("move", "accepted"), [(60, True), (64, True), (65, False)])
def test_large_moves(move, accepted) -> None:
    """P_c falls from 1/3 to nearly 0: true, but refused where M is above 64."""
    nodes = [["cases"], ["odds", []]]
    assert checked(with_nodes(two([0, move, move], Fraction(1, 3)), nodes)).accepted is accepted
    below = Fraction(1, 3) - Fraction(1, 10**9)
    assert not checked(with_nodes(two([0, move, move], below), nodes)).accepted


def test_differences_far_apart() -> None:
    """d ranges over thousands, but where it is not near 0 nothing changes."""
    body = affine_body([0, 0, 0], [(line(0, 0), [0, "1/10", 0]), (line(1, 0), [0, 1, 1])])
    body["columns"][1]["slope"] = "5000"
    model = classes(body, "abc", link="softmax")
    relations = [FREE, {"kind": "same"}]
    features = [integer("s", 0, 1), integer("t", -1, 1)]
    for delta, accepted in ((Fraction(1, 30), True), (Fraction(1, 60), False)):
        values = proof(features, relations, asked("probability", delta, 0), model, [])
        assert checked(with_nodes(values, [["cases"], ["odds", []]])).accepted is accepted


def test_no_more_boxes_than_allowed(monkeypatch) -> None:
    values = two([0, 1, 0], Fraction(13, 100))
    nodes = [["cases"], ["odds", []]]
    assert checked(with_nodes(values, nodes)).accepted
    monkeypatch.setattr(odds, "MOST_BOXES", 1)
    assert "not seen" in checked(with_nodes(values, nodes)).reason


@pytest.mark.parametrize(
    "leaf",
    [
        ["odds"],
        ["odds", [], []],
        ["odds", "1"],
        ["odds", ["1", "0"]],
        ["odds", [["1"]]],
        ["odds", [["1", "0", "0"]]],
        ["odds", [[1, 0]]],
        ["odds", [["1", "x"]]],
    ],
)
def test_malformed_leaves(leaf) -> None:
    report = checked(with_nodes(two([0, 1, 0], Fraction(99, 100)), [["cases"], leaf]))
    assert not report.accepted
    assert not report.refused


def test_other_claims_have_no_odds() -> None:
    values = two([0, 1, 0], Fraction(1, 2))
    values[3]["property"] = asked("score", Fraction(5), 0)
    assert "odds: only for" in checked(with_nodes(values, [["cases"], ["odds", []]])).reason


def test_a_cell_without_pairs_holds() -> None:
    values = two([0, "1/100", "1/100"], Fraction(1, 100), [within(1)], hi=2)
    far = ["split", 1, "1"]  # x = 0 and x' = 2 are no pair
    nodes = [["cases"], ["split", 0, "0"], far, ["odds", []], ["odds", []], ["odds", []]]
    assert checked(with_nodes(values, nodes)).accepted
    assert rule(values, 0, Fraction(0))(["odds", []], boxes([[(0, 0), (2, 2)]])).clearance is None
