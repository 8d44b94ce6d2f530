"""Imported trees: ensembles of trees, by themselves or inside of a repaired model, made into a model and compared tree by tree with the original."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.program_rounding import program_rounding
from likewise.importers.boosters import answering_estimator, frame_levels
from likewise.importers.imported_model import ImportedModel, apply_wrappers
from likewise.importers.registry import find_forest_reader
from likewise.importers.trees.tree_check import check_settled_trees, check_trees, tree_sum_of_model
from likewise.importers.trees.tree_model import LibraryModel, import_forest
from likewise.importers.unfold import OwnThreshold, unfold

HALF = Fraction(1, 2)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.importers.inputs import Inputs
    from likewise.importers.unfold import UnfoldedEstimator


def import_trees(
    estimator: Any,
    unfolded: UnfoldedEstimator,
    grown: LibraryModel,
    inputs: Inputs,
    rows: NDArray[np.float64],
) -> ImportedModel:
    """The model of an ensemble of trees."""
    if grown.named is not None:
        if unfolded.steps:
            raise UnsupportedModel(
                f"{grown.family} numbers categories itself, behind a pipeline",
                hint="encode them with OrdinalEncoder or OneHotEncoder, or fit the model without a pipeline",
            )
        grown, borrowed = grown.named(inputs)
        inputs = replace(inputs, borrowed=borrowed)
    estimator, unfolded = answering_estimator(grown, estimator, unfolded)
    found = import_forest(grown, unfolded.steps, replace(inputs, levels=frame_levels(grown, inputs)))
    if unfolded.wrappers and found.model.head.link == "identity" and found.model.n_scores == 2:
        from likewise.importers.ensemble_members import import_wrapped_probability

        return import_wrapped_probability(
            estimator, unfolded, lambda inside: import_trees(inside, unfold(inside), grown, inputs, rows)
        )
    inputs = found.reaching.inputs
    rows = inputs.recoding.coded(rows)
    if (
        grown.threshold not in (None, HALF) and not unfolded.wrappers
    ):  # which look at scores and probabilities
        unfolded = replace(unfolded, wrappers=(OwnThreshold(family=grown.family, level=grown.threshold),))
    model, replay = apply_wrappers(estimator, unfolded, found.model, inputs)
    observed = check_trees(model, grown, found.reaching, replay, rows)
    program = program_rounding(model, inputs.space, observed, bits=grown.bits)
    return ImportedModel(model=model, replay=replay, recoding=inputs.recoding, rows=rows, program=program)


def import_settled_trees(
    estimator: Any,
    unfolded: UnfoldedEstimator,
    held: UnfoldedEstimator,
    inputs: Inputs,
    rows: NDArray[np.float64],
) -> ImportedModel:
    """The trees inside, compared for themselves, and what is made of them, compared again."""
    from likewise.importers.settled_estimators import settle_trees

    final, grow = unfolded.final, find_forest_reader(held.final)
    if grow is None:
        raise InternalError(f"{type(held.final).__name__} is no ensemble of trees")
    grown = grow(held.final)
    inside = import_trees(final.held, held, grown, inputs, rows)
    inputs, rows = inside.replay.inputs, inside.rows
    body, model = tree_sum_of_model(inside.model), settle_trees(final, inside.model, inputs)
    count = len(final.settings)
    model, replay = apply_wrappers(estimator, unfolded, model, inputs)
    observed = check_settled_trees(model, body, replay, inputs.space, rows, count, grown.bits)
    program = program_rounding(model, inputs.space, observed, bits=grown.bits)
    return ImportedModel(model=model, replay=replay, recoding=inputs.recoding, rows=rows, program=program)
