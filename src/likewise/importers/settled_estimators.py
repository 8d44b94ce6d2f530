"""Settled estimators (`likewise.repaired`): the model inside, with some features fixed to one setting or several.

The columns that they set are features of the space as it is: a settled estimator comes first, and what transforms columns is inside of it. A
classifier says the upper label where its score is above 0, also around a model that has it from 0 on; its probabilities are sigma of its score, or softmax
of its scores. Around trees with a score a class that is a probability (forests), probabilities are averaged as they are, and the largest and smallest ones are those of the upper label
of two, less 1/2.

The score of a model with some features fixed, in one or several settings v, whatever they are (`settle_model`):

    mean   keep f(x) + (1 - keep) sum_v weight_v f(z, v)      max   max_v f(z, v)      min   min_v f(z, v)

x = (z, u) with u the features that are fixed. With keep = 0 the result does not depend on u at all. Means of most families are of the family
again, exactly (`Family.mean`); everything else is a combined body.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

from likewise.errors import InternalError, UnsupportedModel
from likewise.families.combined.body import combine_models
from likewise.families.family import AffineMap
from likewise.families.registry import family_of
from likewise.families.scored_model import Model
from likewise.families.settings import Setting, Settings
from likewise.families.trees.body import ensembles_of, scores_of_ensemble
from likewise.families.trees.pruning import extract_score
from likewise.importers.heads import apply_wrapper
from likewise.importers.registry import is_naive_bayes, is_network_file, is_settled
from likewise.importers.score_models import ScoreModels
from likewise.importers.unfold import UnfoldedEstimator, unfold
from likewise.model.head import NUMBER_HEAD, Head, Link
from likewise.spec.features import Categorical, Ordinal

if TYPE_CHECKING:
    from likewise.importers.inputs import Inputs
    from likewise.spec.space import Space

HALF = Fraction(1, 2)
MOST_NODES = (
    1_000_000  # of trees over all settings: the model is one line of a certificate, of 64 MiB at most
)
ScoreBuilder = Callable[[UnfoldedEstimator], "tuple[ScoreModels, Inputs]"]


def import_settled(
    estimator: Any, steps: Sequence[tuple[str, Any]], build: ScoreBuilder
) -> tuple[ScoreModels, Inputs]:
    """The model of a settled estimator; `build` makes that of what the estimator inside unfolds to."""
    kind = type(estimator).__name__
    inside = unfold_held(estimator, steps)
    scores, inputs = build(inside)
    settings = _read_settings(estimator, inputs, kind)
    family = f"{kind} of {scores.family}"
    if len(scores.models) > 1:
        return replace(_settle_classes(scores, estimator, settings), family=family), inputs
    (model,) = scores.models
    for wrapper in reversed(inside.wrappers):
        model, _ = apply_wrapper(model, wrapper, inputs.space)
    made = settle_model(model, settings)
    return ScoreModels.of(replace(made, family=family, head=_settled_head(model.head, estimator))), inputs


def settle_trees(estimator: Any, model: Model, inputs: Inputs) -> Model:
    """The model of a settled estimator around trees, of which `model` is that inside."""
    kind = type(estimator).__name__
    settings = _read_settings(estimator, inputs, kind)
    family = f"{kind} of {model.family}"
    if model.n_scores == 1:
        made = replace(
            settle_model(model, settings), family=family, head=_settled_head(model.head, estimator)
        )
    elif settings.how != "mean":
        made = replace(settle_model(_upper_probability_model(model, settings.how), settings), family=family)
    else:
        mean = family_of(model.bodies[0]).mean(model, settings)
        if mean is None:
            raise InternalError("a mean of trees is one of trees")
        made = replace(mean, family=family, head=_settled_class_head(model.head, estimator))
    _refuse_long(made, len(settings.codes))
    return made


def _refuse_long(model: Model, settings: int) -> None:
    """Refuse what no certificate could hold."""
    ensembles = {id(one): one for one in ensembles_of(model.bodies[0])}
    nodes = sum(len(tree.feature) for one in ensembles.values() for tree in one.trees)
    if nodes > MOST_NODES:
        raise UnsupportedModel(
            f"its trees have {nodes:,} nodes over {settings:,} settings, and a certificate has room for {MOST_NODES:,}",
            hint="use method='reference', a smaller grid, fewer values in the space, or smaller trees; means have fewer nodes than 'max' and 'min'",
        )


def unfold_held(estimator: Any, steps: Sequence[tuple[str, Any]]) -> UnfoldedEstimator:
    """What a settled estimator behind these steps holds; refuses what cannot stand before it or around the model inside."""
    before = [name for name, step in steps if step is not None and step != "passthrough"]
    if before:
        raise UnsupportedModel(
            f"step {before[0]!r} comes before a {type(estimator).__name__}, which sets columns of the rows as they are",
            hint="repair the whole pipeline: repair(pipeline, space, similar)",
        )
    inside = unfold(estimator.held)
    refuse_wrappers(inside)
    return inside


def can_repair(estimator: Any, model: Model) -> bool:
    """Whether a fair model can be made of this one at all."""
    try:
        repairable_score(estimator, model)
    except UnsupportedModel:
        return False
    return True


def repairable_score(estimator: Any, model: Model) -> str:
    """How the model is asked for the score that repairing is about; refuses models of which no other can be made."""
    inside = unfold(estimator)
    refuse_wrappers(inside)
    if is_settled(inside.final):
        raise UnsupportedModel(
            "this model was repaired already", hint="repair the model inside of it, its `held`"
        )
    if model.head.rule == "votes":
        raise UnsupportedModel(
            f"{model.family} decides by votes, and has no score of a class to combine",
            hint="use OneVsRestClassifier around it",
        )
    return score_method(inside.final, model)


def score_method(final: Any, model: Model) -> str:
    """How a settled estimator asks the one that it holds; refuses those that have no answer that can be combined."""
    head, family, library = model.head, model.family, type(final).__module__.partition(".")[0]
    if not hasattr(final, "get_params"):
        raise UnsupportedModel(
            f"{family} is no scikit-learn estimator, and so cannot be a part of one",
            hint="repair the estimator that it was exported from"
            if is_network_file(final)
            else "repair XGBClassifier, LGBMClassifier, CatBoostClassifier or their regressors; XGBClassifier().load_model(file) reads a saved model",
        )
    if head.undecided is not None:
        raise UnsupportedModel(f"{head.undecided}: there is no score to combine", hint="repair a classifier")
    if head.labels is None:
        return "predict"
    if library == "xgboost":
        if final.objective == "binary:logitraw":
            raise UnsupportedModel(
                f"{family} with 'binary:logitraw' compares its margin with 1/2",
                hint="fit it with objective='binary:logistic'",
            )
        return "output_margin"
    if library == "lightgbm":
        if final.get_params().get("boosting_type") in ("rf", "random_forest"):
            raise UnsupportedModel(
                f"{family} with boosting_type='rf' tells the sum over its rounds and decides by their mean",
                hint="fit it with boosting_type='gbdt', or use RandomForestClassifier",
            )
        return "raw_score"
    if library == "catboost":
        if final.get_probability_threshold() not in (None, 0.5):
            raise UnsupportedModel(
                f"{family} decides by a threshold of its own, and repairing is about scores",
                hint="leave set_probability_threshold out",
            )
        return "raw_formula"
    if type(final).__name__ == "MLPClassifier":
        return "last_layer"
    if is_naive_bayes(final):
        return "log_likelihoods"
    return "predict_proba" if head.link == "identity" else "decision_function"


def refuse_wrappers(inside: UnfoldedEstimator) -> None:
    """Thresholds and calibrations belong around a settled estimator, not inside of it: it combines scores."""
    kinds = [type(wrapper).__name__ for wrapper in inside.wrappers]
    refused = [kind for kind in kinds if kind != "TransformedTargetRegressor"]
    if refused:
        raise UnsupportedModel(
            f"{refused[0]} is about decisions or probabilities, and repairing is about scores",
            hint=f"repair the model inside of it, and put {refused[0]} around the repaired one, in a FrozenEstimator",
        )


def _settle_classes(scores: ScoreModels, estimator: Any, settings: Settings) -> ScoreModels:
    if scores.head.rule != "argmax":
        raise UnsupportedModel(
            f"{scores.family} decides by votes, and has no score of a class to combine",
            hint="use OneVsRestClassifier around it",
        )
    if settings.how != "mean":
        _refuse_several(settings.how, scores.head)
    made = scores.each(lambda one: settle_model(one, settings))
    return replace(made, head=_settled_class_head(scores.head, estimator))


def _refuse_several(how: str, head: Head) -> NoReturn:
    raise UnsupportedModel(
        f"the {how} of scores is for two classes, and there are {len(head.classes)}",
        hint="use method='average' or 'reference'",
    )


def _upper_probability_model(model: Model, how: str) -> Model:
    """Two classes by the probability of the upper one, less 1/2, which a program takes off it in one operation."""
    if len(model.head.classes) != 2 or model.head.link != "identity":
        _refuse_several(how, model.head)
    (ensemble,) = ensembles_of(model.bodies[0])
    less = AffineMap(slope=Fraction(1), offset=-HALF, size=HALF, operations=1)
    return Model(
        family=model.family,
        rounding=None if model.rounding is None else model.rounding.rescaled(less),
        embedding=(),
        bodies=scores_of_ensemble(extract_score(ensemble, 1, HALF)),
        head=Head(
            labels=model.head.labels,
            unlinked="the probability is its score and 1/2: ask about scores, whose gaps are those of probabilities",
        ),
    )


def _settled_class_head(head: Head, estimator: Any) -> Head:
    link: Link | None = "softmax" if estimator.probabilities else None
    if estimator.asked == "predict_proba":
        link = "identity"
    return Head(labels=head.labels, rule="argmax", link=link)


def _settled_head(head: Head, estimator: Any) -> Head:
    if head.labels is None or type(estimator).__name__ == "SettledRegressor":
        return NUMBER_HEAD
    if not estimator.probabilities:
        return Head(labels=head.labels)
    slope = Fraction(float(estimator.slope))
    if slope <= 0:
        raise UnsupportedModel(
            f"SettledClassifier with slope={estimator.slope!r}, and only positive ones make sense"
        )
    return Head(labels=head.labels, link="logistic", slope=slope)


def _read_settings(estimator: Any, inputs: Inputs, kind: str) -> Settings:
    """The settings in codes, with exact weights; refuses an estimator that was made by hand and not well."""
    keep, counts = Fraction(float(estimator.keep)), estimator.counts
    rows = [list(setting) for setting in estimator.settings]
    counts = [1] * len(rows) if counts is None else [int(count) for count in counts]
    names = [_feature_name(feature, inputs) for feature in estimator.features]
    if (
        estimator.how not in ("mean", "max", "min")
        or not 0 <= keep <= 1
        or (keep and estimator.how != "mean")
    ):
        raise UnsupportedModel(f"{kind} with how={estimator.how!r} and keep={estimator.keep!r} is not known")
    fits = all(len(row) == len(names) for row in rows) and len(set(names)) == len(names)
    if not rows or not fits or len(counts) != len(rows) or min(counts) < 0 or sum(counts) < 1:
        raise UnsupportedModel(f"the settings of this {kind} do not fit its features or its counts")
    total = sum(counts)
    used = [(row, count) for row, count in zip(rows, counts, strict=True) if count or estimator.how != "mean"]
    return Settings(
        how=estimator.how,
        codes=tuple(_encode_setting(names, row, inputs.space) for row, _ in used),
        weights=tuple(Fraction(count, total) for _, count in used),
        keep=keep,
    )


def _feature_name(feature: Any, inputs: Inputs) -> str:
    if isinstance(feature, str):
        return feature
    return inputs.columns[int(feature)]


def _encode_setting(names: Sequence[str], row: Sequence[Any], space: Space) -> Setting:
    found: dict[int, Fraction] = {}
    for name, value in zip(names, row, strict=True):
        if name not in space:
            raise UnsupportedModel(f"a setting is about {name!r}, which the space does not have")
        feature = space[name]
        # What columns make of a feature is known within its range only.
        if not feature.contains(value):
            raise UnsupportedModel(
                f"a setting of {name!r} is {value!r}, which is not in the space",
                hint="repair the model for this space",
            )
        code = feature.position(value) if isinstance(feature, (Categorical, Ordinal)) else float(value)
        found[space.names.index(name)] = Fraction(code)
    return found


def settle_model(model: Model, settings: Settings) -> Model:
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
    return combine_models(model, settings.how, weights if settings.how == "mean" else (), parts)
