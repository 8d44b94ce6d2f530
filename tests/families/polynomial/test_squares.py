"""Sums of squares of cells: the cube is the cell, exactly, and a content that proves is true of every pair of it."""

from fractions import Fraction

import numpy as np
import pytest
from flint import fmpq
from tests.verifying.polynomials import drawn

import likewise as lw
from likewise.families.polynomial.bounder import PolynomialBounder
from likewise.families.polynomial.sos.cube import value_at
from likewise.families.scored_model import only_score
from likewise.importers.imported_model import import_model
from likewise.model.witness_set import DecisionSet, GapSet
from likewise.spec.pairs import add_differences, pair_space


def oracle_for(model, space, similar):
    imported = import_model(model, space, rows=np.empty((0, len(space))))
    return PolynomialBounder(
        only_score(imported.model, len(space)), add_differences(pair_space(space, similar))
    )


def some_cell(oracle, random):
    """A random cell whose levels that may differ are fixed, and some pairs of it."""
    lo = np.array([float(v.lo) for v in oracle.pairs.variables])
    hi = np.array([float(v.hi) for v in oracle.pairs.variables])
    for v in range(len(lo)):
        ends = np.sort(random.uniform(lo[v], hi[v], 2))
        lo[v], hi[v] = np.floor(ends) if oracle.discrete[v] else ends
        if v in oracle.ahead:
            hi[v] = lo[v]
    return lo, hi


def pairs_of(oracle, lo, hi, random, count=40):
    """Pairs in a cell: random codes, kept where they are similar and their differences fit."""
    found = []
    differences = {v.feature: n for n, v in enumerate(oracle.pairs.variables) if v.side == "difference"}
    for _ in range(count):
        point = [
            float(random.integers(int(a), int(b) + 1)) if whole else float(random.uniform(a, b))
            for a, b, whole in zip(lo, hi, oracle.discrete, strict=True)
        ]
        x, other = oracle.pairs.split(point)
        fits = all(lo[n] <= Fraction(other[k]) - Fraction(x[k]) <= hi[n] for k, n in differences.items())
        if fits and oracle.pairs.valid([Fraction(c) for c in x], [Fraction(c) for c in other]):
            found.append((x, other))
    return found


def y_of(oracle, posed, x, other):
    """The axes' values at a pair."""
    values = []
    for n in posed.frame.axes:
        c = oracle.coordinates.all[n]
        side = other if c.variables[0] == oracle.pairs.second[c.feature] else x
        code, second = Fraction(side[c.feature]), Fraction(other[c.feature])
        z = {
            "number": code,
            "level": c.table[int(code)] if c.table else code,
            "middle": (Fraction(x[c.feature]) + second) / 2,
            "half difference": (second - Fraction(x[c.feature])) / 2,
        }[c.kind]
        y = ((z - c.middle) / c.reach - posed.frame.middle[n]) / posed.frame.half[n]
        assert abs(y) <= 1
        values.append(fmpq(y.numerator, y.denominator))
    return values


@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", range(30))
def test_the_cube_is_the_cell_and_what_is_proved_is_true(seed):
    looked_at(seed)


def test_some_cells_are_proved():
    """Or the test above would show nothing of proofs."""
    assert sum(map(looked_at, range(6))) > 3


def looked_at(seed):
    """How many contents close random cells of a model; each is true of all pairs of its cell."""
    random = np.random.default_rng(seed)
    case = drawn(seed)
    oracle = oracle_for(case.model, case.space, case.similar)
    proved = 0
    for _ in range(6):
        lo, hi = some_cell(oracle, random)
        if oracle.boxes(lo[None], hi[None]).empty[0]:
            continue
        posed = oracle.squares.posed(lo, hi)
        pairs = pairs_of(oracle, lo, hi, random)
        for x, other in pairs:
            y = y_of(oracle, posed, x, other)
            for codes, copy in ((x, posed.first), (other, posed.second)):
                exact = oracle.score.enclose([Fraction(c) for c in codes], 64).lo
                assert value_at(copy, y) == fmpq(exact.numerator, exact.denominator)
        for question in (DecisionSet(level=Fraction(1, 8)), GapSet(delta=Fraction(1, 2))):
            found = oracle.squares.propose(lo, hi, question)
            if found is None:
                continue
            assert oracle.squares.proves(lo, hi, found.content, question) == found.closes
            if found.closes:
                proved += 1
                for x, other in pairs:
                    s, t = (oracle.score.enclose([Fraction(c) for c in codes], 64).lo for codes in (x, other))
                    assert not question.holds(s, t)
    return proved


def test_constraints_take_part():
    """x and x' are far apart but for the constraint, which only a multiplier knows about."""
    from sklearn.svm import SVR

    rows = np.random.default_rng(0).uniform(-1, 1, (40, 2))
    model = SVR(kernel="poly", degree=2, gamma=1.0, coef0=0.5, C=10.0).fit(rows, rows[:, 0] ** 2 + rows[:, 1])
    space = lw.Space({"a": lw.Continuous(-1, 1), "b": lw.Continuous(-1, 1)}).where("0 <= a + b <= 0.1")
    oracle = oracle_for(model, space, lw.Similarity(free=["a", "b"]))
    lo, hi = (np.array([float(getattr(v, end)) for v in oracle.pairs.variables]) for end in ("lo", "hi"))
    posed = oracle.squares.posed(lo, hi)
    assert sorted(posed.cube.constraints) == [0, 1, 2, 3]
    result = lw.verify(model, space, lw.Similarity(free=["a", "b"]), lw.ScoreGap(2.4), budget=30)
    assert result.verdict in ("FAIR", "BIASED")
