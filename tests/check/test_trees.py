"""Tree ensembles (section 9): the bound is B as defined, what is accepted is true, and what is malformed is rejected."""

import json
import random
from collections import Counter
from fractions import Fraction

import pytest
from tests.check import samples
from tests.check.builder import checked, proof, sealed
from tests.check.ensembles import bound, random_claim, random_proof
from tests.check.test_mutation import mutants
from tests.check.test_schema import LINE
from tests.check.truth import Claim as Truth
from tests.check.truth import value
from tests.tiers import ALL, some

from likewise_check.core.bound import read_way
from likewise_check.core.cells import make_box
from likewise_check.core.numbers import int_if_whole
from likewise_check.core.properties import read_property
from likewise_check.core.space import read_similarity, read_space
from likewise_check.packs.trees import forest
from likewise_check.packs.trees.body import read_trees
from likewise_check.packs.trees.forest import Forest


def ready(claim: dict, body: dict | None = None):
    space = read_space({"space": {"features": claim["features"], "constraints": []}})
    similarity = read_similarity({"similarity": claim["relations"]}, space)
    return space, similarity, read_trees(body or claim["model"]["body"], space)


def boxes(cell):
    return [make_box(*[(int_if_whole(lo), int_if_whole(hi)) for lo, hi in both]) for both in cell]


def another(chance, body: dict) -> dict:
    """Other values on the same trees."""
    found = [[n if isinstance(n, list) else f"{chance.randint(-6, 6)}/3" for n in t] for t in body["trees"]]
    return {**body, "bias": "1/7", "trees": found}


@pytest.mark.draw(2)
@pytest.mark.parametrize("listed", [0, 30, 1 << 22])
def test_the_bound_is_as_defined(monkeypatch, listed):
    """By listed pairs and by search, in cells in any order, for one body and for two."""
    monkeypatch.setattr(forest, "MOST_LISTED", listed)
    seen: Counter[bool] = Counter()
    for seed in range(40):
        chance = random.Random(seed)
        claim = random_claim(chance)
        second = another(chance, claim["model"]["body"])
        space, similarity, body = ready(claim)
        other = ready(claim, second)[2]
        made = Forest(space.features, similarity, body)
        _, cells = random_proof(chance, claim)
        for cell in [*cells, *chance.sample(cells, len(cells))]:
            a, b = Fraction(chance.randint(0, 4), 4), Fraction(chance.randint(0, 3), 3)
            g = None if chance.random() < 0.5 else second
            expected = bound(claim, cell, a, b, second=g)
            assert made.maximum(boxes(cell), body, other if g else body, a, b) == expected, (seed, cell)
            seen[expected is None] += 1
    assert min(seen.values()) > 10


def gauge_of(claim):
    sign, shift = Fraction(1), Fraction(0)
    head = claim["model"]["head"]
    if claim["prop"]["kind"] == "probability" and isinstance(head["link"], list):
        sign, shift = value(head["link"][1]), value(head["link"][2])
    elif claim["prop"]["kind"] == "decision" and head["zero"] == "upper":
        sign = Fraction(-1)
    return sign, shift


def expected_of(claim, nodes, cells):
    """Whether all leaves hold, and the smallest clearance."""
    asked = read_property(
        {"property": claim["prop"]}, read_space({"space": {"features": claim["features"], "constraints": []}})
    )
    found = []
    for (_, way, *groups), cell in zip([n for n in nodes if n[0] == "trees"], cells, strict=True):
        a, b, limit = read_way(way, asked)
        top = bound(claim, cell, a, b, *gauge_of(claim), groups=groups[0] if groups else ())
        if top is not None:
            if top > limit or (top == limit and claim["prop"]["kind"] == "decision" and way == "0"):
                return False, None
            found.append((limit - top) / (a + b))
    return bool(found), min(found, default=None)


NOBODY = "no individual satisfies the constraints: a claim about nobody"


def test_proofs_are_accepted_exactly_where_the_bound_shows_it():
    """And then brute force finds no witness, and no pair nearer to one than the clearance."""
    seen: Counter[bool] = Counter()
    for seed in some(range(4000), 60):
        chance = random.Random(seed)
        claim = random_claim(chance)
        nodes, cells = random_proof(chance, claim)
        holds, clearance = expected_of(claim, nodes, cells)
        stated = clearance if clearance is not None and clearance >= 0 else 0
        values = proof(**claim, nodes=nodes, clearance=Fraction(stated))
        report = checked(values)
        if report.reason == NOBODY:
            assert Truth(values, grid=3).smallest_clearance() is None, seed
            continue
        assert report.accepted == holds, (seed, report.reason)
        seen[holds] += 1
        if holds:
            truth = Truth(values, grid=3)
            assert truth.witness() is None, seed
            smallest = truth.smallest_clearance()
            if claim["prop"]["kind"] != "probability":  # there, it is a smaller number
                assert smallest is None or smallest >= stated, seed
            values[-1]["end"]["clearance"] = str(stated + Fraction(1, 10**9))
            assert "clearance" in checked(values).reason
    assert min(seen[True], seen[False]) > (30 if ALL else 0)


def test_jobs_do_not_matter(monkeypatch):
    monkeypatch.setattr("likewise_check.core.leaves.BATCH", 2)
    done = 0
    for seed in range(40):
        chance = random.Random(seed)
        claim = random_claim(chance)
        nodes, _ = random_proof(chance, claim, depth=5)
        if len(nodes) < 9 or done == 3:
            continue
        done += 1
        reports = [checked(proof(**claim, nodes=nodes), jobs=jobs, refusals=99) for jobs in (1, 2)]
        assert reports[0].accepted == reports[1].accepted
        assert reports[0].refused == reports[1].refused
    assert done == 3


def test_changed_certificates_are_true_or_rejected():
    """Single changes of a proof with all sorts of leaves, sealed anew (more of them: `test_mutation`)."""
    accepted = 0
    for path, changed in mutants(samples.branched()):
        if checked(changed).accepted:
            accepted += 1
            truth = Truth(changed, grid=3)
            assert truth.witness() is None, path
            smallest = truth.smallest_clearance()
            assert smallest is None or value(changed[-1]["end"]["clearance"]) <= smallest, path
            assert all(LINE.is_valid(json.loads(raw)) for raw in sealed(changed)), path
    assert accepted


def test_several_scores_fit_the_schema():
    values = samples.grown()
    values[4]["model"]["body"] = {
        "kind": "trees",
        "bias": ["1", "2"],
        "trees": [[[0, "1", 2], ["0", "1"], ["1", "1"]]],
    }
    assert all(LINE.is_valid(json.loads(raw)) for raw in sealed(values))
    assert "several scores" in checked(values).reason or "entries" in checked(values).reason
