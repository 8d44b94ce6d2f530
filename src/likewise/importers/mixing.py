"""Mixing: transformers that make columns of several others, as nodes over base columns (`mixed_columns`).

    PCA, IncrementalPCA              (columns - mean) components^T, over sqrt(explained variance) with `whiten`
    FastICA                          (columns - mean) components^T
    TruncatedSVD, random projections, NeighborhoodComponentsAnalysis     columns components^T
    LinearDiscriminantAnalysis       (columns - xbar) scalings, or columns scalings (solver "eigen")
    PLSRegression, PLSCanonical, CCA, PLSSVD     (columns - mean) / std rotations
    FactorAnalysis                   (columns - mean) (components / noise variance)^T cov, whose inverse the program computes anew
    SparsePCA, MiniBatchSparsePCA    (columns - mean) components^T (components components^T + ridge_alpha)^-1, as the program solves for every row anew
    FeatureAgglomeration             means of groups of columns
    PolynomialFeatures               products, as of a formula of statsmodels with interactions

Stored doubles are taken exactly. What stands after such a step may choose columns, scale them, mix or multiply them again, also inside a ColumnTransformer or a FeatureUnion.

A pipeline falls into a *front* that mixes nothing, whose columns are the base columns, and what is behind it (`split_steps`). The front is made of the fitted transformers themselves: pipelines, column transformers and
unions with mixing parts are copied, and in the copies those parts, with all that follows them, leave columns as they are.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.program_rounding import SINGLE_AS_DOUBLE
from likewise.importers.expansion import HIGHEST_DEGREE, MOST_PRODUCTS
from likewise.importers.mixed_columns import Base, Computed, Node, Product, Sum
from likewise.importers.registry import is_formula, is_sklearn_class
from likewise.importers.transformers.composition import selected_places, trace_transformer
from likewise.importers.transformers.markers import raw_columns
from likewise.importers.transformers.traced_columns import (
    Line,
    Operation,
    Step,
    TracedColumn,
    exact_scale,
)
from likewise.spec.features import Continuous

if TYPE_CHECKING:
    from likewise.importers.inputs import Inputs

Steps = Sequence[tuple[str, Any]]
Nodes = tuple[Node, ...]
Columns = tuple[TracedColumn, ...]
Behind = Callable[[Nodes], Nodes]
ANY_NUMBER = Continuous(-1.0, 1.0)  # a mix is a number; no bounds of it are looked at
PRINCIPAL = ("PCA", "IncrementalPCA")
SOLVERS = ("SparsePCA", "MiniBatchSparsePCA")  # that solve equations for every row
LARGEST_CONDITION = (
    1e5  # of such equations: solved in another way they differ in the last five digits of sixteen
)
REFIT_HINT = "a step was exchanged after fitting: call fit(X, y) on the whole pipeline again"


@dataclass(frozen=True, slots=True, kw_only=True)
class SplitSteps:
    """The steps that make base columns, the columns that reach the model as nodes over those, and the first step that mixes.
    `settled` tells that no number was computed anew that another machine may compute otherwise, `described` that the program adds up as the nodes do."""

    front: Steps
    nodes: Nodes
    width: int
    mixer: Step
    settled: bool
    described: bool


def split_steps(steps: Steps, inputs: Inputs) -> SplitSteps | None:
    """The front of a pipeline and what is behind it; None where nothing mixes columns."""
    mixer = _first_mixer(steps, Step(path=()))
    if mixer is None:
        return None
    front, columns, behind = _split_chain(steps, raw_columns(inputs), Step(path=()))
    base: Nodes = tuple(Base(i) for i in range(len(columns)))
    nodes = base if behind is None else behind(base)
    kinds = {type(one).__name__ for _, one in _inside(steps)}
    described = kinds.isdisjoint(SOLVERS)
    return SplitSteps(
        front=front,
        nodes=nodes,
        width=len(base),
        mixer=mixer,
        settled=described and "FactorAnalysis" not in kinds,
        described=described,
    )


def unmixed_steps(steps: Steps, inputs: Inputs) -> SplitSteps:
    """A pipeline that mixes nothing, with every column by itself."""
    _, columns, _ = _split_chain(steps, raw_columns(inputs), Step(path=()))
    return SplitSteps(
        front=steps,
        nodes=tuple(Base(i) for i in range(len(columns))),
        width=len(columns),
        mixer=Step(path=()).inside(*steps[-1]),
        settled=True,
        described=True,
    )


def is_mixer(transformer: Any) -> bool:
    """Whether this is one of the transformers that make columns of several others, and is read."""
    if is_formula(transformer):
        return getattr(transformer, "factors", None) is not None
    if not is_sklearn_class(transformer):
        return False
    return type(transformer).__name__ in MATRICES or _multiplies(transformer)


def _multiplies(transformer: Any) -> bool:
    """PolynomialFeatures of degree 1 leave columns alone."""
    if type(transformer).__name__ != "PolynomialFeatures" or not hasattr(transformer, "n_output_features_"):
        return False
    return bool(np.asarray(transformer.powers_).sum(axis=1).max(initial=0) > 1)


def parts_of(transformer: Any) -> Steps:
    """What a pipeline, a column transformer or a union holds."""
    if not is_sklearn_class(transformer):
        return ()
    kind = type(transformer).__name__
    if kind == "Pipeline":
        return tuple(transformer.steps)
    if kind == "ColumnTransformer":
        return tuple((name, part) for name, part, _ in getattr(transformer, "transformers_", ()))
    return tuple(transformer.transformer_list) if kind == "FeatureUnion" else ()


def _inside(steps: Steps) -> list[tuple[str, Any]]:
    """All transformers, and those that they hold."""
    return [one for name, part in steps for one in ((name, part), *_inside(parts_of(part)))]


def _first_mixer(steps: Steps, step: Step) -> Step | None:
    for name, part in steps:
        inside = step.inside(name, part)
        if is_mixer(part):
            return inside
        found = _first_mixer(parts_of(part), inside)
        if found is not None:
            return found
    return None


# -- the front --------------------------------------------------------------------------------------------


def _split(transformer: Any, columns: Columns, step: Step) -> tuple[Any, Columns, Behind | None]:
    """What is left of a transformer in the front, the columns that it makes there, and what is behind it, if anything."""
    if is_formula(transformer) and is_mixer(transformer):
        factors = transformer.factors
        return (
            factors,
            trace_transformer(factors, columns, step),
            lambda nodes: _multiplied(factors.products, nodes),
        )
    if is_mixer(transformer):
        return _left_alone(), columns, lambda nodes: apply_transformer(transformer, nodes, step)
    if _first_mixer(parts_of(transformer), step) is None:
        return transformer, trace_transformer(transformer, columns, step), None
    kind = type(transformer).__name__
    made = copy.copy(transformer)
    made._sklearn_output_config = {"transform": "default"}
    if kind == "Pipeline":
        made.steps, columns, behind = _split_chain(transformer.steps, columns, step)
        return made, columns, behind
    names = [str(name) for name in getattr(transformer, "feature_names_in_", ())]
    parts = (
        [(name, part, selected_places(chosen, names, len(columns), step.inside(name, part)), chosen)
         for name, part, chosen in transformer.transformers_]
        if kind == "ColumnTransformer"
        else [(name, part, range(len(columns)), None) for name, part in transformer.transformer_list]
    )  # fmt: skip
    weights = dict(transformer.transformer_weights or {})
    kept: list[Any] = []
    found: list[TracedColumn] = []
    behinds: list[tuple[int, Behind]] = []
    for name, part, places, chosen in parts:
        inside, given = step.inside(name, part), tuple(columns[i] for i in places)
        left: Any = part
        after: Columns = ()
        back: Behind | None = None
        if given and not (isinstance(part, str) and part == "drop"):
            left, after, back = _split(part, given, inside)
        weight = weights.pop(name, None) if back is not None else None
        behinds.append((len(after), _weighted(back, weight, inside)))
        found += after
        kept.append((name, left) if chosen is None else (name, left, chosen))
    made.transformer_weights = weights
    if kind == "ColumnTransformer":
        made.transformers_, made.output_indices_ = kept, {}
    else:
        made.transformer_list = kept
    # Weights of parts that stay are worked in by the front itself; here the columns only have to be counted.
    return made, trace_transformer(made, columns, step), _side_by_side(behinds)


def _split_chain(steps: Steps, columns: Columns, step: Step) -> tuple[list[Any], Columns, Behind | None]:
    front: list[tuple[str, Any]] = []
    for place, (name, transformer) in enumerate(steps):
        left, columns, behind = _split(transformer, columns, step.inside(name, transformer))
        front.append((name, left))
        if behind is not None:
            return front, columns, _followed(behind, tuple(steps[place + 1 :]), step)
    return front, columns, None


def _followed(first: Behind, rest: Steps, step: Step) -> Behind:
    return lambda nodes: apply_chain(rest, first(nodes), step)


def _left_alone() -> Any:
    """What leaves columns as they are."""
    from sklearn.preprocessing import FunctionTransformer

    return FunctionTransformer(accept_sparse=True)


def _weighted(behind: Behind | None, weight: Any, step: Step) -> Behind:
    if behind is None:
        return lambda nodes: nodes
    return lambda nodes: _multiply(behind(nodes), weight, step)


def _side_by_side(parts: Sequence[tuple[int, Behind]]) -> Behind:
    def behind(nodes: Nodes) -> Nodes:
        made: list[Node] = []
        start = 0
        for width, part in parts:
            made += part(nodes[start : start + width])
            start += width
        return tuple(made)

    return behind


# -- behind it --------------------------------------------------------------------------------------------


def apply_transformer(transformer: Any, nodes: Nodes, step: Step) -> Nodes:
    """What a fitted transformer makes of columns that are mixed already, or mixes now."""
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return nodes
    kind = type(transformer).__name__
    if is_mixer(transformer):
        _check_width(transformer, len(nodes), step)
        return (
            _products(transformer, nodes, step)
            if _multiplies(transformer)
            else _mix(transformer, nodes, step)
        )
    if is_sklearn_class(transformer) and kind == "Pipeline":
        return apply_chain(transformer.steps, nodes, step)
    if is_sklearn_class(transformer) and kind in ("ColumnTransformer", "FeatureUnion"):
        return _apply_parts(transformer, nodes, step)
    return _apply_lines(transformer, nodes, step)


def apply_chain(steps: Steps, nodes: Nodes, step: Step) -> Nodes:
    """What fitted transformers make of mixed columns, one after the other."""
    for name, transformer in steps:
        nodes = apply_transformer(transformer, nodes, step.inside(name, transformer))
    return nodes


def _apply_parts(transformer: Any, nodes: Nodes, step: Step) -> Nodes:
    names = [str(name) for name in getattr(transformer, "feature_names_in_", ())]
    weights = transformer.transformer_weights or {}
    parts = (
        transformer.transformers_
        if step.kind == "ColumnTransformer"
        else [(name, part, slice(None)) for name, part in transformer.transformer_list]
    )
    _check_width(transformer, len(nodes), step)
    made: list[Node] = []
    for name, part, chosen in parts:
        if isinstance(part, str) and part == "drop":
            continue
        inside = step.inside(name, part)
        taken = tuple(nodes[i] for i in selected_places(chosen, names, len(nodes), inside))
        if taken:
            made += _multiply(apply_transformer(part, taken, inside), weights.get(name), inside)
    return tuple(made)


def _apply_lines(transformer: Any, nodes: Nodes, step: Step) -> Nodes:
    """A step that looks at one column at a time: chosen columns, and lines of them."""
    columns = tuple(
        TracedColumn(index=i, name=f"column {i}", feature=ANY_NUMBER, line=Line(), untouched=False)
        for i in range(len(nodes))
    )
    try:
        made = trace_transformer(transformer, columns, step)
    except UnsupportedModel as error:
        if "'column " not in error.message:
            raise
        _refuse_more(step)
    found: list[Node] = []
    for one in made:
        if one.line is None or one.curve is not None or one.starts is not None or one.bend is not None:
            _refuse_more(step)
        if not one.line.slope:
            found.append(Sum((), (), float(one.line.offset)))
            continue
        node = nodes[one.index]
        if one.line.single:
            step.refuse(
                "casts mixed columns, or products of columns, to single precision",
                hint="put the cast before the step that mixes or multiplies columns",
            )
        for operation in one.line.operations:
            node = Computed(node, operation)
        found.append(node)
    return tuple(found)


def _refuse_more(step: Step) -> NoReturn:
    step.refuse(
        "does more to mixed columns, or to products of columns, than scale them or choose from them",
        hint="put it before the step that mixes or multiplies columns",
    )


def _multiply(nodes: Nodes, weight: Any, step: Step) -> Nodes:
    if weight is None:
        return nodes
    by = Operation("times", exact_scale(weight, step))
    return tuple(Computed(node, by) for node in nodes)


def _check_width(transformer: Any, width: int, step: Step) -> None:
    fitted = getattr(transformer, "n_features_in_", width)
    if fitted != width:
        step.refuse(f"was fitted on {fitted} columns, but gets {width}", hint=REFIT_HINT)


# -- sums and products ------------------------------------------------------------------------------------


def _products(transformer: Any, nodes: Nodes, step: Step) -> Nodes:
    powers = np.asarray(transformer.powers_)
    if len(powers) > MOST_PRODUCTS or powers.sum(axis=1).max() > HIGHEST_DEGREE:
        step.refuse(
            f"makes {len(powers):,} products of up to {powers.sum(axis=1).max()} columns",
            hint=f"at most {MOST_PRODUCTS:,} products of {HIGHEST_DEGREE} columns are taken: use a smaller degree",
        )
    return _multiplied([np.repeat(np.arange(len(nodes)), row).tolist() for row in powers], nodes)


def _multiplied(places: Sequence[Sequence[int]], nodes: Nodes) -> Nodes:
    return tuple(Product(tuple(nodes[i] for i in one)) for one in places)


def _mix(transformer: Any, nodes: Nodes, step: Step) -> Nodes:
    """The stored vectors and matrices one after the other."""
    for kind, numbers in MATRICES[step.kind](transformer, step):
        # PCA multiplies the means with its components first, in their precision.
        single = step.kind in PRINCIPAL and getattr(numbers, "dtype", None) == np.float32
        values = np.asarray(numbers.toarray() if hasattr(numbers, "toarray") else numbers, dtype=np.float64)
        if not np.isfinite(values).all():
            step.refuse("has a parameter that is not a finite number", hint="fit it on finite numbers")
        if values.shape[-1] != len(nodes):
            step.refuse(f"was fitted on {values.shape[-1]} columns, but gets {len(nodes)}", hint=REFIT_HINT)
        if kind == "matrix":
            nodes = weigh_columns(values, nodes)
        elif kind == "minus":
            nodes = tuple(
                Computed(node, Operation("plus", -Fraction(value)), SINGLE_AS_DOUBLE if single else 1)
                if value
                else node
                for node, value in zip(nodes, values.tolist(), strict=True)
            )
        else:
            nodes = tuple(
                Computed(node, Operation("over", exact_scale(value, step)))
                for node, value in zip(nodes, values.tolist(), strict=True)
            )
    return nodes


def weigh_columns(matrix: Any, nodes: Nodes) -> Nodes:
    """A sum of columns for each row of a matrix."""
    distinct: dict[Node, Node] = {}
    for node in nodes:  # a column that comes twice has two weights
        distinct[Sum((node,), (1.0,)) if node in distinct else node] = node
    parts = tuple(distinct)
    rows = [(row, np.flatnonzero(row).tolist()) for row in matrix]
    return tuple(Sum(tuple(parts[i] for i in used), tuple(row[used].tolist())) for row, used in rows)


Stage = tuple[str, Any]  # "minus" or "over" a vector, or a "matrix" (made, given)


def _components(transformer: Any, step: Step) -> list[Stage]:
    if not hasattr(transformer, "components_"):
        step.refuse("is not fitted", hint="call fit(X, y) on the whole pipeline")
    return [("matrix", transformer.components_)]


def _principal(transformer: Any, step: Step) -> list[Stage]:
    stages = [*_components(transformer, step)]
    if getattr(transformer, "mean_", None) is not None:
        stages.insert(0, ("minus", transformer.mean_))
    if transformer.whiten:  # as the program does it
        scale = np.sqrt(transformer.explained_variance_)
        stages.append(("over", np.maximum(scale, np.finfo(scale.dtype).eps)))
    return stages


def _independent(transformer: Any, step: Step) -> list[Stage]:
    stages = _components(transformer, step)
    return [("minus", transformer.mean_), *stages] if transformer.whiten else stages


def _discriminant(transformer: Any, step: Step) -> list[Stage]:
    if not hasattr(transformer, "scalings_"):
        step.refuse("is not fitted, or transforms nothing", hint="fit it with solver='svd' or 'eigen'")
    matrix = np.asarray(transformer.scalings_)[:, : transformer._max_components].T
    return [*([("minus", transformer.xbar_)] if transformer.solver == "svd" else []), ("matrix", matrix)]


def _least_squares(transformer: Any, step: Step) -> list[Stage]:
    name = "x_weights_" if step.kind == "PLSSVD" else "x_rotations_"
    if not hasattr(transformer, name):
        step.refuse("is not fitted", hint="call fit(X, y) on the whole pipeline")
    matrix = np.asarray(getattr(transformer, name)).T
    return [("minus", transformer._x_mean), ("over", transformer._x_std), ("matrix", matrix)]


def _factors(transformer: Any, step: Step) -> list[Stage]:
    """As the program computes it, also the inverse."""
    from scipy import linalg

    ((_, components),) = _components(transformer, step)
    weighted = components / transformer.noise_variance_
    inverse = linalg.inv(np.eye(len(components)) + np.dot(weighted, components.T))
    return [("minus", transformer.mean_), ("matrix", weighted), ("matrix", inverse.T)]


def _sparse(transformer: Any, step: Step) -> list[Stage]:
    """A ridge regression of every row on the components, as a matrix: where the equations are well-conditioned the two agree to some digits less than all."""
    ((_, components),) = _components(transformer, step)
    gram = components @ components.T + transformer.ridge_alpha * np.eye(len(components))
    if not np.isfinite(gram).all() or np.linalg.cond(gram) > LARGEST_CONDITION:
        step.refuse(
            "solves equations for every row that are nearly singular",
            hint="fit it with a larger ridge_alpha, or use PCA",
        )
    return [("minus", transformer.mean_), ("matrix", components), ("matrix", np.linalg.inv(gram))]


def _groups(transformer: Any, step: Step) -> list[Stage]:
    if not hasattr(transformer, "labels_"):
        step.refuse("is not fitted", hint="call fit(X, y) on the whole pipeline")
    if transformer.pooling_func is not np.mean:
        step.refuse("pools columns by another function than their mean", hint="use pooling_func=numpy.mean")
    labels = np.asarray(transformer.labels_)
    groups = np.arange(labels.max() + 1)
    return [("matrix", (labels[None] == groups[:, None]).astype(float)), ("over", np.bincount(labels))]


MATRICES: dict[str, Callable[[Any, Step], list[Stage]]] = {
    "PCA": _principal,
    "IncrementalPCA": _principal,
    "FastICA": _independent,
    "TruncatedSVD": _components,
    "GaussianRandomProjection": _components,
    "SparseRandomProjection": _components,
    "NeighborhoodComponentsAnalysis": _components,
    "LinearDiscriminantAnalysis": _discriminant,
    **dict.fromkeys(("PLSRegression", "PLSCanonical", "CCA", "PLSSVD"), _least_squares),
    "FactorAnalysis": _factors,
    **dict.fromkeys(SOLVERS, _sparse),
    "FeatureAgglomeration": _groups,
}
