"""Members of ensembles, each imported as an estimator of its own behind the steps that come before the ensemble, and compared with its own program; then the ensemble with its.

All members have to be over one space: those that take a feature in different ways (an integer as levels here and as a number there) are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.program_rounding import program_rounding
from likewise.importers.ensemble_answers import UpperProbability, has_upper_probability, upper_probability
from likewise.importers.ensemble_models import model_of_draft
from likewise.importers.ensembles import draft_ensemble
from likewise.importers.imported_model import ImportedModel, apply_wrappers
from likewise.importers.multiclass_members import DRAFTERS as MULTICLASS
from likewise.importers.multiclass_members import draft_multiclass, refuse_rounded_ties
from likewise.importers.self_check import check_import
from likewise.importers.unfold import UnfoldedEstimator, unfold

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.inputs import Inputs

    Rows = NDArray[np.float64]

    class EstimatorImporter(Protocol):
        """Reads an estimator; `probable`: so that it has probabilities, where it can be."""

        def __call__(
            self, estimator: Any, unfolded: UnfoldedEstimator, inputs: Inputs, rows: Rows, *, probable: bool
        ) -> ImportedModel: ...


# Members that are fitted on plain arrays, whatever the ensemble was fitted on.
ARRAY_ENSEMBLES = ("BaggingClassifier", "BaggingRegressor", "AdaBoostClassifier", "OneVsOneClassifier")


def import_ensemble(
    estimator: Any, unfolded: UnfoldedEstimator, inputs: Inputs, rows: Rows, read: EstimatorImporter
) -> ImportedModel:
    """The model of an ensemble behind the steps of a pipeline."""
    final, members = unfolded.final, list[ImportedModel]()
    family = type(final).__name__
    plain = family in ARRAY_ENSEMBLES and not _real_steps(unfolded.steps)
    given = replace(inputs, named=False) if plain else inputs

    def read_member(member: Any, seen: Sequence[int] | None) -> ImportedModel:
        whole = _behind_steps(unfolded.steps, member, seen, getattr(final, "n_features_in_", 0))
        found = read(whole, unfold(whole), given, rows, probable=_takes_probabilities(final))
        if members and found.recoding.space != members[0].recoding.space:
            raise UnsupportedModel(
                f"{family} holds models that take the same feature in different ways",
                hint="put the preprocessing in front of it, or encode the feature alike in all of them",
            )
        members.append(found)
        return found

    draft = (draft_multiclass if family in MULTICLASS else draft_ensemble)(final, read_member)
    recoding = members[0].recoding
    inputs = replace(inputs, recoding=recoding)
    rows = recoding.coded(rows)
    made = unfolded
    if draft.asked is not None:
        made = replace(unfolded, asked=draft.asked, before=() if draft.raw else unfolded.steps)
    model = model_of_draft(draft, family)
    if unfolded.wrappers and has_upper_probability(model):
        model, made = upper_probability(model), show_upper_probability(unfolded)
    model, replay = apply_wrappers(estimator, made, model, inputs)
    observed = check_import(model, replay, inputs.space, rows)
    if family == "OutputCodeClassifier":
        refuse_rounded_ties(model, replay, inputs.space, rows)
    program = program_rounding(model, inputs.space, observed, bits=min(one.program.bits for one in members))
    return ImportedModel(model=model, replay=replay, recoding=recoding, rows=rows, program=program)


def _takes_probabilities(final: Any) -> bool:
    """Whether an ensemble adds up what its members hold probable, where they say so, and not what they decide."""
    family = type(final).__name__
    if family == "VotingClassifier":
        return bool(final.voting == "soft")
    return family in ("BaggingClassifier", "StackingClassifier")


def import_wrapped_probability(
    estimator: Any, unfolded: UnfoldedEstimator, read: Callable[[Any], ImportedModel]
) -> ImportedModel:
    """Thresholds and calibrations around a forest of two classes: of the probability of the second one. The forest is `read` by itself first."""
    inside = read(_behind_steps(unfolded.steps, unfolded.final, None, 0))
    inputs = inside.replay.inputs
    made = show_upper_probability(unfolded)
    model, replay = apply_wrappers(estimator, made, upper_probability(inside.model), inputs)
    observed = check_import(model, replay, inputs.space, inside.rows)
    program = program_rounding(model, inputs.space, observed, bits=inside.program.bits)
    return replace(inside, model=model, replay=replay, program=program)


def show_upper_probability(unfolded: UnfoldedEstimator) -> UnfoldedEstimator:
    """Asked for the probability of the second of two classes where a score is wanted."""
    return replace(unfolded, asked=UpperProbability(unfolded.final), before=unfolded.steps)


def _real_steps(steps: Sequence[tuple[str, Any]]) -> list[Any]:
    return [one for _, one in steps if one is not None and one != "passthrough"]


def _behind_steps(
    steps: Sequence[tuple[str, Any]], member: Any, seen: Sequence[int] | None, width: int
) -> Any:
    """The member behind the steps before the ensemble, and what chooses its columns."""
    before = _real_steps(steps)
    if seen is not None:
        from sklearn.compose import ColumnTransformer

        chosen = ColumnTransformer([("seen", "passthrough", list(seen))])
        before.append(chosen.fit(np.zeros((1, width))))
    if not before:
        return member
    from sklearn.pipeline import Pipeline

    return Pipeline([*((f"step {n}", one) for n, one in enumerate(before)), ("member", member)])
