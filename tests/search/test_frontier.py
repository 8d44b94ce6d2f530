"""The frontier by itself, with oracles that answer as a test says: no cell is lost, and ends are told as they are."""

import math
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from tests.posing import posed
from tests.strategies import logistic_model

import likewise as lw
from likewise.cells.leaf import Leaf
from likewise.clock import OutOfTime
from likewise.errors import InternalError
from likewise.families.oracle import Ceiling, Child, Closed, Cut, Node, Stuck
from likewise.model.gauge import Gauge
from likewise.search.frontier import AwayNode, Frontier
from likewise.search.frontiers import Frontiers, highest_allowed, reported_upper
from likewise.search.proof import Split, walk_proof

LEAF = Leaf(rule="separable", lean=Fraction(1, 2))
FREE = lw.Similarity(free=["b"])
CHILDREN = (Child(rank=0.0, upper=2.0), Child(rank=0.0, upper=3.0))


def closing(clearance=1):
    return Closed(leaf=LEAF, clearance=Fraction(clearance))


class Scripted:
    """Answers by a function of the node; the first `answered` nodes only, then the time is over."""

    batch, inherits, exact, rule = 4, False, True, "separable"

    def __init__(self, answer, answered=math.inf):
        self.answer, self.left, self.cells = answer, answered, {}

    def warm_up(self):
        """Nothing to compile."""

    def begin(self, _search):
        return None

    def recall(self, node, leaf, search):
        """Nothing to remember."""

    def look(self, batch, _search):
        for node in batch:
            if not self.left:
                raise OutOfTime
            self.left -= 1
            self.cells[node.number] = node.lo.tolist(), node.hi.tolist()
            yield self.answer(node)

    def look_again(self, node, _search):
        return self.answer(node)

    def prove(self, _lo, _hi, _leaf, _case):
        return Fraction(7)


def frontier(answer, answered=math.inf, property=None, similar=FREE):
    space = lw.Space({"a": lw.Integer(0, 4), "b": lw.Integer(0, 4)})
    model = logistic_model([1.0, 0.25], -2.5, ["a", "b"])
    found = Frontier(task=posed(model, space, similar, property, budget=60).task)
    found.oracle = Scripted(answer, answered)
    return found


def cut_to_the_end(node):
    """Cut the first variable with more than one value after its first one; close single points."""
    wide = np.flatnonzero(node.lo < node.hi)
    if not len(wide):
        return closing()
    return Cut(variable=int(wide[0]), at=float(node.lo[wide[0]]), after=None, children=CHILDREN)


def test_the_cells_that_are_looked_at_are_those_of_the_proof():
    search = frontier(cut_to_the_end)
    assert search.run() == "closed"
    assert search.proof.complete
    cells = {
        number: (lo.tolist(), hi.tolist()) for number, _, lo, hi in walk_proof(search.proof, search.pairs)
    }
    assert search.oracle.cells == cells
    assert search.closed == search.proof.leaves == 125  # a, and b of both
    split = next(node for node in search.proof.nodes if isinstance(node, Split))
    assert (split.left, split.right) == (1, 2)


def test_the_clearance_is_the_smallest_of_all_leaves():
    given = iter([cut_to_the_end, cut_to_the_end, 5, 2, 3])

    def answer(node):
        what = next(given)
        return closing(what) if isinstance(what, int) else what(node)

    search = frontier(answer)
    assert search.run() == "closed"
    assert search.clearance == 2
    other = frontier(lambda _: closing(9))
    both = Frontiers(all=[other, search])
    assert both.run() == "closed"
    assert both.clearance_so_far == 2


def test_nodes_that_were_not_answered_for_stay_open():
    search = frontier(cut_to_the_end, answered=10)
    assert search.run() == "budget"
    unproved = {number for number, node in enumerate(search.proof.nodes) if node is None}
    assert {node.number for node in search.open} == unproved
    assert len(search.open) == len(unproved)
    search.oracle.left = math.inf
    assert search.run() == "closed"
    assert search.proof.complete


def test_what_is_stuck_is_not_closed():
    search = frontier(lambda node: Stuck() if node.number == 2 else cut_to_the_end(node))
    assert search.run() == "stuck"
    assert [node.number for node in search.stuck] == [2]
    assert not search.proof.complete
    for order in (1, -1):
        easy = frontier(lambda _: closing())
        assert Frontiers(all=[easy, search][::order]).run() == "stuck"


def test_most_counts_new_nodes():
    search = frontier(cut_to_the_end)
    for _ in range(3):
        before = len(search.proof.nodes)
        assert search.run(most=20) == "budget"
        assert 20 < len(search.proof.nodes) - before <= 20 + 2 * search.oracle.batch


def test_a_lower_level_waits_for_what_is_away():
    search = frontier(lambda _: closing(), property=lw.ScoreGap(1.0))
    asked = search.task.question
    search.away[5] = AwayNode(node=search.open[0], case=search.case)
    with pytest.raises(InternalError, match="lower level"):
        search.ask(asked.at(Fraction(1, 2)))
    search.ask(asked.at(Fraction(2)))
    assert search.task.question.level == 2


@pytest.mark.parametrize(("seconds", "late"), [(100.0, False), (300.0, True)])
def test_the_open_nodes_need_a_part_of_the_budget(seconds, late):
    search = frontier(lambda _: closing())
    search.oracle.inherits = True  # 0.3 of a look for the only open node, of 60 seconds
    search.pace.look_seconds, search.pace.looks = seconds, 1
    assert not search.late
    search.settles = (search,)
    assert search.late is late


def test_what_was_proved_of_a_leaf_is_forgotten_when_it_is_opened_again():
    search = frontier(
        lambda _: Closed(leaf=LEAF, clearance=1, ceiling=Ceiling(Fraction(1), Fraction(1), Fraction(-8)))
    )
    assert search.run() == "closed"
    assert set(search.ceilings) == {0}
    assert not search.reopen({0}, split=False)
    assert search.ceilings == {}
    assert search.closed == 0
    assert [node.number for node in search.open] == [0]


def test_leaves_that_are_parked_leave_their_nodes_open():
    search = frontier(lambda node: cut_to_the_end(node) if node.number == 0 else closing())
    both = Frontiers(all=[search])
    with both.parking():
        assert both.run() == "stuck"
    assert search.closed == 0
    assert set(search.parked) == {1, 2}
    assert both.nodes_with_parked == [[search.proof.nodes[0], LEAF, LEAF]]
    search.away[1] = AwayNode(node=search.stuck[0], case=search.case)
    assert both.nodes_with_parked is None
    search.away.clear()
    both.reopen_stuck()
    assert search.parked == {}
    assert both.run() == "closed"


def test_what_open_nodes_allow_is_the_largest_of_their_bounds():
    search = frontier(cut_to_the_end, property=lw.ScoreGap(1.0))
    both, gauge = Frontiers(all=[search]), Gauge(asked=search.task.question)
    search.open[:] = [Node(0.0, n, *search.start, 0.5, upper) for n, upper in enumerate((0.75, 2.0, 1.0))]
    assert highest_allowed(both, gauge, 1.0) == 4.0  # of a gap: s / 2 - s' / 2 <= 2
    assert highest_allowed(both, gauge, 5.0) == 5.0
    assert 4.0 < reported_upper(both, gauge, 1.0) < 4.0 + 1e-7
    assert reported_upper(both, gauge, 5.0) == 5.0
    search.open.clear()
    assert reported_upper(both, gauge, 1.0) == math.inf


def test_a_case_that_waits_holds_nothing():
    search = frontier(lambda _: closing())
    assert search.run() == "closed"
    both = Frontiers(all=[search])
    assert both.holds()
    assert both.clearance() == 7
    search.waiting = [Node(0.0, 0, *search.start, 0.5)]
    assert not both.holds()


@pytest.mark.parametrize(("upper", "left"), [(2.0, 1), (3.0, 2)])
def test_a_cut_is_taken_back_where_as_much_was_known_of_the_whole(upper, left):
    memory = object()
    parts = (Child(rank=0.0, upper=2.0, memory=memory), Child(rank=0.0, upper=upper, memory=memory))
    search = frontier(lambda _: Cut(variable=0, at=1.0, after=None, children=parts))
    search.oracle.inherits = True
    lo, hi = search.start
    assert search.run(most=0) == "budget"
    search.take_back_cuts()
    assert len(search.open) == left
    cells = {
        number: (lo.tolist(), hi.tolist()) for number, _, lo, hi in walk_proof(search.proof, search.pairs)
    }
    assert {
        node.number: (node.lo.tolist(), node.hi.tolist()) for node in search.open
    }.items() <= cells.items()
    assert cells[0] == (lo.tolist(), hi.tolist())
    assert len(search.proof.nodes) == (1 if left == 1 else 3)


def test_every_case_is_asked_its_own_question():
    both = Frontiers(all=[frontier(cut_to_the_end) for _ in range(4)])
    both.ask(SimpleNamespace(divided=lambda: ["first", "second"]))
    assert [one.task.question for one in both.all] == ["first", "second", "first", "second"]


def test_scores_of_a_pair_may_be_further_apart_the_further_they_are():
    search = frontier(
        cut_to_the_end, similar=lw.Lipschitz(0.5, lw.Metric("l1", weights={"a": 2.0, "b": 1.0}))
    )
    points = np.zeros((2, len(search.pairs.variables)))
    points[:, list(search.pairs.first)] = [[4.0, 0.0], [3.0, 2.0]]
    points[:, list(search.pairs.second)] = [[1.0, 0.0], [3.0, 3.0]]
    first, second = search.sides(points)
    assert first.tolist() == [1.5 - 0.5 * 2 * 3, 1.0 - 0.5]
    assert second.tolist() == [-1.5, 1.25]
