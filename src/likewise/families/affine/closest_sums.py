"""Balance: values for discrete features whose terms add up as closely as possible to a target.

A flip with little to spare, and the largest margin or probability gap, need s + s' close to zero: a subset
sum. Features are dealt into two groups of at most `MOST_COMBINATIONS` combinations each, finest steps first; the sums
of one group are sorted and every sum of the other looks up its best complement (meet in the middle).
Features that fit in neither group are set first, greedily. Float64 and a heuristic: it only proposes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

MOST_COMBINATIONS = 100_000  # combinations a group: two sorts of this size take a few hundredths of a second
MOST_CHOICES = 1_000  # values considered of one feature; more are thinned out evenly
MOST_ANSWERS = 16


@dataclass(frozen=True, slots=True, kw_only=True)
class MovableFeature:
    """A feature that can be set: what each choice adds to the sum. `feature` is only carried along."""

    feature: int
    gains: Floats


def closest_sums(features: list[MovableFeature], target: float) -> list[dict[int, int]]:
    """Choices (feature -> index into its gains) whose sums are closest to the target, best first."""
    groups: list[list[MovableFeature]] = [[], []]
    sizes = [1, 1]
    chosen: dict[int, int] = {}
    by_step = sorted(features, key=lambda f: float(np.ptp(f.gains)) / len(f.gains))
    left = sum(float(f.gains.mean()) for f in features)
    for feature in reversed(by_step):  # coarse ones that no group has room for are decided first
        small = int(sizes[0] > sizes[1])
        if sizes[small] * len(feature.gains) <= MOST_COMBINATIONS:
            groups[small].append(feature)
            sizes[small] *= len(feature.gains)
            continue
        rest = left - float(feature.gains.mean())
        pick = int(np.abs(feature.gains + rest - target).argmin())
        chosen[feature.feature] = pick
        left = rest + float(feature.gains[pick])
    fixed = sum(float(f.gains[chosen[f.feature]]) for f in features if f.feature in chosen)
    return [chosen | found for found in _best_combinations(groups[0], groups[1], target - fixed)]


def _best_combinations(
    first: list[MovableFeature], second: list[MovableFeature], target: float
) -> list[dict[int, int]]:
    """The best combinations of one choice from each feature of both groups."""
    here, there = _group_sums(first), _group_sums(second)
    order = np.argsort(there)
    ordered = there[order]
    at = np.clip(np.searchsorted(ordered, target - here), 1, max(len(ordered) - 1, 1))
    answers: list[tuple[float, int, int]] = []
    for neighbour in (at - 1, np.minimum(at, len(ordered) - 1)):
        off = np.abs(here + ordered[neighbour] - target)
        few = np.argpartition(off, min(MOST_ANSWERS, len(off)) - 1)[:MOST_ANSWERS]
        answers += [(float(off[i]), int(i), int(order[neighbour[i]])) for i in few]
    return [
        _decode_choices(first, i) | _decode_choices(second, j) for _, i, j in sorted(answers)[:MOST_ANSWERS]
    ]


def _group_sums(group: list[MovableFeature]) -> Floats:
    total = np.zeros(1)
    for feature in group:
        total = (total[:, None] + feature.gains[None, :]).ravel()
    return total


def _decode_choices(group: list[MovableFeature], flat: int) -> dict[int, int]:
    index = np.unravel_index(flat, [len(f.gains) for f in group]) if group else ()
    return {f.feature: int(i) for f, i in zip(group, index, strict=True)}


def thin_out(count: int) -> NDArray[np.intp]:
    """At most `MOST_CHOICES` of the numbers 0..count-1, both ends included."""
    if count <= MOST_CHOICES:
        return np.arange(count)
    return np.unique(np.linspace(0, count - 1, MOST_CHOICES).round().astype(np.intp))
