"""Restricting: an imported model over a part of its space, without importing it again.

A part has narrower ranges and fewer levels. Lines and pieces of columns stay what they are; tables keep the entries of the levels that
are left. The self-check of the whole holds for every part of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from likewise.model.body import Affine, PolynomialSum, RbfSum
from likewise.spec.features import Categorical, Continuous, Integer, Ordinal
from likewise.spec.space import Space

if TYPE_CHECKING:
    from likewise.importers.imported import Imported
    from likewise.spec.features import Feature


def restricted(imported: Imported, part: Space) -> Imported | None:
    """The same model over a part of the space it was imported over: tables keep the levels that are left. None for bodies that know
    levels by their positions. The original is still that of the whole space: there is nothing to replay on the part."""
    model = imported.model
    if not isinstance(model.body, (Affine, RbfSum, PolynomialSum)):
        return None
    features: dict[str, Feature] = {}
    kept: list[list[int] | None] = []
    for name, feature in part.features.items():
        over = imported.space[name]
        if isinstance(over, (Continuous, Integer)):
            features[name] = feature
            kept.append(None)
            continue
        values = range(feature.lo, feature.hi + 1) if isinstance(feature, Integer) else feature.levels  # type: ignore[union-attr]
        places = [over.position(value) for value in values]
        levels = [over.levels[place] for place in places]
        features[name] = Categorical(levels) if isinstance(over, Categorical) else Ordinal(levels)
        kept.append(places)
    columns = tuple(
        column
        if column.table is None
        else replace(column, table=tuple(column.table[place] for place in kept[column.feature] or ()))
        for column in model.embedding
    )
    space = Space(features, constraints=part.constraints)
    return replace(imported, model=replace(model, embedding=columns), space=space, rows=imported.rows[:0])
