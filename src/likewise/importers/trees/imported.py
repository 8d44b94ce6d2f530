"""Imported trees: ensembles of trees, by themselves or inside of a repaired model, made into a model and compared tree by tree with the original."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.program_rounding import program_rounding
from likewise.importers.boosters import asked_of, frame_levels
from likewise.importers.imported import Imported, with_wrappers
from likewise.importers.registry import grower_of
from likewise.importers.trees.checking import check_settled_trees, check_trees, ensemble_of
from likewise.importers.trees.growing import GrownModel, planted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.importers.inputs import Inputs
    from likewise.importers.unfolding import Unfolded


def import_trees(
    estimator: Any, unfolded: Unfolded, grown: GrownModel, inputs: Inputs, rows: NDArray[np.float64]
) -> Imported:
    """The model of an ensemble of trees."""
    if grown.named is not None:
        if unfolded.steps:
            raise UnsupportedModel(
                f"{grown.family} numbers categories itself, behind a pipeline",
                hint="encode them with OrdinalEncoder or OneHotEncoder, or fit the model without a pipeline",
            )
        grown, borrowed = grown.named(inputs)
        inputs = replace(inputs, borrowed=borrowed)
    estimator, unfolded = asked_of(grown, estimator, unfolded)
    found = planted(grown, unfolded.steps, replace(inputs, levels=frame_levels(grown, inputs)))
    inputs = found.reaching.inputs
    rows = inputs.recoding.coded(rows)
    model, replay = with_wrappers(estimator, unfolded, found.model, inputs)
    observed = check_trees(model, grown, found.reaching, replay, rows)
    program = program_rounding(model, inputs.space, observed, bits=grown.bits)
    return Imported(model=model, replay=replay, recoding=inputs.recoding, rows=rows, program=program)


def import_settled_trees(
    estimator: Any, unfolded: Unfolded, held: Unfolded, inputs: Inputs, rows: NDArray[np.float64]
) -> Imported:
    """The trees inside, compared for themselves, and what is made of them, compared again."""
    from likewise.importers.settled import settled_trees

    final, grow = unfolded.final, grower_of(held.final)
    if grow is None:
        raise InternalError(f"{type(held.final).__name__} is no ensemble of trees")
    grown = grow(held.final)
    inside = import_trees(final.held, held, grown, inputs, rows)
    inputs, rows = inside.replay.inputs, inside.rows
    body, model = ensemble_of(inside.model), settled_trees(final, inside.model, inputs)
    count = len(final.settings)
    model, replay = with_wrappers(estimator, unfolded, model, inputs)
    observed = check_settled_trees(model, body, replay, inputs.space, rows, count, grown.bits)
    program = program_rounding(model, inputs.space, observed, bits=grown.bits)
    return Imported(model=model, replay=replay, recoding=inputs.recoding, rows=rows, program=program)
