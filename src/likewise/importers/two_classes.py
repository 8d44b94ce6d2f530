"""Two classes with a score each, as one score: a share of the lead of the second class over the first.

    g = c (f_1 - f_0), c > 0        the second class where g > 0, the first where g <= 0: of two that are level argmax takes the first

One leads by a margin m where g > c m or g <= -c m. At c = 1/2, where scores are probabilities, which add up to 1, differences of g are those of the
probability of the second class. The program computes f_0 and f_1 with an error of at most E each and compares them, so g counts as computed
with 2 c E. Only decisions are the same: gaps of the scores of a class are not gaps of g. `verify` has a certificate of both scores; this is for what goes
through many individuals or boxes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from likewise.families.registry import family_of
from likewise.families.scored_model import Model, form_body
from likewise.importers.imported_model import ImportedModel
from likewise.importers.replay import Replay
from likewise.model.head import Head

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.families.program_rounding import ProgramRounding

    Floats = NDArray[np.float64]

HALF = Fraction(1, 2)
WHOLE = Fraction(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeadReplay(Replay):
    """The estimator's own labels, and a share of the lead by its own scores of both classes."""

    both: Replay
    share: float

    def restricted(self, kept: Sequence[Sequence[int] | None]) -> LeadReplay:
        """The same asked by codes of a part of the space."""
        return replace(self, inputs=self.inputs.restricted(kept), both=self.both.restricted(kept))

    def scores(self, codes: Floats) -> Floats:
        scores = self.both.scores(codes)
        lead: Floats = self.share * (scores[:, 1:] - scores[:, :1])
        return lead


def has_one_lead(imported: ImportedModel) -> bool:
    """Whether there are two scores, the larger of which decides, and their difference is of the same family."""
    model = imported.model
    return model.head.rule == "argmax" and model.n_scores == 2 and family_of(model.bodies[0]).leads


def _lead_rounding(program: ProgramRounding, share: Fraction) -> ProgramRounding:
    """Either score may be off by what one is."""
    error = program.error
    return replace(
        program,
        bounds=(None if error is None else 2 * share * error,),
        observed=replace(program.observed, error=2 * float(share) * program.observed.error),
    )


def as_one_score(imported: ImportedModel, *, share: Fraction = WHOLE) -> ImportedModel | None:
    """The model of a share of the lead (1, or 1/2); None where there is no such lead."""
    if not has_one_lead(imported):
        return None
    model, replay = imported.model, imported.replay
    lower, upper = model.head.classes
    rounding = family_of(model.bodies[0]).rounding_of_lead(model.rounding, share)
    head = Head(labels=(lower, upper), unlinked="its probabilities are scores of their own")
    return ImportedModel(
        model=Model(
            family=model.family,
            rounding=rounding,
            embedding=model.embedding,
            bodies=(form_body(model, (-share, share)),),
            head=head,
        ),
        replay=LeadReplay(
            estimator=replay.estimator,
            inputs=replay.inputs,
            head=head,
            asked=replay.asked,
            before=replay.before,
            both=replay,
            share=float(share),
        ),
        recoding=imported.recoding,
        rows=imported.rows,
        compared=imported.compared,
        program=_lead_rounding(imported.program, share),
    )
