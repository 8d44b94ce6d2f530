"""Trees whose tests are about more than one feature, and medians of trees, as functions of other scores (`families.nested`).

    trees behind PCA and others that mix columns    every column that a tree tests is a score of its own: a sum of columns, or a polynomial of them where columns are multiplied
    trees behind functions, splines and bins        the same of columns of one continuous number that the program does not round in its order, or that rise and fall
    AdaBoostRegressor                               the weighted median of single trees, each of which is a score

Tests are taken in the library's own arithmetic: left where the column is at most the largest double that goes left. The column is taken exactly, by the stored doubles of what mixes it; the program's own is rounded, and may be on the other side of a test.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.clock import check_clock
from likewise.errors import MismatchedModel, UnsupportedModel
from likewise.families.affine.body import Affine
from likewise.families.affine.rounding import AffineRounding
from likewise.families.nested.body import InnerBody, Nested
from likewise.families.nested.median import Median
from likewise.families.nested.rounding import NestedRounding
from likewise.families.program_rounding import program_rounding
from likewise.families.scored_model import Model, SeparateRounding
from likewise.families.trees.body import LEAF, Tree, TreeSum, scores_of_ensemble
from likewise.families.trees.rounding import TreeRounding
from likewise.importers.imported_model import ImportedModel, apply_wrappers
from likewise.importers.mixed_columns import expand
from likewise.importers.mixing import unmixed_steps
from likewise.importers.pipelines import (
    add_column_rounding,
    check_pieces,
    multiply_out,
    placeholder_columns,
)
from likewise.importers.self_check import check_import
from likewise.importers.single_precision import check_casts, mixes_singles
from likewise.importers.transformers.embedding import embed
from likewise.importers.trees.library_forest import Forest
from likewise.importers.trees.sklearn_trees import median_forest
from likewise.importers.trees.tree_check import check_leaves, find_leaves, probing_codes
from likewise.importers.trees.tree_model import LibraryModel, import_forest, largest_sum
from likewise.model.head import NUMBER_HEAD

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.inputs import Inputs
    from likewise.importers.mixing import SplitSteps
    from likewise.importers.unfold import UnfoldedEstimator

    Floats = NDArray[np.float64]

PROBED_ROWS = 256  # of columns, that trees are compared on besides those at their tests
MOST_INNER = 200  # columns that trees may test: each is limited in every cell


# -- trees behind columns that mix features -----------------------------------------------------------------------------


def import_mixed_trees(
    estimator: Any,
    unfolded: UnfoldedEstimator,
    grown: LibraryModel,
    split: SplitSteps,
    inputs: Inputs,
    rows: Floats,
) -> ImportedModel:
    """The model of trees behind steps that mix columns."""
    _refuse_more(grown, unfolded, split)
    embedded = embed(split.front, inputs, model=split.mixer.kind)
    tested = sorted({int(c) for tree in grown.forest.trees for c in np.unique(tree.column) if c != LEAF})
    if not tested or len(tested) > MOST_INNER:
        raise UnsupportedModel(
            f"{grown.family} behind {split.mixer.kind} tests {len(tested)} columns that mix features; from 1 to {MOST_INNER} are supported",
            hint="use fewer components",
        )
    check_casts(embedded)
    single = mixes_singles(unfolded.steps, embedded)
    columns = expand(split.nodes)
    inner = []
    for place in tested:
        check_clock()
        one = multiply_out(_column(grown.family, place, len(columns)), columns, split.mixer, embedded.columns)
        one = add_column_rounding(one, embedded, unfolded.final, described=split.described, single=single)
        inner.append(check_pieces(one, inputs.space, embedded.highest))
    inputs, rows = embedded.inputs, embedded.inputs.recoding.coded(rows)
    ensemble = _ensemble(grown.forest, tested)
    _compare_trees(grown, ensemble, tested, len(columns))
    model = _nested_model(grown, inner, ensemble)
    model, replay = apply_wrappers(estimator, unfolded, model, inputs)
    observed = check_import(model, replay, inputs.space, rows)
    program = program_rounding(model, inputs.space, observed, bits=grown.bits)
    return ImportedModel(model=model, replay=replay, recoding=inputs.recoding, rows=rows, program=program)


def import_bent_trees(
    estimator: Any,
    unfolded: UnfoldedEstimator,
    grown: LibraryModel,
    inputs: Inputs,
    rows: Floats,
    refusal: UnsupportedModel,
) -> ImportedModel:
    """The model of trees behind functions, splines or bins of continuous numbers, every column a score of its own; raises the refusal where that is not taken either."""
    try:
        split = unmixed_steps(unfolded.steps, inputs)
        return import_mixed_trees(estimator, unfolded, grown, split, inputs, rows)
    except MismatchedModel:
        raise
    except UnsupportedModel as error:
        raise refusal from error


def _refuse_more(grown: LibraryModel, unfolded: UnfoldedEstimator, split: SplitSteps) -> None:
    if grown.own is not None or grown.numbered or grown.grow is not None or grown.forest.tested_by_category():
        raise UnsupportedModel(
            f"{grown.family} takes categories of columns that {split.mixer.kind} has made",
            hint="fit it without categories",
        )
    if unfolded.wrappers or grown.threshold not in (None, Fraction(1, 2)) or grown.named is not None:
        raise UnsupportedModel(
            f"{grown.family} behind {split.mixer.kind} has a threshold or a calibration around it",
            hint="verify the model inside of it",
        )


def _column(family: str, place: int, width: int) -> Model:
    """The model whose score is one of the columns."""
    weights = tuple(Fraction(n == place) for n in range(width))
    rounding = AffineRounding(sizes=weights, constant=Fraction(0), operations=1, described=False)
    return Model(
        family=family,
        rounding=rounding,
        embedding=placeholder_columns(width),
        bodies=(Affine(weights=weights, bias=Fraction(0)),),
        head=NUMBER_HEAD,
    )


def _ensemble(forest: Forest, tested: Sequence[int]) -> TreeSum:
    """The trees over those columns alone."""
    places = np.full(max(tested) + 2, LEAF, dtype=np.int32)  # the last one is a leaf's
    places[list(tested)] = np.arange(len(tested), dtype=np.int32)
    trees = []
    for tree in forest.trees:
        inner = tree.column != LEAF
        trees.append(
            Tree(
                feature=places[tree.column],
                threshold=np.where(inner, forest.limits(tree.threshold), 0.0),
                levels={},
                missing_left=tree.missing_left,
                right=tree.right,
                values=tree.values,
                factor=tree.factor,
            )
        )
    return TreeSum(bias=forest.bias, trees=tuple(trees), missing={})


def _compare_trees(grown: LibraryModel, ensemble: TreeSum, tested: Sequence[int], width: int) -> None:
    """Refuse trees that send columns elsewhere than the library's own, on and beside every test."""
    if grown.leaves is None:
        raise UnsupportedModel(
            f"{grown.family} does not tell which leaves columns come to", hint="use a model of scikit-learn"
        )
    random = np.random.default_rng(0)
    tests = [ensemble.thresholds(k) for k in range(len(tested))]
    spread = [(float(one.min()) - 1, float(one.max()) + 1) for one in tests]
    rows = np.stack([random.uniform(lo, hi, PROBED_ROWS) for lo, hi in spread], axis=1)
    parts = [rows]
    for k, one in enumerate(tests):
        values = np.concatenate([one, np.nextafter(one, -np.inf), np.nextafter(one, np.inf)])
        part = rows[random.integers(len(rows), size=len(values))]
        part[:, k] = values
        parts.append(part)
    columns = np.concatenate(parts)
    matrix = np.zeros((len(columns), width))
    matrix[:, list(tested)] = columns
    for t, (tree, theirs) in enumerate(zip(ensemble.trees, grown.leaves(matrix), strict=True)):
        ours = tree.values[find_leaves(tree, columns, {})]
        if (ours != theirs).any():
            raise MismatchedModel(
                f"{grown.family} is not what was imported: its tree {t} says something else of columns beside its tests",
                hint="please report this, with the versions of the libraries",
            )


def _nested_model(grown: LibraryModel, inner: Sequence[Model], ensemble: TreeSum) -> Model:
    largest = largest_sum(ensemble)
    rounding = NestedRounding(
        inner=tuple(inner),
        outer=TreeRounding(
            constant=largest + grown.more, operations=len(ensemble.trees) + 4, bits=grown.bits
        ),
        size=2 * largest,
    )
    bodies = tuple(Nested(inner=_inner_bodies(inner), outer=form) for form in scores_of_ensemble(ensemble))
    shared = bodies[0].inner
    made = [
        Model(
            family=grown.family,
            rounding=rounding,
            embedding=(),
            bodies=(replace(body, inner=shared),),
            head=NUMBER_HEAD,
        )
        for body in bodies
    ]
    return Model(
        family=grown.family,
        rounding=rounding if len(made) == 1 else SeparateRounding(parts=tuple(made)),
        embedding=(),
        bodies=tuple(one.body for one in made),
        head=grown.head,
    )


def _inner_bodies(models: Sequence[Model]) -> tuple[InnerBody, ...]:
    return tuple(InnerBody(body=one.body, embedding=one.embedding) for one in models)


# -- medians ------------------------------------------------------------------------------------------------------------


def import_median(estimator: Any, unfolded: UnfoldedEstimator, inputs: Inputs, rows: Floats) -> ImportedModel:
    """The model of AdaBoostRegressor over single trees."""
    grown, weights = median_forest(unfolded.final)
    found = import_forest(grown, unfolded.steps, inputs)
    inputs = found.reaching.inputs
    rows = inputs.recoding.coded(rows)
    ensemble = _sum_of(found.model)
    codes = probing_codes(ensemble, inputs.space, rows)
    leaves = [find_leaves(tree, codes, ensemble.missing) for tree in ensemble.trees]
    check_leaves(found.model, ensemble, leaves, grown, found.reaching, codes)
    inner = [_single_tree(grown.family, tree, k, ensemble) for k, tree in enumerate(ensemble.trees)]
    model = Model(
        family=grown.family,
        rounding=NestedRounding(inner=tuple(inner), outer=None, size=Fraction(0)),
        embedding=(),
        bodies=(Nested(inner=_inner_bodies(inner), outer=Median(weights=weights)),),
        head=NUMBER_HEAD,
    )
    model, replay = apply_wrappers(estimator, unfolded, model, inputs)
    observed = check_import(model, replay, inputs.space, rows)
    program = program_rounding(model, inputs.space, observed, bits=grown.bits)
    return ImportedModel(model=model, replay=replay, recoding=inputs.recoding, rows=rows, program=program)


def _sum_of(model: Model) -> TreeSum:
    from likewise.importers.trees.tree_check import tree_sum_of_model

    return tree_sum_of_model(model)


def _single_tree(family: str, tree: Tree, place: int, ensemble: TreeSum) -> Model:
    """One of the trees, with what it says alone."""
    single = replace(tree, values=np.ascontiguousarray(tree.values[:, place : place + 1]))
    made = TreeSum(bias=(Fraction(0),), trees=(single,), missing=ensemble.missing)
    return Model(
        family=family,
        rounding=TreeRounding(constant=largest_sum(made), operations=1),
        embedding=(),
        bodies=scores_of_ensemble(made),
        head=NUMBER_HEAD,
    )
