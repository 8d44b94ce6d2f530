"""Building combined models: what is made of the scores of several models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import InternalError
from likewise.families.combined.rounding import CombinedRounding
from likewise.families.combined.score import Combined, Part

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.scored import Model
    from likewise.families.settings import How

    Floats = NDArray[np.float64]


def combined_model(model: Model, how: How, weights: Sequence[Fraction], parts: Sequence[Model]) -> Model:
    """The model like `model` whose score is made of those of the parts."""
    if any(part.body.family == Combined.family for part in parts):
        raise InternalError("combined bodies are not combined")
    bodies = tuple(Part(body=one.body, embedding=one.embedding) for one in parts)
    return replace(
        model,
        embedding=(),
        bodies=(Combined(how=how, weights=tuple(weights), parts=bodies),),
        rounding=CombinedRounding(parts=tuple(parts)),
    )


def combined_parts(model: Model) -> tuple[Model, ...]:
    """The models whose scores a program of one score combines; none where it combines nothing."""
    known = isinstance(model.bodies[0], Combined) and isinstance(model.rounding, CombinedRounding)
    return model.rounding.parts if known and isinstance(model.rounding, CombinedRounding) else ()


def made_in_floats(body: object, scores: Sequence[Floats]) -> Floats:
    """What the body makes of the scores of its parts, in float64: the largest or smallest ones; of one part its own."""
    if not isinstance(body, Combined):
        (own,) = scores
        return own
    if body.how == "mean":
        raise InternalError("means of trees are trees")
    extreme = np.max if body.how == "max" else np.min
    made: Floats = extreme(np.stack(scores), axis=0)
    return made
