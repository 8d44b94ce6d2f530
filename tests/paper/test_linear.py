"""The meta-algorithm on linear models: against exhaustion, and where floating point leaves it."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import all_pairs, breaks, linear_cases, logistic_model, regression_model
from tests.tiers import examples

import likewise as lw
from likewise import paper
from likewise.errors import SpecError
from likewise.paper import Answer
from likewise.paper.cases import make_cases
from likewise.paper.milp import propose_pair
from likewise.spec.pairs import pair_space
from likewise.spec.terms import Separable, Term

CLEAR = 1e-5  # deeper than the solver's tolerance


def depth(case, property, first, second):
    """How deep a pair lies in the witness set."""
    if isinstance(property, lw.ScoreGap):
        return float(first - second) - property.delta
    return min(float(first), -float(second)) - property.margin


@examples(60, deadline=None)
@given(st.data())
def test_answers_agree_with_exhaustion(data):
    case = data.draw(linear_cases(kinds=("logistic", "svc"), constrained=False))
    property = data.draw(st.sampled_from([lw.SameDecision(), lw.ScoreGap(0.5), lw.SameDecision(margin=0.25)]))
    finding = paper.verify_individual_bias(case.model, case.space, case.similar, property)
    pairs = all_pairs(case)
    deepest = max(depth(case, property, first, second) for _, _, first, second in pairs)
    if finding.answer == Answer.BIASED:
        assert any(breaks(case, property, first, second) for _, _, first, second in pairs)
        assert finding.pair is not None
    else:
        assert finding.answer == Answer.NO
        assert deepest <= CLEAR


@examples(20, deadline=None)
@given(st.data())
def test_constraints_are_respected(data):
    case = data.draw(linear_cases(kinds=("logistic",), constrained=True))
    pairs = all_pairs(case)
    try:
        finding = paper.verify_individual_bias(case.model, case.space, case.similar)
    except SpecError:
        assert not pairs
        return
    deepest = max(depth(case, lw.SameDecision(), first, second) for _, _, first, second in pairs)
    assert finding.answer == Answer.BIASED if deepest > CLEAR else finding.answer != Answer.POSSIBLE


def test_a_program_keeps_to_the_values_of_its_case():
    """Levels are columns of their own: those outside the case must stay zero."""
    levels = ["p", "q", "r"]
    space = lw.Space({"a": lw.Integer(0, 3), "g": lw.Categorical(levels)})
    score = Separable(
        bias=Fraction(-1), terms=(Term(slope=Fraction(1)), Term(table=tuple(map(Fraction, (5, -3, 1)))))
    )
    values = set()
    for case in make_cases(pair_space(space, lw.Similarity(free=["g"])), None, ()):
        proposed = propose_pair(score, case.pairs, "score")
        assert (proposed.x[1], proposed.other[1]) == case.values[0]
        values.add(case.values[0])
    assert len(values) == 6


PARITY = lw.Space({**{f"f{k}": lw.Integer(0, 1) for k in range(6)}, "sex": lw.Integer(0, 1)})


def test_relaxed_integers_make_a_fair_model_possible():
    """Odd whole scores and a free weight of 3/4: no pair of whole numbers flips, fractional ones do."""
    model = logistic_model([2.0, -2.0, 4.0, -4.0, 2.0, -6.0, 0.75], 1.0, PARITY.names)
    similar = lw.Similarity(free=["sex"])
    assert lw.verify(model, PARITY, similar).verdict == "FAIR"
    assert paper.verify_individual_bias(model, PARITY, similar).answer == Answer.NO
    relaxed = paper.verify_individual_bias(model, PARITY, similar, relaxed=PARITY.names[:-1])
    assert relaxed.answer == Answer.POSSIBLE
    assert relaxed.details["excess"] > 0.1


def test_no_is_no_proof():
    """A flip of 1e-9 is a flip, and below what a solver can see."""
    space = lw.Space({"a": lw.Integer(-50, 50), "sex": lw.Integer(0, 1)})
    model = logistic_model([100.0, 2e-9], -1e-9, space.names)
    similar = lw.Similarity(free=["sex"])
    assert paper.verify_individual_bias(model, space, similar).answer == Answer.NO
    assert lw.verify(model, space, similar).verdict == "BIASED"


def test_a_regression_is_asked_for_a_gap():
    space = lw.Space({"a": lw.Continuous(-1, 1), "age": lw.Integer(0, 9), "sex": lw.Integer(0, 1)})
    model = regression_model([1.0, 0.25, 0.5], 0.0, space.names)
    similar = lw.Similarity(free=["sex"], within={"age": 2})
    assert paper.verify_individual_bias(model, space, similar, lw.ScoreGap(0.99)).answer == Answer.BIASED
    assert paper.verify_individual_bias(model, space, similar, lw.ScoreGap(1.01)).answer == Answer.NO
