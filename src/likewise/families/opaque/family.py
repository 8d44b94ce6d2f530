"""The opaque family: all scores of an individual come from one question to a program, and nothing bounds them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from likewise.errors import UnsupportedModel
from likewise.families.family import Family
from likewise.families.opaque.body import Opaque, OpaqueScore, only_program
from likewise.families.opaque.judge import OpaqueJudge
from likewise.families.score_judge import ScoreTable, cross_settings

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from likewise.model.embedding import Column
    from likewise.spec.pairs import PairSpace

    Floats = NDArray[np.float64]

ASKED_ONLY = "the model can only be asked, not read, so pairs are looked for and nothing is proved about those that were not"


class OpaqueFamily(Family):
    """Models whose mathematics nobody knows."""

    name = "opaque"
    opaque = True
    differences = False
    leads = True
    shared_work = True
    unbounded = ASKED_ONLY

    def form(self, bodies: Sequence[Opaque], alpha: tuple[Fraction, ...]) -> Opaque:
        width = len(bodies[0].alpha)
        summed = tuple(
            sum((a * body.alpha[k] for a, body in zip(alpha, bodies, strict=True)), Fraction(0))
            for k in range(width)
        )
        offset = sum((a * body.offset for a, body in zip(alpha, bodies, strict=True)), Fraction(0))
        return Opaque(program=bodies[0].program, alpha=summed, offset=offset)

    def scores(self, parts: Sequence[OpaqueScore], codes: Floats) -> Floats:
        """One question for all."""
        answered = only_program(parts).scores(codes)
        return np.stack([part.of(answered) for part in parts], axis=1)

    def why_unbounded(self, scores: Sequence[OpaqueScore]) -> str:
        program = only_program(scores)
        ended = ", and it was called as often as it may be" if program.used_up else ""
        return f"{ASKED_ONLY} ({program.asked:,} individuals were asked about{ended})"

    def silent(self, scores: Sequence[OpaqueScore]) -> bool:
        return only_program(scores).used_up

    def bounder(self, score: OpaqueScore, pairs: PairSpace, second: OpaqueScore | None = None) -> None:
        return None

    def judge(self, score: OpaqueScore) -> OpaqueJudge:
        return OpaqueJudge(score)

    def cross(
        self, judges: Sequence[OpaqueJudge], rows: Floats, features: Sequence[int], settings: Floats
    ) -> ScoreTable:
        parts = [judge.score for judge in judges]
        values = self.scores(parts, cross_settings(rows, features, settings))
        shape = (len(rows), len(settings), len(parts))
        return ScoreTable(values=values.reshape(shape), error=np.zeros((len(rows), len(parts))))

    def pace(self, judges: Sequence[OpaqueJudge]) -> float:
        return judges[0].pace

    def line(self, bodies: Sequence[Opaque], embedding: tuple[Column, ...]) -> dict[str, Any]:
        raise UnsupportedModel("a model that can only be asked has no parameters to write down")


FAMILY = OpaqueFamily()
