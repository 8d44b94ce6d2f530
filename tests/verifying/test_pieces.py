"""Columns in pieces through the whole engine: verdicts, disparities and certificates against brute force."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.tiers import ALL, examples
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


@examples(60, **relaxed)
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


@examples(20, **relaxed)
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


# -- lines and splines in pieces --------------------------------------------------------------------------


@st.composite
def curved_cases(draw):
    """One feature with polynomial pieces, continuous at some cuts and not at others, and a free group."""
    degree = draw(st.integers(1, 3))
    cuts = sorted(draw(st.sets(st.sampled_from([-1.5, -0.75, 0.0, 0.1, 1.25]), min_size=1, max_size=3)))
    polynomials = [[draw(halves) for _ in range(degree + 1)] for _ in range(len(cuts) + 1)]
    columns = [
        Column(feature=0, table=(Fraction(0), Fraction(draw(halves)))),
        in_pieces(1, cuts, polynomials),
        Column(feature=1, slope=Fraction(draw(halves)), offset=Fraction(1)),
    ]
    space = lw.Space({"group": lw.Categorical(["a", "b"]), "x": lw.Continuous(-2.0, 2.0)})
    kind = draw(st.sampled_from(RELATIONS))
    within = {"x": draw(st.sampled_from([0.1, 0.5, 1.35]))} if kind == "within" else {}
    return space, columns, lw.Similarity(free=["group", *(["x"] if kind == "free" else [])], within=within)


def dense_grid(column):
    places = [np.linspace(-2, 2, 401)]
    places += [[double_below(c), math.nextafter(double_below(c), 9)] for c in column.pieces.cuts]
    return np.unique(np.concatenate(places))


def gaps_on_a_grid(space, columns, similar):
    """The widest gap over pairs of a dense grid, exact at the best one: no more than the disparity."""
    relation = similar.resolve(space)[1]
    grid = dense_grid(columns[1])
    values = columns[1].pieces.values(grid) + float(columns[2].slope) * grid
    gap = values[:, None] - values[None, :]
    apart = np.abs(grid[:, None] - grid[None, :])
    if relation.kind == "same":
        gap = np.where(apart == 0, gap, -np.inf)
    elif relation.kind == "within":
        gap = np.where(apart <= float(relation.tolerance) - 1e-12, gap, -np.inf)
    return abs(float(columns[0].table[1])) + float(gap.max())


@settings(max_examples=6 if ALL else 2, **relaxed)
@given(case=curved_cases())
def test_polynomial_pieces_get_the_disparity_of_a_dense_grid(case):
    space, columns, similar = case
    with pytest.MonkeyPatch.context() as patch:
        planted(patch, space, columns)
        found = lw.measure(None, space, similar, of="score", tolerance=1e-2, certify=True, budget=60)
    on_grid = gaps_on_a_grid(space, columns, similar)
    steepest = 60.0  # a bound of the derivative of these polynomials on [-2, 2]
    assert found.upper >= on_grid - 1e-9
    assert found.lower <= on_grid + 2 * steepest * 0.01 + 1e-9
    assert found.upper - found.lower <= 1e-2 * 1.01, found.reason
    assert found.certificate is not None


@settings(max_examples=12 if ALL else 3, **relaxed)
@given(case=curved_cases(), bias=halves)
def test_polynomial_pieces_get_verdicts_that_a_dense_grid_does_not_refute(case, bias):
    space, columns, similar = case
    with pytest.MonkeyPatch.context() as patch:
        planted(patch, space, columns, bias=bias)
        widest = gaps_on_a_grid(space, columns, similar)
        result = lw.verify(None, space, similar, lw.ScoreGap(max(widest - 0.01, 0)), budget=20)
        assert result.verdict == "BIASED" or widest <= 0.01, result.reason
        result = lw.verify(None, space, similar, lw.ScoreGap(widest + 1.3), budget=20)
        assert result.verdict == "FAIR", result.reason
        decided = lw.verify(None, space, similar, lw.SameDecision(), budget=20)
        grid = dense_grid(columns[1])
        values = (
            bias
            + 1 * float(columns[2].offset)
            + columns[1].pieces.values(grid)
            + float(columns[2].slope) * grid
        )
        groups = np.array([0.0, float(columns[0].table[1])])
        if (
            (values[:, None] + groups > 1e-9).any(axis=1) & (values[:, None] + groups < -1e-9).any(axis=1)
        ).any():
            assert decided.verdict == "BIASED", decided.reason
        if decided.verdict == "UNKNOWN":
            assert "budget" not in decided.reason


def test_a_constraint_and_steps_together(monkeypatch):
    space = lw.Space(
        {"group": lw.Categorical(["a", "b"]), "x": lw.Continuous(0.0, 10.0), "y": lw.Continuous(0.0, 10.0)},
        constraints=["x + y <= 6"],
    )
    columns = [
        Column(feature=0, table=(Fraction(0), Fraction(1))),
        in_pieces(1, [4.0, 5.0], [[0], [2], [3]]),
        in_pieces(2, [3.0], [[0, Fraction(1, 8)], [1, Fraction(1, 4)]]),
    ]
    planted(monkeypatch, space, columns)
    similar = lw.Similarity(free=["group", "x", "y"])
    found = lw.measure(None, space, similar, of="score", tolerance=1e-6, certify=True, budget=30)
    # x just above 5 and y up to 1, or x up to 4 or 5 and y above 3: 0 + 1 + 6/4 against 3 + 1/8.
    best = 1 + max(3 + 1 / 8, 2 + 2 / 8, 1 + 6 / 4)
    assert found.lower == pytest.approx(best, abs=1e-5)
    assert found.upper == pytest.approx(best, abs=1e-5)
    assert found.certificate is not None, found.reason
