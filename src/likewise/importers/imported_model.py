"""Import a fitted estimator: take it apart, follow its columns, make the model, check it.

`import_model` is the one way in. It refuses by name what it cannot take exactly; what it takes is compared
with the original before anything is done with it (`self_check`). What reads which estimator is in `registry`; what only some models need (wrappers, pipelines,
trees, repaired models) is loaded for those.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.program_rounding import UNDESCRIBED, ProgramRounding, program_bits, program_rounding
from likewise.families.scored_model import Model
from likewise.importers.inputs import Inputs, fitted_columns, refuse_gap
from likewise.importers.recoding import Recoding, identity_recoding
from likewise.importers.registry import (
    check_known,
    find_forest_reader,
    find_score_reader,
    implied_steps,
    is_booster,
    is_catboost_model,
    is_classical_graph,
    is_ensemble,
    is_median,
    is_naive_bayes,
    is_network_file,
    is_one_vs_rest,
    is_settled,
    is_statsmodels_result,
    is_torch_module,
)
from likewise.importers.replay import Replay, make_replay
from likewise.importers.score_models import ScoreModels, import_one_vs_rest, join_scores, refuse_wrapper
from likewise.importers.self_check import NOTHING_COMPARED, RowComparison, check_column_order, check_import
from likewise.importers.unfold import UnfoldedEstimator, unfold
from likewise.model.embedding import identity_columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.importers.trees.tree_model import LibraryModel
    from likewise.spec.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedModel:
    """The model as mathematics and the original to replay witnesses on.

    `space` is the one that the model is over: the user's own, with some features declared otherwise (see `recoding`).
    `rows` are the user's rows in its codes, `compared` what was asked about them as they are, `program` how far the original's scores may
    be from those of the model.
    """

    model: Model
    replay: Replay
    recoding: Recoding
    rows: NDArray[np.float64]
    compared: RowComparison = NOTHING_COMPARED
    program: ProgramRounding = UNDESCRIBED

    @property
    def space(self) -> Space:
        return self.recoding.space


def import_model(
    estimator: Any,
    space: Space,
    *,
    rows: NDArray[np.float64],
    like: Any = None,
    measured: frozenset[int] = frozenset(),
    single: tuple[str, ...] = (),
    probable: bool = False,
) -> ImportedModel:
    """The exact model of a fitted estimator over a space; `rows` are coded individuals to compare on, and `measured` the features in which it counts how far two individuals are apart: their codes stay what they are.
    Of its program asked about rows with the columns `single` in single precision. `probable`: its probabilities are asked for, and it is read so that it has some, where it can be."""
    estimator = as_estimator(estimator, space)
    unfolded = unfold(estimator)
    if find_forest_reader(unfolded.final) is None and not is_ensemble(unfolded.final):
        check_known(unfolded.final)
    columns, named = fitted_columns(estimator, unfolded, space)
    if not named:
        check_column_order(columns, like)
    inputs = Inputs(
        recoding=identity_recoding(space),
        columns=columns,
        like=like,
        named=named,
        measured=measured,
        single=single,
    )
    return _import_estimator(estimator, unfolded, inputs, rows, probable=probable)


def _import_estimator(
    estimator: Any,
    unfolded: UnfoldedEstimator,
    inputs: Inputs,
    rows: NDArray[np.float64],
    *,
    probable: bool = False,
) -> ImportedModel:
    """The model of what was unfolded. A calibration of one classifier, which moves a decision, is taken as the only member of an ensemble, whose probability it is, where it cannot be read otherwise or where that has no probabilities and these are asked for."""
    try:
        found = _import_unfolded(estimator, unfolded, inputs, rows)
        if not probable or found.model.head.probable:
            return found
        refusal = None
    except UnsupportedModel as error:
        found, refusal = None, error
    whole = unfold(estimator, whole=True)
    if whole.final is not unfolded.final:
        with suppress(UnsupportedModel):
            return _import_unfolded(estimator, whole, inputs, rows)
    if found is None:
        raise refusal or InternalError("nothing was read, and nothing refused")
    return found


def _import_unfolded(
    estimator: Any, unfolded: UnfoldedEstimator, inputs: Inputs, rows: NDArray[np.float64]
) -> ImportedModel:
    """The model of what was unfolded, over the columns that it takes; of an ensemble also that of each member."""
    grow = find_forest_reader(unfolded.final)
    if grow is not None:
        return _import_forest(estimator, unfolded, grow(unfolded.final), inputs, rows)
    if is_median(unfolded.final):
        from likewise.importers.trees.nested_trees import import_median

        return import_median(estimator, unfolded, inputs, rows)
    held = _find_held_trees(unfolded)
    if held is not None:
        from likewise.importers.trees.import_trees import import_settled_trees

        return import_settled_trees(estimator, unfolded, held, inputs, rows)
    if is_ensemble(unfolded.final):
        from likewise.importers.ensemble_members import import_ensemble

        return import_ensemble(estimator, unfolded, inputs, rows, _import_estimator)
    check_known(unfolded.final)
    scores, inputs = _import_scores(unfolded, inputs)
    rows = inputs.recoding.coded(rows)
    model, replay = apply_wrappers(estimator, unfolded, join_scores(scores), inputs)
    observed = check_import(model, replay, inputs.space, rows)
    bits = unfolded.final.network.bits if is_network_file(unfolded.final) else program_bits(model)
    if is_classical_graph(unfolded.final):
        bits = unfolded.final.bits
    program = program_rounding(model, inputs.space, observed, bits=bits)
    return ImportedModel(model=model, replay=replay, recoding=inputs.recoding, rows=rows, program=program)


def _import_forest(
    estimator: Any,
    unfolded: UnfoldedEstimator,
    grown: LibraryModel,
    inputs: Inputs,
    rows: NDArray[np.float64],
) -> ImportedModel:
    """The model of trees, also behind steps that mix columns."""
    from likewise.importers.mixing import split_steps

    split = split_steps(unfolded.steps, inputs) if unfolded.steps else None
    if split is not None:
        from likewise.importers.trees.nested_trees import import_mixed_trees

        return import_mixed_trees(estimator, unfolded, grown, split, inputs, rows)
    from likewise.importers.trees.import_trees import import_trees
    from likewise.importers.trees.library_forest import BentTest

    try:
        return import_trees(estimator, unfolded, grown, inputs, rows)
    except BentTest as refusal:
        from likewise.importers.trees.nested_trees import import_bent_trees

        return import_bent_trees(estimator, unfolded, grown, inputs, rows, refusal)


def as_estimator(estimator: Any, space: Space) -> Any:
    """The estimator with scikit-learn's verbs, which Boosters and modules of PyTorch lack."""
    if is_torch_module(estimator):
        from likewise.importers.layer_files.torch_modules import as_network

        return as_network(estimator, len(space))
    if is_catboost_model(estimator):
        from likewise.importers.catboost.reading import as_answers

        return as_answers(estimator)
    if is_statsmodels_result(estimator):
        from likewise.importers.statsmodels_results import FittedResults

        return FittedResults(estimator)
    if not is_booster(estimator):
        return estimator
    from likewise.importers import boosters

    return boosters.as_estimator(estimator)


def apply_wrappers(
    estimator: Any, unfolded: UnfoldedEstimator, model: Model, inputs: Inputs
) -> tuple[Model, Replay]:
    """The model with all that stands around it, and the original to ask."""
    maps = []
    if model.n_scores > 1 and unfolded.wrappers:
        refuse_wrapper(unfolded.wrappers[0], model)
    if unfolded.wrappers:
        from likewise.importers.heads import apply_wrapper

        for wrapper in reversed(unfolded.wrappers):
            model, mapped = apply_wrapper(model, wrapper, inputs.space)
            maps.append(mapped)
    return model, make_replay(estimator, unfolded, model.head, inputs, tuple(maps))


def _find_held_trees(unfolded: UnfoldedEstimator) -> UnfoldedEstimator | None:
    """What a settled estimator holds, if that is trees."""
    if not is_settled(unfolded.final):
        return None
    from likewise.importers.settled_estimators import unfold_held

    inside = unfold_held(unfolded.final, unfolded.steps)
    return None if find_forest_reader(inside.final) is None else inside


def _check_complete(space: Space) -> None:
    """A model without any preprocessing takes no missing values."""
    for name, feature in space.features.items():
        if feature.missing:
            refuse_gap(name)


def _import_scores(unfolded: UnfoldedEstimator, inputs: Inputs) -> tuple[ScoreModels, Inputs]:
    """The scores of what was unfolded, and the inputs over the space that it is of."""
    final, steps = unfolded.final, unfolded.steps
    if is_one_vs_rest(final):
        return import_one_vs_rest(
            final, lambda inside: _import_scores(replace(inside, steps=(*steps, *inside.steps)), inputs)
        )
    if is_settled(final):
        from likewise.importers.settled_estimators import import_settled

        return import_settled(final, steps, lambda inside: _import_scores(inside, inputs))
    if is_network_file(final):
        from likewise.importers.onnx.scores import import_network_file

        if getattr(final, "front", None) is None:
            _check_complete(inputs.space)
        return import_network_file(final, inputs)
    if is_classical_graph(final):
        from likewise.importers.onnx.classical_scores import import_classical

        return import_classical(final, inputs)
    read = find_score_reader(final)
    steps = (*steps, *implied_steps(final))
    if not steps and not inputs.single:
        _check_complete(inputs.space)
        return read(final, identity_columns(inputs.space, inputs.columns, step=type(final).__name__)), inputs
    from likewise.importers.pipelines import import_pipeline

    if not is_naive_bayes(final):
        return import_pipeline(steps, final, read, inputs)
    from likewise.importers.sklearn_bayes import naming_unknown_levels

    with naming_unknown_levels(final):
        return import_pipeline(steps, final, read, inputs)
