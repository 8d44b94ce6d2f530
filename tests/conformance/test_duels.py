"""One against one of several classes: decided as by the program, ties of votes included, and verdicts as brute force has them."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC
from tests.conformance.agreement import import_quietly

import likewise as lw
from likewise.families.scored_model import Scores
from likewise_check import check

SPACE = lw.Space({"a": lw.Integer(0, 5), "b": lw.Integer(0, 3), "sex": lw.Categorical([0, 1])})
DUELS = {
    "lines": LogisticRegression(),
    "machines": LinearSVC(),
    "trees": GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0),
    "shares": RandomForestClassifier(3, max_depth=2, random_state=0),
}


@pytest.mark.some_days
@pytest.mark.draw(1)
@pytest.mark.parametrize("seen", [0.0, 1.5])
@pytest.mark.parametrize("name", DUELS)
def test_one_against_one_of_four_classes_is_decided_as_by_the_program(name, seen, tmp_path):
    """Ties of votes, which three classes always may have, included; verdicts are those of brute force."""
    random = np.random.default_rng(3)
    everybody = np.array([*product(range(6), range(4), range(2))], dtype=float)
    rows = everybody[random.integers(0, len(everybody), 120)]
    y = np.digitize(rows[:, 0] + rows[:, 1] + seen * rows[:, 2] + random.normal(0, 1, 120), [2, 4, 6])
    rows[:, 2] *= seen > 0
    model = OneVsOneClassifier(DUELS[name]).fit(rows, y)
    frame = pd.DataFrame(everybody, columns=SPACE.names)
    imported = import_quietly(model, SPACE, frame)
    said = model.predict(everybody).tolist()
    decided = [
        imported.model.head.decide([s.middle for s in Scores(imported.model, 3).enclose(row, 80)])
        for row in [[Fraction(c) for c in one] for one in everybody.tolist()]
    ]
    assert decided == said
    found = lw.verify(model, SPACE, lw.Similarity(free=["sex"]), X=frame, budget=60)
    apart = any(one != other for one, other in zip(said[::2], said[1::2], strict=True))
    assert found.verdict == ("BIASED" if apart else "FAIR")
    found.certificate.save(tmp_path / "it.lw")
    assert check(tmp_path / "it.lw").accepted
