"""Models with classes (section 10): accepted proofs are true, and what is true by brute force is accepted."""

import copy
import random
from fractions import Fraction
from itertools import product

import pytest
from tests.check.builder import FREE, checked, integer, number, proof
from tests.check.kernels import seeds
from tests.check.several import (
    HALF,
    Truth,
    affine_body,
    all_cubes,
    asked,
    classes,
    joined_cubes,
    numbers,
    random_body,
    random_space,
)

WAYS = (Fraction(0), Fraction(1), HALF, Fraction(1, 3))


def drawn(seed: int, way: str, count: int, *, kind="decision"):
    """A random claim, with nothing proved yet; and the cubes of votes."""
    rng = random.Random(f"{seed} {way} {count} {kind}")
    features, relations, limits = random_space(rng, constrained=rng.random() < 0.5)
    scores = count * (count - 1) // 2 if way == "votes" else count
    body = random_body(rng, features, scores, size=rng.choice([1, 2, 4]))
    link = "identity" if kind == "probability" else None
    model = classes(body, range(count), way, link)
    bound = 0
    if kind != "decision":
        bound = rng.choice([0, HALF, Fraction(9, 10)]) if link else rng.randint(0, 6)
    elif way == "argmax":
        bound = rng.choice([0, 0, 1, HALF, 3])
    prop = asked(kind, bound, rng.choice([None, rng.randrange(count)]))
    cubes = rng.choice([all_cubes, joined_cubes])(count) if way == "votes" else None
    values = proof(features, relations, prop, model, [], constraints=limits)
    return rng, values, cubes


def with_nodes(values: list, nodes: list, clearance=Fraction(0)) -> list:
    end = {"nodes": len(nodes), "clearance": number(clearance), "covers_floating_point": False, "sha256": ""}
    return [*values[:5], *nodes, {"end": end}]


def opening(cubes) -> list:
    return ["cases"] if cubes is None else ["cases", cubes]


def random_leaf(rng, truth: Truth, case, cell):
    """A leaf, whether it holds, and its clearance (None: infinite)."""
    valid = [pair for pair in truth.inside(cell) if all(map(truth.valid, pair))]
    if truth.kind != "decision" or rng.random() < 0.2 or not (case[2] and case[3]):
        if rng.random() < 0.5 or truth.kind == "decision":
            exact = Fraction(0) if truth.kind == "decision" else truth.bound
            if truth.kind != "decision" and valid:
                gaps = [truth.scores(x)[case[0]] - truth.scores(y)[case[0]] for x, y in valid]
                exact = (truth.bound - max(gaps)) / 2
            return ["enumerated"], not truth.holds_witness(case, cell), exact if valid else None
        points = [truth.scores(x)[case[0]] - truth.scores(y)[case[0]] for x, y in truth.inside(cell)]
        clear = (truth.bound - max(points)) / 2 if points else None
        return ["separable", "1/2"], clear is None or clear >= 0, clear
    way = rng.randrange(len(case[2])), rng.randrange(len(case[3])), rng.choice(WAYS)
    more = []
    if rng.random() < 0.4:
        more = [Fraction(rng.randint(0, 2), 2) for _ in range(2 * len(truth.constraints))]
    top, enough, spread = truth.separation(case, way, cell, more)
    leaf = ["separable", [way[0], way[1], number(way[2])], *([numbers(more)] if more else [])]
    if top is None:
        return leaf, True, None
    return leaf, top < truth.bound or (top == truth.bound and enough), (truth.bound - top) / spread


@pytest.mark.parametrize(("way", "count"), [("argmax", 2), ("argmax", 3), ("argmax", 4), ("votes", 3)])
@seeds(3, 60)
def test_leaves_hold_exactly_where_brute_force_says_so(way, count, seed) -> None:
    for kind in ("decision", "score", "probability") if way == "argmax" else ("decision",):
        rng, values, cubes = drawn(seed, way, count, kind=kind)
        truth = Truth(values)
        nodes, refused, clear = [opening(cubes)], [], []
        for case in truth.cases(cubes):
            cell = truth.variables()
            cells = [cell]
            moving = [v for v, (lo, hi) in enumerate(cell) if lo < hi]
            if moving and rng.random() < 0.5:
                v = rng.choice(moving)
                lo, hi = cell[v]
                at = rng.randint(int(lo), int(hi) - 1)
                nodes.append(["split", v, number(at)])
                cells = [[*cell[:v], ends, *cell[v + 1 :]] for ends in ((lo, at), (at + 1, hi))]
            for part in cells:
                leaf, holds, room = random_leaf(rng, truth, case, part)
                nodes.append(leaf)
                clear.append(room)
                if not holds:
                    refused.append(len(nodes) - 1)
        smallest = min((room for room in clear if room is not None), default=None)
        stated = smallest if smallest is not None and not refused else Fraction(0)
        report = checked(with_nodes(values, nodes, stated), refusals=10**6)
        assert list(report.refused) == refused, report
        assert report.accepted == (not refused and smallest is not None), report
        if report.accepted:
            assert truth.witness() is None
            assert not checked(with_nodes(values, nodes, stated + Fraction(1, 10**9))).accepted


def grown(truth: Truth, case, cell) -> list:
    """A proof of the case in a cell by few leaves: a line where one separates, else a split, in the end every point."""
    if case[2] and case[3]:
        for r in range(len(case[2])):
            for again in range(len(case[3])):
                for lam in (Fraction(0), Fraction(1)):
                    top, enough, _ = truth.separation(case, (r, again, lam), cell)
                    if top is None or top < truth.bound or (top == truth.bound and enough):
                        return [["separable", [r, again, number(lam)]]]
    moving = [v for v, (lo, hi) in enumerate(cell) if lo < hi]
    if len(moving) < 3:
        return [["enumerated"]]
    v = moving[0]
    lo, hi = cell[v]
    parts = [[*cell[:v], ends, *cell[v + 1 :]] for ends in ((lo, lo), (lo + 1, hi))]
    return [["split", v, number(lo)], *grown(truth, case, parts[0]), *grown(truth, case, parts[1])]


@pytest.mark.parametrize(("way", "count"), [("argmax", 3), ("argmax", 4), ("votes", 3), ("votes", 4)])
@seeds(2, 40)
def test_proofs_agree_with_all_pairs(way, count, seed) -> None:
    _, values, cubes = drawn(seed, way, count)
    cubes = cubes and joined_cubes(count)
    truth = Truth(values)
    nodes = [opening(cubes)]
    for case in truth.cases(cubes):
        nodes += grown(truth, case, truth.variables()) if count < 4 else [["enumerated"]]
    report = checked(with_nodes(values, nodes))
    pair = truth.witness()
    assert report.accepted == (pair is None and any(True for _ in truth.pairs())), report
    if pair:
        x, other = pair
        start = {"scores": [numbers(truth.scores(x)), numbers(truth.scores(other))]}
        found = {"witness": {"x": numbers(x), "other": numbers(other), **start}}
        lines = [{**values[0], "kind": "witness"}, *values[1:5], found, {"end": {"sha256": ""}}]
        assert checked(lines).accepted
        for place in range(len(truth.parts)):
            wrong = copy.deepcopy(lines)
            wrong[5]["witness"]["scores"][1][place] = number(truth.scores(other)[place] + 1)
            assert "the stated scores" in checked(wrong).reason


@pytest.mark.parametrize("kind", ["decision", "score", "probability"])
@seeds(3, 60)
def test_witnesses_are_exactly_the_pairs_that_break_the_property(kind, seed) -> None:
    _, values, _ = drawn(seed, "argmax", 3, kind=kind)
    truth = Truth(values)
    for x, other in list(truth.pairs())[:40]:
        scores = [numbers(truth.scores(x)), numbers(truth.scores(other))]
        found = {"witness": {"x": numbers(x), "other": numbers(other), "scores": scores}}
        lines = [{**values[0], "kind": "witness"}, *values[1:5], found, {"end": {"sha256": ""}}]
        report = checked(lines)
        assert report.accepted == truth.broken(x, other), report
        assert report.accepted or "does not break" in report.reason


@pytest.mark.parametrize("way", ["argmax", "votes"])
def test_the_clearance_is_told_in_scores(way) -> None:
    """A condition f_i - f_k moves by two where each score moves by one, a vote by one."""
    values = proof(
        [integer("age", 0, 1)],
        [FREE],
        asked("decision", 0),
        classes(affine_body([5, 2, 1], []), "abc", way),
        [],
    )
    truth, cubes = Truth(values), all_cubes(3) if way == "votes" else None
    nodes, clear = [opening(cubes)], []
    for case in truth.cases(cubes):
        for places in product(range(len(case[2])), range(len(case[3])), WAYS):
            top, _, spread = truth.separation(case, places, truth.variables())
            if top < 0:
                nodes.append(["separable", [*places[:2], number(places[2])]])
                clear.append(-top / spread)
                break
    assert min(clear) == (Fraction(3, 2) if way == "argmax" else 2)
    assert checked(with_nodes(values, nodes, min(clear))).accepted
    assert not checked(with_nodes(values, nodes, min(clear) + Fraction(1, 10**9))).accepted


@seeds(2, 60)
def test_leaves_about_curves_hold_only_where_no_pair_breaks_them(seed) -> None:
    """Where columns in pieces are no lines, bounds over reals are above what whole numbers reach, but never below."""
    rng = random.Random(seed)
    features, relations, _ = random_space(rng)
    body = random_body(rng, features, 3, degree=4)
    values = proof(features, relations, asked("decision", 0), classes(body, "abc"), [])
    truth = Truth(values)
    for places in product(range(2), range(2), WAYS[:3]):
        leaf = ["separable", [*places[:2], number(places[2])]]
        report = checked(with_nodes(values, [["cases"], leaf, leaf, leaf]), refusals=9)
        for n, case in enumerate(truth.cases(), start=1):
            top, enough, _ = truth.separation(case, places, truth.variables())
            assert n in report.refused or top < 0 or (top == 0 and enough)
