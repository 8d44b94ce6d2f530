"""Cuts that are taken back before a search is settled: the proof still covers every pair, and nothing is lost but parts that nobody looked at."""

import heapq
import io

import numpy as np
import pytest
from tests.verifying.test_networks import SIMILAR, SPACE, classifier

import likewise as lw
from likewise.problem import make_claim, prepare
from likewise.run import Run
from likewise.search.budget import Budget
from likewise.search.frontier import Frontier
from likewise.search.frontiers import make_frontiers
from likewise.search.proof import walk_proof
from likewise.search.task import SearchTask
from likewise.verifying.posed_problem import pose
from likewise_check import check


@pytest.fixture
def frontier(monkeypatch):
    """Some hundred cells of a search that finds nobody and so goes on."""
    monkeypatch.setattr(SearchTask, "referee", lambda *_: None)
    model, frame = classifier((5, 4))
    run = Run(budget=Budget(600.0))
    task = pose(prepare(make_claim(model, SPACE, SIMILAR, lw.ScoreGap(0.0), frame), run), run).task
    found = make_frontiers(task).only
    found.run(most=300)
    return found


def cells_of(frontier):
    return {number: (lo, hi) for number, _, lo, hi in walk_proof(frontier.proof, frontier.pairs)}


def test_open_cells_are_taken_for_their_parts(frontier):
    before, uppers = len(frontier.open), {node.upper for node in frontier.open}
    leaves = frontier.proof.leaves
    frontier.take_back_cuts()
    assert before / 2 <= len(frontier.open) < 0.7 * before
    assert {node.upper for node in frontier.open} == uppers
    assert frontier.proof.leaves == leaves
    cells = cells_of(frontier)
    assert sorted(cells) == list(range(len(frontier.proof.nodes)))  # no node is out of reach
    assert {node.number for node in frontier.open} == {
        n for n, node in enumerate(frontier.proof.nodes) if node is None
    }
    for node in frontier.open:
        lo, hi = cells[node.number]
        assert np.array_equal(lo, node.lo)
        assert np.array_equal(hi, node.hi)
    assert frontier.open[0] == min(frontier.open)


def test_parts_that_were_looked_at_stay(frontier):
    seen = heapq.nlargest(1, frontier.open)[0]
    lo, hi = seen.lo, seen.hi
    seen.upper -= 1e-3
    frontier.take_back_cuts()
    assert any(node is seen for node in frontier.open)
    found = cells_of(frontier)[seen.number]
    assert np.array_equal(found[0], lo)
    assert np.array_equal(found[1], hi)


@pytest.mark.parametrize("hidden", [(20,), (5, 4)])
def test_an_unfinished_measurement_is_certified(hidden, monkeypatch):
    """A search that ends early is settled with cuts taken back, and the checker accepts what is left."""
    taken = []
    whole = Frontier.take_back_cuts

    def take_back(frontier):
        before = len(frontier.open)
        whole(frontier)
        taken.append((before, len(frontier.open)))

    monkeypatch.setattr(Frontier, "take_back_cuts", take_back)
    monkeypatch.setattr(Frontier, "late", property(lambda self: self.settles and len(self.proof.nodes) > 20))
    model, frame = classifier(hidden)
    found = lw.measure(model, SPACE, SIMILAR, X=frame, budget=60, tolerance=1e-9, certify=True)
    assert taken
    assert taken[0][1] < taken[0][0]
    assert found.proved
    assert found.lower < found.upper
    assert check(io.BytesIO(found.certificate.content)).accepted
