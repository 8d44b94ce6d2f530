"""Tree ensembles with classes (section 10): the bound of two forms, clearances, and what floating point is covered."""

import random
from fractions import Fraction

import pytest
from tests.check import ensembles
from tests.check.builder import checked, number, proof
from tests.check.ensembles import rounding
from tests.check.kernels import seeds
from tests.check.several import HALF, Truth, asked, classes, joined_cubes, numbers, random_trees, tree_form
from tests.check.test_classes import WAYS, opening, with_nodes
from tests.check.truth import value


def drawn(seed: int, way: str, kind: str):
    rng = random.Random(f"{seed} {way} {kind}")
    features = [ensembles.random_feature(rng, k, real=False) for k in range(rng.randint(1, 3))]
    relations = [ensembles.random_relation(rng, feature) for feature in features]
    count = rng.choice([2, 3, 4]) if way == "argmax" else 3
    body = random_trees(rng, features, count)
    link = "identity" if kind == "probability" else None
    bound = 0
    if kind != "decision":
        bound = HALF if link else rng.randint(0, 6)
    elif way == "argmax":
        bound = rng.choice([0, 0, 1, HALF])
    model = classes(body, range(count), way, link)
    prop = asked(kind, bound, rng.choice([None, rng.randrange(count)]))
    return rng, features, relations, model, proof(features, relations, prop, model, [])


def combined(form: dict, sign=1) -> dict:
    return {c: sign * factor for c, factor in form.items()}


def random_leaf(rng, truth: Truth, case, claim):
    """A leaf at the root, whether it holds, its clearance (None: infinite)."""
    body, root = claim["model"]["body"], ensembles.root(claim)
    i, _, at_x, at_other = case
    pairs = list(truth.pairs())
    if rng.random() < 0.3:
        clear = Fraction(0)
        if truth.kind != "decision" and pairs:
            clear = (truth.bound - max(truth.scores(x)[i] - truth.scores(y)[i] for x, y in pairs)) / 2
        return ["enumerated"], not any(truth.in_case(case, x, y) for x, y in pairs), clear if pairs else None
    if truth.kind == "decision":
        r, again, a = rng.randrange(len(at_x)), rng.randrange(len(at_other)), rng.choice(WAYS)
        (first, strict), (second, strict_other) = at_x[r], at_other[again]
        leaf, limit = ["trees", [r, again, number(a)]], truth.bound
        enough = (a > 0 and strict) or (a < 1 and strict_other)
        spread = a * len(first) + (1 - a) * len(second)
    else:
        first, second, a = {i: 1}, {i: -1}, HALF
        leaf, limit, enough, spread = ["trees", "1/2"], truth.bound / 2, True, 1
    one = {**claim, "model": {"body": tree_form(body, first)}}
    top = ensembles.bound(one, root, a, 1 - a, second=tree_form(body, combined(second, -1)))
    if top is None:
        return leaf, True, None
    return leaf, top < limit or (top == limit and enough), (limit - top) / spread


def error(described: dict) -> Fraction:
    operations = described["operations"]
    growth = (1 + Fraction(1, 2 ** described["bits"])) ** operations - 1
    least = Fraction(1, 2 ** (100 if described["bits"] == 24 else 700))
    return growth * value(described["constant"]) + operations * least


@pytest.mark.parametrize(
    ("way", "kind"),
    [("argmax", "decision"), ("votes", "decision"), ("argmax", "score"), ("argmax", "probability")],
)
@seeds(10, 150)
def test_leaves_hold_exactly_where_the_specification_says_so(way, kind, seed) -> None:
    rng, features, relations, model, values = drawn(seed, way, kind)
    body = model["body"]
    size = sum(
        max(abs(value(v)) for node in tree if not isinstance(node[0], int) for v in node)
        for tree in body["trees"]
    )
    size += max(abs(value(v)) for v in body["bias"])
    described = rng.choice([None, rounding(size, len(body["trees"]), rng.choice([24, 53]))])
    values[4]["model"]["rounding"] = described
    truth = Truth(values)
    cubes = joined_cubes(truth.count) if way == "votes" else None
    claim = {"features": features, "relations": relations, "model": model}
    nodes, refused, clear = [opening(cubes)], [], []
    for case in truth.cases(cubes):
        leaf, holds, room = random_leaf(rng, truth, case, claim)
        nodes.append(leaf)
        clear.append(room)
        if not holds:
            refused.append(len(nodes) - 1)
    smallest = min((room for room in clear if room is not None), default=None)
    stated = smallest if smallest is not None and not refused else Fraction(0)
    lines = with_nodes(values, nodes, stated)
    covered = described is not None and stated > error(described)
    lines[-1]["end"]["covers_floating_point"] = covered
    report = checked(lines, refusals=10**6)
    assert list(report.refused) == refused, report
    assert report.accepted == (not refused and smallest is not None), report
    if report.accepted:
        assert truth.witness() is None
        lines[-1]["end"]["covers_floating_point"] = not covered
        assert not checked(lines).accepted


def test_a_rounding_must_be_large_enough_for_every_score() -> None:
    *_, values = drawn(0, "argmax", "decision")
    body = values[4]["model"]["body"]
    body["bias"] = numbers([1, -5, 2, 0][: len(body["bias"])])
    body["trees"] = [[numbers(range(len(body["bias"])))]]
    top = 5 + len(body["bias"]) - 1
    for constant, good in ((top, True), (top - Fraction(1, 10), False)):
        values[4]["model"]["rounding"] = rounding(constant, 1)
        report = checked(with_nodes(values, [["independent"]]))
        assert report.accepted == good, report
    values[4]["model"]["rounding"] = None
    values[4]["model"]["head"]["labels"].append("one more")
    assert "scores" in checked(with_nodes(values, [["independent"]])).reason
