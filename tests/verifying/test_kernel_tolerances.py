"""Kernel models with numbers that may differ: what the search says is what exhaustion says.

The search's own word is tested here, so nothing hangs on the checker.
"""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC
from tests.posing import posed
from tests.verifying.test_kernels import SPACE, continuous_model

import likewise as lw
from likewise.search.portfolio import decide
from likewise.search.proof import Split, walk_proof


def small_case(seed):
    """A small discrete space, an SVC on it, and a similarity with tolerances."""
    random = np.random.default_rng([7, seed])
    count = int(random.integers(2, 5))
    names = [f"f{k}" for k in range(count)]
    sizes = random.integers(4, 8, count) if count < 4 else random.integers(3, 5, count)
    features, within, free = {}, {}, []
    for k, name in enumerate(names):
        sort = ["whole", "ordered", "named"][0 if k == 0 else random.integers(3)]
        hi = int(sizes[k]) - 1
        features[name] = {
            "whole": lambda hi=hi: lw.Integer(0, hi),
            "ordered": lambda hi=hi: lw.Ordinal(list(range(hi + 1))),
            "named": lambda hi=hi: lw.Categorical(list(range(hi + 1))),
        }[sort]()
        if k == 0 or (sort != "named" and random.random() < 0.5):
            within[name] = int(random.integers(1, 3))
        elif random.random() < 0.3:
            free.append(name)
    rows = pd.DataFrame({n: random.integers(0, s, 30) for n, s in zip(names, sizes, strict=True)})
    score = rows.to_numpy() @ random.normal(size=count) + 0.3 * random.normal(size=30)
    model = SVC(C=float(random.choice([0.3, 1.0, 10.0])), gamma=float(random.choice([0.02, 0.1, 0.5])))
    model.fit(rows, (score > np.median(score)).astype(int))
    return lw.Space(features), model, lw.Similarity(free=free, within=within)


def largest(space, model, similar):
    """The largest gap of scores over all similar pairs, and the largest margin of two decisions."""
    sizes = [f.hi + 1 if f.kind == "integer" else len(f.levels) for f in space.features.values()]
    codes = np.array(list(itertools.product(*map(range, sizes))))
    scores = model.decision_function(pd.DataFrame(codes, columns=list(space.names)))
    alike = np.ones((len(codes), len(codes)), dtype=bool)
    for k, relation in enumerate(similar.resolve(space)):
        apart = np.abs(codes[:, None, k] - codes[None, :, k])
        if relation.kind != "free":
            alike &= apart <= float(relation.tolerance or 0)
    first, second = scores[:, None], scores[None, :]
    gap = np.where(alike, first - second, -np.inf).max()
    return float(gap), float(np.where(alike, np.minimum(first, -second), -np.inf).max())


def search(model, space, similar, property):
    prepared = posed(model, space, similar, property)
    return prepared, decide(prepared.task)


@pytest.mark.some_days
@pytest.mark.draw(4)
@pytest.mark.parametrize("seed", range(45))
def test_the_search_says_what_exhaustion_says(seed):
    space, model, similar = small_case(seed)
    gap, margin = largest(space, model, similar)
    for factor in (1.01, 0.99):
        _, outcome = search(model, space, similar, lw.ScoreGap(factor * gap))
        assert (outcome.proof is not None) == (factor > 1)
        assert (outcome.witness is not None) == (factor < 1)
    if abs(margin) > 1e-9:
        _, outcome = search(model, space, similar, lw.SameDecision())
        assert (outcome.witness is not None) == (margin > 0)
        assert (outcome.proof is not None) == (margin < 0)


@pytest.mark.draw(2)
@pytest.mark.parametrize("seed", range(8))
def test_the_bracket_holds_the_largest_gap(seed):
    space, model, similar = small_case(seed)
    gap, _ = largest(space, model, similar)
    found = lw.measure(model, space, similar, tolerance=0.01, budget=60)
    assert found.lower - 1e-9 <= gap <= found.upper + 1e-9
    assert found.upper - found.lower <= 0.01001


def test_a_gap_next_to_the_largest_is_decided_by_looking_at_pairs():
    """Nothing but single pairs is left then: x' is cut down to what x and the difference leave of it."""
    space, model, similar = small_case(3)
    gap, _ = largest(space, model, similar)
    _, outcome = search(model, space, similar, lw.ScoreGap(gap * (1 + 1e-10)))
    assert outcome.proof is not None
    assert any(getattr(node, "rule", None) == "enumerated" for node in outcome.proof.nodes)


SIMILAR = [
    lw.Similarity(within={"income": 0.1}),
    lw.Similarity(within={"income": "3%", "age": 2}, free=["sex"]),
    lw.Similarity(free=["income"]),
    lw.Similarity(within={"age": 3}, free=["income"]),
]


@pytest.mark.draw(2)
@pytest.mark.parametrize("similar", SIMILAR)
def test_gaps_within_tolerances_of_continuous_features(similar):
    model = continuous_model()
    found = lw.measure(model, SPACE, similar, tolerance=0.05, budget=60)
    assert found.upper - found.lower <= 0.0501
    random = np.random.default_rng(1)
    rows = np.column_stack(
        [random.integers(18, 71, 4000), random.integers(0, 2, 4000), random.uniform(0, 4, 4000)]
    )
    others = rows.copy()
    for k, relation in enumerate(similar.resolve(SPACE)):
        lo, hi = [(18, 70), (0, 1), (0, 4)][k]
        if relation.kind == "within":
            t = float(relation.tolerance)
            step = random.uniform(-t, t, 4000) if k == 2 else random.integers(-int(t), int(t) + 1, 4000)
            others[:, k] = np.clip(rows[:, k] + step, lo, hi)
        elif relation.kind == "free":
            others[:, k] = random.permutation(rows[:, k])
    score = model.decision_function
    names = list(SPACE.names)
    frames = [pd.DataFrame(part, columns=names)[list(model.feature_names_in_)] for part in (rows, others)]
    assert np.abs(score(frames[0]) - score(frames[1])).max() <= found.upper + 1e-9


def test_every_cell_of_a_proof_has_its_hints_and_its_differences():
    """As the certificate wants them: e of what is the same, three of each number that may differ, and r."""
    similar = lw.Similarity(within={"income": 0.1, "age": 2})
    prepared, outcome = search(continuous_model(), SPACE, similar, lw.ScoreGap(0.75))
    pairs = prepared.pairs
    assert [v.side for v in pairs.variables] == ["first", "second", "both", "first", "second"] + 2 * [
        "difference"
    ]
    assert (pairs.variables[5].lo, pairs.variables[5].hi) == (-2, 2)
    assert Fraction(pairs.variables[6].hi) == Fraction(0.1)
    leaves = 0
    for _, node, lo, hi in walk_proof(outcome.proof, pairs):
        if not isinstance(node, Split) and node.rule == "kernel":
            leaves += 1
            paired = sum(lo[i] < hi[i] or lo[i + 1] < hi[i + 1] for i in (0, 3))
            assert len(node.hints) == int(lo[2] < hi[2]) + 3 * paired + 1
    assert leaves > 1
