"""Applications for mortgages as a regulator's register has them, made up: who applies, for what, and whether it was granted.

Amounts are skewed, ratios depend on them, groups have different incomes, and decisions depend on ratios, on the purpose and a little on the group: a model
that was fitted to them is neither blind nor absurd.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import likewise as lw

LEVELS = {
    "purpose": ("purchase", "improvement", "refinancing", "cash-out", "other"),
    "occupancy": ("home", "second", "investment"),
    "dwelling": ("single", "manufactured", "multiple"),
    "age": ("<25", "25-34", "35-44", "45-54", "55-64", "65-74", ">74"),
    "sex": ("female", "male", "joint"),
    "race": ("asian", "black", "joint", "native", "white"),
    "ethnicity": ("hispanic", "joint", "other"),
}
SHARES = {
    "purpose": (0.5, 0.08, 0.2, 0.17, 0.05),
    "occupancy": (0.88, 0.04, 0.08),
    "dwelling": (0.9, 0.07, 0.03),
    "age": (0.04, 0.24, 0.26, 0.2, 0.15, 0.08, 0.03),
    "sex": (0.24, 0.36, 0.4),
    "race": (0.07, 0.1, 0.03, 0.01, 0.79),
    "ethnicity": (0.1, 0.03, 0.87),
}
NUMBERS = {  # lowest and highest
    "income": (8.0, 600.0),
    "amount": (15.0, 1_200.0),
    "loan_to_value": (5.0, 110.0),
    "debt_to_income": (5.0, 65.0),
}
TERMS = (10, 30)


@dataclass(frozen=True, slots=True, kw_only=True)
class Applications:
    """Frame, decisions and the space around them."""

    X: Any
    y: np.ndarray[Any, np.dtype[np.int64]]
    space: lw.Space

    @property
    def similar(self) -> lw.Similarity:
        """Whoever differs in race, sex or ethnicity only."""
        return lw.Similarity(free=["race", "sex", "ethnicity"])


def lending(rows: int = 2_400, seed: int = 0) -> Applications:
    """So many applications."""
    import pandas as pd

    random = np.random.default_rng(seed)
    codes = {
        name: random.choice(len(LEVELS[name]), rows, p=np.array(share) / sum(share))
        for name, share in SHARES.items()
    }
    group = np.isin(codes["race"], (1, 3)).astype(float) + (codes["ethnicity"] == 0)
    income = np.exp(random.normal(4.5 - 0.25 * group, 0.55, rows))
    amount = income * np.exp(random.normal(0.9 - 0.5 * (codes["purpose"] == 1), 0.5, rows))
    value = amount / np.clip(random.beta(5, 1.8, rows), 0.05, 1.05)
    debt = np.clip(100 * (0.12 + 0.055 * amount / income + random.normal(0.08, 0.07, rows)), 5, 65)
    columns: dict[str, Any] = {
        "income": income,
        "amount": amount,
        "loan_to_value": 100 * amount / value,
        "debt_to_income": debt,
    }
    columns = {name: np.round(np.clip(column, *NUMBERS[name]), 1) for name, column in columns.items()}
    columns["term"] = random.choice([10, 15, 20, 30], rows, p=[0.05, 0.15, 0.1, 0.7])
    risk = 0.08 * (columns["debt_to_income"] - 43) + 0.04 * (columns["loan_to_value"] - 85)
    risk += 0.5 * group + 0.4 * np.isin(codes["purpose"], (3, 4)) + 0.6 * (codes["dwelling"] == 1)
    granted = (random.logistic(0, 0.7, rows) > risk).astype(np.int64)
    columns |= {name: np.array(LEVELS[name])[places] for name, places in codes.items()}
    features: dict[str, Any] = {name: lw.Continuous(*ends) for name, ends in NUMBERS.items()}
    features["term"] = lw.Integer(*TERMS)
    features |= {name: lw.Categorical(levels) for name, levels in LEVELS.items()}
    return Applications(X=pd.DataFrame(columns)[list(features)], y=granted, space=lw.Space(features))


def behind_columns(estimator: Any, data: Applications) -> Any:
    """An estimator behind standardised numbers and one column a level, fitted."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    coding = OneHotEncoder(categories=[list(levels) for levels in LEVELS.values()], handle_unknown="ignore")
    columns = make_column_transformer((StandardScaler(), [*NUMBERS, "term"]), (coding, list(LEVELS)))
    return make_pipeline(columns, estimator).fit(data.X, data.y)
