"""Continuous features against exact polygons.

With the discrete features fixed and no constraints, the score pairs (s, s') that the continuous features
reach form a convex polygon: the Minkowski sum of one segment a shared feature, one rectangle a free one
and one hexagon a `within` one. All its corners are sums of theirs, so the largest gap is the largest gap
of a corner, and a flip exists iff some segment between two corners meets { s > m, s' <= -m }: rationals.
"""

import itertools
import random
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, Phase, event, given
from hypothesis import strategies as st
from tests.strategies import (
    Case,
    breaks,
    differs,
    discrete_features,
    drawn_weights,
    probability_gap,
    rows_of,
    similarities,
    value,
    values_of,
)
from tests.tiers import examples

import likewise as lw

relaxed = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (
        Phase.explicit,
        Phase.reuse,
        Phase.generate,
    ),  # shrinking takes minutes, the case is small anyway
}


@st.composite
def continuous_features(draw):
    lo = draw(st.sampled_from([-2.0, -0.5, 0.0, 1.0]))
    return lw.Continuous(lo, lo + draw(st.sampled_from([0.5, 1.0, 3.0])))


@st.composite
def mixed_cases(draw, kinds=("logistic", "svc", "regression")):
    features = [draw(continuous_features()) for _ in range(draw(st.integers(1, 2)))]
    features += [draw(discrete_features()) for _ in range(draw(st.integers(0, 2)))]
    space = lw.Space({f"f{k}": feature for k, feature in enumerate(draw(st.permutations(features)))})
    similar = draw(similarities(space, tolerances=(0.5, 1)) if not _has_steps(space) else similarities(space))
    weights, bias = draw(drawn_weights(len(space)))
    return Case(space, similar, weights, bias, draw(st.sampled_from(kinds)))


def _has_steps(space):
    return any(feature.kind == "ordinal" for feature in space.features.values())


def reached(case, name, weight):
    """Corners of the (w x, w x') that one continuous feature reaches."""
    feature = case.space[name]
    lo, hi, w = Fraction(feature.lo), Fraction(feature.hi), Fraction(weight)
    if name in case.similar.free:
        corners = itertools.product((lo, hi), repeat=2)
    else:
        t = min(Fraction(case.similar.within.get(name, 0)), hi - lo)
        corners = [(lo, lo), (lo, lo + t), (lo + t, lo), (hi, hi), (hi, hi - t), (hi - t, hi)]
    return [(w * x, w * y) for x, y in corners]


def polygons(case):
    """Corner candidates of the reachable score pairs, one list a setting of the discrete features."""
    names = case.space.names
    moving = [k for k, name in enumerate(names) if _moves(case, name)]
    fixed = [k for k in range(len(names)) if k not in moving]
    weights = [Fraction(w) for w in case.weights]
    options = [
        [(a, b) for a in vs for b in vs if _alike(case, names[k], a, b)]
        for k in fixed
        for vs in [values_of(case.space[names[k]])]
    ]
    parts = [reached(case, names[k], case.weights[k]) for k in moving]
    for setting in itertools.product(*options):
        first = Fraction(case.bias) + sum(
            weights[k] * Fraction(a) for k, (a, _) in zip(fixed, setting, strict=True)
        )
        second = Fraction(case.bias) + sum(
            weights[k] * Fraction(b) for k, (_, b) in zip(fixed, setting, strict=True)
        )
        yield {
            (first + sum(c[0] for c in corner), second + sum(c[1] for c in corner))
            for corner in itertools.product(*parts)
        }


def _moves(case, name):
    return case.space[name].kind == "continuous" and differs(case.space[name])


def _alike(case, name, a, b):
    from tests.strategies import alike

    return alike(case, name, a, b)


def flips(case, margin, corners):
    """Whether the polygon holds a flip. For the other tie rule the question is mirrored: (s, s') -> (-s', -s)."""
    if case.kind == "svc":
        corners = {(-second, -first) for first, second in corners}
    best = [s for s, t in corners if t <= -margin]
    for (s, t), (s2, t2) in itertools.combinations(corners, 2):
        if (t <= -margin) != (t2 <= -margin):
            share = (-margin - t) / (t2 - t)
            best.append(s + share * (s2 - s))
    return any(s > margin for s in best)


def truly_biased(case, property):
    if isinstance(property, lw.SameDecision):
        return any(flips(case, Fraction(property.margin), corners) for corners in polygons(case))
    return any(s - t > Fraction(property.delta) for corners in polygons(case) for s, t in corners)


questions = st.one_of(
    st.sampled_from([0.0, 0.0, 0.25, 0.1]).map(lw.SameDecision),
    st.sampled_from([0.0, 0.5, 1.0, 2.0, 0.3]).map(lw.ScoreGap),
)


@given(case=mixed_cases(), property=questions)
@examples(150, derandomize=True, **relaxed)  # a tie that no double attains can use up the budget
def test_the_verdict_is_the_one_of_the_polygons(case, property):
    if case.kind == "regression" and isinstance(property, lw.SameDecision):
        property = lw.ScoreGap(0.5)
    biased = truly_biased(case, property)
    result = lw.verify(case.model, case.space, case.similar, property, budget=60)
    event(f"{result.verdict} {property.kind} {result.stats['engine']}")
    if result.verdict == "UNKNOWN":
        assert biased
        assert result.reason.startswith("rounding")
        return
    assert result.verdict == ("BIASED" if biased else "FAIR")
    if biased:
        x, other = rows_of(result.pair, case.space.names)
        assert all(_alike(case, name, a, b) for name, a, b in zip(case.space.names, x, other, strict=True))
        assert all(
            case.space[name].contains(v)
            for row in (x, other)
            for name, v in zip(case.space.names, row, strict=True)
        )
        assert breaks(case, property, case.score(x), case.score(other))


@pytest.mark.parametrize("of", ["score", "margin", "probability"])
def test_the_bracket_is_the_one_of_the_polygons(of):
    @given(case=mixed_cases(kinds=("logistic",)), seed=st.integers(0, 2**32))
    @examples(50, **relaxed)
    def check(case, seed):
        found = lw.measure(case.model, case.space, case.similar, of=of, budget=10)
        assert found.reason is None
        low, high = Fraction(found.lower), Fraction(found.upper)
        assert high - low <= Fraction(1, 10**6) + Fraction(1, 2**48) * (1 + abs(high))
        x, other = rows_of(found.pair, case.space.names)
        assert low <= value(of, case.score(x), case.score(other)) + Fraction(1, 10**70)
        for truth in lower_bounds(case, of, random.Random(seed)):
            assert truth <= high + Fraction(1, 10**70)

    check()


def lower_bounds(case, of, chance):
    """Values that pairs truly reach: all corners, and random points between them."""
    for corners in polygons(case):
        points = list(corners)
        for s, t in points:
            yield probability_gap(s, t) if of == "probability" else value(of, s, t)
        for _ in range(3):
            (s, t), (s2, t2) = chance.choice(points), chance.choice(points)
            share = Fraction(chance.randint(0, 64), 64)
            s, t = s + share * (s2 - s), t + share * (t2 - t)
            yield probability_gap(s, t) if of == "probability" else value(of, s, t)


@given(case=mixed_cases(kinds=("logistic",)), shift=st.sampled_from([-2, -1, 0, 1, 2]), data=st.data())
@examples(50, **relaxed)
def test_under_constraints_no_sampled_pair_beats_the_bracket(case, shift, data):
    """No exact reference here: the pair must be valid and true, and valid pairs must stay below the upper end."""
    names = case.space.names
    signs = [data.draw(st.sampled_from([-1, 0, 1])) for _ in names]
    if not any(signs):
        return
    space = case.space.where(
        " + ".join(f"{a} * {n}" for a, n in zip(signs, names, strict=True)) + f" <= {shift}"
    )
    of = data.draw(st.sampled_from(["score", "margin", "probability"]))
    try:
        found = lw.measure(case.model, space, case.similar, of=of, budget=3)
    except lw.SpecError:  # nobody is left, or nobody representable
        return
    held = Case(space, case.similar, case.weights, case.bias, case.kind)
    x, other = rows_of(found.pair, names)
    assert valid(held, x)
    assert valid(held, other)
    assert Fraction(found.lower) <= value(of, held.score(x), held.score(other)) + Fraction(1, 10**70)
    chance = random.Random(data.draw(st.integers(0, 2**32)))
    for _ in range(300):
        pair = sampled(held, chance)
        if pair is not None:
            assert value(of, held.score(pair[0]), held.score(pair[1])) <= Fraction(found.upper) + Fraction(
                1, 10**70
            )


def valid(case, row):
    named = dict(zip(case.space.names, row, strict=True))
    return all(case.space[n].contains(v) for n, v in named.items()) and all(
        constraint.holds(named) for constraint in case.space.constraints
    )


def sampled(case, chance):
    """A random similar pair of valid individuals, or None."""
    x, other = [], []
    for name, feature in case.space.features.items():
        ends = [feature.lo, feature.hi] if feature.kind == "continuous" else values_of(feature)
        x.append(
            chance.uniform(*ends) if _moves(case, name) and chance.random() < 0.5 else chance.choice(ends)
        )
        reach = {"free": 9}.get("free" if name in case.similar.free else "", case.similar.within.get(name, 0))
        near = [v for v in ends if _alike(case, name, x[-1], v)] + [x[-1]]
        if _moves(case, name):
            near.append(min(max(x[-1] + chance.choice([-1, 1]) * min(reach, 4), feature.lo), feature.hi))
        other.append(chance.choice(near))
    alike = all(_alike(case, n, a, b) for n, a, b in zip(case.space.names, x, other, strict=True))
    return (x, other) if alike and valid(case, x) and valid(case, other) else None
