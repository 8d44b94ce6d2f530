"""Every single-field change of every sort of certificate.

Without new seals a change is always rejected, but for the end line, which no seal covers: there a smaller clearance is as true as the
one before. With new seals the changed file is another certificate; if it is accepted, brute force must find its claim true.
"""

import copy
import io
import json
import random

import pytest
from tests.check import samples
from tests.check.builder import checked, packed, sealed
from tests.check.truth import Claim, value

from likewise_check import check

ALL = [*samples.PROOFS, *samples.WITNESSES]
NUMBERS = ("0", "1", "-1", "1/2", "2", "3", "5/2", "1/3", "-3/2", "7", "0x1p-1", "0x1.8p+0", "999/1000")
WORDS = (
    "",
    "same",
    "free",
    "within",
    "pairs",
    "integer",
    "continuous",
    "ordinal",
    "categorical",
    "score",
    "decision",
    "probability",
    "lower",
    "upper",
    "separable",
    "empty",
    "enumerated",
    "independent",
    "split",
    "proof",
    "witness",
    "affine",
    "logistic",
    "trees",
    "left",
    "right",
    "x",
)


def paths(thing, path=()):
    yield path, thing
    items = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ()
    for key, inner in items:
        yield from paths(inner, (*path, key))


def variants(old):
    """Other values for one place."""
    if isinstance(old, bool):
        return [not old, None, int(old)]
    if isinstance(old, int):
        return [old + 1, old - 1, -old - 1, str(old), None, bool(old), 10**9]
    if isinstance(old, str):
        return [*(n for n in NUMBERS if n != old), *(w for w in WORDS if w != old), None, 0, [old], old + " "]
    if isinstance(old, list):
        shorter = [old[:i] + old[i + 1 :] for i in range(len(old))]
        swapped = [[*old[:i], old[i + 1], old[i], *old[i + 2 :]] for i in range(len(old) - 1)]
        longer = [[*old[: i + 1], *copy.deepcopy(old[i:])] for i in range(len(old))]
        return [*shorter, *(s for s in swapped if s != old), *longer, None, {}, [*old, "0"]]
    if isinstance(old, dict):
        return [
            *({k: v for k, v in old.items() if k != gone} for gone in old),
            {**old, "more": "0"},
            None,
            [],
        ]
    return ["0", [], {}, False]


def mutants(values):
    for path, old in paths(values):
        if not path:
            continue
        for new in variants(old):
            changed = copy.deepcopy(values)
            place = changed
            for step in path[:-1]:
                place = place[step]
            place[path[-1]] = new
            yield path, changed
    for i in range(len(values)):
        yield ("lost", i), values[:i] + values[i + 1 :]
        yield ("twice", i), [*values[: i + 1], *values[i:]]
        for j in range(i):
            swapped = list(values)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            if swapped != values:
                yield ("swapped", j, i), swapped


def sealed_values(values):
    return [json.loads(raw) for raw in sealed(values)]


@pytest.mark.parametrize("sample", ALL)
def test_without_new_seals(sample):
    values = sealed_values(sample())
    written = [json.dumps(v, separators=(",", ":")).encode() for v in values]
    assert check(io.BytesIO(packed(written))).accepted
    count = 0
    for path, changed in mutants(values):
        count += 1
        report = check(io.BytesIO(packed([json.dumps(v, separators=(",", ":")).encode() for v in changed])))
        if report.accepted:
            assert path[-2:] == ("end", "clearance"), path
            assert value(changed[-1]["end"]["clearance"]) <= Claim(changed).smallest_clearance()
    assert count > 1000


@pytest.mark.parametrize("sample", ALL)
def test_with_new_seals(sample):
    count = survivors = 0
    for path, changed in mutants(sample()):
        count += 1
        report = checked(changed)
        if report.accepted:
            survivors += 1
            truth = Claim(changed, grid=3)
            if report.kind == "witness":
                pair = changed[5]["witness"]
                x, other = tuple(map(value, pair["x"])), tuple(map(value, pair["other"]))
                assert truth.breaks(truth.gauge(x), truth.gauge(other)), path
                assert truth.related(x, other), path
                assert truth.valid(x), path
                assert truth.valid(other), path
            else:
                assert truth.witness() is None, path
                smallest = truth.smallest_clearance()
                assert smallest is None or value(changed[-1]["end"]["clearance"]) <= smallest, path
    assert count > 1000
    assert survivors  # words, names and looser bounds


@pytest.mark.parametrize("sample", ALL)
def test_two_changes_with_new_seals(sample):
    chance = random.Random(7)
    for _, once in chance.sample(list(mutants(sample())), 20):
        try:
            twice = chance.sample(list(mutants(once)), 20)
        except TypeError:  # the first change left nothing to copy from
            continue
        for path, changed in twice:
            report = checked(changed)
            if report.accepted and report.kind == "proof":
                assert Claim(changed, grid=3).witness() is None, path
