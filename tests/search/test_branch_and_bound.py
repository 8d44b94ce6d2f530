"""Branch and bound: proofs cover the pair space, hard problems get their verdict, budgets end it truthfully."""

import math
import os
import signal

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from tests.posing import posed
from tests.strategies import all_pairs, linear_cases, logistic_model, svc_model
from tests.tiers import examples

import likewise as lw
from likewise.cells.leaf import Leaf
from likewise.errors import BudgetError, InternalError
from likewise.families.oracle import Child, Cut, Node
from likewise.search.budget import Budget, interruptible
from likewise.search.frontier import Frontier
from likewise.search.proof import Split, child_cells, root_cell, walk_proof

relaxed = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),
}


def problem_of(case, property):
    return posed(case.model, case.space, case.similar, property, budget=20).task


def parity(count, free_weight, bias=1.0):
    """score = 2 sum(+-f_k) + 1 + small * free: odd whole numbers, so never near zero; no single line shows it."""
    names = [*(f"f{k}" for k in range(count)), "free"]
    space = lw.Space({name: lw.Integer(0, 1) for name in names})
    weights = [2.0 * (-1) ** k * (1 + k % 3) for k in range(count)]
    return logistic_model([*weights, free_weight], bias, names), space, lw.Similarity(free=["free"])


@pytest.mark.some_days
def test_a_subset_sum_without_solution_is_fair():
    model, space, similar = parity(12, 0.75)
    result = lw.verify(model, space, similar)
    assert result.verdict == "FAIR"
    assert result.stats["cells"] > 400
    assert result.covers_floating_point  # the nearest score is a quarter away from zero


def test_a_subset_sum_with_one_more_grain_is_biased():
    model, space, similar = parity(11, 1.0, bias=-1.0)  # -1 + 1 = 0: not above zero, still fair
    assert lw.verify(model, space, similar).verdict == "FAIR"
    model, space, similar = parity(11, math.nextafter(1.0, 2), bias=-1.0)
    assert lw.verify(model, space, similar).verdict == "BIASED"


def test_zero_is_upper_for_libsvm():
    names = ["f", "free"]
    space = lw.Space({"f": lw.Integer(0, 3), "free": lw.Integer(0, 1)})
    similar = lw.Similarity(free=["free"])
    # f = 0: scores -1 and 0.
    assert lw.verify(logistic_model([2.0, 1.0], -1.0, names), space, similar).verdict == "FAIR"
    result = lw.verify(svc_model([2.0, 1.0], -1.0, names), space, similar)
    assert result.verdict == "BIASED"
    assert result.scores == (0.0, -1.0)
    assert result.decisions == (1, 0)


def test_a_flip_of_1e_9_on_either_side_of_zero_is_found():
    """What solvers with tolerances of 1e-6 cannot see: one assignment of 20 integers, 1e-9 off zero."""
    random = np.random.default_rng(1)
    weights = random.integers(100, 1000, 8).astype(float) / 8
    target = random.integers(0, 6, 8)
    names = [*(f"f{k}" for k in range(8)), "sex"]
    space = lw.Space({**{n: lw.Integer(0, 5) for n in names[:-1]}, "sex": lw.Integer(0, 1)})
    model = logistic_model([*weights, 2e-9], -float(weights @ target) - 1e-9, names)
    result = lw.verify(model, space, lw.Similarity(free=["sex"]))
    assert result.verdict == "BIASED"
    assert result.scores[0] > 0 >= result.scores[1]
    assert max(map(abs, result.scores)) < 2e-9


def test_an_exactly_masked_model_is_fair_at_once():
    names = [f"f{k}" for k in range(30)]
    space = lw.Space({n: lw.Continuous(-1e6, 1e6) for n in names})
    weights = [*np.random.default_rng(0).normal(size=29), 0.0]
    result = lw.verify(logistic_model(weights, 0.5, names), space, lw.Similarity(free=["f29"]))
    assert (result.verdict, result.stats["engine"], result.stats["cells"]) == ("FAIR", "independence", 1)


def test_a_weight_of_1e_13_is_not_nothing():
    space = lw.Space({"x": lw.Continuous(-1, 1), "sex": lw.Integer(0, 1)})
    similar = lw.Similarity(free=["sex"])
    assert lw.verify(logistic_model([1.0, 1e-13], 0.0, space.names), space, similar).verdict == "BIASED"
    away = space.replace(x=lw.Continuous(0.5, 1))  # far from zero it does not matter, and that is proved
    result = lw.verify(logistic_model([1.0, 1e-13], 0.0, away.names), away, similar)
    assert (result.verdict, result.stats["engine"]) == ("FAIR", "branch and bound")
    gap = lw.verify(logistic_model([1.0, 1e-13], 0.0, away.names), away, similar, lw.ScoreGap(0.0))
    assert gap.verdict == "BIASED"


def somewhere(random, lo, hi, discrete):
    """A random point of a cell."""
    share = random.uniform(0, 1, len(lo))
    return np.where(discrete, lo + np.floor(share * (hi - lo + 1)), lo + share * (hi - lo))


@given(case=linear_cases(kinds=("logistic",)), seed=st.integers(0, 2**32), data=st.data())
@examples(60, **relaxed)
def test_every_point_falls_into_a_closed_leaf(case, seed, data):
    if not all_pairs(case):
        return
    property = data.draw(st.sampled_from([lw.SameDecision(), lw.ScoreGap(1.0), lw.ProbabilityGap(0.25)]))
    problem = problem_of(case, property)
    search = Frontier(task=problem)
    end = search.run()
    nodes = list(walk_proof(search.proof, problem.pairs))
    assert len({number for number, *_ in nodes}) == len(search.proof.nodes) == len(nodes)
    if end != "closed":
        assert not search.proof.complete
        return
    assert search.proof.complete
    leaves = [(leaf, lo, hi) for _, leaf, lo, hi in nodes if isinstance(leaf, Leaf)]
    assert len(leaves) == search.proof.leaves == search.closed
    for leaf, lo, hi in leaves:
        assert search.oracle.prove(lo, hi, leaf, problem.case) is not None
    lo, hi = root_cell(problem.pairs)
    random = np.random.default_rng(seed)
    for _ in range(30):
        point = somewhere(random, lo, hi, problem.bounder.discrete)
        assert any((a <= point).all() and (point <= b).all() for _, a, b in leaves)


@given(case=linear_cases(), at=st.integers(-5, 5), seed=st.integers(0, 1000))
@examples(60, **relaxed)
def test_children_cover_their_parent(case, at, seed):
    from likewise.spec.pairs import pair_space

    pairs = pair_space(case.space, case.similar)
    random = np.random.default_rng(seed)
    variable = int(random.integers(len(pairs.variables)))
    lo, hi = root_cell(pairs)
    cut = float(np.clip(at, lo[variable], hi[variable]))
    parts = child_cells(pairs, lo, hi, Split(variable=variable, at=cut, left=1, right=2))
    discrete = np.array([v.discrete for v in pairs.variables])
    for _ in range(20):
        point = somewhere(random, lo, hi, discrete)
        assert any((a <= point).all() and (point <= b).all() for a, b in parts)
    if discrete[variable]:  # and no pair is counted twice
        assert parts[0][1][variable] < parts[1][0][variable]


PART = Child(rank=0.0, upper=math.inf)


def two_integers(property=None):
    model = logistic_model([1.0, 0.25], -2.6, ["a", "b"])
    space = lw.Space({"a": lw.Integer(0, 9), "b": lw.Integer(0, 9)})
    similar = lw.Similarity(free=["b"])
    return posed(model, space, similar, budget=20).task


@pytest.mark.parametrize("at", [2.5, -1.0, 10.0, math.nan])
def test_a_cut_that_would_lose_values_is_refused(at):
    search = Frontier(task=two_integers())
    with pytest.raises(InternalError, match="lose"):
        search.cut(search.open[0], Cut(variable=0, at=at, after=None, children=(PART, PART)))


def test_whole_numbers_near_2_to_the_53_are_split_to_the_end():
    """The middle of two such numbers rounds; a split that changes nothing would run for ever."""
    problem = two_integers()
    top = float(2**53)
    variable, at = problem.bounder.branch(np.array([[top - 1, 0.0, 0.0]]), np.array([[top, 0.0, 0.0]]))
    assert variable[0] == 0
    assert at[0] == top - 1


# -- the end ------------------------------------------------------------------------------------------


def endless():
    """Narrow band, many features: no verdict within any short budget."""
    random = np.random.default_rng(3)
    names = [*(f"f{k}" for k in range(60)), "sex"]
    space = lw.Space({name: lw.Integer(0, 1) for name in names})
    weights = [*random.normal(0, 1, 60).tolist(), 1e-15]
    return logistic_model(weights, 0.1234567, names), space, lw.Similarity(free=["sex"])


def test_the_end_of_the_budget_is_unknown_with_true_bounds():
    model, space, similar = endless()
    result = lw.verify(model, space, similar, budget=0.3)
    assert result.verdict == "UNKNOWN"
    assert "budget" in result.reason
    lower, upper = result.bounds
    assert lower <= 0.0 <= upper  # the true margin is within 1e-15 of zero, at most
    assert math.isfinite(upper)
    assert "UNKNOWN" in str(result)
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(result)


def test_ctrl_c_ends_it_with_bounds():
    model, space, similar = endless()

    def interrupt(snapshot):
        if snapshot.stage == "branch and bound":
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    result = lw.verify(model, space, similar, budget=60, progress=_once(interrupt))
    assert result.verdict == "UNKNOWN"
    assert "interrupted" in result.reason
    assert math.isfinite(result.bounds[1])
    assert signal.getsignal(signal.SIGINT) is before


def _once(action):
    done = []

    def listener(snapshot):
        if not done and snapshot.stage == "branch and bound":
            done.append(snapshot)
            action(snapshot)

    return listener


def test_a_second_ctrl_c_leaves_at_once():
    budget = Budget(60)
    with interruptible(budget):
        os.kill(os.getpid(), signal.SIGINT)
        assert budget.over
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_twice_leaves_the_check_of_a_proof_and_the_progress_says_so():
    told = []

    def interrupt(snapshot):
        told.append(snapshot.stage)
        if snapshot.stage.startswith("checking the proof"):
            os.kill(os.getpid(), signal.SIGINT)
            os.kill(os.getpid(), signal.SIGINT)

    model, space, similar = parity(8, 0.75)
    with pytest.raises(KeyboardInterrupt):
        lw.verify(model, space, similar, progress=interrupt)
    assert told[-1] == "checking the proof; Ctrl-C twice leaves"


@pytest.mark.parametrize("seconds", [-1, math.nan, "60", None])
def test_budgets_are_numbers_from_0_on(seconds):
    with pytest.raises(BudgetError, match="budget must be"):
        Budget(seconds)
    with pytest.raises(BudgetError, match="import_budget must be"):
        Budget(1, seconds)


def test_an_infinite_budget_is_allowed():
    budget = Budget(math.inf)
    assert not budget.over
    model, space, similar = parity(6, 0.75)
    assert lw.verify(model, space, similar, budget=math.inf).verdict == "FAIR"


def test_listeners_get_snapshots():
    heard = []
    model, space, similar = parity(9, 0.75)
    lw.verify(model, space, similar, progress=heard.append)
    cells = [snapshot for snapshot in heard if snapshot.stage == "branch and bound"]
    assert cells
    assert [s.closed for s in cells] == sorted(s.closed for s in cells)
    assert cells[-1].open == 0
    assert any("looking" in snapshot.stage for snapshot in heard)


@pytest.mark.parametrize("seed", [0, 7])
def test_a_seed_gives_the_same_run_twice(seed):
    names = [*(f"f{k}" for k in range(6)), "sex"]
    space = lw.Space({n: lw.Integer(0, 9) for n in names})
    weights = [0.31, -1.7, 0.9, 2.2, -0.4, 1.1, 0.05]
    model, similar = logistic_model(weights, -3.3, names), lw.Similarity(free=["sex"])
    runs = [lw.verify(model, space, similar, random_state=seed) for _ in range(2)]
    assert runs[0].pair.equals(runs[1].pair)
    assert runs[0].stats["engine"] == runs[1].stats["engine"]


def test_cells_are_ordered_by_promise():
    here = np.zeros(1)
    assert Node(-2.0, 5, here, here, 0.5) < Node(-1.0, 1, here, here, 0.5)
