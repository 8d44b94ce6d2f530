"""Two classes as one score decide as the model of both scores does, ties among them, and round no less."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OrdinalEncoder
from sklearn.tree import DecisionTreeClassifier

import likewise as lw
from likewise.certificate.writer import model_line
from likewise.families.scored_model import only_score, rounding_error
from likewise.importers.imported_model import import_model
from likewise.importers.two_classes import as_one_score
from likewise.spec.numbers import parse_number

SPACE = lw.Space({"age": lw.Integer(0, 5), "job": lw.Categorical(["a", "b", "c"]), "pay": lw.Integer(0, 3)})
ROWS = pd.DataFrame(
    list(itertools.product(range(6), ["a", "b", "c"], range(4))), columns=["age", "job", "pay"]
)
LASTS = [
    RandomForestClassifier(4, max_depth=3, random_state=0),  # few trees: ties are many
    ExtraTreesClassifier(2, max_depth=2, random_state=1),
    DecisionTreeClassifier(max_depth=3, random_state=0),
]


def imported(last, labels=("no", "yes")):
    random = np.random.default_rng(3)
    wanted = np.array(labels)[(ROWS["age"] + random.integers(0, 4, len(ROWS)) > 4).astype(int)]
    columns = make_column_transformer((OrdinalEncoder(), ["job"]), remainder="passthrough")
    model = make_pipeline(columns, last).fit(ROWS, wanted)
    return model, import_model(model, SPACE, rows=np.empty((0, 3)))


@pytest.mark.parametrize("last", LASTS, ids=lambda last: type(last).__name__)
def test_decisions_are_those_of_both_scores_and_of_the_original(last):
    model, both = imported(last)
    one = as_one_score(both)
    predicted = model.predict(ROWS)
    for codes, label in zip(SPACE.encode(ROWS).tolist(), predicted, strict=True):
        exact = [Fraction(code) for code in codes]
        first, second = both.model.exact(exact)
        (score,) = one.model.exact(exact)
        assert score == second - first
        assert one.model.head.decide([score]) == both.model.decide(exact) == label
        assert only_score(one.model, 3).enclose(exact, 60).lo == score
    assert (one.replay.decisions(SPACE.encode(ROWS)) == predicted).all()


def test_a_tie_is_the_first_class():
    rows = pd.DataFrame({"age": [0, 0, 1, 1], "job": ["a"] * 4, "pay": [0] * 4})
    columns = make_column_transformer(
        (OrdinalEncoder(categories=[["a", "b", "c"]]), ["job"]), remainder="passthrough"
    )
    model = make_pipeline(columns, DecisionTreeClassifier()).fit(rows, ["no", "yes", "no", "no"])
    one = as_one_score(import_model(model, SPACE, rows=np.empty((0, 3))))
    assert one.model.exact([Fraction(0)] * 3) == (0,)
    assert one.model.head.decide([Fraction(0)]) == model.predict(rows)[0] == "no"


@pytest.mark.parametrize("last", LASTS, ids=lambda last: type(last).__name__)
def test_the_error_of_the_difference_is_at_least_that_of_both_scores(last):
    _, both = imported(last)
    one = as_one_score(both)
    assert rounding_error(one.model, SPACE) >= 2 * rounding_error(both.model, SPACE)


def test_the_certificate_has_the_differences():
    import json

    _, both = imported(LASTS[0])
    body = json.loads(model_line(as_one_score(both).model, SPACE))["model"]["body"]
    for tree, nodes in zip(both.model.bodies[0].ensemble.trees, body["trees"], strict=True):
        for place, node in enumerate(nodes):
            if isinstance(node, str):
                first, second = tree.exact(place)
                assert parse_number(node) == second - first


def test_more_than_two_classes_are_no_one_score():
    wanted = ROWS["age"].clip(0, 2)
    columns = make_column_transformer((OrdinalEncoder(), ["job"]), remainder="passthrough")
    for last in (DecisionTreeClassifier(max_depth=2), LogisticRegression()):
        model = make_pipeline(columns, last).fit(ROWS, wanted)
        assert as_one_score(import_model(model, SPACE, rows=np.empty((0, 3)))) is None
