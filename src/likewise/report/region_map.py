"""Boxes as numbers, so that the reader's browser can draw the partition over any two features.

A region is a box, its share of the space that of a product of uniform measures. So over two features the part of it in a cell of both is
its share, times the part of its range that the cell has in the one, times the same in the other: what the script adds up, and what makes
the shares of fair, biased and undecided individuals in every cell. Ranges of whole numbers reach half a step beyond their ends, so that
neighbours touch; levels are the whole numbers of their positions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from likewise.answers.texts import value_text
from likewise.spec.display_names import NO_NAMES, DisplayNames
from likewise.spec.features import Categorical, Integer, Ordinal

if TYPE_CHECKING:
    from likewise.spec.space import Space

KINDS = ("biased", "undecided", "fair", "empty")


def region_map(
    regions: Iterable[Mapping[str, Any]], space: Space, called: DisplayNames = NO_NAMES
) -> dict[str, Any]:
    """Axes (the features that tell regions apart, the most telling first) and boxes of `[kind, share, {axis: range or positions}]`."""
    found = list(regions)
    told = Counter(name for region in found for name in region["box"] if name in space)
    names = [name for name, _ in told.most_common()]
    if len(names) < 2:
        names += [name for name in space.names if name not in names][: 2 - len(names)]
    place = {name: i for i, name in enumerate(names)}
    boxes = [
        [
            KINDS.index(region["kind"]),
            region["measure"],
            {
                place[name]: _axis_values(space[name], values)
                for name, values in region["box"].items()
                if name in place
            },
        ]
        for region in found
    ]
    return {
        "kinds": list(KINDS),
        "axes": [{**_feature_axis(name, space), "name": called.feature(name)} for name in names],
        "boxes": boxes,
    }


def _feature_axis(name: str, space: Space) -> dict[str, Any]:
    feature = space[name]
    if isinstance(feature, Categorical | Ordinal):
        return {"name": name, "levels": [value_text(level) for level in feature.levels]}
    half = 0.5 if isinstance(feature, Integer) else 0.0
    return {"name": name, "range": [feature.lo - half, feature.hi + half], "whole": bool(half)}


def _axis_values(feature: Any, values: list[Any]) -> list[float]:
    if isinstance(feature, Categorical | Ordinal):
        return [feature.position(value) for value in values]
    half = 0.5 if isinstance(feature, Integer) else 0.0
    return [values[0] - half, values[1] + half]
