"""A small model of every family, with what is claimed about it: over numbers with 200 values each, or over continuous ones."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

import likewise as lw

ROWS = 120


def rows(kind):
    random = np.random.default_rng(3)
    numbers = random.uniform(0, 199, (ROWS, 2))
    frame = pd.DataFrame(numbers if kind == "continuous" else np.round(numbers), columns=["age", "income"])
    frame["group"] = random.integers(0, 3, ROWS).astype(float)
    return frame


def space_of(kind):
    number = lw.Continuous(0, 199) if kind == "continuous" else lw.Integer(0, 199)
    return lw.Space({"age": number, "income": number, "group": lw.Integer(0, 2)})


SIMILAR = lw.Similarity(free=["group"], within={"age": 3})


def _xgboost(X, y):
    from xgboost import XGBClassifier

    return XGBClassifier(n_estimators=12, max_depth=4, n_jobs=1).fit(X, y)


def _lightgbm(X, y):
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_estimators=12, num_leaves=12, verbose=-1, n_jobs=1).fit(X, y)


def _repaired(X, y):
    inside = GradientBoostingClassifier(n_estimators=8, random_state=0).fit(X, y)
    similar = lw.Similarity(free=["group"])
    space = space_of("discrete" if (X["age"] % 1 == 0).all() else "continuous")
    return lw.repair(inside, space, similar, method="max", X=X, budget=0).model


FAMILIES = {
    "logistic": lambda X, y: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y > 0),
    "linear SVC": lambda X, y: make_pipeline(StandardScaler(), LinearSVC(C=0.1)).fit(X, y > 0),
    "RBF SVC": lambda X, y: SVC(gamma=1e-4, C=10).fit(X, y > 0),
    "polynomial SVC": lambda X, y: make_pipeline(StandardScaler(), SVC(kernel="poly", degree=3, coef0=1)).fit(
        X, y > 0
    ),
    "KernelRidge": lambda X, y: KernelRidge(kernel="rbf", gamma=1e-4).fit(X, y),
    "forest": lambda X, y: RandomForestClassifier(15, random_state=0).fit(X, y > 0),
    "GradientBoosting": lambda X, y: GradientBoostingClassifier(n_estimators=15, random_state=0).fit(
        X, y > 0
    ),
    "HistGradientBoosting of three classes": lambda X, y: HistGradientBoostingClassifier(
        max_iter=8, min_samples_leaf=5
    ).fit(X, y),
    "XGBoost": lambda X, y: _xgboost(X, (y > 0).astype(int)),
    "LightGBM": lambda X, y: _lightgbm(X, (y > 0).astype(int)),
    "repaired": lambda X, y: _repaired(X, y > 0),
    "multinomial logistic": lambda X, y: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y),
}


@cache
def fitted(family, kind):
    """The model, its rows and its space."""
    X = rows(kind)
    wave = np.sin(X["age"] / 30) + X["income"] / 100 - 1 + 0.4 * X["group"] * np.cos(X["income"] / 25)
    y = np.digitize(wave, [-0.2, 0.8])
    return FAMILIES[family](X, y), X, space_of(kind)
