"""A recoding that loses a pair or an individual is noticed before anything is proved."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pandas as pd
import pytest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import likewise as lw
from likewise.errors import InternalError
from likewise.importers.recoding import FeatureRecoding, Recoding, identity_recoding
from likewise.spec.similarity import Relation

NUMBERS = lw.Space({"a": lw.Integer(3, 9, missing=True), "b": lw.Continuous(0, 1)})
TABLE = lw.Space({"a": lw.Ordinal([*range(3, 10), None]), "b": lw.Continuous(0, 1)})


def relations(space: lw.Space, **words) -> tuple[Relation, ...]:
    return lw.Similarity(**words).resolve(space)


def test_a_table_keeps_what_is_similar():
    recoding = Recoding(given=NUMBERS, space=TABLE, parts={0: FeatureRecoding(shift=3.0)})
    pairs = recoding.pairs(relations(NUMBERS, within={"a": 2, "b": 0.25}))
    assert pairs.relations[0].kind == "pairs"


@pytest.mark.parametrize(
    ("part", "kept", "what"),
    [
        (FeatureRecoding(shift=2.0), None, "outside"),
        (FeatureRecoding(shift=3.0), Relation("within", tolerance=Fraction(1)), "similar, but not there"),
        (FeatureRecoding(shift=3.0), Relation("same"), "similar, but not there"),
        # the last number but one is taken for the last: 9 has no neighbours
        (
            FeatureRecoding(shift=3.0),
            Relation("pairs", allowed=((0, 1), (1, 2), (2, 3))),
            "similar, but not there",
        ),
    ],
)
def test_a_table_that_loses_somebody(monkeypatch, part, kept, what):
    recoding = Recoding(given=NUMBERS, space=TABLE, parts={0: part})
    given = relations(NUMBERS, within={"a": 2})
    if kept is not None:
        monkeypatch.setattr(Recoding, "_relation", lambda self, k, relation: relation if k else kept)
    with pytest.raises(InternalError, match=what):
        recoding.pairs(given)


@pytest.mark.parametrize("tolerance", [0.1, 0.3, "7%"])
def test_a_continuous_tolerance_that_shrinks_is_noticed(monkeypatch, tolerance):
    space = lw.Space({"a": lw.Continuous(0, 1)})
    given = relations(space, within={"a": tolerance})
    assert identity_recoding(space).pairs(given).relations == given
    less = replace(given[0], tolerance=given[0].tolerance - Fraction(1, 2**40))
    monkeypatch.setattr(Recoding, "_relation", lambda self, k, relation: less)
    with pytest.raises(InternalError, match="similar, but not there"):
        identity_recoding(space).pairs(given)


def test_long_ranges_are_tried_at_their_ends():
    given = lw.Space({"a": lw.Integer(0, 100_000)})
    short = lw.Space({"a": lw.Integer(0, 99_999)})
    with pytest.raises(InternalError, match="outside"):
        Recoding(given=given, space=short).pairs(relations(given, free=["a"]))


def test_constraints_lose_nobody():
    given = lw.Space({"a": lw.Integer(3, 9)}).where("a <= 7")
    table = lw.Space({"a": lw.Ordinal(range(3, 10))})
    kept = Recoding(given=given, space=table.where("a <= 7"), parts={0: FeatureRecoding(shift=3.0)})
    kept.pairs(relations(given, free=["a"]))
    stricter = table.where("a <= 5")
    recoding = Recoding(given=given, space=stricter, parts={0: FeatureRecoding(shift=3.0)})
    with pytest.raises(InternalError, match="an individual"):
        recoding.pairs(relations(given, free=["a"]))


def test_verify_proves_nothing_over_a_space_that_lost_a_pair(monkeypatch):
    X = pd.DataFrame({"a": [0, 1, 2, 3, 4, 5] * 3})
    make = make_pipeline(
        SimpleImputer(strategy="constant", fill_value=2),
        OneHotEncoder(sparse_output=False),
        LogisticRegression(C=100),
    )
    model = make.fit(X, X["a"] > 4)
    space = lw.Space({"a": lw.Integer(0, 5, missing=True)})
    monkeypatch.setattr(
        Recoding,
        "_relation",
        lambda self, k, relation: Relation("pairs", allowed=((0, 1), (1, 2), (2, 3), (3, 4))),
    )
    with pytest.raises(InternalError):
        lw.verify(model, space, lw.Similarity(within={"a": 1}), X=X)
