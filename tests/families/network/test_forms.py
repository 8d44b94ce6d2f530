"""Linear forms of networks: whoever is in a box, the score minus the form lies between its limits, in exact arithmetic."""

import random
from fractions import Fraction

import numpy as np
import pytest
from tests.families.network.networks import RATIONAL, SPACE, columns, random_network, true_score

import likewise as lw
from likewise.families.network.forms import NetworkForms
from likewise.spec.pairs import pair_space

LOW, HIGH = (-3.0, 0.0, 0.0, 0.0), (5.0, 4.0, 2.0, 1.0)
DISCRETE = (False, True, True, True)


def random_box(rng):
    """Some codes of the first three features; the last one is what settings set, and whole."""
    lo, hi = [], []
    for low, high, discrete in zip(LOW, HIGH, DISCRETE, strict=True):
        ends = sorted(rng.randint(int(low), int(high)) if discrete else rng.uniform(low, high) for _ in "12")
        lo.append(ends[0])
        hi.append(ends[1])
    return np.array([*lo[:3], LOW[3]], dtype=float), np.array([*hi[:3], HIGH[3]], dtype=float)


def form_value(bounder, terms, codes):
    """The form of one individual, exactly."""
    total = Fraction(0)
    for k, place in enumerate(bounder.places.tolist()):
        if place >= 0:
            level = bounder.levels[k]
            total += (
                Fraction(terms[place + int(codes[k])])
                if level
                else Fraction(terms[place]) * Fraction(codes[k])
            )
    return total


def people_of(rng, lo, hi):
    """Corners and others."""
    for _ in range(6):
        corner = [rng.choice(ends) for ends in zip(lo, hi, strict=True)]
        yield [float(c) for c in corner]
        yield [
            float(rng.randint(int(a), int(b))) if d else rng.uniform(a, b)
            for a, b, d in zip(lo, hi, DISCRETE, strict=True)
        ]


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", range(40))
def test_scores_lie_between_the_limits_of_their_forms(seed):
    rng = random.Random(seed)
    (body,), embedding = random_network(rng), columns(rng)
    pairs = pair_space(SPACE, lw.Similarity(free=["sex"]))
    bounder = NetworkForms(body.score(embedding, len(SPACE)), pairs, [3])
    boxes = [random_box(rng) for _ in range(5)]
    lo, hi = (np.stack(ends) for ends in zip(*boxes, strict=True))
    least, most = np.array([[0.0], [1.0], [0.0]]), np.array([[0.0], [1.0], [1.0]])  # one, the other, both
    found = bounder.forms(lo, hi, least, most)
    for i, (low, high) in enumerate(boxes):
        for codes in people_of(rng, low, high):
            rest = form_value(bounder, found.terms[i], codes)
            for setting in (0, 1):
                exact = [Fraction(c) for c in (*codes[:3], setting)]
                left = true_score(body, embedding, exact) - rest
                for v in (setting, 2):
                    assert Fraction(found.low[i, v]) <= left <= Fraction(found.high[i, v])


@pytest.mark.parametrize("seed", range(5))
def test_where_nothing_bends_a_form_is_the_score(seed):
    rng = random.Random(seed)
    (body,), embedding = random_network(rng, RATIONAL), columns(rng)
    pairs = pair_space(SPACE, lw.Similarity(free=["sex"]))
    bounder = NetworkForms(body.score(embedding, len(SPACE)), pairs, [3])
    codes = np.array([[0.5, 2.0, 1.0, 0.0]])
    found = bounder.forms(codes, codes, np.array([[0.0]]), np.array([[0.0]]))
    assert 0 <= found.high[0, 0] - found.low[0, 0] < 1e-9


def test_networks_that_are_not_piecewise_linear_have_no_forms():
    from likewise.families.network.activation import Activation
    from likewise.families.network.family import FAMILY

    rng = random.Random(0)
    (body,), embedding = random_network(rng, (Activation("tanh"),)), columns(rng)
    pairs = pair_space(SPACE, lw.Similarity(free=["sex"]))
    assert FAMILY.forms(body.score(embedding, len(SPACE)), pairs, [3]) is None
