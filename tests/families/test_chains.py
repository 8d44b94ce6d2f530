"""Chains of two links: what is proposed in float64 is never below what the checker says, and near the best there is; values are enclosed, and what they are off by is bounded."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.naive_bayes import GaussianNB
from tests.tiers import examples

import likewise as lw
from likewise.errors import InternalError
from likewise.families.registry import bounder_of
from likewise.families.scored_model import Scores
from likewise.families.sums.chain_rises import NEAR, rise_in_pieces
from likewise.families.sums.chains import Chain
from likewise.families.sums.links import IDENTITY, Link
from likewise.importers.imported_model import import_model
from likewise.spec.enclosure import Enclosure
from likewise.spec.pairs import pair_space
from likewise_check.packs.sums.chains import line_above, read_link, rise

NUMBERS = st.integers(-640, 640).map(lambda n: n / 64)
POSITIVE = st.floats(2**-6, 4)


def table(*knots):
    return Link(kind="table", knots=tuple((Fraction(t), *map(Fraction, values)) for t, *values in knots))


INNER = Link(kind="logistic", slope=Fraction(3, 2), offset=Fraction(-1, 3))
STEPS = table(("1/8", 0, 0, 0), ("1/3", "1/4", "1/4", "1/4"), ("3/8", "3/4", "3/4", "3/4"), ("7/8", 1, 1, 1))
JUMPS = table(("1/4", 0, "1/8", "1/4"), ("1/2", "1/2", "1/2", "1/2"), ("3/4", "3/4", 1, 1))
STEEP = table((0, 0, 0, 0), ("1/2", "1/4", "1/4", "1/4"), (0.5 + 2**-40, "3/4", "3/4", "3/4"), (1, 1, 1, 1))
CHAINS = {
    "logistic": Chain(inner=INNER, outer=Link(kind="logistic", slope=Fraction(5), offset=Fraction(-3))),
    "steps": Chain(inner=INNER, outer=STEPS),
    "jumps": Chain(inner=INNER, outer=JUMPS),
    "steep": Chain(inner=INNER, outer=STEEP),
}
EVERY = pytest.mark.parametrize("name", CHAINS)


def texts(numbers):
    return [str(Fraction(float(one))) for one in numbers]


@EVERY
@given(ends=st.tuples(NUMBERS, NUMBERS))
def test_lines_are_those_of_the_checker_or_a_little_higher(name, ends):
    chain = CHAINS[name]
    checked = read_link(chain.line(), "it")
    low, high = (np.array([end]) for end in (min(ends), max(ends)))
    for link, below, between in ((chain, False, (low, high)), (chain.turned(), True, (-high, -low))):
        alpha, tangent = link.line_above(*between)
        ours = link.beta_above(alpha, tangent, *between)[0]
        limits = Fraction(min(ends)), Fraction(max(ends))
        steep, beta = line_above(checked, texts(alpha[:, 0]), texts(tangent[:, 0]), *limits, below=below)
        assert float(link.steep(alpha)[0]) == pytest.approx(float(steep), abs=1e-12)
        theirs = float(chain.whole - beta if below else beta)
        assert theirs <= ours + 1e-14
        if name != "steep":
            assert ours == pytest.approx(theirs, abs=1e-9)


@EVERY
@examples(60)
@given(
    over=POSITIVE,
    under=POSITIVE,
    distance=NUMBERS,
    ends=st.tuples(NUMBERS, NUMBERS),
    open_ends=st.tuples(*[st.booleans()] * 2),
)
def test_what_a_chain_rises_by_is_what_the_checker_says_or_a_little_more(
    name, over, under, distance, ends, open_ends
):
    chain = CHAINS[name]
    low, high = -np.inf if open_ends[0] else min(ends), np.inf if open_ends[1] else max(ends)
    found = rise_in_pieces(chain, *(np.array([one]) for one in (over, under, distance, low, high)))
    limits = [Fraction(end) if np.isfinite(end) else None for end in (low, high)]
    factors = Fraction(over), Fraction(under)
    checked = rise(
        read_link(chain.line(), "it"), factors, Fraction(distance), *limits, texts(found.cuts_of(0))
    )
    assert float(checked) <= found.worth[0] + 1e-13
    t = np.clip(np.linspace(-30, 30, 6001), low, high)
    most = (over * chain.values(t + distance) - under * chain.values(t)).max()
    assert most <= found.worth[0] + 1e-12
    if name in ("logistic", "steps"):
        assert found.worth[0] <= most + (NEAR + 2e-3) * (over + under)


def test_cells_are_bounded_together_as_they_are_one_by_one():
    random = np.random.default_rng(0)
    over, under = random.uniform(0.1, 1, (2, 40))
    distance, low = random.uniform(-2, 2, 40), random.uniform(-4, 2, 40)
    high = low + random.uniform(0, 4, 40)
    together = rise_in_pieces(CHAINS["steps"], over, under, distance, low, high)
    for i in range(40):
        one = slice(i, i + 1)
        alone = rise_in_pieces(CHAINS["steps"], over[one], under[one], distance[one], low[one], high[one])
        assert alone.worth[0] == together.worth[i]
        assert (alone.cuts_of(0) == together.cuts_of(i)).all()


@EVERY
@given(scores=st.lists(NUMBERS, min_size=1, max_size=6), error=st.floats(0, 0.5), share=st.floats(-1, 1))
def test_what_values_are_off_by_is_bounded(name, scores, error, share):
    chain, given_scores = CHAINS[name], np.array(scores)
    values, off = chain.judged(given_scores, np.full(len(scores), error))
    for score, value, bound in zip(scores, values.tolist(), off.tolist(), strict=True):
        true = Fraction(score) + Fraction(share) * Fraction(error)
        found = chain.enclose(Enclosure(true, true), 80)
        assert found.lo - Fraction(bound) <= Fraction(value) <= found.hi + Fraction(bound)


@EVERY
@given(score=NUMBERS)
def test_values_lie_in_their_enclosures(name, score):
    chain = CHAINS[name]
    found = chain.enclose(Enclosure(Fraction(score), Fraction(score)), 64)
    assert found.hi - found.lo < Fraction(1, 2**60)
    if name != "steep":
        assert float(found.middle) == pytest.approx(float(chain.values(np.array([score]))[0]), abs=1e-12)
    steepest = chain.steepest()
    assert (steepest is None) == (name == "jumps")
    if steepest is not None:
        other = chain.enclose(Enclosure(Fraction(score) + 1, Fraction(score) + 1), 64)
        assert other.lo - found.hi <= steepest
    assert max(abs(found.lo), abs(found.hi)) <= chain.largest()


def test_what_a_program_rounds_inside_counts_outside():
    """A probability that is off by a little is off by more behind a steep calibration; never by more than the whole of a table."""
    logistic, steps = CHAINS["logistic"], CHAINS["steps"]
    assert logistic.carried(0.0, 1e-8) == pytest.approx(1e-8 * (1 + 5 / 4))
    assert steps.carried(0.0, 1e-8) == pytest.approx(1e-8 * (1 + 12))
    assert steps.carried(10.0, 1e-8) == pytest.approx(1 + 13e-8)
    assert CHAINS["jumps"].carried(0.0, 0.0) is None


def test_a_chain_begins_with_a_logistic_link():
    for inner, outer in ((STEPS, INNER), (IDENTITY, INNER), (INNER, IDENTITY)):
        with pytest.raises(InternalError):
            Chain(inner=inner, outer=outer)


SPACE = lw.Space({"a": lw.Integer(0, 30), "b": lw.Continuous(0, 20), "sex": lw.Categorical([0, 1])})


def calibrated(method):
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {"a": random.integers(0, 31, 300), "b": random.uniform(0, 20, 300), "sex": random.integers(0, 2, 300)}
    )
    y = X.a + X.b + 8 * X.sex + random.normal(0, 6, 300) > 28
    return CalibratedClassifierCV(GaussianNB(), cv=3, method=method).fit(X, y), X


@pytest.mark.parametrize("method", ["sigmoid", "isotonic"])
def test_no_pair_is_above_the_bound_of_its_cell(method):
    model, X = calibrated(method)
    found = import_model(model, SPACE, rows=SPACE.encode(X), like=X)
    made = bounder_of(Scores(found.model, 3).parts[1], pair_space(SPACE, lw.Similarity(free=["sex"])))
    random = np.random.default_rng(1)
    root = np.array([[float(getattr(v, end)) for v in made.pairs.variables] for end in ("lo", "hi")])
    corners = root[0] + random.uniform(0, 1, (2, 40, root.shape[1])) * (root[1] - root[0])
    corners = np.where(made.discrete, np.round(corners), corners)
    lo, hi = np.concatenate([root[:1], corners.min(axis=0)]), np.concatenate([root[1:], corners.max(axis=0)])
    for lean in (0.5, 0.25, 0.875):
        bounds = made.bound(lo, hi, np.full(len(lo), lean), np.full(len(lo), np.inf))
        for i in range(len(lo)):
            pairs = lo[i] + random.uniform(0, 1, (200, lo.shape[1])) * (hi[i] - lo[i])
            pairs = np.where(made.discrete, np.round(pairs), pairs)
            x, other = made.score.scores(pairs[:, made.first]), made.score.scores(pairs[:, made.second])
            assert (lean * x - (1 - lean) * other).max() <= bounds.upper[i] + 1e-12
