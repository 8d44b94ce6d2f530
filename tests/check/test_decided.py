"""Everybody decided alike (section 14): said only where it is true of everybody, and not said once a leaf looks at both sides."""

import random
from collections import Counter
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.check import truth
from tests.check.builder import FREE, SAME, affine, checked, decision, integer, line, proof, score
from tests.check.several import Truth, asked, classes, random_body, random_space, random_trees
from tests.check.strategies import claims, trees
from tests.tiers import ALL

FEATURES = [integer("age", 0, 3), integer("sex", 0, 1)]
FAR = 10_000  # more than random claims add up to


def labels_of_all(claim: truth.Claim) -> set[int]:
    """The places of the labels that valid individuals get, by looking at all of them."""
    own = {x for x, _ in claim.pairs()}
    if isinstance(claim, Truth):
        return {i for x in own for i in range(claim.count) if claim.member(x, i)}
    at_zero = claim.model["head"]["zero"] == "upper"
    return {int(claim.score(x) > 0 or (claim.score(x) == 0 and at_zero)) for x in own}


def of_one_way(way: str, bias, zero="lower", prop=None, relations=(SAME, FREE)) -> list:
    model = affine(bias, [line(0, 1), line(1, "1/2")], zero=zero)
    nodes = [["split", 0, "1"], ["separable", way], ["separable", way]]
    return proof(FEATURES, relations, prop or decision(), model, nodes)


@pytest.mark.parametrize(
    ("way", "bias", "zero", "place"),
    [("0", "1/4", "lower", 1), ("1", -4, "lower", 0), ("0", -5, "upper", 0), ("1", 0, "upper", 1)],
)
def test_all_leaves_of_one_way_tell_the_decision_of_everybody(way, bias, zero, place):
    values = of_one_way(way, bias, zero)
    report = checked(values)
    assert report.accepted
    assert report.decided == place
    assert labels_of_all(truth.Claim(values)) == {place}
    assert f"gets decision {place}" in report.in_words()
    assert report.to_dict()["decided"] == place


@pytest.mark.parametrize("leaf", [["enumerated"], ["separable", "999/1000"]])
@pytest.mark.parametrize("place", [6, 7])
def test_one_leaf_of_another_way_is_enough_to_say_nothing(leaf, place):
    values = of_one_way("1", -10)
    assert checked(values).decided == 0
    values[place] = leaf
    assert checked(values).accepted
    assert checked(values).decided is None


@pytest.mark.parametrize("written", ["0/7", "0x0p+0", "-0"])
def test_zero_is_zero_however_it_is_written(written):
    values = of_one_way("0", "1/4")
    values[6] = ["separable", written]
    assert checked(values).decided == 1


def test_nothing_is_said_of_other_properties_margins_and_rejected_files():
    assert checked(of_one_way("1/2", 1, prop=score(9))).decided is None
    assert checked(of_one_way("0", 9, prop=decision("1/2"))).accepted
    assert checked(of_one_way("0", 9, prop=decision("1/2"))).decided is None
    assert checked(of_one_way("0", 9, prop=decision("-1/2"))).decided is None
    refused = checked(of_one_way("0", -9))
    assert not refused.accepted
    assert refused.decided is None


def test_the_leaves_of_several_processes_are_one_proof():
    splits, at = [], 0
    model = affine("1/4", [line(0, 1)])
    for at in range(299):
        splits += [["split", 0, str(at)], ["separable", "0"]]
    values = proof([integer("age", 0, 300)], [SAME], decision(), model, [*splits, ["separable", "0"]])
    assert checked(values, jobs=2).decided == 1
    values[6] = ["separable", "1/2"]
    assert checked(values, jobs=2).accepted
    assert checked(values, jobs=2).decided is None


def test_what_random_proofs_say_of_everybody_is_true():
    """Who is decided alike by chance is seldom; so some of the claims are about scores far from zero, and their proofs look at that side."""
    seen: Counter[object] = Counter()

    def run(count, lift):
        @settings(max_examples=count, suppress_health_check=list(HealthCheck), database=None)
        @given(st.data())
        def holds(data):
            claim = {**data.draw(claims(real=True)), "prop": decision(0)}
            body, zero = claim["model"]["body"], claim["model"]["head"]["zero"]
            body["bias"] = str(Fraction(body["bias"]) + lift)
            nodes = data.draw(trees(claim))
            if lift:
                way = "0" if (lift > 0) == (zero == "lower") else "1"
            else:
                way = data.draw(st.sampled_from([None, None, "0", "1"]))
            if way is not None:
                nodes = [node if node[0] == "split" else ["separable", way] for node in nodes]
            values = proof(**claim, nodes=nodes)
            report = checked(values)
            if not report.accepted and "about nobody" in report.reason:
                return  # constraints that narrowing finds to contradict each other
            seen[report.decided] += 1
            assert report.decided is not None or not lift
            if report.decided is not None:
                assert labels_of_all(truth.Claim(values)) <= {report.decided}

        holds()

    examples = 800 if ALL else 18
    run(examples, 0)
    for lift in (-FAR, FAR):
        run(examples // 6, lift)
    assert min(seen[0], seen[1], seen[None]) > (1 if ALL else 0)


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("kind", ["affine", "trees"])
def test_classes_that_everybody_has(kind, count):
    """Cases by one condition of one side each; a class is told where all others are excluded."""
    seen: Counter[object] = Counter()
    rule = {"affine": "separable"}.get(kind, "trees")
    for seed in range(60):
        rng = random.Random(f"{seed} {kind} {count}")
        features, relations, limits = random_space(rng, constrained=rng.random() < 0.5)
        make = random_body if kind == "affine" else random_trees
        body, ahead = make(rng, features, count), rng.randrange(count)
        body["bias"][ahead] = str(int(body["bias"][ahead]) + rng.choice([3, 6, 12]))
        model = classes(body, range(count))
        prop = asked("decision", 0, rng.choice([None, None, rng.randrange(count)]))
        values = proof(features, relations, prop, model, [], constraints=limits)
        claim = Truth(values)
        nodes = [["cases"]]
        for i, j, *_ in claim.cases():
            places = [rng.randrange(count - 1), rng.randrange(count - 1)]
            way = rng.choice(["0", "1", "1/2"])  # seldom holds, but for the one that speaks of who is ahead
            if rng.random() < 0.8:
                way = "0" if i == ahead else "1"
                side, other = (1, j) if i == ahead else (0, i)
                places[side] = [k for k in range(count) if k != other].index(ahead) if other != ahead else 0
            nodes.append([rule, [*places, way]])
        end = {"nodes": len(nodes), "clearance": "0", "covers_floating_point": False, "sha256": ""}
        report = checked([*values[:5], *nodes, {"end": end}])
        seen[report.decided] += 1
        if report.decided is not None:
            assert labels_of_all(claim) <= {report.decided}
            assert report.accepted
    assert sum(seen.values()) - seen[None] > 5


def test_votes_say_nothing():
    """A cube is not all of its class."""
    rng = random.Random(0)
    features, relations, _ = random_space(rng)
    body = random_body(rng, features, 3)
    body["bias"] = ["100", "100", "100"]
    cubes = [[[[0, True], [1, True]]], [[[0, False], [2, True]]], [[]]]
    model = classes(body, range(3), "votes")
    leaves = [["separable", [0, 0, "0"]], ["separable", [0, 0, "0"]], ["separable", [0, 0, "0"]]]
    values = proof(features, relations, asked("decision", 0), model, [["cases", cubes], *leaves])
    assert checked(values).decided is None
