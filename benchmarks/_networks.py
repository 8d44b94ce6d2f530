"""Networks as people fit them: one-hot levels, `StandardScaler` for numbers, then `MLPClassifier`, on four data sets.

`german`, `credit` and `adult8` (Adult with eight columns) come with Likewise. `adult` has all thirteen columns of UCI's file `adult.data` (the sampling weight left out), which has to lie in a folder that is named. The
space is the ranges and levels that occur.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import likewise as lw
from likewise.datasets import load_adult, load_credit, load_german

SHIPPED = {"german": load_german, "credit": load_credit, "adult8": load_adult}
DATA = (*SHIPPED, "adult")
FREE = {"german": "sex-marital-status", "credit": "ethnicity", "adult8": "race", "adult": "sex"}
SIZES = ("50", "100", "16-16", "64-32-16")
ADULT_FILE = "adult.data"
ADULT_COLUMNS = [
    "age",
    "workclass",
    "fnlwgt",
    "education",
    "education-num",
    "marital-status",
    "occupation",
    "relationship",
    "race",
    "sex",
    "capital-gain",
    "capital-loss",
    "hours-per-week",
    "native-country",
    "income",
]
WEIGHT = "fnlwgt"
ROUNDS = 200  # over the rows: scikit-learn's own number
FEWER_ROUNDS = 30  # of Adult's rows, but for the default network of 100 neurons
DEFAULT_SIZE = "100"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A network, who it is about and who is similar."""

    data: str
    size: str
    X: Any
    space: lw.Space
    model: Any

    @property
    def free(self) -> str:
        """The feature that may differ."""
        return FREE[self.data]

    @property
    def similar(self) -> lw.Similarity:
        return lw.Similarity(free=[self.free])


def rows_of(data: str, adult: Path | None) -> tuple[Any, Any] | None:
    """The rows and who is of the upper class; None where the file is not there."""
    if data in SHIPPED:
        loaded = SHIPPED[data](frame="pandas")
        return loaded.X, (np.asarray(loaded.y) == loaded.positive).astype(int)
    if adult is None or not (adult / ADULT_FILE).is_file():
        return None
    frame = pd.read_csv(adult / ADULT_FILE, names=ADULT_COLUMNS, skipinitialspace=True)
    return frame.drop(columns=[WEIGHT, "income"]), (frame["income"] == ">50K").to_numpy().astype(int)


def fitted(data: str, size: str, X: Any, y: Any, *, activation: str = "relu") -> Case:
    """The network of a size, its hidden layers joined by hyphens."""
    space = lw.Space(
        {
            name: lw.Categorical(feature.levels)
            if isinstance(feature, (lw.Categorical, lw.Ordinal))
            else feature
            for name, feature in lw.Space.from_data(X).features.items()
        }
    )
    numbers = [n for n, f in space.features.items() if not isinstance(f, lw.Categorical)]
    few = data.startswith("adult") and size != DEFAULT_SIZE
    network = MLPClassifier(
        tuple(map(int, size.split("-"))),
        activation=activation,
        max_iter=FEWER_ROUNDS if few else ROUNDS,
        random_state=0,
    )
    columns = make_column_transformer(
        (StandardScaler(), numbers), remainder=OneHotEncoder(sparse_output=False)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make_pipeline(columns, network).fit(X, y)
    return Case(data=data, size=size, X=X, space=space, model=model)
