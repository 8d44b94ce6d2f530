"""A frontier divided into parts that run elsewhere, and one that is written down and taken up again: the same verdicts, and proofs that are accepted."""

import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge
from tests.posing import problem_of

import likewise as lw
from likewise.errors import InternalError
from likewise.run import Run
from likewise.search.budget import Budget
from likewise.search.frontiers import Frontiers, make_frontiers, reported_upper, resume_all
from likewise.search.parts import (
    absorb,
    divide,
    finished_part,
    frontier_state,
    resume,
    resume_part,
)
from likewise.search.proof import Split, walk_proof
from likewise.verifying.certification import CheckRunner, Statement, certify_proof
from likewise.verifying.posed_problem import pose

SPACE = lw.Space(
    {"a": lw.Integer(0, 9), "b": lw.Integer(0, 7), "c": lw.Integer(0, 7), "s": lw.Categorical([0, 1, 2])}
)
SIMILAR = lw.Similarity(free=["s"], within={"a": 1})
MODELS = {
    "linear": Ridge(),
    "polynomial": KernelRidge(kernel="poly", degree=2, gamma=0.1),
    "rbf": KernelRidge(kernel="rbf", gamma=0.05),
    "trees": GradientBoostingRegressor(n_estimators=12, max_depth=3, random_state=0),
}


def rows():
    random = np.random.default_rng(1)
    X = pd.DataFrame(
        {
            "a": random.integers(0, 10, 80),
            "b": random.integers(0, 8, 80),
            "c": random.integers(0, 8, 80),
            "s": random.integers(0, 3, 80),
        }
    )
    return X, X.a + 0.5 * X.b * (X.s == 1) - 0.3 * X.c + random.normal(size=80)


@pytest.fixture(scope="module")
def limits():
    """Fitted models with a gap that no pair has, but not by much."""
    found = {}
    for name, model in MODELS.items():
        fitted = model.fit(*rows())
        found[name] = fitted, 1.02 * lw.measure(fitted, SPACE, SIMILAR, budget=60).upper
    return found


def posed(model, property):
    run = Run(budget=Budget(120))
    return pose(problem_of(model, SPACE, SIMILAR, property), run)


def begun(limits, name):
    """A claim about one score, and its frontier after a few nodes."""
    model, limit = limits[name]
    prepared = posed(model, lw.ScoreGap(limit))
    frontiers = make_frontiers(prepared.task)
    end = frontiers.run(most=6)
    return prepared, frontiers, end


def accepted(prepared, frontiers):
    statement = Statement(words="", question=prepared.task.question)
    return certify_proof(prepared, frontiers, frontiers.clearance, statement, CheckRunner())[1].accepted


def sent(value):
    """As another process would get it."""
    return pickle.loads(pickle.dumps(value))


def in_parts(problem, frontier, count, most=float("inf")):
    """Divide, run the parts one after another, absorb; the ends that the parts came to."""
    ends = []
    for part in sent(divide(frontier, count)):
        own = resume_part(problem, part)
        ends.append(own.run(most=most))
        absorb(frontier, sent(finished_part(own, part.roots)))
    return ends


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("count", [1, 3])
def test_parts_make_one_proof(limits, name, count):
    prepared, frontiers, _ = begun(limits, name)
    frontier = frontiers.only
    ends = in_parts(prepared.task, frontier, count)
    assert set(ends) <= {"closed"}
    assert frontier.run() == "closed"
    assert frontier.proof.complete
    numbers = [number for number, *_ in walk_proof(frontier.proof, prepared.pairs)]
    assert sorted(numbers) == list(range(len(frontier.proof.nodes)))
    assert frontier.closed == frontier.proof.leaves
    assert accepted(prepared, frontiers)


def parity(count):
    """A proof of many nodes: odd whole numbers, none of them near zero, as no single line shows."""
    from tests.search.test_branch_and_bound import parity as made

    return made(count, 0.75)


def test_parts_that_are_not_finished_are_divided_again():
    model, space, similar = parity(10)
    run = Run(budget=Budget(120))
    prepared = pose(problem_of(model, space, similar), run)
    whole = make_frontiers(prepared.task)
    assert whole.run() == "closed"
    parted = make_frontiers(pose(problem_of(model, space, similar), run).task)
    frontier = parted.only
    assert frontier.run(most=10) == "budget"
    rounds = 0
    while frontier.open:
        rounds += 1
        assert set(in_parts(frontier.task, frontier, 4, most=10)) <= {"closed", "budget"}
    assert rounds > 1
    assert frontier.run() == "closed"
    assert frontier.clearance == whole.only.clearance
    assert accepted(prepared, parted)


@pytest.mark.parametrize("name", MODELS)
def test_a_witness_of_a_part_is_one_of_the_whole(limits, name):
    model, limit = limits[name]
    prepared = posed(model, lw.ScoreGap(0.9 * limit))
    frontier = make_frontiers(prepared.task).only
    assert "witness" in in_parts(prepared.task, frontier, 2)
    assert frontier.witness is not None
    assert frontier.open  # nothing is lost of what was not looked at
    assert frontier.run() == "witness"


def test_a_pair_from_elsewhere_is_put_to_the_referee(limits):
    """A pair that breaks the claim of another level is none here, whatever a part or a state says."""
    model, limit = limits["linear"]
    biased = make_frontiers(posed(model, lw.ScoreGap(0.9 * limit)).task).only
    assert biased.run() == "witness"
    prepared, frontiers, _ = begun(limits, "rbf")
    (part,) = divide(frontiers.only, 1)
    lie = replace(part, state=replace(part.state, witness=biased.witness))
    assert resume_part(prepared.task, lie).witness is None
    absorb(frontiers.only, lie)
    assert frontiers.only.witness is None
    lie = replace(frontier_state(frontiers.only), witness=biased.witness)
    assert resume(prepared.task, lie).witness is None


@pytest.mark.parametrize("name", MODELS)
def test_a_state_is_taken_up_again(limits, name):
    prepared, frontiers, _ = begun(limits, name)
    model, limit = limits[name]
    again = resume_all(posed(model, lw.ScoreGap(limit)).task, sent([frontier_state(frontiers.only)]))
    upper, before = (reported_upper(f, prepared.gauge, limit) for f in (again, frontiers))
    assert upper == before
    assert again.cells == frontiers.cells
    assert frontiers.run() == again.run() == "closed"
    assert again.cells == frontiers.cells
    assert accepted(prepared, again)


def test_a_state_that_is_asked_for_less_opens_what_does_not_hold(limits):
    model, limit = limits["trees"]
    prepared = posed(model, lw.ScoreGap(1.5 * limit))
    frontier = make_frontiers(prepared.task).only
    assert frontier.run() == "closed"
    lower = posed(model, lw.ScoreGap(limit))
    again = resume(lower.task, sent(frontier_state(frontier)))
    assert again.run() == "closed"
    assert accepted(lower, Frontiers(all=[again]))
    biased = posed(model, lw.ScoreGap(0.9 * limit))
    assert resume(biased.task, sent(frontier_state(frontier))).run() == "witness"


def test_leaves_that_a_state_made_up_are_opened_again(limits):
    model, limit = limits["trees"]
    honest = make_frontiers(posed(model, lw.ScoreGap(limit)).task).only
    assert honest.run() == "closed"
    claimed = replace(frontier_state(honest), case=posed(model, lw.ScoreGap(0.9 * limit)).task.case)
    again = resume(posed(model, lw.ScoreGap(0.9 * limit)).task, sent(claimed))
    assert again.open
    assert again.run() == "witness"


def test_a_state_must_be_a_tree_with_its_own_cells(limits):
    prepared, frontiers, _ = begun(limits, "rbf")
    state = frontier_state(frontiers.only)
    first, *others = state.open
    split = next(node for node in state.nodes if isinstance(node, Split))
    smaller = replace(first, hi=first.lo)
    looped = tuple(replace(node, right=node.left) if node is split else node for node in state.nodes)
    for lie in (
        replace(state, open=tuple(others)),
        replace(state, open=(smaller, *others)),
        replace(state, nodes=looped),
        replace(state, nodes=(*state.nodes, None)),
    ):
        with pytest.raises(InternalError, match="of a state are"):
            resume(prepared.task, lie)


@pytest.mark.parametrize("property", [lw.SameDecision(3.0), lw.ProbabilityGap(0.9)])
def test_cases_of_several_classes(property):
    X, y = rows()
    model = LogisticRegression(max_iter=500).fit(X, np.digitize(y, [2, 6]))
    run = Run(budget=Budget(120))
    prepared = pose(problem_of(model, SPACE, SIMILAR, property), run)
    frontiers = make_frontiers(prepared.task)
    frontiers.run(most=3)
    again: Frontiers = resume_all(prepared.task, sent([frontier_state(f) for f in frontiers.all]))
    for frontier in again.all:
        in_parts(frontier.task, frontier, 2)
    end = again.run()
    assert end == frontiers.run()
    if end == "closed":
        assert accepted(prepared, again)


def test_what_does_not_belong_together_is_refused(limits):
    prepared, frontiers, _ = begun(limits, "trees")
    frontier, other = frontiers.only, posed(limits["trees"][0], lw.ScoreGap(0.25)).task
    parts = divide(frontier, 2)
    with pytest.raises(InternalError, match="level"):
        resume_part(other, parts[0])
    with pytest.raises(InternalError, match="another frontier"):
        absorb(make_frontiers(other).only, parts[0])
    own = resume_part(prepared.task, parts[0])
    with pytest.raises(InternalError, match="no proof"):
        own.reopen({0}, split=True)
    own.run()
    finished = finished_part(own, parts[0].roots)
    absorb(frontier, finished)
    with pytest.raises(InternalError, match="not away"):
        absorb(frontier, finished)
    smaller = lw.Space({**SPACE.features, "a": lw.Integer(0, 4)})
    elsewhere = pose(
        problem_of(limits["linear"][0], smaller, SIMILAR, lw.ScoreGap(1.0)), Run(budget=Budget(9))
    )
    for part in parts[1:]:
        with pytest.raises(InternalError, match="absorbed"):
            frontier_state(frontier)
        with pytest.raises(InternalError, match="absorbed"):
            frontier.run()  # nothing is open here, and yet nothing is proved
        absorb(frontier, part)
    with pytest.raises(InternalError, match="other pairs"):
        resume(elsewhere.task, frontier_state(frontier))
    assert frontier.run() == "closed"


def test_nodes_that_parts_have_parked_are_those_of_a_proof(limits):
    """What a part does not close, because a lower level comes next, comes back with the leaves that would have closed it."""
    prepared, frontiers, _ = begun(limits, "trees")
    frontier = frontiers.only
    frontier.open += frontier.stuck
    frontier.stuck.clear()
    parts = divide(frontier, 2)
    for part in parts:
        away = resume_part(prepared.task, sent(part))
        away.parks = True
        assert away.run() == "stuck"
        absorb(frontier, sent(finished_part(away, part.roots)))
    assert not frontier.open
    assert {node.number for node in frontier.stuck} == frontier.parked.keys()
    nodes = frontiers.nodes_with_parked
    frontier.parked.pop(frontier.stuck[0].number)  # stuck, and nothing is known that would close it
    assert frontiers.nodes_with_parked is None
    frontiers.restore(nodes)
    assert frontier.proof.complete
    assert frontiers.holds()
    assert accepted(prepared, frontiers)
