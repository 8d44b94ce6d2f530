"""Growing: from what an importer reads off a fitted estimator to the model over raw features.

A library's importer turns its estimator into a `LibraryModel`; `import_forest` does the rest, the same for all libraries.

The rounding of a program that adds up leaves is stated by `operations` and `bits`: how often it adds, multiplies or divides, with
so many bits, on the way from the leaves to a score. With n trees in any order those are n - 1 additions, one for a bias, and one for
each multiplication of a leaf by a factor that is not stored with it, as rounding all products t_i (1 + d) and then adding them is off by at most
((1 + u)^operations - 1) sum |t_i| when each term goes through at most `operations` roundings. The constant of `TreeRounding` is
|bias| + the sum of the trees' largest leaves; `more` is added to it where a program goes through numbers larger than these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.scored_model import Model
from likewise.families.trees.body import LEAF, Tree, TreeSum, scores_of_ensemble
from likewise.families.trees.rounding import TreeRounding
from likewise.importers.trees.library_forest import Forest
from likewise.importers.trees.matrix_reading import PLAIN_READING, MatrixReading
from likewise.importers.trees.raw_forest import tree_sum
from likewise.importers.trees.reached_columns import (
    Numbering,
    OwnPreprocessing,
    ReachedColumns,
    Steps,
    reach_columns,
)
from likewise.model.head import Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.inputs import Inputs

LeafValues = Callable[["NDArray[np.float64]"], Iterable["NDArray[np.float64]"]]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LibraryModel:
    """An estimator as its library sees it: `own` and `numbered` are what it does to columns before its trees test them (see
    `reach_columns`), `rivals` are columns that
    may be numbered in the place of others, with the values they would have, `operations` None where its rounding is not described. `leaves` asks the library itself for the values of the leaves
    that rows of columns come to, tree by tree; `threshold` is the probability that it decides at by itself, where that may be another than 1/2; `answers` has scikit-learn's verbs, where the estimator itself
    lacks some; `takes_missing` that it lets NaN pass. `named` is for a model that has lost the names of categories: it makes the same
    model with those of the rows that these inputs are like, and names the columns. `grow` makes the forest of a model whose trees depend on
    which categories there are in the space."""

    family: str
    forest: Forest
    head: Head
    operations: int | None
    bits: int = 53
    more: Fraction = Fraction(0)
    threshold: Fraction | None = None
    own: OwnPreprocessing | None = None
    numbered: Mapping[int, Numbering] = field(default_factory=dict)
    rivals: Mapping[int, tuple[Any, ...]] = field(default_factory=dict)
    taken: MatrixReading = PLAIN_READING
    leaves: LeafValues | None = None
    answers: Any = None
    takes_missing: bool = True
    named: Callable[[Inputs], tuple[LibraryModel, tuple[str, ...]]] | None = None
    grow: Callable[[ReachedColumns], Forest] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RawFeatureModel:
    """The model over codes of `reaching.inputs.space`."""

    model: Model
    reaching: ReachedColumns


def import_forest(grown: LibraryModel, steps: Steps, inputs: Inputs) -> RawFeatureModel:
    """The model behind these steps."""
    found = reach_columns(
        steps,
        inputs,
        model=grown.family,
        own=grown.own,
        numbered=grown.numbered,
        listed_columns=grown.forest.tested_by_category(),
        taken=grown.taken,
    )
    if not grown.takes_missing:
        _refuse_missing(grown.family, found)
    forest = grown.forest if grown.grow is None else grown.grow(found)
    body = tree_sum(forest, found, model=grown.family)
    rounding = None
    if grown.operations is not None and found.settled:
        rounding = TreeRounding(
            constant=largest_sum(body) + grown.more, operations=grown.operations, bits=grown.bits
        )
    model = Model(
        family=grown.family,
        rounding=rounding,
        embedding=(),
        bodies=scores_of_ensemble(body),
        head=grown.head,
    )
    return RawFeatureModel(model=model, reaching=found)


def _refuse_missing(family: str, found: ReachedColumns) -> None:
    for column in found.columns:
        values = [column.missing] if column.table is None else column.table.tolist()
        if any(value is not None and np.isnan(value) for value in values):
            raise UnsupportedModel(
                f"{family} takes no missing values, and {found.inputs.space.names[column.feature]!r} comes to it with some",
                hint="put a SimpleImputer before it, or leave missing values out of the space",
            )


def largest_sum(body: TreeSum) -> Fraction:
    """|bias| and the largest absolute leaf of every tree, added up: no sum of leaves is larger."""
    return max(map(abs, body.bias)) + sum((_largest_leaf(tree) for tree in body.trees), Fraction(0))


def _largest_leaf(tree: Tree) -> Fraction:
    leaves = tree.values[tree.feature == LEAF]
    return abs(tree.factor) * Fraction(float(np.abs(leaves).max()))
