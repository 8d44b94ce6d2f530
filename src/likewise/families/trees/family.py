"""The family of trees: sums of leaves. Walks and bounds are compiled loops, which are loaded when they are first used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.clock import check_clock
from likewise.errors import InternalError
from likewise.families.family import Family
from likewise.families.score_judge import ScoreTable, cross_settings
from likewise.families.trees.body import TreeForm, TreeScore, TreeSum, scores_of_ensemble
from likewise.families.trees.judge import TreeJudge, rows_at_a_time
from likewise.families.trees.lines import trees_line
from likewise.families.trees.pruning import distinct_prunings, mean_of_trees
from likewise.families.trees.rounding import TreeRounding, rounding_of_mean, tree_rounding
from likewise.model.embedding import Column
from likewise.spec.terms import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.family import KeptLevels, Rounding
    from likewise.families.scored_model import Model
    from likewise.families.settings import Setting, Settings
    from likewise.families.trees.bounder import TreeBounder
    from likewise.families.trees.ensemble_elements import EnsembleElements
    from likewise.families.trees.softmax import TreeSoftmaxBounder
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]


class TreeFamily(Family):
    """Ensembles of trees. The bodies of a model share their ensemble."""

    name = "trees"
    rules = MappingProxyType(
        {
            "trees": "a sum of trees stays on one side of a line, by the leaves of each tree that go together",
            "softmax": "log odds stay on one side of a line, by linear bounds of them",
        }
    )
    leads = True
    bounded_means = True
    differences = False
    remembers = True
    softmax = "lines"
    shared_work = True

    def form(self, bodies: Sequence[TreeForm], alpha: tuple[Fraction, ...]) -> TreeForm:
        columns = zip(*(body.alpha for body in bodies), strict=True)
        return TreeForm(ensemble=bodies[0].ensemble, alpha=tuple(dot(alpha, column) for column in columns))

    def form_score(
        self, model: Model, parts: Sequence[TreeScore], alpha: tuple[Fraction, ...], n_features: int
    ) -> TreeScore:
        """With the nodes of the first one."""
        made = self.form([body for body in model.bodies if isinstance(body, TreeForm)], alpha)
        return parts[0].form(made.alpha) if parts else made.score(model.embedding, n_features)

    def restricted(self, bodies: Sequence[TreeForm], kept: KeptLevels) -> tuple[TreeForm, ...]:
        """Over one ensemble, as before."""
        ensemble = bodies[0].restricted(kept).ensemble
        return tuple(replace(body, ensemble=ensemble) for body in bodies)

    def rounding_of_lead(self, rounding: Rounding | None, share: Fraction) -> TreeRounding | None:
        stated = tree_rounding(rounding)
        return None if stated is None else stated.of_lead(share)

    def variation(self, score: TreeScore, n_features: int) -> Fraction:
        """Tree by tree, the largest leaf less the smallest."""
        return score.variation

    def scores(self, parts: Sequence[TreeScore], codes: Floats) -> Floats:
        """One walk down the trees for all scores."""
        first = parts[0]
        matrix = np.array([[float(a) for a in part.alpha] for part in parts])
        if np.array_equal(matrix, np.eye(len(first.body.bias))):
            return first.all_scores(codes)
        return np.stack([part.scores(codes) for part in parts], axis=1)

    def bounder(self, score: TreeScore, pairs: PairSpace, second: TreeScore | None = None) -> TreeBounder:
        from likewise.families.trees.bounder import TreeBounder  # brings in numba

        return TreeBounder(score, pairs, second)

    def shared(self, parts: Sequence[TreeScore], pairs: PairSpace) -> EnsembleElements:
        from likewise.families.trees.ensemble_elements import EnsembleElements  # brings in numba

        return EnsembleElements(parts[0], pairs)

    def codes_to_try(self, shared: EnsembleElements) -> dict[int, Floats]:
        return shared.codes_to_try()

    def bounder_of_forms(
        self, here: TreeScore, there: TreeScore, pairs: PairSpace, shared: EnsembleElements
    ) -> TreeBounder:
        from likewise.families.trees.bounder import TreeBounder  # brings in numba

        return TreeBounder(here, pairs, there, shared)

    def bounder_of_log_odds(
        self, parts: Sequence[TreeScore], of: int, pairs: PairSpace, shared: EnsembleElements
    ) -> TreeSoftmaxBounder:
        from likewise.families.trees.softmax import TreeSoftmaxBounder  # brings in numba

        return TreeSoftmaxBounder(parts[0], of, pairs, shared)

    def judge(self, score: TreeScore) -> TreeJudge:
        return TreeJudge(score)

    def cross(
        self, judges: Sequence[TreeJudge], rows: Floats, features: Sequence[int], settings: Floats
    ) -> ScoreTable:
        """One walk down the trees for all scores."""
        parts = [judge.score for judge in judges]
        values = np.empty((len(rows), len(settings), len(judges)))
        step = max(1, rows_at_a_time(len(parts[0].body.trees)) // max(1, len(settings)))
        for start in range(0, len(rows), step):
            check_clock()
            part = rows[start : start + step]
            scores = self.scores(parts, cross_settings(part, features, settings))
            values[start : start + step] = scores.reshape(len(part), len(settings), -1)
        return ScoreTable(values=values, error=np.tile([judge.error for judge in judges], (len(rows), 1)))

    def pace(self, judges: Sequence[TreeJudge]) -> float:
        return judges[0].pace

    def cuts(self, judges: Sequence[TreeJudge], feature: int) -> Floats | None:
        return judges[0].cuts(feature)

    def at_settings(self, model: Model, settings: Sequence[Setting]) -> list[Model]:
        sums = distinct_prunings(_ensemble(model), settings)
        return [replace(model, bodies=scores_of_ensemble(one)) for one in sums]

    def mean(self, model: Model, settings: Settings) -> Model:
        """With any number of scores: the share that is kept is one of a setting that fixes nothing."""
        weights = [(1 - settings.keep) * weight for weight in settings.weights]
        mean = mean_of_trees(_ensemble(model), ({}, *settings.codes), (settings.keep, *weights))
        rounding = model.rounding
        if isinstance(rounding, TreeRounding):
            rounding = rounding_of_mean(rounding, mean, len(settings.codes))
        return replace(model, bodies=scores_of_ensemble(mean), rounding=rounding)

    def hints_line(self, rule: str, hints: Sequence[int]) -> list[Any]:
        """Pairs of trees that are looked at together, one after another in the hints."""
        return [[list(pair) for pair in zip(hints[::2], hints[1::2], strict=True)]] if hints else []

    def line(self, bodies: Sequence[TreeForm], embedding: tuple[Column, ...]) -> dict[str, Any]:
        first = bodies[0]
        one = len(bodies) == 1 and not first.whole
        return trees_line(first.ensemble, first.alpha if one else None)


FAMILY = TreeFamily()


def _ensemble(model: Model) -> TreeSum:
    """The ensemble whose scores are all those of the model."""
    body = model.bodies[0]
    if not isinstance(body, TreeForm) or body.ensemble.n_scores != model.n_scores:
        raise InternalError("sums of several scores of trees are not settled")
    return body.ensemble
