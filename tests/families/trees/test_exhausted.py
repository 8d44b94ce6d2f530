"""Disparities, verdicts and certificates of small ensembles against exhaustion."""

from fractions import Fraction

import pytest
from tests.families.trees.forests import all_scores, prepared_of, problem_of, random_case
from tests.questions import asked, gauged
from tests.strategies import value

from likewise.analysis.disparity_problem import DisparityProblem
from likewise.analysis.disparity_search import DisparitySearch
from likewise.analysis.measure import certify_upper
from likewise.model.witness_set import DecisionSet
from likewise.search.frontier import Frontier
from likewise.spec.numbers import double_above
from likewise.verifying.certification import CheckRunner, Statement, certify_proof, certify_witness

CASES = range(120)


def found(seed):
    constrained = seed % 4 == 3
    case = random_case(
        seed, features=4 if constrained else 3 + seed % 2, trees=3 + seed % 3, constrained=constrained
    )
    return case, list(all_scores(case))


@pytest.mark.some_days
@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", CASES)
def test_the_largest_gap_is_that_of_all_pairs_and_its_certificate_is_accepted(seed):
    case, pairs = found(seed)
    if not pairs:
        pytest.skip("nobody")
    largest = max(first - second for _, _, first, second in pairs)
    gauge = gauged("score")
    prepared = prepared_of(case, gauge, gauge.question(Fraction(0)))
    climb = DisparitySearch(DisparityProblem(prepared, gauge), Fraction(0))
    climb.run()
    assert climb.lower == largest
    assert climb.upper == double_above(largest)
    certificate, refusal = certify_upper(prepared, climb, gauge.of, CheckRunner())
    assert certificate is not None, refusal


@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", CASES)
def test_decisions_are_those_of_all_pairs(seed):
    case, pairs = found(seed)
    if not pairs:
        pytest.skip("nobody")
    for margin in (Fraction(0), Fraction(1, 2), max(min(s, -t) for _, _, s, t in pairs)):
        question = asked("decision", margin)
        biased = any(DecisionSet(level=margin).holds(first, second) for _, _, first, second in pairs)
        prepared = prepared_of(case, gauged("margin"), question)
        search = Frontier(task=prepared.task)
        end = search.run()
        statement = Statement(words="", question=question)
        assert end == ("witness" if biased else "closed")
        if biased:
            assert certify_witness(prepared, search.witness, statement, CheckRunner())[1].accepted
        else:
            report = certify_proof(
                prepared, search.proof, lambda s=search: s.clearance, statement, CheckRunner()
            )[1]
            assert report.accepted, report.reason


@pytest.mark.draw(2)
@pytest.mark.parametrize("seed", range(0, 16, 4))
@pytest.mark.parametrize("of", ["margin", "probability"])
def test_other_scales_close_in_on_the_best_pair(seed, of):
    case, pairs = found(seed)
    gauge = gauged(of)
    largest = max(value(of, first, second) for _, _, first, second in pairs)
    prepared = prepared_of(case, gauge, gauge.question(Fraction(0)))
    climb = DisparitySearch(DisparityProblem(prepared, gauge), Fraction(1, 10**6))
    climb.run()
    assert climb.lower <= largest <= climb.upper
    assert climb.upper - climb.lower < 1e-6
    certificate, refusal = certify_upper(prepared, climb, gauge.of, CheckRunner())
    assert certificate is not None, refusal


def test_a_gap_is_proved_at_its_own_size_and_not_below():
    case, pairs = found(1)
    largest = max(first - second for _, _, first, second in pairs)
    assert Frontier(task=problem_of(case, asked("score", largest))).run() == "closed"
    assert Frontier(task=problem_of(case, asked("score", largest - Fraction(1, 2**80)))).run() == "witness"


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(8))
def test_open_cells_are_bounded_by_what_they_say(seed):
    """What a cell is said to allow before it is looked at is no less than what its own bound will be."""
    case, _ = found(seed)
    problem = problem_of(case, asked("score"))
    problem.wanted = asked("score", 1000)
    search = Frontier(task=problem)
    search.run(most=60)
    for cell in search.open:
        sight = search.oracle.view_node(cell, 0, problem.case)
        bound = sight.tightened(sight.at(0.5)).upper
        assert bound <= cell.upper + problem.bounder.noise(0.5)
