"""Two cases that mirror each other: one is searched, the other one takes over its cells and proves each of them."""

import io
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.posing import posed

import likewise as lw
from likewise.analysis.disparity_search import DisparitySearch
from likewise.cells.leaf import Leaf
from likewise.families.oracle import LookTimes, Node
from likewise.search import checkpoint, frontiers
from likewise.search.mirrored import mirrored_variables, start_anew
from likewise.spec.pairs import pair_space

SPACE = lw.Space({"age": lw.Integer(18, 40), "income": lw.Continuous(0, 50), "sex": lw.Integer(0, 1)})
SIMILAR = lw.Similarity(free=["sex"], within={"age": 1})


def forest(classes=2, trees=6):
    random = np.random.default_rng(3)
    X = np.column_stack(
        [random.integers(18, 41, 200), random.uniform(0, 50, 200), random.integers(0, 2, 200)]
    )
    height = X[:, 0] + X[:, 1] + 4 * X[:, 2] + random.normal(0, 15, 200)
    y = np.digitize(height, [60] if classes == 2 else [45, 70])
    return RandomForestClassifier(trees, max_depth=3, random_state=0).fit(X, y)


@pytest.fixture
def made(monkeypatch):
    """All frontiers that are made."""
    found, make = [], frontiers.make_frontiers

    def keep(task):
        found.append(make(task))
        return found[-1]

    monkeypatch.setattr(checkpoint, "make_frontiers", keep)
    return found


@pytest.fixture
def unmirrored(monkeypatch):
    """Every case is searched by itself."""

    def forbid():
        monkeypatch.setattr(frontiers, "mirror_room", lambda _task: None)

    return forbid


def gap_of(model, similar=SIMILAR, **given):
    return lw.measure(model, SPACE, similar, of="probability", budget=60, **given)


def test_the_second_case_looks_at_little_but_the_leaves_of_the_first(made):
    """A leaf by trees that were looked at together may need a cut more, as these are found anew."""
    model = forest()
    level = 1.05 * gap_of(model, tolerance=1e-3).upper
    result = lw.verify(model, SPACE, SIMILAR, lw.ProbabilityGap(level), budget=60)
    assert result.verdict == "FAIR", result.reason
    leader, follower = made[-1].all
    leaves = sum(isinstance(node, Leaf) for node in leader.proof.nodes)
    assert leaves > 3
    cuts = follower.closed - leaves
    assert 0 <= cuts <= leaves / 2
    assert follower.pace.looks == leaves + 2 * cuts
    assert leader.pace.looks == len(leader.proof.nodes)
    assert lw.check(io.BytesIO(result.certificate.content)).accepted


def test_the_bracket_is_that_of_two_searches(unmirrored):
    model = forest()
    found = gap_of(model, tolerance=0)
    unmirrored()
    expected = gap_of(model, tolerance=0)
    assert found.proved
    assert expected.proved
    assert (found.lower, found.upper) == (expected.lower, expected.upper)


def test_a_bracket_that_was_left_open_is_proved_of_both_cases(made):
    found = gap_of(forest(), tolerance=1e-6, certify=True)
    assert found.certificate is not None
    assert lw.check(io.BytesIO(found.certificate.content)).accepted
    assert all(frontier.proof.complete for frontier in made[-1].all)


def test_cells_that_do_not_hold_are_searched_on(made):
    """The leader's proof is taken for a single cell: the follower has to find one of its own."""
    model = forest()
    level = 1.05 * gap_of(model, tolerance=1e-3).upper
    lw.verify(model, SPACE, SIMILAR, lw.ProbabilityGap(level), budget=60, certify=False)
    leader, follower = made[-1].all
    leader.proof = type(leader.proof)([Leaf(rule="trees")])
    follower.proof.nodes[0] = None
    start_anew(follower)
    assert follower.waiting
    assert not made[-1].holds()
    assert made[-1].run() == "closed"
    assert follower.proof.complete
    assert len(follower.proof.nodes) > 3


def nearly_mirrored(by, trees=6):
    """A forest of which one leaf that no row of the data comes to adds a little more to one class."""
    model = forest(trees=trees)
    model.estimators_[0].tree_.value[-1, 0, 1] += by
    return model


def test_scores_are_mirrored_as_far_as_the_sum_of_every_leaf_is_proved(made):
    gap_of(nearly_mirrored(0.0), tolerance=1e-3)
    leader, follower = made[-1].all
    assert follower.follows is leader
    assert 0 <= follower.room < 2**-50
    gap_of(nearly_mirrored(2.0**-31), tolerance=1e-3)
    assert made[-1].all[1].room == pytest.approx(2.0**-31 / 6)
    gap_of(nearly_mirrored(1e-3), tolerance=1e-3)
    assert all(frontier.follows is None for frontier in made[-1].all)


def test_what_is_shown_before_the_second_case_was_looked_at_has_room_for_it(made):
    """Nobody but the leader has been looked at; the numbers shown hold for the follower's gaps as well."""
    by = 2.0**-31
    model = nearly_mirrored(by)
    gap_of(model, tolerance=1e-3)
    search = made[-1]
    leader, follower = search.all
    leader.open = [replace(leader_node(leader), upper=0.2, lean=0.5)]
    start_anew(follower)
    gauge = posed(model, SPACE, SIMILAR, lw.ProbabilityGap(0.1)).gauge
    assert frontiers.highest_allowed(search, gauge, 0.1) >= 0.4 + by / 6
    assert frontiers.reported_upper(search, gauge, 0.1) > 0.4 + by / 6
    leader.open[0].upper = 0.05
    assert frontiers.highest_allowed(search, gauge, 0.1) >= 0.1 + by / 6
    follower.waiting = []
    assert frontiers.highest_allowed(search, gauge, 0.1) == 0.1


@pytest.mark.some_days
@pytest.mark.parametrize("climbs", [2, 4])
@pytest.mark.parametrize("by", [0.0, 2.0**-31])
def test_a_bracket_that_is_left_open_rests_on_the_leader_and_what_is_proved_of_the_sum(
    made, monkeypatch, by, climbs
):
    """Time is up after so many climbs of 20 cells: in the first stage or some stages later."""
    model = nearly_mirrored(by, trees=30)
    gap = gap_of(model, tolerance=0)
    climb, left = DisparitySearch._climb, iter(range(climbs))

    def climb_at_times(self, most=20):
        return "budget" if next(left, None) is None else climb(self, min(most, 20))

    monkeypatch.setattr(DisparitySearch, "_climb", climb_at_times)
    found = gap_of(model, tolerance=0)
    leader, follower = made[-1].all
    assert found.proved
    assert found.lower <= gap.lower <= gap.upper < found.upper < 1
    assert leader.proof.complete
    assert follower.waiting
    assert follower.pace.looks == 0
    level = leader.case.line.delta
    assert found.upper >= float(level + follower.room) >= float(level)
    left = iter(range(climbs))
    certified = gap_of(model, tolerance=0, certify=True)
    assert certified.certificate is not None
    assert all(frontier.proof.complete for frontier in made[-1].all)


def leader_node(leader):
    return Node(0.0, 0, *leader.start, 0.5)


def test_constraints_and_other_numbers_of_classes_are_searched_case_by_case(made):
    gap_of(forest(classes=3), tolerance=1e-3)
    assert not any(frontier.waiting or frontier.follows for frontier in made[-1].all)
    space = lw.Space(dict(SPACE.features), constraints=["income <= age"])
    lw.measure(forest(), space, SIMILAR, of="probability", tolerance=1e-3, budget=60)
    assert not any(frontier.waiting or frontier.follows for frontier in made[-1].all)


def test_x_and_its_counterpart_change_places():
    pairs = pair_space(SPACE, SIMILAR)
    other = mirrored_variables(pairs)
    assert [other[v] for v in pairs.first] == list(pairs.second)
    assert [other[other[v]] for v in range(len(other))] == list(range(len(other)))


@pytest.mark.parametrize(("remembers", "share"), [(True, 0.25), (False, 0.5)])
def test_settling_nodes_with_memories_is_expected_to_take_less(made, monkeypatch, remembers, share):
    gap_of(forest(), tolerance=1e-3)
    leader = made[-1].all[0]
    leader.open = [leader_node(leader)] * 10
    leader.pace = LookTimes(look_seconds=4.0, looks=2, proof_seconds=1.0, proofs=1)
    monkeypatch.setattr(type(leader.task.oracles.family), "remembers", remembers)
    assert leader.seconds_needed == 10 * (2 * share + 1)
