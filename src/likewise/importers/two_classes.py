"""Two classes as one score: a model that takes the larger one of f_0 and f_1 decides by the sign of f = f_1 - f_0.

At f = 0 argmax takes the first class, so zero belongs to the lower label. The program computes f_0 and f_1 with an error of at most E each
and compares them, so f counts as computed with 2 E: twice the numbers, added twice as often. Only decisions are the same: gaps of scores
and of probabilities of a class are not gaps of f.
"""

from __future__ import annotations

from dataclasses import replace

from likewise.importers.imported import Imported, ImportedClasses
from likewise.importers.replay import EstimatorReplay
from likewise.model.body import RbfSum
from likewise.model.classes import ClassModel
from likewise.model.combined import Combined
from likewise.model.head import Head
from likewise.model.scored import Model, TreeRounding

FIRST_TO_SECOND = (-1, 1)


def difference(model: ClassModel) -> Model | None:
    """The model of f_1 - f_0; None for more than two classes, and where differences of scores are not of the family."""
    labels = model.head.labels
    if len(labels) != 2 or model.head.rule != "argmax":
        return None
    if isinstance(model.bodies, tuple) and isinstance(model.bodies[0], (RbfSum, Combined)):
        return None
    rounding = model.rounding if isinstance(model.rounding, TreeRounding) else None
    if rounding is not None:
        rounding = replace(rounding, constant=2 * rounding.constant, operations=2 * rounding.operations)
    return Model(
        family=model.family,
        rounding=rounding,
        embedding=model.embedding,
        body=model.form(FIRST_TO_SECOND),
        head=Head(labels=(labels[0], labels[1])),
    )


def as_one_score(imported: ImportedClasses) -> Imported | None:
    """What was imported, as a model of one score; None where it is none."""
    model = difference(imported.model)
    if model is None:
        return None
    asked = imported.replay
    replay = EstimatorReplay(
        estimator=asked.estimator,
        inputs=asked.inputs,
        head=model.head,
        asked=asked.asked,
        before=asked.before,
    )
    return Imported(model=model, replay=replay, recoding=imported.recoding, rows=imported.rows)
