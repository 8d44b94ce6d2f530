"""Pairs in one direction (section 18): the relation `between`, in every rule of the core, in trees and in classes; what is accepted is true."""

import random
from collections import Counter
from fractions import Fraction
from itertools import product

import pytest
from tests.check.builder import (
    SAME,
    affine,
    between,
    categorical,
    checked,
    continuous,
    decision,
    integer,
    line,
    ordinal,
    proof,
    score,
    table,
    within,
    witness,
)
from tests.check.ensembles import bound, random_claim, random_proof
from tests.check.test_trees import boxes, ready
from tests.check.truth import Claim as Truth

from likewise_check.core.cells import make_box
from likewise_check.core.maxima import linear_maximum, table_maximum
from likewise_check.core.space import Relation
from likewise_check.packs.pieces.columns import Pieces
from likewise_check.packs.pieces.curves import Curves
from likewise_check.packs.trees import forest
from likewise_check.packs.trees.forest import Forest


def relation(low, high) -> Relation:
    return Relation(kind="between", limits=(Fraction(low), Fraction(high)))


def limits(chance: random.Random, reach: int = 4) -> tuple[int, int]:
    low = chance.randint(-reach, reach - 1)
    return low, chance.randint(low + 1, reach)


def interval(chance: random.Random, last: int = 5) -> tuple[int, int]:
    lo = chance.randint(0, last)
    return lo, chance.randint(lo, last)


def test_maxima_of_one_feature_are_those_over_all_codes():
    empty = 0
    for seed in range(400):
        chance = random.Random(seed)
        ends, first, second = limits(chance), interval(chance), interval(chance)
        u, v = [chance.randint(-5, 5) for _ in range(6)], [chance.randint(-5, 5) for _ in range(6)]
        allowed = [
            (i, j)
            for i, j in product(range(first[0], first[1] + 1), range(second[0], second[1] + 1))
            if ends[0] <= j - i <= ends[1]
        ]
        box = make_box(first, second)
        empty += not allowed
        expected = max((u[i] + v[j] for i, j in allowed), default=None)
        assert table_maximum(u, v, box, relation(*ends)) == expected
        expected = max((u[0] * i + v[0] * j for i, j in allowed), default=None)  # corners are whole
        assert linear_maximum(u[0], v[0], box, relation(*ends)) == expected
    assert 20 < empty < 200


def test_maxima_in_pieces_are_never_below_those_of_codes_and_exact_where_linear():
    for seed in range(200):
        chance = random.Random(seed)
        ends, first, second = limits(chance), interval(chance), interval(chance)
        cuts = sorted(chance.sample([1, 2, 3, 4], chance.randint(1, 3)))
        degree = chance.choice([1, 1, 2])
        polys = [[chance.randint(-4, 4) for _ in range(degree + 1)] for _ in range(len(cuts) + 1)]
        pieces = Pieces(cuts=cuts, polys=polys, whole=False)
        curves = Curves(pieces, (1, 0), (-1, 0))
        found = curves.maximum(make_box(first, second), relation(*ends))

        def at(x, cuts=cuts, polys=polys):
            return sum(c * x**i for i, c in enumerate(polys[sum(cut < x for cut in cuts)]))

        grid = [[Fraction(n, 4) for n in range(4 * lo, 4 * hi + 1)] for lo, hi in (first, second)]
        over = [at(x) - at(y) for x, y in product(*grid) if ends[0] <= y - x <= ends[1]]
        assert not over or (found is not None and found >= max(over)), seed


def one_way(chance: random.Random, claim: dict) -> bool:
    """Numbers and ordinal levels of a claim become `between`, where they can; whether one did."""
    changed = False
    for k, feature in enumerate(claim["features"]):
        if feature["kind"] != "categorical" and not feature.get("missing") and chance.random() < 0.7:
            low, high = limits(chance, 3)
            if feature["kind"] == "continuous" and chance.random() < 0.5:
                low, high = Fraction(low, 2), Fraction(high, 2)
            claim["relations"][k] = between(low, high)
            changed = True
    return changed


@pytest.mark.draw(2)
@pytest.mark.parametrize("listed", [0, 30, 1 << 22])
def test_the_bound_of_trees_is_as_defined(monkeypatch, listed):
    monkeypatch.setattr(forest, "MOST_LISTED", listed)
    seen: Counter[bool] = Counter()
    for seed in range(60):
        chance = random.Random(seed)
        claim = random_claim(chance)
        claim["relations"] = list(claim["relations"])
        if not one_way(chance, claim):
            continue
        space, similarity, body = ready(claim)
        made = Forest(space.features, similarity, body)
        _, cells = random_proof(chance, claim)
        for cell in [*cells, *chance.sample(cells, len(cells))]:
            a, b = Fraction(chance.randint(0, 4), 4), Fraction(chance.randint(0, 3), 3)
            expected = bound(claim, cell, a, b)
            assert made.maximum(boxes(cell), body, body, a, b) == expected, (seed, cell)
            seen[expected is None] += 1
    assert min(seen.values()) > 10


STEP = {"kind": "trees", "bias": "0", "trees": [[[0, "1/2", 2], "0", "1"]]}


def of_trees(body: dict) -> dict:
    return {
        "family": "test",
        "body": body,
        "head": {"labels": ["no", "yes"], "zero": "lower", "link": None},
        "rounding": None,
    }


def test_a_rising_tree_is_shown_to_rise_at_the_root():
    """x in (1/2, 1] and x' in [0, 1/2]: the difference comes near to 0 and does not reach it."""
    feature = continuous("income", 0, 1)
    rising = proof([feature], [between(0, 1)], score(0), of_trees(STEP), [["trees", "1/2"]])
    assert checked(rising).accepted
    falling = proof([feature], [between(-1, 0)], score(0), of_trees(STEP), [["trees", "1/2"]])
    assert not checked(falling).accepted


def test_a_rising_line_is_shown_to_rise():
    feature, model = continuous("income", 0, 1), affine(0, [line(0, 2)])
    leaf = [["separable", "1/2"]]
    assert checked(proof([feature], [between(0, 1)], score(0), model, leaf)).accepted
    assert not checked(proof([feature], [between(-1, 0)], score(0), model, leaf)).accepted
    assert not checked(proof([feature], [within(1)], score(0), model, leaf)).accepted


@pytest.mark.parametrize("zero", ["lower", "upper"])
def test_who_is_first_matters_to_witnesses(zero):
    """A model that falls in steps: x below x' gets the upper label, and x' the lower one."""
    feature, model = ordinal("rank", ["a", "b", "c"]), affine(0, [table(0, 1, [1, 0, -1])], zero=zero)
    up, down = ([0], [2], [1, -1]), ([2], [0], [-1, 1])
    pair, contrary = (down, up) if zero == "upper" else (up, down)
    raised = between(0, 2) if zero == "lower" else between(-2, 0)
    assert checked(witness([feature], [raised], decision(), model, *pair)).accepted
    assert (
        checked(witness([feature], [raised], decision(), model, *contrary)).reason
        == "x and other are not similar"
    )
    lowered = between(-2, 0) if zero == "lower" else between(0, 2)
    report = checked(witness([feature], [lowered], decision(), model, *contrary))
    assert report.reason == "the pair does not break the property"


def test_enumerated_points_are_those_in_the_one_direction():
    feature, other = integer("rank", 0, 3), integer("age", 0, 2)
    model = affine(0, [line(0, 1), line(1, -3)])
    for low, high in product(range(-3, 3), range(-2, 4)):
        if low < high:
            values = proof([feature, other], [between(low, high), SAME], score(1), model, [["enumerated"]])
            holds = Truth(values).witness() is None
            assert checked(values).accepted == holds == (low >= -1)


def classes(of, *, link=None) -> dict:
    return {
        "family": "test",
        "body": {
            "kind": "affine",
            "bias": ["0", "0", "0"],
            "columns": [{"feature": 0, "weight": ["1", "0", "-1"], "slope": "1", "offset": "-1"}],
        },
        "head": {"labels": ["a", "b", "c"], "classes": "argmax", "link": link},
        "rounding": None,
    }, {"kind": "decision", "margin": "0", "class": of}


def test_a_decision_between_classes_is_about_one_of_them():
    feature = integer("rank", 0, 2)
    model, asked = classes(0)
    nodes = [["cases"], ["enumerated"], ["enumerated"]]
    values = proof([feature], [between(0, 2)], asked, model, nodes)
    assert checked(values).accepted  # class 0 once, class 0 ever after
    assert not checked(proof([feature], [between(-2, 0)], asked, model, nodes)).accepted
    assert not checked(proof([feature], [within(2)], asked, model, nodes)).accepted
    model, asked = classes(None)
    assert "one of them" in checked(proof([feature], [between(0, 2)], asked, model, nodes)).reason
    model, asked = classes(0)
    pair = proof([feature], [between(0, 2)], asked, model, [])[:-1]
    pair[0]["kind"] = "witness"
    scores = [["-1", "0", "1"], ["1", "0", "-1"]]
    pair += [{"witness": {"x": ["0"], "other": ["2"], "scores": scores}}, {"end": {"sha256": ""}}]
    assert "does not break" in checked(pair).reason  # x' gets class 0, x another one: that is allowed
    pair[2]["similarity"] = [within(2)]
    assert checked(pair).accepted


def test_nothing_is_said_of_everybody_who_is_not_similar_to_themselves():
    feature, model = integer("rank", 0, 3), affine(-9, [line(0, 1)])
    leaf = [["separable", "1"]]
    said = [
        checked(proof([feature], [r], decision(), model, leaf)).decided
        for r in (between(0, 3), between(1, 3))
    ]
    assert said == [0, None]


@pytest.mark.parametrize(
    ("feature", "item"),
    [
        (categorical("sex", ["f", "m"]), between(0, 1)),
        (integer("age"), between(Fraction(1, 2), 1)),
        (integer("age"), between(2, 1)),
        ({**integer("age"), "missing": True}, between(0, 1)),
        (integer("age"), {"kind": "between", "low": "0"}),
        (integer("age"), {"kind": "between", "low": "0", "high": "1", "tolerance": "1"}),
    ],
)
def test_what_is_no_relation_is_rejected(feature, item):
    model = affine(0, [table(0, 1, [0, 1]) if "levels" in feature else line(0, 1)])
    assert not checked(proof([feature], [item], score(9), model, [["separable", "1/2"]])).accepted


def test_a_margin_below_zero_needs_both_directions():
    feature, model = integer("age"), affine(-9, [line(0, 1)])
    report = checked(proof([feature], [between(0, 1)], decision(-1), model, [["separable", "1"]]))
    assert "who is x matters" in report.reason


def test_the_words_say_who_is_first():
    feature, model = integer("age"), affine(-9, [line(0, 1)], zero="upper")
    report = checked(proof([feature], [between(0, 1)], decision(), model, [["separable", "1"]]))
    assert "the second is by 0 to 1 above the first in 'age'" in report.claim
    assert "get the lower label for the first and the upper one for the second" in report.claim
    assert "'age' (of the second by 0 to 1 above the first)" in report.details.lines(full=True)[0]
    report = checked(proof([feature], [between(0, 1)], score(2), model, [["separable", "1/2"]]))
    assert "scores of which the first is at most 2 above the second" in report.claim
