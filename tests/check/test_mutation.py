"""Single changes of every sort of certificate; pairs of them.

Without new seals a change is always rejected, but for the end line, which no seal covers: there a smaller clearance is as true as the
one before. With new seals the changed file is another certificate; if it is accepted, its lines must fit the schema, and brute force must
find its claim true. `make test` draws changes by the day, `make test-all` takes every one.
"""

import functools
import io
import json
import random

import pytest
from tests.check import samples
from tests.check.builder import checked, packed, sealed, written
from tests.check.test_schema import LINE
from tests.check.truth import Claim, value
from tests.tiers import some

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
        longer = [[*old[: i + 1], *old[i:]] for i in range(len(old))]
        return [*shorter, *(s for s in swapped if s != old), *longer, None, {}, [*old, "0"]]
    if isinstance(old, dict):
        return [
            *({k: v for k, v in old.items() if k != gone} for gone in old),
            {**old, "more": "0"},
            None,
            [],
        ]
    return ["0", [], {}, False]


def changed_at(thing, path, new):
    """A copy with another value at the path; it shares all the rest."""
    if not path:
        return new
    step, *rest = path
    copied = dict(thing) if isinstance(thing, dict) else list(thing)
    copied[step] = changed_at(thing[step], rest, new)
    return copied


def changes(values):
    """Single changes: (path, new value there), or (what happens to the lines, all lines)."""
    found = [(path, new) for path, old in paths(values) if path for new in variants(old)]
    for i in range(len(values)):
        found += [
            (("lost", i), values[:i] + values[i + 1 :]),
            (("twice", i), [*values[: i + 1], *values[i:]]),
        ]
        for j in range(i):
            swapped = list(values)
            swapped[i], swapped[j] = swapped[j], swapped[i]
            if swapped != values:
                found.append((("swapped", j, i), swapped))
    return found


def mutants(values, fast=40):
    """(where, changed lines) of all single changes; in `make test` only of `fast` ones, drawn by the day."""
    for path, new in some(changes(values), fast, str(values)):
        yield path, new if isinstance(path[0], str) else changed_at(values, path, new)


@functools.lru_cache(maxsize=2000)  # most changes that are accepted leave the claim as it was
def _truth(lines, grid):
    claim = Claim([None, *json.loads(lines)], grid)
    return claim, claim.witness(), claim.smallest_clearance()


def truth(values, grid=3):
    """The claim of the lines, a witness against it or None, and its smallest clearance."""
    return _truth(json.dumps(values[1:5]), grid)


@pytest.mark.parametrize("sample", ALL)
def test_without_new_seals(sample):
    values = [json.loads(raw) for raw in sealed(sample())]
    assert len(changes(values)) > 1000
    assert check(io.BytesIO(packed([written(line) for line in values]))).accepted
    for path, changed in mutants(values):
        if check(io.BytesIO(packed([written(line) for line in changed]))).accepted:
            assert path[-2:] == ("end", "clearance"), path
            assert value(changed[-1]["end"]["clearance"]) <= truth(changed)[2]


@pytest.mark.some_days
@pytest.mark.parametrize("sample", ALL)
def test_with_new_seals(sample):
    survivors = 0
    for path, changed in mutants(sample()):
        report = checked(changed)
        if not report.accepted:
            continue
        survivors += 1
        assert all(LINE.is_valid(json.loads(raw)) for raw in sealed(changed)), path
        claim, witness, smallest = truth(changed)
        if report.kind == "witness":
            pair = changed[5]["witness"]
            x, other = tuple(map(value, pair["x"])), tuple(map(value, pair["other"]))
            assert claim.breaks(claim.gauge(x), claim.gauge(other)), path
            assert claim.related(x, other), path
            assert claim.valid(x), path
            assert claim.valid(other), path
        else:
            assert witness is None, path
            assert smallest is None or value(changed[-1]["end"]["clearance"]) <= smallest, path
    assert survivors  # words, names and looser bounds


@pytest.mark.parametrize("sample", ALL)
def test_two_changes_with_new_seals(sample):
    chance = random.Random(7)
    for _, once in some(chance.sample(list(mutants(sample(), 20)), 20), 4):
        for path, changed in some(chance.sample(list(mutants(once, 20)), 20), 5):
            report = checked(changed)
            if report.accepted and report.kind == "proof":
                assert truth(changed)[1] is None, path
