"""Fitted ensembles on spaces around rows: verdicts and gaps are those of predict on everybody, and proofs cover its rounding where they say so."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier

import likewise as lw
from likewise_check import check

SEX = lw.Similarity(free=["sex"])


def fitted(estimator):
    random = np.random.default_rng(5)
    rows = pd.DataFrame({"age": random.integers(0, 30, 300), "hours": random.integers(0, 30, 300)})
    rows["sex"] = random.integers(0, 2, 300)
    signal = (
        rows.age + rows.hours * (rows.age > 12) + 15 * rows.sex * (rows.hours < 15) + random.normal(0, 3, 300)
    )
    return estimator.fit(rows, signal > 24), rows


def everybody(space):
    values = [
        range(f.lo, f.hi + 1) if isinstance(f, lw.Integer) else f.levels for f in space.features.values()
    ]
    return pd.DataFrame(list(itertools.product(*values)), columns=list(space.names))


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingClassifier(n_estimators=15, random_state=0),
        pytest.param(HistGradientBoostingClassifier(max_iter=15, random_state=0), marks=pytest.mark.slow),
    ],
    ids=lambda e: type(e).__name__,
)
def test_verdicts_around_rows_are_those_of_everybody(estimator, tmp_path):
    model, rows = fitted(estimator)
    seen = set()
    for row in rows.iloc[::40].itertuples():
        near = {
            name: lw.Integer(max(0, v - 3), min(29, v + 3))
            for name, v in (("age", row.age), ("hours", row.hours))
        }
        space = lw.Space({**near, "sex": lw.Categorical([0, 1])})
        people = everybody(space)
        decided = model.predict(people).reshape(-1, 2)  # sex varies fastest
        scores = model.decision_function(people).reshape(-1, 2)
        result = lw.verify(model, space, SEX, budget=20)
        assert (result.verdict == "BIASED") == bool((decided[:, 0] != decided[:, 1]).any())
        seen.add(str(result.verdict))
        result.certificate.save(tmp_path / "verdict.likewise")
        assert check(tmp_path / "verdict.likewise").accepted
        gap = lw.measure(model, space, SEX, tolerance=0, budget=20, certify=True)
        assert gap.certificate is not None
        assert gap.lower == pytest.approx(np.abs(scores[:, 0] - scores[:, 1]).max(), abs=1e-9)
        assert gap.upper - gap.lower <= 1e-15
    assert seen == {"FAIR", "BIASED"}


def test_no_tolerance_is_for_trees_only():
    from tests.strategies import logistic_model

    space = lw.Space({"age": lw.Integer(0, 3), "sex": lw.Categorical([0, 1])})
    with pytest.raises(lw.SpecError, match="tolerance"):
        lw.measure(logistic_model([1.0, 0.5], 0.0, space.names), space, SEX, tolerance=0)


def test_reading_the_model_is_told_and_timed():
    from sklearn.tree import DecisionTreeClassifier

    space = lw.Space({"a": lw.Integer(0, 3), "b": lw.Integer(0, 3)})
    rows = np.array([[a, b] for a in range(4) for b in range(4)], dtype=float)
    frame = pd.DataFrame(rows, columns=["a", "b"])
    model = DecisionTreeClassifier().fit(frame, rows[:, 1] > 1)
    heard = []
    result = lw.verify(model, space, lw.Similarity(free=["a"]), progress=heard.append)
    assert result.verdict == "FAIR"
    assert "reading the model" in heard[0].stage
    assert result.stats["import_seconds"] > 0
