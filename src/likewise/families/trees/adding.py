"""Adding up ensembles of trees: scores that are sums of multiples of scores of trees are scores of all those trees together, exactly.

Values of leaves are doubles and stay as they are: a multiple goes into a tree's factor, and a tree whose scores have different multiples is there more than once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.trees.body import Tree, TreeForm, TreeSum
from likewise.spec.terms import dot

if TYPE_CHECKING:
    from numpy.typing import NDArray

Weighted = Sequence[tuple[Fraction, TreeForm]]
Pick = tuple[int, int, int]  # score that is made, score of the ensemble, sign


def add_ensembles(scores: Sequence[Weighted], biases: Sequence[Fraction]) -> TreeSum:
    """The ensemble whose scores are a bias and the sum of these multiples of scores each."""
    ensembles = {id(form.ensemble): form.ensemble for score in scores for _, form in score}
    bias, trees, missing = list(biases), [], dict[int, Fraction]()
    for key, ensemble in ensembles.items():
        rows = [_row(ensemble, [one for one in score if id(one[1].ensemble) == key]) for score in scores]
        for c, row in enumerate(rows):
            bias[c] += dot(row, ensemble.bias)
        _add_missing(missing, ensemble.missing)
        for factor, picks in _layers(rows):
            trees += [_picked(tree, factor, picks, len(scores)) for tree in ensemble.trees]
    return TreeSum(bias=tuple(bias), trees=tuple(trees), missing=missing)


def _row(ensemble: TreeSum, terms: Weighted) -> list[Fraction]:
    """What a score has of each score of an ensemble."""
    row = [Fraction(0)] * ensemble.n_scores
    for weight, form in terms:
        row = [old + weight * a for old, a in zip(row, form.alpha, strict=True)]
    return row


def _layers(rows: Sequence[Sequence[Fraction]]) -> list[tuple[Fraction, list[Pick]]]:
    """Multiples of one size together, each score once in each."""
    layers: dict[tuple[Fraction, int], list[Pick]] = {}
    for c, row in enumerate(rows):
        seen: dict[Fraction, int] = {}
        for j, weight in enumerate(row):
            if weight:
                place = seen[abs(weight)] = seen.get(abs(weight), -1) + 1
                layers.setdefault((abs(weight), place), []).append((c, j, 1 if weight > 0 else -1))
    return [(size, picks) for (size, _), picks in layers.items()]


def _picked(tree: Tree, factor: Fraction, picks: Sequence[Pick], count: int) -> Tree:
    values: NDArray[np.float64] = np.zeros((len(tree.values), count))
    for c, j, sign in picks:
        values[:, c] = sign * tree.values[:, j]
    return replace(tree, values=values, factor=tree.factor * factor)


def _add_missing(into: dict[int, Fraction], more: Mapping[int, Fraction]) -> None:
    for feature, code in more.items():
        if into.setdefault(feature, code) != code:
            raise UnsupportedModel(
                "trees of one model take a missing value in different ways",
                hint="put the preprocessing in front of the whole model",
            )
