"""Restricting: an imported model over a part of its space, without importing it again.

A part has narrower ranges and fewer levels. Lines and pieces of columns stay what they are; tables keep the entries of the levels that
are left, and tests of trees the positions of those. The self-check of the whole holds for every part of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from likewise.families.registry import family_of
from likewise.importers.recoding import FeatureRecoding, Recoding
from likewise.model.embedding import restrict_columns
from likewise.spec.features import Categorical, Continuous, Integer, Ordinal
from likewise.spec.space import Space

if TYPE_CHECKING:
    from likewise.importers.imported_model import ImportedModel
    from likewise.spec.features import Feature


def restrict_model(imported: ImportedModel, part: Space) -> ImportedModel | None:
    """The same model over a part of the space it was imported over: tables keep the levels that are left. None for bodies that know
    levels by their positions. The original is still that of the whole space, and is asked about the part in codes of that."""
    model, recoding = imported.model, imported.recoding
    plain = all(part.bend is None and part.gap is None for part in recoding.parts.values())
    if not plain:
        return None
    features: dict[str, Feature] = {}
    kept: list[list[int] | None] = []
    for name, feature in part.features.items():
        whole = imported.space[name]
        if isinstance(whole, (Continuous, Integer)):
            features[name] = feature
            kept.append(None)
            continue
        values = range(feature.lo, feature.hi + 1) if isinstance(feature, Integer) else feature.levels  # type: ignore[union-attr]
        places = [whole.position(value) for value in values]
        levels = [whole.levels[place] for place in places]
        features[name] = Categorical(levels) if isinstance(whole, Categorical) else Ordinal(levels)
        kept.append(places)
    parts = {k: FeatureRecoding(shift=float(part[part.names[k]].lo)) for k in recoding.parts}  # type: ignore[union-attr]
    over = Recoding(
        given=part, space=Space(features, constraints=part.constraints), parts=parts, notes=recoding.notes
    )
    bodies = family_of(model.bodies[0]).restricted(model.bodies, kept)
    if bodies is None:
        return None
    return replace(
        imported,
        model=replace(model, embedding=restrict_columns(model.embedding, kept), bodies=bodies),
        replay=imported.replay.restricted(kept),
        recoding=over,
        rows=imported.rows[:0],
    )
