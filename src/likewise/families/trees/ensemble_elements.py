"""Ground: what all scores of one ensemble have in common on the pairs of a space: axes, tests, and elements but for their values.

Finding the elements is the expensive part, so several forms over the same trees share one ground.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from likewise.clock import check_clock, now
from likewise.errors import UnsupportedModel
from likewise.families.trees.axes import axes_of, axis_of, features_with_sets
from likewise.families.trees.body import TreeScore
from likewise.families.trees.elements import Elements, elements_of, tests_of
from likewise.families.trees.ranking import Ranking
from likewise.spec.pairs import PairSpace

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ORDERING_SHARE = 0.05  # of the time that finding all elements took: what putting them in an order takes, or passing through them once
MOST_SPANS = 2**26  # limits that are kept beside the elements: 128 megabytes
MOST_ELEMENTS = 12_000_000  # about two gigabytes


class EnsembleElements:
    """The axes and the elements of an ensemble; these are in the order of the differences of the scores it was made with, `own`."""

    def __init__(self, score: TreeScore, pairs: PairSpace, other: TreeScore | None = None) -> None:
        self.score, self.second = score, score if other is None else other
        body = score.body
        self.own = score.alpha, self.second.alpha
        self.features = [axis_of(body, pairs, k) for k in range(len(pairs.first))]
        sets = features_with_sets(body, self.features)
        self.axes = axes_of(pairs, self.features, sets)
        self.seconds = 0.0  # that finding the elements took
        self.pairs, self.tests = pairs, tests_of(body, score.nodes, self.features, sets)

    @cached_property
    def elements(self) -> Elements:
        """Found when first asked for: who only scores individuals needs none."""
        first, second, began = self.score, self.second, now()
        found = elements_of(
            first.nodes, self.tests, self.axes, self.pairs, first.values, second.values, MOST_ELEMENTS
        )
        if found is None:
            raise UnsupportedModel(
                f"the trees have more than {MOST_ELEMENTS:,} pairs of leaves that a pair of individuals can come to",
                hint="let fewer features differ, or take shallower trees",
            )
        self.seconds = now() - began
        return found

    @property
    def ordering_seconds(self) -> float:
        """Seconds that putting all elements in an order takes, about."""
        return ORDERING_SHARE * self.seconds

    @cached_property
    def whole(self) -> Ranking:
        """All of them."""
        starts = np.flatnonzero(np.diff(self.elements.tree, prepend=-1, append=-1))
        return Ranking(np.arange(len(self.elements.tree), dtype=np.int32), starts, 0.0, 0.0)

    @cached_property
    def spans(self) -> NDArray[np.int16]:
        """First and last index (elements, 2, variables) of each element along each variable, so that limits can be looked up without a search; of no elements where that
        would take too much memory. It tells nothing of variables with sets, nor of a missing number."""
        elements, size = self.elements, self.axes.size
        count = len(elements.tree)
        if size.max(initial=0) > np.iinfo(np.int16).max or 2 * len(size) * count > MOST_SPANS:
            return np.zeros((0, 2, len(size)), dtype=np.int16)
        spans = np.zeros((count, 2, len(size)), dtype=np.int16)
        spans[:, 1] = size - 1
        owner = np.repeat(np.arange(count), np.diff(elements.start))
        spans[owner, 0, elements.variable], spans[owner, 1, elements.variable] = elements.low, elements.high
        return spans

    def codes_to_try(self) -> dict[int, Floats]:
        """One code of every index of numbers."""
        return {k: np.array(axis.last) for k, axis in enumerate(self.features) if axis.number}

    def with_values(self, score: TreeScore, other: TreeScore) -> Elements:
        """The elements with the values of these scores, in the same order."""
        if (score.alpha, other.alpha) == self.own:
            return self.elements
        leaf, second = self.elements.leaf, self.elements.other
        return self.elements._replace(a=score.values[leaf], b=other.values[second])

    def ordered(self, value: Floats) -> NDArray[np.int32]:
        """The elements of each tree from the largest value down."""
        check_clock(self.ordering_seconds)
        return np.lexsort((-value, self.elements.tree)).astype(np.int32)
