"""Votes of several classes: a small space is looked through, and a large one is searched case by case as far as the budget goes."""

import io
import itertools
import random

import numpy as np
import pandas as pd
import pytest
from sklearn.svm import SVC
from tests.budgets.work import ANSWER, counted

import likewise as lw
from likewise.families.oracles import Oracles
from likewise.search import portfolio
from likewise.search.budget import GRACE, GRACE_SECONDS
from likewise.search.frontiers import Frontiers
from likewise_check import check


def people(seed):
    """Whole numbers and levels, a rule or none, everybody who obeys it, and who is similar to whom."""
    draw = random.Random(seed)
    ranges = {"a": range(draw.randint(3, 4)), "b": range(draw.randint(2, 3)), "s": range(2)}
    space = lw.Space({name: lw.Integer(r[0], r[-1]) for name, r in ranges.items()})
    names = list(space.names)
    everybody = pd.DataFrame(itertools.product(*(ranges[name] for name in names)), columns=names)
    rows = everybody
    if draw.random() < 0.4:
        space, rows = space.where("a + s <= 3"), everybody[everybody.a + everybody.s <= 3]
    near = draw.choice((0, 0, 1))
    similar = lw.Similarity(free=["s"], within={"a": 1} if near else {})

    def alike(one, other):
        same = all(one[name] == other[name] for name in names if name not in ("a", "s"))
        return same and abs(one["a"] - other["a"]) <= near

    return draw, space, everybody, rows.reset_index(drop=True), similar, alike


def fitted(draw, everybody, classes):
    random = np.random.default_rng(draw.randint(0, 10**6))
    label = 3 * everybody.a + everybody.b + draw.choice((0, 0, 1)) * everybody.s
    noise = random.integers(0, 2, len(everybody)) * (random.random(len(everybody)) < draw.choice((0, 0.2)))
    label = (label + noise).to_numpy() % classes
    return SVC(gamma=draw.choice((0.2, 0.5)), C=draw.choice((1, 20))).fit(everybody, label)


@pytest.mark.draw(4)
@pytest.mark.parametrize("classes", [3, 4, 5])
@pytest.mark.parametrize("seed", range(12))
def test_a_small_space_is_looked_through(seed, classes):
    """The verdict is that of all pairs of people by the original's predict, and certificates are accepted by the checker."""
    draw, space, everybody, rows, similar, alike = people(100 * classes + seed)
    model = fitted(draw, everybody, classes)
    decided, listed = model.predict(rows), rows.to_dict("records")
    of = draw.choice((None, None, 0))
    label = {None: lambda one: one, 0: lambda one: one == 0}[of]
    different = {
        (i, j)
        for i, j in itertools.combinations(range(len(rows)), 2)
        if label(decided[i]) != label(decided[j]) and alike(listed[i], listed[j])
    }
    found = lw.verify(model, space, similar, lw.SameDecision(class_of_interest=of), X=rows, budget=300)
    assert found.verdict == ("BIASED" if different else "FAIR")
    assert check(io.BytesIO(found.certificate.content)).accepted
    if different:
        at = [listed.index(one) for one in found.pair.to_dict("records")]
        assert tuple(sorted(at)) in different


def large():
    """Five classes over 8,000 people of whom nobody is treated differently, so that only a proof ends the search."""
    space = lw.Space({"a": lw.Integer(0, 999), "b": lw.Integer(0, 3), "s": lw.Integer(0, 1)})
    draw = np.random.default_rng(0)
    rows = pd.DataFrame({"a": draw.integers(0, 1000, 60), "b": draw.integers(0, 4, 60), "s": 0})
    return SVC(gamma=1e-4).fit(rows, rows.a // 200), space, rows


def test_cases_are_made_as_far_as_the_budget_goes(monkeypatch):
    """On a clock that moves with oracles: there are thousands of cases, and a handful of seconds."""
    model, space, rows = large()
    made = []
    with monkeypatch.context() as patched:
        work = counted(patched)
        work.costs(patched, Oracles, "of", "oracle", lambda *_: made.append(0) or 0.05)
        found = lw.verify(model, space, lw.Similarity(free=["s"]), X=rows, budget=5)
        spent = work.now - found.stats["import_seconds"]
    assert found.verdict == "UNKNOWN"
    assert "used up" in found.reason
    assert 0 < len(made) <= 5 / 0.05
    assert spent <= 5 + GRACE * 5 + GRACE_SECONDS + work.largest + 2 * ANSWER


def test_cells_are_counted_once_a_turn(monkeypatch):
    """Not again for each of the cases, which took as many steps as there are cases, squared."""
    model, space, rows = large()
    counted_cells = []
    count = Frontiers.cells.fget
    monkeypatch.setattr(Frontiers, "cells", property(lambda all_: counted_cells.append(0) or count(all_)))
    with monkeypatch.context() as patched:
        counted(patched)
        found = lw.verify(model, space, lw.Similarity(free=["s"]), X=rows, budget=5)
    assert found.stats["engine"] == "branch and bound"
    assert len(counted_cells) < 20


def test_a_space_that_is_too_large_to_look_through_is_searched(monkeypatch):
    """Three classes both ways: what is looked through and what is searched come to the same."""
    draw, space, everybody, rows, similar, _ = people(3)
    model = fitted(draw, everybody, 3)
    looked = lw.verify(model, space, similar, X=rows, budget=300)
    monkeypatch.setattr(portfolio, "MOST_VOTING_TERMS", 0)
    searched = lw.verify(model, space, similar, X=rows, budget=300)
    assert looked.verdict == searched.verdict
    assert looked.stats["engine"] == "enumeration"
    assert searched.stats["engine"] != "enumeration"
