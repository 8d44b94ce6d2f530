"""Two classes with a score each, as one score: half the lead of the second class over the first.

    g = (f_1 - f_0) / 2        the second class where g > 0, the first where g <= 0: of two that are level the smaller one is the class

The two lead by a margin m where g > m / 2 and where g <= -m / 2. Where scores are probabilities, which add up to 1, differences of g are those of the
probability of the second class. `verify` has a certificate of both scores; this is for what goes through many individuals.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.importers.imported import Imported
from likewise.importers.replay import EstimatorReplay
from likewise.model.head import Head
from likewise.model.scored import Model

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.importers.class_replay import ClassReplay
    from likewise.importers.imported import ImportedClasses

    Floats = NDArray[np.float64]

HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwoClassReplay(EstimatorReplay):
    """The estimator's own labels, and half the lead by its own scores of both classes."""

    both: ClassReplay

    def scores(self, codes: Floats) -> Floats:
        scores = self.both.scores(codes)
        lead: Floats = (scores[:, 1] - scores[:, 0]) / 2
        return lead


def has_one_lead(imported: ImportedClasses) -> bool:
    """Whether there are two scores, the larger of which decides."""
    head = imported.model.head
    return head.rule == "argmax" and len(head.labels) == 2


def as_one_score(imported: ImportedClasses) -> Imported:
    """The model of half the lead."""
    model, replay = imported.model, imported.replay
    if not has_one_lead(imported):
        raise UnsupportedModel(
            f"{model.family} was fitted on {len(model.head.labels)} classes, and this is about one score"
        )
    lower, upper = model.head.labels
    head = Head(labels=(lower, upper), unlinked="its probabilities are scores of their own")
    return Imported(
        model=Model(
            family=model.family,
            rounding=None,
            embedding=model.embedding,
            body=model.form((-HALF, HALF)),
            head=head,
        ),
        replay=TwoClassReplay(
            estimator=replay.estimator,
            inputs=replay.inputs,
            head=head,
            asked=replay.asked,
            before=replay.before,
            both=replay,
        ),
        recoding=imported.recoding,
        rows=imported.rows,
    )
