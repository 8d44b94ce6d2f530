"""A model restricted to a part of its space scores everybody of the part as the whole one does, and the original is asked about the same people."""

import itertools
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer, OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from likewise.families.scored_model import only_score
from likewise.importers.imported_model import import_model
from likewise.importers.restriction import restrict_model
from likewise.importers.two_classes import as_one_score
from likewise.spec.boxes import parse_box
from likewise.spec.features import Categorical, Integer, Ordinal
from likewise.spec.space import Space

SPACE = Space(
    {
        "age": Integer(20, 27),
        "years": Integer(0, 4),
        "job": Categorical(["none", "skilled", "manager"]),
        "grade": Ordinal(["low", "middle", "high"]),
    }
)
VALUES = [range(20, 28), range(5), SPACE["job"].levels, SPACE["grade"].levels]
ROWS = pd.DataFrame(list(itertools.product(*VALUES)), columns=list(SPACE.names))


def fitted(last):
    steps = make_column_transformer(
        (OneHotEncoder(), ["job", "grade"]),
        (KBinsDiscretizer(3, encode="ordinal", quantile_method="averaged_inverted_cdf"), ["age"]),
        remainder=StandardScaler(),
    )
    wanted = np.random.default_rng(0).integers(0, 2, len(ROWS))
    return make_pipeline(steps, last).fit(ROWS, wanted)


@pytest.mark.draw(4)
@pytest.mark.parametrize(
    "last",
    [
        LogisticRegression(),
        SVC(gamma=0.2),
        SVC(kernel="poly", degree=2),
        GradientBoostingClassifier(n_estimators=5, random_state=0),
        RandomForestClassifier(4, random_state=0),
        VotingClassifier(
            [("line", LogisticRegression()), ("trees", RandomForestClassifier(4, random_state=0))],
            voting="soft",
        ),
    ],
    ids=lambda last: type(last).__name__,
)
@pytest.mark.parametrize(
    "rule",
    [
        "age >= 23 and job in {none, manager}",
        "grade == high and 1 <= years <= 2",
        "age == 25 and job == skilled",
        "everybody",
    ],
)
def test_scores_are_those_of_the_whole(last, rule):
    imported = import_model(fitted(last), SPACE, rows=np.empty((0, 4)))
    if imported.model.n_scores > 1:
        imported = as_one_score(imported)
    box = parse_box(rule, SPACE)
    space = box.subspace()
    part = restrict_model(imported, space)
    whole, other = only_score(imported.model, 4), only_score(part.model, 4)
    inside = ROWS[[box.holds(row) for row in SPACE.encode(ROWS).tolist()]]
    assert space.size == len(inside)
    codes, there = imported.space.encode(inside), part.space.encode(inside)
    np.testing.assert_array_equal(whole.scores(codes), other.scores(there))
    np.testing.assert_array_equal(imported.replay.scores(codes), part.replay.scores(there))
    np.testing.assert_array_equal(imported.replay.decisions(codes), part.replay.decisions(there))
    for row, same in zip(codes[::7].tolist(), there[::7].tolist(), strict=True):
        ours, theirs = (
            score.enclose([Fraction(c) for c in r], 128) for score, r in ((whole, row), (other, same))
        )
        assert (ours.lo, ours.hi) == (theirs.lo, theirs.hi)


def test_a_part_of_a_part_is_asked_about_the_same_people():
    imported = import_model(fitted(LogisticRegression()), SPACE, rows=np.empty((0, 4)))
    once = restrict_model(imported, parse_box("job in {skilled, manager}", SPACE).subspace())
    box = parse_box("job == manager and grade in {middle, high}", SPACE)
    twice = restrict_model(once, box.subspace())
    inside = ROWS[[box.holds(row) for row in SPACE.encode(ROWS).tolist()]]
    np.testing.assert_array_equal(
        imported.replay.scores(imported.space.encode(inside)),
        twice.replay.scores(twice.space.encode(inside)),
    )
