"""Import a fitted estimator: take it apart, follow its columns, make the model, check it.

`import_model` is the one way in. It refuses by name what it cannot take exactly; what it takes is compared
with the original before anything is done with it (`selfcheck`). What reads which estimator is in `registry`; what only some models need (wrappers, pipelines,
trees, repaired models) is loaded for those.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from likewise.families.program_rounding import UNDESCRIBED, ProgramRounding, program_rounding
from likewise.families.scored import Model
from likewise.importers.classes import Unjoined, import_one_vs_rest, joined, refuse_wrapper
from likewise.importers.inputs import Inputs, fitted_columns, refuse_gap
from likewise.importers.recoding import Recoding, same_space
from likewise.importers.registry import (
    check_known,
    grower_of,
    is_booster,
    is_one_vs_rest,
    is_settled,
    scorer_of,
)
from likewise.importers.replay import Replay, replay_of
from likewise.importers.selfcheck import NOTHING_COMPARED, RowsCompared, check_import, check_order
from likewise.importers.unfolding import Unfolded, unfold
from likewise.model.embedding import columns_as_they_are

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.spec.space import Space


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The model as mathematics and the original to replay witnesses on.

    `space` is the one that the model is over: the user's own, with some features declared otherwise (see `recoding`).
    `rows` are the user's rows in its codes, `compared` what was asked about them as they are, `program` how far the original's scores may
    be from those of the model.
    """

    model: Model
    replay: Replay
    recoding: Recoding
    rows: NDArray[np.float64]
    compared: RowsCompared = NOTHING_COMPARED
    program: ProgramRounding = UNDESCRIBED

    @property
    def space(self) -> Space:
        return self.recoding.space


def import_model(estimator: Any, space: Space, *, rows: NDArray[np.float64], like: Any = None) -> Imported:
    """The exact model of a fitted estimator over a space; `rows` are coded individuals to compare on."""
    estimator = _presented(estimator)
    unfolded = unfold(estimator)
    grow = grower_of(unfolded.final)
    held = _held_trees(unfolded) if grow is None else None
    if grow is None:
        check_known(unfolded.final)
    columns, named = fitted_columns(estimator, unfolded, space)
    if not named:
        check_order(columns, like)
    inputs = Inputs(recoding=same_space(space), columns=columns, like=like, named=named)
    if grow is not None:
        from likewise.importers.trees.imported import import_trees

        return import_trees(estimator, unfolded, grow(unfolded.final), inputs, rows)
    if held is not None:
        from likewise.importers.trees.imported import import_settled_trees

        return import_settled_trees(estimator, unfolded, held, inputs, rows)
    scores, inputs = _scores(unfolded, inputs)
    rows = inputs.recoding.coded(rows)
    model, replay = with_wrappers(estimator, unfolded, joined(scores), inputs)
    observed = check_import(model, replay, inputs.space, rows)
    program = program_rounding(model, inputs.space, observed)
    return Imported(model=model, replay=replay, recoding=inputs.recoding, rows=rows, program=program)


def _presented(estimator: Any) -> Any:
    """The estimator with scikit-learn's verbs, which Boosters lack."""
    if not is_booster(estimator):
        return estimator
    from likewise.importers.boosters import presented

    return presented(estimator)


def with_wrappers(estimator: Any, unfolded: Unfolded, model: Model, inputs: Inputs) -> tuple[Model, Replay]:
    """The model with all that stands around it, and the original to ask."""
    maps = []
    if model.n_scores > 1 and unfolded.wrappers:
        refuse_wrapper(unfolded.wrappers[0], model)
    if unfolded.wrappers:
        from likewise.importers.heads import worked_in

        for wrapper in reversed(unfolded.wrappers):
            model, mapped = worked_in(model, wrapper, inputs.space)
            maps.append(mapped)
    return model, replay_of(estimator, unfolded, model.head, inputs, tuple(maps))


def _held_trees(unfolded: Unfolded) -> Unfolded | None:
    """What a settled estimator holds, if that is trees."""
    if not is_settled(unfolded.final):
        return None
    from likewise.importers.settled import held_by

    inside = held_by(unfolded.final, unfolded.steps)
    return None if grower_of(inside.final) is None else inside


def _check_complete(space: Space) -> None:
    """A model without any preprocessing takes no missing values."""
    for name, feature in space.features.items():
        if feature.missing:
            refuse_gap(name)


def _scores(unfolded: Unfolded, inputs: Inputs) -> tuple[Unjoined, Inputs]:
    """The scores of what was unfolded, and the inputs over the space that it is of."""
    final, steps = unfolded.final, unfolded.steps
    if is_one_vs_rest(final):
        return import_one_vs_rest(
            final, lambda inside: _scores(replace(inside, steps=(*steps, *inside.steps)), inputs)
        )
    if is_settled(final):
        from likewise.importers.settled import import_settled

        return import_settled(final, steps, lambda inside: _scores(inside, inputs))
    read = scorer_of(final)
    if not steps:
        _check_complete(inputs.space)
        return read(
            final, columns_as_they_are(inputs.space, inputs.columns, step=type(final).__name__)
        ), inputs
    from likewise.importers.pipelines import import_behind

    return import_behind(steps, final, read, inputs)
