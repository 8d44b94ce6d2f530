"""Program rounding: what the original program's own floating point means for an answer about the model as mathematics.

With E a bound of |program's score - real score| (`program_error`), a value of a pair that the program shows is off by at most

    score         2 E                                    the gap of two scores
    margin        E, or 2 E of leads over other classes  min(s, -s')
    probability   2 (slope E / 4 + link)                 sigma rises by at most 1/4, a softmax falls or rises by at most E / 2, and
                                                         the link itself takes a few roundings of numbers up to 1

An error is *large* if it can be seen: answers are shown in six digits, so that a difference that was observed counts from a millionth of the
largest score on (`SEEN`). The bound holds for every individual and any order of summation, and so is some hundred times what happens; it counts from a thousandth on (`FEARED`),
which sums of leaves in single precision stay below.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from likewise.families.program_error import ROOM, error_bound, growth
from likewise.families.scored import Model, parts_of
from likewise.model.gauge import Scale
from likewise.model.head import Head
from likewise.model.question import round_up

if TYPE_CHECKING:
    from likewise.spec.space import Space

SEEN = 1e-6
FEARED = 1e-3
NOTHING = 1e-300  # below any score: nothing is large against scores that are all 0 but for denormal numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The largest difference between the program's scores and the exact ones on the rows compared, and their largest absolute value."""

    error: float = 0.0
    size: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRounding:
    """How far the program's scores may be from the real ones: a proved bound of each score, None where it is not known; and what
    was observed. `bits` are those in which the program makes probabilities of scores."""

    bounds: tuple[Fraction | None, ...]
    observed: Observed = Observed()
    bits: int = 53

    @property
    def error(self) -> Fraction | None:
        """The largest bound."""
        known = [bound for bound in self.bounds if bound is not None]
        return max(known) if known and len(known) == len(self.bounds) else None

    @property
    def large(self) -> bool:
        """Whether the error may be seen in what is shown of scores."""
        seen, size = self.observed.error, self.observed.size
        feared = 0 if self.error is None else self.error
        return seen > SEEN * size + NOTHING or feared > Fraction(FEARED) * Fraction(size) + Fraction(NOTHING)

    def moved(self, of: Scale, head: Head) -> Fraction | None:
        """By how much the value of a pair may differ between program and mathematics; None where that is not known."""
        error = self.error
        if error is None:
            return None
        if of == "score" or head.link == "identity":
            return 2 * error
        if of == "margin":
            return 2 * error if head.n_scores > 1 else error
        steepest = Fraction(1, 2) if head.n_scores > 1 else abs(head.slope) / 4
        shift = len(head.classes) if head.n_scores > 1 else 2 * abs(float(head.offset))
        return 2 * (steepest * error + Fraction(growth(ROOM, self.bits) * (1 + shift)))

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; an unknown bound is null."""
        return {
            "bound": None if self.error is None else round_up(self.error),
            "observed": self.observed.error,
            "large": self.large,
        }


def reads(model: Model, feature: int) -> bool:
    """Whether any column or any test of a tree changes with a feature: if none does, the program is asked about equal numbers."""
    if any(column.feature == feature and not column.constant for column in model.embedding):
        return True
    return any(body.reads(feature) for body in model.bodies)


UNDESCRIBED = ProgramRounding(bounds=(None,))


def program_rounding(model: Model, space: Space, observed: Observed, *, bits: int = 53) -> ProgramRounding:
    """The rounding of a program whose scores are this model's over a space; what was observed includes the rounding of whoever compared, and
    is no more than the bound."""
    found = ProgramRounding(bounds=tuple(error_bound(part, space) for part in parts_of(model)), bits=bits)
    if found.error is not None and found.error < observed.error:
        observed = replace(observed, error=float(found.error))
    return replace(found, observed=observed)


def of_program(
    rounding: ProgramRounding, of: Scale | None = None, head: Head | None = None
) -> dict[str, Any]:
    """What the `stats` of every answer say; of an answer on a scale also by how much a value on it may move (`moves`)."""
    document = rounding.to_dict()
    if of is not None and head is not None:
        moved = rounding.moved(of, head)
        document["moves"] = None if moved is None else round_up(moved)
    return {"program_rounding": document}


def shifted(level: float, moved: Fraction | None, of: Scale) -> float | None:
    """What no value of a pair exceeds on the program itself, where `level` is what none exceeds; None where its rounding is not known."""
    if moved is None or not math.isfinite(level):
        return None if moved is None else level
    highest = round_up(Fraction(level) + moved)
    return min(highest, 1.0) if of == "probability" else highest
