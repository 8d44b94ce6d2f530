"""Families: which estimators are ensembles of trees, by library and name, and what reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from likewise.importers.boosters import LIGHTGBM, XGBOOST, booster_grower
from likewise.importers.transformers.composing import genuine
from likewise.importers.trees import hist_boosting, sklearn_trees
from likewise.importers.trees.growing import GrownModel

Grower = Callable[[Any], GrownModel]
SKLEARN: dict[str, Grower] = {**sklearn_trees.FAMILY, **hist_boosting.FAMILY}


def grower_of(estimator: Any) -> Grower | None:
    """What reads an estimator, None if it is no ensemble of trees that is known."""
    return SKLEARN.get(type(estimator).__name__) if genuine(estimator) else booster_grower(estimator)


def supported_trees() -> tuple[str, ...]:
    """The names of all of them."""
    return (*SKLEARN, *XGBOOST, *LIGHTGBM)
