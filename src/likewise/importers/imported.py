"""Import a fitted estimator: take it apart, follow its columns, make the model, check it.

`import_model` is the one way in. It refuses by name what it cannot take exactly; what it takes is compared
with the original before anything is done with it (`selfcheck`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.errors import DataError, UnsupportedModel, closest
from likewise.importers import sklearn_kernel, sklearn_linear
from likewise.importers.heads import worked_in
from likewise.importers.inputs import Inputs
from likewise.importers.products import multiplied, of_products, place_of_products, unknown_columns
from likewise.importers.replay import EstimatorReplay
from likewise.importers.selfcheck import check_import
from likewise.importers.transformers.embedding import Embedded, embed, recoded
from likewise.importers.transformers.tracing import Step
from likewise.importers.unfolding import Unfolded, unfold
from likewise.model.body import Affine
from likewise.model.embedding import columns_as_they_are
from likewise.model.scored import KernelRounding, PolynomialRounding, ProductRounding, Rounding

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from likewise.model.embedding import Column
    from likewise.model.scored import Model
    from likewise.spec.space import Space

# Slack is rounded up to this grid, to keep certificates free of numbers with a thousand digits.
SLACK_GRID = 2**100

Importer = Callable[[Any, "tuple[Column, ...]"], "Model"]
IMPORTERS: dict[str, Importer] = dict.fromkeys(
    sklearn_linear.FAMILY, sklearn_linear.import_linear
) | dict.fromkeys(sklearn_kernel.FAMILY, sklearn_kernel.import_kernel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The model as mathematics and the original to replay witnesses on.

    `space` is the one that the model is over: the user's own, with integer features that tables are needed of
    as ordinal ones. `rows` are the user's rows in its codes.
    """

    model: Model
    replay: EstimatorReplay
    space: Space
    rows: NDArray[np.float64]


def import_model(estimator: Any, space: Space, *, rows: NDArray[np.float64], like: Any = None) -> Imported:
    """The exact model of a fitted estimator over a space; `rows` are coded individuals to compare on."""
    unfolded = unfold(estimator)
    importer = _importer(unfolded.final)
    columns, named = fitted_columns(estimator, unfolded, space)
    family = type(unfolded.final).__name__
    inputs = Inputs(space=space, columns=columns, like=like, named=named)
    products = place_of_products(unfolded.steps)
    if not unfolded.steps:
        model = importer(unfolded.final, columns_as_they_are(space, columns, step=family))
    elif products is not None:
        embedded = embed(unfolded.steps[:products], inputs, model="PolynomialFeatures")
        made = multiplied(unfolded.steps[products:], len(embedded.columns))
        linear = importer(unfolded.final, unknown_columns(len(made.products)))
        model = rounded(of_products(linear, made, embedded.columns), embedded)
        _check_pieces(model, space)
        rows, inputs = recoded(rows, space, embedded.inputs.space), embedded.inputs
    else:
        embedded = embed(unfolded.steps, inputs, model=family)
        model = rounded(importer(unfolded.final, embedded.columns), embedded)
        _check_pieces(model, space)
        rows, inputs = recoded(rows, space, embedded.inputs.space), embedded.inputs
    maps = []
    for wrapper in reversed(unfolded.wrappers):
        model, mapped = worked_in(model, wrapper, inputs.space)
        maps.append(mapped)
    replay = EstimatorReplay(
        estimator=estimator,
        inputs=inputs,
        head=model.head,
        asked=unfolded.asked,
        before=unfolded.before,
        maps=tuple(maps),
    )
    check_import(model, replay, inputs.space, rows)
    return Imported(model=model, replay=replay, space=inputs.space, rows=rows)


def rounded(model: Model, embedded: Embedded) -> Model:
    """The model with the rounding of its columns, see `Rounding` and `tracing`."""
    lines, rounding = embedded.lines, model.rounding
    if isinstance(rounding, (KernelRounding, PolynomialRounding, ProductRounding)):
        slacks = tuple((line.roundings + 2, float(line.slack + 2 * abs(line.offset))) for line in lines)
        return replace(model, rounding=replace(rounding, columns=slacks))
    if not isinstance(rounding, Rounding):
        return model
    slack = sum((size * line.slack for size, line in zip(rounding.sizes, lines, strict=True)), Fraction(0))
    more = replace(
        rounding,
        constant=rounding.constant + Fraction(math.ceil(slack * SLACK_GRID), SLACK_GRID),
        operations=rounding.operations + max(line.roundings for line in lines),
        described=embedded.settled,
    )
    return replace(model, rounding=more)


def _check_pieces(model: Model, space: Space) -> None:
    """Steps and splines of continuous numbers are taken where they are added up, and nowhere else."""
    bent = [space.names[column.feature] for column in model.embedding if column.pieces is not None]
    if bent and not isinstance(model.body, Affine):
        raise UnsupportedModel(
            f"{model.family} takes products or distances of columns, and {bent[0]!r} is continuous and comes to it in "
            "bins or splines",
            hint="use a linear model on bins and splines, or the number itself, or declare the values that it can "
            f"take, space.replace({{{bent[0]!r}: Integer(lo, hi)}}) or Ordinal([...])",
        )


def _importer(estimator: Any) -> Importer:
    kind = type(estimator)
    if isinstance(estimator, type):
        raise UnsupportedModel(
            f"{kind.__name__} {estimator.__name__} is a class, not a fitted model",
            hint=f"pass the object that fit() returned: {estimator.__name__}(...).fit(X, y)",
        )
    library = kind.__module__.partition(".")[0]
    if library == "sklearn" and kind.__name__ in IMPORTERS:
        return IMPORTERS[kind.__name__]
    raise UnsupportedModel(
        f"{library}'s {kind.__name__} is not supported{_reason(kind.__name__)}",
        hint="supported: " + ", ".join(sorted(IMPORTERS)),
    )


_REFUSED = {
    "ColumnTransformer": "it transforms columns and predicts nothing",
    "FeatureUnion": "it transforms columns and predicts nothing",
    "SGDOneClassSVM": "it detects outliers and has no labels",
}


def _reason(name: str) -> str:
    if name in _REFUSED:
        return f": {_REFUSED[name]}"
    return closest(name, sorted(IMPORTERS))


def fitted_columns(estimator: Any, unfolded: Unfolded, space: Space) -> tuple[tuple[str, ...], bool]:
    """The feature of each column that the model was fitted on, by name where it knows names (then True), else in
    order. A column that a ColumnTransformer drops is one of them: the model sees it, and does not look."""
    knowing = _knowing(estimator, unfolded)
    count = knowing.n_features_in_
    if not hasattr(knowing, "feature_names_in_"):
        if count != len(space):
            raise DataError(
                f"the model was fitted on {count} unnamed columns, the space has {len(space)} features",
                hint="give the space exactly the model's columns, in their order",
            )
        return space.names, False
    names = tuple(str(name) for name in knowing.feature_names_in_)
    twice = [name for i, name in enumerate(names) if name in names[:i]]
    if twice:
        raise DataError(
            f"the model was fitted on two columns named {twice[0]!r}",
            hint="give every column a name of its own and fit again: the space cannot tell them apart",
        )
    missing = [name for name in names if name not in space]
    if missing:
        raise DataError(
            f"the model was fitted on column {missing[0]!r}, which the space does not have"
            f"{closest(missing[0], space.names)}",
            hint=f"the model's columns: {', '.join(names)}",
        )
    extra = [name for name in space.names if name not in names]
    if extra:
        raise DataError(
            f"the space has the feature {extra[0]!r}, which the model was not fitted on{closest(extra[0], names)}",
            hint="leave it out of the space (Space.from_data(X, exclude=[...])): the model never sees it",
        )
    return names, True


def _knowing(estimator: Any, unfolded: Unfolded) -> Any:
    """The first part that the rows come to and that remembers what it was fitted on."""
    real = [(name, one) for name, one in unfolded.steps if one is not None and not isinstance(one, str)]
    for part in (estimator, *(one for _, one in real[:1]), *([] if real else [unfolded.final])):
        if hasattr(part, "n_features_in_"):
            return part
    if not real:
        raise UnsupportedModel(f"{type(unfolded.final).__name__} is not fitted", hint="call fit(X, y) first")
    raise UnsupportedModel(
        f"{Step(path=()).inside(*real[0])} is not fitted", hint="call fit(X, y) on the whole pipeline"
    )
