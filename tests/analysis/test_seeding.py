"""Biased boxes grown around individuals: everybody in them is treated differently, also where the layer is thin."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from tests.analysis.test_partitioning import SPACE, everybody, fitted, similar_pairs
from tests.posing import problem_of

import likewise as lw
from likewise.analysis.partition.judge import BoxJudge
from likewise.analysis.partition.proofs import BoxProver, reduce_to_one_score
from likewise.analysis.partition.seeds import Seeder
from likewise.analysis.region_search import RegionSearch
from likewise.progress import ignore_progress
from likewise.run import Run
from likewise.search.budget import Budget
from likewise.verifying.certification import CheckRunner
from likewise.verifying.posed_problem import pose


def search_of(model, space, similar):
    asked = lw.SameDecision()
    problem = problem_of(model, space, similar)
    imported = reduce_to_one_score(problem.imported, asked)
    prepared = pose(replace(problem, imported=imported), Run(budget=Budget(60)))
    judge = BoxJudge(prepared)
    judge.warm_up()
    prover = BoxProver(
        model=model,
        whole=imported,
        space=space,
        asked=asked,
        relations=similar.relations(space),
        budget=Budget(60),
        checking=CheckRunner(),
    )
    return RegionSearch(judge, prover, None, ignore_progress, 100)


def seeder_of(model, space, similar):
    search = search_of(model, space, similar)
    return Seeder(search.cutter, search.prover.relations)


@pytest.mark.parametrize(
    "kind", ["linear", *(pytest.param(kind, marks=pytest.mark.slow) for kind in ("rbf", "forest"))]
)
@pytest.mark.parametrize(
    "similar",
    [
        lw.Similarity(free=["sex"]),
        lw.Similarity(free=["sex"], within={"age": 1}),
        lw.Similarity(pairs={"job": [("none", "skilled"), ("skilled", "manager")]}, within={"grade": 1}),
    ],
    ids=["free", "free and within", "pairs and within"],
)
def test_everybody_in_a_grown_box_is_treated_differently(kind, similar):
    model, rows = fitted(kind, 1), everybody(SPACE)
    decided = model.predict(rows)
    differently = (similar_pairs(SPACE, similar, rows) & (decided[:, None] != decided[None])).any(axis=1)
    seeder, codes = seeder_of(model, SPACE, similar), SPACE.encode(rows).tolist()
    seeds = seeder.seeds()
    assert len(seeds)
    grown = [seeder.grown(seed, seeder.judge.lo, seeder.judge.hi, Budget(60)) for seed in seeds[:8]]
    assert any(grown)
    for seed, box in zip(seeds, grown, strict=False):
        if box is None:
            continue
        assert ((box.lo <= seed) & (seed <= box.hi)).all()
        inside = np.array([seeder.user.box(box.lo, box.hi).holds(row) for row in codes])
        assert inside.any()
        assert differently[inside].all()


def thin(features=8):
    """A linear model in which the free feature moves the score by a small part of its range."""
    random = np.random.default_rng(0)
    rows = random.uniform(0, 1, (400, features))
    model = LogisticRegression(C=1e4).fit(
        rows, rows @ np.r_[np.full(features - 1, 5.0), 0.2] > 2.5 * (features - 1)
    )
    space = lw.Space({f"x{k}": lw.Continuous(0, 1) for k in range(features)})
    return model, space, lw.Similarity(free=[f"x{features - 1}"])


def test_a_thin_layer_has_boxes():
    """Less than 1e-9 of the space, where halving does not come to: each side has its share of the room that there is."""
    model, space, similar = thin()
    seeder = seeder_of(model, space, similar)
    seeds = seeder.seeds()
    flips = [len(set(model.predict(np.stack([np.r_[s[:-1], end] for end in (0, 1)])))) for s in seeds[:20]]
    assert set(flips) == {2}
    room = abs(model.coef_[0, -1])
    for seed in seeds[:5]:
        box = seeder.grown(seed, seeder.judge.lo, seeder.judge.hi, Budget(60))
        assert 0 < float(seeder.user.box(box.lo, box.hi).share) < 1e-9
        used = float((np.abs(model.coef_[0, :-1]) * (box.hi - box.lo)[:-1]).sum())
        assert 0.5 * room < used <= room * (1 + 1e-9)
        corners = itertools.product(*zip(box.lo[:-1], box.hi[:-1], strict=True))
        ends = np.array([[*corner, end] for corner in corners for end in (0.0, 1.0)])
        decided = model.predict(ends).reshape(-1, 2)
        assert (decided[:, 0] != decided[:, 1]).all()


@pytest.mark.some_days
def test_grown_boxes_are_taken_out_of_the_open_ones():
    model, space, similar = thin(4)
    search = search_of(model, space, similar)
    found = search.grow(Budget(60), most=3)
    assert [one.kind for one in found] == ["biased"]  # one in every open box, of which there is one
    found += search.grow(Budget(60), most=3)
    assert 1 < len(found) <= 4
    everywhere = [*found, *(search._piece(box, "undecided") for box in search.partition.boxes.values())]
    assert sum((one.share for one in everywhere), Fraction(0)) == 1
    assert all(one.box.share == one.share for one in everywhere)
    people = np.random.default_rng(1).uniform(0, 1, (500, 4))
    counts = [sum(one.box.holds(row) for one in everywhere) for row in people.tolist()]
    assert set(counts) == {1}


def test_nobody_is_treated_differently_and_nothing_is_grown():
    random = np.random.default_rng(0)
    rows = random.uniform(0, 1, (200, 3))
    model = LogisticRegression().fit(rows, rows[:, 0] > 0.5)
    model.coef_[0, 2] = 0.0
    space = lw.Space({f"x{k}": lw.Continuous(0, 1) for k in range(3)})
    search = search_of(model, space, lw.Similarity(free=["x2"]))
    assert not len(Seeder(search.cutter, search.prover.relations).seeds())
    assert search.grow(Budget(60), most=3) == []
