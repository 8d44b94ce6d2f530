"""A partition divides every measure exactly: of the space, of rows, of independent columns; and its regions hold the rows that lie in them."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from tests.analysis.test_partitioning import SPACE, everybody, fitted

import likewise as lw
from likewise.analysis.measures import marginal_measure
from likewise.analysis.partition.engine import Cut, Partition, Weights
from likewise.analysis.partition.people import RowPeople
from likewise.errors import SpecError
from likewise.spec.boxes import parse_box
from likewise.spec.pairs import pair_space

SEX = lw.Similarity(free=["sex"])


def crowded(count=300):
    """Rows of a few kinds, some of them on every border that numbers with few digits are."""
    random = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": random.choice([0.0, 0.25, 0.5, 0.75, 1.0], count),
            "y": random.integers(0, 5, count),
            "s": random.integers(0, 2, count),
        }
    )
    space = lw.Space({"x": lw.Continuous(0, 1), "y": lw.Integer(0, 4), "s": lw.Categorical([0, 1])})
    model = LogisticRegression(C=100).fit(X, X["x"] + 0.3 * X["y"] + 0.2 * X["s"] > 1)
    return model, space, X


@pytest.mark.draw(3)
@pytest.mark.parametrize("seed", range(10))
def test_masses_add_up_and_are_those_of_the_boxes(seed):
    _, space, X = crowded()
    random, rows = np.random.default_rng(seed), space.encode(X)
    pairs = pair_space(space, lw.Similarity(free=["s"]))
    columns = marginal_measure(pairs, rows)
    weights = Weights(measures=(columns, RowPeople(rows, rows)), weights=(0.5, 0.5))
    partition = Partition(*columns.ends(), weights, rows)
    for _ in range(20):
        box = partition.pop()
        k = int(random.integers(2))
        if box.lo[k] == box.hi[k]:
            k = 1 - k
        if box.lo[k] == box.hi[k]:
            partition.push(box)
            continue
        at = float(random.uniform(box.lo[k], box.hi[k]))
        cut = Cut(0, at) if k == 0 else Cut(1, float(np.floor(at)), float(np.floor(at)) + 1)
        for part in partition.divided(box, cut):
            partition.push(part)
    boxes = list(partition.boxes.values())
    for i in range(2):
        assert sum((box.masses[i] for box in boxes), Fraction(0)) == 1
    assert sorted(np.concatenate([box.rows for box in boxes])) == list(range(len(rows)))
    for box in boxes:
        assert box.masses[0] == columns.mass(box.lo, box.hi, box.open_left)
        above = np.where(box.open_left, rows > box.lo, rows >= box.lo)
        inside = np.flatnonzero((above & (rows <= box.hi)).all(axis=1))
        assert inside.tolist() == box.rows.tolist()
        assert box.masses[1] == Fraction(len(inside), len(rows))


@pytest.mark.draw(2)
@pytest.mark.parametrize("kind", ["linear", pytest.param("forest", marks=pytest.mark.slow)])
@pytest.mark.parametrize("over", ["rows", "marginals", "uniform"])
def test_shares_of_people_are_those_of_counting_them(kind, over):
    model, everyone = fitted(kind, 1), everybody(SPACE)
    X = everyone.sample(70, random_state=1, weights=1 + everyone["age"])
    found = lw.regions(model, SPACE, SEX, X=X, over=X if over == "rows" else over, budget=120)
    assert found.reason is None
    kinds = ("fair", "biased", "undecided", "empty")
    assert sum(found.share(kind) for kind in kinds) == sum(found.people(kind) for kind in kinds) == 1
    weights = {name: X[name].value_counts() / len(X) for name in SPACE.names}
    for region in found:
        box = parse_box(region.rule, SPACE)
        assert region.measure == box.share
        if over == "rows":
            inside = sum(box.holds(row) for row in SPACE.encode(X).tolist())
            assert region.people == Fraction(inside, len(X))
        elif over == "marginals":
            inside = np.array([box.holds(row) for row in SPACE.encode(everyone).tolist()])
            mass = np.prod([everyone[name].map(weights[name]).fillna(0) for name in SPACE.names], axis=0)
            assert float(region.people) == pytest.approx(mass[inside].sum(), abs=1e-12)
        else:
            assert region.people is None
    sizes = [(-region.weight, -region.measure) for region in found.fair]
    assert sizes == sorted(sizes)
    people = found.to_dict()["people"]
    assert people is None if over == "uniform" else sum(people.values()) == pytest.approx(1)


def test_rows_on_a_border_count_once():
    model, space, X = crowded()
    found = lw.regions(model, space, lw.Similarity(free=["s"]), X=X, budget=20)
    assert found.over == "the 300 rows of the data"
    assert sum((region.people for region in found), Fraction(0)) == 1
    codes = space.encode(X).tolist()
    for region in found:
        box = parse_box(region.rule, space)
        assert region.people <= Fraction(sum(box.holds(row) for row in codes), len(X))
    assert found.people("undecided") < Fraction(1, 10)
    assert "of the 300 rows of the data" in str(found)


def test_what_is_no_measure_of_people():
    model, space, X = crowded()
    similar = lw.Similarity(free=["s"])
    with pytest.raises(SpecError, match="over must be"):
        lw.regions(model, space, similar, X=X, over="rows")
    with pytest.raises(SpecError, match="need the data"):
        lw.regions(model, space, similar, over="marginals")
