"""Falsification, enumeration, the referee and the feasibility test: what they propose is judged exactly."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from tests.posing import posed
from tests.strategies import all_pairs, breaks, linear_cases, logistic_model
from tests.tiers import examples

import likewise as lw
from likewise.search.enumeration import enumerate_space
from likewise.search.falsification import falsify, random_rows
from likewise.search.feasibility import find_individual
from likewise.search.lattice import count_individuals, score_blocks
from likewise.search.task import exact_witness, nudge_pair

relaxed = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),
}
SPACE = lw.Space({"a": lw.Integer(0, 9), "x": lw.Continuous(-1, 1), "b": lw.Integer(0, 1)})
SIMILAR = lw.Similarity(free=["b"], within={"x": 0.1})


def problem_of(model, space, similar, property, X=None):
    return posed(model, space, similar, property, X=X, budget=10).task


@given(
    case=linear_cases(kinds=("logistic",)), property=st.sampled_from([lw.SameDecision(), lw.ScoreGap(0.5)])
)
@examples(60, **relaxed)
def test_what_is_found_is_a_witness_and_what_is_deep_is_found(case, property):
    pairs = all_pairs(case)
    if not pairs:
        return
    problem = problem_of(case.model, case.space, case.similar, property)
    for find in (falsify, enumerate_space):
        witness = find(problem)
        if witness is not None:
            x, other = ([Fraction(c) for c in codes] for codes in (witness.x, witness.other))
            assert problem.pairs.valid(x, other)
            assert breaks(case, property, witness.first.lo, witness.second.hi)
            assert (problem.oracles.enclose(x, 64), problem.oracles.enclose(other, 64)) == witness.scores
    if isinstance(property, lw.ScoreGap):
        deepest = max(first - second for *_, first, second in pairs)
    else:
        deepest = max(min(first, -second) for *_, first, second in pairs) + Fraction(1, 2)
    if deepest > Fraction(1, 2) + Fraction(1, 1000):  # looking at everybody, nobody that clear is missed
        assert enumerate_space(problem) is not None


@given(case=linear_cases(kinds=("logistic",), constrained=False))
@examples(60, **relaxed)
def test_the_lowest_similar_score_of_everybody(case):
    problem = problem_of(case.model, case.space, case.similar, lw.SameDecision())
    found = [block.lowest_scores().ravel() for block in score_blocks(problem, None)]
    lowest = {}
    for x, _, _, second in all_pairs(case):
        lowest[x] = min(lowest.get(x, second), second)
    assert np.allclose(sorted(np.concatenate(found)), sorted(float(v) for v in lowest.values()))


def test_continuous_spaces_are_not_enumerated():
    problem = problem_of(logistic_model([1.0, 1.0, 1.0], 0.0, SPACE.names), SPACE, SIMILAR, lw.SameDecision())
    assert count_individuals(problem.pairs) is None
    assert enumerate_space(problem) is None


def test_known_rows_are_looked_at():
    """A flip in one of 10^12 individuals that only the data know of."""
    names = [f"f{k}" for k in range(12)] + ["b"]
    space = lw.Space({**{n: lw.Integer(0, 9) for n in names[:-1]}, "b": lw.Integer(0, 1)})
    weights = [float(3**k) for k in range(12)]
    row = np.array([7, 3, 9, 1, 0, 4, 2, 8, 5, 6, 1, 3])
    model = logistic_model([*weights, 1.0], -float(row @ weights) - 0.5, names)
    import pandas as pd

    X = pd.DataFrame([[*row, 0]], columns=names)
    result = lw.verify(model, space, lw.Similarity(free=["b"]), X=X)
    assert (result.verdict, result.stats["engine"]) == ("BIASED", "falsification")


def test_random_rows_lie_in_the_space():
    problem = problem_of(logistic_model([1.0, 1.0, 1.0], 0.0, SPACE.names), SPACE, SIMILAR, lw.SameDecision())
    rows = random_rows(problem, 200)
    for row in rows.tolist():
        codes = [Fraction(c) for c in row]
        assert problem.pairs.valid(codes, codes)
    assert len({row[0] for row in rows.tolist()}) == 10


def test_the_referee_is_exact():
    problem = problem_of(logistic_model([0.0, 1.0, 0.0], 0.0, SPACE.names), SPACE, SIMILAR, lw.ScoreGap(0.0))
    assert exact_witness(problem, [0.0, 0.5, 0.0], [0.0, 0.45, 1.0]) is not None
    assert exact_witness(problem, [0.0, 0.5, 0.0], [0.0, 0.5, 1.0]) is None  # the same score
    assert exact_witness(problem, [0.0, 0.5, 0.0], [1.0, 0.45, 0.0]) is None  # not similar
    assert exact_witness(problem, [0.0, 0.5, 0.0], [0.0, 0.3, 0.0]) is None  # further than the tolerance
    assert exact_witness(problem, [0.5, 0.5, 0.0], [0.5, 0.45, 0.0]) is None  # half an integer
    assert exact_witness(problem, [0.0, 1.5, 0.0], [0.0, 1.45, 0.0]) is None  # outside
    assert exact_witness(problem, [0.0, np.inf, 0.0], [0.0, 0.45, 0.0]) is None


def test_a_pair_that_misses_its_tolerance_by_an_ulp_is_moved_back():
    problem = problem_of(logistic_model([0.0, 1.0, 0.0], 0.0, SPACE.names), SPACE, SIMILAR, lw.ScoreGap(0.0))
    x = 0.7
    beyond = x - 0.1
    while Fraction(x) - Fraction(beyond) <= Fraction(0.1):
        beyond = float(np.nextafter(beyond, -1))
    assert not problem.pairs.valid(*([Fraction(0), Fraction(v), Fraction(0)] for v in (x, beyond)))
    witness = exact_witness(problem, [0.0, x, 0.0], [0.0, beyond, 0.0])
    assert witness is not None
    assert Fraction(x) - Fraction(witness.other[1]) <= Fraction(0.1)
    assert nudge_pair(problem.pairs, [0.0, x, 0.0], [0.0, 0.65, 0.0]) == [0.0, 0.65, 0.0]


def test_what_the_original_does_not_show_is_kept_apart():
    problem = problem_of(logistic_model([1.0, 0.0, 0.0], 0.0, SPACE.names), SPACE, SIMILAR, lw.ScoreGap(0.0))

    class Denies:
        def confirms(self, x, other, question):
            return False

    problem.replay = Denies()
    problem.oracles = posed(logistic_model([0.0, 0.0, 1.0], 0.0, SPACE.names), SPACE, SIMILAR).task.oracles
    assert problem.referee([0.0, 0.0, 1.0], [0.0, 0.0, 0.0]) is None
    assert len(problem.unreplayed) == 1


@given(case=linear_cases(kinds=("logistic",), constrained=True))
@examples(60, **relaxed)
def test_somebody_is_found_exactly_where_somebody_is(case):
    if all_pairs(case):
        codes = find_individual(case.space)
        named = {n: case.space.value(k, float(codes[k])) for k, n in enumerate(case.space.names)}
        assert all(constraint.holds(named) for constraint in case.space.constraints)
    else:
        with pytest.raises(lw.SpecError, match="no individual"):
            find_individual(case.space)
