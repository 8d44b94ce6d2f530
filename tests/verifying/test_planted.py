"""Planted unsoundness: engines that lie, through the whole of `verify`, never get a FAIR out of the checker.

Here even `prove` lies, the engine's own last word; only the checker stands in the way. The answer may be
BIASED, UNKNOWN or an InternalError.
"""

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from tests.certificate.kinds import BINARY, SEX, parity, regression
from tests.strategies import logistic_model, svc_model

import likewise as lw
import likewise.families.affine.bounder as affine
import likewise.search.frontier as search_module
import likewise.search.portfolio as portfolio
import likewise.verifying.certification as certifying
from likewise.cells.leaf import Leaf
from likewise.errors import InternalError
from likewise.families.affine.bounder import SeparableBounder
from likewise.search.proof import Proof, Split
from likewise_check import CheckReport


def biased(make=logistic_model, excess=0.0):
    """One sum of the even weights hits the border: a single biased setting out of 1024."""
    weights = 2.0 * np.random.default_rng(5).integers(40, 400, 9)
    space = lw.Space(
        {**{f"b{i}": lw.Integer(0, 1) for i in range(9)}, "age": lw.Continuous(0, 1), "sex": BINARY}
    )
    model = make([*weights, 0.0, 0.5], -weights[:4].sum() - 0.25 - excess, space.names)
    return model, space, SEX


CLAIMS = {
    "decision": (biased(), lw.SameDecision()),
    "svc": (biased(svc_model), lw.SameDecision()),
    "score": (biased(), lw.ScoreGap(0.5 - 1e-10)),
    "probability": (biased(), lw.ProbabilityGap(0.12)),
    "margin": (biased(), lw.SameDecision(0.2499999)),
    "hair": (biased(), lw.SameDecision(0.25 - 2.0**-34)),  # broken by less than any of the shifts
}
HIDDEN = {  # claims whose one pair the oracle's lie covers up
    "SlightlyLow": ("score", "hair"),
    "Low": ("score", "hair", "margin"),
    "VeryLow": tuple(CLAIMS),
    "Independent": tuple(CLAIMS),
}


class Lying(SeparableBounder):
    """Every leaf is proved, whatever it says; and no point is ever proposed."""

    shift = 0.0

    def bound(self, lo, hi, lean, threshold):
        found = super().bound(lo, hi, lean, threshold)
        return dataclasses.replace(found, upper=found.upper - self.shift, points=lo.copy())

    def candidates(self, lo, hi):
        return lo.copy()

    def starts(self, lo, hi):
        return lo[None].copy()

    def prove(self, lo, hi, leaf, question):
        honest = super().prove(lo, hi, leaf, question)
        if leaf.rule == "independent":
            return honest
        return Fraction(1, 8) if honest is None else honest


class SlightlyLow(Lying):
    shift = 1e-9


class Low(Lying):
    shift = 1e-3


class VeryLow(Lying):
    shift = 1e6


class Independent(Lying):
    """Claims that the score depends on nothing that differs (`plant` sees to that), and closes whatever it is asked about."""

    def prove(self, lo, hi, leaf, question):
        return Fraction(1)


class Generous(SeparableBounder):
    """Honest leaves, but clearances that are too large."""

    def prove(self, lo, hi, leaf, question):
        clearance = super().prove(lo, hi, leaf, question)
        return None if clearance is None else clearance + Fraction(1, 2**40)


def plant(monkeypatch, oracle):
    monkeypatch.setattr(affine, "SeparableBounder", oracle)
    if oracle is Independent:
        monkeypatch.setattr(portfolio, "is_independent", lambda *_: True)
    monkeypatch.setattr(portfolio, "falsify", lambda problem: None)
    monkeypatch.setattr(portfolio, "enumerate_space", lambda problem: None)


def never_fair(claim, property, **options):
    try:
        result = lw.verify(*claim, property, budget=1, **options)
    except InternalError:
        return "InternalError"
    assert result.verdict != "FAIR"
    return result.verdict


@pytest.mark.some_days
@pytest.mark.draw(8)
@pytest.mark.parametrize("oracle", [Lying, SlightlyLow, Low, VeryLow, Independent])
@pytest.mark.parametrize("name", CLAIMS)
def test_a_lying_oracle_never_makes_it_fair(monkeypatch, name, oracle):
    claim, property = CLAIMS[name]
    assert lw.verify(*claim, property, budget=20).verdict == "BIASED", "the claim must be false"
    plant(monkeypatch, oracle)
    never_fair(claim, property)


@pytest.mark.draw(8)
@pytest.mark.parametrize(("oracle", "name"), [(oracle, name) for oracle in HIDDEN for name in HIDDEN[oracle]])
def test_only_the_checker_stands_in_the_way(monkeypatch, name, oracle):
    """With a checker that accepts everything the same lies are FAIR: the tests above can fail."""
    plant(monkeypatch, globals()[oracle])
    monkeypatch.setattr(certifying, "check_bytes", lambda *_: CheckReport(accepted=True))
    monkeypatch.setattr(certifying, "confirm_subject", lambda report, *_: report)
    claim, property = CLAIMS[name]
    assert lw.verify(*claim, property, budget=5).verdict == "FAIR"


def fair():
    kind = parity(6, 40)
    return (kind.model, kind.space, kind.similar), kind.property


def test_a_search_that_loses_a_cell_never_makes_it_fair(monkeypatch):
    """The right child of every split shrinks by one more: values between the two are nobody's."""
    honest = search_module.child_cells

    def lossy(pairs, lo, hi, split):
        left, right = honest(pairs, lo, hi, split)
        return left, (np.minimum(right[0] + 1, right[1]), right[1])

    claim, property = CLAIMS["decision"]
    plant(monkeypatch, SeparableBounder)
    monkeypatch.setattr(search_module, "child_cells", lossy)
    never_fair(claim, property)


def test_a_search_that_forgets_a_child_never_makes_it_fair(monkeypatch):
    """Every right child is closed with its sibling's leaf, unseen."""
    honest = Proof.close

    def careless(self, number, leaf):
        honest(self, number, leaf)
        for node in self.nodes:
            if isinstance(node, Split) and node.left == number and self.nodes[node.right] is None:
                self.nodes[node.right] = leaf

    claim, property = CLAIMS["decision"]
    plant(monkeypatch, Lying)
    monkeypatch.setattr(Proof, "close", careless)
    never_fair(claim, property)


def test_splits_that_lose_values_are_refused(monkeypatch):
    class CutsBetween(SeparableBounder):
        def branch(self, lo, hi, loss=None, cuts=None):
            variable, at = super().branch(lo, hi, loss, cuts)
            return variable, at + 0.5

    plant(monkeypatch, CutsBetween)
    claim, property = fair()
    assert never_fair(claim, property) == "InternalError"


@pytest.mark.some_days
@pytest.mark.parametrize("way", [Fraction(1, 3), Fraction(-1), Fraction(2), Fraction(0), Fraction(1)])
def test_a_wrong_lean_in_the_certificate_is_not_fair(monkeypatch, way):
    claim, property = fair()
    monkeypatch.setattr(certifying, "_leaf_way", lambda leaf, question: None if leaf.lean is None else way)
    assert never_fair(claim, property) == "UNKNOWN"


def test_a_wrong_lean_of_a_gap_is_not_fair(monkeypatch):
    kind = regression()
    monkeypatch.setattr(certifying, "_leaf_way", lambda leaf, question: Fraction(3, 7))
    assert never_fair((kind.model, kind.space, kind.similar), kind.property) == "UNKNOWN"


def test_a_clearance_that_is_too_large_is_not_fair(monkeypatch):
    plant(monkeypatch, Generous)
    claim, property = fair()
    assert never_fair(claim, property) == "UNKNOWN"


def test_wrong_multipliers_are_not_fair(monkeypatch):
    """A leaf that says `empty` of cells that hold people."""

    class Nobody(SeparableBounder):
        def relax(self, lo, hi, question):
            found = super().relax(lo, hi, question)
            zeros = (Fraction(0),) * (2 * len(self.pairs.constraints))
            return found and dataclasses.replace(found, leaf=Leaf(rule="empty", multipliers=zeros))

        def prove(self, lo, hi, leaf, question):
            return Fraction(1) if leaf.rule == "empty" else super().prove(lo, hi, leaf, question)

    model, space, similar = biased()
    plant(monkeypatch, Nobody)
    never_fair((model, space.where("b0 + b1 <= 1"), similar), lw.SameDecision())


@pytest.mark.parametrize("size", [4, 16, 64])
def test_refused_leaves_are_split_until_they_hold(monkeypatch, size):
    """`prove` lies about large cells only: the checker refuses those, and the search goes on below them."""
    refusals = []

    class LiesAboutLargeCells(SeparableBounder):
        def prove(self, lo, hi, leaf, question):
            honest = super().prove(lo, hi, leaf, question)
            if honest is None and leaf.rule == "separable" and np.prod((hi - lo)[self.discrete] + 1) >= size:
                return Fraction(1)
            return honest

        def bound(self, lo, hi, lean, threshold):
            found = super().bound(lo, hi, lean, threshold)
            large = np.prod((hi - lo)[:, self.discrete] + 1, axis=1) >= size
            return dataclasses.replace(found, upper=np.where(large, -1e9, found.upper))

    honest_reopen = search_module.Frontier.reopen

    def reopen(self, numbers, *, split):
        refusals.append(len(numbers))
        honest_reopen(self, numbers, split=split)

    plant(monkeypatch, LiesAboutLargeCells)
    monkeypatch.setattr(search_module.Frontier, "reopen", reopen)
    claim, property = fair()
    result = lw.verify(*claim, property, budget=20)
    assert result.verdict == "FAIR"
    assert len(refusals) > 1, "nothing was refused: the lie did not reach the checker"
    assert result.certificate.outline().nodes > 3


def test_refused_leaves_of_a_biased_claim_end_in_its_pair(monkeypatch):
    """Splitting what was refused comes down to the one pair, if the search looks at points again."""

    class Hasty(SeparableBounder):
        def prove(self, lo, hi, leaf, question):
            honest = super().prove(lo, hi, leaf, question)
            return Fraction(1) if honest is None and leaf.rule == "separable" else honest

    claim, property = CLAIMS["decision"]
    plant(monkeypatch, Hasty)
    assert never_fair(claim, property) in ("BIASED", "UNKNOWN")


@pytest.mark.parametrize("oracle", [SeparableBounder, Lying, VeryLow])
def test_without_a_certificate_nothing_is_fair(monkeypatch, oracle):
    plant(monkeypatch, oracle)
    claim, property = fair()
    assert never_fair(claim, property, certify=False) == "UNKNOWN"


class LowOnce(SeparableBounder):
    """Closes the root wrongly, and is honest from then on."""

    calls = 0

    def bound(self, lo, hi, lean, threshold):
        found = super().bound(lo, hi, lean, threshold)
        LowOnce.calls += 1
        return dataclasses.replace(found, upper=found.upper - 1e6) if LowOnce.calls == 1 else found

    def candidates(self, lo, hi):
        return lo.copy() if LowOnce.calls <= 1 else super().candidates(lo, hi)

    def starts(self, lo, hi):
        return lo[None].copy()

    def prove(self, lo, hi, leaf, question):
        honest = super().prove(lo, hi, leaf, question)
        return (
            Fraction(1, 8) if honest is None and LowOnce.calls <= 1 and leaf.rule == "separable" else honest
        )


def test_a_pair_found_where_the_checker_refused_a_leaf_is_reported(monkeypatch):
    plant(monkeypatch, LowOnce)
    monkeypatch.setattr(LowOnce, "calls", 0)
    claim = (
        logistic_model([2.0, 1.0], -0.5, ("a", "sex")),
        lw.Space({"a": lw.Continuous(-1, 1), "sex": BINARY}),
    )
    result = lw.verify(*claim, SEX, budget=20)
    assert LowOnce.calls > 1, "the first proof was refused"
    assert result.verdict == "BIASED"
    assert result.certificate is not None


def test_a_pair_that_the_checker_gives_up_on_is_unknown(monkeypatch):
    monkeypatch.setattr(
        certifying, "check_bytes", lambda *_: CheckReport(accepted=False, reason="out of patience")
    )
    claim, property = CLAIMS["decision"]
    result = lw.verify(*claim, property, budget=20)
    assert result.verdict == "UNKNOWN"
    assert "out of patience" in result.reason
