"""Random pipelines of all families on random small spaces, with missing values and several classes: every verdict is the one of everybody."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import likewise as lw

FINALS = {
    "logistic": LogisticRegression,
    "forest": lambda: RandomForestClassifier(4, max_depth=3, random_state=0),
    "extra": lambda: ExtraTreesClassifier(4, max_depth=3, random_state=0),
    "tree": lambda: DecisionTreeClassifier(max_depth=3, random_state=0),
    "boosting": lambda: GradientBoostingClassifier(n_estimators=3, max_depth=2, random_state=0),
    "histogram": lambda: HistGradientBoostingClassifier(max_iter=3, min_samples_leaf=3, max_leaf_nodes=5),
    "svc": SVC,
}
SIMILARITIES = [
    lw.Similarity(free=["s"]),
    lw.Similarity(within={"a": 1}),
    lw.Similarity(free=["s"], within={"b": 2}),
    lw.Similarity(free=["a"]),
]
IMPUTED = ["mean", "median", "most_frequent"]


def drawn(random):
    """A space with everybody in it, and labelled rows."""
    most_a, most_b, missing = (
        int(random.integers(2, 7)),
        int(random.integers(2, 5)),
        bool(random.random() < 0.4),
    )
    levels = ["p", "q", "r"][: random.integers(2, 4)]
    space = lw.Space(
        {
            "a": lw.Integer(0, most_a, missing=missing),
            "b": lw.Integer(0, most_b),
            "s": lw.Categorical(levels),
        }
    )
    values = [*range(most_a + 1), *([np.nan] if missing else [])]
    everybody = pd.DataFrame(
        list(itertools.product(values, range(most_b + 1), levels)), columns=["a", "b", "s"]
    )
    rows = everybody.iloc[random.integers(0, len(everybody), 60)].reset_index(drop=True)
    weight = {level: i * random.normal() for i, level in enumerate(levels)}
    score = rows["a"].fillna(1) + rows["b"] + rows["s"].map(weight) + random.normal(0, 0.7, 60)
    return space, everybody, rows, pd.qcut(score, int(random.integers(2, 4)), labels=False).to_numpy()


def fitted(random, rows, labels, kind):
    imputer = SimpleImputer(strategy=str(random.choice(IMPUTED)), add_indicator=bool(random.random() < 0.3))
    columns = make_column_transformer(
        (make_pipeline(imputer, StandardScaler()), ["a", "b"]), (OneHotEncoder(), ["s"])
    )
    return make_pipeline(columns, FINALS[kind]()).fit(rows, labels)


def similar_pairs(everybody, similar):
    """Which two are similar; what is missing is similar to itself only, unless free."""
    found = np.ones((len(everybody), len(everybody)), dtype=bool)
    for name in everybody.columns:
        if name in similar.free:
            continue
        values = everybody[name]
        if name == "s":
            found &= values.to_numpy()[:, None] == values.to_numpy()[None]
            continue
        gone, numbers = values.isna().to_numpy(), values.fillna(-1).to_numpy(float)
        near = np.abs(numbers[:, None] - numbers[None]) <= similar.within.get(name, 0)
        found &= (gone[:, None] & gone[None]) | (near & ~gone[:, None] & ~gone[None])
    return found


def claimed(random, model, kind, everybody, pairs, classes):
    """A property and whether some pair breaks it, by the model's own answers; None where there is nothing to ask."""
    of = int(random.integers(classes)) if random.random() < 0.5 else None
    asked = str(random.choice(["decision", "score", "probability"]))
    if asked == "decision" or (kind == "svc" and (asked == "probability" or classes > 2)):
        decided = model.predict(everybody)
        if of is not None and classes > 2:
            decided = decided == of
        broken = bool((pairs & (decided[:, None] != decided[None])).any())
        return lw.SameDecision(class_of_interest=of if classes > 2 else None), broken
    if asked == "probability" or kind in ("forest", "extra", "tree"):
        values = model.predict_proba(everybody)
    else:
        values = model.decision_function(everybody).reshape(len(everybody), -1)
    if of is not None and values.shape[1] > 1:
        values = values[:, [of]]
    largest = float((np.abs(values[:, None] - values[None]).max(axis=2) * pairs).max())
    delta = largest * float(random.choice([0.5, 0.9, 1.1, 1.5]))
    if delta < 1e-6 or (asked == "probability" and delta >= 1):
        return None
    made = lw.ProbabilityGap if asked == "probability" else lw.ScoreGap
    return made(delta, class_of_interest=of), largest > delta


def check(seed):
    random = np.random.default_rng(seed)
    space, everybody, rows, labels = drawn(random)
    kind, similar = str(random.choice(list(FINALS))), SIMILARITIES[random.integers(len(SIMILARITIES))]
    model = fitted(random, rows, labels, kind)
    claim = claimed(random, model, kind, everybody, similar_pairs(everybody, similar), len(np.unique(labels)))
    if claim is None:
        return
    verdict = lw.verify(model, space, similar, claim[0], budget=20).verdict
    assert verdict == ("BIASED" if claim[1] else "FAIR"), (kind, claim[0], similar, space)


@pytest.mark.some_days
@pytest.mark.draw(6)
@pytest.mark.parametrize("part", range(200))
def test_verdicts_are_those_of_everybody(part):
    for seed in range(3 * part, 3 * part + 3):
        check(seed)
