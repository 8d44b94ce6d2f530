"""Import a fitted estimator: take it apart, follow its columns, make the model, check it.

`import_model` is the one way in. It refuses by name what it cannot take exactly; what it takes is compared
with the original before anything is done with it (`selfcheck`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from likewise.errors import InternalError, UnsupportedModel, closest
from likewise.families.program_rounding import UNDESCRIBED, ProgramRounding, program_rounding
from likewise.families.registry import family_of
from likewise.families.scored import Model
from likewise.importers import one_vs_rest, sklearn_kernel, sklearn_linear
from likewise.importers.boosters import asked_of, frame_levels, presented
from likewise.importers.classes import Unjoined, joined, refuse_wrapper
from likewise.importers.fitted import fitted_columns
from likewise.importers.heads import worked_in
from likewise.importers.inputs import Inputs
from likewise.importers.own_rows import NOTHING_COMPARED, RowsCompared, check_order
from likewise.importers.products import multiplied, of_products, place_of_products, unknown_columns
from likewise.importers.recoding import Recoding, same_space
from likewise.importers.replay import Replay, replay_of
from likewise.importers.selfcheck import check_import
from likewise.importers.settled import held_by, import_settled, is_settled, settled_trees
from likewise.importers.transformers.embedding import Embedded, embed, refuse_gap
from likewise.importers.trees.checking import check_settled_trees, check_trees, ensemble_of
from likewise.importers.trees.families import grower_of, supported_trees
from likewise.importers.trees.growing import GrownModel, planted
from likewise.importers.unfolding import Unfolded, unfold
from likewise.model.embedding import columns_as_they_are

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.model.embedding import Column
    from likewise.spec.space import Space

Importer = Callable[[Any, "tuple[Column, ...]"], Unjoined]
IMPORTERS: dict[str, dict[str, Importer]] = {  # by library and by the name of the class
    "sklearn": dict.fromkeys(sklearn_linear.FAMILY, sklearn_linear.import_linear)
    | dict.fromkeys(sklearn_kernel.FAMILY, sklearn_kernel.import_kernel),
}


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
    estimator = presented(estimator)
    unfolded = unfold(estimator)
    grow = grower_of(unfolded.final)
    held = _held_trees(unfolded) if grow is None else None
    if grow is None:
        _check_known(unfolded.final)
    columns, named = fitted_columns(estimator, unfolded, space)
    if not named:
        check_order(columns, like)
    inputs = Inputs(recoding=same_space(space), columns=columns, like=like, named=named)
    if grow is not None:
        return _imported_trees(estimator, unfolded, grow(unfolded.final), inputs, rows)
    if held is not None:
        return _imported_settled_trees(estimator, unfolded, held, inputs, rows)
    scores, inputs = _scores(unfolded, inputs)
    rows = inputs.recoding.coded(rows)
    model, replay = _with_wrappers(estimator, unfolded, joined(scores), inputs)
    observed = check_import(model, replay, inputs.space, rows)
    program = program_rounding(model, inputs.space, observed)
    return Imported(model=model, replay=replay, recoding=inputs.recoding, rows=rows, program=program)


def _with_wrappers(estimator: Any, unfolded: Unfolded, model: Model, inputs: Inputs) -> tuple[Model, Replay]:
    """The model with all that stands around it, and the original to ask."""
    maps = []
    if model.n_scores > 1 and unfolded.wrappers:
        refuse_wrapper(unfolded.wrappers[0], model)
    for wrapper in reversed(unfolded.wrappers):
        model, mapped = worked_in(model, wrapper, inputs.space)
        maps.append(mapped)
    return model, replay_of(estimator, unfolded, model.head, inputs, tuple(maps))


def _imported_trees(
    estimator: Any, unfolded: Unfolded, grown: GrownModel, inputs: Inputs, rows: NDArray[np.float64]
) -> Imported:
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
    model, replay = _with_wrappers(estimator, unfolded, found.model, inputs)
    observed = check_trees(model, grown, found.reaching, replay, rows)
    program = program_rounding(model, inputs.space, observed, bits=grown.bits)
    return Imported(model=model, replay=replay, recoding=inputs.recoding, rows=rows, program=program)


def _held_trees(unfolded: Unfolded) -> Unfolded | None:
    """What a settled estimator holds, if that is trees."""
    if not is_settled(unfolded.final):
        return None
    inside = held_by(unfolded.final, unfolded.steps)
    return None if grower_of(inside.final) is None else inside


def _imported_settled_trees(
    estimator: Any, unfolded: Unfolded, held: Unfolded, inputs: Inputs, rows: NDArray[np.float64]
) -> Imported:
    """The trees inside, compared for themselves, and what is made of them, compared again."""
    final, grow = unfolded.final, grower_of(held.final)
    if grow is None:
        raise InternalError(f"{type(held.final).__name__} is no ensemble of trees")
    grown = grow(held.final)
    inside = _imported_trees(final.held, held, grown, inputs, rows)
    inputs, rows = inside.replay.inputs, inside.rows
    body, model = ensemble_of(inside.model), settled_trees(final, inside.model, inputs)
    count = len(final.settings)
    model, replay = _with_wrappers(estimator, unfolded, model, inputs)
    observed = check_settled_trees(model, body, replay, inputs.space, rows, count, grown.bits)
    program = program_rounding(model, inputs.space, observed, bits=grown.bits)
    return Imported(model=model, replay=replay, recoding=inputs.recoding, rows=rows, program=program)


def _check_complete(space: Space) -> None:
    """A model without any preprocessing takes no missing values."""
    for name, feature in space.features.items():
        if feature.missing:
            refuse_gap(name)


def _scores(unfolded: Unfolded, inputs: Inputs) -> tuple[Unjoined, Inputs]:
    """The scores of what was unfolded, and the inputs over the space that it is of."""
    final, steps = unfolded.final, unfolded.steps
    if type(final).__name__ == one_vs_rest.NAME:
        return one_vs_rest.import_one_vs_rest(
            final, lambda inside: _scores(replace(inside, steps=(*steps, *inside.steps)), inputs)
        )
    if is_settled(final):
        return import_settled(final, steps, lambda inside: _scores(inside, inputs))
    importer, family = _importer(final), type(final).__name__
    if not steps:
        _check_complete(inputs.space)
        return importer(final, columns_as_they_are(inputs.space, inputs.columns, step=family)), inputs
    products = place_of_products(steps)
    if products is None:
        embedded = embed(steps, inputs, model=family)
        scores = importer(final, embedded.columns).each(lambda one: rounded(one, embedded))
    else:
        embedded = embed(steps[:products], inputs, model="PolynomialFeatures")
        made = multiplied(steps[products:], len(embedded.columns))
        linear = importer(final, unknown_columns(len(made.products)))
        scores = linear.each(lambda one: rounded(of_products(one, made, embedded.columns), embedded))
    return scores.each(lambda one: _with_checked_pieces(one, inputs.space, embedded.highest)), embedded.inputs


def rounded(model: Model, embedded: Embedded) -> Model:
    """The model with the rounding of its columns, see `Rounding` and `tracing`."""
    if model.rounding is None:
        return model
    return replace(model, rounding=model.rounding.of_columns(embedded.lines, described=embedded.settled))


def _with_checked_pieces(model: Model, space: Space, highest: frozenset[int]) -> Model:
    """Steps and splines of continuous numbers are taken where they are added up, and nowhere else."""
    bent = [space.names[column.feature] for column in model.embedding if column.pieces is not None]
    told = [name for name in bent if space.names.index(name) in highest]
    if told and not family_of(model.body).takes_pieces:
        raise UnsupportedModel(
            f"{model.family} takes products or distances of columns, and tells a missing {told[0]!r} from every number of its "
            "range: by an indicator, or by a number outside of it that is put in its place",
            hint=f"let the bounds of {told[0]!r} hold that number, without an indicator; or declare "
            f"Integer(lo, hi, missing=True), or a Categorical with None; or use a linear model",
        )
    if bent and not family_of(model.body).takes_pieces:
        raise UnsupportedModel(
            f"{model.family} takes products or distances of columns, and {bent[0]!r} is continuous and comes to it in "
            "bins or splines",
            hint="use a linear model on bins and splines, or the number itself, or declare the values that it can "
            f"take, space.replace({{{bent[0]!r}: Integer(lo, hi)}}) or Ordinal([...])",
        )
    return model


def _check_known(estimator: Any) -> None:
    if is_settled(estimator):
        return
    if type(estimator).__name__ == one_vs_rest.NAME and type(estimator).__module__.startswith("sklearn."):
        return
    _importer(estimator)


def _importer(estimator: Any) -> Importer:
    kind = type(estimator)
    if isinstance(estimator, type):
        raise UnsupportedModel(
            f"{kind.__name__} {estimator.__name__} is a class, not a fitted model",
            hint=f"pass the object that fit() returned: {estimator.__name__}(...).fit(X, y)",
        )
    library = kind.__module__.partition(".")[0]
    if kind.__name__ in IMPORTERS.get(library, {}):
        return IMPORTERS[library][kind.__name__]
    trees = (
        () if kind.__name__ in supported_trees() else supported_trees()
    )  # those come here inside of other models only
    raise UnsupportedModel(
        f"{library}'s {kind.__name__} is not supported{_reason(kind.__name__)}",
        hint="supported: " + ", ".join(sorted((*_imported_classes(), one_vs_rest.NAME, *trees))),
    )


def _imported_classes() -> list[str]:
    return [name for classes in IMPORTERS.values() for name in classes]


_REFUSED = {
    "ColumnTransformer": "it transforms columns and predicts nothing",
    "FeatureUnion": "it transforms columns and predicts nothing",
    "OneVsOneClassifier": "it breaks ties of votes by sums of bent scores; OneVsRestClassifier and SVC are supported",
    "OutputCodeClassifier": "it compares distances to codes; OneVsRestClassifier is supported",
    "MultiOutputClassifier": "it gives several labels at once; verify its estimators_ one by one",
    "ClassifierChain": "it gives several labels at once; verify its estimators_ one by one",
    "AdaBoostRegressor": "it predicts a weighted median of its trees, which is no sum; GradientBoostingRegressor is supported",
    "IsolationForest": "it detects outliers and has no labels",
    "RandomTreesEmbedding": "it transforms columns and predicts nothing",
    **dict.fromkeys(
        ("VotingClassifier", "VotingRegressor", "StackingClassifier", "StackingRegressor"),
        "it joins models of any kind; verify them one by one",
    ),
    "SGDOneClassSVM": "it detects outliers and has no labels",
}


def _reason(name: str) -> str:
    if name in _REFUSED:
        return f": {_REFUSED[name]}"
    if name in supported_trees():
        return " inside of another model: its trees are taken as they are, neither repaired nor one against the rest"
    return closest(name, sorted((*_imported_classes(), *supported_trees())))
