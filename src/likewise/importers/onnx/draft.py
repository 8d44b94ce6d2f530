"""What a claim file could say about a network in a file: a guess at the columns of its inputs, to be read and corrected by somebody who knows.

Inputs that are called as features are those features; all others get the features that are left, in the order of the data: levels that are text a column each, if that is how many columns there are, or one column less, or every
feature one column. The file does not say whether that is right, and the draft says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from likewise.spec.features import Categorical, Ordinal
from likewise.spec.model_reading import LevelColumns, ModelReading

if TYPE_CHECKING:
    from likewise.importers.onnx.model_file import Graph, GraphInput
    from likewise.spec.space import Space

    Entry = str | LevelColumns

UNSURE = "FILL IN: which feature is in which column. The model does not say; this is a guess by the order of the data."


def draft_graph(
    graph: Graph, space: Space, labels: Sequence[Any], *, classes: int, external_data: bool
) -> tuple[ModelReading, list[str]]:
    """The reading of a file that has so many classes without names, and what is in doubt about it."""
    named = {one.name: _by_name(one, space) for one in graph.inputs}
    taken = {_feature(entry) for entries in named.values() for entry in entries or ()}
    left = [name for name in space.names if name not in taken]
    inputs, doubts = {}, []
    for one in graph.inputs:
        found = named[one.name]
        if found is None:
            found, left = _by_order(one, left, space)
            doubts.append(UNSURE)
        count = sum(1 if isinstance(entry, str) else len(entry.levels) for entry in found)
        if count != one.width:
            doubts.append(f"The input {one.name!r} has {one.width} columns, and these are {count}.")
        inputs[one.name] = tuple(found)
    if left:
        doubts.append(f"Without a column: {', '.join(left)}.")
    told = _labels(classes, labels)
    if told is not None and told != tuple(range(classes)):
        doubts.append("Labels are those of the data, sorted: the first is that of the first score.")
    return ModelReading(inputs=inputs, labels=told, external_data=external_data), list(dict.fromkeys(doubts))


def _labels(classes: int, labels: Sequence[Any]) -> tuple[Any, ...] | None:
    """The labels of the data in order, if there are as many as classes; of several outputs numbers, else nothing."""
    known = [label for label in labels if isinstance(label, (str, int, float))]
    if not classes or len({type(label) for label in known}) > 1 or len(known) != classes:
        return tuple(range(classes)) if classes else None
    return tuple(sorted(known))


def _by_name(one: GraphInput, space: Space) -> list[Entry] | None:
    """The columns of an input that is called as a feature."""
    if one.name not in space:
        return None
    for entry in (one.name, _levels(one.name, space)):
        if entry is not None and one.width == (1 if isinstance(entry, str) else len(entry.levels)):
            return [entry]
    return None


def _by_order(one: GraphInput, names: Sequence[str], space: Space) -> tuple[list[Entry], list[str]]:
    """As many of the features as fill the columns, in the way that fits; and those that are left."""
    ways: list[list[Entry]] = [
        [_levels(name, space) or name for name in names],
        [_levels(name, space, first=1) or name for name in names],
        list(names),
    ]
    for way in ways:
        width = 0
        for used, entry in enumerate(way, 1):
            width += 1 if isinstance(entry, str) else len(entry.levels)
            if width == one.width:
                return way[:used], list(names[used:])
    return ways[0], []


def _levels(name: str, space: Space, *, first: int = 0) -> LevelColumns | None:
    """A column for each level of a feature whose levels are text, from this one on."""
    feature = space[name]
    if not isinstance(feature, (Categorical, Ordinal)) or feature.numeric or len(feature.levels) <= first:
        return None
    return LevelColumns(name, tuple(level for level in feature.levels if level is not None)[first:])


def _feature(entry: Entry) -> str:
    return entry if isinstance(entry, str) else entry.feature
