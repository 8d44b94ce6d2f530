"""Whatever an oracle's floats say, no FAIR without a proof: deliberately wrong oracles on biased problems.

The exact `prove` is the real one; bounds, leans, branching and relaxation lie. The search may fail to
decide, never decide wrongly.
"""

import dataclasses

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from tests.posing import posed
from tests.strategies import all_pairs, breaks, linear_cases
from tests.tiers import examples

import likewise as lw
from likewise.cells.leaf import Leaf
from likewise.errors import InternalError
from likewise.families.affine.bounder import SeparableBounder
from likewise.families.oracles import Oracles
from likewise.search.frontier import Frontier

relaxed = {
    "deadline": None,
    "suppress_health_check": list(HealthCheck),
    "phases": (Phase.explicit, Phase.reuse, Phase.generate),
}


class Lying(SeparableBounder):
    """Bounds moved down, points nowhere near a witness, so that only the proof stands in the way of FAIR."""

    shift = 0.0

    def bound(self, lo, hi, lean, threshold):
        found = super().bound(lo, hi, lean, threshold)
        return dataclasses.replace(
            found, upper=found.upper - self.shift * (1 + np.abs(found.upper)), points=lo.copy()
        )

    def candidates(self, lo, hi):
        return lo.copy()


class SlightlyLow(Lying):
    shift = 1e-9


class Low(Lying):
    shift = 1e-3


class VeryLow(Lying):
    shift = 1e6


class WrongLean(Lying):
    """Bounds another direction than the one asked for."""

    def bound(self, lo, hi, lean, threshold):
        return super().bound(lo, hi, 1 - lean, threshold)


class Careless(Lying):
    """Says that the cell has no pair at all."""

    def bound(self, lo, hi, lean, threshold):
        found = super().bound(lo, hi, lean, threshold)
        return dataclasses.replace(found, upper=np.full(len(lo), -np.inf))


class LosesACell(Lying):
    """Cuts whole numbers in between, so that one value would belong to neither side."""

    def branch(self, lo, hi, loss=None, cuts=None):
        variable, at = super().branch(lo, hi, loss, cuts)
        return variable, at + 0.5


class CutsBeside(Lying):
    """Cuts outside of the cell."""

    def branch(self, lo, hi, loss=None, cuts=None):
        variable, at = super().branch(lo, hi, loss, cuts)
        return variable, at + 1000


class NegativeMultipliers(Lying):
    """A relaxation whose weights would prove anything."""

    def relax(self, lo, hi, question):
        found = super().relax(lo, hi, question)
        if found is None:
            return None
        worse = tuple(-100 * (m + 1) for m in found.leaf.multipliers)
        return dataclasses.replace(found, leaf=dataclasses.replace(found.leaf, multipliers=worse))


class EmptyEverywhere(Lying):
    def relax(self, lo, hi, question):
        found = super().relax(lo, hi, question)
        return found and dataclasses.replace(
            found, leaf=Leaf(rule="empty", multipliers=found.leaf.multipliers)
        )


BROKEN = [
    SlightlyLow,
    Low,
    VeryLow,
    WrongLean,
    Careless,
    LosesACell,
    CutsBeside,
    NegativeMultipliers,
    EmptyEverywhere,
]
PROPERTIES = [lw.SameDecision(), lw.ScoreGap(0.5), lw.ProbabilityGap(0.1), lw.SameDecision(0.25)]


def plant(problem, broken):
    score = problem.oracles.score
    problem.oracles = Oracles(score, problem.pairs, broken(score, problem.pairs))


@pytest.mark.draw(4)
@pytest.mark.parametrize("broken", BROKEN, ids=lambda kind: kind.__name__)
def test_a_broken_oracle_never_proves_a_biased_model_fair(broken):
    @given(case=linear_cases(kinds=("logistic",)), property=st.sampled_from(PROPERTIES))
    @examples(40, **relaxed)
    def check(case, property):
        biased = any(breaks(case, property, first, second) for *_, first, second in all_pairs(case))
        if not biased:
            return
        problem = posed(case.model, case.space, case.similar, property, budget=1).task
        plant(problem, broken)
        search = Frontier(task=problem)
        try:
            end = search.run()
        except InternalError:
            return
        assert end != "closed"

    check()


def test_the_wrong_oracles_are_wrong():
    """The test above would be worth nothing if the lies changed nothing."""
    space = lw.Space({"a": lw.Integer(0, 40), "c": lw.Integer(0, 40), "b": lw.Integer(0, 1)})
    from tests.strategies import logistic_model

    model = logistic_model([1.0, -0.9, 0.3], -0.55, space.names)
    problem = posed(model, space, lw.Similarity(free=["b"]), budget=5).task
    lo = np.array([[float(v.lo) for v in problem.pairs.variables]])
    hi = np.array([[float(v.hi) for v in problem.pairs.variables]])
    honest = problem.bounder.bound(lo, hi, np.array([0.4]), np.zeros(1)).upper[0]
    for broken in (SlightlyLow, Low, VeryLow, WrongLean, Careless):
        assert (
            broken(problem.bounder.score, problem.pairs).bound(lo, hi, np.array([0.4]), np.zeros(1)).upper[0]
            != honest
        )
    plant(problem, LosesACell)
    with pytest.raises(InternalError, match="lose"):
        Frontier(task=problem).run()
