"""Blocks of the lattice, and enumeration by them, against exhaustion in exact arithmetic."""

import itertools
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC
from tests.posing import posed

import likewise as lw
from likewise.families.kernel.body import KernelScore, RbfSum
from likewise.families.kernel.bounder import KernelBounder
from likewise.families.kernel.products import kernel_products
from likewise.families.oracles import Oracles
from likewise.model.embedding import Column
from likewise.search import lattice
from likewise.search.budget import Budget
from likewise.search.enumeration import enumerate_space, is_enumerable

BITS = 200
SPACE = {
    "a": lw.Integer(-1, 3),
    "b": lw.Ordinal([0, 2, 3]),
    "c": lw.Integer(5, 8),
    "d": lw.Categorical([0, 1, 4]),
}
SIMILARITIES = [
    lw.Similarity(free=["d"]),
    lw.Similarity(free=["a", "d"]),
    lw.Similarity(within={"a": 1}),
    lw.Similarity(free=["d"], within={"c": 2}),
    lw.Similarity(free=["d"], within={"a": 9, "c": 1}),
    lw.Similarity(pairs={"b": [(2, 0)], "d": [(0, 1), (1, 4)]}),
    lw.Similarity(within={"a": 1}, pairs={"d": [(0, 4)]}),
]


def some_problem(seed, similar, constraints=()):
    """An SVC on sixty rows of a space of 180 individuals."""
    random = np.random.default_rng(seed)
    space = lw.Space(SPACE, constraints=list(constraints))
    rows = pd.DataFrame(
        {
            "a": random.integers(-1, 4, 60),
            "b": random.choice([0, 2, 3], 60),
            "c": random.integers(5, 9, 60),
            "d": random.choice([0, 1, 4], 60),
        }
    )
    score = rows.to_numpy() @ random.normal(size=4)
    model = SVC(C=2.0, gamma=0.15).fit(rows, (score > np.median(score)).astype(int))
    return posed(model, space, similar).task


def everybody(problem):
    """All valid individuals with their scores, as exact as 200 bits are."""
    ranges = [
        range(int(problem.pairs.variables[v].lo), int(problem.pairs.variables[v].hi) + 1)
        for v in problem.pairs.first
    ]
    people = [list(codes) for codes in itertools.product(*ranges)]
    return [
        (codes, problem.oracles.enclose([Fraction(c) for c in codes], BITS)[0].middle)
        for codes in people
        if all(constraint.exact(codes) <= 0 for constraint in problem.pairs.constraints)
    ]


def alike(relation, code, other):
    if relation.kind == "pairs":
        return code == other or sorted((code, other)) in [list(pair) for pair in relation.allowed]
    return abs(code - other) <= {"same": 0, "free": 100}.get(relation.kind, relation.tolerance)


def counted(problem):
    """Individuals, flips, largest gap and margin by looking at every pair."""
    people = everybody(problem)
    flipped, gap, margin = 0, Fraction(-100), Fraction(-100)
    relations = problem.pairs.relations
    for x, s in people:
        similar = [t for y, t in people if all(map(alike, relations, x, y))]
        flipped += any((s > 0) != (t > 0) for t in similar)
        gap = max(gap, *(s - t for t in similar))
        margin = max(margin, *(min(s, -t) for t in similar))
    return len(people), flipped, gap, margin


def by_blocks(problem):
    """The same by the filters over the blocks, in float64."""
    people, flipped, gap, margin = 0, 0, -100.0, -100.0
    for block in lattice.score_blocks(problem, problem.products()):
        upper, valid = block.scores > 0, ~np.isnan(block.scores)
        lower = valid & ~upper
        people += int(valid.sum())
        flipped += int(((upper & block.highest(lower)) | (lower & block.highest(upper))).sum())
        lowest = block.lowest_scores()
        gap = max(gap, np.nanmax(block.scores - lowest))
        margin = max(margin, np.nanmax(np.minimum(block.scores, -lowest)))
        check_counterparts(problem, block, lowest)
    return people, flipped, gap, margin


def check_counterparts(problem, block, lowest):
    """The one that the lowest score belongs to is valid, similar, and has it."""
    for place in np.flatnonzero(~np.isnan(block.scores))[::7].tolist():
        x, other = block.codes(np.array([place]))[0], block.counterpart(place)
        assert problem.pairs.valid([Fraction(c) for c in x.tolist()], [Fraction(c) for c in other.tolist()])
        assert problem.scores(other[None])[0] == pytest.approx(lowest.ravel()[place], abs=1e-9)


def check_blocks(problem):
    found, truth = by_blocks(problem), counted(problem)
    assert found[:2] == truth[:2]
    assert found[2:] == pytest.approx([float(value) for value in truth[2:]], abs=1e-9)
    return found


@pytest.mark.parametrize("similar", SIMILARITIES)
def test_counts_are_those_of_exhaustion(similar):
    people, flipped, *_ = check_blocks(some_problem(0, similar))
    assert 0 < flipped <= people == 180


@pytest.mark.parametrize(
    "constraint", ["a + c <= 7", "3*a + 2*b - c >= -2", "0.1*a + 0.3333333333333333*c <= 2.1"]
)
def test_constraints_are_exact(constraint):
    assert check_blocks(some_problem(1, SIMILARITIES[3], [constraint]))[0] < 180


def test_numbers_beyond_64_bits_are_exact_too():
    problem = some_problem(1, SIMILARITIES[0], ["1e300*a + c <= 7"])
    assert check_blocks(problem)[0] < 180


@pytest.mark.draw(5)
@pytest.mark.parametrize("wide", [1, 3])
@pytest.mark.parametrize("similar", SIMILARITIES)
def test_blocks_of_any_size_give_the_same(monkeypatch, similar, wide):
    problem = some_problem(2, similar)
    whole = by_blocks(problem)
    assert len(list(lattice.score_blocks(problem, problem.products()))) == 1
    moving = int(np.prod([len(range(*_ends(problem, k))) for k in _moving(problem)]))
    monkeypatch.setattr(lattice, "MOST_GROUP_VALUES", wide * moving * problem.cost)
    monkeypatch.setattr(lattice, "BLOCK_SCORES", wide * moving)
    assert len(list(lattice.score_blocks(problem, problem.products()))) > 2 or wide > 1
    parts = by_blocks(problem)
    assert parts[:2] == whole[:2]
    assert parts[2:] == pytest.approx(whole[2:], abs=1e-12)


def _moving(problem):
    return [k for k, relation in enumerate(problem.pairs.relations) if relation.kind != "same"]


def _ends(problem, k):
    variable = problem.pairs.variables[problem.pairs.first[k]]
    return int(variable.lo), int(variable.hi) + 1


def one_hot(problem):
    """The same space, its levels one-hot, its numbers scaled, one of them twice."""
    random = np.random.default_rng(0)
    columns = [Column(feature=0, slope=Fraction(0.3), offset=Fraction(-0.7))]
    columns += [
        Column(feature=1, table=tuple(Fraction(int(i == level)) for i in range(3))) for level in range(3)
    ]
    columns += [Column(feature=2, slope=Fraction(s)) for s in (0.2, -0.4)]
    columns += [
        Column(feature=3, table=tuple(Fraction(int(i == level)) for i in range(3))) for level in range(3)
    ]
    body = RbfSum(
        gamma=0.3,
        bias=-0.1,
        coefficients=random.normal(size=30),
        centres=random.normal(size=(30, len(columns))),
    )
    score = KernelScore(body=body, embedding=tuple(columns))
    problem.oracles = Oracles(score, problem.pairs, KernelBounder(score, problem.pairs))
    problem.products = partial(kernel_products, score, problem.pairs)
    return problem


def unchanged(problem):
    return problem


@pytest.mark.parametrize("embedded", [unchanged, one_hot])
def test_every_score_is_within_its_error(embedded):
    problem = embedded(some_problem(3, SIMILARITIES[0]))
    product = problem.products()
    assert 0 < product.error < 1e-9
    furthest = Fraction(0)
    for block in lattice.score_blocks(problem, product):
        codes = block.codes(np.arange(block.scores.size))
        for row, score in zip(codes.tolist(), block.scores.ravel().tolist(), strict=True):
            exact = problem.oracles.enclose([Fraction(c) for c in row], BITS)[0].middle
            furthest = max(furthest, abs(Fraction(score) - exact))
    assert 0 < furthest <= product.error


def test_the_deepest_pair_of_a_kernel_model_is_found():
    problem = some_problem(0, SIMILARITIES[3])
    witness = enumerate_space(problem)
    margin = counted(problem)[3]
    assert min(witness.first.middle, -witness.second.middle) == pytest.approx(float(margin), abs=1e-12)
    problem.question = problem.question.at(margin + Fraction(1, 10**6))
    assert enumerate_space(problem) is None


def test_what_is_too_large_is_left_alone():
    problem = some_problem(0, SIMILARITIES[0])
    assert is_enumerable(problem)
    assert not is_enumerable(problem, effort=100)
    assert enumerate_space(problem, effort=100) is None
    problem.budget = Budget(1e-9)  # as is what the budget has no time for
    assert not is_enumerable(problem)


def test_blocks_end_with_the_budget(monkeypatch):
    problem = some_problem(0, SIMILARITIES[0])
    monkeypatch.setattr(lattice, "BLOCK_SCORES", 5)
    monkeypatch.setattr(lattice, "MOST_GROUP_VALUES", 20 * problem.cost)
    blocks = lattice.score_blocks(problem, problem.products())
    next(blocks)
    problem.budget.interrupt()
    assert list(blocks) == []
