"""What goes through many individuals at once is as exact as one at a time: windows, constraints, answers, extremes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from tests.questions import asked

import likewise as lw
from likewise.families.affine.body import AffineScore
from likewise.families.judge import Judge
from likewise.search.budget import Budget
from likewise.search.certainty import ScoreEstimate, answer_pairs, link_scores
from likewise.search.counterparts import (
    BIASED,
    FAIR,
    NOT_REPRESENTABLE,
    UNDECIDED,
    judge_rows,
)
from likewise.search.extremes import similar_windows
from likewise.search.inquiry import Inquiry
from likewise.search.validity import Validity
from likewise.spec.pairs import pair_space
from likewise.spec.terms import Term


@pytest.mark.parametrize("tolerance", [0.1, "7%", 1e-9, 3])
def test_windows_reach_as_far_as_doubles_do(tolerance):
    space = lw.Space({"x": lw.Continuous(-1e3, 1e3)})
    pairs = pair_space(space, lw.Similarity(within={"x": tolerance}))
    reach = pairs.relations[0].tolerance
    codes = np.random.default_rng(0).normal(size=300) * 10.0 ** np.random.default_rng(1).integers(-6, 3, 300)
    codes = np.clip(codes, -1e3, 1e3)
    for code, low, high in zip(codes, *similar_windows(pairs, 0, codes), strict=True):
        for end, outward in ((low, -math.inf), (high, math.inf)):
            assert abs(Fraction(code) - Fraction(end)) <= reach
            # The next double but one is out of reach: `reach` itself was rounded to a double.
            beyond = math.nextafter(math.nextafter(end, outward), outward)
            assert abs(end) == 1e3 or abs(Fraction(code) - Fraction(beyond)) > reach or reach > abs(code) * 2


@pytest.mark.parametrize("rule", ["a <= b", "2 * a + 0.1 * x <= b", "x <= y", "if c == u then d != v"])
def test_constraints_hold_for_whom_they_hold(rule):
    space = lw.Space(
        {
            "a": lw.Integer(0, 4),
            "b": lw.Integer(0, 9),
            "x": lw.Continuous(0, 1),
            "y": lw.Continuous(0, 1),
            "c": lw.Categorical(["u", "v"]),
            "d": lw.Categorical(["u", "v"]),
        }
    )
    pairs = pair_space(space.where(rule), lw.Similarity(free=["a", "x", "c"]))
    random = np.random.default_rng(0)
    rows = np.stack([random.integers(0, 5, 60), random.integers(0, 10, 60), random.uniform(0, 1, 60)], axis=1)
    rows = np.concatenate([rows, rows[:, 2:], random.integers(0, 2, (60, 2))], axis=1)  # x = y: on the border
    settings = np.stack([random.integers(0, 5, 20), rows[:20, 3], random.integers(0, 2, 20)], axis=1).astype(
        float
    )
    allowed = Validity(pairs, (0, 2, 4)).allowed(rows, settings)
    for i, row in enumerate(rows):
        for v, setting in enumerate(settings):
            codes = row.copy()
            codes[[0, 2, 4]] = setting
            exact = [Fraction(c) for c in codes.tolist()]
            assert allowed[i, v] == all(c.exact(exact) <= 0 for c in pairs.constraints)
    everybody = Validity.of_all(pairs).individuals(rows)
    for row, valid in zip(rows.tolist(), everybody, strict=True):
        assert valid == all(c.exact([Fraction(c) for c in row]) <= 0 for c in pairs.constraints)


QUESTIONS = [
    asked("decision"),
    asked("decision", 0.3),
    asked("score", 0.7),
    asked("probability", 0.2, slope=1.5, offset=-0.25),
    asked("probability", 0.0, slope=1.5, offset=-0.25),
]


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: f"{q.kind} {float(q.level)}")
def test_what_is_certain_is_so_for_every_score_that_near(question):
    random, (case,) = np.random.default_rng(0), question.cases()
    value, other = random.normal(size=(2, 400))
    value[:40], other[:40] = 0.3, -0.3
    value[40:60], other[40:60] = 0.7, 0.0
    error = 10.0 ** random.uniform(-17, 0, 400)
    sure, may = answer_pairs(
        question, ScoreEstimate(value=value, error=error), ScoreEstimate(value=other, error=error)
    )
    for i in range(400):
        s, t, e = (Fraction(float(n)) for n in (value[i], other[i], error[i]))
        assert not sure[i] or case.line.holds(s - e, t + e)
        assert may[i] or not case.line.holds(s + e, t - e)
    assert sure.any()
    assert (~may).any()


def test_probabilities_are_within_their_error():
    from flint import arb, ctx

    values = np.concatenate([np.random.default_rng(0).normal(size=200) * 20, [0.0, 800.0, -800.0]])
    found = link_scores(
        ScoreEstimate(value=values, error=np.zeros_like(values)), Fraction(3, 2), Fraction(-1, 4)
    )
    with ctx.workprec(200):
        for at, value, error in zip(values, found.value, found.error, strict=True):
            true = 1 / (1 + (-(arb(float(at)) * 3 / 2 - arb(1) / 4)).exp())
            assert abs(arb(float(value)) - true) <= arb(float(error))
            assert error < 1e-12 * (1 + abs(at))


def test_a_counterpart_that_no_double_names_is_not_claimed():
    """The border lies between the last double within reach and the real end of the window."""
    space = lw.Space({"x": lw.Continuous(0, 1)})
    pairs = pair_space(space, lw.Similarity(within={"x": "10%"}))  # a tenth is no double
    row = 0.5
    end = Fraction(row) + Fraction(1, 10)
    inside = float(similar_windows(pairs, 0, np.array([row]))[1][0])
    assert Fraction(inside) < end
    border = (Fraction(inside) + end) / 2
    for at, verdict in ((border, UNDECIDED), (end, FAIR), (Fraction(inside) - Fraction(1, 2**60), BIASED)):
        score = AffineScore(bias=-at, terms=(Term(slope=Fraction(1)),))
        inquiry = Inquiry(
            pairs=pairs,
            judge=Judge([score]),
            question=asked("decision"),
        )
        found = judge_rows(inquiry, np.array([[row]]), Budget(10))
        assert found.verdict[0] == verdict
        assert (found.reasons.get(0) == NOT_REPRESENTABLE) == (verdict == UNDECIDED)
