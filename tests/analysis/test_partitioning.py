"""regions: every individual of every fair and of every biased box is what the box says, and shares add up to one."""

import io
import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import likewise as lw
from likewise.errors import SpecError
from likewise.spec.boxes import box_of

LEVELS = {"job": ["none", "skilled", "other work", "manager"], "sex": ["f", "m"]}
SPACE = lw.Space(
    {
        "age": lw.Integer(0, 5),
        "grade": lw.Ordinal(["low", "middle", "high"]),
        "job": lw.Categorical(LEVELS["job"]),
        "sex": lw.Categorical(LEVELS["sex"]),
    }
)
KINDS = ["linear", "rbf", "polynomial"]


def everybody(space):
    values = [
        range(f.lo, f.hi + 1) if isinstance(f, lw.Integer) else f.levels for f in space.features.values()
    ]
    return pd.DataFrame(list(itertools.product(*values)), columns=list(space.names))


def fitted(kind, seed):
    """A pipeline that decides by all features, with a sex that matters where others leave it close."""
    rows = everybody(SPACE)
    random = np.random.default_rng(seed)
    score = (rows["age"] - 2.5) * random.normal(1, 0.3) + (rows["job"] == "manager") * 2.0
    score += (rows["sex"] == "m") * random.choice([-1.5, 1.5]) + random.normal(0, 0.5, len(rows))
    last = {
        "linear": LogisticRegression(),
        "rbf": SVC(gamma=0.3, C=2.0),
        "polynomial": SVC(kernel="poly", degree=2, gamma=0.5, coef0=1.0),
    }[kind]
    levels = make_column_transformer(
        (OneHotEncoder(), ["job", "sex", "grade"]), remainder=StandardScaler()
    )
    return make_pipeline(levels, last).fit(rows, score > 0.5)


def similar_pairs(space, similar, rows):
    """Which two of the rows are similar, by looking at all of them."""
    codes = space.encode(rows)
    together = np.ones((len(rows), len(rows)), dtype=bool)
    for k, relation in enumerate(similar.relations(space)):
        for i, j in itertools.product(range(len(rows)), repeat=2):
            together[i, j] &= relation.allows(Fraction(codes[i, k]), Fraction(codes[j, k]))
    return together


def checked(model, space, similar, found, rows=None):
    """Compare every region with everybody in it; returns how many of each kind there are."""
    rows = everybody(space) if rows is None else rows
    valid = np.array([all(c.holds(row) for c in space.constraints) for row in rows.to_dict("records")])
    codes, decided = lw.Space(space.features).encode(rows), model.predict(rows)
    treated_differently = (
        similar_pairs(lw.Space(space.features), similar, rows)
        & (decided[:, None] != decided[None])
        & valid[None]
        & valid[:, None]
    ).any(axis=1)
    seen = np.zeros(len(rows), dtype=int)
    for region in found:
        box = box_of(region.rule, space)
        inside = np.array([box.holds(row) for row in codes.tolist()])
        assert inside.any()
        assert box.share == region.measure == Fraction(int(inside.sum()), len(rows))
        seen += inside
        if region.kind == "fair":
            assert not treated_differently[inside & valid].any()
            assert len(region.certificates) == 1
        elif region.kind == "biased":
            assert treated_differently[inside & valid].all()
            assert len(region.certificates) == 2
        elif region.kind == "empty":
            assert not valid[inside].any()
        for certificate in region.certificates:
            assert lw.check(io.BytesIO(certificate.content)).accepted
    assert (seen == 1).all()
    assert sum((region.measure for region in found), Fraction(0)) == 1
    return treated_differently[valid]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", KINDS)
def test_everybody_is_where_brute_force_puts_them(kind, seed):
    model, similar = fitted(kind, seed), lw.Similarity(free=["sex"])
    found = lw.regions(model, SPACE, similar)
    truth = checked(model, SPACE, similar, found)
    assert not found.undecided
    assert found.share("biased") == Fraction(int(truth.sum()), len(truth))
    assert found.reason is None


@pytest.mark.parametrize("kind", KINDS)
def test_a_box_around_a_person_is_fair_and_cannot_be_widened_by_one_value(kind):
    model, similar = fitted(kind, 1), lw.Similarity(free=["sex"])
    rows = everybody(SPACE)
    fair = ~(similar_pairs(SPACE, similar, rows) & (model.predict(rows)[:, None] != model.predict(rows)[None])).any(axis=1)
    for i in (int(np.flatnonzero(fair)[0]), int(np.flatnonzero(fair)[-1]), int(np.flatnonzero(~fair)[0])):
        found = lw.regions(model, SPACE, similar, around=rows[i : i + 1])
        (region,) = found
        assert region.kind == ("fair" if fair[i] else "biased")
        box = box_of(region.rule, SPACE)
        inside = np.array([box.holds(row) for row in SPACE.encode(rows).tolist()])
        assert inside[i]
        assert (fair[inside] == fair[i]).all()
        assert all(lw.check(io.BytesIO(c.content)).accepted for c in region.certificates)
        if fair[i]:
            for wider in widened(box):
                others = np.array([wider.holds(row) for row in SPACE.encode(rows).tolist()])
                assert not fair[others].all()


def widened(box):
    """The box with one more value of one feature."""
    for k, name in enumerate(box.space.names):
        feature, part = box.space[name], box.parts[k]
        if isinstance(feature, lw.Integer):
            yield from (box.with_part(k, (lo, hi)) for lo, hi in ((part[0] - 1, part[1]), (part[0], part[1] + 1)) if feature.lo <= lo and hi <= feature.hi)
        else:
            yield from (box.with_part(k, tuple(sorted((*part, p)))) for p in range(len(feature.levels)) if p not in part)
