"""Words and values that belong to a result itself: its claim in words, what its proof says of rounding, its pair as plain values.

How results are shown is written in `likewise.answers`.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from typing import TYPE_CHECKING, Any

from likewise.spec.features import is_missing

if TYPE_CHECKING:
    from likewise.spec.properties import Property
    from likewise.spec.similarity import Similarity
    from likewise.spec.space import Space
    from likewise.verifying.result import Result

LONG_READING = 5.0  # seconds, beyond which they are told


def claim_in_words(space: Space, similarity: Similarity, property: Property) -> str:
    """Who must share what."""
    return f"individuals who {similarity.describe(space)} {property.describe()}"


def covers_program(result: Result) -> bool:
    """Whether a proof holds of the program that rounds: by its clearance, or as the claim is proved with room for the rounding."""
    rounding = result.stats.get("program_rounding", {})
    return result.covers_floating_point or bool(rounding.get("covered"))


def rounding_in_words(result: Result) -> str:
    """What a proof says of the program that rounds."""
    rounding = result.stats.get("program_rounding", {})
    if covers_program(result):
        return "covers the rounding of predict"
    if rounding.get("moves") is None:
        return "the rounding of predict is not known"
    return f"for predict itself up to rounding of {format_bound(rounding['moves'])}"


def format_bound(value: float) -> str:
    """A bound in one digit, rounded up."""
    with localcontext(prec=1, rounding=ROUND_CEILING):
        return f"{float(+Decimal(value)):g}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    """What the model makes of the two; None where it has no such answer."""

    decisions: tuple[Any, ...] | None = None
    scores: tuple[float, ...] | None = None
    probabilities: tuple[float, ...] | None = None
    upper_label: Any = None
    score_name: str = "score"


def treatment_of(answer: Any) -> Treatment:
    """What the model's own program says about the pair of a `Result` or a `Disparity`."""
    return Treatment(
        decisions=answer.decisions,
        scores=answer.scores,
        probabilities=answer.probabilities,
        upper_label=answer.upper_label,
        score_name=answer.score_name,
    )


def pair_of(frame: Any, names: tuple[str, ...]) -> dict[str, tuple[Any, Any]]:
    """The two rows of a frame as Python values, feature by feature; None where one is missing."""
    values: dict[str, tuple[Any, Any]] = {}
    for name in names:
        first, second = (value.item() if hasattr(value, "item") else value for value in frame[name])
        values[name] = (None if is_missing(first) else first, None if is_missing(second) else second)
    return values


def pair_rows(frame: Any, names: tuple[str, ...]) -> list[dict[str, Any]]:
    """Both individuals as plain dictionaries of Python values."""
    pair = pair_of(frame, names)
    return [{name: values[side] for name, values in pair.items()} for side in range(2)]
