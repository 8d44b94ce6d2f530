"""Columns in pieces through the whole engine: verdicts, disparities and certificates against brute force."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.verifying.planted_pieces import in_pieces, planted

import likewise as lw
from likewise.model.embedding import Column
from likewise.spec.pieces import double_below

relaxed = {"deadline": None, "suppress_health_check": list(HealthCheck)}
halves = st.integers(-6, 6).map(lambda n: n / 2)
RELATIONS = ("same", "free", "within")


@st.composite
def step_cases(draw, count=2):
    """Continuous features with steps, and a group that is free: space, columns, similarity."""
    features, columns, free, within = {"group": lw.Categorical(["a", "b"])}, [], ["group"], {}
    columns.append(Column(feature=0, table=(Fraction(0), Fraction(draw(halves)))))
    for k in range(1, draw(st.integers(1, count)) + 1):
        name = f"x{k}"
        features[name] = lw.Continuous(-2.0, 2.0)
        cuts = sorted(
            draw(st.sets(st.sampled_from([-1.5, -0.75, 0.0, 1e-300, 0.1, 1.25, 3.0]), min_size=1, max_size=4))
        )
        columns.append(in_pieces(k, cuts, [[draw(halves)] for _ in range(len(cuts) + 1)]))
        relation = draw(st.sampled_from(RELATIONS))
        if relation == "free":
            free.append(name)
        elif relation == "within":
            within[name] = draw(st.sampled_from([0.1, 0.5, 1.35, 2.0, 4.0]))
    bias = draw(halves) + draw(st.sampled_from([0, 0.25]))
    return lw.Space(features), columns, lw.Similarity(free=free, within=within), bias


def step_choices(space, columns, similar):
    """For each feature the pairs of values (phi(x), phi(x')) that similar individuals can have, exactly."""
    relations = similar.resolve(space)
    choices = [list(product(columns[0].table, repeat=2))]
    for k, column in enumerate(columns[1:], start=1):
        feature = space[space.names[k]]
        parts = []
        ends = [double_below(c) for c in column.pieces.cuts]
        edges = [
            feature.lo,
            *(e for c in ends if feature.lo <= c < feature.hi for e in (c, math.nextafter(c, 9))),
            feature.hi,
        ]
        for lo, hi in zip(edges[::2], edges[1::2], strict=True):
            parts.append((Fraction(lo), Fraction(hi), column.exact(Fraction(hi))))
        found = set()
        for (lo, hi, u), (low, high, v) in product(parts, repeat=2):
            apart = max(low - hi, lo - high, Fraction(0))
            kind, t = relations[k].kind, relations[k].tolerance
            if kind == "free" or (kind == "within" and apart <= t) or (kind == "same" and lo == low):
                found.add((u, v))
        choices.append(sorted(found))
    return choices


def brute_force(space, columns, similar, bias):
    """All pairs of scores."""
    return {
        (bias + sum(u for u, _ in setting), bias + sum(v for _, v in setting))
        for setting in product(*step_choices(space, columns, similar))
    }


@settings(max_examples=60, **relaxed)
@given(case=step_cases(), zero_is_upper=st.booleans())
def test_steps_get_the_verdict_of_brute_force(case, zero_is_upper):
    space, columns, similar, bias = case
    scores = brute_force(space, columns, similar, Fraction(bias))
    widest = max(s - t for s, t in scores)
    with pytest.MonkeyPatch.context() as patch:
        planted(patch, space, columns, bias=bias, zero_is_upper=zero_is_upper)
        for delta in {widest, widest / 2}:
            result = lw.verify(None, space, similar, lw.ScoreGap(float(delta)), budget=20)
            assert result.verdict == ("FAIR" if widest <= delta else "BIASED")
        upper = (
            [s >= 0 if zero_is_upper else s > 0 for s, _ in scores],
            [t >= 0 if zero_is_upper else t > 0 for _, t in scores],
        )
        flips = any(a != b for a, b in zip(*upper, strict=True))
        result = lw.verify(None, space, similar, lw.SameDecision(), budget=20)
        assert result.verdict == ("BIASED" if flips else "FAIR"), result.reason


@settings(max_examples=20, **relaxed)
@given(case=step_cases())
def test_steps_get_the_disparity_of_brute_force(case):
    space, columns, similar, bias = case
    scores = brute_force(space, columns, similar, Fraction(bias))
    with pytest.MonkeyPatch.context() as patch:
        planted(patch, space, columns, bias=bias)
        found = lw.measure(None, space, similar, of="score", certify=True, budget=20)
        widest = float(max(s - t for s, t in scores))
        assert found.lower == pytest.approx(widest, abs=1e-9)
        assert found.upper == pytest.approx(widest, abs=1e-9)
        assert found.certificate is not None
        found = lw.measure(None, space, similar, of="probability", certify=True, budget=20)
        sigma = lambda s: 1 / (1 + math.exp(-s))  # noqa: E731
        widest = max(sigma(s) - sigma(t) for s, t in scores)
        assert found.lower == pytest.approx(widest, abs=1e-7)
        assert found.upper == pytest.approx(widest, abs=2e-6)
        assert found.certificate is not None or widest == 0
