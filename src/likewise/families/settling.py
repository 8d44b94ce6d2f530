"""Settling: the score of a model with some features fixed, in one or several settings v, whatever they are.

    mean   keep f(x) + (1 - keep) sum_v weight_v f(z, v)      max   max_v f(z, v)      min   min_v f(z, v)

x = (z, u) with u the features that are fixed. With keep = 0 the result does not depend on u at all. Means of most families are of the family
again, exactly (`Family.mean`); everything else is a combined body.
"""

from __future__ import annotations

from likewise.families.combined.building import combined_model
from likewise.families.registry import family_of
from likewise.families.scored import Model
from likewise.families.settings import Settings


def settled(model: Model, settings: Settings) -> Model:
    """The model of one score whose score is that of `model`, settled."""
    family = family_of(model.body)
    if settings.how == "mean":
        mean = family.mean(model, settings)
        if mean is not None:
            return mean
    parts, weights = family.at_settings(model, settings.codes), list(settings.weights)
    if settings.how == "mean" and settings.keep:
        parts = [model, *parts]
        weights = [settings.keep, *((1 - settings.keep) * weight for weight in weights)]
    if len(parts) == 1:
        return parts[0]
    return combined_model(model, settings.how, weights if settings.how == "mean" else (), parts)
