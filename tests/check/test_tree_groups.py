"""Groups of trees (section 9): the bound is B as defined, never above the one without groups nor below the truth, and malformed groups are rejected."""

import random
from collections import Counter
from fractions import Fraction

import pytest
from tests.check.builder import FREE, SAME, between, checked, continuous, integer, proof, score
from tests.check.ensembles import bound, random_claim, random_proof, root, trees
from tests.check.test_trees import another, boxes, expected_of, ready
from tests.check.truth import Claim as Truth
from tests.tiers import ALL, some

from likewise_check.packs.trees import forest
from likewise_check.packs.trees.forest import Forest


def random_groups(chance: random.Random, count: int) -> list[list[int]]:
    """Disjoint groups of two to four trees."""
    left = chance.sample(range(count), count)
    groups = []
    while len(left) > 1:
        size = min(len(left), chance.randint(2, 4))
        groups.append(sorted(left[:size]))
        left = left[size + chance.randint(0, 1) :]
    return groups


def grouped_claim(chance: random.Random) -> dict:
    claim = random_claim(chance, count=4, depth=2)
    body = claim["model"]["body"]
    while len(body["trees"]) < 2:
        body["trees"].append(random_claim(chance, count=1, depth=0)["model"]["body"]["trees"][0])
    for k, (feature, relation) in enumerate(zip(claim["features"], claim["relations"], strict=True)):
        if relation["kind"] == "within" and chance.random() < 0.5 and not feature.get("missing"):
            claim["relations"][k] = between("-1/2" if feature["kind"] == "continuous" else -1, 1)
    return claim


@pytest.mark.some_days
@pytest.mark.draw(2)
@pytest.mark.parametrize("listed", [0, 8, 1 << 22])
def test_the_bound_is_as_defined(monkeypatch, listed):
    """By listed pairs of leaves and by those of a cell alone, in cells in any order, for one body and for two."""
    monkeypatch.setattr(forest, "MOST_LISTED", listed)
    seen: Counter[str] = Counter()
    for seed in range(40):
        chance = random.Random(seed)
        claim = grouped_claim(chance)
        second = another(chance, claim["model"]["body"])
        space, similarity, body = ready(claim)
        other = ready(claim, second)[2]
        made = Forest(space.features, similarity, body)
        _, cells = random_proof(chance, claim)
        for cell in [*cells, *chance.sample(cells, len(cells))]:
            a, b = Fraction(chance.randint(0, 4), 4), Fraction(chance.randint(0, 3), 3)
            g = None if chance.random() < 0.5 else second
            groups = random_groups(chance, len(body.trees))
            expected = bound(claim, cell, a, b, second=g, groups=groups)
            alone = bound(claim, cell, a, b, second=g)
            found = made.maximum(boxes(cell), body, other if g else body, a, b, groups)
            assert found == expected, (seed, cell, groups)
            assert (found is None) == (alone is None)
            if found is not None:
                assert found <= alone
                seen["lower" if found < alone else "equal"] += 1
            else:
                seen["nobody"] += 1
    assert min(seen.values()) > 10
    assert len(seen) == 3


def test_proofs_with_groups_are_accepted_exactly_where_the_bound_shows_it():
    """And then brute force finds no witness."""
    seen: Counter[tuple[bool, bool]] = Counter()
    for seed in some(range(160), 40):
        chance = random.Random(seed)
        claim = grouped_claim(chance)
        groups = random_groups(chance, len(claim["model"]["body"]["trees"]))
        tight = chance.random() < 0.5
        if tight:
            claim["prop"] = score(1)  # whatever it is, leaves have the way 1/2
        nodes, cells = random_proof(chance, claim)
        if tight:
            half = Fraction(1, 2)
            tops = [bound(claim, cell, half, half, groups=groups) for cell in cells]
            claim["prop"] = score(max([0, *(2 * top for top in tops if top is not None)]))
        plain, _ = expected_of(claim, nodes, cells)
        nodes = [[*node, groups] if node[0] == "trees" else node for node in nodes]
        holds, clearance = expected_of(claim, nodes, cells)
        values = proof(**claim, nodes=nodes, clearance=max(Fraction(0), clearance or Fraction(0)))
        report = checked(values)
        if not report.accepted and "about nobody" in report.reason:
            continue
        assert report.accepted == holds, (seed, report.reason)
        seen[plain, holds] += 1
        if holds:
            assert Truth(values, grid=3).witness() is None, seed
    assert not seen[True, False]
    if ALL:
        assert seen[True, True] > 10
        assert seen[False, False] > 10
        assert seen[False, True] > 3  # thanks to groups alone


def exclusive(delta) -> dict:
    """Two trees that are never both at 1: sums of their largest are 2, the truth is 1."""
    tests = [[0, "1", 2], "1", "0"], [[0, "1", 2], "0", "1"]
    return {
        "features": [continuous("age", 0, 2), integer("sex", 0, 1)],
        "relations": [SAME, FREE],
        "prop": score(delta),
        "model": trees("0", [[*[[1, "0", 2], "0"], *shifted(one)] for one in tests], labels=None, link=None),
        "constraints": [],
    }


def shifted(tree: list) -> list:
    """The nodes behind two others."""
    return [[n[0], n[1], n[2] + 2] if isinstance(n, list) else n for n in tree]


def leaf_with(*groups) -> list:
    return [["trees", "1/2", *groups]]


def test_trees_that_exclude_each_other_are_bounded_together():
    values = proof(**exclusive(1), nodes=leaf_with([[0, 1]]))
    assert checked(values).accepted
    assert not checked(proof(**exclusive(1), nodes=leaf_with())).accepted
    assert checked(proof(**exclusive(2), nodes=leaf_with())).accepted
    assert not checked(proof(**exclusive("4095/4096"), nodes=leaf_with([[0, 1]]))).accepted
    cell = root(exclusive(1))
    half = Fraction(1, 2)
    assert [bound(exclusive(1), cell, half, half, groups=g) for g in ((), ([0, 1],))] == [1, half]


@pytest.mark.parametrize(
    "groups",
    [
        [],
        {},
        "01",
        [[]],
        [[0]],
        [0, 1],
        [[0, 2]],
        [[-1, 0]],
        [[1, 0]],
        [[0, 0]],
        [[0, True]],
        [[0, "1"]],
        [[0, 1], [0, 1]],
        [[0, 1], []],
        [[0, 1, 2, 3, 4]],
        None,
    ],
    ids=repr,
)
def test_malformed_groups_are_rejected(groups):
    report = checked(proof(**exclusive(2), nodes=leaf_with(groups)))
    assert not report.accepted
    assert "group" in report.reason or "tree" in report.reason


def test_a_leaf_has_no_fourth_entry():
    assert not checked(proof(**exclusive(2), nodes=leaf_with([[0, 1]], []))).accepted
