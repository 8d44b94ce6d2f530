"""The largest gap of small fitted ensembles is that of all similar pairs, asked of the library itself."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)

import likewise as lw

SPACE = lw.Space({"a": lw.Integer(0, 6), "b": lw.Integer(0, 4), "c": lw.Integer(0, 2), "d": lw.Integer(0, 1)})
NAMES = list(SPACE.names)
EVERYBODY = pd.DataFrame(list(itertools.product(range(7), range(5), range(3), range(2))), columns=NAMES)
SIMILAR = lw.Similarity(free=["d"], within={"a": 1})


def xgboost(seed):
    library = pytest.importorskip("xgboost")
    return library.XGBClassifier(n_estimators=6, max_depth=3, learning_rate=0.5, random_state=seed)


def lightgbm(seed):
    library = pytest.importorskip("lightgbm")
    return library.LGBMClassifier(
        n_estimators=6, num_leaves=6, min_child_samples=3, learning_rate=0.5, random_state=seed, verbose=-1
    )


LIBRARIES = {
    "boosting": lambda seed: GradientBoostingClassifier(n_estimators=6, max_depth=3, random_state=seed),
    "histogram": lambda seed: HistGradientBoostingClassifier(
        max_iter=6, max_leaf_nodes=6, min_samples_leaf=3, random_state=seed
    ),
    "forest": lambda seed: RandomForestClassifier(n_estimators=6, max_depth=3, random_state=seed),
    "extra": lambda seed: ExtraTreesClassifier(n_estimators=6, max_depth=3, random_state=seed),
    "xgboost": xgboost,
    "lightgbm": lightgbm,
}
FORESTS = ("forest", "extra")


def fitted(library, seed):
    random = np.random.default_rng(seed)
    rows = EVERYBODY.iloc[random.integers(0, len(EVERYBODY), 80)].reset_index(drop=True)
    weights = random.normal(size=4)
    return LIBRARIES[library](seed).fit(
        rows, rows.to_numpy() @ weights + random.normal(size=80) > weights.sum()
    )


def scores_of_everybody(model, library):
    if library in FORESTS:
        return model.predict_proba(EVERYBODY)[:, 1]
    if library == "xgboost":
        return model.predict(EVERYBODY, output_margin=True).astype(float)
    if library == "lightgbm":
        return model.predict(EVERYBODY, raw_score=True)
    return model.decision_function(EVERYBODY)


def largest_gap(scores):
    """Over all pairs with d free and a within 1, the other two the same."""
    by = scores.reshape(7, 5, 3, 2)
    highest, lowest = by.max(axis=3), by.min(axis=3)
    near = [highest - lowest, *(highest[1:] - lowest[:-1], highest[:-1] - lowest[1:])]
    return max(float(gap.max()) for gap in near)


@pytest.mark.draw(6)
@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("library", LIBRARIES)
def test_the_largest_gap_is_that_of_everybody(library, seed):
    model = fitted(library, seed)
    expected = largest_gap(scores_of_everybody(model, library))
    of = "probability" if library in FORESTS else "score"
    found = lw.measure(model, SPACE, SIMILAR, of=of, tolerance=1e-9)
    assert found.upper - found.lower <= 1e-9
    assert found.lower == pytest.approx(expected, rel=1e-5, abs=1e-6)  # XGBoost adds in float32
