"""Regressors that predict exp of their score, up to a constant: the score that the program has before.

    PoissonRegressor, GammaRegressor, TweedieRegressor     the linear predictor, where the link is the logarithm
    HistGradientBoostingRegressor                          the sum of leaves (loss "poisson" and "gamma")
    XGBRegressor, LGBMRegressor                            the margin (objectives poisson, gamma and tweedie)
    ExplainableBoostingRegressor                           the sum of its tables (link "log")
    MLPRegressor                                           the output of its last layer (loss "poisson")
    TransformedTargetRegressor                             what the regressor inside predicts, where that is transformed back by numpy's exp or expm1

Claims about gaps of their predictions are about exp(f(x)) - exp(f(x')) (`model.witness_set`); expm1 moves all predictions alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.importers.saved_boosters import Answers
from likewise.model.head import Head

if TYPE_CHECKING:
    from likewise.importers.unfold import UnfoldedEstimator

EXPONENTIAL_HEAD = Head(labels=None, rule="number", link="exponential")


class ShownExponents:
    """A fitted regressor that is asked for the number that it predicts exp of."""

    def __init__(self, estimator: Any, method: str) -> None:
        self._estimator, self._method = estimator, method

    def decision_function(self, rows: Any) -> Any:
        """The scores of many rows, computed by the regressor itself."""
        return np.ravel(getattr(self._estimator, self._method)(rows))


def has_logarithmic_link(loss: Any) -> bool:
    """Whether a loss of scikit-learn makes predictions exp of scores."""
    return type(getattr(loss, "link", None)).__name__ == "LogLink"


def bends_by_exp(estimator: Any) -> bool:
    """Whether a TransformedTargetRegressor takes predictions back by exp, or by exp less one."""
    transformer: Any = getattr(estimator, "transformer_", None)
    back = getattr(transformer, "inverse_func", None)
    return type(transformer).__name__ == "FunctionTransformer" and (back is np.exp or back is np.expm1)


def shown_exponents(unfolded: UnfoldedEstimator) -> tuple[Any, tuple[tuple[str, Any], ...]]:
    """What is asked for the score, and the steps before it."""
    final = unfolded.final
    if isinstance(unfolded.asked, Answers):  # of a booster, whose scores are margins
        return unfolded.asked, unfolded.before
    if type(final).__name__ == "MLPRegressor" and not unfolded.wrappers:
        from likewise.importers.sklearn_network import ShownScores

        return ShownScores(final), unfolded.steps
    for method in ("_linear_predictor", "_raw_predict", "linear_predictor", "_predict_score"):
        if hasattr(final, method) and not unfolded.wrappers:
            return ShownExponents(final, method), unfolded.steps
    return ShownExponents(unfolded.asked, "predict"), unfolded.before
